//! An operand of a matrix instruction as it stands in registers.
//!
//! The one idea to keep in mind: what the numbers of an operand are depends on the bits of its registers and on their form
//! alone; so numbers that were unpacked once are good for every instruction that finds both again.

use super::element::Element;
use crate::lanes::{LANES, Row, RowOps};
use crate::operand::Src;

/// How numbers of an operand stand in registers: type, elements of a lane, and registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Form {
    ty: u8,
    elements: u8,
    rows: u8,
}

impl Form {
    /// Registers at most.
    pub(super) const ROWS: usize = 8;

    /// The form of so many elements; none if there are more registers than are kept.
    fn of(ty: Element, elements: usize) -> Option<Form> {
        let rows = (elements * ty.bits()).div_ceil(32);
        (rows <= Form::ROWS).then_some(Form { ty: ty.number(), elements: elements as u8, rows: rows as u8 })
    }

    pub(super) fn rows(self) -> usize {
        usize::from(self.rows)
    }
}

/// An operand.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) src: Src,
    pub(super) ty: Element,
    elements: usize,
    /// Numbers of all codes of the type, where they are looked up.
    codes: Vec<f32>,
    /// What it is kept by.
    pub(super) form: Option<Form>,
}

impl Packed {
    /// An operand with so many elements in a lane.
    pub(super) fn new(src: Src, ty: Element, elements: usize) -> Packed {
        Packed { src, ty, elements, codes: ty.numbers(), form: Form::of(ty, elements) }
    }

    /// Registers of a lane's elements.
    pub(super) fn registers(&self) -> usize {
        (self.elements * self.ty.bits()).div_ceil(32)
    }

    /// Its numbers, one row of lanes per element.
    #[inline(always)]
    pub(super) fn unpack(&self, row_ops: &RowOps, rows: &[Row], numbers: &mut [f32]) {
        let numbers = numbers.as_chunks_mut::<LANES>().0.get_mut(..self.elements).unwrap_or_default();
        self.ty.single(row_ops, rows, &self.codes, numbers);
    }
}
