//! Flags of `judge`.

use super::{Memory, formats};
use clap::Args;
use clap::builder::PossibleValuesParser;
use host::run::CacheState;
use render::Part;
use std::ffi::OsString;
use std::path::PathBuf;
use view::{Format, Verdicts};

/// Say of variants of a kernel whether each is right and whether it is faster than the first.
///
/// All run on the same inputs on an emulated GPU: several sets of random numbers, and several shapes where the launch
/// file has values in braces. A candidate is right if it gives the base's results, has no race, reads nothing
/// that was not written, leaves no element unwritten, and does not depend on the order of workgroups. Times are modelled,
/// counts are exact. The exit code is 2 if a candidate is not right.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound judge base.toml candidate.toml                          two launch files
  rockhound judge --launch LAUNCH.toml base.hip tiled.hip wide.hip  sources, compiled for the GPU of the launch file
  rockhound judge --launch LAUNCH.toml base.hsaco --variants build/ every file of a folder
  rockhound judge --launch L.toml a.hip b.hip --shape N=1000 --shape N=65536
  rockhound judge old/app new/app -- 4096                           programs, with the same arguments
  rockhound judge attention.py attention_new.py                     scripts with Triton kernels
  rockhound judge old/app new/app --on gpu --rounds 15              timed on the GPU of this machine, in turn
  rockhound judge --launch L.toml a.hip b.hip --claim 12.5          is a time of 12.5 us possible?")]
pub(crate) struct Judge {
    /// The variant that is right: a launch file, a code object, a HIP source, a program, or a Python script.
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,
    /// Variants to judge.
    #[arg(value_name = "CANDIDATE", required_unless_present = "variants")]
    pub(crate) candidates: Vec<PathBuf>,
    /// Every code object, source or launch file of a folder, by name.
    #[arg(long, value_name = "DIR")]
    pub(crate) variants: Option<PathBuf>,
    /// Launch file of variants that are code objects or sources.
    #[arg(long, value_name = "LAUNCH.toml")]
    pub(crate) launch: Option<PathBuf>,
    /// GPU to emulate; by default the launch file's.
    #[arg(long, short, alias = "arch", value_name = "GPU", value_parser = super::gpu_name::GpuName)]
    pub(crate) gpu: Option<String>,
    /// Sets of inputs: random numbers, and other contents of buffers that are files, as in a captured launch.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) seeds: u32,
    /// Values in braces of the launch file, such as `N=1000,M=8`; several for several shapes.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) shape: Vec<String>,
    /// Keep the contents of this buffer as in its file for every set of inputs.
    #[arg(long, value_name = "NAME")]
    pub(crate) keep: Vec<String>,
    /// Difference allowed, relative to elements larger than 1; by default the launch file's, or the type's.
    #[arg(long, value_name = "X")]
    pub(crate) tolerance: Option<f64>,
    /// Time that somebody claims for the candidate, in us, or for one of several: `NAME=US`.
    #[arg(long, value_name = "US")]
    pub(crate) claim: Vec<String>,
    /// Python that runs scripts.
    #[arg(long, value_name = "PYTHON", default_value = "python3")]
    pub(crate) python: OsString,
    /// Type of what programs read back from the GPU; by default f32 or f64 by the magnitudes of all elements, else equal bytes.
    #[arg(long, value_name = "TYPE", value_parser = PossibleValuesParser::new(host::launch_file::Element::NAMES))]
    pub(crate) element: Option<String>,
    /// Where programs are timed. On a GPU of this machine, variants that are right on the emulated one run in turn under
    /// the vendor's profiler.
    #[arg(long, value_name = "PLACE", default_value = "emulator", value_parser = PossibleValuesParser::new(["emulator", "gpu"]))]
    pub(crate) on: String,
    /// Runs of each variant with `--on gpu` (default: 7); five or more give a confidence interval.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=1000))]
    pub(crate) rounds: Option<u32>,
    /// Profiler with `--on gpu`, in place of the rocprofv3, rocprofv2 or rocprof in PATH.
    #[arg(long, value_name = "FILE")]
    pub(crate) profiler: Option<PathBuf>,
    /// Lines that a launch finds in the caches; as in `profile`.
    #[arg(long, value_name = "STATE", default_value = "profiled", value_parser = PossibleValuesParser::new(CacheState::ALL.map(|it| it.1)))]
    pub(crate) caches: String,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Verdicts::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also write an HTML page of the verdicts, with the work that changed.
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// Exit with 2 when there is a finding of this rule, or of this severity or worse (severe, warning, info).
    #[arg(long, value_name = "RULE|SEVERITY")]
    pub(crate) fail_on: Vec<String>,
    #[command(flatten)]
    pub(crate) memory: Memory,
    /// Arguments of programs.
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
}
