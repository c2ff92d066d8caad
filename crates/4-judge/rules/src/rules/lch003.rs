//! LCH003: loss of the last round.

use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "LCH003",
    title: "the last round of workgroups is nearly empty",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Launch(check)],
    panels: &[6, 7],
};

const PAGE: &str = r"## What it does
Fires on a launch of at most eight rounds of workgroups over the compute units, the last of which fills less than half of them.

Silent for launches of one round (LCH001 looks at those), and for many rounds, of which the last one is a small part.

## Why it is slow
All workgroups take about the same time, so the compute units without one in the last round wait for it to end.

## Evidence
Workgroups, compute units, rounds and the share of the last one that is filled. Workgroups that share a compute unit soften it: the
loss is at most the one given.

## What to do
Choose the workgroup's part of the work so that the number of workgroups is near below a multiple of the compute units, or launch as many
workgroups as the GPU holds and let each take several parts.

## Source
The ROCm Triton wiki (utilisation of compute units), the IREE AMDGPU guide (a multiple of the compute units).
";

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
