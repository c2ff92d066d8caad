//! Options of `profile` on a GPU of this machine.

use clap::{Args, ValueEnum};
use host::run;
use std::path::PathBuf;

/// Scope of a recording on a GPU.
#[derive(Args)]
#[command(next_help_heading = "On a GPU")]
pub(crate) struct OnGpu {
    /// Profiler, in place of the rocprofv3, rocprofv2 or rocprof in PATH.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) profiler: Option<PathBuf>,
    /// Keep the passes that the folder holds, and record the rest.
    #[arg(long, conflicts_with_all = ["file", "overwrite"])]
    pub(crate) resume: bool,
    /// Run each pass this many times: values are medians over the runs, and `analyze -b 0.8` shows the
    /// run-to-run spread.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["file", "attach", "iteration_multiplexing"], value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) repeat: u64,
    /// Run the program once: each dispatch has the counters of another pass, and what it lacks is the mean
    /// over dispatches of its kernel that have it, with the standard error. By default only those with the
    /// same sizes count as the same.
    #[arg(long, value_enum, value_name = "SAME", num_args = 0..=1, default_missing_value = "kernel_launch_params", conflicts_with_all = ["file", "attach", "collection_period"])]
    pub(crate) iteration_multiplexing: Option<Same>,
    /// Sample the program counter too, in a separate run: which instructions waves are at, and with
    /// `stochastic` why they do not issue. Without a method the best that the GPU has.
    #[arg(long, value_enum, value_name = "METHOD", num_args = 0..=1, default_missing_value = "auto", conflicts_with = "file")]
    pub(crate) pc_sampling: Option<Method>,
    /// Cycles between samples (`stochastic`, a power of two), or microseconds (`host-trap`); by default
    /// 1048576 cycles or 10 us.
    #[arg(long, value_name = "N", requires = "pc_sampling", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) pc_sampling_interval: Option<u64>,
    /// Trace every instruction of the waves of one compute unit of the kernels of `-k`, in a separate run.
    #[arg(long, requires = "kernel", conflicts_with = "file")]
    pub(crate) thread_trace: bool,
    /// Dispatches of each kernel that are traced, the first ones.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) trace_dispatches: u64,
    /// End the run of the thread trace when it has written this many MB.
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) trace_limit: u64,
    /// This process is one rank of several: it records into a folder of its number below the output folder.
    /// `auto` takes the number that mpirun, srun or the MPI library gave it.
    #[arg(long, value_name = "RANK", conflicts_with = "file")]
    pub(crate) rank: Option<String>,
    /// Record a process that runs already, started with `ROCP_TOOL_ATTACH=1`, in place of a program; only
    /// what one run reads.
    #[arg(long, value_name = "PID", conflicts_with_all = ["file", "program", "pc_sampling", "thread_trace"])]
    pub(crate) attach: Option<u32>,
    /// For how long a process is attached to, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) attach_duration: u64,
    /// Count only part of the time, in milliseconds: a delay, a duration, and the number of repetitions; only
    /// counters that one run reads.
    #[arg(long, value_name = "DELAY:TIME:REPEAT", conflicts_with_all = ["file", "attach"])]
    pub(crate) collection_period: Option<String>,
}

impl From<&OnGpu> for run::OnGpu {
    fn from(args: &OnGpu) -> Self {
        run::OnGpu {
            profiler: args.profiler.clone(),
            resume: args.resume,
            silent: false,
            repeat: args.repeat,
            iteration_multiplexing: args.iteration_multiplexing.map(Into::into),
            pc_sampling: args.pc_sampling.map(Into::into),
            pc_sampling_interval: args.pc_sampling_interval,
            thread_trace: args.thread_trace,
            trace_dispatches: args.trace_dispatches,
            trace_limit: args.trace_limit,
            rank: args.rank.clone(),
            attach: args.attach,
            attach_duration: args.attach_duration,
            collection_period: args.collection_period.clone(),
        }
    }
}

impl From<Same> for run::Repeated {
    fn from(same: Same) -> Self {
        match same {
            Same::Kernel => Self::Kernel,
            Same::KernelLaunchParams => Self::KernelAndSizes,
        }
    }
}

impl From<Method> for run::Sampling {
    fn from(method: Method) -> Self {
        match method {
            Method::Auto => Self::Auto,
            Method::HostTrap => Self::HostTrap,
            Method::Stochastic => Self::Stochastic,
        }
    }
}

/// Dispatches that count as the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Same {
    /// Same kernel.
    Kernel,
    /// Same kernel and launch sizes.
    KernelLaunchParams,
}

/// Method of sampling the program counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Method {
    /// The best that the GPU has.
    Auto,
    /// The host interrupts waves.
    HostTrap,
    /// The hardware takes samples, with the reason why a wave does not issue.
    Stochastic,
}
