//! Row-wise parts of the executor, as function pointers.
//!
//! The one idea to keep in mind: these parts are compiled once per CPU kind and not again for every observer, whose
//! executor has only the loop over instructions.

use crate::access::{Access, Part, Parts};
use crate::fault::Stop;
use crate::lanes_cross::LaneOp;
use crate::machine::Machine;
use crate::matrix::{Instruction, Workplace};
use crate::modifiers::Modifiers;
use crate::raw;
use crate::valu::Valu;
use crate::wave::Wave;

type Transfer = fn(&Access, &mut Machine<'_>, &mut Wave, Part) -> Result<(), Box<Stop>>;

/// Functions compiled for one kind of CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    /// Executes a vector instruction whose modifiers have a fast path; false if MODE forbids it.
    pub(crate) quick: fn(&Modifiers, &Valu, &mut Machine<'_>, &mut Wave) -> bool,
    /// Executes a vector instruction with modifiers.
    pub(crate) modified: fn(&Modifiers, &Valu, &mut Machine<'_>, &mut Wave),
    /// Executes a lane exchange.
    pub(crate) lane: fn(&LaneOp, &mut Machine<'_>, &mut Wave),
    /// Executes a matrix instruction.
    pub(crate) matrix: fn(&Instruction, &Machine<'_>, &mut Workplace, &mut Wave),
    /// Executes a matrix instruction whose operands are plain registers.
    pub(crate) plain_matrix: fn(&Instruction, &Machine<'_>, &mut Workplace, &mut Wave),
    /// Computes the addresses of a memory instruction.
    pub(crate) reach: fn(&Access, &mut Machine<'_>, &Wave) -> Parts,
    /// Executes a memory instruction on its fast path; false if that does not apply.
    pub(crate) ordinary: fn(&Access, &mut Machine<'_>, &mut Wave) -> bool,
    /// Moves the data of one element in one address space.
    pub(crate) transfer: Transfer,
}

macro_rules! engine {
    ($ordinary:ident) => {
        Engine {
            ordinary: |it, machine, wave| $ordinary(it, machine, wave),
            quick: |it, valu, machine, wave| it.run_quick(valu, machine, wave),
            modified: |it, valu, machine, wave| it.run(valu, machine, wave),
            lane: |it, machine, wave| it.run(machine, wave),
            matrix: |it, machine, workplace, wave| it.run(machine, workplace, wave),
            plain_matrix: |it, machine, workplace, wave| {
                it.run_plain(machine, workplace, wave, |_, _, _| false)
            },
            reach: |it, machine, wave| it.reach(machine, wave),
            transfer: |it, machine, wave, part| it.transfer(machine, wave, part),
        }
    };
}

/// Executes a memory instruction on its fast path if the lanes keep their distances; false otherwise.
fn ordinary(access: &Access, machine: &mut Machine<'_>, wave: &mut Wave) -> bool {
    access.run_ordinary(raw::Plain, machine, wave)
}

/// [`ordinary`], compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
fn ordinary_avx2(access: &Access, machine: &mut Machine<'_>, wave: &mut Wave) -> bool {
    access.run_ordinary(raw::vectors(), machine, wave)
}

/// Functions for any CPU. Inlined, they would be compiled again for each caller.
#[inline(never)]
pub(crate) fn portable() -> Engine {
    engine!(ordinary)
}

/// Functions for CPUs with AVX2, FMA, BMI, LZCNT, POPCNT and F16C. Not inlined either.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn avx2() -> Engine {
    engine!(ordinary_avx2)
}

/// As [`avx2`], for CPUs with AVX-512, whose registers hold all sums of a product.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn avx512() -> Engine {
    Engine {
        plain_matrix: |it, machine, workplace, wave| {
            it.run_plain(machine, workplace, wave, |square, factors, sums| {
                raw::square_avx512(square, factors, sums)
            });
        },
        ..avx2()
    }
}
