//! Probed slots by the scheme definitions: thresholds 0 to 65536, 64 probes, then a race over the open slots.

use super::{
    hash::{G, mix},
    jumpback::jumpback,
    weight::cost,
};

/// The threshold of a full slot.
pub(crate) const FULL: u32 = 65536;

/// The slot that probe `i` of a key names, and whether it takes the key.
pub(crate) fn candidate(key: u64, i: u64, thresholds: &[u32]) -> (usize, bool) {
    let s = if i == 0 {
        key
    } else {
        mix((key ^ 0x6A09_E667_F3BC_C908).wrapping_add(i.wrapping_mul(G)))
    };
    let c = jumpback(s, thresholds.len());
    let t = thresholds[c];
    let u = mix(s ^ mix(c as u64 + 0x5BD1_E995)) >> 48;
    (c, t == FULL || (t != 0 && u < u64::from(t)))
}

/// Open slots in the order of the race that follows the probes.
pub(crate) fn race(key: u64, thresholds: &[u32]) -> Vec<usize> {
    let mut open: Vec<usize> = (0..thresholds.len())
        .filter(|&c| thresholds[c] > 0)
        .collect();
    open.sort_by_key(|&c| {
        let score = mix(key ^ mix((c as u64).wrapping_add(G)));
        (cost(score, thresholds[c]), c)
    });
    open
}

/// The whole sequence of a key: what the probes take, in order and with repeats, then the race.
pub(crate) fn sequence(key: u64, thresholds: &[u32]) -> Vec<usize> {
    if thresholds.is_empty() {
        return Vec::new();
    }
    let mut taken: Vec<usize> = (0..64)
        .map(|i| candidate(key, i, thresholds))
        .filter(|&(_, takes)| takes)
        .map(|(c, _)| c)
        .collect();
    taken.extend(race(key, thresholds));
    taken
}

/// The owner; `None` when no slot is open.
pub(crate) fn slot(key: u64, thresholds: &[u32]) -> Option<usize> {
    sequence(key, thresholds).first().copied()
}
