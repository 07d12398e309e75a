//! The table of a benchmark, as JSON or Markdown.
//!
//! What it promises: the JSON has the same members for every benchmark, null where a figure has no meaning. The Markdown
//! has more: the spread, further ratios and goals.

use std::fmt::Write as _;

use serde::Serialize;

use crate::machine::Machine;

/// One candidate in one case.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) case: &'static str,
    pub(crate) candidate: &'static str,
    pub(crate) nodes: usize,
    #[serde(serialize_with = "two_decimals")]
    pub(crate) median_ns: f64,
    #[serde(serialize_with = "two_decimals")]
    pub(crate) min_ns: f64,
    /// Times the time of the bare hash.
    #[serde(serialize_with = "maybe_two_decimals")]
    pub(crate) ratio_to_hash: Option<f64>,
    #[serde(serialize_with = "maybe_two_decimals")]
    pub(crate) bytes_per_token: Option<f64>,
    /// What a build leaves allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) net_bytes: Option<u64>,
    /// The most that it has allocated on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_bytes: Option<u64>,
    /// Times the time of `clockwise` in the same case.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "maybe_two_decimals"
    )]
    pub(crate) ratio_to_clockwise: Option<f64>,
    /// Of one look-up, the hash of its key left out.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "maybe_two_decimals"
    )]
    pub(crate) instructions_over_hash: Option<f64>,
    #[serde(skip)]
    pub(crate) max_ns: f64,
    /// Further cells, one for each of [`Table::more`].
    #[serde(skip)]
    pub(crate) more: Vec<String>,
}

/// All rows of a benchmark.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) machine: Machine,
    /// What the rows have in common, in words.
    pub(crate) about: String,
    /// Heads of the columns that only this benchmark has.
    pub(crate) more: &'static [&'static str],
    pub(crate) rows: Vec<Row>,
    pub(crate) goals: Vec<Goal>,
}

/// A goal beside what was measured.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    pub(crate) goal: String,
    /// `None` where this run cannot tell.
    #[serde(serialize_with = "maybe_two_decimals")]
    pub(crate) measured: Option<f64>,
    pub(crate) reached: Option<bool>,
}

impl Table {
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Json<'t> {
            machine: &'t str,
            commit: &'t str,
            rows: &'t [Row],
            #[serde(skip_serializing_if = "<[Goal]>::is_empty")]
            goals: &'t [Goal],
        }
        serde_json::to_string(&Json {
            machine: &self.machine.name,
            commit: &self.machine.commit,
            rows: &self.rows,
            goals: &self.goals,
        })
    }

    pub(crate) fn markdown(&self) -> String {
        let Machine {
            name,
            commit,
            rustc,
            load,
        } = &self.machine;
        let mut text = format!(
            "{name}; commit {commit}; {rustc}; load {load} before. {}\n\n",
            self.about
        );
        let mut heads = vec![
            "case",
            "candidate",
            "nodes",
            "median ns",
            "min",
            "max",
            "time / hash",
        ];
        heads.extend(self.more);
        line(&mut text, heads.iter().map(|head| (*head).to_owned()));
        let ruler =
            (0..heads.len()).map(|column| if column < TEXT_COLUMNS { "---" } else { "---:" });
        line(&mut text, ruler.map(str::to_owned));
        for row in &self.rows {
            let mut cells = vec![
                row.case.to_owned(),
                format!("`{}`", row.candidate),
                row.nodes.to_string(),
                format!("{:.1}", row.median_ns),
                format!("{:.1}", row.min_ns),
                format!("{:.1}", row.max_ns),
                ratio(row.ratio_to_hash),
            ];
            cells.extend(row.more.iter().cloned());
            line(&mut text, cells.into_iter());
        }
        if !self.goals.is_empty() {
            text.push('\n');
            let heads = ["what", "goal", "measured", "reached"];
            line(&mut text, heads.map(str::to_owned).into_iter());
            line(
                &mut text,
                ["---", "---", "---:", "---"].map(str::to_owned).into_iter(),
            );
        }
        for goal in &self.goals {
            let reached = match goal.reached {
                Some(true) => "yes",
                Some(false) => "no",
                None => "not measured",
            };
            let cells = [
                goal.what.to_owned(),
                goal.goal.clone(),
                ratio(goal.measured),
                reached.to_owned(),
            ];
            line(&mut text, cells.into_iter());
        }
        text
    }
}

/// A ratio as a cell.
pub(crate) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"))
}

/// A line of a Markdown table.
pub(crate) fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    for cell in cells {
        // Writing to a string does not fail.
        let _ = write!(text, "| {cell} ");
    }
    text.push_str("|\n");
}

fn two_decimals<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 100.0).round() / 100.0)
}

fn maybe_two_decimals<S: serde::Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => two_decimals(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// Case and candidate; the rest are numbers.
const TEXT_COLUMNS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_agreed_members_and_null_for_what_has_no_meaning() {
        let table = Table {
            machine: Machine {
                name: "processor, 2 cores".to_owned(),
                commit: "abc".to_owned(),
                rustc: "rustc 1".to_owned(),
                load: "0.1".to_owned(),
            },
            about: "about".to_owned(),
            more: &["goal"],
            rows: vec![Row {
                case: "planner/plain",
                candidate: "naive",
                nodes: 100,
                median_ns: 12.345,
                min_ns: 12.0,
                ratio_to_hash: None,
                bytes_per_token: None,
                net_bytes: None,
                peak_bytes: None,
                ratio_to_clockwise: None,
                instructions_over_hash: None,
                max_ns: 13.0,
                more: vec!["none".to_owned()],
            }],
            goals: Vec::new(),
        };
        assert_eq!(
            table.json().unwrap(),
            r#"{"machine":"processor, 2 cores","commit":"abc","rows":[{"case":"planner/plain","candidate":"naive","nodes":100,"median_ns":12.35,"min_ns":12.0,"ratio_to_hash":null,"bytes_per_token":null}]}"#
        );
        assert!(
            table
                .markdown()
                .ends_with("\n| planner/plain | `naive` | 100 | 12.3 | 12.0 | 13.0 |  | none |\n")
        );
    }
}
