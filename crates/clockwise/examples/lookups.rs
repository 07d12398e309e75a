//! Looks keys up and prints a sum, for tools that count instructions: `lookups NODES KEYS hash|one|batch [SCHEME]`.
//!
//! `hash` is the bare hash of the same keys, `one` looks them up one after the other, `batch` many at once. The
//! difference of two runs with different numbers of keys is what the keys cost.
#![expect(clippy::print_stdout, reason = "the sum is the output")]

use std::error::Error;
use std::hint::black_box;

use clockwise::hash::xxh3_64;
use clockwise::{Member, Membership, Placement, Scheme};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (nodes, keys, what, scheme) = match args.as_slice() {
        [nodes, keys, what] => (nodes, keys, what, "ring,tokens=160"),
        [nodes, keys, what, scheme] => (nodes, keys, what, scheme.as_str()),
        _ => return Err("usage: lookups NODES KEYS hash|one|batch [SCHEME]".into()),
    };
    let members = (0..nodes.parse::<u32>()?)
        .map(|number| Ok(Member::new(format!("cache-{number}").parse()?)))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let placement = Placement::build(&scheme.parse::<Scheme>()?, &Membership::new(members)?)?;

    let count = keys.parse::<usize>()?;
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for number in 0..MOST_KEYS {
        let number = number.wrapping_mul(2_654_435_761) % (1 << 33);
        bytes.extend_from_slice(format!("user:{number:010}:cart").as_bytes());
        ends.push(bytes.len());
    }
    let mut start = 0;
    let keys: Vec<&[u8]> = ends
        .into_iter()
        .map(|end| {
            let key = &bytes[start..end];
            start = end;
            key
        })
        .collect();
    // Keys whose lengths the compiler does not know.
    let keys = black_box(keys.as_slice()).get(..count);
    let keys = keys.ok_or_else(|| format!("{count} keys: at most {MOST_KEYS}"))?;
    let keys = keys.iter().copied();
    let sum = match what.as_str() {
        "hash" => keys.fold(0, |sum, key| sum ^ xxh3_64(key)),
        "one" => keys.fold(0, |sum, key| {
            match placement.owner_index(&placement.hash(key)) {
                Some(owner) => sum ^ owner as u64,
                None => sum,
            }
        }),
        "batch" => placement.owners(keys).fold(0, |sum, owner| {
            sum ^ owner.map_or(0, |member| std::ptr::from_ref(member).addr()) as u64
        }),
        _ => return Err(format!("{what}: must be hash, one or batch").into()),
    };
    println!("{sum}");
    Ok(())
}

/// Keys that are made, however few are looked up, so that making them does not count.
const MOST_KEYS: u64 = 60_000;
