//! The changes that every scheme goes through: the one at hand, one node more, the last one less, any one less.

use std::collections::BTreeSet;

use clockwise::{Member, Membership, NodeId, Weight};

/// Memberships to change to, each listed once although it may answer for several changes.
#[derive(Clone, Debug)]
pub(crate) struct Trials {
    pub(crate) today: Membership,
    pub(crate) lists: Vec<Membership>,
    /// Indices into `lists`.
    pub(crate) own: usize,
    pub(crate) add: usize,
    /// `None` where there is no node to lose.
    pub(crate) remove_last: Option<usize>,
    /// One for each node tried.
    pub(crate) remove_any: Vec<usize>,
    pub(crate) added: NodeId,
    pub(crate) removed_last: Option<NodeId>,
    pub(crate) removed_any: Vec<NodeId>,
    /// Nodes that could be removed.
    pub(crate) removable: usize,
}

impl Trials {
    /// The changes of `today`; where no change is at hand it is one node more. At most `most` nodes are tried for the
    /// removal of any, spread evenly over the list.
    pub(crate) fn new(today: &Membership, after: Option<&Membership>, most: usize) -> Self {
        let mut lists: Vec<Membership> = Vec::new();
        let mut place = |list: Membership| {
            lists
                .iter()
                .position(|other| *other == list)
                .unwrap_or_else(|| {
                    lists.push(list);
                    lists.len() - 1
                })
        };
        let own = after.map(|after| place(after.clone()));
        let newcomer = after
            .and_then(|after| only_newcomer(today, after))
            .unwrap_or_else(|| one_more(today));
        let added = newcomer.id().clone();
        // The name of a newcomer is not listed yet.
        let add = place(today.with(newcomer).unwrap_or_else(|_| today.clone()));
        let ids: Vec<&NodeId> = today
            .members()
            .iter()
            .filter(|m| m.weight().milli() > 0)
            .map(Member::id)
            .collect();
        let without = |id: &NodeId| today.without(id).unwrap_or_else(|_| today.clone());
        let removed_last = ids.last().map(|&id| id.clone());
        let remove_last = removed_last.as_ref().map(|id| place(without(id)));
        let tried = ids.len().min(most);
        // From the first to the last of the list: schemes with numbers differ most at these.
        let removed_any: Vec<NodeId> = (0..tried)
            .map(|part| ids[part * (ids.len() - 1) / (tried - 1).max(1)].clone())
            .collect();
        let remove_any = removed_any.iter().map(|id| place(without(id))).collect();
        Self {
            today: today.clone(),
            own: own.unwrap_or(add),
            add,
            remove_last,
            remove_any,
            added,
            removed_last,
            removed_any,
            removable: ids.len(),
            lists,
        }
    }

    /// The ids of all memberships: today's in listing order, then those that come.
    pub(crate) fn ids(&self) -> Vec<NodeId> {
        let mut ids: Vec<NodeId> = Vec::new();
        let mut known = BTreeSet::new();
        let own = [&self.today, &self.lists[self.own], &self.lists[self.add]];
        for member in own.into_iter().flat_map(Membership::members) {
            if known.insert(member.id().clone()) {
                ids.push(member.id().clone());
            }
        }
        ids
    }
}

/// The node that `after` has and `today` has not, where nothing else differs.
fn only_newcomer(today: &Membership, after: &Membership) -> Option<Member> {
    let (newcomer, rest) = after.members().split_last()?;
    (rest == today.members()).then(|| newcomer.clone())
}

/// A node like the last one, with the next free name.
fn one_more(today: &Membership) -> Member {
    let last = today
        .members()
        .last()
        .map_or("node-0", |member| member.id().as_str());
    let stem = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let number: u64 = last[stem.len()..].parse().unwrap_or(0);
    let tries = 1..=today.members().len() as u64 + 1;
    let next = tries
        .clone()
        .map(|step| format!("{stem}{}", number.saturating_add(step)));
    let mut names = next.chain(tries.map(|number| format!("one-more-{number}")));
    let free = |name: String| {
        let id = NodeId::new(&name).ok()?;
        today.with(Member::new(id.clone())).is_ok().then_some(id)
    };
    // Of the second kind there is one name more than nodes, and all of them are valid ids.
    let id = names.find_map(free).expect("one of these names is free");
    let mut weights = today.members().iter().rev().map(Member::weight);
    let weight = weights.find(|weight| weight.milli() > 0);
    Member::new(id).with_weight(weight.unwrap_or(Weight::ONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(ids: &[&str]) -> Membership {
        Membership::new(ids.iter().map(|id| Member::new(NodeId::new(id).unwrap()))).unwrap()
    }

    #[test]
    fn one_membership_answers_for_all_changes_that_lead_to_it() {
        let today = list(&["c-1", "c-2", "c-3"]);
        let trials = Trials::new(&today, None, 64);
        assert_eq!((trials.own, trials.added.as_str()), (trials.add, "c-4"));
        assert_eq!(trials.lists.len(), 4);
        assert_eq!(trials.remove_last, trials.remove_any.last().copied());
        let other = list(&["c-1", "c-2", "c-3", "zebra"]);
        let trials = Trials::new(&today, Some(&other), 64);
        assert_eq!((trials.own, trials.added.as_str()), (trials.add, "zebra"));
        let trials = Trials::new(&today, Some(&list(&["c-1", "c-2"])), 64);
        assert_eq!(Some(trials.own), trials.remove_last);
        assert_eq!(trials.added.as_str(), "c-4");
    }

    #[test]
    fn the_next_name_is_free() {
        for (ids, next) in [
            (&["node-1", "node-3", "node-2"][..], "node-4"),
            (&["a", "b"], "b1"),
            (&["n2", "n1"], "n3"),
            (&[], "node-1"),
            (&["7", "6"], "8"),
        ] {
            assert_eq!(
                Trials::new(&list(ids), None, 64).added.as_str(),
                next,
                "{ids:?}"
            );
        }
        let long = "x".repeat(NodeId::MAX_BYTES);
        assert_eq!(
            Trials::new(&list(&[&long]), None, 64).added.as_str(),
            "one-more-1"
        );
    }

    #[test]
    fn of_many_nodes_some_are_tried_spread_over_the_list() {
        let ids: Vec<String> = (0..1000).map(|number| format!("n{number}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let trials = Trials::new(&list(&ids), None, 8);
        let tried: Vec<&str> = trials.removed_any.iter().map(NodeId::as_str).collect();
        assert_eq!(
            tried,
            ["n0", "n142", "n285", "n428", "n570", "n713", "n856", "n999"]
        );
        assert_eq!((trials.removable, trials.lists.len()), (1000, 9));
        let nobody = Trials::new(&Membership::default(), None, 8);
        assert_eq!((nobody.remove_last, nobody.remove_any.len()), (None, 0));
    }
}
