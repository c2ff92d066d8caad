//! TIL007: loops that are not pipelined.

use crate::ir::place;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use tritonir::KernelIr;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TIL007",
    title: "a loop loads without prefetching",
    severity: Severity::Warning,
    page: include_str!("til007.md"),
    checks: &[Check::Ir(check)],
    panels: &[11],
};

/// Loops of fewer iterations have nothing to fetch ahead.
const FEW: i64 = 3;

fn check(ir: &KernelIr, _: &KernelEvidence<'_>) -> Outcome {
    if ir.form != tritonir::Form::Ttgir || ir.dots.iter().any(|it| it.of_product) {
        return Outcome::Silent;
    }
    let findings = ir.loops.iter().enumerate().filter_map(|(at, found)| {
        let late: Vec<_> = found.loads.iter().filter(|it| it.distance() == Some(0)).collect();
        if late.is_empty() || late.len() < found.loads.len() || found.trips().is_some_and(|it| it < FEW) {
            return None;
        }
        let narrow = ir.accesses.iter().filter(|it| it.at.in_loop == Some(at)).filter_map(|it| it.width).min();
        let advice = if found.has_inner {
            "only innermost loops are pipelined: make the loop with the loads the inner one".to_owned()
        } else if found.dots == 0 {
            "write the loop with `tl.range(…, num_stages=2)`".to_owned()
        } else if let Some(width) = narrow.filter(|it| *it < 4) {
            format!("loads of {width} bytes per lane are not pipelined: tell the compiler the alignment (`tl.multiple_of`, arguments divisible by 16)")
        } else {
            "set `num_stages=2`".to_owned()
        };
        Some(
            RULE.finding(
                Severity::Warning,
                format!("loop {} waits for its own {} in every iteration", at + 1, view::counted(late.len() as u32, "load")),
                advice,
            )
            .with_evidence("loads used in the iteration that loads them", format!("{} of {}", late.len(), found.loads.len()))
            .with_places(std::iter::once(&found.at).chain(late.iter().map(|it| &it.at)).map(place)),
        )
    });
    Outcome::from_findings(findings.collect())
}
