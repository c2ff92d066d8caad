//! Conversions between small formats with a shared scale and f32, f16 or bf16.
//!
//! The one idea to keep in mind: each conversion reads numbers, multiplies or divides them by a power of two, and
//! writes numbers. Their positions follow from the two formats and the count; the mnemonic gives all three.
//! Intermediate values are exact in f64, so each result rounds once.
//!
//! The scale is the exponent of an f32 operand, like the shared exponent of the OCP microscaling formats; all
//! ones is NaN. Stochastic rounding adds the highest random bits below the last place. For several numbers, the
//! random value is stepped like `v_prng_b32` from one to the next.

use crate::half::{f16_to_f32, f64_to_f16};
use crate::indexing::{Indexing, Position};
use crate::lanes::{LANES, Row};
use crate::machine::Machine;
use crate::minifloat::{self, BF6, BF8, FP4, FP6, FP8, Format, wide_power_of_two};
use crate::operand::{Files, Pool, Src, source};
use crate::wave::Wave;
use isa::{Inst, Operand, Ty};

/// Number format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    F32,
    F16,
    Bf16,
    Small(Format),
}

impl Number {
    fn by_name(name: &str) -> Option<Number> {
        Some(match name {
            "f32" => Number::F32,
            "f16" => Number::F16,
            "bf16" => Number::Bf16,
            "fp8" => Number::Small(FP8),
            "bf8" => Number::Small(BF8),
            "fp6" => Number::Small(FP6),
            "bf6" => Number::Small(BF6),
            "fp4" => Number::Small(FP4),
            _ => return None,
        })
    }

    fn bits(self) -> u32 {
        match self {
            Number::F32 => 32,
            Number::F16 | Number::Bf16 => 16,
            Number::Small(format) => format.bits(),
        }
    }

    /// Bits of the mantissa at which stochastic rounding starts.
    fn mantissa(self) -> u32 {
        match self {
            Number::F32 => minifloat::F32_MANTISSA,
            Number::F16 => 10,
            Number::Bf16 | Number::Small(_) => 7,
        }
    }

    fn value(self, bits: u32) -> f64 {
        match self {
            Number::F32 => f64::from(f32::from_bits(bits)),
            Number::F16 => f64::from(f16_to_f32(bits as u16)),
            Number::Bf16 => f64::from(f32::from_bits(bits << 16)),
            Number::Small(format) => f64::from(format.decode(bits)),
        }
    }

    /// Code of the nearest number, or with `noise` of a random neighbour.
    fn code(self, value: f64, noise: Option<u32>, from: Number, saturate: bool) -> u32 {
        match self {
            Number::F32 => (value as f32).to_bits(),
            Number::F16 => {
                let code = u32::from(f64_to_f16(value));
                // The code before infinity is the largest number.
                let overflow = code & 0x7fff == 0x7c00 && value.is_finite();
                code - u32::from(overflow && saturate)
            }
            // Two roundings are safe: sources have few digits, so the first rounds only far below the last place
            // of bf16.
            Number::Bf16 => u32::from(bf16(value as f32)),
            Number::Small(format) => format.encode_exact(value, noise, from.mantissa(), saturate),
        }
    }
}

/// Nearest bf16, ties to even.
fn bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// Count of numbers, and their arrangement in the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Many {
    One,
    Two,
    /// 32 in consecutive registers.
    Block,
    /// 16 in each of two sources, which alternate.
    Interleaved,
}

/// A resolved conversion.
#[derive(Clone, Debug)]
pub(crate) struct Conversion {
    from: Number,
    to: Number,
    many: Many,
    values: [Src; 2],
    noise: Option<Src>,
    scale: Src,
    dst: u16,
    op_sel: u32,
    /// Bits of the sources that are negated, and of those whose sign is dropped.
    neg: u8,
    abs: u8,
}

impl Conversion {
    /// Resolves an instruction: `None` for other kinds, `Some(None)` if its operands are not supported.
    pub(crate) fn resolve(inst: &Inst, files: Files, pool: &mut Pool) -> Option<Option<Conversion>> {
        let rest = inst.info().name.strip_prefix("v_cvt_scalef32_")?;
        let (stochastic, rest) = match rest.strip_prefix("sr_") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (many, rest) = [("pk_", Many::Two), ("pk32_", Many::Block), ("2xpk16_", Many::Interleaved)]
            .iter()
            .find_map(|(prefix, many)| Some((*many, rest.strip_prefix(prefix)?)))
            .unwrap_or((Many::One, rest));
        let (to, from) = rest.split_once('_')?;
        let (to, from) = (Number::by_name(to)?, Number::by_name(from)?);
        Some(Self::operands(inst, (from, to), many, stochastic, files, pool))
    }

    fn operands(
        inst: &Inst,
        (from, to): (Number, Number),
        many: Many,
        stochastic: bool,
        files: Files,
        pool: &mut Pool,
    ) -> Option<Conversion> {
        let (Some(Operand::Reg(dst)), sources) = inst.operands().split_first().map(|(d, s)| (Some(*d), s))?
        else {
            return None;
        };
        let two_sources =
            many == Many::Interleaved || (many == Many::Two && from == Number::F32 && !stochastic);
        let values = if two_sources { 2 } else { 1 };
        let mods = &inst.mods;
        // Signs can be modified only where each value has a source of its own.
        let value_mask = if two_sources { 3 } else { 1 };
        let own = two_sources || many == Many::One;
        if !own && (mods.neg | mods.abs) & value_mask != 0 {
            return None;
        }
        let mut at = |index: usize, ty: Ty| source(*sources.get(index)?, ty, files, pool);
        let ty = match from {
            Number::F32 => Ty::F32,
            Number::F16 => Ty::F16,
            Number::Bf16 => Ty::Bf16,
            Number::Small(_) => Ty::B32,
        };
        let first = at(0, ty)?;
        let second = if two_sources { at(1, ty)? } else { Src::None };
        let noise = if stochastic { Some(at(values, Ty::U32)?) } else { None };
        let scale = at(values + usize::from(stochastic), Ty::F32)?;
        // Sources of several registers must be vector registers.
        let pair = many == Many::Two && from == Number::F32 && stochastic;
        if (matches!(many, Many::Block | Many::Interleaved) || pair) && !matches!(first, Src::Row(_)) {
            return None;
        }
        Some(Conversion {
            from,
            to,
            many,
            values: [first, second],
            noise,
            scale,
            dst: files.row(dst)?,
            op_sel: u32::from(mods.op_sel),
            neg: mods.neg & value_mask,
            abs: mods.abs & value_mask,
        })
    }

    /// Numbers in the result.
    fn count(&self) -> u32 {
        match self.many {
            Many::One => 1,
            Many::Two => 2,
            Many::Block | Many::Interleaved => 32,
        }
    }

    /// Registers of the result.
    fn rows(&self) -> usize {
        (self.place() + self.count() * self.to.bits()).div_ceil(32) as usize
    }

    /// The same instruction with registers indexed by M0; `None` if it does nothing.
    pub(crate) fn indexed(&self, by: Indexing) -> Option<Conversion> {
        let mut it = self.clone();
        let given = it.values.iter_mut().filter(|value| **value != Src::None);
        let sources = given.chain(&mut it.noise).chain([&mut it.scale]);
        for (position, src) in Position::SOURCES.into_iter().zip(sources) {
            // Reads past the last register return 0.
            by.source(position, src, 1);
        }
        let rows = it.rows();
        by.destination(&mut it.dst, rows)?;
        Some(it)
    }

    pub(crate) fn run(&self, machine: &Machine<'_>, wave: &mut Wave) {
        let exec = wave.exec();
        let saturate = wave.mode.fp16_overflow();
        let scales = machine.row(wave, self.scale);
        let noises = self.noise.map(|noise| machine.row(wave, noise));
        let sources = self.values.map(|value| Rows::of(machine, wave, value));
        let (count, bits, place) = (self.count(), self.to.bits(), self.place());
        // Old values, for partial writes.
        let mut out: Vec<Row> = (0..self.rows()).map(|row| wave.v[usize::from(self.dst) + row]).collect();
        for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
            let code = scales.0[lane] >> 23 & 0xff;
            let mut noise = noises.as_ref().map(|noise| noise.0[lane]);
            for number in 0..count {
                let value = self.value(&sources, wave, lane, number);
                let code = self.to.code(self.scaled(value, code), noise, self.from, saturate);
                noise = noise.map(step);
                put(&mut out, lane, place + number * bits, bits, code);
            }
        }
        for (number, row) in out.iter().enumerate() {
            wave.store_row(usize::from(self.dst) + number, row, exec);
        }
    }

    /// Applies the scale: conversions to small formats divide by it, conversions from them multiply.
    fn scaled(&self, value: f64, code: u32) -> f64 {
        if code == 0xff {
            return f64::NAN.copysign(value);
        }
        let power = code as i32 - 127;
        value * wide_power_of_two(if matches!(self.to, Number::Small(_)) { -power } else { power })
    }

    /// First bit of the result in the destination registers.
    fn place(&self) -> u32 {
        match (self.many, self.to) {
            (Many::One, Number::F16) => 16 * (self.op_sel >> 3 & 1),
            (Many::One, Number::Small(_)) => 8 * (self.op_sel >> 2 & 3),
            (Many::Two, Number::Small(format)) if format.bits() == 8 => 16 * (self.op_sel >> 3 & 1),
            (Many::Two, Number::Small(_)) => 8 * (self.op_sel >> 2 & 3),
            _ => 0,
        }
    }

    /// Number `number` of a lane.
    fn value(&self, sources: &[Rows; 2], wave: &Wave, lane: usize, number: u32) -> f64 {
        let bits = self.from.bits();
        let (which, at) = match (self.many, self.from) {
            (Many::Interleaved, _) => (number & 1, number / 2 * bits),
            (Many::Two, Number::F32) if self.noise.is_none() => (number, 0),
            (Many::One, Number::F16 | Number::Bf16) => (0, 16 * (self.op_sel & 1)),
            (Many::One, Number::Small(_)) => (0, 8 * (self.op_sel & 3)),
            (Many::Two, Number::Small(format)) if format.bits() == 8 => {
                (0, 16 * (self.op_sel & 1) + 8 * number)
            }
            (Many::Two, Number::Small(_)) => (0, 8 * (self.op_sel & 3) + bits * number),
            _ => (0, number * bits),
        };
        let value = self.from.value(sources[which as usize].bits(wave, lane, at, bits));
        let value = if self.abs >> which & 1 != 0 { value.abs() } else { value };
        if self.neg >> which & 1 != 0 { -value } else { value }
    }
}

/// Next random value.
fn step(noise: u32) -> u32 {
    noise << 1 ^ if noise >> 31 != 0 { 0xc5 } else { 0 }
}

/// A source of one or several registers.
enum Rows {
    /// Consecutive registers from this one.
    Registers(usize),
    /// A scalar or constant, in every register.
    Value(Box<Row>),
}

impl Rows {
    fn of(machine: &Machine<'_>, wave: &Wave, src: Src) -> Rows {
        match src {
            Src::Row(row) => Rows::Registers(usize::from(row)),
            src => Rows::Value(Box::new(machine.row(wave, src))),
        }
    }

    /// `count` bits of a lane, from bit `at`.
    fn bits(&self, wave: &Wave, lane: usize, at: u32, count: u32) -> u32 {
        let dword = |number: usize| match self {
            Rows::Registers(first) => wave.v.get(first + number).map_or(0, |row| row.0[lane]),
            Rows::Value(row) => row.0[lane],
        };
        let (first, shift) = ((at / 32) as usize, at % 32);
        let low = u64::from(dword(first));
        let high = if shift + count > 32 { u64::from(dword(first + 1)) << 32 } else { 0 };
        ((low | high) >> shift & ((1u64 << count) - 1)) as u32
    }
}

/// Writes `count` bits of a lane, from bit `at`.
fn put(rows: &mut [Row], lane: usize, at: u32, count: u32, value: u32) {
    let (first, shift) = ((at / 32) as usize, at % 32);
    let mask = ((1u64 << count) - 1) << shift;
    let bits = u64::from(value) << shift;
    for (number, (mask, bits)) in
        [(mask as u32, bits as u32), ((mask >> 32) as u32, (bits >> 32) as u32)].into_iter().enumerate()
    {
        if let Some(row) = rows.get_mut(first + number).filter(|_| mask != 0) {
            row.0[lane] = row.0[lane] & !mask | bits & mask;
        }
    }
}

#[cfg(test)]
mod tests;
