//! Nodes of graphs by one structure for all kinds.

use super::graph_memory::{NodeMemory, freeing, memory};
use super::graph_nodes::{NodeCall, NodeFill, add, call, copy, event, fill, kernel, set, set_step};
use super::kernels::NodeKernel;
use super::memory::Parameters3;
use super::{In, Out, entries};
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
fn action(given: Out<NodeParameters>) -> Result<Action, Code> {
    if given.is_null() {
        return Err(Code::hipErrorInvalidValue);
    }
    let kind = given.cast::<u32>().get()?;
    // The kind says which structure it is.
    let own = given.cast::<u8>().at(std::mem::offset_of!(NodeParameters, own));
    let first = || own.cast::<usize>().get();
    match kind {
        KERNEL => kernel(own.cast::<NodeKernel>().value()),
        COPY => copy(own.at(COPY_OFFSET).cast::<Parameters3>().value()),
        FILL => fill(own.cast::<NodeFill>().value()),
        CALL => call(own.cast::<NodeCall>().value()),
        CHILD => Ok(Action::Child(first()?)),
        WAIT => event(first()?, Action::Wait),
        RECORD => event(first()?, Action::Record),
        SIGNAL_SEMAPHORE | WAIT_SEMAPHORE => Err(Code::hipErrorNotSupported),
        ALLOCATE => memory(own.cast::<NodeMemory>()),
        FREE => freeing(first()?),
        _ => Err(Code::hipErrorInvalidValue),
    }
}

/// The same for a node that is there: its memory cannot be changed.
fn change(given: Out<NodeParameters>) -> Result<Action, Code> {
    match given.cast::<u32>().get()? {
        ALLOCATE | FREE => Err(Code::hipErrorNotSupported),
        _ => action(given),
    }
}

entries! {
    /// A node of any kind.
    fn hipGraphAddNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize, given: Out<NodeParameters>) {
        if node.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        add(node, graph, before, count, action(given))
    }

    /// Changes a node.
    fn hipGraphNodeSetParams(node: usize, given: Out<NodeParameters>) {
        set(node, change(given))
    }

    /// The same in a graph that is ready to run.
    fn hipGraphExecNodeSetParams(executable: usize, node: usize, given: Out<NodeParameters>) {
        set_step(executable, node, change(given))
    }
}
