//! TUN023: spaces without matrix instructions of 16x16.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::tensile_space::{BenchmarkGroup, groups};
use tunedb::{Format, Tunings, instances};
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN023",
    title: "only matrix instructions of 32x32 are tried",
    severity: Severity::Info,
    page: include_str!("tun023.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

/// Fewest instances of a problem for a finding.
const FEW: usize = 3;

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        match file.format {
            Format::TensileConfig => {
                findings.extend(groups(file.bytes).iter().flatten().filter_map(|it| group(file, it)));
            }
            Format::CkProfiler => findings.extend(profiled(file)),
            _ => {}
        }
    }
    outcome(findings)
}

fn group(file: &Tunings<'_>, group: &BenchmarkGroup) -> Option<Finding> {
    let fork = group.common.iter().chain(&group.forked).rfind(|it| it.name == "MatrixInstruction")?;
    let edges: Vec<i64> = fork.values.iter().filter_map(|it| it.numbers()?.first().copied()).collect();
    let all = !edges.is_empty() && edges.len() == fork.values.len() && edges.iter().all(|it| *it == 32);
    all.then(|| {
        let what = counted(edges.len(), "matrix instruction");
        let message = format!("problem {}, group {}: {what}, all of 32x32", group.problem, group.group);
        found(file, group.line, message, "add instructions of 16x16 to the space")
    })
}

fn profiled(file: &Tunings<'_>) -> Vec<Finding> {
    let edge = |name: &str| {
        let all = instances::ck(name);
        all.iter().find(|it| it.0 == "MPerXDL").and_then(|it| it.1.parse::<u64>().ok())
    };
    let of = |it: Tunings<'_>| {
        let names = it.rows.iter().map(|row| row.candidate.as_deref().unwrap_or_default());
        let edges: Vec<u64> = names.filter_map(edge).collect();
        let all = edges.len() >= FEW && edges.len() == it.rows.len() && edges.iter().all(|it| *it == 32);
        let row = it.rows.first().filter(|_| all)?;
        let shape = row.shape.as_ref().map(ToString::to_string).unwrap_or_default();
        let message =
            format!("{shape}: {}, all with matrix instructions of 32x32", counted(edges.len(), "instance"));
        Some(found(file, row.line, message, "measure instances with MPerXDL 16, too"))
    };
    instances::recorded(file).into_iter().filter_map(of).collect()
}

fn found(file: &Tunings<'_>, line: u32, message: String, advice: &str) -> Finding {
    RULE.finding(Severity::Info, message, advice).with_places([at(file, line)])
}
