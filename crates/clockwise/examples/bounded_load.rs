//! Prints what a bound on load costs, as Markdown tables: extra moves when a node dies, by the order in which a key
//! looks for room, and peaks and detours of a live simulation, by the factor.
//!
//! **A node dies.** 50 nodes, 20,000 items; every item is at the first node of its order whose load is below its cap,
//! items in ascending order of their tokens; then one node is taken away and all is placed anew. The number is load
//! that changed its node for each unit of load that was on the dead one, over ten nodes dying, each alone, on four rings
//! of other names. Orders: on along the ring; a new hash of the key and the owner of that place on the ring, and so on;
//! the order of rendezvous. Items are 20,000 keys of equal demand; or as many whose demand follows Zipf's law with
//! exponent 0.99, each placed whole; or 20,000 requests drawn from such keys, each placed by itself, as a live choice
//! without memory would.
//!
//! **Live.** 20 nodes in the order of rendezvous, keys drawn by Zipf's law with exponent 0.99 from 20,000. At each of
//! 100,000 steps a request begins beside 1,000 in flight, and a random one ends. The peak is the greatest load that any
//! node had at any time, over the mean; detours are requests that did not begin at their first node. Both are the mean of
//! eight sets of keys: how the few hottest ones fall decides much.
//!
//! ```sh
//! cargo run --release -p clockwise --example bounded_load
//! ```
//!
//! The numbers are exact: every run prints the same.

use std::io::{self, Write as _};

use clockwise::hash::{Rng, splitmix64};
use clockwise::{HashedKey, LoadBound, Member, Membership, Placement, Scheme, Token, Weight};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| 50 nodes, 20,000 items; a node dies | ring walk | new hash | rendezvous |"
    )?;
    writeln!(out, "| --- | ---: | ---: | ---: |")?;
    let mut rng = Rng::new(9);
    let even = || (0..ITEMS).map(|_| 1);
    let zipf = Zipf::new(ITEMS);
    let equal: Vec<Item> = even().map(|demand| (rng.next_u64(), demand)).collect();
    let whole = (0..ITEMS).map(|rank| (rng.next_u64(), zipf.millionths(rank)));
    let whole: Vec<Item> = whole.collect();
    let requests = zipf.draws(9, ITEMS).map(splitmix64);
    let requests: Vec<Item> = requests.zip(even()).collect();
    for (name, tokens, factor, items) in [
        ("one token a node, factor 1.25", 1, 1250, &equal),
        ("100 tokens a node, factor 1.1", 100, 1100, &equal),
        ("100 tokens a node, factor 1.25", 100, 1250, &equal),
        (
            "Zipf demand, keys whole, 100 tokens, factor 1.25",
            100,
            1250,
            &whole,
        ),
        (
            "Zipf demand, single requests, 100 tokens, factor 1.25",
            100,
            1250,
            &requests,
        ),
    ] {
        let factor = LoadBound::from_milli(factor).expect("a factor of 1 or more");
        let orders = [
            Order::Walk(tokens),
            Order::NewHash(tokens),
            Order::Rendezvous,
        ];
        let [walk, new_hash, rendezvous] = orders.map(|order| extra_moves(order, factor, items));
        writeln!(
            out,
            "| {name} | {walk:.2} | {new_hash:.2} | {rendezvous:.2} |"
        )?;
        out.flush()?;
    }
    writeln!(
        out,
        "\n| 20 nodes, Zipf 0.99, 1,000 in flight | peak / mean | detours |"
    )?;
    writeln!(out, "| --- | ---: | ---: |")?;
    for factor in [None, Some(2000), Some(1500), Some(1250), Some(1100)] {
        let bound = factor.and_then(LoadBound::from_milli);
        let runs = KEY_SETS.map(|set| live(bound, set));
        let mean =
            |part: fn(&(f64, f64)) -> f64| runs.iter().map(part).sum::<f64>() / runs.len() as f64;
        let (peak, detours) = (mean(|run| run.0), mean(|run| run.1));
        let name = factor.map_or("no bound".to_owned(), |milli| {
            format!("factor {}", f64::from(milli) / 1000.0)
        });
        writeln!(out, "| {name} | {peak:.2} | {:.1} % |", 100.0 * detours)?;
    }
    Ok(())
}

/// The order in which a key looks for room.
#[derive(Clone, Copy)]
enum Order {
    /// On along a ring of so many tokens a node.
    Walk(u32),
    /// The ring's owner of the key's token, of a new hash of it, and so on.
    NewHash(u32),
    Rendezvous,
}

/// Token and demand.
type Item = (u64, u64);

/// Load that changes its node for each unit of it that was on the node that dies.
fn extra_moves(order: Order, factor: LoadBound, items: &[Item]) -> f64 {
    let (mut moved, mut lost) = (0, 0);
    for ring in 0..4 {
        let nodes: Vec<usize> = (0..50).map(|node| 1000 * ring + node).collect();
        let before = assign(order, factor, items, &nodes);
        for &dead in nodes.iter().step_by(5) {
            let rest: Vec<usize> = nodes.iter().copied().filter(|&node| node != dead).collect();
            let after = assign(order, factor, items, &rest);
            for ((old, new), (_, demand)) in before.iter().zip(&after).zip(items) {
                moved += if old == new { 0 } else { *demand };
                lost += if *old == dead { *demand } else { 0 };
            }
        }
    }
    moved as f64 / lost as f64
}

/// The node of each item.
fn assign(order: Order, factor: LoadBound, items: &[Item], nodes: &[usize]) -> Vec<usize> {
    let scheme = match order {
        Order::Walk(tokens) | Order::NewHash(tokens) => format!("ring,tokens={tokens}"),
        Order::Rendezvous => "rendezvous".to_owned(),
    };
    let placement = placement(&scheme, nodes);
    let number = |index: usize| {
        let id = placement.members()[index].id().as_str();
        id[5..].parse().expect("a number behind node-")
    };
    if !matches!(order, Order::NewHash(_)) && items.iter().all(|&(_, demand)| demand == 1) {
        let keys: Vec<HashedKey<'_>> = items.iter().map(|&(token, _)| key(token)).collect();
        let assigned = placement.assign_bounded(&keys, factor);
        let node = |node: Option<usize>| number(node.expect("there is room"));
        return assigned.into_iter().map(node).collect();
    }
    let total = items.iter().map(|&(_, demand)| demand).sum();
    let cap = factor.cap(total, Weight::ONE, 1000 * nodes.len() as u64);
    let mut turns: Vec<usize> = (0..items.len()).collect();
    turns.sort_by_key(|&item| items[item].0);
    let mut loads = vec![0; nodes.len()];
    let mut assigned = vec![0; items.len()];
    for item in turns {
        let (mut token, demand) = items[item];
        let mut ranked = placement.ranked(&key(token), nodes.len());
        let node = loop {
            let node = match order {
                Order::NewHash(_) => placement.owner_index(&key(token)),
                _ => ranked.next_index(),
            };
            let node = node.expect("a node has room");
            if loads[node] < cap {
                break node;
            }
            token = splitmix64(token);
        };
        loads[node] += demand;
        assigned[item] = number(node);
    }
    assigned
}

/// The peak over the mean, and the share of requests that did not begin at their first node.
fn live(bound: Option<LoadBound>, set: u64) -> (f64, f64) {
    let placement = placement("rendezvous", &(0..20).collect::<Vec<usize>>());
    let mut ends = Rng::new(20);
    let (mut loads, mut in_flight) = ([0_u64; 20], Vec::new());
    let (mut peak, mut begun, mut detours) = (0, 0, 0);
    for rank in Zipf::new(ITEMS).draws(set, IN_FLIGHT + STEPS) {
        let key = key(splitmix64(splitmix64(set) ^ rank));
        let first = placement.owner_index(&key).expect("members have weight");
        let node = match bound {
            None => first,
            Some(bound) => placement
                .bounded_owner(&key, bound, |node| Some(loads[node]))
                .expect("members have weight"),
        };
        loads[node] += 1;
        in_flight.push(node);
        if in_flight.len() > IN_FLIGHT {
            begun += 1;
            detours += u32::from(node != first);
            peak = peak.max(loads[node]);
            let ended = ends.uniform(in_flight.len() as u32) as usize;
            loads[in_flight.swap_remove(ended)] -= 1;
        }
    }
    let mean = IN_FLIGHT as f64 / loads.len() as f64;
    (peak as f64 / mean, f64::from(detours) / f64::from(begun))
}

fn placement(scheme: &str, nodes: &[usize]) -> Placement {
    let member = |node: &usize| {
        Member::new(
            format!("node-{node}")
                .parse()
                .expect("a plain name is an id"),
        )
    };
    let membership = Membership::new(nodes.iter().map(member)).expect("different ids");
    let scheme: Scheme = scheme.parse().expect("a scheme");
    Placement::build(&scheme, &membership).expect("every scheme takes equal weights")
}

fn key(token: u64) -> HashedKey<'static> {
    HashedKey::of_token(Token(token))
}

/// Ranks from 0 up, each with a chance that falls as 1 / (rank + 1)^0.99.
struct Zipf {
    up_to: Vec<f64>,
}

impl Zipf {
    fn new(ranks: usize) -> Self {
        let mut sum = 0.0;
        let up_to = (0..ranks).map(|rank| {
            sum += (rank as f64 + 1.0).powf(-0.99);
            sum
        });
        Self {
            up_to: up_to.collect(),
        }
    }

    /// The chance of a rank in millionths of the first one's.
    fn millionths(&self, rank: usize) -> u64 {
        let below = rank.checked_sub(1).map_or(0.0, |below| self.up_to[below]);
        (1e6 * (self.up_to[rank] - below)) as u64
    }

    fn draws(&self, seed: u64, count: usize) -> impl Iterator<Item = u64> {
        let mut rng = Rng::new(seed);
        let all = self.up_to.last().copied().unwrap_or_default();
        (0..count).map(move |_| {
            let at = rng.next_u64() as f64 / 2_f64.powi(64) * all;
            self.up_to.partition_point(|&sum| sum < at) as u64
        })
    }
}

const ITEMS: usize = 20_000;
const IN_FLIGHT: usize = 1000;
const STEPS: usize = 100_000;
const KEY_SETS: [u64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
