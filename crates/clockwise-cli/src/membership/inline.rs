//! Nodes written on the command line: `id[@host:port][=weight]`, with commas or spaces between.

use std::num::NonZeroU32;
use std::sync::atomic::AtomicBool;

use clockwise::{Endpoint, KeyRule, Member, Membership, NodeId, Replication, Weight};
use clockwise_plan::Warning;
use clockwise_plan::keys::Generated;

use super::Cluster;
use crate::failure::Failure;

/// A membership of inline nodes, keys by hash tag.
pub(super) fn read(values: &[String]) -> Result<Cluster, Failure> {
    let mut warnings = Vec::new();
    let mut members = Vec::new();
    for node in nodes_of(values)? {
        let (member, warning) = parse_node(&node)?;
        members.push(member);
        warnings.extend(warning);
    }
    let membership = Membership::new(members).map_err(Failure::usage)?;
    Ok(Cluster {
        is_file: false,
        membership,
        scheme: None,
        key_rule: KeyRule::RedisTag,
        replication: Replication::new(NonZeroU32::MIN),
        warnings,
    })
}

/// The nodes that values name: parted at commas, with `{1..4}` spelt out where the shell did not.
pub(crate) fn nodes_of(values: &[String]) -> Result<Vec<String>, Failure> {
    let mut nodes = Vec::new();
    for (place, value) in values.iter().enumerate() {
        // `a, b` reaches us as `a,` and `b`; an empty name anywhere else may be a variable that was not set.
        let followed = place + 1 < values.len() && value.len() > 1;
        let value = value
            .strip_suffix(',')
            .filter(|_| followed)
            .unwrap_or(value);
        for piece in value.split(',') {
            if !piece.contains('{') || !piece.contains("..") {
                nodes.push(piece.to_owned());
                continue;
            }
            let refuse =
                |error: &dyn std::fmt::Display| Failure::usage(format!("nodes {piece}: {error}"));
            let spelt =
                Generated::parse(&format!("gen:{piece}")).map_err(|error| refuse(&error))?;
            let Some(spelt) = spelt.filter(|spelt| spelt.len() <= MOST_NODES) else {
                return Err(refuse(&"more than 65000 nodes"));
            };
            spelt.for_each(&AtomicBool::new(false), |node| {
                nodes.push(String::from_utf8_lossy(node).into_owned());
            });
        }
    }
    Ok(nodes)
}

/// One node. What is only an address serves as the id too, and a warning says so.
pub(crate) fn parse_node(text: &str) -> Result<(Member, Option<Warning>), Failure> {
    let (name, weight) = match text.split_once('=') {
        Some((name, weight)) => (name, parse_weight(name, weight)?),
        None => (text, Weight::ONE),
    };
    let (id, endpoint, warning) = match name.split_once('@') {
        Some((id, endpoint)) => (id, Some(parse_endpoint(endpoint)?), None),
        None if name.contains(':') || name.starts_with('[') => {
            let endpoint = parse_endpoint(name).map_err(|failure| {
                failure.hint("an id with a colon that is no address needs a cluster file")
            })?;
            let text = format!(
                "{name} is an address as identity: if the node moves to another one, its keys move too; write ID@{name}"
            );
            (
                name,
                Some(endpoint),
                Some(Warning::new("address-as-id", text)),
            )
        }
        None => (name, None, None),
    };
    if id.contains('/') && !id.starts_with("unix:") {
        return Err(Failure::usage(format!(
            "node {id:?}: an id with a / needs a cluster file"
        )));
    }
    let parsed = parse_id(id)?;
    if id.contains(' ') {
        return Err(Failure::usage(format!(
            "node {id:?}: an id with a space needs a cluster file"
        ))
        .hint("spaces part nodes when they are not quoted; commas always do"));
    }
    let member = Member::new(parsed).with_weight(weight);
    Ok((
        endpoint.into_iter().fold(member, Member::with_endpoint),
        warning,
    ))
}

/// The id and weight of `ID=W`.
pub(crate) fn parse_edit(text: &str) -> Result<(NodeId, Weight), Failure> {
    let (id, weight) = text.rsplit_once('=').ok_or_else(|| {
        Failure::usage(format!("{text:?}: must be ID=WEIGHT, such as cache-2=0.5"))
    })?;
    Ok((parse_id(id)?, parse_weight(id, weight)?))
}

fn parse_id(text: &str) -> Result<NodeId, Failure> {
    text.parse().map_err(Failure::usage)
}

fn parse_endpoint(text: &str) -> Result<Endpoint, Failure> {
    text.parse().map_err(Failure::usage)
}

fn parse_weight(node: &str, text: &str) -> Result<Weight, Failure> {
    text.parse::<Weight>()
        .map_err(|error| Failure::usage(error.for_node(node)))
}

/// As many as a plan compares.
const MOST_NODES: u64 = 65_000;
