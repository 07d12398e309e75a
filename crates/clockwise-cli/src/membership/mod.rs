//! Reading a membership that a person named: nodes on the command line, or a cluster file.

mod cluster_file;
mod inline;
mod scheme;

use std::num::NonZeroU32;
use std::path::Path;

use clockwise::{KeyRule, Membership, MembershipError, NodeId, Placement, Replication, Scheme};
use clockwise_plan::{Warning, grouped};

pub(crate) use inline::{nodes_of, parse_edit, parse_node};
pub(crate) use scheme::{explain, parse_key_rule, parse_scheme, read_secret};

use crate::args::{ReplicationArgs, RuleArgs, SchemeArgs};
use crate::failure::Failure;
use crate::nearest::did_you_mean;
use crate::output::note;

/// A membership with what its file says about placement.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// Whether a file said it, and not just a list of nodes.
    pub(crate) is_file: bool,
    pub(crate) membership: Membership,
    pub(crate) scheme: Option<Scheme>,
    pub(crate) key_rule: KeyRule,
    /// Replicas of each key, and how they spread, as the file says.
    pub(crate) replication: Replication,
    pub(crate) warnings: Vec<Warning>,
}

impl Cluster {
    /// Reads the values of `--from`, `--to` or `--cluster`.
    pub(crate) fn read(values: &[String]) -> Result<Self, Failure> {
        let mut cluster = match values {
            [value] if names_file(value) => cluster_file::read(value)?,
            _ => {
                if let Some(missing) = values.iter().find(|value| looks_like_file(value)) {
                    return Err(Failure::usage(format!("{missing}: there is no such file"))
                        .hint("if it is a node after all, name it in a cluster file"));
                }
                if let Some(file) = values.iter().find(|value| names_file(value)) {
                    return Err(Failure::usage(format!(
                        "{file} is a file: it must be the only membership value"
                    ))
                    .hint("name the nodes in the file, or all of them on the command line"));
                }
                inline::read(values)?
            }
        };
        for (first, second) in cluster.membership.shared_endpoints() {
            let endpoint = second
                .endpoint()
                .map(ToString::to_string)
                .unwrap_or_default();
            cluster.warnings.push(Warning::new(
                "shared-endpoint",
                format!(
                    "{} and {} are both reached at {endpoint}",
                    first.id(),
                    second.id()
                ),
            ));
        }
        Ok(cluster)
    }

    /// The scheme to place by: the one asked for, else the arguments', else the file's, else `slots`.
    pub(crate) fn scheme(&self, asked: Option<&str>, args: &SchemeArgs) -> Result<Scheme, Failure> {
        match asked.or(args.scheme.as_deref()) {
            Some(text) => parse_scheme(text),
            None => self
                .scheme
                .clone()
                .map_or_else(|| parse_scheme("slots"), Ok),
        }
    }

    /// How keys are replicated: the arguments', else the file's.
    pub(crate) fn replication(&self, args: &ReplicationArgs) -> Result<Replication, Failure> {
        let factor = args
            .replicas
            .and_then(NonZeroU32::new)
            .unwrap_or(self.replication.factor());
        let mut replication = Replication::new(factor);
        replication = match &args.domains {
            Some(rules) => replication.with_rules(rules).map_err(Failure::usage)?,
            None => {
                let mut rules = self.replication.rules().iter();
                rules
                    .try_fold(replication, |policy, &rule| policy.with_rule(rule))
                    .map_err(Failure::usage)?
            }
        };
        Ok(match args.indep || self.replication.keeps_positions() {
            true => replication.with_kept_positions(),
            false => replication,
        })
    }

    /// The placement of a membership that belongs to this cluster.
    pub(crate) fn place(
        &self,
        membership: &Membership,
        scheme: &Scheme,
        args: &RuleArgs,
    ) -> Result<Placement, Failure> {
        let asked = args.key_rule.as_deref().map(parse_key_rule).transpose()?;
        let key_rule = asked.or(scheme.own_key_rule()).unwrap_or(self.key_rule);
        let pairs = membership.members().len() as u64 * u64::from(scheme.slot_count().unwrap_or(0));
        if pairs > SLOW_TABLE {
            note(&format!(
                "filling a table of {} slots for {} nodes…",
                grouped(u64::from(scheme.slot_count().unwrap_or(0))),
                grouped(membership.members().len() as u64)
            ));
        }
        Placement::build(scheme, membership)
            .and_then(|placement| placement.with_key_rule(key_rule))
            .map_err(explain_build)
    }
}

/// The scheme of a command that has one, complete.
pub(crate) fn one_scheme(
    cluster: &Cluster,
    tokens: Option<&str>,
    args: &SchemeArgs,
) -> Result<Scheme, Failure> {
    let mut schemes = [cluster.scheme(None, args)?];
    complete_schemes(&mut schemes, tokens, args.rule.hash_key.as_deref())?;
    let [scheme] = schemes;
    Ok(scheme)
}

/// Gives the schemes of a command the number of tokens and the secret of its arguments: each to those that take it.
pub(crate) fn complete_schemes(
    schemes: &mut [Scheme],
    tokens: Option<&str>,
    hash_key: Option<&str>,
) -> Result<(), Failure> {
    let is_ring = |scheme: &Scheme| scheme.tokens().is_some();
    let is_keyed = |scheme: &Scheme| scheme.hash().is_keyed();
    if let Some(tokens) = tokens {
        let none = !schemes.iter().any(is_ring);
        for scheme in schemes.iter_mut().filter(|scheme| none || is_ring(scheme)) {
            *scheme = scheme
                .clone()
                .with_parameter("tokens", tokens)
                .map_err(explain)?;
        }
    }
    if let Some(reference) = hash_key {
        let secret = read_secret(reference)?;
        let none = !schemes.iter().any(is_keyed);
        for scheme in schemes.iter_mut().filter(|scheme| none || is_keyed(scheme)) {
            *scheme = scheme
                .clone()
                .with_secret(secret.clone())
                .map_err(explain)?;
        }
    }
    Ok(())
}

/// Whether a value is a file's name: it holds a slash other than those of Unix sockets, or such a file exists.
pub(crate) fn names_file(value: &str) -> bool {
    let path = value.split_once('#').map_or(value, |(path, _)| path);
    let is_socket = |node: &str| node.starts_with("unix:") || node.contains("@unix:");
    let names_path = |piece: &str| piece.contains('/') && !is_socket(piece);
    path.split(',').any(names_path) || Path::new(path).is_file()
}

/// Whether a value that names no file was meant to.
fn looks_like_file(value: &str) -> bool {
    let ending = value
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    let known = [
        "toml", "json", "yaml", "yml", "conf", "cfg", "tml", "txt", "ini",
    ];
    !names_file(value) && ending.is_some_and(|ending| known.contains(&ending.as_str()))
}

/// A failure of building a placement, with its hint.
pub(crate) fn explain_build(error: clockwise::BuildError) -> Failure {
    use clockwise::BuildError::{
        MiddleBucket, NoSecret, TooManyTokens, UnequalWeights, WeightVanishes,
    };
    let hint = match &error {
        NoSecret { .. } => Some("give its key with --hash-key env:NAME or --hash-key file:PATH".to_owned()),
        WeightVanishes { .. } => {
            Some("raise the weight, or take more slots: slots,count=N or maglev,size=PRIME".to_owned())
        }
        UnequalWeights { .. } => Some("slots, ring, rendezvous and maglev take weights".to_owned()),
        TooManyTokens { .. } => Some("lower --tokens or that weight: only ratios between weights matter".to_owned()),
        MiddleBucket { scheme, cost }
            if ["probed", "rank"].contains(scheme)
                && (cost.owned_share * f64::from(cost.buckets)).round() <= 1.0 =>
        Some(
            "give the node weight 0 instead: it keeps its number and only its own keys move".to_owned(),
        ),
        MiddleBucket { .. } => Some(
            "to see the cost on your keys, list the remaining nodes with --to; slots, ring and rendezvous lose any node"
                .to_owned(),
        ),
        _ => None,
    };
    Failure::usage(error).maybe_hint(hint)
}

/// A replication policy that does not fit, with its hint.
pub(crate) fn explain_replication(error: clockwise::ReplicationError) -> Failure {
    use clockwise::ReplicationError::{NoRanking, Unlabelled};
    let hint = match &error {
        NoRanking { .. } => {
            Some("leave --replicas out: a lost master's slots wait for its own replica".to_owned())
        }
        Unlabelled { level, .. } => Some(format!(
            "label it in the cluster file, or prefer the level: {level}=1:preferred"
        )),
        _ => None,
    };
    Failure::usage(error).maybe_hint(hint)
}

/// A failure of editing a membership, with the nearest known id.
pub(crate) fn explain_edit(error: MembershipError, membership: &Membership) -> Failure {
    let hint = match &error {
        MembershipError::UnknownNode { id } => unknown_node_hint(id, membership),
        _ => None,
    };
    Failure::usage(error).maybe_hint(hint)
}

fn unknown_node_hint(id: &NodeId, membership: &Membership) -> Option<String> {
    let known = || {
        membership
            .members()
            .iter()
            .map(|member| member.id().as_str())
    };
    // cache-9 is no slip of cache-1: only what stands around the numbers can be misspelt.
    let digits = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    let wanted = digits(id.as_str());
    let near = known().filter(|candidate| digits(candidate) == wanted);
    did_you_mean(id.as_str(), near).or_else(|| {
        let some: Vec<&str> = known().take(10).collect();
        (!some.is_empty()).then(|| format!("its nodes are {}", some.join(", ")))
    })
}

/// Slots times nodes from which filling a table takes about a second.
const SLOW_TABLE: u64 = 50_000_000;
