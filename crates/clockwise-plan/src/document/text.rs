//! A document as plain text: the answer, then each section under its title, tables aligned.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, presets};

use super::{Block, Check, Document, Table};

pub(super) fn render(document: &Document) -> String {
    let mut text = String::new();
    for line in &document.lead {
        text.push_str(line);
        text.push('\n');
    }
    for section in &document.sections {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n{}\n", section.title);
        section
            .blocks
            .iter()
            .for_each(|block| add(&mut text, block));
    }
    text
}

fn add(text: &mut String, block: &Block) {
    let mut line = |line: &str| {
        let _ = writeln!(text, "  {line}");
    };
    match block {
        Block::Note(note) => line(note),
        Block::Pairs(pairs) => {
            let longest = pairs.iter().map(|(name, _)| name.chars().count()).max();
            let width = longest.unwrap_or(0) + 1;
            pairs
                .iter()
                .for_each(|(name, value)| line(&format!("{name:<width$} {value}")));
        }
        Block::Check(Check { ok, text, advice }) => {
            let verdict = if *ok { "ok    " } else { "BROKEN" };
            line(&format!("{verdict} {text}"));
            if let Some(advice) = advice {
                line(&format!("       {advice}"));
            }
        }
        Block::Table(table) => {
            text.push_str(&aligned(table));
            if let Some(more) = table.left_out(MOST_ROWS) {
                let _ = writeln!(text, "  {more}");
            }
        }
        // Its table says the same.
        Block::Picture(_) => {}
    }
}

/// Names to the left, numbers to the right, two blanks before and between.
fn aligned(table: &Table) -> String {
    let mut drawn = comfy_table::Table::new();
    let rows = &table.rows[..table.rows.len().min(MOST_ROWS)];
    drawn
        .load_style(presets::NOTHING)
        .set_header(table.header.iter().map(String::as_str))
        .add_rows(rows.iter().map(|row| row.iter().map(String::as_str)));
    for (place, column) in drawn.column_iter_mut().enumerate() {
        if table.is_numeric(place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    drawn
        .lines()
        .map(|line| format!(" {}\n", line.trim_end()))
        .collect()
}

/// Rows of a table before the rest is left to the JSON form.
const MOST_ROWS: usize = 40;
