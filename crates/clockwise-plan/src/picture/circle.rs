//! Who owns the circle before and after, as two tracks, with what moves as a third around them.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use maud::{Markup, html};

use super::{element, short};
use crate::number::percent;

/// One owner's part of a track, or all of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arc {
    /// Who owns it.
    pub(crate) name: String,
    /// How it is drawn.
    pub(crate) kind: Kind,
    /// Start and length of each piece, in turns of 0 to 1, clockwise from the top.
    pub(crate) pieces: Vec<(f64, f64)>,
}

/// How an arc is drawn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// One of three tints, so that neighbours differ.
    Tint(u8),
    /// A node that comes.
    Joins,
    /// Nobody's, or what stands for many.
    Plain,
    /// What changes its owner.
    Moved,
}

/// A ring of arcs around the centre.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Track {
    /// `before`, `after` or `moved`.
    pub(crate) name: &'static str,
    /// What is on it.
    pub(crate) arcs: Vec<Arc>,
}

impl Arc {
    fn share(&self) -> f64 {
        self.pieces.iter().map(|(_, length)| length).sum()
    }
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Tint(0) => "t0",
            Self::Tint(1) => "t1",
            Self::Tint(_) => "t2",
            Self::Joins => "joins",
            Self::Plain => "none",
            Self::Moved => "moved",
        }
    }
}

/// The tracks from the centre outwards, with two lines of text in the middle.
pub(crate) fn circle(tracks: &[Track; 3], middle: [&str; 2], label: &str) -> String {
    let drawn = html! {
        @for (track, radii) in tracks.iter().zip(RADII) {
            g data-track=(track.name) { @for arc in &track.arcs { (draw(arc, radii)) } }
        }
        @for (track, radii) in tracks.iter().zip(RADII).take(2) {
            @for arc in &track.arcs { (name(arc, radii)) }
        }
        text x=(CENTRE) y=(CENTRE - 4.0) text-anchor="middle" font-size="26" font-weight="600" { (middle[0]) }
        text.soft x=(CENTRE) y=(CENTRE + 20.0) text-anchor="middle" font-size="14" { (middle[1]) }
    };
    element("circle", (SIZE, SIZE), label, &drawn)
}

fn draw(arc: &Arc, radii: (f64, f64)) -> Markup {
    let mut path = String::new();
    for &(start, length) in &arc.pieces {
        piece(&mut path, start, length, radii);
    }
    // Many thin pieces would be all edge.
    let edged = arc.pieces.len() == 1 && arc.share() > 0.004;
    html! {
        path class={ (arc.kind.class()) @if edged { " edge" } } data-name=(arc.name) d=(path) {
            title { (arc.name) ": " (percent(arc.share())) }
        }
    }
}

/// A piece between two circles. A whole turn has no ends to draw an arc between, so it is drawn as two halves.
fn piece(path: &mut String, start: f64, length: f64, (inner, outer): (f64, f64)) {
    if length > 0.75 {
        piece(path, start, length / 2.0, (inner, outer));
        piece(path, start + length / 2.0, length / 2.0, (inner, outer));
        return;
    }
    let large = u8::from(length > 0.5);
    let (a, b) = (point(outer, start), point(outer, start + length));
    let (c, d) = (point(inner, start + length), point(inner, start));
    // Writing to a String cannot fail.
    let _ = write!(
        path,
        "M{:.2} {:.2}A{outer} {outer} 0 {large} 1 {:.2} {:.2}L{:.2} {:.2}A{inner} {inner} 0 {large} 0 {:.2} {:.2}Z",
        a.0, a.1, b.0, b.1, c.0, c.1, d.0, d.1
    );
}

/// The name of an arc in one piece that is long enough for it.
fn name(arc: &Arc, (inner, outer): (f64, f64)) -> Markup {
    let [(start, length)] = arc.pieces[..] else {
        return html! {};
    };
    if length < 0.045 {
        return html! {};
    }
    let middle = f64::midpoint(inner, outer);
    // What lies in the arc from left to right through its middle.
    let (sin, cos) = ((start + length / 2.0) * TAU).sin_cos();
    let width = ((outer - inner) / sin.abs()).min(length * TAU * middle / cos.abs());
    let room = (width / 6.0).clamp(3.0, 12.0) as usize;
    let (x, y) = point(middle, start + length / 2.0);
    let class = if arc.kind == Kind::Joins {
        "on-moved"
    } else {
        "on-tint"
    };
    html! {
        text class=(class) x=(format!("{x:.1}")) y=(format!("{:.1}", y + 4.0)) text-anchor="middle" font-size="12" { (short(&arc.name, room)) }
    }
}

fn point(radius: f64, turn: f64) -> (f64, f64) {
    let angle = turn * TAU;
    (CENTRE + radius * angle.sin(), CENTRE - radius * angle.cos())
}

const SIZE: u32 = 440;
const CENTRE: f64 = SIZE as f64 / 2.0;
/// Inner and outer radius of each track.
const RADII: [(f64, f64); 3] = [(96.0, 140.0), (144.0, 192.0), (197.0, 212.0)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_spans_its_angle_between_the_two_radii() {
        let mut path = String::new();
        piece(&mut path, 0.0, 0.25, (100.0, 200.0));
        assert_eq!(
            path,
            "M220.00 20.00A200 200 0 0 1 420.00 220.00L320.00 220.00A100 100 0 0 0 220.00 120.00Z"
        );
    }

    #[test]
    fn a_whole_turn_is_drawn_as_two_halves() {
        let mut path = String::new();
        piece(&mut path, 0.0, 1.0, (100.0, 200.0));
        assert_eq!(path.matches('Z').count(), 2);
        assert!(path.contains("A200 200 0 0 1 220.00 420.00"), "{path}");
    }
}
