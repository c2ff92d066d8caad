//! A metric of a kernel over time: values with their spread, levels, and the changes between them.

use super::Picture;
use super::element::{At, Svg, text_width};
use view::{History, HistoryPoint, duration, objective_words};

const LEFT: f64 = 92.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 40.0;
/// Largest radius of a point.
const RADIUS: f64 = 4.0;

/// The chart; `None` without values.
pub(crate) fn history(of: &History, picture: &Picture<'_>) -> Option<String> {
    let last = of.points.len().checked_sub(1)?;
    let ends = |it: &HistoryPoint| {
        let spread = it.spread.filter(|spread| spread.is_finite()).unwrap_or(0.0);
        (it.value - spread, it.value + spread)
    };
    let low = of.points.iter().map(|it| ends(it).0).fold(f64::INFINITY, f64::min);
    let high = of.points.iter().map(|it| ends(it).1).fold(f64::NEG_INFINITY, f64::max);
    // A series of equal values lies in the middle.
    let room = (0.08 * (high - low)).max(1e-2 * high.abs()).max(f64::MIN_POSITIVE);
    let (low, high) = (low - room, high + room);
    let (width, height) = (picture.width, picture.height);
    let (right, bottom) = (width - RIGHT, height - BOTTOM);
    let x = |at: f64| LEFT + (at + 0.5) / (last as f64 + 1.0) * (right - LEFT);
    let y = |value: f64| bottom - (value - low) / (high - low) * (bottom - TOP);
    let mut svg = Svg::default();
    let view_box = format!("0 0 {} {}", At(width), At(height));
    let label = format!("{} of {} in {}", of.metric, of.kernel, view::counted(last + 1, "recording"));
    svg.open("svg", &[("class", &"chart"), ("viewBox", &view_box), ("role", &"img"), ("aria-label", &label)]);
    svg.line("axis", vec![(LEFT, TOP), (LEFT, bottom), (right, bottom)]);
    for step in 0..=4 {
        let value = low + (high - low) * f64::from(step) / 4.0;
        svg.line("grid", vec![(LEFT, y(value)), (right, y(value))]);
        svg.anchored("small", (LEFT - 6.0, y(value) + 4.0), "end", &words(value, of));
    }
    levels(&mut svg, of, (&x, &y));
    let radius = ((right - LEFT) / (2.5 * (last as f64 + 1.0))).clamp(1.0, RADIUS);
    for (at, it) in of.points.iter().enumerate() {
        let (low, high) = ends(it);
        if high > low {
            svg.line("tie", vec![(x(at as f64), y(low)), (x(at as f64), y(high))]);
        }
        let place = (At(x(at as f64)), At(y(it.value)), At(radius));
        svg.open("circle", &[("class", &"f-hbm"), ("cx", &place.0), ("cy", &place.1), ("r", &place.2)]);
        let commit = it.commit.as_deref().map_or_else(String::new, |it| format!(" {}", short(it)));
        svg.title(&format!("store:{}{commit}: {}", it.recording, words(it.value, of)));
        svg.close();
    }
    let name = |at: usize| {
        let it = &of.points[at];
        it.commit.as_deref().map_or_else(|| format!("store:{}", it.recording), |it| short(it).to_owned())
    };
    svg.anchored("small", (LEFT, bottom + 18.0), "start", &name(0));
    if last > 0 {
        svg.anchored("small", (right, bottom + 18.0), "end", &name(last));
    }
    Some(svg.finish())
}

/// Levels as lines, and between them the changes.
fn levels(svg: &mut Svg, of: &History, (x, y): (&dyn Fn(f64) -> f64, &dyn Fn(f64) -> f64)) {
    let mut begin = 0;
    let mut level = of.changes.first().map(|it| it.before);
    // Labels of changes that are close stand above each other.
    let mut free = f64::NEG_INFINITY;
    for (at, since, change) in
        of.changes.iter().map(|it| (it.at, it.since, Some(it))).chain([(of.points.len(), 0.0, None)])
    {
        if let Some(level) = level {
            let (from, to) = (x(begin as f64 - 0.4), x(at as f64 - 0.6));
            svg.line("search-best", vec![(from, y(level)), (to, y(level))]);
        }
        let Some(change) = change else { break };
        let place = x(at as f64 - 0.5);
        let (top, bottom) = (TOP - 4.0, y(change.before).max(y(change.since)));
        svg.line("arrow", vec![(place, top), (place, bottom)]);
        let commit = change.commit.as_deref().map_or_else(String::new, |it| format!("{} ", short(it)));
        let text = match change.percent {
            Some(percent) => format!("{commit}{percent:+.1} %"),
            None => format!("{commit}new level"),
        };
        let half = text_width(&text, 11.0) / 2.0;
        let row = if place - half < free { 10.0 } else { 22.0 };
        free = place + half + 4.0;
        svg.anchored("small strong halo", (place, row), "middle", &text);
        (begin, level) = (at, Some(since));
    }
}

fn words(value: f64, of: &History) -> String {
    match of.unit.as_str() {
        "ns" => duration(value),
        "" => objective_words(value, ""),
        unit => format!("{} {unit}", objective_words(value, "")),
    }
}

/// The beginning of the hash of a commit.
fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
