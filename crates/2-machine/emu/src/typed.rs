//! Typed buffer formats: number of components, bits per component, number format.
//!
//! The one idea to keep in mind: memory holds an element as one run of bits; a register holds one component, as a
//! float for all number formats except integers. The 16-bit forms of the instructions pack two components in a
//! register.

use crate::half::{f16_to_f32, f32_to_f16};
use crate::lanes::Row;

/// A format, and its representation in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Typed {
    /// Bits of the components, lowest first; 0 for absent ones.
    bits: [u8; 4],
    number: Number,
    /// Components in registers.
    components: u8,
    /// Registers hold two components of 16 bits.
    short: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Float,
}

/// Bits of the components by code of the data format; none for invalid codes.
const DATA: [[u8; 4]; 16] = [
    [0; 4],
    [8, 0, 0, 0],
    [16, 0, 0, 0],
    [8, 8, 0, 0],
    [32, 0, 0, 0],
    [16, 16, 0, 0],
    [11, 11, 10, 0],
    [10, 11, 11, 0],
    [2, 10, 10, 10],
    [10, 10, 10, 2],
    [8, 8, 8, 8],
    [32, 32, 0, 0],
    [16, 16, 16, 16],
    [32, 32, 32, 0],
    [32, 32, 32, 32],
    [0; 4],
];

const NUMBERS: [Option<Number>; 8] = [
    Some(Number::Unorm),
    Some(Number::Snorm),
    Some(Number::Uscaled),
    Some(Number::Sscaled),
    Some(Number::Uint),
    Some(Number::Sint),
    None,
    Some(Number::Float),
];

impl Typed {
    /// Format of an instruction: codes of data and number format, and the mnemonic after `load_format_` or
    /// `store_format_`. `None` for invalid codes.
    pub(crate) fn new(data: u8, number: u8, form: &str) -> Option<Typed> {
        let (short, form) = match form.strip_prefix("d16_") {
            Some(form) => (true, form),
            None => (false, form),
        };
        let components = ["x", "xy", "xyz", "xyzw"].iter().position(|name| *name == form)? as u8 + 1;
        let bits = *DATA.get(usize::from(data))?;
        let number = (*NUMBERS.get(usize::from(number))?)?;
        let floats = bits.iter().all(|bits| matches!(bits, 0 | 10 | 11 | 16 | 32)) && data != 8 && data != 9;
        let wide = bits[0] == 32;
        let fits = match number {
            Number::Float => floats,
            Number::Uint | Number::Sint => true,
            Number::Unorm | Number::Snorm | Number::Uscaled | Number::Sscaled => !wide,
        };
        (bits[0] > 0 && fits).then_some(Typed { bits, number, components, short })
    }

    /// Bytes of an element in memory.
    pub(crate) fn bytes(self) -> u32 {
        self.bits.iter().map(|bits| u32::from(*bits)).sum::<u32>() / 8
    }

    /// Registers of an element.
    #[cfg(test)]
    fn rows(self) -> usize {
        if self.short { usize::from(self.components).div_ceil(2) } else { usize::from(self.components) }
    }

    /// Converts an element in memory to components in registers; absent components are 0, the fourth is 1.
    pub(crate) fn unpack(self, raw: &[Row; 4], lane: usize, out: &mut [Row]) {
        let mut at = 0;
        for component in 0..4 {
            let bits = u32::from(self.bits[component]);
            let value = match bits {
                0 if component == 3 => self.one(),
                0 => 0,
                _ => self.component(field(raw, lane, at, bits), bits),
            };
            at += bits;
            if component < usize::from(self.components) {
                self.set(out, lane, component, value);
            }
        }
    }

    /// Converts components in registers to an element in memory.
    pub(crate) fn pack(self, rows: &[Row], lane: usize, raw: &mut [Row; 4]) {
        let mut at = 0;
        for component in 0..4 {
            let bits = u32::from(self.bits[component]);
            if bits == 0 {
                continue;
            }
            let value =
                if component < usize::from(self.components) { self.get(rows, lane, component) } else { 0 };
            let code = u64::from(self.code(value, bits)) << (at % 32);
            let word = (at / 32) as usize;
            raw[word].0[lane] |= code as u32;
            if let Some(next) = raw.get_mut(word + 1) {
                next.0[lane] |= (code >> 32) as u32;
            }
            at += bits;
        }
    }

    fn is_integer(self) -> bool {
        matches!(self.number, Number::Uint | Number::Sint)
    }

    fn one(self) -> u32 {
        if self.is_integer() { 1 } else { 1f32.to_bits() }
    }

    /// A component as 32 bits: an integer or an f32.
    fn component(self, code: u32, bits: u32) -> u32 {
        let signed = (code << (32 - bits)) as i32 >> (32 - bits);
        let most = (1u64 << bits) as f32 - 1.0;
        let value = match self.number {
            Number::Uint => return code,
            Number::Sint => return signed as u32,
            Number::Unorm => code as f32 / most,
            // The most negative code is also -1.
            Number::Snorm => (signed as f32 / ((1u64 << (bits - 1)) as f32 - 1.0)).max(-1.0),
            Number::Uscaled => code as f32,
            Number::Sscaled => signed as f32,
            Number::Float => match bits {
                32 => return code,
                16 => f16_to_f32(code as u16),
                // Formats of 11 and 10 bits: f16 without sign and with fewer mantissa bits.
                bits => f16_to_f32((code << (15 - bits)) as u16),
            },
        };
        value.to_bits()
    }

    /// Code of a component given as 32 bits: an integer or an f32.
    fn code(self, value: u32, bits: u32) -> u32 {
        let mask = if bits == 32 { u32::MAX } else { (1 << bits) - 1 };
        let float = f32::from_bits(value);
        // Formats without NaN get 0.
        let number = if float.is_nan() { 0.0 } else { float };
        let most = mask as f32;
        let half = (mask >> 1) as f32;
        let code = match self.number {
            Number::Uint => value.min(mask),
            Number::Sint => (value as i32).clamp(-((mask >> 1) as i32) - 1, (mask >> 1) as i32) as u32,
            Number::Unorm => (number.clamp(0.0, 1.0) * most).round_ties_even() as u32,
            Number::Snorm => (number.clamp(-1.0, 1.0) * half).round_ties_even() as i32 as u32,
            Number::Uscaled => number.clamp(0.0, most) as u32,
            Number::Sscaled => number.clamp(-half - 1.0, half) as i32 as u32,
            Number::Float => match bits {
                32 => value,
                16 => u32::from(f32_to_f16(float)),
                bits => {
                    // Negative values become 0; excess mantissa bits are truncated.
                    let half = f32_to_f16(if float < 0.0 { 0.0 } else { float });
                    u32::from(half & 0x7fff) >> (15 - bits)
                }
            },
        };
        code & mask
    }

    fn set(self, out: &mut [Row], lane: usize, component: usize, value: u32) {
        if !self.short {
            if let Some(row) = out.get_mut(component) {
                row.0[lane] = value;
            }
            return;
        }
        let half = match self.is_integer() {
            true => value & 0xffff,
            false => u32::from(f32_to_f16(f32::from_bits(value))),
        };
        if let Some(row) = out.get_mut(component / 2) {
            let shift = 16 * (component % 2) as u32;
            row.0[lane] = row.0[lane] & !(0xffff << shift) | half << shift;
        }
    }

    fn get(self, rows: &[Row], lane: usize, component: usize) -> u32 {
        if !self.short {
            return rows.get(component).map_or(0, |row| row.0[lane]);
        }
        let word = rows.get(component / 2).map_or(0, |row| row.0[lane]);
        let half = (word >> (16 * (component % 2))) as u16;
        match self.number {
            Number::Uint => u32::from(half),
            Number::Sint => i32::from(half as i16) as u32,
            _ => f16_to_f32(half).to_bits(),
        }
    }
}

/// `bits` bits of a lane's element, from bit `at`.
fn field(raw: &[Row; 4], lane: usize, at: u32, bits: u32) -> u32 {
    let word = (at / 32) as usize;
    let low = u64::from(raw[word].0[lane]);
    let high = raw.get(word + 1).map_or(0, |row| u64::from(row.0[lane]));
    ((low | high << 32) >> (at % 32) & ((1u64 << bits) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANE: usize = 5;

    fn f(value: f32) -> u32 {
        value.to_bits()
    }

    /// (data, number, form, words in memory, registers)
    type Case = (u8, u8, &'static str, &'static [u32], Vec<u32>);

    #[test]
    fn components_are_those_of_the_formats() {
        let cases: Vec<Case> = vec![
            // 8_8_8_8: unorm, snorm, uscaled, sscaled, uint, sint.
            (10, 0, "xyzw", &[0xff00_8033], vec![f(0.2), f(128.0 / 255.0), f(0.0), f(1.0)]),
            (10, 1, "xyzw", &[0x817f_8140], vec![f(64.0 / 127.0), f(-1.0), f(1.0), f(-1.0)]),
            (10, 2, "xy", &[0x0000_ff07], vec![f(7.0), f(255.0)]),
            (10, 3, "xy", &[0x0000_ff07], vec![f(7.0), f(-1.0)]),
            (10, 4, "xyzw", &[0x0403_02ff], vec![255, 2, 3, 4]),
            (10, 5, "xyz", &[0x0080_7fff], vec![u32::MAX, 127, -128i32 as u32]),
            // Absent components are 0; the fourth is 1.
            (4, 7, "xyzw", &[0x4048_f5c3], vec![0x4048_f5c3, 0, 0, f(1.0)]),
            (4, 4, "xyzw", &[77], vec![77, 0, 0, 1]),
            (14, 7, "xyzw", &[1, 2, 3, 4], vec![1, 2, 3, 4]),
            (13, 4, "xyz", &[1, 2, 3], vec![1, 2, 3]),
            // 16-bit floats: 1 and -2.
            (5, 7, "xy", &[0xc000_3c00], vec![f(1.0), f(-2.0)]),
            (12, 7, "xyzw", &[0xc000_3c00, 0x3800_4000], vec![f(1.0), f(-2.0), f(2.0), f(0.5)]),
            // 11, 11 and 10 bits of float: 1 is exponent 15.
            (6, 7, "xyz", &[0x3c0 | 0x400 << 11 | 0x1e1 << 22], vec![f(1.0), f(2.0), f(1.0 + 1.0 / 32.0)]),
            // 2 and three times 10 bits, and the reverse order.
            (8, 4, "xyzw", &[2 | 0x200 << 2 | 1 << 12 | 1023 << 22], vec![2, 0x200, 1, 1023]),
            (9, 4, "xyzw", &[0x4000_0401], vec![1, 1, 0, 1]),
        ];
        for (data, number, form, words, expected) in cases {
            let typed = Typed::new(data, number, form).unwrap();
            let mut raw = [Row::ZERO; 4];
            for (row, word) in raw.iter_mut().zip(words) {
                row.0[LANE] = *word;
            }
            let mut out = [Row::ZERO; 4];
            typed.unpack(&raw, LANE, &mut out);
            let found: Vec<u32> = out.iter().take(typed.rows()).map(|row| row.0[LANE]).collect();
            assert_eq!(found, expected, "format {data} {number} {form}");
            // If registers hold all components, packing and unpacking again gives the same registers.
            if typed.bits.iter().filter(|bits| **bits > 0).count() <= usize::from(typed.components) {
                let mut back = [Row::ZERO; 4];
                typed.pack(&out, LANE, &mut back);
                let mut again = [Row::ZERO; 4];
                typed.unpack(&back, LANE, &mut again);
                assert_eq!(
                    again.map(|row| row.0[LANE]),
                    out.map(|row| row.0[LANE]),
                    "format {data} {number} {form}"
                );
            }
        }
    }

    #[test]
    fn values_out_of_range_become_the_nearest_code() {
        for (data, number, value, code) in [
            (1, 0, f(2.0), 0xff),
            (1, 0, f(-1.0), 0),
            (1, 0, f(f32::NAN), 0),
            (1, 0, f(0.5), 128),
            (1, 1, f(-2.0), 0x81),
            (1, 2, f(300.0), 0xff),
            (1, 3, f(-200.0), 0x80),
            (1, 4, 300, 0xff),
            (1, 5, -200i32 as u32, 0x80),
            (2, 7, f(65504.0), 0x7bff),
        ] {
            let typed = Typed::new(data, number, "x").unwrap();
            let (mut rows, mut raw) = ([Row::ZERO; 4], [Row::ZERO; 4]);
            rows[0].0[LANE] = value;
            typed.pack(&rows, LANE, &mut raw);
            assert_eq!(raw[0].0[LANE], code, "format {data} {number} of {value:#x}");
        }
    }

    #[test]
    fn short_forms_hold_two_components_in_a_register() {
        let typed = Typed::new(10, 0, "d16_xyz").unwrap();
        assert_eq!((typed.rows(), typed.bytes()), (2, 4));
        let mut raw = [Row::ZERO; 4];
        raw[0].0[LANE] = 0x00ff_00ff;
        let mut out = [Row::ZERO; 4];
        out[1].0[LANE] = 0xdead_0000;
        typed.unpack(&raw, LANE, &mut out);
        assert_eq!(
            [out[0].0[LANE], out[1].0[LANE]],
            [0x3c00, 0xdead_3c00],
            "1, 0 and 1; the last half stays"
        );
    }

    #[test]
    fn reserved_codes_are_refused() {
        for (data, number) in [(0, 4), (15, 4), (4, 6), (4, 0), (1, 7), (9, 7)] {
            assert_eq!(Typed::new(data, number, "x"), None, "{data} {number}");
        }
        assert_eq!(Typed::new(4, 7, "q"), None);
    }
}
