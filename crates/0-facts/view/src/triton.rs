//! Facts about a kernel from Triton's IR, complementing those from its code.

use crate::SourceLine;
use serde::Serialize;

/// Triton's part of a kernel's card.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TritonCard {
    /// `TTGIR`, or `TTIR` where nothing else was there: no layouts, so no widths and no LDS.
    pub form: &'static str,
    /// File the IR was read from.
    pub file: String,
    /// Waves per workgroup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waves: Option<u32>,
    /// Matrix products.
    pub products: Vec<IrProduct>,
    /// Loops, outer before inner.
    pub loops: Vec<IrLoop>,
    /// Loads and stores of global memory.
    pub accesses: Vec<IrAccess>,
    /// Layout conversions that move data.
    pub conversions: Vec<IrConversion>,
    /// Changes of layout that move nothing.
    pub free_conversions: u32,
    /// The LDS of a workgroup.
    pub lds: IrLds,
    /// Source lines with IR operations and instructions, in order of lines; empty without IR lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<IrLine>,
}

/// Location of an operation in the IR.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IrPlace {
    /// Line of the IR text, from 1.
    pub ir_line: u32,
    /// Python line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
    /// Loop of the IR that contains it, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_loop: Option<u32>,
}

/// A `tt.dot`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IrProduct {
    /// Where.
    pub at: IrPlace,
    /// M, N and K of a workgroup's tile.
    pub mnk: [u64; 3],
    /// Types of the factors and of the sum.
    pub elements: [String; 3],
    /// Shape of the matrix instruction: `32x32x8`; absent if the layout is not that of a matrix instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// Adjacent lanes are adjacent along N.
    pub transposed: bool,
    /// Neighbours along K that a lane reads at once, of each factor.
    pub k_width: [u32; 2],
    /// Matrix instructions of a wave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_wave: Option<u64>,
}

/// A loop as built.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IrLoop {
    /// Where.
    pub at: IrPlace,
    /// Number, from 1.
    pub id: u32,
    /// Nesting depth, from 1.
    pub depth: u32,
    /// Last line of the IR in it.
    pub last_ir_line: u32,
    /// `0 to K step 64`; absent for loops without a counter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<String>,
    /// Iterations, if the bounds are constants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<i64>,
    /// Loads from global memory per iteration.
    pub loads: u32,
    /// Of these, directly to the LDS.
    pub loads_to_lds: u32,
    /// Iterations by which loads are ahead of their use, one per load.
    pub prefetch: Vec<u32>,
    /// Stores to the LDS per iteration.
    pub lds_stores: u32,
    /// Loads from the LDS per iteration.
    pub lds_loads: u32,
    /// Matrix products per iteration.
    pub products: u32,
    /// Asynchronous copies that each wait leaves outstanding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub async_waits: Vec<i64>,
    /// Two groups of waves take turns.
    pub ping_pong: bool,
}

/// A load or store of global memory.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IrAccess {
    /// Where.
    pub at: IrPlace,
    /// `load`, `store` or `load to the LDS`.
    pub direction: &'static str,
    /// `128x64xf16`.
    pub shape: String,
    /// Bytes of the workgroup's tile.
    pub bytes: u64,
    /// Bytes per lane that one instruction can move, according to the layout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// Bytes per lane of the instructions it became, least and most; absent where no instruction of its
    /// source line is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<[u32; 2]>,
    /// It has a mask.
    pub masked: bool,
    /// By a buffer descriptor.
    pub buffer: bool,
    /// Its address is loaded.
    pub indirect: bool,
    /// Kernel parameter with the base address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

/// A change of layout.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IrConversion {
    /// Where.
    pub at: IrPlace,
    /// `64x64xf16`.
    pub shape: String,
    /// Kinds of layout before and after.
    pub kinds: [String; 2],
    /// `within lanes`, `between lanes`, `through the LDS`, `unknown`.
    pub how: &'static str,
    /// Bytes of LDS it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lds_bytes: Option<u64>,
}

/// LDS of a workgroup by the IR.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IrLds {
    /// Bytes; absent with `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Why the sum is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// Buffers in the order of the text.
    pub buffers: Vec<IrBuffer>,
}

/// A buffer.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IrBuffer {
    /// Operation that needs the buffer.
    pub at: IrPlace,
    /// `buffer`, `conversion`, `reduction` or `atomic`.
    pub purpose: &'static str,
    /// `2x128x64xf16`.
    pub shape: String,
    /// Bytes with padding.
    pub bytes: u64,
    /// Where it begins.
    pub offset: u64,
    /// First and last line of the IR at which the buffer is live.
    pub ir_lines: [u32; 2],
}

/// A source line with its operations and instructions.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IrLine {
    /// The line.
    pub source: SourceLine,
    /// Operations of the IR with their counts, in order of the text, excluding address arithmetic.
    pub operations: Vec<(String, u32)>,
    /// Instructions by unit: `load 4`, `MFMA 32`.
    pub instructions: Vec<(String, u32)>,
}
