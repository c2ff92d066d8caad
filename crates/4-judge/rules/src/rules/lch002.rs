//! LCH002: too few workgroups for the GPU.
//!
//! A workgroup runs on one compute unit, so each missing workgroup leaves a compute unit idle.

use crate::recorded::lost_below_roof;
use crate::{Check, Outcome, Rule};
use analysis::{KernelNumbers, WorkloadEvidence};
use view::{Known, Missing, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "LCH002",
    title: "fewer workgroups than the GPU needs",
    severity: Severity::Warning,
    page: include_str!("lch002.md"),
    checks: &[Check::Recording(check)],
    panels: &[6, 7],
};

/// Workgroups a GPU of several dies should have.
const MANY: f64 = 1024.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let workgroups = workgroups(&evidence.typical())?;
    let cus = evidence.value("gpu.cus")?;
    let several_dies = evidence.machine("num_xcd").is_some_and(|xcds| xcds > 1.0);
    if workgroups.value >= cus && (!several_dies || workgroups.value >= MANY) {
        return Ok(Outcome::Silent);
    }
    let (severity, part, message) = if workgroups.value < cus {
        let count = workgroups.text(|count| counted(count.round() as u64, "workgroup"));
        let text = format!("{count} for {cus:.0} compute units");
        (Severity::Warning, workgroups.map(|all| 1.0 - all / cus), text)
    } else {
        let rounds = workgroups.map(|all| all / cus);
        let text = format!(
            "{workgroups:.0} workgroups, under {MANY:.0}, for {cus:.0} compute units on several dies"
        );
        (Severity::Info, rounds.map(|rounds| 1.0 - rounds / rounds.ceil()), text)
    };
    let finding = RULE
        .finding(
            severity,
            message,
            "launch more and smaller workgroups, or split the reduction over workgroups",
        )
        .with_evidence("workgroups per dispatch", format!("{workgroups:.0}"))
        .with_evidence("compute units", format!("{cus:.0}"))
        .with_trust([workgroups]);
    Ok(Outcome::Findings(vec![lost_below_roof(evidence, finding, part)]))
}

/// Workgroups of a dispatch, counted or worked out; of dispatches of one size, since a mean of sizes is none
/// of them.
pub(super) fn workgroups(evidence: &KernelNumbers<'_>) -> Result<Known, Missing> {
    evidence.known("dispatch.workgroups").or_else(|_| {
        Ok(evidence.known("dispatch.grid_size")?.over(evidence.known("dispatch.workgroup_size")?))
    })
}
