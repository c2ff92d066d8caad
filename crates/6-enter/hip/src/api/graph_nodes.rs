//! Nodes of graphs: added, asked about, changed, in a graph and in one that is ready to run.
//!
//! Each kind of node has one function that turns the structures of the headers into work, used by all entries
//! of that kind.

use super::graphs::list;
use super::kernels::NodeKernel;
use super::memory::{Parameters3, check_kind, copy_of, parameters_of};
use super::{Dim3, In, Out, entries, symbols};
use crate::codes::Code;
use crate::graph::{Action, Node, Step};
use crate::runtime::lock;
use crate::work::{Copy3, Fill, HostFunction, Kernel, Place, Work};
use std::ffi::c_void;

/// A fill as the headers describe it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct NodeFill {
    to: usize,
    element: u32,
    height: usize,
    pitch: usize,
    value: u32,
    width: usize,
}

const _: () = assert!(size_of::<NodeFill>() == 48);

/// A call of a host function as the headers describe it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct NodeCall {
    function: Option<HostFunction>,
    data: *mut c_void,
}

pub(super) fn kernel(place: In<NodeKernel>) -> Result<Action, Code> {
    let kernel = place.get()?.kernel()?;
    Ok(Action::Work(Work::Kernel(kernel)))
}

pub(super) fn fill(place: In<NodeFill>) -> Result<Action, Code> {
    let given = place.get()?;
    let size = given.element as usize;
    if ![1, 2, 4].contains(&size) || given.to == 0 || given.height == 0 || given.width == 0 {
        return Err(Code::hipErrorInvalidValue);
    }
    let width = given.width.checked_mul(size).ok_or(Code::hipErrorInvalidValue)?;
    if given.height > 1 && given.pitch < width {
        return Err(Code::hipErrorInvalidValue);
    }
    let to = Place { address: given.to, pitch: given.pitch.max(width), slice: 0 };
    // Memory of graphs may not be there yet.
    let bytes = to.pitch.checked_mul(given.height - 1).and_then(|it| it.checked_add(width));
    let room = lock().allocations.room(given.to);
    if room.is_some_and(|room| bytes.is_none_or(|bytes| bytes > room)) {
        return Err(Code::hipErrorInvalidValue);
    }
    let fill = Fill { to, pattern: given.value, size, width, height: given.height, depth: 1 };
    Ok(Action::Work(Work::Fill(fill)))
}

pub(super) fn call(place: In<NodeCall>) -> Result<Action, Code> {
    let NodeCall { function, data } = place.get()?;
    let function = function.ok_or(Code::hipErrorInvalidValue)?;
    Ok(Action::Work(Work::Call(function, data.expose_provenance())))
}

pub(super) fn copy(place: In<Parameters3>) -> Result<Action, Code> {
    Ok(Action::Work(Work::Copy(copy_of(place.get()?)?)))
}

fn flat(to: usize, from: usize, bytes: usize) -> Result<Action, Code> {
    match to == 0 || from == 0 || bytes == 0 {
        true => Err(Code::hipErrorInvalidValue),
        false => Ok(Action::Work(Work::Copy(Copy3::flat(to, from, bytes)))),
    }
}

/// A copy to or from a variable of device code, of a kind as for copies of variables in streams.
fn of_symbol(
    (symbol, memory): (usize, usize),
    bytes: usize,
    offset: usize,
    to_symbol: bool,
    kind: u32,
) -> Result<Action, Code> {
    let mut runtime = lock();
    let (place, size) = runtime.symbol(symbol)?;
    let is_outside = offset.checked_add(bytes).is_none_or(|end| end > size);
    if is_outside || memory == 0 || runtime.variables.contains_key(&memory) {
        return Err(Code::hipErrorInvalidValue);
    }
    if !symbols::is_kind(kind, to_symbol, runtime.allocations.find(memory).map(|it| it.kind)) {
        return Err(Code::hipErrorInvalidMemcpyDirection);
    }
    drop(runtime);
    let (to, from) = if to_symbol { (place + offset, memory) } else { (memory, place + offset) };
    flat(to, from, bytes)
}

/// Changes a copy to or from a variable in a graph that is ready to run. Its direction and device stay.
fn set_step_of_symbol(
    (executable, node): (usize, usize),
    (symbol, memory): (usize, usize),
    bytes: usize,
    offset: usize,
    to_symbol: bool,
    kind: u32,
) -> Result<(), Code> {
    let mut runtime = lock();
    runtime.symbol(symbol)?;
    let Action::Work(Work::Copy(now)) = runtime.graphs.step(executable, node)?.action else {
        return Err(Code::hipErrorInvalidValue);
    };
    let end = if to_symbol { now.from } else { now.to };
    let [before, after] = [end.address, memory].map(|it| runtime.allocations.find(it));
    let is_kind = symbols::is_kind(kind, to_symbol, before.map(|it| it.kind));
    let changes_device = before.zip(after).is_some_and(|(before, after)| before.device != after.device);
    drop(runtime);
    if !is_kind || changes_device {
        return Err(Code::hipErrorInvalidValue);
    }
    set_step(executable, node, of_symbol((symbol, memory), bytes, offset, to_symbol, kind))
}

pub(super) fn event(event: usize, action: fn(usize) -> Action) -> Result<Action, Code> {
    match lock().streams.events.contains_key(&event) {
        true => Ok(action(event)),
        false => Err(Code::hipErrorInvalidValue),
    }
}

/// Adds a node.
pub(super) fn add(
    node: Out<usize>,
    graph: usize,
    dependencies: In<usize>,
    count: usize,
    action: Result<Action, Code>,
) -> Result<(), Code> {
    let action = action?;
    let before = dependencies.list(count)?;
    if node.is_null() {
        return Err(Code::hipErrorInvalidValue);
    }
    let handle = lock().graphs.add(graph, action, before)?;
    // SAFETY: not null.
    node.put(handle)
}

/// Changes a node; its kind stays.
pub(super) fn set(node: usize, action: Result<Action, Code>) -> Result<(), Code> {
    let action = action?;
    let mut runtime = lock();
    let node = runtime.graphs.node_mut(node)?;
    if node.action.kind() != action.kind() {
        return Err(Code::hipErrorInvalidValue);
    }
    (node.action, node.shown) = (action, None);
    Ok(())
}

/// The same in a graph that is ready to run.
pub(super) fn set_step(executable: usize, node: usize, action: Result<Action, Code>) -> Result<(), Code> {
    let action = action?;
    let mut runtime = lock();
    let step = runtime.graphs.step(executable, node)?;
    if step.action.kind() != action.kind() {
        return Err(Code::hipErrorInvalidValue);
    }
    step.action = action;
    Ok(())
}

/// Something of a node, which must be of the right kind.
pub(super) fn of_node<T>(node: usize, pick: impl Fn(&Action) -> Option<T>) -> Result<T, Code> {
    pick(&lock().graphs.node(node)?.action).ok_or(Code::hipErrorInvalidValue)
}

/// The copy of a node.
pub(super) fn copy_of_node(node: usize) -> Result<Copy3, Code> {
    of_node(node, |it| match it {
        Action::Work(Work::Copy(copy)) => Some(*copy),
        _ => None,
    })
}

/// A kernel as the headers describe it; its arguments are the node's.
fn shown_kernel(node: usize) -> Result<NodeKernel, Code> {
    let mut runtime = lock();
    let Action::Work(Work::Kernel(kernel)) = &runtime.graphs.node(node)?.action else {
        return Err(Code::hipErrorInvalidValue);
    };
    let Kernel { handle, function, grid, workgroup, dynamic_lds, arguments, .. } = kernel.clone();
    let program = runtime.module(function.module)?.program(&function.name)?;
    let Node { shown, .. } = runtime.graphs.node_mut(node)?;
    let (_, pointers) = shown.get_or_insert_with(|| {
        // A program may give fewer bytes than the kernel has arguments.
        let offsets = program.metadata.given().map(|it| it.offset as usize);
        let offsets: Vec<usize> = offsets.filter(|it| *it < arguments.len()).collect();
        let mut bytes = arguments;
        let start = bytes.as_mut_ptr().expose_provenance();
        (bytes, offsets.into_iter().map(|it| start + it).collect())
    });
    let dim = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
    let blocks = [0, 1, 2].map(|axis| grid[axis] / workgroup[axis].max(1));
    Ok(NodeKernel {
        block: dim(workgroup),
        extra: In::NULL,
        function: handle,
        grid: dim(blocks),
        arguments: In(pointers.as_ptr().cast()),
        shared: dynamic_lds,
    })
}

entries! {
    /// A node that runs a kernel.
    fn hipGraphAddKernelNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize, given: In<NodeKernel>) {
        add(node, graph, before, count, kernel(given))
    }

    /// A node that copies a box.
    fn hipGraphAddMemcpyNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize, given: In<Parameters3>) {
        add(node, graph, before, count, copy(given))
    }

    /// A node that copies bytes.
    fn hipGraphAddMemcpyNode1D(
        node: Out<usize>, graph: usize, before: In<usize>, count: usize, to: usize, from: usize, bytes: usize, kind: u32,
    ) {
        add(node, graph, before, count, check_kind(kind).and_then(|()| flat(to, from, bytes)))
    }

    /// A node that copies to a variable.
    fn hipGraphAddMemcpyNodeToSymbol(
        node: Out<usize>, graph: usize, before: In<usize>, count: usize, symbol: usize, from: usize, bytes: usize,
        offset: usize, kind: u32,
    ) {
        add(node, graph, before, count, of_symbol((symbol, from), bytes, offset, true, kind))
    }

    /// A node that copies from a variable.
    fn hipGraphAddMemcpyNodeFromSymbol(
        node: Out<usize>, graph: usize, before: In<usize>, count: usize, to: usize, symbol: usize, bytes: usize,
        offset: usize, kind: u32,
    ) {
        add(node, graph, before, count, of_symbol((symbol, to), bytes, offset, false, kind))
    }

    /// A node that fills memory.
    fn hipGraphAddMemsetNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize, given: In<NodeFill>) {
        add(node, graph, before, count, fill(given))
    }

    /// A node that calls a function of the program.
    fn hipGraphAddHostNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize, given: In<NodeCall>) {
        add(node, graph, before, count, call(given))
    }

    /// A node that does nothing.
    fn hipGraphAddEmptyNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize) {
        add(node, graph, before, count, Ok(Action::Empty))
    }

    /// A node that is a graph.
    fn hipGraphAddChildGraphNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize, child: usize) {
        add(node, graph, before, count, Ok(Action::Child(child)))
    }

    /// A node that records an event.
    fn hipGraphAddEventRecordNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize, name: usize) {
        add(node, graph, before, count, event(name, Action::Record))
    }

    /// A node that waits for an event.
    fn hipGraphAddEventWaitNode(node: Out<usize>, graph: usize, before: In<usize>, count: usize, name: usize) {
        add(node, graph, before, count, event(name, Action::Wait))
    }

    /// Ends a node.
    fn hipGraphDestroyNode(node: usize) {
        lock().graphs.destroy_node(node)
    }

    /// Nodes depend on others.
    fn hipGraphAddDependencies(graph: usize, from: In<usize>, to: In<usize>, count: usize) {
        connect(graph, from, to, count, true)
    }

    /// Nodes do so no longer.
    fn hipGraphRemoveDependencies(graph: usize, from: In<usize>, to: In<usize>, count: usize) {
        connect(graph, from, to, count, false)
    }

    /// Predecessors of a node.
    fn hipGraphNodeGetDependencies(node: usize, nodes: Out<usize>, count: Out<usize>) {
        let before = lock().graphs.node(node)?.dependencies.clone();
        list(&before, nodes, count)
    }

    /// Successors of a node.
    fn hipGraphNodeGetDependentNodes(node: usize, nodes: Out<usize>, count: Out<usize>) {
        let runtime = lock();
        let graph = runtime.graphs.node(node)?.graph;
        let edges = runtime.graphs.edges(graph)?.into_iter();
        let after: Vec<usize> = edges.filter(|it| it.0 == node).map(|it| it.1).collect();
        list(&after, nodes, count)
    }

    /// The kind of a node.
    fn hipGraphNodeGetType(node: usize, kind: Out<i32>) {
        kind.put(of_node(node, |it| Some(it.kind()))?)
    }

    /// The copy of a node in a copy of its graph.
    fn hipGraphNodeFindInClone(found: Out<usize>, node: usize, copy: usize) {
        let handle = lock().graphs.find_copy(node, copy)?;
        found.put(handle)
    }

    /// Whether a node runs.
    fn hipGraphNodeGetEnabled(executable: usize, node: usize, enabled: Out<u32>) {
        let is_enabled = match lock().graphs.step(executable, node)? {
            Step { action: Action::Work(Work::Kernel(_) | Work::Copy(_) | Work::Fill(_)), enabled, .. } => *enabled,
            _ => return Err(Code::hipErrorInvalidValue),
        };
        enabled.put(u32::from(is_enabled))
    }

    /// Lets a node run, or not: kernels, copies and fills.
    fn hipGraphNodeSetEnabled(executable: usize, node: usize, enabled: u32) {
        let mut runtime = lock();
        let step = runtime.graphs.step(executable, node)?;
        match step.action {
            Action::Work(Work::Kernel(_) | Work::Copy(_) | Work::Fill(_)) => step.enabled = enabled != 0,
            _ => return Err(Code::hipErrorInvalidValue),
        }
        Ok(())
    }

    /// The kernel of a node.
    fn hipGraphKernelNodeGetParams(node: usize, given: Out<NodeKernel>) {
        given.put(shown_kernel(node)?)
    }

    /// Changes the kernel of a node.
    fn hipGraphKernelNodeSetParams(node: usize, given: In<NodeKernel>) {
        set(node, kernel(given))
    }

    /// The same in a graph that is ready to run.
    fn hipGraphExecKernelNodeSetParams(executable: usize, node: usize, given: In<NodeKernel>) {
        set_step(executable, node, kernel(given))
    }

    /// The copy of a node.
    fn hipGraphMemcpyNodeGetParams(node: usize, given: Out<Parameters3>) {
        given.put(parameters_of(&copy_of_node(node)?))
    }

    /// Changes the copy of a node.
    fn hipGraphMemcpyNodeSetParams(node: usize, given: In<Parameters3>) {
        set(node, copy(given))
    }

    /// The same for contiguous bytes.
    fn hipGraphMemcpyNodeSetParams1D(node: usize, to: usize, from: usize, bytes: usize, kind: u32) {
        set(node, check_kind(kind).and_then(|()| flat(to, from, bytes)))
    }

    /// The same to one to a variable.
    fn hipGraphMemcpyNodeSetParamsToSymbol(node: usize, symbol: usize, from: usize, bytes: usize, offset: usize, kind: u32) {
        set(node, of_symbol((symbol, from), bytes, offset, true, kind))
    }

    /// The same to one from a variable.
    fn hipGraphMemcpyNodeSetParamsFromSymbol(node: usize, to: usize, symbol: usize, bytes: usize, offset: usize, kind: u32) {
        set(node, of_symbol((symbol, to), bytes, offset, false, kind))
    }

    /// Changes a copy in a graph that is ready to run.
    fn hipGraphExecMemcpyNodeSetParams(executable: usize, node: usize, given: In<Parameters3>) {
        set_step(executable, node, copy(given))
    }

    /// The same for contiguous bytes.
    fn hipGraphExecMemcpyNodeSetParams1D(executable: usize, node: usize, to: usize, from: usize, bytes: usize, kind: u32) {
        set_step(executable, node, check_kind(kind).and_then(|()| flat(to, from, bytes)))
    }

    /// The same to one to a variable.
    fn hipGraphExecMemcpyNodeSetParamsToSymbol(
        executable: usize, node: usize, symbol: usize, from: usize, bytes: usize, offset: usize, kind: u32,
    ) {
        set_step_of_symbol((executable, node), (symbol, from), bytes, offset, true, kind)
    }

    /// The same to one from a variable.
    fn hipGraphExecMemcpyNodeSetParamsFromSymbol(
        executable: usize, node: usize, to: usize, symbol: usize, bytes: usize, offset: usize, kind: u32,
    ) {
        set_step_of_symbol((executable, node), (symbol, to), bytes, offset, false, kind)
    }

    /// The fill of a node.
    fn hipGraphMemsetNodeGetParams(node: usize, given: Out<NodeFill>) {
        let shown = of_node(node, |it| match it {
            Action::Work(Work::Fill(fill)) => Some(NodeFill {
                to: fill.to.address,
                element: fill.size as u32,
                height: fill.height,
                pitch: fill.to.pitch,
                value: fill.pattern,
                width: fill.width / fill.size,
            }),
            _ => None,
        })?;
        given.put(shown)
    }

    /// Changes the fill of a node.
    fn hipGraphMemsetNodeSetParams(node: usize, given: In<NodeFill>) {
        set(node, fill(given))
    }

    /// The same in a graph that is ready to run.
    fn hipGraphExecMemsetNodeSetParams(executable: usize, node: usize, given: In<NodeFill>) {
        set_step(executable, node, fill(given))
    }

    /// The function of a node.
    fn hipGraphHostNodeGetParams(node: usize, given: Out<NodeCall>) {
        let (function, data) = of_node(node, |it| match it {
            Action::Work(Work::Call(function, data)) => Some((*function, *data)),
            _ => None,
        })?;
        let data = std::ptr::with_exposed_provenance_mut(data);
        given.put(NodeCall { function: Some(function), data })
    }

    /// Changes the function of a node.
    fn hipGraphHostNodeSetParams(node: usize, given: In<NodeCall>) {
        set(node, call(given))
    }

    /// The same in a graph that is ready to run.
    fn hipGraphExecHostNodeSetParams(executable: usize, node: usize, given: In<NodeCall>) {
        set_step(executable, node, call(given))
    }

    /// The graph of a node.
    fn hipGraphChildGraphNodeGetGraph(node: usize, graph: Out<usize>) {
        let child = of_node(node, |it| match it {
            Action::Child(child) => Some(*child),
            _ => None,
        })?;
        graph.put(child)
    }

    /// The event that a node records.
    fn hipGraphEventRecordNodeGetEvent(node: usize, place: Out<usize>) {
        let name = of_node(node, |it| if let Action::Record(name) = it { Some(*name) } else { None })?;
        place.put(name)
    }

    /// The event that a node waits for.
    fn hipGraphEventWaitNodeGetEvent(node: usize, place: Out<usize>) {
        let name = of_node(node, |it| if let Action::Wait(name) = it { Some(*name) } else { None })?;
        place.put(name)
    }

    /// Changes the event that a node records.
    fn hipGraphEventRecordNodeSetEvent(node: usize, name: usize) {
        set(node, event(name, Action::Record))
    }

    /// Changes the event that a node waits for.
    fn hipGraphEventWaitNodeSetEvent(node: usize, name: usize) {
        set(node, event(name, Action::Wait))
    }

    /// Changes the event that a node records, in a graph that is ready to run.
    fn hipGraphExecEventRecordNodeSetEvent(executable: usize, node: usize, name: usize) {
        set_step(executable, node, event(name, Action::Record))
    }

    /// Changes the event that a node waits for, in a graph that is ready to run.
    fn hipGraphExecEventWaitNodeSetEvent(executable: usize, node: usize, name: usize) {
        set_step(executable, node, event(name, Action::Wait))
    }
}

fn connect(graph: usize, from: In<usize>, to: In<usize>, count: usize, connected: bool) -> Result<(), Code> {
    for index in 0..count {
        let (from, to) = (from.at(index).get()?, to.at(index).get()?);
        lock().graphs.connect(graph, from, to, connected)?;
    }
    Ok(())
}
