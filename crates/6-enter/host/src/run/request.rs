//! A request: a program or kernel, the GPU, and the recording to make.

use crate::braces::Values;
use crate::hardware::launcher::split_launcher;
use crate::session::Progress;
use record::{CacheState, Settings};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Instructions of one wave after which its kernel is taken for endless, unless told otherwise.
pub const MOST_INSTRUCTIONS: u64 = emu::MOST_INSTRUCTIONS;

/// A program or kernel to run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The program or kernel.
    pub what: What,
    /// The place it runs on.
    pub place: Place,
    /// Settings of an emulated GPU.
    pub emulate: Emulate,
    /// Settings of the GPU of this machine.
    pub on_gpu: OnGpu,
    /// The recording to make; without it a program only runs.
    pub record: Option<Recording>,
}

/// Something that runs.
#[derive(Clone, Debug)]
pub enum What {
    /// A program with its arguments; empty if a profiler attaches to a process.
    Program(Vec<OsString>),
    /// The kernel of a launch file, whose braces these values fill.
    LaunchFile(PathBuf, Values),
}

/// GPU or emulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// On a GPU if one can be used.
    Auto,
    /// On the GPU of this machine.
    Gpu,
    /// On an emulated GPU.
    Emulator,
}

/// Settings of an emulated GPU.
#[derive(Clone, Debug)]
pub struct Emulate {
    /// The GPU; by default the one of the code.
    pub gpu: Option<String>,
    /// Devices the program sees.
    pub devices: u32,
    /// Threads that run workgroups; 0: one per core.
    pub threads: usize,
    /// Instructions of one wave after which its kernel is taken for endless.
    pub max_instructions: u64,
    /// Launches that would do what an earlier one did are counted and not run.
    pub repeats: bool,
    /// Clocks of the program move on by modelled time; by default where it is recorded.
    pub virtual_time: Option<bool>,
    /// Configurations that an autotuner of Triton tries at most.
    pub autotune_limit: Option<u32>,
    /// Mistakes to look for instead of counting: `races`, `uninit`.
    pub check: Vec<String>,
    /// Display of the progress of long kernels of programs.
    pub progress: Progress,
}

/// Content and folder of a recording.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Name of the workload; by default the name of the program or of the launch file's folder.
    pub name: Option<String>,
    /// Folder to write, perhaps with placeholders; by default `workloads/NAME/GPU`.
    pub output: Option<PathBuf>,
    /// Replace an emulated recording in that folder.
    pub overwrite: bool,
    /// Dispatches to record.
    pub select: Selection,
    /// Panels whose counters a profiler records; of none all.
    pub blocks: Vec<String>,
    /// Record only the counters of a set that one run of the application reads.
    pub set: Option<String>,
    /// Detail of an emulated recording.
    pub detail: Detail,
    /// Dispatches that are not recorded do not run, and results are not compared.
    pub no_results: bool,
}

impl Recording {
    /// True if an emulated recording in the folder is replaced: on request, or if the same command left it in
    /// its default folder.
    pub(super) fn replaces(&self) -> bool {
        self.overwrite || self.output.is_none()
    }
}

/// Dispatches that are recorded.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Names or regular expressions of kernels; of none all.
    pub kernels: Vec<String>,
    /// Dispatches, counted from 0 in the order of their launch.
    pub dispatches: Vec<String>,
    /// Launches of each kernel, counted from 1.
    pub iterations: Vec<String>,
    /// Only the first of those selected.
    pub limit: Option<u64>,
}

/// Detail of an emulated recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Detail {
    /// Most workgroups of each dispatch that run, as samples of all.
    pub most_workgroups: Option<u64>,
    /// Predicts the time of each dispatch with one limit removed at a time.
    pub lifts_limits: bool,
    /// Changes to predict: `vgpr=96`.
    pub what_if: Vec<String>,
    /// Keeps wave events, so that predictions can be made without another run.
    pub keeps_events: bool,
    /// Models neither caches nor times.
    pub counters_only: bool,
    /// Simulates two representative XCDs if simulating all would take long.
    pub shares_xcds: bool,
    /// Lines that dispatches find in the caches.
    pub caches: CacheState,
}

impl From<&Detail> for Settings {
    fn from(detail: &Detail) -> Settings {
        Settings {
            most_workgroups: detail.most_workgroups,
            lifts_limits: detail.lifts_limits,
            what_if: detail.what_if.clone(),
            keeps_events: detail.keeps_events,
            counters_only: detail.counters_only,
            shares_xcds: detail.shares_xcds,
            caches: detail.caches,
        }
    }
}

/// Settings of a recording on the GPU of this machine.
#[derive(Clone, Debug)]
pub struct OnGpu {
    /// Profiler, in place of the one in `PATH`.
    pub profiler: Option<PathBuf>,
    /// Keep the passes that the folder holds, and record the rest.
    pub resume: bool,
    /// Suppress the standard output of the program.
    pub silent: bool,
    /// Runs of each pass.
    pub repeat: u64,
    /// Run the program once: which dispatches count as the same.
    pub iteration_multiplexing: Option<Repeated>,
    /// Sample the program counter too.
    pub pc_sampling: Option<Sampling>,
    /// Cycles or microseconds between samples.
    pub pc_sampling_interval: Option<u64>,
    /// Trace every instruction of the waves of one compute unit.
    pub thread_trace: bool,
    /// Dispatches of each kernel that are traced.
    pub trace_dispatches: u64,
    /// End the run of the thread trace when it has written this many MB.
    pub trace_limit: u64,
    /// This process is one rank of several; `auto` takes the launcher's number.
    pub rank: Option<String>,
    /// A process that runs already.
    pub attach: Option<u32>,
    /// For how long a process is attached to, in milliseconds.
    pub attach_duration: u64,
    /// Collection periods in milliseconds: `DELAY:TIME:REPEAT`.
    pub collection_period: Option<String>,
}

impl Default for OnGpu {
    fn default() -> OnGpu {
        OnGpu {
            profiler: None,
            resume: false,
            silent: false,
            repeat: 1,
            iteration_multiplexing: None,
            pc_sampling: None,
            pc_sampling_interval: None,
            thread_trace: false,
            trace_dispatches: 2,
            trace_limit: 4096,
            rank: None,
            attach: None,
            attach_duration: 5000,
            collection_period: None,
        }
    }
}

/// Dispatches that count as the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeated {
    /// Same kernel.
    Kernel,
    /// Same kernel and launch sizes.
    KernelAndSizes,
}

/// Method of sampling the program counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sampling {
    /// The best that the GPU has.
    Auto,
    /// The host interrupts waves.
    HostTrap,
    /// The hardware takes samples, with the reason why a wave does not issue.
    Stochastic,
}

impl Request {
    /// The program and its arguments; empty for a launch file.
    pub(super) fn program(&self) -> &[OsString] {
        match &self.what {
            What::Program(words) => words,
            What::LaunchFile(..) => &[],
        }
    }

    /// Name of the workload of a program.
    pub(super) fn program_name(&self, name: Option<&str>) -> String {
        if let Some(name) = name {
            return name.to_owned();
        }
        if let Some(pid) = self.on_gpu.attach {
            return format!("process-{pid}");
        }
        let program = self.program();
        let words = ranks(program).map_or(program, |(_, program)| program);
        let is_python = |word: &OsString| Path::new(word).file_name().is_some_and(is_python);
        // A script is called by its own name.
        let script = words.iter().skip(1).find(|it| it.to_string_lossy().ends_with(".py"));
        let program = script.filter(|_| words.first().is_some_and(is_python)).or(words.first());
        let file = program.and_then(|it| Path::new(it).file_stem());
        file.map_or_else(|| "program".to_owned(), |it| it.to_string_lossy().into_owned())
    }
}

/// The launcher of ranks and the program it starts, if the command has one.
fn ranks(program: &[OsString]) -> Option<(&[OsString], &[OsString])> {
    split_launcher(program).ok().flatten().map(|at| program.split_at(at))
}

/// True if a file name is Python's: `python`, `python3.12`.
fn is_python(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    name.strip_prefix("python").is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_digit() || it == b'.'))
}
