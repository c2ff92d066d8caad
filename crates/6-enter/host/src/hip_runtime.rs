//! The HIP runtime of this machine, loaded when it is needed: launches of kernels and the time they take.
//!
//! Nothing is linked, so the command starts on machines without a GPU; a runtime that lacks a function is
//! refused by its name before anything is launched.
#![allow(
    unsafe_code,
    reason = "calling a library that was found at run time has contracts the compiler cannot check; they are stated at each use"
)]

use anyhow::{Result, anyhow, bail};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};

/// Names of the library, the newest first, and where ROCm puts it.
const LIBRARIES: [&str; 5] = [
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "libamdhip64.so",
    "/opt/rocm/lib/libamdhip64.so",
];
/// Resolve everything at once.
const NOW: c_int = 2;
/// Bytes of the largest argument.
const ARGUMENT: usize = 64;

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

/// Declares the functions that are used, and how all of them are found.
macro_rules! functions {
    ($($field:ident = $name:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// Functions of the runtime.
        struct Functions { $($field: unsafe extern "C" fn($($argument),*) -> $result,)* }

        impl Functions {
            /// Finds all.
            fn of(library: *mut c_void) -> Result<Functions, &'static str> {
                Ok(Functions { $($field: {
                    let name = concat!($name, "\0");
                    // SAFETY: the library stays loaded, and the name ends with a zero.
                    let found = unsafe { dlsym(library, name.as_ptr().cast()) };
                    if found.is_null() {
                        return Err($name);
                    }
                    // SAFETY: the type is taken from HIP's documentation, which has not changed since ROCm 4.
                    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> $result>(found) }
                },)* })
            }
        }
    };
}

functions! {
    init = "hipInit": fn(c_uint) -> c_int;
    device_count = "hipGetDeviceCount": fn(*mut c_int) -> c_int;
    set_device = "hipSetDevice": fn(c_int) -> c_int;
    error_text = "hipGetErrorString": fn(c_int) -> *const c_char;
    load = "hipModuleLoadData": fn(*mut *mut c_void, *const c_void) -> c_int;
    function = "hipModuleGetFunction": fn(*mut *mut c_void, *mut c_void, *const c_char) -> c_int;
    allocate = "hipMalloc": fn(*mut *mut c_void, usize) -> c_int;
    free = "hipFree": fn(*mut c_void) -> c_int;
    fill = "hipMemset": fn(*mut c_void, c_int, usize) -> c_int;
    launch = "hipModuleLaunchKernel": fn(*mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void, *mut *mut c_void, *mut *mut c_void) -> c_int;
    create_event = "hipEventCreate": fn(*mut *mut c_void) -> c_int;
    record = "hipEventRecord": fn(*mut c_void, *mut c_void) -> c_int;
    synchronize = "hipEventSynchronize": fn(*mut c_void) -> c_int;
    elapsed = "hipEventElapsedTime": fn(*mut f32, *mut c_void, *mut c_void) -> c_int;
}

/// Message of the dynamic loader's last failure.
fn loader_error() -> String {
    // SAFETY: the text belongs to this thread and is copied before another call.
    let text = unsafe { dlerror() };
    if text.is_null() {
        return "unknown error".to_owned();
    }
    // SAFETY: it ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A runtime with one device and the kernels of one code object.
pub struct HipRuntime {
    functions: Functions,
    /// File it was loaded from.
    pub path: PathBuf,
    module: *mut c_void,
    events: [*mut c_void; 2],
    buffers: Vec<(u64, *mut c_void)>,
}

impl HipRuntime {
    /// Loads the runtime, from a file or from where programs find it, and the code object for its first
    /// device.
    ///
    /// # Errors
    /// No runtime, no device, or a code object that is not for it.
    pub fn open(path: Option<&Path>, code: &[u8]) -> Result<HipRuntime> {
        let names: Vec<PathBuf> = match path {
            Some(path) => vec![path.to_owned()],
            None => LIBRARIES.iter().map(PathBuf::from).collect(),
        };
        let mut said = String::new();
        for name in &names {
            let file = CString::new(name.as_os_str().as_encoded_bytes())?;
            // SAFETY: the name ends with a zero. The library's own initialisation runs, as in every program
            // that links it.
            let library = unsafe { dlopen(file.as_ptr(), NOW) };
            if library.is_null() {
                said = loader_error();
                continue;
            }
            let functions = Functions::of(library)
                .map_err(|lacks| anyhow!("{} has no `{lacks}`: it is no HIP runtime", name.display()))?;
            return HipRuntime::with(functions, name.clone(), code);
        }
        bail!("no HIP runtime can be loaded: {said}\nhint: it comes with ROCm; `--hip FILE` names it")
    }

    fn with(functions: Functions, path: PathBuf, code: &[u8]) -> Result<HipRuntime> {
        let null = std::ptr::null_mut();
        let mut it = HipRuntime { functions, path, module: null, events: [null; 2], buffers: Vec::new() };
        let mut devices = 0;
        // SAFETY: what is written to are variables of this function or fields that outlive the calls; the
        // code object is copied by the call that loads it.
        unsafe {
            it.check("hipInit", (it.functions.init)(0))?;
            it.check("hipGetDeviceCount", (it.functions.device_count)(&raw mut devices))?;
            if devices < 1 {
                bail!("{} finds no GPU", it.path.display());
            }
            it.check("hipSetDevice", (it.functions.set_device)(0))?;
            let mut module = null;
            it.check("hipModuleLoadData", (it.functions.load)(&raw mut module, code.as_ptr().cast()))?;
            it.module = module;
            for at in 0..it.events.len() {
                let mut event = null;
                it.check("hipEventCreate", (it.functions.create_event)(&raw mut event))?;
                it.events[at] = event;
            }
        }
        Ok(it)
    }

    fn check(&self, call: &str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the runtime gives a text that is never freed, for every number.
        let text = unsafe { (self.functions.error_text)(code) };
        let text = if text.is_null() {
            String::new()
        } else {
            // SAFETY: it ends with a zero.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        bail!("`{call}` of {}: error {code}, {text}", self.path.display())
    }

    /// Buffers of these sizes; existing ones are used if large enough, new ones are filled with zeros.
    fn buffers(&mut self, sizes: &[u64]) -> Result<Vec<u64>> {
        for (at, size) in sizes.iter().enumerate() {
            if self.buffers.get(at).is_some_and(|(has, _)| has >= size) {
                continue;
            }
            // All of one size class are given back first, so that a larger one fits.
            while self.buffers.len() > at {
                let Some((_, buffer)) = self.buffers.pop() else { break };
                // SAFETY: it was allocated here and no kernel runs.
                self.check("hipFree", unsafe { (self.functions.free)(buffer) })?;
            }
            let (mut buffer, bytes) = (std::ptr::null_mut(), usize::try_from(*size)?);
            // SAFETY: the address is written to a variable of this function; the buffer has as many bytes as
            // are filled.
            unsafe {
                self.check("hipMalloc", (self.functions.allocate)(&raw mut buffer, bytes))?;
                self.buffers.push((*size, buffer));
                self.check("hipMemset", (self.functions.fill)(buffer, 0, bytes))?;
            }
        }
        Ok(self.buffers.iter().map(|(_, buffer)| *buffer as u64).collect())
    }

    /// Nanoseconds between an event before and one after a launch. `arguments` are the bytes of each, given
    /// the addresses of buffers of these sizes.
    ///
    /// # Errors
    /// Errors that the runtime reports.
    pub fn time(
        &mut self,
        kernel: &str,
        sizes: &[u64],
        [groups, threads]: [u32; 2],
        arguments: &dyn Fn(&[u64]) -> Vec<Vec<u8>>,
    ) -> Result<f64> {
        let buffers = self.buffers(sizes)?;
        let name = CString::new(kernel)?;
        // As many bytes as the largest argument has: the runtime reads what the kernel declares.
        let mut values: Vec<[u64; ARGUMENT / 8]> = Vec::new();
        for bytes in arguments(&buffers) {
            let mut words = [0; ARGUMENT / 8];
            for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
                let mut whole = [0; 8];
                whole[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_le_bytes(whole);
            }
            values.push(words);
        }
        let mut places: Vec<*mut c_void> = values.iter_mut().map(|it| it.as_mut_ptr().cast()).collect();
        let (mut function, mut milliseconds) = (std::ptr::null_mut(), 0f32);
        let (null, none) = (std::ptr::null_mut(), std::ptr::null_mut());
        let f = &self.functions;
        // SAFETY: module and events belong to this runtime; the values live until the launch has copied them,
        // and the kernel has ended when the buffers are used again.
        unsafe {
            self.check("hipModuleGetFunction", (f.function)(&raw mut function, self.module, name.as_ptr()))?;
            self.check("hipEventRecord", (f.record)(self.events[0], null))?;
            let ended = (f.launch)(function, groups, 1, 1, threads, 1, 1, 0, null, places.as_mut_ptr(), none);
            self.check("hipModuleLaunchKernel", ended)?;
            self.check("hipEventRecord", (f.record)(self.events[1], null))?;
            self.check("hipEventSynchronize", (f.synchronize)(self.events[1]))?;
            let read = (f.elapsed)(&raw mut milliseconds, self.events[0], self.events[1]);
            self.check("hipEventElapsedTime", read)?;
        }
        Ok(f64::from(milliseconds) * 1e6)
    }
}

impl Drop for HipRuntime {
    fn drop(&mut self) {
        for (_, buffer) in self.buffers.drain(..) {
            // SAFETY: it was allocated here and no kernel runs. That it cannot be freed helps nobody now.
            let _ = unsafe { (self.functions.free)(buffer) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_runtime_is_named() {
        let error = |path: &str| HipRuntime::open(Some(Path::new(path)), &[]).err().unwrap().to_string();
        assert!(error("/nowhere/libamdhip64.so").contains("/nowhere/libamdhip64.so"));
        // A library that is there on every machine that runs this.
        assert!(error("libc.so.6").contains("`hipInit`"), "{}", error("libc.so.6"));
    }
}
