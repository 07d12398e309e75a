//! `clockwise advise tokens`: how many tokens a ring's nodes should have.

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clockwise_plan::advise::tokens::{TokensWish, document, tokens};

use super::finish;
use crate::args::TokensArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::{Progress, Unit};

pub(crate) fn run(args: &TokensArgs) -> Result<ExitCode, Failure> {
    args.form.form()?;
    let wish = TokensWish {
        nodes: args.nodes,
        skew: args.skew,
        confidence: args.confidence,
        metadata_budget: args.metadata_budget,
        max_tokens: args.max_tokens,
    };
    let stop = interrupt::watch_briefly()?;
    let mut progress = Progress::new(None, Unit::Rings);
    let advice = tokens(&wish, |done, _| {
        progress.update(u64::from(done), u64::from(done));
        !stop.load(Ordering::Relaxed)
    });
    progress.finish();
    let done = finish(&args.form, &advice, || document(&advice))?;
    if stop.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    Ok(done)
}
