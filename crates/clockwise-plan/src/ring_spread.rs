//! How unevenly rings share their space, over many lists of names: what one list of names is a single draw of.
//!
//! What it is: the parts of the space that a ring's nodes get are Dirichlet distributed with each node's number of
//! tokens, so a draw is one gamma variate a node and needs no ring. What it promises: the same figures each time; the
//! exact law of tokens at random, for any weights. What it does not: know the names or the hash at hand. Cost: some
//! tens of nanoseconds a node and draw. Source: Dirichlet spacings; gamma variates by Marsaglia and Tsang, 2000.

use clockwise::hash::Rng;

/// What was seen over all draws; every share is taken over what the node's tokens ask for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RingSpread {
    /// Lists of names drawn.
    pub(crate) draws: usize,
    /// Mean of the standard deviation over nodes.
    pub(crate) sd: f64,
    /// Standard deviation of that standard deviation.
    pub(crate) sd_of_sd: f64,
    /// Mean of the heaviest node.
    pub(crate) max_over_mean: f64,
    /// The heaviest node of each draw, ascending.
    maxima: Vec<f64>,
}

impl RingSpread {
    /// Draws rings whose nodes hold so many tokens each; `None` for fewer than two nodes, or more than
    /// [`MOST_NODES`].
    pub(crate) fn new(held: &[f64]) -> Option<Self> {
        if held.len() < 2 || held.len() > MOST_NODES {
            return None;
        }
        let all: f64 = held.iter().sum();
        let draws = (MOST_VARIATES / held.len()).clamp(LEAST_DRAWS, MOST_DRAWS);
        let mut variates = Variates::new();
        let mut ratios = vec![0.0; held.len()];
        let (mut deviations, mut maxima) = (Vec::new(), Vec::new());
        for _ in 0..draws {
            for (ratio, &tokens) in ratios.iter_mut().zip(held) {
                *ratio = variates.gamma(tokens);
            }
            let total: f64 = ratios.iter().sum();
            for (ratio, tokens) in ratios.iter_mut().zip(held) {
                *ratio *= all / (total * tokens);
            }
            let squares: f64 = ratios.iter().map(|ratio| (ratio - 1.0).powi(2)).sum();
            deviations.push((squares / held.len() as f64).sqrt());
            maxima.push(ratios.iter().copied().fold(0.0, f64::max));
        }
        maxima.sort_by(f64::total_cmp);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / draws as f64;
        let sd = mean(&deviations);
        let squares: Vec<f64> = deviations.iter().map(|one| (one - sd).powi(2)).collect();
        Some(Self {
            draws,
            sd,
            sd_of_sd: mean(&squares).sqrt(),
            max_over_mean: mean(&maxima),
            maxima,
        })
    }

    /// The heaviest node that this share of the draws stays at or below.
    pub(crate) fn max_of(&self, share: f64) -> f64 {
        let place = (share * self.maxima.len() as f64).ceil() as usize;
        self.maxima[place.clamp(1, self.maxima.len()) - 1]
    }
}

/// Random numbers from a fixed seed.
struct Variates {
    rng: Rng,
    /// The second normal variate of a pair.
    spare: Option<f64>,
}

impl Variates {
    fn new() -> Self {
        Self {
            rng: Rng::new(SEED),
            spare: None,
        }
    }

    /// Above 0, below 1.
    fn unit(&mut self) -> f64 {
        ((self.rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A standard normal variate, by Marsaglia's polar method.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }

    /// A gamma variate of scale 1.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let larger = self.gamma(shape + 1.0);
            return larger * self.unit().powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.unit().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }
}

/// Any fixed number: the same figures each time.
const SEED: u64 = 42;
/// Enough for the worst of a hundred to be an average of ten.
const MOST_DRAWS: usize = 1000;
/// Fewer say nothing about the worst of a hundred.
const LEAST_DRAWS: usize = 100;
/// Some milliseconds of work for a candidate.
const MOST_VARIATES: usize = 200_000;
/// Above that even the fewest draws take longer than a plan should.
pub(crate) const MOST_NODES: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::ring_share_sd;

    #[test]
    fn the_published_means_over_a_thousand_rings_are_met_within_three_standard_errors() {
        // Article 000: mean sd and mean max/mean of 1,000 clusters of five nodes; ours and theirs both have an error.
        for (tokens, sd, max) in [
            (1.0, 0.767, 2.266),
            (10.0, 0.2628, 1.390),
            (100.0, 0.0845, 1.1191),
            (200.0, 0.0604, 1.0846),
        ] {
            let spread = RingSpread::new(&[tokens; 5]).unwrap();
            assert_eq!(spread.draws, 1000);
            let error = spread.sd_of_sd * (2.0 / 1000_f64).sqrt();
            assert!(
                (spread.sd - sd).abs() < 3.0 * error,
                "{tokens}: {}",
                spread.sd
            );
            // The maximum's own deviation is below twice that of the sd times the number of nodes' root.
            let error = error * 5_f64.sqrt();
            assert!(
                (spread.max_over_mean - max).abs() < 3.0 * error,
                "{tokens}: {}",
                spread.max_over_mean
            );
        }
    }

    #[test]
    fn the_mean_square_is_that_of_the_beta_law_for_equal_and_for_unequal_nodes() {
        for tokens in [1, 40, 160] {
            let spread = RingSpread::new(&[f64::from(tokens); 8]).unwrap();
            let mean_square = spread.sd.powi(2) + spread.sd_of_sd.powi(2);
            let law = ring_share_sd(8, u64::try_from(tokens).unwrap());
            assert!((mean_square.sqrt() / law - 1.0).abs() < 0.05, "{tokens}");
        }
        // 50, 100 and 200 of 350 tokens: the mean of (V - v) / (v (V + 1)).
        let law = [50.0, 100.0, 200.0]
            .iter()
            .map(|v| (350.0 - v) / (v * 351.0))
            .sum::<f64>()
            / 3.0;
        let spread = RingSpread::new(&[50.0, 100.0, 200.0]).unwrap();
        let mean_square = spread.sd.powi(2) + spread.sd_of_sd.powi(2);
        assert!((mean_square / law - 1.0).abs() < 0.1);
    }

    #[test]
    fn quantiles_rise_and_one_node_has_none() {
        let spread = RingSpread::new(&[100.0; 5]).unwrap();
        assert!(spread.max_of(0.5) < spread.max_of(0.9));
        assert!(spread.max_of(0.9) < spread.max_of(1.0));
        assert_eq!(RingSpread::new(&[100.0]), None);
        assert_eq!(RingSpread::new(&[]), None);
    }
}
