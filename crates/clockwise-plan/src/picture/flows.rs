//! Keys that go from old owners on the left to new ones on the right, as ribbons as wide as the keys are many.

use maud::{Markup, html};

use super::{element, short};
use crate::number::grouped;

/// A node at one side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct End {
    /// The node, or what stands for several.
    pub(crate) name: String,
    /// Keys that leave or reach it.
    pub(crate) keys: u64,
}

/// Keys between an end of the left and one of the right, by place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ribbon {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) keys: u64,
}

/// The ends of each side from the top, and the ribbons between them.
pub(crate) fn flows(left: &[End], right: &[End], ribbons: &[Ribbon], label: &str) -> String {
    let rows = left.len().max(right.len());
    let height = rows as f64 * GAP + BANDS;
    let all: u64 = ribbons.iter().map(|ribbon| ribbon.keys).sum();
    let scale = BANDS / all.max(1) as f64;
    let (left_tops, right_tops) = (tops(left, height, scale), tops(right, height, scale));
    let (mut left_used, mut right_used) = (left_tops.clone(), right_tops.clone());
    let mut ribbons = ribbons.to_vec();
    ribbons.sort_by_key(|ribbon| (ribbon.from, ribbon.to));
    let drawn: Vec<Markup> = ribbons
        .iter()
        .map(|ribbon| {
            let thick = ribbon.keys as f64 * scale;
            let (a, b) = (left_used[ribbon.from], right_used[ribbon.to]);
            left_used[ribbon.from] += thick;
            right_used[ribbon.to] += thick;
            let (from, to) = (&left[ribbon.from].name, &right[ribbon.to].name);
            let middle = f64::midpoint(LEFT, RIGHT);
            let path = format!(
                "M{LEFT} {a:.2}C{middle} {a:.2} {middle} {b:.2} {RIGHT} {b:.2}V{:.2}C{middle} {:.2} {middle} {:.2} {LEFT} {:.2}Z",
                b + thick,
                b + thick,
                a + thick,
                a + thick
            );
            html! {
                path.ribbon data-from=(from) data-to=(to) d=(path) {
                    title { (from) " → " (to) ": " (grouped(ribbon.keys)) " keys" }
                }
            }
        })
        .collect();
    let inside = html! {
        g transform="translate(0 14)" {
            @for ribbon in drawn { (ribbon) }
            @for (end, top) in left.iter().zip(&left_tops) {
                (bar(end, *top, scale, (LEFT - BAR, "t2")))
                (caption(end, *top, scale, (LEFT - BAR - 8.0, "end")))
            }
            @for (end, top) in right.iter().zip(&right_tops) {
                (bar(end, *top, scale, (RIGHT, "moved")))
                (caption(end, *top, scale, (RIGHT + BAR + 8.0, "start")))
            }
        }
    };
    element("flows", (WIDTH, height as u32 + 28), label, &inside)
}

/// Where each end begins, spread over the height.
fn tops(ends: &[End], height: f64, scale: f64) -> Vec<f64> {
    let used: f64 = ends.iter().map(|end| end.keys as f64 * scale).sum();
    let gap = (height - used) / ends.len().max(1) as f64;
    let mut top = gap / 2.0;
    let mut place = |end: &End| {
        let here = top;
        top += end.keys as f64 * scale + gap;
        here
    };
    ends.iter().map(&mut place).collect()
}

fn bar(end: &End, top: f64, scale: f64, (x, class): (f64, &str)) -> Markup {
    let height = (end.keys as f64 * scale).max(0.5);
    html! {
        rect class=(class) x=(x) y=(format!("{top:.2}")) width=(BAR) height=(format!("{height:.2}")) {}
    }
}

fn caption(end: &End, top: f64, scale: f64, (x, anchor): (f64, &str)) -> Markup {
    let y = top + end.keys as f64 * scale / 2.0;
    html! {
        text x=(x) y=(format!("{:.2}", y - 2.0)) text-anchor=(anchor) font-size="14" { (short(&end.name, 22)) }
        text.soft x=(x) y=(format!("{:.2}", y + 14.0)) text-anchor=(anchor) font-size="12" { (grouped(end.keys)) }
    }
}

const WIDTH: u32 = 700;
const LEFT: f64 = 200.0;
const RIGHT: f64 = 500.0;
const BAR: f64 = 12.0;
/// The least room between two ends, for their names.
const GAP: f64 = 38.0;
/// The height of all bands together.
const BANDS: f64 = 130.0;
