//! A document as one page of HTML that needs nothing else: no script, no font, no image from elsewhere.
//!
//! What it is: the answer, figures to be seen first, then each section with its drawings above its tables. What it
//! promises: whatever stands in a text is shown as it is; the page forbids itself every request; long tables are folded,
//! so that it prints on a few pages. What it does not: sort or filter. Cost: the length of the page.

use std::collections::BTreeSet;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Block, Check, Document, Picture, Section, Table, Tile};
use crate::number::grouped;

pub(super) fn render(document: &Document) -> String {
    let anchors = anchors(&document.sections);
    let parts = || document.sections.iter().zip(&anchors);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(NO_REQUESTS);
                meta name="generator" content=(concat!("clockwise ", env!("CARGO_PKG_VERSION")));
                link rel="icon" href="data:,";
                title { (document.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    header {
                        p.product { "clockwise" }
                        h1 { (document.title) }
                        (lead(document))
                    }
                    nav aria-label="Contents" {
                        ul { @for (section, anchor) in parts() {
                            li { a href={ "#" (anchor) } { (section.title) } }
                        } }
                    }
                    @for (section, anchor) in parts() {
                        section id=(anchor) {
                            h2 { (section.title) }
                            @for block in &section.blocks { (block_of(block, &section.title)) }
                        }
                    }
                    @if let Some(command) = &document.command {
                        section id="the-command" {
                            h2 { "The command" }
                            pre tabindex="0" role="region" aria-label="The command" { code { (command) } }
                        }
                    }
                    footer { p { "Made by clockwise " (env!("CARGO_PKG_VERSION")) ". The same inputs give the same page." } }
                }
            }
        }
    };
    page.into_string() + "\n"
}

/// The answer large, the figures to be seen first, the rest as a list, what to do next apart.
fn lead(document: &Document) -> Markup {
    let lines = &document.lead;
    let is_alarm = |line: &str| line.starts_with("BROKEN") || line.starts_with("PARTIAL");
    let is_next = |line: &str| line.starts_with("Next: ");
    let plain = |line: &&String| !is_alarm(line) && !is_next(line);
    let mut rest = lines.iter().filter(plain);
    html! {
        @for line in lines.iter().filter(|line| is_alarm(line)) { p.alarm { (line) } }
        @if let Some(answer) = rest.next() { p.answer { (answer) } }
        @if !document.tiles.is_empty() {
            dl.tiles { @for tile in &document.tiles { (tile_of(tile)) } }
        }
        ul.lead { @for line in rest { li { (line) } } }
        @for line in lines.iter().filter(|line| is_next(line)) { p.next { (line) } }
    }
}

fn tile_of(tile: &Tile) -> Markup {
    html! {
        div.alarming[tile.alarming] {
            dt { (tile.label) }
            dd { strong { (tile.value) } span { (tile.note) } }
        }
    }
}

fn block_of(block: &Block, title: &str) -> Markup {
    match block {
        Block::Note(note) => html! { p.note { (note) } },
        Block::Pairs(pairs) => html! {
            dl.pairs { @for (name, value) in pairs { dt { (name) } dd { (value) } } }
        },
        Block::Check(Check { ok, text, advice }) => html! {
            p.check.broken[!ok] {
                strong { @if *ok { "ok" } @else { "BROKEN" } } " " (text)
                @if let Some(advice) = advice { br; (advice) }
            }
        },
        Block::Picture(Picture { caption, svg }) => html! {
            figure {
                div.scroll tabindex="0" role="region" aria-label=(caption) { (PreEscaped(svg)) }
                figcaption { (caption) }
            }
        },
        Block::Table(table) => whole_table(table, title),
    }
}

/// All rows, or the first ones with the rest folded away.
fn whole_table(table: &Table, title: &str) -> Markup {
    let shown = if table.rows.len() <= MOST_OPEN {
        table.rows.len()
    } else {
        FIRST_OPEN
    };
    let (first, rest) = table.rows.split_at(shown);
    let rest = &rest[..rest.len().min(MOST_ROWS - shown)];
    html! {
        (rows_of(table, first, title))
        @if !rest.is_empty() {
            details {
                summary { "The next " (grouped(rest.len() as u64)) " rows" }
                (rows_of(table, rest, &format!("{title}, further rows")))
            }
        }
        @if let Some(more) = table.left_out(shown + rest.len()) { p.note { (more) } }
    }
}

fn rows_of(table: &Table, rows: &[Vec<String>], title: &str) -> Markup {
    let class = |column| table.is_numeric(column).then_some("n");
    let class_of = |column, cell: &str| {
        let is_long = cell.chars().count() > LONG;
        class(column).or(is_long.then_some("long"))
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "Table: " (title) } {
            table.wide[table.header.len() > MOST_COLUMNS] {
                thead { tr { @for (column, name) in table.header.iter().enumerate() {
                    @if name.is_empty() { td {} } @else { th scope="col" class=[class(column)] { (name) } }
                } } }
                tbody { @for row in rows {
                    tr { @for (column, cell) in row.iter().enumerate() {
                        @if column == 0 && !cell.is_empty() { th scope="row" class=[class_of(0, cell)] { (cell) } }
                        @else { td class=[class_of(column, cell)] { (cell) } }
                    } }
                } }
            }
        }
    }
}

/// A name for each section that an address can end with.
fn anchors(sections: &[Section]) -> Vec<String> {
    let mut taken = BTreeSet::from(["the-command".to_owned()]);
    let mut anchor = |section: &Section| {
        let words = section.title.to_lowercase();
        let words: Vec<&str> = words
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let name = words.join("-");
        let mut names = (1..).map(|count| match count {
            1 => name.clone(),
            count => format!("{name}-{count}"),
        });
        // The numbers never end, the names taken do.
        let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    sections.iter().map(&mut anchor).collect()
}

/// What the page may load: nothing but what stands in it.
const NO_REQUESTS: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/// Tables of more rows are folded.
const MOST_OPEN: usize = 24;
/// Rows of a folded table that stay open.
const FIRST_OPEN: usize = 12;
/// Rows of a table before the rest is left to the JSON form: a page of 2,000 rows still opens at once.
const MOST_ROWS: usize = 2000;
/// Tables of more columns are printed small.
const MOST_COLUMNS: usize = 9;
/// Longer texts are broken into lines.
const LONG: usize = 28;
const STYLE: &str = include_str!("page.css");
