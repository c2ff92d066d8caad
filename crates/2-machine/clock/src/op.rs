//! Instructions as the clock sees them.
//!
//! The caller has classified instructions already. Programs wait for long results with wait instructions, so
//! the clock needs no registers.

/// Unit that executes an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// Vector ALU.
    Vector,
    /// Vector ALU and matrix unit: packed f32, where it does not overlap with matrix instructions.
    Packed,
    /// Matrix unit.
    Matrix,
    /// Scalar ALU.
    Scalar,
    /// Scalar memory.
    ScalarMemory,
    /// Vector memory.
    Memory,
    /// Flat memory: vector memory or LDS, by address.
    Flat,
    /// LDS.
    Lds,
    /// Branch.
    Branch,
    /// Waits until at most this many accesses are outstanding.
    Wait {
        /// Vector memory accesses.
        vector: u8,
        /// LDS and scalar accesses.
        other: u8,
    },
    /// Waits for the other waves of the workgroup.
    Barrier,
    /// Ends the wave.
    End,
    /// No unit: wait states.
    Idle,
    /// No unit: sleeps.
    Pause,
}

/// Slot of an instruction that accesses no memory.
pub const NO_SLOT: u32 = u32::MAX;

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// Unit.
    pub unit: Unit,
    /// Cycles the unit is occupied.
    pub cycles: u32,
    /// Index among the program's memory instructions.
    pub slot: u32,
    /// LDS cycles besides the accesses in the stream: lane exchanges, and loads from memory into the LDS.
    pub exchange: u32,
    /// Cycles that a wave alone on its SIMD waits for the second half of the instruction.
    pub split_fetch: u8,
    /// f64 work of a vector ALU.
    pub f64: bool,
}

impl Op {
    /// An instruction that accesses no memory.
    pub const fn new(unit: Unit, cycles: u32) -> Op {
        Op { unit, cycles, slot: NO_SLOT, exchange: 0, split_fetch: 0, f64: false }
    }
}
