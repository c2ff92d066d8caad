//! The 64-byte kernel descriptor, and what its register words mean on the target.
//!
//! The hardware reads the three `compute_pgm_rsrc` words; all other values are derived from them, only here.
//! Source: the AMDGPU back-end user guide, "Kernel Descriptor".

use arch::DescriptorFamily;

use crate::Descriptor;
use crate::bytes::{u16_at, u32_at};

/// Bytes of a kernel descriptor.
pub(crate) const BYTES: u64 = 64;

/// `kernel_code_properties`: waves of 32 lanes.
const WAVE32: u16 = 1 << 10;
/// `kernel_code_properties`: stack of unknown size.
const DYNAMIC_STACK: u16 = 1 << 11;

/// Decodes the descriptor at the start of `bytes`; `None` when there are too few.
pub(crate) fn read(bytes: &[u8], processor: &str) -> Option<Descriptor> {
    if (bytes.len() as u64) < BYTES {
        return None;
    }
    let descriptor = Descriptor {
        lds_bytes: u32_at(bytes, 0)?,
        scratch_bytes: u32_at(bytes, 4)?,
        kernarg_bytes: u32_at(bytes, 8)?,
        rsrc3: u32_at(bytes, 44)?,
        rsrc1: u32_at(bytes, 48)?,
        rsrc2: u32_at(bytes, 52)?,
        properties: u16_at(bytes, 56)?,
        kernarg_preload: u16_at(bytes, 58)?,
        ..Descriptor::default()
    };
    Some(decode(descriptor, processor))
}

/// Fills in what follows from the register words.
pub(crate) fn decode(mut descriptor: Descriptor, processor: &str) -> Descriptor {
    let (rsrc1, rsrc2, rsrc3) = (descriptor.rsrc1, descriptor.rsrc2, descriptor.rsrc3);
    let family = DescriptorFamily::of(processor);
    if let Some(family) = family {
        let wave32 = family.has_wave32() && descriptor.properties & WAVE32 != 0;
        descriptor.vgprs_allocated = ((rsrc1 & 0x3f) + 1) * family.vgpr_step(wave32);
        // The field counts eights on every GPU; those that allocate sixteens use even values only.
        descriptor.sgprs_allocated =
            family.sgpr_step().map_or(0, |step| (((rsrc1 >> 6 & 0xf) + 1) * 8).next_multiple_of(step));
    }
    if family.is_some_and(DescriptorFamily::has_accum_offset) {
        descriptor.accum_offset = ((rsrc3 & 0x3f) + 1) * 4;
        descriptor.tg_split = rsrc3 >> 16 & 1 == 1;
    }
    descriptor.float_mode = (rsrc1 >> 12) as u8;
    descriptor.dx10_clamp = rsrc1 >> 21 & 1 == 1;
    descriptor.ieee_mode = rsrc1 >> 23 & 1 == 1;
    descriptor.fp16_overflow = rsrc1 >> 26 & 1 == 1;
    descriptor.private_segment = rsrc2 & 1 == 1;
    descriptor.user_sgprs = (rsrc2 >> 1 & 0x1f) as u8;
    descriptor.workgroup_id_mask = (rsrc2 >> 7 & 0xf) as u8;
    descriptor.workitem_id_dims = (rsrc2 >> 11 & 3).min(2) as u8 + 1;
    descriptor.dynamic_stack = descriptor.properties & DYNAMIC_STACK != 0;
    descriptor
}

/// Bytes of the descriptor of code-object version 2, which precedes the code.
pub(crate) const OLD_BYTES: u64 = 256;

/// Decodes `amd_kernel_code_t` of code-object version 2, and gives the distance from it to the code.
pub(crate) fn read_old(bytes: &[u8], processor: &str) -> Option<(Descriptor, u64)> {
    if (bytes.len() as u64) < OLD_BYTES {
        return None;
    }
    let properties = u32_at(bytes, 56)?;
    let wave32 = if bytes[103] == 5 { WAVE32 } else { 0 };
    let dynamic_stack = if properties >> 21 & 1 == 1 { DYNAMIC_STACK } else { 0 };
    let descriptor = Descriptor {
        scratch_bytes: u32_at(bytes, 60)?,
        lds_bytes: u32_at(bytes, 64)?,
        kernarg_bytes: u32_at(bytes, 72)?,
        rsrc1: u32_at(bytes, 48)?,
        rsrc2: u32_at(bytes, 52)?,
        // The enable bits of the user registers have the same order in both generations.
        properties: (properties & 0x7f) as u16 | wave32 | dynamic_stack,
        ..Descriptor::default()
    };
    let entry = crate::bytes::u64_at(bytes, 16)?;
    Some((decode(descriptor, processor), entry))
}
