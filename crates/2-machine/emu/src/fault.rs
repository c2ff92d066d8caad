//! Faults: cause and place of a kernel's stop.
//!
//! A fault names kernel, instruction, address in the code object (a line table gives the source line), workgroup,
//! wave and lane.

use crate::memory::Nearest;
use std::fmt;

/// Cause of a fault.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// Access outside every allocation.
    #[error("{access} of {bytes} bytes at {address:#x}: outside every allocation{}", near(.nearest))]
    Unmapped {
        /// `load`, `store` or `atomic`.
        access: &'static str,
        /// Address of the lane.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Range closest to the address.
        nearest: Option<Nearest>,
    },
    /// Access to memory of the process that is not registered for kernels.
    #[error("{access} of {bytes} bytes at {address:#x}: host memory that is not registered ({place})")]
    HostMemory {
        /// `load`, `store` or `atomic`.
        access: &'static str,
        /// Address of the lane.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Description of that memory.
        place: String,
    },
    /// Scratch or LDS access beyond the size of the wave's scratch or the workgroup's LDS.
    #[error("{access} at {space} offset {offset:#x}: only {size} bytes there")]
    OutOfRange {
        /// `load`, `store` or `atomic`.
        access: &'static str,
        /// `scratch` or `LDS`.
        space: &'static str,
        /// Offset of the lane.
        offset: u64,
        /// Bytes the wave or workgroup has.
        size: u64,
    },
    /// An atomic whose address is not a multiple of its size.
    #[error("atomic at {address:#x} is not aligned to {bytes} bytes")]
    Misaligned {
        /// Address of the lane.
        address: u64,
        /// Required alignment.
        bytes: u32,
    },
    /// Instruction, or form of it, that is not emulated.
    #[error("instruction is not emulated: {0}")]
    Unsupported(String),
    /// Jump to an address at which no instruction begins.
    #[error("jump to {0:#x}, where no instruction of the program begins")]
    BadJump(u64),
    /// `s_trap`; compilers emit number 2 for `abort` and for a failed `assert`.
    #[error("{}", if *.0 == 2 { "trap 2: `abort`, `__builtin_trap` or a failed `assert`".to_string() } else { format!("trap {}", .0) })]
    Trap(u32),
    /// A call to the host that failed.
    #[error("call to the host: {0}")]
    Host(String),
    /// A wave issued more instructions than the limit.
    #[error("still running after {limit} instructions of one wave, in the loop from {from:#x} to {to:#x}{}", looks(*.waits))]
    Endless {
        /// The limit.
        limit: u64,
        /// First instruction of the wave's innermost loop.
        from: u64,
        /// Last instruction of the loop.
        to: u64,
        /// The loop only polls memory, and other workgroups exist, which may not have begun.
        waits: bool,
    },
    /// Waves repeat the same loop for ever, and no other wave or host can change the memory they read.
    #[error("endless loop from {from:#x} to {to:#x}: every trip does the same, and nobody is left to change what it looks at{}", others(*.barrier))]
    Stuck {
        /// First instruction of the wave's innermost loop.
        from: u64,
        /// Last instruction of the loop.
        to: u64,
        /// Waves that wait at a barrier.
        barrier: usize,
        /// The loop reads memory, and other workgroups exist, which may not have begun.
        waits: bool,
    },
    /// A barrier of the whole grid in a launch whose workgroups run one after the other.
    #[error("barrier of the whole grid in a launch that is not cooperative")]
    NotTogether,
    /// Every running wave waits for others that cannot progress.
    #[error("deadlock: {waiting} of {waves} waves wait for the rest of the grid, {ended} have ended")]
    Deadlock {
        /// Waves that wait.
        waiting: usize,
        /// Waves that have ended.
        ended: usize,
        /// All waves.
        waves: usize,
    },
    /// The caller stopped the launch.
    #[error("stopped")]
    Stopped,
}

fn looks(waits: bool) -> &'static str {
    if waits { ", which waits for memory to change" } else { "" }
}

fn others(barrier: usize) -> String {
    match barrier {
        0 => String::new(),
        1 => "; 1 wave waits for it at a barrier".to_string(),
        _ => format!("; {barrier} waves wait for it at a barrier"),
    }
}

impl Cause {
    /// Advice for the user, if the cause does not imply it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Cause::HostMemory { .. } => Some(
                "kernels reach memory of `hipMalloc`, `hipHostMalloc` and `hipMallocManaged`; `hipHostRegister` makes \
                 memory of the program reachable, and `HSA_XNACK=1` all of it (MI200 and later)",
            ),
            Cause::Endless { waits: false, .. } => Some("`--max-instructions N` lets waves issue more"),
            Cause::Endless { waits: true, .. } => Some(
                "workgroups run in their order here; those that wait for later ones need a cooperative launch \
                 (`hipLaunchCooperativeKernel`), and `--max-instructions N` lets waves issue more",
            ),
            Cause::Stuck { waits: true, .. } => Some(
                "workgroups run in their order here; those that wait for later ones need a cooperative launch \
                 (`hipLaunchCooperativeKernel`)",
            ),
            _ => None,
        }
    }
}

fn near(nearest: &Option<Nearest>) -> String {
    nearest.as_ref().map_or_else(String::new, |nearest| format!(", {nearest}"))
}

/// A fault with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Cause.
    pub cause: Cause,
    /// Kernel.
    pub kernel: String,
    /// Text of the instruction.
    pub instruction: String,
    /// Virtual address of the instruction in the code object, for line tables.
    pub address: u64,
    /// Workgroup in the grid.
    pub workgroup: [u32; 3],
    /// Wave in the workgroup.
    pub wave: u32,
    /// First faulting lane.
    pub lane: Option<u32>,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { cause, kernel, instruction, address, workgroup: [x, y, z], wave, lane } = self;
        write!(
            out,
            "{cause}\n  in `{kernel}` at {address:#x}: `{instruction}`\n  workgroup ({x}, {y}, {z}), wave {wave}"
        )?;
        if let Some(lane) = lane {
            write!(out, ", lane {lane}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// Cause and lane, without the place.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    pub(crate) cause: Cause,
    pub(crate) lane: Option<u32>,
}

impl Stop {
    #[cold]
    pub(crate) fn new(cause: Cause) -> Box<Stop> {
        Box::new(Stop { cause, lane: None })
    }

    #[cold]
    pub(crate) fn at(lane: usize, cause: Cause) -> Box<Stop> {
        Box::new(Stop { cause, lane: Some(lane as u32) })
    }
}
