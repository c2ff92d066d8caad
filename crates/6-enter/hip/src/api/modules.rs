//! Modules: code that a program loads while it runs.
//!
//! Handles are numbers the tables know; a wrong one is found, not followed.

use super::{In, Out, entries};
use crate::codes::Code;
use crate::fat_binary;
use crate::module::Module;
use crate::runtime::{Slot, lock};
use crate::work::Function;
use std::ffi::c_void;

type Chars = In<libc::c_char>;

/// Loads code at once: errors are the caller's.
fn load(place: Out<usize>, data: &[u8]) -> Result<(), Code> {
    let mut runtime = lock();
    let device = runtime.device;
    let mut module = Module::load(data, device, &mut runtime.allocations)?;
    module.manage(&mut runtime.allocations, device.memory_bytes())?;
    let id = runtime.add_module(Slot::Loaded(Box::new(module)));
    place.put(id + 1)
}

fn load_file(place: Out<usize>, path: Chars) -> Result<(), Code> {
    let path = path.text()?;
    if path.is_empty() {
        return Err(Code::hipErrorInvalidValue);
    }
    // Programs look for files that may not be there: that is the caller's affair. The command hears that they came here.
    drop(lock());
    let data = std::fs::read(path).map_err(|_| Code::hipErrorFileNotFound)?;
    load(place, &data)
}

fn load_data(place: Out<usize>, image: *const c_void) -> Result<(), Code> {
    // SAFETY: the program gives an image; the image contains its length, and it is copied before the call
    // returns.
    load(place, unsafe { fat_binary::bytes(image.cast()) }.ok_or(Code::hipErrorInvalidValue)?)
}

fn function(place: Out<usize>, module: usize, name: Chars) -> Result<(), Code> {
    let name = name.text()?;
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
    place.put(handle)
}

entries! {
    /// Loads a file.
    fn hipModuleLoad(module: Out<usize>, path: Chars) {
        load_file(module, path)
    }

    /// Loads code from memory.
    fn hipModuleLoadData = hipModuleLoadFatBinary(module: Out<usize>, image: *const c_void) {
        load_data(module, image)
    }

    /// The same; the options are for compilers.
    fn hipModuleLoadDataEx(module: Out<usize>, image: *const c_void, _count: u32, _options: *mut c_void, _values: *mut *mut c_void) {
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
    fn hipModuleGetFunction = hipLibraryGetKernel(place: Out<usize>, module: usize, name: Chars) {
        function(place, module, name)
    }

    /// Number of kernels of a module.
    fn hipModuleGetFunctionCount(count: Out<u32>, module: usize) {
        let kernels = lock().module(module.wrapping_sub(1))?.kernel_count();
        count.put(kernels as u32)
    }

    /// Address and size of a variable by name.
    fn hipModuleGetGlobal(address: Out<usize>, bytes: Out<usize>, module: usize, name: Chars) {
        let name = name.text()?;
        let (place, size) = lock().module(module.wrapping_sub(1))?.variable(&name).ok_or(Code::hipErrorNotFound)?;
        address.offer(place);
        bytes.offer(size);
        Ok(())
    }

    /// Loads a library file; the options are for compilers.
    fn hipLibraryLoadFromFile(
        library: Out<usize>, path: Chars, _a: *mut c_void, _b: *mut c_void, _c: u32, _d: *mut c_void, _e: *mut c_void, _f: u32,
    ) {
        load_file(library, path)
    }

    /// Loads a library from memory.
    fn hipLibraryLoadData(
        library: Out<usize>, image: *const c_void, _a: *mut c_void, _b: *mut c_void, _c: u32, _d: *mut c_void, _e: *mut c_void, _f: u32,
    ) {
        load_data(library, image)
    }

    /// Number of kernels of a library.
    fn hipLibraryGetKernelCount(count: Out<u32>, library: usize) {
        let kernels = lock().module(library.wrapping_sub(1))?.kernel_count();
        count.put(kernels as u32)
    }
}
