//! Tables of a fixed look, and values in the form that a person would read.

use comfy_table::{CellAlignment, Table, presets};

use crate::number::{decimal, grouped};

/// Names to the left, numbers to the right, two blanks before and between.
pub(super) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(header.iter().copied())
        .add_rows(rows.iter().cloned());
    for (place, column) in table.column_iter_mut().enumerate() {
        let numbers = rows
            .iter()
            .filter_map(|row| row.get(place))
            .all(|cell| cell == "-" || cell.starts_with(|c: char| c.is_ascii_digit()));
        if numbers && place > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
        .lines()
        .map(|line| format!(" {}\n", line.trim_end()))
        .collect()
}

/// Says how many rows were left out.
pub(super) fn more(rows: usize) -> String {
    if rows > MOST_ROWS {
        format!(
            "  … and {} more, see --json\n",
            grouped((rows - MOST_ROWS) as u64)
        )
    } else {
        String::new()
    }
}

/// Seconds in the unit that a person would take.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", decimal(s, 1)),
        s if s < 7200.0 => format!("{} min", decimal(s / 60.0, 1)),
        s => format!("{} h", decimal(s / 3600.0, 1)),
    }
}

/// Rows of a table before the rest is left to the JSON form.
pub(super) const MOST_ROWS: usize = 40;
