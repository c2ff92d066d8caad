//! Error codes and versions.
//!
//! Texts live as long as the library, so a pointer into the table is enough.

use super::{Out, entries};
use crate::codes::{self, Code};
use crate::device::VERSION;

type Chars = *const libc::c_char;

/// The thread's last error, which is gone then.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> i32 {
    codes::take()
}

/// The same for the extension interface.
#[unsafe(no_mangle)]
pub extern "C" fn hipExtGetLastError() -> i32 {
    codes::take()
}

/// The thread's last error, which stays.
#[unsafe(no_mangle)]
pub extern "C" fn hipPeekAtLastError() -> i32 {
    codes::peek()
}

/// Name of a code.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(code: i32) -> Chars {
    codes::name(code).as_ptr()
}

/// Text of a code.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(code: i32) -> Chars {
    codes::text(code).as_ptr()
}

/// Names of interface functions are for tracers, which have nothing to trace here.
#[unsafe(no_mangle)]
pub extern "C" fn hipApiName(_number: u32) -> Chars {
    c"unknown".as_ptr()
}

entries! {
    /// Name of a code.
    fn hipDrvGetErrorName(code: i32, name: Out<Chars>) {
        if !codes::exists(code) {
            return Err(Code::hipErrorInvalidValue);
        }
        name.put(codes::name(code).as_ptr())
    }

    /// Text of a code.
    fn hipDrvGetErrorString(code: i32, text: Out<Chars>) {
        if !codes::exists(code) {
            return Err(Code::hipErrorInvalidValue);
        }
        text.put(codes::text(code).as_ptr())
    }

    /// Version of the driver.
    fn hipDriverGetVersion(version: Out<i32>) {
        version.put(VERSION)
    }

    /// Version of the runtime.
    fn hipRuntimeGetVersion(version: Out<i32>) {
        version.put(VERSION)
    }

    /// A no-op: the library is initialised already.
    fn hipInit(flags: u32) {
        if flags == 0 { Ok(()) } else { Err(Code::hipErrorInvalidValue) }
    }

    /// Recording is `rockhound`'s affair.
    fn hipProfilerStart() {
        Ok(())
    }

    /// As above.
    fn hipProfilerStop() {
        Ok(())
    }
}
