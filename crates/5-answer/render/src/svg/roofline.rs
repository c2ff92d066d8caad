//! The roofline: ceilings and the kernels below them, on logarithmic axes.
//!
//! Both axes are logarithmic, so every bandwidth is a line of the same slope and the height between a kernel
//! and its roof is the factor by which it could be faster.

use super::element::{At, Svg, text_width};
use super::number::{rate, short};
use super::{Picture, style_of};
use crate::marks::{self, signed};
use crate::text::shorten;
use std::collections::HashMap;
use view::{Ceiling, CeilingBasis, Mark, Number, RooflineChart, RooflineKernel, RooflineLevel};

/// A chart with the name of its recording; several are drawn into one plot.
#[derive(Clone, Copy, Debug)]
pub struct Plotted<'a> {
    /// Name; empty for a single recording.
    pub name: &'a str,
    /// The chart.
    pub chart: &'a RooflineChart,
}

/// Room around the plot.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 40.0;
/// Height of a line of the list of names.
const LINE: f64 = 18.0;
/// Longest name written in full.
const NAME: usize = 110;
/// Decades of rates shown at least, and of intensities.
const DECADES: (f64, f64) = (3.0, 4.0);

/// Draws the kernels of recordings below the ceilings of the last. An arrow joins the positions of a kernel
/// that is in both the first and the last of several recordings.
pub fn roofline(charts: &[Plotted<'_>], picture: &Picture<'_>) -> String {
    let Some(last) = charts.last() else { return String::new() };
    let plot = Plot::new(charts, picture);
    let names = names(charts, picture);
    let height = picture.height + if picture.names { LINE * names.len() as f64 + 10.0 } else { 0.0 };
    let mut svg = Svg::default();
    let label = describe(charts);
    let view_box = format!("0 0 {} {}", At(picture.width), At(height));
    match picture.theme {
        None => svg.open(
            "svg",
            &[
                ("class", &"chart roofline"),
                ("viewBox", &view_box),
                ("role", &"group"),
                ("aria-label", &label),
            ],
        ),
        Some(theme) => {
            svg.open(
                "svg",
                &[
                    ("xmlns", &"http://www.w3.org/2000/svg"),
                    ("class", &"chart roofline"),
                    ("width", &At(picture.width)),
                    ("height", &At(height)),
                    ("viewBox", &view_box),
                    ("role", &"img"),
                    ("aria-label", &label),
                ],
            );
            svg.text("style", &[], &style_of(theme));
            svg.ground(picture.width, height);
        }
    }
    plot.axes(&mut svg);
    plot.ceilings(&mut svg, last.chart);
    plot.kernels(&mut svg, charts, picture);
    if plot.empty {
        let (x, y) = ((plot.left + plot.right) / 2.0, plot.bottom - 40.0);
        svg.anchored("dim", (x, y), "middle", no_points(charts));
    }
    if picture.names {
        for (i, (class, text)) in names.iter().enumerate() {
            let y = picture.height + 6.0 + LINE * (i as f64 + 0.6);
            svg.label(class, (LEFT, y), text);
        }
    }
    svg.finish()
}

/// Description of the chart for readers who do not see it.
fn describe(charts: &[Plotted<'_>]) -> String {
    let parts: Vec<String> = charts
        .iter()
        .flat_map(|it| it.chart.kernels.iter().take(8).map(move |kernel| (it, kernel)))
        .map(|(it, kernel)| {
            let of = if it.name.is_empty() { String::new() } else { format!(" in {}", it.name) };
            format!("{}{of}: {}", shorten(&kernel.name, 60), kernel.verdict.text)
        })
        .collect();
    format!("Roofline of {}. {}", charts.last().map_or("", |it| &it.chart.machine), parts.join(". "))
}

fn no_points(charts: &[Plotted<'_>]) -> &'static str {
    if charts.iter().flat_map(|it| &it.chart.kernels).any(|kernel| kernel.flops.get() == Some(0.0)) {
        "no points: the kernels do no floating-point operations; the table has their bandwidths"
    } else {
        "no points: operations, bytes or times of the kernels are not known"
    }
}

/// Lines of the list of names with their classes.
fn names(charts: &[Plotted<'_>], picture: &Picture<'_>) -> Vec<(&'static str, String)> {
    let room = ((picture.width - LEFT) / 7.0) as usize;
    let mut out = Vec::new();
    for it in charts {
        if !it.name.is_empty() {
            out.push(("strong", format!("{} · {}", it.name, it.chart.machine)));
        }
        for kernel in &it.chart.kernels {
            let signed_rate = |v| signed(kernel.rate_trust, rate(v, "Gflop/s"));
            let rate_text = kernel.rate.get().map_or("no rate".to_owned(), signed_rate);
            let time = kernel.time_percent.get();
            let time =
                time.map_or(String::new(), |p| format!(" · {} %", signed(time_trust(kernel, p), short(p))));
            let name = shorten(&kernel.name, room.saturating_sub(30).clamp(20, NAME)).into_owned();
            out.push(("small", format!("{}  {name} · {rate_text}{time}", kernel.mark)));
        }
        if it.chart.left_out > 0 {
            out.push(("dim small", format!("{} more kernels", it.chart.left_out)));
        }
    }
    let marks = charts.iter().flat_map(|it| marks::of_roofline(it.chart));
    out.extend(marks::legend(marks).map(|legend| ("dim small", legend)));
    out
}

/// Accuracy of a share of the time: a single kernel always has all of it, whatever its duration.
fn time_trust(kernel: &RooflineKernel, percent: f64) -> Option<Mark> {
    kernel.time_trust.filter(|_| percent < 100.0)
}

/// Class of a level of memory.
fn level_class(level: &str) -> &'static str {
    match level {
        "HBM" => "hbm",
        "L2" => "l2",
        "vL1D" => "vl1d",
        _ => "lds",
    }
}

fn basis_class(basis: CeilingBasis) -> &'static str {
    match basis {
        CeilingBasis::Measured => "measured",
        CeilingBasis::DataSheet => "data-sheet",
    }
}

/// Range of rates and intensities that are drawn, in 1e9; no GPU exceeds it.
const DRAWN: std::ops::Range<f64> = 1e-9..1e15;

/// A kernel's place at a level.
fn point(kernel: &RooflineKernel, level: &RooflineLevel) -> Option<(f64, f64)> {
    let positive = |n: &Number| n.get().filter(|v| DRAWN.contains(v));
    Some((positive(&level.intensity)?, positive(&kernel.rate)?))
}

/// Rates worth a line: the rates in use, else the highest of the vector unit; equal rates share a line.
fn rates(chart: &RooflineChart) -> Vec<(String, &Ceiling)> {
    let used: Vec<&Ceiling> = chart.rates.iter().filter(|c| c.used && c.value > 0.0).collect();
    let shown: Vec<&Ceiling> = if used.is_empty() {
        chart.rates.iter().filter(|c| c.name.ends_with("f32") || c.name.ends_with("f64")).collect()
    } else {
        used
    };
    let mut out: Vec<(String, &Ceiling)> = Vec::new();
    for ceiling in shown {
        match out
            .iter_mut()
            .find(|(_, it)| it.value == ceiling.value && it.unit == ceiling.unit && it.basis == ceiling.basis)
        {
            Some((names, _)) => {
                // `vector f32, f64`
                let short = ceiling.name.split_once(' ').filter(|(unit, _)| names.starts_with(unit));
                names.push_str(", ");
                names.push_str(short.map_or(&ceiling.name, |(_, kind)| kind));
            }
            None => out.push((ceiling.name.clone(), ceiling)),
        }
    }
    out.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    out
}

/// Layout of the plot.
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Exponents of the intensity at the left and right border.
    x: (f64, f64),
    /// Exponents of the rate at the bottom and the top border.
    y: (f64, f64),
    empty: bool,
}

impl Plot {
    fn new(charts: &[Plotted<'_>], picture: &Picture<'_>) -> Self {
        let points: Vec<(f64, f64)> = charts
            .iter()
            .flat_map(|it| &it.chart.kernels)
            .flat_map(|kernel| kernel.levels.iter().filter_map(move |level| point(kernel, level)))
            .map(|(x, y)| (x.log10(), y.log10()))
            .collect();
        let highest = charts
            .iter()
            .flat_map(|it| rates(it.chart).into_iter().map(|(_, c)| c.value.log10()).collect::<Vec<_>>())
            .chain(points.iter().map(|p| p.1))
            .fold(f64::NEG_INFINITY, f64::max);
        let highest = if highest.is_finite() { highest } else { 3.0 };
        let slowest = charts
            .iter()
            .flat_map(|it| &it.chart.bandwidths)
            .map(|c| c.value.log10())
            .fold(f64::INFINITY, f64::min);
        let lowest = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        let ridge = if slowest.is_finite() { highest - slowest } else { 1.0 };
        let most = points.iter().map(|p| p.0).fold(ridge + 0.6, f64::max);
        let least = points.iter().map(|p| p.0).fold(ridge + 0.6 - DECADES.1, f64::min);
        let y_top = highest + 0.35;
        let y_low = (lowest - 0.3).min(highest - DECADES.0);
        Plot {
            left: LEFT,
            right: (picture.width - RIGHT).max(LEFT + 50.0),
            top: TOP,
            bottom: (picture.height - BOTTOM).max(TOP + 50.0),
            x: (least - 0.15, most + 0.2),
            y: (y_low, y_top),
            empty: points.is_empty(),
        }
    }

    fn place_log(&self, x: f64, y: f64) -> (f64, f64) {
        let part = |v: f64, range: (f64, f64)| (v - range.0) / (range.1 - range.0);
        (
            self.left + part(x, self.x) * (self.right - self.left),
            self.bottom - part(y, self.y) * (self.bottom - self.top),
        )
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        self.place_log(x.log10(), y.log10())
    }

    fn axes(&self, svg: &mut Svg) {
        let decades = |range: (f64, f64)| (range.0.ceil() as i32)..=(range.1.floor() as i32);
        for decade in decades(self.x) {
            let (x, _) = self.place_log(f64::from(decade), self.y.0);
            svg.line("grid", vec![(x, self.top), (x, self.bottom)]);
            let text = short(10f64.powi(decade));
            svg.anchored("dim small", (x, self.bottom + 15.0), "middle", &text);
        }
        for decade in decades(self.y) {
            let (_, y) = self.place_log(self.x.0, f64::from(decade));
            svg.line("grid", vec![(self.left, y), (self.right, y)]);
            let text = rate(10f64.powi(decade), "G");
            svg.anchored("dim small", (self.left - 7.0, y + 4.0), "end", &text);
        }
        svg.line("axis", vec![(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)]);
        svg.anchored("dim", (self.right, self.bottom + 32.0), "end", "operations per byte");
        let turn = format!("translate(14 {}) rotate(-90)", At(self.top));
        svg.text("text", &[("class", &"dim"), ("transform", &turn), ("text-anchor", &"end")], "flop/s");
    }

    fn ceilings(&self, svg: &mut Svg, chart: &RooflineChart) {
        let shown = rates(chart);
        let roof = shown.first().map_or(self.y.1, |(_, c)| c.value.log10());
        self.rates(svg, chart, &shown);
        self.bandwidths(svg, chart, roof);
    }

    /// The horizontal lines.
    fn rates(&self, svg: &mut Svg, chart: &RooflineChart, shown: &[(String, &Ceiling)]) {
        let fastest = chart.bandwidths.iter().map(|c| c.value.log10()).fold(f64::NEG_INFINITY, f64::max);
        let mut labels: Vec<(f64, f64)> = Vec::new();
        for (names, ceiling) in shown {
            let y = ceiling.value.log10();
            let ridge = if fastest.is_finite() { (y - fastest).max(self.x.0) } else { self.x.0 };
            let (from, to) = (self.place_log(ridge, y), self.place_log(self.x.1, y));
            let class = format!(
                "roof s-rate {}{}",
                basis_class(ceiling.basis),
                if ceiling.used { "" } else { " unused" }
            );
            svg.open("g", &[]);
            let text =
                format!("{names} {} · {}", rate(ceiling.value, ceiling.unit), ceiling.basis.describe());
            svg.title(&text);
            svg.line(&class, vec![from, to]);
            // Above its line, and left of a label in the same place.
            let end = labels
                .iter()
                .filter(|(at, _)| (at - to.1).abs() < 13.0)
                .map(|(_, x)| *x)
                .fold(to.0 - 4.0, f64::min);
            svg.anchored("f-rate small halo", (end, to.1 - 5.0), "end", &text);
            labels.push((to.1, end - text_width(&text, 11.0) - 14.0));
            svg.close();
        }
    }

    /// The slanted lines, up to the highest rate.
    fn bandwidths(&self, svg: &mut Svg, chart: &RooflineChart, roof: f64) {
        // Both axes have the same slope for every bandwidth.
        let slope = {
            let (a, b) = (self.place_log(0.0, 0.0), self.place_log(1.0, 1.0));
            (b.1 - a.1).atan2(b.0 - a.0)
        };
        let (cos, sin) = (slope.cos(), slope.sin());
        let mut before: Option<(f64, f64)> = None;
        let mut sorted: Vec<&Ceiling> = chart.bandwidths.iter().filter(|c| c.value > 0.0).collect();
        sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
        for ceiling in sorted {
            let bandwidth = ceiling.value.log10();
            let enters = self.x.0.max(self.y.0 - bandwidth);
            let leaves = (roof - bandwidth).min(self.x.1);
            if leaves <= enters {
                continue;
            }
            let from = self.place_log(enters, enters + bandwidth);
            let to = self.place_log(leaves, leaves + bandwidth);
            let level = level_class(&ceiling.name);
            svg.open("g", &[("data-level", &level)]);
            let text = format!(
                "{} {} · {}",
                ceiling.name,
                rate(ceiling.value, ceiling.unit),
                ceiling.basis.describe()
            );
            svg.title(&text);
            let class = format!("roof s-{level} {}", basis_class(ceiling.basis));
            svg.line(&class, vec![from, to]);
            // Along its line; behind the label of a line that is too near.
            let across = |p: (f64, f64)| -p.0 * sin + p.1 * cos;
            let along = |p: (f64, f64)| p.0 * cos + p.1 * sin;
            let start = match before {
                Some((line, end)) if (line - across(from)).abs() < 14.0 => end.max(along(from) + 8.0),
                _ => along(from) + 8.0,
            };
            let shift = start - along(from);
            let (x, y) = (from.0 + shift * cos + 5.0 * sin, from.1 + shift * sin - 5.0 * cos);
            let turn = format!("translate({} {}) rotate({:.2})", At(x), At(y), slope.to_degrees());
            let class = format!("f-{level} small halo");
            svg.text("text", &[("class", &class), ("transform", &turn)], &text);
            before = Some((across(from), start + text_width(&text, 11.0) + 12.0));
            svg.close();
        }
    }

    fn kernels(&self, svg: &mut Svg, charts: &[Plotted<'_>], picture: &Picture<'_>) {
        let many = charts.len();
        if let (Some(first), Some(last)) = (charts.first(), charts.last().filter(|_| many > 1)) {
            self.arrows(svg, first.chart, last.chart);
        }
        for (index, it) in charts.iter().enumerate() {
            // Long ones first, so that short ones stay visible on top.
            let drawn = Drawn { of: it, recording: index, solid: index + 1 == many };
            for (at, kernel) in it.chart.kernels.iter().enumerate() {
                self.kernel(svg, &drawn, (at, kernel), picture);
            }
        }
    }

    /// Arrows from the kernels' positions in the base to their new positions.
    fn arrows(&self, svg: &mut Svg, base: &RooflineChart, new: &RooflineChart) {
        let mut stood: HashMap<(&str, &str), (f64, f64)> = HashMap::new();
        for kernel in &base.kernels {
            for level in &kernel.levels {
                if let Some(place) = point(kernel, level) {
                    stood.insert((&kernel.name, &level.level), place);
                }
            }
        }
        for (at, kernel) in new.kernels.iter().enumerate() {
            for level in &kernel.levels {
                let (Some(to), Some(from)) =
                    (point(kernel, level), stood.get(&(kernel.name.as_str(), level.level.as_str())))
                else {
                    continue;
                };
                let (a, b) = (self.place(from.0, from.1), self.place(to.0, to.1));
                let length = (b.0 - a.0).hypot(b.1 - a.1);
                if length < 6.0 {
                    continue;
                }
                let (dx, dy) = ((b.0 - a.0) / length, (b.1 - a.1) / length);
                let gap = (radius(kernel) + 2.0).min(length / 2.0);
                let tip = (b.0 - dx * gap, b.1 - dy * gap);
                let foot = (tip.0 - dx * 7.0, tip.1 - dy * 7.0);
                svg.open(
                    "g",
                    &[("class", &"moved"), ("data-kernel", &at), ("data-level", &level_class(&level.level))],
                );
                svg.line("arrow", vec![a, foot]);
                svg.area(
                    "arrow-head",
                    vec![tip, (foot.0 - dy * 3.5, foot.1 + dx * 3.5), (foot.0 + dy * 3.5, foot.1 - dx * 3.5)],
                );
                svg.close();
            }
        }
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "a kernel is drawn by its chart, its places in both lists, and the looks"
    )]
    fn kernel(
        &self,
        svg: &mut Svg,
        &Drawn { of, recording, solid }: &Drawn<'_>,
        (at, kernel): (usize, &RooflineKernel),
        picture: &Picture<'_>,
    ) {
        let places: Vec<(&RooflineLevel, (f64, f64))> = kernel
            .levels
            .iter()
            .filter_map(|level| Some((level, point(kernel, level)?)))
            .map(|(level, (x, y))| (level, self.place(x, y)))
            .collect();
        let (Some(first), Some(last)) = (
            places.iter().map(|p| p.1).reduce(|a, b| if b.0 < a.0 { b } else { a }),
            places.iter().map(|p| p.1).reduce(|a, b| if b.0 > a.0 { b } else { a }),
        ) else {
            return;
        };
        svg.open("g", &[("class", &"kernel"), ("data-kernel", &at), ("data-recording", &recording)]);
        svg.line("tie", vec![first, last]);
        let r = radius(kernel);
        for (level, (x, y)) in places.iter().rev() {
            let name = level_class(&level.level);
            let text = tooltip(of, kernel, level);
            let class =
                if solid { format!("point f-{name} outline") } else { format!("point hollow s-{name}") };
            if picture.theme.is_none() {
                svg.open(
                    "g",
                    &[
                        ("class", &"spot"),
                        ("data-level", &name),
                        ("role", &"img"),
                        ("tabindex", &"0"),
                        ("aria-label", &text),
                    ],
                );
            } else {
                svg.open("g", &[("class", &"spot")]);
            }
            svg.title(&text);
            svg.leaf("circle", &[("class", &class), ("cx", &At(*x)), ("cy", &At(*y)), ("r", &At(r))]);
            let (inside, dy) = (solid && r >= 7.0, 4.0);
            let letter = kernel.mark.to_string();
            if inside {
                svg.anchored("letter", (*x, y + dy), "middle", &letter);
            } else if level.level == "HBM" {
                svg.label("small strong halo", (x + r + 2.0, y + dy), &letter);
            }
            svg.close();
        }
        svg.close();
    }
}

/// A recording as it is drawn.
struct Drawn<'a> {
    of: &'a Plotted<'a>,
    /// Its number.
    recording: usize,
    /// Filled points, not hollow ones.
    solid: bool,
}

/// The area of a point is its share of the time.
fn radius(kernel: &RooflineKernel) -> f64 {
    4.0 + 8.0 * (kernel.time_percent.get().unwrap_or(10.0) / 100.0).clamp(0.0, 1.0).sqrt()
}

fn tooltip(of: &Plotted<'_>, kernel: &RooflineKernel, level: &RooflineLevel) -> String {
    let number = |n: &Number, mark: Option<Mark>, text: &dyn Fn(f64) -> String| {
        n.get().map_or_else(|| "n/a".to_owned(), |v| signed(mark, text(v)))
    };
    let mut text = format!("{}  {}", kernel.mark, shorten(&kernel.name, 160));
    if !of.name.is_empty() {
        text.push_str(&format!("\n{}", of.name));
    }
    let ceiling = of.chart.bandwidths.iter().find(|c| c.name == level.level);
    text.push_str(&format!(
        "\n{}: {} flop/byte · {}",
        level.level,
        number(&level.intensity, level.intensity_trust, &short),
        number(&kernel.rate, kernel.rate_trust, &|v| rate(v, "Gflop/s"))
    ));
    if let (Some(ceiling), Some(percent)) = (ceiling, level.percent.get()) {
        text.push_str(&format!(
            "\n{} of {} ({}): {} %",
            number(&level.bandwidth, level.bandwidth_trust, &|v| rate(v, "GB/s")),
            rate(ceiling.value, ceiling.unit),
            ceiling.basis.describe(),
            signed(level.bandwidth_trust, short(percent))
        ));
    }
    if let Some(percent) = kernel.time_percent.get() {
        text.push_str(&format!("\n{} % of the time", signed(time_trust(kernel, percent), short(percent))));
    }
    text.push_str(&format!("\n{}", kernel.verdict.text));
    let said = [
        ("flop/byte", level.intensity_trust),
        ("flop/s", kernel.rate_trust),
        ("bandwidth", level.bandwidth_trust),
    ];
    for (what, mark) in said {
        if let Some(mark) = mark.filter(|mark| *mark != Mark::Exact) {
            text.push_str(&format!("\n{what}: {mark}"));
        }
    }
    text
}
