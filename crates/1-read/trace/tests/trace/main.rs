//! Tests of what the crate gives to others, in one program: each more would be linked with all crates below.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests read files, run tools and say what they skip"
)]

mod comm;
mod damaged;
mod databases;
mod formats;
mod rocprof;
mod tools;
