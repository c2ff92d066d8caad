//! COM004: one measurement far off its neighbours.
//!
//! A disturbance hits one measurement, a property of the machine hits all.

use crate::comm::{CommEvidence, place, size};
use crate::{Check, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "COM004",
    title: "one measurement far off its neighbours",
    severity: Severity::Info,
    page: PAGE,
    checks: &[Check::Comm(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when a cell of rccl-tests from 1 MiB on has less than 60 % of the bus bandwidth of the same size with the result in the other
place, and of the sizes next to it.

## Why it is slow
A single slow measurement is a disturbance during the run: another job, a page that moved, a clock that dropped. It is not a
property of the size.

## Evidence
The cell, the same size in the other place, and its neighbours.

## What to do
Run again with more iterations (`-n 100`), and without other jobs. If the size stays slow, it is where RCCL changes its algorithm or protocol:
compare `NCCL_PROTO=LL128` and `Simple`.

## Source
rccl-tests: out-of-place and in-place measure the same traffic.
";

/// Bytes from which bandwidth is steady enough, and the share of the others that is far off.
const FROM: u64 = 1 << 20;
const FAR: f64 = 0.6;

fn check(evidence: &CommEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for (name, test) in evidence.tests() {
        for (at, row) in test.rows.iter().enumerate().filter(|(_, row)| row.bytes >= FROM) {
            let Some(in_place) = row.in_place else { continue };
            for (cell, other, word) in [
                (row.out_of_place.bus, in_place.bus, "out of place"),
                (in_place.bus, row.out_of_place.bus, "in place"),
            ] {
                let before =
                    at.checked_sub(1).and_then(|at| test.rows.get(at)).map(|row| row.out_of_place.bus);
                if cell >= FAR * other || before.is_some_and(|before| cell >= before) {
                    continue;
                }
                let finding = RULE.finding(
                    Severity::Info,
                    format!(
                        "{name}: {} {word} reaches {cell:.1} GB/s, {other:.1} in the other place",
                        size(row.bytes)
                    ),
                    "run again with more iterations and without other jobs",
                );
                findings.push(finding.with_places([place(name, row.line)]));
            }
        }
    }
    Outcome::from_findings(findings)
}
