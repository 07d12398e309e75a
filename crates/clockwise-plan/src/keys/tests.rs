//! What must hold wherever blocks end; the rest is in `tests/keys.rs`.

use std::io::Write;

use proptest::prelude::*;

use super::*;

fn keys_in_blocks(bytes: &[u8], size: usize, options: ReadOptions) -> (Vec<Vec<u8>>, ReadSummary) {
    let mut keys = Vec::new();
    let source = Box::new(std::io::Cursor::new(bytes.to_vec()));
    let summary = read_with_blocks(
        source,
        options,
        size,
        |record| keys.push(record.key.to_vec()),
        |_| {},
    )
    .unwrap();
    assert_eq!(keys.len() as u64, summary.records);
    (keys, summary)
}

fn of(format: Format) -> ReadOptions {
    let mut options = ReadOptions::new("keys");
    options.format = Some(format);
    options.max_bad_share = 1.0;
    options
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn lines_of(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    if lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        2 => Just(b'\n'),
        1 => Just(b'\r'),
        1 => Just(b'"'),
        1 => Just(b','),
        1 => Just(b'\t'),
        1 => Just(b'\\'),
        8 => any::<u8>(),
    ];
    proptest::collection::vec(byte, 0..400)
}

/// Bytes that start like compressed data are taken for it.
fn is_plain(bytes: &[u8]) -> bool {
    !bytes.starts_with(&[0x1f, 0x8b]) && !bytes.starts_with(&[0x28, 0xb5])
}

proptest! {
    #[test]
    fn lines_are_what_split_gives_in_blocks_of_any_size(bytes in texts(), size in 1_usize..64) {
        prop_assume!(is_plain(&bytes));
        let (keys, summary) = keys_in_blocks(&bytes, size, of(Format::Lines));
        let expected = lines_of(&bytes);
        prop_assert_eq!(summary.lines, expected.len() as u64);
        prop_assert_eq!(
            summary.keys_ending_in_cr,
            expected.iter().filter(|key| key.ends_with(b"\r")).count() as u64
        );
        prop_assert_eq!(keys, expected);
    }

    #[test]
    fn compressed_lines_are_the_plain_ones(bytes in texts(), size in 1_usize..64, members in 1_usize..4) {
        let part = bytes.len().div_ceil(members).max(1);
        let gz: Vec<u8> = bytes.chunks(part).flat_map(gzip).collect();
        let zst: Vec<u8> = bytes.chunks(part).flat_map(|part| zstd::encode_all(part, 1).unwrap()).collect();
        for (packed, compression) in [(gz, "gzip"), (zst, "zstd")] {
            let (keys, summary) = keys_in_blocks(&packed, size, of(Format::Lines));
            prop_assert_eq!(keys, lines_of(&bytes));
            prop_assert_eq!(summary.compression, (!bytes.is_empty()).then_some(compression));
        }
    }

    #[test]
    fn csv_written_by_another_crate_is_read_back(
        rows in proptest::collection::vec((texts(), 0_u64..1 << 53, texts()), 1..8),
        size in 1_usize..64,
    ) {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(["key", "hits", "other"]).unwrap();
        for (key, hits, other) in &rows {
            writer.write_record([key, hits.to_string().as_bytes(), other]).unwrap();
        }
        let text = writer.into_inner().unwrap();
        let mut records = Vec::new();
        let summary = read_with_blocks(
            Box::new(std::io::Cursor::new(text.clone())),
            of(Format::Csv),
            size,
            |record| records.push((record.key.to_vec(), record.requests)),
            |_| {},
        ).unwrap();
        let expected: Vec<_> = rows.into_iter().map(|(key, hits, _)| (key, Some(hits))).collect();
        prop_assert_eq!(records, expected);
        prop_assert_eq!(summary.bad_lines, 0);
        prop_assert_eq!(summary.lines, text.iter().filter(|b| **b == b'\n').count() as u64);
    }

    #[test]
    fn json_written_by_another_crate_is_read_back(
        rows in proptest::collection::vec((any::<String>(), 0_u64..1 << 53), 1..8),
        size in 1_usize..64,
    ) {
        let mut text = String::new();
        for (key, bytes) in &rows {
            let row = serde_json::json!({"a": [{"key": 1}], "key": key, "bytes": bytes});
            text.push_str(&format!("{row}\n"));
        }
        let (keys, summary) = keys_in_blocks(text.as_bytes(), size, of(Format::JsonLines));
        let expected: Vec<Vec<u8>> = rows.into_iter().map(|(key, _)| key.into_bytes()).collect();
        prop_assert_eq!(keys, expected);
        prop_assert_eq!(summary.bytes_column.as_deref(), Some("bytes"));
    }

    #[test]
    fn escaped_keys_come_back_as_any_bytes(keys in proptest::collection::vec(texts(), 1..8), size in 1_usize..64) {
        for format in [Format::Lines, Format::Tsv] {
            let mut text = if format == Format::Tsv { "n\tkey\n".to_owned() } else { String::new() };
            for key in &keys {
                let cell = if format == Format::Tsv { "1\t" } else { "" };
                text.push_str(&format!("{cell}{}\n", Escaped(key)));
            }
            let mut options = of(format);
            options.escaped = true;
            prop_assert_eq!(&keys_in_blocks(text.as_bytes(), size, options).0, &keys);
        }
    }

    #[test]
    fn no_bytes_panic_and_blocks_change_nothing(bytes in texts(), size in 1_usize..64, columns in any::<bool>(), header in 0_usize..4) {
        let header = ["", "key,hits\n", "key\thits\n", "{\"key\":\"a\",\"hits\":1}\n"][header];
        let text = [header.as_bytes(), &bytes].concat();
        for format in [None, Some(Format::Lines), Some(Format::Csv), Some(Format::Tsv), Some(Format::JsonLines), Some(Format::Monitor), Some(Format::Metadump), Some(Format::KvCache), Some(Format::Twitter), Some(Format::AccessLog)] {
            let read = |size| {
                let mut options = of(Format::Lines);
                options.format = format;
                options.escaped = true;
                if columns {
                    options.key_column = Some(Column::Number(1));
                }
                let mut records = Vec::new();
                let result = read_with_blocks(
                    Box::new(std::io::Cursor::new(text.clone())),
                    options,
                    size,
                    |record| records.push((record.key.to_vec(), record.line)),
                    |_| {},
                );
                (records, result.map_err(|e| e.to_string()))
            };
            prop_assert_eq!(read(size), read(BLOCK_BYTES));
        }
    }
}

const BLOCK_BYTES: usize = super::source::BLOCK_BYTES;
