//! RES006: calls, or a stack of unknown size.
//!
//! A kernel reserves the registers of every function it might call, whether or not the call happens.

use crate::sites::Sites;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::OpFlags;
use sorting::Sort;
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "RES006",
    title: "calls or a dynamic stack cost registers",
    severity: Severity::Warning,
    page: include_str!("res006.md"),
    checks: &[Check::Code(check)],
    panels: &[6, 7],
};

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    if evidence.calls.is_empty() {
        return Outcome::Silent;
    }
    let sites = Sites::find(evidence, |inst| inst.op.info().flags.contains(OpFlags::CALL));
    if sites.count() == 0 {
        return Outcome::Silent;
    }
    let resources = &evidence.resources;
    let is_worth = resources.dynamic_stack || (sites.in_loops() > 0 && !have_loops(evidence));
    let severity = if is_worth { Severity::Warning } else { Severity::Info };
    let mut message = counted(sites.count() as u64, "call");
    let callees = evidence.calls.iter().filter_map(|call| call.callee.as_deref());
    let mut names: Vec<String> = callees.map(|name| shorten(&codeobj::demangle(name)).to_owned()).collect();
    names.in_order();
    names.dedup();
    if !names.is_empty() {
        let shown = &names[..names.len().min(3)];
        let more = names.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        message += &format!(" to {}{more}", shown.join(", "));
    }
    let through_pointers = evidence.calls.iter().filter(|call| call.callee.is_none()).count();
    if through_pointers > 0 {
        message += &format!(", {through_pointers} through pointers");
    }
    if let Some(hot) = sites.hottest {
        message += &format!(", {} of them in loop {}", hot.sites, hot.number);
    }
    if resources.dynamic_stack {
        message += "; the stack is of unknown size";
    }
    let hidden: Vec<&str> = evidence
        .kernel
        .metadata
        .arguments
        .iter()
        .map(|argument| argument.kind.as_str())
        .filter(|kind| matches!(*kind, "hidden_hostcall_buffer" | "hidden_printf_buffer"))
        .collect();
    let mut finding = RULE
        .finding(
            severity,
            message,
            "inline what is called (`__forceinline__`, template parameters instead of function pointers) and build \
             without `assert` and `printf`",
        )
        .with_evidence("calls in the code", sites.count())
        .with_evidence("of these in loops", sites.in_loops())
        .with_places(sites.places(evidence));
    for (what, value) in [("VGPRs reserved", resources.vgprs), ("AGPRs reserved", resources.agprs)] {
        if let Some(value) = value {
            finding = finding.with_evidence(what, value);
        }
    }
    if !hidden.is_empty() {
        finding = finding.with_evidence("arguments for assert and printf", hidden.join(", "));
    }
    if let Some(peak) = evidence.live.before.iter().map(|live| live.vectors()).max() {
        finding = finding.with_evidence("most registers live at once in the kernel's own code", peak);
    }
    Outcome::Findings(vec![finding])
}

/// True if all called functions are known and have loops, so that the cost of a call is negligible.
fn have_loops(evidence: &KernelEvidence<'_>) -> bool {
    evidence.calls.iter().all(|call| {
        let name = call.callee.as_deref();
        let callee = evidence.callees.iter().find(|callee| Some(callee.name.as_str()) == name);
        callee.is_some_and(|callee| !callee.code.cfg.loops.is_empty())
    })
}

/// A demangled name without return type, template arguments and parameters.
fn shorten(name: &str) -> &str {
    let end = name.find(['<', '(']).filter(|at| *at > 0).unwrap_or(name.len());
    let name = &name[..end];
    name.rsplit(' ').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_all_but_the_function() {
        for (name, short) in [
            ("f", "f"),
            ("slow_path(float, float const*)", "slow_path"),
            ("void a::b<int, c<3> >::d<long>(int)", "a::b"),
            ("(unknown)", "(unknown)"),
            ("", ""),
        ] {
            assert_eq!(shorten(name), short);
        }
    }
}
