//! The parts of the executor that work on whole rows, reached through pointers.
//!
//! The one idea to keep in mind: they are compiled twice in this crate, for any CPU and for AVX2 with FMA, and not once
//! more for every observer; what an observer's executor holds of its own is only the loop over instructions.

use crate::access::{Access, Parts};
use crate::decode::Valu;
use crate::fault::Stop;
use crate::lanes::{LANES, Row, Step};
use crate::lanes_cross::LaneOp;
use crate::machine::Machine;
use crate::matrix::Instruction;
use crate::modifiers::Modifiers;
use crate::wave::Wave;
use isa::Space;

type Transfer = fn(&Access, &mut Machine<'_>, &mut Wave, Space, u64, usize) -> Result<(), Box<Stop>>;

/// The parts compiled for one kind of CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    /// A vector instruction with modifiers that have a quick way; whether the mode let it be gone.
    pub(crate) quick: fn(&Modifiers, &Valu, &mut Machine<'_>, &mut Wave) -> bool,
    /// A vector instruction with modifiers.
    pub(crate) modified: fn(&Modifiers, &Valu, &mut Machine<'_>, &mut Wave),
    /// An exchange between lanes.
    pub(crate) lane: fn(&LaneOp, &mut Machine<'_>, &mut Wave),
    /// A matrix instruction.
    pub(crate) matrix: fn(&Instruction, &mut Machine<'_>, &mut Wave),
    /// One that uses registers as they are.
    pub(crate) plain_matrix: fn(&Instruction, &mut Machine<'_>, &mut Wave),
    /// Addresses of a memory instruction, and the spaces they lie in.
    pub(crate) reach: fn(&Access, &mut Machine<'_>, &Wave) -> Parts,
    /// The low and the high halves of a row, as f32.
    pub(crate) halves: fn(&Row, &mut [f32; LANES], &mut [f32; LANES]),
    /// A row of lanes of another one; 0 where no step says.
    pub(crate) permute: fn(&[Step], &Row, &mut Row),
    /// A memory instruction whose lanes stand to each other as the last time; whether it was one.
    pub(crate) ordinary: fn(&Access, &mut Machine<'_>, &mut Wave) -> bool,
    /// Moves the data of one element in one space.
    pub(crate) transfer: Transfer,
}

macro_rules! engine {
    ($halves:ident, $ordinary:ident, $permute:ident) => {
        Engine {
            halves: |row, low, high| crate::raw::$halves(row, low, high),
            permute: |steps, from, into| crate::raw::$permute(steps, from, into),
            ordinary: |it, machine, wave| crate::raw::$ordinary(it, machine, wave),
            quick: |it, valu, machine, wave| it.run_quick(valu, machine, wave),
            modified: |it, valu, machine, wave| it.run(valu, machine, wave),
            lane: |it, machine, wave| it.run(machine, wave),
            matrix: |it, machine, wave| it.run(machine, wave),
            plain_matrix: |it, machine, wave| it.run_plain(machine, wave, |_, _, _| false),
            reach: |it, machine, wave| it.reach(machine, wave),
            transfer: |it, machine, wave, space, lanes, element| {
                it.transfer(machine, wave, space, lanes, element)
            },
        }
    };
}

/// For every CPU.
pub(crate) fn portable() -> Engine {
    engine!(halves_to_singles, ordinary, permute)
}

/// For CPUs with AVX2, FMA and their contemporaries.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn avx2() -> Engine {
    engine!(halves_to_singles_f16c, ordinary_avx2, permute_avx2)
}

/// As [`avx2`], for CPUs that also have AVX-512: the sums of a whole product fit in their registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn avx512() -> Engine {
    Engine {
        plain_matrix: |it, machine, wave| {
            it.run_plain(machine, wave, |square, factors, sums| {
                crate::raw::square_avx512(square, factors, sums)
            });
        },
        ..avx2()
    }
}
