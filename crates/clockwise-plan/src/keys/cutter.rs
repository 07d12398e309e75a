//! Cuts a stream of blocks into lines at LF, in bounded memory.
//!
//! Promises: a line is lent as a slice of the block it is in; only a line that spans blocks is copied, into
//! one buffer. A line over the limit is reported once, at its end, and never kept.
//! Cost: one vectorised search for LF over each block.

/// Cuts lines; holds what the last block left unfinished.
pub(super) struct Cutter {
    limit: usize,
    carry: Vec<u8>,
    /// The unfinished line is over the limit already.
    overflow: bool,
}

/// One line without its LF.
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    /// Longer than the limit.
    TooLong,
}

impl Cutter {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            carry: Vec::new(),
            overflow: false,
        }
    }

    /// Hands every line that ends in `block` to `take`; its first error ends the cutting.
    #[inline]
    pub(super) fn feed<E>(
        &mut self,
        block: &[u8],
        mut take: impl FnMut(Line<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut block = block;
        if self.overflow || !self.carry.is_empty() {
            let Some(end) = memchr::memchr(b'\n', block) else {
                self.keep(block);
                return Ok(());
            };
            self.keep(&block[..end]);
            block = &block[end + 1..];
            self.finish(&mut take)?;
        }
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', block) {
            let line = &block[start..end];
            start = end + 1;
            take(if line.len() > self.limit {
                Line::TooLong
            } else {
                Line::Whole(line)
            })?;
        }
        self.keep(&block[start..]);
        Ok(())
    }

    /// Hands over the last line, if it had no LF.
    pub(super) fn finish<E>(
        &mut self,
        mut take: impl FnMut(Line<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let outcome = if self.overflow {
            take(Line::TooLong)
        } else if self.carry.is_empty() {
            Ok(())
        } else {
            take(Line::Whole(&self.carry))
        };
        self.overflow = false;
        self.carry.clear();
        outcome
    }

    fn keep(&mut self, part: &[u8]) {
        if part.len() > self.limit.saturating_sub(self.carry.len()) {
            self.overflow = true;
            self.carry.clear();
        }
        if !self.overflow {
            self.carry.extend_from_slice(part);
        }
    }

    #[cfg(test)]
    fn capacity(&self) -> usize {
        self.carry.capacity()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn cut(limit: usize, blocks: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let mut cutter = Cutter::new(limit);
        let mut lines = Vec::new();
        let mut take = |line: Line<'_>| {
            lines.push(match line {
                Line::Whole(line) => Some(line.to_vec()),
                Line::TooLong => None,
            });
            Ok::<(), Infallible>(())
        };
        for block in blocks {
            let Ok(()) = cutter.feed(block, &mut take);
        }
        let Ok(()) = cutter.finish(&mut take);
        assert!(cutter.capacity() <= 2 * limit.max(8));
        lines
    }

    #[test]
    fn a_line_at_the_limit_is_kept_and_one_byte_more_is_not() {
        let line = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(cut(3, &[b"abc\nabcd\nx"]), [line("abc"), None, line("x")]);
        assert_eq!(
            cut(3, &[b"ab", b"c\nab", b"cd\nx\n"]),
            [line("abc"), None, line("x")]
        );
        assert_eq!(cut(3, &[b"abc", b"d", b"efghi"]), [None]);
        assert_eq!(cut(3, &[b"abcd", b"\n", b"\n"]), [None, line("")]);
    }

    #[test]
    fn a_gibibyte_without_a_line_end_takes_no_memory() {
        let block = vec![b'x'; 1 << 20];
        let mut cutter = Cutter::new(1 << 20);
        let mut too_long = 0;
        let mut take = |line: Line<'_>| {
            too_long += u32::from(matches!(line, Line::TooLong));
            Ok::<(), Infallible>(())
        };
        for _ in 0..1024 {
            let Ok(()) = cutter.feed(&block, &mut take);
            assert!(cutter.capacity() <= 2 << 20);
        }
        let Ok(()) = cutter.feed(b"\nshort\n", &mut take);
        assert_eq!(too_long, 1);
    }

    proptest! {
        #[test]
        fn blocks_of_any_size_give_the_lines_of_the_whole(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
            size in 1_usize..40,
            limit in 0_usize..20,
        ) {
            let blocks: Vec<&[u8]> = bytes.chunks(size).collect();
            let mut expected: Vec<Option<Vec<u8>>> = bytes
                .split(|b| *b == b'\n')
                .map(|line| (line.len() <= limit).then(|| line.to_vec()))
                .collect();
            if bytes.is_empty() || bytes.ends_with(b"\n") {
                expected.pop();
            }
            prop_assert_eq!(cut(limit, &blocks), expected);
        }
    }
}
