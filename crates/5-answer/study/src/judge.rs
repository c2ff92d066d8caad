//! Findings, charts and the guide of a report: messages of the rules and the roofline on each kernel.
//!
//! Of several recordings the last one is judged, with the base for comparison.

use crate::Gate;
use analysis::WorkloadEvidence;
use analysis::guide::Inputs;
use analysis::workload::{OCCUPANCY, Options, ROOFLINE, Subject};
use metrics::{Compiled, Definitions};
use sorting::Sort;
use std::collections::BTreeMap;
use view::{
    Answer, Finding, GuideKernel, GuideVerdict, Missing, NotChecked, NoteKind, Number, Recordings, UsageError,
};

/// Most kernels judged, longest first.
const KERNELS: usize = 200;
/// The rule that compares with a base.
const COMPARES: &str = "CTR005";
/// Kernels drawn in the roofline and over time.
const DRAWN: usize = 10;
/// Kernels drawn over time in an overview.
const FEW: usize = 3;

/// The tables of recordings with findings, charts and guide.
pub(crate) fn report(
    definitions: &Definitions,
    compiled: &[&Compiled],
    subjects: &[Subject],
    options: &Options,
    gate: &mut Gate,
) -> Result<Answer<Recordings>, UsageError> {
    let mut report = analysis::workload::report(definitions, compiled, subjects, options)?;
    judge(&mut report, compiled, subjects, options, gate);
    Ok(report)
}

/// Fills in findings and charts.
fn judge(
    report: &mut Answer<Recordings>,
    compiled: &[&Compiled],
    subjects: &[Subject],
    options: &Options,
    gate: &mut Gate,
) {
    let findings = options.blocks.shows_findings() || gate.needs_findings();
    let roofline = options.blocks.shows_chart(ROOFLINE, subjects.len() == 1);
    let (Some(last), Some(of_last)) = (subjects.last(), compiled.last()) else { return };
    let occupancy = options.blocks.shows_chart(OCCUPANCY, subjects.len() == 1);
    if !(findings || roofline || occupancy) {
        return;
    }
    let base = match (subjects.first(), compiled.first()) {
        (Some(base), Some(compiled)) if subjects.len() > 1 => {
            WorkloadEvidence::gather(compiled, &base.workload, &base.rows)
        }
        _ => Vec::new(),
    };
    let mut kernels = WorkloadEvidence::gather(of_last, &last.workload, &last.rows);
    for kernel in &mut kernels {
        let name = options.renames.in_base(kernel.kernel, subjects.len() - 1);
        kernel.baseline = base.iter().find(|b| b.kernel == name);
    }
    if roofline && !last.target().is_empty() {
        report.part.roofline = Some(analysis::roofline_chart::chart(&kernels, DRAWN));
    }
    if occupancy && !last.target().is_empty() {
        let overview = options.blocks.is_overview();
        report.part.occupancy_over_time =
            analysis::waves::chart(&kernels, if overview { FEW } else { DRAWN });
    }
    if findings {
        check(report, &kernels, options.blocks.shows_findings(), gate);
    }
    if options.blocks.shows_findings() {
        let base_findings = of_kernels(&base);
        report.part.guide = analysis::guide::guide(&Inputs {
            subjects,
            kernels: &kernels,
            base: &base,
            findings: &report.findings,
            base_findings: &base_findings,
            not_checked: &report.not_checked,
            notes: &report.notes,
            renames: &options.renames,
            tunes: rules::parameters,
            panels: |rule| rules::by_id(rule).map_or(&[], |it| it.panels),
        });
        // In a textual comparison only the changes come before the findings.
        if subjects.len() == 1 {
            say_once(report);
        }
    }
}

/// Marks the findings that repeat the verdict above them.
pub(crate) fn say_once(report: &mut Answer<Recordings>) {
    let Some(guide) = &report.part.guide else { return };
    let verdict = &guide.verdict;
    let is_said = |it: &Finding| {
        it.kernel() == verdict.kernel && verdict.bound_by.is_some() && analysis::guide::is_verdict(it.rule)
    };
    report.findings.iter_mut().filter(|it| is_said(it)).for_each(|it| it.in_verdict = true);
}

/// Every kernel of a recording, most time first, with the verdict on those that are judged.
pub(crate) fn kernels(compiled: &Compiled, subject: &Subject) -> Vec<(GuideKernel, Option<GuideVerdict>)> {
    let all = WorkloadEvidence::gather(compiled, &subject.workload, &subject.rows);
    let one = |(at, it): (usize, &WorkloadEvidence<'_>)| {
        if at < KERNELS {
            (analysis::guide::kernel(it), Some(analysis::guide::verdict(it)))
        } else {
            (analysis::guide::kernel_time(it), None)
        }
    };
    all.iter().enumerate().map(one).collect()
}

/// Findings of the kernels of most time, as they come.
fn of_kernels(kernels: &[WorkloadEvidence<'_>]) -> Vec<Finding> {
    let of = |kernel: &WorkloadEvidence<'_>| {
        let name = kernel.kernel.to_owned();
        let time_percent = Number::from(kernel.time_percent.clone());
        let time_trust = kernel.time_percent_trust();
        let (findings, _) = rules::check_workload(kernel);
        findings.into_iter().map(move |it| it.of_kernel(name.clone(), time_percent.clone(), time_trust))
    };
    kernels.iter().take(KERNELS).flat_map(of).collect()
}

fn check(report: &mut Answer<Recordings>, kernels: &[WorkloadEvidence<'_>], shown: bool, gate: &mut Gate) {
    let mut not_checked: BTreeMap<(&'static str, Missing), u64> = BTreeMap::new();
    for kernel in kernels.iter().take(KERNELS) {
        // Of a GPU that is not known nothing is computed, and each rule would say so.
        let known = !kernel.evaluation.target().is_empty();
        let (mut findings, missing) = if known { rules::check_workload(kernel) } else { Default::default() };
        findings.extend(crate::launched::findings(kernel));
        gate.kernel(kernel.kernel, &mut findings);
        let emulated = kernel.workload.machine.emulator().is_some();
        for mut m in missing {
            // Without a base nobody expects a comparison.
            if m.rule == COMPARES && !report.is_comparison() {
                continue;
            }
            // Each rule's counters would be a long list with one reason.
            if emulated && matches!(m.needs, Missing::Columns(_)) {
                m.needs = Missing::EmulatedTime;
            }
            *not_checked.entry((m.rule, m.needs)).or_default() += 1;
        }
        if shown {
            let percent = Number::from(kernel.time_percent.clone());
            let trust = kernel.time_percent_trust();
            let of_kernel = |it: Finding| it.of_kernel(kernel.kernel, percent.clone(), trust);
            report.findings.extend(findings.into_iter().map(of_kernel));
        }
    }
    sort(&mut report.findings);
    if !shown {
        return;
    }
    let all = kernels.len().min(KERNELS) as u64;
    let one = |((rule, needs), count): ((&'static str, Missing), u64)| {
        let in_short = match &needs {
            Missing::Columns(names) => kernels.first().and_then(|kernel| {
                let counters: Vec<&str> = names.iter().map(String::as_str).collect();
                analysis::guide::in_short(&counters, kernel.evaluation.compiled())
            }),
            _ => None,
        };
        NotChecked { rule, needs, kernels: (count < all).then_some([count, all]), in_short }
    };
    report.not_checked = not_checked.into_iter().map(one).collect();
    if kernels.len() > KERNELS {
        report.note(
            NoteKind::Info,
            format!("{KERNELS} of {} kernels are judged by the rules, those of most time", kernels.len()),
        );
    }
}

/// Most time lost first; if unknown, most severe first. The order of kernels stays within that.
pub(crate) fn sort(findings: &mut [Finding]) {
    findings.in_order_by(|a, b| {
        let time = |f: &Finding| f.time_lost_ns.unwrap_or(-1.0);
        time(b).total_cmp(&time(a)).then_with(|| b.severity.cmp(&a.severity))
    });
}
