//! COM002: bus bandwidth below the bandwidth of the links.
//!
//! Only large sizes show the bandwidth of the links.

use crate::comm::{CommEvidence, LARGE, board, expected_bus, size};
use crate::{Check, Outcome, Rule};
use sorting::Sort;
use trace::comm::{Bandwidths, RcclTest};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "COM002",
    title: "bus bandwidth below what the links give",
    severity: Severity::Warning,
    page: include_str!("com002.md"),
    checks: &[Check::Comm(check)],
    panels: &[],
};

/// Share of the expected bandwidth below which a finding is severe, and above which noise explains the
/// difference.
const SHARES: [f64; 2] = [0.7, 0.98];

fn check(evidence: &CommEvidence<'_>) -> Outcome {
    let mut findings: Vec<Finding> = evidence
        .tests()
        .filter_map(|(name, test)| nodes(name, test).or_else(|| one_node(name, test)))
        .collect();
    findings.extend(
        evidence.bandwidths().filter(|(_, it)| it.all_to_all).filter_map(|(name, it)| slow_pair(name, it)),
    );
    Outcome::from_findings(findings)
}

fn below(name: &str, best: f64, bytes: u64, wanted: f64, what: &str) -> Option<Finding> {
    let share = best / wanted;
    if share >= SHARES[1] {
        return None;
    }
    let finding = RULE.finding(
        if share < SHARES[0] { Severity::Severe } else { Severity::Warning },
        format!(
            "{name}: {best:.1} GB/s at {}, {:.0} % of the {wanted:.0} GB/s that {what} give",
            size(bytes),
            share * 100.0
        ),
        "find the slow link with `TransferBench a2a`, and look for ways other than P2P in a log of `NCCL_DEBUG=INFO`",
    );
    Some(finding.with_evidence("share of what is wanted", format!("{:.1} %", share * 100.0)))
}

fn one_node(name: &str, test: &RcclTest) -> Option<Finding> {
    let (low, high, what) = expected_bus(test)?;
    let (best, bytes) = test.best().filter(|(_, bytes)| *bytes >= LARGE)?;
    // A run that ends at a smaller size is judged by the expected bandwidth at that size.
    let at_size = board(test).filter(|_| test.collective.as_deref() == Some("all_reduce"));
    let at_size = at_size.and_then(|board| arch::fabric::all_reduce_at(board.gpu, board.gpus, bytes));
    let wanted = at_size.map_or(low, |at_size| low.min(at_size));
    let finding = below(name, best, bytes, wanted, what)?;
    Some(finding.with_evidence("reached by good machines", format!("{low:.0} to {high:.0} GB/s")))
}

/// For several nodes, expected figures exist at some sizes only.
fn nodes(name: &str, test: &RcclTest) -> Option<Finding> {
    let collective = test.collective.as_deref()?;
    test.rows.iter().rev().find_map(|row| {
        let wanted = arch::fabric::wanted_of_nodes(collective, test.rank_count(), row.bytes)?;
        let best = row.in_place.map_or(row.out_of_place.bus, |cell| cell.bus.max(row.out_of_place.bus));
        below(name, best, row.bytes, wanted, "the links of several nodes")
    })
}

/// The pair far below the others bounds every collective.
fn slow_pair(name: &str, it: &Bandwidths) -> Option<Finding> {
    let matrix = it.matrices.first()?;
    let mut all: Vec<f64> =
        matrix.rows.iter().flat_map(|(_, cells)| cells.iter().flatten().copied()).collect();
    all.in_order_by(f64::total_cmp);
    let median = *all.get(all.len() / 2)?;
    let (slowest, from, to) = matrix
        .rows
        .iter()
        .flat_map(|(from, cells)| cells.iter().zip(&matrix.columns).map(move |(cell, to)| (cell, from, to)))
        .filter_map(|(cell, from, to)| Some(((*cell)?, from, to)))
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    if slowest >= 0.8 * median {
        return None;
    }
    let links = matrix.columns.len().saturating_sub(1);
    let finding = RULE.finding(
        Severity::Severe,
        format!(
            "{name}: the link from {from} to {to} carries {slowest:.1} GB/s, the median is {median:.1}; it bounds collectives to {:.1} GB/s",
            slowest * links as f64
        ),
        "check this link: XGMI errors in the kernel log, reseat or replace the GPU, update firmware",
    );
    Some(finding.with_evidence("share of the median", format!("{:.1} %", 100.0 * slowest / median)))
}
