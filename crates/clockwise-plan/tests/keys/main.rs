//! Keys as they come from the world: every format, compression and odd input, through the public face.

use std::io::{Cursor, Write};

use clockwise_plan::keys::{KeyError, ReadOptions, ReadSummary, read_keys};

mod compressed;
mod json;
mod lines;
mod logs;
mod sources;
mod tables;

type Kept = (Vec<u8>, Option<u64>, Option<u64>, u64);

fn read(
    bytes: impl Into<Vec<u8>>,
    options: ReadOptions,
) -> Result<(Vec<Kept>, ReadSummary), KeyError> {
    let mut kept = Vec::new();
    let summary = read_keys(
        Box::new(Cursor::new(bytes.into())),
        options,
        |r| kept.push((r.key.to_vec(), r.requests, r.bytes, r.line)),
        |_| {},
    )?;
    Ok((kept, summary))
}

fn keys(bytes: impl Into<Vec<u8>>, options: ReadOptions) -> Vec<Vec<u8>> {
    let (kept, _) = read(bytes, options).unwrap();
    kept.into_iter().map(|(key, ..)| key).collect()
}

/// Reads with any share of bad lines allowed, and shows what is bad.
fn bad(bytes: impl Into<Vec<u8>>, mut options: ReadOptions) -> Vec<String> {
    options.max_bad_share = 1.0;
    let (_, summary) = read(bytes, options).unwrap();
    assert_eq!(summary.first_bad.len() as u64, summary.bad_lines);
    summary.first_bad.iter().map(ToString::to_string).collect()
}

fn fails(bytes: impl Into<Vec<u8>>, options: ReadOptions) -> KeyError {
    read(bytes, options).unwrap_err()
}

fn named(name: &str) -> ReadOptions {
    ReadOptions::new(name)
}

fn with_key(name: &str, column: &str) -> ReadOptions {
    let mut options = named(name);
    options.key_column = Some(column.parse().unwrap());
    options
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

fn many_lines() -> Vec<u8> {
    (0..100_000)
        .flat_map(|n| format!("user:{n}\n").into_bytes())
        .collect()
}
