//! COM003: small messages take long.
//!
//! Below a few KiB only latency counts.

use crate::comm::{CommEvidence, SMALL, board};
use crate::{Check, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "COM003",
    title: "small messages take long",
    severity: Severity::Warning,
    page: include_str!("com003.md"),
    checks: &[Check::Comm(check)],
    panels: &[],
};

/// Times a good machine's latency.
const SLOW: f64 = 2.0;

fn check(evidence: &CommEvidence<'_>) -> Outcome {
    let findings = evidence.tests().filter_map(|(name, test)| {
        let wanted = board(test)?.latency_us?;
        if test.hosts().len() > 1 {
            return None;
        }
        let small: Vec<f64> =
            test.rows.iter().filter(|row| row.bytes <= SMALL).map(|row| row.out_of_place.time_us).collect();
        let mean = small.iter().sum::<f64>() / small.len() as f64;
        if small.is_empty() || mean < SLOW * wanted {
            return None;
        }
        let single = test.processes() < test.ranks.len() || test.gpus_per_process.unwrap_or(1) > 1;
        let advice = if single {
            "run one process per GPU (`mpirun -np 8 ... -g 1`)"
        } else {
            "look for several GPUs in one process (`-g 1` with MPI is fastest), NUMA balancing and the CPU governor"
        };
        let finding = RULE
            .finding(
                Severity::Warning,
                format!("{name}: small messages take {mean:.1} us, {:.1} times the {wanted:.0} us of a good machine", mean / wanted),
                advice,
            )
            .with_evidence("processes", test.processes())
            .with_evidence("ranks", test.ranks.len())
            .with_evidence("launched by graphs", if test.graph { "yes" } else { "no" });
        Some(finding)
    });
    Outcome::from_findings(findings.collect())
}
