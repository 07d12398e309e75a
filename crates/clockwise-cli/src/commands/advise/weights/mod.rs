//! `clockwise advise weights`: which weights nodes should have.

mod nodes;

use std::process::ExitCode;

use clockwise_plan::advise::weights::{WeightsError, WeightsWish, Workload, document, weights};

use super::finish;
use crate::args::WeightsArgs;
use crate::failure::Failure;
use crate::membership::parse_scheme;

pub(crate) fn run(args: &WeightsArgs) -> Result<ExitCode, Failure> {
    args.form.form()?;
    let wish = WeightsWish {
        nodes: nodes::read(&args.node)?,
        workload: Workload {
            stored_bytes: args.stored_bytes.map(|bytes| bytes as f64),
            requests: args.requests,
            object_size: args.object_size.map(|bytes| bytes as f64),
            read_share: args.read_share,
            read_iops: args.read_iops,
            write_iops: args.write_iops,
            read_cpu_s: args.read_cpu,
            write_cpu_s: args.write_cpu,
        },
        scheme: parse_scheme(&args.scheme)?,
    };
    let advice = weights(&wish).map_err(|error| {
        let hint = match &error {
            WeightsError::NothingToCarry => {
                Some("give --node ID,ram=64GiB and --stored-bytes 100GiB, for example".to_owned())
            }
            WeightsError::Unplaceable { .. } => {
                Some("slots, ring and rendezvous take weights with decimals".to_owned())
            }
            _ => None,
        };
        Failure::usage(error).maybe_hint(hint)
    })?;
    finish(&args.form, &advice, || document(&advice))
}
