//! RES005: the default workgroup size limits the registers.
//!
//! The compiler must keep a workgroup of the largest allowed size resident, so leaving the size unspecified
//! costs registers.

use crate::sites::Sites;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "RES005",
    title: "default workgroup size limits the registers",
    severity: Severity::Warning,
    page: include_str!("res005.md"),
    checks: &[Check::Code(check)],
    panels: &[6, 7],
};

/// Maximum that HIP allows if no size is stated.
const DEFAULT_WORKGROUP: u32 = 1024;

/// The kernel allows what HIP allows by default, and nothing says that it is meant.
pub(crate) fn leaves_size_at_default(evidence: &KernelEvidence<'_>) -> bool {
    evidence.resources.max_workgroup == Some(DEFAULT_WORKGROUP)
        && evidence.resources.required_workgroup.is_none()
        && evidence.kernel.metadata.launch_waves.is_none()
}

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let resources = &evidence.resources;
    let (Some(target), Some(vgprs), Some(max_workgroup)) =
        (evidence.target, resources.vgprs, resources.max_workgroup)
    else {
        return Outcome::needs("the registers, the largest workgroup and a known target");
    };
    if !leaves_size_at_default(evidence) {
        return Outcome::Silent;
    }
    let registers = &target.registers;
    let waves_per_simd =
        (max_workgroup / target.lanes_per_wave.value).div_ceil(target.simds_per_cu.value).max(1);
    let granule = registers.vgpr_granule.value;
    let limit = registers.vgprs_per_lane.value / waves_per_simd / granule * granule;
    let agprs = if registers.unified.value { resources.agprs.unwrap_or(0) } else { 0 };
    if arch::vgprs_allocated(target, vgprs, agprs) < limit {
        return Outcome::Silent;
    }
    let spills = resources.vgpr_spills.unwrap_or(0);
    // Compilers also count spills that no instruction is left of.
    let is_paid = evidence.insts.is_empty() || agprs > 0 || Sites::scratch(evidence).count() > 0;
    let used = vgprs + agprs;
    let (severity, message) = if spills > 0 && is_paid {
        (
            Severity::Warning,
            format!(
                "{} spilled at the limit of {limit} that the default workgroup of {max_workgroup} leaves",
                counted(spills, "VGPR")
            ),
        )
    } else {
        (
            Severity::Info,
            format!(
                "{used} registers in use, the limit of {limit} that the default workgroup of {max_workgroup} leaves"
            ),
        )
    };
    Outcome::Findings(vec![
        RULE.finding(
            severity,
            message,
            "if launches are smaller, state their size: `__launch_bounds__(256)` in HIP, `amdgpu-flat-work-group-size` in LLVM",
        )
        .with_evidence("largest workgroup", max_workgroup)
        .with_evidence("waves per SIMD it needs", waves_per_simd)
        .with_evidence("registers it leaves", limit)
        .with_evidence("registers used", used)
        .with_evidence("VGPR spills", spills)
        .with_places((!evidence.insts.is_empty()).then(|| evidence.place(0))),
    ])
}
