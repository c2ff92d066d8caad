//! Recordings as reports: the selection, its tables, and the comparison of several.
//!
//! `metrics` evaluates metrics; this module decides over which dispatches, and arranges the numbers in the
//! rows and columns a reader sees.

mod blocks;
mod compare;
mod condition;
mod counted;
mod definitions;
pub(crate) mod machine;
mod memory_chart;
mod must_equal;
mod needs;
mod noise;
mod overview;
mod panels;
pub(crate) mod predictions;
mod present;
mod ranks;
mod report;
mod samples;
mod select;
mod spreads;
mod subject;
mod subjects;
mod traces;
mod tuning;
mod waves;
mod windows;

pub use blocks::{Blocks, MEMORY_CHART, OCCUPANCY, ROOFLINE};
pub use compare::Renames;
pub(crate) use compare::{differ, durations};
pub use condition::Condition;
pub use definitions::explain;
pub use machine::{COMMAND_LINE, Filled, correct, fill, fill_as, models};
pub use must_equal::{Beside, beside, times_beside};
pub use needs::needs;
pub(crate) use noise::Sample;
pub use report::{Options, list, report};
pub use samples::{selected as selected_samples, selected_traces};
pub use select::{KernelFilter, dispatch_ranges, iteration_ranges, kernel_pattern, select};
pub use subject::Subject;
pub use subjects::{Subjects, complete, named_gpu, unknown_gpu};
