//! TUN014: kernels that are not in the catalogue.
//!
//! An index or name of a kernel is valid only if the library has that kernel.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TUN014",
    title: "kernels that are not in the catalogue",
    severity: Severity::Severe,
    page: include_str!("tun014.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let Some(catalogue) = evidence.catalogue else {
        return Outcome::needs("the library's kernels: --catalogue");
    };
    let mut findings = Vec::new();
    for file in evidence.files {
        for row in &file.rows {
            let Ok(candidate) = &row.candidate else { continue };
            let words = candidate.split([' ', ',']).filter(|it| !it.is_empty());
            // A word of the candidate, or the index at its end: `Gemm_Hipblaslt_477479`.
            let known = words.clone().any(|word| {
                catalogue.contains(word)
                    || word.rsplit('_').next().is_some_and(|index| catalogue.contains(index))
            });
            if known || candidate == "Default" {
                continue;
            }
            let shown: String = candidate.chars().take(100).collect();
            let message = format!("`{shown}` is none of the {} kernels of the catalogue", catalogue.len());
            let advice = "tune the problem again with the installed library";
            findings.push(RULE.finding(Severity::Severe, message, advice).with_places([at(file, row.line)]));
        }
    }
    outcome(findings)
}
