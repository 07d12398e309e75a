//! The tables of what follows from the counts: formulas, numbers of tokens, failure domains, missing or copying.

use crate::document::Block;
use crate::number::{decimal, duration, grouped, percent};
use crate::report::{Domain, Formula, Origin, Plan};
use crate::{RefillTime, Ways};

pub(super) fn formulas(plan: &Plan) -> Vec<Block> {
    let rows = plan.theory.formulas.iter().map(|formula| {
        let Formula {
            expected,
            measured,
            sd,
            deviations,
            ..
        } = *formula;
        let or_none = |value: Option<f64>| value.map_or("-".to_owned(), fine_percent);
        vec![
            figure(formula.name).to_owned(),
            formula.formula.clone(),
            fine_percent(expected),
            or_none(measured),
            or_none(sd),
            deviations.map_or("-".to_owned(), signed),
        ]
    });
    let header = ["figure", "formula", "expected", "measured", "sd", "off by"];
    vec![Block::table(header, rows)]
}

fn figure(name: &str) -> &str {
    match name {
        "moved_share" => "moved",
        "modulo_moved_share" => "modulo would move",
        "added_share" => "the new nodes' share",
        "removed_share" => "the old nodes' share",
        "longest_arc" => "longest arc",
        "share_sd" => "sd of shares of the space",
        "keys_sd" => "sd of keys",
        other => other,
    }
}

/// With its sign, unless it rounds to nothing.
fn signed(deviations: f64) -> String {
    if deviations.abs() < 0.05 {
        "0.0 sd".to_owned()
    } else {
        format!("{deviations:+.1} sd")
    }
}

/// Two decimals, and as many more as a small share needs.
fn fine_percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent == 0.0 || percent.abs() >= 0.01 {
        2
    } else {
        4
    };
    format!("{percent:.decimals$} %")
}

pub(super) fn tokens(plan: &Plan) -> Vec<Block> {
    let Some(advice) = &plan.tokens else {
        return Vec::new();
    };
    let rows = advice.candidates.iter().map(|candidate| {
        let now = if candidate.tokens == advice.tokens {
            " (now)"
        } else {
            ""
        };
        vec![
            format!("{}{now}", grouped(u64::from(candidate.tokens))),
            percent(candidate.expected_sd),
            percent(candidate.sd_of_sd),
            decimal(candidate.max_over_mean, 3),
            decimal(candidate.worst_max_over_mean, 3),
            grouped(candidate.ranges),
            grouped(candidate.memory_bytes),
        ]
    });
    let header = [
        "tokens a node",
        "sd of shares",
        "± by names",
        "max/mean",
        "1 in 100 above",
        "ranges",
        "bytes",
    ];
    let moved = plan
        .moved_ranges
        .map(|ranges| Block::Note(format!("this change moves {} ranges", grouped(ranges))));
    let mut blocks = vec![Block::table(header, rows)];
    blocks.extend(moved);
    blocks.push(Block::note(
        "twice the tokens divide the error by 1.41 only",
    ));
    blocks.push(Block::Note(format!(
        "these names have {}; another list would have {} ± {} ({} lists simulated, fixed seed)",
        percent(advice.measured_sd),
        percent(advice.expected_sd),
        percent(advice.sd_of_sd),
        grouped(advice.draws)
    )));
    blocks
}

pub(super) fn domains(plan: &Plan) -> Vec<Block> {
    if plan.domains.is_empty() {
        return Vec::new();
    }
    let requests = plan.requests.is_some();
    let bytes = plan.bytes.is_some();
    let mut header = vec![
        "",
        "name",
        "nodes",
        "keys before",
        "keys after",
        "share after",
        "wanted",
    ];
    header.extend(requests.then_some("requests after"));
    header.extend(bytes.then_some("bytes after"));
    let row = |domain: &Domain| {
        let (before, after) = (&domain.sides.before, &domain.sides.after);
        let mut row = vec![
            domain.kind.to_owned(),
            domain.name.clone().unwrap_or_else(|| "(none)".to_owned()),
            format!("{} → {}", before.nodes, after.nodes),
            grouped(before.keys),
            grouped(after.keys),
            percent(after.share),
            percent(after.wanted_share),
        ];
        row.extend(requests.then(|| grouped(after.requests.unwrap_or(0))));
        row.extend(bytes.then(|| grouped(after.bytes.unwrap_or(0))));
        row
    };
    let between = plan.between_domains.iter().map(|between| {
        let bytes = between.bytes.map_or(String::new(), |bytes| {
            format!(" with {} bytes", grouped(bytes))
        });
        Block::Note(format!(
            "between {}s: {} keys{bytes}, {} of all moves",
            between.kind,
            grouped(between.keys),
            percent(between.share_of_moved)
        ))
    });
    let mut blocks = vec![Block::table(header, plan.domains.iter().map(row))];
    blocks.extend(between);
    blocks
}

pub(super) fn ways(plan: &Plan) -> Vec<Block> {
    if plan.moved.keys == 0 {
        return Vec::new();
    }
    let Ways { miss, copy } = &plan.ways;
    let number =
        |value: Option<f64>, decimals| value.map_or("-".to_owned(), |v| decimal(v, decimals));
    let count = |value: Option<u64>| value.map_or("-".to_owned(), grouped);
    let none = || "-".to_owned();
    let rows = vec![
        (
            "database queries/s before",
            number(miss.queries_before, 1),
            number(copy.queries_before, 1),
        ),
        (
            "at the first moment",
            number(miss.queries_at_first, 1),
            number(copy.queries_at_first, 1),
        ),
        (
            "extra queries in all, at most",
            number(miss.extra_queries, 0),
            "0".to_owned(),
        ),
        (
            "half of the extra load gone after",
            time(miss.seconds_to_half),
            none(),
        ),
        ("90 % gone after", time(miss.seconds_to_tenth), none()),
        (
            "bytes from the database, at most",
            count(miss.database_bytes),
            "0".to_owned(),
        ),
        (
            "keys copied between nodes",
            "0".to_owned(),
            grouped(copy.copied_keys),
        ),
        ("bytes copied", "0".to_owned(), count(copy.copied_bytes)),
        (
            "copying takes",
            none(),
            copy.seconds.map_or_else(none, duration),
        ),
        (
            "stale copies left behind, keys",
            grouped(miss.stale_keys),
            grouped(copy.stale_keys),
        ),
        (
            "bytes of them",
            count(miss.stale_bytes),
            count(copy.stale_bytes),
        ),
    ];
    let rows = rows
        .into_iter()
        .map(|(name, miss, copy)| vec![name.to_owned(), miss, copy]);
    let mut blocks = vec![Block::table(["", "miss", "copy"], rows)];
    blocks.extend(missing(plan));
    blocks
}

/// For the requests counted where there are any, else between equally popular keys and a few very popular ones.
fn time(times: Option<RefillTime>) -> String {
    match times {
        None => "-".to_owned(),
        Some(RefillTime {
            measured: Some(seconds),
            ..
        }) => duration(seconds),
        Some(RefillTime { uniform, zipf, .. }) => format!(
            "{} to {}",
            duration(uniform.min(zipf)),
            duration(uniform.max(zipf))
        ),
    }
}

/// Which options tell what the table lacks.
fn missing(plan: &Plan) -> Option<Block> {
    let wanted = [
        (plan.origin.is_none(), "--rate and --hit-rate"),
        (
            plan.ways.miss.extra_queries.is_none() && plan.origin.is_some(),
            "--keys",
        ),
        (
            plan.bytes.is_none(),
            "keys with bytes (--bytes-column or a format that has them)",
        ),
        (plan.ways.copy.rate.is_none(), "--copy-rate"),
    ];
    let wanted: Vec<&str> = wanted
        .iter()
        .filter(|(is_missing, _)| *is_missing)
        .map(|(_, what)| *what)
        .collect();
    (!wanted.is_empty())
        .then(|| Block::Note(format!("for what is not known: {}", wanted.join(", "))))
}

pub(super) fn whole_cache(plan: &Plan) -> Vec<Block> {
    let note = |origin: &Origin| {
        Block::Note(format!(
            "{} queries per second, {} times today's; layers of caches that place keys by one hash miss together and add nothing",
            decimal(origin.whole_cache_queries, 1),
            decimal(origin.whole_cache_factor, 2)
        ))
    };
    plan.origin.as_ref().map(note).into_iter().collect()
}
