//! One reader for each format, behind one face.

use super::columns::Names;
use super::csv::CsvRows;
use super::error::KeyError;
use super::format::Format;
use super::json::JsonLines;
use super::lines::Lines;
use super::log::Log;
use super::metadump::Metadump;
use super::table::{Table, TsvRows};
use super::tally::Tally;
use super::{ReadOptions, Record};

/// The reader of one format. Each is fed bytes as they come and finished once.
pub(super) enum Parser {
    Lines(Lines),
    Csv(Box<(CsvRows, Table)>),
    Tsv(Box<(TsvRows, Table)>),
    JsonLines(Box<JsonLines>),
    Metadump(Metadump),
    /// Its keys are handed over by [`Log::hand_over`], after the end.
    Log(Box<Log>),
}

impl Parser {
    pub(super) fn new(format: Format, options: &ReadOptions) -> Self {
        match format {
            Format::Lines => Self::Lines(Lines::new(options.escaped)),
            Format::Csv => Self::Csv(Box::new((CsvRows::new(), Table::new(options)))),
            Format::Tsv => Self::Tsv(Box::new((TsvRows::new(), Table::new(options)))),
            Format::JsonLines => Self::JsonLines(Box::new(JsonLines::new(options))),
            Format::Metadump => Self::Metadump(Metadump::new()),
            Format::Monitor => Self::Log(Box::new(Log::monitor())),
            Format::KvCache => Self::Log(Box::new(Log::kvcache())),
            Format::Twitter => Self::Log(Box::new(Log::twitter())),
            Format::AccessLog => Self::Log(Box::new(Log::access())),
        }
    }

    pub(super) fn format(&self) -> Format {
        match self {
            Self::Lines(_) => Format::Lines,
            Self::Csv(_) => Format::Csv,
            Self::Tsv(_) => Format::Tsv,
            Self::JsonLines(_) => Format::JsonLines,
            Self::Metadump(_) => Format::Metadump,
            Self::Log(log) => log.format(),
        }
    }

    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> Result<(), KeyError> {
        match self {
            Self::Lines(lines) => lines.feed(bytes, tally, each),
            Self::Csv(csv) => {
                let (rows, table) = &mut **csv;
                rows.feed(bytes, tally, |row, line, tally| {
                    table.take(row, line, tally, each)
                })
            }
            Self::Tsv(tsv) => {
                let (rows, table) = &mut **tsv;
                rows.feed(bytes, tally, |row, line, tally| {
                    table.take(row, line, tally, each)
                })
            }
            Self::JsonLines(json) => json.feed(bytes, tally, each),
            Self::Metadump(dump) => dump.feed(bytes, tally, each),
            Self::Log(log) => log.feed(bytes, tally),
        }
    }

    pub(super) fn finish(
        &mut self,
        tally: &mut Tally,
        each: &mut impl FnMut(Record<'_>),
    ) -> Result<(), KeyError> {
        match self {
            Self::Lines(lines) => lines.finish(tally, each),
            Self::Csv(csv) => {
                let (rows, table) = &mut **csv;
                rows.finish(tally, |row, line, tally| table.take(row, line, tally, each))
            }
            Self::Tsv(tsv) => {
                let (rows, table) = &mut **tsv;
                rows.finish(tally, |row, line, tally| table.take(row, line, tally, each))
            }
            Self::JsonLines(json) => json.finish(tally, each),
            Self::Metadump(dump) => dump.finish(tally, each),
            Self::Log(log) => log.finish(tally),
        }
    }

    pub(super) fn column_names(&self) -> Option<Names> {
        match self {
            Self::Lines(_) | Self::Metadump(_) => None,
            Self::Csv(csv) => csv.1.column_names(),
            Self::Tsv(tsv) => tsv.1.column_names(),
            Self::JsonLines(json) => Some(json.column_names()),
            Self::Log(log) => log.column_names(),
        }
    }
}
