//! What a page shows against what came out.

use serde_json::Value;

/// Whether an output that a page shows is the beginning, or all, of what came out. A line `…` or `...` stands for any
/// lines, a `…` within a line for any text of it. Blanks at the end of a line do not count.
///
/// # Errors
/// The first line that is not there, and what is in its place.
pub(crate) fn compare(shown: &str, printed: &str, whole: bool) -> Result<(), String> {
    let printed: Vec<&str> = printed.lines().collect();
    let shown: Vec<&str> = shown.lines().collect();
    let parts: Vec<&[&str]> = shown.split(|line| is_gap(line)).collect();
    let mut at = 0;
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();

        let start = if index == 0 {
            at
        } else if is_last && whole && !part.is_empty() {
            // The last lines have to be the last ones.
            let last = printed.len().saturating_sub(part.len());
            last.max(at)
        } else {
            // Where nothing fits, the place where the most lines do says what is wrong.
            let lines = |start: &usize| mismatch(part, &printed[*start..]).unwrap_or(usize::MAX);
            let most = (at..printed.len()).rev().max_by_key(lines);
            most.unwrap_or(at)
        };
        if let Some(line) = mismatch(part, &printed[start..]) {
            let wanted = part[line];
            let found = printed
                .get(start + line)
                .copied()
                .unwrap_or("(nothing more)");
            let behind = if index == 0 {
                ""
            } else {
                " somewhere behind the gap"
            };
            return Err(format!(
                "the page shows{behind}: {wanted}\nthere is: {found}"
            ));
        }
        at = start + part.len();
        let open = is_last && parts.len() > 1 && part.is_empty();
        if is_last && whole && !open && at < printed.len() {
            return Err(format!("there is more: {}", printed[at]));
        }
    }
    Ok(())
}

/// Whether a line stands for any lines.
pub(crate) fn is_gap(line: &str) -> bool {
    ["…", "..."].contains(&line.trim())
}

/// The first of these lines that is not at its place.
fn mismatch(shown: &[&str], printed: &[&str]) -> Option<usize> {
    (0..shown.len()).find(|&i| !printed.get(i).is_some_and(|line| fits(shown[i], line)))
}

/// Whether a line is as shown, with `…` for any text.
fn fits(shown: &str, line: &str) -> bool {
    let (shown, mut rest) = (shown.trim_end(), line.trim_end());
    let Some((first, others)) = shown.split_once('…') else {
        return shown == rest;
    };
    let Some(behind) = rest.strip_prefix(first) else {
        return false;
    };
    rest = behind;
    let mut pieces = others.split('…').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    true
}

/// `21.14 %, 1,368, "so, too"` in its parts.
pub(crate) fn figure_list(list: &str) -> Vec<String> {
    let mut figures = Vec::new();
    let mut rest = list.trim();
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let (figure, behind) = match quoted {
            Some((figure, behind)) => (figure, behind.trim_start_matches(',')),
            None => rest.split_once(", ").unwrap_or((rest, "")),
        };
        figures.push(one_line(figure));
        rest = behind.trim_start();
    }
    figures
}

/// Whether a text has a figure that is not part of a longer number or word.
pub(crate) fn has_figure(text: &str, figure: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_digit)
    };
    let word = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_alphanumeric)
    };
    let point = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(|b| b".,".contains(b))
    };
    let starts_in = figure.starts_with(|c: char| c.is_ascii_alphanumeric());
    let ends_in = figure.ends_with(|c: char| c.is_ascii_alphanumeric());
    text.match_indices(figure).any(|(start, _)| {
        let before = start.checked_sub(1);
        let two_before = start.checked_sub(2);
        let end = start + figure.len();
        let cut_before = starts_in && (word(before) || (point(before) && digit(two_before)));
        let cut_behind = ends_in && (word(Some(end)) || (point(Some(end)) && digit(Some(end + 1))));
        !cut_before && !cut_behind
    })
}

/// The text with every run of blanks and line ends as one blank.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a value of a JSON file is what a page shows: text as it stands, a number rounded as written, with or
/// without thousands separators, and in percent where a percent sign follows.
pub(crate) fn is_value(value: &Value, shown: &str) -> bool {
    let Some(number) = value.as_f64() else {
        return match value {
            Value::String(text) => text == shown,
            Value::Bool(truth) => truth.to_string() == shown,
            _ => false,
        };
    };
    let (written, factor) = match shown.strip_suffix('%') {
        Some(written) => (written.trim_end(), 100.0),
        None => (shown, 1.0),
    };
    let plain = written.replace(',', "");
    let decimals = plain
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit() || ".-".contains(c));
    // Half of the last digit written, and what a float may be off.
    let tolerance = 0.5 * 10f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX)) + 1e-9;
    let is_exact = decimals == 0 && factor == 1.0;
    let near = |parsed: f64| {
        let off = (number * factor - parsed).abs();
        // What is written without decimals is a count, not a rounded share.
        if is_exact {
            off < 1e-9
        } else {
            off <= tolerance
        }
    };
    digits(&plain) && plain.parse().is_ok_and(near)
}

#[test]
fn an_output_is_a_beginning_with_gaps() {
    let printed = "one 1\ntwo 2\nthree 3\nfour 4\n";
    for (shown, whole, right) in [
        ("one 1\ntwo 2\n", false, true),
        ("one 1\ntwo 2\n", true, false),
        (printed, true, true),
        ("", false, true),
        ("", true, false),
        ("two 2\n", false, false),
        ("…\ntwo 2\n", false, true),
        ("...\n  two 2\n", false, false),
        ("one 1\n…\nfour 4\n", true, true),
        ("one 1\n…\nthree 3\n", true, false),
        ("one 1\n…\nthree 3\n", false, true),
        ("one 1\n…\nthree 3\n…\n", true, true),
        ("one 1\n…\nfour 4\n…\nthree 3\n", false, false),
        ("one 1\n…\none 1\n", false, false),
        ("one 1\n…\none 1\n", true, false),
        ("one …\ntwo 2", false, true),
        ("one … 1\ntwo 2", false, false),
        ("o…e …1\n…o 2", false, true),
        ("o…x…\n", false, false),
        ("one 1\ntwo 2\nthree 3\nfour 4\nfive 5\n", false, false),
    ] {
        assert_eq!(
            compare(shown, printed, whole).is_ok(),
            right,
            "{shown:?} {whole}"
        );
    }
    for (shown, wanted, there) in [
        ("one 1\ntwo 3\n", "two 3", "two 2"),
        ("…\ntwo 2\nthree 4\n", "three 4", "three 3"),
        ("…\nfour 4\nfive 5\n", "five 5", "nothing more"),
    ] {
        let error = compare(shown, printed, false).unwrap_err();
        assert!(error.contains(wanted) && error.contains(there), "{error}");
    }
}

#[test]
fn a_figure_is_no_part_of_another() {
    let text = "moved 21.14 % of 1,368 keys, 0.804 at most; cache-5.";
    for (figure, right) in [
        ("21.14 %", true),
        ("1.14 %", false),
        ("21.1", false),
        ("21", false),
        ("1,368", true),
        ("368", false),
        ("1", false),
        ("0.804", true),
        ("0.80", false),
        ("804", false),
        ("cache-5", true),
        ("cache", true),
        ("ache", false),
        ("5", true),
        ("", true),
    ] {
        assert_eq!(has_figure(text, figure), right, "{figure}");
    }
}

#[test]
fn figures_are_parted_by_comma_and_blank() {
    assert_eq!(
        figure_list("21.14 %, 1,368, \"a, b\", c"),
        ["21.14 %", "1,368", "a, b", "c"]
    );
}

#[test]
fn a_value_is_compared_as_it_is_written() {
    use serde_json::json;
    for (value, shown, right) in [
        (json!(0.211_372), "0.2114", true),
        (json!(0.211_372), "0.2113", false),
        (json!(0.211_372), "21.14 %", true),
        (json!(0.211_372), "21.1%", true),
        (json!(0.211_372), "21 %", true),
        (json!(0.211_372), "22 %", false),
        (json!(0.211_372), "0", false),
        (json!(800_536), "800,536", true),
        (json!(800_536), "800,537", false),
        (json!(800_536), "800536", true),
        (json!("21.14%"), "21.14%", true),
        (json!("21.14%"), "21.14 %", false),
        (json!(true), "true", true),
        (json!(null), "null", false),
        (json!([1]), "1", false),
        (json!(1), "one", false),
        (json!(1), "inf", false),
    ] {
        assert_eq!(is_value(&value, shown), right, "{value} {shown}");
    }
}
