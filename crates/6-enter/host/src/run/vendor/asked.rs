//! Request of a `profile` command line on a GPU: passes, samples, traces, ranks.
//!
//! Features that the installed profiler or the GPU lacks are reported before the program runs.

use super::Gpu;
use crate::hardware::launcher::{answer, ask, rank, split_launcher};
use crate::hardware::tool::Tool;
use crate::hardware::version::{NEWEST, Version, has_thread_trace, sampling_methods};
use crate::hardware::{Attach, Multiplexing, Request, Samples, ThreadTrace, drop_unknown};
use crate::run::request::{OnGpu, Recording, Repeated, Request as Wish, Sampling};
use crate::usage;
use analysis::workload::{Blocks, iteration_ranges, needs};
use anyhow::Result;
use arch::Target;
use counters::{Plan, catalogue, plan};
use metrics::{Definitions, Set};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Compute unit that is traced: the profiler's own choice.
const TRACED_UNIT: u32 = 1;
/// Bytes of trace of a dispatch before it is decoded.
const TRACE_BUFFER: u64 = 256 << 20;
/// Hint on recording ranks one by one.
const EACH_RANK: &str = "start each rank: `mpirun … rockhound profile --rank auto -- PROGRAM`";
/// Default sampling intervals: cycles for hardware sampling, microseconds for host sampling.
const INTERVALS: [u64; 2] = [1 << 20, 10];

/// Recording to make, and messages to print before it.
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) notes: Vec<String>,
}

/// Number of a rank as it was given, or as a launcher says.
pub(super) fn rank_number(text: &str) -> Result<String> {
    if text != "auto" {
        return match text.parse::<u32>() {
            Ok(number) => Ok(number.to_string()),
            Err(_) => {
                Err(usage(format!("`--rank {text}` is no number"), "`--rank auto` takes the launcher's"))
            }
        };
    }
    match rank(&|name| std::env::var(name).ok()) {
        Some((number, _)) => Ok(number.to_string()),
        None => Err(usage(
            "no launcher gave this process a rank",
            "start it with mpirun or srun, or give the number: `--rank 3`",
        )),
    }
}

/// Makes the request of a command line.
pub(super) fn asked(
    wish: &Wish,
    recording: &Recording,
    profiler: PathBuf,
    gpu: &Gpu,
    output: PathBuf,
) -> Result<Asked> {
    let OnGpu { attach, attach_duration, collection_period, resume, .. } = &wish.on_gpu;
    let mut notes = Vec::new();
    let tool = tool(&profiler, &mut notes);
    let mut plan = passes(recording, gpu.target)?;
    let unknown = drop_unknown(&mut plan, &listed(&profiler, tool, gpu.target.name));
    notes.extend(left_out(&unknown, plan.passes.is_empty())?);
    if !gpu.others.is_empty() {
        notes.push(format!(
            "note: the machine has GPUs of other targets ({}); counters are those of {}. `HIP_VISIBLE_DEVICES` chooses GPUs",
            gpu.others.join(", "),
            gpu.target.name
        ));
    }
    let (launcher, program) = launcher(wish, tool)?;
    let samples = samples(wish, gpu.target, tool)?;
    let trace = trace(wish, gpu.target, tool, &mut notes)?;
    let one_run = |option: &str| {
        if plan.passes.len() <= 1 {
            Ok(())
        } else {
            Err(usage(
                format!("`{option}` records one run, and what is asked for needs {}", plan.passes.len()),
                "choose a set (`--list-sets`), or fewer blocks with `-b`",
            ))
        }
    };
    if attach.is_some() {
        one_run("--attach")?;
        supported(tool.arguments("attach", &[]))?;
    }
    if let Some(period) = collection_period {
        one_run("--collection-period")?;
        supported(tool.arguments("collection-period", &[]))?;
        check_period(period)?;
    }
    let multiplexes = wish.on_gpu.iteration_multiplexing.is_some();
    if wish.on_gpu.rank.is_some() && plan.passes.len() > 1 && !multiplexes {
        notes.push(
            "note: each rank runs the program once for each pass under one launcher, which most MPI libraries allow once; `rockhound profile -- mpirun … PROGRAM` starts all ranks anew"
                .to_owned(),
        );
    }
    if plan.passes.is_empty() && samples.is_none() && trace.is_none() {
        return Err(usage("what is asked for needs no counter", "choose other blocks with `-b`"));
    }
    let multiplexing = multiplexing(wish, tool)?;
    let attach = attach.map(|pid| Attach { pid, milliseconds: *attach_duration });
    let request = Request {
        facts: gpu.facts(&wish.program_name(recording.name.as_deref()), wish),
        profiler,
        tool,
        program,
        launcher,
        attach,
        collection_period: collection_period.clone(),
        target: gpu.target.name.to_owned(),
        plan,
        repeat: wish.on_gpu.repeat as usize,
        multiplexing,
        samples,
        trace,
        kernels: recording.select.kernels.clone(),
        iterations: iterations(recording, tool)?,
        output,
        resume: *resume,
        silent: wish.on_gpu.silent,
    };
    Ok(Asked { request, notes })
}

/// Which dispatches repeat each other, if the program is to run once.
fn multiplexing(wish: &Wish, tool: Tool) -> Result<Option<Multiplexing>> {
    let Some(same) = wish.on_gpu.iteration_multiplexing else { return Ok(None) };
    supported(tool.arguments("multiplexing", &[]))?;
    Ok(Some(match same {
        Repeated::Kernel => Multiplexing::Kernel,
        Repeated::KernelAndSizes => Multiplexing::KernelAndSizes,
    }))
}

/// Launches of one kernel that a range may hold: the profiler keeps a list of them.
const MOST_ITERATIONS: u64 = 1_000_000;

/// The launches of each kernel that are counted, as the profiler takes them.
fn iterations(recording: &Recording, tool: Tool) -> Result<Vec<(u64, u64)>> {
    let texts = &recording.select.iterations;
    let ranges = iteration_ranges(texts)?;
    if ranges.is_empty() {
        return Ok(ranges);
    }
    if tool.is_predecessor() {
        return Err(usage(
            "a profiler older than rocprofv3 counts every launch, so `--kernel-iteration-range` selects nothing",
            "select with `--kernel-iteration-range` of `rockhound analyze` afterwards",
        ));
    }
    supported(tool.arguments("iterations", &[]))?;
    match ranges.iter().find(|(first, last)| last.saturating_sub(*first) >= MOST_ITERATIONS) {
        Some((first, _)) => Err(usage(
            format!("`--kernel-iteration-range {}`: the profiler takes ranges with an end", texts.join(" ")),
            format!("give one, such as `{first}-{}`", first.saturating_add(99)),
        )),
        None => Ok(ranges),
    }
}

/// Counters that the profiler knows; empty if it cannot list all of them, and then none is refused.
fn listed(profiler: &Path, tool: Tool, target: &str) -> Vec<String> {
    let ask = if tool.is_predecessor() { answer } else { ask };
    let lists: Option<Vec<String>> = tool.listing().iter().map(|words| ask(profiler, words)).collect();
    let lists = lists.unwrap_or_default();
    let named: Vec<Vec<&str>> = lists.iter().map(|text| tool.listed(text, target)).collect();
    if named.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    named.concat().into_iter().map(str::to_owned).collect()
}

/// Message about counters that the profiler does not know; an error if no other was requested.
fn left_out(unknown: &[String], nothing_left: bool) -> Result<Option<String>> {
    let names = unknown.join(", ");
    match (unknown.is_empty(), nothing_left) {
        (true, _) => Ok(None),
        (false, true) => Err(usage(
            format!("this profiler knows none of the counters that are asked for: {names}"),
            "choose other blocks with `-b`, or another profiler with `--profiler`",
        )),
        (false, false) => Ok(Some(format!(
            "warning: this profiler does not know {} of the counters; what needs them is not recorded: {names}",
            unknown.len()
        ))),
    }
}

fn supported<T>(words: Result<T, String>) -> Result<()> {
    let newer = "a newer ROCm has it; `--profiler FILE` names another profiler";
    words.map(drop).map_err(|lacks| usage(lacks, newer))
}

/// The profiler's kind.
fn tool(profiler: &Path, notes: &mut Vec<String>) -> Tool {
    let Some(tool) = Tool::predecessor(profiler) else {
        return Tool::Rocprofv3(version(profiler, notes));
    };
    notes.push(format!(
        "note: {} is older than rocprofv3, which came with ROCm 6.2: all kernels are counted and those of `-k` kept, and times of dispatches come from a run of their own",
        tool.name()
    ));
    tool
}

/// The profiler's version, as it says itself.
fn version(profiler: &Path, notes: &mut Vec<String>) -> Version {
    let said = ask(profiler, &["--version".into()]).as_deref().and_then(Version::find);
    match said {
        Some(version) if version > NEWEST => notes.push(format!(
            "note: rocprofv3 {version} is newer than {NEWEST}, the newest that is known; it is used as that one"
        )),
        Some(_) => {}
        None if profiler.is_file() => notes.push(format!(
            "note: {} does not say its version; it is used as {}, which came with ROCm 6.4",
            profiler.display(),
            Version::SILENT
        )),
        None => {}
    }
    said.unwrap_or(Version::SILENT)
}

/// Command that starts ranks, and the program.
fn launcher(wish: &Wish, tool: Tool) -> Result<(Option<Vec<OsString>>, Vec<OsString>)> {
    let at = split_launcher(wish.program()).map_err(|word| {
        usage(
            format!("where the launcher ends and the program begins cannot be told: `{word}` is not known"),
            EACH_RANK,
        )
    })?;
    let Some(at) = at else {
        return match wish.program().iter().find(|word| tool.changes(word)) {
            Some(word) => Err(usage(
                format!("{} hands the program to a shell, which changes `{}`", tool.name(), word.display()),
                "put the command into a script",
            )),
            None => Ok((None, wish.program().to_vec())),
        };
    };
    let alone = [
        ("--pc-sampling", wish.on_gpu.pc_sampling.is_some()),
        ("--thread-trace", wish.on_gpu.thread_trace),
        ("--rank", wish.on_gpu.rank.is_some()),
    ];
    if let Some((option, _)) = alone.iter().find(|(_, given)| *given) {
        return Err(usage(
            format!("`{option}` is for one process, and a launcher starts several"),
            EACH_RANK,
        ));
    }
    if tool.is_predecessor() {
        return Err(usage(format!("{} cannot tell the ranks of a launcher apart", tool.name()), EACH_RANK));
    }
    let (launcher, program) = wish.program().split_at(at);
    Ok((Some(launcher.to_vec()), program.to_vec()))
}

fn samples(wish: &Wish, target: &Target, tool: Tool) -> Result<Option<Samples>> {
    let Some(asked) = wish.on_gpu.pc_sampling else { return Ok(None) };
    let methods = sampling_methods(target.name);
    let wanted = match asked {
        Sampling::HostTrap => "host-trap",
        Sampling::Stochastic => "stochastic",
        // The best that both the GPU and this profiler have.
        Sampling::Auto => {
            let known = methods.iter().find(|method| tool.arguments(method, &[]).is_ok());
            known.or(methods.first()).copied().unwrap_or("host-trap")
        }
    };
    if !methods.contains(&wanted) {
        let others = if methods.is_empty() { "none".to_owned() } else { methods.join(", ") };
        return Err(usage(
            format!("{} has no `{wanted}` sampling of the program counter", target.name),
            format!("what it has: {others}"),
        ));
    }
    supported(tool.arguments(wanted, &[]))?;
    let default = INTERVALS[usize::from(wanted == "host-trap")];
    let interval = wish.on_gpu.pc_sampling_interval.unwrap_or(default);
    if wanted == "stochastic" && !interval.is_power_of_two() {
        return Err(usage(
            format!("`--pc-sampling-interval {interval}`: the hardware takes powers of two"),
            format!("{} is the next one", interval.next_power_of_two()),
        ));
    }
    Ok(Some(Samples { method: wanted.to_owned(), interval }))
}

fn trace(wish: &Wish, target: &Target, tool: Tool, notes: &mut Vec<String>) -> Result<Option<ThreadTrace>> {
    if !wish.on_gpu.thread_trace {
        return Ok(None);
    }
    if !has_thread_trace(target.name) {
        return Err(usage(format!("{} has no thread trace", target.name), "leave out `--thread-trace`"));
    }
    supported(tool.arguments("thread-trace", &[]))?;
    let OnGpu { trace_dispatches: dispatches, trace_limit, .. } = wish.on_gpu;
    notes.push(format!(
        "thread trace: {dispatches} dispatches of each kernel, up to {} MB of trace each before it is decoded; the run is ended when it has written {trace_limit} MB (`--trace-limit`)",
        TRACE_BUFFER >> 20,
    ));
    let limit = trace_limit.saturating_mul(1_000_000);
    Ok(Some(ThreadTrace { compute_unit: TRACED_UNIT, engines: 1, buffer: TRACE_BUFFER, dispatches, limit }))
}

fn check_period(period: &str) -> Result<()> {
    let parts: Vec<Option<u64>> = period.split(':').map(|it| it.parse().ok()).collect();
    match parts[..] {
        [Some(_), Some(1..), Some(_)] => Ok(()),
        _ => Err(usage(
            format!("`--collection-period {period}` is not three whole numbers"),
            "delay, time and repeats: `1000:500:1` counts for 500 ms after 1 s, once",
        )),
    }
}

/// The requested counters, by run of the program.
fn passes(recording: &Recording, target: &Target) -> Result<Plan> {
    let definitions = Definitions::built_in();
    let compiled = definitions.compile(target.name)?;
    let needed = match &recording.set {
        Some(name) => Set::named(name)?.needs(&compiled),
        None => {
            let blocks = if recording.blocks.is_empty() {
                Blocks::all()
            } else {
                Blocks::parse(&recording.blocks, definitions, target.name)?
            };
            needs(definitions, &compiled, &blocks)
        }
    };
    Ok(plan(catalogue(), target.name, &needed)?)
}
