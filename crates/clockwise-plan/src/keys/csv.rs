//! Rows of comma-separated fields, on csv-core's machine, in bounded memory.
//!
//! A row over the limits is read to its end and reported as one bad line. A quote that is still open when the
//! input ends makes a bad line of its row, instead of a key that holds the rest of the file.

use csv_core::ReadRecordResult;

use super::MAX_LINE_BYTES;
use super::error::{BadLineReason, KeyError};
use super::table::Row;
use super::tally::Tally;

/// Cuts a stream of bytes into rows.
pub(super) struct CsvRows {
    reader: csv_core::Reader,
    /// Fields of the row under way, back to back; as long as it may get for now.
    fields: Vec<u8>,
    filled: usize,
    ends: Vec<usize>,
    ended: usize,
    /// A row is under way, which began on this line.
    begun: Option<u64>,
    /// The row under way is over a limit.
    overflow: bool,
    /// LFs so far.
    line_ends: u64,
    /// The last byte was no LF.
    in_line: bool,
}

impl CsvRows {
    pub(super) fn new() -> Self {
        Self {
            reader: csv_core::ReaderBuilder::new().build(),
            fields: vec![0; 4 << 10],
            filled: 0,
            ends: vec![0; 64],
            ended: 0,
            begun: None,
            overflow: false,
            line_ends: 0,
            in_line: false,
        }
    }

    /// Hands every row that ends in `bytes` to `take`, with the line on which it began.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        tally: &mut Tally,
        mut take: impl FnMut(Result<Row<'_>, BadLineReason>, u64, &mut Tally) -> Result<(), KeyError>,
    ) -> Result<(), KeyError> {
        let mut bytes = bytes;
        loop {
            if self.begun.is_none() {
                // The machine skips line ends before a row too; done here, the row's line is known.
                let skip = bytes
                    .iter()
                    .position(|b| !matches!(b, b'\n' | b'\r'))
                    .unwrap_or(bytes.len());
                let blank;
                (blank, bytes) = bytes.split_at(skip);
                self.count_lines(blank, tally);
                if !bytes.is_empty() {
                    self.begun = Some(self.line_ends + 1);
                }
            }
            // Without input the machine would take the row for ended.
            if bytes.is_empty() {
                return Ok(());
            }
            let (row_ended, read) = self.step(bytes);
            let done;
            (done, bytes) = bytes.split_at(read);
            self.count_lines(done, tally);
            if row_ended {
                self.hand_over(tally, &mut take)?;
            }
        }
    }

    /// Hands over the last row, if it had no end.
    pub(super) fn finish(
        &mut self,
        tally: &mut Tally,
        mut take: impl FnMut(Result<Row<'_>, BadLineReason>, u64, &mut Tally) -> Result<(), KeyError>,
    ) -> Result<(), KeyError> {
        let Some(line) = self.begun else {
            return Ok(());
        };
        // A line end ends the row, unless a quote is open. It may take several steps when buffers are full.
        loop {
            match self.step(b"\n") {
                (true, _) => return self.hand_over(tally, &mut take),
                (false, 0) => {}
                (false, _) => {
                    self.begun = None;
                    return take(Err(BadLineReason::OpenQuote), line, tally);
                }
            }
        }
    }

    /// Runs the machine once over `bytes`: whether a row ended, and how many bytes were read.
    fn step(&mut self, bytes: &[u8]) -> (bool, usize) {
        let (result, read, wrote, ended) = self.reader.read_record(
            bytes,
            &mut self.fields[self.filled..],
            &mut self.ends[self.ended..],
        );
        self.filled += wrote;
        self.ended += ended;
        match result {
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::Record | ReadRecordResult::End => return (true, read),
            ReadRecordResult::OutputFull if self.fields.len() < MAX_LINE_BYTES => {
                self.fields.resize(self.fields.len() * 2, 0);
            }
            ReadRecordResult::OutputEndsFull if self.ends.len() < MAX_FIELDS => {
                self.ends.resize(self.ends.len() * 2, 0);
            }
            // Over a limit: the rest of the row goes over what is there already.
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                self.overflow = true;
                self.filled = 0;
                self.ended = 0;
            }
        }
        (false, read)
    }

    fn hand_over(
        &mut self,
        tally: &mut Tally,
        take: &mut impl FnMut(Result<Row<'_>, BadLineReason>, u64, &mut Tally) -> Result<(), KeyError>,
    ) -> Result<(), KeyError> {
        let line = self.begun.take().unwrap_or_default();
        let row = if self.overflow {
            Err(BadLineReason::LineTooLong)
        } else {
            Ok(Row {
                bytes: &self.fields[..self.filled],
                ends: &self.ends[..self.ended],
                gap: 0,
            })
        };
        self.overflow = false;
        self.filled = 0;
        self.ended = 0;
        take(row, line, tally)
    }

    fn count_lines(&mut self, bytes: &[u8], tally: &mut Tally) {
        let Some(last) = bytes.last() else {
            return;
        };
        self.line_ends += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.in_line = *last != b'\n';
        tally.lines = self.line_ends + u64::from(self.in_line);
    }
}

/// The most fields of a row. Tables with more columns than spreadsheets know are not lists of keys.
pub(super) const MAX_FIELDS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::ReadOptions;
    use super::*;

    type Fields = Result<Vec<Vec<u8>>, BadLineReason>;

    fn rows<'a>(blocks: impl Iterator<Item = &'a [u8]>) -> (Vec<(u64, Fields)>, u64) {
        let mut reader = CsvRows::new();
        let mut tally = Tally::new(&ReadOptions::new("test"));
        let mut rows = Vec::new();
        let mut take = |row: Result<Row<'_>, BadLineReason>, line, _: &mut Tally| {
            rows.push((
                line,
                row.map(|row| row.fields().map(<[u8]>::to_vec).collect()),
            ));
            Ok(())
        };
        for block in blocks {
            reader.feed(block, &mut tally, &mut take).unwrap();
            assert!(reader.fields.capacity() <= MAX_LINE_BYTES);
            assert!(reader.ends.capacity() <= MAX_FIELDS);
        }
        reader.finish(&mut tally, &mut take).unwrap();
        (rows, tally.lines)
    }

    #[test]
    fn each_row_has_the_line_it_began_on_however_lines_end() {
        let text = b"a,b\r\n\r\n\n\"x\ny\",1\r\nc,d\re,f\n\n";
        for size in 1..=text.len() {
            let (rows, lines) = rows(text.chunks(size));
            let begun: Vec<u64> = rows.iter().map(|(line, _)| *line).collect();
            // A lone CR ends a row, but starts no new line of text.
            assert_eq!(begun, [1, 4, 6, 6], "{size}");
            assert_eq!(rows[1].1, Ok(vec![b"x\ny".to_vec(), b"1".to_vec()]));
            assert_eq!(lines, 7, "{size}");
        }
    }

    #[test]
    fn a_row_over_a_limit_is_one_bad_row_and_the_next_is_read() {
        let mut text = vec![b'x'; 3 * MAX_LINE_BYTES];
        text.extend(b",1\nok,2\n\"");
        text.resize(text.len() + MAX_LINE_BYTES, b'\n');
        text.extend(b"\",3\nok,4\n");
        text.resize(text.len() + MAX_FIELDS, b',');
        text.extend(b"\nok,6");
        let (rows, _) = rows(text.chunks(100_000));
        let long = || Err(BadLineReason::LineTooLong);
        let ok = |n: &str| Ok(vec![b"ok".to_vec(), n.as_bytes().to_vec()]);
        let found: Vec<Fields> = rows.iter().map(|(_, row)| row.clone()).collect();
        assert_eq!(found, [long(), ok("2"), long(), ok("4"), long(), ok("6")]);
        assert_eq!(rows[3].0, 4 + MAX_LINE_BYTES as u64);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_bad_and_a_closed_one_at_the_end_is_not() {
        let last = |text: &str| rows(text.as_bytes().chunks(3)).0.pop().unwrap().1;
        assert_eq!(last("a\n\"b\nc"), Err(BadLineReason::OpenQuote));
        assert_eq!(last("a\n\""), Err(BadLineReason::OpenQuote));
        assert_eq!(last("a\n\"b\""), Ok(vec![b"b".to_vec()]));
        assert_eq!(last("a\n\"\""), Ok(vec![b"".to_vec()]));
        assert_eq!(last("a\nb,"), Ok(vec![b"b".to_vec(), b"".to_vec()]));
        // Buffers that are exactly full when the quote turns out to be open.
        for length in [4095, 4096, 4097, MAX_LINE_BYTES] {
            let mut text = vec![b'"'];
            text.resize(length + 1, b'x');
            assert_eq!(
                rows([&text[..]].into_iter()).0,
                [(1, Err(BadLineReason::OpenQuote))]
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_the_rows_that_the_csv_crate_gives(
            text in proptest::collection::vec(
                prop_oneof![Just(b'"'), Just(b','), Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()],
                0..120,
            ),
            size in 1_usize..40,
        ) {
            let mut oracle = ::csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .from_reader(&text[..]);
            let expected: Vec<Vec<Vec<u8>>> = oracle
                .byte_records()
                .map(|row| row.unwrap().iter().map(<[u8]>::to_vec).collect())
                .collect();
            let (found, _) = rows(text.chunks(size));
            prop_assert_eq!(found.len(), expected.len());
            for (at, ((_, row), expected)) in found.iter().zip(&expected).enumerate() {
                match row {
                    Ok(row) => prop_assert_eq!(row, expected),
                    Err(reason) => {
                        prop_assert_eq!(reason, &BadLineReason::OpenQuote);
                        prop_assert_eq!(at + 1, found.len());
                    }
                }
            }
        }
    }
}
