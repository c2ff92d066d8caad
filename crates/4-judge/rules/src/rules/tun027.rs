//! TUN027: benchmarks of f16 where bf16 would do.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use arch::ElementType;
use tunedb::{Format, Tunings};
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN027",
    title: "kernels are tuned for f16 alone",
    severity: Severity::Info,
    page: include_str!("tun027.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let of = |it: &&Tunings<'_>| matches!(it.format, Format::TensileConfig | Format::CkProfiler);
    outcome(evidence.files.iter().filter(of).filter_map(one).collect())
}

fn one(file: &Tunings<'_>) -> Option<Finding> {
    let element = |at: usize| file.rows[at].types.as_deref().ok().and_then(tunedb::element);
    let is = |wanted: ElementType| {
        (0..file.rows.len()).filter(|at| element(*at) == Some(wanted)).collect::<Vec<_>>()
    };
    let (half, brain) = (is(ElementType::F16), is(ElementType::Bf16));
    let first = half.first().filter(|_| brain.is_empty())?;
    let message = format!("{} of f16, none of bf16", counted(half.len(), "row"));
    let found = RULE.finding(Severity::Info, message, "measure bf16 where the model allows it");
    Some(found.with_places([at(file, file.rows[*first].line)]))
}
