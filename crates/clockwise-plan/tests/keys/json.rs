//! JSON lines, and the odd keys of the samples.

use clockwise_plan::keys::{Column, Format};

use super::{bad, fails, keys, named, read, with_key};

#[test]
fn objects_give_the_key_as_text_or_as_hexadecimal() {
    let text = r#"{"key":"gi\u1ecf \ud83d\uded2","requests":3}
{"key":null,"key_hex":"00FF","bytes":9,"count":null}

{"key":"a","key_hex":"61","hits":1,"count":2}
"#;
    let (kept, summary) = read(text, named("-")).unwrap();
    assert_eq!(
        kept,
        [
            ("giỏ 🛒".as_bytes().to_vec(), Some(3), None, 1),
            (vec![0, 0xff], None, Some(9), 2),
            (b"a".to_vec(), Some(1), None, 4),
        ]
    );
    assert_eq!((summary.format, summary.lines), (Format::JsonLines, 4));
    assert_eq!(summary.key_column.as_deref(), Some("key"));
    assert_eq!(summary.requests_column.as_deref(), Some("requests"));
    assert_eq!(summary.bytes_column.as_deref(), Some("bytes"));
}

#[test]
fn odd_objects_are_bad_lines() {
    for (line, reason) in [
        (r#"{"key":1}"#, "member key is not a string"),
        (r#"{"key":["a"]}"#, "member key is not a string"),
        (r#"{"key_hex":{}}"#, "member key_hex is not a string"),
        (r#"{"key_hex":"6"}"#, "the key is not hexadecimal: 6"),
        (
            r#"{"key":"a","key_hex":"62"}"#,
            "key and key_hex are different keys",
        ),
        (r#"{"k":"a"}"#, "no member key"),
        (r#"{"key":null}"#, "no member key"),
        (r#"{"key":"a","n":1,"n":2}"#, "two members are named n"),
        (r#"{"key":"a","\u006bey":"a"}"#, "two members are named key"),
        (
            r#"{"key":"a","requests":1.5}"#,
            "requests is not a whole number up to 2^53: 1.5",
        ),
        (
            r#"{"key":"a","hits":"7"}"#,
            r#"hits is not a whole number up to 2^53: "7""#,
        ),
        (
            r#"{"key":"a","size":[]}"#,
            "size is not a whole number up to 2^53: a list",
        ),
        (
            r#"{"key":"a","bytes":9007199254740993}"#,
            "bytes is not a whole number up to 2^53: 9007199254740993",
        ),
        (
            r#"{"key":"a"} x"#,
            "not a JSON object: trailing characters at byte 12",
        ),
        (
            r#"["key"]"#,
            "not a JSON object: invalid type: sequence, expected an object at byte 0",
        ),
    ] {
        let text = format!("{{\"key\":\"first\"}}\n{line}\n");
        assert_eq!(bad(text, named("-")), [format!("line 2: {reason}")]);
    }
    for line in [
        &br#"{"key":"\ud800"}"#[..],
        br#"{"key":"\udc00a"}"#,
        b"{\"key\":\"\xff\"}",
        br#"{"key":"a""#,
        b"x",
        b"{\"key\":\"a\nb\"}",
    ] {
        let text = [b"{\"key\":\"first\"}\n", line, b"\n"].concat();
        let bad = bad(text, named("-"));
        assert!(bad[0].starts_with("line 2: not a JSON object: "), "{bad:?}");
    }
    // Far deeper than any stack.
    let deep = format!(
        "{{\"key\":\"a\",\"x\":{}{}}}\n",
        "[".repeat(1 << 20),
        "]".repeat(1 << 20)
    );
    assert_eq!(keys(deep, named("-")), [b"a"]);
}

#[test]
fn a_member_asked_for_must_be_there() {
    let error = fails("{\"k\":\"a\",\"n\":1}\n", named("t.jsonl"));
    assert_eq!(
        error.to_string(),
        "no column of t.jsonl is known to hold keys: it has k, n"
    );
    let error = fails("{\"key\":\"a\",\"n\":1}\n", with_key("t.jsonl", "kye"));
    assert_eq!(error.hint().as_deref(), Some("did you mean key?"));
    let mut options = with_key("-", "k");
    options.requests_column = Some(Column::Name("n".to_owned()));
    assert_eq!(
        bad("{\"k\":\"a\",\"n\":1}\n{\"k\":\"b\"}\n{\"n\":1}\n", options),
        ["line 2: no member n", "line 3: no member k"]
    );
    assert_eq!(keys("{\"1\":\"a\"}\n", with_key("t.jsonl", "1")), [b"a"]);
}

#[test]
fn the_odd_keys_of_the_samples_are_read_from_their_hexadecimal_column() {
    let file = std::fs::read("tests/data/odd-keys.jsonl").unwrap();
    let found = keys(file.clone(), with_key("odd-keys.jsonl", "hex"));
    assert_eq!(found.len(), 53);
    for (line, key) in std::str::from_utf8(&file).unwrap().lines().zip(&found) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let hex: String = key.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(row["hex"], hex);
        assert_eq!(row["bytes"], key.len());
    }
}
