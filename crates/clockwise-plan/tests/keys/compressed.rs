//! gzip and zstd: whole, cut, damaged, followed by something else.

use clockwise_plan::keys::{BadLineReason, Format, KeyError};

use super::{fails, gzip, keys, many_lines, named, read, zst};

#[test]
fn compressed_files_of_many_members_are_one_stream() {
    let text = many_lines();
    let plain = keys(text.clone(), named("-"));
    let empty_end = [gzip(&text[..500_000]), gzip(&text[500_000..]), gzip(b"")].concat();
    // A skippable frame of four bytes in front, as parallel compressors write it.
    let skippable = [
        &b"\x50\x2a\x4d\x18\x04\0\0\0abcd"[..],
        &zst(&text[..7]),
        &zst(&text[7..]),
    ]
    .concat();
    for (packed, compression) in [
        (gzip(&text), "gzip"),
        (empty_end, "gzip"),
        (zst(&text), "zstd"),
        (skippable, "zstd"),
    ] {
        let (kept, summary) = read(packed, named("keys.txt")).unwrap();
        assert!(kept.iter().map(|(key, ..)| key).eq(&plain));
        assert_eq!(summary.compression, Some(compression));
        assert_eq!(summary.format, Format::Lines);
    }
    assert!(keys(gzip(b""), named("-")).is_empty());
}

#[test]
fn a_cut_anywhere_in_compressed_data_is_noticed() {
    let text = &many_lines()[..3_000];
    for (packed, from) in [(gzip(text), 2), (zst(text), 4)] {
        for end in from..packed.len() {
            let error = fails(&packed[..end], named("k.gz"));
            assert!(
                matches!(error, KeyError::Truncated { .. }),
                "{end}: {error}"
            );
        }
    }
    let two = [gzip(text), gzip(text)].concat();
    for end in gzip(text).len() + 1..two.len() {
        assert!(matches!(
            fails(&two[..end], named("k.gz")),
            KeyError::Truncated { .. }
        ));
    }
    let error = fails(&gzip(&many_lines())[..100_000], named("k.gz"));
    let KeyError::Truncated { records, .. } = error else {
        panic!("another error");
    };
    assert!(records > 1_000);
}

#[test]
fn what_follows_compressed_data_is_an_error() {
    for tail in [&b"garbage"[..], b"\0\0\0\0", b"x", b"\x1f\x8c\x08"] {
        let error = fails([&gzip(b"a\nb\n"), tail].concat(), named("k.gz"));
        assert!(
            matches!(error, KeyError::TrailingData { .. }),
            "{tail:?}: {error}"
        );
        assert_eq!(error.to_string(), "k.gz has other data after its gzip data");
        assert!(error.hint().is_some());
    }
    assert!(matches!(
        fails([&zst(b"a\n")[..], b"garbage"].concat(), named("k.zst")),
        KeyError::Corrupt { .. }
    ));
}

#[test]
fn damage_is_told_and_never_a_panic() {
    let text = &many_lines()[..2_000];
    for packed in [gzip(text), zst(text)] {
        for at in 0..packed.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = packed.clone();
                damaged[at] ^= flip;
                let _ = read(damaged, named("-"));
            }
        }
    }
    let mut damaged = gzip(text);
    let crc = damaged.len() - 8;
    damaged[crc] ^= 1;
    let error = fails(damaged, named("k.gz"));
    assert_eq!(error.to_string(), "the gzip data of k.gz cannot be decoded");
    assert!(std::error::Error::source(&error).is_some());
    assert!(matches!(
        fails(&b"\x1f\x8bnot gzip at all"[..], named("-")),
        KeyError::Corrupt { .. }
    ));
}

#[test]
fn a_decompression_bomb_is_just_a_long_line() {
    let part = gzip(&vec![b'x'; 16 << 20]);
    let bomb = [part.repeat(64), gzip(b"\nafter\n")].concat();
    let mut options = named("bomb.gz");
    options.max_bad_share = 0.5;
    let (kept, summary) = read(bomb, options).unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(summary.first_bad[0].reason, BadLineReason::KeyTooLong);
}
