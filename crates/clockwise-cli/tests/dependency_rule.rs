//! Who may depend on whom: [`RULES`] against what cargo resolves.
//!
//! What it is: a row for every crate of ours, with the crates that its manifest may name and those that it may not
//! reach by any chain. What it promises: a forbidden edge, or a crate without a row, fails and is named. What it does
//! not: look at dev-dependencies, which are free, nor at licences, sources and duplicates, which `deny.toml` rules.
//! Cost: one run of `cargo metadata`. Source: the layout in CONTRIBUTING.md; change both together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What one of our crates may use outside its tests.
struct Rule {
    name: &'static str,
    /// Crates of ours that its manifest may name.
    ours: &'static [&'static str],
    /// Crates of others that its manifest may name; `None` for any.
    others: Option<&'static [&'static str]>,
    /// Crates that it may not reach, not even through others.
    never: &'static [&'static [&'static str]],
    /// Text that none of its sources may hold.
    not_in_source: &'static [&'static str],
}

/// The table. Crates that are still to come have their row already.
const RULES: &[Rule] = &[
    Rule {
        name: "clockwise",
        ours: &[],
        others: Some(&[
            "crc",
            "crc32fast",
            "md-5",
            "memchr",
            "sha1",
            "sha2",
            "siphasher",
            "thiserror",
            "unicode-normalization",
            "unicode-properties",
            "xxhash-rust",
        ]),
        never: &[NETWORK, TERMINAL, RANDOM],
        // That it needs no standard library at all is proven by building no-std-proof.
        not_in_source: &[],
    },
    Rule {
        name: "clockwise-wire",
        ours: &[],
        others: Some(&["bytes"]),
        never: &[NETWORK, TERMINAL, RANDOM],
        not_in_source: SOCKETS,
    },
    Rule {
        name: "clockwise-plan",
        ours: &["clockwise", "clockwise-wire"],
        others: None,
        never: &[NETWORK, TERMINAL],
        not_in_source: SOCKETS,
    },
    Rule {
        name: "clockwise-control",
        ours: &["clockwise"],
        others: None,
        never: &[TERMINAL],
        not_in_source: &[],
    },
    Rule {
        name: "clockwise-router",
        ours: &["clockwise", "clockwise-wire", "clockwise-control"],
        others: None,
        never: &[TERMINAL],
        not_in_source: &[],
    },
    Rule {
        name: "clockwise-rebalance",
        ours: &[
            "clockwise",
            "clockwise-wire",
            "clockwise-plan",
            "clockwise-control",
        ],
        others: None,
        never: &[TERMINAL],
        not_in_source: &[],
    },
    Rule {
        name: "clockwise-cli",
        ours: &[
            "clockwise",
            "clockwise-wire",
            "clockwise-plan",
            "clockwise-control",
            "clockwise-router",
            "clockwise-rebalance",
        ],
        others: None,
        never: &[],
        not_in_source: &[],
    },
    // In nobody's `ours`: it can only be a dev-dependency.
    Rule {
        name: "clockwise-testkit",
        ours: &["clockwise", "clockwise-wire"],
        others: None,
        never: &[],
        not_in_source: &[],
    },
];

/// Runtimes, sockets and what speaks a protocol over them.
const NETWORK: &[&str] = &[
    "async-io",
    "async-std",
    "curl",
    "hyper",
    "mio",
    "quinn",
    "redis",
    "reqwest",
    "smol",
    "socket2",
    "tokio",
    "ureq",
];

/// What only a binary has a use for: arguments, colours, progress, signals, errors that nobody matches on.
const TERMINAL: &[&str] = &[
    "anstyle",
    "anyhow",
    "clap",
    "console",
    "crossterm",
    "ctrlc",
    "eyre",
    "indicatif",
];

/// Sources of randomness: placement has none that its caller did not hand in.
const RANDOM: &[&str] = &["fastrand", "getrandom", "rand"];

const SOCKETS: &[&str] = &["std::net", "std::os::unix::net"];

#[test]
fn every_crate_of_ours_has_a_row() {
    let rules: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    let without: Vec<String> = Graph::read()
        .members()
        .map(|package| package.name.clone())
        .filter(|name| !rules.contains(name.as_str()))
        .collect();
    assert!(
        without.is_empty(),
        "no row in RULES for {without:?}: say what they may depend on"
    );
}

#[test]
fn no_manifest_names_a_crate_that_it_may_not_use() {
    let graph = Graph::read();
    let mut forbidden = Vec::new();
    for (rule, package) in graph.ruled() {
        for used in &package.uses {
            let used = &graph.packages[used];
            let allowed = if used.is_ours {
                rule.ours.contains(&used.name.as_str())
            } else {
                rule.others
                    .is_none_or(|others| others.contains(&used.name.as_str()))
            };
            if !allowed {
                forbidden.push(format!("{} -> {}", rule.name, used.name));
            }
        }
    }
    assert!(forbidden.is_empty(), "not allowed by RULES: {forbidden:#?}");
}

#[test]
fn no_chain_leads_to_a_crate_that_must_not_be_reached() {
    let graph = Graph::read();
    let mut forbidden = Vec::new();
    for (rule, package) in graph.ruled() {
        for chain in graph.chains_from(package) {
            let end = chain.last().copied().unwrap_or_default();
            if rule.never.iter().any(|never| never.contains(&end)) {
                forbidden.push(chain.join(" -> "));
            }
        }
    }
    assert!(forbidden.is_empty(), "not allowed by RULES: {forbidden:#?}");
}

#[test]
fn no_source_holds_what_its_crate_must_do_without() {
    for (rule, package) in Graph::read().ruled() {
        for source in sources(&package.folder.join("src")) {
            let text = std::fs::read_to_string(&source).unwrap();
            for banned in rule.not_in_source {
                assert!(
                    !text.contains(banned),
                    "{} holds {banned}, which {} must do without",
                    source.display(),
                    rule.name
                );
            }
        }
    }
}

/// The resolved packages by cargo's id.
struct Graph {
    packages: BTreeMap<String, Package>,
}

struct Package {
    name: String,
    is_ours: bool,
    folder: Box<Path>,
    /// Ids of what it uses outside its tests: normal and build dependencies.
    uses: Vec<String>,
}

impl Graph {
    fn read() -> Self {
        let output = Command::new(std::env::var_os("CARGO").unwrap())
            .args(["metadata", "--format-version", "1", "--locked"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo metadata: {errors}");
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();

        let members: BTreeSet<&str> = strings(&metadata["workspace_members"]).collect();
        let mut uses: BTreeMap<&str, Vec<String>> = list(&metadata["resolve"]["nodes"])
            .map(|node| (text(&node["id"]), used_outside_tests(node)))
            .collect();
        let packages = list(&metadata["packages"])
            .map(|package| {
                let id = text(&package["id"]);
                let manifest = Path::new(text(&package["manifest_path"]));
                let package = Package {
                    name: text(&package["name"]).to_owned(),
                    is_ours: members.contains(id),
                    folder: manifest.parent().unwrap().into(),
                    uses: uses.remove(id).unwrap(),
                };
                (id.to_owned(), package)
            })
            .collect();
        Self { packages }
    }

    fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.values().filter(|package| package.is_ours)
    }

    /// Our packages with their rows.
    fn ruled(&self) -> impl Iterator<Item = (&'static Rule, &Package)> {
        self.members().filter_map(|package| {
            let rule = RULES.iter().find(|rule| rule.name == package.name)?;
            Some((rule, package))
        })
    }

    /// For everything that a package reaches, the names on one way there.
    fn chains_from<'g>(&'g self, package: &'g Package) -> Vec<Vec<&'g str>> {
        let mut seen = BTreeSet::new();
        let mut open = vec![vec![package]];
        let mut chains = Vec::new();
        while let Some(chain) = open.pop() {
            chains.push(chain.iter().map(|package| package.name.as_str()).collect());
            let Some(end) = chain.last() else { continue };
            for used in &end.uses {
                if seen.insert(used) {
                    open.push([chain.as_slice(), &[&self.packages[used]]].concat());
                }
            }
        }
        chains
    }
}

fn used_outside_tests(node: &Value) -> Vec<String> {
    list(&node["deps"])
        .filter(|dep| list(&dep["dep_kinds"]).any(|kind| kind["kind"] != "dev"))
        .map(|dep| text(&dep["pkg"]).to_owned())
        .collect()
}

fn sources(folder: &Path) -> Vec<Box<Path>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push(path.into());
        }
    }
    found
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    list(value).map(text)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
