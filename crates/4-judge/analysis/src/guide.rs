//! A recording reduced to one verdict, a few findings and the commands to run next.
//!
//! Nothing is measured here. The verdict comes from the roofline, the findings from the rules, the changes
//! from the comparison; the guide adds which of them matters first and what to do with it.

mod changes;
mod selection;
mod steps;
mod traced;
mod verdict;
mod words;

pub use selection::Recorded;
pub use verdict::verdict;
pub use words::in_short;

use crate::WorkloadEvidence;
use crate::workload::{Renames, Subject};
use std::collections::BTreeSet;
use view::{
    Finding, GUIDE_SCHEMA, Guide, GuideFinding, GuideKernel, GuideVerdict, Missing, NotChecked, Note,
    NoteKind, Number, Severity,
};

/// Findings shown.
const FINDINGS: usize = 3;
/// Part of the recording's time below which a finding is not worth acting on.
const WORTH: f64 = 0.01;
/// Kernels listed, and the share of the time in percent after which no further one is.
const KERNELS: (usize, f64) = (5, 90.0);
/// The rule that names the limiter of a kernel, like the verdict.
const VERDICT: &str = "CTR001";
/// Rules that name the limiter of a kernel or compare recordings; verdict and changes already cover them.
const NO_ADVICE: [&str; 2] = [VERDICT, "CTR005"];

/// Whether a rule repeats the verdict on its kernel.
pub fn is_verdict(rule: &str) -> bool {
    rule == VERDICT
}

/// Whether a rule advises, beyond the verdict on what bounds a kernel and the comparison with a base.
pub fn advises(rule: &str) -> bool {
    !NO_ADVICE.contains(&rule)
}

/// Inputs of a guide.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The recordings; of two the first is the base.
    pub subjects: &'a [Subject],
    /// Kernels of the last one, with their baselines.
    pub kernels: &'a [WorkloadEvidence<'a>],
    /// Kernels of the base; none without one.
    pub base: &'a [WorkloadEvidence<'a>],
    /// Findings of the rules in the last recording, most time first.
    pub findings: &'a [Finding],
    /// Findings in the base.
    pub base_findings: &'a [Finding],
    /// Rules that could not check the last recording.
    pub not_checked: &'a [NotChecked],
    /// Notes on the last recording.
    pub notes: &'a [Note],
    /// Kernels under other names.
    pub renames: &'a Renames,
    /// Panels that show the numbers behind a rule.
    pub panels: fn(&str) -> &'static [u16],
    /// What a search of parameters would vary because of a finding of a rule.
    pub tunes: fn(&str) -> Option<&'static str>,
}

/// Makes the guide; none without a recording.
pub fn guide(inputs: &Inputs<'_>) -> Option<Guide> {
    let last = inputs.subjects.last()?;
    let emulated = last.workload.machine.emulator().is_some();
    let verdict = match lead(inputs.kernels) {
        Some(kernel) => verdict(kernel),
        None => GuideVerdict::unknown(String::new(), Missing::Dispatches),
    };
    let mut kernels = kernels(inputs.kernels);
    for kernel in kernels.iter_mut().filter(|it| it.bound_by.is_none() && it.name == verdict.kernel) {
        // Samples and traces judge where counters do not.
        kernel.bound_by.clone_from(&verdict.bound_by);
    }
    let findings = worth_acting_on(inputs);
    let advising = inputs.findings.iter().filter(|f| advises(f.rule)).count();
    let model = last.workload.machine.text("gpu_model").unwrap_or_default().trim();
    let target = last.target();
    let mut gpu = match (model, target) {
        ("", target) => target.to_owned(),
        (model, "") => model.to_owned(),
        (model, target) => format!("{model} ({target})"),
    };
    if emulated {
        gpu += ", emulated";
    }
    let changes = changes::changes(inputs);
    let steps = steps::steps(inputs, &verdict, &findings, changes.as_ref());
    Some(Guide {
        schema: GUIDE_SCHEMA,
        path: last.path.clone(),
        selection: selection::Looked::at(last, inputs.renames).options().trim().to_owned(),
        gpu,
        more_kernels: (inputs.kernels.len() - kernels.len()) as u64,
        kernels,
        changes,
        more_findings: advising.saturating_sub(findings.len()) as u64,
        findings,
        steps,
        caveats: caveats(inputs, emulated),
        verdict,
    })
}

/// The kernel that a guide is about: of the program's own the one of most time.
fn lead<'k, 'a>(kernels: &'k [WorkloadEvidence<'a>]) -> Option<&'k WorkloadEvidence<'a>> {
    kernels.iter().find(|kernel| kernel.runtime().is_none()).or(kernels.first())
}

/// The kernels that take most of the time.
fn kernels(all: &[WorkloadEvidence<'_>]) -> Vec<GuideKernel> {
    let mut covered = 0.0;
    let mut out = Vec::new();
    for it in all.iter().take(KERNELS.0) {
        if covered >= KERNELS.1 {
            break;
        }
        covered += it.time_percent.as_ref().copied().unwrap_or(0.0);
        out.push(kernel(it));
    }
    out
}

/// Time of a kernel and what stops it.
pub fn kernel(it: &WorkloadEvidence<'_>) -> GuideKernel {
    let roof = it.roof();
    let bound = roof.known_bound();
    GuideKernel {
        runtime: it.runtime().map(|runtime| format!("{} ({})", runtime.what, runtime.calls)),
        bound_by: roof.names(),
        excluded: roof.excluded.iter().filter(|_| bound.is_err()).map(|name| (*name).to_owned()).collect(),
        percent_of_roof: match bound {
            Ok(bound) => {
                bound.part().map_or_else(|| Number::Missing(Missing::Rate), |part| Number::from(100.0 * part))
            }
            Err(reason) => Number::Missing(reason),
        },
        roof_trust: it.roof().bound_trust,
        ..kernel_time(it)
    }
}

/// Time of a kernel that is not judged.
pub fn kernel_time(it: &WorkloadEvidence<'_>) -> GuideKernel {
    GuideKernel {
        name: it.kernel.to_owned(),
        dispatches: it.dispatches() as u64,
        time_ns: Number::from(it.time.clone()),
        time_trust: it.time_trust(),
        time_percent: Number::from(it.time_percent.clone()),
        percent_trust: it.time_percent_trust(),
        runtime: it.runtime().map(|runtime| format!("{} ({})", runtime.what, runtime.calls)),
        bound_by: None,
        excluded: Vec::new(),
        percent_of_roof: Number::missing("the kernel is not judged: others take more time"),
        roof_trust: None,
    }
}

/// One finding of each rule, most time lost first, if it loses enough of the time to notice.
fn worth_acting_on(inputs: &Inputs<'_>) -> Vec<GuideFinding> {
    let total: f64 = inputs.kernels.iter().filter_map(|it| it.time.as_ref().ok()).sum();
    let worth = |f: &Finding| match f.time_lost_ns {
        Some(ns) if total > 0.0 => ns >= WORTH * total,
        // Without times the severity is what there is.
        _ => f.severity > Severity::Info,
    };
    let mut rules = BTreeSet::new();
    let first_of_rule =
        inputs.findings.iter().filter(|f| advises(f.rule) && worth(f) && rules.insert(f.rule));
    let first: Vec<&Finding> = first_of_rule.take(FINDINGS).collect();
    first
        .into_iter()
        .map(|f| {
            let alike = inputs.findings.iter().filter(|other| other.rule == f.rule);
            let others: BTreeSet<&str> =
                alike.map(|other| other.kernel()).filter(|kernel| *kernel != f.kernel()).collect();
            GuideFinding { finding: f.clone(), also_in: others.len() as u64 }
        })
        .collect()
}

fn caveats(inputs: &Inputs<'_>, emulated: bool) -> Vec<String> {
    let mut out = Vec::new();
    if emulated {
        out.push(
            "emulated: counts follow from execution; caches and times, where given, are modelled (docs/accuracy.md)"
                .to_owned(),
        );
    }
    let serious = inputs.notes.iter().filter(|note| note.kind != NoteKind::Info);
    out.extend(serious.map(|note| note.text.clone()));
    out
}
