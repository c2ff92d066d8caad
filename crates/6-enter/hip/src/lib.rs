//! `libamdhip64.so`: HIP programs find this library in place of the vendor's and run on the emulator.
//!
//! Device memory is the process's own memory, streams run in order and at once, so a call has done everything
//! when it returns.
//!
//! Every function of [`api`] is called from C. Their common contract is the one of the HIP headers: a pointer
//! is null or points to what its type says, and memory given to a call stays valid until the call returns.
//! The functions check for the mistakes of real programs: null, sizes, freed and foreign addresses.
#![allow(non_snake_case, reason = "names of the C interface")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "this layer reads the environment, writes recordings and talks to the user"
)]
#![allow(
    clippy::too_many_arguments,
    clippy::missing_safety_doc,
    reason = "the C interface; its contract is above"
)]

mod advice;
mod api;
mod busy;
mod calls;
mod capture;
mod checks;
mod codes;
mod device;
mod fat_binary;
mod faults;
mod graph;
mod graph_memory;
mod host_memory;
mod launch;
mod libraries;
mod memory;
mod message;
mod module;
mod pools;
mod progress;
mod recording;
mod repeats;
mod results;
mod rtc;
mod runtime;
mod selection;
mod staging;
mod stream;
mod timeline;
mod times;
mod user_objects;
mod value_ops;
mod virtual_memory;
mod virtual_time;
mod visible;
mod work;

/// Version of this library, as text with a zero at the end; `rockhound` searches for it in the file before it
/// uses it.
#[unsafe(no_mangle)]
pub extern "C" fn rockhound_hip_version() -> *const libc::c_char {
    host::HIP_LIBRARY_MARK.as_ptr().cast()
}
