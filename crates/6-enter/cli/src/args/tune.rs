//! Flags of `tune`.

mod shapes;

use super::formats;
use super::gpu_name::GpuName;
use super::on::On;
use clap::{Args, ValueEnum};
use host::tune::Limit;
use render::Part;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use view::{Format, Searches};

pub(crate) use shapes::{Project, ShapeClock, ShapesArgs};

/// Find the fastest configuration of a kernel with few runs.
///
/// Takes a space file (parameters, constraints, and what a configuration becomes), a recorded space of Kernel
/// Tuner or T4, or a Triton script as it is. The winner is checked against the configuration in use.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound tune --init kernel.hip > tune.toml     a first space file from the macros of a kernel
  rockhound tune tune.toml --gpu mi300x            search it on an emulated MI300X
  rockhound tune tune.toml --budget 200 --seed 1   at most 200 configurations
  rockhound tune tune.toml --why TILE=64,ROWS=8  why this one is not run, or what came of it
  rockhound tune space.T4.json --budget 5%         what a search would have found in a recorded space
  rockhound tune -- python bench.py                every @triton.autotune that the script calls
  rockhound tune moe --shapes config.json --tp 8 --for vllm --gpu mi300x -o configs/   entries for a model")]
pub(crate) struct Tune {
    /// Space file (TOML), recorded space (T4, cache of Kernel Tuner), or T1, which is counted and not searched; with
    /// --shapes `gemm` or `moe`.
    #[arg(value_name = "SPACE", required_unless_present_any = ["init", "job", "program", "worker", "emit"])]
    pub(crate) space: Option<PathBuf>,
    /// Program whose autotuned Triton kernels are searched.
    #[arg(last = true, value_name = "PROGRAM", conflicts_with = "space")]
    pub(crate) program: Vec<OsString>,
    /// Search beyond the configurations that a program lists: the options of AMD GPUs and the sizes of blocks around
    /// those listed, as far as the rules of the GPU allow.
    #[arg(long, requires = "program")]
    pub(crate) widen: bool,
    /// Write patch, `triton.Config` list and files for Triton's cache of tuning results into a folder.
    #[arg(long, value_name = "FOLDER", requires = "program")]
    pub(crate) write: Option<PathBuf>,
    /// GPU to emulate.
    #[arg(long, short, alias = "arch", value_name = "GPU", value_parser = GpuName)]
    pub(crate) gpu: Option<String>,
    /// Where programs run.
    #[arg(long, value_enum, default_value_t = On::Auto, value_name = "PLACE")]
    pub(crate) on: On,
    /// Most configurations to run, as a number or a part of the valid ones (`5%`); or a limit of time: of the search
    /// (`90s`, `20m`, `2h`), or of all runs on all GPUs together (`600gpu-s`).
    #[arg(long, value_name = "RUNS", default_value = "100", value_parser = budget)]
    pub(crate) budget: Budget,
    /// How configurations are chosen.
    #[arg(long, value_enum, default_value_t = StrategyName::Model, value_name = "STRATEGY")]
    pub(crate) strategy: StrategyName,
    /// Seed; the same seed and results give the same search.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Expected times before the first run: `auto` the tile model where the space file names a product, `tile`,
    /// `emulated` the emulated clock, `none`, or a file with times of another GPU (T4, cache of Kernel Tuner).
    #[arg(long, value_name = "PRIOR", default_value = "auto", value_parser = prior)]
    pub(crate) prior: PriorName,
    /// Configurations that `--prior emulated` runs.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) prior_runs: u64,
    /// Write what was run to a file in the form T4.
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// Configurations that run at once here; by default one on a GPU, else one per core. 0: only workers elsewhere run.
    #[arg(long, short = 'j', value_name = "N")]
    pub(crate) jobs: Option<u16>,
    /// Configurations that may be out at once, on all workers together. More see fewer results before they are chosen;
    /// the number of workers changes nothing.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) lag: u32,
    /// Database of results and work: a file, or `postgres://USER@HOST/DATABASE` for workers on many machines. By default
    /// a file beside the space file; for programs `rockhound-tune.db` in the current folder.
    #[arg(long, value_name = "ADDRESS", env = "ROCKHOUND_STORE", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// Name of the study in the database; by default one that changes with everything that changes times.
    #[arg(long, value_name = "NAME")]
    pub(crate) study: Option<String>,
    /// Do not go on with results of earlier runs.
    #[arg(long, conflicts_with = "study")]
    pub(crate) fresh: bool,
    /// Times of different GPUs may be mixed.
    #[arg(long)]
    pub(crate) mix_gpus: bool,
    /// Work on a study of a database until it is closed.
    #[arg(long, requires_all = ["store", "study"], conflicts_with_all = ["space", "program", "init"])]
    pub(crate) worker: bool,
    /// Write the file that starts workers on a cluster: a batch script of Slurm, a Job of Kubernetes.
    #[arg(long, value_enum, value_name = "FORM", requires_all = ["store", "study"], conflicts_with_all = ["space", "program", "init", "worker"])]
    pub(crate) emit: Option<ClusterForm>,
    /// With --emit: workers, each with one GPU.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) workers: u32,
    /// With --emit slurm: workers of a node.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_node: u32,
    /// With --emit slurm: time of the job, as Slurm reads it.
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// With --emit slurm: partition.
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// With --emit kubernetes: image with this command and what the configurations need.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,
    /// Rows of the table of configurations; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Search nothing, and say what is known of one configuration, such as `TILE=64,ROWS=8`.
    #[arg(long, value_name = "CONFIGURATION", requires = "space")]
    pub(crate) why: Option<String>,
    /// Do not look at built code before it runs.
    #[arg(long)]
    pub(crate) no_inspect: bool,
    /// Do not check the winner's results, and do not compare it once more with the start.
    #[arg(long)]
    pub(crate) no_proof: bool,
    /// Write a first space file for a kernel's source or code object.
    #[arg(long, value_name = "SOURCE", conflicts_with = "space")]
    pub(crate) init: Option<PathBuf>,
    /// Run one configuration, as the file says; what `tune` starts for each.
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) job: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Searches::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output; with --shapes the entries, to a file or into a folder.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also write an HTML page of the searches, with convergence, landscapes and tables.
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// Exit with 2 when there is a finding of this rule, or of this severity or worse (severe, warning,
    /// info).
    #[arg(long, value_name = "RULE|SEVERITY")]
    pub(crate) fail_on: Vec<String>,
    #[command(flatten)]
    pub(crate) shapes: Box<ShapesArgs>,
    #[command(flatten)]
    pub(crate) memory: super::Memory,
}

/// Most configurations to run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Budget {
    /// A number of runs.
    Runs(u64),
    /// A share of the valid ones, percent.
    Percent(f64),
    /// As many as fit in a time.
    Time(Limit),
}

impl Budget {
    /// Configurations of a space with this number of valid ones; at least one.
    pub(crate) fn of(self, configurations: u64) -> u64 {
        match self {
            Budget::Runs(runs) => runs,
            Budget::Percent(percent) => ((configurations as f64 * percent / 100.0).round() as u64).max(1),
            Budget::Time(_) => configurations,
        }
    }

    /// The limit of time, if it is one.
    pub(crate) fn limit(self) -> Limit {
        match self {
            Budget::Time(limit) => limit,
            Budget::Runs(_) | Budget::Percent(_) => Limit::None,
        }
    }
}

/// A way to start workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ClusterForm {
    /// A batch script.
    Slurm,
    /// A Job.
    Kubernetes,
}

/// How configurations are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum StrategyName {
    /// A model of the results so far, with what is known of the GPU as its start.
    Model,
    /// In random order.
    Random,
    /// All, in their order.
    Exhaustive,
}

/// Source of expected times before the first run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PriorName {
    /// The tile model, where the space file names a product.
    Auto,
    /// Nothing.
    None,
    /// The tile model.
    Tile,
    /// The emulated clock.
    Emulated,
    /// Times of a file.
    File(PathBuf),
}

fn prior(text: &str) -> Result<PriorName, String> {
    Ok(match text {
        "auto" => PriorName::Auto,
        "none" => PriorName::None,
        "tile" => PriorName::Tile,
        "emulated" => PriorName::Emulated,
        path => PriorName::File(path.into()),
    })
}

fn budget(text: &str) -> Result<Budget, String> {
    let wrong = || {
        "write a number of runs, a percentage such as `5%`, a time such as `20m`, or `600gpu-s`".to_owned()
    };
    if let Some(limit) = time(text.trim()) {
        return limit.map(Budget::Time).ok_or_else(wrong);
    }
    match text.trim().strip_suffix('%') {
        Some(percent) => {
            let percent: f64 = percent.trim().parse().map_err(|_| wrong())?;
            if percent > 0.0 && percent <= 100.0 { Ok(Budget::Percent(percent)) } else { Err(wrong()) }
        }
        None => match text.trim().parse() {
            Ok(0) | Err(_) => Err(wrong()),
            Ok(runs) => Ok(Budget::Runs(runs)),
        },
    }
}

/// A time with its unit; `None` if the text has no unit of time, `Some(None)` if its number is none.
fn time(text: &str) -> Option<Option<Limit>> {
    let number = |text: &str, unit: f64| {
        let seconds = text.trim().parse::<f64>().ok()? * unit;
        Duration::try_from_secs_f64(seconds).ok().filter(|it| !it.is_zero())
    };
    if let Some(rest) = text.strip_suffix("gpu-s") {
        return Some(number(rest, 1.0).map(Limit::Busy));
    }
    for (unit, seconds) in [("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0)] {
        if let Some(rest) = text.strip_suffix(unit) {
            return Some(number(rest, seconds).map(Limit::Wall));
        }
    }
    None
}
