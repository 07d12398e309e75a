//! Differences of placements: a key moves if and only if the list says so, and the share is the exact sum.
//!
//! `CLOCKWISE_DIFF_KEYS` sets the number of keys for each pair of memberships, 2,000 unless said otherwise:
//! `CLOCKWISE_DIFF_KEYS=1000000 cargo test --release --test diff random_pairs`.

mod support;

use std::collections::BTreeMap;

use clockwise::hash::Rng;
use clockwise::{
    Diff, DiffError, KeyRule, Member, Membership, Moves, Placement, SecretKey, Slot, SlotMove,
    Token, TokenMove,
};
use support::{build, member, members, nodes, scheme, weighted_nodes};

/// Schemes before and after that have a difference: the same on both sides, with another parameter, and across kinds.
const PAIRS: [(&str, &str); 20] = [
    ("ring", "ring"),
    ("ring,tokens=1", "ring,tokens=2"),
    ("ring", "slots,count=1024"),
    ("slots,count=100", "ring,tokens=3"),
    ("slots,count=1024", "slots,count=1024"),
    ("slots,count=100", "slots,count=100"),
    ("slots,count=100", "slots,count=256"),
    ("slots,count=1000", "slots,count=999"),
    ("maglev,size=1009", "maglev,size=1009"),
    ("redis-cluster", "redis-cluster"),
    ("articles/000-ring", "articles/000-ring"),
    ("articles/000-ring,tokens=2", "ring/md5-be64,tokens=3"),
    ("slots/md5-be64,count=77", "articles/000-ring,tokens=5"),
    ("articles/002-ring", "articles/002-ring,tokens=2"),
    ("articles/003-ring", "articles/003-ring-raw"),
    (
        "articles/003-ring-raw,tokens=3",
        "slots/fnv-1a-64,count=128",
    ),
    ("articles/004-ring", "articles/004-ring"),
    ("ring/siphash-2-4", "slots/siphash-2-4,count=512"),
    ("ring,layer=7", "slots,count=300,layer=7"),
    ("rendezvous", "ring"),
];

/// A placement of a scheme, with a secret where its hash takes one.
fn placed(text: &str, membership: &Membership) -> Placement {
    let mut scheme = scheme(text);
    if scheme.lacks_secret() {
        scheme = scheme
            .with_secret(SecretKey::new([9; 16]))
            .expect("a keyed hash");
    }
    Placement::build(&scheme, membership).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Up to twelve of sixteen members in random order; some without weight, at times nobody.
fn some_members(rng: &mut Rng, weighted: bool) -> Membership {
    let count = rng.uniform(13) as usize;
    let mut pool: Vec<usize> = (0..16).collect();
    let pick = |_| {
        let node = pool.swap_remove(rng.uniform(pool.len() as u32) as usize);
        let milli = [1000, 1000, 2500, 500, 0][rng.uniform(5) as usize];
        member(&format!("node-{node}"), if weighted { milli } else { 1000 })
    };
    Membership::new((0..count).map(pick)).expect("different ids")
}

fn id(owner: Option<&Member>) -> Option<&str> {
    owner.map(|member| member.id().as_str())
}

fn last_token(placement: &Placement) -> u64 {
    u64::MAX >> (64 - placement.scheme().token_bits())
}

/// How many tokens, or slots of the same kind, each id owns; nobody's are under the empty id.
fn owned(placement: &Placement, in_slots: bool) -> BTreeMap<String, i128> {
    let mut owned = BTreeMap::new();
    let mut add = |owner: Option<&Member>, part: u128| {
        *owned.entry(id(owner).unwrap_or("").to_owned()).or_insert(0) += part as i128;
    };
    let space = 1_u128 << placement.scheme().token_bits();
    match placement.scheme().slot_count() {
        Some(count) => {
            let start = |slot: u32| (u128::from(slot) * space).div_ceil(u128::from(count));
            for slot in 0..count {
                let part = if in_slots {
                    1
                } else {
                    start(slot + 1) - start(slot)
                };
                add(placement.owner_of_slot(Slot(slot)), part);
            }
        }
        None if placement.owner_of_token(Token(0)).is_none() => add(None, space),
        None => {
            let shares = placement.space_shares().expect("a ring");
            for (member, share) in placement.members().iter().zip(shares) {
                assert_eq!(share.whole, space);
                add(Some(member), share.part);
            }
        }
    }
    owned
}

/// Checks everything that a list promises by itself and against the shares of both placements.
fn check_list(before: &Placement, after: &Placement, diff: &Diff<'_>, name: &str) {
    let mut flow: BTreeMap<String, i128> = BTreeMap::new();
    let mut sum = 0;
    let mut add = |from: Option<&Member>, to: Option<&Member>, part: u128| {
        assert_ne!(id(from), id(to), "{name}");
        sum += part;
        *flow.entry(id(from).unwrap_or("").to_owned()).or_default() -= part as i128;
        *flow.entry(id(to).unwrap_or("").to_owned()).or_default() += part as i128;
    };
    let in_slots = match diff.moves() {
        Moves::Tokens(moves) => {
            for (place, moved) in moves.iter().enumerate() {
                assert!(
                    moved.first <= moved.last && moved.last.0 <= last_token(before),
                    "{name}"
                );
                if let Some(next) = moves.get(place + 1) {
                    assert!(moved.last < next.first, "{name}");
                    let same = (id(moved.from), id(moved.to)) == (id(next.from), id(next.to));
                    assert!(
                        !same || moved.last.0 + 1 < next.first.0,
                        "{name}: not merged"
                    );
                }
                add(
                    moved.from,
                    moved.to,
                    u128::from(moved.last.0 - moved.first.0) + 1,
                );
            }
            assert_eq!(
                diff.share().whole,
                1 << before.scheme().token_bits(),
                "{name}"
            );
            false
        }
        Moves::Slots(moves) => {
            assert!(moves.is_sorted_by(|a, b| a.slot < b.slot), "{name}");
            for moved in moves {
                add(moved.from, moved.to, 1);
            }
            let count = before.scheme().slot_count().map(u128::from);
            assert_eq!(Some(diff.share().whole), count, "{name}");
            true
        }
    };
    assert_eq!(diff.share().part, sum, "{name}");
    // What a member gains and loses is what it has more or less than before.
    let (mut had, has) = (owned(before, in_slots), owned(after, in_slots));
    for (id, part) in has {
        *had.entry(id).or_default() -= part;
    }
    for (id, part) in flow {
        *had.entry(id).or_default() += part;
    }
    assert!(had.values().all(|&left| left == 0), "{name}: {had:?}");
}

/// Whether a token's move is what the list says; and whether it moves.
fn moves_as_listed(
    before: &Placement,
    after: &Placement,
    diff: &Diff<'_>,
    token: u64,
) -> (bool, bool) {
    let (from, to) = (
        id(before.owner_of_token(Token(token))),
        id(after.owner_of_token(Token(token))),
    );
    let listed = match diff.moves() {
        Moves::Tokens(moves) => {
            let place = moves.partition_point(|moved: &TokenMove<'_>| moved.last.0 < token);
            let moved = moves.get(place).filter(|moved| moved.first.0 <= token);
            moved.map(|moved| (id(moved.from), id(moved.to)))
        }
        Moves::Slots(moves) => {
            let slot = before.slot_of_token(Token(token)).expect("slots");
            let place = moves.binary_search_by_key(&slot, |moved: &SlotMove<'_>| moved.slot);
            place.ok().map(|at| (id(moves[at].from), id(moves[at].to)))
        }
    };
    (listed == (from != to).then_some((from, to)), from != to)
}

/// Tokens where an error of one would show.
fn edges(before: &Placement, after: &Placement, diff: &Diff<'_>) -> Vec<u64> {
    let top = last_token(before);
    let mut edges = vec![0, 1, top / 2, top / 2 + 1, top - 1, top];
    let tokens = [before, after].map(|p| p.tokens().map(|(token, _)| token.0).collect::<Vec<_>>());
    edges.extend(tokens.concat());
    match diff.moves() {
        Moves::Tokens(moves) => edges.extend(moves.iter().flat_map(|m| [m.first.0, m.last.0])),
        Moves::Slots(moves) => edges.extend(moves.iter().map(|m| u64::from(m.slot.0))),
    }
    let around = |token: u64| {
        [
            token.saturating_sub(1),
            token,
            token.saturating_add(1).min(top),
        ]
    };
    edges.into_iter().flat_map(around).collect()
}

fn check(before: &Placement, after: &Placement, tokens: &[u64], name: &str) -> (u64, u64) {
    let diff = Diff::new(before, after).unwrap_or_else(|error| panic!("{name}: {error}"));
    check_list(before, after, &diff, name);
    for token in edges(before, after, &diff) {
        assert!(
            moves_as_listed(before, after, &diff, token).0,
            "{name}: {token:016x}"
        );
    }
    let (mut contradictions, mut moved) = (0, 0);
    for &token in tokens {
        let (as_listed, moves) = moves_as_listed(before, after, &diff, token);
        contradictions += u64::from(!as_listed);
        moved += u64::from(moves);
    }
    // The share is that of random keys too, within five errors of a count (hashes that do not mix are no random draws).
    if before.scheme().hash().mixes_well() {
        let share = diff.share().as_f64();
        let keys = tokens.len() as f64;
        let error = (keys * share * (1.0 - share)).sqrt();
        let off = (moved as f64 - keys * share).abs();
        assert!(
            off <= 5.0 * error + 3.0,
            "{name}: {moved} of {keys}, share {share}"
        );
    }
    (contradictions, moved)
}

#[test]
fn random_pairs_of_memberships_move_exactly_the_listed_keys() {
    let keys: u32 = match std::env::var("CLOCKWISE_DIFF_KEYS") {
        Ok(keys) => keys.parse().expect("a number of keys"),
        Err(_) => 2000,
    };
    let mut rng = Rng::new(0x00d1_ff00);
    let (mut pairs, mut all_moved) = (0, 0);
    for (old, new) in PAIRS {
        // A ranking has no ranges, but nobody's space has.
        let ranked = old == "rendezvous";
        let weighted = old != "redis-cluster";
        let tokens: Vec<u64> = {
            let hasher = placed(new, &nodes(1));
            let key = |i| format!("key:{i}");
            (0..keys)
                .map(|i| hasher.token(key(i).as_bytes()).0)
                .collect()
        };
        for pair in 0..50 {
            let first = if ranked {
                Membership::default()
            } else {
                some_members(&mut rng, weighted)
            };
            let second = some_members(&mut rng, weighted);
            let before = placed(old, &first);
            // Tables with a history differ more finely than fresh ones.
            let after = if old == new && pair % 2 == 1 {
                before
                    .least_movement(&second)
                    .expect("a change that the scheme takes")
            } else {
                placed(new, &second)
            };
            let name = format!("{old} to {new}, pair {pair}");
            let (contradictions, moved) = check(&before, &after, &tokens, &name);
            assert_eq!(contradictions, 0, "{name}");
            check(&after, &before, &tokens[..tokens.len().min(200)], &name);
            check(&after, &after, &tokens[..tokens.len().min(20)], &name);
            pairs += 1;
            all_moved += moved;
        }
    }
    assert_eq!(pairs, 1000);
    assert!(all_moved > u64::from(keys) * 300, "{all_moved}");
}

fn token_moves<'d>(diff: &'d Diff<'_>) -> &'d [TokenMove<'d>] {
    match diff.moves() {
        Moves::Tokens(moves) => moves,
        Moves::Slots(moves) => panic!("slots: {moves:?}"),
    }
}

#[test]
fn the_same_placement_moves_nothing_and_nobody_moves_everything() {
    for name in [
        "ring",
        "slots",
        "maglev",
        "redis-cluster",
        "articles/002-ring",
    ] {
        let some = build(name, &nodes(5));
        let none = build(name, &Membership::default());
        let again = some.clone();
        let diff = Diff::new(&some, &again).expect("one hash");
        assert_eq!(diff.share().part, 0, "{name}");
        let diff = Diff::new(&none, &none).expect("one hash");
        assert_eq!(diff.share().part, 0, "{name}");
        for (before, after) in [(&none, &some), (&some, &none)] {
            let diff = Diff::new(before, after).expect("one hash");
            assert_eq!(diff.share().part, diff.share().whole, "{name}");
            check(before, after, &[], name);
        }
        // Without weight is as without members.
        let zero = build(name, &weighted_nodes(3, |_| 0));
        assert_eq!(
            Diff::new(&none, &zero).expect("one hash").share().part,
            0,
            "{name}"
        );
        assert_eq!(
            Diff::new(&zero, &some).expect("one hash").share(),
            Diff::new(&none, &some).expect("one hash").share(),
            "{name}"
        );
    }
}

#[test]
fn one_token_more_moves_the_range_that_ends_at_it() {
    for (name, strictly_after) in [
        ("ring", false),
        ("articles/000-ring", true),
        ("articles/004-ring", false),
    ] {
        let text = format!("{name},tokens=1");
        let before = build(&text, &nodes(4));
        let after = before.with_member(member("new", 1000)).expect("five nodes");
        let tokens: Vec<(u64, &str)> = after
            .tokens()
            .map(|(token, member)| (token.0, member.id().as_str()))
            .collect();
        let at = tokens
            .iter()
            .position(|&(_, id)| id == "new")
            .expect("a token");
        let moves = Diff::new(&before, &after).expect("one hash");
        let moves = token_moves(&moves);
        let shift = u64::from(strictly_after);
        let ends: Vec<(u64, u64)> = moves.iter().map(|m| (m.first.0, m.last.0)).collect();
        let last = tokens[at].0 - shift;
        match at {
            // The range may run over the end of the space.
            0 => assert_eq!(
                ends,
                [(0, last), (tokens[4].0 + 1 - shift, last_token(&after))]
            ),
            _ => assert_eq!(ends, [(tokens[at - 1].0 + 1 - shift, last)]),
        }
        assert!(moves.iter().all(|m| id(m.to) == Some("new")));
        // A weight of 0 gives it back.
        let gone = after.with_weight(&"new".parse().expect("an id"), clockwise::Weight::ZERO);
        let gone = gone.expect("a weight");
        assert_eq!(Diff::new(&before, &gone).expect("one hash").share().part, 0);
        check(&after, &gone, &[], name);
    }
}

#[test]
fn a_ring_of_one_token_and_one_of_equal_tokens_have_their_ranges() {
    for name in [
        "ring,tokens=1",
        "articles/000-ring,tokens=1",
        "articles/002-ring,tokens=1",
    ] {
        let (one, other) = (
            build(name, &members([("a", 1000)])),
            build(name, &members([("b", 1000)])),
        );
        let diff = Diff::new(&one, &other).expect("one hash");
        let top = last_token(&one);
        let [moved] = token_moves(&diff) else {
            panic!("{name}: {diff:?}")
        };
        assert_eq!((moved.first.0, moved.last.0), (0, top));
        assert_eq!((id(moved.from), id(moved.to)), (Some("a"), Some("b")));
        check(&one, &other, &[], name);
    }
    // FNV-1a cannot tell these ids apart: all tokens of the first are also the second's, which has some more.
    let twins = [("cache-162789", 1000), ("cache-379192", 1200)];
    let crowded = build("articles/002-ring,tokens=20", &members(twins));
    for fewer in [&twins[..1], &twins[1..], &[]] {
        let rest = build(
            "articles/002-ring,tokens=20",
            &members(fewer.iter().copied()),
        );
        check(&crowded, &rest, &[], "twins");
        check(&rest, &crowded, &[], "twins");
    }
}

#[test]
fn slots_of_different_counts_are_compared_by_their_borders() {
    // One node holds it all before and after: no border counts.
    let (few, many) = (
        build("slots,count=3", &nodes(1)),
        build("slots,count=1000", &nodes(1)),
    );
    assert_eq!(Diff::new(&few, &many).expect("one hash").share().part, 0);
    // Two nodes of two slots against two of three: slots end at 2^63 there, at a third and two thirds here.
    let (two, three) = (
        build("slots,count=2", &nodes(2)),
        build("slots,count=3", &nodes(2)),
    );
    let diff = Diff::new(&two, &three).expect("one hash");
    let third = u64::MAX / 3 + 1;
    let borders = [0, third, 1 << 63, 2 * (u64::MAX / 3) + 1];
    assert!(!token_moves(&diff).is_empty());
    for moved in token_moves(&diff) {
        assert!(borders.contains(&moved.first.0), "{moved:?}");
        assert!(
            moved.last.0 == u64::MAX || borders.contains(&(moved.last.0 + 1)),
            "{moved:?}"
        );
    }
    check(&two, &three, &[], "two to three slots");
    for (old, new) in [(1, 16384), (16384, 16383), (5, 7), (1024, 4096)] {
        let (old, new) = (
            build(&format!("slots,count={old}"), &nodes(1)),
            build(&format!("slots,count={new}"), &nodes(5)),
        );
        check(&old, &new, &[], "counts");
    }
}

#[test]
fn placements_that_cannot_be_compared_say_why() {
    let error = |before: &Placement, after: &Placement| Diff::new(before, after).unwrap_err();
    let ring = build("ring", &nodes(3));
    let other_hash = [
        build("ring/xxh64", &nodes(3)),
        build("ring,layer=1", &nodes(3)),
        ring.clone()
            .with_key_rule(KeyRule::RedisTag)
            .expect("a free rule"),
        build("articles/003-ring", &nodes(3)),
        build("redis-cluster", &nodes(3)),
    ];
    for other in &other_hash {
        assert!(
            matches!(error(&ring, other), DiffError::OtherHash { .. }),
            "{}",
            other.scheme()
        );
    }
    assert_eq!(
        error(&ring, &other_hash[1]).to_string(),
        "ring/xxh3-64/v1,tokens=160 and ring/xxh3-64/v1,layer=1,tokens=160 give keys other tokens, so ranges of one \
         mean nothing to the other"
    );
    let keyed = |byte: u8| {
        let scheme = scheme("ring/siphash-1-3").with_secret(SecretKey::new([byte; 16]));
        Placement::build(&scheme.expect("a keyed hash"), &nodes(2)).expect("a placement")
    };
    assert!(matches!(
        error(&keyed(1), &keyed(2)),
        DiffError::OtherHash { .. }
    ));
    assert!(Diff::new(&keyed(1), &keyed(1)).is_ok());
    for name in [
        "rendezvous",
        "jump",
        "jumpback",
        "modulo",
        "probed",
        "rank",
        "maglev",
    ] {
        let without = build(name, &nodes(3));
        for (before, after) in [(&ring, &without), (&without, &ring)] {
            assert_eq!(
                error(before, after).to_string(),
                format!(
                    "{} has neither token ranges nor slots: its changes can only be counted on keys",
                    without.scheme()
                )
            );
        }
    }
    let sizes = ["maglev,size=251", "maglev,size=257"].map(|text| build(text, &nodes(3)));
    assert!(matches!(
        error(&sizes[0], &sizes[1]),
        DiffError::NoRanges { .. }
    ));
}
