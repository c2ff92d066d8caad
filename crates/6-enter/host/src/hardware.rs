//! Counters of a program on a GPU: the vendor's profiler runs the program once for each pass.
//!
//! The boundary is [`Launcher`]: start a process with these arguments, say how it ended. Everything else is files. A pass
//! counts only when its process ended well, its dispatches are those of the first pass and its counters are all there;
//! then its folder gets its name, `pmc_3`, so that an interrupted recording holds finished passes only.

mod dispatches;
pub mod rocprofv3;

use crate::recording;
use anyhow::{Context, Result, bail};
use counters::{Pass, Plan};
use dispatches::Signature;
use rocprofv3::CommandLine;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Folder of the pass that runs.
const RUNNING: &str = ".running";
/// What the passes of a folder are of: a recording is resumed only when this is the same.
const PLAN: &str = ".rockhound-plan";
/// Runs of a pass whose dispatches differ from the first one's.
const TRIES: usize = 2;

/// Starts processes.
pub trait Launcher {
    /// Runs one to its end.
    fn run(&mut self, command: &CommandLine) -> std::io::Result<Ended>;
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

/// What is recorded.
#[derive(Clone, Debug)]
pub struct Request {
    /// The profiler.
    pub profiler: PathBuf,
    /// Program and its arguments.
    pub program: Vec<OsString>,
    /// Target of the GPU.
    pub target: String,
    /// Counters of each pass.
    pub plan: Plan,
    /// Regular expressions of kernels; none stands for all.
    pub kernels: Vec<String>,
    /// Folder of the recording.
    pub output: PathBuf,
    /// Passes that are there already are kept.
    pub resume: bool,
    /// Facts for `sysinfo.csv`.
    pub facts: BTreeMap<String, String>,
}

/// What happens meanwhile.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A pass begins: its number from 1, how many there are, and the time the rest takes if all take as long as those before.
    Begins(usize, usize, Option<Duration>),
    /// A pass is there from an earlier run.
    Kept(usize),
    /// A pass is run again, for a reason.
    Again(usize, &'a str),
}

/// How a recording ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// Passes that are whole.
    pub passes: usize,
    /// The program was interrupted, or a pass could not be recorded.
    pub stopped: Option<Stopped>,
}

/// Why passes are missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// By Ctrl-C.
    Interrupted,
    /// Pass, and what was wrong with it.
    Failed(usize, String),
}

/// Records all passes.
pub fn record(
    request: &Request,
    launcher: &mut dyn Launcher,
    interrupted: &dyn Fn() -> bool,
    watch: &mut dyn FnMut(Step<'_>),
) -> Result<Recorded> {
    prepare(request)?;
    let all = request.plan.passes.len();
    let mut first: Option<Signature> = None;
    let (start, mut ran) = (Instant::now(), 0u32);
    for (index, pass) in request.plan.passes.iter().enumerate() {
        let number = index + 1;
        let place = request.output.join(format!("pmc_{number}"));
        if place.is_dir() {
            first.get_or_insert(signature(&place)?);
            watch(Step::Kept(number));
            continue;
        }
        let rest = (ran > 0).then(|| start.elapsed() / ran * (all - index) as u32);
        watch(Step::Begins(number, all, rest));
        let outcome = pass_of(request, pass, number, first.as_ref(), launcher, watch);
        let running = request.output.join(RUNNING);
        match outcome {
            Ok(signature) => {
                std::fs::rename(&running, &place)
                    .with_context(|| format!("cannot make {}", place.display()))?;
                first.get_or_insert(signature);
                ran += 1;
                if interrupted() && number < all {
                    return Ok(Recorded { passes: number, stopped: Some(Stopped::Interrupted) });
                }
            }
            Err(error) => {
                let _ = std::fs::remove_dir_all(&running);
                let stopped = match interrupted() {
                    true => Stopped::Interrupted,
                    false => Stopped::Failed(number, format!("{error:#}")),
                };
                return Ok(Recorded { passes: index, stopped: Some(stopped) });
            }
        }
    }
    Ok(Recorded { passes: all, stopped: None })
}

/// Makes the folder, or looks at the one that is to be resumed.
fn prepare(request: &Request) -> Result<()> {
    let folder = &request.output;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let _ = std::fs::remove_dir_all(folder.join(RUNNING));
    let plan = describe(request);
    let file = folder.join(PLAN);
    if request.resume {
        let before = std::fs::read_to_string(&file)
            .with_context(|| format!("{} holds no recording that can be resumed", folder.display()))?;
        if before != plan {
            bail!(
                "{} was recorded with another program, other kernels or other counters\nhint: record into another folder with `-o`",
                folder.display()
            );
        }
    }
    for (name, text) in [
        (PLAN, plan),
        ("sysinfo.csv", workload::sysinfo(&request.facts)),
        (rocprofv3::EXTRA_COUNTERS, rocprofv3::extra_counters(&request.plan, &request.target)),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// What must be the same for passes to belong together.
fn describe(request: &Request) -> String {
    let mut text = format!("{}\n{:?}\n{:?}\n", request.target, request.program, request.kernels);
    for pass in &request.plan.passes {
        text.push_str(&pass.counters.join(" "));
        text.push('\n');
    }
    text
}

/// Runs one pass until its dispatches are those of the first.
fn pass_of(
    request: &Request,
    pass: &Pass,
    number: usize,
    first: Option<&Signature>,
    launcher: &mut dyn Launcher,
    watch: &mut dyn FnMut(Step<'_>),
) -> Result<Signature> {
    let folder = request.output.join(RUNNING);
    let mut difference = String::new();
    for attempt in 0..TRIES {
        if attempt > 0 {
            watch(Step::Again(number, &difference));
            std::fs::remove_dir_all(&folder)?;
        }
        let command = rocprofv3::command(request, pass, &folder);
        let ended =
            launcher.run(&command).with_context(|| format!("cannot start {}", request.profiler.display()))?;
        match ended {
            Ended::Code(0) => {}
            Ended::Code(code) => {
                bail!("the profiler or the program ended with exit code {code}; what it said is above")
            }
            Ended::Signal(signal) => bail!("the profiler was ended by signal {signal}"),
        }
        let found = signature(&folder)?;
        missing_counters(&found, pass)?;
        match first.and_then(|first| first.difference(&found)) {
            None => return Ok(found),
            Some(text) => difference = text,
        }
    }
    bail!(
        "the program did something else than in the first pass, {TRIES} times: {difference}\n\
         hint: counters of different dispatches must not be joined; make the program do the same in each run, or record \
         what one run reads: `--set`, or fewer `-b`"
    )
}

/// What was recorded in the folder of a pass.
fn signature(folder: &Path) -> Result<Signature> {
    let workload = recording::read(folder).context("what the profiler wrote cannot be read")?;
    if workload.dispatches.kernel.is_empty() {
        bail!(
            "no dispatch was recorded\nhint: does the program run kernels on this GPU, and does `-k` match one of them?"
        );
    }
    Ok(Signature::of(&workload))
}

/// Refuses a pass that lacks counters.
fn missing_counters(found: &Signature, pass: &Pass) -> Result<()> {
    let missing: Vec<String> = rocprofv3::names(pass).into_iter().filter(|name| !found.has(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    bail!(
        "the profiler recorded no {}\nhint: `rocprofv3-avail list --pmc` shows what this installation can read",
        missing.join(", ")
    )
}
