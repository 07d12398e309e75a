//! Two amounts each of several things, such as what nodes hold before and after, as two bars, with a mark beside them.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{AFTER, BEFORE, GRID, INK, SOFT, short, themed};
use crate::number::{decimal, grouped};

/// The amounts of one thing, such as a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// Its name.
    pub(crate) name: String,
    /// The upper, pale bar, such as what a node holds today.
    pub(crate) before: f64,
    /// The lower bar, such as what it holds after the change.
    pub(crate) after: f64,
    /// The mark, such as what its weight asks for after the change.
    pub(crate) fair: f64,
}

/// The bars from the top; `None` where there is nothing to draw.
pub(crate) fn bars(nodes: &[Bar], unit: &str, label: &str) -> Option<String> {
    let most = nodes
        .iter()
        .map(|bar| bar.before.max(bar.after).max(bar.fair))
        .fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let size = (WIDTH, ROW * nodes.len() as u32 + 56);
    let mut svg = String::new();
    draw(&mut svg, size, nodes, most * 1.02, unit).ok()?;
    Some(themed(&svg, size, label))
}

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(
    svg: &'a mut String,
    size: (u32, u32),
    nodes: &[Bar],
    most: f64,
    unit: &str,
) -> Drawn<'a> {
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    let rows = nodes.len() as f64;
    let longest = nodes
        .iter()
        .map(|bar| short(&bar.name, MOST_CHARS).chars().count());
    let names = 24 + 8 * longest.max().unwrap_or(0) as u32;
    let mut chart = ChartBuilder::on(&root)
        .margin_top(4)
        .margin_right(24)
        .x_label_area_size(50)
        .y_label_area_size(names)
        .build_cartesian_2d(0.0..most, 0.0..rows)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .light_line_style(GRID.stroke_width(0))
        .bold_line_style(GRID)
        .axis_style(SOFT)
        .x_labels(5)
        .x_label_formatter(&|value| number(*value))
        .x_label_style(("sans-serif", 13).into_font().color(&INK))
        .x_desc(unit)
        .axis_desc_style(("sans-serif", 13).into_font().color(&SOFT))
        .draw()?;
    for (place, bar) in (0..).map(f64::from).zip(nodes) {
        let top = rows - place;
        let band = |from: f64, to: f64, value: f64, colour: RGBColor| {
            Rectangle::new([(0.0, top - from), (value, top - to)], colour.filled())
        };
        chart.draw_series([
            band(0.14, 0.46, bar.before, BEFORE),
            band(0.48, 0.86, bar.after, AFTER),
        ])?;
        let mark = [(bar.fair, top - 0.08), (bar.fair, top - 0.92)];
        chart.draw_series([PathElement::new(mark, INK.stroke_width(2))])?;
        let style = ("sans-serif", 14).into_font().color(&INK);
        let style = style.pos(Pos::new(HPos::Right, VPos::Center));
        chart.draw_series([EmptyElement::at((0.0, top - 0.5))
            + Text::new(short(&bar.name, MOST_CHARS), (-8, 0), style)])?;
    }
    root.present()
}

/// Thousands and millions as people write them beside an axis.
fn number(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 1e12 => (v / 1e12, "T"),
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e4 => (v / 1e3, "k"),
        v => (v, ""),
    };
    if scaled.fract() < 0.05 {
        format!("{}{unit}", grouped(scaled as u64))
    } else {
        format!("{}{unit}", decimal(scaled, 1))
    }
}

const WIDTH: u32 = 700;
const ROW: u32 = 30;
/// Characters of a name before it is cut.
const MOST_CHARS: usize = 20;
