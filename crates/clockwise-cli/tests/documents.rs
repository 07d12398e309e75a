//! Links between the project's own pages.
//!
//! Promises that every relative link in a Markdown file leads to a file that exists, and to a heading of it where one
//! is named, and that every page of the book stands in its summary. Does not open addresses outside the project.
//! Cost: one read of each page. Source: heading names become anchors as mdBook and GitHub make them.

use std::path::{Path, PathBuf};

#[test]
fn every_relative_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages(&root()) {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text).filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.with_file_name(file)
            };
            let leads = target.exists()
                && (anchor.is_empty()
                    || anchors(&std::fs::read_to_string(&target).unwrap())
                        .any(|heading| heading == anchor));
            if !leads {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_page_of_the_book_stands_in_its_summary() {
    let book = root().join("docs/src");
    let summary = std::fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let listed: Vec<PathBuf> = links(&summary).map(|link| book.join(link)).collect();
    for page in pages(&book) {
        assert!(
            page.ends_with("SUMMARY.md") || listed.contains(&page),
            "{} is not in SUMMARY.md",
            page.display()
        );
    }
}

#[test]
fn links_and_anchors_are_found_outside_code_only() {
    let text = "a [b](c.md), `[not](x)`\n```\n[nor](y)\n```\n## Rings, *and* `slots`: 2\n[d](e#f)";
    assert_eq!(links(text).collect::<Vec<_>>(), ["c.md", "e#f"]);
    assert_eq!(
        anchors(text).collect::<Vec<_>>(),
        ["rings-and-slots-2".to_owned()]
    );
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Markdown files below a folder, in order of their names. What git ignores has none of ours.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            found.extend(pages(&path));
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
    found
}

/// The lines of a page that are not in a code block.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// Targets of `[text](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    prose(text)
        .flat_map(|line| line.split('`').step_by(2))
        .flat_map(|outside_code| outside_code.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
}

/// What can follow `#` in a link to the page.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    prose(text)
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
}
