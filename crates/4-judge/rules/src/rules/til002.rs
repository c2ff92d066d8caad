//! TIL002: depth of tiles against cache lines.

use crate::ir::place;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use tritonir::KernelIr;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TIL002",
    title: "rows of a tile shorter than a cache line",
    severity: Severity::Warning,
    page: include_str!("til002.md"),
    checks: &[Check::Ir(check)],
    panels: &[11],
};

/// Bytes of a cache line of the L2.
const LINE: u64 = 128;

fn check(ir: &KernelIr, _: &KernelEvidence<'_>) -> Outcome {
    let product = |at: Option<usize>| at.is_some_and(|at| ir.loops.get(at).is_some_and(|it| it.dots > 0));
    let short =
        ir.accesses.iter().filter(|it| product(it.at.in_loop) && it.direction != tritonir::Direction::Store);
    let findings = short.filter_map(|it| {
        let row = it.row_bytes.filter(|row| *row < LINE)?;
        let base = it.base.as_deref().map_or_else(String::new, |name| format!(" of `{name}`"));
        Some(
            RULE.finding(
                Severity::Warning,
                format!("rows of the {} tile{base} are {row} bytes, of a cache line of {LINE}", it.shape),
                format!(
                    "make the tile at least {} times as long along its rows, `BLOCK_K` where the rows are along K",
                    LINE / row.max(1)
                ),
            )
            .with_cost(format!("{} of {LINE} bytes of each line are not used at once", LINE - row))
            .with_evidence("bytes of a row", row)
            .with_places([place(&it.at)]),
        )
    });
    Outcome::from_findings(findings.collect())
}
