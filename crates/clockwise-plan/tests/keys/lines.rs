//! Lists of lines, and how many bad lines are too many.

use clockwise_plan::keys::{BadLineReason, Format, KeyError};

use super::{bad, fails, keys, named, read, with_key};

#[test]
fn only_lf_ends_a_line_and_everything_else_is_the_key() {
    let (kept, summary) = read(&b"\xef\xbb\xbfa\r\n\n b \r\n\xff\0\nc\rd"[..], named("-")).unwrap();
    let keys: Vec<&[u8]> = kept.iter().map(|(key, ..)| &key[..]).collect();
    assert_eq!(
        keys,
        [&b"\xef\xbb\xbfa\r"[..], b"", b" b \r", b"\xff\0", b"c\rd"]
    );
    let lines: Vec<u64> = kept.iter().map(|(.., line)| *line).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5]);
    assert_eq!(summary.format, Format::Lines);
    assert_eq!(
        (summary.lines, summary.records, summary.bad_lines),
        (5, 5, 0)
    );
    assert_eq!(summary.keys_ending_in_cr, 2);
    assert!(summary.starts_with_bom && summary.complete);
    assert_eq!((summary.key_column, summary.compression), (None, None));
}

#[test]
fn an_empty_input_has_no_keys_and_an_empty_line_is_the_empty_key() {
    for format in [
        None,
        Some(Format::Lines),
        Some(Format::Csv),
        Some(Format::Tsv),
        Some(Format::JsonLines),
    ] {
        let mut options = with_key("-", "key");
        options.format = format;
        let (kept, summary) = read("", options).unwrap();
        assert!(kept.is_empty() && summary.complete);
        assert_eq!(summary.lines, 0);
    }
    assert_eq!(keys("\n", named("-")), [b""]);
    assert_eq!(keys("\n\n", named("-")), [b"", b""]);
    assert_eq!(keys("a", named("-")), [b"a"]);
    assert_eq!(keys("\u{feff}", named("-")), ["\u{feff}".as_bytes()]);
}

#[test]
fn keys_that_look_the_same_stay_different() {
    let text =
        "phiên:giỏ-hàng:42\nphie\u{302}n:gio\u{309}-ha\u{300}ng:42\nhòa:1\nhoà:1\na\u{200b}\na\n";
    let keys = keys(text, named("-"));
    assert_eq!(keys.len(), 6);
    assert!((1..keys.len()).all(|n| !keys[..n].contains(&keys[n])));
}

#[test]
fn escapes_are_read_only_when_asked_for() {
    let text = br"a\n\r\t\\\x00\xFFb";
    assert_eq!(keys(&text[..], named("-")), [&text[..]]);
    let mut options = named("-");
    options.escaped = true;
    assert_eq!(keys(&text[..], options.clone()), [b"a\n\r\t\\\x00\xffb"]);
    assert_eq!(
        bad(&b"ok\nC:\\dir\n\\x1\n\n"[..], options),
        [
            r"line 2: the key has a wrong escape at byte 2: unknown escape \d",
            "line 3: the key has a wrong escape at byte 0: the escape is cut off by the end",
        ]
    );
}

#[test]
fn a_key_of_one_mebibyte_is_read_and_a_longer_one_is_a_bad_line() {
    let mut text = vec![b'k'; 1 << 20];
    text.push(b'\n');
    text.extend(vec![b'k'; (1 << 20) + 1]);
    text.extend(b"\nafter\n");
    let mut options = named("-");
    options.max_bad_share = 0.5;
    let (kept, summary) = read(text.clone(), options).unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!(kept[1], (b"after".to_vec(), None, None, 3));
    assert_eq!(summary.first_bad[0].reason, BadLineReason::KeyTooLong);
    for format in [Format::Csv, Format::Tsv] {
        let mut options = with_key("-", "1");
        options.format = Some(format);
        assert_eq!(
            bad(text.clone(), options),
            ["line 2: the key is longer than 1048576 bytes"]
        );
    }
    let json = format!(
        "{{\"key\":\"a\"}}\n{{\"key\":\"{}\"}}\n",
        "k".repeat((1 << 20) + 1)
    );
    assert_eq!(
        bad(json, named("-")),
        ["line 2: the key is longer than 1048576 bytes"]
    );
}

#[test]
fn too_many_bad_lines_are_an_error_and_a_few_are_not() {
    let mut text = "key,hits\n".to_owned();
    for n in 0..2_000 {
        text.push_str(if n % 1_000 == 7 { "x,y\n" } else { "x,1\n" });
    }
    let (_, summary) = read(text.clone(), named("t.csv")).unwrap();
    assert_eq!((summary.records, summary.bad_lines), (1_998, 2));
    assert_eq!(summary.first_bad[0].line, 9);
    text.push_str("x,y\n");
    let error = fails(text, named("t.csv"));
    assert_eq!(
        error.to_string(),
        "3 of 2001 lines of t.csv are bad, more than 0.1 %; line 9: hits is not a whole number up to 2^53: y"
    );
    assert!(error.hint().unwrap().contains("--max-bad"));
}

#[test]
fn a_read_gives_up_early_only_after_ten_thousand_lines() {
    let mut options = named("-");
    options.escaped = true;
    let mut text = "ok\n".repeat(9_990);
    text.push_str(&"\\q\n".repeat(100_000));
    let KeyError::TooManyBad {
        bad, lines, first, ..
    } = fails(text, options)
    else {
        panic!("another error");
    };
    assert_eq!((bad, lines, first.len()), (11, 10_001, 5));
}
