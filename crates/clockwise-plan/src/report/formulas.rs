//! Formulas beside what was measured: what the scheme's laws expect of this change, figure by figure.
//!
//! Promises closed forms with their numbers, each with the standard deviation that chance leaves where there is one. A
//! figure that has no meaning for the scheme is left out. Cost: O(tokens). Source: the laws of [`theory`](crate::theory).

use clockwise::{Algorithm, Placement};
use serde::Serialize;

use super::tokens::TokenAdvice;
use super::{Basis, Node, Plan};
use crate::census::Change;
use crate::number::grouped;
use crate::theory::{self, ArcLaw};

/// A figure by formula, and as measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Formula {
    /// Short name, fixed for ever.
    pub name: &'static str,
    /// The formula, with its numbers.
    pub formula: String,
    /// What it gives.
    pub expected: f64,
    /// What was found; `None` where it is another scheme's figure.
    pub measured: Option<f64>,
    /// Standard deviation that chance leaves, in names or in keys; `None` where nothing was measured.
    pub sd: Option<f64>,
    /// How many of these the measured figure is above the expected one.
    pub deviations: Option<f64>,
    /// How sure the measured figure is; shares of the space are always exact.
    pub basis: Option<Basis>,
}

impl Formula {
    fn new(name: &'static str, formula: String, expected: f64) -> Self {
        Self {
            name,
            formula,
            expected,
            measured: None,
            sd: None,
            deviations: None,
            basis: None,
        }
    }

    fn measured(self, measured: f64, sd: f64, basis: Basis) -> Self {
        Self {
            measured: Some(measured),
            sd: Some(sd),
            deviations: (sd > 0.0).then(|| (measured - self.expected) / sd),
            basis: Some(basis),
            ..self
        }
    }
}

/// All figures that this change has.
pub(super) fn formulas(change: &Change, plan: &Plan) -> Vec<Formula> {
    let advice = plan.tokens.as_ref();
    let edit = Edit::of(&plan.nodes);
    let mut list = vec![moved(change, plan, &edit)];
    list.extend(modulo(change, plan, &edit));
    list.extend(edit.share(change, plan));
    list.extend(longest_arc(&change.to));
    list.extend(advice.map(share_sd));
    list.extend(keys_sd(change, plan, advice));
    list
}

/// Nodes that come, or nodes that go, with all others as they were.
#[derive(Debug, Default)]
struct Edit<'p> {
    come: Vec<&'p Node>,
    go: Vec<&'p Node>,
    /// Nodes with weight, before and after.
    counts: (u64, u64),
    /// Whether a node on both sides has another weight.
    reweighted: bool,
}

impl<'p> Edit<'p> {
    fn of(nodes: &'p [Node]) -> Self {
        let mut edit = Self::default();
        for node in nodes {
            let (before, after) = (node.sides.before.weight, node.sides.after.weight);
            edit.counts.0 += u64::from(before > 0.0);
            edit.counts.1 += u64::from(after > 0.0);
            match (before > 0.0, after > 0.0) {
                (false, true) => edit.come.push(node),
                (true, false) => edit.go.push(node),
                _ => edit.reweighted |= before != after,
            }
        }
        edit
    }

    fn is_pure(&self) -> bool {
        let one_way = self.come.is_empty() != self.go.is_empty();
        one_way && !self.reweighted && self.counts.0 > 0 && self.counts.1 > 0
    }

    /// The formula of the least that moves, for nodes of equal weight and for others.
    fn text(&self, nodes: &[Node]) -> String {
        let (before, after) = self.counts;
        let adds = self.go.is_empty();
        let weight = |node: &Node| node.sides.before.weight.max(node.sides.after.weight);
        let mut weights = nodes.iter().map(weight).filter(|&weight| weight > 0.0);
        let first = weights.next();
        if !weights.all(|weight| Some(weight) == first) {
            let which = if adds { "new" } else { "old" };
            return format!("w/W, of the {which} nodes' weight in all");
        }
        match (adds, before.abs_diff(after)) {
            (true, count) => format!("{count}/(N+{count}), N = {before}"),
            (false, count) => format!("{count}/N, N = {before}"),
        }
    }

    /// What the nodes that come get, or those that go held: under every scheme their part by weight.
    fn share(&self, change: &Change, plan: &Plan) -> Option<Formula> {
        if !self.is_pure() {
            return None;
        }
        let adds = self.go.is_empty();
        let (name, placement, nodes) = if adds {
            ("added_share", &change.to, &self.come)
        } else {
            ("removed_share", &change.from, &self.go)
        };
        let side = |node: &&Node| {
            if adds {
                node.sides.after
            } else {
                node.sides.before
            }
        };
        let expected: f64 = nodes.iter().map(|node| side(node).wanted_share).sum();
        let measured: f64 = nodes.iter().map(|node| side(node).share).sum();
        let spread = expected * (1.0 - expected);
        let by_scheme = match placement.scheme().slot_count() {
            _ if is_ring(placement) => spread / (placement.token_count() as f64 + 1.0),
            // Shares are whole numbers of slots: what is rounded lies evenly over one of them.
            Some(slots) => f64::from(slots).powi(-2) / 12.0,
            None => 0.0,
        };
        let sampling = spread / plan.effective_keys.max(1) as f64;
        let sd = (by_scheme + sampling).sqrt();
        Some(
            Formula::new(name, self.text(&plan.nodes), expected).measured(measured, sd, plan.basis),
        )
    }
}

fn moved(change: &Change, plan: &Plan, edit: &Edit<'_>) -> Formula {
    let (from, to) = (&change.from, &change.to);
    let theory = &plan.theory;
    let is_least = (theory.moved_share - theory.least_moved_share).abs() < 1e-9;
    let alike = from.scheme().name() == to.scheme().name() && from.tokens_like(to);
    let text = if !alike {
        "1 - Σ p p', independent owners".to_owned()
    } else {
        match from.scheme().algorithm() {
            Algorithm::Slots | Algorithm::Maglev | Algorithm::RedisCluster => {
                "slots whose owner differs / slots".to_owned()
            }
            Algorithm::Modulo if edit.is_pure() => modulo_text(edit.counts),
            Algorithm::Modulo => "1 - remainders that meet / lcm(N,M)".to_owned(),
            _ if edit.is_pure() && is_least => edit.text(&plan.nodes),
            Algorithm::Rendezvous => "race of the weights of both sides".to_owned(),
            Algorithm::Ring => "tokens of one side alone / tokens of both".to_owned(),
            _ => "ranges whose number differs".to_owned(),
        }
    };
    Formula::new("moved_share", text, theory.moved_share).measured(
        plan.moved.share,
        theory.moved_share_sd,
        plan.basis,
    )
}

/// What modulo does with these numbers of nodes, which come last in the list or go from its end.
fn modulo(change: &Change, plan: &Plan, edit: &Edit<'_>) -> Option<Formula> {
    if !edit.is_pure() {
        return None;
    }
    let (before, after) = edit.counts;
    let expected = 1.0 - theory::modulo_kept(before, after);
    let formula = Formula::new("modulo_moved_share", modulo_text(edit.counts), expected);
    let is_modulo = |placement: &Placement| placement.scheme().algorithm() == Algorithm::Modulo;
    Some(if is_modulo(&change.from) && is_modulo(&change.to) {
        let sampling = expected * (1.0 - expected) / plan.effective_keys.max(1) as f64;
        formula.measured(plan.moved.share, sampling.sqrt(), plan.basis)
    } else {
        formula
    })
}

fn modulo_text((before, after): (u64, u64)) -> String {
    format!("1 - min(N,M)/lcm(N,M), N = {before}, M = {after}")
}

fn longest_arc(ring: &Placement) -> Option<Formula> {
    let tokens = ring.token_count();
    if !is_ring(ring) || tokens == 0 {
        return None;
    }
    let law = ArcLaw::new(tokens as u64);
    let text = format!("H_M/M, M = {}", grouped(tokens as u64));
    Some(Formula::new("longest_arc", text, law.longest).measured(
        longest_arc_of(ring),
        law.sd,
        Basis::Exact,
    ))
}

/// The longest way from a token to the next, as a part of the whole ring.
fn longest_arc_of(ring: &Placement) -> f64 {
    let ends: Vec<u64> = ring.tokens().map(|(token, _)| token.0).collect();
    let (Some(&first), Some(&last)) = (ends.first(), ends.last()) else {
        return 0.0;
    };
    let bits = ring.scheme().token_bits();
    let around = (1_u128 << bits) - u128::from(last) + u128::from(first);
    let between = ends.windows(2).map(|pair| u128::from(pair[1] - pair[0]));
    between.fold(around, u128::max) as f64 / (1_u128 << bits) as f64
}

fn share_sd(advice: &TokenAdvice) -> Formula {
    let text = if advice.is_even {
        format!(
            "√((N-1)/(Nv+1)), N = {}, v = {}",
            advice.nodes, advice.tokens
        )
    } else {
        format!(
            "√ of the mean of (V-v)/(v(V+1)), V = {}",
            grouped(advice.ranges)
        )
    };
    Formula::new("share_sd", text, advice.expected_sd).measured(
        advice.measured_sd,
        advice.sd_of_sd,
        Basis::Exact,
    )
}

/// How unevenly keys lie: by the scheme's own law and by counting a limited number of keys.
fn keys_sd(change: &Change, plan: &Plan, advice: Option<&TokenAdvice>) -> Option<Formula> {
    let balance = plan.balance.after;
    let nodes = change.to.members().iter();
    let nodes = nodes.filter(|member| member.weight().milli() > 0).count();
    if nodes < 2 || plan.keys == 0 || balance.expected_sd_over_mean == 0.0 {
        return None;
    }
    let text = if is_ring(&change.to) {
        "√(share_sd² + (N-1)/K)"
    } else {
        "√((N-1)/K)"
    };
    let text = format!("{text}, K = {} keys", grouped(plan.effective_keys));
    let by_keys = balance.sampling_sd_over_mean / (2.0 * (nodes as f64 - 1.0)).sqrt();
    let by_names = match advice {
        Some(advice) => advice.sd_of_sd,
        None if is_ring(&change.to) => return None,
        None => 0.0,
    };
    Some(
        Formula::new("keys_sd", text, balance.expected_sd_over_mean).measured(
            balance.sd_over_mean,
            by_keys.hypot(by_names),
            plan.basis,
        ),
    )
}

pub(super) fn is_ring(placement: &Placement) -> bool {
    placement.scheme().algorithm() == Algorithm::Ring
}
