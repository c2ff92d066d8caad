//! Rows of 64 lanes, and loops that apply a scalar function to all lanes.
//!
//! The one idea to keep in mind: a kernel computes every lane, active or not, into rows of its own. EXEC applies
//! once, when results are stored, so the loops have no branches and the compiler vectorises them.

use crate::half::{f16_to_f32, f32_to_f16};

/// Lanes of a wave.
pub(crate) const LANES: usize = 64;

/// One 32-bit register of all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Row(pub(crate) [u32; LANES]);

impl Row {
    pub(crate) const ZERO: Row = Row([0; LANES]);

    /// Copies lane by lane, so that the compiler inlines the copy; an assignment may call `memcpy`.
    #[inline(always)]
    pub(crate) fn copy_from(&mut self, other: &Row) {
        for lane in 0..LANES {
            self.0[lane] = other.0[lane];
        }
    }
}

/// Low and high dword of an operand that may be 64 bits wide; narrow operands use the first row.
pub(crate) type Pair = [Row; 2];

/// The MODE register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode(pub(crate) u32);

impl Mode {
    /// M0 indexes vector registers.
    pub(crate) const INDEX: u32 = 1 << 27;
    /// Vector instructions are skipped.
    pub(crate) const SKIP: u32 = 1 << 28;

    /// Minimum and maximum quiet signalling NaNs.
    #[inline(always)]
    pub(crate) fn ieee(self) -> bool {
        self.0 >> 9 & 1 != 0
    }

    /// Clamp turns NaN into 0.
    #[inline(always)]
    pub(crate) fn dx10_clamp(self) -> bool {
        self.0 >> 8 & 1 != 0
    }

    /// Rounding of f32: 0 nearest even, 1 up, 2 down, 3 to zero.
    #[inline(always)]
    pub(crate) fn round32(self) -> u8 {
        (self.0 & 3) as u8
    }

    /// Rounding of f64 and f16.
    #[inline(always)]
    pub(crate) fn round64(self) -> u8 {
        (self.0 >> 2 & 3) as u8
    }

    /// Denormals of f32: bit 0 keeps inputs, bit 1 keeps results.
    #[inline(always)]
    pub(crate) fn denormal32(self) -> u8 {
        (self.0 >> 4 & 3) as u8
    }

    /// Denormals of f64 and f16.
    #[inline(always)]
    pub(crate) fn denormal64(self) -> u8 {
        (self.0 >> 6 & 3) as u8
    }

    /// An f16 or narrower result that overflows becomes the largest number instead of infinity.
    #[inline(always)]
    pub(crate) fn fp16_overflow(self) -> bool {
        self.0 >> 23 & 1 != 0
    }

    /// Vector instructions do not execute as encoded: M0 indexes their registers, or they are skipped.
    #[inline(always)]
    pub(crate) fn alters_instructions(self) -> bool {
        self.0 & (Mode::INDEX | Mode::SKIP) != 0
    }

    /// Vector instructions are skipped.
    pub(crate) fn skips_vectors(self) -> bool {
        self.0 & Mode::SKIP != 0
    }

    /// Rounding is to nearest and denormals are kept, as in the host's arithmetic.
    pub(crate) fn is_host(self) -> bool {
        self.0 & 0xff == 0xf0
    }
}

/// Inputs and outputs of a kernel besides rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extra {
    /// Mask operand: carry, select or scale flags per lane.
    pub(crate) mask_in: u64,
    /// Carry out or comparison result per lane.
    pub(crate) mask_out: u64,
    /// MODE.
    pub(crate) mode: Mode,
    /// Immediate of the instruction: truth table, `op_sel`.
    pub(crate) immediate: u32,
}

/// Computes a result row (or pair) from up to three operands.
pub(crate) type Kernel = fn(&mut Pair, &Pair, &Pair, &Pair, &mut Extra);

/// Coerces a closure to a kernel.
#[inline(always)]
pub(crate) fn kernel(function: Kernel) -> Kernel {
    function
}

/// Mask with bit *i* set if `test(i)`.
#[inline(always)]
pub(crate) fn mask_of(test: impl Fn(usize) -> bool) -> u64 {
    let mut bytes = [0u8; LANES];
    for (lane, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from(test(lane));
    }
    let mut mask = 0;
    for (group, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // Gathers the lowest bits of eight bytes in the highest byte.
        mask |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * group);
    }
    mask
}

/// All ones in lanes whose mask bit is set, else 0.
#[inline(always)]
pub(crate) fn spread(mask: u64) -> Row {
    let mut row = Row::ZERO;
    let (low, high) = (mask as u32, (mask >> 32) as u32);
    for lane in 0..32 {
        row.0[lane] = 0u32.wrapping_sub(low >> lane & 1);
        row.0[lane + 32] = 0u32.wrapping_sub(high >> lane & 1);
    }
    row
}

/// Lanes of a mask in ascending order.
#[inline(always)]
pub(crate) fn active(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

/// Lanes that move from one group of eight lanes to another.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Destination and source group.
    pub(crate) into: usize,
    pub(crate) from: usize,
    /// By lane of the destination group: its source lane in the source group.
    pub(crate) index: [u32; 8],
    /// All ones for lanes that have a source in that group.
    pub(crate) keep: [u32; 8],
}

impl Step {
    /// Steps of an exchange for the lanes of a mask, in order of destination groups.
    pub(crate) fn all(from: &[u8; LANES], mask: u64) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for (lane, &source) in from.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 != 0) {
            let (into, from) = (lane / 8, usize::from(source) / 8 & 7);
            if !steps.iter().any(|step| step.into == into && step.from == from) {
                steps.push(Step { into, from, index: [0; 8], keep: [0; 8] });
            }
            for step in steps.iter_mut().filter(|step| step.into == into && step.from == from) {
                step.index[lane % 8] = u32::from(source) % 8;
                step.keep[lane % 8] = u32::MAX;
            }
        }
        steps
    }
}

/// True if all lanes have the same value.
#[inline(always)]
pub(crate) fn all_equal(values: &[u64; LANES]) -> bool {
    let mut differing = 0;
    for value in values {
        differing |= value ^ values[0];
    }
    differing == 0
}

/// True if each lane's address is four bytes above the previous lane's.
#[inline(always)]
pub(crate) fn are_contiguous_dwords(addresses: &[u64; LANES]) -> bool {
    let mut differing = 0;
    for lane in 0..LANES {
        differing |= addresses[lane] ^ addresses[0].wrapping_add(4 * lane as u64);
    }
    differing == 0
}

#[inline(always)]
pub(crate) fn wide(pair: &Pair, lane: usize) -> u64 {
    u64::from(pair[0].0[lane]) | u64::from(pair[1].0[lane]) << 32
}

#[inline(always)]
pub(crate) fn set_wide(pair: &mut Pair, lane: usize, value: u64) {
    pair[0].0[lane] = value as u32;
    pair[1].0[lane] = (value >> 32) as u32;
}

/// Adapters of one 32-bit type; the argument is the function of one lane.
macro_rules! adapters {
    ($one:ident $two:ident $three:ident: $from:expr, $into:expr; $ty:ty => $result:ty) => {
        #[inline(always)]
        #[allow(dead_code, reason = "every type has the same three")]
        pub(crate) fn $one(
            o: &mut Pair,
            a: &Pair,
            _: &Pair,
            _: &Pair,
            _: &mut Extra,
            f: impl Fn($ty) -> $result,
        ) {
            for lane in 0..LANES {
                o[0].0[lane] = $into(f($from(a[0].0[lane])));
            }
        }

        #[inline(always)]
        #[allow(dead_code, reason = "every type has the same three")]
        pub(crate) fn $two(
            o: &mut Pair,
            a: &Pair,
            b: &Pair,
            _: &Pair,
            _: &mut Extra,
            f: impl Fn($ty, $ty) -> $result,
        ) {
            for lane in 0..LANES {
                o[0].0[lane] = $into(f($from(a[0].0[lane]), $from(b[0].0[lane])));
            }
        }

        #[inline(always)]
        #[allow(dead_code, reason = "every type has the same three")]
        pub(crate) fn $three(
            o: &mut Pair,
            a: &Pair,
            b: &Pair,
            c: &Pair,
            _: &mut Extra,
            f: impl Fn($ty, $ty, $ty) -> $result,
        ) {
            for lane in 0..LANES {
                o[0].0[lane] = $into(f($from(a[0].0[lane]), $from(b[0].0[lane]), $from(c[0].0[lane])));
            }
        }
    };
}

adapters!(u32_1 u32_2 u32_3: |v: u32| v, |v: u32| v; u32 => u32);
adapters!(i32_1 i32_2 i32_3: |v: u32| v as i32, |v: i32| v as u32; i32 => i32);
adapters!(f32_1 f32_2 f32_3: f32::from_bits, f32::to_bits; f32 => f32);
adapters!(f32_to_u32_1 f32_to_u32_2 f32_to_u32_3: f32::from_bits, |v: u32| v; f32 => u32);
adapters!(u32_to_f32_1 u32_to_f32_2 u32_to_f32_3: |v: u32| v, f32::to_bits; u32 => f32);
adapters!(f16_1 f16_2 f16_3: |v: u32| f16_to_f32(v as u16), |v: f32| u32::from(f32_to_f16(v)); f32 => f32);
adapters!(f16_to_u32_1 f16_to_u32_2 f16_to_u32_3: |v: u32| f16_to_f32(v as u16), |v: u32| v; f32 => u32);
adapters!(u32_to_f16_1 u32_to_f16_2 u32_to_f16_3: |v: u32| v, |v: f32| u32::from(f32_to_f16(v)); u32 => f32);
adapters!(u16_1 u16_2 u16_3: |v: u32| v as u16, u32::from; u16 => u16);
adapters!(i16_1 i16_2 i16_3: |v: u32| v as i16, |v: i16| u32::from(v as u16); i16 => i16);

/// Adapters of 64-bit results from 64-bit operands.
macro_rules! wide_adapters {
    ($one:ident $two:ident $three:ident: $from:expr, $into:expr; $ty:ty) => {
        #[inline(always)]
        #[allow(dead_code, reason = "every type has the same three")]
        pub(crate) fn $one(
            o: &mut Pair,
            a: &Pair,
            _: &Pair,
            _: &Pair,
            _: &mut Extra,
            f: impl Fn($ty) -> $ty,
        ) {
            for lane in 0..LANES {
                set_wide(o, lane, $into(f($from(wide(a, lane)))));
            }
        }

        #[inline(always)]
        #[allow(dead_code, reason = "every type has the same three")]
        pub(crate) fn $two(
            o: &mut Pair,
            a: &Pair,
            b: &Pair,
            _: &Pair,
            _: &mut Extra,
            f: impl Fn($ty, $ty) -> $ty,
        ) {
            for lane in 0..LANES {
                set_wide(o, lane, $into(f($from(wide(a, lane)), $from(wide(b, lane)))));
            }
        }

        #[inline(always)]
        #[allow(dead_code, reason = "every type has the same three")]
        pub(crate) fn $three(
            o: &mut Pair,
            a: &Pair,
            b: &Pair,
            c: &Pair,
            _: &mut Extra,
            f: impl Fn($ty, $ty, $ty) -> $ty,
        ) {
            for lane in 0..LANES {
                set_wide(o, lane, $into(f($from(wide(a, lane)), $from(wide(b, lane)), $from(wide(c, lane)))));
            }
        }
    };
}

wide_adapters!(u64_1 u64_2 u64_3: |v: u64| v, |v: u64| v; u64);
wide_adapters!(f64_1 f64_2 f64_3: f64::from_bits, f64::to_bits; f64);

/// Adapter from f64 to 32 bits.
#[inline(always)]
pub(crate) fn f64_to_u32(o: &mut Pair, a: &Pair, f: impl Fn(f64) -> u32) {
    for lane in 0..LANES {
        o[0].0[lane] = f(f64::from_bits(wide(a, lane)));
    }
}

/// Adapter from 32 bits to f64.
#[inline(always)]
pub(crate) fn u32_to_f64(o: &mut Pair, a: &Pair, f: impl Fn(u32) -> f64) {
    for lane in 0..LANES {
        set_wide(o, lane, f(a[0].0[lane]).to_bits());
    }
}

/// Any kernel, lane by lane: the function gets the lane number and the extras.
#[inline(always)]
pub(crate) fn each(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    c: &Pair,
    x: &mut Extra,
    f: impl Fn(usize, u32, u32, u32, &Extra) -> u32,
) {
    for lane in 0..LANES {
        o[0].0[lane] = f(lane, a[0].0[lane], b[0].0[lane], c[0].0[lane], x);
    }
}

/// Applies a function to both 16-bit halves.
#[inline(always)]
pub(crate) fn halves(value: u32, f: impl Fn(u16) -> u16) -> u32 {
    u32::from(f(value as u16)) | u32::from(f((value >> 16) as u16)) << 16
}

/// Packed 16-bit operations with two operands; the argument is the function of one half.
#[inline(always)]
pub(crate) fn packed2(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    _: &Pair,
    _: &mut Extra,
    f: impl Fn(u16, u16) -> u16,
) {
    for lane in 0..LANES {
        let (p, q) = (a[0].0[lane], b[0].0[lane]);
        o[0].0[lane] =
            u32::from(f(p as u16, q as u16)) | u32::from(f((p >> 16) as u16, (q >> 16) as u16)) << 16;
    }
}

/// [`packed2`] with three operands.
#[inline(always)]
pub(crate) fn packed3(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    c: &Pair,
    _: &mut Extra,
    f: impl Fn(u16, u16, u16) -> u16,
) {
    for lane in 0..LANES {
        let (p, q, r) = (a[0].0[lane], b[0].0[lane], c[0].0[lane]);
        o[0].0[lane] = u32::from(f(p as u16, q as u16, r as u16))
            | u32::from(f((p >> 16) as u16, (q >> 16) as u16, (r >> 16) as u16)) << 16;
    }
}

/// Packed f32: one operation per row of the pair.
#[inline(always)]
pub(crate) fn packed_f32(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    c: &Pair,
    _: &mut Extra,
    f: impl Fn(f32, f32, f32) -> f32,
) {
    // `map` of arrays is a function without the CPU's features, into which the compiler inlines none that has them.
    for row in 0..2 {
        for lane in 0..LANES {
            let of = |pair: &Pair| f32::from_bits(pair[row].0[lane]);
            let [p, q, r] = [of(a), of(b), of(c)];
            o[row].0[lane] = f(p, q, r).to_bits();
        }
    }
}

/// Comparison of 32-bit values as raw bits.
#[inline(always)]
pub(crate) fn test32(
    _: &mut Pair,
    a: &Pair,
    b: &Pair,
    _: &Pair,
    x: &mut Extra,
    f: impl Fn(u32, u32) -> bool,
) {
    x.mask_out = mask_of(|lane| f(a[0].0[lane], b[0].0[lane]));
}

/// Comparison of 64-bit values as raw bits; the second operand may be 32 bits wide.
#[inline(always)]
pub(crate) fn test64(
    _: &mut Pair,
    a: &Pair,
    b: &Pair,
    _: &Pair,
    x: &mut Extra,
    f: impl Fn(u64, u64) -> bool,
) {
    x.mask_out = mask_of(|lane| f(wide(a, lane), wide(b, lane)));
}

/// Carry arithmetic; the function returns value and carry of a lane.
#[inline(always)]
pub(crate) fn carry(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    _: &Pair,
    x: &mut Extra,
    f: impl Fn(u32, u32, u32) -> (u32, bool),
) {
    let bits = spread(x.mask_in);
    for lane in 0..LANES {
        o[0].0[lane] = f(a[0].0[lane], b[0].0[lane], bits.0[lane] & 1).0;
    }
    x.mask_out = mask_of(|lane| f(a[0].0[lane], b[0].0[lane], bits.0[lane] & 1).1);
}

/// Operand of an in-place kernel: a register or a pair, which may overlap other operands.
pub(crate) type Cells = [std::cell::Cell<Row>; 2];

/// Row operations compiled for one kind of CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowOps {
    /// Converts the low and the high halves of a row to f32.
    pub(crate) halves: fn(&Row, &mut [f32; LANES], &mut [f32; LANES]),
    /// Permutes the lanes of a row; lanes without a source become 0.
    pub(crate) permute: fn(&[Step], &Row, &mut Row),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_rows_are_inverse() {
        for mask in [0, 1, u64::MAX, 1 << 63, 0x8000_0001_0f0f_1234, 0xdead_beef_0bad_cafe] {
            let row = spread(mask);
            assert_eq!(mask_of(|lane| row.0[lane] == u32::MAX), mask);
            assert!(row.0.iter().all(|&value| value == 0 || value == u32::MAX));
        }
    }
}
