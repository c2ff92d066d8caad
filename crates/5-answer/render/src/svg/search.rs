//! Charts of a search: the best over the runs, and results along two parameters.

use super::Picture;
use super::element::{At, Svg, text_width};
use std::collections::BTreeSet;
use view::{Improvement, Landscape, LandscapeCell, SearchResult, objective_words};

const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 36.0;
/// Steps of colour of a landscape.
const SHADES: usize = 6;
/// Largest height of a row of a landscape, pixels.
const ROW: f64 = 26.0;

/// The best after each run, on a logarithmic scale, with the start as a line across; `None` without results.
pub(crate) fn convergence(search: &SearchResult, picture: &Picture<'_>) -> Option<String> {
    let (first, last) = (search.convergence.first()?, search.convergence.last()?);
    let start = search.start.as_ref().and_then(|it| it.value);
    let highest = start.unwrap_or(first.value).max(first.value);
    let (low, high) = (last.value.ln(), (highest * 1.001).ln().max(last.value.ln() + 1e-3));
    let (width, height) = (picture.width, picture.height);
    let (right, bottom) = (width - RIGHT, height - BOTTOM);
    let x = |run: f64| LEFT + (run - 1.0) / (search.tried.max(2) as f64 - 1.0) * (right - LEFT);
    let y = |value: f64| bottom - (value.ln() - low) / (high - low) * (bottom - TOP);
    let mut svg = Svg::default();
    let label = format!("Best of {} after each of {} runs", search.name, search.tried);
    open(&mut svg, (width, height), &label);
    svg.line("axis", vec![(LEFT, TOP), (LEFT, bottom), (right, bottom)]);
    if let Some(start) = start {
        svg.line("tie", vec![(LEFT, y(start)), (right, y(start))]);
        svg.anchored("dim small", (right, y(start) - 4.0), "end", "start");
    }
    let mut corners = Vec::new();
    for (at, Improvement { run, value }) in search.convergence.iter().enumerate() {
        corners.push((x(*run as f64), y(*value)));
        let next = search.convergence.get(at + 1).map_or(search.tried, |it| it.run);
        corners.push((x(next as f64), y(*value)));
    }
    svg.line("search-best", corners);
    for it in &search.convergence {
        svg.open(
            "circle",
            &[("class", &"f-hbm"), ("cx", &At(x(it.run as f64))), ("cy", &At(y(it.value))), ("r", &3)],
        );
        svg.title(&format!("run {}: {}", it.run, objective_words(it.value, &search.unit)));
        svg.close();
    }
    svg.anchored("small", (LEFT - 6.0, TOP + 8.0), "end", &objective_words(highest, &search.unit));
    svg.anchored("small", (LEFT - 6.0, bottom), "end", &objective_words(last.value, &search.unit));
    svg.anchored("small", (LEFT, bottom + 16.0), "start", "run 1");
    svg.anchored("small", (right, bottom + 16.0), "end", &format!("run {}", search.tried));
    Some(svg.finish())
}

/// The best result of each pair of values: the darker the nearer to the best of all.
pub(crate) fn landscape(of: &Landscape, unit: &str, picture: &Picture<'_>) -> String {
    // Values without results have no place.
    let with = |place: &dyn Fn(&LandscapeCell) -> u32| -> Vec<u32> {
        of.cells.iter().map(place).collect::<BTreeSet<u32>>().into_iter().collect()
    };
    let (a_places, b_places) = (with(&|it| it.a), with(&|it| it.b));
    let (columns, rows) = (a_places.len().max(1), b_places.len().max(1));
    let b_words: Vec<&str> = b_places.iter().map(|it| of.b_values[*it as usize].as_str()).collect();
    let a_words: Vec<&str> = a_places.iter().map(|it| of.a_values[*it as usize].as_str()).collect();
    let widest = b_words.iter().map(|it| text_width(it, 11.0)).fold(0.0, f64::max);
    let left = (widest + 16.0).min(picture.width / 3.0);
    let cell = ((picture.width - left - 10.0) / columns as f64).min(72.0);
    let place = |places: &[u32], it: u32| places.binary_search(&it).unwrap_or(0) as f64;
    let top = 24.0;
    let height = top + rows as f64 * ROW + BOTTOM;
    let mut svg = Svg::default();
    open(&mut svg, (picture.width, height), &format!("Best along {} and {}", of.a, of.b));
    svg.label("dim small", (0.0, 12.0), &of.b);
    let best = of.cells.iter().map(|it| it.best).fold(f64::INFINITY, f64::min);
    let worst = of.cells.iter().map(|it| it.best).fold(best, f64::max).min(2.0 * best);
    for it in &of.cells {
        let at = (left + place(&a_places, it.a) * cell, top + place(&b_places, it.b) * ROW);
        // Shades from the best to the worst, or to twice the best.
        let way = if worst > best { ((it.best - best) / (worst - best)).clamp(0.0, 1.0) } else { 0.0 };
        let shade = ((way * SHADES as f64) as usize).min(SHADES - 1);
        let opacity = 1.0 - shade as f64 / SHADES as f64;
        svg.open("g", &[]);
        svg.rect("search-cell", at, (cell - 2.0, ROW - 2.0), &[("fill-opacity", &At(opacity))]);
        let (a, b) = (&of.a_values[it.a as usize], &of.b_values[it.b as usize]);
        let (a_name, b_name, value) = (&of.a, &of.b, objective_words(it.best, unit));
        svg.title(&format!(
            "{a_name}={a} {b_name}={b}: best {value} of {}",
            view::counted(it.results, "result")
        ));
        if text_width(&value, 11.0) < cell - 6.0 {
            svg.anchored("small halo", (at.0 + cell / 2.0, at.1 + 16.0), "middle", &value);
        }
        svg.close();
    }
    for (row, value) in b_words.iter().enumerate() {
        svg.anchored("small", (left - 6.0, top + row as f64 * ROW + 16.0), "end", value);
    }
    let bottom = top + rows as f64 * ROW;
    // Values that have no room are left out, evenly.
    let widest = a_words.iter().map(|it| text_width(it, 11.0)).fold(1.0, f64::max);
    let every = ((widest + 6.0) / cell).ceil().max(1.0) as usize;
    for (column, value) in a_words.iter().enumerate().filter(|it| it.0 % every == 0) {
        svg.anchored("small", (left + (column as f64 + 0.5) * cell, bottom + 14.0), "middle", value);
    }
    svg.anchored("dim small", (left, bottom + 30.0), "start", &of.a);
    svg.finish()
}

fn open(svg: &mut Svg, (width, height): (f64, f64), label: &str) {
    let view_box = format!("0 0 {} {}", At(width), At(height));
    svg.open("svg", &[("class", &"chart"), ("viewBox", &view_box), ("role", &"img"), ("aria-label", &label)]);
}
