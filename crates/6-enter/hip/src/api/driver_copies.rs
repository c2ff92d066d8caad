//! Copies as the driver interface describes them, in two and three dimensions, also as nodes of graphs.
//!
//! A copy with an end in an array is refused: there are none on GPUs without image instructions.

use super::graph_nodes::{NodeFill, add, copy_of_node, fill, set, set_step};
use super::memory::{copy_in, copy_now};
use super::{In, Out, entries};
use crate::codes::Code;
use crate::graph::Action;
use crate::work::{Copy3, Place, Work};

/// Kinds of memory: of the host, and an array.
const HOST: u32 = 0;
const DEVICE: u32 = 1;
const ARRAY: u32 = 2;

/// Two-dimensional copy.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Copy2 {
    from: End2,
    to: End2,
    width: usize,
    height: usize,
}

/// One end of it.
#[repr(C)]
#[derive(Clone, Copy)]
struct End2 {
    x: usize,
    y: usize,
    kind: u32,
    host: usize,
    device: usize,
    array: usize,
    pitch: usize,
}

/// Three-dimensional copy.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct DriverCopy3 {
    from: End3,
    to: End3,
    width: usize,
    height: usize,
    depth: usize,
}

/// One end of it.
#[repr(C)]
#[derive(Clone, Copy)]
struct End3 {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: u32,
    host: usize,
    device: usize,
    array: usize,
    pitch: usize,
    height: usize,
}

const _: () = assert!(size_of::<Copy2>() == 128 && size_of::<DriverCopy3>() == 184);

impl End2 {
    /// The same in three dimensions.
    fn deep(self) -> End3 {
        let End2 { x, y, kind, host, device, array, pitch } = self;
        End3 { x, y, z: 0, level: 0, kind, host, device, array, pitch, height: 0 }
    }
}

impl End3 {
    /// Place of the first byte; pitches that are 0 follow from the width.
    fn place(&self, width: usize, height: usize) -> Result<Place, Code> {
        let base = match self.kind {
            HOST => self.host,
            ARRAY => return Err(Code::hipErrorInvalidValue),
            _ => self.device,
        };
        if base == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let rows = if self.height == 0 { height } else { self.height };
        let place = || {
            let slice = pitch.checked_mul(rows)?;
            let offset = slice.checked_mul(self.z)?.checked_add(pitch.checked_mul(self.y)?)?;
            Some(Place { address: base.checked_add(offset)?.checked_add(self.x)?, pitch, slice })
        };
        if pitch < width {
            Err(Code::hipErrorInvalidValue)
        } else {
            place().ok_or(Code::hipErrorInvalidValue)
        }
    }

    /// An end as the driver interface describes it.
    fn of(place: Place) -> End3 {
        let height = place.slice.checked_div(place.pitch).unwrap_or(0);
        let (device, pitch) = (place.address, place.pitch);
        End3 { x: 0, y: 0, z: 0, level: 0, kind: DEVICE, host: 0, device, array: 0, pitch, height }
    }
}

impl DriverCopy3 {
    fn copy(&self) -> Result<Copy3, Code> {
        let DriverCopy3 { width, height, depth, .. } = *self;
        if width == 0 || height == 0 || depth == 0 {
            // Nothing is copied, wherever to.
            return Ok(Copy3::flat(0, 0, 0));
        }
        let (to, from) = (self.to.place(width, height)?, self.from.place(width, height)?);
        Ok(Copy3 { to, from, width, height, depth })
    }

    fn of(copy: &Copy3) -> DriverCopy3 {
        let Copy3 { width, height, depth, .. } = *copy;
        DriverCopy3 { from: End3::of(copy.from), to: End3::of(copy.to), width, height, depth }
    }
}

fn flat(given: In<Copy2>) -> Result<Copy3, Code> {
    let Copy2 { from, to, width, height } = given.get()?;
    let copy = DriverCopy3 { from: from.deep(), to: to.deep(), width, height, depth: 1 };
    copy.copy()
}

fn deep(given: In<DriverCopy3>) -> Result<Copy3, Code> {
    given.get()?.copy()
}

fn node(given: In<DriverCopy3>) -> Result<Action, Code> {
    let copy = given.get()?.copy()?;
    if copy.width == 0 { Err(Code::hipErrorInvalidValue) } else { Ok(Action::Work(Work::Copy(copy))) }
}

entries! {
    /// A two-dimensional copy.
    fn hipMemcpyParam2D = hipDrvMemcpy2DUnaligned(given: In<Copy2>) {
        copy_now(flat(given)?)
    }

    /// The same in the order of a stream.
    fn hipMemcpyParam2DAsync(given: In<Copy2>, stream: usize) {
        copy_in(stream, flat(given)?)
    }

    /// A three-dimensional copy.
    fn hipDrvMemcpy3D(given: In<DriverCopy3>) {
        copy_now(deep(given)?)
    }

    /// The same in the order of a stream.
    fn hipDrvMemcpy3DAsync(given: In<DriverCopy3>, stream: usize) {
        copy_in(stream, deep(given)?)
    }

    /// A node that copies a box.
    fn hipDrvGraphAddMemcpyNode(
        place: Out<usize>, graph: usize, before: In<usize>, count: usize, given: In<DriverCopy3>, _context: usize,
    ) {
        add(place, graph, before, count, node(given))
    }

    /// A node that fills memory.
    fn hipDrvGraphAddMemsetNode(
        place: Out<usize>, graph: usize, before: In<usize>, count: usize, given: In<NodeFill>, _context: usize,
    ) {
        add(place, graph, before, count, fill(given))
    }

    /// The copy of a node.
    fn hipDrvGraphMemcpyNodeGetParams(place: usize, given: Out<DriverCopy3>) {
        given.put(DriverCopy3::of(&copy_of_node(place)?))
    }

    /// Changes it.
    fn hipDrvGraphMemcpyNodeSetParams(place: usize, given: In<DriverCopy3>) {
        set(place, node(given))
    }

    /// The same in a graph that is ready to run.
    fn hipDrvGraphExecMemcpyNodeSetParams(executable: usize, place: usize, given: In<DriverCopy3>, _context: usize) {
        set_step(executable, place, node(given))
    }

    /// Changes a fill in a graph that is ready to run.
    fn hipDrvGraphExecMemsetNodeSetParams(executable: usize, place: usize, given: In<NodeFill>, _context: usize) {
        set_step(executable, place, fill(given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_begin_where_their_positions_say() {
        let end = |kind, pitch, height| End3 {
            x: 3,
            y: 2,
            z: 1,
            level: 0,
            kind,
            host: 1000,
            device: 5000,
            array: 0,
            pitch,
            height,
        };
        for (kind, pitch, height, expected) in [
            (HOST, 16, 4, Some((1000 + 64 + 32 + 3, 16, 64))),
            (DEVICE, 16, 4, Some((5000 + 64 + 32 + 3, 16, 64))),
            (DEVICE, 0, 0, Some((5000 + 40 + 16 + 3, 8, 40))),
            (DEVICE, 7, 0, None),
            (ARRAY, 16, 4, None),
        ] {
            let found = end(kind, pitch, height).place(8, 5).ok().map(|it| (it.address, it.pitch, it.slice));
            assert_eq!(found, expected, "{kind} {pitch}");
        }
    }
}
