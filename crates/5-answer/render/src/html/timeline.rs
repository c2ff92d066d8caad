//! The timeline of a page: its section, and its spans for the script.
//!
//! Spans are numbers in bytes, differences of variable length in base64, so a million of them are some
//! megabytes; the script draws on a canvas, at most one item per pixel. Names reach the page as JSON and are
//! only ever drawn or set as text.

use super::tables::whole_name;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use std::borrow::Cow;
use view::{TimelineChart, TimelineLane, thousands};

/// The section.
pub(crate) struct TimelineView<'a> {
    /// Number of spans, and their kind.
    pub(crate) contents: String,
    pub(crate) from: Cow<'a, str>,
    /// Tables of the selection: key and title.
    pub(crate) sums: Vec<(&'static str, &'static str)>,
}

impl<'a> TimelineView<'a> {
    pub(crate) fn of(chart: &'a TimelineChart) -> Self {
        let spans = |gpu: bool| {
            chart.lanes.iter().filter(|lane| lane.gpu == gpu).map(|lane| lane.spans.len() as u64).sum::<u64>()
        };
        let (gpu, host) = (spans(true), spans(false));
        let mut contents = Vec::new();
        let mut sums = Vec::new();
        if gpu > 0 {
            contents.push(format!("{} on the GPU", thousands(gpu)));
            sums.push(("gpu", "on the GPU"));
        }
        if host > 0 {
            contents.push(format!("{} on the host", thousands(host)));
            sums.push(("host", "on the host"));
        }
        sums.extend([("class", "by class"), ("lane", "streams and threads")]);
        let contents = match contents.is_empty() {
            true => "no spans".to_owned(),
            false => format!("spans: {}", contents.join(", ")),
        };
        TimelineView { contents, from: whole_name(&chart.from), sums }
    }
}

/// The lanes as the script takes them.
#[derive(Serialize)]
pub(crate) struct Lanes {
    names: Vec<String>,
    /// Position of each name in the page's list of kernels.
    kernel_of: Vec<Option<usize>>,
    class_of: Vec<u8>,
    classes: Vec<String>,
    length: u64,
    lanes: Vec<Lane>,
}

#[derive(Serialize)]
struct Lane {
    name: String,
    gpu: bool,
    rows: u32,
    count: usize,
    spans: String,
}

impl Lanes {
    /// The lanes of a chart; `kernel` gives a name's position in the page's list of kernels.
    pub(crate) fn of(chart: &TimelineChart, kernel: &dyn Fn(&str) -> Option<usize>) -> Self {
        Lanes {
            names: chart.names.iter().map(|name| whole_name(name).into_owned()).collect(),
            kernel_of: chart.names.iter().map(|name| kernel(name)).collect(),
            class_of: chart.class_of.clone(),
            classes: chart.classes.clone(),
            length: chart.length,
            lanes: chart.lanes.iter().map(lane).collect(),
        }
    }
}

fn lane(lane: &TimelineLane) -> Lane {
    let rows = lane.spans.iter().map(|span| span.depth).max().map_or(0, |depth| u32::from(depth) + 1);
    let mut bytes = Vec::with_capacity(lane.spans.len() * 8);
    let mut last = 0;
    for span in &lane.spans {
        for number in [span.start - last, span.duration, u64::from(span.name), u64::from(span.depth)] {
            varint(&mut bytes, number);
        }
        last = span.start;
    }
    Lane {
        name: whole_name(&lane.name).into_owned(),
        gpu: lane.gpu,
        rows,
        count: lane.spans.len(),
        spans: STANDARD.encode(&bytes),
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_seven_bits_a_byte() {
        let mut out = Vec::new();
        varint(&mut out, 300);
        assert_eq!(out, [0xac, 2]);
    }
}
