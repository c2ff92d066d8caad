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
    page: PAGE,
    checks: &[Check::Ir(check)],
    panels: &[11],
};

const PAGE: &str = r"## What it does
Fires on a load in the loop of a matrix product whose rows, along the dimension in which neighbours lie beside each other, are
shorter than a cache line of 128 bytes.

Rows of 128 bytes and more are silent; 512 bytes are best, but make tiles of 16-bit types too large. Silent also where each row begins
at the end of the one before, by a constant stride: the tile is one piece of memory.

## Why it is slow
A row of the tile is read alone: the next row begins a stride away. A row shorter than a line fetches the whole line all the same, and
the rest is wanted only in a later iteration, when it may have left the cache.

## Evidence
Shape, layout and element size of each load, and the fastest dimension.

## What to do
Make `BLOCK_K` larger where the factor lies along K: 64 elements of 16 bits, 128 of 8 bits, up to 512 bytes. Where the factor lies along
the other dimension, make that one larger.

## Source
The ROCm Triton wiki: the best K extent gives 512 contiguous bytes; 64 to 128 elements are usual.
";

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
