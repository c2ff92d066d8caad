//! The command line, described once: help, completions and the man page come from here.
//!
//! Every command shows examples, since an example is what people copy.

pub(crate) use accuracy::Accuracy;
pub(crate) use analyze::{Analyze, Metrics, Units};
#[cfg(feature = "server")]
pub(crate) use analyze::{NormalUnit, TimeUnits};
pub(crate) use capture::Capture;
use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
pub(crate) use comm::Comm;
pub(crate) use command::{Command, parse};
pub(crate) use doctor::{Doctor, EmitForm, Work};
pub(crate) use emulate::{Breakdown, Profile, Run};
pub(crate) use export::{ExportRecording, ExportTo};
use host::Source;
pub(crate) use judge::Judge;
pub(crate) use launch::LaunchTemplate;
pub(crate) use mcp::Mcp;
pub(crate) use memory::Memory;
pub(crate) use page::{Report, View};
pub(crate) use recordings::{Guide, Level, Placed, Ranks, Roofline, Tui, Type};
use std::path::{Path, PathBuf};
pub(crate) use store::{
    Place, Store, StoreAdd, StoreBisect, StoreChanges, StoreCheck, StoreExport, StoreGrafana, StoreHistory,
    StoreImport, StoreQuestion, StoreSchema, StoreSeries, StoreSummary, StoreWrite, WorseDirection,
};
pub(crate) use tile::Tile;
pub(crate) use triage::Triage;
pub(crate) use tune::{Budget, ClusterForm, PriorName, Project, ShapeClock, StrategyName, Tune};
pub(crate) use tunedb::{
    Advise as TuneAdvise, Convert as TuneConvert, ConvertTo, Coverage as TuneCoverage, Lint as TuneLint,
    Machine as TuneMachineArgs, Merge as TuneMerge, Query as TuneQuery, Question, Rows as TuneRows,
    Shapes as TuneShapes, ShapesTo, Show as TuneShow, Sort as TuneSort, TuneDiff, Tunedb, Write as TuneWrite,
};
pub(crate) use view::Format;

mod accuracy;
mod analyze;
mod doctor;
pub(crate) use trace::{Export, Trace};

mod capture;
mod comm;
mod command;
mod emulate;
mod export;
mod gpu_name;
mod judge;
mod launch;
mod mcp;
mod memory;
mod on;
mod on_gpu;
mod page;
mod recordings;
mod store;
mod tile;
mod trace;
mod triage;
mod tune;
mod tunedb;

/// The formats of commands that have text and one document.
pub(crate) const SHORT: &[Format] = &[Format::Text, Format::Json];
/// The formats of `inspect`, which is written kernel by kernel.
const INSPECT: &[Format] =
    &[Format::Text, Format::Json, Format::Csv, Format::Markdown, Format::Sarif, Format::Github];

/// The parser of `--format` of a command with these formats; the only place that refuses a format.
pub(crate) fn formats(known: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let values = known.iter().map(|format| PossibleValue::new(format.as_str()).help(format.help()));
    let by_name = |word: String| known.iter().copied().find(|format| format.as_str() == word);
    PossibleValuesParser::new(values).map(move |word| by_name(word).unwrap_or(Format::Text))
}

/// The parser of a recording's or trace's address.
pub(crate) fn source() -> impl TypedValueParser<Value = Source> {
    PathBufValueParser::new().map(Source::parse)
}

/// Help text of the exit codes.
const EXIT_CODES: &str = "Exit codes:
  0   everything was read, no threshold was met
  1   an input could not be read (the others are still reported)
  2   a threshold was met: --fail-on, or --thresholds of `diff`
  64  the command line is wrong";

/// Performance workbench for AMD Instinct GPUs: says what limits each kernel and what to change.
#[derive(Parser)]
#[command(name = "rockhound", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// With --version: say too how this command was built, and which library and tools it finds.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Folders outside of which nothing is read or written, with what a system needs to run programs.
    #[cfg(feature = "mcp")]
    #[arg(long, global = true, hide = true, value_name = "DIR")]
    pub(crate) within: Vec<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) look: Look,
}

/// Appearance of output; the same for every command.
#[derive(Args, Clone)]
pub(crate) struct Look {
    /// When to colour the output; `auto`: on terminals, unless NO_COLOR is set.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Columns to fill; by default COLUMNS where it is set, the terminal's width, or 100.
    #[arg(long, global = true, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..))]
    pub(crate) width: Option<u16>,
    /// Do not shorten kernel names.
    #[arg(long, global = true)]
    pub(crate) full_names: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// Say what limits each kernel of code objects, libraries, programs or assembly files.
///
/// Reads code objects, offload bundles (also compressed), programs and libraries with GPU code in them,
/// archives, assembly text, Triton's IR (TTIR, TTGIR), Triton cache folders, and folders of all these. Files
/// are recognised by what they contain. A few kernels are shown as cards, many as a table.
#[derive(Args)]
#[command(after_help = concat!("Examples:
  rockhound inspect gemm.hsaco                         one code object: a card per kernel
  rockhound inspect libfoo.so --arch gfx942 --top 50   a library: the 50 worst kernels
  rockhound inspect libfoo.so --kernel 'gemm.*f16'     details of some kernels
  rockhound inspect gemm.hsaco --kernel gemm --asm     annotated disassembly
  rockhound inspect --asm --workload workloads/a/MI300X   the same with what every instruction did
  rockhound inspect ~/.triton/cache --sort vgprs       everything Triton compiled
  rockhound inspect kernel.ttgir                       what Triton's IR says: layouts, pipelining, LDS
  rockhound inspect kernel.hsaco --lines               Triton: IR and instructions of each Python line
  AMDGCN_ENABLE_DUMP=1 python train.py 2>&1 | rockhound inspect -
  rockhound inspect build/ --format sarif -o gpu.sarif --fail-on severe --fail-on RES001"))]
pub(crate) struct Inspect {
    /// Files and folders; `-` is standard input.
    #[arg(required_unless_present = "workload", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Show beside each line of the disassembly what it did in an emulated recording. Without FILE the code
    /// objects of the recording are used.
    #[arg(long, short, requires = "asm", value_name = "DIR", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) workload: Option<Source>,
    /// Only these dispatches of the recording: IDs, ranges `1-5`, bounds `>10`.
    #[arg(long, short, requires = "workload", value_name = "ID")]
    pub(crate) dispatch: Vec<String>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(INSPECT), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Pass of a log with dumps of Triton's passes (MLIR_ENABLE_DUMP=1): dumps before or after this pass, or
    /// `all`; by default the last dump.
    #[arg(long, value_name = "PASS")]
    pub(crate) pass: Option<String>,
    /// Show for each source line of a Triton kernel the operations of its IR and the instructions they
    /// became.
    #[arg(long)]
    pub(crate) lines: bool,
    /// Show the annotated disassembly of every kernel shown.
    #[arg(long)]
    pub(crate) asm: bool,
    /// Show a card for every kernel, whatever their number.
    #[arg(long, conflicts_with_all = ["sort", "top"])]
    pub(crate) details: bool,
    /// Order of the table: worst first.
    #[arg(long, value_name = "COLUMN", value_parser = PossibleValuesParser::new(render::text::sort_columns()))]
    pub(crate) sort: Option<String>,
    /// Rows of the table; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Exit with 2 when there is a finding of this rule, or of this severity or worse (info, warning,
    /// severe).
    #[arg(long, value_name = "RULE|SEVERITY")]
    pub(crate) fail_on: Vec<String>,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

/// Filter of kernels.
#[derive(Args, Clone)]
pub(crate) struct Select {
    /// Only kernels whose linker name or demangled name matches.
    #[arg(long, short, value_name = "REGEX")]
    pub(crate) kernel: Option<String>,
    /// Only code for these targets or GPUs, for example `gfx942`, `gfx90a:xnack-` or `mi300x`.
    #[arg(long, short, alias = "gpu", value_name = "TARGET", value_delimiter = ',')]
    pub(crate) arch: Vec<String>,
}

/// Show what changed between two builds, kernel by kernel.
///
/// Kernels are matched by name and target; when the two builds have no target in common, by name alone.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound diff old.hsaco new.hsaco
  rockhound diff build-main/libfoo.so build-branch/libfoo.so --arch gfx942 --thresholds gpu-limits.toml
  rockhound diff old.hsaco new.hsaco --match gemm_v1=gemm_v2

A threshold file says how far values may move before the exit code is 2:
  vgprs = \"+4\"                # at most 4 more
  occupancy = \"-0\"            # no wave less
  scratch_bytes = \"+0\"
  instructions = \"+10%\"
  findings.severe = \"+0\"
  findings.RES001 = \"+0\"
All keys are listed in docs/diff-thresholds.md.")]
pub(crate) struct Diff {
    /// The old build: a file or a folder.
    #[arg(value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) old: Source,
    /// The new build: a file or a folder.
    #[arg(value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) new: Source,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Treat a kernel of the old build as the same as one of the new build (linker names or demangled names).
    #[arg(long = "match", value_name = "OLD=NEW")]
    pub(crate) matches: Vec<String>,
    /// Largest changes of values before the exit code is 2.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) thresholds: Option<PathBuf>,
    /// Exit with 2 when the new build has a finding of this rule, or of this severity or worse, that the old
    /// one has not.
    #[arg(long, value_name = "RULE|SEVERITY")]
    pub(crate) fail_on: Vec<String>,
    #[command(flatten)]
    pub(crate) memory: Memory,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(<view::Comparison as render::Part>::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Changed kernels shown in text; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
}

/// Print the page of a rule: what it looks for, why that is slow, and what to do; without a rule, list all.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound explain            all rules
  rockhound explain RES003     one rule
  rockhound explain MEM        the rules on memory access")]
pub(crate) struct Explain {
    /// Rule, or the letters of a group.
    pub(crate) rule: Option<String>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(SHORT), default_value = "text")]
    pub(crate) format: Format,
}

/// Calculate how many waves fit, what limits them, and how far the next step is on every resource.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound occupancy --arch gfx942 --vgpr 170 --lds 32768 --waves 4
  rockhound occupancy --arch mi300x --vgpr 96 --agpr 64 --lds 64K --waves 8 --format json")]
pub(crate) struct Occupancy {
    /// Target or GPU, for example `gfx942` or `mi300x`.
    #[arg(long, short, alias = "gpu", value_name = "TARGET")]
    pub(crate) arch: String,
    /// Vector registers per lane, without AGPRs.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) vgpr: u32,
    /// Accumulation registers per lane.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) agpr: u32,
    /// Scalar registers per wave.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) sgpr: u32,
    /// LDS per workgroup in bytes; `K` counts 1024.
    #[arg(long, value_name = "BYTES", default_value = "0", value_parser = bytes)]
    pub(crate) lds: u32,
    /// Waves per workgroup.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) waves: u32,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(SHORT), default_value = "text")]
    pub(crate) format: Format,
}

/// `32768`, `32K`, `32KiB`.
fn bytes(text: &str) -> Result<u32, String> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.trim_end_matches("ib").trim_end_matches('b').trim_end_matches('k');
    let scale = if lower[digits.len()..].starts_with('k') { 1024 } else { 1 };
    let value: u32 = digits
        .trim()
        .parse()
        .map_err(|_| format!("`{text}` is not a number of bytes such as `32768` or `32K`"))?;
    value.checked_mul(scale).ok_or_else(|| format!("`{text}` is more than any GPU has"))
}

/// Print the completion script of a shell.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound completions bash > ~/.local/share/bash-completion/completions/rockhound
  rockhound completions zsh > ~/.zfunc/_rockhound
  rockhound completions fish > ~/.config/fish/completions/rockhound.fish")]
pub(crate) struct Completions {
    #[arg(required_unless_present = "python")]
    pub(crate) shell: Option<clap_complete::Shell>,
    /// Print the functions of the Python package.
    #[arg(long, hide = true)]
    pub(crate) python: bool,
}

/// Print the manual page, of the program or of one command.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound man > rockhound.1
  rockhound man inspect | man -l -
  rockhound man -o ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Command: `inspect`, `store add`.
    pub(crate) command: Vec<String>,
    /// Write the manual pages of the program and of all commands into a folder.
    #[arg(long, short, value_name = "DIR", conflicts_with = "command")]
    pub(crate) output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_description_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn byte_counts() {
        for (text, expected) in [
            ("0", Some(0)),
            ("32768", Some(32768)),
            ("32K", Some(32768)),
            ("64KiB", Some(65536)),
            ("12b", Some(12)),
            ("9 k", Some(9216)),
            ("", None),
            ("k", None),
            ("-1", None),
            ("5000000K", None),
        ] {
            assert_eq!(bytes(text).ok(), expected, "{text}");
        }
    }
}
