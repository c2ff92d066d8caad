//! Command line of rocprofv3: arguments, and the file of counters that it lacks.
//!
//! Source: its documentation of command-line options, of counter collection and of extra counters.

use super::tool::Tool;
use super::{Request, Run, Samples, ThreadTrace};
use counters::{Pass, Plan};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// File with counters of ours.
pub const EXTRA_COUNTERS: &str = ".rockhound-counters.yaml";

/// File with the counters of each pass, where dispatches take turns.
pub const GROUPS: &str = ".rockhound-groups.json";

/// Suffix of the sum of a level over cycles.
pub(super) const ACCUMULATED: &str = "_ACCUM";

/// The register that the sequencer sums a level in.
pub(super) const ACCUMULATOR: &str = "SQ_ACCUM_PREV_HIRES";

/// A process to start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CommandLine {
    /// File.
    pub program: PathBuf,
    /// Arguments.
    pub arguments: Vec<OsString>,
    /// Suppresses standard output that an earlier pass has shown.
    pub silent: bool,
    /// Folder, and the bytes it may hold before the process is ended.
    pub limit: Option<(PathBuf, u64)>,
}

/// Names by which a pass is requested: the sum of a level is a separate counter, which reads level and
/// accumulator.
pub(super) fn names(pass: &Pass) -> Vec<String> {
    let level = pass.level.as_deref();
    let mut names: Vec<String> = level.map(|level| format!("{level}{ACCUMULATED}")).into_iter().collect();
    let others = pass.counters.iter().filter(|name| Some(name.as_str()) != level && *name != ACCUMULATOR);
    names.extend(others.cloned());
    names
}

/// The command of a run; an error says what this version of the profiler lacks.
pub(super) fn command(request: &Request, run: &Run<'_>, folder: &Path) -> Result<CommandLine, String> {
    let mut words = match run {
        Run::Counters(pass) => of_counters(request, pass, folder)?,
        Run::Times => return Err("rocprofv3 has times of the runs that count".to_owned()),
        Run::Rotating(passes) => of_groups(request, passes, folder)?,
        Run::Samples(samples) => of_samples(request.tool, samples, folder)?,
        Run::Trace(trace) => of_trace(request, trace, folder)?,
    };
    if let Some(attach) = &request.attach {
        let values = [
            ("pid", vec![attach.pid.to_string().into()]),
            ("milliseconds", vec![attach.milliseconds.to_string().into()]),
        ];
        words.splice(0..0, request.tool.arguments("attach", &values)?);
    } else {
        words.push("--".into());
        words.extend(request.program.iter().cloned());
    }
    let limit = match run {
        Run::Trace(trace) => Some((folder.to_owned(), trace.limit)),
        _ => None,
    };
    let mut line = CommandLine { program: request.profiler.clone(), arguments: words, silent: false, limit };
    if let Some(launcher) = &request.launcher {
        line = within(launcher, line);
    }
    Ok(line)
}

/// The profiler within a launcher of ranks: `mpirun -n 4 rocprofv3 … -- ./app`.
fn within(launcher: &[OsString], line: CommandLine) -> CommandLine {
    let mut words: Vec<OsString> = launcher[1..].to_vec();
    words.push(line.program.into());
    words.extend(line.arguments);
    CommandLine { program: launcher[0].clone().into(), arguments: words, ..line }
}

/// Output options of a run: one file per process, below a folder per rank if there are several.
fn outputs(request: &Request, folder: &Path, format: &str) -> Vec<OsString> {
    let folder = if request.launcher.is_some() { folder.join("%rank%") } else { folder.to_owned() };
    let mut words: Vec<OsString> = vec!["--output-directory".into(), folder.into()];
    words.extend(["--output-file", "pass_%pid%", "--output-format", format].map(OsString::from));
    words
}

fn kernels(request: &Request) -> Result<Vec<OsString>, String> {
    if request.kernels.is_empty() {
        return Ok(Vec::new());
    }
    let any: Vec<String> = request.kernels.iter().map(|it| format!("({it})")).collect();
    request.tool.arguments("kernels", &[("kernels", vec![any.join("|").into()])])
}

/// The launches of each kernel that are counted.
fn iterations(request: &Request) -> Result<Vec<OsString>, String> {
    if request.iterations.is_empty() {
        return Ok(Vec::new());
    }
    let ranges: Vec<String> =
        request.iterations.iter().map(|(first, last)| format!("[{first}-{last}]")).collect();
    request.tool.arguments("iterations", &[("range", vec![ranges.join(",").into()])])
}

fn of_counters(request: &Request, pass: &Pass, folder: &Path) -> Result<Vec<OsString>, String> {
    let mut words: Vec<OsString> = Vec::new();
    if pass.level.is_some() {
        let file = request.output.join(EXTRA_COUNTERS);
        words.extend(request.tool.arguments("extra-counters", &[("file", vec![file.into()])])?);
    }
    words.extend(kernels(request)?);
    words.extend(iterations(request)?);
    if let Some(period) = &request.collection_period {
        let values = [("period", vec![period.into()])];
        words.extend(request.tool.arguments("collection-period", &values)?);
    }
    words.extend(outputs(request, folder, "csv"));
    let counters = names(pass).into_iter().map(OsString::from).collect();
    words.extend(request.tool.arguments("counters", &[("counters", counters)])?);
    Ok(words)
}

fn of_groups(request: &Request, passes: &[Pass], folder: &Path) -> Result<Vec<OsString>, String> {
    let mut words: Vec<OsString> = Vec::new();
    if passes.iter().any(|pass| pass.level.is_some()) {
        let file = request.output.join(EXTRA_COUNTERS);
        words.extend(request.tool.arguments("extra-counters", &[("file", vec![file.into()])])?);
    }
    words.extend(kernels(request)?);
    words.extend(iterations(request)?);
    words.extend(outputs(request, folder, "csv"));
    let file = request.output.join(GROUPS);
    words.extend(request.tool.arguments("multiplexing", &[("file", vec![file.into()])])?);
    Ok(words)
}

/// The counters of each pass for the profiler, which takes the next pass at each dispatch.
///
/// Kernels that a loop launches in turn would always meet the same passes if their number and the number of
/// passes had a common divisor. So the number of passes is padded to a prime by repeating the first ones.
pub(super) fn groups(passes: &[Pass]) -> String {
    let is_prime = |n: usize| n > 1 && (2..n).take_while(|it| it * it <= n).all(|it| !n.is_multiple_of(it));
    let count = (passes.len()..).find(|n| *n < 2 || is_prime(*n)).unwrap_or(passes.len());
    let groups: Vec<Vec<String>> = passes.iter().cycle().take(count).map(names).collect();
    let job = serde_json::json!({ "jobs": [{ "pmc_groups": groups, "pmc_group_interval": 1 }] });
    format!("{job:#}\n")
}

fn of_samples(tool: Tool, samples: &Samples, folder: &Path) -> Result<Vec<OsString>, String> {
    let values = [("interval", vec![samples.interval.to_string().into()])];
    let mut words = tool.arguments(&samples.method, &values)?;
    words.push("--kernel-trace".into());
    words.extend(["--output-directory".into(), folder.into()]);
    words.extend(["--output-file", "pass_%pid%", "--output-format", "json"].map(OsString::from));
    Ok(words)
}

fn of_trace(request: &Request, trace: &ThreadTrace, folder: &Path) -> Result<Vec<OsString>, String> {
    let values = [
        ("cu", vec![trace.compute_unit.to_string().into()]),
        ("engines", vec![format!("{:#x}", trace.engines).into()]),
        ("bytes", vec![trace.buffer.to_string().into()]),
    ];
    let mut words = request.tool.arguments("thread-trace", &values)?;
    words.extend(kernels(request)?);
    if request.iterations.is_empty() {
        let range = format!("[1-{}]", trace.dispatches.max(1));
        words.extend(request.tool.arguments("iterations", &[("range", vec![range.into()])])?);
    } else {
        words.extend(iterations(request)?);
    }
    words.extend(["--output-directory".into(), folder.into()]);
    words.extend(["--output-format", "csv"].map(OsString::from));
    Ok(words)
}

/// Definitions of the sums of levels, in the profiler's own format.
pub(super) fn extra_counters(plan: &Plan, target: &str) -> String {
    let levels: BTreeSet<&str> = plan.passes.iter().filter_map(|pass| pass.level.as_deref()).collect();
    let mut text = String::from("rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n");
    for level in levels {
        text += &format!(
            "  - name: {level}{ACCUMULATED}\n    description: Sum of {level} over the cycles of a dispatch\n    properties: []\n    \
             definitions:\n    - architectures:\n      - {target}\n      expression: accumulate({level}, HIGH_RES)\n"
        );
    }
    text
}

#[cfg(test)]
pub(super) mod tests;
