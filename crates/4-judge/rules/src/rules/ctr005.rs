//! CTR005: more work than another version of the kernel needed.
//!
//! Times compare two runs, work compares two algorithms; a version that moves fewer bytes has more potential.

use crate::recorded::{bytes, duration, lost, part_of};
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use sorting::Sort;
use view::{Finding, Known, Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CTR005",
    title: "the work differs from the recording it is compared with",
    severity: Severity::Warning,
    page: include_str!("ctr005.md"),
    checks: &[Check::Recording(check)],
    panels: &[2],
};

/// Metric, what it counts, whether it is bytes.
const WORK: &[(&str, &str, bool)] = &[
    ("roofline.hbm_bytes", "bytes from and to memory", true),
    ("vl1d.l2_reads", "reads from L2", false),
    ("vl1d.cache_accesses", "line look-ups of the vector L1", false),
    ("compute.flops", "floating-point operations", false),
    ("instructions.valu_and_matrix", "vector instructions", false),
];
/// Change from which on the work differs.
const CHANGED: f64 = 0.1;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let Some(base) = evidence.baseline else { return Ok(Outcome::needs("a recording to compare with")) };
    let mut more: Vec<(Known, String)> = Vec::new();
    let mut less: Vec<(Known, String)> = Vec::new();
    let mut lines = Vec::new();
    let mut compared = 0;
    for (metric, what, is_bytes) in WORK {
        let (Ok(old), Ok(new)) = (base.known(metric), evidence.known(metric)) else { continue };
        compared += 1;
        let (grown, shrunk) = (new.over(old), old.over(new));
        if old.value <= 0.0
            || new.value <= 0.0
            || (grown.value - 1.0).abs() < CHANGED && (shrunk.value - 1.0).abs() < CHANGED
        {
            continue;
        }
        let show = |value: Known| if *is_bytes { bytes(value) } else { format!("{value:.0}") };
        lines.push((*what, format!("{} instead of {}", show(new), show(old)), [new, old]));
        let (list, factor) = if new.value > old.value { (&mut more, grown) } else { (&mut less, shrunk) };
        list.push((factor, format!("{factor:.1} times the {what}")));
    }
    if compared == 0 {
        return Err(Missing::because("counters that both recordings have"));
    }
    let (severity, list, advice) = if more.is_empty() {
        (
            Severity::Info,
            &mut less,
            "the work shrank; where the time did not follow, something else now bounds the kernel",
        )
    } else {
        (Severity::Warning, &mut more, "find what is read again, spilled or computed twice")
    };
    list.in_order_by(|a, b| b.0.value.total_cmp(&a.0.value));
    let Some((factor, text)) = list.first() else { return Ok(Outcome::Silent) };
    let message = match severity {
        Severity::Info => format!("does less than the base: that had {text}"),
        _ => format!("does more than the base: {text}"),
    };
    let mut finding = RULE.finding(severity, message, advice).with_trust([*factor]);
    for (what, value, numbers) in lines {
        finding = finding.with_evidence(what, value).with_trust(numbers);
    }
    finding = times(evidence, base, finding);
    Ok(Outcome::Findings(vec![lost(evidence, finding, surplus(evidence, base))]))
}

/// Share of the time that bytes beyond the base's take.
fn surplus(evidence: &WorkloadEvidence<'_>, base: &WorkloadEvidence<'_>) -> Known {
    let metric = "roofline.hbm_bytes";
    match (base.known(metric), evidence.known(metric)) {
        (Ok(old), Ok(new)) if new.value > old.value => {
            part_of(evidence, "HBM").with(old.over(new), |part, kept| part * (1.0 - kept))
        }
        _ => 0.0.into(),
    }
}

fn times(evidence: &WorkloadEvidence<'_>, base: &WorkloadEvidence<'_>, finding: Finding) -> Finding {
    let metric = "dispatch.duration";
    match (base.known(metric), evidence.known(metric)) {
        (Ok(old), Ok(new)) => finding
            .with_evidence("time of a dispatch", format!("{} instead of {}", duration(new), duration(old)))
            .with_trust([new, old]),
        _ => finding,
    }
}
