//! Entries by name.
//!
//! The dynamic linker's table of this library is the list of entries; none is kept here.

use super::{In, Out, entries};
use crate::codes::Code;
use std::ffi::{CString, c_void};

type Chars = In<libc::c_char>;

/// Result codes that the caller gets with the code.
const FOUND: i32 = 0;
const NOT_FOUND: i32 = 1;

/// First version whose programs expect the newer layout of the device's properties.
const NEW_PROPERTIES: i32 = 600;

/// The address of an exported function of this library.
fn address(name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let own: *const c_void = (hipGetProcAddress as *const ()).cast();
    // SAFETY: `own` is in this library, and the answer, which names this library's file, has a place.
    let found = unsafe {
        if libc::dladdr(own, info.as_mut_ptr()) == 0 {
            return None;
        }
        let library = libc::dlopen(info.assume_init().dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return None;
        }
        let found = libc::dlsym(library, name.as_ptr());
        libc::dlclose(library);
        found
    };
    (!found.is_null()).then_some(found)
}

fn find(name: Chars, place: Out<*mut c_void>, version: i32, status: Out<i32>) -> Result<(), Code> {
    let asked = name.text()?;
    let versioned = ["hipGetDeviceProperties", "hipChooseDevice"].contains(&asked.as_str());
    let name = if versioned && version >= NEW_PROPERTIES { format!("{asked}R0600") } else { asked };
    let found = if name.starts_with("hip") || name.starts_with("__hip") { address(&name) } else { None };
    status.offer(if found.is_some() { FOUND } else { NOT_FOUND });
    place.put(found.unwrap_or(std::ptr::null_mut()))?;
    found.map(|_| ()).ok_or(Code::hipErrorNotFound)
}

entries! {
    /// An entry by its name, for a version of the interface.
    fn hipGetProcAddress(name: Chars, place: Out<*mut c_void>, version: i32, _flags: u64, status: Out<i32>) {
        find(name, place, version, status)
    }

    /// The same for the newest version.
    fn hipGetDriverEntryPoint = hipGetDriverEntryPoint_spt(name: Chars, place: Out<*mut c_void>, _flags: u64, status: Out<i32>) {
        find(name, place, i32::MAX, status)
    }

}
