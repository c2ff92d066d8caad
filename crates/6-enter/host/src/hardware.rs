//! Counters, samples and traces of a program on a GPU: the vendor's profiler runs the program once for each.
//!
//! The boundary is [`Launcher`]: start a process with these arguments and report how it ended. Everything
//! else is files. A pass counts only when its process ended well, its dispatches equal the first pass's and
//! its counters are all there; then its folder gets its name, `pmc_3`, so that an interrupted recording holds
//! finished passes only.

mod dispatches;
mod folders;
pub mod launcher;
mod rocprof;
pub mod rocprofv3;
pub mod sensors;
pub mod tool;
pub mod version;

use anyhow::{Context, Result, bail};
use counters::{Pass, Plan};
use dispatches::Signature;
use folders::{Signatures, signatures};
use rocprofv3::CommandLine;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tool::Tool;

/// Runs of a pass whose dispatches differ from the first one's.
const TRIES: usize = 2;

/// Beginning of the reason for a failed pass whose dispatches differ in each run.
pub const DIFFERENT: &str = "the program did something else than in the first pass";

/// Starts processes.
pub trait Launcher {
    /// Runs one to its end.
    fn run(&mut self, command: &CommandLine) -> std::io::Result<Ended>;
}

/// End of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Killed by us: it had written this many bytes, more than its limit.
    TooMuch(u64),
}

/// The recording to make.
#[derive(Clone, Debug)]
pub struct Request {
    /// The profiler.
    pub profiler: PathBuf,
    /// The profiler of the vendor.
    pub tool: Tool,
    /// Program and its arguments; empty if attaching to a process.
    pub program: Vec<OsString>,
    /// Command that starts the ranks of the program: `mpirun -n 4`.
    pub launcher: Option<Vec<OsString>>,
    /// A process that runs already.
    pub attach: Option<Attach>,
    /// Collection periods of counters, in milliseconds: `DELAY:TIME:REPEAT`.
    pub collection_period: Option<String>,
    /// Target of the GPU.
    pub target: String,
    /// Counters of each pass.
    pub plan: Plan,
    /// Runs of each counter pass; more than one give medians and the run-to-run spread.
    pub repeat: usize,
    /// All passes in one run, each dispatch with the counters of the next: which dispatches repeat each other
    /// then.
    pub multiplexing: Option<Multiplexing>,
    /// Samples of the program counter, in a separate run.
    pub samples: Option<Samples>,
    /// Thread trace, in a separate run.
    pub trace: Option<ThreadTrace>,
    /// Regular expressions of kernels; empty: all.
    pub kernels: Vec<String>,
    /// First and last launch of each kernel, counted from 1; empty: all.
    pub iterations: Vec<(u64, u64)>,
    /// Folder of the recording.
    pub output: PathBuf,
    /// Keeps the passes of an earlier run.
    pub resume: bool,
    /// Suppresses the standard output of the program in the first pass, too.
    pub silent: bool,
    /// Facts for `sysinfo.csv`.
    pub facts: BTreeMap<String, String>,
}

/// Dispatches that count as repetitions of each other if each has the counters of one pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Multiplexing {
    /// Same kernel.
    Kernel,
    /// Same kernel and launch sizes.
    KernelAndSizes,
}

impl Multiplexing {
    /// Value in `profiling_config.yaml`.
    pub const fn setting(self) -> &'static str {
        match self {
            Multiplexing::Kernel => "kernel",
            Multiplexing::KernelAndSizes => "kernel_launch_params",
        }
    }
}

/// A process to attach to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attach {
    /// Its number.
    pub pid: u32,
    /// For how long.
    pub milliseconds: u64,
}

/// Method of sampling the program counter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Samples {
    /// `host-trap` or `stochastic`, as the table of features names it.
    pub method: String,
    /// Microseconds or cycles between samples.
    pub interval: u64,
}

/// Scope and size limit of a thread trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadTrace {
    /// Compute unit of each shader engine.
    pub compute_unit: u32,
    /// Shader engines, one bit each.
    pub engines: u32,
    /// Bytes of trace of one dispatch and shader engine before it is decoded.
    pub buffer: u64,
    /// Dispatches of each kernel, the first ones.
    pub dispatches: u64,
    /// Bytes that may be written in all before the run is ended.
    pub limit: u64,
}

/// One run of the program.
#[derive(Clone, Copy, Debug)]
pub enum Run<'a> {
    /// For the times of dispatches only, which the first profilers get wrong while counting.
    Times,
    /// For counters.
    Counters(&'a Pass),
    /// Counters, the next pass at each dispatch.
    Rotating(&'a [Pass]),
    /// For samples of the program counter.
    Samples(&'a Samples),
    /// For a thread trace.
    Trace(&'a ThreadTrace),
}

impl Run<'_> {
    /// Name of its folder; `number` counts from 1.
    fn folder(&self, number: usize) -> String {
        match self {
            Run::Times => folders::TIMES.to_owned(),
            Run::Counters(_) | Run::Rotating(_) => format!("pmc_{number}"),
            Run::Samples(_) => "pc_sampling".to_owned(),
            Run::Trace(_) => "thread_trace".to_owned(),
        }
    }

    /// Purpose of the run, unless it reads counters.
    pub const fn purpose(&self) -> Option<&'static str> {
        match self {
            Run::Counters(_) => None,
            Run::Times => Some("times of the dispatches"),
            Run::Rotating(_) => Some("each dispatch has another set of counters"),
            Run::Samples(_) => Some("samples of the program counter"),
            Run::Trace(_) => Some("thread trace"),
        }
    }
}

impl Request {
    /// All runs in their order.
    pub fn runs(&self) -> Vec<Run<'_>> {
        let passes = &self.plan.passes[..];
        let rotates = self.multiplexing.is_some() && !passes.is_empty();
        let counters: Vec<Run<'_>> = match rotates {
            true => vec![Run::Rotating(passes)],
            false => passes.iter().map(Run::Counters).collect(),
        };
        let apart = self.tool.is_predecessor() && !passes.is_empty();
        let times = apart.then_some(Run::Times);
        times
            .into_iter()
            .chain(counters)
            .chain(self.samples.iter().map(Run::Samples))
            .chain(self.trace.iter().map(Run::Trace))
            .collect()
    }
}

/// Progress of a recording.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A pass begins: its number from 1, the number of passes, the estimated remaining time, and the purpose.
    Begins(usize, usize, Option<Duration>, Option<&'static str>),
    /// A pass is repeated to measure the run-to-run spread: its number, the run, and the number of runs.
    Repeats(usize, usize, usize),
    /// A note on the recording.
    Note(&'a str),
    /// A pass is kept from an earlier run.
    Kept(usize),
    /// A pass is run again, for a reason.
    Again(usize, &'a str),
    /// A pass is whole.
    Done(usize),
}

/// Result of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// Passes that are whole.
    pub passes: usize,
    /// The program was interrupted, or a pass could not be recorded.
    pub stopped: Option<Stopped>,
}

/// Reason for missing passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// By Ctrl-C.
    Interrupted,
    /// Pass, and its failure.
    Failed(usize, String),
}

/// Records all passes.
pub fn record(
    request: &Request,
    launcher: &mut dyn Launcher,
    interrupted: &dyn Fn() -> bool,
    watch: &mut dyn FnMut(Step<'_>),
) -> Result<Recorded> {
    folders::prepare(request)?;
    let runs = request.runs();
    let all = runs.len();
    let mut first: Option<Signatures> = None;
    let (start, mut ran) = (Instant::now(), 0u32);
    for (index, run) in runs.iter().enumerate() {
        let number = index + 1;
        // Passes are counted without the run for times before them.
        let name = run.folder(number - usize::from(matches!(runs[0], Run::Times)));
        if let Some(kept) = folders::kept(request, run, &name, first.as_ref())? {
            first = first.or(kept);
            watch(Step::Kept(number));
            continue;
        }
        let rest = (ran > 0).then(|| start.elapsed() / ran * (all - index) as u32);
        watch(Step::Begins(number, all, rest, run.purpose()));
        let mut one = One { request, run, number, silent: ran > 0 || request.silent, launcher, watch };
        let stopped = match one.record(first.as_ref()) {
            Ok(signatures) => {
                folders::keep(request, &name)?;
                first = first.or(signatures);
                ran += 1;
                watch(Step::Done(number));
                if !interrupted() || number == all {
                    continue;
                }
                return Ok(Recorded { passes: number, stopped: Some(Stopped::Interrupted) });
            }
            Err(_) if interrupted() => Stopped::Interrupted,
            Err(error) => Stopped::Failed(number, format!("{error:#}")),
        };
        folders::discard(request);
        return Ok(Recorded { passes: index, stopped: Some(stopped) });
    }
    Ok(Recorded { passes: all, stopped: None })
}

/// One run, and who carries it out.
struct One<'a> {
    request: &'a Request,
    run: &'a Run<'a>,
    number: usize,
    /// Suppresses output that an earlier pass has shown.
    silent: bool,
    launcher: &'a mut dyn Launcher,
    watch: &'a mut dyn FnMut(Step<'_>),
}

impl One<'_> {
    /// Runs the program until the recorded dispatches match the first pass.
    fn record(&mut self, first: Option<&Signatures>) -> Result<Option<Signatures>> {
        let folder = folders::running(self.request);
        let passes: &[Pass] = match self.run {
            Run::Counters(pass) => std::slice::from_ref(pass),
            Run::Rotating(passes) => passes,
            Run::Times => return self.counters(&[], first, &folder).map(Some),
            Run::Samples(_) | Run::Trace(_) => {
                self.launch(&folder)?;
                folders::check_extra(&folder, self.run)?;
                return Ok(None);
            }
        };
        if self.request.repeat <= 1 {
            return self.counters(passes, first, &folder).map(Some);
        }
        let mut found: Option<Signatures> = None;
        for number in 1..=self.request.repeat {
            if number > 1 {
                (self.watch)(Step::Repeats(self.number, number, self.request.repeat));
            }
            let run = folder.join(workload::repeated_run(number));
            let own = self.counters(passes, first.or(found.as_ref()), &run)?;
            found = found.or(Some(own));
            self.silent = true;
        }
        Ok(found)
    }

    /// One run for counters, and another one where its dispatches differ from those before.
    fn counters(&mut self, passes: &[Pass], first: Option<&Signatures>, folder: &Path) -> Result<Signatures> {
        let mut difference = String::new();
        for attempt in 0..TRIES {
            if attempt > 0 {
                (self.watch)(Step::Again(self.number, &difference));
                std::fs::remove_dir_all(folder)?;
            }
            self.launch(folder)?;
            let found = signatures(self.request, folder)?;
            for signature in found.values() {
                match self.run {
                    Run::Rotating(_) => self.note_unread(signature, passes)?,
                    _ => passes
                        .iter()
                        .try_for_each(|pass| missing_counters(signature, pass, self.request.tool))?,
                }
            }
            match first.and_then(|first| folders::difference(first, &found)) {
                None => return Ok(found),
                Some(text) => difference = text,
            }
        }
        bail!(
            "{DIFFERENT}, {TRIES} times: {difference}\n\
             hint: counters of different dispatches must not be joined; make the program do the same in each run, record \
             what one run reads (`--set`, or fewer `-b`; `--list-sets` names sets), or take turns within one run: `--iteration-multiplexing`"
        )
    }

    /// Says which sets of counters no dispatch had.
    fn note_unread(&mut self, found: &Signature, passes: &[Pass]) -> Result<()> {
        let is_read = |name: &String| found.has(name) || found.gaps(name).is_some();
        let unread = passes.iter().filter(|pass| !rocprofv3::names(pass).iter().all(is_read)).count();
        match unread {
            0 => Ok(()),
            all if all == passes.len() => bail!(
                "the profiler recorded none of the counters\nhint: `rocprofv3-avail list --pmc` shows what this installation can read"
            ),
            some => {
                let text = format!(
                    "{some} of {} sets of counters were read in no dispatch: there are too few dispatches, {}; what needs these counters is not recorded",
                    passes.len(),
                    found.len()
                );
                (self.watch)(Step::Note(&text));
                Ok(())
            }
        }
    }

    /// Starts the profiler and waits for its end.
    fn launch(&mut self, folder: &Path) -> Result<()> {
        let old = self.request.tool.is_predecessor();
        let command = if old { rocprof::command } else { rocprofv3::command };
        let mut command = command(self.request, self.run, folder).map_err(|lacks| {
            anyhow::anyhow!("{lacks}\nhint: a newer ROCm has it; `--profiler FILE` names another profiler")
        })?;
        if old {
            rocprof::prepare(self.run, folder)?;
        }
        command.silent = self.silent || self.number > 1 && self.request.resume;
        let started = self.launcher.run(&command);
        match started.with_context(|| format!("cannot start {}", command.program.display()))? {
            Ended::Code(0) if old => rocprof::translate(self.request, self.run, folder),
            Ended::Code(0) => Ok(()),
            Ended::Code(code) => {
                bail!("the profiler or the program ended with exit code {code}; what it said is above")
            }
            Ended::Signal(signal) => bail!("the profiler was ended by signal {signal}"),
            Ended::TooMuch(bytes) => bail!(
                "it was ended: it had written {} MB, and {} were allowed\nhint: trace fewer kernels (`-k`), or allow more with `--trace-limit`",
                bytes / 1_000_000,
                command.limit.map_or(0, |(_, limit)| limit / 1_000_000)
            ),
        }
    }
}

/// Refuses a pass that lacks counters.
fn missing_counters(found: &Signature, pass: &Pass, tool: Tool) -> Result<()> {
    let missing: Vec<String> = rocprofv3::names(pass).into_iter().filter(|name| !found.has(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if let Some(gaps) = missing.iter().find_map(|name| found.gaps(name)) {
        bail!(
            "{gaps} dispatches have no {}\nhint: what the profiler wrote is cut off; is the disk full, or was it ended?",
            missing.join(", ")
        );
    }
    bail!(
        "the profiler recorded no {}\nhint: `{}` shows what this installation can read",
        missing.join(", "),
        tool.shows_counters()
    )
}

/// Takes counters out of a plan that an installed profiler does not list; those are returned.
pub fn drop_unknown(plan: &mut Plan, listed: &[String]) -> Vec<String> {
    if listed.is_empty() {
        return Vec::new();
    }
    let is_known = |name: &str| {
        name == rocprofv3::ACCUMULATOR
            || listed.iter().any(|it| *it == name || it.strip_suffix("_sum") == Some(name))
    };
    let mut unknown = Vec::new();
    for pass in &mut plan.passes {
        if pass.level.as_deref().is_some_and(|level| !is_known(level)) {
            pass.level = None;
            pass.counters.retain(|name| name != rocprofv3::ACCUMULATOR);
        }
        pass.counters.retain(|name| {
            let known = is_known(name);
            if !known && !unknown.contains(name) {
                unknown.push(name.clone());
            }
            known
        });
    }
    plan.passes.retain(|pass| !pass.counters.is_empty());
    unknown
}

/// Signature of a folder that a profiler wrote; the error says why it has none.
fn signature(folder: &Path) -> Result<Signature> {
    let workload =
        crate::recording::read(&folder.into()).context("what the profiler wrote cannot be read")?;
    if workload.dispatches.kernel.is_empty() {
        bail!(
            "no dispatch was recorded\nhint: does the program run kernels on this GPU, and does `-k` match one of them?"
        );
    }
    Ok(Signature::of(&workload))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_the_profiler_does_not_list_are_left_out() {
        let pass = |level: Option<&str>, counters: &[&str]| Pass {
            level: level.map(str::to_owned),
            counters: counters.iter().map(|it| it.to_string()).collect(),
        };
        let plan = || Plan {
            passes: vec![
                pass(None, &["SQ_WAVES", "TCC_HIT"]),
                pass(Some("SQ_LEVEL_WAVES"), &["SQ_LEVEL_WAVES", rocprofv3::ACCUMULATOR]),
                pass(None, &["SQ_NEW"]),
            ],
        };
        let mut kept = plan();
        assert!(drop_unknown(&mut kept, &[]).is_empty(), "a profiler that lists nothing is believed");
        assert_eq!(kept, plan());
        let unknown = drop_unknown(&mut kept, &["SQ_WAVES", "TCC_HIT_sum"].map(str::to_owned));
        assert_eq!(unknown, ["SQ_LEVEL_WAVES", "SQ_NEW"]);
        assert_eq!(kept.passes, [pass(None, &["SQ_WAVES", "TCC_HIT"])]);
    }
}
