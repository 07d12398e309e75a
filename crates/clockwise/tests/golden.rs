//! Every file of `vectors/` against the library: what a file says, the library must answer, to the last bit.

mod support;

#[path = "golden/articles.rs"]
mod articles;
#[path = "golden/own.rs"]
mod own;

use std::num::NonZeroU32;

use clockwise::hash::{self, KeyHash};
use clockwise::{
    HashedKey, Membership, NodeId, Placement, Slot, Token, jump, jumpback, neg_log2, node_hash,
    redis_slot,
};
use serde_json::Value;
use support::{array, build, crc_of, hex_bytes, hex_number, member, number, scheme, text, vectors};

#[test]
fn every_hash_gives_the_values_of_hash_functions_json() {
    let file = vectors("hash_functions.json");
    let columns: Vec<&str> = array(&file["columns"]).iter().map(text).collect();
    let sequence: [u8; 16] = core::array::from_fn(|i| i as u8);
    let mut checked = std::collections::BTreeMap::new();
    for row in array(&file["vectors"]) {
        let bytes = hex_bytes(&row[0]);
        let bytes = bytes.as_slice();
        for (column, value) in columns.iter().zip(array(row)).skip(1) {
            let named = |hash: KeyHash| number_hex(hash.hash(&[0; 16], bytes), hash.bits());
            let ours = match *column {
                "fnv1_32" => number_hex(hash::fnv1_32(bytes).into(), 32),
                "fnv1a_32" => named(KeyHash::Fnv1a32),
                "fnv1_64" => number_hex(hash::fnv1_64(bytes), 64),
                "fnv1a_64" => named(KeyHash::Fnv1a64),
                "md5" => digits(&hash::md5(bytes)),
                "md5_be8" => named(KeyHash::Md5Be64),
                "sha1" => {
                    let digest = digits(&hash::sha1(bytes));
                    assert_eq!(named(KeyHash::Sha1Be64), digest[..16]);
                    digest
                }
                "crc16_xmodem" => named(KeyHash::Crc16),
                "crc32" => named(KeyHash::Crc32),
                "murmur3_32_seed0" => named(KeyHash::Murmur3X86),
                "murmur3_32_seed1" => number_hex(hash::murmur3_x86_32(bytes, 1).into(), 32),
                "murmur3_x64_128_seed0" => {
                    let (low, high) = hash::murmur3_x64_128(bytes, 0);
                    assert_eq!(named(KeyHash::Murmur3X64), number_hex(low, 64));
                    format!("{low:016x} {high:016x}")
                }
                "xxh64_seed0" => named(KeyHash::Xxh64),
                "xxh64_seed1" => number_hex(hash::xxh64(bytes, 1), 64),
                "xxh3_64" => named(KeyHash::Xxh3),
                "siphash13_k0" => named(KeyHash::SipHash13),
                "siphash24_k0" => named(KeyHash::SipHash24),
                "siphash13_kseq" => number_hex(hash::siphash_1_3(&sequence, bytes), 64),
                "siphash24_kseq" => number_hex(hash::siphash_2_4(&sequence, bytes), 64),
                _ => continue,
            };
            assert_eq!(ours, text(value), "{column} of {}", row[0]);
            *checked.entry(*column).or_insert(0) += 1;
        }
    }
    assert_eq!(checked.len(), 19, "columns: {checked:?}");
    assert!(checked.values().all(|&inputs| inputs == 167), "{checked:?}");
}

#[test]
fn mixers_and_generator_give_the_values_of_hash_mixers_json() {
    let file = vectors("hash_mixers.json");
    let mut checked = 0;
    for row in array(&file["fmix32"]) {
        let z = hex_number(&row[0]) as u32;
        assert_eq!(
            u64::from(hash::fmix32(z)),
            hex_number(&row[1]),
            "fmix32({z:08x})"
        );
        checked += 1;
    }
    for row in array(&file["fmix64"]) {
        let z = hex_number(&row[0]);
        assert_eq!(hash::fmix64(z), hex_number(&row[1]), "fmix64({z:016x})");
        checked += 1;
    }
    for row in array(&file["splitmix64"]) {
        let seed = hex_number(&row[0]);
        let mut rng = hash::Rng::new(seed);
        assert_eq!(hash::splitmix64(seed), hex_number(&row[1][0]));
        for output in array(&row[1]) {
            assert_eq!(rng.next_u64(), hex_number(output), "seed {seed:016x}");
            checked += 1;
        }
    }
    assert_eq!(checked, 29 + 30 + 25);
}

#[test]
fn jump_gives_the_buckets_of_jump_json() {
    let file = vectors("jump.json");
    let mut checked = 0;
    for row in array(&file["keys"]) {
        let key = hex_number(&row[0]);
        for (buckets, bucket) in array(&file["buckets"]).iter().zip(array(&row[1])) {
            let buckets = NonZeroU32::new(number(buckets) as u32).expect("at least one bucket");
            assert_eq!(
                u64::from(jump(key, buckets)),
                number(bucket),
                "jump({key:016x}, {buckets})"
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 1708);
}

#[test]
fn redis_slots_are_those_of_redis_slots_json() {
    let file = vectors("redis_slots.json");
    let placement = build("redis-cluster", &support::nodes(3));
    let whole = array(&file["keys"])
        .iter()
        .map(|row| (text(&row[0]).as_bytes().to_vec(), &row[1]));
    let binary = array(&file["keys_hex"])
        .iter()
        .map(|row| (hex_bytes(&row[0]), &row[1]));
    let mut checked = 0;
    for (key, slot) in whole.chain(binary) {
        let slot = Slot(number(slot) as u32);
        assert_eq!(redis_slot(&key), slot, "{key:02x?}");
        assert_eq!(placement.slot_of_token(placement.token(&key)), Some(slot));
        assert_eq!(placement.owner(&key), placement.owner_of_slot(slot));
        checked += 1;
    }
    assert_eq!(checked, 797);
}

#[test]
fn our_own_schemes_place_keys_as_placement_json_says() {
    let file = vectors("placement.json");
    primitives(&file);
    let keys = hashed_keys(&file["hashed_keys"]);
    let checked = [
        own::ranges(&file["jump"], &keys, jump),
        own::ranges(&file["jumpback"], &keys, jumpback),
        own::probed(&file["probed"], &keys),
        own::rank(&file, &keys),
        own::replica_sets(&file["replica_sets"], &keys),
        own::bounded(&file["bounded"], &keys),
    ];
    assert_eq!(checked, [8, 9, 5, 10 + 2 + 4, 12, 4]);
    for case in array(&file["ring_tokens"]) {
        let (placement, listing) = listed(case);
        let tokens: Vec<(u64, u32)> = placement
            .tokens()
            .map(|(token, member)| (token.0, place_in(&listing, member.id().as_str())))
            .collect();
        let wanted: Vec<(u64, u32)> = array(&case["tokens"])
            .iter()
            .map(|row| (hex_number(&row[0]), number(&row[1]) as u32))
            .collect();
        assert_eq!(tokens, wanted);
    }
    for case in array(&file["slot_tables"]) {
        let (placement, listing) = listed(case);
        let table = slot_table(&placement, &listing);
        assert_eq!(
            table[..table.len().min(16)],
            numbers(&case["first"]),
            "{}",
            case["name"]
        );
        let slots: Vec<u32> = (0..listing.len() as u32)
            .map(|node| table.iter().filter(|&&owner| owner == node).count() as u32)
            .collect();
        assert_eq!(slots, numbers(&case["slots"]), "{}", case["name"]);
        assert_eq!(
            crc_of(table),
            hex_number(&case["crc32"]),
            "{}",
            case["name"]
        );
        assert_checksum(&placement, case);
    }
    array(&file["least_movement"])
        .iter()
        .for_each(least_movement);
    for case in array(&file["owners"]) {
        owners_of_hashed_keys(case, &keys);
    }
    array(&file["text_keys"])
        .iter()
        .for_each(ranks_of_text_keys);
    let cases = ["slot_tables", "least_movement", "owners", "text_keys"];
    assert_eq!(cases.map(|part| array(&file[part]).len()), [16, 4, 23, 24]);
}

fn primitives(file: &Value) {
    for row in array(&file["mix"]) {
        assert_eq!(hash::mix(hex_number(&row[0])), hex_number(&row[1]));
    }
    for row in array(&file["node_hash"]) {
        // The empty text is no id, but its hash is written down as well.
        let hash = match text(&row[0]) {
            "" => hash::splitmix64(hash::xxh3_64(b"")),
            id => node_hash(&id.parse().expect("an id")),
        };
        assert_eq!(hash, hex_number(&row[1]), "node hash of {}", row[0]);
    }
    for row in array(&file["neg_log2"]) {
        assert_eq!(
            neg_log2(hex_number(&row[0])),
            hex_number(&row[1]),
            "{}",
            row[0]
        );
    }
}

fn hashed_keys(form: &Value) -> Vec<u64> {
    let mut rng = hash::Rng::new(number(&form["seed"]));
    let keys: Vec<u64> = (0..number(&form["count"]))
        .map(|_| rng.next_u64())
        .collect();
    let first: Vec<u64> = array(&form["first"]).iter().map(hex_number).collect();
    assert_eq!(keys[..5], first);
    keys
}

fn least_movement(case: &Value) {
    let scheme = scheme(text(&case["scheme"]));
    let (before, after) = (membership(&case["before"]), membership(&case["after"]));
    let old = Placement::build(&scheme, &before).expect("a membership the scheme takes");
    let new = old
        .least_movement(&after)
        .expect("a membership the scheme takes");
    let ids: Vec<&str> = after.members().iter().map(|m| m.id().as_str()).collect();
    let slots = scheme.slot_count().expect("a scheme of slots");
    let owner_of = |placement: &Placement, slot| -> NodeId {
        placement
            .owner_of_slot(slot)
            .expect("an owner")
            .id()
            .clone()
    };
    let moved = (0..slots)
        .map(Slot)
        .filter(|&slot| owner_of(&old, slot) != owner_of(&new, slot))
        .count();
    assert_eq!(moved as u64, number(&case["moved"]), "{}", case["name"]);
    let table = slot_table(&new, &ids);
    assert_eq!(
        crc_of(table),
        hex_number(&case["crc32"]),
        "{}",
        case["name"]
    );
    assert_checksum(&new, case);
}

fn owners_of_hashed_keys(case: &Value, keys: &[u64]) {
    let (placement, listing) = listed(case);
    let place: Vec<u32> = placement
        .members()
        .iter()
        .map(|member| place_in(&listing, member.id().as_str()))
        .collect();
    let each = number(&case["each"]) as usize;
    let mut answers = Vec::new();
    for &key in keys {
        let mut ranked = placement.ranked(&HashedKey::of_token(Token(key)), each);
        while let Some(node) = ranked.next_index() {
            answers.push(place[node]);
        }
    }
    assert_eq!(answers[..16], numbers(&case["first"]), "{}", case["name"]);
    assert_eq!(
        crc_of(answers),
        hex_number(&case["crc32"]),
        "{}",
        case["name"]
    );
    assert_checksum(&placement, case);
}

fn ranks_of_text_keys(case: &Value) {
    let (placement, listing) = listed(case);
    assert_checksum(&placement, case);
    for row in array(&case["keys"]) {
        let key = hex_bytes(&row[0]);
        let token = placement.token(&key);
        assert_eq!(token.0, hex_number(&row[1]), "{}: {}", case["name"], row[0]);
        let ranked: Vec<u32> = placement
            .replicas(&key, usize::MAX)
            .map(|member| place_in(&listing, member.id().as_str()))
            .collect();
        assert_eq!(ranked, numbers(&row[2]), "{}: {}", case["name"], row[0]);
        assert_eq!(
            placement
                .owner(&key)
                .map(|m| place_in(&listing, m.id().as_str())),
            ranked.first().copied()
        );
    }
}

/// The case's placement, and its ids in listing order.
fn listed(case: &Value) -> (Placement, Vec<&str>) {
    let mut scheme = scheme(text(&case["scheme"]));
    assert_eq!(scheme.to_string(), text(&case["scheme"]));
    if let Some(secret) = case["secret_hex"].as_str() {
        scheme = scheme
            .with_secret(secret.parse().expect("a secret"))
            .expect("the secret that the scheme names");
    }
    let placement = Placement::build(&scheme, &membership(&case["nodes"]))
        .unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
    let ids = array(&case["nodes"])
        .iter()
        .map(|row| text(&row[0]))
        .collect();
    (placement, ids)
}

fn membership(nodes: &Value) -> Membership {
    Membership::new(
        array(nodes)
            .iter()
            .map(|row| member(text(&row[0]), number(&row[1]) as u32)),
    )
    .expect("different ids")
}

fn slot_table(placement: &Placement, listing: &[&str]) -> Vec<u32> {
    let owners = placement.slot_owners().expect("a scheme of slots");
    owners
        .iter()
        .map(|&node| place_in(listing, placement.members()[node as usize].id().as_str()))
        .collect()
}

fn place_in(listing: &[&str], id: &str) -> u32 {
    listing
        .iter()
        .position(|&other| other == id)
        .expect("a listed id") as u32
}

fn assert_checksum(placement: &Placement, case: &Value) {
    let checksum = placement.placement_checksum().to_string();
    assert_eq!(checksum, text(&case["checksum"]), "{}", case["name"]);
}

fn numbers(value: &Value) -> Vec<u32> {
    array(value).iter().map(|n| number(n) as u32).collect()
}

fn number_hex(value: u64, bits: u32) -> String {
    Token(value).to_hex(bits)
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
