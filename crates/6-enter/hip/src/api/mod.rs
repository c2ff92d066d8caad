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

/// A place of the program for a result, as an entry gets it: null, or leading to a value, or to as many as another
/// argument says. Only programs make one, by the contract of the entry.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

/// A value of the program, as an entry gets it: null, or leading to a value, or to as many as another argument says.
/// Only programs make one, by the contract of the entry.
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T> Out<T> {
    fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The place behind so many others.
    fn at(self, index: usize) -> Out<T> {
        Out(self.0.wrapping_add(index))
    }

    /// Stores a result.
    fn put(self, value: T) -> Result<(), Code> {
        if self.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: not null, and the program vouches for the rest.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Stores a result that the program may not want.
    fn offer(self, value: T) {
        _ = self.put(value);
    }

    /// A place of our own.
    fn of(place: &mut T) -> Out<T> {
        Out(place)
    }

    /// The value that is there.
    fn value(self) -> In<T> {
        In(self.0.cast_const())
    }

    fn get(self) -> Result<T, Code>
    where
        T: Copy,
    {
        self.value().get()
    }

    /// The same place for a value of another type.
    fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }
}

impl<T> In<T> {
    const NULL: In<T> = In(std::ptr::null());

    fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// A value of another type at the same place.
    fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    /// The value.
    fn get(self) -> Result<T, Code>
    where
        T: Copy,
    {
        if self.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: not null, and the program vouches for the rest.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// The value behind so many others.
    fn at(self, index: usize) -> In<T> {
        In(self.0.wrapping_add(index))
    }

    /// That many values.
    fn list(self, count: usize) -> Result<Vec<T>, Code>
    where
        T: Copy,
    {
        (0..count).map(|index| self.at(index).get()).collect()
    }
}

impl In<libc::c_char> {
    /// The text up to its zero.
    fn text(self) -> Result<String, Code> {
        if self.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: not null, and the program vouches for the zero.
        Ok(unsafe { std::ffi::CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}
