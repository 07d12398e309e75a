//! A figure as it was published and as it comes out here.

use serde::Serialize;
use serde_json::Value;

/// A published figure beside the one computed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// JSON pointer (RFC 6901) into `vectors/articles.json`.
    pub pointer: String,
    /// What comes out here.
    pub value: Value,
    /// What the file says; `null` where it says nothing.
    pub published: Value,
    /// Whether both are the same figure.
    pub agrees: bool,
}

/// Compares what was computed with what was published: each leaf of `computed`, a value in the form of the file,
/// becomes a row, in order.
#[must_use]
pub fn compare(published: &Value, computed: Vec<(String, Value)>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (pointer, value) in computed {
        leaves(published, pointer, value, &mut rows);
    }
    rows
}

fn leaves(published: &Value, pointer: String, value: Value, rows: &mut Vec<Row>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let below = format!("{pointer}/{}", escaped(&name));
                leaves(published, below, member, rows);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.into_iter().enumerate() {
                leaves(published, format!("{pointer}/{place}"), item, rows);
            }
        }
        value => {
            let wanted = published.pointer(&pointer).cloned().unwrap_or_default();
            rows.push(Row {
                agrees: is_same(&value, &wanted),
                pointer,
                value,
                published: wanted,
            });
        }
    }
}

fn is_same(value: &Value, published: &Value) -> bool {
    match (value.as_f64(), published.as_f64()) {
        (Some(ours), Some(theirs)) if value.is_f64() || published.is_f64() => {
            (ours - theirs).abs() <= TOLERANCE * theirs.abs().max(1.0)
        }
        _ => value == published,
    }
}

/// A name as a part of a JSON pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// How far two ratios may lie apart: a sum in another order changes the last digits of a double, and nothing more.
/// Above 1, it counts against the ratio.
pub const TOLERANCE: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_digit_changed_in_what_is_published_shows() {
        let published = json!({"a": {"n/m": [3, 0.25], "hash": "00ff", "same": true}});
        let computed = || vec![("/a".to_owned(), published["a"].clone())];
        let rows = compare(&published, computed());
        assert_eq!(rows.len(), 4);
        assert!(rows.iter().all(|row| row.agrees), "{rows:?}");

        for tampered in [
            json!({"a": {"n/m": [4, 0.25], "hash": "00ff", "same": true}}),
            json!({"a": {"n/m": [3, 0.250_000_000_01], "hash": "00ff", "same": true}}),
            json!({"a": {"n/m": [3, 0.25], "hash": "00fe", "same": true}}),
            json!({"a": {"n/m": [3, 0.25], "hash": "00ff", "same": false}}),
            json!({"a": {"n/m": [3], "hash": "00ff", "same": true}}),
            json!({"a": {"n/m": [3, "0.25"], "hash": "00ff", "same": true}}),
        ] {
            let rows = compare(&tampered, computed());
            let differing = rows.iter().filter(|row| !row.agrees).count();
            assert_eq!(differing, 1, "{tampered}");
        }
    }

    #[test]
    fn whole_numbers_are_equal_and_ratios_near() {
        assert!(is_same(&json!(1.0), &json!(1)));
        assert!(is_same(&json!(0.1 + 0.2), &json!(0.3)));
        assert!(!is_same(
            &json!(1_000_000_000_000_000_000_u64),
            &json!(1_000_000_000_000_000_001_u64)
        ));
        assert!(!is_same(&json!(0.3), &json!(0.3 + 2e-12)));
        assert!(is_same(&json!(729.0 + 1e-10), &json!(729.0)));
        assert!(!is_same(&json!(0), &Value::Null));
    }
}
