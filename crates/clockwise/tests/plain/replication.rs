//! Replica sets by the scheme definitions: a greedy walk under caps, written with texts and full recounts.

/// Labels of a node, coarsest level first: region, zone, rack, host.
pub(crate) type Labels = [Option<String>; 4];

/// A cap for a level, 0 for region to 3 for host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) level: usize,
    pub(crate) cap: usize,
    pub(crate) preferred: bool,
}

/// Where the nodes stand and what is asked for; rules with the coarsest level first.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) ids: Vec<String>,
    pub(crate) labels: Vec<Labels>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) factor: usize,
    pub(crate) keeps_positions: bool,
}

/// What was chosen.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) nodes: Vec<Option<usize>>,
    /// Levels whose cap was raised, once for each time.
    pub(crate) degraded: Vec<usize>,
    pub(crate) missing: usize,
    /// Required levels that keep further nodes out.
    pub(crate) short_of: Vec<usize>,
}

/// The name of a node's domain, with all coarser labels; without a host label a node is a host by itself.
pub(crate) fn domain(policy: &Policy, level: usize, node: usize) -> String {
    let labels = &policy.labels[node];
    let mut name = format!("{:?}", &labels[..=level]);
    if level == 3 && labels[3].is_none() {
        name += &policy.ids[node];
    }
    name
}

/// The first node, in the order given, that a required level cannot place, with the level; hosts never lack a name.
pub(crate) fn unlabelled(policy: &Policy, live: &[usize]) -> Option<(usize, usize)> {
    for rule in &policy.rules {
        if rule.preferred || rule.level == 3 {
            continue;
        }
        for &node in live {
            if policy.labels[node][rule.level].is_none() {
                return Some((node, rule.level));
            }
        }
    }
    None
}

/// The replica set of a key with this ranking.
pub(crate) fn select(policy: &Policy, ranking: &[usize], up: &[bool]) -> Chosen {
    let usable: Vec<usize> = ranking
        .iter()
        .copied()
        .filter(|&node| policy.keeps_positions || up[node])
        .collect();
    let mut caps: Vec<usize> = policy.rules.iter().map(|rule| rule.cap).collect();
    let mut chosen: Vec<usize> = Vec::new();
    let mut result = Chosen::default();
    let is_full = |rule: usize, node: usize, chosen: &[usize], caps: &[usize]| {
        let level = policy.rules[rule].level;
        let own = domain(policy, level, node);
        chosen
            .iter()
            .filter(|&&other| domain(policy, level, other) == own)
            .count()
            >= caps[rule]
    };
    loop {
        for &node in &usable {
            let open = (0..caps.len()).all(|rule| !is_full(rule, node, &chosen, &caps));
            if chosen.len() < policy.factor && !chosen.contains(&node) && open {
                chosen.push(node);
            }
        }
        let keeps_out = |rule: usize| {
            usable
                .iter()
                .any(|&node| !chosen.contains(&node) && is_full(rule, node, &chosen, &caps))
        };
        if chosen.len() == policy.factor {
            break;
        }
        let raised = (0..caps.len()).find(|&rule| policy.rules[rule].preferred && keeps_out(rule));
        match raised {
            Some(rule) => {
                caps[rule] += 1;
                result.degraded.push(policy.rules[rule].level);
            }
            None => {
                result.missing = policy.factor - chosen.len();
                result.short_of = (0..caps.len())
                    .filter(|&rule| keeps_out(rule))
                    .map(|rule| policy.rules[rule].level)
                    .collect();
                break;
            }
        }
    }
    result.nodes = chosen
        .into_iter()
        .map(|node| up[node].then_some(node))
        .collect();
    result
}
