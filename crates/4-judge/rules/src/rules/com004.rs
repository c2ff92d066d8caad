//! COM004: sizes far off their neighbours.
//!
//! A disturbance hits one measurement; a range of sizes that take longer than larger ones has a cause in the
//! library or the network.

use crate::comm::{CommEvidence, place, size};
use crate::{Check, Outcome, Rule};
use trace::comm::RcclTest;
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "COM004",
    title: "sizes far off their neighbours",
    severity: Severity::Info,
    page: include_str!("com004.md"),
    checks: &[Check::Comm(check)],
    panels: &[],
};

/// Bytes from which bandwidth is steady enough, and the share of the others that is far off.
const FROM: u64 = 1 << 20;
const FAR: f64 = 0.6;

fn check(evidence: &CommEvidence<'_>) -> Outcome {
    let mut findings: Vec<Finding> = Vec::new();
    for (name, test) in evidence.tests() {
        let collapsed = collapsed(test);
        findings.extend(range(name, test, &collapsed));
        for (at, row) in test.rows.iter().enumerate().filter(|(_, row)| row.bytes >= FROM) {
            // A size of a range is not a single disturbance.
            if collapsed.contains(&at) {
                continue;
            }
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

/// Times of a larger size above which a size is in a range that collapsed.
const LONGER: f64 = 2.0;
/// Shortest time of such a size, us: below it differences are noise.
const NOISE_US: f64 = 100.0;

/// Rows that take much longer than a larger size.
fn collapsed(test: &RcclTest) -> Vec<usize> {
    let time = |at: usize| test.rows[at].out_of_place.time_us;
    let is_slow = |at: &usize| {
        let larger = (at + 1..test.rows.len()).filter(|other| test.rows[*other].bytes > test.rows[*at].bytes);
        let fastest = larger.map(time).fold(f64::INFINITY, f64::min);
        time(*at) > NOISE_US && time(*at) > LONGER * fastest
    };
    (0..test.rows.len()).filter(is_slow).collect()
}

/// The finding on such rows, one for all.
fn range(name: &str, test: &RcclTest, rows: &[usize]) -> Option<Finding> {
    let (first, last) = (&test.rows[*rows.first()?], &test.rows[*rows.last()?]);
    let faster = test.rows.iter().filter(|row| row.bytes > last.bytes);
    let faster = faster.min_by(|a, b| a.out_of_place.time_us.total_cmp(&b.out_of_place.time_us))?;
    let hosts = test.hosts().len();
    let sizes = if rows.len() == 1 {
        size(first.bytes)
    } else {
        format!("{} to {}", size(first.bytes), size(last.bytes))
    };
    let finding = RULE.finding(
        Severity::Severe,
        format!(
            "{name}: bandwidth collapses at {sizes}: {} takes {:.0} us, and {} only {:.0} us",
            size(last.bytes),
            last.out_of_place.time_us,
            size(faster.bytes),
            faster.out_of_place.time_us
        ),
        if hosts > 1 {
            "compare NCCL_PROTO=Simple and LL128 and NCCL_ALGO=Ring and Tree at these sizes, and look at the network: the size where its protocol changes, the plug-in, flow control"
        } else {
            "compare NCCL_PROTO=Simple and LL128 and NCCL_ALGO=Ring and Tree at these sizes"
        },
    );
    let finding = finding
        .with_evidence("sizes", counted(rows.len(), "size"))
        .with_evidence("hosts", hosts)
        .with_places(rows.iter().map(|at| place(name, test.rows[*at].line)));
    Some(finding)
}
