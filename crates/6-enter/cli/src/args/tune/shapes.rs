//! Flags of `tune gemm|moe --shapes`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Configurations for lists of shapes.
#[derive(Args)]
#[command(next_help_heading = "Shapes (tune gemm --shapes, tune moe --shapes)")]
pub(crate) struct ShapesArgs {
    /// Lists of shapes: what `tunedb shapes` reads (logs, untuned and tuned files, `M,N,K` lines), or a model's config.json.
    #[arg(long, value_name = "FILE", num_args = 1.., requires_all = ["project", "space"])]
    pub(crate) shapes: Vec<PathBuf>,
    /// Project whose tuned files are wanted.
    #[arg(long = "for", id = "project", value_enum, value_name = "PROJECT", requires = "shapes")]
    pub(crate) project: Option<Project>,
    /// Results of the benchmark of AITER, TunableOp or hipBLASLt, which name the kernels.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "shapes", conflicts_with_all = ["one", "tokens", "tp", "dtype", "block", "model_dim", "top_k", "device"])]
    pub(crate) from: Vec<PathBuf>,
    /// Tuned files in use (files or folders); of measured entries the faster stays, of others the existing.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "shapes")]
    pub(crate) merge: Vec<PathBuf>,
    /// One configuration for all shapes of a file: the least geometric mean of the times.
    #[arg(long, requires = "shapes")]
    pub(crate) one: bool,
    /// Clock of the times: `tile`, or the emulated GPU for the tiles that `tile` finds fastest (vLLM, SGLang; needs a Python with Triton).
    #[arg(long, value_enum, value_name = "CLOCK", default_value_t = ShapeClock::Tile, requires = "shapes", conflicts_with_all = ["one", "from"])]
    pub(crate) clock: ShapeClock,
    /// Most tiles of each shape, and settings of the fastest one, that are emulated: about 5 s each on one core.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=256), requires = "shapes")]
    pub(crate) tiles: u16,
    /// The Python that has Triton.
    #[arg(long, value_name = "PYTHON", default_value = "python3", requires = "shapes")]
    pub(crate) python: String,
    /// Rows or tokens of shapes whose list names none; by default those that vLLM and SGLang tune.
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=1 << 24), requires = "shapes")]
    pub(crate) tokens: Vec<u64>,
    /// GPUs that share the model.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024), requires = "shapes")]
    pub(crate) tp: u64,
    /// Types where a list names none, as tuned files have them: fp8_w8a8, int8_w8a8, int8_w8a16, int4_w4a16, bf16, fp16.
    #[arg(long, value_name = "TYPES", requires = "shapes")]
    pub(crate) dtype: Option<String>,
    /// Block of the scales: N,K.
    #[arg(long, value_name = "N,K", value_parser = block, requires = "shapes")]
    pub(crate) block: Option<[u64; 2]>,
    /// Width of the model, for names of files that a server looked for.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24), requires_all = ["shapes", "top_k"])]
    pub(crate) model_dim: Option<u64>,
    /// Experts of a token, for names of files that a server looked for.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 16), requires_all = ["shapes", "model_dim"])]
    pub(crate) top_k: Option<u64>,
    /// The name by which the GPU calls itself, a part of the names of tuned files: AMD_Instinct_MI300X.
    #[arg(long, value_name = "NAME", requires = "shapes")]
    pub(crate) device: Option<String>,
}

/// A project with tuned files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Project {
    /// AITER.
    Aiter,
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// PyTorch's TunableOp.
    Tunableop,
    /// hipBLASLt.
    Hipblaslt,
}

/// Source of the times of shapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ShapeClock {
    /// The tile model.
    Tile,
    /// The emulated GPU.
    Emulated,
}

fn block(text: &str) -> Result<[u64; 2], String> {
    let wrong = || "write two sizes, such as `128,128`".to_owned();
    let (n, k) = text.trim_matches(['[', ']']).split_once(',').ok_or_else(wrong)?;
    let size =
        |it: &str| it.trim().parse::<u64>().ok().filter(|it| (1..=1 << 16).contains(it)).ok_or_else(wrong);
    Ok([size(n)?, size(k)?])
}
