//! RES003: a few registers above an occupancy boundary.
//!
//! Only the last few registers above a boundary are cheap to save; a boundary that is far away, or masked by
//! another limit, gives no advice.

use crate::text::short_number;
use crate::{Check, Outcome, Rule};
use analysis::{KernelEvidence, NamedRegisters};
use arch::Limiter;
use isa::{Access, Class};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "RES003",
    title: "a few registers above an occupancy boundary",
    severity: Severity::Warning,
    page: include_str!("res003.md"),
    checks: &[Check::Code(check)],
    panels: &[6, 7],
};

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let (Some(target), Some(known)) = (evidence.target, &evidence.occupancy) else {
        return Outcome::needs("the register counts and a known target");
    };
    let assumed = with_usual_workgroup(evidence, target);
    let occupancy = assumed.as_ref().unwrap_or(known);
    let gain = |resource| {
        occupancy
            .next
            .iter()
            .find(|step| {
                step.resource == resource && step.waves_per_simd >= occupancy.waves_per_simd * LEAST_GAIN
            })
            .zip(occupancy.limits.iter().find(|limit| limit.resource == resource))
    };
    let Some((step, limit)) = gain(Limiter::Vgpr).or_else(|| gain(Limiter::Agpr)) else {
        return Outcome::Silent;
    };
    if occupancy.waves_per_cu == 0 || !is_few(step.shed, limit.used) {
        return Outcome::Silent;
    }
    let (now, then) = (occupancy.waves_per_simd, step.waves_per_simd);
    let few_waves = now * 2.0 < f64::from(occupancy.max_waves_per_simd);
    let what = limit.resource.name();
    let assembly = evidence.object.assembly_sign(evidence.kernel);
    let named = assembly.as_ref().map_or(NamedRegisters::default(), |_| NamedRegisters::of(&evidence.insts));
    let named_total = arch::vgprs_allocated(target, named.vgprs, named.agprs);
    let peak =
        (0..).zip(&evidence.live.before).max_by_key(|(at, live)| (live.vectors(), std::cmp::Reverse(*at)));

    let filled =
        peak.and_then(|(at, _)| filled_by_loads(evidence, target, at as u32, occupancy.waves_per_cu));
    let severity = if few_waves && filled.is_none() { Severity::Warning } else { Severity::Info };
    let mut finding = RULE
        .finding(
            severity,
            format!(
                "{} above the boundary for {} waves per SIMD: {} used, {} would do",
                counted(step.shed, what),
                short_number(then),
                limit.used,
                step.at_most
            ),
            advice(assembly.is_some(), step, named, named_total),
        )
        .with_cost(format!("{} of {} waves per SIMD", short_number(then - now), short_number(then)))
        .with_evidence(format!("{what}s used"), limit.used)
        .with_evidence("allocated", limit.allocated)
        .with_evidence("waves per SIMD", short_number(now));
    if let Some(sign) = assembly {
        finding = finding.with_evidence("written in assembly", sign).with_evidence(
            "registers that the code names",
            format!("{} VGPRs, {} AGPRs", named.vgprs, named.agprs),
        );
    }
    if let Some(bytes) = filled {
        finding = finding.with_evidence(
            "loads in flight where most registers live",
            format!("{bytes} bytes per compute unit"),
        );
    }
    if let Some((at, live)) = peak {
        finding = finding
            .with_evidence("most registers live at once", live.vectors())
            .with_places([evidence.place(at)]);
    }
    if assumed.is_some() {
        finding = finding.with_evidence(
            "assumed",
            format!("workgroups of {USUAL_WORKGROUP} work-items, no size is stated"),
        );
    } else {
        for assumption in &evidence.assumptions {
            finding = finding.with_evidence("assumed", assumption);
        }
    }
    Outcome::Findings(vec![finding])
}

/// Advice: request waves from the compiler, or lower the count that the assembly states.
fn advice(is_assembly: bool, step: &arch::Step, named: NamedRegisters, named_total: u32) -> String {
    let waves = step.waves_per_simd;
    if !is_assembly {
        return format!(
            "ask for {} waves: `waves_per_eu={}` (Triton), `__launch_bounds__(size, {})` (HIP) or \
             `amdgpu-waves-per-eu`, and check that nothing spills",
            short_number(waves),
            waves.ceil(),
            waves.ceil()
        );
    }
    if named_total <= step.at_most {
        return format!(
            "lower `.amdhsa_next_free_vgpr`{} to {} or fewer: the code names no register beyond",
            if named.agprs > 0 { " with `.amdhsa_accum_offset`" } else { "" },
            step.at_most
        );
    }
    format!(
        "let values share registers, so that the code names {} or fewer, and lower `.amdhsa_next_free_vgpr`",
        step.at_most
    )
}

/// Bytes that a compute unit has in flight where most registers live, if that is outside loops and they are
/// twice what device memory moves in the time a load takes: the registers hold results that are on their way,
/// and more waves bring nothing.
fn filled_by_loads(
    evidence: &KernelEvidence<'_>,
    target: &'static arch::Target,
    at: u32,
    waves_per_cu: u32,
) -> Option<u64> {
    if evidence.cfg.loop_of(at).is_some() {
        return None;
    }
    let before = evidence.insts[..at as usize].iter().rev();
    let after = evidence.insts[at as usize..].iter();
    let is_awaited = |inst: &&isa::Inst| {
        crate::waits::wait(inst).is_some_and(|wait| wait.vector.is_some()) || inst.class() == Class::Barrier
    };
    let loaded = |inst: &isa::Inst| {
        let is_load = crate::access::reaches_global(evidence, inst, Access::Load);
        inst.mem().filter(|_| is_load).map_or(0, |mem| u64::from(mem.bytes) * u64::from(mem.elements))
    };
    let per_lane: u64 = before.take_while(|inst| !is_awaited(inst)).map(loaded).sum::<u64>()
        + after.take_while(|inst| !is_awaited(inst)).map(loaded).sum::<u64>();
    let bytes = per_lane * u64::from(target.lanes_per_wave.value) * u64::from(waves_per_cu);
    let needed = super::syn001::memory_bytes_per_cycle(target)? * f64::from(super::syn001::LATENCY);
    (bytes as f64 >= 2.0 * needed).then_some(bytes)
}

/// Waves per SIMD that make it worth trying, as a multiple of those now.
const LEAST_GAIN: f64 = 1.25;

/// Assumed workgroup size if none is stated.
pub(super) const USUAL_WORKGROUP: u32 = 256;

/// Occupancy for the usual workgroup, if the kernel leaves the size at the default.
pub(super) fn with_usual_workgroup(
    evidence: &KernelEvidence<'_>,
    target: &arch::Target,
) -> Option<arch::Occupancy> {
    if !super::res005::leaves_size_at_default(evidence) {
        return None;
    }
    let resources = &evidence.resources;
    let asked = arch::Resources {
        vgprs: resources.vgprs?,
        agprs: resources.agprs.unwrap_or(0),
        sgprs: resources.sgprs.unwrap_or(0),
        lds_bytes: resources.launch_lds_bytes.max(resources.lds_bytes).unwrap_or(0),
        waves_per_workgroup: USUAL_WORKGROUP / target.lanes_per_wave.value,
    };
    Some(arch::occupancy(target, &asked))
}

/// Few enough to be worth trying.
fn is_few(shed: u32, used: u32) -> bool {
    shed > 0 && (shed <= 8 || u64::from(shed) * 20 <= u64::from(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_means_eight_or_a_twentieth() {
        for (shed, used, few) in [
            (0, 128, false),
            (2, 170, true),
            (8, 20, true),
            (9, 136, false),
            (12, 240, true),
            (13, 240, false),
        ] {
            assert_eq!(is_few(shed, used), few, "{shed} of {used}");
        }
    }
}
