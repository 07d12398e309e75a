//! Article 000: how evenly rings of random tokens share their space, over a thousand clusters of five nodes.
//!
//! The generator is CPython's `random.Random(42)`: MT19937 (Matsumoto and Nishimura, 1998) seeded by an array with the
//! one word 42, and doubles of 53 bits. One generator serves all four numbers of tokens in turn.

use rand_mt::Mt;
use serde_json::{Map, Value, json};

pub(super) fn figures() -> Vec<(String, Value)> {
    let mut random = PythonRandom::new(42);
    let mut values = Map::new();
    for vnodes in [1_u32, 10, 100, 200] {
        let (mut deviations, mut squares, mut maxima) = (0.0, 0.0, 0.0);
        for _ in 0..CLUSTERS {
            let shares = shares(vnodes, &mut random);
            let mean = 1.0 / f64::from(NODES);
            let variance = shares
                .iter()
                .map(|share| (share - mean).powi(2))
                .sum::<f64>()
                / f64::from(NODES)
                / (mean * mean);
            deviations += variance.sqrt();
            squares += variance;
            maxima += shares.iter().copied().fold(0.0, f64::max) / mean;
        }
        let clusters = f64::from(CLUSTERS);
        let row = json!({
            "mean_rel_pstdev": deviations / clusters,
            "mean_max_over_mean": maxima / clusters,
            "formula": crate::theory::ring_share_sd(u64::from(NODES), u64::from(vnodes)),
            "rms_rel_sd": (squares / clusters).sqrt(),
        });
        values.insert(vnodes.to_string(), row);
    }
    vec![("/seed_000/thong_ke/values".to_owned(), values.into())]
}

/// The part of the space of each node of one cluster: all arcs that end at its tokens.
fn shares(vnodes: u32, random: &mut PythonRandom) -> [f64; NODES as usize] {
    let mut tokens: Vec<(f64, usize)> = (0..NODES as usize)
        .flat_map(|node| (0..vnodes).map(move |_| node))
        .map(|node| (random.next_f64(), node))
        .collect();
    tokens.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut shares = [0.0; NODES as usize];
    // The first token's arc goes back over zero to the last.
    let mut last = tokens.last().map_or(0.0, |token| token.0 - 1.0);
    for (token, node) in tokens {
        shares[node] += token - last;
        last = token;
    }
    shares
}

/// The generator of CPython's `random.Random(seed)`.
struct PythonRandom(Mt);

impl PythonRandom {
    fn new(seed: u32) -> Self {
        Self(Mt::new_with_key([seed]))
    }

    /// The next double from 0 to below 1.
    fn next_f64(&mut self) -> f64 {
        let high = f64::from(self.0.next_u32() >> 5);
        let low = f64::from(self.0.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }
}

const CLUSTERS: u32 = 1000;
const NODES: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_those_of_cpython() {
        // random.Random(42) of CPython 3.11: three calls of random().
        let mut random = PythonRandom::new(42);
        let drawn = [0; 3].map(|_| random.next_f64());
        assert_eq!(
            drawn,
            [
                0.639_426_798_457_883_7,
                0.025_010_755_222_666_936,
                0.275_029_318_369_119_26
            ]
        );
    }
}
