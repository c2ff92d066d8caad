//! Graphs: captured from streams or built by hand, instantiated, updated, launched.
//!
//! The module `graph` defines graphs; this module turns handles and pointers into values.

use super::{Out, entries};
use crate::codes::Code;
use crate::graph::{Action, Step, Update};
use crate::launch::now;
use crate::runtime::lock;
use std::ffi::c_void;

/// Input and output of `hipGraphInstantiateWithParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct InstantiateParameters {
    error_node: usize,
    flags: u64,
    result: u32,
    upload: usize,
}

/// Stores handles at the program's address, at most as many as fit, and their number.
pub(super) fn list(handles: &[usize], places: Out<usize>, count: Out<usize>) -> Result<(), Code> {
    let room = count.get()?;
    count.put(if places.is_null() { handles.len() } else { handles.len().min(room) })?;
    if places.is_null() {
        return Ok(());
    }
    for index in 0..room {
        // Room that is left over is cleared.
        let handle = handles.get(index).copied().unwrap_or(0);
        places.at(index).put(handle)?;
    }
    Ok(())
}

entries! {
    /// An empty graph.
    fn hipGraphCreate(graph: Out<usize>, flags: u32) {
        if flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let handle = lock().graphs.create();
        graph.put(handle)
    }

    /// A copy of a graph.
    fn hipGraphClone(copy: Out<usize>, graph: usize) {
        let handle = lock().graphs.copy(graph)?;
        copy.put(handle)
    }

    /// Ends a graph.
    fn hipGraphDestroy(graph: usize) {
        let result = lock().graphs.destroy(graph);
        super::user_objects::end();
        result
    }

    /// Makes a graph ready to run.
    fn hipGraphInstantiate(executable: Out<usize>, graph: usize, _error: Out<usize>, _log: *mut c_void, _size: usize) {
        instantiate(executable, graph, 0)
    }

    /// The same with flags that change nothing.
    fn hipGraphInstantiateWithFlags(executable: Out<usize>, graph: usize, flags: u64) {
        check_flags(flags)?;
        instantiate(executable, graph, flags)
    }

    /// The same with all arguments in one structure.
    fn hipGraphInstantiateWithParams(executable: Out<usize>, graph: usize, parameters: Out<InstantiateParameters>) {
        let given = parameters.get()?;
        let result = check_flags(given.flags).and_then(|()| instantiate(executable, graph, given.flags));
        let filled = InstantiateParameters { error_node: 0, result: u32::from(result.is_err()), ..given };
        parameters.put(filled)?;
        result
    }

    /// Ends a graph that is ready to run.
    fn hipGraphExecDestroy(executable: usize) {
        lock().graphs.executables.remove(&executable).map(drop).ok_or(Code::hipErrorInvalidValue)
    }

    /// Flags it was made with.
    fn hipGraphExecGetFlags(executable: usize, flags: Out<u64>) {
        let known = lock().graphs.executables.get(&executable).map(|it| it.flags).ok_or(Code::hipErrorInvalidValue)?;
        flags.put(known)
    }

    /// Nothing has to be brought anywhere.
    fn hipGraphUpload(executable: usize, _stream: usize) {
        match lock().graphs.executables.contains_key(&executable) {
            true => Ok(()),
            false => Err(Code::hipErrorInvalidValue),
        }
    }

    /// Brings a graph that is ready to run up to date with another of the same shape.
    fn hipGraphExecUpdate(executable: usize, graph: usize, node: Out<usize>, result: Out<u32>) {
        let update = lock().graphs.update(executable, graph)?;
        node.offer(0);
        result.offer(update as u32);
        match update {
            Update::Done => Ok(()),
            Update::OtherTopology | Update::OtherKind => Err(Code::hipErrorGraphExecUpdateFailure),
        }
    }

    /// Runs a graph in a stream, which may itself be captured.
    fn hipGraphLaunch = hipGraphLaunch_spt(executable: usize, stream: usize) {
        let mut runtime = lock();
        if !runtime.streams.is_stream(stream) {
            return Err(Code::hipErrorInvalidHandle);
        }
        let found = runtime.graphs.executables.get(&executable).map(|it| (it.steps.clone(), it.flags));
        let (steps, flags) = found.ok_or(Code::hipErrorInvalidValue)?;
        let enabled = || steps.iter().filter(|it| it.enabled);
        if runtime.streams.origin(stream).is_some() {
            return enabled().try_for_each(|it| runtime.capture(stream, it.action.clone()));
        }
        runtime.clear_of_graph(&steps, flags)?;
        drop(runtime);
        enabled().try_for_each(|step| run(stream, step))
    }

    /// Nodes of a graph.
    fn hipGraphGetNodes(graph: usize, nodes: Out<usize>, count: Out<usize>) {
        let all = lock().graphs.graph(graph)?.nodes.clone();
        list(&all, nodes, count)
    }

    /// Nodes that depend on none.
    fn hipGraphGetRootNodes(graph: usize, nodes: Out<usize>, count: Out<usize>) {
        let runtime = lock();
        let is_root = |node: &usize| runtime.graphs.node(*node).is_ok_and(|it| it.dependencies.is_empty());
        let roots: Vec<usize> = runtime.graphs.graph(graph)?.nodes.iter().copied().filter(is_root).collect();
        list(&roots, nodes, count)
    }

    /// Edges of a graph.
    fn hipGraphGetEdges(graph: usize, from: Out<usize>, to: Out<usize>, count: Out<usize>) {
        let (starts, ends): (Vec<usize>, Vec<usize>) = lock().graphs.edges(graph)?.into_iter().unzip();
        if from.is_null() != to.is_null() {
            return Err(Code::hipErrorInvalidValue);
        }
        let room = count.get()?;
        list(&starts, from, count)?;
        count.put(room)?;
        list(&ends, to, count)
    }
}

/// Does a step of a graph in a stream.
fn run(stream: usize, step: &Step) -> Result<(), Code> {
    match &step.action {
        Action::Work(work) => now(stream, work),
        Action::Record(event) => {
            lock().record(*event, stream);
            Ok(())
        }
        Action::Allocate { address, bytes, device } => lock().allocate_of_graph(*address, *bytes, *device),
        Action::Free(address) => lock().free_by_graph(*address),
        Action::Empty | Action::Wait(_) | Action::Child(_) => Ok(()),
    }
}

/// Flags of graphs that are ready to run, one at a time: frees memory at the next launch, is uploaded, is launched by
/// the GPU, has priorities by node.
fn check_flags(flags: u64) -> Result<(), Code> {
    if matches!(flags, 0 | 1 | 2 | 4 | 8) { Ok(()) } else { Err(Code::hipErrorInvalidValue) }
}

fn instantiate(executable: Out<usize>, graph: usize, flags: u64) -> Result<(), Code> {
    let handle = lock().graphs.instantiate(graph, flags)?;
    executable.put(handle)
}
