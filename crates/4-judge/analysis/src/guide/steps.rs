//! Next steps, as commands that can be pasted.
//!
//! A command uses the names of this recording: its path, its program, its kernel. A step that needs an input
//! nobody recorded is left out or says what to insert.

use super::selection::{Looked, Recorded, plain_name};
use super::{Inputs, lead};
use crate::WorkloadEvidence;
use crate::workload::{Subject, models};
use arch::{Model, occupancy};
use std::collections::BTreeSet;
use view::{GuideChanges, GuideFinding, GuideStep, GuideVerdict, Missing, StepKind, shell_word};
use workload::{LaunchNote, plain_kernel_name};

/// Panels that show what stops a kernel.
const PANELS_OF_BOUNDS: &[(&str, &[u16])] = &[
    ("HBM", &[17]),
    ("L2", &[16, 17]),
    ("vL1D", &[15, 16]),
    ("LDS", &[12]),
    ("vector", &[10, 11]),
    ("matrix", &[10, 11]),
    ("latency", &[7, 16]),
    ("launch", &[6, 7]),
];

/// The panel of samples and thread traces.
const SAMPLING: u16 = 21;

fn panels_of_bound(name: &str) -> &'static [u16] {
    PANELS_OF_BOUNDS.iter().find(|(start, _)| name.starts_with(start)).map_or(&[], |(_, panels)| panels)
}

/// The steps, in order.
pub(super) fn steps(
    inputs: &Inputs<'_>,
    verdict: &GuideVerdict,
    findings: &[GuideFinding],
    changes: Option<&GuideChanges>,
) -> Vec<GuideStep> {
    let Some(last) = inputs.subjects.last() else { return Vec::new() };
    let looked = &Looked::at(last, inputs.renames);
    let emulated = last.workload.machine.emulator().is_some();
    let mut out = Vec::new();
    if !emulated {
        out.extend(missing_counters(inputs, last, looked));
    }
    if let Some((base, pair)) = changes.and_then(|it| Some((&it.base, it.proposed.as_ref()?))) {
        out.push(GuideStep::new(
            StepKind::Compare,
            "take the one kernel that only the base has and the one that only this has for the same",
            format!(
                "rockhound guide {}{} --base {} --match {}",
                shell_word(&last.path),
                ranks(last),
                shell_word(base),
                shell_word(&format!("{}={}", pair.old, pair.new))
            ),
        ));
    }
    let panels: BTreeSet<u16> = findings
        .iter()
        .flat_map(|f| (inputs.panels)(f.finding.rule))
        .chain(panels_of_verdict(inputs, verdict))
        .copied()
        .collect();
    let one = looked.options_of_one(place(inputs, last));
    if !panels.is_empty() {
        let why =
            if findings.is_empty() { "the numbers behind the verdict" } else { "the numbers behind it" };
        let ranks = ranks(last);
        let command =
            format!("rockhound analyze -p {}{ranks}{one} -b {}", shell_word(&last.path), list(&panels));
        out.push(GuideStep::new(StepKind::Look, why, command));
    }
    out.extend(tuned(last, &one));
    out.extend(compiled(inputs, last));
    out.extend(code(inputs, last, looked, emulated));
    out.extend(limits(inputs, last, looked, emulated));
    if let Some(kernel) = lead(inputs.kernels) {
        out.extend(next_wave(kernel, verdict, findings));
    }
    out.extend(search(inputs, last, findings, emulated));
    if verdict.bound_by.is_some() {
        out.push(GuideStep::new(
            StepKind::Change,
            if findings.is_empty() {
                "change the kernel"
            } else {
                "change the kernel, one finding at a time"
            },
            "",
        ));
        let again = again(last, looked, emulated);
        out.push(GuideStep::new(StepKind::Record, "profile the changed program", again.record));
        out.push(GuideStep::new(
            StepKind::Compare,
            "see whether it helped",
            format!(
                "rockhound guide {} --base {}{}{}",
                shell_word(&again.folder),
                shell_word(&last.path),
                ranks(last),
                looked.options()
            ),
        ));
        out.extend(judged(last).filter(|_| emulated));
    }
    out
}

/// Compares results and safety of the changed program, too.
fn judged(last: &Subject) -> Option<GuideStep> {
    let why = "see whether its results are right, without races, and its time shorter than the error";
    if let Some(launch) = last.workload.machine.text("command").and_then(Launch::parse) {
        let command = format!("rockhound judge {}{} CHANGED.toml", launch.gpu(), shell_word(launch.file));
        return Some(GuideStep::new(StepKind::Compare, why, command + &launch.shape()));
    }
    let program = program(last);
    if program.contains(['"', '\'', '\\']) {
        return None;
    }
    let mut words = program.split(' ').filter(|it| !it.is_empty());
    let first = words.next()?;
    let is_python = first.rsplit('/').next().is_some_and(|it| it.starts_with("python"));
    let (base, changed) = match is_python {
        true => (words.next().filter(|it| it.ends_with(".py"))?, "CHANGED.py"),
        false => (first, "CHANGED"),
    };
    let rest = words.collect::<Vec<_>>().join(" ");
    let rest = if rest.is_empty() { rest } else { format!(" -- {rest}") };
    Some(GuideStep::new(StepKind::Compare, why, format!("rockhound judge {base} {changed}{rest}")))
}

/// Panels behind the verdict.
fn panels_of_verdict(inputs: &Inputs<'_>, verdict: &GuideVerdict) -> &'static [u16] {
    let Some(bound) = &verdict.bound_by else { return &[] };
    match lead(inputs.kernels) {
        // It was made from samples or a thread trace.
        Some(kernel) if kernel.roof().bound.is_err() => &[SAMPLING],
        _ => panels_of_bound(bound),
    }
}

/// The option that merges ranks, if it was used.
fn ranks(subject: &Subject) -> &'static str {
    if subject.workload.ranks.is_empty() { "" } else { " --ranks" }
}

/// Position of the first selected kernel in the list of all; `None` if the list has one kernel.
fn place(inputs: &Inputs<'_>, last: &Subject) -> Option<usize> {
    let all: Vec<u32> = (0..last.workload.dispatches.len() as u32).collect();
    let ranked = metrics::kernels(&last.workload, &all);
    let kernel = plain_kernel_name(lead(inputs.kernels)?.kernel);
    let name = |it: &metrics::KernelTimes| plain_kernel_name(&last.workload.kernels[it.kernel as usize]);
    ranked.iter().position(|it| name(it) == kernel).filter(|_| ranked.len() > 1)
}

/// Records what rules and verdict lack.
fn missing_counters(inputs: &Inputs<'_>, last: &Subject, looked: &Looked) -> Option<GuideStep> {
    let without: Vec<&str> = inputs
        .not_checked
        .iter()
        .filter(|it| matches!(it.needs, Missing::Columns(_)))
        .map(|it| it.rule)
        .collect();
    let times = lead(inputs.kernels).is_some_and(|kernel| kernel.time.is_err());
    let panels: BTreeSet<u16> =
        without.iter().flat_map(|rule| (inputs.panels)(rule)).chain(times.then_some(&2)).copied().collect();
    let blocks = if panels.is_empty() { return None } else { format!(" -b {}", list(&panels)) };
    let why = match (times, &without[..]) {
        (true, []) => "record the times of the dispatches, which are lost".to_owned(),
        (true, rules) => format!("record times, and the counters of {}", rules.join(", ")),
        (false, rules) => format!("record the counters of {}, which could not be checked", rules.join(", ")),
    };
    // What has the name already is not written over.
    let name = format!("{}-more", name_of(last));
    let kernels = looked.options_elsewhere();
    let command =
        format!("rockhound profile --on gpu -n {}{kernels}{blocks} -- {}", shell_word(&name), program(last));
    Some(GuideStep::new(StepKind::Record, why, command))
}

/// Searches the parameters that a finding is about.
fn search(
    inputs: &Inputs<'_>,
    last: &Subject,
    findings: &[GuideFinding],
    emulated: bool,
) -> Option<GuideStep> {
    let about = |it: &GuideFinding| Some((it.finding.rule, (inputs.tunes)(it.finding.rule)?));
    let (rule, parameters) = findings.iter().find_map(about)?;
    let w = &last.workload;
    let place = match models(&w.machine).first().filter(|_| emulated) {
        Some(model) => format!("--gpu {}", short(model)),
        None => "--on gpu".to_owned(),
    };
    if !w.launches.iter().any(|it| !it.compiled.is_empty() || it.tuning.is_some()) {
        let why = format!("search its parameters ({parameters}: {rule}) through macros of the source");
        return Some(GuideStep::new(StepKind::Try, why, "rockhound tune --init KERNEL.hip > tune.toml"));
    }
    let tuned = w.launches.iter().any(|it| it.tuning.is_some());
    let (before, widen) = if tuned { ("", " --widen") } else { (", once it has `@triton.autotune`", "") };
    let why = format!("search its parameters ({parameters}: {rule}){before}");
    Some(GuideStep::new(StepKind::Try, why, format!("rockhound tune {place}{widen} -- {}", program(last))))
}

/// Shows what an autotuner of Triton tried.
fn tuned(last: &Subject, one: &str) -> Option<GuideStep> {
    let tried =
        |note: &&LaunchNote| note.tuning.is_some() && note.row.is_none_or(|it| last.rows.contains(&it));
    last.workload.launches.iter().find(tried)?;
    let command = format!("rockhound analyze -p {}{one} -b 0.7", shell_word(&last.path));
    Some(GuideStep::new(
        StepKind::Look,
        "what the autotuner tried, and why each configuration loses",
        command,
    ))
}

/// Shows what Triton made of the first kernel, in its fastest launch.
fn compiled(inputs: &Inputs<'_>, last: &Subject) -> Option<GuideStep> {
    let w = &last.workload;
    let kernel = plain_kernel_name(lead(inputs.kernels)?.kernel);
    let of_kernel =
        w.launches.iter().filter(|it| !it.compiled.is_empty() && plain_kernel_name(&it.kernel) == kernel);
    let launched = of_kernel.filter_map(|it| Some((it, it.row.filter(|row| last.rows.contains(row))?)));
    let time = |row: u32| w.dispatches.duration(row as usize).unwrap_or(f64::MAX);
    let (note, _) = launched.min_by(|a, b| time(a.1).total_cmp(&time(b.1)))?;
    let command = format!("rockhound inspect {} --lines", shell_word(&note.compiled));
    Some(GuideStep::new(
        StepKind::Look,
        "what Triton's compiler made of it: layouts, prefetching, LDS",
        command,
    ))
}

/// Shows what each instruction did.
fn code(inputs: &Inputs<'_>, last: &Subject, looked: &Looked, emulated: bool) -> Option<GuideStep> {
    let kernel = lead(inputs.kernels)?;
    if emulated {
        // Listings are of one recording.
        if !last.workload.ranks.is_empty() {
            return None;
        }
        let expression = place(inputs, last).map(|_| expression(kernel.kernel));
        let options = looked.options_of_code(expression.as_deref());
        let command = format!("rockhound inspect --asm --workload {}{options}", shell_word(&last.path));
        return Some(GuideStep::new(StepKind::Look, "what each instruction did", command));
    }
    // The same program on an emulated GPU counts every instruction, line by line.
    last.workload.machine.text("command")?;
    let [model, ..] = models(&last.workload.machine)[..] else { return None };
    let kernels = looked.options_elsewhere();
    // `workloads/NAME/GPU` can be the folder of the recording itself.
    let name = format!("{}-emulated", name_of(last));
    let command = format!(
        "rockhound profile --gpu {} -n {}{kernels} -- {}",
        short(model),
        shell_word(&name),
        program(last)
    );
    Some(GuideStep::new(StepKind::Record, "what each instruction does, emulated without the GPU", command))
}

/// The step that simulates the gain without each limit of the GPU, if that was not done and is possible.
fn limits(inputs: &Inputs<'_>, last: &Subject, looked: &Looked, emulated: bool) -> Option<GuideStep> {
    lead(inputs.kernels)?.time.as_ref().ok()?;
    last.workload.machine.text("command")?;
    if !emulated || !last.workload.predictions.is_empty() {
        return None;
    }
    let why = "what each limit of the GPU is worth";
    if last.workload.keeps_events {
        let command = format!("rockhound breakdown {}{}", shell_word(&last.path), looked.options());
        return Some(GuideStep::new(StepKind::Look, why, command));
    }
    let folder = format!("{}-limits", last.path.trim_end_matches('/'));
    let command = record(last, looked, "--breakdown ", &folder);
    Some(GuideStep::new(StepKind::Record, why, command))
}

/// Cost of the next wave per SIMD, if the kernel needs more waves.
fn next_wave(
    kernel: &WorkloadEvidence<'_>,
    verdict: &GuideVerdict,
    findings: &[GuideFinding],
) -> Option<GuideStep> {
    let asks = findings.iter().any(|f| f.finding.rule.starts_with("RES"));
    if !asks && verdict.bound_by.as_deref() != Some("latency") {
        return None;
    }
    let target = kernel.target?;
    let resources = kernel.resources().ok()?;
    let now = occupancy(target, &resources);
    let step = now.next.iter().find(|step| step.waves_per_simd > now.waves_per_simd)?;
    let mut tried = resources;
    let what = match step.resource {
        arch::Limiter::Vgpr => {
            // In a unified register file, the registers to save can be of either kind.
            tried.vgprs = tried.vgprs.saturating_sub(step.shed);
            "VGPRs"
        }
        arch::Limiter::Lds => {
            tried.lds_bytes = tried.lds_bytes.saturating_sub(step.shed);
            "bytes of LDS"
        }
        _ => return None,
    };
    let command = format!(
        "rockhound occupancy --arch {} --vgpr {} --agpr {} --sgpr {} --lds {} --waves {}",
        target.name, tried.vgprs, tried.agprs, tried.sgprs, tried.lds_bytes, tried.waves_per_workgroup
    );
    let why = format!(
        "{} fewer {what} give {} waves per SIMD instead of {}",
        step.shed, step.waves_per_simd, now.waves_per_simd
    );
    Some(GuideStep::new(StepKind::Try, why, command))
}

/// The command that records the same program again, and its output folder.
struct Again {
    record: String,
    folder: String,
}

/// A recorded launch file. It names its GPU, unless another was requested, and all it launches is recorded.
struct Launch<'a> {
    asked_gpu: Option<&'a str>,
    file: &'a str,
    /// Values in braces; empty if it has none.
    values: &'a str,
}

impl<'a> Launch<'a> {
    /// Of the command that made a recording; `None` for a program.
    fn parse(command: &'a str) -> Option<Self> {
        let rest =
            command.strip_prefix("rockhound profile ").filter(|_| Recorded::parse(command).is_none())?;
        let asked = rest.strip_prefix("--gpu ").and_then(|rest| rest.split_once(' '));
        let (asked_gpu, file) = asked.map_or((None, rest), |(name, file)| (Some(name), file));
        let (file, values) = file.rsplit_once(" --shape ").unwrap_or((file, ""));
        Some(Launch { asked_gpu, file, values })
    }

    /// The option, with a space behind it.
    fn gpu(&self) -> String {
        self.asked_gpu.map_or_else(String::new, |name| format!("--gpu {name} "))
    }

    /// The option, with a space before it.
    fn shape(&self) -> String {
        if self.values.is_empty() { String::new() } else { format!(" --shape {}", shell_word(self.values)) }
    }
}

/// The command that emulates the same program again, with more options.
fn record(last: &Subject, looked: &Looked, options: &str, folder: &str) -> String {
    let machine = &last.workload.machine;
    let model = models(machine).first().copied();
    // If times were requested at another clock, they are compared at that one.
    let clocked = model.and_then(|model| {
        let mhz = machine.number("cur_sclk")? as u32;
        model.at_engine_mhz(mhz).filter(|_| mhz != model.running_mhz())
    });
    let gpu = |name: String| format!("--gpu {name} ");
    let at = clocked.map(|model| gpu(model.key()));
    let command = machine.text("command").unwrap_or_default();
    match (Launch::parse(command), Recorded::parse(command).unwrap_or_default()) {
        (Some(launch), _) => {
            let at = at.unwrap_or_else(|| launch.gpu());
            let (file, shape) = (shell_word(launch.file), launch.shape());
            format!("rockhound profile {options}{at}{file}{shape} -o {}", shell_word(folder))
        }
        (None, (recorded, _)) => {
            let gpu = at.or_else(|| model.map(|model| gpu(short(model)))).unwrap_or_default();
            let part = looked.again(recorded).options();
            format!("rockhound profile {options}{gpu}{part}-o {} -- {}", shell_word(folder), program(last))
        }
    }
}

fn again(last: &Subject, looked: &Looked, emulated: bool) -> Again {
    let path = last.path.trim_end_matches('/');
    if emulated {
        let folder = numbered(path);
        return Again { record: record(last, looked, "", &folder), folder };
    }
    // `profile` makes `workloads/NAME/GPU`.
    let name = numbered(&name_of(last));
    let kernels = looked.options_elsewhere();
    let record = format!("rockhound profile --on gpu -n {}{kernels} -- {}", shell_word(&name), program(last));
    Again { record, folder: format!("workloads/{name}") }
}

/// The name the recording was made under: profilers make `workloads/NAME/GPU`.
fn name_of(last: &Subject) -> String {
    let parts: Vec<&str> = last.path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let gpu = last.workload.machine.text("gpu_model").map(str::trim).unwrap_or_default();
    let name = match parts[..] {
        [.., name, last] if last.eq_ignore_ascii_case(gpu) => name,
        [.., last] => last,
        [] => "NAME",
    };
    name.to_owned()
}

/// The program as recorded, which a shell understands as it was typed.
fn program(last: &Subject) -> String {
    let command = last.workload.machine.text("command").map(str::trim).unwrap_or("PROGRAM");
    let command = Recorded::parse(command).map_or(command, |(_, program)| program);
    // Some profilers keep the quotes they were given.
    let unquoted = command.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(command);
    unquoted.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Short name of a model, as `--gpu` takes it.
fn short(model: &Model) -> String {
    model.name.rsplit(' ').next().unwrap_or(&model.name).to_lowercase()
}

/// `name`, `name-2`, `name-3`.
fn numbered(name: &str) -> String {
    match name.rsplit_once('-').and_then(|(start, number)| Some((start, number.parse::<u32>().ok()?))) {
        Some((start, number)) if number < 1000 => format!("{start}-{}", number + 1),
        _ => format!("{name}-2"),
    }
}

fn list(panels: &BTreeSet<u16>) -> String {
    panels.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// A regular expression for a kernel: its name without template arguments and parameters.
fn expression(kernel: &str) -> String {
    regex::escape(plain_name(kernel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_up() {
        for (name, next) in [
            ("vcopy", "vcopy-2"),
            ("vcopy-2", "vcopy-3"),
            ("a-b", "a-b-2"),
            ("a-4294967295", "a-4294967295-2"),
        ] {
            assert_eq!(numbered(name), next);
        }
    }

    #[test]
    fn kernels_are_found_by_their_names() {
        for (name, pattern) in [
            ("void gemm<float, 16>(float*)", "gemm"),
            ("vecCopy(double*)", "vecCopy"),
            ("copy", "copy"),
            ("<lambda>", "<lambda>"),
        ] {
            assert_eq!(expression(name), pattern);
        }
    }
}
