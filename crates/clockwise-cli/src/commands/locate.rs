//! `clockwise locate`: the owner of each key, and the nodes behind it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clockwise::Placement;
use clockwise_plan::keys::Escaped;
use serde::Serialize;

use crate::args::LocateArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::keys::KeySource;
use crate::membership::{Cluster, names_file};
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
    replicas: Vec<&'a str>,
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
    let replicas = args.replicas.unwrap_or(cluster.replicas) as usize;
    if replicas > 1 && !scheme.has_ranking() {
        return Err(Failure::usage(format!(
            "scheme {} names no node behind the owner",
            scheme.name()
        ))
        .hint("leave --replicas out: a lost master's slots wait for its own replica"));
    }
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
        replicas,
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
    replicas: usize,
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
        let nodes: Vec<&str> = self
            .placement
            .ranked(&hashed, self.replicas)
            .map(|member| member.id().as_str())
            .collect();
        if !self.json {
            let owners = if nodes.is_empty() {
                "-".to_owned()
            } else {
                nodes.join("\t")
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
            owner: nodes.first().copied(),
            replicas: nodes,
        })
    }
}
