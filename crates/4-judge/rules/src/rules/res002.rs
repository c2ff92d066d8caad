//! RES002: few waves per SIMD.
//!
//! Low occupancy by itself is not a fault; it is one if SIMDs are idle, or if a loop waits for memory and
//! nothing else can run.

use crate::text::short_number;
use crate::{Check, Outcome, Rule};
use analysis::{KernelEvidence, NamedRegisters};
use arch::Limiter;
use isa::{Bits, Class, Space};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "RES002",
    title: "few waves per SIMD",
    severity: Severity::Warning,
    page: include_str!("res002.md"),
    checks: &[Check::Code(check)],
    panels: &[6, 7],
};

/// Instructions of an iteration below which two waves cannot cover a load.
const SHORT_LOOP: usize = 128;
/// Loads of an iteration above which they cover each other.
const FEW_LOADS: usize = 4;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let (Some(target), Some(occupancy)) = (evidence.target, &evidence.occupancy) else {
        return Outcome::needs("the register counts and a known target");
    };
    let waves = occupancy.waves_per_simd;
    let few = f64::from(occupancy.max_waves_per_simd) / 4.0;
    if waves > few || occupancy.waves_per_cu == 0 || !limits_itself(occupancy) {
        return Outcome::Silent;
    }
    let idle_simds = target.simds_per_cu.value.saturating_sub(occupancy.waves_per_cu);
    let has_matrix = evidence.mix.count(Class::Mfma) > 0;
    if has_matrix && idle_simds == 0 {
        return Outcome::Silent;
    }
    let waiting = if has_matrix { None } else { waiting_loop(evidence) };

    let limiter = occupancy.limiter.name();
    let cover = match &waiting {
        _ if idle_simds > 0 => Cover::Idle(idle_simds),
        Some(found) => Cover::Waits(found),
        None => Cover::Unknown,
    };
    let message = message(occupancy, target.simds_per_cu.value, &cover);
    let unused = more_with_named(evidence, target, occupancy.waves_per_simd);
    let per_workgroup = evidence.resources.waves_per_workgroup.unwrap_or(1);
    // A workgroup with fewer waves than SIMDs leaves some idle if the LDS has room for one workgroup only.
    let simds = target.simds_per_cu.value;
    let small_workgroup = idle_simds > 0 && occupancy.limiter == Limiter::Lds && per_workgroup < simds;
    let named = unused.as_ref().map(|(_, waves)| *waves);
    let advice = advice(occupancy, named, small_workgroup.then_some(simds));
    let severity = if idle_simds > 0 || waiting.is_some() { Severity::Warning } else { Severity::Info };
    let load = waiting.as_ref().and_then(|found| found.load).map(|at| at as usize);
    let place = load.or((!evidence.insts.is_empty()).then_some(0)).map(|at| evidence.place(at));
    let mut finding = RULE
        .finding(severity, message, advice)
        .with_cost(format!(
            "{} of {} wave slots per SIMD stay empty",
            short_number(f64::from(occupancy.max_waves_per_simd) - waves),
            occupancy.max_waves_per_simd
        ))
        .with_evidence("waves per SIMD", short_number(waves))
        .with_evidence("limited by", limiter);
    if let Some((named, _)) = unused {
        let words = format!("{} VGPRs, {} AGPRs", named.vgprs, named.agprs);
        finding = finding.with_evidence("registers that the code names", words);
    }
    for assumption in &evidence.assumptions {
        finding = finding.with_evidence("assumed", assumption);
    }
    finding = finding.with_places(place);
    Outcome::Findings(vec![finding])
}

/// What covers the latency of memory with so few waves.
enum Cover<'a> {
    /// Nothing, for SIMDs without a wave.
    Idle(u32),
    /// Too little in this loop.
    Waits(&'a WaitingLoop),
    /// No loop that waits is seen.
    Unknown,
}

fn message(occupancy: &arch::Occupancy, simds: u32, cover: &Cover<'_>) -> String {
    let used = occupancy.limits.iter().find(|limit| limit.resource == occupancy.limiter);
    let used = used.map_or(String::new(), |limit| {
        format!(" ({} of {} {})", limit.allocated, limit.capacity, occupancy.limiter.unit())
    });
    let cover = match cover {
        Cover::Idle(idle) => format!(": {idle} of {simds} SIMDs idle"),
        Cover::Waits(found) => format!(
            ": loop {} waits for {} with {} instructions per iteration to cover them",
            found.id + 1,
            view::counted(found.loads as u64, "load"),
            found.instructions
        ),
        Cover::Unknown => String::new(),
    };
    format!(
        "{} of {} waves per SIMD, limited by {}{used}{cover}",
        short_number(occupancy.waves_per_simd),
        occupancy.max_waves_per_simd,
        occupancy.limiter.name()
    )
}

/// Advice; `named`: waves with the registers that assembly names, `larger`: waves of a larger workgroup that
/// could share the LDS.
fn advice(occupancy: &arch::Occupancy, named: Option<f64>, larger: Option<u32>) -> String {
    let better = |step: &&arch::Step| {
        step.resource == occupancy.limiter && step.waves_per_simd > occupancy.waves_per_simd
    };
    let advice = match (named, occupancy.next.iter().find(better)) {
        (Some(waves), _) => format!(
            "ask for the registers that the code names only (`.amdhsa_next_free_vgpr`, `.amdhsa_accum_offset`): {} waves per SIMD",
            short_number(waves)
        ),
        (None, Some(step)) => format!(
            "shed {} {} {} for {} waves per SIMD; or give each wave more independent loads in flight",
            step.shed,
            occupancy.limiter.name(),
            occupancy.limiter.unit(),
            short_number(step.waves_per_simd)
        ),
        (None, None) => "give each wave more independent loads in flight: unroll and load ahead".to_owned(),
    };
    match larger {
        Some(waves) => format!("{advice}; or give the same LDS to workgroups of {waves} waves"),
        None => advice,
    }
}

/// Whether the kernel's own registers or LDS leave SIMDs without a wave, which is this rule's to say.
pub(super) fn leaves_simds_idle(occupancy: &arch::Occupancy, simds: u32) -> bool {
    limits_itself(occupancy) && occupancy.waves_per_cu > 0 && occupancy.waves_per_cu < simds
}

fn limits_itself(occupancy: &arch::Occupancy) -> bool {
    matches!(occupancy.limiter, Limiter::Vgpr | Limiter::Agpr | Limiter::Sgpr | Limiter::Lds)
}

/// Registers that code written in assembly names, and the waves per SIMD they would leave room for, where
/// that is more than now.
fn more_with_named(
    evidence: &KernelEvidence<'_>,
    target: &arch::Target,
    now: f64,
) -> Option<(NamedRegisters, f64)> {
    evidence.object.assembly_sign(evidence.kernel)?;
    if !evidence.calls.is_empty() {
        return None;
    }
    let named = NamedRegisters::of(&evidence.insts);
    let resources = &evidence.resources;
    let asked = arch::Resources {
        vgprs: named.vgprs,
        agprs: named.agprs,
        sgprs: resources.sgprs.unwrap_or(0),
        lds_bytes: resources.launch_lds_bytes.max(resources.lds_bytes).unwrap_or(0),
        waves_per_workgroup: resources.waves_per_workgroup.unwrap_or(1),
    };
    let then = arch::occupancy(target, &asked).waves_per_simd;
    (then > now).then_some((named, then))
}

/// A short innermost loop that waits for memory.
struct WaitingLoop {
    id: u32,
    instructions: usize,
    loads: usize,
    /// Its first load.
    load: Option<u32>,
}

fn waiting_loop(evidence: &KernelEvidence<'_>) -> Option<WaitingLoop> {
    evidence.cfg.innermost_loops().find_map(|id| {
        let (mut instructions, mut loads, mut load, mut waits) = (0, 0, None, false);
        for at in evidence.cfg.loop_insts(id) {
            let inst = evidence.insts.get(at as usize)?;
            let info = inst.op.info();
            instructions += 1;
            waits |= info.class == Class::Wait;
            let global = info.mem.is_some_and(|mem| mem.space != Space::Scratch);
            if info.class == Class::VmemLoad && global {
                // A load past the caches: the loop polls for another wave, and more waves would only poll too.
                if inst.mods.bits.intersects(Bits::SC0 | Bits::SC1) {
                    return None;
                }
                loads += 1;
                load = load.or(Some(at));
            }
        }
        let short = instructions <= SHORT_LOOP && waits && (1..=FEW_LOADS).contains(&loads);
        short.then_some(WaitingLoop { id, instructions, loads, load })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::{Resources, Target, occupancy};

    fn of(vgprs: u32, lds_bytes: u32, waves: u32) -> arch::Occupancy {
        let resources = Resources { vgprs, agprs: 0, sgprs: 32, lds_bytes, waves_per_workgroup: waves };
        occupancy(Target::by_name("gfx942").unwrap(), &resources)
    }

    #[test]
    fn words() {
        let waits = WaitingLoop { id: 1, instructions: 40, loads: 1, load: None };
        for (occupancy, cover, named, larger, said, advised) in [
            (
                of(256, 0, 4),
                Cover::Waits(&waits),
                None,
                None,
                "2 of 8 waves per SIMD, limited by VGPR (256 of 512 registers): loop 2 waits for 1 load with 40 instructions per iteration to cover them",
                "shed 88 VGPR registers for 3 waves per SIMD; or give each wave more independent loads in flight",
            ),
            (of(256, 0, 4), Cover::Unknown, Some(4.0), None, "", "ask for the registers"),
            (
                of(32, 65_536, 2),
                Cover::Idle(2),
                None,
                Some(4),
                "",
                "; or give the same LDS to workgroups of 4 waves",
            ),
        ] {
            let message = message(&occupancy, 4, &cover);
            let advice = advice(&occupancy, named, larger);
            assert!(message.contains(said) && advice.contains(advised), "{message}\n{advice}");
        }
    }
}
