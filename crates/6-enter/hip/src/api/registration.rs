//! Calls of the compiler's constructors before `main`: binaries, kernels, variables; and the launch syntax.
//!
//! A program registers everything it has and uses little of it, so only the address is noted.

use super::{Dim3, In, Out, entries};
use crate::codes::Code;
use crate::fat_binary::{self, MAGIC, Wrapper};
use crate::memory::Kind;
use crate::message::say;
use crate::runtime::{Slot, Variable, lock, try_lock};
use crate::work::{Function, ModuleId};
use std::cell::RefCell;
use std::ffi::c_void;

type Chars = In<libc::c_char>;

/// Launch configuration that `<<<>>>` leaves for the stub.
/// A launch that is being put together.
pub(super) struct Configured {
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) shared: usize,
    pub(super) stream: usize,
    pub(super) arguments: Vec<u8>,
}

thread_local! {
    static CONFIGURED: RefCell<Vec<Configured>> = const { RefCell::new(Vec::new()) };
}

/// Begins a launch, or puts it back.
pub(super) fn configure(launch: Configured) {
    CONFIGURED.with_borrow_mut(|all| all.push(launch));
}

/// Takes the launch that began last.
pub(super) fn configured() -> Result<Configured, Code> {
    CONFIGURED.with_borrow_mut(Vec::pop).ok_or(Code::hipErrorMissingConfiguration)
}

/// Handles of binaries are numbers from 1 on.
fn module_of(handle: *mut *mut c_void) -> ModuleId {
    handle.addr().wrapping_sub(1)
}

/// Notes a binary of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFatBinary(wrapper: *const Wrapper) -> *mut *mut c_void {
    // SAFETY: the compiler gives a wrapper.
    let data = unsafe { wrapper.as_ref() }.and_then(|wrapper| {
        // SAFETY: a registered binary stays mapped until it is unregistered; it is not read later than that.
        if wrapper.magic == MAGIC { unsafe { fat_binary::bytes(wrapper.binary.cast()) } } else { None }
    });
    let slot = match data {
        Some(data) => Slot::Registered(data),
        None => {
            say("the program registers something that is no GPU binary; its kernels cannot be launched");
            Slot::Failed(Code::hipErrorInvalidImage)
        }
    };
    std::ptr::without_provenance_mut(lock().add_module(slot) + 1)
}

/// Forgets a binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipUnregisterFatBinary(handle: *mut *mut c_void) {
    // While the program ends, another thread may still run a kernel: nobody waits for it.
    if let Some(mut runtime) = try_lock() {
        let _ = runtime.remove_module(module_of(handle));
    }
}

/// Notes a kernel: the address of its stub and its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFunction(
    handle: *mut *mut c_void,
    stub: *const c_void,
    _device_function: *mut libc::c_char,
    name: Chars,
    _thread_limit: u32,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_size: Out<Dim3>,
    _grid_size: Out<Dim3>,
    _warp_size: Out<i32>,
) {
    if let Ok(name) = name.text() {
        lock().functions.insert(stub.addr(), Function { module: module_of(handle), name });
    }
}

/// Notes a variable: the address of its shadow and its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterVar(
    handle: *mut *mut c_void,
    shadow: *mut c_void,
    _host_name: Chars,
    name: Chars,
    _external: i32,
    _bytes: usize,
    _constant: i32,
    _global: i32,
) {
    if let Ok(name) = name.text() {
        lock().variables.insert(shadow.addr(), Variable { module: module_of(handle), name, managed: None });
    }
}

/// Notes a managed variable: memory for it is made now, and `pointer` on the host side leads to it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterManagedVar(
    handle: *mut *mut c_void,
    pointer: Out<*mut c_void>,
    initial: *const c_void,
    name: Chars,
    bytes: usize,
    _alignment: u32,
) {
    let Ok(name) = name.text() else { return };
    let mut runtime = lock();
    let capacity = runtime.device.memory_bytes();
    let Ok(memory) = runtime.allocations.allocate(Kind::Managed, bytes, 0, capacity) else {
        say(&format!("no memory for the managed variable `{name}`"));
        return;
    };
    if !initial.is_null() {
        // SAFETY: the compiler gives an initial value of that size; the memory was allocated with it.
        unsafe { std::ptr::copy(initial.cast::<u8>(), std::ptr::with_exposed_provenance_mut(memory), bytes) };
    }
    let _ = pointer.put(std::ptr::with_exposed_provenance_mut(memory));
    let variable = Variable { module: module_of(handle), name, managed: Some(memory) };
    runtime.variables.insert(pointer.0.addr(), variable);
}

/// Textures of programs compiled for them: their use fails, their registration is harmless.
#[unsafe(no_mangle)]
pub extern "C" fn __hipRegisterTexture() {}

/// As for textures.
#[unsafe(no_mangle)]
pub extern "C" fn __hipRegisterSurface() {}

entries! {
    /// `<<<grid, block, shared, stream>>>` in front of the stub's call.
    fn __hipPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: usize) {
        configure(Configured { grid, block, shared, stream, arguments: Vec::new() });
        Ok(())
    }

    /// The same, in the stub.
    fn __hipPopCallConfiguration(grid: Out<Dim3>, block: Out<Dim3>, shared: Out<usize>, stream: Out<usize>) {
        let last = configured()?;
        grid.put(last.grid)?;
        block.put(last.block)?;
        shared.put(last.shared)?;
        stream.put(last.stream)
    }
}
