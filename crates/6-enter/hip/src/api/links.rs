//! Linking in the runtime's interface, which has the states of `hiprtcLink…`.

use super::rtc::{
    hiprtcLinkAddData, hiprtcLinkAddFile, hiprtcLinkComplete, hiprtcLinkCreate, hiprtcLinkDestroy,
};
use super::{In, Out, entries};
use crate::codes::Code;
use std::ffi::c_void;

type Chars = In<libc::c_char>;
type Values = *mut *mut c_void;

/// A result of the other interface, where one other than success is said with a code.
fn said(result: i32, code: Code) -> Result<(), Code> {
    if result == 0 { Ok(()) } else { Err(code) }
}

entries! {
    /// Something to link.
    fn hipLinkCreate(count: u32, options: Out<u32>, values: Values, place: Out<usize>) {
        if count > 0 && (options.is_null() || values.is_null()) {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: as the headers say; this holds for all entries here.
        said(unsafe { hiprtcLinkCreate(count, options, values, place) }, Code::hipErrorInvalidValue)
    }

    /// Adds bitcode from memory.
    fn hipLinkAddData(
        link: usize, kind: u32, image: *const u8, bytes: usize, name: Chars, count: u32, options: Out<u32>, values: Values,
    ) {
        if image.is_null() || bytes == 0 {
            return Err(Code::hipErrorInvalidImage);
        }
        // SAFETY: as above.
        let result = unsafe { hiprtcLinkAddData(link, kind, image, bytes, name, count, options, values) };
        said(result, Code::hipErrorInvalidConfiguration)
    }

    /// Adds bitcode from a file.
    fn hipLinkAddFile(link: usize, kind: u32, path: Chars, count: u32, options: Out<u32>, values: Values) {
        // SAFETY: as above.
        let result = unsafe { hiprtcLinkAddFile(link, kind, path, count, options, values) };
        said(result, Code::hipErrorInvalidConfiguration)
    }

    /// Links; the code belongs to the link.
    fn hipLinkComplete(link: usize, code: Out<*const u8>, bytes: Out<usize>) {
        // SAFETY: as above.
        unsafe {
            code.put(std::ptr::null())?;
            bytes.put(0)?;
            said(hiprtcLinkComplete(link, code, bytes), Code::hipErrorInvalidConfiguration)
        }
    }

    /// Ends a link.
    fn hipLinkDestroy(link: usize) {
        // SAFETY: as above.
        said(unsafe { hiprtcLinkDestroy(link) }, Code::hipErrorInvalidHandle)
    }
}
