//! `clockwise locate`: the owner of each key, and the nodes behind it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clockwise::{MembershipError, Placement, ReplicaSet, ReplicaSets};
use clockwise_plan::grouped;
use clockwise_plan::keys::Escaped;
use serde::Serialize;

use crate::anonymise::Names;
use crate::args::LocateArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::keys::KeySource;
use crate::membership::{Cluster, explain_edit, explain_replication, names_file, one_scheme};
use crate::output::{Output, note};

/// One answer; the form of `--json`.
#[derive(Serialize)]
struct Located<'a> {
    /// The key as text, or its name; `null` when it is not UTF-8.
    key: Option<&'a str>,
    key_hex: String,
    /// `null` where keys are anonymous: it is the same for everyone, and a key can be found from it by trying.
    token: Option<String>,
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
    let scheme = one_scheme(&cluster, args.tokens.as_deref(), &args.scheme)?;
    let placement = cluster.place(&cluster.membership, &scheme, &args.scheme.rule)?;
    let sets = replica_sets(&cluster, &placement, args)?;
    let down = down_nodes(&cluster, &placement, &args.down)?;
    match (keys.is_empty(), &args.keys.keys) {
        (true, None) => {
            let hint = if cluster.is_file {
                "put keys behind the file, or give --keys FILE"
            } else {
                "after nodes with spaces put -- before the keys, or join the nodes with commas"
            };
            return Err(Failure::usage("no keys to locate").hint(hint));
        }
        (false, Some(_)) => {
            return Err(Failure::usage(
                "keys are given both as arguments and with --keys",
            ));
        }
        _ => {}
    }
    if !args.down.is_empty()
        && let Some(node) = keys.iter().find_map(|key| member_named(&placement, key))
    {
        return Err(
            Failure::usage(format!("{node} stands where keys do, and is a node")).hint(format!(
                "to take it down too, write --down {},{node}",
                args.down.join(",")
            )),
        );
    }

    let mut printer = Printer {
        placement: &placement,
        sets: &sets,
        down,
        set: ReplicaSet::default(),
        json: args.json,
        names: Names::read(&args.keys)?,
        output: Output::new(),
        short_keys: 0,
        failure: None,
    };
    let mut partial = false;
    if let Some(source) = &args.keys.keys {
        // Opening a pipe waits for its writer: until then Ctrl-C ends the command as it would any other.
        let source = KeySource::open(source, &args.keys)?;
        let stop = interrupt::watch_briefly()?;
        let reading = source.read(&stop, |key, _, _| printer.print_or_stop(key, &stop));
        if let Some(failure) = printer.failure.take() {
            return Err(failure);
        }
        let reading = reading?;
        for warning in &reading.warnings {
            note(&format!("warning: {}", warning.text));
        }
        partial = reading.source.partial;
    } else {
        keys.iter().try_for_each(|key| printer.print(key))?;
    }
    let short_keys = printer.short_keys;
    printer.output.finish()?;
    if short_keys > 0 {
        note(&format!(
            "warning: {} {} fewer than {} replicas: no further node may take them",
            grouped(short_keys),
            if short_keys == 1 {
                "key has"
            } else {
                "keys have"
            },
            sets.replication().factor()
        ));
    }
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
    for id in ids.iter().flat_map(|ids| ids.split(',')) {
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

/// The node that a key is spelt like.
fn member_named<'p>(placement: &'p Placement, key: &[u8]) -> Option<&'p str> {
    let ids = placement
        .members()
        .iter()
        .map(|member| member.id().as_str());
    ids.into_iter().find(|id| id.as_bytes() == key)
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
    /// What is printed instead of keys.
    names: Option<Names>,
    output: Output,
    /// Keys with fewer replicas than asked for, which includes positions left empty.
    short_keys: u64,
    /// What went wrong while a source was being read.
    failure: Option<Failure>,
}

impl Printer<'_> {
    /// Prints from inside a read; the first failure ends the read. What a stopped read still hands over, the merged keys
    /// of a log, would take longer than Ctrl-C may.
    fn print_or_stop(&mut self, key: &[u8], stop: &Arc<AtomicBool>) {
        if self.failure.is_none()
            && !stop.load(Ordering::Relaxed)
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
        let wanted = self.sets.replication().factor().get() as usize;
        self.short_keys += u64::from(self.set.nodes.iter().flatten().count() < wanted);
        let id = |node: usize| self.placement.members()[node].id().as_str();
        let nodes: Vec<Option<&str>> = self.set.nodes.iter().map(|node| node.map(id)).collect();
        let name = self.names.as_ref().map(|names| names.of(key));
        let shown = name.as_ref().map_or(key, |name| name.as_bytes());
        if !self.json {
            let names: Vec<&str> = nodes.iter().map(|node| node.unwrap_or("-")).collect();
            let owners = if names.is_empty() {
                "-".to_owned()
            } else {
                names.join("\t")
            };
            return self
                .output
                .write(&format!("{}\t{owners}\n", Escaped(shown)));
        }
        self.output.json_line(&Located {
            key: std::str::from_utf8(shown).ok(),
            key_hex: shown.iter().map(|byte| format!("{byte:02x}")).collect(),
            token: name
                .is_none()
                .then(|| hashed.token().to_hex(self.placement.scheme().token_bits())),
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
