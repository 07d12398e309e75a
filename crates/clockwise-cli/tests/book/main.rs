//! The book does what it says: every command of its pages is run, and outputs and figures are what comes out.
//!
//! Promises that a block that fails, another output, a figure that nothing prints and a comment that is not known are
//! found, each with page and line. Does not judge words. Cost: a fresh folder a page, and the time of its commands; the
//! pages share the processors. Source: CONTRIBUTING.md, "The book", has the comments and how to renew pages.

#[path = "../command/mod.rs"]
mod command;
mod figures;
mod page;
mod sandbox;
#[path = "../servers/mod.rs"]
mod servers;
mod text;

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use serde_json::Value;

use command::project_file;
use page::Page;
use sandbox::Outcome;

#[test]
fn every_page_does_what_it_says() {
    let only = std::env::var("BOOK").unwrap_or_default();
    let pages: Vec<(Page, String)> = pages()
        .into_iter()
        .filter(|(page, _)| page.name.ends_with(&only))
        .collect();
    assert!(!pages.is_empty(), "no page ends in {only}");
    let outcomes = run_all(&pages);
    let log: String = outcomes
        .iter()
        .map(|outcome| outcome.log.as_str())
        .collect();
    let log_file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book.md");
    fs::write(&log_file, log).unwrap();
    let mut errors: Vec<&str> = Vec::new();
    for ((page, source), outcome) in pages.iter().zip(&outcomes) {
        if renews() {
            renew(page, source, outcome);
            errors.extend(outcome.errors.iter().map(String::as_str));
        } else {
            errors.extend(outcome.all_errors());
        }
    }
    assert!(
        errors.is_empty(),
        "{} of what the pages say is not so; {} has what each command printed; UPDATE=1 writes outputs anew\n\n{}",
        errors.len(),
        log_file.display(),
        errors.join("\n\n")
    );
}

#[test]
fn every_figure_of_the_articles_is_in_their_file() {
    let file = fs::read(project_file("vectors/articles.json")).unwrap();
    let values: Value = serde_json::from_slice(&file).unwrap();
    let mut errors = Vec::new();
    for (page, _) in pages() {
        for figure in &page.articles {
            let value = values.pointer(&figure.pointer);
            if !value.is_some_and(|value| text::is_value(value, &figure.shown)) {
                let there = value.map_or("nothing".to_owned(), Value::to_string);
                let (pointer, shown) = (&figure.pointer, &figure.shown);
                errors.push(format!(
                    "{}:{}: {pointer} is {there}, not {shown}",
                    page.name, figure.line
                ));
            }
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn the_page_of_figures_has_all_of_them() {
    let path = project_file("docs/src/reference/figures.md");
    let text = figures::render(&pages());
    if renews() {
        fs::write(&path, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|there| there == text),
        "docs/src/reference/figures.md is not what the pages say: UPDATE=1 cargo test -p clockwise-cli --test book"
    );
}

/// Every page with commands, in order of the names, and its source.
fn pages() -> Vec<(Page, String)> {
    let mut names = vec!["README.md".to_owned(), "examples/README.md".to_owned()];
    collect("docs/src", &mut names);
    names.sort();
    let mut pages = Vec::new();
    let mut errors = Vec::new();
    for name in names {
        let source = fs::read_to_string(project_file(&name)).unwrap();
        match Page::parse(&name, &source) {
            Ok(page) => pages.push((page, source)),
            Err(found) => errors.extend(found),
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    pages
}

fn collect(folder: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(project_file(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&name, names);
        } else if name.ends_with(".md") {
            names.push(name);
        }
    }
}

/// Runs pages, as many at once as there are processors.
fn run_all(pages: &[(Page, String)]) -> Vec<Outcome> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let waiting = Mutex::new((0..pages.len()).collect::<Vec<_>>());
    let done: Mutex<Vec<(usize, Outcome)>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap().pop();
                    let Some(index) = next else { break };
                    let page = &pages[index].0;
                    let outcome = panic::catch_unwind(AssertUnwindSafe(|| sandbox::run(page)));
                    let outcome = outcome.unwrap_or_else(|_| Outcome {
                        errors: vec![format!(
                            "{}: could not be run to its end: see above",
                            page.name
                        )],
                        ..Outcome::default()
                    });
                    done.lock().unwrap().push((index, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Whether pages are to be written anew.
fn renews() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Writes what was printed into a page, in place of the outputs that it shows.
fn renew(page: &Page, source: &str, outcome: &Outcome) {
    if outcome.renewals.is_empty() {
        return;
    }
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let mut renewals = outcome.renewals.clone();
    // From the end, so that the numbers of lines above stay right.
    renewals.sort_by_key(|renewal| std::cmp::Reverse(renewal.shown.line));
    for renewal in renewals {
        let first = renewal.shown.line - 1;
        lines.splice(
            first..first + renewal.shown.text.lines().count(),
            renewal.lines,
        );
    }
    fs::write(project_file(&page.name), lines.join("\n") + "\n").unwrap();
}
