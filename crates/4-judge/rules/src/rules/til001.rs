//! TIL001: utilisation of compute units by tiles.

use crate::launch::shared_depth;
use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TIL001",
    title: "the tiles leave compute units idle",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Launch(check)],
    panels: &[11],
};

const PAGE: &str = r"## What it does
Fires on a matrix product whose tiles fill less than 90 % of the places that the compute units have in all rounds, where another usual
tile is expected to be at least 5 % faster. Silent where sharing the depth of the tile is faster still (TIL003).

Utilisation is `(workgroups / CUs) / ceil(workgroups / CUs)`. Tiles with the same utilisation differ in what they read, so the
alternatives are those of least expected time.

## Why it is slow
The launch ends when its last round ends, however few workgroups that has.

## Evidence
Workgroups, compute units, rounds, and the expected time of the tile and of the best other ones.

## What to do
Take one of the tiles named, or share the depth (TIL003).

A product of 4096 by 4096 on the 304 compute units of an MI300X: 256x256 gives 256 workgroups and 84.2 %, 128x128 gives 1024 and 84.2 %, 64x64 gives
4096 and 96.2 %, 128x64 gives 2048 and 96.2 %. The wiki prints 94 % and 99 % for the last two; its own formula gives 96.2 % for both.

## Source
The ROCm Triton wiki (block sizes), the ROCm Triton kernel guide.
";

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
