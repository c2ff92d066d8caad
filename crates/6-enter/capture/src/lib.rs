//! `librockhound_capture.so`: receives the calls of a program to the vendor's HIP runtime (`LD_PRELOAD`) and writes one launch as
//! a launch file.
//!
//! Every function of [`api`] has the name and contract of the HIP headers. It calls the runtime's own function of that name,
//! returns what that returns, and notes allocations, code and kernels. Memory is read by the runtime's copies alone. Nothing
//! but the launch that is captured waits for anything.
#![allow(non_snake_case, reason = "names of the C interface")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "this layer reads the environment and talks to the user"
)]
#![allow(
    clippy::too_many_arguments,
    clippy::missing_safety_doc,
    reason = "the C interface; its contract is above"
)]

mod api;
mod arguments;
mod image;
mod launch;
mod runtime;
mod state;

/// Version of this library, as text with a zero at the end; `rockhound` searches for it in the file before it uses it.
#[unsafe(no_mangle)]
pub extern "C" fn rockhound_capture_version() -> *const libc::c_char {
    host::CAPTURE_LIBRARY_MARK.as_ptr().cast()
}

/// Says something on standard error, where the program's own output does not go.
fn say(text: &str) {
    eprintln!("rockhound: {text}");
}
