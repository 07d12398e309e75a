//! The least that any planner has to do: find the lines and hash them, or unpack the file.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::Result;
use flate2::bufread::GzDecoder;
use xxhash_rust::xxh3::xxh3_64;

use super::files::Form;

/// Finds and hashes every line in blocks of 1 MiB; the number of lines. Lines are shorter than a block.
pub(super) fn lines_and_hash(path: &Path) -> Result<u64> {
    let mut file = File::open(path)?;
    let mut block = vec![0; BLOCK_BYTES];
    let (mut kept, mut lines, mut sum) = (0, 0, 0_u64);
    loop {
        let read = file.read(&mut block[kept..])?;
        if read == 0 {
            break;
        }
        let filled = kept + read;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &block[..filled]) {
            sum = sum.wrapping_add(xxh3_64(&block[start..end]));
            lines += 1;
            start = end + 1;
        }
        block.copy_within(start..filled, 0);
        kept = filled - start;
    }
    std::hint::black_box(sum);
    Ok(lines)
}

/// Unpacks a file, a MiB at a time; the number of bytes.
pub(super) fn decode(path: &Path, form: Form) -> Result<u64> {
    let file = BufReader::with_capacity(INPUT_BYTES, File::open(path)?);
    let mut reader: Box<dyn Read> = match form {
        Form::Plain => Box::new(file),
        Form::Gzip => Box::new(GzDecoder::new(file)),
        Form::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
    };
    let mut block = vec![0; BLOCK_BYTES];
    let mut bytes = 0;
    loop {
        match reader.read(&mut block)? {
            0 => return Ok(bytes),
            read => bytes += read as u64,
        }
    }
}

const BLOCK_BYTES: usize = 1 << 20;

/// Compressed bytes read at once.
const INPUT_BYTES: usize = 256 << 10;
