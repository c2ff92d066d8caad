//! Runs every rule on one kernel.
//!
//! The one idea to keep in mind: rules do not see each other's findings; order comes afterwards, from
//! severity and place.

use crate::{Outcome, registry};
use analysis::KernelEvidence;
use view::{Finding, NotChecked};

/// All findings for a kernel, most severe first, and the rules whose evidence is absent.
pub fn check(evidence: &KernelEvidence<'_>) -> (Vec<Finding>, Vec<NotChecked>) {
    let mut findings = Vec::new();
    let mut not_checked = Vec::new();
    for rule in registry::all() {
        match (rule.check)(evidence) {
            Outcome::Silent => {}
            Outcome::NotChecked(needs) => not_checked.push(NotChecked { rule: rule.id, needs }),
            Outcome::Findings(found) => findings.extend(found),
        }
    }
    // Stable: a rule's own order stays within one severity.
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.rule.cmp(b.rule)));
    (findings, not_checked)
}
