//! A page of the book, read into what it runs and what it expects.
//!
//! Promises that a comment of the page is either one of those that CONTRIBUTING.md lists, in a place where it says
//! something, or an error with its line. Source: CONTRIBUTING.md, "The book".

use crate::text::{figure_list, has_figure, one_line};

/// What a page does, in its order, and what it says.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Its path from the project's root.
    pub(crate) name: String,
    pub(crate) parts: Vec<Part>,
    /// Figures that stand in `vectors/articles.json`.
    pub(crate) articles: Vec<ArticleFigure>,
}

#[derive(Debug)]
pub(crate) enum Part {
    /// A script that the reader does not see.
    Setup {
        line: usize,
        script: String,
    },
    /// A block that becomes a file.
    File {
        name: String,
        text: String,
    },
    Command(Block),
}

/// A block of commands.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Where it begins, from 1.
    pub(crate) line: usize,
    pub(crate) script: String,
    pub(crate) exit: Exit,
    /// Why it is not run.
    pub(crate) not_run: Option<String>,
    pub(crate) server: Option<ServerKind>,
    pub(crate) outputs: Vec<Shown>,
    /// What it has to print, besides.
    pub(crate) prints: Vec<String>,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Exit {
    Code(i32),
    /// Each of its lines is a command that ends with 0 or 1, where 1 is an answer too.
    Answers,
}

impl Default for Exit {
    fn default() -> Self {
        Self::Code(0)
    }
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum ServerKind {
    Redis,
    Memcached,
}

/// An output that the page shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// The line below its fence, from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) extent: Extent,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Extent {
    #[default]
    Beginning,
    Whole,
    Stderr,
}

/// `/pointer = value`.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct ArticleFigure {
    pub(crate) line: usize,
    pub(crate) pointer: String,
    pub(crate) shown: String,
}

/// A comment that concerns the block below it.
#[derive(Debug)]
enum Pending {
    Exit(Exit),
    NotRun(String),
    Server(ServerKind),
    File(String),
    Output(Extent),
}

impl Page {
    /// Reads a page.
    ///
    /// # Errors
    /// All that is wrong with its comments, each with the page and the line.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, Vec<String>> {
        let mut reader = Reader {
            page: Self {
                name: name.to_owned(),
                ..Self::default()
            },
            ..Reader::default()
        };
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line));
        while let Some((number, line)) = lines.next() {
            let start = line.trim_start();
            let fence = start.len() - start.trim_start_matches('`').len();
            if fence >= 3 {
                let info = start[fence..].trim().to_owned();
                let indent = line.len() - start.len();
                let mut inside = String::new();
                let mut closed = false;
                for (_, line) in lines.by_ref() {
                    let bare = line.trim();
                    if bare.len() >= fence && bare.chars().all(|c| c == '`') {
                        closed = true;
                        break;
                    }
                    let blanks = line.len() - line.trim_start().len();
                    inside.push_str(&line[blanks.min(indent)..]);
                    inside.push('\n');
                }
                if !closed {
                    reader.error(number, "the block is not closed");
                }
                reader.block(number, &info, inside);
            } else if start.starts_with("<!--") {
                let mut comment = start.to_owned();
                while !comment.contains("-->") {
                    let Some((_, more)) = lines.next() else { break };
                    comment.push('\n');
                    comment.push_str(more);
                }
                match comment[4..].split_once("-->") {
                    Some((inside, "")) => reader.comment(number, inside.trim()),
                    Some(_) => reader.error(number, "a comment stands on a line of its own"),
                    None => reader.error(number, "the comment is not closed"),
                }
            } else if start.starts_with("~~~") || (start.starts_with('>') && start.contains("```"))
            {
                reader.error(
                    number,
                    "blocks begin with ``` here, and stand in no quotation",
                );
            } else {
                reader.prose(number, line);
            }
        }
        reader.finish()
    }
}

#[derive(Default)]
struct Reader {
    page: Page,
    pending: Vec<(usize, Pending)>,
    /// Nothing but comments and empty lines since a command block.
    below_command: bool,
    prose: String,
    prints: Vec<(usize, String)>,
    errors: Vec<String>,
}

impl Reader {
    fn error(&mut self, line: usize, what: impl std::fmt::Display) {
        self.errors
            .push(format!("{}:{line}: {what}", self.page.name));
    }

    fn last_command(&mut self) -> Option<&mut Block> {
        self.page
            .parts
            .iter_mut()
            .rev()
            .find_map(|part| match part {
                Part::Command(block) => Some(block),
                _ => None,
            })
    }

    fn prose(&mut self, number: usize, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        self.below_command = false;
        self.nothing_pending();
        if line.split('`').step_by(2).any(|text| text.contains("<!--")) {
            self.error(number, "a comment stands on a line of its own");
        }
        self.prose.push_str(line);
        self.prose.push('\n');
    }

    fn nothing_pending(&mut self) {
        for (line, marker) in std::mem::take(&mut self.pending) {
            self.error(line, format!("no block stands directly below: {marker:?}"));
        }
    }

    fn comment(&mut self, line: usize, comment: &str) {
        let (name, value) = match comment.split_once(':') {
            Some((name, value)) => (name.trim_end(), value.trim()),
            None => (comment, ""),
        };
        let pending = match (name, value) {
            ("exit", "0 or 1") => Pending::Exit(Exit::Answers),
            ("exit", code) => match code.parse() {
                Ok(code) => Pending::Exit(Exit::Code(code)),
                Err(_) => return self.error(line, format!("no exit code: {code:?}")),
            },
            ("not run", reason) if !reason.is_empty() => Pending::NotRun(reason.to_owned()),
            ("server", "redis") => Pending::Server(ServerKind::Redis),
            ("server", "memcached") => Pending::Server(ServerKind::Memcached),
            ("file", name) if is_file_name(name) => Pending::File(name.to_owned()),
            ("output", "") => Pending::Output(Extent::Beginning),
            ("output", "whole") => Pending::Output(Extent::Whole),
            ("output", "stderr") => Pending::Output(Extent::Stderr),
            ("prints", list) if !list.is_empty() => return self.prints(line, list),
            ("figure", figure) => return self.figure(line, figure),
            ("setup", script) if !script.is_empty() => {
                let script = script.to_owned();
                return self.page.parts.push(Part::Setup { line, script });
            }
            ("measured", by) | ("generated", by) if !by.is_empty() => return,
            _ => {
                let what =
                    format!("unknown comment {comment:?}: CONTRIBUTING.md lists those there are");
                return self.error(line, what);
            }
        };
        self.pending.push((line, pending));
    }

    fn prints(&mut self, line: usize, list: &str) {
        let figures = figure_list(list);
        let Some(block) = self.last_command() else {
            return self.error(line, "no command block stands above");
        };
        block.prints.extend(figures.iter().cloned());
        self.prints
            .extend(figures.into_iter().map(|figure| (line, figure)));
    }

    fn figure(&mut self, line: usize, figure: &str) {
        match figure.split_once(" = ") {
            Some((pointer, shown)) if pointer.starts_with('/') => {
                let (pointer, shown) = (pointer.trim().to_owned(), shown.trim().to_owned());
                self.prints.push((line, shown.clone()));
                self.page.articles.push(ArticleFigure {
                    line,
                    pointer,
                    shown,
                });
            }
            _ => self.error(
                line,
                format!("no figure of the form /pointer = value: {figure:?}"),
            ),
        }
    }

    fn block(&mut self, line: usize, info: &str, text: String) {
        let markers = std::mem::take(&mut self.pending);
        match info {
            "sh" => self.command(line, text, markers),
            _ if SHELLS.contains(
                &info
                    .split(|c: char| !c.is_alphabetic())
                    .next()
                    .unwrap_or(info),
            ) =>
            {
                self.error(
                    line,
                    format!("a block of commands is marked sh, not {info}"),
                );
            }
            _ => self.other(line, text, markers),
        }
    }

    fn command(&mut self, line: usize, script: String, markers: Vec<(usize, Pending)>) {
        let mut block = Block {
            line,
            script,
            ..Block::default()
        };
        for (line, marker) in markers {
            match marker {
                Pending::Exit(exit) => block.exit = exit,
                Pending::NotRun(reason) => block.not_run = Some(reason),
                Pending::Server(kind) => block.server = Some(kind),
                marker => self.error(line, format!("not before a block of commands: {marker:?}")),
            }
        }
        self.below_command = block.not_run.is_none();
        self.page.parts.push(Part::Command(block));
    }

    fn other(&mut self, line: usize, text: String, markers: Vec<(usize, Pending)>) {
        if markers.is_empty() && self.below_command {
            self.error(
                line,
                "a block directly below a command is its output: <!-- output --> is missing",
            );
        }
        for (marker_line, marker) in markers {
            match marker {
                Pending::File(name) => self.page.parts.push(Part::File {
                    name,
                    text: text.clone(),
                }),
                Pending::Output(extent) => {
                    let shown = Shown {
                        line: line + 1,
                        text: text.clone(),
                        extent,
                    };
                    match self.last_command() {
                        Some(block) if block.not_run.is_none() => block.outputs.push(shown),
                        _ => self.error(marker_line, "no command block that is run stands above"),
                    }
                }
                marker => {
                    self.error(
                        marker_line,
                        format!("only before a block of commands: {marker:?}"),
                    );
                }
            }
        }
        self.below_command = false;
    }

    fn finish(mut self) -> Result<Page, Vec<String>> {
        self.nothing_pending();
        let prose = one_line(&self.prose);
        for (line, figure) in std::mem::take(&mut self.prints) {
            if !has_figure(&prose, &figure) {
                self.error(
                    line,
                    format!("{figure:?} does not stand in the prose of the page"),
                );
            }
        }
        if self.errors.is_empty() {
            Ok(self.page)
        } else {
            Err(self.errors)
        }
    }
}

/// What else would be read as commands.
const SHELLS: &[&str] = &["bash", "console", "sh", "shell", "shellsession"];

/// A path that stays in the page's folder.
fn is_file_name(name: &str) -> bool {
    !name.is_empty() && name.split('/').all(|part| !["", ".", ".."].contains(&part))
}

fn errors(text: &str) -> Vec<String> {
    Page::parse("p.md", text).err().unwrap_or_default()
}

#[test]
fn a_page_is_read_in_its_order() {
    let page = Page::parse(
        "p.md",
        "<!-- file: a/x.toml -->\n```toml\nx = 1\n```\n<!-- setup:\ntouch y\ntouch z\n-->\n\n<!-- exit: 1 -->\n<!-- server: redis -->\n\n\
         ```sh\nclockwise plan\n```\n\nIt shows 21.14 %\nand `so, too`:\n<!-- prints: 21.14 %, \"so, too\" -->\n<!-- output: whole -->\n```text\nhello\n```\n\
         <!-- figure: /a/b = 3 -->\nThat is 3.\n",
    )
    .unwrap();
    let [
        Part::File { name, text },
        Part::Setup { script, .. },
        Part::Command(block),
    ] = &page.parts[..]
    else {
        panic!("{:?}", page.parts);
    };
    assert_eq!((name.as_str(), text.as_str()), ("a/x.toml", "x = 1\n"));
    assert_eq!(script, "touch y\ntouch z");
    assert_eq!(
        (block.exit, block.server),
        (Exit::Code(1), Some(ServerKind::Redis))
    );
    assert_eq!(
        (block.line, block.script.as_str()),
        (13, "clockwise plan\n")
    );
    assert_eq!(block.prints, ["21.14 %", "so, too"]);
    assert_eq!(
        (block.outputs[0].line, block.outputs[0].extent),
        (22, Extent::Whole)
    );
    assert_eq!(page.articles[0].pointer, "/a/b");
}

#[test]
fn a_comment_that_is_not_known_fails() {
    for comment in [
        "outptu",
        "Output",
        "output: all",
        "print: 1",
        "prints:",
        "exit: one",
        "exit: 0 or 2",
        "exit",
        "not run",
        "not run:",
        "server: valkey",
        "file: ../x",
        "file: /x",
        "file:",
        "figure: 3",
        "figure: a/b = 3",
        "todo",
        "setup",
    ] {
        let text = format!("```sh\ntrue\n```\n\n1\n<!-- {comment} -->\n```text\n```\n");
        let errors = errors(&text);
        assert!(
            errors.iter().any(|error| error.starts_with("p.md:6: ")),
            "{comment}: {errors:?}"
        );
    }
}

#[test]
fn a_comment_where_it_says_nothing_fails() {
    for text in [
        "<!-- output -->\n```text\nx\n```\n",
        "<!-- not run: x -->\n```sh\nx\n```\n<!-- output -->\n```text\nx\n```\n",
        "```sh\nx\n```\n<!-- output -->\nprose\n```text\nx\n```\n",
        "<!-- exit: 1 -->\n\nprose\n\n```sh\nx\n```\n",
        "<!-- exit: 1 -->\n```text\nx\n```\n",
        "<!-- file: x -->\n```sh\nx\n```\n",
        "<!-- prints: 1 -->\n1\n",
        "```sh\nx\n```\n<!-- prints: 12 -->\n123\n",
        "<!-- figure: /a = 12 -->\n12.5\n",
        "1 <!-- output -->\n",
        "<!-- output --> 1\n",
        "<!-- output\n",
        "<!-- exit: 1 -->\n",
        "```sh\nx\n",
        "```bash\nx\n```\n",
        "```sh,ignore\nx\n```\n",
        "```shell-session\nx\n```\n",
        "> ```sh\n> x\n> ```\n",
        "~~~sh\nx\n~~~\n",
        "```sh\nx\n```\n\n```text\nx\n```\n",
    ] {
        assert!(!errors(text).is_empty(), "{text}");
    }
}

#[test]
fn what_is_code_is_no_comment() {
    for text in [
        "The comment `<!-- outptu -->` fails.\n",
        "```text\n<!-- outptu -->\n```\n",
        "````text\n```sh\n<!-- outptu -->\n```\n````\n",
    ] {
        assert_eq!(errors(text), Vec::<String>::new());
    }
}
