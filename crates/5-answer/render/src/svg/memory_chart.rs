//! The memory chart as a diagram: blocks in columns, what flows between them on arrows.
//!
//! The layout follows from blocks and links; every number goes through a slot, so a page can put another
//! kernel's numbers into the same diagram.

use super::element::{At, Points, Svg};
use super::number::quantity;
use super::{Picture, style_of};
use crate::marks::{self, signed};
use view::{BlockId, Flow, Mark, MemoryBlock, MemoryChart, MemoryFact, MemoryLink, Number};

/// Width of each column of blocks, and of the links between.
const BLOCK: [f64; 4] = [176.0, 172.0, 160.0, 160.0];
const LINK: f64 = 158.0;
/// Height of a line of a block, and of a link: its arrow with a line above and one below.
const LINE: f64 = 18.0;
const ARROW: f64 = 46.0;
/// Height of a block's title.
const TITLE: f64 = 26.0;
/// Height of a line of a reason, and the letters that fit in it.
const REASON: f64 = 15.0;
const LETTERS: usize = 23;
/// Room of a link between two blocks of a column: its arrow with two lines beside it.
const DOWN: f64 = 34.0;
/// Room between blocks.
const GAP: f64 = 12.0;

/// Width of the whole diagram.
const WIDTH: f64 = BLOCK[0] + BLOCK[1] + BLOCK[2] + BLOCK[3] + 3.0 * LINK + 4.0;

/// The numbers of a chart in the order they are drawn.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize)]
pub struct Slots {
    /// Text of each number.
    pub texts: Vec<String>,
    /// Accuracy of each; empty if all were measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<String>,
    /// Percent of a peak of each bar and each arrow; `None` if it has no peak or is unknown.
    pub shares: Vec<Option<f64>>,
}

/// Draws the chart.
pub fn memory_chart(chart: &MemoryChart, picture: &Picture<'_>) -> String {
    let mut svg = Svg::default();
    let layout = Layout::of(chart);
    let label = describe(chart);
    let legend = marks::legend(marks::of_memory(chart)).filter(|_| picture.theme.is_some());
    let height = layout.height + if legend.is_some() { LINE } else { 0.0 };
    let view_box = format!("0 0 {} {}", At(WIDTH), At(height));
    match picture.theme {
        None => svg.open(
            "svg",
            &[("class", &"chart memory"), ("viewBox", &view_box), ("role", &"img"), ("aria-label", &label)],
        ),
        Some(theme) => {
            svg.open(
                "svg",
                &[
                    ("xmlns", &"http://www.w3.org/2000/svg"),
                    ("class", &"chart memory"),
                    ("width", &At(WIDTH)),
                    ("height", &At(height)),
                    ("viewBox", &view_box),
                    ("role", &"img"),
                    ("aria-label", &label),
                ],
            );
            svg.text("style", &[], &style_of(theme));
            svg.ground(WIDTH, height);
        }
    }
    draw(&mut svg, &layout, chart);
    if let Some(legend) = legend {
        svg.label("dim small", (1.0, height - 5.0), &legend);
    }
    svg.finish()
}

/// The numbers of `chart` in the layout of `whole`.
pub fn slots(whole: &MemoryChart, chart: &MemoryChart) -> Slots {
    let mut slots = draw(&mut Svg::default(), &Layout::of(whole), chart);
    if slots.trust.iter().all(String::is_empty) {
        slots.trust.clear();
    }
    slots
}

/// Description of the chart for readers who do not see it.
fn describe(chart: &MemoryChart) -> String {
    let mut parts = Vec::new();
    for link in &chart.links {
        if let Some(requests) = link.requests.get().filter(|n| *n > 0.0) {
            let bandwidth = link.bandwidth.as_ref().and_then(Number::get);
            let rate = bandwidth.map_or(String::new(), |v| format!(", {}", quantity(v, "GB/s")));
            parts.push(format!(
                "{} to {} {}: {} requests{rate}",
                link.from.title(),
                link.to.title(),
                link.flow.word(),
                quantity(requests, "")
            ));
        }
    }
    format!("Memory chart, counts per {}. {}", chart.per, parts.join(". "))
}

/// A block with its place.
struct Placed {
    id: BlockId,
    x: f64,
    y: f64,
    height: f64,
    /// Links that end here or, from a cache, start here, by position in the chart.
    links: Vec<(BlockId, BlockId, Flow)>,
}

struct Layout {
    placed: Vec<Placed>,
    /// Links between blocks of a column.
    down: Vec<(BlockId, BlockId, Flow)>,
    height: f64,
}

impl Layout {
    fn of(chart: &MemoryChart) -> Self {
        let x = |column: usize| 1.0 + BLOCK[..column].iter().map(|width| width + LINK).sum::<f64>();
        let facts = |block: &MemoryBlock| {
            let reason = reason(block).len() as f64 * REASON;
            TITLE + LINE * block.facts.len() as f64 + reason + 8.0
        };
        let column = |n: usize| chart.blocks.iter().filter(move |block| block.id.column() == n);
        let place = |block: &MemoryBlock, y: f64, height: f64, links| Placed {
            id: block.id,
            x: x(block.id.column()),
            y,
            height,
            links,
        };
        let mut placed: Vec<Placed> = Vec::new();
        let mut y = 1.0;
        for block in column(1) {
            let links = shown(chart, block.id);
            let side = |side: fn(&(BlockId, BlockId, Flow)) -> BlockId| {
                links.iter().filter(|link| side(link) == block.id).count() as f64 * ARROW
            };
            let height = facts(block).max(side(|l| l.1) + 8.0).max(side(|l| l.0) + 8.0);
            placed.push(place(block, y, height, links));
            y += height + GAP;
        }
        let mut bottom = y - GAP;
        bottom = column(0).map(|block| 1.0 + facts(block)).fold(bottom, f64::max);
        // The L2 and the blocks behind it are level with the caches that reach it.
        let top = placed.iter().find(|it| it.id != BlockId::Lds).map_or(1.0, |it| it.y);
        let mut below = top;
        let mut above: Option<BlockId> = None;
        for block in column(3) {
            let between = above.map_or(0, |above| chart.between(above, block.id).count());
            below += if above.is_some() { DOWN * between.max(1) as f64 + 8.0 } else { 0.0 };
            above = Some(block.id);
            let links = shown(chart, block.id);
            let height = facts(block).max(links.len() as f64 * ARROW + 8.0);
            placed.push(place(block, below, height, links));
            below += height;
        }
        bottom = bottom.max(below);
        for block in column(0) {
            placed.push(place(block, 1.0, bottom - 1.0, Vec::new()));
        }
        for block in column(2) {
            placed.push(place(block, top, bottom - top, Vec::new()));
        }
        let down = chart.links.iter().filter(|link| link.is_vertical());
        Layout {
            placed,
            down: down.map(|link| (link.from, link.to, link.flow)).collect(),
            height: bottom + 2.0,
        }
    }
}

/// Links of a block that say something: an atomic without requests does not.
fn shown(chart: &MemoryChart, of: BlockId) -> Vec<(BlockId, BlockId, Flow)> {
    chart
        .links
        .iter()
        .filter(|link| !link.is_vertical() && (link.to == of || (of.column() == 1 && link.from == of)))
        .filter(|link| link.flow != Flow::Atomic || link.requests.get().is_some_and(|n| n > 0.0))
        .map(|link| (link.from, link.to, link.flow))
        .collect()
}

fn draw(svg: &mut Svg, layout: &Layout, chart: &MemoryChart) -> Slots {
    let mut slots = Slots::default();
    for it in &layout.placed {
        if let Some(block) = chart.blocks.iter().find(|block| block.id == it.id) {
            draw_block(svg, it, block, &mut slots);
        }
        let width = BLOCK[it.id.column()];
        let (mut left, mut right) = (it.y + 6.0, it.y + 6.0);
        for key in &it.links {
            let link = chart.links.iter().find(|link| (link.from, link.to, link.flow) == *key);
            let (x, y) = if key.1 == it.id {
                left += ARROW;
                (it.x - LINK, left - ARROW)
            } else {
                right += ARROW;
                (it.x + width, right - ARROW)
            };
            draw_link(svg, key.2, link, (x, y), &mut slots);
        }
    }
    for pair in layout.placed.windows(2).filter(|pair| pair.iter().all(|it| it.id.column() == 3)) {
        draw_down(svg, (&pair[0], &pair[1]), layout, chart, &mut slots);
    }
    slots
}

fn draw_block(svg: &mut Svg, it: &Placed, block: &MemoryBlock, slots: &mut Slots) {
    let width = BLOCK[it.id.column()];
    svg.rect("box", (it.x, it.y), (width, it.height), &[("rx", &"5")]);
    svg.label("strong", (it.x + 10.0, it.y + 18.0), block.id.title());
    for (row, fact) in block.facts.iter().enumerate() {
        let base = it.y + TITLE + LINE * row as f64 + 12.0;
        if fact.is_share {
            let room = width - 20.0;
            let part = fact.value.get().map_or(0.0, |v| (v / 100.0).clamp(0.0, 1.0));
            let at = (it.x + 10.0, base + 3.0);
            svg.rect("track", at, (room, 3.0), &[]);
            svg.rect("fill slot-share", at, (room * part, 3.0), &[("data-room", &At(room))]);
            slots.shares.push(fact.value.get());
        }
        svg.label("dim small", (it.x + 10.0, base), fact.label);
        let trust = words([("", fact.trust)]);
        slot(svg, "small", (it.x + width - 10.0, base), "end", (value_of(fact), trust), slots);
    }
    let below = it.y + TITLE + LINE * block.facts.len() as f64 + 12.0;
    for (row, line) in reason(block).into_iter().enumerate() {
        svg.label("dim small", (it.x + 10.0, below + REASON * row as f64), &line);
    }
}

/// Reason why the activity of a block is unknown, in lines.
fn reason(block: &MemoryBlock) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in block.unseen.unwrap_or_default().split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= LETTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn value_of(fact: &MemoryFact) -> String {
    number(&fact.value, fact.unit, fact.trust)
}

/// A number with its sign and unit.
fn number(number: &Number, unit: &str, mark: Option<Mark>) -> String {
    number.get().map_or_else(|| "n/a".to_owned(), |value| signed(mark, quantity(value, unit)))
}

/// Accuracy of numbers, each with its name; a single kind needs no name.
fn words<const N: usize>(marks: [(&str, Option<Mark>); N]) -> String {
    let known = marks.iter().filter_map(|(name, mark)| Some((*name, (*mark)?)));
    let one = |(name, mark): (&str, Mark)| {
        if name.is_empty() { mark.to_string() } else { format!("{name}: {mark}") }
    };
    known.map(one).collect::<Vec<_>>().join(", ")
}

/// A number that a page may replace, with how far it can be trusted.
fn slot(
    svg: &mut Svg,
    class: &str,
    place: (f64, f64),
    anchor: &str,
    (text, trust): (String, String),
    slots: &mut Slots,
) {
    let class = format!("slot {class}");
    svg.open(
        "text",
        &[("class", &class), ("x", &At(place.0)), ("y", &At(place.1)), ("text-anchor", &anchor)],
    );
    svg.words(&text);
    if !trust.is_empty() {
        svg.title(&trust);
    }
    svg.close();
    slots.texts.push(text);
    slots.trust.push(trust);
}

/// Colour step of an arrow by its percentage of the peak: from 20, 50 and 80 percent.
pub(crate) fn step(percent: Option<f64>) -> usize {
    percent.map_or(0, |percent| [20.0, 50.0, 80.0].iter().filter(|least| percent >= **least).count())
}

/// Flows between a block and the one below it; the links of the whole chart decide which are drawn.
fn draw_down(
    svg: &mut Svg,
    (upper, lower): (&Placed, &Placed),
    layout: &Layout,
    chart: &MemoryChart,
    slots: &mut Slots,
) {
    let keys = layout.down.iter().filter(|(from, to, _)| (*from, *to) == (upper.id, lower.id));
    let (top, bottom) = (upper.y + upper.height, lower.y);
    for (row, (from, to, flow)) in keys.enumerate() {
        let link = chart.between(*from, *to).find(|link| link.flow == *flow);
        let x = upper.x + 14.0 + 16.0 * row as f64;
        let text = (upper.x + 38.0, top + 4.0 + DOWN * row as f64);
        draw_flow(svg, *flow, link, ((x, top + 2.0), (x, bottom - 2.0)), (text, "start"), slots);
    }
}

fn draw_link(svg: &mut Svg, flow: Flow, link: Option<&MemoryLink>, place: (f64, f64), slots: &mut Slots) {
    let (x, y) = place;
    let ends = ((x + 5.0, y + 18.0), (x + LINK - 5.0, y + 18.0));
    draw_flow(svg, flow, link, ends, ((x + LINK / 2.0, y), "middle"), slots);
}

/// An arrow with a line of text above and one below, or both beside it.
fn draw_flow(
    svg: &mut Svg,
    flow: Flow,
    link: Option<&MemoryLink>,
    (near, far): ((f64, f64), (f64, f64)),
    ((x, y), anchor): ((f64, f64), &str),
    slots: &mut Slots,
) {
    let percent = link.and_then(|link| link.percent.as_ref()).and_then(Number::get);
    let step = step(percent);
    let (line, head) = match step {
        0 => ("flow slot-flow".to_owned(), "head slot-head".to_owned()),
        n => (format!("flow flow-{n} slot-flow"), format!("head head-{n} slot-head")),
    };
    slots.shares.push(percent);
    let ends = (flow != Flow::Write, flow != Flow::Read);
    arrow(svg, [&line, &head], [near, far], ends, 2.0 + step as f64);
    let known = |n: &Option<Number>, unit: &str, mark: Option<Mark>| {
        n.as_ref().filter(|n| n.get().is_some()).map(|n| number(n, unit, mark))
    };
    let requests = link.map_or_else(|| "n/a".to_owned(), |it| number(&it.requests, "", it.requests_trust));
    let bytes = link.and_then(|it| known(&it.bytes, "B", it.bytes_trust));
    let rate = link.and_then(|it| known(&it.bandwidth, "GB/s", it.bandwidth_trust));
    let share = percent.map_or(String::new(), |v| format!(" {v:.0} %"));
    let joined = |parts: [Option<String>; 2]| parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let requests = format!("{} {requests}", flow.word());
    let trust = link.map_or_else(Default::default, |it| {
        let below = [("bytes", it.bytes_trust), ("rate", it.bandwidth_trust)];
        (words([("", it.requests_trust)]), words(below))
    });
    // Beside an upright arrow the lines follow each other.
    let below = if near.0 == far.0 { 26.0 } else { 34.0 };
    slot(svg, "small", (x, y + 11.0), anchor, (requests, trust.0), slots);
    let flows = (format!("{}{share}", joined([bytes, rate])), trust.1);
    slot(svg, "dim small", (x, y + below), anchor, flows, slots);
}

fn arrow(
    svg: &mut Svg,
    [line, head]: [&str; 2],
    [from, to]: [(f64, f64); 2],
    ends: (bool, bool),
    thickness: f64,
) {
    let (dx, dy) = (
        (to.0 - from.0).signum() * f64::from(u8::from(to.0 != from.0)),
        (to.1 - from.1).signum() * f64::from(u8::from(to.1 != from.1)),
    );
    let size = 7.0;
    let back = |end: (f64, f64), way: f64| (end.0 - dx * way * size, end.1 - dy * way * size);
    let start = if ends.0 { back(from, -1.0) } else { from };
    let stop = if ends.1 { back(to, 1.0) } else { to };
    svg.leaf(
        "polyline",
        &[("class", &line), ("points", &Points(vec![start, stop])), ("stroke-width", &At(thickness))],
    );
    for (wanted, tip, foot) in [(ends.0, from, start), (ends.1, to, stop)] {
        if wanted {
            svg.area(
                head,
                vec![tip, (foot.0 - dy * 4.5, foot.1 + dx * 4.5), (foot.0 + dy * 4.5, foot.1 - dx * 4.5)],
            );
        }
    }
}
