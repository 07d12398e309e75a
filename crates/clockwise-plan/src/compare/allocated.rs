//! A ring whose tokens are chosen, not hashed: each node that joins takes from the heaviest what evens them out.
//!
//! What it is: 64-bit tokens in order with their nodes; a key belongs to the first token at or after its own. What it
//! promises: a node that joins moves no token of another; a node that leaves takes only its own with it; the same history
//! gives the same tokens. What it does not: follow from the list of nodes alone, as hashed tokens do: the tokens are
//! history and have to be published. Cost: a join O(N + T²) for N nodes with T tokens each, a look-up a binary search.
//! Source: Cassandra's allocator of few tokens (CASSANDRA-7032), here for one replica: every token of a node that joins
//! splits a range of the node that is furthest above the common level.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use clockwise::{Membership, NodeId};

/// Chosen tokens, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AllocatedRing {
    tokens: Vec<u64>,
    /// Index into `nodes` of each token's node.
    owners: Vec<u32>,
    nodes: Vec<NodeId>,
    weights: Vec<u64>,
}

impl AllocatedRing {
    /// The ring of nodes that joined one after another, in the order of the list, with at most `tokens` tokens for a
    /// weight of 1.
    pub(crate) fn new(tokens: u32, membership: &Membership) -> Self {
        Self::default().after(tokens, membership)
    }

    /// The ring after a change: who leaves or gets lighter gives up tokens, then others get heavier, then new ones join.
    pub(crate) fn after(&self, tokens: u32, membership: &Membership) -> Self {
        let wanted: BTreeMap<&NodeId, u64> = membership
            .members()
            .iter()
            .map(|member| (member.id(), u64::from(member.weight().milli())))
            .collect();
        let mut work = Work::of(self, &wanted, tokens);
        for member in membership.members() {
            work.join(member.id(), wanted[member.id()], tokens);
        }
        work.finish()
    }

    /// Whether choosing tokens for this membership takes seconds at most.
    pub(crate) fn is_feasible(tokens: u32, membership: &Membership) -> bool {
        let nodes = membership.members().len() as u64;
        let counts = membership
            .members()
            .iter()
            .map(|member| token_count(u64::from(member.weight().milli()), tokens));
        let work = counts.map(|count| (count as u64).saturating_pow(2).saturating_add(nodes));
        work.fold(0, u64::saturating_add) <= MOST_WORK
    }

    /// The node of a token's owner, as an index into [`nodes`](Self::nodes).
    #[inline]
    pub(crate) fn owner(&self, token: u64) -> Option<u32> {
        let place = self.place(token);
        self.owners.get(place).copied()
    }

    /// The owner, and the next other node on the ring.
    pub(crate) fn owner_and_next(&self, token: u64) -> (Option<u32>, Option<u32>) {
        let place = self.place(token);
        let owner = self.owners.get(place).copied();
        let (wrapped, ahead) = self.owners.split_at(place.min(self.owners.len()));
        let mut walk = ahead.iter().chain(wrapped).copied();
        (owner, walk.find(|&node| Some(node) != owner))
    }

    /// The nodes that tokens are of, in the order in which they joined.
    pub(crate) fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The tokens, ascending.
    pub(crate) fn tokens(&self) -> &[u64] {
        &self.tokens
    }

    /// Bytes of the two tables that a look-up reads.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(self.tokens.as_slice()) + size_of_val(self.owners.as_slice())
    }

    #[inline]
    fn place(&self, token: u64) -> usize {
        let place = self.tokens.partition_point(|&other| other < token);
        if place == self.tokens.len() { 0 } else { place }
    }
}

/// A ring in the making: the ranges of each node.
struct Work {
    nodes: Vec<Holder>,
    /// Weight of all nodes that hold tokens.
    weight: u64,
}

struct Holder {
    id: NodeId,
    weight: u64,
    /// Tokens that it owns, of 2^64.
    load: u128,
    ranges: Vec<Range>,
}

/// The tokens above `start`, as many as `size`, up to the node's own token.
#[derive(Clone, Copy)]
struct Range {
    start: u64,
    size: u128,
}

impl Work {
    /// The ring without what its nodes give up on the way to the `wanted` weights.
    fn of(ring: &AllocatedRing, wanted: &BTreeMap<&NodeId, u64>, tokens: u32) -> Self {
        let weights: Vec<u64> = ring
            .nodes
            .iter()
            .zip(&ring.weights)
            .map(|(id, &weight)| {
                // Growth comes later, as a join does.
                wanted.get(id).map_or(0, |&wanted| wanted.min(weight))
            })
            .collect();
        let mut spare: Vec<usize> = weights
            .iter()
            .map(|&weight| token_count(weight, tokens))
            .collect();
        let kept: Vec<(u64, u32)> = ring
            .tokens
            .iter()
            .zip(&ring.owners)
            .filter(|(_, owner)| {
                let left = &mut spare[**owner as usize];
                let keeps = *left > 0;
                *left -= usize::from(keeps);
                keeps
            })
            .map(|(&token, &owner)| (token, owner))
            .collect();
        let mut nodes: Vec<Holder> = ring
            .nodes
            .iter()
            .zip(&weights)
            .map(|(id, &weight)| Holder {
                id: id.clone(),
                weight,
                load: 0,
                ranges: Vec::new(),
            })
            .collect();
        let mut start = kept.last().map_or(0, |&(token, _)| token);
        let is_single = kept.len() == 1;
        for &(token, owner) in &kept {
            let size = if is_single {
                SPACE
            } else {
                u128::from(token.wrapping_sub(start))
            };
            let holder = &mut nodes[owner as usize];
            holder.ranges.push(Range { start, size });
            holder.load += size;
            start = token;
        }
        nodes.retain(|node| !node.ranges.is_empty());
        let weight = nodes.iter().map(|node| node.weight).sum();
        Self { nodes, weight }
    }

    /// Gives a node its weight, with the tokens that it still lacks for that.
    fn join(&mut self, id: &NodeId, weight: u64, tokens: u32) {
        let known = self.nodes.iter().position(|node| node.id == *id);
        let (held, load, before) = known.map_or((0, 0, 0), |known| {
            let node = &self.nodes[known];
            (node.ranges.len(), node.load, node.weight)
        });
        let lacks = token_count(weight, tokens).saturating_sub(held);
        if weight <= before || lacks == 0 {
            return;
        }
        self.weight += weight - before;
        let fair = SPACE * u128::from(weight) / u128::from(self.weight);
        let ranges = if self.nodes.is_empty() {
            even(lacks)
        } else {
            self.take(fair.saturating_sub(load), lacks, known)
        };
        let taken: u128 = ranges.iter().map(|range| range.size).sum();
        match known {
            Some(known) => {
                let node = &mut self.nodes[known];
                node.weight = weight;
                node.load += taken;
                node.ranges.extend(ranges);
            }
            None => self.nodes.push(Holder {
                id: id.clone(),
                weight,
                load: taken,
                ranges,
            }),
        }
    }

    /// Ranges with `need` tokens of the space in all, if these nodes have it to give: from those that have most beside
    /// their weight.
    fn take(&mut self, need: u128, lacks: usize, taker: Option<usize>) -> Vec<Range> {
        let above = self.above_level(need, lacks, taker);
        let counts = self.tokens_by_donor(&above, lacks);
        let mut taken = Vec::new();
        for (&(donor, excess), count) in above.iter().zip(counts) {
            let node = &mut self.nodes[donor];
            let mut left = excess;
            for more in (1..=count as u128).rev() {
                let Some(range) = node
                    .ranges
                    .iter_mut()
                    .max_by_key(|range| (range.size, Reverse(range.start)))
                else {
                    break;
                };
                let size = (left / more).min(most_of(range.size));
                if size == 0 {
                    continue;
                }
                taken.push(Range {
                    start: range.start,
                    size,
                });
                // What is left of the range still ends at the donor's token. The size is below 2^64.
                range.start = range.start.wrapping_add(size as u64);
                range.size -= size;
                node.load -= size;
                left -= size;
            }
        }
        taken
    }

    /// How many of the tokens split ranges of each donor: first as many as it takes to get at its excess, then more for
    /// those that give most with each, so that small ranges go back to many nodes when this one fails.
    fn tokens_by_donor(&self, above: &[(usize, u128)], tokens: usize) -> Vec<usize> {
        let mut counts = vec![1; above.len()];
        // What a donor's largest ranges come to, one after another.
        let reach: Vec<Vec<u128>> = above
            .iter()
            .map(|&(donor, _)| {
                let ranges = self.nodes[donor].ranges.iter();
                let mut sizes: Vec<u128> = ranges.map(|range| most_of(range.size)).collect();
                sizes.sort_unstable_by(|a, b| b.cmp(a));
                let sums = sizes.into_iter().scan(0, |sum, size| {
                    *sum += size;
                    Some(*sum)
                });
                sums.collect()
            })
            .collect();
        let reach_of =
            |place: usize, count: usize| reach[place].get(count - 1).copied().unwrap_or(u128::MAX);
        for _ in above.len()..tokens {
            let places = 0..above.len();
            let beyond = |&place: &usize| {
                above[place]
                    .1
                    .saturating_sub(reach_of(place, counts[place]))
            };
            let short = places
                .clone()
                .filter(|&place| counts[place] < reach[place].len() && beyond(&place) > 0);
            let largest = |&place: &usize| (above[place].1 / counts[place] as u128, Reverse(place));
            // The first of equals, so that it is the same everywhere.
            let next = short
                .max_by_key(|place| (beyond(place), Reverse(*place)))
                .or_else(|| places.max_by_key(largest));
            if let Some(next) = next {
                counts[next] += 1;
            }
        }
        counts
    }

    /// The nodes that have to give, at most one a token, with what each has above the level that all of them come down
    /// to.
    fn above_level(&self, need: u128, tokens: usize, taker: Option<usize>) -> Vec<(usize, u128)> {
        let mut heaviest: Vec<usize> = (0..self.nodes.len())
            .filter(|&node| Some(node) != taker)
            .collect();
        // By load over weight, the heaviest first, without a division. Loads are at most 2^64, weights below 2^30.
        let order = |&a: &usize, &b: &usize| {
            let (a_node, b_node) = (&self.nodes[a], &self.nodes[b]);
            let a_load = a_node.load * u128::from(b_node.weight);
            let b_load = b_node.load * u128::from(a_node.weight);
            b_load.cmp(&a_load).then(a.cmp(&b))
        };
        if heaviest.len() > tokens {
            heaviest.select_nth_unstable_by(tokens, order);
            heaviest.truncate(tokens);
        }
        heaviest.sort_unstable_by(order);
        let (mut load, mut weight, mut donors) = (0_u128, 0_u128, 0);
        for &node in &heaviest {
            let Holder {
                load: own,
                weight: own_weight,
                ..
            } = &self.nodes[node];
            let own_weight = u128::from(*own_weight);
            // Whoever lies below the level of those before has nothing to give.
            if donors > 0 && own * weight <= load.saturating_sub(need) * own_weight {
                break;
            }
            load += own;
            weight += own_weight;
            donors += 1;
        }
        heaviest.truncate(donors);
        let level = load.saturating_sub(need);
        let excess = |node: usize| {
            let Holder {
                load, weight: own, ..
            } = &self.nodes[node];
            load.saturating_sub(level * u128::from(*own) / weight.max(1))
        };
        heaviest
            .into_iter()
            .map(|node| (node, excess(node)))
            .collect()
    }

    fn finish(self) -> AllocatedRing {
        let mut pairs: Vec<(u64, u32)> = (0..)
            .zip(&self.nodes)
            .flat_map(|(number, node)| {
                // A size of 2^64 comes round to its start.
                node.ranges
                    .iter()
                    .map(move |range| (range.start.wrapping_add(range.size as u64), number))
            })
            .collect();
        pairs.sort_unstable();
        let (tokens, owners) = pairs.into_iter().unzip();
        let (nodes, weights) = self
            .nodes
            .into_iter()
            .map(|node| (node.id, node.weight))
            .unzip();
        AllocatedRing {
            tokens,
            owners,
            nodes,
            weights,
        }
    }
}

/// The most that is taken of a range: every range stays one.
fn most_of(size: u128) -> u128 {
    size / 10 * 9
}

/// Ranges of one size, for the first node of a ring.
fn even(count: usize) -> Vec<Range> {
    let ends: BTreeSet<u128> = (1..=count as u128)
        .map(|part| SPACE * part / count as u128)
        .collect();
    let mut start = 0;
    ends.into_iter()
        .map(|end| {
            let range = Range {
                start: start as u64,
                size: end - start,
            };
            start = end;
            range
        })
        .collect()
}

/// Tokens of a node of this weight in thousandths: in proportion, at least one, none without weight.
fn token_count(weight: u64, tokens: u32) -> usize {
    let exact = (weight * u64::from(tokens) + 500) / 1000;
    usize::try_from(exact)
        .unwrap_or(usize::MAX)
        .max(usize::from(weight > 0))
}

const SPACE: u128 = 1 << 64;
/// Steps of choosing tokens: some seconds. Enough for 10,000 nodes with 16 tokens each, or 100 with 1,000.
const MOST_WORK: u64 = 200_000_000;

#[cfg(test)]
mod tests {
    use clockwise::{Member, Placement, Scheme, Weight};

    use super::*;

    fn list(weights: &[(&str, u32)]) -> Membership {
        Membership::new(weights.iter().map(|&(id, milli)| {
            Member::new(NodeId::new(id).unwrap()).with_weight(Weight::from_milli(milli).unwrap())
        }))
        .unwrap()
    }

    fn numbered(nodes: usize) -> Membership {
        Membership::new(
            (0..nodes).map(|node| Member::new(NodeId::new(&format!("n{node}")).unwrap())),
        )
        .unwrap()
    }

    /// Share of the space of each node over what its weight asks for.
    fn ratios(ring: &AllocatedRing, membership: &Membership) -> Vec<f64> {
        let total: u64 = membership
            .members()
            .iter()
            .map(|m| u64::from(m.weight().milli()))
            .sum();
        membership
            .members()
            .iter()
            .filter(|member| member.weight().milli() > 0)
            .map(|member| {
                let node = ring.nodes.iter().position(|id| id == member.id()).unwrap() as u32;
                let mut before = *ring.tokens.last().unwrap();
                let mut load = 0_u128;
                for (&token, &owner) in ring.tokens.iter().zip(&ring.owners) {
                    if owner == node {
                        load += if ring.tokens.len() == 1 {
                            SPACE
                        } else {
                            u128::from(token.wrapping_sub(before))
                        };
                    }
                    before = token;
                }
                load as f64 / SPACE as f64 * total as f64 / f64::from(member.weight().milli())
            })
            .collect()
    }

    fn spread(ratios: &[f64]) -> (f64, f64) {
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let squares: f64 = ratios.iter().map(|ratio| (ratio - 1.0).powi(2)).sum();
        (most, (squares / ratios.len() as f64).sqrt())
    }

    #[test]
    fn sixteen_chosen_tokens_are_far_more_even_than_sixteen_at_random() {
        let scheme: Scheme = "ring,tokens=16".parse().unwrap();
        for nodes in [2, 3, 10, 11, 50, 100, 300] {
            let membership = numbered(nodes);
            let random = Placement::build(&scheme, &membership).unwrap();
            let shares = random.space_shares().unwrap();
            let random: Vec<f64> = shares
                .iter()
                .map(|share| share.as_f64() * nodes as f64)
                .collect();
            let ring = AllocatedRing::new(16, &membership);
            let (chosen, random) = (spread(&ratios(&ring, &membership)), spread(&random));
            assert!(chosen.0 < 1.08 && chosen.1 < 0.05, "{nodes}: {chosen:?}");
            assert!(chosen.1 * 4.0 < random.1, "{nodes}: {chosen:?} {random:?}");
            assert!(ring.tokens.len() <= 16 * nodes);
        }
    }

    #[test]
    fn up_to_as_many_nodes_as_half_the_tokens_it_is_exact() {
        for nodes in 1..=8 {
            let membership = numbered(nodes);
            let (most, sd) = spread(&ratios(&AllocatedRing::new(16, &membership), &membership));
            assert!(most < 1.000_001 && sd < 1e-6, "{nodes}: {most} {sd}");
        }
    }

    #[test]
    fn a_join_moves_no_token_of_another_and_a_leave_only_its_own() {
        let mut ring = AllocatedRing::new(16, &numbered(1));
        for nodes in 2..60 {
            let next = ring.after(16, &numbered(nodes));
            let of = |ring: &AllocatedRing, id: &str| -> Vec<u64> {
                let pairs = ring.tokens.iter().zip(&ring.owners);
                pairs
                    .filter(|(_, owner)| ring.nodes[**owner as usize].as_str() == id)
                    .map(|(&t, _)| t)
                    .collect()
            };
            for node in 0..nodes - 1 {
                let id = format!("n{node}");
                assert_eq!(of(&ring, &id), of(&next, &id));
            }
            assert!(next.tokens.windows(2).all(|pair| pair[0] < pair[1]));
            // Without the new one the ring is the old one again, to the token.
            let back = next.after(16, &numbered(nodes - 1));
            assert_eq!((&back.tokens, &back.owners), (&ring.tokens, &ring.owners));
            ring = next;
        }
    }

    #[test]
    fn weights_are_kept_and_a_change_of_weight_moves_towards_them() {
        let before = list(&[("a", 1000), ("b", 2000), ("c", 500), ("d", 0)]);
        let ring = AllocatedRing::new(16, &before);
        let (most, sd) = spread(&ratios(&ring, &before));
        assert!(most < 1.01 && sd < 0.01, "{most} {sd}");
        assert!(ring.nodes.iter().all(|id| id.as_str() != "d"));
        let after = list(&[("a", 1000), ("b", 2000), ("c", 2000), ("d", 1000)]);
        let next = ring.after(16, &after);
        let (most, sd) = spread(&ratios(&next, &after));
        assert!(most < 1.05 && sd < 0.05, "{most} {sd}");
        // Lighter again: only ranges of those that shrink change hands.
        let back = next.after(16, &before);
        assert!(back.tokens.iter().all(|token| next.tokens.contains(token)));
    }

    #[test]
    fn the_first_token_at_or_after_a_key_owns_it_and_the_next_node_follows() {
        let ring = AllocatedRing {
            tokens: vec![10, 20, 30],
            owners: vec![0, 0, 1],
            nodes: vec![NodeId::new("a").unwrap(), NodeId::new("b").unwrap()],
            weights: vec![1000, 1000],
        };
        for (token, owner, next) in [
            (0, 0, 1),
            (10, 0, 1),
            (11, 0, 1),
            (21, 1, 0),
            (30, 1, 0),
            (31, 0, 1),
        ] {
            assert_eq!(ring.owner(token), Some(owner));
            assert_eq!(ring.owner_and_next(token), (Some(owner), Some(next)));
        }
        let nobody = AllocatedRing::new(16, &Membership::default());
        assert_eq!(
            (nobody.owner(7), nobody.owner_and_next(7)),
            (None, (None, None))
        );
        let alone = AllocatedRing::new(1, &numbered(1));
        assert_eq!(alone.owner_and_next(u64::MAX), (Some(0), None));
        assert_eq!(ratios(&alone, &numbered(1)), [1.0]);
    }
}
