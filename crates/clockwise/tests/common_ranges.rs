//! Common ranges: every token of a range is ranked as the token that stands for it, by each of the placements.

mod support;

use clockwise::hash::Rng;
use clockwise::{CommonRanges, HashedKey, Membership, Placement, Token};
use support::{build, member, members, nodes, scheme};

/// Placements that share their ranges: one scheme, several of one hash, and slots beside rings.
const SETS: [&[&str]; 9] = [
    &["ring,tokens=3"],
    &["ring,tokens=1", "ring,tokens=2", "ring,tokens=5"],
    &["slots,count=64", "slots,count=64"],
    &["slots,count=100", "slots,count=77"],
    &["ring,tokens=4", "slots,count=100"],
    &["articles/000-ring,tokens=3", "ring/md5-be64,tokens=2"],
    &["articles/004-ring,tokens=3", "articles/004-ring,tokens=4"],
    &["articles/003-ring-raw,tokens=2", "slots/fnv-1a-64,count=32"],
    &["redis-cluster", "redis-cluster"],
];

fn ranking(placement: &Placement, token: Token) -> Vec<usize> {
    let mut ranked = placement.ranked(&HashedKey::of_token(token), usize::MAX);
    std::iter::from_fn(|| ranked.next_index()).collect()
}

fn some_members(rng: &mut Rng, weighted: bool) -> Membership {
    let milli = |rng: &mut Rng| {
        if weighted {
            1000 * rng.uniform(3)
        } else {
            1000
        }
    };
    let count = rng.uniform(7);
    let some = (0..count).map(|node| member(&format!("n{node}"), milli(rng)));
    Membership::new(some.collect::<Vec<_>>()).expect("different ids")
}

#[test]
fn a_token_is_ranked_as_the_one_that_stands_for_its_range() {
    let mut rng = Rng::new(8);
    for texts in SETS {
        for _ in 0..20 {
            let placements: Vec<Placement> = texts
                .iter()
                .map(|text| {
                    Placement::build(
                        &scheme(text),
                        &some_members(&mut rng, texts[0] != "redis-cluster"),
                    )
                })
                .collect::<Result<_, _>>()
                .unwrap_or_else(|error| panic!("{texts:?}: {error}"));
            let borrowed: Vec<&Placement> = placements.iter().collect();
            let ranges = CommonRanges::of(&borrowed).expect("they share their ranges");
            let space = u64::MAX >> (64 - placements[0].scheme().token_bits());
            let ends = (0..ranges.count()).map(|range| ranges.token(range).0);
            let edges = ends.flat_map(|end| [end, end.wrapping_add(1), end.wrapping_sub(1)]);
            let mut tokens: Vec<u64> = edges.chain([0, 1, space]).filter(|&t| t <= space).collect();
            tokens.extend((0..200).map(|_| rng.next_u64() & space));
            for token in tokens.into_iter().map(Token) {
                let range = ranges.range_of(token);
                for placement in &placements {
                    assert_eq!(
                        ranking(placement, token),
                        ranking(placement, ranges.token(range)),
                        "{texts:?}, {token:?} in range {range}"
                    );
                }
            }
            for range in 0..ranges.count() {
                assert_eq!(ranges.range_of(ranges.token(range)), range, "{texts:?}");
            }
        }
    }
}

#[test]
fn schemes_that_rank_key_by_key_or_hash_otherwise_have_no_common_ranges() {
    let list = nodes(3);
    for text in [
        "rendezvous",
        "jump",
        "jumpback",
        "maglev,size=101",
        "modulo",
        "probed",
        "rank",
    ] {
        let placement = build(text, &list);
        assert!(CommonRanges::of(&[&placement]).is_none(), "{text}");
    }
    let ring = build("ring", &list);
    for text in ["rendezvous", "ring/md5-be64", "ring,layer=1"] {
        assert!(
            CommonRanges::of(&[&ring, &build(text, &list)]).is_none(),
            "{text}"
        );
    }
    assert!(CommonRanges::of(&[]).is_none());
    assert_eq!(
        CommonRanges::of(&[&build("ring", &members([]))]).map(|ranges| ranges.count()),
        Some(1)
    );
}

#[test]
fn ranges_that_are_slots_say_which() {
    let list = nodes(2);
    let slots = build("slots,count=64", &list);
    let ranges = CommonRanges::of(&[&slots]).expect("slots");
    let all = (0..ranges.count()).map(|range| ranges.slot(range));
    assert!(all.eq((0..64).map(|slot| Some(clockwise::Slot(slot)))));
    let ring = build("ring", &list);
    assert_eq!(
        CommonRanges::of(&[&ring]).and_then(|ranges| ranges.slot(0)),
        None
    );
}
