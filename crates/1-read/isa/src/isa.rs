//! Which instruction set a code object is in, and the opcodes' lookup tables.
//!
//! An opcode has one row for all targets; a target is a bit in the row's forms.

use crate::form::Form;
use crate::generated::tables::{BY_NAME, FORMS, OPS};
use crate::inst::{Encoding, Op, OpInfo};
use crate::lookup::{LOOKUP, SLOTS, slot};
use std::cmp::Ordering;

/// Index of an opcode's first form; the next entry is the end.
static OP_FORMS: [u16; OPS.len() + 1] = {
    let mut starts = [FORMS.len() as u16; OPS.len() + 1];
    let mut at = FORMS.len();
    while at > 0 {
        at -= 1;
        starts[FORMS[at].op as usize] = at as u16;
    }
    starts
};

/// Instruction set of a target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Isa {
    /// MI100.
    Gfx908,
    /// MI200.
    Gfx90a,
    /// MI300; gfx940 and gfx941 are the same.
    Gfx942,
    /// MI350.
    Gfx950,
}

impl Isa {
    /// All instruction sets.
    pub const ALL: [Isa; 4] = [Isa::Gfx908, Isa::Gfx90a, Isa::Gfx942, Isa::Gfx950];

    /// The instruction set of a processor name, features such as `:xnack+` allowed after it. Generic code is
    /// in part of the instruction set of a GPU that it runs on, or of one that has the same instructions and
    /// more.
    pub fn for_processor(name: &str) -> Option<Isa> {
        match name.split(':').next().unwrap_or(name) {
            "gfx908" | "gfx9-generic" => Some(Isa::Gfx908),
            "gfx90a" => Some(Isa::Gfx90a),
            "gfx940" | "gfx941" | "gfx942" | "gfx9-4-generic" => Some(Isa::Gfx942),
            "gfx950" => Some(Isa::Gfx950),
            _ => None,
        }
    }

    /// Name of the processor whose text is printed.
    pub const fn processor(self) -> &'static str {
        match self {
            Isa::Gfx908 => "gfx908",
            Isa::Gfx90a => "gfx90a",
            Isa::Gfx942 => "gfx942",
            Isa::Gfx950 => "gfx950",
        }
    }

    /// Cache bits are `sc0 sc1 nt` and not `glc slc scc`.
    pub const fn has_sc_bits(self) -> bool {
        matches!(self, Isa::Gfx942 | Isa::Gfx950)
    }

    /// Vector and accumulation registers are one file: memory instructions reach both, matrix instructions
    /// take either.
    pub(crate) const fn has_unified_registers(self) -> bool {
        !matches!(self, Isa::Gfx908)
    }

    /// The three work-item numbers of a lane are packed in one register.
    pub const fn packs_work_items(self) -> bool {
        !matches!(self, Isa::Gfx908)
    }

    /// The hardware adds the base of a wave's scratch: no register holds it.
    pub const fn has_architected_scratch(self) -> bool {
        matches!(self, Isa::Gfx942 | Isa::Gfx950)
    }

    /// FP8 and BF8 are the OCP formats and not the FNUZ ones.
    pub const fn has_ocp_fp8(self) -> bool {
        matches!(self, Isa::Gfx950)
    }

    /// Floating-point atomics of memory can return the old value.
    pub(crate) const fn returns_float_atomics(self) -> bool {
        !matches!(self, Isa::Gfx908)
    }

    /// Vector memory instructions have a third cache bit: `scc` or `sc1`.
    pub(crate) const fn has_third_cache_bit(self) -> bool {
        !matches!(self, Isa::Gfx908)
    }

    /// DPP has `row_newbcast`, the only control that doubles take.
    pub(crate) const fn has_row_newbcast(self) -> bool {
        !matches!(self, Isa::Gfx908)
    }

    /// LDS instructions other than `ds_gws_*` can address the global data share.
    pub(crate) const fn has_gds(self) -> bool {
        matches!(self, Isa::Gfx908)
    }

    /// Numbers of hardware registers end before this one: later ones have no name.
    pub(crate) const fn hardware_registers(self) -> u32 {
        if self.has_sc_bits() { 25 } else { 20 }
    }

    /// Bit of this target in a form's set.
    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Form of an opcode number in an opcode space, if the target has it.
    #[inline]
    pub(crate) fn form(self, encoding: Encoding, opcode: u32) -> Option<&'static Form> {
        let index = slot(encoding) + opcode as usize;
        debug_assert!(index < SLOTS);
        FORMS.get(usize::from(*LOOKUP[self as usize].get(index)?))
    }

    /// Whether the target has the opcode in any encoding.
    pub fn has(self, op: Op) -> bool {
        op.forms().iter().any(|form| form.targets & self.bit() != 0)
    }

    /// Whether the target has the opcode in the given encoding (SDWA and DPP forms included).
    pub fn has_encoding(self, op: Op, encoding: Encoding) -> bool {
        op.form(self, encoding).is_some()
    }

    /// Encodings of the opcode on this target, in the table's order; SDWA and DPP forms not included.
    pub fn encodings(self, op: Op) -> impl Iterator<Item = Encoding> {
        op.forms().iter().filter(move |form| form.targets & self.bit() != 0).map(|form| form.encoding)
    }
}

impl Op {
    /// The opcode of bytes that do not encode an instruction.
    pub(crate) const UNKNOWN: Op = Op(u16::MAX);

    /// Number of opcodes.
    pub const COUNT: u16 = OPS.len() as u16;

    /// The opcode's row.
    pub fn info(self) -> &'static OpInfo {
        OPS.get(usize::from(self.0)).unwrap_or(&crate::form::UNKNOWN_INFO)
    }

    /// The opcode of a mnemonic, found at compile time.
    ///
    /// # Panics
    /// Without such a mnemonic. In a constant that is an error of the compiler.
    pub const fn named(name: &str) -> Op {
        match Op::find(b"", name.as_bytes()) {
            Some(op) => op,
            None => panic!("no row has this mnemonic"),
        }
    }

    /// The opcode whose mnemonic is `prefix` and `rest`.
    pub const fn find(prefix: &[u8], rest: &[u8]) -> Option<Op> {
        let (mut low, mut high) = (0, BY_NAME.len());
        while low < high {
            let middle = (low + high) / 2;
            let index = BY_NAME[middle];
            match compare(OPS[index as usize].name.as_bytes(), prefix, rest) {
                Ordering::Equal => return Some(Op(index)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The opcode's row; unlike [`Op::info`] only for opcodes of the table, and at compile time.
    pub const fn row(self) -> &'static OpInfo {
        &OPS[self.0 as usize]
    }

    /// The opcode of a mnemonic without encoding suffix.
    pub fn by_name(name: &str) -> Option<Op> {
        let found = BY_NAME.binary_search_by(|&index| OPS[usize::from(index)].name.cmp(name)).ok()?;
        Some(Op(BY_NAME[found]))
    }

    /// All opcodes in table order.
    pub fn all() -> impl Iterator<Item = Op> {
        (0..Op::COUNT).map(Op)
    }

    pub(crate) fn forms(self) -> &'static [Form] {
        let index = usize::from(self.0);
        match (OP_FORMS.get(index), OP_FORMS.get(index + 1)) {
            (Some(&first), Some(&end)) => &FORMS[usize::from(first)..usize::from(end)],
            _ => &[],
        }
    }

    /// The form of this opcode in an encoding on a target.
    pub(crate) fn form(self, isa: Isa, encoding: Encoding) -> Option<&'static Form> {
        let (base, extension) = match encoding {
            Encoding::Vop1Sdwa => (Encoding::Vop1, 1),
            Encoding::Vop2Sdwa => (Encoding::Vop2, 1),
            Encoding::VopcSdwa => (Encoding::Vopc, 1),
            Encoding::Vop1Dpp => (Encoding::Vop1, 2),
            Encoding::Vop2Dpp => (Encoding::Vop2, 2),
            other => (other, 0),
        };
        self.forms().iter().find(|form| {
            form.encoding == base
                && match extension {
                    1 => form.sdwa_targets & isa.bit() != 0,
                    2 => form.dpp_targets & isa.bit() != 0,
                    _ => form.targets & isa.bit() != 0,
                }
        })
    }

    /// Whether the mnemonic carries an encoding suffix (`_e32`, `_e64`) in this encoding.
    pub(crate) fn has_suffix(self, isa: Isa, encoding: Encoding) -> bool {
        match encoding {
            Encoding::Vop1Sdwa
            | Encoding::Vop2Sdwa
            | Encoding::VopcSdwa
            | Encoding::Vop1Dpp
            | Encoding::Vop2Dpp => true,
            _ => self.form(isa, encoding).is_some_and(|form| form.suffix),
        }
    }
}

/// Compares a name with `prefix` and `rest`, put together.
const fn compare(name: &[u8], prefix: &[u8], rest: &[u8]) -> Ordering {
    let length = prefix.len() + rest.len();
    let mut at = 0;
    while at < name.len() && at < length {
        let other = if at < prefix.len() { prefix[at] } else { rest[at - prefix.len()] };
        if name[at] != other {
            return if name[at] < other { Ordering::Less } else { Ordering::Greater };
        }
        at += 1;
    }
    if name.len() == length {
        Ordering::Equal
    } else if name.len() < length {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}
