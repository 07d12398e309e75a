//! A ring that was changed node by node is the ring built anew from the same members, and refuses what that refuses.

mod generate;
mod plain;
mod support;

use clockwise::{HashedKey, KeyRule, Membership, Placement, Token, Weight};
use proptest::prelude::*;

use generate::{any_id, any_milli, any_nodes, config, membership_of};
use support::{build, member, members, nodes, scheme};

const RINGS: [&str; 6] = [
    "ring,tokens=9",
    "articles/000-ring,tokens=4",
    "articles/002-ring,tokens=7",
    "articles/003-ring,tokens=3",
    "articles/003-ring-raw,tokens=5",
    "articles/004-ring,tokens=6",
];

/// A change as an operator may ask for it, of a member that may be there or not.
#[derive(Clone, Debug)]
enum Change {
    Add(String, u32),
    Remove(usize),
    Weigh(usize, u32),
}

fn any_change() -> impl Strategy<Value = Change> {
    // Weights of tens keep the number of tokens in the thousands.
    let milli = || any_milli().prop_map(|milli| milli % 20_000);
    prop_oneof![
        3 => (any_id(), milli()).prop_map(|(id, milli)| Change::Add(id, milli)),
        2 => (0..8_usize).prop_map(Change::Remove),
        2 => (0..8_usize, milli()).prop_map(|(place, milli)| Change::Weigh(place, milli)),
    ]
}

fn assert_same(changed: &Placement, built: &Placement) {
    assert_eq!(changed.placement_checksum(), built.placement_checksum());
    assert_eq!(changed.members(), built.members());
    assert_eq!(changed.memory_bytes(), built.memory_bytes());
    assert!(changed.tokens().eq(built.tokens()));
    assert_eq!(changed.space_shares(), built.space_shares());
    let space = u64::MAX >> (64 - built.scheme().token_bits());
    let around = built.tokens().flat_map(|(token, _)| {
        let token = token.0;
        [token.saturating_sub(1), token, token.saturating_add(1)]
    });
    let even = (0..200_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & space);
    for token in around.chain(even).chain([0, space]).map(Token) {
        let key = HashedKey::of_token(token);
        assert_eq!(changed.owner_index(&key), built.owner_index(&key));
        let ranking = |placement: &Placement| -> Vec<_> {
            let ranked = placement.ranked(&key, 3);
            ranked.map(|member| member.id().to_string()).collect()
        };
        assert_eq!(ranking(changed), ranking(built));
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn changes_give_the_ring_that_a_build_gives(
        start in any_nodes(0..6),
        changes in prop::collection::vec(any_change(), 1..8),
        ring in 0..RINGS.len(),
    ) {
        let scheme = scheme(RINGS[ring]);
        let light = |mut node: plain::Node| {
            node.milli %= 20_000;
            node
        };
        let start: Vec<_> = start.into_iter().map(light).collect();
        let Ok(mut placement) = Placement::build(&scheme, &membership_of(&start)) else {
            return Ok(());
        };
        for change in changes {
            let list = placement.membership();
            let id = |place: usize| {
                let known = list.members().get(place);
                known.map_or_else(|| "nobody".parse().expect("an id"), |member| member.id().clone())
            };
            let weight = |milli| Weight::from_milli(milli).expect("a weight in range");
            let (changed, list) = match change {
                Change::Add(id, milli) => {
                    let member = member(&id, milli);
                    (placement.with_member(member.clone()), list.with(member))
                }
                Change::Remove(place) => {
                    (placement.without_member(&id(place)), list.without(&id(place)))
                }
                Change::Weigh(place, milli) => (
                    placement.with_weight(&id(place), weight(milli)),
                    list.with_weight(&id(place), weight(milli)),
                ),
            };
            let built = list
                .map_err(Into::into)
                .and_then(|list| Placement::build(&scheme, &list));
            match (changed, built) {
                (Ok(changed), Ok(built)) => {
                    assert_same(&changed, &built);
                    placement = changed;
                }
                (changed, built) => prop_assert_eq!(changed.err(), built.err()),
            }
        }
    }
}

#[test]
fn a_large_ring_gains_and_loses_a_node_as_if_built_anew() {
    for name in ["ring", "articles/000-ring", "articles/002-ring"] {
        let (few, many) = (build(name, &nodes(300)), build(name, &nodes(301)));
        let added = few.with_member(member("node-300", 1000)).expect("a new id");
        assert_same(&added, &many);
        let id = "node-300".parse().expect("an id");
        assert_same(&many.without_member(&id).expect("a member"), &few);
        let heavier = few
            .with_weight(
                &"node-7".parse().expect("an id"),
                Weight::from_milli(2500).expect("a weight"),
            )
            .expect("a member");
        let list = few.membership().with_weight(
            &"node-7".parse().expect("an id"),
            Weight::from_milli(2500).expect("a weight"),
        );
        assert_same(&heavier, &build(name, &list.expect("a member")));
    }
}

#[test]
fn a_changed_ring_refuses_what_a_build_refuses() {
    let ring = build("ring", &members([("giỏ", 1000), ("K", 1000)]));
    let refused = |id: &str| {
        let list: Result<Membership, _> = ring.membership().with(member(id, 1000));
        let error = ring.with_member(member(id, 1000)).expect_err("refused");
        assert_eq!(error, list.expect_err("refused").into());
    };
    // The same id; the same in decomposed form; the Kelvin sign, which composes to an ASCII letter.
    refused("giỏ");
    refused("gio\u{309}");
    refused("\u{212a}");
    // FNV-1a cannot tell these ids apart.
    let alone = build(
        "articles/002-ring,tokens=20",
        &members([("cache-162789", 1000)]),
    );
    let twin = member("cache-379192", 1000);
    let list = alone.membership().with(twin.clone()).expect("another id");
    assert_eq!(
        alone.with_member(twin).expect_err("it would own nothing"),
        Placement::build(alone.scheme(), &list).expect_err("it would own nothing")
    );
    let heavy = Weight::from_milli(1_000_000_000).expect("the largest weight");
    let id = "K".parse().expect("an id");
    let list = ring.membership().with_weight(&id, heavy).expect("a member");
    assert_eq!(
        ring.with_weight(&id, heavy).expect_err("too many tokens"),
        Placement::build(ring.scheme(), &list).expect_err("too many tokens")
    );
}

#[test]
fn a_changed_ring_keeps_its_key_rule() {
    let ring = build("ring", &nodes(3))
        .with_key_rule(KeyRule::RedisTag)
        .expect("any rule");
    let more = ring.with_member(member("node-9", 1000)).expect("a new id");
    assert_eq!(more.key_rule(), KeyRule::RedisTag);
}
