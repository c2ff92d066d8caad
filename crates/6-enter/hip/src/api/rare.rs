//! Calls that few programs make: launches in three steps, and questions about peers and contexts that have one answer
//! here.

use super::devices::{check, context_device, current};
use super::kernels::launch_bytes;
use super::registration::{Configured, configure, configured};
use super::{Dim3, Out, entries};
use crate::codes::Code;
use crate::runtime::lock;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::{Mutex, PoisonError};

/// Largest arguments of a kernel.
const MOST_ARGUMENTS: usize = 1 << 16;

/// Names that programs were given, which live as long as the library.
static NAMES: Mutex<BTreeMap<usize, CString>> = Mutex::new(BTreeMap::new());

/// Linker name of a kernel; null if it is none.
fn kernel_name(function: usize) -> *const c_char {
    let Some(name) = lock().functions.get(&function).map(|it| it.name.clone()) else {
        return std::ptr::null();
    };
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.entry(function).or_insert_with(|| CString::new(name).unwrap_or_default()).as_ptr()
}

/// Linker name of a kernel of a module.
#[unsafe(no_mangle)]
pub extern "C" fn hipKernelNameRef(function: usize) -> *const c_char {
    kernel_name(function)
}

/// Linker name of a kernel by its stub.
#[unsafe(no_mangle)]
pub extern "C" fn hipKernelNameRefByPtr(function: usize, _stream: usize) -> *const c_char {
    kernel_name(function)
}

/// Bits of four channels and their kind.
#[repr(C)]
pub struct ChannelDescription([i32; 5]);

/// A description of channels.
#[unsafe(no_mangle)]
pub extern "C" fn hipCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: i32) -> ChannelDescription {
    ChannelDescription([x, y, z, w, kind])
}

/// The same as C++ names it.
#[unsafe(no_mangle)]
pub extern "C" fn _Z20hipCreateChannelDesciiii20hipChannelFormatKind(
    x: i32,
    y: i32,
    z: i32,
    w: i32,
    kind: i32,
) -> ChannelDescription {
    hipCreateChannelDesc(x, y, z, w, kind)
}

entries! {
    /// Begins a launch: sizes and stream.
    fn hipConfigureCall(grid: Dim3, block: Dim3, shared: usize, stream: usize) {
        configure(Configured { grid, block, shared, stream, arguments: Vec::new() });
        Ok(())
    }

    /// Adds an argument to the launch.
    fn hipSetupArgument(argument: *const c_void, bytes: usize, offset: usize) {
        let end = offset.checked_add(bytes).filter(|end| *end <= MOST_ARGUMENTS).ok_or(Code::hipErrorInvalidValue)?;
        if argument.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        let mut configured = configured()?;
        let arguments = &mut configured.arguments;
        arguments.resize(end.max(arguments.len()), 0);
        // SAFETY: the program's argument has that many bytes, and there is room as just made.
        unsafe { std::ptr::copy_nonoverlapping(argument.cast(), arguments[offset..].as_mut_ptr(), bytes) };
        configure(configured);
        Ok(())
    }

    /// Launches what was put together.
    fn hipLaunchByPtr(function: usize) {
        let Configured { grid, block, shared, stream, arguments } = configured()?;
        launch_bytes(function, [grid, block], shared, stream, arguments)
    }

    /// Between different devices everything is possible but arrays.
    fn hipDeviceGetP2PAttribute(value: Out<i32>, attribute: u32, from: i32, to: i32) {
        check(from)?;
        check(to)?;
        if from == to || attribute > 3 {
            return Err(Code::hipErrorInvalidValue);
        }
        value.put(i32::from(matches!(attribute, 1 | 2)))
    }

    /// Devices are one hop of Infinity Fabric apart.
    fn hipExtGetLinkTypeAndHopCount(from: i32, to: i32, kind: Out<u32>, hops: Out<u32>) {
        if kind.is_null() || hops.is_null() || from == to || from < 0 || to < 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        check(from)?;
        check(to)?;
        kind.put(4)?;
        hops.put(1)
    }

    /// Version of the interface of contexts, as AMD's runtime has it.
    fn hipCtxGetApiVersion(_context: usize, version: Out<u32>) {
        version.put(4)
    }

    /// Contexts have no flags set.
    fn hipCtxGetFlags(flags: Out<u32>) {
        flags.put(0)
    }

    /// Access is always open.
    fn hipCtxEnablePeerAccess(context: usize, _flags: u32) {
        if context_device(context)? == current() { Err(Code::hipErrorInvalidDevice) } else { Ok(()) }
    }

    /// As above.
    fn hipCtxDisablePeerAccess(context: usize) {
        context_device(context).map(|_| ())
    }
}
