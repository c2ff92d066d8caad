//! Fast paths for frequent modifiers, in one pass over the lanes.
//!
//! The one idea to keep in mind: a fast path handles one kind of modifier under some modes. The kind is chosen at
//! decode; the mode is checked at each execution.

use super::{Format, Modifiers};
use crate::in_place::InPlace;
use crate::kernels::Kernels;
use crate::lanes::{Kernel, LANES, Mode, Row};
use crate::machine::{Machine, fetch};
use crate::operand::{NONE, Src};
use crate::run_in_place;
use crate::valu::Valu;
use crate::vector::Variant;
use crate::wave::Wave;
use isa::{Bits, Inst, Operand};

/// Fast path of an instruction.
#[derive(Clone, Debug)]
pub(super) enum Quick {
    /// None.
    Nothing,
    /// Signs of f32 sources.
    Signs,
    /// DPP of the first source.
    Lanes,
    /// No modifiers; this kernel flushes f32 denormals, for modes that flush only these.
    Flushed(Kernel),
    /// In-place kernel and its number.
    InPlace(InPlace, u32),
}

/// In-place kernel and its number, for instructions without modifiers and for packed ones that only select
/// halves.
pub(crate) fn in_place(
    it: &Modifiers,
    valu: &Valu,
    inst: &Inst,
    kernels: &Kernels,
) -> Option<(InPlace, u32)> {
    let ordinary = |src: &Src| !matches!(src, Src::Special(_));
    let writes_mask = valu.mask_out != NONE || valu.mask_in != Src::None || valu.writes_exec;
    if writes_mask || !valu.src.iter().all(ordinary) {
        return None;
    }
    let kernel = match (inst.info().name, inst.operands()) {
        // Compilers add addresses with a shift of 0.
        ("v_lshl_add_u64", [_, _, Operand::Int(0), _]) => kernels.in_place(inst.op, Variant::Unshifted)?,
        _ => kernels.in_place(inst.op, Variant::Plain)?,
    };
    // Clamped integer arithmetic has kernels of its own.
    let clamp = inst.mods.bits.contains(Bits::CLAMP);
    let bare = it.neg | it.abs | it.omod == 0 && it.sdwa.is_none() && it.dpp.is_none();
    match it.packed {
        _ if clamp => None,
        true => bare.then_some((kernel, u32::from(it.op_sel & 7) | u32::from(it.op_sel_hi & 7) << 3)),
        false => it.plain.then_some((kernel, 0)),
    }
}

impl Quick {
    /// Chooses the fast path of an instruction with resolved modifiers.
    pub(super) fn of(it: &Modifiers, valu: &Valu, inst: &Inst, kernels: &Kernels) -> Quick {
        if it.plain {
            let single = it.formats.iter().all(|format| matches!(format, Format::F32 | Format::Bits));
            let flushed = kernels.get(inst.op, Variant::Flushed);
            return match flushed.filter(|_| single && it.result == Format::F32 && valu.rows == 1) {
                Some(kernel) => Quick::Flushed(kernel),
                None => Quick::Nothing,
            };
        }
        if it.clamp || it.omod != 0 || it.sdwa.is_some() || it.half.is_some() || valu.rows > 2 {
            return Quick::Nothing;
        }
        let registers = |src: Src| matches!(src, Src::Row(_) | Src::None);
        let one_row = |index: usize| {
            matches!(it.formats[index], Format::F32 | Format::F16 | Format::Packed16)
                || (it.formats[index] == Format::Bits && valu.rows == 1)
        };
        if it.dpp.is_some() {
            let others = it.neg | it.abs | it.op_sel == 0 && it.prepares & 6 == 0;
            let plain = others && !it.packed && one_row(0) && registers(valu.src[0]);
            return if plain { Quick::Lanes } else { Quick::Nothing };
        }
        if let Some((kernel, number)) = in_place(it, valu, inst, kernels) {
            return Quick::InPlace(kernel, number);
        }
        let signs = !it.packed
            && it.op_sel == 0
            && (0..3).all(|index| it.prepares >> index & 1 == 0 || it.formats[index] == Format::F32);
        if signs { Quick::Signs } else { Quick::Nothing }
    }

    /// Executes the instruction; false if the mode forbids the fast path.
    #[inline(always)]
    pub(super) fn run(
        &self,
        it: &Modifiers,
        valu: &Valu,
        machine: &mut Machine<'_>,
        wave: &mut Wave,
    ) -> bool {
        let mode = wave.mode;
        let allowed = match self {
            Quick::Nothing => false,
            Quick::Flushed(_) => flushes_only(mode),
            _ => mode.is_host(),
        };
        if !allowed || it.limits(mode) {
            return false;
        }
        let (pool, exec) = (machine.pool, wave.exec());
        let (mut lanes, mut changed) = (exec, 0);
        let mut kernel = valu.kernel;
        match self {
            Quick::Nothing => return false,
            Quick::Flushed(flushed) => kernel = *flushed,
            Quick::InPlace(kernel, number) => {
                run_in_place::run(*kernel, *number, valu, machine, wave);
                return true;
            }
            Quick::Lanes => {
                let (Some(dpp), Src::Row(row)) = (&it.dpp, valu.src[0]) else { return false };
                let Some(row) = wave.v.get(usize::from(row)) else { return false };
                changed = 1;
                lanes &= dpp.run_one(&machine.row_ops, exec, row, &mut machine.spread[0][0]);
            }
            Quick::Signs => {
                changed = it.prepares;
                for (index, &src) in valu.src.iter().enumerate() {
                    if changed >> index & 1 == 0 {
                        continue;
                    }
                    let keep = if it.abs >> index & 1 != 0 { 0x7fff_ffff } else { u32::MAX };
                    let flip = if it.neg >> index & 1 != 0 { 0x8000_0000 } else { 0 };
                    let value = match src {
                        Src::Row(row) => {
                            let Some(from) = wave.v.get(usize::from(row)) else { return false };
                            let into = &mut machine.spread[index][0];
                            for lane in 0..LANES {
                                into.0[lane] = from.0[lane] & keep ^ flip;
                            }
                            continue;
                        }
                        src => machine.scalar(wave, src) as u32,
                    };
                    machine.spread[index][0] = Row([value & keep ^ flip; LANES]);
                }
            }
        }
        for index in 0..3 {
            if matches!(valu.src[index], Src::Special(_)) && changed >> index & 1 == 0 {
                machine.spread[index] = machine.pair(wave, valu.src[index]);
            }
        }
        let mut extra = machine.extra(wave, valu);
        let [a, b, c] = &mut machine.spread;
        let a = if changed & 1 != 0 { a } else { fetch(pool, wave, a, valu.src[0]) };
        let b = if changed & 2 != 0 { b } else { fetch(pool, wave, b, valu.src[1]) };
        let c = if changed & 4 != 0 { c } else { fetch(pool, wave, c, valu.src[2]) };
        kernel(&mut machine.out, a, b, c, &mut extra);
        for (number, row) in machine.out.iter().enumerate().take(usize::from(valu.rows)) {
            wave.store_row(usize::from(valu.dst) + number, row, lanes);
        }
        if valu.mask_out != NONE || valu.writes_exec {
            machine.store_mask(wave, valu, &extra, lanes);
        }
        true
    }
}

/// True if the mode rounds f32 to nearest and flushes f32 denormals of sources and results.
#[inline(always)]
fn flushes_only(mode: Mode) -> bool {
    mode.round32() == 0 && mode.denormal32() == 0
}
