//! CSV and TSV: columns, headers and bad rows.

use clockwise_plan::keys::{Column, Format, KeyError};

use super::{bad, fails, gzip, keys, named, read, with_key};

#[test]
fn a_header_with_known_names_needs_no_options() {
    let text = "Size,note,Key,hits\r\n10,\"x,\ny\",a,1\r\n\r\n20,,\"b\"\"\",2";
    let (kept, summary) = read(text, named("keys")).unwrap();
    assert_eq!(
        kept,
        [
            (b"a".to_vec(), Some(1), Some(10), 2),
            (b"b\"".to_vec(), Some(2), Some(20), 5)
        ]
    );
    assert_eq!(summary.format, Format::Csv);
    assert_eq!(summary.lines, 5);
    assert_eq!(summary.key_column.as_deref(), Some("Key"));
    assert_eq!(summary.requests_column.as_deref(), Some("hits"));
    assert_eq!(summary.bytes_column.as_deref(), Some("Size"));
}

#[test]
fn a_byte_order_mark_before_a_table_or_an_object_is_no_data() {
    for text in [
        "\u{feff}key,n\na,1\n",
        "\u{feff}key\tn\na\t1\n",
        "\u{feff}{\"key\":\"a\"}\n",
    ] {
        let (kept, summary) = read(text, named("-")).unwrap();
        assert_eq!(kept[0].0, b"a", "{text}");
        assert!(summary.starts_with_bom);
    }
}

#[test]
fn tabs_part_fields_and_quotes_mean_nothing_to_tsv() {
    let (kept, summary) = read(
        "path_id\trequests\tpath\n0\t807\t\"/fav, icon\"\r\n\n1\t5\t\n",
        named("x.tsv"),
    )
    .unwrap();
    assert_eq!(
        kept,
        [
            (b"\"/fav, icon\"".to_vec(), Some(807), None, 2),
            (b"".to_vec(), Some(5), None, 4)
        ]
    );
    assert_eq!((summary.format, summary.lines), (Format::Tsv, 4));
}

#[test]
fn columns_are_taken_by_name_or_number() {
    let text = "sku,n,key\na,1,x\n";
    assert_eq!(keys(text, with_key("t.csv", "sku")), [b"a"]);
    assert_eq!(keys(text, with_key("t.csv", "3")), [b"x"]);
    let mut options = with_key("t.csv", "sku");
    options.requests_column = Some(Column::Number(2));
    options.bytes_column = Some(Column::Name("n".to_owned()));
    let (kept, summary) = read(text, options).unwrap();
    assert_eq!(kept, [(b"a".to_vec(), Some(1), Some(1), 2)]);
    assert_eq!(summary.requests_column.as_deref(), Some("n"));
}

#[test]
fn a_first_row_is_data_when_columns_are_numbers_and_nothing_in_it_is_a_header() {
    let number = |n| Some(Column::Number(n));
    let mut options = with_key("t.csv", "1");
    options.requests_column = number(2);
    let (kept, summary) = read("a,1\nb,2\n", options.clone()).unwrap();
    assert_eq!(
        kept,
        [
            (b"a".to_vec(), Some(1), None, 1),
            (b"b".to_vec(), Some(2), None, 2)
        ]
    );
    assert_eq!(summary.key_column.as_deref(), Some("1"));
    // A requests field that is no number makes a header.
    assert_eq!(keys("a,n\nb,2\n", options), [b"b"]);
    // So does the name of a key column, or of a count beside it.
    assert_eq!(keys("url,x\nb,2\n", with_key("t.csv", "1")), [b"b"]);
    assert_eq!(keys("sku,Hits\nb,2\n", with_key("t.csv", "1")), [b"b"]);
    assert_eq!(
        keys("sku,x\nb,2\n", with_key("t.csv", "1")),
        [&b"sku"[..], b"b"]
    );
    // hexadecimal is told by a header's name only
    assert_eq!(keys("key_hex,x\n6a,2\n", with_key("t.csv", "1")), [b"j"]);
    assert_eq!(keys("6a,2\n", with_key("t.csv", "1")), [b"6a"]);
}

#[test]
fn a_table_of_one_unknown_column_is_a_list() {
    assert_eq!(keys("a\nb\n", named("t.csv")), [b"a", b"b"]);
    assert_eq!(keys("key\nb\n", named("t.csv")), [b"b"]);
    assert_eq!(
        bad("a\nb,c\n", named("t.csv")),
        ["line 2: 2 fields, and the first row has 1"]
    );
}

#[test]
fn bad_rows_are_named_with_their_line_and_never_guessed() {
    assert_eq!(
        bad(
            "n,key,hits\n1,a,5\n1\n1,b\n1,a,b,5\n1,c,x y\n",
            named("t.csv")
        ),
        [
            "line 3: 1 fields, and column 3 is read",
            "line 4: 2 fields, and column 3 is read",
            "line 5: 4 fields, and the first row has 3",
            "line 6: hits is not a whole number up to 2^53: x y",
        ]
    );
    assert_eq!(
        bad(
            "key\thits\na\t\nb\t9007199254740993\nc\t-1\n",
            named("t.tsv")
        ),
        [
            "line 2: hits is not a whole number up to 2^53: ",
            "line 3: hits is not a whole number up to 2^53: 9007199254740993",
            "line 4: hits is not a whole number up to 2^53: -1",
        ]
    );
    assert_eq!(
        bad("n,key_hex\n1,0g\n1,012\n1,00\n", named("-")),
        [
            "line 2: the key is not hexadecimal: 0g",
            "line 3: the key is not hexadecimal: 012",
        ]
    );
}

#[test]
fn a_quote_that_swallows_the_rest_is_an_error_and_not_one_bad_line() {
    let mut options = named("t.csv");
    options.max_bad_share = 1.0;
    let error = fails("n,key\n1,a\n2,\"b\nc\n", options);
    assert_eq!(
        error.to_string(),
        "t.csv: the quote opened in line 3 is never closed"
    );
    assert!(error.hint().is_some());
}

#[test]
fn bytes_that_are_no_text_are_read_and_noted() {
    for (bytes, what) in [
        (&b"\xff\xfea\0\n\0"[..], Some("UTF-16")),
        (b"\xfe\xff\0a", Some("UTF-16")),
        (b"plain\n", None),
    ] {
        let (kept, summary) = read(bytes, named("k.txt")).unwrap();
        assert_eq!(summary.odd_start, what);
        assert!(!kept.is_empty());
    }
    let twice = gzip(&gzip(b"a\nb\n"));
    let (_, summary) = read(twice, named("k.gz")).unwrap();
    assert_eq!(summary.odd_start, Some("compressed twice"));
}

#[test]
fn a_missing_column_is_an_error_that_lists_the_others() {
    let error = fails("t_offset_s,method,path_id\n3,GET,1\n", named("web.csv"));
    assert_eq!(
        error.to_string(),
        "no column of web.csv is known to hold keys: it has t_offset_s, method, path_id"
    );
    assert!(error.hint().unwrap().contains("--key-column"));
    let error = fails("sku,price\na,1\n", with_key("t.csv", "sky"));
    assert_eq!(
        error.to_string(),
        "t.csv has no column sky: it has sku, price"
    );
    assert_eq!(error.hint().as_deref(), Some("did you mean sku?"));
    let error = fails("a,b\n", with_key("t.csv", "3"));
    assert_eq!(error.to_string(), "t.csv has no column 3: it has 1, 2");
    assert_eq!(error.hint(), None);
    let mut options = with_key("t.csv", "1");
    options.key_column = Some(Column::Number(0));
    assert!(matches!(
        fails("a,b\n", options),
        KeyError::UnknownColumn { .. }
    ));
    let mut options = named("t.csv");
    options.bytes_column = Some(Column::Name("weight".to_owned()));
    assert!(matches!(
        fails("key,b\n", options),
        KeyError::UnknownColumn { .. }
    ));
    let error = fails("key,Key\na,b\n", named("t.csv"));
    assert_eq!(error.to_string(), "t.csv has more than one column key");
    let error = fails("user:1\nuser:2\n", with_key("keys.txt", "2"));
    assert!(matches!(error, KeyError::ColumnOfLines { .. }));
    let error = fails("\n\"key,b", named("t.csv"));
    assert_eq!(
        error.to_string(),
        "the header of t.csv cannot be read, line 2: a quote is never closed"
    );
}

#[test]
fn an_error_lists_only_the_first_of_thousands_of_columns() {
    let header: Vec<String> = (0..5_000).map(|n| format!("c{n}")).collect();
    let text = fails(header.join(","), named("t.csv")).to_string();
    assert!(text.ends_with("c18, c19, and 4980 more"), "{text}");
}
