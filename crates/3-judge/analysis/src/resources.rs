//! Registers, memory and occupancy of one kernel, from whichever of metadata, descriptor and companion file says them.
//!
//! The one idea to keep in mind: metadata counts what is used, the descriptor what is allocated; what neither
//! says stays unknown, and what the occupancy assumes instead is said.

use arch::{Occupancy, Target};
use codeobj::Kernel;
use view::Resources;

/// Collects what the file says of the kernel's registers and memory.
pub(crate) fn gather(kernel: &Kernel, target: Option<&'static Target>) -> Resources {
    let metadata = &kernel.metadata;
    let descriptor = kernel.descriptor.as_ref();
    let unified = target.is_some_and(|target| target.registers.unified.value);
    let agprs = metadata
        .agprs
        .or(if target.is_some() && !unified { None } else { Some(0) }.filter(|_| metadata.vgprs.is_some()));
    let vgprs = match (metadata.vgprs, agprs, descriptor) {
        // The metadata's count includes the AGPRs, which begin at the descriptor's offset.
        (Some(total), Some(agprs @ 1..), Some(descriptor)) if unified => {
            Some(descriptor.accum_offset.min(total.saturating_sub(agprs)))
        }
        (Some(total), Some(agprs @ 1..), None) if unified => Some(total.saturating_sub(agprs)),
        (total, _, _) => total,
    };
    let wavefront_size = metadata.wavefront_size.or_else(|| target.map(|target| target.lanes_per_wave.value));
    let lanes = wavefront_size.filter(|size| *size > 0).unwrap_or(64);
    let required =
        metadata.required_workgroup.map(|size| size.iter().fold(1u32, |a, b| a.saturating_mul(*b)));
    Resources {
        vgprs,
        agprs,
        vgprs_allocated: descriptor.map(|d| d.vgprs_allocated),
        sgprs: metadata.sgprs,
        vgpr_spills: metadata.vgpr_spills,
        sgpr_spills: metadata.sgpr_spills,
        lds_bytes: metadata.lds_bytes.or(descriptor.map(|d| d.lds_bytes)),
        launch_lds_bytes: metadata.launch_lds_bytes,
        scratch_bytes: metadata.scratch_bytes.or(descriptor.map(|d| d.scratch_bytes)),
        dynamic_stack: metadata.dynamic_stack.or(descriptor.map(|d| d.dynamic_stack)).unwrap_or(false),
        kernarg_bytes: metadata.kernarg_bytes.or(descriptor.map(|d| d.kernarg_bytes)),
        max_workgroup: metadata.max_workgroup,
        required_workgroup: metadata.required_workgroup,
        wavefront_size,
        waves_per_workgroup: metadata
            .launch_waves
            .or_else(|| required.or(metadata.max_workgroup).map(|size| size.div_ceil(lanes)))
            .filter(|waves| *waves > 0),
    }
}

/// Waves per SIMD, and what had to be assumed for it.
pub(crate) fn occupancy(
    kernel: &Kernel,
    target: &'static Target,
    resources: &Resources,
) -> (Option<Occupancy>, Vec<String>) {
    let metadata = &kernel.metadata;
    let vgprs = resources.vgprs.or(resources.vgprs_allocated);
    let Some(vgprs) = vgprs else {
        return (None, Vec::new());
    };
    let mut assumptions = Vec::new();
    let waves = match resources.waves_per_workgroup {
        Some(waves) => {
            if metadata.launch_waves.is_none() && metadata.required_workgroup.is_none() {
                let size = metadata.max_workgroup.unwrap_or_default();
                assumptions.push(format!("workgroups of {size} work-items, the largest allowed"));
            }
            waves
        }
        None => {
            assumptions.push("workgroups of one wave: the file does not say their size".to_owned());
            1
        }
    };
    let dynamic_lds = metadata.arguments.iter().any(|argument| argument.kind == "hidden_dynamic_lds_size");
    if dynamic_lds && resources.launch_lds_bytes.is_none() {
        assumptions.push("no dynamic LDS at launch".to_owned());
    }
    let asked = arch::Resources {
        vgprs,
        agprs: resources.agprs.unwrap_or(0),
        sgprs: resources.sgprs.unwrap_or(0),
        lds_bytes: resources.launch_lds_bytes.max(resources.lds_bytes).unwrap_or(0),
        waves_per_workgroup: waves,
    };
    (Some(arch::occupancy(target, &asked)), assumptions)
}
