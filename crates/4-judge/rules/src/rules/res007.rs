//! RES007: LDS of the workgroups leaves few waves on a compute unit.
//!
//! A smaller allocation helps only if LDS alone is the limit, and workgroups really waited for it.

use crate::recorded::{lost_to, waits};
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use arch::{Limiter, Resources, occupancy};
use view::{Missing, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "RES007",
    title: "the LDS allocation limits occupancy",
    severity: Severity::Warning,
    page: include_str!("res007.md"),
    checks: &[Check::Recording(check)],
    panels: &[6, 7],
};

/// Percent of the cycles from which on waiting for LDS counts.
const WAITED: f64 = 0.1;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let lds = evidence.value("dispatch.lds_allocation")?;
    if lds <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let waited = evidence.known("spi.no_lds")?;
    let target = evidence.target.ok_or(Missing::TargetFacts)?;
    let asked = evidence.resources()?;
    let now = occupancy(target, &asked);
    let without = occupancy(target, &Resources { lds_bytes: 0, ..asked });
    let only_lds = now.limiters().all(|limiter| limiter == Limiter::Lds);
    if waited.value < WAITED || !only_lds || without.waves_per_cu <= now.waves_per_cu {
        return Ok(Outcome::Silent);
    }
    let finding = RULE
        .finding(
            if waits(evidence) { Severity::Warning } else { Severity::Info },
            format!(
                "{} KiB of LDS per workgroup leave room for {} per compute unit where the registers allow {}",
                (10.0 * lds / 1024.0).round() / 10.0,
                counted(now.waves_per_cu, "wave"),
                without.waves_per_cu
            ),
            "allocate less LDS per wave: smaller tiles, narrower types, only what is reused most, or larger workgroups that share it",
        )
        .with_evidence("LDS per workgroup", format!("{lds:.0} B"))
        .with_evidence("waves per workgroup", asked.waves_per_workgroup)
        .with_evidence("a workgroup waited for LDS", format!("{waited:.1} % of the cycles"))
        .with_trust([waited]);
    let part = 1.0 - f64::from(now.waves_per_cu) / f64::from(without.waves_per_cu);
    Ok(Outcome::Findings(vec![lost_to(evidence, finding, "lds-size", part)]))
}
