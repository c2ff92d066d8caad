//! Argument segment of a kernel: arguments of the caller, and hidden arguments that the compiler adds.
//!
//! The one idea to keep in mind: the metadata gives the kind and offset of every hidden argument, so one function
//! fills them for every code-object version.

use crate::launch::Launch;
use crate::machine::{PRIVATE_BASE, SHARED_BASE};
use crate::program::Program;

/// Addresses for hidden arguments; 0 if absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hidden {
    /// Buffer for buffered `printf`.
    pub printf_buffer: u64,
    /// Buffer for calls to the host: `printf`, `assert`, memory.
    pub hostcall_buffer: u64,
    /// Heap of device `malloc`.
    pub heap: u64,
    /// Synchronisation of cooperative launches.
    pub multigrid: u64,
    /// Queue for launches from device code.
    pub default_queue: u64,
    /// Completion action for launches from device code.
    pub completion: u64,
}

/// Builds the argument segment: `explicit` at its start, padded with zeros, and hidden arguments at their
/// offsets.
pub fn arguments(program: &Program, launch: &Launch<'_>, hidden: &Hidden, explicit: &[u8]) -> Vec<u8> {
    let metadata = &program.metadata;
    let end = |argument: &codeobj::Argument| argument.offset.saturating_add(argument.size);
    let described = metadata.arguments.iter().map(end).max().unwrap_or(0).min(1 << 16);
    let length = program.descriptor.kernarg_bytes.min(1 << 16).max(described) as usize;
    let mut segment = vec![0; length.max(explicit.len()).next_multiple_of(64)];
    segment[..explicit.len()].copy_from_slice(explicit);
    for argument in metadata.arguments.iter().filter(|argument| argument.is_hidden()) {
        let Some(value) = hidden_value(&argument.kind, program, launch, hidden) else { continue };
        let at = argument.offset as usize;
        let bytes = value.to_le_bytes();
        let count = (argument.size as usize).min(8);
        if let Some(place) = segment.get_mut(at..at + count) {
            place.copy_from_slice(&bytes[..count]);
        }
    }
    segment
}

/// Value of a hidden argument by kind; `None` for kinds that are left 0.
fn hidden_value(kind: &str, program: &Program, launch: &Launch<'_>, hidden: &Hidden) -> Option<u64> {
    let axis = match kind.as_bytes().last() {
        Some(b'x') => 0,
        Some(b'y') => 1,
        Some(b'z') => 2,
        _ => 3,
    };
    let of = |values: [u32; 3]| values.get(axis).map(|&value| u64::from(value));
    let size = launch.workgroup.map(|size| size.max(1));
    let name = if axis < 3 { kind.get(..kind.len() - 2)? } else { kind };
    match name {
        // Counts whole workgroups only; a partial one is in the remainder.
        "hidden_block_count" => of([0, 1, 2].map(|axis| launch.grid[axis] / size[axis])),
        "hidden_group_size" => of(size),
        "hidden_remainder" => of([0, 1, 2].map(|axis| launch.grid[axis] % size[axis])),
        "hidden_grid_dims" => Some(if launch.grid[2] > 1 {
            3
        } else if launch.grid[1] > 1 {
            2
        } else {
            1
        }),
        "hidden_dynamic_lds_size" => Some(u64::from(launch.dynamic_lds)),
        "hidden_private_base" => Some(PRIVATE_BASE >> 32),
        "hidden_shared_base" => Some(SHARED_BASE >> 32),
        "hidden_queue_ptr" => Some(launch.queue),
        "hidden_printf_buffer" => Some(hidden.printf_buffer),
        "hidden_hostcall_buffer" => Some(hidden.hostcall_buffer),
        "hidden_heap_v1" => Some(hidden.heap),
        "hidden_multigrid_sync_arg" => Some(hidden.multigrid),
        "hidden_default_queue" => Some(hidden.default_queue),
        "hidden_completion_action" => Some(hidden.completion),
        _ => {
            let _ = program;
            None
        }
    }
}
