//! CHK003: read of memory that nothing has written.
//!
//! The LDS of a workgroup initially holds data of the previous workgroup, and new global memory whatever was there.

use crate::execution::{ExecutionEvidence, who};
use crate::{Check, Rule};
use probe::{Conflict, Wrong};
use view::{Finding, Severity, with_article};

pub(crate) const RULE: Rule = Rule {
    id: "CHK003",
    title: "read of memory that was never written",
    severity: Severity::Severe,
    page: include_str!("chk003.md"),
    checks: &[Check::Execution(check)],
    panels: &[],
};

fn check(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    evidence
        .conflicts(&[Wrong::Uninitialized, Wrong::Unwritten, Wrong::Private])
        .into_iter()
        .map(|it| {
            let verb = evidence.verb(it.first);
            let (message, advice) = match it.wrong {
                Wrong::Unwritten => of_memory(evidence, &it),
                Wrong::Private => of_array(&it),
                _ => of_lds(evidence, &it),
            };
            RULE.finding(Severity::Severe, message, advice)
                .with_evidence("the access", format!("{verb} by {}", who(it.first)))
                .with_evidence("times seen, by lane and dword", it.times)
                .with_places([evidence.place(it.first)])
        })
        .collect()
}

fn of_lds(evidence: &ExecutionEvidence<'_>, it: &Conflict) -> (String, String) {
    (
        format!(
            "wave {} reads offset {:#x} of the LDS, which its workgroup has not written",
            it.first.wave, it.address
        ),
        format!("write what is read, in the last tile too, and put {} between", evidence.barrier(it.first)),
    )
}

fn of_array(it: &Conflict) -> (String, String) {
    (
        format!(
            "a lane reads offset {:#x} of its private memory, which it has not written: an element of a local array",
            it.address
        ),
        "give the array a value where it is declared, or read only elements that were written".to_owned(),
    )
}

fn of_memory(evidence: &ExecutionEvidence<'_>, it: &Conflict) -> (String, String) {
    let clear = if evidence.is_python(it.first) { "`torch.zeros`" } else { "`hipMemset`" };
    (
        format!(
            "{} finds {}, which nothing has written",
            with_article(evidence.verb(it.first)),
            evidence.global(it.address)
        ),
        format!("write what is read, or clear it first ({clear})"),
    )
}
