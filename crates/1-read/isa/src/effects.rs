//! What an instruction reads, writes and touches, resolved for the one instruction.
//!
//! The one idea to keep in mind: roles stand in the opcode's row; here they meet the modifiers that change them
//! (returning atomics, loads to LDS, partial writes, half registers).

use crate::form::Field;
use crate::inst::*;
use crate::isa::Isa;

impl Inst {
    /// The opcode's row.
    #[inline]
    pub fn info(&self) -> &'static OpInfo {
        self.op.info()
    }

    /// Unit the instruction issues to.
    #[inline]
    pub fn class(&self) -> Class {
        self.info().class
    }

    /// Whether the bytes are no instruction of the target.
    pub fn is_unknown(&self) -> bool {
        self.encoding == Encoding::Unknown
    }

    /// Byte offset behind the instruction.
    pub fn end(&self) -> u32 {
        self.offset.saturating_add(u32::from(self.size))
    }

    /// Branch target as a byte offset from the start of the code, if the instruction names one.
    pub fn target(&self) -> Option<i32> {
        self.operands().iter().find_map(|operand| match operand {
            Operand::Target(target) => Some(*target),
            _ => None,
        })
    }

    /// Index in the row of the instruction's first operand: rows list operands that some forms leave out.
    fn skipped(&self) -> usize {
        let info = self.info();
        let optional = info.flags.contains(OpFlags::OPTIONAL_DST) && !self.mods.bits.contains(Bits::SC0);
        let to_lds = info.fields.first() == Some(&Field::Vdata) && self.mods.bits.contains(Bits::LDS);
        usize::from((optional || to_lds) && !info.operands.is_empty())
    }

    /// Each operand with its place in the row.
    pub fn operands_with_specs(&self) -> impl Iterator<Item = (&Operand, &'static OperandSpec)> {
        let specs: &'static [OperandSpec] = self.info().operands;
        self.operands().iter().zip(&specs[self.skipped().min(specs.len())..])
    }

    /// Each operand with its field of the encoding.
    pub fn operands_with_fields(&self) -> impl Iterator<Item = (&Operand, Field)> {
        let fields: &'static [Field] = self.info().fields;
        self.operands().iter().zip(fields[self.skipped().min(fields.len())..].iter().copied())
    }

    /// Whether an atomic gives back the old value.
    pub fn returns_value(&self) -> bool {
        let info = self.info();
        match info.mem {
            Some(Mem { access: Access::Atomic, .. }) => {
                info.flags.contains(OpFlags::RETURNS)
                    || (info.class != Class::Lds && self.mods.bits.contains(Bits::SC0))
            }
            Some(Mem { access: Access::Load | Access::Exchange, .. }) => !self.mods.bits.contains(Bits::LDS),
            _ => false,
        }
    }

    /// What the instruction touches in memory; buffer loads with `lds` are loads to LDS, `gds` is its own space.
    pub fn mem(&self) -> Option<Mem> {
        let mut mem = self.info().mem?;
        if self.mods.bits.contains(Bits::LDS) && mem.access == Access::Load {
            mem.access = Access::LoadToLds;
        }
        if self.mods.bits.contains(Bits::GDS) {
            mem.space = Space::Gds;
        }
        Some(mem)
    }

    /// Whether the destination keeps some of its old bits or lanes' bits, so that the instruction also reads it.
    pub fn writes_part(&self) -> bool {
        if self.info().flags.contains(OpFlags::PARTIAL_DST) {
            return true;
        }
        match self.mods.lane {
            Lane::Sdwa(sdwa) => sdwa.dst_unused == 2 && sdwa.dst_sel != 6,
            // Lanes whose source is invalid or masked off keep the old value.
            Lane::Dpp(dpp) => !dpp.bound_ctrl || dpp.row_mask != 15 || dpp.bank_mask != 15,
            // op_sel of the destination writes one half and keeps the other.
            Lane::None => self.encoding == Encoding::Vop3 && self.mods.op_sel & 8 != 0,
        }
    }

    /// Calls `visit` with every run of registers the instruction reads, implicit ones included.
    pub fn visit_reads(&self, mut visit: impl FnMut(RegRange)) {
        self.visit_operand_reads(&mut visit);
        implicit(self.implicit_reads(), &mut visit);
    }

    /// Registers the instruction reads without naming them.
    #[inline]
    pub fn implicit_reads(&self) -> Implicit {
        let reads = self.info().reads;
        if self.mods.bits.intersects(Bits::LDS | Bits::GDS) { reads | Implicit::M0 } else { reads }
    }

    /// Registers the instruction writes without naming them.
    #[inline]
    pub fn implicit_writes(&self) -> Implicit {
        self.info().writes
    }

    /// Calls `visit` with every run of registers that the instruction's operands read.
    #[inline]
    pub fn visit_operand_reads(&self, mut visit: impl FnMut(RegRange)) {
        let partial = self.writes_part();
        for (operand, spec) in self.operands_with_specs() {
            let Operand::Reg(range) = *operand else { continue };
            match spec.role {
                Role::Src | Role::DstSrc => visit(range),
                Role::Dst if partial && matches!(range.file, RegFile::Vgpr | RegFile::Agpr) => visit(range),
                _ => {}
            }
        }
    }

    /// Calls `visit` with every run of registers the instruction writes, implicit ones included.
    pub fn visit_writes(&self, mut visit: impl FnMut(RegRange)) {
        self.visit_operand_writes(&mut visit);
        implicit(self.implicit_writes(), &mut visit);
    }

    /// Calls `visit` with every run of registers that the instruction's operands name as written.
    #[inline]
    pub fn visit_operand_writes(&self, mut visit: impl FnMut(RegRange)) {
        let info = self.info();
        for (operand, spec) in self.operands_with_specs() {
            let Operand::Reg(range) = *operand else { continue };
            if matches!(spec.role, Role::Dst | Role::DstSrc) {
                visit(range);
            }
        }
        // Buffer and scalar atomics give the old value back in their data registers.
        let in_place = matches!(self.encoding, Encoding::Mubuf | Encoding::Smem);
        if in_place
            && matches!(info.mem, Some(Mem { access: Access::Atomic, .. }))
            && self.mods.bits.contains(Bits::SC0)
            && let Some(Operand::Reg(range)) = self.operands().first()
        {
            let count = if info.name.contains("cmpswap") { range.count.div_ceil(2) } else { range.count };
            visit(RegRange { count, ..*range });
        }
    }

    /// The destination registers of a vector or scalar result: the first written operand.
    pub fn destination(&self) -> Option<RegRange> {
        self.operands_with_specs().find_map(|(operand, spec)| match (operand, spec.role) {
            (Operand::Reg(range), Role::Dst | Role::DstSrc) => Some(*range),
            _ => None,
        })
    }

    /// Whether the target can decode this instruction.
    pub fn is_of(&self, isa: Isa) -> bool {
        self.op.form(isa, self.encoding).is_some()
    }
}

fn implicit(set: Implicit, visit: &mut impl FnMut(RegRange)) {
    if set.is_empty() {
        return;
    }
    for (flag, range) in IMPLICIT {
        if set.contains(flag) {
            visit(range);
        }
    }
}

/// What each flag stands for.
pub(crate) const IMPLICIT: [(Implicit, RegRange); 6] = [
    (Implicit::VCC, RegRange::new(RegFile::Vcc, 0, 2)),
    (Implicit::EXEC, RegRange::new(RegFile::Exec, 0, 2)),
    (Implicit::SCC, RegRange::new(RegFile::SrcScc, 0, 1)),
    (Implicit::M0, RegRange::new(RegFile::M0, 0, 1)),
    (Implicit::MODE, RegRange::new(RegFile::Mode, 0, 1)),
    (Implicit::FLAT_SCRATCH, RegRange::new(RegFile::FlatScratch, 0, 2)),
];
