//! `clockwise locate`: the owner of each key, and the nodes behind it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clockwise::{MembershipError, Placement, ReplicaSet, ReplicaSets};
use clockwise_plan::keys::Escaped;
use serde::Serialize;

use crate::args::LocateArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::keys::KeySource;
use crate::membership::{Cluster, explain_edit, explain_replication, names_file};
use crate::output::{Output, note};

/// One answer; the form of `--json`.
#[derive(Serialize)]
struct Located<'a> {
    /// The key as text; `null` when it is not UTF-8.
    key: Option<&'a str>,
    key_hex: String,
    token: String,
    slot: Option<u32>,
    owner: Option<&'a str>,
    /// Owner first; `null` for the position of a node that is down, where positions stay.
    replicas: Vec<Option<&'a str>>,
    /// Preferred levels that gave way, once for each step.
    degraded: Vec<&'static str>,
    /// Replicas that could not be placed.
    missing: usize,
    /// Required levels that kept further nodes out.
    missing_because: Vec<&'static str>,
}

pub(crate) fn run(args: &LocateArgs) -> Result<ExitCode, Failure> {
    let (nodes, mut keys) = split_keys(&args.cluster)?;
    keys.extend(args.key.iter().cloned().map(OsString::into_vec));
    let cluster = Cluster::read(&nodes)?;
    for warning in &cluster.warnings {
        note(&format!("warning: {}", warning.text));
    }
    let scheme = cluster.scheme(None, args.tokens.as_deref(), &args.scheme)?;
    let placement = cluster.place(&cluster.membership, &scheme, &args.scheme)?;
    let sets = replica_sets(&cluster, &placement, args)?;
    let down = down_nodes(&cluster, &placement, &args.down)?;
    if keys.is_empty() == args.keys.keys.is_none() {
        return Err(match keys.len() {
            0 => Failure::usage("no keys to locate").hint(
                "after nodes with spaces put -- before the keys, or join the nodes with commas",
            ),
            _ => Failure::usage("keys are given both as arguments and with --keys"),
        });
    }

    let mut printer = Printer {
        placement: &placement,
        sets: &sets,
        down,
        set: ReplicaSet::default(),
        json: args.json,
        output: Output::new(),
        failure: None,
    };
    let mut partial = false;
    if let Some(source) = &args.keys.keys {
        // Opening a pipe waits for its writer: until then Ctrl-C ends the command as it would any other.
        let source = KeySource::open(source, &args.keys)?;
        let stop = interrupt::watch()?;
        let reading = source.read(&stop, |key, _, _| printer.print_or_stop(key, &stop));
        if let Some(failure) = printer.failure.take() {
            return Err(failure);
        }
        let reading = reading?;
        for warning in &reading.warnings {
            note(&format!("warning: {}", warning.text));
        }
        partial = reading.partial;
    } else {
        keys.iter().try_for_each(|key| printer.print(key))?;
    }
    printer.output.finish()?;
    Ok(if partial {
        ExitCode::from(interrupt::EXIT_CODE)
    } else {
        ExitCode::SUCCESS
    })
}

fn replica_sets<'p>(
    cluster: &Cluster,
    placement: &'p Placement,
    args: &LocateArgs,
) -> Result<ReplicaSets<'p>, Failure> {
    let replication = cluster.replication(&args.replication)?;
    ReplicaSets::new(placement, replication).map_err(explain_replication)
}

/// Which members are down, by index.
fn down_nodes(
    cluster: &Cluster,
    placement: &Placement,
    ids: &[String],
) -> Result<Vec<bool>, Failure> {
    let mut down = vec![false; placement.members().len()];
    for id in ids {
        let id = id.parse().map_err(Failure::usage)?;
        match placement
            .members()
            .binary_search_by(|member| member.id().cmp(&id))
        {
            Ok(node) => down[node] = true,
            Err(_) => {
                let unknown = MembershipError::UnknownNode { id };
                return Err(explain_edit(unknown, &cluster.membership));
            }
        }
    }
    Ok(down)
}

/// Parts the values of `--cluster` into the membership and the keys that follow it: a file or a list with commas is a
/// membership by itself.
fn split_keys(values: &[OsString]) -> Result<(Vec<String>, Vec<Vec<u8>>), Failure> {
    let text = |value: &OsString| {
        value.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::usage(format!(
                "membership {}: must be UTF-8",
                Escaped(value.as_bytes())
            ))
        })
    };
    let Some(first) = values.first().map(text).transpose()? else {
        return Ok((Vec::new(), Vec::new()));
    };
    if names_file(&first) || first.contains(',') {
        let keys = values[1..]
            .iter()
            .cloned()
            .map(OsString::into_vec)
            .collect();
        return Ok((vec![first], keys));
    }
    Ok((
        values.iter().map(text).collect::<Result<_, _>>()?,
        Vec::new(),
    ))
}

struct Printer<'p> {
    placement: &'p Placement,
    sets: &'p ReplicaSets<'p>,
    /// Members that are down, by index.
    down: Vec<bool>,
    /// Used again for each key.
    set: ReplicaSet,
    json: bool,
    output: Output,
    /// What went wrong while a source was being read.
    failure: Option<Failure>,
}

impl Printer<'_> {
    /// Prints from inside a read; the first failure ends the read.
    fn print_or_stop(&mut self, key: &[u8], stop: &Arc<AtomicBool>) {
        if self.failure.is_none()
            && let Err(failure) = self.print(key)
        {
            self.failure = Some(failure);
            stop.store(true, Ordering::Relaxed);
        }
    }

    fn print(&mut self, key: &[u8]) -> Result<(), Failure> {
        let hashed = self.placement.hash(key);
        self.sets
            .select_into(&hashed, |node| !self.down[node], &mut self.set);
        let id = |node: usize| self.placement.members()[node].id().as_str();
        let nodes: Vec<Option<&str>> = self.set.nodes.iter().map(|node| node.map(id)).collect();
        if !self.json {
            let names: Vec<&str> = nodes.iter().map(|node| node.unwrap_or("-")).collect();
            let owners = if names.is_empty() {
                "-".to_owned()
            } else {
                names.join("\t")
            };
            return self.output.write(&format!("{}\t{owners}\n", Escaped(key)));
        }
        self.output.json_line(&Located {
            key: std::str::from_utf8(key).ok(),
            key_hex: key.iter().map(|byte| format!("{byte:02x}")).collect(),
            token: hashed.token().to_hex(self.placement.scheme().token_bits()),
            slot: self
                .placement
                .slot_of_token(hashed.token())
                .map(|slot| slot.0),
            owner: nodes.first().copied().flatten(),
            replicas: nodes,
            degraded: self.set.degraded.iter().map(|level| level.name()).collect(),
            missing: self
                .set
                .deficit
                .as_ref()
                .map_or(0, |deficit| deficit.missing),
            missing_because: self
                .set
                .deficit
                .iter()
                .flat_map(|deficit| &deficit.levels)
                .map(|level| level.name())
                .collect(),
        })
    }
}
