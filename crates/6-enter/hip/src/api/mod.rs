//! The C interface, one file per subject.
//!
//! An entry point checks its arguments and turns them into values; other modules do the work.

mod advice;
mod batches;
mod captures;
mod devices;
mod driver_copies;
mod errors;
mod events;
mod functions;
mod graph_memory;
mod graph_nodes;
mod graphs;
mod images;
mod ipc;
mod kernels;
mod links;
mod live;
mod lookup;
mod memory;
mod modules;
mod multi_device;
mod node_parameters;
mod pointers;
mod pools;
mod properties;
mod rare;
mod registration;
mod rtc;
mod streams;
mod symbols;
mod unsupported;
mod user_objects;
mod values;
mod virtual_memory;

use crate::codes::Code;
pub(crate) use devices::{check as check_device, current as current_device};

/// Three sizes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dim3 {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) z: u32,
}

impl Dim3 {
    fn array(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// Defines entries of the C interface. The body gives `Result<(), Code>`; names behind `=` are further names
/// of the same entry.
macro_rules! entries {
    ($($(#[$note:meta])* fn $name:ident $(= $($other:ident)+)? ($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$note])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> i32 {
                #[allow(clippy::redundant_closure_call, reason = "the closure gives `?` a place to go")]
                crate::codes::finish((move || -> Result<(), crate::codes::Code> { $body })())
            }
            $crate::api::further!($($($other)+)?; $name($($argument: $type),*));
        )*
    };
}

/// Further names of an entry.
macro_rules! further {
    (; $name:ident $arguments:tt) => {};
    ($other:ident $($rest:ident)*; $name:ident($($argument:ident: $type:ty),*)) => {
        /// The same under another name.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $other($($argument: $type),*) -> i32 {
            // SAFETY: the caller's contract is the same.
            unsafe { $name($($argument),*) }
        }
        $crate::api::further!($($rest)*; $name($($argument: $type),*));
    };
}
pub(crate) use {entries, further};

/// Stores a result where the program wants it.
///
/// # Safety
/// `place` is null or may be written.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Code> {
    if place.is_null() {
        return Err(Code::hipErrorInvalidValue);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Reads a value of the program.
///
/// # Safety
/// `place` is null or may be read.
unsafe fn get<T: Copy>(place: *const T) -> Result<T, Code> {
    if place.is_null() {
        return Err(Code::hipErrorInvalidValue);
    }
    // SAFETY: not null, and the caller vouches for the rest.
    Ok(unsafe { place.read_unaligned() })
}

/// A text of the program.
///
/// # Safety
/// `text` is null or ends with a zero.
unsafe fn text(text: *const libc::c_char) -> Result<String, Code> {
    if text.is_null() {
        return Err(Code::hipErrorInvalidValue);
    }
    // SAFETY: as the caller says.
    Ok(unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
