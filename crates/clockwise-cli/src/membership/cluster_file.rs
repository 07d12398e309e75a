//! The cluster file that people write (TOML).
//!
//! Tables that other commands read (`[router]`, `[limits]`, …) are let through unread; every other unknown name is
//! refused with its line and the nearest known one.

use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroU32;

use clockwise::{
    Endpoint, FailureDomains, KeyRule, Member, Membership, Replication, Scheme, Weight, WeightError,
};
use serde::Deserialize;
use toml::Spanned;
use toml::value::{Table, Value};

use super::Cluster;
use super::scheme::{explain, parse_key_rule, parse_scheme, read_secret};
use crate::failure::Failure;
use crate::nearest::did_you_mean;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClusterFile {
    #[serde(rename = "name")]
    _name: Option<String>,
    protocol: Option<Protocol>,
    #[serde(rename = "mode")]
    _mode: Option<Mode>,
    scheme: Option<Spanned<Value>>,
    key_rule: Option<Spanned<String>>,
    replicas: Option<u32>,
    domains: Option<Spanned<String>>,
    #[serde(default)]
    indep: bool,
    #[serde(default)]
    node: Vec<Spanned<NodeEntry>>,
    #[serde(rename = "router")]
    _router: Option<Table>,
    #[serde(rename = "timeouts")]
    _timeouts: Option<Table>,
    #[serde(rename = "failure")]
    _failure: Option<Table>,
    #[serde(rename = "multi_key")]
    _multi_key: Option<Table>,
    #[serde(rename = "allow")]
    _allow: Option<Table>,
    #[serde(rename = "limits")]
    _limits: Option<Table>,
    #[serde(rename = "tls")]
    _tls: Option<Table>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Protocol {
    Redis,
    Memcached,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Cache,
    Store,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeEntry {
    id: String,
    endpoint: Option<String>,
    weight: Option<Value>,
    region: Option<String>,
    zone: Option<String>,
    rack: Option<String>,
    host: Option<String>,
}

/// Reads a cluster file by its name.
pub(super) fn read(name: &str) -> Result<Cluster, Failure> {
    let (path, pool) = match name.split_once('#') {
        Some((path, pool)) if !std::path::Path::new(name).exists() => (path, Some(pool)),
        _ => (name, None),
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| Failure::usage(format!("{path}: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::usage(format!(
            "{path}: larger than 16 MiB, which no cluster file is"
        )));
    }
    let text =
        String::from_utf8(bytes).map_err(|error| Failure::usage(format!("{path}: {error}")))?;
    if let Some(pool) = pool {
        return Err(Failure::usage(format!(
            "{path}: a cluster file holds one membership, so #{pool} names nothing"
        )));
    }
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("{path}: the file is empty")));
    }
    if text.trim_start().starts_with(['{', '<']) {
        return Err(Failure::usage(format!("{path}: not a cluster file (TOML)"))
            .hint("a cluster file lists its nodes as [[node]] tables with an id"));
    }
    parse(path, &text)
}

fn parse(path: &str, text: &str) -> Result<Cluster, Failure> {
    let file: ClusterFile =
        toml::from_str(text).map_err(|error| explain_toml(path, text, &error))?;
    let at = |span: std::ops::Range<usize>| format!("{path}:{}", line_of(text, span.start));

    let mut members = Vec::with_capacity(file.node.len());
    for entry in file.node {
        let span = entry.span();
        members.push(
            member(entry.into_inner()).map_err(|message| Failure::usage(message).at(at(span)))?,
        );
    }
    let membership =
        Membership::new(members).map_err(|error| Failure::usage(format!("{path}: {error}")))?;
    let key_rule = match (file.key_rule, file.protocol) {
        (Some(text), _) => {
            let place = at(text.span());
            parse_key_rule(text.get_ref()).map_err(|failure| failure.at(place))?
        }
        (None, Some(Protocol::Memcached)) => KeyRule::Whole,
        (None, Some(Protocol::Redis) | None) => KeyRule::RedisTag,
    };
    let factor = NonZeroU32::new(file.replicas.unwrap_or(1))
        .ok_or_else(|| Failure::usage(format!("{path}: replicas must be 1 or more")))?;
    let mut replication = Replication::new(factor);
    if let Some(rules) = file.domains {
        replication = replication
            .with_rules(rules.get_ref())
            .map_err(|error| Failure::usage(error).at(at(rules.span())))?;
    }
    if file.indep {
        replication = replication.with_kept_positions();
    }
    let scheme = file.scheme.map(|value| {
        let place = at(value.span());
        scheme(value.get_ref()).map_err(|failure| failure.at(place))
    });
    Ok(Cluster {
        is_file: true,
        membership,
        scheme: scheme.transpose()?,
        key_rule,
        replication,
        warnings: Vec::new(),
    })
}

fn member(entry: NodeEntry) -> Result<Member, String> {
    let id = entry
        .id
        .parse()
        .map_err(|error: clockwise::NodeIdError| error.to_string())?;
    let weight = match &entry.weight {
        None => Weight::ONE,
        Some(value) => weight(value).map_err(|error| error.for_node(&entry.id).to_string())?,
    };
    let endpoint: Option<Endpoint> = entry
        .endpoint
        .map(|text| text.parse())
        .transpose()
        .map_err(|error| format!("node {}: {error}", entry.id))?;
    let labels = [
        ("region", &entry.region),
        ("zone", &entry.zone),
        ("rack", &entry.rack),
        ("host", &entry.host),
    ];
    for (level, label) in labels {
        if let Some(label) = label
            .as_ref()
            .filter(|label| label.chars().any(char::is_control))
        {
            return Err(format!(
                "node {}: {level} {label:?} has control characters in it",
                entry.id
            ));
        }
    }
    let domains = FailureDomains {
        region: entry.region,
        zone: entry.zone,
        rack: entry.rack,
        host: entry.host,
    };
    let member = Member::new(id).with_weight(weight).with_domains(domains);
    Ok(endpoint.into_iter().fold(member, Member::with_endpoint))
}

/// A number; a text is no weight even if it looks like one.
fn weight(value: &Value) -> Result<Weight, WeightError> {
    match value {
        Value::Integer(number) => number.to_string().parse(),
        // A plain text to read, a short one to show: 1e308 has 309 digits.
        Value::Float(number) => number.to_string().parse().map_err(|_| WeightError {
            value: format!("{number:?}"),
            node: None,
        }),
        other => Err(WeightError {
            value: other.to_string(),
            node: None,
        }),
    }
}

/// `scheme = "ring,tokens=160"`, or a table with `name` and the parameters.
fn scheme(value: &Value) -> Result<Scheme, Failure> {
    let table = match value {
        Value::String(text) => return parse_scheme(text),
        Value::Table(table) => table,
        other => {
            return Err(Failure::usage(format!(
                "scheme must be a text or a table, not {other}"
            )));
        }
    };
    let text = |name: &str| match table.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) if name == "key_ref" => Err(Failure::usage("scheme.key_ref must be a text")),
        Some(other) => Err(Failure::usage(format!(
            "scheme.{name} must be a text, not {other}"
        ))),
    };
    let name = text("name")?.ok_or_else(|| Failure::usage("[scheme] needs a name"))?;
    let mut scheme = match text("hash")? {
        Some(hash) => parse_scheme(&format!("{name}/{hash}"))?,
        None => parse_scheme(name)?,
    };
    for (parameter, value) in table {
        let value = match value {
            _ if ["name", "hash", "key_ref"].contains(&parameter.as_str()) => continue,
            Value::String(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            other => other.to_string(),
        };
        scheme = scheme.with_parameter(parameter, &value).map_err(explain)?;
    }
    match text("key_ref")? {
        Some(reference) => scheme.with_secret(read_secret(reference)?).map_err(explain),
        None => Ok(scheme),
    }
}

/// The parser's message in one line, with the file's line and the nearest name for an unknown one.
fn explain_toml(path: &str, text: &str, error: &toml::de::Error) -> Failure {
    let line = error.span().map_or(0, |span| line_of(text, span.start));
    let message = error.message();
    let quoted = |prefix: &str| {
        message
            .strip_prefix(prefix)
            .and_then(|rest| rest.split_once('`'))
    };
    let unknown = quoted("unknown field `")
        .map(|(name, rest)| ("name", name, rest))
        .or_else(|| quoted("unknown variant `").map(|(name, rest)| ("value", name, rest)));
    if let Some((what, name, expected)) = unknown {
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        return Failure::usage(format!("{path}:{line}: unknown {what} {name:?}")).hint(
            did_you_mean(name, known.iter().copied())
                .unwrap_or_else(|| format!("known here are {}", known.join(", "))),
        );
    }
    let failure = Failure::usage(format!("{path}:{line}: {}", message.replace('\n', " ")));
    let single_table = text.lines().any(|line| line.trim() == "[node]");
    failure.maybe_hint(single_table.then(|| "each node is a table of its own: [[node]]".to_owned()))
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text
        .as_bytes()
        .iter()
        .take(offset)
        .filter(|&&byte| byte == b'\n')
        .count()
}

/// Far above any list of nodes that people write, far below what would hurt.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
