//! Flags of `tile`.

use super::formats;
use super::gpu_name::GpuName;
use clap::Args;
use render::Part;
use view::{Format, Tiles};

/// Say what a tile size costs a matrix product: rounds over compute units and XCDs, bytes, resources,
/// expected time.
///
/// Needs no kernel and no GPU: shapes and facts are enough. The requested tile is compared with the best
/// others.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tile --mnk 4096,4096,4096                                   the best tiles on an MI300X
  rockhound tile --mnk 4096,4096,4096 --dtype f16 --tile 128x128x64     one tile beside the best
  rockhound tile --gpu mi300x --mnk 64,7168,2304 --dtype fp8 --split-k  depths shared too
  rockhound tile --mnk 1,5120,5120 --mnk 1,17408,5120 --sweep           every M from 1 to 8192 for two layers
  rockhound tile --mnk 4096,4096,4096 --sweep 100,200,300 --format csv")]
pub(crate) struct Tile {
    /// GPU.
    #[arg(long, short, alias = "arch", value_name = "GPU", default_value = "mi300x", value_parser = GpuName)]
    pub(crate) gpu: String,
    /// Rows, columns and depth of the product; several for several shapes.
    #[arg(long, value_name = "M,N,K", required = true, value_parser = mnk)]
    pub(crate) mnk: Vec<[u64; 3]>,
    /// Type of the factors: f16, bf16, f8, f6, f4, i8, f32, xf32, f64, or a framework's name of these such as mxfp4.
    #[arg(long, value_name = "TYPE", default_value = "f16")]
    pub(crate) dtype: String,
    /// Scales of the factors: `end` by tensor or row, `mx` one for 32 elements of the depth, `blocks` one for 128; without it
    /// `mx` for 4 and 6 bits and names such as mxfp8, `end` for others.
    #[arg(long, value_name = "SCALES", value_parser = ["end", "mx", "blocks"])]
    pub(crate) scales: Option<String>,
    /// Tile of a workgroup; without it the fastest of the usual ones.
    #[arg(long, value_name = "MxNxK", value_parser = tile)]
    pub(crate) tile: Option<[u64; 3]>,
    /// Layout of the factors: `tn` both contiguous along K; `tt` row-major times row-major.
    #[arg(long, value_name = "LETTERS", default_value = "tt", value_parser = ["nn", "nt", "tn", "tt"])]
    pub(crate) layout: String,
    /// Workgroups that share the depth of a tile; without a number, other tiles are tried with 1, 2, 4 and 8.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) split_k: Option<u64>,
    /// Waves of a workgroup.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) num_warps: u32,
    /// Pipeline stages, as Triton counts them.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=8))]
    pub(crate) stages: u32,
    /// Elements from one row of the left factor to the next.
    #[arg(long, value_name = "N")]
    pub(crate) lda: Option<u64>,
    /// Elements from one row of the right factor to the next.
    #[arg(long, value_name = "N")]
    pub(crate) ldb: Option<u64>,
    /// `WorkGroupMapping` of hipBLASLt or Tensile.
    #[arg(long, value_name = "N")]
    pub(crate) wgm: Option<u32>,
    /// The kernel deals its tiles to the XCDs itself.
    #[arg(long)]
    pub(crate) xcd_remap: bool,
    /// These M in place of the shape's; without a list the powers of two up to 8192.
    #[arg(long, value_name = "M", num_args = 0.., value_delimiter = ',')]
    pub(crate) sweep: Option<Vec<u64>>,
    /// Other tiles shown.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Tiles::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<std::path::PathBuf>,
    /// Exit with 2 when there is a finding of this rule, or of this severity or worse (severe, warning,
    /// info).
    #[arg(long, value_name = "RULE|SEVERITY")]
    pub(crate) fail_on: Vec<String>,
    #[command(flatten)]
    pub(crate) memory: super::Memory,
}

/// Largest extent of a product: beyond it sums of bytes are not exact any more.
const MOST: u64 = 1 << 24;
/// Largest extent of a tile.
const MOST_OF_TILE: u64 = 1024;

fn extents(text: &str, separators: &[char], most: u64, example: &str) -> Result<[u64; 3], String> {
    let numbers: Option<Vec<u64>> = text.split(separators).map(|it| it.trim().parse().ok()).collect();
    let three: Option<[u64; 3]> = numbers.and_then(|it| it.try_into().ok());
    let three = three.ok_or_else(|| format!("write three numbers, for example `{example}`"))?;
    match three.iter().all(|it| (1..=most).contains(it)) {
        true => Ok(three),
        false => Err(format!("each is from 1 to {most}")),
    }
}

fn mnk(text: &str) -> Result<[u64; 3], String> {
    extents(text, &[',', 'x'], MOST, "4096,4096,4096")
}

fn tile(text: &str) -> Result<[u64; 3], String> {
    extents(text, &['x', ','], MOST_OF_TILE, "128x128x64")
}
