//! `.amdhsa_` directives and the descriptor they make.
//!
//! A descriptor from text has the same register words as the one the assembler writes, so everything derived
//! from them is derived in one place. Source: the AMDGPU back-end user guide, "AMDHSA Kernel Assembler
//! Directives".

use arch::DescriptorFamily;

use crate::text::expression::Symbols;
use crate::{Descriptor, Feature, Target, descriptor};

/// The directives of one kernel, as written.
pub(crate) struct Directives<'a> {
    /// Name after `.amdhsa_kernel`.
    pub(crate) name: &'a str,
    /// Names without `.amdhsa_`, and their expressions.
    pub(crate) values: Vec<(&'a str, &'a str)>,
}

/// Which register word a directive's value goes into.
enum Word {
    Rsrc1,
    Rsrc2,
    Rsrc3,
    Properties,
    Preload,
}
use Word::{Preload, Properties, Rsrc1, Rsrc2, Rsrc3};

/// Directives that are copied into a field: name, word, first bit, bits, value when absent.
const FIELDS: &[(&str, Word, u32, u32, u32)] = &[
    ("float_round_mode_32", Rsrc1, 12, 2, 0),
    ("float_round_mode_16_64", Rsrc1, 14, 2, 0),
    ("float_denorm_mode_32", Rsrc1, 16, 2, 0),
    ("float_denorm_mode_16_64", Rsrc1, 18, 2, 3),
    ("dx10_clamp", Rsrc1, 21, 1, 1),
    ("ieee_mode", Rsrc1, 23, 1, 1),
    ("fp16_overflow", Rsrc1, 26, 1, 0),
    ("workgroup_processor_mode", Rsrc1, 29, 1, 0),
    ("memory_ordered", Rsrc1, 30, 1, 0),
    ("forward_progress", Rsrc1, 31, 1, 0),
    ("enable_private_segment", Rsrc2, 0, 1, 0),
    ("system_sgpr_private_segment_wavefront_offset", Rsrc2, 0, 1, 0),
    ("system_sgpr_workgroup_id_x", Rsrc2, 7, 1, 1),
    ("system_sgpr_workgroup_id_y", Rsrc2, 8, 1, 0),
    ("system_sgpr_workgroup_id_z", Rsrc2, 9, 1, 0),
    ("system_sgpr_workgroup_info", Rsrc2, 10, 1, 0),
    ("system_vgpr_workitem_id", Rsrc2, 11, 2, 0),
    ("exception_fp_ieee_invalid_op", Rsrc2, 24, 1, 0),
    ("exception_fp_denorm_src", Rsrc2, 25, 1, 0),
    ("exception_fp_ieee_div_zero", Rsrc2, 26, 1, 0),
    ("exception_fp_ieee_overflow", Rsrc2, 27, 1, 0),
    ("exception_fp_ieee_underflow", Rsrc2, 28, 1, 0),
    ("exception_fp_ieee_inexact", Rsrc2, 29, 1, 0),
    ("exception_int_div_zero", Rsrc2, 30, 1, 0),
    ("tg_split", Rsrc3, 16, 1, 0),
    ("user_sgpr_private_segment_buffer", Properties, 0, 1, 0),
    ("user_sgpr_dispatch_ptr", Properties, 1, 1, 0),
    ("user_sgpr_queue_ptr", Properties, 2, 1, 0),
    ("user_sgpr_kernarg_segment_ptr", Properties, 3, 1, 0),
    ("user_sgpr_dispatch_id", Properties, 4, 1, 0),
    ("user_sgpr_flat_scratch_init", Properties, 5, 1, 0),
    ("user_sgpr_private_segment_size", Properties, 6, 1, 0),
    ("wavefront_size32", Properties, 10, 1, 0),
    ("uses_dynamic_stack", Properties, 11, 1, 0),
    ("user_sgpr_kernarg_preload_length", Preload, 0, 7, 0),
    ("user_sgpr_kernarg_preload_offset", Preload, 7, 9, 0),
];

/// User SGPRs that each enabled pointer or size takes.
const USER_SGPRS: [(&str, u32); 7] = [
    ("user_sgpr_private_segment_buffer", 4),
    ("user_sgpr_dispatch_ptr", 2),
    ("user_sgpr_queue_ptr", 2),
    ("user_sgpr_kernarg_segment_ptr", 2),
    ("user_sgpr_dispatch_id", 2),
    ("user_sgpr_flat_scratch_init", 2),
    ("user_sgpr_private_segment_size", 1),
];

/// Builds the descriptor. Directives whose value is unknown are reported by name in `unknown`.
pub(crate) fn descriptor<'a>(
    directives: &Directives<'a>,
    target: &Target,
    symbols: &mut Symbols<'a>,
    unknown: &mut Vec<&'a str>,
) -> Descriptor {
    let family = DescriptorFamily::of(&target.processor);
    let unified = family.is_some_and(DescriptorFamily::has_accum_offset);
    let mut value = |wanted: &str| -> Option<u32> {
        let &(name, expression) = directives.values.iter().rev().find(|(name, _)| *name == wanted)?;
        let value = symbols.value(expression, unified).and_then(|value| u32::try_from(value).ok());
        if value.is_none() {
            unknown.push(name);
        }
        value
    };
    let mut descriptor = Descriptor {
        lds_bytes: value("group_segment_fixed_size").unwrap_or(0),
        scratch_bytes: value("private_segment_fixed_size").unwrap_or(0),
        kernarg_bytes: value("kernarg_size").unwrap_or(0),
        ..Descriptor::default()
    };
    for &(name, ref word, shift, bits, absent) in FIELDS {
        let field = (value(name).unwrap_or(absent) & ((1 << bits) - 1)) << shift;
        match word {
            Rsrc1 => descriptor.rsrc1 |= field,
            Rsrc2 => descriptor.rsrc2 |= field,
            Rsrc3 => descriptor.rsrc3 |= field,
            Properties => descriptor.properties |= field as u16,
            Preload => descriptor.kernarg_preload |= field as u16,
        }
    }
    let user_sgprs = value("user_sgpr_count").unwrap_or_else(|| {
        let preloaded = value("user_sgpr_kernarg_preload_length").unwrap_or(0);
        USER_SGPRS.iter().map(|&(name, count)| count * value(name).unwrap_or(0).min(1)).sum::<u32>()
            + preloaded.min(16)
    });
    descriptor.rsrc2 |= (user_sgprs & 0x1f) << 1;
    if let Some(family) = family {
        let wave32 = family.has_wave32() && value("wavefront_size32").unwrap_or(1) != 0;
        if wave32 {
            descriptor.properties |= 1 << 10;
        }
        let vgprs = value("next_free_vgpr").unwrap_or(0);
        descriptor.rsrc1 |= steps(vgprs, family.vgpr_step(wave32)).min(0x3f);
        if family.sgpr_step().is_some() {
            let vcc = value("reserve_vcc").unwrap_or(1) != 0;
            let flat_scratch = value("reserve_flat_scratch").unwrap_or(1) != 0;
            // Code for either setting has to leave room for the mask.
            let replays = family.has_xnack(&target.processor) && target.xnack != Feature::Off;
            let xnack = value("reserve_xnack_mask").map_or(replays, |value| value != 0);
            let extra = family.extra_sgprs(&target.processor, vcc, flat_scratch, xnack);
            let sgprs = value("next_free_sgpr").unwrap_or(0).saturating_add(extra);
            descriptor.rsrc1 |= steps(sgprs, 8).min(0xf) << 6;
        }
        if family.has_accum_offset() {
            descriptor.rsrc3 |= steps(value("accum_offset").unwrap_or(4), 4).min(0x3f);
        }
    }
    descriptor::decode(descriptor, &target.processor)
}

/// A register count as descriptors hold it: whole steps, less one.
fn steps(count: u32, step: u32) -> u32 {
    count.max(1).div_ceil(step) - 1
}
