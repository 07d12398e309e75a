//! Numbered nodes, who owns how many keys of them, and what moves between two of their placements.

use clockwise::hash::KeyHash;
use clockwise::{HashedKey, Member, Membership, Placement, Token};

/// A placement of nodes that are called by a number behind a common beginning.
pub(crate) struct Nodes {
    pub(crate) placement: Placement,
    /// The number of each member, as the placement counts members.
    numbers: Vec<u16>,
}

impl Nodes {
    /// The nodes `prefix` + number, listed in the order given. Panics where the text names no scheme: all texts are
    /// constants of this crate.
    pub(crate) fn new(
        scheme: &str,
        prefix: &str,
        numbers: impl IntoIterator<Item = u16> + Clone,
    ) -> Self {
        let id = |number: u16| {
            // A plain name and a number are an id.
            format!("{prefix}{number}").parse().expect("an id")
        };
        let members = numbers.clone().into_iter().map(|n| Member::new(id(n)));
        // Numbers differ, and so do ids.
        let membership = Membership::new(members).expect("different ids");
        // See the function's description.
        let scheme = scheme.parse().expect("a scheme of this crate's constants");
        // Some ten nodes of weight 1 fit every scheme.
        let placement = Placement::build(&scheme, &membership).expect("a plain membership");
        let mut numbers: Vec<u16> = numbers.into_iter().collect();
        numbers.sort_unstable_by_key(|&number| format!("{prefix}{number}"));
        Self { placement, numbers }
    }

    /// The owner of each token.
    pub(crate) fn owners(&self, tokens: &[Token]) -> Owners {
        self.of(tokens.iter().map(|&token| HashedKey::of_token(token)))
    }

    /// The owner of each key.
    pub(crate) fn owners_of_keys(&self, keys: &[String]) -> Owners {
        self.of(keys.iter().map(|key| self.placement.hash(key.as_bytes())))
    }

    fn of<'k>(&self, keys: impl Iterator<Item = HashedKey<'k>>) -> Owners {
        let number = |key| {
            // There is a node of weight 1, thus an owner.
            let place = self.placement.owner_index(&key).expect("an owner");
            self.numbers[place]
        };
        Owners(keys.map(number).collect())
    }
}

/// The number of the owner of each key.
#[derive(Eq, PartialEq)]
pub(crate) struct Owners(pub(crate) Vec<u16>);

impl Owners {
    /// Keys of each node, by number from 0.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; SIDE];
        self.0
            .iter()
            .for_each(|&owner| counts[usize::from(owner)] += 1);
        counts
    }

    pub(crate) fn moves_to(&self, after: &Self) -> Moves {
        let mut flows = vec![0; SIDE * SIDE];
        for (&from, &to) in self.0.iter().zip(&after.0) {
            flows[usize::from(from) * SIDE + usize::from(to)] += 1;
        }
        Moves(flows)
    }
}

/// Keys from each node to each other.
pub(crate) struct Moves(Vec<u64>);

impl Moves {
    pub(crate) fn flow(&self, from: usize, to: usize) -> u64 {
        self.0[from * SIDE + to]
    }

    pub(crate) fn total(&self) -> u64 {
        self.sum(|_, _| true)
    }

    /// Moves that do not end at the node.
    pub(crate) fn not_to(&self, node: usize) -> u64 {
        self.sum(|_, to| to != node)
    }

    /// Moves that do not begin at the node.
    pub(crate) fn not_from(&self, node: usize) -> u64 {
        self.sum(|from, _| from != node)
    }

    fn sum(&self, counts: impl Fn(usize, usize) -> bool) -> u64 {
        let pairs = (0..SIDE).flat_map(|from| (0..SIDE).map(move |to| (from, to)));
        pairs
            .filter(|&(from, to)| from != to && counts(from, to))
            .map(|(from, to)| self.flow(from, to))
            .sum()
    }
}

/// Tokens of keys under a scheme's hash.
pub(crate) fn tokens(hash: KeyHash, keys: impl Iterator<Item = String>) -> Vec<Token> {
    keys.map(|key| Token(hash.hash(&[0; 16], key.as_bytes())))
        .collect()
}

pub(crate) fn max_over_mean(counts: &[u64]) -> f64 {
    counts.iter().max().copied().unwrap_or(0) as f64 / mean(counts)
}

pub(crate) fn min_over_mean(counts: &[u64]) -> f64 {
    counts.iter().min().copied().unwrap_or(0) as f64 / mean(counts)
}

/// (heaviest - lightest) over the mean.
pub(crate) fn spread(counts: &[u64]) -> f64 {
    max_over_mean(counts) - min_over_mean(counts)
}

/// The population's standard deviation over the mean.
pub(crate) fn sd_over_mean(counts: &[u64]) -> f64 {
    let mean = mean(counts);
    let squares = counts.iter().map(|&count| (count as f64 - mean).powi(2));
    (squares.sum::<f64>() / counts.len() as f64).sqrt() / mean
}

fn mean(counts: &[u64]) -> f64 {
    counts.iter().sum::<u64>() as f64 / counts.len() as f64
}

/// One more than the largest number of a node: article 004 goes up to `s33`.
const SIDE: usize = 34;
