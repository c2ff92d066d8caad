//! TIL003: depth that more workgroups could share.

use crate::launch::shared_depth;
use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TIL003",
    title: "too few tiles for the compute units",
    severity: Severity::Warning,
    page: include_str!("til003.md"),
    checks: &[Check::Launch(check)],
    panels: &[11],
};

/// Gain that pays for sums in memory.
const GAIN: f64 = 0.10;

fn check(evidence: &LaunchEvidence<'_>) -> Outcome {
    let Some(it) = evidence.gemm else {
        return Outcome::needs("the shape and the tile of the matrix product");
    };
    let units = it.rounds.units;
    let Some(time) = it.time else { return Outcome::Silent };
    let steps = it.problem.k / it.tile.k.max(1);
    let alone = evidence.alternatives.iter().filter(|it| it.tile.split_k == 1);
    let other_tile = alone.filter_map(|it| it.time).map(|it| it.total_us).fold(f64::MAX, f64::min);
    let shared = shared_depth(evidence).filter(|(_, then)| *then < other_tile);
    let Some((parts, then)) = shared.filter(|(_, then)| *then < (1.0 - GAIN) * time.total_us) else {
        return Outcome::Silent;
    };
    Outcome::Findings(vec![
        RULE.finding(
            Severity::Warning,
            format!(
                "{} on {units} compute units, each with {steps} steps of depth",
                counted(it.workgroups, "workgroup")
            ),
            format!("share the depth among {parts} workgroups (split-K), or use stream-K"),
        )
        .with_cost(format!("{:.1} of {:.1} us expected", time.total_us - then, time.total_us))
        .with_evidence("tiles", it.workgroups)
        .with_evidence("steps of depth", steps),
    ])
}
