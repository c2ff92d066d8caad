//! TIL001: utilisation of compute units by tiles.

use crate::launch::shared_depth;
use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TIL001",
    title: "the tiles leave compute units idle",
    severity: Severity::Warning,
    page: include_str!("til001.md"),
    checks: &[Check::Launch(check)],
    panels: &[11],
};

/// Utilisation below which the places left idle are reported.
const GOOD: f64 = 0.9;
/// Gain below which another tile is not worth a try.
const GAIN: f64 = 0.05;

fn check(evidence: &LaunchEvidence<'_>) -> Outcome {
    let Some(it) = evidence.gemm else {
        return Outcome::needs("the shape and the tile of the matrix product");
    };
    let Some(time) = it.time else { return Outcome::Silent };
    let better: Vec<&gemm::Estimate> = evidence
        .alternatives
        .iter()
        .filter(|other| other.time.is_some_and(|other| other.total_us < (1.0 - GAIN) * time.total_us))
        .filter(|other| other.rounds.utilisation > it.rounds.utilisation)
        .take(3)
        .collect();
    let (Some(best), true) = (better.first().and_then(|it| it.time), it.rounds.utilisation < GOOD) else {
        return Outcome::Silent;
    };
    if shared_depth(evidence).is_some_and(|(_, then)| then < best.total_us) {
        return Outcome::Silent;
    }
    let names: Vec<String> = better
        .iter()
        .map(|it| format!("{} ({:.1} %)", it.tile.name(), 100.0 * it.rounds.utilisation))
        .collect();
    Outcome::Findings(vec![
        RULE.finding(
            Severity::Warning,
            format!(
                "{} of {} in {} on {} compute units: {:.1} % of the places are used",
                counted(it.workgroups, "workgroup"),
                it.tile.name(),
                counted(it.rounds.rounds, "round"),
                it.rounds.units,
                100.0 * it.rounds.utilisation
            ),
            format!("try {}", names.join(", ")),
        )
        .with_cost(format!("{:.1} of {:.1} us expected", time.total_us - best.total_us, time.total_us))
        .with_evidence("workgroups", it.workgroups)
        .with_evidence("utilisation", format!("{:.1} %", 100.0 * it.rounds.utilisation)),
    ])
}
