//! What a command has to say, before anyone decides how it looks: an answer, then sections of tables and notes.
//!
//! What it is: a small tree of texts that each form (text, Markdown, HTML) draws in its own way, so that all of them say
//! the same. What it promises: the same document gives the same bytes; whatever stands in a cell is shown as it is, in
//! every form. What it does not: compute, or cut a figure. Cost: the length of the text.

mod html;
mod markdown;
mod text;

use crate::number::grouped;

/// An answer with what it rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// What it is, as the heading of a page; the text form leaves it out.
    pub title: String,
    /// The answer, one sentence a line.
    pub lead: Vec<String>,
    /// The figures to be seen first; only a page shows them apart.
    pub tiles: Vec<Tile>,
    /// What the answer rests on.
    pub sections: Vec<Section>,
    /// The command that prints it again; the text form leaves it out.
    pub command: Option<String>,
}

/// A figure that stands for itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// What it is.
    pub label: String,
    /// The figure, with its unit.
    pub value: String,
    /// What to hold it against.
    pub note: String,
    /// Whether it asks for attention.
    pub alarming: bool,
}

/// A titled part.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What stands in it, in order.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A sentence, or what reads like one.
    Note(String),
    /// Names and what they stand for.
    Pairs(Vec<(String, String)>),
    /// Something that is kept or broken, with advice where it is broken.
    Check(Check),
    /// Rows under a header.
    Table(Table),
    /// A drawing, which only a page shows.
    Picture(Picture),
}

/// Something that is kept or broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Whether it is kept.
    pub ok: bool,
    /// What it is, and how far off.
    pub text: String,
    /// What would keep it.
    pub advice: Option<String>,
}

/// Rows under a header. A row may be shorter than the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the columns hold.
    pub header: Vec<String>,
    /// All rows there are; each form cuts what it cannot show.
    pub rows: Vec<Vec<String>>,
    /// How many rows there would be, where these are only the first.
    pub of: Option<usize>,
}

/// A drawing with what it says in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What it shows.
    pub caption: String,
    /// The drawing as an `<svg>` element that this crate wrote.
    pub(crate) svg: String,
}

impl Section {
    /// A section of these blocks.
    #[must_use]
    pub fn new(title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self {
            title: title.into(),
            blocks,
        }
    }
}

impl Block {
    /// A sentence.
    #[must_use]
    pub fn note(text: impl Into<String>) -> Self {
        Self::Note(text.into())
    }

    /// A table of these rows.
    #[must_use]
    pub fn table<S: Into<String>>(
        header: impl IntoIterator<Item = S>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        Self::Table(Table::new(header, rows))
    }
}

impl Table {
    /// A table of these rows.
    #[must_use]
    pub fn new<S: Into<String>>(
        header: impl IntoIterator<Item = S>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        Self {
            header: header.into_iter().map(Into::into).collect(),
            rows: rows.into_iter().collect(),
            of: None,
        }
    }

    /// These rows are the first of so many.
    #[must_use]
    pub fn first_of(mut self, rows: usize) -> Self {
        self.of = Some(rows);
        self
    }

    /// Whether each cell of this column is a number or a dash. The first column holds names.
    fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        column > 0
            && cells.all(|cell| cell == "-" || cell.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Says how many rows are left out when `shown` are shown, unless all are.
    fn left_out(&self, shown: usize) -> Option<String> {
        let left = self.of.unwrap_or(0).max(self.rows.len()) - shown.min(self.rows.len());
        (left > 0).then(|| format!("… and {} more, see --json", grouped(left as u64)))
    }
}

impl Document {
    /// The same document with the command that prints it again.
    #[must_use]
    pub fn with_command(self, command: String) -> Self {
        Self {
            command: Some(command),
            ..self
        }
    }

    /// Adds a section, unless it has nothing to say.
    pub fn push(&mut self, title: impl Into<String>, blocks: Vec<Block>) {
        if !blocks.is_empty() {
            self.sections.push(Section::new(title, blocks));
        }
    }

    /// Adds a section before the one of this title, or at the end where there is none.
    pub(crate) fn insert_before(&mut self, title: &str, section: Section) {
        let place = self.sections.iter().position(|other| other.title == title);
        let place = place.unwrap_or(self.sections.len());
        self.sections.insert(place, section);
    }

    /// Puts drawings above what the section of this title says; a section that is not there needs none.
    pub(crate) fn illustrate(&mut self, title: &str, pictures: Vec<Picture>) {
        let mut sections = self.sections.iter_mut();
        if let Some(section) = sections.find(|section| section.title == title) {
            let pictures = pictures.into_iter().map(Block::Picture);
            section.blocks.splice(0..0, pictures);
        }
    }

    /// As text for a terminal or a log, without colours; lines end in LF. Tables are cut after 40 rows.
    #[must_use]
    pub fn text(&self) -> String {
        text::render(self)
    }

    /// As Markdown in the dialect of GitHub; lines end in LF. Tables are cut after 200 rows.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::render(self)
    }

    /// As one page of HTML that needs nothing else, with its style and its drawings in it, and without scripts. Long
    /// tables are folded, and cut after 2,000 rows.
    #[must_use]
    pub fn html(&self) -> String {
        html::render(self)
    }
}
