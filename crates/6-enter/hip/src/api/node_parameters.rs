//! Nodes of graphs by one structure for all kinds.

use super::graph_memory::{NodeMemory, freeing, memory};
use super::graph_nodes::{NodeCall, NodeFill, add, call, copy, event, fill, kernel, set, set_step};
use super::kernels::NodeKernel;
use super::memory::Parameters3;
use super::{entries, get};
use crate::codes::Code;
use crate::graph::Action;

/// Kinds of nodes, as programs read them.
const KERNEL: u32 = 0;
const COPY: u32 = 1;
const FILL: u32 = 2;
const CALL: u32 = 3;
const CHILD: u32 = 4;
const WAIT: u32 = 6;
const RECORD: u32 = 7;
const SIGNAL_SEMAPHORE: u32 = 8;
const WAIT_SEMAPHORE: u32 = 9;
const ALLOCATE: u32 = 10;
const FREE: u32 = 11;

/// A node: its kind, and what that kind needs.
#[repr(C)]
pub(super) struct NodeParameters {
    kind: u32,
    reserved: [u32; 3],
    own: [u64; 29],
    rest: u64,
}

/// Bytes in front of a copy.
const COPY_OFFSET: usize = 16;

const _: () = assert!(size_of::<NodeParameters>() == 256);

/// The action of a node.
///
/// # Safety
/// `given` is null or leads to a node of its kind.
unsafe fn action(given: *mut NodeParameters) -> Result<Action, Code> {
    if given.is_null() {
        return Err(Code::hipErrorInvalidValue);
    }
    // SAFETY: as the caller says.
    let kind = unsafe { get(given.cast::<u32>()) }?;
    // SAFETY: inside the structure.
    let own = unsafe { given.cast::<u8>().add(std::mem::offset_of!(NodeParameters, own)) };
    // SAFETY: the kind says which structure it is; this holds for all.
    let first = || unsafe { get(own.cast::<usize>()) };
    // SAFETY: as above.
    unsafe {
        match kind {
            KERNEL => kernel(own.cast::<NodeKernel>()),
            COPY => copy(own.add(COPY_OFFSET).cast::<Parameters3>()),
            FILL => fill(own.cast::<NodeFill>()),
            CALL => call(own.cast::<NodeCall>()),
            CHILD => Ok(Action::Child(first()?)),
            WAIT => event(first()?, Action::Wait),
            RECORD => event(first()?, Action::Record),
            SIGNAL_SEMAPHORE | WAIT_SEMAPHORE => Err(Code::hipErrorNotSupported),
            ALLOCATE => memory(own.cast::<NodeMemory>()),
            FREE => freeing(first()?),
            _ => Err(Code::hipErrorInvalidValue),
        }
    }
}

/// The same for a node that is there: its memory cannot be changed.
///
/// # Safety
/// As for [`action`].
unsafe fn change(given: *mut NodeParameters) -> Result<Action, Code> {
    // SAFETY: as the caller says.
    match unsafe { get(given.cast::<u32>()) }? {
        ALLOCATE | FREE => Err(Code::hipErrorNotSupported),
        // SAFETY: as the caller says.
        _ => unsafe { action(given) },
    }
}

entries! {
    /// A node of any kind.
    fn hipGraphAddNode(node: *mut usize, graph: usize, before: *const usize, count: usize, given: *mut NodeParameters) {
        if node.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: as the headers say; this holds for all entries here.
        unsafe { add(node, graph, before, count, action(given)) }
    }

    /// Changes a node.
    fn hipGraphNodeSetParams(node: usize, given: *mut NodeParameters) {
        // SAFETY: as above.
        set(node, unsafe { change(given) })
    }

    /// The same in a graph that is ready to run.
    fn hipGraphExecNodeSetParams(executable: usize, node: usize, given: *mut NodeParameters) {
        // SAFETY: as above.
        set_step(executable, node, unsafe { change(given) })
    }
}
