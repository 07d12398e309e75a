//! The page of a plan as its readers have it: opened in Chromium, it asks for nothing, complains about nothing, can be
//! read by all, and its drawings, measured, say what the JSON says.

mod browser;
mod command;

use std::collections::BTreeMap;

use browser::{Figure, Look, look};
use command::{folder, json, path, run};
use serde_json::Value;

/// The page and the JSON of one plan.
struct Seen {
    look: Look,
    plan: Value,
}

fn see(words: &str) -> Seen {
    let args: Vec<&str> = words.split_whitespace().collect();
    see_args(&args)
}

fn see_args(args: &[&str]) -> Seen {
    let files = folder(&[]);
    let page = path(&files, "plan.html");
    let answer = run([&["plan", "--out", &page], args].concat());
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    assert!(answer.stdout.is_empty());
    Seen {
        look: look(page.as_ref()),
        plan: json([&["plan", "--json"], args].concat()),
    }
}

impl Seen {
    fn number(&self, pointer: &str) -> f64 {
        let value = self.plan.pointer(pointer).and_then(Value::as_f64);
        value.unwrap_or_else(|| panic!("no number at {pointer}"))
    }

    fn list(&self, name: &str) -> &[Value] {
        self.plan[name].as_array().unwrap()
    }
}

/// What must hold for every page.
fn is_sound(look: &Look) {
    for (name, view) in look.views.all() {
        assert!(view.requests.is_empty(), "{name}: {:?}", view.requests);
        assert!(view.complaints.is_empty(), "{name}: {:?}", view.complaints);
        assert!(view.over <= 0, "{name}: {} pixels too wide", view.over);
        assert!(view.cut.is_empty(), "{name}: {:?}", view.cut);
        let Some(accessibility) = &view.accessibility else {
            assert!(view.sheets.is_some_and(|sheets| sheets >= 1));
            continue;
        };
        assert!(
            accessibility.passed >= 20,
            "{name}: hardly anything was checked"
        );
        let is_serious = |impact: &str| impact == "serious" || impact == "critical";
        let serious = accessibility
            .broken
            .iter()
            .find(|rule| rule.impact.as_deref().is_none_or(is_serious));
        assert!(
            serious.is_none(),
            "{name}: {serious:?} at {:?}",
            serious.map(|rule| &rule.first)
        );
    }
    assert_eq!(look.shown.active, 0);
    assert!(!look.shown.figures.is_empty());
    for figure in &look.shown.figures {
        assert!(figure.has_table, "{}", figure.caption);
        assert_eq!(figure.caption, figure.label);
        assert!(figure.drawn > 1, "{}", figure.caption);
    }
}

/// Start and length in turns of each piece of an arc, from its outer edge.
fn pieces(d: &str) -> Vec<(f64, f64)> {
    let numbers = |piece: &str| -> Vec<f64> {
        let texts = piece.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
        let texts = texts.filter(|text| !text.is_empty());
        texts.map(|text| text.parse().unwrap()).collect()
    };
    let turn = |x: f64, y: f64| {
        let angle = (x - 220.0).atan2(220.0 - y);
        (angle / std::f64::consts::TAU).rem_euclid(1.0)
    };
    let piece = |piece: &str| {
        // M x y A r r 0 large 1 x y L …
        let at = numbers(piece);
        let (start, end) = (turn(at[0], at[1]), turn(at[7], at[8]));
        let length = (end - start).rem_euclid(1.0);
        // Thinner than the drawing's rounding.
        (start, if length > 0.9 { 0.0 } else { length })
    };
    d.split('Z')
        .filter(|text| !text.is_empty())
        .map(piece)
        .collect()
}

/// The turn that each name has on a track, which must be covered once at most.
fn turns(figure: &Figure, track: &str) -> BTreeMap<String, f64> {
    let track = figure.tracks.iter().find(|found| found.name == track);
    let mut all = Vec::new();
    let mut turns = BTreeMap::new();
    for arc in &track.unwrap().arcs {
        let pieces = pieces(&arc.d);
        *turns.entry(arc.name.clone()).or_insert(0.0) +=
            pieces.iter().map(|(_, length)| length).sum::<f64>();
        all.extend(pieces);
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    for pair in all.windows(2) {
        let end = pair[0].0 + pair[0].1;
        assert!(
            end <= pair[1].0 + PIXEL,
            "{:?} lies over {:?}",
            pair[0],
            pair[1]
        );
    }
    turns
}

/// Both full tracks sum to the circle and give each node what the JSON says; the outer one marks what moves.
fn circle_says(seen: &Seen, share: impl Fn(&Value, &str) -> f64, moved: f64) {
    let figure = seen.look.shown.figure("circle", "Who owns");
    for side in ["before", "after"] {
        let turns = turns(figure, side);
        let sum: f64 = turns.values().sum();
        assert!((sum - 1.0).abs() < CIRCLE, "{side}: {sum}");
        for node in seen.list("nodes") {
            let id = node["id"].as_str().unwrap();
            let turn = turns.get(id).copied().unwrap_or(0.0);
            let expected = share(node, side);
            assert!(
                (turn - expected).abs() < CIRCLE,
                "{side} {id}: {turn} for {expected}"
            );
        }
    }
    let sum: f64 = turns(figure, "moved").values().sum();
    assert!((sum - moved).abs() < CIRCLE, "{sum} for {moved}");
    // What moves and who comes have one colour that nobody else has.
    let arcs = |name: &str| {
        let track = figure.tracks.iter().find(|track| track.name == name);
        track.unwrap().arcs.iter()
    };
    let marked = &arcs("moved").next().unwrap().fill;
    for arc in arcs("after") {
        let node = seen
            .list("nodes")
            .iter()
            .find(|node| node["id"] == *arc.name);
        let joins = node.is_some_and(|node| node["before"]["weight"] == 0.0);
        assert_eq!(arc.fill == *marked, joins, "{}", arc.name);
    }
}

fn space_share(node: &Value, side: &str) -> f64 {
    node[side]["space_share"].as_f64().unwrap()
}

/// Two bars a node, in proportion to its amounts, and the mark of its fair share.
fn bars_say(seen: &Seen, what: &str) {
    let start = format!("{} a node", what[..1].to_uppercase() + &what[1..]);
    let figure = seen.look.shown.figure("chart", &start);
    let bar = |fill: &str| -> Vec<f64> {
        let bars = figure.bars.iter().filter(|bar| bar.fill == fill);
        bars.map(|bar| bar.width).collect()
    };
    let bars = [
        ("before", bar("var(--before)")),
        ("after", bar("var(--after)")),
    ];
    let ids: Vec<&str> = seen
        .list("nodes")
        .iter()
        .map(|n| n["id"].as_str().unwrap())
        .collect();
    let rows: Vec<&str> = figure
        .texts
        .iter()
        .map(String::as_str)
        .filter(|text| ids.contains(text))
        .collect();
    let amount = |id: &str, side: &str| {
        let node = seen.list("nodes").iter().find(|node| node["id"] == id);
        node.unwrap()[side][what].as_f64().unwrap()
    };
    // Pixels for one key, from the longest bar.
    let (_, longest) = bars
        .iter()
        .flat_map(|(side, widths)| {
            assert_eq!(widths.len(), rows.len());
            rows.iter()
                .zip(widths)
                .map(|(id, width)| (amount(id, side), *width))
        })
        .fold((0.0, (0.0, 1.0)), |best: (f64, (f64, f64)), bar| {
            if bar.1 > best.1.0 {
                (bar.0, (bar.1, bar.0))
            } else {
                best
            }
        });
    let scale = longest.0 / longest.1;
    assert!(longest.0 > 300.0, "the longest bar is to fill its place");
    for (side, widths) in &bars {
        for (id, width) in rows.iter().zip(widths) {
            let expected = amount(id, side) * scale;
            assert!(
                (width - expected).abs() <= 1.5,
                "{what} {id} {side}: {width} for {expected}"
            );
        }
    }
}

/// Bands as thick at both ends as their keys are many; folded ends hold what is left.
fn flows_say(seen: &Seen) {
    let figure = seen.look.shown.figure("flows", "Keys that move");
    let all: f64 = seen
        .list("flows")
        .iter()
        .map(|flow| flow["keys"].as_f64().unwrap())
        .sum();
    assert_eq!(all, seen.number("/moved/keys"));
    let mut left = all;
    for ribbon in &figure.ribbons {
        // M L a C m a m b R b V b+t C m b+t m a+t L a+t Z
        let numbers: Vec<f64> = ribbon
            .d
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .filter(|text| !text.is_empty())
            .map(|text| text.parse().unwrap())
            .collect();
        let at_left = numbers[14] - numbers[1];
        let at_right = numbers[8] - numbers[7];
        assert!(
            (at_left - at_right).abs() < 0.03,
            "{}: {at_left} and {at_right}",
            ribbon.d
        );
        let keys: Option<f64> = seen
            .list("flows")
            .iter()
            .find(|flow| flow["from"] == *ribbon.from && flow["to"] == *ribbon.to)
            .and_then(|flow| flow["keys"].as_f64());
        let drawn = at_right / 130.0 * all;
        left -= drawn;
        if let Some(keys) = keys {
            assert!(
                (drawn - keys).abs() <= 0.02 / 130.0 * all + 1e-9,
                "{ribbon:?}: {drawn} for {keys}"
            );
        } else {
            assert!(
                ribbon.from.ends_with(" more") || ribbon.to.ends_with(" more"),
                "{ribbon:?}"
            );
        }
    }
    assert!(
        left.abs() < 0.02 * all,
        "{left} of {all} keys are not drawn"
    );
}

/// A cell a pair, as dark as its share is large.
fn matrix_says(seen: &Seen) {
    let figure = seen
        .look
        .shown
        .figure("matrix", "When the node of a row fails");
    let share = |from: &str, to: &str| {
        let failure = seen
            .list("failures")
            .iter()
            .find(|failure| failure["node"] == from);
        let receivers = failure.unwrap()["receivers"].as_array().unwrap();
        let receiver = receivers.iter().find(|receiver| receiver["id"] == to);
        receiver.map_or(0.0, |receiver| receiver["share"].as_f64().unwrap())
    };
    let side = (figure.cells.len() as f64).sqrt() as usize;
    assert_eq!(side, seen.list("failures").len().min(20));
    let most = figure
        .cells
        .iter()
        .map(|cell| share(&cell.from, &cell.to))
        .fold(0.0, f64::max);
    for cell in &figure.cells {
        let expected = share(&cell.from, &cell.to) / most * 0.6;
        assert!(
            (cell.opacity - expected).abs() < 0.001,
            "{cell:?}: {expected}"
        );
    }
}

/// Each course is the JSON's, on a scale given by its first and last point.
fn curve_says(seen: &Seen) {
    let figure = seen.look.shown.figure("chart", "Queries per second");
    let points = seen.list("refill");
    let heights = |stroke: &str| -> Vec<f64> {
        let line = figure
            .lines
            .iter()
            .rev()
            .filter(|line| line.stroke == stroke);
        let longest = line.max_by_key(|line| line.points.len()).unwrap();
        let pairs = longest.points.split_whitespace();
        pairs
            .map(|pair| pair.split_once(',').unwrap().1.parse().unwrap())
            .collect()
    };
    let queries = |point: usize, name: &str| points[point][name].as_f64().unwrap();
    let uniform = heights("var(--one)");
    let last = uniform.len() - 1;
    let (high, low) = (queries(0, "uniform"), queries(last, "uniform"));
    let scale = (uniform[last] - uniform[0]) / (high - low);
    assert!(scale * high > 100.0, "the curve is to fill its place");
    for (name, stroke) in [
        ("uniform", "var(--one)"),
        ("zipf", "var(--two)"),
        ("measured", "var(--three)"),
    ] {
        if points[0][name].is_null() {
            continue;
        }
        let heights = heights(stroke);
        assert_eq!(heights.len(), last + 1, "{name}");
        for (point, height) in heights.iter().enumerate() {
            let expected = uniform[0] + (high - queries(point, name)) * scale;
            assert!(
                (height - expected).abs() <= 2.0,
                "{name} {point}: {height} for {expected}"
            );
        }
    }
}

const WEB: &str = concat!(
    "--keys ",
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/web-paths.tsv --rate 2000 --hit-rate 0.95 --capacity 400"
);

#[test]
fn slots_requests_and_the_database() {
    let seen = see(&format!(
        "--from cache-1,cache-2=2,cache-3,cache-4 --add cache-5 {WEB}"
    ));
    is_sound(&seen.look);
    circle_says(&seen, space_share, seen.number("/space_moved_share"));
    bars_say(&seen, "keys");
    bars_say(&seen, "requests");
    flows_say(&seen);
    matrix_says(&seen);
    curve_says(&seen);
    let text = &seen.look.shown.text;
    assert_eq!(seen.look.shown.title, "Plan: Adding cache-5");
    assert!(
        text.contains("clockwise plan --out "),
        "the command is there"
    );
    assert!(text.contains("/favicon.ico"));
}

#[test]
fn a_ring_that_loses_a_node() {
    let seen = see(
        "--from a=1,b=2,c=1,d=0.5 --remove b --scheme ring,tokens=40 --keys gen:user:{0..19999}",
    );
    is_sound(&seen.look);
    circle_says(&seen, space_share, seen.number("/space_moved_share"));
    bars_say(&seen, "keys");
    flows_say(&seen);
    matrix_says(&seen);
    assert!(!seen.look.shown.has_figure("chart", "Requests"));
    assert!(!seen.look.shown.has_figure("chart", "Queries"));
}

#[test]
fn keys_where_schemes_share_no_space() {
    let seen = see(
        "--from a,b,c --to a,b,c,d --scheme ring --to-scheme rendezvous --keys gen:user:{0..9999}",
    );
    is_sound(&seen.look);
    let share = |node: &Value, side: &str| node[side]["share"].as_f64().unwrap();
    circle_says(&seen, share, seen.number("/moved/share"));
    bars_say(&seen, "keys");
    flows_say(&seen);
}

#[test]
fn a_thousand_nodes_fold_and_still_add_up() {
    let seen =
        see("--from cache-{1..1000} --add cache-1001,cache-1002 --keys gen:user:{0..199999}");
    is_sound(&seen.look);
    let figure = seen.look.shown.figure("circle", "Who owns");
    for side in ["before", "after"] {
        let turns = turns(figure, side);
        assert!((turns.values().sum::<f64>() - 1.0).abs() < CIRCLE);
        assert!(turns.len() <= 3, "{turns:?}");
    }
    let moved: f64 = turns(figure, "moved").values().sum();
    assert!((moved - seen.number("/space_moved_share")).abs() < CIRCLE);
    bars_say(&seen, "keys");
    flows_say(&seen);
    matrix_says(&seen);
    let sheets = seen.look.views.print.sheets.unwrap();
    assert!(sheets <= 16, "{sheets} sheets");
    let nodes = seen
        .look
        .shown
        .tables
        .iter()
        .filter(|table| table.section == "nodes");
    let rows: usize = nodes.map(|table| table.rows.len() - 1).sum();
    assert_eq!(rows, 1002, "folded, not left out");
}

#[test]
fn odd_names_are_shown_as_they_are() {
    let ids = [
        "<script>alert(1)</script>",
        "a\"b'c&amp;d",
        "giỏ hàng số 7 ở kho trung tâm thành phố Hồ Chí Minh",
        "\u{5e7}\u{5dc}\u{5d9}\u{5e4}",
        "x".repeat(200).as_str(),
    ]
    .map(str::to_owned);
    let nodes = ids.iter().map(|id| format!("[[node]]\nid = {id:?}\n"));
    let file = nodes.collect::<String>();
    let files = folder(&[("c.toml", file.as_bytes())]);
    let cluster = path(&files, "c.toml");
    let seen = see_args(&[
        "--from",
        &cluster,
        "--add",
        "new",
        "--keys",
        "gen:<b>{0..999}",
    ]);
    is_sound(&seen.look);
    circle_says(&seen, space_share, seen.number("/space_moved_share"));
    flows_say(&seen);
    matrix_says(&seen);
    let tables = seen.look.shown.tables.iter();
    let names: Vec<&String> = tables
        .filter(|table| table.section == "members")
        .flat_map(|table| table.rows.iter().skip(1).map(|row| &row[0]))
        .collect();
    for id in &ids {
        assert!(names.contains(&id), "{id} is not among {names:?}");
    }
}

#[test]
fn hidden_keys_stand_nowhere_on_the_page() {
    let seen = see(&format!("--from a,b,c --add d --anonymise {WEB}"));
    is_sound(&seen.look);
    assert!(!seen.look.shown.text.contains("favicon"), "a key is shown");
    let hottest = seen.plan["hottest_keys"][0]["key"].as_str().unwrap();
    let same_form = seen.look.shown.text.matches(&hottest[..2]).count();
    assert!(same_form > 0);
}

#[test]
fn the_look_sees_what_is_wrong() {
    let files = folder(&[(
        "bad.html",
        br#"<!doctype html><html><head><title>x</title></head><body>
            <img src="http://127.0.0.1:9/pixel.png"><p style="color:#ccc;background:#fff">faint</p>
            <div style="width:3000px">wide</div><script>console.log("loud")</script></body></html>"#,
    )]);
    let seen = look(path(&files, "bad.html").as_ref());
    for (name, view) in seen.views.all() {
        assert_eq!(view.requests, ["http://127.0.0.1:9/pixel.png"], "{name}");
        assert!(view.complaints.iter().any(|text| text == "loud"), "{name}");
        assert!(view.over > 100, "{name}");
        if let Some(accessibility) = &view.accessibility {
            let found = |id: &str| accessibility.broken.iter().any(|rule| rule.id == id);
            assert!(
                found("image-alt") && found("color-contrast"),
                "{name}: {accessibility:?}"
            );
        }
    }
    assert_eq!(seen.shown.active, 1);
}

/// In turns, what two hundredths of a pixel are on the outer edge of the inner track, and the angle that is read off.
const PIXEL: f64 = 0.0002;
/// The same for the sum of many pieces.
const CIRCLE: f64 = 0.003;
