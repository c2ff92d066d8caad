//! LCH001: workgroups that leave lanes or SIMDs idle.
//!
//! A wave always has its full width, and a workgroup's waves go to the SIMDs of one compute unit; lanes or
//! SIMDs beyond an uneven division are idle.

use crate::text::short_number;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "LCH001",
    title: "workgroup size leaves lanes or SIMDs idle",
    severity: Severity::Warning,
    page: include_str!("lch001.md"),
    checks: &[Check::Code(check)],
    panels: &[6, 7],
};

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let Some(target) = evidence.target else {
        return Outcome::needs("a known target");
    };
    let lanes = target.lanes_per_wave.value;
    let resources = &evidence.resources;
    let required = resources.required_workgroup.map(|[x, y, z]| x.saturating_mul(y).saturating_mul(z));
    let stated = required.or(evidence.kernel.metadata.launch_waves.map(|waves| waves.saturating_mul(lanes)));
    let Some(size) = stated.or(resources.max_workgroup).filter(|size| *size > 0) else {
        return Outcome::needs("the workgroup size");
    };
    let mut findings = Vec::new();
    findings.extend(partial_wave(size, lanes, stated.is_some()));
    if stated.is_some() {
        findings.extend(uneven(evidence, target.simds_per_cu.value));
    }
    // The place needs a line-table lookup, so it is computed only for a finding.
    let place = || (!evidence.insts.is_empty()).then(|| evidence.place(0));
    Outcome::from_findings(
        findings.into_iter().map(|finding: Finding| finding.with_places(place())).collect(),
    )
}

/// The last wave is not full.
fn partial_wave(size: u32, lanes: u32, stated: bool) -> Option<Finding> {
    let waves = size.div_ceil(lanes);
    let idle = waves * lanes - size;
    if idle == 0 || size == 1 {
        return None;
    }
    let share = 100.0 * f64::from(idle) / f64::from(waves * lanes);
    let (severity, what) =
        if stated { (Severity::Warning, "workgroup") } else { (Severity::Info, "largest allowed workgroup") };
    Some(
        RULE.finding(
            severity,
            format!("{what} of {size} is not a multiple of {lanes}: {idle} lanes of the last of {waves} waves idle"),
            format!("use a multiple of {lanes}, best of 256"),
        )
        .with_cost(format!("{share:.0} % of the lanes"))
        .with_evidence("workgroup size", size)
        .with_evidence("idle lanes", format!("{idle} of {}", waves * lanes)),
    )
}

/// Resident workgroups do not fill the SIMDs evenly.
fn uneven(evidence: &KernelEvidence<'_>, simds: u32) -> Option<Finding> {
    let occupancy = evidence.occupancy.as_ref()?;
    let resident = occupancy.waves_per_cu;
    let over = resident % simds;
    if resident == 0 || over == 0 || super::res002::leaves_simds_idle(occupancy, simds) {
        return None;
    }
    let per_workgroup = resident / occupancy.workgroups_per_cu.max(1);
    let holds = format!(
        "a compute unit holds {} of {per_workgroup} waves (limited by {})",
        view::counted(occupancy.workgroups_per_cu, "workgroup"),
        occupancy.limiter.name()
    );
    let (severity, message, cost) = if resident < simds {
        let idle = simds - resident;
        (
            Severity::Warning,
            format!("{holds}: {idle} of {simds} SIMDs idle"),
            format!("{idle} of {simds} SIMDs"),
        )
    } else {
        (
            Severity::Info,
            format!("{holds}: {} of {simds} SIMDs have one wave less than the others", simds - over),
            format!(
                "{} waves per SIMD instead of {}",
                short_number(occupancy.waves_per_simd),
                resident.div_ceil(simds)
            ),
        )
    };
    Some(
        RULE.finding(severity, message, format!("use {simds} waves per workgroup or a multiple"))
            .with_cost(cost)
            .with_evidence("waves resident per compute unit", resident),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_waves_count_idle_lanes() {
        for (size, idle) in
            [(1, None), (63, Some(1)), (64, None), (100, Some(28)), (256, None), (1000, Some(24))]
        {
            let found = partial_wave(size, 64, true);
            assert_eq!(found.is_some(), idle.is_some(), "{size}");
            if let (Some(found), Some(idle)) = (found, idle) {
                assert!(found.evidence[1].value.starts_with(&format!("{idle} of")), "{found:?}");
                assert_eq!(found.severity, Severity::Warning);
            }
        }
        assert_eq!(partial_wave(100, 64, false).unwrap().severity, Severity::Info);
    }
}
