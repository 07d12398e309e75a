//! Who owns what part of the space before and after: by position where that can be drawn, else each node's parts together.

use clockwise::{CommonRanges, HashedKey, Placement};

use super::super::{Node, Plan, share};
use crate::census::Change;
use crate::document::{Block, Picture};
use crate::number::{grouped, percent};
use crate::picture::{Arc, Kind, Track, circle};

/// Both sides as pieces of a circle, by place in the plan's nodes; those past the end are nobody's.
pub(super) struct Space {
    of: Of,
    /// Whether pieces lie where they are in the space, instead of each node's together.
    by_position: bool,
    before: Vec<Piece>,
    after: Vec<Piece>,
    moved: Vec<Piece>,
}

/// What the whole circle is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Of {
    Tokens,
    Slots(usize),
    Keys,
}

/// A part of the circle, in turns of 0 to 1, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    start: f64,
    length: f64,
    node: usize,
}

impl Space {
    /// Of the space where both sides share one, else of the keys counted.
    pub(super) fn of(plan: &Plan, change: &Change) -> Self {
        let ranges = CommonRanges::of(&[&change.from, &change.to]);
        ranges.map_or_else(
            || Self::of_keys(plan),
            |ranges| {
                let exact = Self::of_ranges(change, &ranges);
                if exact.before.len() + exact.after.len() <= MOST_PIECES {
                    exact
                } else {
                    exact.gathered(plan.nodes.len())
                }
            },
        )
    }

    fn of_ranges(change: &Change, ranges: &CommonRanges) -> Self {
        let bits = change.from.scheme().token_bits();
        let whole = 2f64.powi(bits.cast_signed());
        let nobody = change.nodes.len();
        let nodes = |placement: &Placement,
                     place: fn(&crate::census::ChangeNode) -> Option<usize>| {
            let mut nodes = vec![nobody; placement.members().len()];
            for (node, entry) in change.nodes.iter().enumerate() {
                if let Some(member) = place(entry) {
                    nodes[member] = node;
                }
            }
            nodes
        };
        let (from, to) = (
            nodes(&change.from, |node| node.from),
            nodes(&change.to, |node| node.to),
        );
        let mut space = Self {
            of: match ranges.slot(0) {
                Some(_) => Of::Slots(ranges.count()),
                None => Of::Tokens,
            },
            by_position: true,
            before: Vec::new(),
            after: Vec::new(),
            moved: Vec::new(),
        };
        let mut start = 0.0;
        for range in 0..ranges.count() {
            let token = ranges.token(range);
            let end = match space.of {
                Of::Slots(count) => (range as f64 + 1.0) / count as f64,
                _ => (token.0 as f64 + 1.0) / whole,
            };
            let key = HashedKey::of_token(token);
            let owner = |placement: &Placement, nodes: &[usize]| {
                placement
                    .owner_index(&key)
                    .map_or(nobody, |member| nodes[member])
            };
            let (old, new) = (owner(&change.from, &from), owner(&change.to, &to));
            let piece = |node| Piece {
                start,
                length: end - start,
                node,
            };
            extend(&mut space.before, piece(old));
            extend(&mut space.after, piece(new));
            if old != new {
                extend(&mut space.moved, piece(new));
            }
            start = end;
        }
        space
    }

    /// Schemes without ranges, or two that share none: what was counted.
    fn of_keys(plan: &Plan) -> Self {
        let nobody = plan.nodes.len();
        let piece = |node, keys| Piece {
            start: 0.0,
            length: share(keys, plan.keys),
            node,
        };
        let nodes = || plan.nodes.iter().enumerate();
        let all = |keys: fn(&Node) -> u64, unowned: u64| {
            let owned = nodes().map(|(node, entry)| piece(node, keys(entry)));
            owned.chain([piece(nobody, unowned)]).collect()
        };
        let lost = plan.flows.iter().filter(|flow| flow.to.is_none());
        let lost = lost.map(|flow| flow.keys).sum();
        Self {
            of: Of::Keys,
            by_position: false,
            before: all(|node| node.sides.before.keys, plan.unowned.before),
            after: all(|node| node.sides.after.keys, plan.unowned.after),
            moved: all(|node| node.received, lost),
        }
        .gathered(nobody)
    }

    /// Each node's pieces as one, in the order of the nodes; what moves begins where its new owner does.
    fn gathered(self, nobody: usize) -> Self {
        let sums = |pieces: &[Piece]| {
            let mut sums = vec![0.0; nobody + 1];
            pieces
                .iter()
                .for_each(|piece| sums[piece.node] += piece.length);
            sums
        };
        let pieces = |sums: &[f64]| {
            let mut start = 0.0;
            let mut piece = |(node, &length): (usize, &f64)| {
                let piece = Piece {
                    start,
                    length,
                    node,
                };
                start += length;
                piece
            };
            sums.iter().enumerate().map(&mut piece).collect::<Vec<_>>()
        };
        let after = pieces(&sums(&self.after));
        let received = sums(&self.moved);
        let moved = after.iter().map(|piece| Piece {
            length: received[piece.node],
            ..*piece
        });
        let some = |pieces: Vec<Piece>| {
            let mut pieces = pieces;
            pieces.retain(|piece| piece.length > 0.0);
            pieces
        };
        Self {
            by_position: false,
            before: some(pieces(&sums(&self.before))),
            moved: some(moved.collect()),
            after: some(after),
            of: self.of,
        }
    }

    pub(super) fn title(&self) -> &'static str {
        match self.of {
            Of::Tokens => "The token space before and after",
            Of::Slots(_) => "The slots before and after",
            Of::Keys => "The keys before and after",
        }
    }

    pub(super) fn blocks(&self, plan: &Plan) -> Vec<Block> {
        let moved: f64 = self.moved.iter().map(|piece| piece.length).sum();
        let caption = self.caption(plan);
        let middle = match self.of {
            Of::Tokens => "of the space moves",
            Of::Slots(_) => "of the slots move",
            Of::Keys => "of the keys move",
        };
        let tracks = [
            self.track("before", &self.before, plan),
            self.track("after", &self.after, plan),
            Track {
                name: "moved",
                arcs: self
                    .arcs(&self.moved, plan)
                    .into_iter()
                    .map(|arc| Arc {
                        kind: Kind::Moved,
                        ..arc
                    })
                    .collect(),
            },
        ];
        let picture = Picture {
            svg: circle(&tracks, [&percent(moved), middle], &caption),
            caption,
        };
        vec![Block::Picture(picture), self.table(plan)]
    }

    fn caption(&self, plan: &Plan) -> String {
        let what = match self.of {
            Of::Tokens => "the token space (exact)".to_owned(),
            Of::Slots(count) => format!("the {} slots (exact)", grouped(count as u64)),
            Of::Keys => "the keys counted".to_owned(),
        };
        let order = if self.by_position {
            "clockwise from token 0 at the top"
        } else {
            "each node's parts drawn together, in the order of the nodes"
        };
        let folded = match self.folded(plan) {
            0 => String::new(),
            nodes => format!(
                " {} nodes that stay as they are stand in grey.",
                grouped(nodes as u64)
            ),
        };
        format!(
            "Who owns {what}: inside before, around it after, {order}; the outer line marks what moves, at its new owner.{folded}"
        )
    }

    /// Nodes that are drawn as one, where there are too many to tell apart.
    fn folded(&self, plan: &Plan) -> usize {
        if plan.nodes.len() <= MOST_NODES {
            return 0;
        }
        plan.nodes.iter().filter(|node| !node.changes()).count()
    }

    fn track(&self, name: &'static str, pieces: &[Piece], plan: &Plan) -> Track {
        Track {
            name,
            arcs: self.arcs(pieces, plan),
        }
    }

    /// The pieces of each owner, in the order of the nodes.
    fn arcs(&self, pieces: &[Piece], plan: &Plan) -> Vec<Arc> {
        let folds = self.folded(plan) > 0;
        let staying = plan.nodes.iter().filter(|node| !node.joins()).count();
        let nobody = plan.nodes.len();
        let mut arcs: Vec<Arc> = Vec::new();
        let mut sorted: Vec<&Piece> = pieces.iter().collect();
        sorted.sort_by_key(|piece| piece.node);
        let mut last = None;
        for piece in sorted {
            let node = plan.nodes.get(piece.node);
            let is_folded = folds && node.is_some_and(|node| !node.changes());
            let owner = if is_folded { nobody + 1 } else { piece.node };
            let drawn = (piece.start, piece.length);
            match arcs.last_mut().filter(|_| last == Some(owner)) {
                Some(arc) => match arc.pieces.last_mut() {
                    Some(end) if (end.0 + end.1 - piece.start).abs() < 1e-12 => {
                        end.1 += piece.length
                    }
                    _ => arc.pieces.push(drawn),
                },
                None => arcs.push(Arc {
                    name: match node {
                        None => "(nobody)".to_owned(),
                        Some(_) if is_folded => "other nodes".to_owned(),
                        Some(node) => node.id.clone(),
                    },
                    kind: match node {
                        None => Kind::Plain,
                        Some(_) if is_folded => Kind::Plain,
                        Some(node) if node.joins() => Kind::Joins,
                        Some(_) => tint(piece.node, staying),
                    },
                    pieces: vec![drawn],
                }),
            }
            last = Some(owner);
        }
        arcs
    }

    fn table(&self, plan: &Plan) -> Block {
        let sums = |pieces: &[Piece]| {
            let mut sums = vec![0.0; plan.nodes.len() + 1];
            pieces
                .iter()
                .for_each(|piece| sums[piece.node] += piece.length);
            sums
        };
        let (before, after, moved) = (sums(&self.before), sums(&self.after), sums(&self.moved));
        let name = |node: usize| {
            plan.nodes
                .get(node)
                .map_or_else(|| "(nobody)".to_owned(), |node| node.id.clone())
        };
        let mut nodes: Vec<usize> = (0..=plan.nodes.len()).collect();
        nodes.retain(|&node| node < plan.nodes.len() || before[node] + after[node] > 0.0);
        if nodes.len() > MOST_NODES {
            nodes.sort_by(|&a, &b| moved[b].total_cmp(&moved[a]));
        }
        let row = |node| {
            vec![
                name(node),
                percent(before[node]),
                percent(after[node]),
                percent(moved[node]),
            ]
        };
        Block::table(
            ["node", "before", "after", "of it moved here"],
            nodes.into_iter().map(row),
        )
    }
}

/// Adds a piece, or makes the last one longer where it is the same owner's.
fn extend(pieces: &mut Vec<Piece>, piece: Piece) {
    match pieces.last_mut() {
        Some(last) if last.node == piece.node && last.start + last.length == piece.start => {
            last.length += piece.length;
        }
        _ => pieces.push(piece),
    }
}

/// One of three tints, so that neighbours differ, the last and the first of those that stay among them.
fn tint(node: usize, staying: usize) -> Kind {
    if staying % 3 == 1 && node + 1 == staying {
        Kind::Tint(1)
    } else {
        Kind::Tint((node % 3) as u8)
    }
}

/// Pieces of both sides that are still seen apart, and still drawn at once.
const MOST_PIECES: usize = 2000;
/// Nodes that can be told apart on a circle.
const MOST_NODES: usize = 60;
