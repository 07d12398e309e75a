//! Whether tokens lie as evenly as independent ones would.
//!
//! Counts tokens in 65,536 equal cells of the token space. For n independent tokens chi-square over its degrees of
//! freedom is about 1; keys that a weak hash puts in clumps of ten make it about 10, and the sample then says no more
//! than n / 10 independent keys would. Source: the design effect of cluster samples (Kish, 1965).

use clockwise::Token;

#[derive(Clone, Debug)]
pub(crate) struct Clumps {
    shift: u32,
    cells: Vec<u32>,
}

impl Clumps {
    pub(crate) fn new(token_bits: u32) -> Self {
        Self {
            shift: token_bits.saturating_sub(CELL_BITS),
            cells: vec![0; 1 << CELL_BITS],
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, token: Token) {
        let cell = (token.0 >> self.shift) as usize & (self.cells.len() - 1);
        self.cells[cell] = self.cells[cell].saturating_add(1);
    }

    /// How many independent keys the sample is worth; the number of keys itself where nothing speaks against it.
    pub(crate) fn effective_keys(&self) -> u64 {
        let keys: u64 = self.cells.iter().map(|&count| u64::from(count)).sum();
        if keys < 2 {
            return keys;
        }
        let mean = keys as f64 / self.cells.len() as f64;
        let chi_square: f64 = self
            .cells
            .iter()
            .map(|&count| (f64::from(count) - mean).powi(2) / mean)
            .sum();
        let freedom = (self.cells.len() - 1) as f64;
        let design_effect = chi_square / freedom;
        // Chance alone moves the quotient by sqrt(2 / freedom), about 0.6 %; five times that is no chance.
        if design_effect <= 1.0 + 5.0 * (2.0 / freedom).sqrt() {
            return keys;
        }
        (keys as f64 / design_effect).round() as u64
    }
}

const CELL_BITS: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use clockwise::hash::{Rng, fnv1a_64, xxh3_64};

    fn effective(tokens: impl Iterator<Item = u64>) -> u64 {
        let mut clumps = Clumps::new(64);
        tokens.for_each(|token| clumps.add(Token(token)));
        clumps.effective_keys()
    }

    #[test]
    fn independent_tokens_count_in_full() {
        for keys in [0, 1, 2, 1000, 300_000] {
            let mut rng = Rng::new(keys);
            assert_eq!(effective((0..keys).map(|_| rng.next_u64())), keys);
        }
    }

    #[test]
    fn names_that_differ_in_the_last_digit_clump_under_raw_fnv_and_not_under_xxh3() {
        let names = || (0..1_000_000).map(|i| format!("user:{i}"));
        let raw = effective(names().map(|name| fnv1a_64(name.as_bytes())));
        assert!((80_000..130_000).contains(&raw), "{raw}");
        assert_eq!(
            effective(names().map(|name| xxh3_64(name.as_bytes()))),
            1_000_000
        );
    }
}
