//! Lines over size, both axes logarithmic, as SVG.

use anyhow::{Context as _, Result};
use plotters::prelude::*;

/// A series of a plot.
pub(super) struct Line {
    pub(super) name: &'static str,
    /// Size and value, both above 0.
    pub(super) points: Vec<(f64, f64)>,
}

/// An SVG of all lines, with their names in a list above them.
pub(super) fn plot(title: &str, lines: &[Line]) -> Result<String> {
    let points = || lines.iter().flat_map(|line| &line.points).copied();
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        })
    };
    let (least_size, most_size) = ends(&mut points().map(|(size, _)| size));
    let (least, most) = ends(&mut points().map(|(_, value)| value));
    let mut svg = String::new();
    draw(
        &mut svg,
        title,
        lines,
        (least_size / 1.2, most_size * 1.2),
        (least / 1.5, most * 1.5),
    )
    .ok()
    .with_context(|| format!("{title}: cannot be drawn"))?;
    Ok(svg + "\n")
}

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(
    svg: &'a mut String,
    title: &str,
    lines: &[Line],
    sizes: (f64, f64),
    values: (f64, f64),
) -> Drawn<'a> {
    let size = (WIDTH, HEIGHT + ROW * lines.len() as u32);
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&WHITE)?;
    let (names, area) = root.split_vertically(ROW * lines.len() as u32 + 8);
    let label = ("sans-serif", 13).into_font().color(&INK);
    for ((row, line), colour) in (0..).zip(lines).zip(COLOURS.iter().cycle()) {
        let y = 8 + row * ROW as i32;
        names.draw(&Rectangle::new([(64, y + 3), (84, y + 9)], colour.filled()))?;
        names.draw(&Text::new(line.name, (92, y), label.clone()))?;
    }
    let mut chart = ChartBuilder::on(&area)
        .margin_right(24)
        .margin_top(8)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(
            (sizes.0..sizes.1).log_scale(),
            (values.0..values.1).log_scale(),
        )?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(label)
        .x_desc("tokens or slots")
        .y_desc(title)
        .x_label_formatter(&|value| number(*value))
        .y_label_formatter(&|value| number(*value))
        .draw()?;
    for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        let points = || line.points.iter().copied();
        chart.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?;
        chart.draw_series(points().map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    root.present()
}

/// A mark beside an axis: powers of ten and what lies between.
fn number(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{} M", v / 1e6),
        v if v >= 1e3 => format!("{} k", v / 1e3),
        v => format!("{}", (v * 1e6).round() / 1e6),
    }
}

const WIDTH: u32 = 700;
const HEIGHT: u32 = 360;
const ROW: u32 = 18;
const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
/// Told apart in black and white too, by how dark they are.
const COLOURS: [RGBColor; 5] = [
    RGBColor(0x0b, 0x5f, 0xa5),
    RGBColor(0xc2, 0x41, 0x0c),
    RGBColor(0x15, 0x80, 0x3d),
    RGBColor(0x7e, 0x22, 0xce),
    RGBColor(0x78, 0x71, 0x6c),
];
