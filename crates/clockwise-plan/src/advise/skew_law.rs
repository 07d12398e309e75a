//! How likely the heaviest node of a ring stays within a multiple of its fair share, by law.
//!
//! What it is: a node's part of a ring with v of V tokens is Beta(v, V - v) distributed, and the parts of all nodes are
//! negatively associated, so the chance that none of N is above a limit lies between 1 - N q and (1 - q)^N, q being the
//! chance for one. What it promises: both bounds, which differ by less than N^2 q^2 / 2. What it does not: unequal weights.
//! Cost: a few square roots of the number of tokens. Source: Dirichlet spacings; the union bound; negative association of
//! the Dirichlet distribution (Joag-Dev and Proschan, 1983).

use libm::lgamma;

/// The law for so many equal nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkewLaw {
    pub(crate) nodes: u64,
}

impl SkewLaw {
    /// Chance that one node of `tokens` tokens has more than `skew` times its fair share.
    pub(crate) fn one_above(self, tokens: u32, skew: f64) -> f64 {
        let nodes = self.nodes as f64;
        let limit = skew / nodes;
        if self.nodes < 2 || limit >= 1.0 {
            return 0.0;
        }
        let own = f64::from(tokens.max(1));
        binomial_at_most(own - 1.0, own * nodes - 1.0, limit)
    }

    /// The least and the most that the chance can be that no node has more than `skew` times its fair share.
    pub(crate) fn kept(self, tokens: u32, skew: f64) -> (f64, f64) {
        let (one, nodes) = (self.one_above(tokens, skew), self.nodes as f64);
        let most = (nodes * (-one).ln_1p()).exp();
        ((1.0 - nodes * one).max(0.0), most)
    }

    /// The fewest tokens that surely keep the skew with this chance; `None` above `most`.
    ///
    /// The chance rises with the tokens wherever it is a half or more, so halving finds the place.
    pub(crate) fn fewest_tokens(self, skew: f64, confidence: f64, most: u32) -> Option<u32> {
        let keeps = |tokens| self.kept(tokens, skew).0 >= confidence;
        if !keeps(most) {
            return None;
        }
        let (mut below, mut fewest) = (0, most);
        while fewest - below > 1 {
            let middle = below + (fewest - below) / 2;
            if keeps(middle) {
                fewest = middle;
            } else {
                below = middle;
            }
        }
        Some(fewest)
    }

    /// The skew that so many tokens surely keep with this chance.
    pub(crate) fn skew_of(self, tokens: u32, confidence: f64) -> f64 {
        let (mut below, mut skew) = (1.0, self.nodes.max(1) as f64);
        for _ in 0..HALVINGS {
            let middle = (below + skew) / 2.0;
            if self.kept(tokens, middle).0 >= confidence {
                skew = middle;
            } else {
                below = middle;
            }
        }
        skew
    }
}

/// Chance of at most `count` hits in `tries` tries of the chance `hit`, which is that a Beta(count + 1, tries - count)
/// variate is above `hit`. Terms are added from the largest down, for a count at or below the mean.
fn binomial_at_most(count: f64, tries: f64, hit: f64) -> f64 {
    let ways = lgamma(tries + 1.0) - lgamma(count + 1.0) - lgamma(tries - count + 1.0);
    let mut term = (ways + count * hit.ln() + (tries - count) * (-hit).ln_1p()).exp();
    let (mut sum, mut hits) = (term, count);
    while hits > 0.0 && term > sum * f64::EPSILON {
        term *= hits / (tries - hits + 1.0) * ((1.0 - hit) / hit);
        sum += term;
        hits -= 1.0;
    }
    sum.min(1.0)
}

/// Brings a million nodes' range to less than a millionth.
const HALVINGS: u32 = 45;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring_spread::RingSpread;

    #[test]
    fn the_bounds_hold_the_share_of_a_thousand_drawn_rings() {
        for (nodes, tokens) in [
            (2, 100),
            (5, 40),
            (16, 160),
            (100, 1000),
            (5, 20_000),
            (8, 100_000),
        ] {
            let law = SkewLaw { nodes };
            let spread = RingSpread::new(&vec![f64::from(tokens); nodes as usize]).unwrap();
            for share in [0.6, 0.9, 0.99] {
                let skew = spread.max_of(share);
                let (least, most) = law.kept(tokens, skew);
                assert!(least <= most);
                // The quantile of so many draws strays by three standard errors in share.
                let error = 3.0 * (share * (1.0 - share) / spread.draws as f64).sqrt();
                assert!(
                    share + error >= least && share - error <= most,
                    "{nodes} {tokens} {share}: {least} {most}"
                );
            }
        }
    }

    #[test]
    fn one_of_two_nodes_with_one_token_has_a_uniform_part() {
        let law = SkewLaw { nodes: 2 };
        for skew in [1.0, 1.2, 1.9] {
            assert!((law.one_above(1, skew) - (1.0 - skew / 2.0)).abs() < 1e-12);
        }
        assert_eq!(law.kept(1, 2.0), (1.0, 1.0));
        assert_eq!(SkewLaw { nodes: 1 }.kept(1, 1.0), (1.0, 1.0));
    }

    #[test]
    fn the_fewest_tokens_keep_the_skew_and_one_less_does_not() {
        for (nodes, skew, confidence) in [
            (2, 1.1, 0.99),
            (16, 1.1, 0.99),
            (16, 1.5, 0.5),
            (1000, 1.05, 0.999),
        ] {
            let law = SkewLaw { nodes };
            let fewest = law.fewest_tokens(skew, confidence, 1 << 24).unwrap();
            assert!(law.kept(fewest, skew).0 >= confidence);
            assert!(fewest == 1 || law.kept(fewest - 1, skew).0 < confidence);
            assert!((law.skew_of(fewest, confidence) - skew).abs() < 0.05 * (skew - 1.0) + 1e-6);
        }
        assert_eq!(SkewLaw { nodes: 16 }.fewest_tokens(1.1, 0.99, 100), None);
    }
}
