//! How evenly nodes carry what they own.
//!
//! Every ratio is taken against a node's fair share by weight, so that a node of weight 2 with twice the keys counts
//! as even; with equal weights that is the plain mean. Nodes of weight 0 are left out. Deviations are the
//! population's. Cost: O(n log n).

use serde::Serialize;

/// Balance of a number (keys, say) over nodes with weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Balance {
    /// Most on one node.
    pub max: u64,
    /// Least on one node.
    pub min: u64,
    /// All of it over the number of nodes.
    pub mean: f64,
    /// The heaviest node over its fair share.
    pub max_over_mean: f64,
    /// The heaviest node over the median one, both against their fair shares; 0 when the median is 0.
    pub max_over_median: f64,
    /// Standard deviation over the mean.
    pub sd_over_mean: f64,
    /// (heaviest - lightest) over the mean.
    pub spread: f64,
    /// The `sd_over_mean` to expect from this scheme and so many keys.
    pub expected_sd_over_mean: f64,
    /// The part of it that is the scheme's.
    pub scheme_sd_over_mean: f64,
    /// The part of it that comes from counting a limited number of keys.
    pub sampling_sd_over_mean: f64,
}

impl Balance {
    /// Balance of `loads`, each with the node's weight.
    pub(crate) fn new(loads: &[(u64, u32)], scheme_sd: f64, independent_keys: u64) -> Self {
        let loads: Vec<(u64, u32)> = loads
            .iter()
            .copied()
            .filter(|&(_, weight)| weight > 0)
            .collect();
        let total: u64 = loads.iter().fold(0, |sum, load| sum.saturating_add(load.0));
        let weights: f64 = loads.iter().map(|load| f64::from(load.1)).sum();
        let nodes = loads.len() as f64;
        let (Some(max), Some(min)) = (
            loads.iter().map(|l| l.0).max(),
            loads.iter().map(|l| l.0).min(),
        ) else {
            return Self::default();
        };
        // A node that should get the share p of K keys gets it with the relative variance (1 - p) / (p K): for equal
        // weights (N - 1) / K, else the mean over the nodes.
        let sampling_sd = if independent_keys > 0 {
            let odds = |load: &(u64, u32)| weights / f64::from(load.1) - 1.0;
            let mean = loads.iter().map(odds).sum::<f64>() / nodes;
            (mean / independent_keys as f64).sqrt()
        } else {
            0.0
        };
        let expected = Self {
            max,
            min,
            mean: total as f64 / nodes,
            expected_sd_over_mean: scheme_sd.hypot(sampling_sd),
            scheme_sd_over_mean: scheme_sd,
            sampling_sd_over_mean: sampling_sd,
            ..Self::default()
        };
        if total == 0 {
            return expected;
        }
        let fair = |weight: u32| total as f64 * f64::from(weight) / weights;
        let mut ratios: Vec<f64> = loads
            .iter()
            .map(|&(load, weight)| load as f64 / fair(weight))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let (lightest, heaviest) = (ratios[0], ratios[ratios.len() - 1]);
        let middle = (ratios[(ratios.len() - 1) / 2] + ratios[ratios.len() / 2]) / 2.0;
        let variance = ratios
            .iter()
            .map(|ratio| (ratio - 1.0).powi(2))
            .sum::<f64>()
            / nodes;
        Self {
            max_over_mean: heaviest,
            max_over_median: if middle > 0.0 { heaviest / middle } else { 0.0 },
            sd_over_mean: variance.sqrt(),
            spread: heaviest - lightest,
            ..expected
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(loads: &[(u64, u32)]) -> Balance {
        Balance::new(loads, 0.0, 0)
    }

    #[test]
    fn equal_weights_compare_with_the_plain_mean() {
        let balance = of(&[(10, 1000), (20, 1000), (30, 1000), (40, 1000)]);
        assert_eq!((balance.max, balance.min, balance.mean), (40, 10, 25.0));
        assert_eq!((balance.max_over_mean, balance.spread), (1.6, 1.6 - 0.4));
        assert_eq!(balance.max_over_median, 1.6);
        assert!((balance.sd_over_mean - 125_f64.sqrt() / 25.0).abs() < 1e-12);
    }

    #[test]
    fn a_node_with_its_fair_share_by_weight_is_even() {
        let balance = of(&[(100, 1000), (200, 2000), (0, 0), (50, 500)]);
        assert_eq!(
            (balance.max_over_mean, balance.spread, balance.sd_over_mean),
            (1.0, 0.0, 0.0)
        );
        assert_eq!(balance.min, 50);
    }

    #[test]
    fn chance_in_the_keys_is_larger_on_lighter_nodes() {
        let sd = |loads: &[(u64, u32)]| Balance::new(loads, 0.0, 100).sampling_sd_over_mean;
        assert_eq!(sd(&[(1, 1000); 5]), 0.2);
        // Odds of 3, 1 and 3 against a key.
        let unequal = sd(&[(1, 1000), (2, 2000), (1, 1000)]);
        assert!((unequal - (7.0_f64 / 300.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn nothing_at_all_is_zeros() {
        assert_eq!(of(&[]), Balance::default());
        assert_eq!(of(&[(5, 0)]), Balance::default());
        assert_eq!(of(&[(0, 1), (0, 1)]).max_over_mean, 0.0);
    }
}
