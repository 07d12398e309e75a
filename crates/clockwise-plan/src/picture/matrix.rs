//! Who takes over from whom, as a square of shares: a row a failed node, a column a receiver.

use maud::html;

use super::{element, short};
use crate::number::percent;

/// Shares of 0 to 1, one row of receivers for each node.
pub(crate) fn matrix(names: &[String], shares: &[Vec<f64>], label: &str) -> String {
    let side = (480 / names.len().max(1)).clamp(18, 56) as f64;
    let has_room = side >= 36.0;
    let most = shares
        .iter()
        .flatten()
        .copied()
        .fold(0.0, f64::max)
        .max(f64::EPSILON);
    let place = |index: usize| index as f64 * side;
    let width = (LEFT + place(names.len()) + 8.0) as u32;
    let longest = names
        .iter()
        .map(|name| short(name, MOST_CHARS).chars().count());
    let top = 24.0 + 5.5 * longest.max().unwrap_or(0) as f64;
    let height = (top + place(names.len()) + 8.0) as u32;
    let inside = html! {
        text.soft x=(LEFT - 8.0) y=(top - 10.0) text-anchor="end" font-size="12" { "fails ↓  takes over →" }
        @for (column, name) in names.iter().enumerate() {
            @let x = LEFT + place(column) + side / 2.0 + 4.0;
            text x=(x) y=(top - 8.0) transform={ "rotate(-50 " (x) " " (top - 8.0) ")" } font-size="13" { (short(name, MOST_CHARS)) }
        }
        @for (row, receivers) in shares.iter().enumerate() {
            @let y = top + place(row);
            text x=(LEFT - 8.0) y=(y + side / 2.0 + 4.0) text-anchor="end" font-size="13" { (short(&names[row], 20)) }
            @for (column, &share) in receivers.iter().enumerate() {
                @let x = LEFT + place(column);
                rect.cell x=(x) y=(y) width=(side) height=(side) fill-opacity=(format!("{:.3}", share / most * 0.6))
                    data-from=(names[row]) data-to=(names[column]) data-share=(format!("{share:.6}")) {
                    title { (names[row]) " → " (names[column]) ": " (percent(share)) }
                }
                rect.cell-line x=(x) y=(y) width=(side) height=(side) {}
                @if has_room && share >= 0.005 {
                    text x=(x + side / 2.0) y=(y + side / 2.0 + 4.0) text-anchor="middle" font-size="12" { (format!("{:.0} %", share * 100.0)) }
                }
            }
        }
    };
    element("matrix", (width, height), label, &inside)
}

const LEFT: f64 = 170.0;
/// Characters of a name above a column before it is cut.
const MOST_CHARS: usize = 14;
