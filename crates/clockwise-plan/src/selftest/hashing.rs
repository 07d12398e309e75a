//! What article 004 asks of consistent hashing, on its own ring and modulo: 20,000 keys, nodes `node1`, `node2`, ….

use clockwise::hash::KeyHash;
use clockwise::{Membership, Placement, Scheme, Token};

use super::{Check, check};
use crate::percent;
use crate::tables::counting::{Nodes, spread, tokens};

pub(super) fn checks() -> Vec<Check> {
    let keys = tokens(
        KeyHash::Fnv1a32Utf16Fmix32,
        (0..20_000).map(|i| format!("key:{i}")),
    );
    let mut checks = Vec::new();
    for n in [2, 4, 8] {
        let grown = f64::from(n + 1);
        for (name, scheme, theory) in [
            ("modulo", "articles/004-modulo", f64::from(n) / grown),
            ("ring", RING, 1.0 / grown),
        ] {
            let [before, after] =
                [n, n + 1].map(|n| Nodes::new(scheme, "node", 1..=n).owners(&keys));
            let moves = before.moves_to(&after);
            let share = moves.total() as f64 / keys.len() as f64;
            checks.push(check(
                format!(
                    "{name}, {n} to {} nodes: about {} of the keys move",
                    n + 1,
                    percent(theory)
                ),
                Some((share - theory).abs() < MOVED_TOLERANCE),
            ));
            if name == "ring" {
                checks.push(check(
                    format!(
                        "ring, {n} to {} nodes: keys move to the new node only",
                        n + 1
                    ),
                    Some(moves.not_to(usize::from(n + 1)) == 0),
                ));
            }
        }
    }
    checks.extend(spreads(&keys));
    checks.extend(one_ring(&keys));
    checks
}

/// More vnodes spread keys more evenly.
fn spreads(keys: &[Token]) -> Vec<Check> {
    let vnodes = [1, 10, 100, 500];
    let spreads = vnodes.map(|v| {
        let ring = Nodes::new(&format!("articles/004-ring,tokens={v}"), "node", 1..=5);
        spread(&ring.owners(keys).counts()[1..=5])
    });
    let falls = vnodes
        .windows(2)
        .zip(spreads.windows(2))
        .map(|(v, spread)| {
            let name = format!("spread falls from {} to {} vnodes", v[0], v[1]);
            check(name, Some(spread[1] < spread[0]))
        });
    let mut checks: Vec<Check> = falls.collect();
    checks.push(check(
        format!("spread is over {} with 1 vnode", percent(SPREAD_OF_1_OVER)),
        Some(spreads[0] > SPREAD_OF_1_OVER),
    ));
    checks.push(check(
        format!(
            "spread is under {} with 500 vnodes",
            percent(SPREAD_OF_500_UNDER)
        ),
        Some(spreads[3] < SPREAD_OF_500_UNDER),
    ));
    checks
}

fn one_ring(keys: &[Token]) -> Vec<Check> {
    let five = Nodes::new(RING, "node", 1..=5);
    let ring = &five.placement;
    let owners = five.owners(keys);
    let again = Nodes::new(RING, "node", 1..=5).owners(keys) == owners;
    let owned = keys.iter().all(|&key| ring.owner_of_token(key).is_some());
    let member = ring.members().get(2).cloned();
    let restored = member.and_then(|member| {
        let without = ring.without_member(member.id()).ok()?;
        let back = without.with_member(member).ok()?;
        Some(without.token_count() < ring.token_count() && back.tokens().eq(ring.tokens()))
    });
    let empty = RING.parse().ok().and_then(|scheme: Scheme| {
        let empty = Placement::build(&scheme, &Membership::default()).ok()?;
        Some(keys.iter().all(|&key| empty.owner_of_token(key).is_none()))
    });
    vec![
        check(
            "the same ring built twice gives the same owners",
            Some(again),
        ),
        check(
            "a node removed and added again gives the old ring",
            restored,
        ),
        check("no key is without an owner", Some(owned)),
        check("an empty ring gives no owner", empty),
    ]
}

/// The article's ring with the vnodes of its self-test.
const RING: &str = "articles/004-ring,tokens=200";

/// How far a share of moved keys may be from theory, as the article has it.
pub const MOVED_TOLERANCE: f64 = 0.05;
/// With one vnode a node, the spread of five nodes is above this.
pub const SPREAD_OF_1_OVER: f64 = 1.0;
/// With 500 vnodes a node, it is below this.
pub const SPREAD_OF_500_UNDER: f64 = 0.25;
