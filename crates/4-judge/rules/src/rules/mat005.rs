//! MAT005: the matrix units are idle in a matrix kernel.
//!
//! Back-to-back matrix instructions keep the unit busy; cycles without one are gaps caused by loads, LDS or
//! barriers.

use crate::recorded::{lost, lost_below_roof, percent};
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use analysis::roofline::{Bound, Resource};
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MAT005",
    title: "matrix units are idle in a matrix kernel",
    severity: Severity::Warning,
    page: include_str!("mat005.md"),
    checks: &[Check::Recording(check)],
    panels: &[10, 11],
};

/// Part of the operations that makes a matrix kernel.
const MATRIX: f64 = 0.5;
/// Percent of the cycles from which on the units are busy.
const BUSY: f64 = 60.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let instructions = evidence.known("instructions.matrix")?;
    if instructions.value <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let busy = evidence.known("issue.matrix")?;
    let roof = evidence.roof();
    let flops = roof.flops.clone()?.value;
    let vector = ["f16", "f32", "f64"]
        .iter()
        .filter_map(|kind| evidence.value(&format!("roofline.vector_{kind}")).ok())
        .sum::<f64>()
        * evidence.value("dispatch.duration")?;
    if busy.value >= BUSY || flops > 0.0 && (flops - vector) < MATRIX * flops {
        return Ok(Outcome::Silent);
    }
    // If data limits the kernel, the matrix units wait for it, and the findings on data give the advice.
    let full = roof.bound.as_ref().ok().and_then(|bound| match bound {
        Bound::Ceiling { share, .. } if share.resource != Resource::Arithmetic => Some(share),
        _ => None,
    });
    let mut finding = RULE
        .finding(
            if full.is_some() { Severity::Info } else { Severity::Warning },
            format!("the matrix units are busy in {busy:.0} % of the cycles of a matrix kernel"),
            match full {
                Some(_) => "the data does not come fast enough: larger tiles use each byte for more operations",
                None => "close the gaps: load ahead, more pipeline stages, two waves per SIMD, larger tiles per wave",
            },
        )
        .with_evidence("matrix units busy", format!("{busy:.1} %"))
        .with_evidence("matrix instructions", format!("{instructions:.0} per dispatch"))
        .with_trust([busy, instructions]);
    if let Some(part) = roof.known_matrix_part() {
        finding = finding.with_evidence("of the matrix ceiling", percent(part)).with_trust([part]);
    }
    if let Ok(cycles) = evidence.known("issue.matrix_cycles") {
        let value = format!("{cycles:.1}");
        finding = finding.with_evidence("cycles per matrix instruction", value).with_trust([cycles]);
    }
    if let Some((share, part)) = full.and_then(|share| Some((share, share.known_part()?))) {
        finding =
            finding.with_evidence(format!("reached of {}", share.name), percent(part)).with_trust([part]);
    }
    let part = busy.map(|busy| 1.0 - busy / 100.0);
    let finding = match full {
        Some(_) => lost(evidence, finding, 0.0),
        None => lost_below_roof(evidence, finding, part),
    };
    Ok(Outcome::Findings(vec![finding]))
}
