//! TIL009: tiles and XCDs.

use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TIL009",
    title: "tiles that share data are on different XCDs",
    severity: Severity::Info,
    page: include_str!("til009.md"),
    checks: &[Check::Launch(check)],
    panels: &[11],
};

/// Share of the bytes that grouping must save.
const SAVED: f64 = 0.25;

/// Bytes below which a read that could be spared is not reported.
const LEAST: f64 = 1e6;

/// Share of the expected time below which the time of such a read is not either.
const LEAST_TIME: f64 = 0.05;

fn check(evidence: &LaunchEvidence<'_>) -> Outcome {
    let Some(it) = evidence.gemm else {
        return Outcome::needs("the shape and the tile of the matrix product");
    };
    let xcds = evidence.model.xcds.value;
    let (dealt, grouped) = (it.bytes.fabric, it.bytes.fabric_grouped);
    let round = u64::from(xcds) * 2;
    let microseconds = (dealt - grouped) / (evidence.model.hbm.gb_per_s.value * 1e3);
    let is_short = it.time.is_some_and(|time| microseconds < LEAST_TIME * time.total_us);
    if xcds < 2
        || evidence.remaps_xcds == Some(true)
        || it.workgroups < round
        || dealt * (1.0 - SAVED) < grouped
        || dealt - grouped < LEAST
        || is_short
    {
        return Outcome::Silent;
    }
    Outcome::Findings(vec![
        RULE.finding(
            Severity::Info,
            format!(
                "{:.0} MB pass from memory or the memory-side cache to the L2 caches of {xcds} XCDs where {:.0} would do",
                dealt / 1e6,
                grouped / 1e6
            ),
            format!("number the tiles so that each XCD gets neighbours: `pid = (pid % {xcds}) * (tiles / {xcds}) + pid / {xcds}`"),
        )
        .with_cost(format!("{:.0} MB, {:.0} % of what the L2 caches read", (dealt - grouped) / 1e6, 100.0 * (1.0 - grouped / dealt)))
        .with_evidence("read by the L2 caches, dealt out one by one", format!("{:.0} MB", dealt / 1e6))
        .with_evidence("read by the L2 caches, neighbours together", format!("{:.0} MB", grouped / 1e6)),
    ])
}
