//! Nodes of graphs that allocate and free memory, batches of values, attributes of kernels, and the drawing of a graph.

use super::graph_nodes::{add, of_node, set, set_step};
use super::pools::Properties;
use super::values::{Operation, batch};
use super::virtual_memory::PINNED;
use super::{In, Out, entries};
use crate::codes::Code;
use crate::graph::Action;
use crate::runtime::lock;
use crate::stream::AttributeValue;
use crate::work::Work;
use std::fmt::Write as _;

/// Attributes of kernels in graphs: window of accesses, cooperative, priority.
const WINDOW: u32 = 1;
const COOPERATIVE: u32 = 2;
const PRIORITY: u32 = 8;

/// The memory that a program wants, and the address it gets.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct NodeMemory {
    pool: Properties,
    accesses: usize,
    access_count: usize,
    bytes: usize,
    pub(super) address: usize,
}

/// A batch of values as the headers describe it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct NodeBatch {
    context: usize,
    count: u32,
    operations: In<Operation>,
    flags: u32,
}

const _: () = assert!(size_of::<NodeMemory>() == 120 && size_of::<NodeBatch>() == 32);

/// An allocation, and what the program wanted with its address.
pub(super) fn memory(given: Out<NodeMemory>) -> Result<Action, Code> {
    let wanted = given.get()?;
    given.put(NodeMemory { address: 0, ..wanted })?;
    if wanted.bytes == 0 || wanted.pool.kind != PINNED {
        return Err(Code::hipErrorInvalidValue);
    }
    let device = wanted.pool.location.device()?;
    let address = lock().allocations.reserve_for_graph(wanted.bytes)?;
    given.put(NodeMemory { address, ..wanted })?;
    Ok(Action::Allocate { address, bytes: wanted.bytes, device })
}

/// Freeing of memory that a node allocates, of whichever graph; once.
pub(super) fn freeing(address: usize) -> Result<Action, Code> {
    let is_free = lock().graphs.can_be_freed(address);
    if is_free { Ok(Action::Free(address)) } else { Err(Code::hipErrorInvalidValue) }
}

fn values(given: In<NodeBatch>) -> Result<Action, Code> {
    let NodeBatch { count, operations, flags, .. } = given.get()?;
    if flags != 0 {
        return Err(Code::hipErrorInvalidValue);
    }
    Ok(Action::Work(batch(count, operations)?))
}

/// Whether a kernel may have an attribute of this value.
fn check_attribute(attribute: u32, value: &AttributeValue) -> Result<(), Code> {
    let [_, second, third, bytes, ..] = *value;
    let is_right = match attribute {
        COOPERATIVE => true,
        PRIORITY => (-1..=1).contains(&(value[0] as u32 as i32)),
        WINDOW => {
            // Address, kind of hits, share of hits, kind of misses, bytes; no GPU has a window.
            let (share, misses) = (f32::from_bits((second >> 32) as u32), third as u32);
            (0.0..=1.0).contains(&share) && misses != 2 && bytes == 0
        }
        _ => false,
    };
    if is_right { Ok(()) } else { Err(Code::hipErrorInvalidValue) }
}

fn is_kernel(action: &Action) -> Option<()> {
    matches!(action, Action::Work(Work::Kernel(_))).then_some(())
}

/// A graph as text of Graphviz.
fn drawn(graph: usize) -> Result<String, Code> {
    let runtime = lock();
    let mut text = String::from("digraph dot {\n");
    for node in &runtime.graphs.graph(graph)?.nodes {
        let label = match &runtime.graphs.node(*node)?.action {
            Action::Work(Work::Kernel(kernel)) => kernel.function.name.clone(),
            Action::Work(Work::Copy(_)) => "MEMCPY".to_owned(),
            Action::Work(Work::Fill(_)) => "MEMSET".to_owned(),
            Action::Work(Work::Call(..)) => "HOST".to_owned(),
            Action::Work(Work::Values(_)) => "BATCH_MEM_OP".to_owned(),
            Action::Child(_) => "CHILDGRAPH".to_owned(),
            Action::Empty => "EMPTY".to_owned(),
            Action::Wait(_) => "EVENT_WAIT".to_owned(),
            Action::Record(_) => "EVENT_RECORD".to_owned(),
            Action::Allocate { .. } => "MEM_ALLOC".to_owned(),
            Action::Free(_) => "MEM_FREE".to_owned(),
        };
        let _ = writeln!(text, "\"node_{node}\" [label=\"{label}\"];");
    }
    for (from, to) in runtime.graphs.edges(graph)? {
        let _ = writeln!(text, "\"node_{from}\" -> \"node_{to}\";");
    }
    text.push_str("}\n");
    Ok(text)
}

entries! {
    /// A node that allocates memory; its address is known at once.
    fn hipGraphAddMemAllocNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize, given: Out<NodeMemory>) {
        add(node, graph, before, count, memory(given))
    }

    /// The memory of such a node.
    fn hipGraphMemAllocNodeGetParams(node: usize, given: Out<NodeMemory>) {
        let (address, bytes, device) = of_node(node, |it| match it {
            Action::Allocate { address, bytes, device } => Some((*address, *bytes, *device)),
            _ => None,
        })?;
        let pool = Properties::of_device(device);
        given.put(NodeMemory { pool, accesses: 0, access_count: 0, bytes, address })
    }

    /// A node that frees memory of another node.
    fn hipGraphAddMemFreeNode = hipDrvGraphAddMemFreeNode(
        node: Out<usize>, graph: usize, before: In<usize>, count: usize, address: usize,
    ) {
        if node.is_null() || before.is_null() != (count == 0) {
            return Err(Code::hipErrorInvalidValue);
        }
        add(node, graph, before, count, freeing(address))
    }

    /// The address that such a node frees.
    fn hipGraphMemFreeNodeGetParams(node: usize, place: Out<usize>) {
        let address = of_node(node, |it| if let Action::Free(address) = it { Some(*address) } else { None })?;
        place.put(address)
    }

    /// A node that writes values and waits for them.
    fn hipGraphAddBatchMemOpNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize, given: In<NodeBatch>) {
        add(node, graph, before, count, values(given))
    }

    /// Its values; the list belongs to the node.
    fn hipGraphBatchMemOpNodeGetParams(node: usize, given: Out<NodeBatch>) {
        let values = of_node(node, |it| match it {
            Action::Work(Work::Values(values)) => Some(values.clone()),
            _ => None,
        })?;
        let mut runtime = lock();
        let words: Vec<usize> = values.iter().flat_map(Operation::words).collect();
        let (_, words) = runtime.graphs.node_mut(node)?.shown.insert((Vec::new(), words));
        let shown = NodeBatch { context: 1, count: values.len() as u32, operations: In(words.as_ptr().cast()), flags: 0 };
        given.put(shown)
    }

    /// Changes them.
    fn hipGraphBatchMemOpNodeSetParams(node: usize, given: In<NodeBatch>) {
        set(node, values(given))
    }

    /// The same in a graph that is ready to run.
    fn hipGraphExecBatchMemOpNodeSetParams(executable: usize, node: usize, given: In<NodeBatch>) {
        set_step(executable, node, values(given))
    }

    /// Sets an attribute of a kernel. A cooperative one runs with all its workgroups at the same time.
    fn hipGraphKernelNodeSetAttribute(node: usize, attribute: u32, value: In<AttributeValue>) {
        let value = value.get()?;
        check_attribute(attribute, &value)?;
        let mut runtime = lock();
        let node = runtime.graphs.node_mut(node)?;
        let Action::Work(Work::Kernel(kernel)) = &mut node.action else { return Err(Code::hipErrorInvalidValue) };
        if attribute == COOPERATIVE {
            kernel.cooperative = value[0] as u32 != 0;
        }
        node.attributes.insert(attribute, value);
        Ok(())
    }

    /// An attribute of a kernel; what was not set is zero.
    fn hipGraphKernelNodeGetAttribute(node: usize, attribute: u32, value: Out<AttributeValue>) {
        if !matches!(attribute, WINDOW | COOPERATIVE | PRIORITY) {
            return Err(Code::hipErrorInvalidValue);
        }
        of_node(node, is_kernel)?;
        let known = lock().graphs.node(node)?.attributes.get(&attribute).copied().unwrap_or_default();
        value.put(known)
    }

    /// Gives a kernel the attributes of another.
    fn hipGraphKernelNodeCopyAttributes(from: usize, to: usize) {
        of_node(from, is_kernel)?;
        let mut runtime = lock();
        let attributes = runtime.graphs.node(from)?.attributes.clone();
        let node = runtime.graphs.node_mut(to)?;
        let Action::Work(Work::Kernel(kernel)) = &mut node.action else { return Err(Code::hipErrorInvalidValue) };
        if let Some(value) = attributes.get(&COOPERATIVE) {
            kernel.cooperative = value[0] as u32 != 0;
        }
        node.attributes = attributes;
        Ok(())
    }

    /// Writes a graph as a drawing.
    fn hipGraphDebugDotPrint(graph: usize, path: In<libc::c_char>, _flags: u32) {
        let path = path.text()?;
        std::fs::write(path, drawn(graph)?).map_err(|_| Code::hipErrorOperatingSystem)
    }

    /// Changes a child graph in a graph that is ready to run.
    fn hipGraphExecChildGraphNodeSetParams(executable: usize, node: usize, graph: usize) {
        lock().graphs.replace_child(executable, node, graph)
    }
}
