//! Occupancy over time of one kernel: waves in flight as an area, busy compute units as a line above it.
//!
//! Each has its own axis from zero: the area's ends at the most waves the kernel has in flight, the line's at
//! all compute units. The time axis spans the kernel.

use super::Picture;
use super::element::{At, Svg};
use super::number::short;
use crate::marks::signed;
use crate::text::describe_waves;
use view::duration;
use view::{KernelWaves, WaveChart};

/// Room around the plot.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 44.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 22.0;

/// Draws a kernel of the chart.
pub fn waves(kernel: &KernelWaves, chart: &WaveChart, picture: &Picture<'_>) -> String {
    let mut svg = Svg::default();
    let (width, height) = (picture.width.max(200.0), picture.height.max(80.0));
    let view_box = format!("0 0 {} {}", At(width), At(height));
    let label = format!("Occupancy over time of {}: {}", kernel.name, describe_waves(kernel, chart));
    svg.open(
        "svg",
        &[("class", &"chart waves"), ("viewBox", &view_box), ("role", &"img"), ("aria-label", &label)],
    );
    let plot = Plot { right: width - RIGHT, bottom: height - BOTTOM };
    plot.axes(&mut svg, kernel, chart);
    let steps = |of: &[f64], most: f64| plot.steps(of, most);
    let mut area = steps(&kernel.waves, kernel.peak_waves);
    area.insert(0, (LEFT, plot.bottom));
    area.push((plot.right, plot.bottom));
    svg.area("waves-area", area);
    if let Some(units) = chart.compute_units.get().filter(|units| *units > 0.0) {
        let line = steps(&kernel.busy_units, units);
        svg.line("waves-units", line);
    }
    svg.finish()
}

struct Plot {
    right: f64,
    bottom: f64,
}

impl Plot {
    /// Corners of a line that is level in each part of the time.
    fn steps(&self, of: &[f64], most: f64) -> Vec<(f64, f64)> {
        let each = (self.right - LEFT) / of.len().max(1) as f64;
        let y = |value: f64| {
            let part = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
            self.bottom - part * (self.bottom - TOP)
        };
        let corners = of.iter().enumerate().flat_map(|(at, value)| {
            let x = LEFT + at as f64 * each;
            [(x, y(*value)), (x + each, y(*value))]
        });
        corners.collect()
    }

    fn axes(&self, svg: &mut Svg, kernel: &KernelWaves, chart: &WaveChart) {
        let mut text = |class: &'static str, x: f64, y: f64, anchor: &'static str, words: &str| {
            let class = format!("{class} small");
            svg.anchored(&class, (x, y), anchor, words);
        };
        let sign = |words: String| signed(kernel.trust, words);
        text("f-hbm", LEFT - 6.0, TOP + 8.0, "end", &sign(short(kernel.peak_waves.round())));
        text("f-hbm", LEFT - 6.0, TOP + 21.0, "end", "waves");
        text("dim", LEFT - 6.0, self.bottom, "end", "0");
        if let Some(units) = chart.compute_units.get() {
            text("f-vl1d", self.right + 6.0, TOP + 8.0, "start", &short(units));
            text("f-vl1d", self.right + 6.0, TOP + 21.0, "start", "CUs");
        }
        text("dim", LEFT, self.bottom + 15.0, "start", "0");
        let time = sign(duration(kernel.mean_ns));
        text("dim", self.right, self.bottom + 15.0, "end", &time);
        for quarter in 1..4 {
            let x = LEFT + f64::from(quarter) / 4.0 * (self.right - LEFT);
            svg.line("grid", vec![(x, TOP), (x, self.bottom)]);
        }
        svg.line("axis", vec![(LEFT, TOP), (LEFT, self.bottom), (self.right, self.bottom)]);
    }
}
