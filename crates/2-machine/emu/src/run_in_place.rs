//! Execution of in-place kernels on the registers of a wave.

use crate::in_place::InPlace;
use crate::lanes::Row;
use crate::machine::Machine;
use crate::operand::Src;
use crate::valu::Valu;
use crate::wave::Wave;
use std::cell::Cell;

/// Executes an instruction with an in-place kernel. Its sources are registers, constants or scalars, and none is a
/// [`Src::Special`].
#[inline(always)]
pub(crate) fn run(kernel: InPlace, number: u32, valu: &Valu, machine: &mut Machine<'_>, wave: &mut Wave) {
    for (src, place) in valu.src.iter().zip(&mut machine.spread) {
        if let Src::Scalar(index) = *src {
            let value = wave.pair(index);
            *place = [Row([value as u32; 64]), Row([(value >> 32) as u32; 64])];
        }
    }
    let exec = wave.exec();
    let Machine { constants, spread, out, .. } = machine;
    let registers = Cell::from_mut(&mut wave.v[..]).as_slice_of_cells();
    let constants = Cell::from_mut(&mut constants[..]).as_slice_of_cells();
    let spread = Cell::from_mut(spread).as_array_of_cells();
    let source = |index: usize| match valu.src[index] {
        Src::Row(row) => registers.get(usize::from(row)..).and_then(<[_]>::first_chunk),
        Src::Constant(number) => constants.get(usize::from(number)).map(Cell::as_array_of_cells),
        _ => Some(spread[index].as_array_of_cells()),
    };
    let (Some(a), Some(b), Some(c)) = (source(0), source(1), source(2)) else { return };
    if exec == u64::MAX {
        let Some(into) = registers.get(usize::from(valu.dst)..).and_then(<[_]>::first_chunk) else { return };
        kernel(into, a, b, c, number);
        return;
    }
    kernel(Cell::from_mut(out).as_array_of_cells(), a, b, c, number);
    for row in 0..usize::from(valu.rows) {
        wave.store_row(usize::from(valu.dst) + row, &machine.out[row & 1], exec);
    }
}
