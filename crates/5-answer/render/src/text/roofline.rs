//! The roofline as a plot and a table.
//!
//! Both axes are logarithmic, so every bandwidth is a line of the same slope; a kernel's capital letter marks
//! its operations per byte of the farthest memory shown, the small letter its operations per byte of the
//! next.

use super::canvas::Canvas;
use super::card::short_name;
use super::page::{Page, Span, dim, plain, span, width};
use crate::marks::{self, signed};
use crate::{Role, Style};
use view::{
    Answer, Ceiling, CeilingBasis, Note, Number, RooflineChart, RooflineKernel, RooflineLevel, Rooflines,
};

/// Columns before the plot.
const MARGIN: usize = 9;
/// Most columns of the plot: wider ones only stretch it.
const WIDEST: usize = 110;
/// Decades below the highest ceiling that are shown at least.
const DECADES: f64 = 4.0;
/// Exponent of the intensity at which the plot begins at the latest.
const LEFT: f64 = -2.0;
/// Columns from which on the table has room for bandwidths beside intensities.
const WIDE: usize = 108;

/// Renders the chart.
pub fn roofline(chart: &RooflineChart, style: &Style) -> String {
    with_notes(chart, &[], style)
}

/// Renders the rooflines of several recordings in one chart.
pub(crate) fn rooflines(answer: &Answer<Rooflines>, style: &Style) -> String {
    answer.part.together.as_ref().map_or_else(String::new, |chart| with_notes(chart, &answer.notes, style))
}

fn with_notes(chart: &RooflineChart, more: &[Note], style: &Style) -> String {
    let mut page = Page::new(style);
    page.wrapped(0, 4, &[dim("4  "), span(Role::Heading, "Roofline"), dim(format!("  {}", chart.machine))]);
    let marks = marks(chart);
    if marks.is_empty() {
        page.wrapped(2, 4, &[dim(no_plot(chart))]);
    } else {
        plot(&mut page, chart, &marks);
    }
    ceilings(&mut page, chart);
    table(&mut page, chart);
    for note in chart.notes.iter().chain(more.iter().map(|it| &it.text)) {
        page.wrapped(2, 4, &[dim(note)]);
    }
    page.finish()
}

fn no_plot(chart: &RooflineChart) -> &'static str {
    if chart.kernels.iter().any(|kernel| kernel.flops.get() == Some(0.0)) {
        "no plot: the kernels do no floating-point operations; bandwidths are below"
    } else {
        "no plot: operations, bytes or times of the kernels are not known"
    }
}

/// Intensity and rate of a letter.
struct Mark {
    letter: char,
    role: Role,
    x: f64,
    y: f64,
}

fn marks(chart: &RooflineChart) -> Vec<Mark> {
    let mut marks = Vec::new();
    // Small letters are the second level's, unless kernels have them.
    let small = chart.kernels.iter().all(|kernel| kernel.mark.is_ascii_uppercase());
    for kernel in &chart.kernels {
        let Some(y) = kernel.rate.get().filter(|rate| *rate > 0.0) else { continue };
        for (place, level) in kernel.levels.iter().enumerate() {
            let Some(x) = level.intensity.get().filter(|x| *x > 0.0) else { continue };
            let letter = match place {
                0 => kernel.mark,
                1 if small => kernel.mark.to_ascii_lowercase(),
                _ => '·',
            };
            let role = if place == 0 { Role::Strong } else { Role::Info };
            marks.push(Mark { letter, role, x, y });
        }
    }
    marks
}

/// Whole decades that hold the marks and the ceilings around them.
struct Axes {
    x: (f64, f64),
    y: (f64, f64),
}

impl Axes {
    fn of(chart: &RooflineChart, marks: &[Mark]) -> Self {
        let rates = chart.rates.iter().filter(|c| c.used).map(|c| c.value);
        let top = rates.chain(marks.iter().map(|m| m.y)).fold(1.0, f64::max);
        let slowest = chart.bandwidths.iter().map(|c| c.value).fold(f64::INFINITY, f64::min);
        let low = marks.iter().map(|m| m.y).fold(f64::INFINITY, f64::min);
        let y = (low.log10().floor().min((top.log10() - DECADES).floor()), top.log10().ceil());
        // To half a decade after the slowest line has met the roof.
        let ridge = if slowest.is_finite() { (top / slowest).log10() + 0.5 } else { 0.0 };
        let most = marks.iter().map(|m| m.x).fold(0.0, f64::max).log10();
        let least = marks.iter().map(|m| m.x).fold(f64::INFINITY, f64::min).log10();
        Axes { x: (least.min(LEFT).floor(), most.max(ridge).ceil()), y }
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let part = |value: f64, range: (f64, f64)| (value.log10() - range.0) / (range.1 - range.0).max(1.0);
        (part(x, self.x), part(y, self.y))
    }
}

fn plot(page: &mut Page, chart: &RooflineChart, marks: &[Mark]) {
    let axes = Axes::of(chart, marks);
    let columns = page.style.width.saturating_sub(MARGIN + 1).clamp(24, WIDEST);
    let rows_of_decade = if columns > 90 { 5 } else { 4 };
    let rows = ((axes.y.1 - axes.y.0) as usize).clamp(1, 9) * rows_of_decade;
    let mut canvas = Canvas::new(columns, rows);
    let top = chart.rates.iter().filter(|c| c.used).map(|c| c.value).fold(0.0, f64::max);
    let top = if top > 0.0 { top } else { 10f64.powf(axes.y.1) };
    let fastest = chart.bandwidths.iter().map(|c| c.value).fold(0.0, f64::max);
    for ceiling in chart.rates.iter().filter(|c| c.used) {
        let ridge = if fastest > 0.0 { ceiling.value / fastest } else { 10f64.powf(axes.x.0) };
        let from = axes.place(ridge, ceiling.value);
        canvas.line(Role::Good, from, (1.0, from.1));
        let (_, row) = canvas.at((1.0, from.1));
        let name = &ceiling.name;
        // Above its line, or below if another label is there.
        let column = columns.saturating_sub(width(name) + 1);
        let free =
            [row.wrapping_sub(1), row + 1].into_iter().find(|row| canvas.is_free(column, *row, width(name)));
        if let Some(row) = free {
            canvas.text(column, row, Role::Good, name);
        }
    }
    for ceiling in &chart.bandwidths {
        let from = 10f64.powf(axes.x.0);
        let to = top / ceiling.value;
        canvas.line(Role::Warning, axes.place(from, from * ceiling.value), axes.place(to, top));
    }
    for ceiling in &chart.bandwidths {
        // Where the line enters: at the left border or at the bottom.
        let left = 10f64.powf(axes.x.0);
        let bottom = 10f64.powf(axes.y.0) / ceiling.value;
        let enters = left.max(bottom);
        let (column, row) = canvas.at(axes.place(enters, enters * ceiling.value));
        let name = &ceiling.name;
        let place =
            [(column + 2, row), (column + 3, row), (column, row.wrapping_sub(1)), (column + 2, row + 1)];
        if let Some((x, y)) = place.into_iter().find(|(x, y)| canvas.is_free(*x, *y, width(name) + 1)) {
            canvas.text(x, y, Role::Warning, name);
        }
    }
    // The most important letter is drawn last, on top.
    for mark in marks.iter().rev() {
        let (x, y) = canvas.at(axes.place(mark.x, mark.y));
        canvas.text(x, y, mark.role, &mark.letter.to_string());
    }
    canvas.write(page, |row| y_label(row, rows_of_decade, axes.y.1));
    x_axis(page, &axes, columns);
    legend(page, chart);
}

/// The tick of a row, if a decade ends there.
fn y_label(row: usize, rows_of_decade: usize, top: f64) -> Vec<Span> {
    let text = if row.is_multiple_of(rows_of_decade) {
        rate(10f64.powf(top - (row / rows_of_decade) as f64))
    } else {
        String::new()
    };
    let tick = if text.is_empty() { '│' } else { '┤' };
    vec![dim(format!("{text:>w$}{tick}", w = MARGIN - 1))]
}

fn x_axis(page: &mut Page, axes: &Axes, columns: usize) {
    let decades = (axes.x.1 - axes.x.0).max(1.0) as usize;
    let at = |decade: usize| decade * columns / decades;
    let mut line: Vec<char> = vec!['─'; columns];
    let mut labels: Vec<char> = vec![' '; columns + MARGIN];
    for decade in 0..decades {
        if decade > 0 {
            line[at(decade)] = '┴';
        }
        let label = count(10f64.powf(axes.x.0 + decade as f64));
        let start = (MARGIN + at(decade)).saturating_sub(if decade > 0 { width(&label) / 2 } else { 0 });
        for (i, c) in label.chars().enumerate() {
            if let Some(cell) = labels.get_mut(start + i) {
                *cell = c;
            }
        }
    }
    page.raw(&[dim(format!("{}└{}", " ".repeat(MARGIN - 1), line.into_iter().collect::<String>()))]);
    let unit = "flop/byte";
    let labels: String = labels.into_iter().collect();
    let room = (MARGIN + columns).saturating_sub(width(unit) + 1);
    let cut: String = labels.chars().take(room).collect();
    page.raw(&[dim(format!("{cut} {unit}"))]);
}

/// Mark of each memory level in the chart.
fn legend(page: &mut Page, chart: &RooflineChart) {
    let levels: Vec<&str> = chart
        .kernels
        .first()
        .map_or_else(Vec::new, |it| it.levels.iter().map(|l| l.level.as_str()).collect());
    let small = chart.kernels.iter().all(|kernel| kernel.mark.is_ascii_uppercase());
    let (first, rest) = levels.split_at(1.min(levels.len()));
    let (second, rest) = if small { rest.split_at(1.min(rest.len())) } else { rest.split_at(0) };
    let mut spans = Vec::new();
    for (mark, role, names) in
        [("A", Role::Strong, first), ("a", Role::Info, second), ("·", Role::Info, rest)]
    {
        if names.is_empty() {
            continue;
        }
        let before = if spans.is_empty() { " at flop per byte of " } else { " of " };
        spans.extend([span(role, mark), dim(format!("{before}{}, ", names.join(" and ")))]);
    }
    spans.push(dim("up: flop/s"));
    page.wrapped(MARGIN, MARGIN, &spans);
}

fn ceilings(page: &mut Page, chart: &RooflineChart) {
    for basis in [CeilingBasis::Measured, CeilingBasis::DataSheet] {
        let list: Vec<&Ceiling> =
            chart.bandwidths.iter().chain(&chart.rates).filter(|c| c.basis == basis && c.used).collect();
        if list.is_empty() {
            continue;
        }
        let texts: Vec<String> = list
            .iter()
            .map(|c| match c.unit {
                "GB/s" => format!("{} {:.0} GB/s", c.name, c.value),
                "Gop/s" => format!("{} {}op/s", c.name, rate(c.value).replace("flop/s", "")),
                _ => format!("{} {}flop/s", c.name, rate(c.value)),
            })
            .collect();
        let word = format!("{} ceilings  ", basis.describe());
        page.wrapped(2, 4, &[dim(word), plain(texts.join(" · "))]);
    }
}

fn table(page: &mut Page, chart: &RooflineChart) {
    if chart.kernels.is_empty() {
        return;
    }
    let levels: Vec<&str> = chart.kernels[0].levels.iter().map(|level| level.level.as_str()).collect();
    page.blank();
    let shown = Shown::of(chart, page.style.width);
    let mut head = format!("  {:<3}{:>6}", "", "time");
    if shown.intensity {
        head += &format!(" {:>9}", "flop/s");
    }
    for level in &levels {
        if shown.intensity {
            head += &format!(" {:>8}", format!("{level} f/B"));
        }
        if shown.bandwidth {
            let name = if shown.intensity { "GB/s".to_owned() } else { format!("{level} GB/s") };
            head += &format!(" {name:>9}");
        }
        head += "    %";
    }
    page.raw(&[dim(head)]);
    for kernel in &chart.kernels {
        row(page, kernel, &shown);
    }
    if chart.left_out > 0 {
        page.wrapped(2, 4, &[dim(format!("{} more kernels", chart.left_out))]);
    }
    let intensity = if shown.intensity { "f/B: flop per byte; " } else { "" };
    // The tables' L2 Cache BW counts every request as a whole line, of other clients too.
    let l2 = if levels.contains(&"L2") { "; L2: what the vector L1 moves (L1-L2 BW)" } else { "" };
    page.wrapped(2, 4, &[dim(format!("{intensity}%: of the level's bandwidth ceiling{l2}"))]);
    if let Some(legend) = marks::legend(marks::of_roofline(chart)) {
        page.wrapped(2, 4, &[dim(legend)]);
    }
}

/// Columns of each level; columns of operations include the rate.
struct Shown {
    intensity: bool,
    bandwidth: bool,
}

impl Shown {
    /// If no kernel has operations, the intensities are meaningless.
    fn of(chart: &RooflineChart, width: usize) -> Self {
        let intensity = chart.kernels.iter().any(|kernel| kernel.flops.get() != Some(0.0));
        Shown { intensity, bandwidth: !intensity || width >= WIDE }
    }
}

fn row(page: &mut Page, kernel: &RooflineKernel, shown: &Shown) {
    let time = kernel.time_percent.get().map_or("n/a".to_owned(), |percent| {
        let text = if percent < 99.95 { format!("{percent:.1} %") } else { "100 %".to_owned() };
        // One kernel alone has all the time, however long that is.
        signed(kernel.time_trust.filter(|_| percent < 100.0), text)
    });
    let speed = kernel.rate.get().map_or("n/a".to_owned(), |it| signed(kernel.rate_trust, rate(it)));
    let mut spans = vec![span(Role::Strong, format!("  {:<2}", kernel.mark)), plain(format!("{time:>7}"))];
    if shown.intensity {
        spans.push(plain(format!(" {speed:>9}")));
    }
    for level in &kernel.levels {
        if shown.intensity {
            spans.push(plain(format!(" {:>8}", intensity(level))));
        }
        if shown.bandwidth {
            let text = level.bandwidth.get().map_or("n/a".to_owned(), |value| {
                let text = if value.abs() >= 1e8 { format!("{value:.0e}") } else { format!("{value:.0}") };
                signed(level.bandwidth_trust, text)
            });
            spans.push(plain(format!(" {text:>9}")));
        }
        let percent = level.percent.get();
        let text = percent.map_or("n/a".to_owned(), |percent| {
            let text =
                if percent.abs() >= 9999.5 { format!("{percent:.0e}") } else { format!("{percent:.0}") };
            signed(level.bandwidth_trust, text)
        });
        spans.push(span(percent.map_or(Role::Dim, of_peak), format!(" {text:>4}")));
    }
    page.raw(&spans);
    let style = page.style;
    let name = short_name(&kernel.name, style.width.saturating_sub(6), &style);
    page.wrapped(5, 7, &[plain(name)]);
    let mut verdict = match &kernel.verdict.bound_by {
        Some(by) => vec![span(Role::Strong, by), plain(": "), plain(&kernel.verdict.text)],
        None => vec![dim(format!("no verdict: {}", kernel.verdict.text))],
    };
    if let Some(gap) = kernel.verdict.gap.get().filter(|gap| *gap >= 1.05) {
        let gap = signed(kernel.verdict.trust, format!("{gap:.1}"));
        verdict.push(dim(format!(", {gap}x below its roof")));
    }
    page.wrapped(5, 7, &verdict);
}

fn intensity(level: &RooflineLevel) -> String {
    match (&level.intensity, level.bytes.get()) {
        (Number::Known(x), _) if *x == 0.0 => signed(level.intensity_trust, "0".to_owned()),
        (Number::Known(x), _) => signed(level.intensity_trust, count(*x)),
        (Number::Missing(_), Some(0.0)) => "-".to_owned(),
        (Number::Missing(_), _) => "n/a".to_owned(),
    }
}

/// Colour of a share of a peak.
pub(super) fn of_peak(percent: f64) -> Role {
    match percent {
        p if p >= 80.0 => Role::Severe,
        p if p >= 50.0 => Role::Warning,
        p if p >= 20.0 => Role::Good,
        _ => Role::Plain,
    }
}

/// `0.01`, `3.2`, `128`, `10k`.
fn count(value: f64) -> String {
    match value {
        v if v >= 1e8 => format!("{v:.0e}"),
        v if v >= 9999.5 => format!("{:.0}k", v / 1e3),
        v if v >= 99.5 => format!("{v:.0}"),
        v if v >= 0.995 => trimmed(format!("{v:.1}")),
        v if v >= 0.00995 => trimmed(format!("{v:.3}")),
        v => format!("{v:.0e}"),
    }
}

fn trimmed(text: String) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A rate given in 10^9 per second: `20.5 T`, `875 G`.
fn rate(giga: f64) -> String {
    let (value, unit) = match giga {
        g if g >= 1e9 => return format!("{g:.0e} G"),
        g if g >= 1e6 => (g / 1e6, "P"),
        g if g >= 1e3 => (g / 1e3, "T"),
        g if g >= 1.0 => (g, "G"),
        g if g >= 1e-3 => (g * 1e3, "M"),
        g if g > 0.0 => (g * 1e6, "k"),
        _ => return "0".to_owned(),
    };
    let text = if value >= 99.5 { format!("{value:.0}") } else { trimmed(format!("{value:.1}")) };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(0.0625, "0.062"), (0.5, "0.5"), (12.34, "12.3"), (256.2, "256"), (123_456.0, "123k")]
        {
            assert_eq!(count(value), text);
        }
        for (value, text) in
            [(20_538.6, "20.5 T"), (875.0, "875 G"), (0.0, "0"), (1e6, "1 P"), (0.25, "250 M")]
        {
            assert_eq!(rate(value), text);
        }
    }
}
