//! Tests of what the crate gives to others, in one program: each more would be linked with all crates below.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests read files, run tools and say what they skip"
)]

mod communication;
mod findings;
mod fixtures;
mod ir;
mod launch;
mod recordings;
mod candidates;
mod searches;
mod small;
mod timeline;
mod timeline_causes;
mod tunings;
mod words;
