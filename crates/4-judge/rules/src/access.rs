//! Memory instructions of a kernel for the rules: width, offset, address.
//!
//! Accesses that the program orders (atomic, volatile, coherent) are excluded; they must not be merged, moved
//! or dropped.

use analysis::KernelEvidence;
use analysis::affine::{Access as Address, Addresses, LANES};
use isa::{Access, Bits, Field, Inst, Operand, RegFile, RegRange, Space};
use std::collections::BTreeMap;
use view::Place;

/// Widest access of a lane, `dwordx4` and `b128`.
pub(crate) const WIDEST: u32 = 16;
/// Maximum number of places that a finding lists.
const PLACES: usize = 8;

/// One memory instruction.
#[derive(Clone, Copy)]
pub(crate) struct MemoryAccess<'a> {
    pub(crate) inst: u32,
    /// Bytes per lane.
    pub(crate) bytes: u32,
    pub(crate) address: &'a Address,
    /// Byte position within the address's group.
    pub(crate) position: i64,
}

/// Whether an instruction is an ordinary load or store of global memory.
pub(crate) fn is_global(evidence: &KernelEvidence<'_>, inst: &Inst, access: Access) -> bool {
    reaches_global(evidence, inst, access) && is_plain(inst)
}

/// Whether an instruction accesses global memory, coherent accesses included. Flat accesses may.
pub(crate) fn reaches_global(evidence: &KernelEvidence<'_>, inst: &Inst, access: Access) -> bool {
    let Some(mem) = inst.mem().filter(|mem| mem.access == access) else { return false };
    match mem.space {
        Space::Global | Space::Flat => true,
        Space::Buffer => !is_scratch(evidence, inst),
        _ => false,
    }
}

/// True if a buffer access addresses scratch: compilers for targets without scratch instructions use the
/// resource descriptor that a kernel receives in `s[0:3]`.
fn is_scratch(evidence: &KernelEvidence<'_>, inst: &Inst) -> bool {
    let uses_scratch =
        evidence.resources.scratch_bytes.is_none_or(|bytes| bytes > 0) || evidence.resources.dynamic_stack;
    let given = evidence.kernel.descriptor.as_ref().is_none_or(|descriptor| descriptor.properties & 1 != 0);
    uses_scratch
        && given
        && inst.operands_with_fields().any(|(operand, field)| {
            field == Field::Srsrc
                && matches!(operand, Operand::Reg(range)
                    if range.file == RegFile::Sgpr && holds_scratch_resource(evidence, range.first))
        })
}

/// Whether four registers hold the resource of scratch: `s[0:3]` do at the start, and compilers often copy it
/// before anything else.
pub(crate) fn holds_scratch_resource(evidence: &KernelEvidence<'_>, first: u16) -> bool {
    let copies = |to: u16, from: u16| {
        let pair = |first| Operand::Reg(RegRange::new(RegFile::Sgpr, first, 2));
        let start = &evidence.insts[..evidence.insts.len().min(COPIED_WITHIN)];
        start.iter().any(|inst| {
            inst.operands() == [pair(to), pair(from)].as_slice() && inst.op.info().name == "s_mov_b64"
        })
    };
    first == 0 || (copies(first, 0) && copies(first + 2, 2))
}

/// Instructions at the start of a kernel in which the resource of scratch is copied.
const COPIED_WITHIN: usize = 24;

/// Not volatile or atomic: carries no coherence bits, or they only spell "non-temporal".
pub(crate) fn is_plain(inst: &Inst) -> bool {
    let bits = inst.mods.bits;
    let coherent = bits.intersects(Bits::SC0 | Bits::SC1);
    !coherent || (bits.contains(Bits::NT) && !bits.contains(Bits::SC1))
}

/// The access of `inst`, if its address is followed.
pub(crate) fn memory_access<'a>(
    evidence: &KernelEvidence<'_>,
    addresses: &'a Addresses,
    inst: u32,
) -> Option<MemoryAccess<'a>> {
    let instruction = evidence.insts.get(inst as usize)?;
    let mem = instruction.mem()?;
    let address = addresses.of(inst)?;
    Some(MemoryAccess {
        inst,
        bytes: u32::from(mem.bytes) * u32::from(mem.elements),
        address,
        position: i64::from(address.constant()) + i64::from(instruction.mods.offset),
    })
}

/// Neighbouring lanes read neighbouring elements, at least as far as one 16-byte access reaches.
pub(crate) fn lanes_are_contiguous(addresses: &Addresses, access: &MemoryAccess<'_>) -> bool {
    let Some(lanes) = addresses.lanes(access.address) else { return false };
    let share = (WIDEST / access.bytes.max(1)).max(2) as usize;
    (1..LANES).filter(|i| i % share != 0).all(|i| lanes[i].wrapping_sub(lanes[i - 1]) == access.bytes)
}

/// Places of the first instructions of a list.
pub(crate) fn places(evidence: &KernelEvidence<'_>, insts: impl IntoIterator<Item = u32>) -> Vec<Place> {
    insts.into_iter().take(PLACES).map(|inst| evidence.place(inst as usize)).collect()
}

/// "3 of 1 byte, 2 of 4 bytes"
pub(crate) fn widths(counts: &BTreeMap<u32, u32>) -> String {
    let parts = counts.iter().map(|(bytes, count)| format!("{count} of {}", view::counted(*bytes, "byte")));
    parts.collect::<Vec<_>>().join(", ")
}
