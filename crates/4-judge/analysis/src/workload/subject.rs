//! Subject of a report.

use super::machine::Filled;
use view::Wanted;
use workload::Workload;

/// A recording with its selection.
#[derive(Debug)]
pub struct Subject {
    /// Name in headings.
    pub name: String,
    /// Path as given.
    pub path: String,
    /// The recording, machine facts filled in.
    pub workload: Workload,
    /// Facts that were filled in.
    pub filled: Vec<Filled>,
    /// Selected dispatches, as rows.
    pub rows: Vec<u32>,
    /// The selection in words; empty for everything.
    pub selection: String,
    /// The selection as it was requested, with names of kernels in place of numbers.
    pub wanted: Wanted,
}

impl Subject {
    /// Target of the recording; empty when not known.
    pub fn target(&self) -> &str {
        self.workload.machine.target().unwrap_or_default()
    }
}
