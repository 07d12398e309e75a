//! Prints how even every scheme is: z of chi-square at sizes where range algorithms go wrong, as a Markdown table.
//!
//! z = (chi2 - d) / sqrt(2 d) with d = nodes - 1 compares counts of keys with the shares that the scheme itself states:
//! exact ones for rings, slots and Maglev, else those of the weights. Counts of random keys stay within 5. Two numbers
//! a cell: keys that are counters as text (`0`, `1`, …) hashed by the scheme, and random tokens.
//!
//! ```sh
//! cargo run --release -p clockwise --example uniformity            # 4,000,000 keys
//! cargo run --release -p clockwise --example uniformity -- 100000
//! ```
//!
//! A scheme that scores every node for every key gets fewer of them where there are many nodes, and the cell says so.

use std::io::{self, Write as _};

use clockwise::hash::Rng;
use clockwise::{HashedKey, Member, Membership, Placement, Scheme, Token};

const SIZES: [usize; 5] = [3, 9, 33, 129, 1025];

fn main() -> io::Result<()> {
    let keys = match std::env::args().nth(1) {
        None => 4_000_000,
        Some(text) => text.parse().map_err(io::Error::other)?,
    };
    let mut out = io::stdout().lock();
    write!(out, "| scheme |")?;
    for size in SIZES {
        write!(out, " {size} nodes |")?;
    }
    writeln!(out, "\n| --- |{}", " ---: |".repeat(SIZES.len()))?;
    for name in Scheme::names() {
        write!(out, "| {name} |")?;
        for size in SIZES {
            let placement = placement(name, size);
            // Every node is asked for every key, by a race or by MD5.
            let cost = match name {
                "rendezvous" => size,
                "articles/000-rendezvous" => 20 * size,
                _ => 1,
            };
            let fewer = (keys * 130 / cost.max(130)).max(200 * size).min(keys);
            let counters = counts(&placement, (0..fewer).map(|i| i.to_string().into_bytes()));
            write!(out, " {:.2}", z(&placement, &counters))?;
            if name != "articles/000-rendezvous" {
                write!(out, " / {:.2}", z(&placement, &random(&placement, fewer)))?;
            }
            if fewer < keys {
                write!(out, " ({fewer} keys)")?;
            }
            write!(out, " |")?;
            out.flush()?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn placement(name: &str, size: usize) -> Placement {
    let members =
        (0..size).map(|i| Member::new(format!("node-{i}").parse().expect("a plain name is an id")));
    let membership = Membership::new(members).expect("different ids");
    let scheme: Scheme = name.parse().expect("its own name");
    Placement::build(&scheme, &membership).expect("every scheme takes equal weights")
}

fn counts(placement: &Placement, keys: impl Iterator<Item = Vec<u8>>) -> Vec<u64> {
    let mut counts = vec![0; placement.members().len()];
    for key in keys {
        let owner = placement.owner_index(&placement.hash(&key));
        counts[owner.expect("members have weight")] += 1;
    }
    counts
}

fn random(placement: &Placement, keys: usize) -> Vec<u64> {
    let mut counts = vec![0; placement.members().len()];
    let mut rng = Rng::new(counts.len() as u64);
    for _ in 0..keys {
        let token = rng.next_u64() >> (64 - placement.scheme().token_bits());
        let owner = placement.owner_index(&HashedKey::of_token(Token(token)));
        counts[owner.expect("members have weight")] += 1;
    }
    counts
}

fn z(placement: &Placement, counts: &[u64]) -> f64 {
    let keys: u64 = counts.iter().sum();
    let shares: Vec<f64> = match placement.space_shares() {
        Some(shares) => shares.iter().map(|share| share.as_f64()).collect(),
        None => vec![1.0 / counts.len() as f64; counts.len()],
    };
    let square = |(&count, share): (&u64, f64)| {
        let expected = keys as f64 * share;
        (count as f64 - expected).powi(2) / expected
    };
    let chi2: f64 = counts.iter().zip(shares).map(square).sum();
    let freedom = (counts.len() - 1) as f64;
    (chi2 - freedom) / (2.0 * freedom).sqrt()
}
