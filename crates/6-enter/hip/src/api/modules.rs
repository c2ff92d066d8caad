//! Modules: code that a program loads while it runs.
//!
//! Handles are numbers the tables know; a wrong one is found, not followed.

use super::{entries, put, text};
use crate::codes::Code;
use crate::fat_binary;
use crate::module::Module;
use crate::runtime::{Slot, lock};
use crate::work::Function;
use std::ffi::c_void;

type Chars = *const libc::c_char;

/// Loads code at once: errors are the caller's.
fn load(place: *mut usize, data: &[u8]) -> Result<(), Code> {
    let mut runtime = lock();
    let device = runtime.device;
    let mut module = Module::load(data, device, &mut runtime.allocations)?;
    module.manage(&mut runtime.allocations, device.memory_bytes())?;
    let id = runtime.add_module(Slot::Loaded(Box::new(module)));
    // SAFETY: as the headers say.
    unsafe { put(place, id + 1) }
}

fn load_file(place: *mut usize, path: Chars) -> Result<(), Code> {
    // SAFETY: as the headers say.
    let path = unsafe { text(path) }?;
    if path.is_empty() {
        return Err(Code::hipErrorInvalidValue);
    }
    // Programs look for files that may not be there: that is the caller's affair. The command hears that they came here.
    drop(lock());
    let data = std::fs::read(path).map_err(|_| Code::hipErrorFileNotFound)?;
    load(place, &data)
}

fn load_data(place: *mut usize, image: *const c_void) -> Result<(), Code> {
    // SAFETY: the program gives an image; the image contains its length, and it is copied before the call
    // returns.
    load(place, unsafe { fat_binary::bytes(image.cast()) }.ok_or(Code::hipErrorInvalidValue)?)
}

fn function(place: *mut usize, module: usize, name: Chars) -> Result<(), Code> {
    // SAFETY: as the headers say.
    let name = unsafe { text(name) }?;
    let mut runtime = lock();
    let id = module.wrapping_sub(1);
    if !runtime.module(id)?.has_kernel(&name) {
        return Err(Code::hipErrorNotFound);
    }
    let known = runtime.functions.iter().find(|(_, it)| it.module == id && it.name == name);
    let handle = match known {
        Some((handle, _)) => *handle,
        None => {
            let handle = runtime.streams.handle();
            runtime.functions.insert(handle, Function { module: id, name });
            handle
        }
    };
    // SAFETY: as above.
    unsafe { put(place, handle) }
}

entries! {
    /// Loads a file.
    fn hipModuleLoad(module: *mut usize, path: Chars) {
        load_file(module, path)
    }

    /// Loads code from memory.
    fn hipModuleLoadData = hipModuleLoadFatBinary(module: *mut usize, image: *const c_void) {
        load_data(module, image)
    }

    /// The same; the options are for compilers.
    fn hipModuleLoadDataEx(module: *mut usize, image: *const c_void, _count: u32, _options: *mut c_void, _values: *mut *mut c_void) {
        load_data(module, image)
    }

    /// Forgets a module.
    fn hipModuleUnload = hipLibraryUnload(module: usize) {
        match module {
            0 => Err(Code::hipErrorInvalidHandle),
            _ => lock().remove_module(module - 1).map_err(|_| Code::hipErrorNotFound),
        }
    }

    /// A kernel by name.
    fn hipModuleGetFunction = hipLibraryGetKernel(place: *mut usize, module: usize, name: Chars) {
        function(place, module, name)
    }

    /// Number of kernels of a module.
    fn hipModuleGetFunctionCount(count: *mut u32, module: usize) {
        let kernels = lock().module(module.wrapping_sub(1))?.kernel_count();
        // SAFETY: as the headers say; this holds for all entries here.
        unsafe { put(count, kernels as u32) }
    }

    /// Address and size of a variable by name.
    fn hipModuleGetGlobal(address: *mut usize, bytes: *mut usize, module: usize, name: Chars) {
        // SAFETY: as above.
        let name = unsafe { text(name) }?;
        let (place, size) = lock().module(module.wrapping_sub(1))?.variable(&name).ok_or(Code::hipErrorNotFound)?;
        // SAFETY: as above.
        unsafe {
            if !address.is_null() { put(address, place)? }
            if !bytes.is_null() { put(bytes, size)? }
        }
        Ok(())
    }

    /// Loads a library file; the options are for compilers.
    fn hipLibraryLoadFromFile(
        library: *mut usize, path: Chars, _a: *mut c_void, _b: *mut c_void, _c: u32, _d: *mut c_void, _e: *mut c_void, _f: u32,
    ) {
        load_file(library, path)
    }

    /// Loads a library from memory.
    fn hipLibraryLoadData(
        library: *mut usize, image: *const c_void, _a: *mut c_void, _b: *mut c_void, _c: u32, _d: *mut c_void, _e: *mut c_void, _f: u32,
    ) {
        load_data(library, image)
    }

    /// Number of kernels of a library.
    fn hipLibraryGetKernelCount(count: *mut u32, library: usize) {
        let kernels = lock().module(library.wrapping_sub(1))?.kernel_count();
        // SAFETY: as above.
        unsafe { put(count, kernels as u32) }
    }
}
