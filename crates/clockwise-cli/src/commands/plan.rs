//! `clockwise plan`: what a change of membership does to keys.

use std::process::ExitCode;
use std::sync::Arc;

use clockwise::{Algorithm, Membership, NodeId, Placement, Scheme};
use clockwise_plan::{
    Census, Change, Limit, LimitError, Load, Plan, PlanInput, QuestionError, Questions, Sides,
    Warning, plan_document, plan_page,
};

use crate::anonymise::Names;
use crate::args::PlanArgs;
use crate::commands::change::Clusters;
use crate::failure::Failure;
use crate::form::{Form, command_line};
use crate::interrupt;
use crate::keys::{KeySource, read_or_predict};
use crate::membership::{Cluster, complete_schemes, explain_build, explain_replication};
use crate::nearest::did_you_mean;

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
    let source = KeySource::of(&args.keys)?;

    let names = Names::read(&args.keys)?;

    let stop = interrupt::watch()?;
    let mut census = Census::new(&change);
    let source = read_or_predict(
        source,
        "pseudo-random ones stand for any",
        &stop,
        &mut warnings,
        |key, requests, bytes| census.add(key, requests, bytes),
    )?;
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
    let clusters = Clusters::read(&args.change, warnings)?;
    let (today, to_cluster) = (&clusters.today, clusters.after());
    let mut schemes = [
        today.scheme(None, &args.scheme)?,
        to_cluster.scheme(args.to_scheme.as_deref(), &args.scheme)?,
    ];
    complete_schemes(
        &mut schemes,
        args.tokens.as_deref(),
        args.scheme.rule.hash_key.as_deref(),
    )?;
    let [scheme, to_scheme] = &schemes;
    if is_idle(args) {
        return Err(
            Failure::usage("nothing to plan: the membership stays as it is")
                .hint("say what changes with --to, --add, --remove, --weight or --to-scheme, or what fails with --failures"),
        );
    }
    let may_remove = |membership: &Membership, id: &NodeId| {
        scheme.allows_removal(membership, id).map_err(explain_build)
    };
    let to_list = clusters.list_after(&args.change, may_remove, warnings)?;
    let from = today.place(&today.membership, scheme, &args.scheme.rule)?;
    // A running Redis Cluster keeps its table: a change moves slots out of it, it is not dealt out anew.
    let follows = scheme == to_scheme && scheme.algorithm() == Algorithm::RedisCluster;
    let to = if follows {
        from.least_movement(&to_list).map_err(explain_build)?
    } else {
        to_cluster.place(&to_list, to_scheme, &args.scheme.rule)?
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
    cluster.place(&known.membership, scheme, &args.scheme.rule)
}

/// Whether nothing changes and nothing else is asked.
fn is_idle(args: &PlanArgs) -> bool {
    args.change.is_empty()
        && args.to_scheme.is_none()
        && args.failures.is_empty()
        && args.node_rate.is_none()
        && args.replication.replicas.is_none()
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
