//! Launches of our own kernels, whose sources and code are in `kernels/`.

use super::Problem;
use crate::codes::Code;
use crate::launch::perform;
use crate::memory::Kind;
use crate::runtime::{Slot, lock};
use crate::work::{Copy3, Function, Kernel, ModuleId, Work};
use std::sync::OnceLock;

/// Code for all targets: kernels whose names begin with a prefix; the others are in the last one.
static BUNDLES: [(&[&str], &[u8]); 6] = [
    (&["rockhound_sparse"], include_bytes!("../../kernels/sparse.bundle")),
    (&["rockhound_solver"], include_bytes!("../../kernels/solver.bundle")),
    (&["rockhound_dnn"], include_bytes!("../../kernels/dnn.bundle")),
    (&["rockhound_reduce"], include_bytes!("../../kernels/collectives.bundle")),
    (&["rockhound_fft", "rockhound_random"], include_bytes!("../../kernels/fft.bundle")),
    (&[""], include_bytes!("../../kernels/blas.bundle")),
];

/// Work-items of a workgroup of every kernel.
const WORKGROUP: u32 = 256;

/// The module with a kernel.
fn module(name: &str) -> ModuleId {
    static MODULES: [OnceLock<ModuleId>; BUNDLES.len()] = [const { OnceLock::new() }; BUNDLES.len()];
    let fits = |(prefixes, _): &(&[&str], &[u8])| prefixes.iter().any(|it| name.starts_with(it));
    let index = BUNDLES.iter().position(fits).unwrap_or(BUNDLES.len() - 1);
    *MODULES[index].get_or_init(|| lock().add_module(Slot::Registered(BUNDLES[index].1)))
}

/// True if the GPU has a kernel.
pub(super) fn exists(name: &str) -> Result<bool, Problem> {
    let id = module(name);
    Ok(lock().module(id)?.has_kernel(name))
}

/// Runs a kernel in a stream of the current device over workgroups.
pub(super) fn launch(
    stream: usize,
    name: &str,
    workgroups: [u64; 3],
    arguments: Vec<u8>,
) -> Result<(), Problem> {
    launch_on(crate::api::current_device(), stream, name, workgroups, arguments)
}

/// Runs a kernel in a stream of a device.
pub(super) fn launch_on(
    device: i32,
    stream: usize,
    name: &str,
    workgroups: [u64; 3],
    arguments: Vec<u8>,
) -> Result<(), Problem> {
    if !exists(name)? {
        return Err(Problem::Unsupported(format!("there is no kernel `{name}` for this GPU")));
    }
    let axis = |count: u64, size: u32| {
        let items = count.checked_mul(u64::from(size)).and_then(|it| u32::try_from(it).ok());
        items.ok_or_else(|| Problem::Unsupported("more work-items than a launch can have".to_owned()))
    };
    let grid = [axis(workgroups[0], WORKGROUP)?, axis(workgroups[1], 1)?, axis(workgroups[2], 1)?];
    let kernel = Kernel {
        handle: BUNDLES.as_ptr().addr(),
        function: Function { module: module(name), name: name.to_owned() },
        grid,
        workgroup: [WORKGROUP, 1, 1],
        dynamic_lds: 0,
        arguments,
        cooperative: false,
        device,
    };
    Ok(perform(stream, Work::Kernel(kernel))?)
}

/// Copies rows of bytes, wherever they are.
pub(super) fn copy(stream: usize, copy: Copy3) -> Result<(), Problem> {
    Ok(perform(stream, Work::Copy(copy))?)
}

/// Memory of the GPU for results that go to the host.
pub(super) struct Scratch(usize);

impl Scratch {
    pub(super) fn new(bytes: usize) -> Result<Scratch, Problem> {
        let place = lock().allocations.allocate(Kind::Internal, bytes.max(8), 0, usize::MAX)?;
        Ok(Scratch(place))
    }

    pub(super) fn address(&self) -> usize {
        self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let place = std::ptr::with_exposed_provenance_mut(self.0);
        let freed = lock().allocations.free(place, &[Kind::Internal]);
        debug_assert!(freed.is_ok() || freed == Err(Code::hipErrorInvalidValue));
    }
}
