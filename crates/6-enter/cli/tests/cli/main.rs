//! The real program, run as a user runs it.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests start the program, read its files and say what they skip"
)]

#[cfg(not(all(feature = "pictures", feature = "server", feature = "tui")))]
compile_error!("the command is tested with all its parts: `cargo test -p rockhound --features full`");

mod action;
mod analyze;
mod assembly;
mod bad_input;
mod build_log;
mod commands;
mod dashboards;
mod diff;
mod doctor;
mod exporting;
mod formats;
mod front_door;
mod gates;
mod generic;
mod guide;
mod hardware;
mod host_code;
mod ir;
mod judge;
mod kinds;
mod live;
mod mcp;
mod newest;
mod page;
mod profile;
mod python;
mod ranks;
mod roofline;
mod run;
mod runs;
mod sampling;
mod schema;
mod selection;
mod store;
mod store_changes;
mod strangers;
mod thread_trace;
mod trace;
mod triton;
mod tui;
mod tune;
#[cfg(feature = "postgres")]
mod tune_cluster;
mod tune_triton;
mod tunedb;
mod view;
