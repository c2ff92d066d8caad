//! Occupancy over time as small plots.
//!
//! A column is one part of a kernel's time, or two where the terminal is narrow; its height is the number of
//! waves in flight, from 0 to the most the kernel has.

use super::card::short_name;
use super::page::{Page, dim, plain, span};
use crate::marks::{self, signed};
use crate::{Role, Style};
use view::{KernelWaves, Number, WaveChart, counted, duration};

/// Lines of a plot.
const LINES: usize = 4;
/// Columns before a plot.
const MARGIN: usize = 9;
/// Eighths of a line, from the bottom.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Renders the chart.
pub fn waves(chart: &WaveChart, style: &Style) -> String {
    let mut page = Page::new(style);
    let head = [
        dim("0.5  "),
        span(Role::Heading, "Occupancy over time"),
        dim("  waves in flight, from start to end"),
    ];
    page.wrapped(0, 4, &head);
    for kernel in &chart.kernels {
        let name = short_name(&kernel.name, style.width.saturating_sub(3), style);
        page.wrapped(2, 4, &[plain(name)]);
        plot(&mut page, kernel);
        let text = describe(kernel, chart);
        page.wrapped(MARGIN, MARGIN, &[dim(text)]);
    }
    if chart.left_out > 0 {
        page.wrapped(2, 4, &[dim(counted(chart.left_out, "more kernel"))]);
    }
    if let Some(legend) = marks::legend(chart.kernels.iter().filter_map(|it| it.trust)) {
        page.wrapped(2, 4, &[dim(legend)]);
    }
    page.finish()
}

fn plot(page: &mut Page, kernel: &KernelWaves) {
    let room = page.style.width.saturating_sub(MARGIN).max(1);
    let joined = kernel.waves.len().div_ceil(room).max(1);
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len() as f64;
    let columns: Vec<f64> = kernel.waves.chunks(joined).map(mean).collect();
    for line in (0..LINES).rev() {
        let label = match line {
            _ if line + 1 == LINES => signed(kernel.trust, format!("{:.0}", kernel.peak_waves)),
            0 => "0".to_owned(),
            _ => String::new(),
        };
        let tick = if label.is_empty() { '│' } else { '┤' };
        let bars: String =
            columns.iter().map(|waves| EIGHTHS[eighths(*waves, kernel.peak_waves, line)]).collect();
        page.raw(&[dim(format!("{label:>w$}{tick}", w = MARGIN - 1)), span(Role::Info, bars)]);
    }
}

/// Eighths of a line that a column fills; a value above zero fills at least one.
fn eighths(waves: f64, peak: f64, line: usize) -> usize {
    if !(waves > 0.0 && peak > 0.0) {
        return 0;
    }
    let all = ((waves / peak * (8 * LINES) as f64).round() as usize).max(1);
    all.saturating_sub(8 * line).min(8)
}

/// The numbers of a plot.
pub(crate) fn describe(kernel: &KernelWaves, chart: &WaveChart) -> String {
    let sign = |text: String| signed(kernel.trust, text);
    let percent = |part: f64, whole: &Number| {
        let whole = whole.get().filter(|whole| *whole > 0.0);
        whole.map_or(String::new(), |whole| format!(" ({} %)", sign(format!("{:.0}", 100.0 * part / whole))))
    };
    let slots = chart.wave_slots.get().map_or(String::new(), |slots| format!(" of {slots:.0}"));
    let mut text = format!(
        "peak {}{slots} waves{}, mean {}{}",
        sign(format!("{:.0}", kernel.peak_waves)),
        percent(kernel.peak_waves, &chart.wave_slots),
        sign(format!("{:.0}", kernel.mean_waves)),
        percent(kernel.mean_waves, &chart.wave_slots),
    );
    if let Some(units) = chart.compute_units.get() {
        let mean = sign(format!("{:.0}", kernel.mean_units));
        text += &format!("; {mean} of {units:.0} compute units busy on average");
    }
    if kernel.tail_percent > 0.0 {
        let tail = sign(format!("{:.0}", kernel.tail_percent));
        text += &format!("; fewer than half the peak in the last {tail} % of the time");
    }
    let of = if kernel.dispatches > 1 {
        format!(", mean of {} dispatches", kernel.dispatches)
    } else {
        String::new()
    };
    text + &format!("; {}{of}", sign(duration(kernel.mean_ns)))
}
