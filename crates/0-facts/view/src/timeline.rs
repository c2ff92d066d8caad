//! A timeline to look at: lanes of spans.

use crate::Survey;

/// A page with a timeline, what was found, and the numbers of what is selected.
#[derive(Clone, PartialEq, Debug)]
pub struct TimelinePage {
    /// Head, findings and notes.
    pub survey: Survey,
    /// Names of spans.
    pub names: Vec<String>,
    /// Class of each name, an index into [`TimelinePage::classes`].
    pub class_of: Vec<u8>,
    /// What spans are: `gemm`, `communication`, `operator`.
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
    /// Row within the lane: how many spans it lies in.
    pub depth: u16,
}
