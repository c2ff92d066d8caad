//! Work of a stream, as values: kernels, copies, fills, calls of host functions.

use std::ffi::c_void;
use std::sync::Arc;

/// Index of a module.
pub(crate) type ModuleId = usize;

/// A kernel, by module and name.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) module: ModuleId,
    pub(crate) name: String,
}

/// A function of the program that a stream calls.
pub(crate) type HostFunction = unsafe extern "C" fn(*mut c_void);

/// Something a stream does.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// Runs a kernel.
    Kernel(Kernel),
    /// Copies a box of bytes.
    Copy(Copy3),
    /// Fills a box of bytes with a pattern.
    Fill(Fill),
    /// Calls a function of the program.
    Call(HostFunction, usize),
    /// Writes and awaits values in memory.
    Values(Arc<[ValueOp]>),
}

/// A value that a stream writes or waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueOp {
    pub(crate) address: usize,
    /// Four bytes, or eight.
    pub(crate) bytes: usize,
    pub(crate) value: u64,
    /// How it is waited for: comparison and mask; `None` writes.
    pub(crate) wait: Option<(u32, u64)>,
}

/// A kernel with all it needs.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// Handle by which the program names the function.
    pub(crate) handle: usize,
    pub(crate) function: Function,
    /// Work-items.
    pub(crate) grid: [u32; 3],
    pub(crate) workgroup: [u32; 3],
    pub(crate) dynamic_lds: u32,
    /// Explicit arguments, as laid out in memory.
    pub(crate) arguments: Vec<u8>,
    /// Workgroups may wait for each other.
    pub(crate) cooperative: bool,
    /// GPU of the thread that launched it.
    pub(crate) device: i32,
}

/// A copy of `width` bytes, `height` times, `depth` times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy3 {
    pub(crate) to: Place,
    pub(crate) from: Place,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

/// Start of a box, and the pitch of its rows and slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) address: usize,
    pub(crate) pitch: usize,
    pub(crate) slice: usize,
}

/// A pattern of `size` bytes repeated over a box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) to: Place,
    pub(crate) pattern: u32,
    pub(crate) size: usize,
    /// Bytes.
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

impl Copy3 {
    /// A copy of contiguous bytes.
    pub(crate) fn flat(to: usize, from: usize, bytes: usize) -> Copy3 {
        let place = |address| Place { address, pitch: bytes, slice: bytes };
        Copy3 { to: place(to), from: place(from), width: bytes, height: 1, depth: 1 }
    }
}
