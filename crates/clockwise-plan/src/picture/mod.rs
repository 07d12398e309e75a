//! Drawings as SVG: circles, flows, bars, curves and matrices.
//!
//! What it is: numbers in, one `<svg>` element out, coloured by the style of the page that holds it. What it promises:
//! widths, angles and heights are in proportion to the numbers, to a pixel; names are shown as they are; the same numbers
//! give the same bytes. What it does not: choose what to show. Cost: a path a number. Source: plotters for everything
//! with axes; flows after the Sankey diagram.

mod bars;
mod circle;
mod curve;
mod flows;
mod matrix;

pub(crate) use bars::{Bar, bars};
pub(crate) use circle::{Arc, Kind, Track, circle};
pub(crate) use curve::{Line, curve};
pub(crate) use flows::{End, Ribbon, flows};
pub(crate) use matrix::matrix;

use maud::{Markup, PreEscaped, html};
use plotters::style::RGBColor;

/// Colours that stand for those of the page: plotters writes them as numbers, [`themed`] puts the names in.
const COLOURS: [(RGBColor, &str, &str); 8] = [
    (INK, "#010101", "var(--ink)"),
    (SOFT, "#020202", "var(--soft)"),
    (GRID, "#030303", "var(--grid)"),
    (BEFORE, "#040404", "var(--before)"),
    (AFTER, "#050505", "var(--after)"),
    (ONE, "#060606", "var(--one)"),
    (TWO, "#070707", "var(--two)"),
    (THREE, "#080808", "var(--three)"),
];
const INK: RGBColor = RGBColor(1, 1, 1);
const SOFT: RGBColor = RGBColor(2, 2, 2);
const GRID: RGBColor = RGBColor(3, 3, 3);
const BEFORE: RGBColor = RGBColor(4, 4, 4);
const AFTER: RGBColor = RGBColor(5, 5, 5);
const ONE: RGBColor = RGBColor(6, 6, 6);
const TWO: RGBColor = RGBColor(7, 7, 7);
const THREE: RGBColor = RGBColor(8, 8, 8);

/// What plotters drew, in an element of ours with the colours of the page.
fn themed(drawn: &str, (width, height): (u32, u32), label: &str) -> String {
    let inside = drawn.find('>').map_or("", |end| &drawn[end + 1..]);
    let inside = inside.trim_end().trim_end_matches("</svg>");
    let mut inside = inside.replace(" font-family=\"sans-serif\"", "");
    for (_, number, name) in COLOURS {
        inside = inside.replace(number, name);
    }
    element("chart", (width, height), label, &PreEscaped(inside))
}

/// The element that holds a drawing.
fn element(class: &str, (width, height): (u32, u32), label: &str, inside: &Markup) -> String {
    html! {
        svg class=(class) width=(width) viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(label) { (inside) }
    }
    .into_string()
}

/// A name that fits its place; the table has it whole.
fn short(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let mut short: String = name.chars().take(most - 1).collect();
    short.push('…');
    short
}
