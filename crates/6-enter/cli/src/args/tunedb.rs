//! Arguments of `rockhound tunedb`.

use super::formats;
use super::gpu_name::GpuName;
use clap::{Args, Subcommand, ValueEnum};
use render::Part;
use std::path::{Path, PathBuf};
use view::{Format, Tuned};

/// Read, check, merge and convert tuning databases: TunableOp, hipBLASLt, TensileLite, MIOpen, AITER, Triton,
/// vLLM, SGLang.
///
/// Files are recognised by what they contain. Folders are searched for tuning files.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tunedb show tunableop_results0.csv --sort time --top 20   what was tuned
  rockhound tunedb lint aiter/configs --gpu mi300x --fail-on severe    what keeps it from being used
  rockhound tunedb merge tunableop_results?.csv -o merged.csv          the fastest row of each key
  rockhound tunedb query tuned.csv --mnk 97,384,7168 --gpu mi300x      what the loader takes
  rockhound explain TUN002                                             one of the rules")]
pub(crate) struct Tunedb {
    #[command(subcommand)]
    pub(crate) question: Question,
}

#[derive(Subcommand)]
pub(crate) enum Question {
    Show(Show),
    Lint(Lint),
    Query(Query),
    Coverage(Coverage),
    Shapes(Shapes),
    Merge(Merge),
    Diff(TuneDiff),
    Convert(Convert),
    Advise(Advise),
}

impl Question {
    /// The files and folders it was given to read.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        match self {
            Question::Show(it) => &it.files,
            Question::Lint(it) => &it.files,
            Question::Query(it) => &it.files,
            Question::Coverage(it) => &it.files,
            Question::Shapes(it) => &it.files,
            Question::Merge(it) => &it.files,
            Question::Advise(it) => &it.files,
            Question::Diff(it) => return vec![&it.old, &it.new],
            Question::Convert(it) => return vec![&it.file],
        }
        .iter()
        .map(PathBuf::as_path)
        .collect()
    }
}

/// Show the rows of files as tables.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tunedb show tuned_fmoe.csv --gpu mi300x
  rockhound tunedb show results/ --op gemm --mnk 4096,*,4096 --types bf16
  rockhound tunedb show hipblaslt.log --sort calls --top 10            the problems asked for most")]
pub(crate) struct Show {
    /// Files and folders; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rows: Rows,
    /// Order of rows.
    #[arg(long, value_enum, default_value_t = Sort::Line)]
    pub(crate) sort: Sort,
    /// Rows per file; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) write: Write,
}

/// Filter of rows.
#[derive(Args, Clone)]
pub(crate) struct Rows {
    /// Only rows of this kind.
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) op: Option<Op>,
    /// Only matrix products of these sizes, as the file has them; `*` is any.
    #[arg(long, value_name = "M,N,K")]
    pub(crate) mnk: Option<String>,
    /// Only rows of these types: words of the file, or f16, bf16, f8, f4, i8, f32, xf32, f64.
    #[arg(long, value_name = "TYPE")]
    pub(crate) types: Option<String>,
    /// Only rows whose key, operation or kernel contains this text.
    #[arg(long, short = 'k', value_name = "TEXT")]
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

/// The machine that files are to be used on.
#[derive(Args, Clone)]
pub(crate) struct Machine {
    /// GPU that the files are to be used on: its target and number of compute units.
    #[arg(long, value_name = "GPU", value_parser = GpuName)]
    pub(crate) gpu: Option<String>,
    /// The files are to be used on this machine: take target and number of compute units of its first GPU.
    #[arg(long, conflicts_with = "gpu")]
    pub(crate) here: bool,
    /// Compute units of a partition, if not the whole GPU.
    #[arg(long, value_name = "N", requires = "gpu")]
    pub(crate) cu: Option<u32>,
}

/// Destination of the answer.
#[derive(Args, Clone)]
pub(crate) struct Write {
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Tuned::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Op {
    Gemm,
    Moe,
    Conv,
    Kernel,
}

impl Op {
    /// The word on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Op::Gemm => "gemm",
            Op::Moe => "moe",
            Op::Conv => "conv",
            Op::Kernel => "kernel",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// Order of the file.
    Line,
    /// Longest first.
    Time,
    /// Most calls first.
    Calls,
    /// Most time lost against the fastest row of the same key first.
    Lost,
}

/// Find what makes a loader reject a file, take a slow row, or find none.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tunedb lint tunableop_results*.csv --gpu mi300x
  rockhound tunedb lint results.csv --expect HIPBLASLT_VERSION=100201-5b515cf1bc
  rockhound tunedb lint aiter/configs --gpu mi300x --fail-on severe --format github
  rockhound tunedb lint gfx942130.HIP.fdb.txt ~/.config/miopen/*.ufdb.txt")]
pub(crate) struct Lint {
    /// Files and folders that are used together; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Version of a library of the machine, by the name the file uses.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) expect: Vec<String>,
    /// Kernels that the library has: a text with a name or index per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,
    /// Exit with 2 when there is a finding of this rule, or of this severity or worse (info, warning,
    /// severe).
    #[arg(long, value_name = "RULE|SEVERITY")]
    pub(crate) fail_on: Vec<String>,
    #[command(flatten)]
    pub(crate) memory: super::Memory,
    #[command(flatten)]
    pub(crate) write: Write,
}

/// Say what each loader would take for a problem, by that loader's own rule.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tunedb query tunableop_results0.csv --mnk 4096,16,7168 --layout TN --types bf16
  rockhound tunedb query aiter/configs/bf16_tuned_gemm.csv --mnk 97,384,7168 --gpu mi300x
  rockhound tunedb query 'E=8,N=14336,device_name=AMD_Instinct_MI300X.json' --tokens 48
  rockhound tunedb query gfx942130.HIP.fdb.txt --key 1x1-512-13-13")]
pub(crate) struct Query {
    /// Files and folders; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Kind of problem.
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) op: Option<Op>,
    /// Sizes of a matrix product, as the file's library has them.
    #[arg(long, value_name = "M,N,K")]
    pub(crate) mnk: Option<String>,
    /// Products in one call.
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<u64>,
    /// Leading dimensions of A, B and C.
    #[arg(long, value_name = "A,B,C")]
    pub(crate) ld: Option<String>,
    /// Transposition of A and B: NN, NT, TN or TT.
    #[arg(long, value_name = "AB")]
    pub(crate) layout: Option<String>,
    /// Types: words of the file, or f16, bf16, f8, f4, i8, f32, xf32, f64.
    #[arg(long, value_name = "TYPE")]
    pub(crate) types: Option<String>,
    /// Tokens of a mixture of experts.
    #[arg(long, value_name = "N")]
    pub(crate) tokens: Option<u64>,
    /// The key as written in the file, or a part of it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Version of a library of the machine, by the name the file uses.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) expect: Vec<String>,
    /// Rows per file; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) write: Write,
}

/// Say which problems of a model have no entry.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tunedb coverage kimi_bf16_tuned_gemm.csv --shapes kimi_bf16_untuned_gemm.csv --gpu mi300x
  rockhound tunedb coverage tunableop_results0.csv --shapes hipblaslt.log --missing")]
pub(crate) struct Coverage {
    /// Tuned files and folders.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Lists of problems: untuned files, logged problems, logs of servers, configurations, timelines, or tuned files.
    #[arg(long, required = true, value_name = "FILE")]
    pub(crate) shapes: Vec<PathBuf>,
    /// List only problems without an entry.
    #[arg(long)]
    pub(crate) missing: bool,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Rows per list; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Exit with 2 when a problem has no entry.
    #[arg(long)]
    pub(crate) fail_on_missing: bool,
    #[command(flatten)]
    pub(crate) write: Write,
}

/// List the problems of logs, lists and tables with their calls, or write them as the input of a tuner.
///
/// Logs are those of servers (AITER, vLLM and SGLang name problems for which they found no tuned entry), of hipBLASLt
/// (`HIPBLASLT_LOG_MASK=32` or 64), of rocBLAS (`ROCBLAS_LAYER=2` or 4), and TunableOp's untuned files; timelines with
/// shapes count too. Equal problems are one, with the sum of their calls.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tunedb shapes server.log                                   problems without a tuned entry, with counts
  rockhound tunedb shapes server.log --to aiter -o untuned/            a table for each of AITER's tuners
  rockhound tunedb shapes rank*.yaml --to geko -o problems.yaml        what GEKO tunes
  rockhound tunedb shapes hipblaslt.log --to tunableop -o tunableop_untuned0.csv")]
pub(crate) struct Shapes {
    /// Files and folders; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write the problems for this tuner; `-o` names the file, or the folder where there are several.
    #[arg(long, value_enum, value_name = "TUNER")]
    pub(crate) to: Option<ShapesTo>,
    /// Rows shown; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) write: Write,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShapesTo {
    /// Untuned tables, one for each operation.
    Aiter,
    /// hipBLASLt's profile log in YAML.
    Geko,
    /// A command for each problem.
    HipblasltBench,
    /// Commands of vLLM's and SGLang's benchmarks that write the missing files.
    Vllm,
    /// An untuned file.
    Tunableop,
}

/// Merge files of one kind: of each key the fastest row, never a slower one.
///
/// Files that were made for different versions are refused. The result is written beside its place and
/// renamed, so that a failure leaves what was there.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tunedb merge tunableop_results?.csv -o merged.csv --explain
  rockhound tunedb merge Equality/a.yaml 1_LogicYaml/a.yaml -o a.yaml
  rockhound tunedb merge rank0.ufdb.txt rank1.ufdb.txt -o joined.ufdb.txt")]
pub(crate) struct Merge {
    /// Files; the first is the base.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The merged file; the report goes to standard output.
    #[arg(long, short, required = true, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Difference of times in percent below which they are the same; by default from repeated measurements,
    /// else 2.
    #[arg(long, value_name = "PERCENT")]
    pub(crate) noise: Option<f64>,
    /// Rows of later files replace rows of earlier ones, even if slower.
    #[arg(long)]
    pub(crate) force: bool,
    /// Cut the sizes of logic files to four numbers, without leading dimensions.
    #[arg(long)]
    pub(crate) trim: bool,
    /// List every decision.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Format of the report.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Tuned::FORMATS), default_value = "text")]
    pub(crate) format: Format,
}

/// Show what changed between two files.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tunedb diff old/tunableop_results0.csv new/tunableop_results0.csv
  rockhound tunedb diff old.csv new.csv --calls hipblaslt.log --top 0 --format csv")]
pub(crate) struct TuneDiff {
    /// The old file.
    pub(crate) old: PathBuf,
    /// The new file.
    pub(crate) new: PathBuf,
    /// Files that say how often each problem is called.
    #[arg(long, value_name = "FILE")]
    pub(crate) calls: Vec<PathBuf>,
    /// Difference of times in percent below which they are the same.
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    pub(crate) noise: f64,
    /// Rows shown; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) write: Write,
}

/// Convert a file to another format where the meaning is kept, and list the losses.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tunedb convert hipblaslt.log --to tunableop-untuned -o tunableop_untuned0.csv
  rockhound tunedb convert tunableop_results0.csv --to find-exact --layout TN --types f16 -o tuning.yaml
  rockhound tunedb convert 'E=8,N=4096,device_name=X,block_shape=[128,128].json' --to sglang -o DIR
  rockhound tunedb convert matmul.autotune.json --to triton-configs
  rockhound tunedb convert old_tuned.csv --to aiter --schema new_tuned.csv -o converted.csv")]
pub(crate) struct Convert {
    /// The file.
    pub(crate) file: PathBuf,
    /// Format to write.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: ConvertTo,
    /// Table whose header AITER's rows get.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Only rows of this transposition.
    #[arg(long, value_name = "AB")]
    pub(crate) layout: Option<String>,
    /// Only rows of these types.
    #[arg(long, value_name = "TYPE")]
    pub(crate) types: Option<String>,
    /// File to write, by default standard output; for vllm and sglang the folder, since the name is a part of
    /// the key.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertTo {
    Tunableop,
    TunableopUntuned,
    FindExact,
    Aiter,
    Vllm,
    Sglang,
    TritonConfigs,
}

/// Print the next steps for a file as commands to paste.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tunedb advise tunableop_results0.csv
  rockhound tunedb advise hipblaslt.log")]
pub(crate) struct Advise {
    /// Files and folders; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) write: Write,
}
