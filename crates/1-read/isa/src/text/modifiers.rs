//! The modifiers after the operands: `offset:16`, `glc`, `op_sel:[0,1]`, `row_shl:1`, `dst_sel:BYTE_0` …
//!
//! Modifiers are collected with the fact that they were written, because the defaults of absent ones
//! (`op_sel_hi`, the SDWA selections) depend on the encoding chosen later.

use super::Problem;
use super::cursor::Cursor;
use super::expression::{self, Symbols, Value};
use super::names;
use crate::mtbuf::{DATA_FORMATS, NUMBER_FORMATS};
use crate::{Bits, Dpp};

/// Modifiers after the operands; `None` if not written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Modifiers {
    pub(crate) bits: Bits,
    pub(crate) omod: u8,
    pub(crate) offset: Option<i64>,
    pub(crate) offset0: Option<i64>,
    pub(crate) offset1: Option<i64>,
    pub(crate) op_sel: Option<u8>,
    pub(crate) op_sel_hi: Option<u8>,
    pub(crate) neg_lo: u8,
    pub(crate) neg_hi: u8,
    pub(crate) cbsz: u8,
    pub(crate) abid: u8,
    pub(crate) blgp: u8,
    /// `bitop3:`
    pub(crate) bitop3: u8,
    /// MTBUF data and number format.
    pub(crate) dfmt: Option<u8>,
    pub(crate) nfmt: Option<u8>,
    pub(crate) dpp: Option<Dpp>,
    pub(crate) row_mask: Option<u8>,
    pub(crate) bank_mask: Option<u8>,
    pub(crate) bound_ctrl: bool,
    /// `fi:1` of the lane swaps.
    pub(crate) fi: bool,
    pub(crate) dst_sel: Option<u8>,
    pub(crate) dst_unused: Option<u8>,
    pub(crate) src0_sel: Option<u8>,
    pub(crate) src1_sel: Option<u8>,
}

/// Modifiers that are a word.
const WORDS: [(&str, Bits); 13] = [
    ("clamp", Bits::CLAMP),
    ("glc", Bits::SC0),
    ("sc0", Bits::SC0),
    ("slc", Bits::NT),
    ("nt", Bits::NT),
    ("scc", Bits::SC1),
    ("sc1", Bits::SC1),
    ("offen", Bits::OFFEN),
    ("idxen", Bits::IDXEN),
    ("lds", Bits::LDS),
    ("gds", Bits::GDS),
    ("tfe", Bits::TFE),
    ("nv", Bits::NV),
];

/// `dpp_ctrl` of modifiers that name a lane exchange: name, smallest and largest argument, code of the
/// smallest. Words without an argument have an empty range.
const EXCHANGES: [(&str, i64, i64, u16); 12] = [
    ("row_shl", 1, 15, 0x101),
    ("row_shr", 1, 15, 0x111),
    ("row_ror", 1, 15, 0x121),
    ("wave_shl", 1, 1, 0x130),
    ("wave_rol", 1, 1, 0x134),
    ("wave_shr", 1, 1, 0x138),
    ("wave_ror", 1, 1, 0x13c),
    ("row_mirror", 0, -1, 0x140),
    ("row_half_mirror", 0, -1, 0x141),
    ("row_bcast", 15, 15, 0x142),
    ("row_bcast", 31, 31, 0x143),
    ("row_newbcast", 0, 15, 0x150),
];

/// SDWA selections.
const SELECTIONS: [&str; 7] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"];

/// SDWA treatment of the unwritten part of the destination.
const UNUSED: [&str; 3] = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"];

impl Modifiers {
    /// Reads one modifier if the text continues with one; `false` (and nothing taken) if not.
    pub(crate) fn read(&mut self, cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<bool, Problem> {
        cursor.next_visible();
        let at = cursor.at();
        let name = cursor.name();
        if name.is_empty() {
            return Ok(false);
        }
        let is_known = if cursor.peek() == Some(b':') {
            cursor.take(b':');
            self.read_value(name, cursor, symbols)? || self.read_lane_value(name, cursor, symbols)?
        } else {
            self.read_word(name)?
        };
        if !is_known {
            cursor.go(at);
        }
        Ok(is_known)
    }

    /// Reads a modifier without a value; `false` if it is none.
    fn read_word(&mut self, name: &str) -> Result<bool, Problem> {
        if let Some((_, bit)) = WORDS.iter().find(|(word, _)| *word == name) {
            self.bits |= *bit;
        } else if let Some(row) = EXCHANGES.iter().find(|row| row.0 == name && row.1 > row.2) {
            self.exchange(row.3);
        } else if name == "bound_ctrl" {
            return Err(Problem::Expected(":"));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads the value of a modifier of sources, results or memory; `false` (and nothing taken) if it is
    /// another.
    fn read_value(
        &mut self,
        name: &str,
        cursor: &mut Cursor<'_>,
        symbols: Symbols<'_>,
    ) -> Result<bool, Problem> {
        let mut number = |low: i64, high: i64| value(cursor, symbols, low, high);
        match name {
            "offset" => {
                cursor.next_visible();
                let at = cursor.at();
                if cursor.name() == "swizzle" {
                    self.offset = Some(names::swizzle(cursor, symbols)?);
                } else {
                    cursor.go(at);
                    self.offset = Some(value(cursor, symbols, -(1 << 24), 1 << 24)?);
                }
            }
            "offset0" => self.offset0 = Some(number(0, 255)?),
            "offset1" => self.offset1 = Some(number(0, 255)?),
            "op_sel" => self.op_sel = Some(flags(cursor, symbols)?),
            "op_sel_hi" => self.op_sel_hi = Some(flags(cursor, symbols)?),
            "neg_lo" => self.neg_lo = flags(cursor, symbols)?,
            "neg_hi" => self.neg_hi = flags(cursor, symbols)?,
            // f64 matrix instructions spell `blgp` as negations.
            "neg" => self.blgp = flags(cursor, symbols)?,
            "cbsz" => self.cbsz = number(0, 7)? as u8,
            "abid" => self.abid = number(0, 15)? as u8,
            "blgp" => self.blgp = number(0, 7)? as u8,
            "bitop3" => self.bitop3 = number(0, 255)? as u8,
            "mul" => {
                self.omod = match number(1, 4)? {
                    1 => 0,
                    2 => 1,
                    4 => 2,
                    _ => return Err(Problem::OutOfRange),
                }
            }
            "div" => self.omod = number(1, 2)? as u8 * 3 - 3,
            "dfmt" => {
                self.dfmt = Some(number(0, 15)? as u8);
                cursor.take(b',');
            }
            "nfmt" => {
                self.nfmt = Some(number(0, 7)? as u8);
                cursor.take(b',');
            }
            "format" => self.format(cursor, symbols)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads the value of a modifier of DPP or SDWA; `false` (and nothing taken) if it is another.
    fn read_lane_value(
        &mut self,
        name: &str,
        cursor: &mut Cursor<'_>,
        symbols: Symbols<'_>,
    ) -> Result<bool, Problem> {
        let mut number = |low: i64, high: i64| value(cursor, symbols, low, high);
        match name {
            "row_mask" => self.row_mask = Some(number(0, 15)? as u8),
            "bank_mask" => self.bank_mask = Some(number(0, 15)? as u8),
            // Both spellings mean the bit is set.
            "bound_ctrl" => self.bound_ctrl = number(-1, 1)? >= 0,
            "fi" => self.fi = number(0, 1)? == 1,
            "quad_perm" => {
                let lanes = list(cursor, symbols, 0, 3)?;
                if lanes.1 != 4 {
                    return Err(Problem::BadOperand);
                }
                let code = lanes.0[..4].iter().rev().fold(0, |code, lane| code << 2 | *lane as u16);
                self.exchange(code);
            }
            "dst_sel" => self.dst_sel = Some(word(cursor, symbols, &SELECTIONS)?),
            "src0_sel" => self.src0_sel = Some(word(cursor, symbols, &SELECTIONS)?),
            "src1_sel" => self.src1_sel = Some(word(cursor, symbols, &SELECTIONS)?),
            "dst_unused" => self.dst_unused = Some(word(cursor, symbols, &UNUSED)?),
            _ => {
                let mut known = EXCHANGES.iter().filter(|row| row.0 == name && row.1 <= row.2).peekable();
                if known.peek().is_none() {
                    return Ok(false);
                }
                let argument = number(0, 31)?;
                let row = known.find(|row| (row.1..=row.2).contains(&argument)).ok_or(Problem::OutOfRange)?;
                self.exchange(row.3 + (argument - row.1) as u16);
            }
        }
        Ok(true)
    }

    /// Some modifier that only DPP has was written.
    pub(crate) fn has_dpp(&self) -> bool {
        self.dpp.is_some() || self.row_mask.is_some() || self.bank_mask.is_some() || self.bound_ctrl
    }

    /// Some modifier that only SDWA has was written.
    pub(crate) fn has_sdwa(&self) -> bool {
        [self.dst_sel, self.dst_unused, self.src0_sel, self.src1_sel].iter().any(Option::is_some)
    }

    fn exchange(&mut self, ctrl: u16) {
        self.dpp = Some(Dpp { ctrl, row_mask: 15, bank_mask: 15, bound_ctrl: false });
    }

    /// `format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]`, `format:[32,FLOAT]` or the seven-bit code.
    fn format(&mut self, cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<(), Problem> {
        if !cursor.take(b'[') {
            let code = value(cursor, symbols, 0, 127)? as u8;
            (self.dfmt, self.nfmt) = (Some(code & 15), Some(code >> 4));
            return Ok(());
        }
        loop {
            cursor.next_visible();
            let name = cursor.name();
            let position = |table: &[&str], rest: &str| table.iter().position(|known| *known == rest);
            if let Some(rest) = name.strip_prefix("BUF_DATA_FORMAT_") {
                self.dfmt = Some(position(&DATA_FORMATS, rest).ok_or(Problem::UnknownName)? as u8);
            } else if let Some(rest) = name.strip_prefix("BUF_NUM_FORMAT_") {
                self.nfmt = Some(position(&NUMBER_FORMATS, rest).ok_or(Problem::UnknownName)? as u8);
            } else {
                return Err(Problem::UnknownName);
            }
            if !cursor.take(b',') {
                break;
            }
        }
        if cursor.take(b']') { Ok(()) } else { Err(Problem::Expected("]")) }
    }
}

/// A number in a range.
fn value(cursor: &mut Cursor<'_>, symbols: Symbols<'_>, low: i64, high: i64) -> Result<i64, Problem> {
    match expression::read(cursor, symbols) {
        Some(Value::Known(value)) if (low..=high).contains(&value) => Ok(value),
        Some(Value::Known(_)) => Err(Problem::OutOfRange),
        Some(Value::Open) => Err(Problem::UnknownName),
        None => Err(Problem::BadNumber),
    }
}

/// `[1,0,1]`: numbers of a range, and how many.
fn list(
    cursor: &mut Cursor<'_>,
    symbols: Symbols<'_>,
    low: i64,
    high: i64,
) -> Result<([u8; 5], usize), Problem> {
    if !cursor.take(b'[') {
        return Err(Problem::Expected("["));
    }
    let mut all = [0; 5];
    for (count, slot) in all.iter_mut().enumerate() {
        *slot = value(cursor, symbols, low, high)? as u8;
        if cursor.take(b']') {
            return Ok((all, count + 1));
        }
        if !cursor.take(b',') {
            return Err(Problem::Expected(","));
        }
    }
    Err(Problem::Expected("]"))
}

/// `[1,0,1]` as bits, the first lowest.
fn flags(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<u8, Problem> {
    let (all, count) = list(cursor, symbols, 0, 1)?;
    Ok(all[..count].iter().rev().fold(0, |bits, bit| bits << 1 | bit))
}

/// A word of a table, or its number.
fn word(cursor: &mut Cursor<'_>, symbols: Symbols<'_>, table: &[&str]) -> Result<u8, Problem> {
    cursor.next_visible();
    let at = cursor.at();
    let name = cursor.name();
    if let Some(code) = table.iter().position(|known| *known == name) {
        return Ok(code as u8);
    }
    cursor.go(at);
    Ok(value(cursor, symbols, 0, table.len() as i64 - 1)? as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Modifiers, Problem> {
        let mut cursor = Cursor::new(text);
        let mut all = Modifiers::default();
        while all.read(&mut cursor, &|_| None)? {}
        assert_eq!(cursor.rest(), "", "{text}");
        Ok(all)
    }

    #[test]
    fn lane_exchanges_have_their_codes() {
        let cases = [
            ("quad_perm:[0,1,2,3]", 0xe4),
            ("quad_perm:[3,2,1,0]", 0x1b),
            ("row_shl:1", 0x101),
            ("row_shr:15", 0x11f),
            ("row_ror:8", 0x128),
            ("wave_shl:1", 0x130),
            ("wave_ror:1", 0x13c),
            ("row_mirror", 0x140),
            ("row_half_mirror", 0x141),
            ("row_bcast:15", 0x142),
            ("row_bcast:31", 0x143),
            ("row_newbcast:7", 0x157),
        ];
        for (text, ctrl) in cases {
            assert_eq!(read(text).ok().and_then(|all| all.dpp).map(|dpp| dpp.ctrl), Some(ctrl), "{text}");
        }
        assert_eq!(read("row_shl:16").err(), Some(Problem::OutOfRange));
        assert_eq!(read("row_bcast:16").err(), Some(Problem::OutOfRange));
        assert_eq!(read("quad_perm:[0,1]").err(), Some(Problem::BadOperand));
        assert_eq!(read("quad_perm:[0,1,2,3,0,1]").err(), Some(Problem::Expected("]")));
    }

    #[test]
    fn modifiers_are_collected() -> Result<(), Problem> {
        let all = read("offen offset:4095 glc slc lds")?;
        assert_eq!((all.bits, all.offset), (Bits::OFFEN | Bits::SC0 | Bits::NT | Bits::LDS, Some(4095)));
        let all = read("offset0:1 offset1:255 gds")?;
        assert_eq!((all.offset0, all.offset1, all.bits), (Some(1), Some(255), Bits::GDS));
        let all = read("op_sel:[0,1,0,1] op_sel_hi:[1,0] neg_lo:[1,1] neg_hi:[0,1] clamp mul:4")?;
        assert_eq!((all.op_sel, all.op_sel_hi, all.neg_lo, all.neg_hi), (Some(0b1010), Some(0b01), 3, 2));
        assert_eq!((all.bits, all.omod), (Bits::CLAMP, 2));
        let all = read("dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD")?;
        assert_eq!(
            (all.dst_sel, all.dst_unused, all.src0_sel, all.src1_sel),
            (Some(1), Some(2), Some(5), Some(6))
        );
        assert!(all.has_sdwa() && !all.has_dpp());
        let all = read("format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]")?;
        assert_eq!((all.dfmt, all.nfmt), (Some(4), Some(7)));
        let all = read("dfmt:4, nfmt:7")?;
        assert_eq!((all.dfmt, all.nfmt), (Some(4), Some(7)));
        let all = read("row_mask:0xa bank_mask:0x1 bound_ctrl:0")?;
        assert_eq!((all.row_mask, all.bank_mask, all.bound_ctrl), (Some(10), Some(1), true));
        let all = read("offset:swizzle(SWAP,16)")?;
        assert_eq!(all.offset, Some(0x401f));
        assert_eq!(read("div:2")?.omod, 3);
        Ok(())
    }
}
