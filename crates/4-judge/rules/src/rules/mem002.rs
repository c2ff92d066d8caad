//! MEM002: stores that could move 16 bytes per lane and move fewer.
//!
//! The proofs are the same as in MEM001; outside loops only adjacent stores count.

use crate::access::{self, WIDEST};
use crate::gain::Executed;
use crate::narrow::{Kind, Narrow};
use crate::{Check, Outcome, Rule, narrow};
use analysis::KernelEvidence;
use isa::Access;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MEM002",
    title: "stores narrower than 16 bytes per lane",
    severity: Severity::Warning,
    page: include_str!("mem002.md"),
    checks: &[Check::Code(check)],
    panels: &[16, 17],
};

/// Stores that merging must save outside loops.
const SAVED_OUTSIDE: u32 = 3;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let found = narrow::find(evidence, Access::Store);
    if found.is_empty() {
        return Outcome::Silent;
    }
    let executed = Executed::of(evidence);
    Outcome::from_findings(found.iter().filter_map(|narrow| finding(evidence, &executed, narrow)).collect())
}

fn finding(evidence: &KernelEvidence<'_>, executed: &Executed<'_>, narrow: &Narrow) -> Option<Finding> {
    let saved = narrow.saved();
    if narrow.in_loop.is_none() && saved < SAVED_OUTSIDE {
        return None;
    }
    let count = narrow.accesses.len();
    let smallest = narrow.accesses.iter().map(|(_, bytes, _)| *bytes).min()?;
    let many = smallest <= 2 || saved >= 2;
    let severity = if many { super::mem001::severity(evidence, executed, narrow) } else { Severity::Info };
    let per = if narrow.in_loop.is_some() { "per iteration" } else { "outside loops" };
    let advice = match narrow.accesses.first()?.2 {
        Kind::Merge if narrow.interrupted => {
            "store the adjacent elements with one vector store; the compiler cannot rule out that the loads between them alias: declare the pointers `__restrict__`"
        }
        Kind::Merge => {
            "store the adjacent elements with one vector store (`float4`, `uint4`); make the alignment known"
        }
        Kind::Lanes => {
            "let each lane write 16 contiguous bytes per iteration (`float4`, a larger size per thread)"
        }
        Kind::Iterations => {
            "collect 16 bytes over several iterations and store them at once: unroll by the vector width"
        }
    };
    Some(
        RULE.finding(
            severity,
            format!(
                "{count} of {} stores {per} move fewer than {WIDEST} bytes per lane and can move more",
                narrow.all
            ),
            advice,
        )
        .with_cost(format!(
            "{} {per} where 16-byte stores would need {}",
            view::counted(count, "store"),
            narrow.needed_text()
        ))
        .with_evidence("narrow stores", access::widths(&narrow.widths()))
        .with_evidence("proved", narrow.proof())
        .with_places(access::places(evidence, narrow.accesses.iter().map(|(inst, ..)| *inst))),
    )
}
