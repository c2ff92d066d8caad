//! A timeline: lanes of spans.

use crate::{Answer, PageLive, RuleInfo};

/// The page of traces: what was found, the timeline, tables.
#[derive(Clone, PartialEq, Debug)]
pub struct TimelinePage {
    /// Version of the program that makes it.
    pub version: String,
    /// Head, findings, tables and notes.
    pub survey: Answer,
    /// The timeline.
    pub chart: TimelineChart,
    /// The rules that found something.
    pub rules: Vec<RuleInfo>,
    /// Requests that a reader may send to the server; absent in a file.
    pub live: Option<PageLive>,
}

/// Streams and threads over time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TimelineChart {
    /// Where the spans are from, as a phrase: `trace.json`, `the dispatches of the recording`.
    pub from: String,
    /// Names of spans.
    pub names: Vec<String>,
    /// Class of each name, an index into [`TimelineChart::classes`].
    pub class_of: Vec<u8>,
    /// Classes of spans: `gemm`, `communication`, `operator`.
    pub classes: Vec<String>,
    /// Lanes from top to bottom.
    pub lanes: Vec<TimelineLane>,
    /// Length, ns.
    pub length: u64,
}

/// A stream or thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TimelineLane {
    /// Name: `GPU 2, stream 0`.
    pub name: String,
    /// Whether it is a GPU's.
    pub gpu: bool,
    /// Spans by start, outer ones first.
    pub spans: Vec<TimelineSpan>,
}

/// A span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimelineSpan {
    /// From the page's begin, ns.
    pub start: u64,
    /// ns.
    pub duration: u64,
    /// Index of its name.
    pub name: u32,
    /// Row within the lane: number of enclosing spans.
    pub depth: u16,
}
