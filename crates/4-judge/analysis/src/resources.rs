//! Registers, memory and occupancy of one kernel, from metadata, descriptor, companion file and code.
//!
//! Metadata counts the registers used, the descriptor those allocated. A count in neither is unknown, and the
//! occupancy names what it assumes instead.

use arch::{Occupancy, Target};
use codeobj::Kernel;
use isa::{Inst, RegFile};
use view::Resources;

/// Collects what the file says of the kernel's registers and memory; `insts` is the kernel's code.
pub(crate) fn gather(kernel: &Kernel, target: Option<&'static Target>, insts: &[Inst]) -> Resources {
    let metadata = &kernel.metadata;
    let descriptor = kernel.descriptor.as_ref();
    let (vgprs, agprs) = vector_registers(kernel, target, insts);
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

/// VGPRs and AGPRs used. Metadata of a target with one file for both counts them together, and often gives no
/// number of AGPRs; the descriptor says at which register they begin, and the code which are named.
fn vector_registers(
    kernel: &Kernel,
    target: Option<&'static Target>,
    insts: &[Inst],
) -> (Option<u32>, Option<u32>) {
    let metadata = &kernel.metadata;
    let Some(total) = metadata.vgprs else { return (None, metadata.agprs) };
    let Some(target) = target else { return (Some(total), metadata.agprs.or(Some(0))) };
    let begin = kernel.descriptor.as_ref().map(|descriptor| descriptor.accum_offset);
    if !target.registers.unified.value {
        let named = || (!insts.is_empty()).then(|| NamedRegisters::of(insts).agprs);
        return (Some(total), metadata.agprs.or_else(named));
    }
    let (vgprs, agprs) = match (metadata.agprs, begin) {
        (Some(0), _) => (total, 0),
        (Some(agprs), Some(begin)) => (begin.min(total.saturating_sub(agprs)), agprs),
        (Some(agprs), None) => (total.saturating_sub(agprs), agprs),
        (None, begin) => {
            let named = NamedRegisters::of(insts);
            match begin {
                // The count covers the VGPRs alone.
                Some(begin) if total <= begin => (total, named.agprs),
                Some(begin) if named.vgprs <= begin => (begin, total - begin),
                // No descriptor, or one whose AGPRs begin among the VGPRs the code names.
                _ => (total.saturating_sub(named.agprs), named.agprs),
            }
        }
    };
    (Some(vgprs), Some(agprs))
}

/// Vector registers that code names: one more than the highest number of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NamedRegisters {
    /// VGPRs.
    pub vgprs: u32,
    /// AGPRs.
    pub agprs: u32,
}

impl NamedRegisters {
    /// Register counts named by some instructions.
    pub fn of(insts: &[Inst]) -> Self {
        let mut named = NamedRegisters::default();
        for inst in insts {
            let mut visit = |range: isa::RegRange| {
                let end = u32::from(range.indices().end);
                match range.file {
                    RegFile::Vgpr => named.vgprs = named.vgprs.max(end),
                    RegFile::Agpr => named.agprs = named.agprs.max(end),
                    _ => {}
                }
            };
            inst.visit_reads(&mut visit);
            inst.visit_writes(&mut visit);
        }
        named
    }
}

/// Waves per SIMD, and what had to be assumed for it.
pub(crate) fn occupancy(
    kernel: &Kernel,
    target: &'static Target,
    resources: &Resources,
) -> (Option<Occupancy>, Vec<String>) {
    let metadata = &kernel.metadata;
    let Some(asked) = asked(kernel, resources) else {
        return (None, Vec::new());
    };
    let mut assumptions = Vec::new();
    match resources.waves_per_workgroup {
        Some(_) => {
            if metadata.launch_waves.is_none() && metadata.required_workgroup.is_none() {
                let size = metadata.max_workgroup.unwrap_or_default();
                assumptions.push(format!("workgroups of {size} work-items, the largest allowed"));
            }
        }
        None => assumptions.push(ONE_WAVE.to_owned()),
    }
    let dynamic_lds = metadata.arguments.iter().any(|argument| argument.kind == "hidden_dynamic_lds_size");
    if dynamic_lds && resources.launch_lds_bytes.is_none() {
        assumptions.push("no dynamic LDS at launch".to_owned());
    }
    (Some(arch::occupancy(target, &asked)), assumptions)
}

/// Assumption for a file that names no workgroup size.
pub(crate) const ONE_WAVE: &str = "workgroups of one wave: the file does not say their size";

/// Resources of one workgroup; `None` if the registers are not known.
pub(crate) fn asked(kernel: &Kernel, resources: &Resources) -> Option<arch::Resources> {
    Some(arch::Resources {
        vgprs: resources.vgprs.or(resources.vgprs_allocated)?,
        agprs: resources.agprs.unwrap_or(0),
        sgprs: resources.sgprs.or(kernel.descriptor.as_ref().map(|d| d.sgprs_allocated)).unwrap_or(0),
        lds_bytes: resources.launch_lds_bytes.max(resources.lds_bytes).unwrap_or(0),
        waves_per_workgroup: resources.waves_per_workgroup.unwrap_or(1),
    })
}
