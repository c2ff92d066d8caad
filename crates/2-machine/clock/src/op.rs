//! What an instruction needs of a compute unit.
//!
//! The one idea to keep in mind: which instruction needs what is settled before; results that take long are waited for by
//! instructions of their own, so there are no registers here.

/// Where an instruction goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// Vector ALU.
    Vector,
    /// Matrix unit.
    Matrix,
    /// Scalar ALU.
    Scalar,
    /// Scalar memory.
    ScalarMemory,
    /// Vector memory.
    Memory,
    /// Flat memory, which may be vector memory or LDS.
    Flat,
    /// LDS.
    Lds,
    /// Branch.
    Branch,
    /// Waits until at most so many accesses are under way.
    Wait {
        /// Of vector memory.
        vector: u8,
        /// Of LDS and scalar memory.
        other: u8,
    },
    /// Waits for the other waves of the workgroup.
    Barrier,
    /// Ends the wave.
    End,
    /// None: it takes its time, wait states, and nothing else.
    Idle,
    /// None: it sleeps as long as the program says.
    Pause,
}

/// No memory instruction.
pub const NO_SLOT: u32 = u32::MAX;

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// Where it goes.
    pub unit: Unit,
    /// Cycles that this is taken.
    pub cycles: u32,
    /// Its number among the memory instructions.
    pub slot: u32,
    /// Cycles of the LDS that it takes beside accesses that are reported: exchanges between lanes, loads from memory straight into the LDS.
    pub exchange: u32,
}

impl Op {
    /// An instruction without memory.
    pub const fn new(unit: Unit, cycles: u32) -> Op {
        Op { unit, cycles, slot: NO_SLOT, exchange: 0 }
    }
}
