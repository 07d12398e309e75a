//! Nodes with what they have: on the command line, in TOML or in CSV.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;

use clockwise::NodeId;
use clockwise_plan::advise::weights::NodeResources;
use clockwise_plan::keys::{ReadOptions, read_rows};
use serde::Deserialize;

use crate::args::size;
use crate::failure::Failure;
use crate::membership::names_file;
use crate::nearest::did_you_mean;

/// All nodes of these values, in their order.
pub(super) fn read(values: &[String]) -> Result<Vec<(NodeId, NodeResources)>, Failure> {
    let mut nodes = Vec::new();
    for value in values {
        if names_file(value) {
            let text = text_of(value)?;
            let more = if is_toml(&text) {
                toml(&text)
            } else {
                csv(value, &text)
            };
            nodes.extend(more.map_err(|failure| failure.at(value))?);
        } else {
            nodes.push(inline(value)?);
        }
    }
    let mut ids = BTreeSet::new();
    match nodes.iter().find(|(id, _)| !ids.insert(id)) {
        Some((id, _)) => Err(Failure::usage(format!("node {id} is listed twice"))),
        None => Ok(nodes),
    }
}

/// `ID,ram=64GiB,cpu=16`
fn inline(text: &str) -> Result<(NodeId, NodeResources), Failure> {
    let mut parts = text.split(',');
    let id = id(parts.next().unwrap_or_default())?;
    let mut node = NodeResources::default();
    for part in parts {
        let (name, value) = part.split_once('=').ok_or_else(|| {
            Failure::usage(format!("node {id}: {part:?} must be RESOURCE=AMOUNT"))
                .hint("such as ram=64GiB, iops=20000, network=10Gbit or cpu=16")
        })?;
        set(&mut node, &id, name, value)?;
    }
    Ok((id, node))
}

fn id(text: &str) -> Result<NodeId, Failure> {
    text.parse().map_err(|error| {
        Failure::usage(format!("node {text:?}: {error}")).hint("a node is ID,ram=64GiB,…")
    })
}

/// Sets what a node has of a resource.
fn set(node: &mut NodeResources, id: &NodeId, name: &str, value: &str) -> Result<(), Failure> {
    let refuse = |must: &str| Failure::usage(format!("node {id}: {name}={value}: must be {must}"));
    let (place, amount) = match name {
        "ram" => (
            &mut node.ram,
            size(value)
                .map(|bytes| bytes as f64)
                .map_err(|_| refuse("a size above 0, such as 64GiB"))?,
        ),
        "iops" => (
            &mut node.iops,
            plain(value).ok_or_else(|| refuse("a number above 0"))?,
        ),
        "network" => (
            &mut node.network,
            bits_per_second(value)
                .ok_or_else(|| refuse("a rate above 0, such as 10Gbit or 1.25GB/s"))?,
        ),
        "cpu" => (
            &mut node.cpu,
            plain(value).ok_or_else(|| refuse("a number of cores above 0"))?,
        ),
        _ => {
            let known = ["ram", "iops", "network", "cpu"];
            return Err(
                Failure::usage(format!("node {id}: unknown resource {name:?}")).hint(
                    did_you_mean(name, known)
                        .unwrap_or_else(|| format!("resources are {}", known.join(", "))),
                ),
            );
        }
    };
    if place.replace(amount).is_some() {
        return Err(Failure::usage(format!("node {id}: {name} is given twice")));
    }
    Ok(())
}

fn plain(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && number > 0.0 && number <= 1e15).then_some(number)
}

/// `10Gbit`, `100Mbit/s` or `1.25GB/s`, in bits per second.
fn bits_per_second(text: &str) -> Option<f64> {
    let rate = text.strip_suffix("/s").unwrap_or(text);
    let Some(bits) = rate.strip_suffix("bit") else {
        // Bytes are only taken where they cannot be meant as a size.
        return (rate != text)
            .then(|| size(rate).ok())
            .flatten()
            .map(|bytes| bytes as f64 * 8.0);
    };
    let (digits, factor) = match bits.strip_suffix(['k', 'M', 'G', 'T']) {
        Some(digits) => (digits, &bits[digits.len()..]),
        None => (bits, ""),
    };
    let factor = match factor {
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => 1.0,
    };
    plain(digits).map(|number| number * factor)
}

fn text_of(path: &str) -> Result<String, Failure> {
    let refuse = |error: &dyn std::fmt::Display| Failure::usage(format!("--node {path}: {error}"));
    let mut text = String::new();
    let file = File::open(path).map_err(|error| refuse(&error))?;
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
    match read.map_err(|error| refuse(&error))? {
        bytes if bytes as u64 > MOST_BYTES => Err(refuse(&"is larger than 16 MiB")),
        _ => Ok(text),
    }
}

/// TOML has a table of nodes; a table of rows begins with its header.
fn is_toml(text: &str) -> bool {
    let lines = text.lines().map(str::trim);
    let mut telling = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    telling
        .next()
        .is_none_or(|line| line.starts_with('[') || line.contains('='))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodesFile {
    #[serde(default)]
    node: Vec<toml::Table>,
}

fn toml(text: &str) -> Result<Vec<(NodeId, NodeResources)>, Failure> {
    let file: NodesFile =
        toml::from_str(text).map_err(|error| Failure::usage(error.to_string().trim_end()))?;
    if file.node.is_empty() {
        return Err(Failure::usage("there is no [[node]] in it"));
    }
    file.node.iter().map(node_of).collect()
}

fn node_of(table: &toml::Table) -> Result<(NodeId, NodeResources), Failure> {
    let named = table.get("id").and_then(toml::Value::as_str);
    let id = id(named.ok_or_else(|| Failure::usage("a [[node]] has no id, which must be text"))?)?;
    let mut node = NodeResources::default();
    for (name, value) in table.iter().filter(|(name, _)| *name != "id") {
        let text = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            _ => {
                return Err(Failure::usage(format!(
                    "node {id}: {name} must be text or a number"
                )));
            }
        };
        set(&mut node, &id, name, &text)?;
    }
    Ok((id, node))
}

fn csv(path: &str, text: &str) -> Result<Vec<(NodeId, NodeResources)>, Failure> {
    let mut options = ReadOptions::new(path);
    options.max_bad_share = 0.0;
    let mut nodes = Vec::new();
    let source = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
    let summary = read_rows(
        source,
        &options,
        |columns, row| {
            nodes.push(
                row_of(columns, |place| row.field(place))
                    .map_err(|failure| failure.at(format!("line {}", row.line))),
            )
        },
        |_| {},
    )
    .map_err(Failure::usage)?;
    if !summary.columns.iter().any(|column| column == "id") {
        return Err(Failure::usage("the header has no column id")
            .hint("the first line names the columns: id,ram,iops,network,cpu"));
    }
    if nodes.is_empty() {
        return Err(Failure::usage("there are no rows in it"));
    }
    nodes.into_iter().collect()
}

fn row_of<'a>(
    columns: &[String],
    field: impl Fn(usize) -> Option<&'a [u8]>,
) -> Result<(NodeId, NodeResources), Failure> {
    let text = |place: usize| {
        String::from_utf8_lossy(field(place).unwrap_or_default())
            .trim()
            .to_owned()
    };
    let named = columns.iter().position(|column| column == "id");
    let id = id(&named.map(text).unwrap_or_default())?;
    let mut node = NodeResources::default();
    for (place, column) in columns.iter().enumerate() {
        let value = text(place);
        // An empty cell says nothing.
        if column != "id" && !value.is_empty() {
            set(&mut node, &id, column, &value)?;
        }
    }
    Ok((id, node))
}

/// Far more than any list of nodes.
const MOST_BYTES: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_bits_unless_they_are_bytes_a_second() {
        for (text, bits) in [
            ("10Gbit", Some(1e10)),
            ("100Mbit/s", Some(1e8)),
            ("9600bit", Some(9600.0)),
            ("1.25GB/s", Some(1e10)),
            ("10GB", None),
            ("0Gbit", None),
            ("-1Gbit", None),
            ("Gbit", None),
            ("10", None),
            ("10Xbit", None),
        ] {
            assert_eq!(bits_per_second(text), bits, "{text}");
        }
    }
}
