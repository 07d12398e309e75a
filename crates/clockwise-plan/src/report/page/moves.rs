//! Who gives keys to whom, drawn for the nodes that give and get most.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::Plan;
use crate::document::Picture;
use crate::number::grouped;
use crate::picture::{End, Ribbon, flows};

pub(super) fn picture(plan: &Plan) -> Option<Picture> {
    if plan.flows.is_empty() {
        return None;
    }
    let name = |node: &Option<String>| node.clone().unwrap_or_else(|| "(nobody)".to_owned());
    let flow = |flow: &super::super::Flow| (name(&flow.from), name(&flow.to), flow.keys);
    let all: Vec<(String, String, u64)> = plan.flows.iter().map(flow).collect();
    let left = ends(all.iter().map(|(from, _, keys)| (from, *keys)));
    let right = ends(all.iter().map(|(_, to, keys)| (to, *keys)));
    let mut together: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (from, to, keys) in &all {
        *together
            .entry((left.place(from), right.place(to)))
            .or_default() += keys;
    }
    let ribbons: Vec<Ribbon> = together
        .into_iter()
        .map(|((from, to), keys)| Ribbon { from, to, keys })
        .collect();
    let folded = |side: &Side, which: &str| match side.folded {
        0 => String::new(),
        nodes => format!(
            " The {} that {which} least stand together.",
            grouped(nodes as u64)
        ),
    };
    let caption = format!(
        "Keys that move, from their old owners on the left to their new ones on the right; each band is as wide as its keys are many.{}{}",
        folded(&left, "give"),
        folded(&right, "get")
    );
    Some(Picture {
        svg: flows(&left.ends, &right.ends, &ribbons, &caption),
        caption,
    })
}

/// The nodes of one side, those with most keys first, the rest as one.
struct Side {
    ends: Vec<End>,
    folded: usize,
    places: BTreeMap<String, usize>,
}

impl Side {
    fn place(&self, name: &str) -> usize {
        self.places.get(name).copied().unwrap_or(0)
    }
}

fn ends<'a>(flows: impl Iterator<Item = (&'a String, u64)>) -> Side {
    let mut sums: BTreeMap<&String, u64> = BTreeMap::new();
    flows.for_each(|(name, keys)| *sums.entry(name).or_default() += keys);
    let mut sums: Vec<(&String, u64)> = sums.into_iter().collect();
    sums.sort_by_key(|(_, keys)| Reverse(*keys));
    let own = if sums.len() > MOST_ENDS {
        MOST_ENDS - 1
    } else {
        sums.len()
    };
    let (shown, rest) = sums.split_at(own);
    let mut ends: Vec<End> = shown
        .iter()
        .map(|(name, keys)| End {
            name: (*name).clone(),
            keys: *keys,
        })
        .collect();
    if !rest.is_empty() {
        ends.push(End {
            name: format!("{} more", grouped(rest.len() as u64)),
            keys: rest.iter().map(|(_, keys)| keys).sum(),
        });
    }
    let place = |(place, (name, _)): (usize, &(&String, u64))| ((*name).clone(), place.min(own));
    Side {
        places: sums.iter().enumerate().map(place).collect(),
        folded: rest.len(),
        ends,
    }
}

/// Names that fit beside each other.
const MOST_ENDS: usize = 16;
