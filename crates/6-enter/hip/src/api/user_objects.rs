//! Objects of the program that graphs hold references to.

use super::{Out, entries};
use crate::codes::Code;
use crate::runtime::lock;
use crate::work::HostFunction;
use std::ffi::c_void;

/// Flag of objects: nobody waits for their end.
const NO_SYNC: u32 = 1;
/// Flag: the graph takes over references of the program.
const MOVES: u32 = 1;

/// A number of references.
fn checked(count: u32) -> Result<u32, Code> {
    if count == 0 || count > i32::MAX as u32 { Err(Code::hipErrorInvalidValue) } else { Ok(count) }
}

/// Calls the functions of objects that have ended.
pub(super) fn end() {
    let ended = lock().graphs.objects.take_ended();
    for (function, data) in ended {
        // SAFETY: the program gave the function for exactly this call. The lock is not held: it may call us.
        unsafe { function(std::ptr::with_exposed_provenance_mut(data)) };
    }
}

entries! {
    /// An object with references.
    fn hipUserObjectCreate(
        place: Out<usize>, data: *mut c_void, function: Option<HostFunction>, references: u32, flags: u32,
    ) {
        let function = function.ok_or(Code::hipErrorInvalidValue)?;
        if place.is_null() || flags != NO_SYNC {
            return Err(Code::hipErrorInvalidValue);
        }
        let object = lock().graphs.objects.create(data.expose_provenance(), function, checked(references)?);
        place.put(object)
    }

    /// Gives references back.
    fn hipUserObjectRelease(object: usize, count: u32) {
        if object == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        lock().graphs.objects.release(object, checked(count)?);
        end();
        Ok(())
    }

    /// Adds references.
    fn hipUserObjectRetain(object: usize, count: u32) {
        if object == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        lock().graphs.objects.retain(object, checked(count)?);
        Ok(())
    }

    /// Gives a graph references, which it holds until it ends.
    fn hipGraphRetainUserObject(graph: usize, object: usize, count: u32, flags: u32) {
        let count = checked(count)?;
        if object == 0 || flags > MOVES {
            return Err(Code::hipErrorInvalidValue);
        }
        let mut runtime = lock();
        runtime.graphs.graph(graph)?;
        let is_there = match flags {
            MOVES => runtime.graphs.objects.is_there(object),
            _ => runtime.graphs.objects.retain(object, count),
        };
        if is_there {
            *runtime.graphs.graph_mut(graph)?.objects.entry(object).or_default() += count;
        }
        Ok(())
    }

    /// Takes them away.
    fn hipGraphReleaseUserObject(graph: usize, object: usize, count: u32) {
        let count = checked(count)?;
        if object == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let mut runtime = lock();
        let held = &mut runtime.graphs.graph_mut(graph)?.objects;
        let Some(own) = held.get_mut(&object).filter(|it| **it >= count) else { return Ok(()) };
        *own -= count;
        held.retain(|_, count| *count > 0);
        runtime.graphs.objects.release(object, count);
        drop(runtime);
        end();
        Ok(())
    }
}
