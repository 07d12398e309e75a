//! `clockwise advise scheme`: which scheme to take.

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clockwise::Scheme;
use clockwise_plan::advise::scheme::{Peer, SchemeWish, UnknownPeer, document, scheme};

use super::finish;
use crate::args::{Failing, ListOrder, SchemeAdviceArgs};
use crate::failure::Failure;
use crate::interrupt;
use crate::nearest::did_you_mean;
use crate::progress::{Progress, Unit};

pub(crate) fn run(args: &SchemeAdviceArgs) -> Result<ExitCode, Failure> {
    args.form.form()?;
    let wish = SchemeWish {
        nodes: args.nodes,
        lookups: args.lookups,
        replicas: args.replicas,
        ranking: args.ranking,
        metadata_budget: args.metadata_budget,
        compatible_with: args.compatible_with.as_deref().map(peer).transpose()?,
        appended: args.order == ListOrder::Appended,
        last_fails: args.failures == Failing::Last,
        weights: args.weights,
    };
    let stop = interrupt::watch_briefly()?;
    let mut progress = Progress::new(None, Unit::Candidates);
    let mut done = 0;
    let advice = scheme(&wish, || {
        progress.update(done, done);
        done += 1;
        !stop.load(Ordering::Relaxed)
    });
    progress.finish();
    if stop.load(Ordering::Relaxed) {
        // A part of the candidates is no answer.
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    finish(&args.form, &advice, || document(&advice))
}

fn peer(name: &str) -> Result<Peer, Failure> {
    name.parse().map_err(|error: UnknownPeer| {
        let known = Peer::names().into_iter().chain(Scheme::names());
        let hint = did_you_mean(name, known);
        Failure::usage(format!("--compatible-with: {error}")).maybe_hint(hint)
    })
}
