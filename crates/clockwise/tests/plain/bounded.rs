//! Bounded load by the scheme definitions: caps as exact fractions, rounded up.

/// ceil(factor x total x weight / all weights), the factor in thousandths.
pub(crate) fn cap(factor_milli: u32, total: u64, weight: u32, weights: u64) -> u64 {
    let over = u128::from(factor_milli) * u128::from(total) * u128::from(weight);
    let under = 1000 * u128::from(weights);
    let mut cap = over / under;
    if cap * under < over {
        cap += 1;
    }
    cap as u64
}

/// The node for one more request: the first of the ranking that stays within its cap, the first of all if none does.
/// `loads` holds `None` for a node that is kept out.
pub(crate) fn live(
    ranking: &[usize],
    weights: &[u32],
    loads: &[Option<u64>],
    factor_milli: u32,
) -> Option<usize> {
    let usable: Vec<usize> = ranking
        .iter()
        .copied()
        .filter(|&i| loads[i].is_some())
        .collect();
    let total = loads.iter().flatten().sum::<u64>() + 1;
    let all: u64 = (0..loads.len())
        .filter(|&i| loads[i].is_some())
        .map(|i| u64::from(weights[i]))
        .sum();
    for &i in &usable {
        if loads[i].expect("usable") < cap(factor_milli, total, weights[i], all) {
            return Some(i);
        }
    }
    usable.first().copied()
}

/// The node of every key in the order of `rankings`, keys being placed in the order `turns`, no node over its cap.
pub(crate) fn batch(
    rankings: &[Vec<usize>],
    turns: &[usize],
    weights: &[u32],
    factor_milli: u32,
) -> Vec<Option<usize>> {
    let all: u64 = weights.iter().map(|&w| u64::from(w)).sum();
    let mut loads = vec![0; weights.len()];
    let mut nodes = vec![None; rankings.len()];
    for &key in turns {
        let total = rankings.len() as u64;
        let room = rankings[key]
            .iter()
            .find(|&&i| loads[i] < cap(factor_milli, total, weights[i], all));
        nodes[key] = room.or(rankings[key].first()).copied();
        if let Some(node) = nodes[key] {
            loads[node] += 1;
        }
    }
    nodes
}
