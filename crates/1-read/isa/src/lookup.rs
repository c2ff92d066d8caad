//! Lookup tables from opcode numbers to forms, one per target.

use crate::generated::tables::FORMS;
use crate::inst::Encoding;

/// First index of an encoding's opcode space in a lookup table. Encodings that share a space share the index.
pub(crate) const fn slot(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Sop2 => 0,
        Encoding::Sopk => 128,
        Encoding::Sop1 => 160,
        Encoding::Sopc => 416,
        Encoding::Sopp => 544,
        Encoding::Smem => 672,
        Encoding::Vop2 | Encoding::Vop2Sdwa | Encoding::Vop2Dpp => 928,
        Encoding::Vop1 | Encoding::Vop1Sdwa | Encoding::Vop1Dpp => 992,
        Encoding::Vopc | Encoding::VopcSdwa => 1248,
        Encoding::Vop3 | Encoding::Vop3Sd => 1504,
        Encoding::Vop3p | Encoding::Mai => 2528,
        Encoding::Ds => 2656,
        Encoding::Flat => 2912,
        Encoding::Scratch => 3040,
        Encoding::Global => 3168,
        Encoding::Mubuf => 3296,
        Encoding::Mtbuf => 3424,
        Encoding::Vop3px2 => 3440,
        Encoding::Unknown => SLOTS,
    }
}

/// Size of a lookup table.
pub(crate) const SLOTS: usize = 3568;

/// Per target, the form of every opcode of every space; `u16::MAX` if there is none.
pub(crate) static LOOKUP: [[u16; SLOTS]; 4] = lookup();

const fn lookup() -> [[u16; SLOTS]; 4] {
    let mut table = [[u16::MAX; SLOTS]; 4];
    let mut index = 0;
    while index < FORMS.len() {
        let form = &FORMS[index];
        let at = slot(form.encoding) + form.opcode as usize;
        let mut target = 0;
        while target < 4 {
            if form.targets & (1 << target) != 0 {
                assert!(table[target][at] == u16::MAX, "two forms share an opcode");
                table[target][at] = index as u16;
            }
            target += 1;
        }
        index += 1;
    }
    table
}
