//! `clockwise advise shard`: whether it is time to shard, and what pages across shards cost.

use std::process::ExitCode;

use clockwise_plan::advise::shard::{Pages, ShardWish, document, shard};
use clockwise_plan::grouped;

use super::finish;
use crate::args::ShardArgs;
use crate::failure::Failure;

pub(crate) fn run(args: &ShardArgs) -> Result<ExitCode, Failure> {
    args.form.form()?;
    let wish = ShardWish {
        write_iops_used: args.write_iops_used,
        cpu: args.cpu,
        data: args.data,
        disk: args.disk,
        backup_s: args.backup,
        window_s: args.window,
        slow_queries_share: args.slow_queries_share,
        cache_hit_rate: args.cache_hit_rate,
        read_share: args.read_share,
        replica_lag_s: args.replica_lag,
        bigger: args.bigger,
        pages: pages(args)?,
    };
    let advice = shard(&wish).ok_or_else(|| {
        Failure::usage("--pages: shards x page x rows is more than 2^64")
            .hint("take a smaller page")
    })?;
    finish(&args.form, &advice, || document(&advice))
}

fn pages(args: &ShardArgs) -> Result<Option<Pages>, Failure> {
    let (Some(shards), Some(rows)) = (args.shards, args.rows) else {
        return Ok(None);
    };
    let count = |range: &crate::args::PageRange| (range.last - range.first).saturating_add(1);
    let all = args.pages.iter().map(count).fold(0, u64::saturating_add);
    if all > MOST_PAGES {
        return Err(Failure::usage(format!(
            "--pages: {} pages are more than {}",
            grouped(all),
            grouped(MOST_PAGES)
        )));
    }
    let ranges = args.pages.iter();
    Ok(Some(Pages {
        shards,
        rows,
        pages: ranges.flat_map(|range| range.first..=range.last).collect(),
    }))
}

/// Nobody reads more rows of a table.
const MOST_PAGES: u64 = 10_000;
