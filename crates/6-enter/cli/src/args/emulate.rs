//! Options of the commands that run programs: `run` and `profile`.

use super::gpu_name::GpuName;
use super::on::On;
use super::on_gpu::OnGpu;
use super::recordings::Part;
use super::{SHORT, formats, source};
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum, ValueHint};
use host::session::Progress;
use host::{Source, run};
use std::ffi::OsString;
use std::path::PathBuf;
use view::Format;

/// Whether something is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum OnOff {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// Settings of emulation.
#[derive(Args, Clone)]
pub(crate) struct Emulate {
    /// GPU to emulate; by default the one of a launch file, and of a program the first of mi300x, mi355x,
    /// mi210, mi100 that it has code for. `mi300x@1600` runs its engine at 1600 MHz instead of the clock that
    /// it holds in long kernels.
    #[arg(long, alias = "arch", value_name = "MODEL[@MHZ]", value_parser = GpuName)]
    pub(crate) gpu: Option<String>,
    /// Devices the program sees.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(host::session::MOST_DEVICES)))]
    pub(crate) devices: u32,
    /// Threads that run workgroups; 0: one per core.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) threads: usize,
    /// Stop a kernel as endless when one of its waves has issued this many instructions.
    #[arg(long, value_name = "N", default_value_t = run::MOST_INSTRUCTIONS, allow_negative_numbers = true)]
    pub(crate) max_instructions: u64,
    /// Run every launch. Otherwise a launch of the same kernel with the same arguments is counted and not run where it
    /// would leave all memory as it is.
    #[arg(long)]
    pub(crate) no_repeats: bool,
    /// Clocks that the program reads (`clock_gettime`, `std::chrono`) move on by the modelled time of the GPU's work where it
    /// waits for the GPU; on by default where it is recorded with times.
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    pub(crate) virtual_time: Option<OnOff>,
    /// Let each `@triton.autotune` try only the first N of its configurations.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) autotune_limit: Option<u32>,
    /// Look for mistakes instead of counting: data races between waves, reads of memory that was never written.
    /// Findings make the exit code 2, unless the program itself fails.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = PossibleValuesParser::new(["races", "uninit"]))]
    pub(crate) check: Vec<String>,
}

/// Run a HIP program, or Triton in Python, on an emulated GPU.
///
/// The program is used as it is: it finds Rockhound's HIP runtime in place of the vendor's, and its kernels
/// run on the CPU. Triton takes the emulated GPU with tensors of torch on the CPU, or arrays of NumPy. Its
/// output and exit code are its own; one ended by a signal gives 128 and the signal's number.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound run -- ./vector_copy 1048576
  rockhound run --gpu mi355x -- ./gemm --size 256
  rockhound run --check races,uninit -- ./reduction
  rockhound run --report fidelity.json -- ./app
  rockhound run -- python tutorial.py
  rockhound run --autotune-limit 4 -- python train.py")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) emulate: Emulate,
    /// Write what the run relied on as JSON: functions that Rockhound's kernels replace or that are not supported,
    /// where times come from, dropped accesses, stopped kernels.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
    /// Write JUnit's XML: whether the program ends with 0 and calls the GPU, whether a kernel was stopped, and each check.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) junit: Option<PathBuf>,
    /// Program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// Profile a HIP program, or a kernel with a launch file; without a GPU on an emulated one.
///
/// A launch file names a code object, a grid and the arguments, and what results are expected: exit code 2
/// says that they differ. `rockhound launch-template` writes one.
///
/// Writes a workload folder that `rockhound analyze` and rocprof-compute 3.x read. Counters that follow from
/// execution are exact; caches and times are modelled. The program's output and exit code are its own; a
/// program that fails leaves the dispatches that were finished.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound profile -- ./vector_copy 1048576
  rockhound profile examples/vector_copy/LAUNCH.toml
  rockhound profile -n copy -o workloads/copy -k vecCopy -- ./vector_copy
  rockhound profile -k 'gemm.*f16' -d '>10' --dispatch-limit 3 -- ./train
  rockhound profile --breakdown examples/triton/matmul/gfx942.toml
  rockhound profile --what-if vgpr=96 --what-if gpu.hbm_bandwidth=8e12 LAUNCH.toml
  rockhound profile --keep-events -- ./app && rockhound breakdown workloads/app/MI300X
  rockhound profile --counters-only -- ./train
  rockhound profile --on gpu -b 2 16 17 -- ./app
  rockhound profile --on gpu --pc-sampling --thread-trace -k gemm -- ./app
  rockhound profile --on gpu -- mpirun -n 8 ./app
  rockhound profile -b 0.2 0.7 -- python matmul.py
  rockhound profile --check races,uninit LAUNCH.toml
  rockhound profile --sample-workgroups 64 --no-results -- ./stencil 16384
  rockhound analyze -p workloads/vector_copy/MI300X")]
pub(crate) struct Profile {
    /// Launch file or folder of a capture, instead of a program.
    #[arg(value_name = "LAUNCH.toml", conflicts_with = "program")]
    pub(crate) file: Option<PathBuf>,
    /// Values in braces of the launch file, such as `N=1000,M=8`.
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "program")]
    pub(crate) shape: Option<String>,
    #[command(flatten)]
    pub(crate) emulate: Emulate,
    /// Where the program runs: `auto` takes an AMD GPU if `/dev/kfd` can be opened and a profiler of the
    /// vendor is in PATH, unless `--gpu` names one to emulate.
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = On::Auto, conflicts_with = "file")]
    pub(crate) on: On,
    #[command(flatten)]
    pub(crate) on_gpu: OnGpu,
    /// Name of the workload; by default the name of the program or of the launch file's folder.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Folder to write; by default workloads/NAME/GPU. `%hostname%`, `%gpu%`, `%name%`, `%pid%`, `%rank%` and
    /// `%env{VARIABLE}%` in it are replaced.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an emulated recording in the folder of `-o`; without `-o` it is replaced anyway. One that a
    /// profiler made is never replaced.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Record only these kernels: name or regular expression.
    #[arg(long, short, value_name = "KERNEL", num_args = 1.., conflicts_with = "file")]
    pub(crate) kernel: Vec<String>,
    /// Record only these dispatches, counted from 0 in the order of their launch: IDs, ranges `1-5`, bounds
    /// `>10`.
    #[arg(long, short, value_name = "ID", num_args = 1.., conflicts_with = "file")]
    pub(crate) dispatch: Vec<String>,
    /// Record only these launches of each kernel, counted from 1: `3`, `2-5`, `>10`.
    #[arg(long, value_name = "N", num_args = 1.., conflicts_with = "file")]
    pub(crate) kernel_iteration_range: Vec<String>,
    /// Record only the first dispatches of those selected.
    #[arg(long, value_name = "N", conflicts_with = "file", allow_negative_numbers = true)]
    pub(crate) dispatch_limit: Option<u64>,
    /// Panels, tables, rows or metrics of the report, as in `analyze`; everything is recorded unless `--set`
    /// is given.
    #[arg(long = "block", short = 'b', value_name = "BLOCK", num_args = 1..)]
    pub(crate) blocks: Vec<String>,
    /// Record only the counters of a set that one run of the application reads, and report its metrics.
    #[arg(long, value_name = "NAME", conflicts_with = "blocks")]
    pub(crate) set: Option<String>,
    /// List the sets and end.
    #[arg(long)]
    pub(crate) list_sets: bool,
    /// Run at most this many workgroups of each dispatch as a sample of all: counters are scaled, the
    /// recording says so, and results are not computed, which `--no-results` agrees to.
    ///
    /// The grid is cut into parts of equal length; one scattered workgroup represents each part, the first
    /// and the last workgroup of the grid only themselves. Counters are exact if all workgroups do the same.
    /// If N workgroups fill the GPU five times, the first ones give times and counters of caches, extrapolated
    /// with an expected error; a note says which N that takes.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sample_workgroups: Option<u64>,
    /// Say what each limit is worth: the time of each dispatch again with one limit lifted at a time (perfect
    /// caches, infinite memory bandwidth, no LDS conflicts, free registers, free barriers and so on).
    ///
    /// The kernels run once; a clock for each limit runs beside the one of the recording, so it takes several
    /// times as long.
    #[arg(long, conflicts_with_all = ["check", "sample_workgroups"])]
    pub(crate) breakdown: bool,
    /// Predict the time of each dispatch with something changed: `vgpr=96`, `lds=16384`, `waves_per_eu=4`,
    /// `workgroup-order=xcd-swizzle`, `gpu.hbm_bandwidth=8e12`, `gpu.lds_per_cu=160K`, `gpu=mi300a`. Several
    /// with commas between are one prediction.
    #[arg(long, value_name = "KEY=VALUE", conflicts_with_all = ["check", "sample_workgroups"])]
    pub(crate) what_if: Vec<String>,
    /// Keep the events of waves, a file for each dispatch: `rockhound breakdown` then predicts without
    /// another run.
    #[arg(long, conflicts_with_all = ["check", "sample_workgroups", "counters_only"])]
    pub(crate) keep_events: bool,
    /// Count only what follows from execution: caches and times are not modelled, and values that need them
    /// are n/a. Takes a fraction of the time.
    #[arg(long, conflicts_with_all = ["breakdown", "what_if", "check"])]
    pub(crate) counters_only: bool,
    /// Coverage of the cache and timing model in a dispatch: `auto` simulates two representative XCDs and the
    /// first workgroups that repeat each other if all would take long, and reports the likely error; `full`
    /// always simulates all.
    #[arg(long, value_name = "DETAIL", default_value = "auto", value_parser = PossibleValuesParser::new(["auto", "full"]))]
    pub(crate) clock_detail: String,
    /// Lines that a dispatch finds in the caches: `profiled` as under the vendor's profiler, whose packets
    /// between dispatches empty the L2 of some GPUs; `cold` nothing; `warm` what the dispatch before left in
    /// the L2; `as-run` the same until the host copies, as without a profiler.
    #[arg(long, value_name = "STATE", default_value = "profiled", value_parser = PossibleValuesParser::new(run::CacheState::ALL.map(|it| it.1)))]
    pub(crate) caches: String,
    /// Only the recording matters, not the results of kernels: dispatches that are not recorded do not run.
    #[arg(long)]
    pub(crate) no_results: bool,
    /// Program and its arguments.
    #[arg(last = true, required_unless_present_any = ["file", "list_sets", "attach"], value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// Say what each limit is worth, or what a change would bring, of a recording made with `profile
/// --keep-events`.
///
/// The recorded events of the waves are replayed in one timing model per limit, with that limit lifted
/// (docs/breakdown.md); the program does not run again. The recording gets the predictions, and their table
/// is shown.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound breakdown workloads/app/MI300X
  rockhound breakdown workloads/app/MI300X --what-if vgpr=96 --what-if gpu.hbm_bandwidth=8e12
  rockhound breakdown workloads/app/MI300X -d 0-3 --format json")]
pub(crate) struct Breakdown {
    /// Recording.
    #[arg(value_name = "DIR", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) path: Source,
    /// Predict this change instead of lifting limits, as in `profile`.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) what_if: Vec<String>,
    /// Lift the limits too where `--what-if` is given.
    #[arg(long, requires = "what_if")]
    pub(crate) limits: bool,
    #[command(flatten)]
    pub(crate) part: Part,
    /// Threads that run timing models; 0: one per core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(SHORT), default_value = "text")]
    pub(crate) format: Format,
}

impl Profile {
    /// Blocks in the report: the blocks asked for, or the set that was recorded.
    pub(crate) fn shown(&self) -> Vec<String> {
        match &self.set {
            Some(set) => vec![set.clone()],
            None => self.blocks.clone(),
        }
    }

    /// The run that the command line requests.
    pub(crate) fn request(&self, progress: Progress) -> Result<run::Request> {
        let shape = host::judge::shapes(self.shape.as_slice())?.swap_remove(0);
        Ok(run::Request {
            what: match &self.file {
                Some(file) => run::What::LaunchFile(file.clone(), shape.values),
                None => run::What::Program(self.program.clone()),
            },
            place: self.on.into(),
            emulate: self.emulate.settings(progress),
            on_gpu: (&self.on_gpu).into(),
            record: Some(run::Recording {
                name: self.name.clone(),
                output: self.output.clone(),
                overwrite: self.overwrite,
                select: run::Selection {
                    kernels: self.kernel.clone(),
                    dispatches: self.dispatch.clone(),
                    iterations: self.kernel_iteration_range.clone(),
                    limit: self.dispatch_limit,
                },
                blocks: self.blocks.clone(),
                set: self.set.clone(),
                detail: run::Detail {
                    most_workgroups: self.sample_workgroups,
                    lifts_limits: self.breakdown,
                    what_if: self.what_if.clone(),
                    keeps_events: self.keep_events,
                    counters_only: self.counters_only,
                    shares_xcds: self.clock_detail != "full",
                    caches: run::CacheState::by_name(&self.caches).unwrap_or_default(),
                },
                no_results: self.no_results,
            }),
        })
    }
}

impl Emulate {
    /// The settings, and how the progress of long kernels is shown.
    pub(crate) fn settings(&self, progress: Progress) -> run::Emulate {
        run::Emulate {
            gpu: self.gpu.clone(),
            devices: self.devices,
            threads: self.threads,
            max_instructions: self.max_instructions,
            repeats: !self.no_repeats,
            virtual_time: self.virtual_time.map(|it| it == OnOff::On),
            autotune_limit: self.autotune_limit,
            check: self.check.clone(),
            progress,
        }
    }
}
