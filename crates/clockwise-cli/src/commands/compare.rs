//! `clockwise compare`: one change under every scheme, side by side.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use clockwise::hash::Rng;
use clockwise::{Scheme, Token};
use clockwise_plan::compare::{
    Candidate, CompareInput, Compared, Comparison, Manner, Timed, Timing, document,
};

use crate::args::CompareArgs;
use crate::clock::Moment;
use crate::commands::change::Clusters;
use crate::failure::Failure;
use crate::form::{Form, command_line};
use crate::interrupt;
use crate::keys::{KeySource, read_or_predict};
use crate::machine::Machine;
use crate::membership::{explain, parse_key_rule, parse_scheme, read_secret};
use crate::progress::{Progress, Unit};

pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode, Failure> {
    args.form.form()?;
    let mut warnings = Vec::new();
    let clusters = Clusters::read(&args.change, &mut warnings)?;
    let candidates = candidates(args, &clusters)?;
    // Each scheme says in its own row what it thinks of a removal.
    let after = clusters.list_after(&args.change, |_, _| Ok(()), &mut warnings)?;
    let source = KeySource::of(&args.keys)?;

    let stop = interrupt::watch()?;
    let all = candidates.len();
    let input = CompareInput {
        candidates,
        today: clusters.today.membership.clone(),
        after: (!args.change.is_empty()).then_some(after),
        by_space: source.is_none(),
        threads: thread::available_parallelism().map_or(1, NonZeroUsize::get),
        stop: Arc::clone(&stop),
    };
    let mut comparison = shown(all, |progress| Comparison::new(input, progress));
    let source = read_or_predict(
        source,
        "the space is measured, or pseudo-random keys stand for any",
        &stop,
        &mut warnings,
        |key, _, _| comparison.add(key),
    )?;
    let mut compared = shown(all, |progress| {
        comparison.finish(source, warnings, progress)
    });
    if !args.no_timing {
        measure(&comparison, &mut compared, &stop);
    }
    args.form.print(&compared, |form| match form {
        Form::Html | Form::Markdown => document(&compared).with_command(command_line()),
        Form::Text | Form::Json => document(&compared),
    })?;
    Ok(if compared.partial {
        ExitCode::from(interrupt::EXIT_CODE)
    } else {
        ExitCode::SUCCESS
    })
}

/// Does work on so many schemes, and shows how many of them are done where it takes long.
fn shown<R>(all: usize, work: impl FnOnce(&(dyn Fn(usize) + Sync)) -> R) -> R {
    let progress = Mutex::new(Progress::new(Some(all as u64), Unit::Schemes));
    let result = work(&|done| {
        if let Ok(mut progress) = progress.lock() {
            progress.update(done as u64, done as u64);
        }
    });
    if let Ok(progress) = progress.into_inner() {
        progress.finish();
    }
    result
}

/// The schemes to compare: those named, else all; then today's, if a file names it.
fn candidates(args: &CompareArgs, clusters: &Clusters) -> Result<Vec<Candidate>, Failure> {
    let named: Vec<&str> = match args.scheme.as_slice() {
        [] => Candidate::DEFAULT.to_vec(),
        named => named.iter().map(String::as_str).collect(),
    };
    let also = args.also.iter().map(String::as_str);
    let mut parsed: Vec<Named> = named
        .into_iter()
        .chain(also)
        .map(Named::parse)
        .collect::<Result<_, _>>()?;
    let today = &clusters.today;
    if let Some(scheme) = &today.scheme
        && !parsed.iter().any(|other| other.is(scheme, Manner::Anew))
    {
        parsed.push(Named {
            label: scheme.to_string(),
            scheme: scheme.clone(),
            manner: Manner::Anew,
        });
    }
    if let Some(tokens) = &args.tokens {
        give_tokens(&mut parsed, tokens)?;
    }
    if let Some(reference) = &args.rule.hash_key {
        let secret = read_secret(reference)?;
        let none = !parsed.iter().any(|named| named.scheme.hash().is_keyed());
        for named in parsed
            .iter_mut()
            .filter(|named| none || named.scheme.hash().is_keyed())
        {
            named.scheme = named
                .scheme
                .clone()
                .with_secret(secret.clone())
                .map_err(explain)?;
        }
    }
    let asked = args
        .rule
        .key_rule
        .as_deref()
        .map(parse_key_rule)
        .transpose()?;
    let mut candidates: Vec<Candidate> = Vec::new();
    for Named {
        label,
        scheme,
        manner,
    } in parsed
    {
        let is_todays = manner == Manner::Anew && today.scheme.as_ref() == Some(&scheme);
        let key_rule = asked.or(scheme.own_key_rule()).unwrap_or(today.key_rule);
        let candidate = Candidate::new(&label, scheme, manner, key_rule)
            .map_err(|error| Failure::usage(error).at(format!("scheme {label}")))?;
        let candidate = if is_todays {
            candidate.of_today()
        } else {
            candidate
        };
        let is_new = |other: &Candidate| other.to_string() != candidate.to_string();
        if candidates.iter().all(is_new) {
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}

/// A scheme as it was named.
struct Named {
    label: String,
    scheme: Scheme,
    manner: Manner,
}

impl Named {
    fn parse(text: &str) -> Result<Self, Failure> {
        let (scheme, manner) = Candidate::split(text);
        Ok(Self {
            label: text.to_owned(),
            scheme: parse_scheme(scheme)?,
            manner,
        })
    }

    fn is(&self, scheme: &Scheme, manner: Manner) -> bool {
        self.scheme == *scheme && self.manner == manner
    }
}

/// Sets the tokens of the rings that do not say how many they have.
fn give_tokens(named: &mut [Named], tokens: &str) -> Result<(), Failure> {
    let mut any = false;
    for ring in named.iter_mut() {
        if ring.scheme.tokens().is_none() || ring.label.contains("tokens=") {
            continue;
        }
        any = true;
        ring.scheme = ring
            .scheme
            .clone()
            .with_parameter("tokens", tokens)
            .map_err(explain)?;
        let (stem, manner) = Candidate::split(&ring.label);
        ring.label = match manner {
            Manner::Anew => format!("{stem},tokens={tokens}"),
            manner => format!("{stem},tokens={tokens},{manner}"),
        };
    }
    if any {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--tokens {tokens}: no ring among the schemes leaves its tokens open"
    ))
    .hint("write it into the scheme: --scheme ring,tokens=N"))
}

/// Times every scheme, in rounds in which each has its turn, so that a drift of the machine's speed reaches all alike.
fn measure(comparison: &Comparison, compared: &mut Compared, stop: &AtomicBool) {
    let machine = Machine::here();
    let mut subjects: Vec<Subject<'_>> = comparison
        .timed()
        .map(|(row, timed)| Subject::new(row, timed))
        .collect();
    let mut progress = Progress::new(Some(ROUNDS as u64), Unit::Rounds);
    for round in 0..ROUNDS {
        for subject in &mut subjects {
            if stop.load(Ordering::Relaxed) {
                compared.partial = true;
                break;
            }
            subject.turn();
        }
        progress.update(round as u64 + 1, round as u64 + 1);
    }
    progress.finish();
    for subject in subjects {
        let row = &mut compared.rows[subject.row];
        (row.build_us, row.build_us_range) = summary(&subject.builds, 1000.0);
        (row.lookup_ns, row.lookup_ns_range) = summary(&subject.lookups, 1.0);
    }
    compared.timing = Some(Timing {
        machine: machine.name,
        system: machine.system,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rounds: ROUNDS,
        lookups: MOST_LOOKUPS,
        load: machine.load,
    });
}

/// A scheme that is timed.
struct Subject<'c> {
    row: usize,
    timed: Timed<'c>,
    tokens: Vec<Token>,
    /// Nanoseconds of each build, and of a look-up in each round.
    builds: Vec<f64>,
    lookups: Vec<f64>,
    spent_building: Duration,
}

impl<'c> Subject<'c> {
    /// Takes as many tokens as a round is worth.
    fn new(row: usize, timed: Timed<'c>) -> Self {
        let mut rng = Rng::new(TOKEN_SEED);
        let bits = timed.token_bits();
        let mut tokens: Vec<Token> = (0..MOST_LOOKUPS)
            .map(|_| Token(rng.next_u64() >> (64 - bits)))
            .collect();
        if timed.looks_up_tokens() {
            let few = &tokens[..LEAST_LOOKUPS];
            let started = Moment::now();
            black_box(timed.look_up(black_box(few)));
            let each = started.elapsed().as_nanos() as usize / LEAST_LOOKUPS;
            tokens.truncate((ROUND_NS / each.max(1)).max(LEAST_LOOKUPS));
        } else {
            tokens.clear();
        }
        Self {
            row,
            timed,
            tokens,
            builds: Vec::new(),
            lookups: Vec::new(),
            spent_building: Duration::ZERO,
        }
    }

    fn turn(&mut self) {
        if self.spent_building < LONG_BUILDS {
            let started = Moment::now();
            black_box(self.timed.build());
            let took = started.elapsed();
            self.spent_building += took;
            self.builds.push(took.as_nanos() as f64);
        }
        if !self.tokens.is_empty() {
            let started = Moment::now();
            black_box(self.timed.look_up(black_box(&self.tokens)));
            let took = started.elapsed();
            self.lookups
                .push(took.as_nanos() as f64 / self.tokens.len() as f64);
        }
    }
}

/// The best round, and the best and the worst, in another unit: what else the machine does only ever adds.
fn summary(times: &[f64], unit: f64) -> (Option<f64>, Option<[f64; 2]>) {
    // To a hundredth: what is finer is noise.
    let round = |time: f64| (time / unit * 100.0).round() / 100.0;
    let best = times.iter().copied().reduce(f64::min).map(round);
    let worst = times.iter().copied().reduce(f64::max).map(round);
    (best, best.zip(worst).map(|(best, worst)| [best, worst]))
}

/// Enough for one round that nothing disturbs.
const ROUNDS: usize = 9;
/// Tokens looked up in a round, at most: they fit the second cache.
const MOST_LOOKUPS: usize = 1 << 16;
/// And at least, however slow the scheme is.
const LEAST_LOOKUPS: usize = 1 << 10;
/// A round of look-ups takes about so long at most.
const ROUND_NS: usize = 10_000_000;
/// A scheme that has spent so long on building is not built again.
const LONG_BUILDS: Duration = Duration::from_millis(200);
/// Any fixed number: the same tokens each time.
const TOKEN_SEED: u64 = 7;
