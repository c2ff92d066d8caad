//! The memory chart as a diagram.
//!
//! Columns of blocks with links between them; the height of a block follows from its facts and links; a block
//! alone in its column is as high as the blocks it is linked to. No position is fixed.

use super::canvas::Canvas;
use super::page::{Page, dim, span, width};
use super::roofline::of_peak;
use crate::marks::{self, signed};
use crate::{Role, Style};
use view::{BlockId, Flow, Mark, MemoryBlock, MemoryChart, MemoryFact, MemoryLink, Number};

/// Columns of each column of blocks, and of the links between.
const BLOCK: [usize; 4] = [17, 17, 15, 15];
const LINK: usize = 12;
/// Columns that signs before numbers take, in blocks and in links.
const SIGN: usize = 2;
/// Lines of a link: what and how many, how much, how fast.
const LINES: usize = 3;

/// Renders the chart: a diagram if it fits, else a list of blocks and links.
pub fn memory_chart(chart: &MemoryChart, style: &Style) -> String {
    let mut page = Page::new(style);
    let mut head = vec![
        dim("3.1  "),
        span(Role::Heading, "Memory chart"),
        dim(format!("  requests and bytes per {}", chart.per)),
    ];
    if style.color {
        head.push(dim(", share of peak from "));
        for (index, percent) in [20.0, 50.0, 80.0].into_iter().enumerate() {
            head.push(dim(if index > 0 { ", " } else { "" }));
            head.push(span(of_peak(percent), format!("{percent}\u{a0}%")));
        }
    }
    page.wrapped(0, 4, &head);
    let legend = marks::legend(marks::of_memory(chart));
    let size = Size::new(legend.is_some(), style.width);
    if style.width >= size.width() {
        diagram(&mut page, chart, &size)
    } else {
        list(&mut page, chart)
    }
    if let Some(legend) = legend {
        page.wrapped(0, 2, &[dim(legend)]);
    }
    page.finish()
}

/// Columns of blocks and links.
struct Size {
    block: [usize; 4],
    link: usize,
}

impl Size {
    /// As wide as signs need, or as the available width allows.
    fn new(signs: bool, room: usize) -> Size {
        let least = Size { block: BLOCK, link: LINK };
        let more = if signs { room.saturating_sub(least.width()) / least.columns() } else { 0 };
        let more = more.min(SIGN);
        Size { block: BLOCK.map(|width| width + more), link: LINK + more }
    }

    /// Columns of blocks and of links.
    fn columns(&self) -> usize {
        2 * self.block.len() - 1
    }

    /// Columns the diagram takes.
    fn width(&self) -> usize {
        self.block.iter().sum::<usize>() + (self.block.len() - 1) * self.link
    }

    /// First character of a column of blocks.
    fn x(&self, column: usize) -> usize {
        self.block[..column].iter().map(|width| width + self.link).sum()
    }
}

/// A block with its place.
struct Placed<'a> {
    block: &'a MemoryBlock,
    x: usize,
    y: usize,
    height: usize,
}

/// Links that say something: an atomic without requests does not.
fn shown(chart: &MemoryChart, of: BlockId) -> Vec<&MemoryLink> {
    let says = |link: &&MemoryLink| link.flow != Flow::Atomic || link.requests.get() != Some(0.0);
    let of = move |link: &&MemoryLink| {
        !link.is_vertical() && (link.to == of || (of.column() == 1 && link.from == of))
    };
    chart.links.iter().filter(of).filter(says).collect()
}

/// Lines one side of a block's links need.
fn lines_of(links: &[&MemoryLink], side: impl Fn(&MemoryLink) -> bool) -> usize {
    let lines = |link: &&MemoryLink| if link.bytes.is_some() { LINES } else { LINES - 1 };
    links.iter().filter(|link| side(link)).map(lines).sum()
}

fn place<'a>(chart: &'a MemoryChart, size: &Size) -> (Vec<Placed<'a>>, usize) {
    let mut placed = Vec::new();
    let x = |column: usize| size.x(column);
    let column = |n: usize| chart.blocks.iter().filter(move |block| block.id.column() == n);
    let mut y = 0;
    for block in column(1) {
        let links = shown(chart, block.id);
        let left = lines_of(&links, |link| link.to == block.id);
        let right = lines_of(&links, |link| link.from == block.id);
        let height = block.facts.len().max(left).max(right) + 2;
        placed.push(Placed { block, x: x(1), y, height });
        y += height;
    }
    let total = y.max(column(0).map(|block| block.facts.len() + 2).max().unwrap_or(0));
    // The L2 and the blocks behind it are level with the caches that reach it.
    let top = placed.iter().find(|it| it.block.id != BlockId::Lds).map_or(0, |it| it.y);
    for block in column(0) {
        placed.push(Placed { block, x: 0, y: 0, height: total });
    }
    for block in column(2) {
        placed.push(Placed { block, x: x(2), y: top, height: y - top });
    }
    let mut below = top;
    let mut above: Option<BlockId> = None;
    for block in column(3) {
        below += above.map_or(0, |above| down(chart, above, block.id).len());
        above = Some(block.id);
        let need = lines_of(&shown(chart, block.id), |_| true).max(block.facts.len()) + 2;
        placed.push(Placed { block, x: x(3), y: below, height: need });
        below += need;
    }
    (placed, total.max(below))
}

/// Flows between a block and the one below it, in lines as wide as the blocks.
fn down(chart: &MemoryChart, from: BlockId, to: BlockId) -> Vec<(Role, String)> {
    let mut lines = Vec::new();
    for link in chart.between(from, to) {
        let role = link.percent.as_ref().and_then(Number::get).map_or(Role::Plain, of_peak);
        let way = match link.flow {
            Flow::Read => "\u{25b2}",
            Flow::Write => "\u{25bc}",
            Flow::Atomic | Flow::Any => "\u{25b2}\u{25bc}",
        };
        let bytes = amount(link).map_or(String::new(), |bytes| format!(" {bytes}"));
        lines.push((role, format!("{way} {}{bytes}", requests(link))));
        if link.bandwidth.as_ref().and_then(Number::get).is_some_and(|rate| rate != 0.0) {
            lines.push((role, format!("  {}", rate(link))));
        }
    }
    lines
}

/// Requests of a link.
fn requests(link: &MemoryLink) -> String {
    number(&link.requests, link.requests_trust, count)
}

/// Bytes of a link that says how many.
fn amount(link: &MemoryLink) -> Option<String> {
    Some(number(link.bytes.as_ref()?, link.bytes_trust, |bytes| format!("{}B", count(bytes))))
}

/// Bandwidth of a link with its share of a peak.
fn rate(link: &MemoryLink) -> String {
    let unknown = Number::missing("");
    let rate = number(link.bandwidth.as_ref().unwrap_or(&unknown), link.bandwidth_trust, speed);
    let percent = link.percent.as_ref().and_then(Number::get);
    percent.map_or(rate.clone(), |percent| format!("{rate} {percent:.0}%"))
}

/// A number with its sign.
fn number(number: &Number, mark: Option<Mark>, text: impl Fn(f64) -> String) -> String {
    number.get().map_or("n/a".to_owned(), |value| signed(mark, text(value)))
}

fn diagram(page: &mut Page, chart: &MemoryChart, size: &Size) {
    let (placed, height) = place(chart, size);
    let mut canvas = Canvas::new(size.width(), height);
    for it in &placed {
        draw_block(&mut canvas, it, size.block[it.block.id.column()]);
    }
    for it in placed.iter().filter(|it| matches!(it.block.id.column(), 1 | 3)) {
        let links = shown(chart, it.block.id);
        let mut y = it.y + 1;
        for link in links.iter().filter(|link| link.to == it.block.id) {
            y = draw_link(&mut canvas, link, (it.x - size.link, y), size.link);
        }
        let mut y = it.y + 1;
        for link in links.iter().filter(|link| link.from == it.block.id) {
            y = draw_link(&mut canvas, link, (it.x + size.block[1], y), size.link);
        }
    }
    let stacked: Vec<&Placed<'_>> = placed.iter().filter(|it| it.block.id.column() == 3).collect();
    for pair in stacked.windows(2) {
        let lines = down(chart, pair[0].block.id, pair[1].block.id);
        for (row, (role, line)) in lines.into_iter().enumerate() {
            canvas.text(pair[0].x + 1, pair[0].y + pair[0].height + row, role, &line);
        }
    }
    canvas.write(page, |_| Vec::new());
    for block in &chart.blocks {
        if let Some(reason) = block.unseen {
            page.wrapped(0, 2, &[dim(format!("{}: {reason}", block.id.title()))]);
        }
    }
}

fn draw_block(canvas: &mut Canvas, it: &Placed<'_>, width_of_block: usize) {
    let inner = width_of_block - 2;
    let title = it.block.id.title();
    let bar = "─".repeat(inner.saturating_sub(width(title) + 2));
    canvas.text(it.x, it.y, Role::Dim, "┌ ");
    canvas.text(it.x + 2, it.y, Role::Heading, title);
    canvas.text(it.x + 3 + width(title), it.y, Role::Dim, &format!("{bar}┐"));
    for row in 1..it.height - 1 {
        canvas.text(it.x, it.y + row, Role::Dim, "│");
        canvas.text(it.x + inner + 1, it.y + row, Role::Dim, "│");
    }
    canvas.text(it.x, it.y + it.height - 1, Role::Dim, &format!("└{}┘", "─".repeat(inner)));
    for (row, fact) in it.block.facts.iter().enumerate().take(it.height - 2) {
        let (value, role) = value_of(fact);
        // A number that takes its label's room leaves it a beginning.
        let room = inner.saturating_sub(width(&value));
        let label = match width(fact.label) > room {
            true => fact.label.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
            false => fact.label.to_owned(),
        };
        canvas.text(it.x + 1, it.y + 1 + row, Role::Dim, &label);
        canvas.text((it.x + 1 + inner).saturating_sub(width(&value)), it.y + 1 + row, role, &value);
    }
}

/// Draws a link into the gap at `place` and gives the line after it.
fn draw_link(canvas: &mut Canvas, link: &MemoryLink, place: (usize, usize), room: usize) -> usize {
    let (x, mut y) = place;
    let role = link.percent.as_ref().and_then(Number::get).map_or(Role::Plain, of_peak);
    let center = |text: &str| x + room.saturating_sub(width(text)) / 2;
    let word = link.flow.word();
    let requests = format!("{word} {}", requests(link));
    // With a sign the longest word may not fit.
    let over = width(&requests).saturating_sub(room);
    let requests = if over > 0 {
        requests.replacen(word, &word[..word.len().saturating_sub(over + 1)], 1)
    } else {
        requests
    };
    canvas.text(center(&requests), y, Role::Dim, &requests);
    y += 1;
    let amount = amount(link).unwrap_or_default();
    let (tail, head) = match link.flow {
        Flow::Read => ("◀", "─"),
        Flow::Write => ("─", "▶"),
        Flow::Atomic | Flow::Any => ("◀", "▶"),
    };
    let dashes = room.saturating_sub(width(&amount) + 2);
    let arrow = format!("{tail}{}{amount}{}{head}", "─".repeat(dashes / 2), "─".repeat(dashes - dashes / 2));
    canvas.text(x, y, role, &arrow);
    y += 1;
    if let Some(bytes) = &link.bytes {
        if bytes.get() == Some(0.0) {
            return y + 1;
        }
        let all = rate(link);
        // The colour says about as much as the percentage.
        let text = if width(&all) > room { all.split(' ').next().unwrap_or_default() } else { &all };
        canvas.text(center(text), y, role, text);
        y += 1;
    }
    y
}

fn value_of(fact: &MemoryFact) -> (String, Role) {
    let Some(value) = fact.value.get() else { return ("n/a".to_owned(), Role::Dim) };
    let role = if fact.is_share { of_peak(value) } else { Role::Plain };
    let text = match fact.unit {
        "%" if value.abs() >= 1e5 => format!("{value:.0e}%"),
        "%" if value >= 99.95 => format!("{value:.0}%"),
        "%" => format!("{value:.1}%"),
        "cycle" => format!("{}cyc", count(value)),
        "/acc" => format!("{value:.2}/acc"),
        "GB/s" => speed(value),
        "" => count(value),
        unit => format!("{} {unit}", count(value)),
    };
    (signed(fact.trust, text), role)
}

/// Narrow terminals: the same, one line for each block and link.
fn list(page: &mut Page, chart: &MemoryChart) {
    for block in &chart.blocks {
        let mut spans = vec![];
        for (index, fact) in block.facts.iter().enumerate() {
            let (value, role) = value_of(fact);
            let separator = if index > 0 { " · " } else { "" };
            spans.push(dim(format!("{separator}{}\u{a0}", fact.label)));
            spans.push(span(role, value.replace(' ', "\u{a0}")));
        }
        spans.extend(block.unseen.map(|reason| dim(format!(" · {reason}"))));
        let title = [span(Role::Heading, format!("  {:<14}", block.id.title()))];
        page.prefixed(&title, &[dim(" ".repeat(16))], &spans);
        for link in chart
            .links
            .iter()
            .filter(|link| link.to == block.id || (link.from == block.id && link.to == BlockId::L2))
        {
            if link.flow == Flow::Atomic && link.requests.get() == Some(0.0) {
                continue;
            }
            let arrow = match link.flow {
                Flow::Read => "◀",
                Flow::Write => "▶",
                Flow::Atomic | Flow::Any => "◀▶",
            };
            let requests =
                number(&link.requests, link.requests_trust, |value| format!("{} req", count(value)));
            let mut text = format!("{arrow} {} {requests}", link.flow.word());
            let bandwidth = link.bandwidth.as_ref().map(|it| number(it, link.bandwidth_trust, speed));
            for shown in amount(link).into_iter().chain(bandwidth) {
                text += &format!(" · {shown}");
            }
            let percent = link.percent.as_ref().and_then(Number::get);
            if let Some(percent) = percent {
                text += &format!(" · {}", signed(link.bandwidth_trust, format!("{percent:.0} %")));
            }
            if link.to == BlockId::L2 && block.id != BlockId::L2 {
                text += " with L2";
            } else if link.to == BlockId::L2 {
                continue;
            }
            page.wrapped(16, 18, &[span(percent.map_or(Role::Plain, of_peak), text)]);
        }
    }
}

/// `131k`, `1.05M`, `24`: at most four digits.
fn count(value: f64) -> String {
    if value.abs() >= 1e15 {
        return format!("{value:.0e}");
    }
    let (value, unit) = match value.abs() {
        v if v >= 999.5e9 => (value / 1e12, "T"),
        v if v >= 999.5e6 => (value / 1e9, "G"),
        v if v >= 999.5e3 => (value / 1e6, "M"),
        v if v >= 9_999.5 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = match value.abs() {
        v if v >= 99.5 || v.fract() == 0.0 => format!("{value:.0}"),
        v if v >= 9.95 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    format!("{text}{unit}")
}

/// `864 GB/s`, `2.28 TB/s`.
fn speed(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{v:.0e}GB/s"),
        v if v >= 999.5 => format!("{:.2}TB/s", v / 1e3),
        v if v >= 9.95 => format!("{v:.0}GB/s"),
        v if v >= 0.1 => format!("{v:.1}GB/s"),
        0.0 => "0".to_owned(),
        v => format!("{:.0}MB/s", v * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_few_columns() {
        for (value, text) in [
            (0.0, "0"),
            (24.0, "24"),
            (1.234, "1.23"),
            (9999.0, "9999"),
            (131_072.0, "131k"),
            (1.05e6, "1.05M"),
            (16_777_216.0, "16.8M"),
            (2.5e12, "2.50T"),
        ] {
            assert_eq!(count(value), text);
        }
        for (value, text) in [(0.0, "0"), (864.2, "864GB/s"), (2281.0, "2.28TB/s"), (0.05, "50MB/s")] {
            assert_eq!(speed(value), text);
        }
    }
}
