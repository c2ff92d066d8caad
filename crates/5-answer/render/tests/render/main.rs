//! Tests of what the crate gives to others, in one program: each more would be linked with all crates below.
#![allow(clippy::disallowed_methods, reason = "tests read files")]

mod chart_values;
mod charts;
mod golden;
mod golden_file;
mod guide_values;
mod report;
mod svg;
mod tui;
mod values;
