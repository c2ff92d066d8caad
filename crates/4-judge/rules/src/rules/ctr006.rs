//! CTR006: a GPU that runs the same kernels slower than others.
//!
//! The same kernels on the same sizes differ in time because of clocks, not because of the program.

use crate::traced::{TraceEvidence, lost, ms};
use crate::{Check, Outcome, Rule};
use std::collections::BTreeMap;
use timeline::TimelineEvidence;
use timeline::category::GEMM;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CTR006",
    title: "a GPU that runs the same kernels slower than others",
    severity: Severity::Warning,
    page: include_str!("ctr006.md"),
    checks: &[Check::Trace(check)],
    panels: &[2],
};

/// Percent of slowdown from which a rank is reported, and from which it is a warning.
const SLOWER: [f64; 2] = [3.0, 10.0];
/// Time that is enough to compare, ns.
const ENOUGH: i64 = 1_000_000;

fn check(run: &TraceEvidence<'_>) -> Outcome {
    if run.ranks.len() < 2 {
        return Outcome::NotChecked(Missing::Ranks);
    }
    let products = |rank: &TimelineEvidence<'_>| -> BTreeMap<String, (u64, i64)> {
        let gemm = rank.kernels.iter().filter(|kernel| kernel.category == GEMM);
        gemm.map(|k| (rank.text(k.name).to_owned(), (k.durations.count, k.durations.total))).collect()
    };
    let all: Vec<BTreeMap<String, (u64, i64)>> = run.ranks.iter().map(products).collect();
    let mut times = vec![0i64; all.len()];
    for (name, (count, _)) in &all[0] {
        let same: Option<Vec<i64>> =
            all.iter().map(|rank| rank.get(name).filter(|it| it.0 == *count).map(|it| it.1)).collect();
        for (sum, ns) in times.iter_mut().zip(same.into_iter().flatten()) {
            *sum += ns;
        }
    }
    let (Some(least), Some(most)) = (times.iter().min().copied(), times.iter().max().copied()) else {
        return Outcome::Silent;
    };
    if least < ENOUGH {
        return Outcome::needs("matrix products that all ranks ran equally often");
    }
    let slower = 100.0 * (most - least) as f64 / least as f64;
    if slower < SLOWER[0] {
        return Outcome::Silent;
    }
    let at = times.iter().position(|ns| *ns == most).unwrap_or(0);
    let name = run.names.get(at).map_or("", String::as_str);
    let finding = RULE
        .finding(
            if slower >= SLOWER[1] { Severity::Warning } else { Severity::Info },
            format!("{name} takes {slower:.1} % longer than the fastest rank for the same matrix products"),
            "judge against the slowest GPU; beyond 10 % look at its power cap, temperature and other users",
        )
        .with_evidence("fastest", ms(least))
        .with_evidence("slowest", ms(most));
    Outcome::Findings(vec![lost(finding, &run.ranks[at], most - least)])
}
