//! Operand and result modifiers of the vector ALU.
//!
//! The one idea to keep in mind: modifiers change operand rows before the kernel and result rows after it, so
//! kernels know no modifiers.

mod dpp;
mod float;
mod overflow;
mod quick;
mod sdwa;

use crate::kernels::Kernels;
use crate::lanes::{Kernel, LANES, Mode, Pair, Row};
use crate::machine::{Machine, fetch};
use crate::operand::Src;
use crate::valu::Valu;
use crate::vector::Variant;
use crate::wave::Wave;
use dpp::Exchange;
use isa::{Bits, Encoding, Inst, Lane, OpFlags, Role, Sdwa, Ty};
use overflow::Overflow;
use quick::Quick;
pub(crate) use quick::in_place;

/// Number format of an operand for the purpose of modifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// Not a floating-point number, or one without modifiers.
    Bits,
    F16,
    F32,
    F64,
    /// Two f16 in one row.
    Packed16,
    /// Two f32 in two rows.
    Packed32,
    /// f32, or f16 in one half of a register, by `op_sel_hi`.
    Mixed,
}

/// Modifiers of one instruction.
#[derive(Clone, Debug)]
pub(crate) struct Modifiers {
    formats: [Format; 3],
    result: Format,
    neg: u8,
    abs: u8,
    op_sel: u8,
    op_sel_hi: u8,
    omod: u8,
    clamp: bool,
    sdwa: Option<Sdwa>,
    dpp: Option<Box<Exchange>>,
    /// The result is the high half of the register if true, the low half if false; the other half keeps its
    /// value.
    half: Option<bool>,
    /// VOP3P: sources consist of two parts, selected by `op_sel` and `op_sel_hi`.
    packed: bool,
    /// Kernel for rounding other than to nearest.
    rounded: Option<Kernel>,
    /// Floating-point arithmetic, so MODE may flush denormals.
    computes: bool,
    /// The result is f16 and may overflow.
    overflows: Option<Overflow>,
    /// Bit per source: modifiers change it in every mode.
    prepares: u8,
    /// No modifiers; only MODE may require changes.
    plain: bool,
    quick: Quick,
}

/// Opcodes that keep the other half of the destination, whichever half they write. Other 16-bit opcodes keep it
/// only if they write the high half, and otherwise clear it.
const KEEPS_OTHER_HALF: &[&str] = &[
    "v_mad_f16",
    "v_mad_u16",
    "v_mad_i16",
    "v_fma_f16",
    "v_div_fixup_f16",
    "v_min3_f16",
    "v_min3_i16",
    "v_min3_u16",
    "v_max3_f16",
    "v_max3_i16",
    "v_max3_u16",
    "v_med3_f16",
    "v_med3_i16",
    "v_med3_u16",
    "v_bitop3_b16",
    "v_cvt_sr_f16_f32",
    "v_cvt_sr_bf16_f32",
    "v_ashr_pk_i8_i32",
    "v_ashr_pk_u8_i32",
];

impl Modifiers {
    pub(crate) fn of(inst: &Inst, valu: &Valu, saturating: bool, kernels: &Kernels) -> Modifiers {
        let info = inst.info();
        let rounded = kernels.get(inst.op, Variant::Rounded);
        let mut formats = [Format::Bits; 3];
        let mut sources = info.operands.iter().filter(|spec| spec.role == Role::Src && spec.ty != Ty::Mask64);
        for format in &mut formats {
            *format = sources.next().map_or(Format::Bits, |spec| format_of(spec.ty));
        }
        let result = info.operands.first().map_or(Format::Bits, |spec| format_of(spec.ty));
        if info.operands.first().is_some_and(|spec| spec.role == Role::DstSrc)
            && !info.name.starts_with("v_fma_mix")
        {
            // The accumulator follows the sources.
            let count = info.operands.iter().filter(|spec| spec.role == Role::Src).count();
            if let Some(format) = formats.get_mut(count) {
                *format = result;
            }
        }
        let mixed = info.name.starts_with("v_fma_mix");
        if mixed {
            formats = [Format::Mixed; 3];
        }
        if info.name == "v_ldexp_f16" {
            // The exponent is an integer, although its type is f16.
            formats[1] = Format::Bits;
        }
        if info.name == "v_cndmask_b32" {
            formats[0] = Format::F32;
            formats[1] = Format::F32;
        }
        let packed = inst.encoding == Encoding::Vop3p && !mixed;
        let sixteen = |ty: Ty| matches!(ty, Ty::F16 | Ty::U16 | Ty::I16 | Ty::B16 | Ty::Bf16);
        let high = inst.mods.op_sel & 8 != 0 && !packed;
        let half = match info.name {
            "v_fma_mixlo_f16" => Some(false),
            "v_fma_mixhi_f16" => Some(true),
            name if KEEPS_OTHER_HALF.contains(&name) => Some(high),
            _ if info.operands.first().is_some_and(|spec| sixteen(spec.ty)) && high => Some(true),
            _ => None,
        };
        let (sdwa, dpp) = match inst.mods.lane {
            Lane::None => (None, None),
            Lane::Sdwa(sdwa) => (Some(sdwa), None),
            Lane::Dpp(dpp) => (None, Some(Box::new(Exchange::new(dpp)))),
        };
        let computes = info.flags.contains(OpFlags::FLOAT);
        let mut modifiers = Modifiers {
            formats,
            result: if info.name == "v_fma_mix_f32" { Format::F32 } else { result },
            neg: inst.mods.neg,
            abs: inst.mods.abs,
            // Here `op_sel` selects parts of the destination, which the kernel handles.
            op_sel: if is_tiny_conversion(info.name) { 0 } else { inst.mods.op_sel },
            op_sel_hi: if packed || mixed { inst.mods.op_sel_hi } else { 7 },
            omod: inst.mods.omod,
            clamp: inst.mods.bits.contains(Bits::CLAMP) && !saturating,
            sdwa,
            dpp,
            half,
            packed,
            rounded,
            computes,
            overflows: computes.then(|| Overflow::of(inst)).flatten(),
            prepares: 0,
            plain: false,
            quick: Quick::Nothing,
        };
        modifiers.plain = modifiers.is_plain();
        modifiers.prepares = (0..3).filter(|&index| modifiers.prepares(index)).map(|index| 1 << index).sum();
        modifiers.quick = Quick::of(&modifiers, valu, inst, kernels);
        modifiers
    }

    /// True if no modifier applies before or after the kernel.
    pub(crate) fn is_plain(&self) -> bool {
        let all = [0, 1, 2].into_iter().filter(|&index| self.formats[index] != Format::Bits);
        let packed_default = !self.packed || all.into_iter().all(|index| self.op_sel_hi >> index & 1 != 0);
        self.neg | self.abs | self.op_sel | self.omod == 0
            && packed_default
            && !self.formats.contains(&Format::Mixed)
            && !self.clamp
            && self.sdwa.is_none()
            && self.dpp.is_none()
            && self.half.is_none()
    }

    /// True if the instruction may keep parts of the destination.
    pub(crate) fn preserves(&self) -> bool {
        self.sdwa.is_some()
    }

    /// True if modifiers change a source.
    fn prepares(&self, index: usize) -> bool {
        let bit = |mask: u8| mask >> index & 1 != 0;
        let changes_sign = bit(self.neg) || bit(self.abs);
        let selects = match self.formats[index] {
            Format::Packed16 if self.packed => bit(self.op_sel) || !bit(self.op_sel_hi),
            Format::Packed32 => bit(self.op_sel) || !bit(self.op_sel_hi),
            Format::Mixed => bit(self.op_sel_hi),
            _ => bit(self.op_sel),
        };
        changes_sign || selects || self.sdwa.is_some() || (index == 0 && self.dpp.is_some())
    }

    /// True if neither modifiers nor this mode require changes before or after the kernel.
    #[inline(always)]
    pub(crate) fn idle(&self, mode: Mode) -> bool {
        self.plain && mode.is_host() && !self.limits(mode)
    }

    /// True if this mode replaces an overflowed result by the largest number.
    #[inline(always)]
    fn limits(&self, mode: Mode) -> bool {
        self.overflows.is_some() && mode.fp16_overflow()
    }

    /// True if a fast path exists for some mode.
    #[inline(always)]
    pub(crate) fn is_quick(&self) -> bool {
        !matches!(self.quick, Quick::Nothing)
    }

    /// Executes the instruction on its fast path; false if the mode forbids it.
    #[inline(always)]
    pub(crate) fn run_quick(&self, valu: &Valu, machine: &mut Machine<'_>, wave: &mut Wave) -> bool {
        self.quick.run(self, valu, machine, wave)
    }

    /// Executes a kernel with all modifiers.
    #[inline(always)]
    pub(crate) fn run(&self, valu: &Valu, machine: &mut Machine<'_>, wave: &mut Wave) {
        let pool = machine.pool;
        let mut lanes = wave.exec();
        let mut changed = [false; 3];
        for (index, changed) in changed.iter_mut().enumerate() {
            let src = valu.src[index];
            let flushes = self.computes && float::flushes(self.formats[index], wave.mode);
            *changed = src != Src::None
                && (self.prepares >> index & 1 != 0 || flushes || matches!(src, Src::Special(_)));
            if !*changed {
                continue;
            }
            let one =
                matches!(self.formats[index], Format::F16 | Format::F32 | Format::Packed16 | Format::Mixed);
            machine.spread_pair(wave, src, index, one);
            let operand = &mut machine.spread[index];
            if let (0, Some(dpp)) = (index, &self.dpp) {
                lanes &= dpp.run(wave.exec(), operand);
            }
            self.prepare(index, operand, wave.mode);
        }
        let mut extra = machine.extra(wave, valu);
        let kernel = match self.rounded {
            Some(rounded) if self.rounds(wave.mode) => rounded,
            _ => valu.kernel,
        };
        let [a, b, c] = &mut machine.spread;
        let a = if changed[0] { a } else { fetch(pool, wave, a, valu.src[0]) };
        let b = if changed[1] { b } else { fetch(pool, wave, b, valu.src[1]) };
        let c = if changed[2] { c } else { fetch(pool, wave, c, valu.src[2]) };
        kernel(&mut machine.out, a, b, c, &mut extra);
        self.finish(valu, wave, &mut machine.out, [a, b, c]);
        for (number, row) in machine.out.iter().enumerate().take(usize::from(valu.rows)) {
            wave.store_row(usize::from(valu.dst) + number, row, lanes);
        }
        machine.store_mask(wave, valu, &extra, lanes);
    }

    /// True if the mode rounds results of this format other than to nearest.
    fn rounds(&self, mode: Mode) -> bool {
        match self.result {
            Format::F32 => mode.round32() != 0,
            _ => mode.round64() != 0,
        }
    }

    /// Modifies a source: selection, then absolute value, then sign, then flush of denormals.
    #[inline(always)]
    fn prepare(&self, index: usize, operand: &mut Pair, mode: Mode) {
        let bit = |mask: u8| mask >> index & 1 != 0;
        let format = self.formats[index];
        if let Some(sdwa) = self.sdwa {
            sdwa::select(sdwa, index, operand);
        }
        match format {
            Format::Packed16 if self.packed => {
                select_halves(&mut operand[0], bit(self.op_sel), bit(self.op_sel_hi))
            }
            // Packed instructions on whole registers: `op_sel` selects the second register of a pair.
            Format::Bits if self.packed && bit(self.op_sel) => operand[0] = operand[1],
            Format::Packed32 => {
                let [low, high] = *operand;
                operand[0] = if bit(self.op_sel) { high } else { low };
                operand[1] = if bit(self.op_sel_hi) { high } else { low };
            }
            Format::Mixed if bit(self.op_sel_hi) => {
                let shift = if bit(self.op_sel) { 16 } else { 0 };
                for value in &mut operand[0].0 {
                    *value = crate::half::f16_to_f32((*value >> shift) as u16).to_bits();
                }
            }
            Format::Mixed => {}
            _ if bit(self.op_sel) => {
                for value in &mut operand[0].0 {
                    *value >>= 16;
                }
            }
            _ => {}
        }
        float::sign(format, self.packed, bit(self.neg), bit(self.abs), operand);
        if self.computes {
            float::flush(format, mode, operand);
        }
    }

    /// Modifies the result: flush of denormals, output multiplier, overflow limit, clamp, part of the register.
    #[inline(always)]
    fn finish(&self, valu: &Valu, wave: &Wave, out: &mut Pair, sources: [&Pair; 3]) {
        if self.computes {
            float::flush_result(self.result, wave.mode, out);
        }
        float::scale(self.result, self.omod, out);
        if let Some(overflow) = self.overflows
            && wave.mode.fp16_overflow()
        {
            let given = |index: usize| (valu.src[index] != Src::None).then_some(self.formats[index]);
            overflow.limit([0, 1, 2].map(given), sources, &mut out[0]);
        }
        if self.clamp {
            float::clamp(self.result, wave.mode, out);
        }
        if let Some(high) = self.half {
            let old = &wave.v[usize::from(valu.kept)];
            for lane in 0..LANES {
                let value = out[0].0[lane];
                out[0].0[lane] = if high {
                    old.0[lane] & 0xffff | value << 16
                } else {
                    old.0[lane] & 0xffff_0000 | value & 0xffff
                };
            }
        }
        if let (Some(sdwa), 1..) = (self.sdwa, valu.rows) {
            sdwa::place(sdwa, &wave.v[usize::from(valu.kept)], &mut out[0]);
        }
    }
}

/// Conversions whose `op_sel` selects a part of the destination.
pub(crate) fn is_tiny_conversion(name: &str) -> bool {
    ["v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32", "v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32"].contains(&name)
}

fn format_of(ty: Ty) -> Format {
    match ty {
        Ty::F16 => Format::F16,
        Ty::F32 => Format::F32,
        Ty::F64 => Format::F64,
        Ty::PkF16 | Ty::PkBf16 | Ty::PkI16 | Ty::PkU16 => Format::Packed16,
        Ty::PkF32 => Format::Packed32,
        _ => Format::Bits,
    }
}

/// Selects the halves for the low and the high operation.
#[inline(always)]
fn select_halves(row: &mut Row, low_from_high: bool, high_from_high: bool) {
    for value in &mut row.0 {
        let half = |high: bool| if high { *value >> 16 } else { *value & 0xffff };
        *value = half(low_from_high) | half(high_from_high) << 16;
    }
}
