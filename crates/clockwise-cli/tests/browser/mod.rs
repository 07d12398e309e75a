//! Opens a page in Chromium and reads back what it shows.
//!
//! Promises that the page is looked at by the browser as readers have it, in four views, and that a missing browser fails
//! the test: `./test` installs it. Does not judge what is seen.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::command::Running;

/// What a page did in each view, and what it shows.
#[derive(Debug, Deserialize)]
pub(crate) struct Look {
    pub(crate) views: Views,
    pub(crate) shown: Shown,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Views {
    pub(crate) light: View,
    pub(crate) dark: View,
    pub(crate) phone: View,
    pub(crate) print: View,
}

#[derive(Debug, Deserialize)]
pub(crate) struct View {
    /// Addresses asked for besides the page's own.
    pub(crate) requests: Vec<String>,
    /// What stands in the console.
    pub(crate) complaints: Vec<String>,
    /// CSS pixels by which the page is wider than its window.
    pub(crate) over: i64,
    /// Parts that reach past the window and cannot be scrolled to.
    pub(crate) cut: Vec<String>,
    /// Sheets of A4, in print.
    pub(crate) sheets: Option<u64>,
    /// What the checker of accessibility found, except in print.
    pub(crate) accessibility: Option<Accessibility>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Accessibility {
    /// Rules that hold.
    pub(crate) passed: usize,
    pub(crate) broken: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) impact: Option<String>,
    pub(crate) first: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Shown {
    pub(crate) title: String,
    /// All that can be read.
    pub(crate) text: String,
    pub(crate) figures: Vec<Figure>,
    pub(crate) tables: Vec<Table>,
    /// Elements that could run or load something.
    pub(crate) active: usize,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Table {
    pub(crate) section: String,
    pub(crate) rows: Vec<Vec<String>>,
}

/// A drawing: its shapes by what they stand for.
#[derive(Debug, Deserialize)]
pub(crate) struct Figure {
    pub(crate) kind: String,
    pub(crate) caption: String,
    pub(crate) label: String,
    pub(crate) has_table: bool,
    pub(crate) texts: Vec<String>,
    /// Shapes that cover something.
    pub(crate) drawn: usize,
    pub(crate) tracks: Vec<Track>,
    pub(crate) ribbons: Vec<Ribbon>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) bars: Vec<Bar>,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Track {
    pub(crate) name: String,
    pub(crate) arcs: Vec<Arc>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Arc {
    pub(crate) name: String,
    pub(crate) d: String,
    /// The colour it has in the end.
    pub(crate) fill: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Ribbon {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) d: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Cell {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) opacity: f64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Bar {
    pub(crate) fill: String,
    pub(crate) width: f64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    pub(crate) stroke: String,
    pub(crate) points: String,
}

/// Opens a page.
pub(crate) fn look(page: &Path) -> Look {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    assert!(
        folder.join("node_modules").is_dir(),
        "./test installs playwright-core and axe-core"
    );
    let mut command = Command::new("node");
    command
        .arg(folder.join("look.mjs"))
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let answer = Running::start(&mut command).finish();
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    serde_json::from_slice(&answer.stdout).unwrap_or_else(|error| panic!("{error}"))
}

impl Views {
    pub(crate) fn all(&self) -> [(&'static str, &View); 4] {
        [
            ("light", &self.light),
            ("dark", &self.dark),
            ("phone", &self.phone),
            ("print", &self.print),
        ]
    }
}

impl Shown {
    /// The only drawing of a kind whose caption begins like this.
    pub(crate) fn figure(&self, kind: &str, start: &str) -> &Figure {
        let mut figures = self.figures.iter();
        let found = figures.find(|figure| figure.kind == kind && figure.caption.starts_with(start));
        found.unwrap_or_else(|| panic!("no {kind} {start:?}"))
    }

    /// Whether there is one.
    pub(crate) fn has_figure(&self, kind: &str, start: &str) -> bool {
        let mut figures = self.figures.iter();
        figures.any(|figure| figure.kind == kind && figure.caption.starts_with(start))
    }
}
