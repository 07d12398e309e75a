//! The table that moves the fewest slots away from a previous one.
//!
//! A node above its due gives its lowest-numbered slots, a node that is gone gives all; the free slots, ascending, go
//! to the members below their due in id order, each filled before the next. Moves exactly the sum of what members
//! lack, the least possible. The result is history: it depends on the previous table and has to be stored. Cost:
//! O(slots + nodes).

use alloc::vec::Vec;

/// The owner of each slot. `previous` holds the owner until now, `None` where it is no member any more; `due` sums
/// to the number of slots, or is all 0 when nobody takes any.
pub(crate) fn least_movement(previous: &[Option<u32>], due: &[u32]) -> Vec<u32> {
    if due.iter().all(|&slots| slots == 0) {
        return Vec::new();
    }
    let mut have = alloc::vec![0_u32; due.len()];
    for &owner in previous.iter().flatten() {
        have[owner as usize] += 1;
    }
    let mut surplus: Vec<u32> = have
        .iter()
        .zip(due)
        .map(|(&have, &due)| have.saturating_sub(due))
        .collect();
    let mut takers = have
        .iter()
        .zip(due)
        .enumerate()
        .flat_map(|(node, (&have, &due))| {
            core::iter::repeat_n(node as u32, due.saturating_sub(have) as usize)
        });
    let mut keep = |owner: u32| {
        let gives = surplus[owner as usize] > 0;
        surplus[owner as usize] -= u32::from(gives);
        !gives
    };
    // What all give is what all lack, so a taker remains for every free slot.
    previous
        .iter()
        .filter_map(|&owner| owner.filter(|&owner| keep(owner)).or_else(|| takers.next()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_numbered_surplus_slots_move_to_the_first_member_that_lacks() {
        let before = [0, 0, 0, 0, 1, 1, 1, 1].map(Some);
        assert_eq!(
            least_movement(&before, &[3, 3, 2]),
            [2, 0, 0, 0, 2, 1, 1, 1]
        );
    }

    #[test]
    fn a_removed_members_slots_all_move_and_no_others() {
        let before = [Some(0), None, Some(1), None];
        assert_eq!(least_movement(&before, &[2, 2]), [0, 0, 1, 1]);
    }

    #[test]
    fn nobody_due_gives_an_empty_table() {
        assert_eq!(least_movement(&[Some(0), None], &[0]), []);
    }
}
