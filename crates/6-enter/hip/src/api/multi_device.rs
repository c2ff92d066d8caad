//! Launches on several GPUs at once, one kernel on each.
//!
//! They run one after the other, so kernels that wait for kernels of other GPUs are refused by name.

use super::kernels::{Arguments, cooperative};
use super::streams::of_stream;
use super::{Dim3, In, entries};
use crate::codes::Code;
use crate::message::say;
use crate::runtime::lock;

/// A launch of the runtime interface.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Launch {
    function: usize,
    grid: Dim3,
    block: Dim3,
    arguments: Arguments,
    shared: usize,
    stream: usize,
}

/// The same of the driver interface.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct DriverLaunch {
    function: usize,
    grid: Dim3,
    block: Dim3,
    shared: u32,
    stream: usize,
    arguments: Arguments,
}

const _: () = assert!(size_of::<Launch>() == 56 && size_of::<DriverLaunch>() == 56);

/// Flags: no GPU waits for the others before, or after.
const MOST_FLAGS: u32 = 3;

impl DriverLaunch {
    fn launch(self) -> Launch {
        let DriverLaunch { function, grid, block, shared, stream, arguments } = self;
        Launch { function, grid, block, arguments, shared: shared as usize, stream }
    }
}

/// True if a kernel may wait for kernels of other GPUs: it has the argument for that.
fn waits_for_others(function: usize) -> Result<bool, Code> {
    let mut runtime = lock();
    let function = runtime.functions.get(&function).cloned().ok_or(Code::hipErrorInvalidDeviceFunction)?;
    let program = runtime.module(function.module)?.program(&function.name)?;
    let waits = program.metadata.arguments.iter().any(|it| it.kind == "hidden_multigrid_sync_arg");
    if waits {
        say(&format!("`{}` waits for kernels of other GPUs, which is not supported", function.name));
    }
    Ok(waits)
}

/// Launches on several GPUs.
fn all(launches: Vec<Launch>, flags: u32, is_cooperative: bool) -> Result<(), Code> {
    let devices = lock().devices as usize;
    if launches.is_empty() || launches.len() > devices || flags > MOST_FLAGS {
        return Err(Code::hipErrorInvalidValue);
    }
    let mut used = Vec::new();
    for launch in &launches {
        if launch.stream == 0 {
            return Err(Code::hipErrorInvalidHandle);
        }
        if !lock().streams.is_stream(launch.stream) {
            return Err(Code::hipErrorInvalidValue);
        }
        let Dim3 { x, y, z } = launch.block;
        if x == 0 || y == 0 || z == 0 {
            return Err(Code::hipErrorInvalidConfiguration);
        }
        let device = of_stream(launch.stream);
        if used.contains(&device) {
            return Err(Code::hipErrorInvalidDevice);
        }
        used.push(device);
        if launches.len() > 1 && waits_for_others(launch.function)? {
            return Err(Code::hipErrorNotSupported);
        }
    }
    for (launch, device) in launches.into_iter().zip(used) {
        let Launch { function, grid, block, arguments, shared, stream } = launch;
        cooperative(function, [grid, block], (shared, stream), arguments, (is_cooperative, device))?;
    }
    Ok(())
}

fn list<T: Copy>(launches: In<T>, count: usize) -> Result<Vec<T>, Code> {
    (0..count.min(1 << 10)).map(|index| launches.at(index).get()).collect()
}

entries! {
    /// Launches kernels whose workgroups all fit on their GPUs.
    fn hipLaunchCooperativeKernelMultiDevice(launches: In<Launch>, count: i32, flags: u32) {
        let count = usize::try_from(count).map_err(|_| Code::hipErrorInvalidValue)?;
        all(list(launches, count)?, flags, true)
    }

    /// The same of the driver interface.
    fn hipModuleLaunchCooperativeKernelMultiDevice(launches: In<DriverLaunch>, count: u32, flags: u32) {
        let launches = list(launches, count as usize)?;
        all(launches.into_iter().map(DriverLaunch::launch).collect(), flags, true)
    }

    /// Launches kernels on several GPUs.
    fn hipExtLaunchMultiKernelMultiDevice(launches: In<Launch>, count: i32, flags: u32) {
        let count = usize::try_from(count).map_err(|_| Code::hipErrorInvalidValue)?;
        all(list(launches, count)?, flags, false)
    }
}
