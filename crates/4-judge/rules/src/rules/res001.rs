//! RES001: registers spilled, or private memory in scratch.
//!
//! The metadata gives the spilled bytes; only the instructions give how often they are moved.

use crate::gain::Executed;
use crate::sites::Sites;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use codeobj::Body;
use isa::Operand;
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "RES001",
    title: "registers spilled, or private memory in scratch",
    severity: Severity::Severe,
    page: include_str!("res001.md"),
    checks: &[Check::Code(check)],
    panels: &[6, 7],
};

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let resources = &evidence.resources;
    let (vector, scalar) = (resources.vgpr_spills, resources.sgpr_spills);
    if vector.is_none() && scalar.is_none() && resources.scratch_bytes.is_none() {
        return Outcome::needs("spill counts or the scratch size");
    }
    if evidence.kernel.body == Body::Absent || evidence.isa.is_none() {
        return Outcome::from_findings(counted_only(evidence).into_iter().collect());
    }
    let mut findings = Vec::new();
    findings.extend(scratch(evidence, vector.unwrap_or(0)));
    findings.extend(scalar_spills(evidence, scalar.unwrap_or(0)));
    Outcome::from_findings(findings)
}

/// Findings where there are counts and no instructions: how often the scratch is accessed is not known.
fn counted_only(evidence: &KernelEvidence<'_>) -> Option<Finding> {
    let resources = &evidence.resources;
    let (vector, scalar) = (resources.vgpr_spills.unwrap_or(0), resources.sgpr_spills.unwrap_or(0));
    let bytes = resources.scratch_bytes.unwrap_or(0);
    let (severity, message, advice) = if vector > 0 {
        let scratch = if bytes > 0 { format!(", {bytes} bytes of scratch per lane") } else { String::new() };
        (Severity::Warning, format!("{} spilled to memory{scratch}", counted(vector, "VGPR")), SPILLED)
    } else if bytes > 0 {
        let message = format!("{bytes} bytes of private data per lane live in scratch memory");
        (Severity::Info, message, PRIVATE)
    } else if scalar > 0 {
        let message = format!("{} spilled to lanes of vector registers", counted(scalar, "SGPR"));
        (Severity::Info, message, "keep fewer scalar values live: fewer pointers and sizes used in one loop")
    } else {
        return None;
    };
    Some(
        RULE.finding(severity, message, advice)
            .with_evidence("VGPR spills", vector)
            .with_evidence("SGPR spills", scalar)
            .with_evidence("scratch per lane", format!("{bytes} bytes"))
            .with_evidence("accesses", "not known: no instructions were read"),
    )
}

/// Advice on spilled vector registers.
const SPILLED: &str = "shorten live ranges: smaller tiles, less unrolling, fewer pipeline stages; or allow more registers with \
     a smaller stated workgroup or fewer waves per SIMD";
/// Advice on private data.
const PRIVATE: &str =
    "make every index of private arrays a compile-time constant by unrolling, or keep them in LDS";

/// Part of the kernel's time that accesses take, from which on they are severe and worth acting on.
const SEVERE: f64 = 0.05;
const WORTH: f64 = 0.02;
/// Cycles of a wave that one move between a scalar register and a lane takes.
const MOVE_CYCLES: f64 = 4.0;

/// Part of the kernel's time that scratch accesses take.
fn part(evidence: &KernelEvidence<'_>, sites: &Sites) -> f64 {
    let executed = Executed::of(evidence);
    sites.all.iter().map(|(_, innermost)| executed.accesses(*innermost, 1.0)).sum()
}

/// Scratch accesses in the kernel's own code.
fn scratch(evidence: &KernelEvidence<'_>, spills: u32) -> Option<Finding> {
    let bytes = evidence.resources.scratch_bytes.unwrap_or(0);
    if bytes == 0 && spills == 0 && !evidence.resources.dynamic_stack {
        return None;
    }
    let sites = Sites::scratch(evidence);
    if sites.count() == 0 {
        return None;
    }
    let part = part(evidence, &sites);
    // Spills outside of loops are seldom worth a change if the kernel has loops.
    let part = if sites.in_loops() == 0 && !evidence.cfg.loops.is_empty() { part / 8.0 } else { part };
    let severity = match spills > 0 && sites.in_loops() > 0 {
        true if part >= SEVERE => Severity::Severe,
        _ if part >= WORTH => Severity::Warning,
        _ => Severity::Info,
    };
    let accesses = counted(sites.count() as u64, "scratch access");
    let whose = match sites.hottest {
        Some(hot) => format!("{accesses}, {} in loop {}", hot.sites, hot.number),
        None => format!("{accesses}, none in a loop"),
    };
    let (message, advice) = if spills > 0 {
        (format!("{} spilled to memory: {whose}", counted(spills, "VGPR")), SPILLED)
    } else {
        (format!("{bytes} bytes of private data per lane live in scratch memory: {whose}"), PRIVATE)
    };
    let mut finding = RULE
        .finding(severity, message, advice)
        .with_evidence("VGPR spills", spills)
        .with_evidence("scratch per lane", format!("{bytes} bytes"))
        .with_evidence("scratch accesses in the code", sites.count())
        .with_evidence("of these in loops", sites.in_loops())
        .with_places(sites.places(evidence));
    if let Some(hot) = sites.hottest {
        finding = finding.with_cost(format!("{} access scratch", hot.per_iteration()));
    }
    Some(finding)
}

/// Scalar registers kept in lanes of vector registers.
fn scalar_spills(evidence: &KernelEvidence<'_>, spills: u32) -> Option<Finding> {
    if spills == 0 {
        return None;
    }
    let sites = Sites::find(evidence, |inst| {
        matches!(inst.op.info().name, "v_writelane_b32" | "v_readlane_b32")
            && inst.operands().get(2).is_some_and(|lane| matches!(lane, Operand::Int(_)))
    });
    let hot = sites.hottest?;
    let part = Executed::of(evidence).cycles(Some(hot.id), f64::from(hot.sites) * MOVE_CYCLES);
    let many = hot.sites * 20 >= hot.instructions && part >= SEVERE;
    let severity = if many { Severity::Warning } else { Severity::Info };
    Some(
        RULE.finding(
            severity,
            format!(
                "{} spilled to vector lanes: {} lane moves in loop {}",
                counted(spills, "SGPR"),
                hot.sites,
                hot.number
            ),
            "keep fewer uniform values live across the loop: recompute addresses, pass fewer pointers, unroll less",
        )
        .with_cost(format!("{} move spilled scalars", hot.per_iteration()))
        .with_evidence("SGPR spills", spills)
        .with_evidence("lane moves in the code", sites.count())
        .with_places(sites.places(evidence)),
    )
}
