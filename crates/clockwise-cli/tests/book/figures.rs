//! The page that lists the figures of the book with the commands that print them.

use std::fmt::Write as _;

use crate::page::{Page, Part};

/// The page, from all others.
pub(crate) fn render(pages: &[(Page, String)]) -> String {
    let mut text = INTRODUCTION.to_owned();
    for (page, source) in pages {
        let mut section = String::new();
        for part in &page.parts {
            if let Part::Command(block) = part
                && !block.prints.is_empty()
            {
                let figures = quoted(block.prints.iter().map(String::as_str)).join(", ");
                let _ = write!(section, "\n{figures}:\n\n```text\n{}```\n", block.script);
            }
        }
        if !page.articles.is_empty() {
            section.push_str("\n| figure | in `vectors/articles.json` |\n| --- | --- |\n");
            for figure in &page.articles {
                let _ = writeln!(section, "| `{}` | `{}` |", figure.shown, figure.pointer);
            }
        }
        if !section.is_empty() {
            let _ = write!(text, "\n## {}\n{section}", heading(page, source));
        }
    }
    text
}

/// The page's title with a link, where it is one of the book.
fn heading(page: &Page, source: &str) -> String {
    let title = source.lines().find_map(|line| line.strip_prefix("# "));
    match page.name.strip_prefix("docs/src/") {
        Some(path) => {
            let link = path
                .strip_prefix("reference/")
                .map_or_else(|| format!("../{path}"), str::to_owned);
            format!("[{}]({link})", title.unwrap_or(path))
        }
        None => format!("`{}`", page.name),
    }
}

fn quoted<'a>(figures: impl Iterator<Item = &'a str>) -> Vec<String> {
    figures.map(|figure| format!("`{figure}`")).collect()
}

const INTRODUCTION: &str = "\
<!-- generated: UPDATE=1 cargo test -p clockwise-cli --test book -->

# Figures and their commands

Figures in the prose of this book that a command prints, page by page, each above its command. A test runs all of them
and looks for the figures; outputs that a page shows are compared as well and are not listed here. Where a page makes
files first, the commands need them.
";

#[test]
fn figures_stand_above_their_command() {
    let source = "# A page\n\n```sh\nclockwise plan\n```\n\n21 % and `b`.\n\n<!-- prints: 21 %, b -->\n\n\
                  <!-- figure: /x/y = 21 % -->\n\n```sh\ntrue\n```\n";
    let page = |name: &str| (Page::parse(name, source).unwrap(), source.to_owned());
    let text = render(&[page("docs/src/a/b.md"), page("README.md")]);
    let body = "\n\n`21 %`, `b`:\n\n```text\nclockwise plan\n```\n\n\
                | figure | in `vectors/articles.json` |\n| --- | --- |\n| `21 %` | `/x/y` |\n";
    let expected = format!("\n## [A page](../a/b.md){body}\n## `README.md`{body}");
    assert_eq!(text.strip_prefix(INTRODUCTION), Some(expected.as_str()));
}
