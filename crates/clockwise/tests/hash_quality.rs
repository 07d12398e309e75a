//! Every key hash measured: avalanche and clumping agree with what the library says of it, and one hash does not serve
//! two decisions.

mod quality;
mod support;

use clockwise::hash::{KeyHash, fnv1a_64};
use clockwise::{HashedKey, Placement};
use quality::{FAMILIES, Quality};
use support::{build, chi_square_z, nodes};

#[test]
fn a_hash_mixes_well_exactly_if_the_library_says_so() {
    for hash in KeyHash::ALL {
        let quality = Quality::of(hash);
        assert_eq!(
            quality.mixes_well(),
            hash.mixes_well(),
            "{hash}: {quality:?}"
        );
        if hash.mixes_well() {
            // Nothing near the bounds: 4 % are five errors of the worst share.
            assert!(quality.worst_flip < 0.04, "{hash}: {quality:?}");
        } else {
            // A bit that always flips, or never.
            assert!(quality.worst_flip > 0.49, "{hash}: {quality:?}");
        }
    }
}

#[test]
fn raw_fnv_clumps_on_names_that_differ_in_their_last_characters() {
    for hash in [KeyHash::Fnv1a64, KeyHash::Fnv1a32, KeyHash::Fnv1a32Utf16] {
        let quality = Quality::of(hash);
        let clumped = quality.clumping.iter().filter(|&&z| z > 5.0).count();
        assert!(clumped >= 3, "{hash}: {quality:?}");
    }
    // The last digit reaches 44 bits, and the one before it some ten more: 90 labels of one node lie within a thousandth
    // of the space.
    let tokens: Vec<u64> = (10..100)
        .map(|j| fnv1a_64(format!("node-3#{j}").as_bytes()))
        .collect();
    let (least, most) = (tokens.iter().min(), tokens.iter().max());
    let span = most.expect("tokens") - least.expect("tokens");
    assert!(span < 1 << 54, "{span:016x}");
    assert_eq!(FAMILIES[0].name, "node-3#0 …");
}

/// How many keys of the third of ten shards each of five nodes gets, and z of that against the nodes' own shares.
fn second_level(first: &Placement, second: &Placement) -> (Vec<u64>, f64) {
    let mut counts = vec![0_u64; second.members().len()];
    let mut in_shard = 0;
    for key in 0..400_000_u32 {
        let key = format!("order:{key}");
        let on_shard = |placement: &Placement| {
            let key: HashedKey<'_> = placement.hash(key.as_bytes());
            placement.owner_index(&key).expect("an owner")
        };
        if on_shard(first) == 3 {
            counts[on_shard(second)] += 1;
            in_shard += 1;
        }
    }
    assert!(in_shard > 10_000);
    let shares: Vec<f64> = match second.space_shares() {
        Some(shares) => shares.iter().map(|share| share.as_f64()).collect(),
        None => vec![1.0 / counts.len() as f64; counts.len()],
    };
    let z = chi_square_z(&counts, &shares);
    (counts, z)
}

#[test]
fn a_second_decision_on_the_same_hash_is_uneven_and_on_another_layer_even() {
    for name in [
        "slots",
        "ring",
        "rendezvous",
        "jump",
        "jumpback",
        "modulo",
        "maglev",
        "probed",
        "rank",
    ] {
        let shards = build(name, &nodes(10));
        let (counts, z) = second_level(&shards, &build(name, &nodes(5)));
        // Nearly all keys of the shard go to one node: that they are there says how they were hashed.
        let most = counts.iter().max().expect("nodes");
        let all: u64 = counts.iter().sum();
        assert!(
            100 * most > 98 * all && z > 100.0,
            "{name}: {counts:?}, z = {z:.1}"
        );

        let (counts, z) = second_level(&shards, &build(&format!("{name},layer=1"), &nodes(5)));
        assert!(z.abs() < 5.0, "{name}, layer 1: {counts:?}, z = {z:.1}");
        // The third level is even within the second as well.
        let layers = [1, 2].map(|layer| build(&format!("{name},layer={layer}"), &nodes(10)));
        let (counts, z) = second_level(&layers[0], &layers[1]);
        assert!(
            z.abs() < 5.0,
            "{name}, layers 1 and 2: {counts:?}, z = {z:.1}"
        );
    }
}
