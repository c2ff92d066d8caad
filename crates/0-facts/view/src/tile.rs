//! Output of `tile`: a matrix product cut into workgroups, with alternative tiles for comparison.

use serde::Serialize;

/// Version of the JSON written by `tile --format json`.
pub const TILE_SCHEMA: &str = "rockhound.tile/3";

/// The part of an answer that only `tile` has.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tiles {
    /// GPU: `Instinct MI300X`.
    pub gpu: String,
    /// Compute units.
    pub compute_units: u32,
    /// Accelerator dies.
    pub xcds: u32,
    /// Type of the factors.
    pub dtype: &'static str,
    /// Letters of BLAS: which factors are contiguous along K.
    pub layout: &'static str,
    /// One per shape.
    pub problems: Vec<TileProblem>,
}

/// One shape.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileProblem {
    /// Rows of the result.
    pub m: u64,
    /// Columns.
    pub n: u64,
    /// Depth.
    pub k: u64,
    /// A tile was requested; otherwise the first is the tile with the shortest expected time.
    pub asked: bool,
    /// The requested tile, then others: fastest first where times have no `range_us`, otherwise by size.
    pub tiles: Vec<TileRow>,
}

impl TileProblem {
    /// The shape as findings name it: `4096 x 4096 x 64`.
    pub fn name(&self) -> String {
        format!("{} x {} x {}", self.m, self.n, self.k)
    }
}

/// One tile.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileRow {
    /// `128x128x64`, with ` split 4` where the depth is shared.
    pub name: String,
    /// Rows of a workgroup's part of the result.
    pub tile_m: u64,
    /// Columns.
    pub tile_n: u64,
    /// Depth of one step.
    pub tile_k: u64,
    /// Workgroups that share one part of the result.
    pub split_k: u64,
    /// Waves of a workgroup.
    pub warps: u32,
    /// Triton's `num_stages`.
    pub stages: u32,
    /// Tiles along M and N.
    pub grid: [u64; 2],
    /// Workgroups.
    pub workgroups: u64,
    /// Rounds of one workgroup per compute unit.
    pub rounds: u64,
    /// `(workgroups / CUs) / ceil(workgroups / CUs)`, percent.
    pub utilisation: f64,
    /// Compute units with work in the last round, percent.
    pub last_round: f64,
    /// Utilisation of the XCD that gets most workgroups, percent.
    pub xcd_utilisation: f64,
    /// Elements of the tiles inside the result, percent; the rest is beyond its edge.
    pub useful: f64,
    /// Bytes with every element moved once.
    pub memory_bytes: f64,
    /// Bytes that workgroups request from the L2 caches.
    pub l2_bytes: f64,
    /// Bytes that the L2 caches read over the fabric, with workgroups assigned to XCDs round robin.
    pub fabric_bytes: f64,
    /// The same with neighbours on one XCD.
    pub fabric_grouped_bytes: f64,
    /// Bytes workgroups read from the LDS.
    pub lds_read_bytes: f64,
    /// LDS of a workgroup, bytes.
    pub lds_bytes: u64,
    /// Registers of a lane for the running sums.
    pub sum_registers: u64,
    /// Registers of a lane at least: sums, loads under way, and 32 for the rest.
    pub least_registers: u64,
    /// Workgroups a compute unit holds with these.
    pub workgroups_per_cu: u32,
    /// Limiter of the occupancy.
    pub limiter: String,
    /// Expected time; absent with `no_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<TileTime>,
    /// Reason why the time is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_time: Option<String>,
}

/// Expected time of a launch.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileTime {
    /// Starting, ending, clearing, microseconds.
    pub launch_us: f64,
    /// Memory, microseconds.
    pub memory_us: f64,
    /// Present where measured products of this type on such a GPU are known.
    #[serde(flatten)]
    pub total: Option<TileTotal>,
    /// Least and most expected total, microseconds; present where none is known. The tiles are then in no order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_us: Option<[f64; 2]>,
}

/// The total of an expected time and what follows from it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileTotal {
    /// Total, microseconds.
    pub total_us: f64,
    /// The busiest compute unit, microseconds.
    pub compute_us: f64,
    /// Main wait reason.
    pub bound: &'static str,
    /// Operations per second, 10^12.
    pub tera_ops: f64,
    /// Percent of the GPU's peak.
    pub peak_share: f64,
}
