//! Look-ups: equal to a plain search at every edge, without allocation, and without panic on any bytes.

mod support;

use clockwise::hash::Rng;
use clockwise::{HashedKey, Placement, Scheme, SecretKey, Slot, Token};
use support::{build, members, nodes, scheme, weighted_nodes};

const RINGS: [&str; 6] = [
    "ring",
    "articles/000-ring",
    "articles/002-ring",
    "articles/003-ring",
    "articles/003-ring-raw",
    "articles/004-ring",
];

/// The definition of a ring, one token after the other.
struct PlainRing {
    /// Token and index of the member, ascending.
    tokens: Vec<(u64, usize)>,
    strictly_after: bool,
}

impl PlainRing {
    fn of(ring: &Placement) -> Self {
        let index = |id| {
            ring.members()
                .iter()
                .position(|m| m.id() == id)
                .expect("a member")
        };
        let mut tokens: Vec<(u64, usize)> = ring
            .tokens()
            .map(|(token, member)| (token.0, index(member.id())))
            .collect();
        let given = tokens.clone();
        tokens.sort_unstable();
        assert_eq!(tokens, given, "tokens ascend, equal ones by id");
        Self {
            tokens,
            strictly_after: ring.scheme().name() == "articles/000-ring",
        }
    }

    fn owner(&self, key: u64) -> Option<usize> {
        let owns = |&&(token, _): &&(u64, usize)| {
            if self.strictly_after {
                token > key
            } else {
                token >= key
            }
        };
        self.tokens
            .iter()
            .find(owns)
            .or(self.tokens.first())
            .map(|&(_, node)| node)
    }
}

fn owner(placement: &Placement, token: u64) -> Option<usize> {
    placement.owner_index(&HashedKey::of_token(Token(token)))
}

fn assert_edges(ring: &Placement) {
    let plain = PlainRing::of(ring);
    let around = plain
        .tokens
        .iter()
        .flat_map(|&(token, _)| [token.wrapping_sub(1), token, token.wrapping_add(1)]);
    let ends = [
        0,
        1,
        u64::from(u32::MAX),
        u64::from(u32::MAX) + 1,
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ];
    for token in around.chain(ends) {
        let wanted = plain.owner(token);
        assert_eq!(
            owner(ring, token),
            wanted,
            "{}, {token:016x}",
            ring.scheme()
        );
        let first = ring
            .ranked(&HashedKey::of_token(Token(token)), 1)
            .next_index();
        assert_eq!(first, wanted, "{}, {token:016x}", ring.scheme());
    }
}

#[test]
fn a_million_random_hashes_and_every_edge_agree_with_a_plain_search() {
    for name in RINGS {
        let ring = build(
            &format!("{name},tokens=9"),
            &weighted_nodes(7, |i| [1000, 500, 0][i % 3]),
        );
        assert_edges(&ring);
        let plain = PlainRing::of(&ring);
        let mut rng = Rng::new(7);
        let width = 64 - ring.scheme().token_bits();
        for _ in 0..1_000_000 {
            let token = rng.next_u64() >> width;
            assert_eq!(
                owner(&ring, token),
                plain.owner(token),
                "{name}, {token:016x}"
            );
        }
    }
}

#[test]
fn one_token_and_equal_tokens_have_their_owners_at_every_edge() {
    for name in RINGS {
        assert_edges(&build(&format!("{name},tokens=1"), &nodes(1)));
        assert_edges(&build(&format!("{name},tokens=1"), &nodes(2)));
        assert_edges(&build(name, &members([])));
    }
    // FNV-1a cannot tell these ids apart, so the smaller one's tokens are all the other's as well.
    let twins = [("cache-162789", 1000), ("cache-379192", 1200)];
    let ring = build("articles/002-ring,tokens=20", &members(twins));
    assert_eq!(ring.token_count(), 44);
    assert_edges(&ring);
}

/// Rings of one node to 500, past the size from which many keys are looked up together.
fn rings_by_size() -> impl Iterator<Item = Placement> {
    [(1, 160), (5, 160), (100, 160), (500, 160)]
        .into_iter()
        .flat_map(|(count, tokens)| {
            RINGS.map(|name| build(&format!("{name},tokens={tokens}"), &nodes(count)))
        })
}

#[test]
fn rings_of_all_sizes_agree_with_a_binary_search_at_every_edge_and_at_random() {
    let mut rng = Rng::new(500);
    for ring in rings_by_size() {
        let plain = PlainRing::of(&ring);
        let wanted = |key: u64| {
            let before = |&(token, _): &(u64, usize)| {
                if plain.strictly_after {
                    token <= key
                } else {
                    token < key
                }
            };
            let place = plain.tokens.partition_point(before);
            plain.tokens[place % plain.tokens.len()].1
        };
        let around = plain
            .tokens
            .iter()
            .flat_map(|&(token, _)| [token.wrapping_sub(1), token, token.wrapping_add(1)]);
        let width = 64 - ring.scheme().token_bits();
        let random = (0..200_000).map(|_| rng.next_u64() >> width);
        let ends = [0, u64::from(u32::MAX), 1 << 32, u64::MAX];
        let tokens: Vec<u64> = around.chain(random).chain(ends).collect();
        let keys: Vec<HashedKey> = tokens
            .iter()
            .map(|&token| HashedKey::of_token(Token(token)))
            .collect();
        let mut together = vec![None; keys.len()];
        ring.owner_indices(&keys, &mut together);
        for ((&token, key), together) in tokens.iter().zip(&keys).zip(together) {
            let wanted = Some(wanted(token));
            assert_eq!(
                ring.owner_index(key),
                wanted,
                "{}, {token:016x}",
                ring.scheme()
            );
            assert_eq!(together, wanted, "{}, {token:016x}", ring.scheme());
        }
    }
}

#[test]
fn many_keys_have_the_owners_that_each_has_alone() {
    let keys: Vec<String> = (0..200).map(|i| format!("{{giỏ-{}}}:{i}", i % 7)).collect();
    for placement in every_placement().into_iter().chain(rings_by_size()) {
        for count in [0, 1, 31, 32, 33, 64, 200] {
            let bytes = || keys[..count].iter().map(String::as_bytes);
            let alone: Vec<_> = bytes().map(|key| placement.owner(key)).collect();
            let mut together = placement.owners(bytes());
            assert_eq!(together.size_hint(), (count, Some(count)));
            let first = together.next();
            assert_eq!(first, alone.first().copied());
            assert_eq!(together.size_hint().0, count.saturating_sub(1));
            let all: Vec<_> = first.into_iter().chain(together).collect();
            assert_eq!(all, alone, "{}", placement.scheme());

            let hashed: Vec<HashedKey> = bytes().map(|key| placement.hash(key)).collect();
            let mut owners = vec![Some(usize::MAX); count + 1];
            placement.owner_indices(&hashed, &mut owners);
            assert_eq!(owners.pop(), Some(Some(usize::MAX)));
            let single: Vec<_> = hashed
                .iter()
                .map(|key| placement.owner_index(key))
                .collect();
            assert_eq!(owners, single);
            owners.truncate(count / 2);
            owners.fill(None);
            placement.owner_indices(&hashed, &mut owners);
            assert_eq!(owners, single[..count / 2]);

            let mut counts = vec![0; placement.members().len()];
            single.iter().flatten().for_each(|&node| counts[node] += 1);
            assert_eq!(placement.count_by_owner(bytes()), counts);
        }
    }
}

#[test]
fn slots_are_the_top_bits_of_the_hash_at_every_edge() {
    for bits in [0_u32, 1, 4, 14, 17] {
        let count = 1_u32 << bits;
        let node_count = usize::try_from(count.min(5)).expect("small");
        let placement = build(&format!("slots,count={count}"), &nodes(node_count));
        let table = placement.slot_owners().expect("slots");
        let mut rng = Rng::new(u64::from(bits));
        let edges = (0..count).flat_map(|slot| {
            let first = (u128::from(slot) << 64 >> bits) as u64;
            [first, first.wrapping_sub(1)]
        });
        let random: Vec<u64> = (0..200_000).map(|_| rng.next_u64()).collect();
        for token in edges.chain(random).chain([0, u64::MAX]) {
            let slot = (u128::from(token) >> (64 - bits)) as u32;
            assert_eq!(placement.slot_of_token(Token(token)), Some(Slot(slot)));
            assert_eq!(
                owner(&placement, token),
                Some(table[slot as usize] as usize)
            );
        }
        assert_eq!(placement.owner_of_slot(Slot(count)), None);
    }
}

#[test]
fn any_number_of_slots_cuts_the_space_into_parts_that_differ_by_one_token_at_most() {
    for count in [3_u32, 7, 1000, 16383, 100_003] {
        let placement = build(&format!("slots,count={count}"), &nodes(3));
        let slot_of = |token: u64| placement.slot_of_token(Token(token)).map(|slot| slot.0);
        let first = |slot: u32| {
            let start = (u128::from(slot) << 64) / u128::from(count);
            let exact = (start * u128::from(count)) >> 64 == u128::from(slot);
            (start + u128::from(!exact)) as u64
        };
        let even = (1_u128 << 64) / u128::from(count);
        for slot in 1..count {
            assert_eq!(slot_of(first(slot)), Some(slot));
            assert_eq!(slot_of(first(slot) - 1), Some(slot - 1));
            let width = u128::from(first(slot) - first(slot - 1));
            assert!(width.abs_diff(even) <= 1, "{count}: {width}");
        }
        assert_eq!((slot_of(0), slot_of(u64::MAX)), (Some(0), Some(count - 1)));
    }
}

#[test]
fn a_maglev_entry_is_the_remainder_of_the_hash() {
    let placement = build("maglev,size=251", &nodes(5));
    let table = placement.slot_owners().expect("entries");
    let mut rng = Rng::new(251);
    let random: Vec<u64> = (0..100_000).map(|_| rng.next_u64()).collect();
    for token in random.into_iter().chain([0, 250, 251, u64::MAX]) {
        let entry = token % 251;
        assert_eq!(
            placement.slot_of_token(Token(token)),
            Some(Slot(entry as u32))
        );
        assert_eq!(
            owner(&placement, token),
            Some(table[entry as usize] as usize)
        );
    }
}

#[test]
fn a_lookup_never_panics_whatever_the_bytes_and_the_token() {
    let mut rng = Rng::new(99);
    let bytes: Vec<u8> = (0..4096).map(|_| rng.next_u64() as u8).collect();
    for placement in every_placement() {
        for _ in 0..2000 {
            let (start, length) = (rng.uniform(4000) as usize, rng.uniform(96) as usize);
            let key = &bytes[start..start + length];
            let first = placement.owner(key);
            assert_eq!(
                placement.replicas(key, 2).next(),
                first,
                "{}",
                placement.scheme()
            );
            let token = rng.next_u64() >> rng.uniform(64);
            let _ = placement.owner_of_token(Token(token));
            let _ = placement.owner_of_slot(Slot(token as u32));
            let _ = placement.slot_of_token(Token(token));
            let _ = placement
                .ranked(&HashedKey::of_token(Token(token)), usize::MAX)
                .last();
        }
        for key in [&b""[..], b"{", b"}{", b"{}", &[0xff; 64], &[0; 1]] {
            let _ = placement.replicas(key, usize::MAX).count();
        }
    }
}

#[test]
fn a_hundred_thousand_lookups_and_rankings_allocate_nothing() {
    let keys: Vec<Vec<u8>> = (0..1000_u32)
        .map(|i| [&i.to_le_bytes()[..], "{phiên}:giỏ".as_bytes()].concat())
        .collect();
    let large = build("ring", &nodes(300));
    for placement in every_placement().into_iter().chain([large]) {
        let mut met = 0;
        let counts = allocation_counter::measure(|| {
            for key in keys.iter().cycle().take(100_000) {
                let hashed = placement.hash(key);
                met += usize::from(placement.owner_index(&hashed).is_some());
                met += usize::from(placement.owner(key).is_some());
                met += placement.replicas(key, 3).count();
            }
            let bytes = keys.iter().map(Vec::as_slice);
            met += placement
                .owners(bytes.cycle().take(100_000))
                .flatten()
                .count();
            let mut owners = [None; 100];
            let hashed: [HashedKey; 100] = std::array::from_fn(|i| placement.hash(&keys[i]));
            placement.owner_indices(&hashed, &mut owners);
            met += owners.iter().flatten().count();
        });
        assert_eq!(counts.count_total, 0, "{}", placement.scheme());
        assert_eq!(
            met > 0,
            !placement.members().is_empty(),
            "{}",
            placement.scheme()
        );
    }
}

#[test]
fn the_allocation_counter_sees_an_allocation() {
    let counts = allocation_counter::measure(|| drop(std::hint::black_box(vec![1_u8; 64])));
    assert_eq!(counts.count_total, 1);
}

/// Every scheme with five members and with none, one for each hash that our own schemes take, and some with weights.
fn every_placement() -> Vec<Placement> {
    let hashes = clockwise::hash::KeyHash::ALL.map(|hash| format!("modulo/{hash}"));
    let names = Scheme::names().map(str::to_owned).chain(hashes);
    let alike = names.flat_map(|name| {
        let mut scheme = scheme(&name);
        if scheme.lacks_secret() {
            scheme = scheme
                .with_secret(SecretKey::new([7; 16]))
                .expect("a keyed hash");
        }
        [nodes(5), nodes(0)].map(|list| Placement::build(&scheme, &list).expect("a placement"))
    });
    // Nodes of several slots and of a closed one.
    let weighted = ["probed", "rank", "maglev", "slots,count=1000"]
        .map(|name| build(name, &weighted_nodes(6, |i| [1000, 3000, 0][i % 3])));
    alike.chain(weighted).collect()
}
