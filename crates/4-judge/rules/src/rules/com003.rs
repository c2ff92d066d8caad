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
    page: PAGE,
    checks: &[Check::Comm(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when collectives of up to 4 KiB take on average more than twice the time a good machine of this kind needs.

## Why it is slow
Inference with tensor parallelism sends many small messages; each costs the latency, whatever the links carry. One process that
drives all GPUs, launches without graphs, and a host with NUMA balancing or a slow clock add to it.

## Evidence
Mean time of the small sizes, the time of a good machine, GPUs per process, and whether graphs launched it.

## What to do
One process per GPU: `mpirun -np 8 ... -g 1`. Launch by graphs where the program can (`-G 1` of rccl-tests). Switch off NUMA balancing, set
the CPU governor to performance.

## Source
The vendor's measurements: 16 us for small messages on eight MI300X, 6 us by graphs.
";

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
