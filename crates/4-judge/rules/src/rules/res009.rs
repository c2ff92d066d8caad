//! RES009: register allocation far above the number of live registers.
//!
//! A register without a live value costs waves; if the live values would fit into the registers of one more
//! wave, only register allocation is at fault.

use super::res003::with_usual_workgroup;
use crate::text::short_number;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use arch::Limiter;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "RES009",
    title: "registers asked for far above what lives, where a wave more would fit",
    severity: Severity::Warning,
    page: include_str!("res009.md"),
    checks: &[Check::Code(check)],
    panels: &[6, 7],
};

/// Factor on the number of live values that allocation needs.
const PLACING: f64 = 1.1;
/// Part of the wave slots up to which it is a warning.
const FEW: f64 = 0.25;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let (Some(target), Some(known)) = (evidence.target, &evidence.occupancy) else {
        return Outcome::needs("the register counts and a known target");
    };
    if !matches!(known.limiter, Limiter::Vgpr | Limiter::Agpr)
        || known.waves_per_cu == 0
        || !evidence.calls.is_empty()
        || evidence.insts.is_empty()
    {
        return Outcome::Silent;
    }
    let assumed = with_usual_workgroup(evidence, target);
    let now = assumed.as_ref().unwrap_or(known).waves_per_simd;
    let most = evidence
        .live
        .before
        .iter()
        .fold((0, 0), |most, live| (most.0.max(live.vgprs), most.1.max(live.agprs)));
    let (vgprs, agprs) = (u32::from(most.0), u32::from(most.1));
    let resources = &evidence.resources;
    let with_room = |count: u32| (f64::from(count) * PLACING).ceil() as u32;
    let asked = arch::Resources {
        vgprs: with_room(vgprs),
        agprs: with_room(agprs),
        sgprs: resources.sgprs.unwrap_or(0),
        lds_bytes: resources.launch_lds_bytes.max(resources.lds_bytes).unwrap_or(0),
        waves_per_workgroup: match &assumed {
            Some(_) => super::res003::USUAL_WORKGROUP / target.lanes_per_wave.value,
            None => resources.waves_per_workgroup.unwrap_or(1),
        },
    };
    let then = arch::occupancy(target, &asked).waves_per_simd;
    if then < now + 1.0 {
        return Outcome::Silent;
    }
    let few = now <= f64::from(known.max_waves_per_simd) * FEW;
    let used = resources.vgprs.unwrap_or(0) + resources.agprs.unwrap_or(0);
    let fits = arch::vgprs_allocated(target, asked.vgprs, asked.agprs);
    let advice = match evidence.object.assembly_sign(evidence.kernel) {
        Some(_) => format!(
            "move the highest registers into gaps and lower `.amdhsa_next_free_vgpr` towards {fits}: {} waves per SIMD",
            short_number(then)
        ),
        None => format!(
            "ask for {0} waves: `__launch_bounds__(size, {0})` (HIP), `waves_per_eu={0}` (Triton), and check that nothing spills",
            then.ceil()
        ),
    };
    let mut finding = RULE
        .finding(
            if few { Severity::Warning } else { Severity::Info },
            format!(
                "{used} registers asked for, {vgprs} VGPRs and {agprs} AGPRs live at most: {} of {} waves per SIMD where {} would fit",
                short_number(now),
                known.max_waves_per_simd,
                short_number(then)
            ),
            advice,
        )
        .with_cost(format!("{} of {} waves per SIMD", short_number(then - now), short_number(then)))
        .with_evidence("VGPRs and AGPRs asked for", used)
        .with_evidence("VGPRs live at most", vgprs)
        .with_evidence("AGPRs live at most", agprs)
        .with_evidence("allocated with a tenth on top of those that live", fits);
    for assumption in &evidence.assumptions {
        finding = finding.with_evidence("assumed", assumption);
    }
    let peak = evidence.live.peak().map(|at| evidence.place(at as usize));
    Outcome::Findings(vec![finding.with_places(peak)])
}
