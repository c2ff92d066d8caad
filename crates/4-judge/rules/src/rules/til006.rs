//! TIL006: pipeline stages that spill.
//!
//! Each stage holds the loads of one more iteration in registers.

use crate::sites::Sites;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TIL006",
    title: "software pipelining spills registers",
    severity: Severity::Warning,
    page: include_str!("til006.md"),
    checks: &[Check::Code(check)],
    panels: &[11],
};

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let Some(stages) = evidence.kernel.metadata.num_stages else {
        return Outcome::needs("`num_stages` of Triton's JSON file");
    };
    let resources = &evidence.resources;
    let spills = resources.vgpr_spills.unwrap_or(0);
    if stages < 2 || (spills == 0 && resources.scratch_bytes.unwrap_or(0) == 0) {
        return Outcome::Silent;
    }
    let sites = Sites::scratch(evidence);
    if spills == 0 && sites.in_loops() == 0 {
        return Outcome::Silent;
    }
    let scratch = resources.scratch_bytes.unwrap_or(0);
    let mut finding = RULE
        .finding(
            Severity::Warning,
            format!(
                "{stages} pipeline stages and {} spilled ({scratch} bytes of scratch per lane)",
                counted(spills, "VGPR")
            ),
            format!("try `num_stages={}`, smaller tiles or more warps, until nothing spills", stages - 1),
        )
        .with_evidence("num_stages", stages)
        .with_evidence("VGPR spills", spills)
        .with_evidence("scratch per lane", format!("{scratch} bytes"))
        .with_places(sites.places(evidence));
    if let Some(hot) = sites.hottest {
        finding = finding.with_cost(format!("{} access scratch", hot.per_iteration()));
    }
    Outcome::Findings(vec![finding])
}
