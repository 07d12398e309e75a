//! `clockwise plan`: what a change of membership does to keys.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clockwise::hash::Rng;
use clockwise::{Algorithm, Membership, Placement, Scheme};
use clockwise_plan::{
    Basis, Census, Change, Limit, LimitError, Load, Plan, PlanInput, QuestionError, Questions,
    Sides, Source, Warning, plan_document, plan_page,
};

use crate::anonymise::Names;
use crate::args::PlanArgs;
use crate::failure::Failure;
use crate::form::{Form, command_line};
use crate::interrupt;
use crate::keys::{KeySource, Reading};
use crate::membership::{
    Cluster, complete_schemes, explain_build, explain_edit, explain_replication, nodes_of,
    parse_edit, parse_node,
};
use crate::nearest::did_you_mean;
use crate::progress::{Progress, Unit};

pub(crate) fn run(args: &PlanArgs) -> Result<ExitCode, Failure> {
    let limits = args
        .limit
        .iter()
        .flat_map(|text| text.split(','))
        .map(parse_limit)
        .collect::<Result<Vec<_>, _>>()?;
    args.form.form()?;
    let mut warnings = Vec::new();
    let change = change(args, &mut warnings)?;
    let source = args
        .keys
        .keys
        .as_deref()
        .map(|source| KeySource::open(source, &args.keys))
        .transpose()?;

    let names = Names::read(&args.keys)?;

    let stop = interrupt::watch()?;
    let mut census = Census::new(&change);
    let source = match source {
        Some(source) => {
            let Reading {
                text,
                basis,
                each_key_once,
                of_memcached,
                bad_lines,
                partial,
                warnings: more,
            } = source.read(&stop, |key, requests, bytes| {
                census.add(key, requests, bytes)
            })?;
            warnings.extend(more);
            if census.keys() == 0 && !partial {
                return Err(Failure::usage(format!("{text}: there are no keys in it")));
            }
            Source {
                text,
                basis,
                each_key_once,
                of_memcached,
                bad_lines,
                partial,
            }
        }
        None => predicted(&mut census, &stop),
    };
    let load = Load {
        rate: args.rate,
        keys_per_request: args.keys_per_request,
        hit_rate: args.hit_rate,
        capacity: args.capacity,
        copy_rate: args.copy_rate.map(|rate| rate as f64),
        node_memory: args.node_memory,
        node_rate: args.node_rate,
    };
    let counts = census.finish().map_err(Failure::usage)?;
    let input = PlanInput {
        change: &change,
        counts: match &names {
            Some(names) => counts.renamed(|key| names.of(key).into_bytes()),
            None => counts,
        },
        source,
        load,
        limits,
        warnings,
        stop: Arc::clone(&stop),
    };
    let plan = Plan::new(input).map_err(Failure::usage)?;

    let verdict = match (plan.partial, plan.is_within_limits()) {
        (true, _) => ExitCode::from(interrupt::EXIT_CODE),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::from(1),
    };
    let printed = args.form.print(&plan, |form| match form {
        Form::Html => plan_page(&plan, &change, &command_line()),
        Form::Markdown => plan_document(&plan).with_command(command_line()),
        Form::Text | Form::Json => plan_document(&plan),
    });
    match printed {
        // A gate must not open because nobody reads the reasons.
        Err(failure) if !failure.is_closed_output() => Err(failure),
        _ => Ok(verdict),
    }
}

/// Both placements, from the arguments.
fn change(args: &PlanArgs, warnings: &mut Vec<Warning>) -> Result<Change, Failure> {
    let mut today = Cluster::read(&args.from)?;
    warnings.append(&mut today.warnings);
    let mut tomorrow = if args.to.is_empty() {
        None
    } else {
        Some(Cluster::read(&args.to)?)
    };
    if let Some(tomorrow) = &mut tomorrow {
        let mut more = std::mem::take(&mut tomorrow.warnings);
        more.retain(|warning| !warnings.contains(warning));
        warnings.append(&mut more);
        // A bare list of nodes says nothing about how they place keys: that stays as it is.
        if !tomorrow.is_file {
            tomorrow.scheme.clone_from(&today.scheme);
            tomorrow.key_rule = today.key_rule;
            tomorrow.replication.clone_from(&today.replication);
        }
    }
    let to_cluster = tomorrow.as_ref().unwrap_or(&today);
    let mut schemes = [
        today.scheme(None, &args.scheme)?,
        to_cluster.scheme(args.to_scheme.as_deref(), &args.scheme)?,
    ];
    complete_schemes(
        &mut schemes,
        args.tokens.as_deref(),
        args.scheme.hash_key.as_deref(),
    )?;
    let [scheme, to_scheme] = &schemes;
    let to_list = match &tomorrow {
        Some(tomorrow) => tomorrow.membership.clone(),
        None => edited(args, &today.membership, scheme, warnings)?,
    };
    let from = today.place(&today.membership, scheme, &args.scheme)?;
    // A running Redis Cluster keeps its table: a change moves slots out of it, it is not dealt out anew.
    let follows = scheme == to_scheme && scheme.algorithm() == Algorithm::RedisCluster;
    let to = if follows {
        from.least_movement(&to_list).map_err(explain_build)?
    } else {
        to_cluster.place(&to_list, to_scheme, &args.scheme)?
    };
    let views = args
        .view
        .iter()
        .map(|list| view(list, to_cluster, to_scheme, args));
    let views = views.collect::<Result<Vec<_>, _>>()?;
    let replication = Sides {
        before: today.replication(&args.replication)?,
        after: to_cluster.replication(&args.replication)?,
    };
    let has_replicas = replication
        .before
        .factor()
        .get()
        .max(replication.after.factor().get())
        > 1;
    let questions = Questions {
        outages: args.failures.iter().copied().collect(),
        cascade: args.node_rate.is_some(),
        replication: has_replicas.then_some(replication),
    };
    Change::new((from, &today.membership), (to, &to_list), follows)
        .map_err(Failure::usage)?
        .with_views(views)
        .asking(questions)
        .map_err(|error| match error {
            QuestionError::Replication(error) => explain_replication(error),
            error => Failure::usage(error),
        })
}

/// What a client believes that knows these nodes and places keys as the new membership does.
fn view(
    list: &str,
    cluster: &Cluster,
    scheme: &Scheme,
    args: &PlanArgs,
) -> Result<Placement, Failure> {
    let known = Cluster::read(&[list.to_owned()])?;
    cluster.place(&known.membership, scheme, &args.scheme)
}

/// The membership of today with the edits of the command line: first removals, then weights, then additions.
fn edited(
    args: &PlanArgs,
    today: &Membership,
    scheme: &Scheme,
    warnings: &mut Vec<Warning>,
) -> Result<Membership, Failure> {
    if args.add.is_empty()
        && args.remove.is_empty()
        && args.weight.is_empty()
        && args.to_scheme.is_none()
        && args.failures.is_empty()
        && args.node_rate.is_none()
        && args.replication.replicas.is_none()
    {
        return Err(
            Failure::usage("nothing to plan: the membership stays as it is")
                .hint("say what changes with --to, --add, --remove, --weight or --to-scheme, or what fails with --failures"),
        );
    }
    let mut membership = today.clone();
    for id in nodes_of(&args.remove)? {
        let id = id.parse().map_err(Failure::usage)?;
        let smaller = membership
            .without(&id)
            .map_err(|error| explain_edit(error, &membership))?;
        scheme
            .allows_removal(&membership, &id)
            .map_err(explain_build)?;
        membership = smaller;
    }
    for text in &args.weight {
        let (id, weight) = parse_edit(text)?;
        membership = membership
            .with_weight(&id, weight)
            .map_err(|error| explain_edit(error, &membership))?;
    }
    for node in nodes_of(&args.add)? {
        if std::path::Path::new(&node).is_file() {
            return Err(
                Failure::usage(format!("--add {node}: that is a file, not a node"))
                    .hint("a file of keys goes behind --keys, a membership behind --to"),
            );
        }
        let (member, warning) = parse_node(&node)?;
        warnings.extend(warning);
        membership = membership.with(member).map_err(Failure::usage)?;
    }
    Ok(membership)
}

fn parse_limit(text: &str) -> Result<Limit, Failure> {
    text.parse().map_err(|error: LimitError| {
        let hint = match &error {
            LimitError::Unknown { name } => {
                did_you_mean(name, ["moved", "imbalance", "origin", "failure", "hot"])
            }
            _ => None,
        };
        Failure::usage(error).maybe_hint(hint)
    })
}

/// Counts pseudo-random keys where no real ones were given.
fn predicted(census: &mut Census<'_>, stop: &Arc<AtomicBool>) -> Source {
    let mut rng = Rng::new(PREDICTION_SEED);
    let mut progress = Progress::new(Some(PREDICTED_KEYS), Unit::Keys);
    let mut partial = false;
    for done in 0..PREDICTED_KEYS {
        if stop.load(Ordering::Relaxed) {
            partial = true;
            break;
        }
        // A key costs anything from nanoseconds to milliseconds, so the clock is looked at often but not always.
        if done.is_multiple_of(64) {
            progress.update(done, done);
        }
        census.add(&rng.next_u64().to_le_bytes(), None, None);
    }
    progress.finish();
    Source {
        text: "none given: pseudo-random ones stand for any (see --keys)".to_owned(),
        basis: Basis::Predicted,
        // A generator that goes through all its states repeats none of 2^20 numbers.
        each_key_once: true,
        of_memcached: false,
        bad_lines: 0,
        partial,
    }
}

/// As many keys as bring the error of a share below 0.05 %.
const PREDICTED_KEYS: u64 = 1 << 20;
/// Any fixed number: the same prediction each time.
const PREDICTION_SEED: u64 = 42;
