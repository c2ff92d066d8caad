//! Flags of the commands that show recordings in other ways than `analyze`.

use super::{SHORT, formats, source};
use clap::{Args, ValueEnum, ValueHint};
use host::Source;
use std::path::PathBuf;
use view::{Format, Wanted};

/// Say what stops a recorded program, what to change first, and which command comes next.
///
/// Measure, find what stops the kernel of most time, change one thing, measure again: each call is one turn
/// of that loop. With `--base` it starts with what the change brought.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound guide workloads/vcopy/MI200                      what to do first
  rockhound guide workloads/vcopy-2/MI200 --base workloads/vcopy/MI200   what the change brought
  rockhound guide DIR -k 'gemm.*f16' --format json           for programs")]
pub(crate) struct Guide {
    #[command(flatten)]
    pub(crate) subject: Subject,
    /// Compare a kernel of the base with one of another name.
    #[arg(long = "match", value_name = "OLD=NEW", requires = "base")]
    pub(crate) matches: Vec<String>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(SHORT), default_value = "text")]
    pub(crate) format: Format,
}

/// Walk through a recording on the terminal: kernels, panels, roofline, memory, and code with what each
/// instruction did.
///
/// Keys are shown in the last line, `?` lists them all. Works over ssh and from 80 columns and 24 lines on;
/// code needs an emulated recording.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tui workloads/vector_copy/MI300X
  rockhound tui solution --base problem
  rockhound tui DIR -k 'gemm.*f16'")]
pub(crate) struct Tui {
    #[command(flatten)]
    pub(crate) subject: Subject,
}

/// Draw the roofline of one recording or of several in one plot, on the terminal or as a picture.
///
/// A roof is the maximum of one part of the machine: a bandwidth, or the rate of a type. The table shows the
/// nearest roof of each kernel and the kernel's distance below it; the extension of the file's name decides
/// the kind of picture.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound roofline workloads/vcopy/MI200
  rockhound roofline problem solution --only hbm,l2 --kernel-names
  rockhound roofline DIR --type fp16,fp32 -k gemm -o roofline.pdf
  rockhound roofline --measure --gpu mi300x -o DIR/roofline.csv   the roofs of an emulated GPU
  rockhound roofline --measure --on gpu -o DIR/roofline.csv       those of this machine's GPU")]
pub(crate) struct Roofline {
    /// Recordings: folders or files.
    #[arg(value_name = "DIR", required_unless_present = "measure", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<Source>,
    /// Measure the roofs with kernels that do one thing only, and write them to `roofline.csv` or the file of
    /// `-o`.
    ///
    /// Beside a recording that file gives its roofline the roofs. Without a GPU an emulated one is measured.
    #[arg(long, conflicts_with_all = ["paths", "kernel", "dispatch", "gpu_id", "arch", "only", "types", "kernel_names", "top", "placed", "dark"])]
    pub(crate) measure: bool,
    /// Where roofs are measured: `auto` takes an AMD GPU if `/dev/kfd` can be opened, unless `--gpu` names
    /// one to emulate.
    #[arg(long, value_enum, value_name = "WHERE", requires = "measure", default_value_t = super::on::On::Auto)]
    pub(crate) on: super::on::On,
    /// GPU that is emulated, by default mi300x; with `--on gpu` which one it is, where the driver does not
    /// say.
    #[arg(long, value_name = "GPU", requires = "measure")]
    pub(crate) gpu: Option<String>,
    /// On a GPU: measurements per roof; the median counts, the smallest and the largest are kept.
    #[arg(long, value_name = "N", requires = "measure", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) repeat: u16,
    /// On a GPU: make kernels so long that two lengths differ by this many microseconds.
    #[arg(long, value_name = "US", requires = "measure", default_value_t = 300)]
    pub(crate) least_time: u32,
    /// On a GPU: HIP runtime in place of the one that programs find.
    #[arg(long, value_name = "FILE", requires = "measure")]
    pub(crate) hip: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pick: Pick,
    /// Only these levels of memory.
    #[arg(long, value_enum, value_name = "LEVEL", value_delimiter = ',')]
    pub(crate) only: Vec<Level>,
    /// Roofs of these types, also of those no kernel computes with; by default of those in use. Of integers
    /// alone, kernels are placed by their integer operations.
    #[arg(long = "type", value_enum, value_name = "TYPE", value_delimiter = ',')]
    pub(crate) types: Vec<Type>,
    /// Show names of kernels in full; in a picture list them below the plot.
    #[arg(long)]
    pub(crate) kernel_names: bool,
    /// Items placed below the roofs: kernels, or single dispatches, longest first.
    #[arg(long = "roofline-sort", visible_alias = "sort", value_enum, value_name = "WHAT", default_value_t = Placed::Kernels)]
    pub(crate) placed: Placed,
    /// Kernels of each recording, longest first.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=52))]
    pub(crate) top: u8,
    /// Output format, without a file.
    #[arg(long, value_name = "FORMAT", value_parser = formats(SHORT), default_value = "text")]
    pub(crate) format: Format,
    /// Write a picture: `.svg`, `.png`, `.pdf` or `.html`; with `--measure` a table: `.csv`.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Light text on dark ground.
    #[arg(long, requires = "output")]
    pub(crate) dark: bool,
}

/// Items placed below the roofs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Placed {
    Kernels,
    Dispatches,
}

/// A level of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Level {
    Hbm,
    L2,
    #[value(alias = "l1")]
    Vl1d,
    Lds,
}

impl Level {
    /// Name in charts.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Level::Hbm => "HBM",
            Level::L2 => "L2",
            Level::Vl1d => "vL1D",
            Level::Lds => "LDS",
        }
    }
}

/// A type that units compute with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Type {
    #[value(alias = "f4")]
    Fp4,
    #[value(alias = "f6")]
    Fp6,
    #[value(alias = "f8")]
    Fp8,
    #[value(alias = "f16")]
    Fp16,
    Bf16,
    #[value(alias = "f32")]
    Fp32,
    #[value(alias = "f64")]
    Fp64,
    #[value(alias = "int8")]
    I8,
    #[value(alias = "int32")]
    I32,
    #[value(alias = "int64")]
    I64,
}

impl Type {
    /// Name in charts.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Type::Fp4 => "f4",
            Type::Fp6 => "f6",
            Type::Fp8 => "f8",
            Type::Fp16 => "f16",
            Type::Bf16 => "bf16",
            Type::Fp32 => "f32",
            Type::Fp64 => "f64",
            Type::I8 => "i8",
            Type::I32 => "i32",
            Type::I64 => "i64",
        }
    }
}

/// A recording, and perhaps another that it is compared with.
#[derive(Args)]
pub(crate) struct Subject {
    /// Recording: a folder or a file.
    #[arg(value_name = "DIR", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) path: Source,
    /// Recording to compare with, from before a change.
    #[arg(long, value_name = "DIR", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) base: Option<Source>,
    #[command(flatten)]
    pub(crate) pick: Pick,
}

impl Subject {
    /// Base and recording as they are read: a base comes first.
    pub(crate) fn paths(&self) -> Vec<Source> {
        self.base.iter().chain([&self.path]).cloned().collect()
    }
}

/// Part of recordings, and facts that they do not contain.
#[derive(Args, Clone)]
pub(crate) struct Pick {
    #[command(flatten)]
    pub(crate) part: Part,
    /// GPU of the recording, if it does not name it: target or model.
    #[arg(long, value_name = "GPU")]
    pub(crate) arch: Option<String>,
    /// Take all recordings below a folder, of ranks or GPUs: `merged` as one, `each` side by side.
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "merged")]
    pub(crate) ranks: Option<Ranks>,
    /// Take the runs in one folder, each with the same counters or other kernels: `each` side by side,
    /// `merged` as one.
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "each", conflicts_with = "ranks")]
    pub(crate) runs: Option<Ranks>,
    /// Facts of the machine in place of recorded ones: `max_sclk: 2400, num_hbm_channels: 64`. `analyze
    /// --specs` lists them.
    #[arg(long, value_name = "FACT: VALUE, …")]
    pub(crate) specs_correction: Option<String>,
}

/// Treatment of the recordings of ranks, or of runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Ranks {
    /// One merged recording.
    Merged,
    /// Each as a separate recording.
    Each,
}

impl From<Ranks> for host::subjects::Ranks {
    fn from(ranks: Ranks) -> Self {
        match ranks {
            Ranks::Merged => Self::Merged,
            Ranks::Each => Self::Each,
        }
    }
}

/// Part of recordings.
#[derive(Args, Clone)]
pub(crate) struct Part {
    /// Only these kernels: number in the list of kernels, name, or regular expression.
    #[arg(long, short, value_name = "KERNEL", num_args = 1..)]
    pub(crate) kernel: Vec<String>,
    /// Only these dispatches: IDs, ranges `1-5`, bounds `>10`.
    #[arg(long, short, value_name = "ID", num_args = 1..)]
    pub(crate) dispatch: Vec<String>,
    /// Only these launches of each kernel, counted from 1: `3`, `2-5`, `>10`.
    #[arg(long, value_name = "N", num_args = 1..)]
    pub(crate) kernel_iteration_range: Vec<String>,
    /// Only dispatches on these GPUs.
    #[arg(long, value_name = "GPU", num_args = 1.., value_delimiter = ',')]
    pub(crate) gpu_id: Vec<u32>,
}

impl Pick {
    /// The selection as the reader of recordings takes it.
    pub(crate) fn wanted(&self) -> Wanted {
        self.part.wanted()
    }
}

impl Part {
    /// The selection as the reader of recordings takes it.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            kernels: self.kernel.clone(),
            dispatches: self.dispatch.clone(),
            gpus: self.gpu_id.clone(),
            iterations: self.kernel_iteration_range.clone(),
        }
    }
}
