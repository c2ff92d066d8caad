//! LCH004: compute units without waves while the kernel runs.
//!
//! With enough workgroups for all compute units, an idle one means that launch, tail or uneven work takes the
//! time.

use super::lch002::workgroups;
use crate::recorded::{duration, lost_below_roof};
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use analysis::roofline::Bound;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "LCH004",
    title: "compute units hold no waves part of the time",
    severity: Severity::Warning,
    page: include_str!("lch004.md"),
    checks: &[Check::Recording(check)],
    panels: &[6, 7],
};

/// Percent of the cycles from which on compute units count as busy.
const BUSY: f64 = 75.0;
/// Below it is a warning.
const IDLE: f64 = 50.0;
/// Dispatches up to this long are mostly start and end, ns.
const SHORT: f64 = 50_000.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let typical = evidence.typical();
    let busy = typical.known("gpu.simd_utilization")?;
    let cus = evidence.value("gpu.cus")?;
    let workgroups = workgroups(&typical)?;
    let launch = matches!(evidence.roof().bound, Ok(Bound::Launch { .. }));
    if busy.value >= BUSY || workgroups.value < cus || launch {
        return Ok(Outcome::Silent);
    }
    let mean = typical.known("dispatch.duration").ok();
    let advice = match mean {
        Some(ns) if ns.value > SHORT => {
            "give workgroups equal work or make them smaller, so that no compute unit waits for the last"
        }
        _ => "a short dispatch is mostly start and end: more work per launch, or several kernels in one",
    };
    let mut finding = RULE
        .finding(
            if busy.value < IDLE { Severity::Warning } else { Severity::Info },
            format!(
                "compute units hold waves in {busy:.0} % of the cycles, with {workgroups:.0} workgroups for {cus:.0} of them"
            ),
            advice,
        )
        .with_evidence("compute units busy", format!("{busy:.1} %"))
        .with_evidence("workgroups per dispatch", format!("{workgroups:.0}"))
        .with_trust([busy, workgroups]);
    if let Some(ns) = mean {
        finding = finding.with_evidence("mean time of a dispatch", duration(ns)).with_trust([ns]);
    }
    let part = busy.map(|busy| 1.0 - busy / 100.0);
    Ok(Outcome::Findings(vec![lost_below_roof(evidence, finding, part)]))
}
