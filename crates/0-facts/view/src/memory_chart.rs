//! The memory chart: blocks of the machine and what flows between them.
//!
//! Blocks are placed in columns from the compute units to memory, and links join neighbouring columns, or
//! blocks of the last one. The drawing follows from that, and each renderer decides how.

use crate::{Mark, Number};
use serde::Serialize;

/// Blocks and links.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryChart {
    /// Unit that counts are per: `kernel`, `wave`, `cycle` or `s`.
    pub per: String,
    /// Blocks, by column and within it from top to bottom.
    pub blocks: Vec<MemoryBlock>,
    /// Links, in the order of the blocks they start from.
    pub links: Vec<MemoryLink>,
}

/// Which block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BlockId {
    /// Waves on the compute units.
    ComputeUnits,
    /// Local data share.
    Lds,
    /// Vector L1 data cache.
    VectorL1,
    /// Scalar L1 data cache.
    ScalarL1,
    /// Instruction cache.
    Instructions,
    /// L2.
    L2,
    /// The way from L2 to memory.
    Fabric,
    /// Cache behind the fabric, of GPUs that have one.
    MemorySide,
    /// Device memory.
    Hbm,
}

impl BlockId {
    /// Column of the block, counted from the compute units to memory.
    pub const fn column(self) -> usize {
        match self {
            BlockId::ComputeUnits => 0,
            BlockId::Lds | BlockId::VectorL1 | BlockId::ScalarL1 | BlockId::Instructions => 1,
            BlockId::L2 => 2,
            BlockId::Fabric | BlockId::MemorySide | BlockId::Hbm => 3,
        }
    }

    /// As shown: at most ten letters behind the first column of blocks.
    pub const fn title(self) -> &'static str {
        match self {
            BlockId::ComputeUnits => "Compute units",
            BlockId::Lds => "LDS",
            BlockId::VectorL1 => "Vector L1",
            BlockId::ScalarL1 => "Scalar L1",
            BlockId::Instructions => "Instr. cache",
            BlockId::L2 => "L2",
            BlockId::Fabric => "Fabric",
            BlockId::MemorySide => "Inf. cache",
            BlockId::Hbm => "HBM",
        }
    }
}

/// One block.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryBlock {
    /// Which.
    pub id: BlockId,
    /// Facts about the block, most important first.
    pub facts: Vec<MemoryFact>,
    /// Reason why its traffic is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen: Option<&'static str>,
}

/// A number of a block.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryFact {
    /// A word or two: `hit`, `latency`.
    pub label: &'static str,
    /// Its value.
    pub value: Number,
    /// Its unit: `%`, `cycle`, `GB/s`; empty for counts.
    pub unit: &'static str,
    /// Whether the value is a percent of a peak, which colours it.
    pub is_share: bool,
    /// Trust in the value; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Mark>,
}

/// Traffic between two blocks.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryLink {
    /// The block nearer to the compute units.
    pub from: BlockId,
    /// The block nearer to memory.
    pub to: BlockId,
    /// Which way the data goes.
    pub flow: Flow,
    /// Requests.
    pub requests: Number,
    /// Bytes; absent where the counters do not tell directions apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Number>,
    /// GB/s; absent like the bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Number>,
    /// Percent of the link's peak; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<Number>,
    /// Trust in the requests; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_trust: Option<Mark>,
    /// Trust in the bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_trust: Option<Mark>,
    /// Trust in the bandwidth and its percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_trust: Option<Mark>,
}

impl MemoryLink {
    /// Whether it joins two blocks of one column.
    pub const fn is_vertical(&self) -> bool {
        self.from.column() == self.to.column()
    }
}

impl MemoryChart {
    /// Links from one block of a column to the next.
    pub fn between(&self, from: BlockId, to: BlockId) -> impl Iterator<Item = &MemoryLink> {
        self.links.iter().filter(move |link| link.from == from && link.to == to)
    }
}

/// Which way data goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// Towards the compute units.
    Read,
    /// Towards memory.
    Write,
    /// There and back.
    Atomic,
    /// All directions together.
    Any,
}

impl Flow {
    /// As shown.
    pub const fn word(self) -> &'static str {
        match self {
            Flow::Read => "read",
            Flow::Write => "write",
            Flow::Atomic => "atomic",
            Flow::Any => "all",
        }
    }
}
