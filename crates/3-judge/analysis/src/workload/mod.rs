//! Recordings as reports: what is selected, its tables, and how several compare.
//!
//! The one idea to keep in mind: metrics are evaluated in `metrics`; here is decided over which dispatches, and the
//! numbers get the rows and columns a reader sees.

mod machine;
mod overview;
mod panels;
mod report;

pub use machine::{Filled, fill, models};
pub use report::{Options, Subject, report};
