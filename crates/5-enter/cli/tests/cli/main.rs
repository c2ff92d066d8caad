//! The real program, run as a user runs it.
#![allow(clippy::disallowed_methods, reason = "tests start the program and read its files")]

mod bad_input;
mod commands;
mod diff;
mod formats;
mod run;
mod schema;
