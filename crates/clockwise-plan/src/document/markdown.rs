//! A document as Markdown, for a pull request or a ticket.

use std::fmt::Write as _;

use super::{Block, Check, Document, Table};

pub(super) fn render(document: &Document) -> String {
    let mut text = format!("# {}\n", escaped(&document.title));
    if let Some((answer, rest)) = document.lead.split_first() {
        let _ = write!(text, "\n**{}**\n", escaped(answer));
        list(&mut text, rest.iter().map(|line| escaped(line)));
    }
    for section in &document.sections {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n## {}\n", escaped(&section.title));
        section
            .blocks
            .iter()
            .for_each(|block| add(&mut text, block));
    }
    if let Some(command) = &document.command {
        // A command is one line, and none of ours begins with a backquote.
        let _ = write!(text, "\n## The command\n\n```sh\n{command}\n```\n");
    }
    text
}

fn list(text: &mut String, items: impl Iterator<Item = String>) {
    text.push('\n');
    for item in items {
        let _ = writeln!(text, "- {item}");
    }
}

fn add(text: &mut String, block: &Block) {
    match block {
        Block::Note(note) => {
            let _ = write!(text, "\n{}\n", escaped(note));
        }
        Block::Pairs(pairs) => list(
            text,
            pairs
                .iter()
                .map(|(name, value)| format!("**{}**: {}", escaped(name), escaped(value))),
        ),
        Block::Check(check) => {
            let Check {
                ok,
                text: what,
                advice,
            } = check;
            let verdict = if *ok { "ok" } else { "BROKEN" };
            let advice = advice
                .as_ref()
                .map_or(String::new(), |advice| format!("\\\n  {}", escaped(advice)));
            list(
                text,
                [format!("**{verdict}** {}{advice}", escaped(what))].into_iter(),
            );
        }
        Block::Table(table) => add_table(text, table),
        // Its table says the same.
        Block::Picture(_) => {}
    }
}

fn add_table(text: &mut String, table: &Table) {
    let row = |cells: &[String]| {
        let cell = |column| escaped(cells.get(column).map_or("", String::as_str));
        let cells: Vec<String> = (0..table.header.len()).map(cell).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rules = (0..table.header.len()).map(|column| {
        if table.is_numeric(column) {
            " ---: |"
        } else {
            " --- |"
        }
    });
    text.push('\n');
    text.push_str(&row(&table.header));
    text.push('|');
    rules.for_each(|rule| text.push_str(rule));
    text.push('\n');
    for cells in table.rows.iter().take(MOST_ROWS) {
        text.push_str(&row(cells));
    }
    if let Some(more) = table.left_out(MOST_ROWS) {
        let _ = write!(text, "\n{more}\n");
    }
}

/// Text that reads as it is: whatever Markdown or HTML could take for a mark is escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            // A reference to a person or an issue, and a link, would read otherwise as well.
            '@' => escaped.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '$' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '\r' | '\n' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Rows of a table before the rest is left to the JSON form: a comment on GitHub holds 65,536 characters.
const MOST_ROWS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Section;

    #[test]
    fn what_stands_in_a_cell_makes_no_marks() {
        let document = Document {
            title: "a plan".to_owned(),
            lead: vec!["moves *all* <b>".to_owned()],
            sections: vec![Section::new(
                "Nodes",
                vec![Block::table(
                    ["node", "keys"],
                    [
                        vec!["a|b`_".to_owned(), "1,000".to_owned()],
                        vec!["c".to_owned()],
                    ],
                )],
            )],
            ..Document::default()
        };
        let expected = "# a plan\n\n**moves \\*all\\* &lt;b>**\n\n\n## Nodes\n\n| node | keys |\n| --- | ---: |\n| a\\|b\\`\\_ | 1,000 |\n| c |  |\n";
        assert_eq!(document.markdown(), expected);
    }

    #[test]
    fn a_long_table_says_how_much_is_left_out() {
        let rows = (0..MOST_ROWS + 5).map(|row| vec![row.to_string()]);
        let table = Block::table(["row"], rows);
        let mut text = String::new();
        add(&mut text, &table);
        assert!(
            text.ends_with("| 199 |\n\n… and 5 more, see --json\n"),
            "{text}"
        );
    }
}
