//! Large placements: what building, holding and looking up cost as they grow.
//!
//! What it is: series of rings and slot tables, each placement larger than the one before. What it promises: builds and
//! look-ups of all placements run in turns, so that they can be compared; growth is reckoned between the ends of a
//! series. What it does not: compare with other crates; `placement` does. Cost: some minutes and 2 GB of memory.

mod plot;

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use clockwise::{Member, Membership, NodeId, Placement, Scheme, Weight};
use xxhash_rust::xxh3::xxh3_64;

use self::plot::{Line, plot};
use crate::Measure;
use crate::keys::{Key, Keys};
use crate::machine::{Cores, Machine};
use crate::memory::of_builds;
use crate::rounds::{Clock, Phase, Times, Work, interleave};
use crate::table::line;

/// Where the results go.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Folder for the table and the plots; made if it is missing
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Take 3 rounds instead of 11 and leave out the largest of each series
    #[arg(long)]
    quick: bool,
}

/// Placements of one kind, from small to large.
struct Series {
    name: &'static str,
    /// What its placements are made of.
    unit: &'static str,
    steps: &'static [Step],
}

#[derive(Clone, Copy)]
struct Step {
    nodes: usize,
    scheme: &'static str,
    /// Weights from 1 to 1,000, evenly.
    weighted: bool,
}

const fn step(nodes: usize, scheme: &'static str) -> Step {
    Step {
        nodes,
        scheme,
        weighted: false,
    }
}

const fn weighted(nodes: usize, scheme: &'static str) -> Step {
    Step {
        nodes,
        scheme,
        weighted: true,
    }
}

const SERIES: [Series; 5] = [
    Series {
        name: "ring, 160 tokens a node",
        unit: "tokens",
        steps: &[
            step(10, "ring,tokens=160"),
            step(100, "ring,tokens=160"),
            step(1000, "ring,tokens=160"),
            step(10_000, "ring,tokens=160"),
        ],
    },
    Series {
        name: "ring, 10 tokens a node",
        unit: "tokens",
        steps: &[
            step(100, "ring,tokens=10"),
            step(1000, "ring,tokens=10"),
            step(10_000, "ring,tokens=10"),
            step(100_000, "ring,tokens=10"),
        ],
    },
    Series {
        name: "ring, weights 1 to 1,000",
        unit: "tokens",
        steps: &[
            weighted(10, "ring,tokens=10"),
            weighted(100, "ring,tokens=10"),
            weighted(1000, "ring,tokens=10"),
        ],
    },
    Series {
        name: "slots, 100 nodes",
        unit: "slots",
        steps: &[
            step(100, "slots,count=16384"),
            step(100, "slots,count=65536"),
            step(100, "slots,count=262144"),
            step(100, "slots,count=1048576"),
        ],
    },
    Series {
        name: "slots, 100 nodes, weights 1 to 1,000",
        unit: "slots",
        steps: &[
            weighted(100, "slots,count=65536"),
            weighted(100, "slots,count=262144"),
            weighted(100, "slots,count=1048576"),
        ],
    },
];

/// Measures, writes the folder and prints the table.
pub(crate) fn run(options: &Options) -> Result<()> {
    let rounds = if options.quick { 3 } else { 11 };
    let machine = Machine::here();
    Cores::available()?.take_one()?;
    let memory = of_builds("scale")?;
    let keys = Keys::new(1_000_000);
    let steps: Vec<(&Series, &Step)> = SERIES
        .iter()
        .flat_map(|series| series.steps.iter().map(move |step| (series, step)))
        .filter(|(series, step)| {
            !options.quick
                || series
                    .steps
                    .last()
                    .is_none_or(|last| !std::ptr::eq(last, *step))
        })
        .collect();
    let built = steps.iter().map(|(_, step)| step.build());
    let built: Vec<Placement> = built.collect::<Result<_>>()?;

    let mut work: Vec<Work<'_>> = vec![looks_up(keys, 0, |keys| {
        keys.fold(0, |sum, key| sum ^ xxh3_64(key) as usize)
    })];
    for ((_, step), placement) in steps.iter().zip(&built) {
        let start = work.len() * 7919;
        work.push(looks_up(keys, start, |keys| {
            keys.fold(0, |sum, key| {
                sum ^ placement
                    .owner_index(&placement.hash(key))
                    .unwrap_or_default()
            })
        }));
        work.push(builds(**step));
        work.push(looks_up(keys, start + 3_000_017, |keys| {
            placement.owners(keys).fold(0, |sum, owner| {
                sum ^ owner.map_or(0, |it| std::ptr::from_ref(it).addr())
            })
        }));
    }
    let times = interleave(rounds, &mut work)?;
    drop(work);

    let (hash, times) = times.split_first().context("the hash comes first")?;
    let rows = steps.iter().zip(&built).zip(times.chunks(3)).enumerate();
    let rows = rows.map(|(row, ((&(series, step), placement), times))| {
        let [one, build, batch] = times else {
            anyhow::bail!("a step has three times");
        };
        let (net_bytes, peak_bytes) = *memory
            .get(&[series.name, &step.nodes.to_string(), step.scheme].map(str::to_owned))
            .with_context(|| format!("row {row}: memory was not counted"))?;
        Ok(Row {
            series,
            step: *step,
            size: placement
                .slot_owners()
                .map_or(placement.token_count(), <[u32]>::len),
            build,
            net_bytes,
            peak_bytes,
            one: one.ratio_to(hash),
            batch: batch.ratio_to(hash),
        })
    });
    let rows: Vec<Row<'_>> = rows.collect::<Result<_>>()?;

    let text = markdown(&machine, rounds, hash, &rows);
    fs::create_dir_all(&options.out)
        .with_context(|| format!("{}: cannot be made", options.out.display()))?;
    let write = |name: &str, text: &str| {
        let path = options.out.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())
    };
    write("scale.md", &text)?;
    for (name, title, of) in PLOTS {
        write(name, &plot(title, &lines(&rows, of))?)?;
    }
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Prints a line for each build, as the benchmark `placement` does: series, nodes, scheme, bytes held, most bytes.
pub(crate) fn memory(measure: Measure) -> Result<()> {
    drop(SERIES[0].steps[0].build()?);
    for series in &SERIES {
        for step in series.steps {
            let mut built = None;
            let (net, peak) = measure(&mut || built = step.build().ok());
            ensure!(built.is_some(), "{}: cannot be built", step.scheme);
            let Step { nodes, scheme, .. } = step;
            let name = series.name;
            writeln!(io::stdout(), "{name}\t{nodes}\t{scheme}\t{net}\t{peak}")?;
        }
    }
    Ok(())
}

impl Step {
    fn build(&self) -> Result<Placement> {
        let member = |number: usize| -> Result<Member> {
            let member = Member::new(NodeId::new(&format!("cache-{number}"))?);
            if !self.weighted {
                return Ok(member);
            }
            let weight = 1 + (number * 999 / (self.nodes - 1).max(1)) as u32;
            let weight = Weight::from_milli(weight * 1000).context("a weight of 1 to 1,000")?;
            Ok(member.with_weight(weight))
        };
        let members = (0..self.nodes).map(member).collect::<Result<Vec<_>>>()?;
        let scheme: Scheme = self.scheme.parse()?;
        Placement::build(&scheme, &Membership::new(members)?)
            .with_context(|| format!("{scheme} of {} nodes", self.nodes))
    }
}

fn builds(step: Step) -> Work<'static> {
    let mut built = None;
    Work {
        clock: Clock::Core,
        units: 1,
        run: Box::new(move |phase| {
            match phase {
                Phase::Before => drop(built.take()),
                Phase::Timed => built = Some(step.build()?),
            }
            std::hint::black_box(&built);
            Ok(())
        }),
    }
}

/// Look-ups of 100,000 keys, which are others each time, after as many that are not timed.
fn looks_up<'p>(
    keys: Keys,
    start: usize,
    sum: impl Fn(&mut dyn Iterator<Item = Key>) -> usize + 'p,
) -> Work<'p> {
    let mut place = start % (keys.len() / CHUNK) * CHUNK;
    Work {
        clock: Clock::Core,
        units: CHUNK as u64,
        run: Box::new(move |_| {
            let some: Vec<Key> = keys.range(place..place + CHUNK).collect();
            std::hint::black_box(sum(&mut some.into_iter()));
            place = (place + CHUNK) % keys.len();
            Ok(())
        }),
    }
}

const CHUNK: usize = 100_000;

/// What one placement costs.
struct Row<'t> {
    series: &'static Series,
    step: Step,
    /// Tokens or slots.
    size: usize,
    build: &'t Times,
    net_bytes: u64,
    peak_bytes: u64,
    one: f64,
    batch: f64,
}

/// A file, what it shows, and that of a row.
type Plot = (&'static str, &'static str, fn(&Row<'_>) -> f64);

const PLOTS: [Plot; 3] = [
    ("build.svg", "build, ms", |row| row.build.median() / 1e6),
    ("memory.svg", "memory, MB", |row| row.net_bytes as f64 / 1e6),
    ("look-up.svg", "look-up, times the hash", |row| row.one),
];

fn lines(rows: &[Row<'_>], of: fn(&Row<'_>) -> f64) -> Vec<Line> {
    let series = rows.chunk_by(|a, b| std::ptr::eq(a.series, b.series));
    series
        .map(|rows| Line {
            name: rows[0].series.name,
            points: rows.iter().map(|row| (row.size as f64, of(row))).collect(),
        })
        .collect()
}

fn markdown(machine: &Machine, rounds: usize, hash: &Times, rows: &[Row<'_>]) -> String {
    let Machine {
        name,
        commit,
        rustc,
        load,
    } = machine;
    let mut text = format!(
        "{name}; commit {commit}; {rustc}; load {load} before. {rounds} rounds; 100,000 keys of 20 bytes each time, \
         hash {:.1} ns ({:.1} to {:.1}).\n\n",
        hash.median(),
        hash.min(),
        hash.max()
    );
    let mut row = |cells: [String; 10]| line(&mut text, cells.into_iter());
    row([
        "placement",
        "nodes",
        "size",
        "build ms",
        "min",
        "max",
        "MB",
        "most MB",
        "look-up / hash",
        "batch / hash",
    ]
    .map(str::to_owned));
    row([
        "---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:",
    ]
    .map(str::to_owned));
    for it in rows {
        let ms = |ns: f64| format!("{:.2}", ns / 1e6);
        let mb = |bytes: u64| format!("{:.2}", bytes as f64 / 1e6);
        row([
            it.series.name.to_owned(),
            it.step.nodes.to_string(),
            format!("{} {}", it.size, it.series.unit),
            ms(it.build.median()),
            ms(it.build.min()),
            ms(it.build.max()),
            mb(it.net_bytes),
            mb(it.peak_bytes),
            format!("{:.2}", it.one),
            format!("{:.2}", it.batch),
        ]);
    }
    text.push_str(
        "\n| placement | sizes | build | memory | look-up |\n| --- | ---: | ---: | ---: | ---: |\n",
    );
    for rows in rows.chunk_by(|a, b| std::ptr::eq(a.series, b.series)) {
        let [first, .., last] = rows else {
            continue;
        };
        let power = |of: fn(&Row<'_>) -> f64| {
            (of(last) / of(first)).ln() / (last.size as f64 / first.size as f64).ln()
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {} to {} | size^{:.2} | size^{:.2} | size^{:.2} |",
            first.series.name,
            first.size,
            last.size,
            power(|row| row.build.median()),
            power(|row| row.net_bytes as f64),
            power(|row| row.one),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_named_apart_and_grow() {
        for series in &SERIES {
            let size = |step: &Step| {
                let (scheme, count) = step.scheme.split_once('=').unwrap();
                let count: usize = count.parse().unwrap();
                if scheme.starts_with("ring") {
                    step.nodes * count
                } else {
                    count
                }
            };
            let grows = series.steps.is_sorted_by(|a, b| size(a) < size(b));
            assert!(grows, "{}", series.name);
            let names = SERIES.iter().filter(|other| other.name == series.name);
            assert_eq!(names.count(), 1);
        }
    }
}
