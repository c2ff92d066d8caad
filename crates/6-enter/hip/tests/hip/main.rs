//! Tests of what the crate gives to others, in one program: each more would be linked with all crates below.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests compile and run programs")]

mod compiled;
mod examples;
mod judged;
mod libraries;
mod math;
mod profile;
mod programs;
