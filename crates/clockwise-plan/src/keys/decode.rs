//! Decompression of a source, recognised by its first bytes.
//!
//! Promises: any number of gzip members or zstd frames is read as one stream; data that ends early, is
//! damaged or is followed by something else is told apart and never passes as whole.
//! Does not: find a cut that falls exactly between two members or frames; no trace of it is in the data.
//! Cost: constant memory. zstd may ask for a window of up to 128 MiB; more is refused as damaged.

use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

use super::source::Shared;

/// A source's bytes, decompressed.
pub(super) enum Decoder {
    Plain(Input),
    Gzip(Gzip),
    Zstd(Box<ZstdDecoder<'static, BufReader<Input>>>),
}

/// Why a source gave no more bytes, other than by ending.
pub(super) enum Fault {
    /// The source itself failed.
    Source(io::Error),
    /// Compressed data ends in the middle.
    Truncated,
    /// Compressed data is damaged.
    Corrupt(io::Error),
    /// Something else follows the compressed data.
    TrailingData,
}

/// A source that has lent its first bytes for recognition, counted.
type Input = io::Chain<io::Cursor<Vec<u8>>, Counted>;

impl Decoder {
    /// Reads the first bytes of `source` and takes the decoder that they ask for.
    pub(super) fn new(source: Box<dyn Read + Send>, shared: &Arc<Shared>) -> Result<Self, Fault> {
        let mut source = Counted {
            source,
            shared: Arc::clone(shared),
        };
        let mut first = Vec::with_capacity(4);
        source
            .by_ref()
            .take(4)
            .read_to_end(&mut first)
            .map_err(Fault::Source)?;
        let compression = match first[..] {
            [0x1f, 0x8b, ..] => Some(GZIP),
            // A frame, or a skippable frame as parallel compressors put in front.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(ZSTD),
            _ => None,
        };
        let input = io::Cursor::new(first).chain(source);
        let Some(compression) = compression else {
            return Ok(Self::Plain(input));
        };
        shared.set_compression(compression);
        let input = BufReader::with_capacity(INPUT_BYTES, input);
        if compression == GZIP {
            return Ok(Self::Gzip(Gzip::new(Vec::new(), input)));
        }
        ZstdDecoder::with_buffer(input)
            .map(|decoder| Self::Zstd(Box::new(decoder)))
            .map_err(|error| shared.fault(error))
    }

    /// Reads some bytes; 0 at the end.
    pub(super) fn read(&mut self, out: &mut [u8], shared: &Shared) -> Result<usize, Fault> {
        match self {
            Self::Plain(input) => input.read(out).map_err(Fault::Source),
            Self::Gzip(gzip) => gzip.read(out, shared),
            Self::Zstd(decoder) => decoder.read(out).map_err(|error| shared.fault(error)),
        }
    }

    /// Whether the next read has bytes to decode without asking the source.
    pub(super) fn has_input(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Gzip(gzip) => gzip
                .member
                .as_ref()
                .is_some_and(|member| !member.get_ref().get_ref().1.buffer().is_empty()),
            Self::Zstd(decoder) => !decoder.get_ref().buffer().is_empty(),
        }
    }
}

/// gzip members, one after the other. flate2's own reader for many members does not tell data that is no
/// member from a member that is damaged.
pub(super) struct Gzip {
    member: Option<Box<GzDecoder<MemberInput>>>,
}

/// The two bytes that were looked at, and the rest.
type MemberInput = io::Chain<io::Cursor<Vec<u8>>, BufReader<Input>>;

impl Gzip {
    fn new(first: Vec<u8>, input: BufReader<Input>) -> Self {
        let input = io::Cursor::new(first).chain(input);
        Self {
            member: Some(Box::new(GzDecoder::new(input))),
        }
    }

    fn read(&mut self, out: &mut [u8], shared: &Shared) -> Result<usize, Fault> {
        while let Some(member) = &mut self.member {
            let read = member.read(out).map_err(|error| shared.fault(error))?;
            if read > 0 {
                return Ok(read);
            }
            let Some(member) = self.member.take() else {
                break;
            };
            let (_, mut input) = member.into_inner().into_inner();
            let mut first = Vec::with_capacity(2);
            input
                .by_ref()
                .take(2)
                .read_to_end(&mut first)
                .map_err(Fault::Source)?;
            match first[..] {
                [] => {}
                // One byte that may begin a member: the decoder finds that it is cut off.
                [0x1f] | [0x1f, 0x8b] => *self = Self::new(first, input),
                _ => return Err(Fault::TrailingData),
            }
        }
        Ok(0)
    }
}

impl Shared {
    /// A decoder passes its source's errors on as its own; here they part again.
    fn fault(&self, error: io::Error) -> Fault {
        if self.source_failed.load(Ordering::Relaxed) {
            Fault::Source(error)
        } else if error.kind() == io::ErrorKind::UnexpectedEof {
            Fault::Truncated
        } else {
            Fault::Corrupt(error)
        }
    }
}

/// Counts what is read and remembers whether the source failed.
pub(super) struct Counted {
    source: Box<dyn Read + Send>,
    shared: Arc<Shared>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.source.read(out) {
                Ok(read) => {
                    self.shared
                        .bytes_read
                        .fetch_add(read as u64, Ordering::Relaxed);
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.shared.source_failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    }
}

const GZIP: &str = "gzip";
const ZSTD: &str = "zstd";

/// Compressed bytes asked for at once: enough to make system calls rare.
const INPUT_BYTES: usize = 256 << 10;
