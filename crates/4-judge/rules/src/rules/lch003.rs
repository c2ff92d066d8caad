//! LCH003: loss of the last round.

use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "LCH003",
    title: "the last round of workgroups is nearly empty",
    severity: Severity::Warning,
    page: include_str!("lch003.md"),
    checks: &[Check::Launch(check)],
    panels: &[6, 7],
};

/// With more rounds than this, the last one is a small share.
const MOST_ROUNDS: u64 = 8;

fn check(evidence: &LaunchEvidence<'_>) -> Outcome {
    let it = gemm::Rounds::of(evidence.workgroups, u64::from(evidence.model.compute_units.value));
    if it.rounds < 2 || it.rounds > MOST_ROUNDS || it.last_round >= 0.5 {
        return Outcome::Silent;
    }
    Outcome::Findings(vec![
        RULE.finding(
            Severity::Warning,
            format!(
                "{} workgroups on {} compute units: the last of {} rounds fills {:.0} % of them",
                it.workgroups,
                it.units,
                it.rounds,
                100.0 * it.last_round
            ),
            format!(
                "aim at {} workgroups or fewer, or give each workgroup several parts of the work",
                (it.rounds - 1) * it.units
            ),
        )
        .with_cost(format!("at most {:.0} % of the time", 100.0 * (1.0 - it.utilisation)))
        .with_evidence("workgroups", it.workgroups)
        .with_evidence("rounds", it.rounds),
    ])
}
