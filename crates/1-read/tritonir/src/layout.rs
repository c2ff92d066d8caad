//! Layouts: how a tensor is spread over registers, lanes and waves, or over the LDS.

use crate::split::Aliases;
use crate::split::{closing, commas, first, numbers, within};
use std::sync::Arc;

/// Maximum nesting of layouts: a slice of a slice of a dot operand.
const MOST_NESTED: u32 = 16;

/// A layout as the compiler writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Rectangles of elements per lane, of lanes per wave and of waves per workgroup.
    Blocked {
        /// Elements of a lane per dimension.
        size_per_thread: Vec<u32>,
        /// Lanes per dimension.
        threads_per_warp: Vec<u32>,
        /// Waves per dimension.
        warps_per_cta: Vec<u32>,
        /// Dimensions, the fastest first.
        order: Vec<u32>,
    },
    /// Results of AMD matrix instructions.
    Mfma {
        /// 1 to 4: CDNA1 to CDNA4.
        version: u32,
        /// Waves per dimension.
        warps_per_cta: Vec<u32>,
        /// M and N of the instruction, and K where the spelling has it (3.6 and newer).
        shape: Vec<u32>,
        /// Adjacent elements of a lane run along N, not along M.
        transposed: bool,
        /// Adjacent tiles of one wave, per dimension; empty for one.
        tiles_per_warp: Vec<u32>,
    },
    /// Factor of a matrix product.
    DotOperand {
        /// 0 for the left factor, 1 for the right one.
        index: u32,
        /// Layout of the result.
        parent: Arc<Layout>,
        /// Neighbours along K per lane; 0 if not written.
        k_width: u32,
    },
    /// A layout without one of its dimensions.
    Slice {
        /// The dimension left out.
        dim: u32,
        /// The layout with it.
        parent: Arc<Layout>,
    },
    /// Position of each register, lane and wave bit.
    Linear(Bases),
    /// In the LDS, rows permuted so that columns are read without conflicts.
    Swizzled {
        /// Number of elements that stay adjacent.
        vec: u32,
        /// Rows with the same permutation.
        per_phase: u32,
        /// Permutations.
        max_phase: u32,
        /// Dimensions, the fastest first.
        order: Vec<u32>,
        /// The permutation also turns with blocks of rows (`amd_rotating_shared`).
        rotating: bool,
    },
    /// In the LDS, with unused elements between.
    Padded {
        /// Pairs: number of elements, then number of unused elements after them.
        padding: Vec<(u64, u64)>,
    },
    /// The memory space `#ttg.shared_memory`.
    SharedMemory,
    /// Any other: its name without dialect, `nvmma_shared`.
    Other(String),
}

/// Coordinates that each bit of register, lane and wave number adds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bases {
    /// Basis of each register bit.
    pub register: Vec<Vec<u32>>,
    /// Basis of each lane bit.
    pub lane: Vec<Vec<u32>>,
    /// Basis of each wave bit.
    pub warp: Vec<Vec<u32>>,
}

impl Layout {
    /// Reads a layout; `None` if the text is none: an alias nothing defines, or brackets left open.
    pub(crate) fn read(text: &str, aliases: &Aliases<'_>) -> Option<Layout> {
        read(text, aliases, 0)
    }

    /// Name of the kind: `blocked`, `amd_mfma`, `dot_op`.
    pub fn kind(&self) -> &str {
        match self {
            Layout::Blocked { .. } => "blocked",
            Layout::Mfma { .. } => "amd_mfma",
            Layout::DotOperand { .. } => "dot_op",
            Layout::Slice { .. } => "slice",
            Layout::Linear(_) => "linear",
            Layout::Swizzled { rotating: false, .. } => "swizzled_shared",
            Layout::Swizzled { rotating: true, .. } => "amd_rotating_shared",
            Layout::Padded { .. } => "padded_shared",
            Layout::SharedMemory => "shared_memory",
            Layout::Other(name) => name,
        }
    }
}

fn read(text: &str, aliases: &Aliases<'_>, depth: u32) -> Option<Layout> {
    if depth > MOST_NESTED {
        return None;
    }
    let text = text.trim();
    let name = text.strip_prefix('#')?;
    let Some(open) = name.find('<') else {
        if let Some(meaning) = aliases.get(text) {
            return read(meaning, aliases, depth + 1);
        }
        return named(name, "", aliases, depth);
    };
    let (name, body) = name.split_at(open);
    let end = closing(body)?;
    named(name, body.get(1..end - 1)?, aliases, depth)
}

/// `dialect.blocked` with the text between `<` and `>`.
fn named(name: &str, body: &str, aliases: &Aliases<'_>, depth: u32) -> Option<Layout> {
    let (dialect, short) = name.split_once('.')?;
    if !matches!(
        dialect,
        "ttg" | "triton_gpu" | "amdg" | "amdgpu" | "ttng" | "nvidia_gpu" | "triton_nvidia_gpu"
    ) {
        return Some(Layout::Other(name.to_owned()));
    }
    let fields = Fields::of(body);
    let layout = match short {
        "blocked" => Layout::Blocked {
            size_per_thread: fields.numbers("sizePerThread")?,
            threads_per_warp: fields.numbers("threadsPerWarp")?,
            warps_per_cta: fields.numbers("warpsPerCTA")?,
            order: fields.numbers("order")?,
        },
        "amd_mfma" => Layout::Mfma {
            version: fields.number("version").or_else(|| fields.number("versionMajor"))?,
            warps_per_cta: fields.numbers("warpsPerCTA")?,
            shape: fields.numbers("instrShape")?,
            transposed: fields.get("isTransposed")? == "true",
            tiles_per_warp: fields.numbers("tilesPerWarp").unwrap_or_default(),
        },
        "dot_op" => Layout::DotOperand {
            index: fields.number("opIdx")?,
            parent: Arc::new(read(fields.get("parent")?, aliases, depth + 1)?),
            k_width: fields.number("kWidth").unwrap_or(0),
        },
        "slice" => Layout::Slice {
            dim: fields.number("dim")?,
            parent: Arc::new(read(fields.get("parent")?, aliases, depth + 1)?),
        },
        "linear" | "generic_linear" => Layout::Linear(Bases {
            register: fields.bases("register")?,
            lane: fields.bases("lane")?,
            warp: fields.bases("warp")?,
        }),
        "shared" | "swizzled_shared" | "amd_rotating_shared" => Layout::Swizzled {
            vec: fields.number("vec")?,
            per_phase: fields.number("perPhase")?,
            max_phase: fields.number("maxPhase")?,
            order: fields.numbers("order")?,
            rotating: short == "amd_rotating_shared",
        },
        "padded_shared" => Layout::Padded { padding: padding(body)? },
        "shared_memory" => Layout::SharedMemory,
        other => Layout::Other(other.to_owned()),
    };
    Some(layout)
}

/// `[512:+8, 1024:+16]`.
fn padding(body: &str) -> Option<Vec<(u64, u64)>> {
    let body = body.trim();
    let list = body.get(..closing(body)?)?;
    let pair = |text: &str| {
        let (interval, padding) = text.split_once(":+")?;
        let (interval, padding) = (interval.trim().parse().ok()?, padding.trim().parse().ok()?);
        (interval > 0).then_some((interval, padding))
    };
    commas(within(list, '[', ']')?).map(pair).collect()
}

/// `{name = value, …}`.
struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    fn of(body: &'a str) -> Self {
        let inner = body.find('{').and_then(|open| {
            let rest = body.get(open..)?;
            rest.get(1..closing(rest)? - 1)
        });
        let pairs = commas(inner.unwrap_or_default()).filter_map(|field| {
            let (name, value) = first(field, b'=');
            Some((name.trim(), value?.trim()))
        });
        Fields(pairs.collect())
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(it, _)| *it == name).map(|(_, value)| *value)
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.split(':').next()?.trim().parse().ok()
    }

    fn numbers(&self, name: &str) -> Option<Vec<u32>> {
        numbers(self.get(name)?)
    }

    /// `[[0, 1], [0, 2]]`.
    fn bases(&self, name: &str) -> Option<Vec<Vec<u32>>> {
        commas(within(self.get(name)?, '[', ']')?).map(numbers).collect()
    }
}
