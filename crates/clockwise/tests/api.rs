//! What callers lean on besides owners: key rules, secrets, batches, counts, tables and the list behind a placement.

mod support;

use clockwise::{
    Algorithm, BuildError, HashedKey, KeyRule, Placement, SecretKey, Share, Slot, Token, Weight,
};
use support::{build, member, members, nodes, owner, scheme, weighted_nodes};

const TAGGED: [&[u8]; 3] = [b"{user:1}.cart", b"{user:1}.likes", b"x{user:1}"];

fn every_scheme() -> impl Iterator<Item = &'static str> {
    clockwise::Scheme::names()
}

#[test]
fn a_key_rule_cuts_the_key_before_it_is_hashed_and_outlives_changes() {
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
        let whole = build(name, &nodes(50));
        assert_eq!(whole.key_rule(), KeyRule::Whole);
        let tagged = whole
            .clone()
            .with_key_rule(KeyRule::RedisTag)
            .expect("a free rule");
        for key in TAGGED {
            assert_eq!(tagged.token(key), whole.token(b"user:1"), "{name}");
            assert_eq!(tagged.owner(key), whole.owner(b"user:1"), "{name}");
        }
        assert!(!tagged.hashes_like(&whole));
        let last = "node-49".parse().expect("an id");
        for changed in [
            tagged.with_member(member("node-50", 1000)),
            tagged.without_member(&last),
            tagged.least_movement(&nodes(60)),
        ] {
            let changed = changed.expect("a change that the scheme takes");
            assert_eq!(changed.key_rule(), KeyRule::RedisTag, "{name}");
            assert!(changed.hashes_like(&tagged), "{name}");
        }
    }
}

#[test]
fn a_scheme_with_its_own_key_rule_takes_no_other() {
    let cluster = build("redis-cluster", &nodes(3));
    assert_eq!(cluster.key_rule(), KeyRule::RedisTag);
    assert!(cluster.clone().with_key_rule(KeyRule::RedisTag).is_ok());
    let refused = cluster.with_key_rule(KeyRule::Whole).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "scheme redis-cluster has the key rule redis-tag: it cannot take whole"
    );
    for name in every_scheme().filter(|name| name.starts_with("articles/")) {
        let placement = build(name, &nodes(3));
        assert_eq!(placement.scheme().own_key_rule(), Some(KeyRule::Whole));
        assert!(
            placement.with_key_rule(KeyRule::RedisTag).is_err(),
            "{name}"
        );
    }
}

#[test]
fn a_keyed_hash_needs_its_secret_and_follows_it() {
    let keyed = scheme("ring/siphash-2-4");
    let refused = Placement::build(&keyed, &nodes(3)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "scheme ring: the hash siphash-2-4 needs a key"
    );
    let with = |byte: u8| {
        let scheme = keyed
            .clone()
            .with_secret(SecretKey::new([byte; 16]))
            .expect("a keyed hash");
        Placement::build(&scheme, &nodes(3)).expect("a secret is there")
    };
    let (one, other) = (with(171), with(172));
    assert!(!one.hashes_like(&other) && one.hashes_like(&with(171)));
    assert_ne!(one.token(b"user:1"), other.token(b"user:1"));
    assert_ne!(one.placement_checksum(), other.placement_checksum());
    // The secret guards keys; a node's own tokens do not depend on it.
    assert!(one.tokens().eq(other.tokens()));
    let larger = one.with_member(member("node-3", 1000)).expect("four nodes");
    assert_eq!(larger.token(b"user:1"), one.token(b"user:1"));
    assert!(
        !format!("{one:?}").contains("171, 171"),
        "the secret is in the debug output"
    );
}

#[test]
fn a_hashed_key_serves_every_placement_that_hashes_alike() {
    let (nine, ten) = (build("ring", &nodes(9)), build("rendezvous", &nodes(10)));
    assert!(nine.hashes_like(&ten));
    let key = nine.hash(b"user:1");
    assert_eq!(key.token(), nine.token(b"user:1"));
    for placement in [&nine, &ten] {
        let index = placement.owner_index(&key).expect("an owner");
        assert_eq!(
            Some(&placement.members()[index]),
            placement.owner(b"user:1")
        );
        assert_eq!(
            placement.owner_of_token(key.token()),
            placement.owner(b"user:1")
        );
        assert!(
            placement
                .ranked(&key, 3)
                .eq(placement.replicas(b"user:1", 3))
        );
    }
    // Article 000's rendezvous hashes the key's bytes again, so a token alone is no key to it.
    let text = build("articles/000-rendezvous", &nodes(3));
    assert_eq!(text.owner_of_token(text.token(b"user:1")), None);
}

#[test]
fn a_batch_assigns_every_key_and_its_counts_sum_to_the_keys() {
    let keys: Vec<String> = (0..5000).map(|i| format!("key:{i}")).collect();
    let bytes = || keys.iter().map(String::as_bytes);
    for name in every_scheme() {
        let placement = build(name, &nodes(6));
        let counts = placement.count_by_owner(bytes());
        assert_eq!(
            (counts.len(), counts.iter().sum::<u64>()),
            (6, 5000),
            "{name}"
        );
        let owners: Vec<_> = placement
            .owners(bytes())
            .map(|o| o.expect("an owner"))
            .collect();
        for (key, owner) in keys.iter().zip(&owners) {
            assert_eq!(placement.owner(key.as_bytes()), Some(*owner), "{name}");
        }
        for (member, count) in placement.members().iter().zip(counts) {
            let own = owners.iter().filter(|owner| **owner == member).count();
            assert_eq!(own as u64, count, "{name}");
        }
    }
}

#[test]
fn a_placement_shows_the_table_that_its_scheme_has_and_no_other() {
    for name in every_scheme() {
        let placement = build(name, &nodes(5));
        let scheme = placement.scheme();
        let (ring, slots, numbered) = match scheme.algorithm() {
            Algorithm::Ring => (true, false, false),
            Algorithm::Slots | Algorithm::RedisCluster | Algorithm::Maglev => (false, true, false),
            Algorithm::Jump
            | Algorithm::JumpBack
            | Algorithm::Modulo
            | Algorithm::Probed
            | Algorithm::Rank => (false, false, true),
            _ => (false, false, false),
        };
        assert_eq!(placement.token_count() > 0, ring, "{name}");
        assert_eq!(
            placement.tokens().count(),
            placement.token_count(),
            "{name}"
        );
        assert_eq!(scheme.tokens().is_some(), ring, "{name}");
        assert_eq!(placement.slot_owners().is_some(), slots, "{name}");
        assert_eq!(placement.slot_of_token(Token(0)).is_some(), slots, "{name}");
        assert_eq!(placement.owner_of_slot(Slot(0)).is_some(), slots, "{name}");
        assert_eq!(scheme.slot_count().is_some(), slots, "{name}");
        assert_eq!(placement.buckets().is_some(), numbered, "{name}");
        assert_eq!(placement.space_shares().is_some(), ring || slots, "{name}");
        if let Some(shares) = placement.space_shares() {
            let whole = shares[0].whole;
            assert_eq!(
                shares.iter().map(|share| share.part).sum::<u128>(),
                whole,
                "{name}"
            );
            assert!(
                Some(whole) == scheme.slot_count().map(u128::from)
                    || whole == 1 << scheme.token_bits(),
                "{name}"
            );
        }
        assert!(placement.memory_bytes() > 0, "{name}");
        assert!(
            build(name, &nodes(50)).memory_bytes() >= placement.memory_bytes(),
            "{name}"
        );
    }
    assert!((Share { part: 1, whole: 4 }.as_f64() - 0.25).abs() < f64::EPSILON);
    // 27 bytes a token: 8 for itself, 2 for its owner, 4 for walks, 13 for the index.
    let ring = build("ring", &nodes(10));
    assert!(
        ring.memory_bytes() < 28 * ring.token_count(),
        "{}",
        ring.memory_bytes()
    );
}

#[test]
fn the_list_behind_a_placement_keeps_bucket_order_where_it_counts() {
    let listing = members([("c", 1000), ("a", 1000), ("b", 1000)]);
    for name in every_scheme() {
        let placement = build(name, &listing);
        let ids = |list: &[clockwise::Member]| -> Vec<String> {
            list.iter().map(|m| m.id().to_string()).collect()
        };
        assert_eq!(ids(placement.members()), ["a", "b", "c"], "{name}");
        let kept = if placement.scheme().is_numbered() {
            ["c", "a", "b"]
        } else {
            ["a", "b", "c"]
        };
        assert_eq!(ids(placement.membership().members()), kept, "{name}");
        let same = build(name, &placement.membership());
        assert_eq!(
            same.placement_checksum(),
            placement.placement_checksum(),
            "{name}"
        );
    }
    let jump = build("jump", &listing);
    assert_eq!(jump.buckets(), Some(&[2, 0, 1][..]));
    let grown = jump.with_member(member("aa", 1000)).expect("four nodes");
    assert_eq!(grown.membership().members()[3].id().as_str(), "aa");
}

#[test]
fn a_weight_changes_by_id_and_shows_in_the_members() {
    let before = build("rendezvous", &weighted_nodes(3, |_| 1000));
    let id = "node-1".parse().expect("an id");
    let after = before.with_weight(&id, Weight::ZERO).expect("a member");
    assert_eq!(after.members()[1].weight(), Weight::ZERO);
    assert_eq!(before.members()[1].weight(), Weight::ONE);
    assert_ne!(before.placement_checksum(), after.placement_checksum());
    for i in 0..1000 {
        assert_ne!(owner(&after, format!("sess:{i}").as_bytes()), "node-1");
    }
    let jump = build("jump", &nodes(3));
    let refused = jump.with_weight(&id, Weight::ZERO).unwrap_err();
    assert!(
        matches!(refused, BuildError::UnequalWeights { .. }),
        "{refused}"
    );
}

#[test]
fn a_table_of_history_is_told_apart_by_its_checksum() {
    let ten = build("slots", &nodes(10));
    let fresh = build("slots", &nodes(11));
    let followed = ten.least_movement(&nodes(11)).expect("eleven nodes");
    assert_ne!(fresh.placement_checksum(), followed.placement_checksum());
    let text = followed.placement_checksum().to_string();
    assert!(
        text.starts_with("sha256:") && text.len() == 7 + 64,
        "{text}"
    );
}

#[test]
fn numbered_ranges_refuse_to_lose_a_middle_bucket_before_anything_is_built() {
    let list = nodes(4);
    for name in ["jump", "jumpback", "probed", "rank", "articles/003-jump"] {
        let numbered = scheme(name);
        let place = |id: &str| numbered.allows_removal(&list, &id.parse().expect("an id"));
        assert!(
            place("node-3").is_ok() && place("unknown").is_ok(),
            "{name}"
        );
        let Err(BuildError::MiddleBucket { cost, .. }) = place("node-0") else {
            panic!("{name}: the first of four buckets may not go")
        };
        assert_eq!((cost.bucket, cost.buckets), (0, 4), "{name}");
        // Without bucket 0 a key keeps its node only out of bucket 3, if it draws that node's new bucket among three.
        assert!((cost.moved_share - (1.0 - 1.0 / 12.0)).abs() < 1e-12);
        assert!((cost.owned_share - 0.25).abs() < 1e-12);
    }
    // With weights the buckets are slots: node-1 holds the second to the fourth of six, the last of which is closed.
    let weighted = weighted_nodes(4, |i| [1000, 3000, 1000, 0][i]);
    let id = "node-1".parse().expect("an id");
    let Err(BuildError::MiddleBucket { cost, .. }) = scheme("rank").allows_removal(&weighted, &id)
    else {
        panic!("a middle node may not go")
    };
    assert_eq!((cost.bucket, cost.buckets), (1, 6));
    assert!((cost.owned_share - 0.6).abs() < 1e-12);
    for name in ["modulo", "redis-cluster", "ring", "slots", "maglev"] {
        let id = "node-0".parse().expect("an id");
        assert!(scheme(name).allows_removal(&list, &id).is_ok(), "{name}");
    }
}

#[test]
fn a_scheme_takes_the_parameters_that_it_lists_and_no_others() {
    let digest = "be45cb2605bf36bbebde684841a28f0fd43c69850a3dce5fedba69928ee3a8991";
    let values = [
        ("count", "64"),
        ("key_sha256", &digest[..64]),
        ("layer", "3"),
        ("size", "251"),
        ("tokens", "7"),
    ];
    let keyed = ["slots/siphash-2-4", "ring/siphash-1-3", "modulo/crc-32"];
    for text in every_scheme().chain(keyed) {
        let scheme = scheme(text);
        for (name, value) in values {
            let value = if scheme.token_bits() < 64 && name == "layer" {
                "0"
            } else {
                value
            };
            let takes = scheme.clone().with_parameter(name, value).is_ok();
            assert_eq!(takes, scheme.parameters().contains(&name), "{text}, {name}");
        }
        assert!(scheme.parameters().is_sorted(), "{text}");
    }
    assert_eq!(
        scheme("modulo/crc-32")
            .with_parameter("layer", "1")
            .unwrap_err()
            .to_string(),
        "scheme modulo: layer must be 0 with a hash of fewer than 64 bits, not \"1\""
    );
}

#[test]
fn tokens_are_alike_whatever_the_key_rule() {
    let whole = build("ring", &nodes(3));
    let tagged = whole
        .clone()
        .with_key_rule(KeyRule::RedisTag)
        .expect("a free rule");
    assert!(whole.tokens_like(&tagged) && !whole.hashes_like(&tagged));
    for other in ["ring/xxh64", "ring,layer=1", "articles/000-ring"] {
        assert!(!whole.tokens_like(&build(other, &nodes(3))), "{other}");
    }
    assert!(whole.tokens_like(&build("slots,count=7", &nodes(3))));
}

#[test]
fn a_ranking_can_be_cut_off_and_taken_up_again() {
    let placement = build("slots", &nodes(5));
    let mut first = placement.replicas(b"user:1", 5);
    let head: Vec<usize> = std::iter::from_fn(|| first.next_index()).take(2).collect();
    let saved = first.clone();
    let tail: Vec<usize> = std::iter::from_fn(|| first.next_index()).collect();
    let again: Vec<_> = saved.map(|m| m.id().to_string()).collect();
    assert_eq!(
        again,
        tail.iter()
            .map(|&i| format!("node-{i}"))
            .collect::<Vec<_>>()
    );
    let whole = placement.ranked(&HashedKey::of_token(placement.token(b"user:1")), 5);
    let whole: Vec<usize> = whole
        .map(|m| m.id().as_str()[5..].parse().expect("digits"))
        .collect();
    assert_eq!(whole, [head, tail].concat());
}
