//! Files of this machine as values: code objects, recordings and the session of a profiled program.
//!
//! Nothing is printed here. Messages for the user go to a [`Watch`] and errors of single inputs are returned,
//! so that the command and the Python module each report them in their way.
#![allow(clippy::disallowed_methods, reason = "this layer does the reading for all others")]

mod beside;
pub mod braces;
pub mod breakdown;
pub mod capture;
pub mod code_in_memory;
mod code_kind;
pub mod comm;
pub mod compiler;
#[cfg(feature = "confine")]
pub mod confine;
mod contents;
pub mod definitions;
mod device_code;
pub mod hardware;
pub mod hip_runtime;
mod hip_source;
mod inputs;
pub mod instructions;
pub mod judge;
pub mod kernels;
pub mod kind;
pub mod launch_file;
mod launch_template;
pub mod launches;
pub mod logs;
pub mod machine;
pub mod names;
pub mod page_code;
mod parameters;
pub mod process;
pub mod provenance;
pub mod recording;
mod refusal;
pub mod renames;
pub mod roofs;
pub mod run;
pub mod session;
pub mod settings;
mod source;
pub mod spill;
pub mod stand_ins;
pub mod storable;
pub mod stored;
mod strangers;
pub mod subjects;
pub mod trace_index;
pub mod traces;
pub mod tune;
pub mod tunings;

pub use store;

/// Hash of the sources of the HIP library and of all crates that it is made of.
pub const BUILD_ID: &str = env!("ROCKHOUND_BUILD_ID");
/// Marker in the HIP library, by which the command finds the library of its own build.
pub const HIP_LIBRARY_MARK: &str =
    concat!("rockhound-hip-", env!("CARGO_PKG_VERSION"), "-", env!("ROCKHOUND_BUILD_ID"), "\0");

/// The same in the library that captures launches on a GPU.
pub const CAPTURE_LIBRARY_MARK: &str =
    concat!("rockhound-capture-", env!("CARGO_PKG_VERSION"), "-", env!("ROCKHOUND_BUILD_ID"), "\0");

pub use beside::emulated_beside;
pub use contents::Contents;
pub use kernels::Watch;
pub use launch_template::launch_template;
pub use refusal::usage;
pub use source::Source;
