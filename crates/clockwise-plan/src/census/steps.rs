//! A change of several nodes made one by one, beside making it at once.
//!
//! Each key is placed after every step too, so the keys that move at a step are counted, not guessed. Cost: one look-up
//! more for each step and key.

use clockwise::{HashedKey, Member, Membership, NodeId, Placement};

/// One node more or less, after those of the steps before.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// `add ID` or `remove ID`.
    pub(crate) text: String,
    pub(crate) edit: Edit,
    pub(crate) placement: Placement,
    /// Index along the nodes of the change of each member of the placement.
    pub(crate) nodes: Vec<u32>,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Add(Member),
    Remove(NodeId),
}

/// The steps from one membership to another: new nodes in their order, then removals in theirs. Nothing where there
/// are fewer than two, more than [`MOST_STEPS`], or where a step on the way cannot be built.
pub(super) fn steps(
    from: (&Placement, &Membership),
    to: (&Placement, &Membership),
    index: impl Fn(&str) -> Option<u32>,
) -> Vec<Step> {
    let listed = |list: &Membership, id: &NodeId| list.get(id).is_some();
    if from.0.scheme() != to.0.scheme() || from.0.key_rule() != to.0.key_rule() {
        return Vec::new();
    }
    let kept = from
        .1
        .members()
        .iter()
        .filter(|member| listed(to.1, member.id()));
    if kept
        .clone()
        .any(|member| to.1.get(member.id()).map(|now| now.weight()) != Some(member.weight()))
    {
        return Vec::new();
    }
    let added =
        to.1.members()
            .iter()
            .filter(|member| !listed(from.1, member.id()));
    let removed = from
        .1
        .members()
        .iter()
        .filter(|member| !listed(to.1, member.id()));
    let count = added.clone().count() + removed.clone().count();
    if !(2..=MOST_STEPS).contains(&count) {
        return Vec::new();
    }
    let edits = added
        .map(|member| (format!("add {}", member.id()), Edit::Add(member.clone())))
        .chain(removed.map(|member| {
            (
                format!("remove {}", member.id()),
                Edit::Remove(member.id().clone()),
            )
        }));
    let mut steps: Vec<Step> = Vec::new();
    for (text, edit) in edits {
        let now = steps.last().map_or(from.0, |step| &step.placement);
        let next = match &edit {
            Edit::Add(member) => now.with_member(member.clone()),
            Edit::Remove(id) => now.without_member(id),
        };
        let step = next.ok().and_then(|placement| {
            let ids = placement
                .members()
                .iter()
                .map(|member| index(member.id().as_str()));
            let nodes = ids.collect::<Option<Vec<u32>>>()?;
            Some(Step {
                text,
                edit,
                placement,
                nodes,
            })
        });
        match step {
            Some(step) => steps.push(step),
            None => return Vec::new(),
        }
    }
    steps
}

/// The member that a step gives a key to, along the nodes of the change.
pub(super) fn owner(step: &Step, key: &HashedKey<'_>, nobody: u32) -> u32 {
    step.placement
        .owner_index(key)
        .map_or(nobody, |member| step.nodes[member])
}

/// Beyond this many steps nobody does them by hand, and each costs a look-up for every key.
const MOST_STEPS: usize = 16;
