//! Queries at the database over time, on a scale that shows seconds and hours alike.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{GRID, INK, ONE, SOFT, THREE, TWO, themed};
use crate::number::decimal;

/// One course over time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// What it assumes.
    pub(crate) name: &'static str,
    /// Seconds, and queries per second.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Up to three courses, with levels to hold them against.
pub(crate) fn curve(lines: &[Line], levels: &[(String, f64)], label: &str) -> Option<String> {
    let values = lines.iter().flat_map(|line| &line.points);
    let last = values
        .clone()
        .map(|(seconds, _)| *seconds)
        .fold(1.0, f64::max);
    let highest = values.map(|(_, queries)| *queries).fold(0.0, f64::max);
    let most = levels
        .iter()
        .map(|(_, level)| *level)
        .fold(highest, f64::max);
    if most <= 0.0 {
        return None;
    }
    let mut svg = String::new();
    draw(&mut svg, lines, levels, (last, most * 1.12)).ok()?;
    Some(themed(&svg, SIZE, label))
}

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(
    svg: &'a mut String,
    lines: &[Line],
    levels: &[(String, f64)],
    (last, most): (f64, f64),
) -> Drawn<'a> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&root)
        .margin_top(KEY_HEIGHT)
        .margin_right(24)
        .x_label_area_size(34)
        .y_label_area_size(AXIS_WIDTH)
        .build_cartesian_2d(0.0..place(last), 0.0..most)?;
    let small = ("sans-serif", 13).into_font();
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .light_line_style(GRID.stroke_width(0))
        .bold_line_style(GRID)
        .axis_style(SOFT)
        .y_labels(5)
        .y_label_formatter(&|queries| decimal(*queries, 0))
        .y_label_style(small.clone().color(&INK))
        .draw()?;
    let under = small
        .clone()
        .color(&INK)
        .pos(Pos::new(HPos::Center, VPos::Top));
    for (seconds, name) in TICKS.into_iter().filter(|(seconds, _)| *seconds <= last) {
        let at = place(seconds);
        chart.draw_series([PathElement::new([(at, 0.0), (at, most)], GRID)])?;
        chart
            .draw_series([EmptyElement::at((at, 0.0)) + Text::new(name, (0, 8), under.clone())])?;
    }
    // Names under a level where there is room, or above it; each at its own place, so that none lies on another.
    for (column, (name, level)) in (0..).zip(levels) {
        chart.draw_series(DashedLineSeries::new(
            [(0.0, *level), (place(last), *level)],
            6,
            4,
            SOFT.stroke_width(1),
        ))?;
        let (side, shift) = if *level > 0.1 * most {
            (VPos::Top, 5)
        } else {
            (VPos::Bottom, -4)
        };
        let style = small.clone().color(&SOFT).pos(Pos::new(HPos::Right, side));
        chart.draw_series([EmptyElement::at((place(last), *level))
            + Text::new(name.clone(), (-120 * column, shift), style)])?;
    }
    for (line, colour) in lines.iter().zip([ONE, TWO, THREE]) {
        let points = line
            .points
            .iter()
            .map(|&(seconds, queries)| (place(seconds), queries));
        chart.draw_series(LineSeries::new(points, colour.stroke_width(3)))?;
    }
    // The key to the lines stands above them.
    for (column, (line, colour)) in (0..).zip(lines.iter().zip([ONE, TWO, THREE])) {
        let (x, y) = (AXIS_WIDTH as i32 + 170 * column, 12);
        root.draw(&PathElement::new(
            [(x, y), (x + 24, y)],
            colour.stroke_width(3),
        ))?;
        let style = small
            .clone()
            .color(&INK)
            .pos(Pos::new(HPos::Left, VPos::Center));
        root.draw(&Text::new(line.name, (x + 32, y), style))?;
    }
    root.present()
}

/// Where a time stands: even for the first second, then even for each ten times.
fn place(seconds: f64) -> f64 {
    (1.0 + seconds).ln()
}

const SIZE: (u32, u32) = (700, 340);
/// Room for the key to the lines, and for the numbers beside the axis.
const KEY_HEIGHT: u32 = 34;
const AXIS_WIDTH: u32 = 76;
const TICKS: [(f64, &str); 10] = [
    (0.0, "0"),
    (1.0, "1 s"),
    (5.0, "5 s"),
    (20.0, "20 s"),
    (60.0, "1 min"),
    (300.0, "5 min"),
    (1200.0, "20 min"),
    (3600.0, "1 h"),
    (14_400.0, "4 h"),
    (86_400.0, "1 day"),
];
