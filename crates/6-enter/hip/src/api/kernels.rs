//! Launching kernels.
//!
//! The metadata gives the offset and size of each argument, which suffices to read the values behind the
//! pointers.

use super::{Dim3, In, entries};
use crate::codes::Code;
use crate::device::MOST_THREADS;
use crate::launch::perform;
use crate::runtime::lock;
use crate::work::Function;
use crate::work::{Kernel, Work};
use std::ffi::c_void;

pub(super) type Arguments = In<*mut c_void>;

/// Keys of the list that gives arguments as one piece of memory.
const BUFFER: usize = 1;
const BUFFER_SIZE: usize = 2;
const END: usize = 3;

/// Launch of the driver interface with attributes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: u32,
    stream: usize,
    attributes: *const c_void,
    attribute_count: u32,
}

/// The same of the runtime interface.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ConfigurationC {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: usize,
    attributes: *const c_void,
    attribute_count: u32,
}

/// A kernel of a graph as the headers describe it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct NodeKernel {
    pub(super) block: Dim3,
    pub(super) extra: Arguments,
    pub(super) function: usize,
    pub(super) grid: Dim3,
    pub(super) arguments: Arguments,
    pub(super) shared: u32,
}

const _: () = assert!(size_of::<NodeKernel>() == 64);

impl NodeKernel {
    /// The kernel with its arguments.
    pub(super) fn kernel(self) -> Result<Kernel, Code> {
        let (grid, block) = (self.grid.array(), self.block.array());
        let request = Request::blocks(self.function, grid, block, self.shared as usize, 0)?;
        request.kernel(self.arguments, self.extra)
    }
}

/// A kernel launch before the arguments are looked at.
#[derive(Clone, Copy)]
struct Request {
    function: usize,
    /// Work-items.
    grid: [u32; 3],
    block: [u32; 3],
    shared: usize,
    stream: usize,
    /// Workgroups may wait for each other.
    cooperative: bool,
}

impl Request {
    /// From numbers of workgroups.
    fn blocks(
        function: usize,
        blocks: [u32; 3],
        block: [u32; 3],
        shared: usize,
        stream: usize,
    ) -> Result<Self, Code> {
        let mut grid = [0; 3];
        for axis in 0..3 {
            grid[axis] = blocks[axis].checked_mul(block[axis]).ok_or(Code::hipErrorInvalidConfiguration)?;
        }
        Ok(Request { function, grid, block, shared, stream, cooperative: false })
    }

    /// A launch by the driver interface, whose sizes AMD's runtime calls invalid values: workgroups by axis where the
    /// program gives these, arguments in one of two forms.
    fn of_module(self, blocks: Option<[u32; 3]>, is_given_twice: bool) -> Result<Self, Code> {
        const MOST_BLOCKS: [u32; 3] = [i32::MAX as u32, 1 << 16, 1 << 16];
        if self.function == 0 {
            return Err(Code::hipErrorInvalidHandle);
        }
        let items = self.block.iter().fold(1u32, |all, size| all.saturating_mul(*size));
        let is_too_large =
            blocks.is_some_and(|it| it.iter().zip(MOST_BLOCKS).any(|(blocks, most)| *blocks > most));
        let is_wrong = is_given_twice || is_too_large || items > MOST_THREADS || self.grid.contains(&0);
        if is_wrong || self.shared > lock().device.lds_bytes() as usize {
            return Err(Code::hipErrorInvalidValue);
        }
        Ok(self)
    }

    /// Picks up the arguments and launches: `arguments` is null or has a pointer for each argument, `extra` is null or a
    /// list of keys and values.
    fn launch(self, arguments: Arguments, extra: Arguments) -> Result<(), Code> {
        let kernel = self.kernel(arguments, extra)?;
        perform(self.stream, Work::Kernel(kernel))
    }

    fn kernel(self, arguments: Arguments, extra: Arguments) -> Result<Kernel, Code> {
        let function = self.named()?;
        let arguments = if arguments.is_null() && !extra.is_null() {
            from_buffer(extra)?
        } else {
            from_pointers(&function, arguments)?
        };
        self.with(arguments)
    }

    fn named(&self) -> Result<Function, Code> {
        lock().functions.get(&self.function).cloned().ok_or(Code::hipErrorInvalidDeviceFunction)
    }

    /// The kernel with arguments as they are in memory.
    fn with(self, arguments: Vec<u8>) -> Result<Kernel, Code> {
        let dynamic_lds = u32::try_from(self.shared).map_err(|_| Code::hipErrorInvalidConfiguration)?;
        let function = self.named()?;
        let (handle, grid, workgroup, cooperative) = (self.function, self.grid, self.block, self.cooperative);
        let device = super::devices::current();
        Ok(Kernel { handle, function, grid, workgroup, dynamic_lds, arguments, cooperative, device })
    }
}

/// Arguments from a pointer to each.
fn from_pointers(function: &Function, arguments: Arguments) -> Result<Vec<u8>, Code> {
    let mut runtime = lock();
    let program = runtime.module(function.module)?.program(&function.name)?;
    let explicit = program.metadata.given();
    let mut bytes = Vec::new();
    for (index, argument) in explicit.enumerate() {
        if arguments.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        let source = arguments.at(index).get()?.cast::<u8>();
        if source.is_null() {
            crate::message::say(&format!("argument {index} of `{}` is a null pointer", function.name));
            return Err(Code::hipErrorInvalidValue);
        }
        let (offset, size) = (argument.offset as usize, argument.size as usize);
        let end = offset.checked_add(size).filter(|end| *end <= 1 << 16).ok_or(Code::hipErrorInvalidImage)?;
        bytes.resize(end.max(bytes.len()), 0);
        // SAFETY: the program's argument has the size its kernel says.
        unsafe { std::ptr::copy_nonoverlapping(source, bytes[offset..].as_mut_ptr(), size) };
    }
    Ok(bytes)
}

/// Arguments from a list of keys and values that ends with its end key.
fn from_buffer(extra: Arguments) -> Result<Vec<u8>, Code> {
    let (mut start, mut size) = (std::ptr::null_mut::<c_void>(), 0);
    for at in (0..8).step_by(2) {
        let key = extra.at(at).get()?.addr();
        if key == END {
            break;
        }
        let value = extra.at(at + 1).get()?;
        match key {
            BUFFER => start = value,
            BUFFER_SIZE => size = In(value.cast::<usize>().cast_const()).get()?,
            _ => return Err(Code::hipErrorInvalidValue),
        }
    }
    if size > 1 << 16 || (start.is_null() && size > 0) {
        return Err(Code::hipErrorInvalidValue);
    }
    let mut bytes = vec![0; size];
    if size > 0 {
        // SAFETY: the program gives a buffer of that size.
        unsafe { std::ptr::copy_nonoverlapping(start.cast::<u8>(), bytes.as_mut_ptr(), size) };
    }
    Ok(bytes)
}

/// Launches a kernel by its stub over workgroups and their size, with arguments as they are in memory.
pub(super) fn launch_bytes(
    function: usize,
    [grid, block]: [Dim3; 2],
    shared: usize,
    stream: usize,
    arguments: Vec<u8>,
) -> Result<(), Code> {
    let request = Request::blocks(function, grid.array(), block.array(), shared, stream)?;
    perform(stream, Work::Kernel(request.with(arguments)?))
}

/// Launches a kernel by its stub on a GPU; a cooperative one whose workgroups do not fit together is refused.
pub(super) fn cooperative(
    function: usize,
    [grid, block]: [Dim3; 2],
    (shared, stream): (usize, usize),
    arguments: Arguments,
    (is_cooperative, device): (bool, i32),
) -> Result<(), Code> {
    let request = Request::blocks(function, grid.array(), block.array(), shared, stream)?;
    if is_cooperative {
        request.fits()?;
    }
    let kernel = request.kernel(arguments, In::NULL)?;
    perform(stream, Work::Kernel(Kernel { cooperative: is_cooperative, device, ..kernel }))
}

/// Events around a launch in a stream: recorded before and after it.
fn timed(events: [usize; 2], stream: usize, launch: impl FnOnce() -> Result<(), Code>) -> Result<(), Code> {
    lock().record(events[0], stream);
    launch()?;
    lock().record(events[1], stream);
    Ok(())
}

entries! {
    /// Launches a kernel by its stub.
    fn hipLaunchKernel = hipLaunchKernel_spt(
        function: usize, grid: Dim3, block: Dim3, arguments: Arguments, shared: usize, stream: usize,
    ) {
        Request::blocks(function, grid.array(), block.array(), shared, stream)?.launch(arguments, In::NULL)
    }

    /// The same with events around it.
    fn hipExtLaunchKernel(
        function: usize, grid: Dim3, block: Dim3, arguments: Arguments, shared: usize, stream: usize,
        start: usize, stop: usize, _flags: i32,
    ) {
        let request = Request::blocks(function, grid.array(), block.array(), shared, stream)?;
        timed([start, stop], stream, || request.launch(arguments, In::NULL))
    }

    /// Launches a kernel whose workgroups all fit on the device.
    fn hipLaunchCooperativeKernel = hipLaunchCooperativeKernel_spt(
        function: usize, grid: Dim3, block: Dim3, arguments: Arguments, shared: u32, stream: usize,
    ) {
        let request = Request::blocks(function, grid.array(), block.array(), shared as usize, stream)?;
        request.fits()?;
        Request { cooperative: true, ..request }.launch(arguments, In::NULL)
    }

    /// Launches a kernel of a module.
    fn hipModuleLaunchKernel(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: usize,
        arguments: Arguments, extra: Arguments,
    ) {
        let blocks = [gx, gy, gz];
        let request = Request::blocks(function, blocks, [bx, by, bz], shared as usize, stream)?;
        let request = request.of_module(Some(blocks), !arguments.is_null() && !extra.is_null())?;
        request.launch(arguments, extra)
    }

    /// The same, cooperative.
    fn hipModuleLaunchCooperativeKernel(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: usize,
        arguments: Arguments,
    ) {
        let request = Request::blocks(function, [gx, gy, gz], [bx, by, bz], shared as usize, stream)?;
        request.fits()?;
        Request { cooperative: true, ..request }.launch(arguments, In::NULL)
    }

    /// Launches by the driver's configuration.
    fn hipDrvLaunchKernelEx(configuration: In<Configuration>, function: usize, arguments: Arguments, extra: Arguments) {
        let c = configuration.get()?;
        Request::blocks(function, c.grid.array(), c.block.array(), c.shared as usize, c.stream)?.launch(arguments, extra)
    }

    /// Launches by the runtime's configuration.
    fn hipLaunchKernelExC(configuration: In<ConfigurationC>, function: usize, arguments: Arguments) {
        let c = configuration.get()?;
        Request::blocks(function, c.grid.array(), c.block.array(), c.shared, c.stream)?.launch(arguments, In::NULL)
    }

    /// Launches a kernel of a module over work-items, with events around it. The name is the C++ mangled one.
    fn hipExtModuleLaunchKernel = _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: usize, stream: usize,
        arguments: Arguments, extra: Arguments, start: usize, stop: usize, _flags: u32,
    ) {
        let request = Request { function, grid: [gx, gy, gz], block: [bx, by, bz], shared, stream, cooperative: false };
        let request = request.of_module(None, !arguments.is_null() && !extra.is_null())?;
        timed([start, stop], stream, || request.launch(arguments, extra))
    }

    /// Its older form.
    fn hipHccModuleLaunchKernel = _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: usize, stream: usize,
        arguments: Arguments, extra: Arguments, start: usize, stop: usize,
    ) {
        let request = Request { function, grid: [gx, gy, gz], block: [bx, by, bz], shared, stream, cooperative: false };
        let request = request.of_module(None, !arguments.is_null() && !extra.is_null())?;
        timed([start, stop], stream, || request.launch(arguments, extra))
    }
}

impl Request {
    /// Whether all workgroups of a cooperative launch fit on the device together.
    fn fits(&self) -> Result<(), Code> {
        let mut runtime = lock();
        let function =
            runtime.functions.get(&self.function).cloned().ok_or(Code::hipErrorInvalidDeviceFunction)?;
        let program = runtime.module(function.module)?.program(&function.name)?;
        let count = |axis: usize| u64::from(self.grid[axis].div_ceil(self.block[axis].max(1)));
        let workgroups = count(0).saturating_mul(count(1)).saturating_mul(count(2));
        let threads = self.block.iter().fold(1u32, |all, size| all.saturating_mul(*size));
        let device = runtime.device;
        let most_lds = device.model.target().lds.bytes_per_workgroup.value as usize;
        if self.shared.saturating_add(program.descriptor.lds_bytes as usize) > most_lds {
            return Err(Code::hipErrorCooperativeLaunchTooLarge);
        }
        let fitting = device.workgroups_at_once(&program, threads, self.shared);
        // Launches that are wrong in other ways are answered when they are made.
        if fitting > 0 && workgroups > fitting {
            let name = runtime.module(function.module)?.demangled(&function.name);
            crate::message::say(&format!(
                "`{name}` is launched cooperatively with {workgroups} workgroups, but only {fitting} fit on the GPU together"
            ));
            return Err(Code::hipErrorCooperativeLaunchTooLarge);
        }
        Ok(())
    }
}
