//! Registers and memory that an instruction reads and writes, resolved for the one instruction.
//!
//! The opcode's row holds the roles of operands; here they meet the modifiers that change them (returning
//! atomics, loads to LDS, partial writes, half registers).

use crate::form::UNKNOWN_INFO;
use crate::generated::tables::OPS;
use crate::inst::*;

/// Register roles of an opcode's row, folded into one word: every analysis asks it of every instruction.
#[derive(Clone, Copy)]
struct Roles {
    /// Operands of the row that are read, one bit each.
    read: u8,
    /// Operands of the row that are written.
    written: u8,
    /// Operands of the row that are written and not read.
    only_written: u8,
    reads: Implicit,
    writes: Implicit,
    traits: u8,
}

/// The first operand is left out unless the instruction gives the old value back.
const OPTIONAL: u8 = 1;
/// The first operand is left out when the data go to LDS.
const TO_LDS: u8 = 2;
/// The result keeps some of its old bits.
const PARTIAL: u8 = 4;
/// Memory is changed and may give its old value back.
const ATOMIC: u8 = 8;
/// Control may go elsewhere than to the next instruction.
const TURNS: u8 = 16;

impl Roles {
    const fn of(info: &OpInfo) -> Roles {
        let (mut read, mut written, mut only_written) = (0, 0, 0);
        let mut at = 0;
        while at < info.operands.len() {
            match info.operands[at].role {
                Role::Src => read |= 1 << at,
                Role::Dst => {
                    written |= 1 << at;
                    only_written |= 1 << at;
                }
                Role::DstSrc => {
                    read |= 1 << at;
                    written |= 1 << at;
                }
                _ => {}
            }
            at += 1;
        }
        let mut traits = 0;
        if !info.operands.is_empty() {
            if info.flags.contains(OpFlags::OPTIONAL_DST) {
                traits |= OPTIONAL;
            }
            // Loads name their destination first, unless that is the LDS.
            let loads = matches!(info.mem, Some(Mem { access: Access::Load, .. }))
                && !info.fields.is_empty()
                && matches!(info.fields[0], Field::Vdst);
            if loads || (!info.fields.is_empty() && matches!(info.fields[0], Field::Vdata)) {
                traits |= TO_LDS;
            }
        }
        if info.flags.contains(OpFlags::PARTIAL_DST) {
            traits |= PARTIAL;
        }
        if matches!(info.mem, Some(Mem { access: Access::Atomic, .. })) {
            traits |= ATOMIC;
        }
        if info.flags.intersects(OpFlags::END.union(OpFlags::JUMP).union(OpFlags::COND_JUMP)) {
            traits |= TURNS;
        }
        Roles { read, written, only_written, reads: info.reads, writes: info.writes, traits }
    }
}

/// By opcode; the last row is for invalid bytes.
static ROLES: [Roles; OPS.len() + 1] = {
    let mut roles = [Roles::of(&UNKNOWN_INFO); OPS.len() + 1];
    let mut at = 0;
    while at < OPS.len() {
        roles[at] = Roles::of(&OPS[at]);
        at += 1;
    }
    roles
};

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

    /// True if the bytes do not encode an instruction of the target.
    pub fn is_unknown(&self) -> bool {
        self.encoding == Encoding::Unknown
    }

    /// Byte offset behind the instruction.
    pub fn end(&self) -> u32 {
        self.offset.saturating_add(u32::from(self.size))
    }

    /// Control may go elsewhere than to the next instruction.
    #[inline]
    pub(crate) fn turns(&self) -> bool {
        self.roles().traits & TURNS != 0
    }

    #[inline]
    fn roles(&self) -> &'static Roles {
        &ROLES[usize::from(self.op.0).min(OPS.len())]
    }

    /// Index in the row of the instruction's first operand: rows list operands that some forms leave out.
    #[inline]
    fn skipped(&self) -> usize {
        let traits = self.roles().traits;
        if traits & (OPTIONAL | TO_LDS) == 0 {
            return 0;
        }
        let optional = traits & OPTIONAL != 0 && !self.mods.bits.contains(Bits::SC0);
        let to_lds = traits & TO_LDS != 0 && self.mods.bits.contains(Bits::LDS);
        usize::from(optional || to_lds)
    }

    /// Calls `visit` with the registers among those operands of the row that have a bit in `which`.
    #[inline]
    fn each_register(&self, which: u8, mut visit: impl FnMut(RegRange)) {
        let mut left = which >> self.skipped();
        while left != 0 {
            // Operands that are not in use are no registers.
            if let Some(Operand::Reg(range)) = self.operands.get(left.trailing_zeros() as usize) {
                visit(*range);
            }
            left &= left - 1;
        }
    }

    /// The operands that are read, immediates included, in printed order.
    #[inline]
    pub fn read_operands(&self) -> impl Iterator<Item = &Operand> {
        let read = self.roles().read >> self.skipped();
        let is_source =
            move |at: u32, operand: &Operand| read >> at & 1 != 0 || matches!(operand, Operand::Imm(_));
        (0u32..)
            .zip(self.operands())
            .filter(move |(at, operand)| is_source(*at, operand))
            .map(|(_, operand)| operand)
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

    /// Memory access of the instruction; loads with `lds` are loads to LDS, `gds` is a separate space.
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

    /// Whether it loads from memory straight into the LDS.
    pub fn loads_to_lds(&self) -> bool {
        self.mem().is_some_and(|mem| mem.access == Access::LoadToLds)
    }

    /// Whether `vmcnt` counts it.
    pub fn counts_as_vector_memory(&self) -> bool {
        let info = self.info();
        // Writing the L2 back is waited for like a store.
        matches!(info.class, Class::VmemLoad | Class::VmemStore | Class::VmemAtomic)
            || info.name == "buffer_wbl2"
    }

    /// How many vector memory instructions may be outstanding behind it, where it waits for some.
    pub fn waits_for_vector_memory(&self) -> Option<u8> {
        const NO_WAIT: u32 = 63;
        if self.info().name != "s_waitcnt" {
            return None;
        }
        let word = self.operands().iter().find_map(|operand| match *operand {
            Operand::Imm(value) => Some(value as u32),
            Operand::Literal(value) => Some(value),
            _ => None,
        })?;
        let count = word & 15 | word >> 10 & 0x30;
        (count < NO_WAIT).then_some(count as u8)
    }

    /// Whether the destination keeps some of its old bits or lanes' bits, so that the instruction also reads
    /// it.
    #[inline]
    pub(crate) fn writes_part(&self) -> bool {
        if self.roles().traits & PARTIAL != 0 {
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
    pub(crate) fn implicit_reads(&self) -> Implicit {
        let reads = self.roles().reads;
        if self.mods.bits.intersects(Bits::LDS | Bits::GDS) { reads | Implicit::M0 } else { reads }
    }

    /// Registers the instruction writes without naming them.
    #[inline]
    pub fn implicit_writes(&self) -> Implicit {
        self.roles().writes
    }

    /// Calls `visit` with every run of registers that the instruction's operands read.
    #[inline]
    pub(crate) fn visit_operand_reads(&self, mut visit: impl FnMut(RegRange)) {
        let roles = self.roles();
        self.each_register(roles.read, &mut visit);
        if self.writes_part() {
            self.each_register(roles.only_written, |range| {
                if matches!(range.file, RegFile::Vgpr | RegFile::Agpr) {
                    visit(range);
                }
            });
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
        let roles = self.roles();
        self.each_register(roles.written, &mut visit);
        // Buffer and scalar atomics give the old value back in their data registers.
        if roles.traits & ATOMIC != 0
            && matches!(self.encoding, Encoding::Mubuf | Encoding::Smem)
            && self.mods.bits.contains(Bits::SC0)
            && let Some(Operand::Reg(range)) = self.operands().first()
        {
            let count =
                if self.info().name.contains("cmpswap") { range.count.div_ceil(2) } else { range.count };
            visit(RegRange { count, ..*range });
        }
    }

    /// The destination registers of a vector or scalar result: the first written operand.
    #[inline]
    pub fn destination(&self) -> Option<RegRange> {
        let mut left = self.roles().written >> self.skipped();
        while left != 0 {
            if let Some(Operand::Reg(range)) = self.operands.get(left.trailing_zeros() as usize) {
                return Some(*range);
            }
            left &= left - 1;
        }
        None
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

/// Registers of each flag.
pub(crate) const IMPLICIT: [(Implicit, RegRange); 6] = [
    (Implicit::VCC, RegRange::new(RegFile::Vcc, 0, 2)),
    (Implicit::EXEC, RegRange::new(RegFile::Exec, 0, 2)),
    (Implicit::SCC, RegRange::new(RegFile::SrcScc, 0, 1)),
    (Implicit::M0, RegRange::new(RegFile::M0, 0, 1)),
    (Implicit::MODE, RegRange::new(RegFile::Mode, 0, 1)),
    (Implicit::FLAT_SCRATCH, RegRange::new(RegFile::FlatScratch, 0, 2)),
];
