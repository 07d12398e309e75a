//! Runs the commands of one page in a folder of its own.
//!
//! Promises that nothing of the project is written to, and that a server is the page's own and ends with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::command::{Answer, Running, project_file};
use crate::page::{Block, Exit, Extent, Page, Part, ServerKind, Shown};

use crate::servers::{Server, set_all};
use crate::text::{compare, has_figure, is_gap, one_line};

/// What came out of a page.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What is not as the page says, each with its line.
    pub(crate) errors: Vec<String>,
    /// Every block with its output, as Markdown.
    pub(crate) log: String,
    /// Outputs that are not as the page shows them and can be written anew.
    pub(crate) renewals: Vec<Renewal>,
}

/// An output to be written anew.
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    /// What is wrong with it.
    pub(crate) error: String,
    pub(crate) shown: Shown,
    /// What would be right.
    pub(crate) lines: Vec<String>,
}

impl Outcome {
    /// All that is not as the page says.
    pub(crate) fn all_errors(&self) -> impl Iterator<Item = &str> {
        let outputs = self.renewals.iter().map(|renewal| &renewal.error);
        self.errors.iter().chain(outputs).map(String::as_str)
    }
}

/// Runs a page from its beginning to its end. After a block that does not end as it should the rest is run too.
pub(crate) fn run(page: &Page) -> Outcome {
    let mut sandbox = Sandbox::new();
    let mut outcome = Outcome::default();
    for part in &page.parts {
        match part {
            Part::File { name, text } => {
                let path = sandbox.folder.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Part::Setup { line, script } => {
                let answer = sandbox.bash(script);
                if answer.code != Some(0) {
                    let error = format!("{}:{line}: the setup fails: {}", page.name, answer.stderr);
                    outcome.errors.push(error);
                }
            }
            Part::Command(block) if block.not_run.is_none() => {
                sandbox.block(&page.name, block, &mut outcome);
            }
            Part::Command(_) => {}
        }
    }
    outcome
}

struct Sandbox {
    /// What the page sees.
    folder: PathBuf,
    /// Where `clockwise` lies.
    programs: PathBuf,
    servers: BTreeMap<ServerKind, Server>,
    _temporary: TempDir,
}

impl Sandbox {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("page");
        copy(&project_file("examples"), &folder.join("examples"));
        let programs = temporary.path().join("bin");
        fs::create_dir(&programs).unwrap();
        let program = env!("CARGO_BIN_EXE_clockwise");
        std::os::unix::fs::symlink(program, programs.join("clockwise")).unwrap();
        Self {
            folder,
            programs,
            servers: BTreeMap::new(),
            _temporary: temporary,
        }
    }

    fn bash(&self, script: &str) -> Answer {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        command
            .args(["-euo", "pipefail", "-c", script])
            .current_dir(&self.folder)
            .env("PATH", format!("{}:{path}", self.programs.display()))
            .env("HOME", &self.folder)
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Running::start(&mut command).finish()
    }

    fn block(&mut self, page: &str, block: &Block, outcome: &mut Outcome) {
        let mut errors = Vec::new();
        let mut script = block
            .script
            .replace("cargo run --release -- ", "clockwise ");
        if let Some(builder) = BUILDERS.iter().find(|&&builder| script.contains(builder)) {
            let error =
                format!("{builder:?} is nothing to run here: <!-- not run: REASON --> is missing");
            outcome
                .errors
                .push(format!("{page}:{}: {error}", block.line));
            return;
        }
        let mut place_and_name = None;
        if let Some(kind) = block.server {
            let server = self.servers.entry(kind).or_insert_with(|| start(kind));
            match with_place(&script, scheme(kind), &server.place()) {
                Some((rewritten, name)) => {
                    script = rewritten;
                    place_and_name = Some((server.place(), name));
                }
                None => errors.push(format!("the block names no {}HOST:PORT", scheme(kind))),
            }
        }
        if block.exit == Exit::Answers {
            script = script.lines().map(answering).collect();
        }
        let mut answer = self.bash(&script);
        let mut stdout = String::from_utf8_lossy(&answer.stdout).into_owned();
        if let Some((place, name)) = place_and_name {
            stdout = stdout.replace(&place, &name);
            answer.stderr = answer.stderr.replace(&place, &name);
        }
        let wanted = match block.exit {
            Exit::Code(code) => code,
            Exit::Answers => 0,
        };
        if answer.code != Some(wanted) {
            let code = answer
                .code
                .map_or("a signal".to_owned(), |code| code.to_string());
            errors.push(format!(
                "exit code {code} instead of {wanted}\n{}\n{}",
                block.script, answer.stderr
            ));
        }
        for shown in &block.outputs {
            let (printed, whole) = match shown.extent {
                Extent::Beginning => (&stdout, false),
                Extent::Whole => (&stdout, true),
                Extent::Stderr => (&answer.stderr, false),
            };
            if let Err(error) = compare(&shown.text, printed, whole) {
                let error = format!("the output in line {} is another:\n{error}", shown.line);
                match renewal(shown, printed) {
                    Some(lines) => outcome.renewals.push(Renewal {
                        error: format!("{page}:{}: {error}", block.line),
                        shown: shown.clone(),
                        lines,
                    }),
                    None => errors.push(error),
                }
            }
        }
        let all = one_line(&format!("{stdout}\n{}", answer.stderr));
        for figure in &block.prints {
            if !has_figure(&all, figure) {
                errors.push(format!("{figure:?} is not printed"));
            }
        }
        let place = format!("{page}:{}", block.line);
        outcome.log.push_str(&format!(
            "## {place}\n\n````sh\n{}````\n\nExit code {:?}.\n\n````text\n{stdout}````\n\n````text\n{}````\n\n",
            block.script, answer.code, answer.stderr
        ));
        let errors = errors.into_iter().map(|error| format!("{place}: {error}"));
        outcome.errors.extend(errors);
    }
}

/// A line of commands that goes on after a code of 1.
fn answering(line: &str) -> String {
    format!("{line} || {{ code=$?; ((code == 1)) || exit $code; }}\n")
}

/// As many lines as the page shows now, or all. None for an output with gaps: what to leave out is for a person.
fn renewal(shown: &Shown, printed: &str) -> Option<Vec<String>> {
    if shown.text.contains('…') || shown.text.lines().any(is_gap) {
        return None;
    }
    let wanted = match shown.extent {
        Extent::Whole => usize::MAX,
        _ => shown.text.lines().count(),
    };
    Some(printed.lines().take(wanted).map(str::to_owned).collect())
}

fn scheme(kind: ServerKind) -> &'static str {
    match kind {
        ServerKind::Redis => "redis://",
        ServerKind::Memcached => "memcached://",
    }
}

/// A server with ten thousand keys.
fn start(kind: ServerKind) -> Server {
    let keys: Vec<Vec<u8>> = (0..10_000)
        .map(|i| format!("user:{i}").into_bytes())
        .collect();
    match kind {
        ServerKind::Redis => {
            let server = Server::redis(&[]);
            set_all(&mut server.connect(""), keys.iter().map(Vec::as_slice));
            server
        }
        ServerKind::Memcached => {
            let server = Server::memcached();
            server.store(&keys);
            server
        }
    }
}

/// The script with another place in each address of a scheme, and the place that stood in the first one.
fn with_place(script: &str, scheme: &str, place: &str) -> Option<(String, String)> {
    let mut pieces = script.split(scheme);
    let mut rewritten = pieces.next()?.to_owned();
    let mut name = None;
    for piece in pieces {
        let ends = |c: char| c.is_whitespace() || "/'\"?)".contains(c);
        let (written, rest) = piece.split_at(piece.find(ends).unwrap_or(piece.len()));
        name.get_or_insert_with(|| written.to_owned());
        rewritten.push_str(scheme);
        rewritten.push_str(place);
        rewritten.push_str(rest);
    }
    Some((rewritten, name?))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What would build the project, or run all its tests.
const BUILDERS: &[&str] = &["cargo ", "./test", "benches/run"];

fn errors_of(text: &str) -> Vec<String> {
    let outcome = run(&Page::parse("p.md", text).unwrap());
    outcome.all_errors().map(str::to_owned).collect()
}

#[test]
fn a_page_that_is_right_passes() {
    let page = "<!-- file: m.toml -->\n```toml\n[[node]]\nid = \"a\"\n```\n\
                ```sh\ncargo run --release -- locate --cluster ./m.toml x > here\ncat <<'END' > there\ny\nEND\n```\n\
                <!-- exit: 0 or 1 -->\n```sh\ntrue\nfalse\n```\n\
                ```sh\ncat here there; head -n 1 examples/web-paths.tsv\n```\n\n\
                <!-- output: whole -->\n```text\nx\ta\ny\npath_id…\n```\n\nThe owner is a.\n\n<!-- prints: a -->\n";
    assert_eq!(errors_of(page), Vec::<String>::new());
}

#[test]
fn a_page_that_is_wrong_fails() {
    for (page, says) in [
        (
            "```sh\necho 1\n```\n<!-- output -->\n```text\n2\n```\n",
            "there is: 1",
        ),
        (
            "```sh\nprintf '1\\n2\\n'\n```\n<!-- output: whole -->\n```text\n1\n```\n",
            "there is more: 2",
        ),
        (
            "```sh\necho 1 >&2\n```\n<!-- output: stderr -->\n```text\n2\n```\n",
            "there is: 1",
        ),
        ("```sh\nclokwise plan\n```\n", "exit code 127 instead of 0"),
        (
            "```sh\nclockwise plan --from a\nfalse\n```\n",
            "exit code 2 instead of 0",
        ),
        ("```sh\nfalse | true\n```\n", "exit code 1 instead of 0"),
        (
            "<!-- exit: 0 or 1 -->\n```sh\nfalse\nclockwise plan --from a\n```\n",
            "exit code 2 instead of 0",
        ),
        (
            "<!-- exit: 1 -->\n```sh\ntrue\n```\n",
            "exit code 0 instead of 1",
        ),
        (
            "12\n```sh\necho 123\n```\n<!-- prints: 12 -->\n",
            "\"12\" is not printed",
        ),
        ("<!-- setup: false -->\n", "the setup fails"),
        ("```sh\ncargo install x\n```\n", "not run"),
        (
            "<!-- server: redis -->\n```sh\ntrue\n```\n",
            "names no redis://",
        ),
    ] {
        let errors = errors_of(page);
        assert!(
            errors.iter().any(|error| error.contains(says)),
            "{page}: {errors:?}"
        );
    }
}

#[test]
fn a_page_has_its_own_servers() {
    let page = "<!-- server: redis -->\n```sh\n\
                clockwise locate --cluster a --keys redis://cache.example:6379/0 | wc -l\n```\n\
                <!-- output: whole -->\n```text\n10000\n```\n\n\
                <!-- server: memcached -->\n```sh\n\
                clockwise locate --cluster a --keys 'memcached://cache.example' | grep -c user:\n```\n\
                <!-- output: whole -->\n```text\n10000\n```\n";
    assert_eq!(errors_of(page), Vec::<String>::new());
}
