//! Links between the project's own pages, and what the book must not leave out.
//!
//! Promises that every relative link in a Markdown file leads to a file that exists, and to a heading of it where one
//! is named, that every page of the book stands in its summary, and that schemes, warnings and options are in the book.
//! Does not open addresses outside the project. Cost: one read of each page. Source: heading names become anchors as
//! mdBook and GitHub make them.

mod command;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use clockwise::Scheme;

use command::commands;

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
fn every_scheme_is_in_the_book() {
    let book = book();
    for name in Scheme::names() {
        assert!(book.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn every_warning_has_a_row_on_its_page() {
    let page = std::fs::read_to_string(root().join("docs/src/reference/warnings.md")).unwrap();
    let sources = [
        "clockwise-plan/src/report/warnings.rs",
        "clockwise-plan/src/compare/verdict.rs",
        "clockwise-cli/src",
    ];
    let mut codes = BTreeSet::new();
    for source in sources.map(|source| root().join("crates").join(source)) {
        for file in files(&source, ".rs") {
            let text = std::fs::read_to_string(file).unwrap();
            codes.extend(
                ["Warning::new(", "add("]
                    .iter()
                    .flat_map(|call| first_texts(&text, call)),
            );
        }
    }
    assert!(
        codes.contains("hot-key") && codes.contains("bad-lines"),
        "{codes:?}"
    );
    for code in codes {
        assert!(page.contains(&format!("\n| `{code}` |")), "{code}");
    }
}

#[test]
fn every_member_of_a_plan_is_on_its_page() {
    let page = std::fs::read_to_string(root().join("docs/src/reference/plan-json.md")).unwrap();
    let named = named_members(&page);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let nodes = |zones: &[&str]| -> String {
        let node = |zone: &&str| format!("[[node]]\nid = \"n{zone}\"\nzone = \"{zone}\"\n");
        zones.iter().map(node).collect()
    };
    let old = file("old.toml", &nodes(&["a", "b"]));
    let new = file("new.toml", &nodes(&["a", "b", "c", "d"]));
    let rows: String = (1..500).map(|i| format!("k{i},{i},{i}\n")).collect();
    let keys = file("k.csv", &format!("key,requests,bytes\n{rows}"));
    let mut members = BTreeSet::new();
    for scheme in ["ring", "slots", "jump"] {
        let plan = Command::new(env!("CARGO_BIN_EXE_clockwise"))
            .args([
                "plan", "--json", "--from", &old, "--to", &new, "--keys", &keys, "--view", "na",
            ])
            .args([
                "--scheme",
                scheme,
                "--rate",
                "9",
                "--hit-rate",
                "0.9",
                "--copy-rate",
                "1KB",
            ])
            .args(["--node-memory", "1KB", "--limit", "moved=0.1"])
            .output()
            .unwrap();
        members_of(&serde_json::from_slice(&plan.stdout).unwrap(), &mut members);
    }
    assert!(members.contains("whole_cache_factor") && members.contains("advice"));
    for member in members {
        assert!(named.contains(member.as_str()), "{member}");
    }
}

#[test]
fn every_member_of_a_comparison_is_on_its_page() {
    let page = std::fs::read_to_string(root().join("docs/src/reference/compare-json.md")).unwrap();
    let compared = Command::new(env!("CARGO_BIN_EXE_clockwise"))
        .args([
            "compare",
            "--json",
            "--from",
            "a,b,c",
            "--keys",
            "gen:k{0..99}",
        ])
        .output()
        .unwrap();
    let mut members = BTreeSet::new();
    members_of(
        &serde_json::from_slice(&compared.stdout).unwrap(),
        &mut members,
    );
    assert!(members.contains("worst_node") && members.contains("lookup_ns"));
    let named = named_members(&page);
    for member in members {
        assert!(named.contains(member.as_str()), "{member}");
    }
}

/// The names in code on a page.
fn named_members(page: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let quoted = page.split('`').skip(1).step_by(2);
    quoted
        .flat_map(move |code| code.split(move |c| !is_part(c)))
        .collect()
}

/// The names of all members of all objects in a value.
fn members_of(value: &serde_json::Value, names: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (name, value) in object {
                names.insert(name.clone());
                members_of(value, names);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| members_of(value, names)),
        _ => {}
    }
}

#[test]
fn every_option_is_in_the_book() {
    let book = book();
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    let named: BTreeSet<&str> = book.split(|c| !is_part(c)).collect();
    for command in commands() {
        let help = Command::new(env!("CARGO_BIN_EXE_clockwise"))
            .args(command.split(' '))
            .arg("--help")
            .output()
            .unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let is_option = |word: &&str| word.starts_with("--") && word.len() > 2;
        let options: Vec<&str> = help.split(|c| !is_part(c)).filter(is_option).collect();
        assert!(options.contains(&"--help"), "{help}");
        for option in options {
            assert!(named.contains(option), "{command} {option}");
        }
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

/// All pages of the book that a person wrote.
fn book() -> String {
    let pages = pages(&root().join("docs/src"));
    let texts = pages
        .iter()
        .filter(|page| {
            page.parent()
                .is_some_and(|folder| !folder.ends_with("reference/cli"))
        })
        .map(|page| std::fs::read_to_string(page).unwrap());
    texts.collect()
}

/// The texts that calls have as their first argument.
fn first_texts(source: &str, call: &str) -> Vec<String> {
    let calls = source.split(call).skip(1);
    calls
        .filter_map(|rest| rest.trim_start().strip_prefix('"'))
        .filter_map(|rest| rest.split_once('"'))
        .map(|(text, _)| text.to_owned())
        .collect()
}

/// Markdown files below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    files(folder, ".md")
}

/// Files below a folder, or the file itself, in order of their names. What git ignores has none of ours.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    if folder.is_file() {
        return vec![folder.to_owned()];
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !["target", "node_modules"].contains(&&*name)
        {
            found.extend(files(&path, ending));
        } else if name.ends_with(ending) {
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
