//! MEM001: loads in a loop that could move 16 bytes per lane and move fewer.
//!
//! A narrow access is reported only if the addresses prove that a wide one is possible.

use crate::access::{self, WIDEST};
use crate::gain::Executed;
use crate::narrow::{Kind, Narrow};
use crate::remainder::is_remainder;
use crate::{Check, Outcome, Rule, gain, narrow};
use analysis::KernelEvidence;
use isa::Access;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MEM001",
    title: "loads in a loop narrower than 16 bytes per lane",
    severity: Severity::Warning,
    page: include_str!("mem001.md"),
    checks: &[Check::Code(check)],
    panels: &[16, 17],
};

/// Bytes per lane up to which a load is always worth a warning.
const TINY: u32 = 2;
/// Loads saved per iteration from which on they are worth a warning.
const MANY: u32 = 2;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let found = narrow::find(evidence, Access::Load);
    if found.is_empty() {
        return Outcome::Silent;
    }
    let executed = Executed::of(evidence);
    Outcome::from_findings(found.iter().filter_map(|narrow| finding(evidence, &executed, narrow)).collect())
}

/// A warning where wide accesses would save a part of the kernel's time.
pub(super) fn severity(evidence: &KernelEvidence<'_>, executed: &Executed<'_>, narrow: &Narrow) -> Severity {
    if narrow.in_loop.is_some_and(|id| is_remainder(evidence, id)) {
        return Severity::Info;
    }
    gain::severity(executed.accesses(narrow.in_loop, narrow.saved_in_all()))
}

fn finding(evidence: &KernelEvidence<'_>, executed: &Executed<'_>, narrow: &Narrow) -> Option<Finding> {
    narrow.in_loop?;
    let count = narrow.accesses.len() as u32;
    let smallest = narrow.accesses.iter().map(|(_, bytes, _)| *bytes).min()?;
    let many = smallest <= TINY || narrow.saved() >= MANY || narrow.has_matrix;
    let severity = if many { severity(evidence, executed, narrow) } else { Severity::Info };
    let advice = advice(narrow.accesses.first()?.2, narrow.interrupted);
    let finding = RULE.finding(severity, message(count, narrow.all), advice);
    Some(
        finding
            .with_cost(cost(count, &narrow.needed_text()))
            .with_evidence("narrow loads", access::widths(&narrow.widths()))
            .with_evidence("proved", narrow.proof())
            .with_places(access::places(evidence, narrow.accesses.iter().map(|(inst, ..)| *inst))),
    )
}

fn message(count: u32, all: u32) -> String {
    format!("{count} of {all} loads per iteration move fewer than {WIDEST} bytes per lane and can move more")
}

fn cost(count: u32, needed: &str) -> String {
    format!("{} per iteration where 16-byte loads would need {needed}", view::counted(count, "load"))
}

/// Advice by the reason why loads can be wider; `interrupted`: stores between them may alias.
const fn advice(kind: Kind, interrupted: bool) -> &'static str {
    match kind {
        Kind::Merge if interrupted => {
            "load the adjacent elements with one vector load; the compiler cannot rule out that the stores between them alias: declare the pointers `__restrict__`"
        }
        Kind::Merge => {
            "load the adjacent elements with one vector load (`float4`, `uint4`); make the alignment known"
        }
        Kind::Lanes => {
            "let each lane take 16 contiguous bytes per iteration (`float4`, a larger size per thread)"
        }
        Kind::Iterations => {
            "load 16 bytes ahead and use them over the next iterations: unroll by the vector width"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let words = [message(2, 5), cost(1, "1/4")];
        testkit::golden("message and cost", &words.join("\n"));
        for (kind, interrupted, said) in [
            (Kind::Merge, false, "`float4`, `uint4`"),
            (Kind::Merge, true, "`__restrict__`"),
            (Kind::Lanes, false, "16 contiguous bytes"),
            (Kind::Iterations, false, "unroll"),
        ] {
            assert!(advice(kind, interrupted).contains(said), "{said}");
        }
    }
}
