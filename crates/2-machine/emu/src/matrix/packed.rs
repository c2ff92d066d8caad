//! Operand of a matrix instruction, packed in registers.
//!
//! The one idea to keep in mind: the numbers of an operand depend only on the bits of its registers and on its
//! form. So unpacked numbers are cached, for every later instruction with the same bits and form.

use super::element::Element;
use crate::lanes::{LANES, Row, RowOps};
use crate::operand::Src;

/// Form of an operand: element type, elements per lane, and registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Form {
    ty: u8,
    elements: u8,
    rows: u8,
}

impl Form {
    /// Most registers of a cached operand.
    pub(super) const ROWS: usize = 8;

    /// Form of `elements` elements; `None` if they take more registers than are cached.
    fn of(ty: Element, elements: usize) -> Option<Form> {
        let rows = (elements * ty.bits()).div_ceil(32);
        (rows <= Form::ROWS).then_some(Form { ty: ty.number(), elements: elements as u8, rows: rows as u8 })
    }

    pub(super) fn rows(self) -> usize {
        usize::from(self.rows)
    }
}

/// A packed operand.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) src: Src,
    pub(super) ty: Element,
    elements: usize,
    /// Look-up table of values by code, for narrow types.
    codes: Vec<f32>,
    /// Key of the cache of unpacked numbers.
    pub(super) form: Option<Form>,
}

impl Packed {
    /// An operand with `elements` elements per lane.
    pub(super) fn new(src: Src, ty: Element, elements: usize) -> Packed {
        Packed { src, ty, elements, codes: ty.numbers(), form: Form::of(ty, elements) }
    }

    /// Registers of an operand.
    pub(super) fn registers(&self) -> usize {
        (self.elements * self.ty.bits()).div_ceil(32)
    }

    /// Unpacks an operand to one row of lanes per element.
    #[inline(always)]
    pub(super) fn unpack(&self, row_ops: &RowOps, rows: &[Row], numbers: &mut [f32]) {
        let numbers = numbers.as_chunks_mut::<LANES>().0.get_mut(..self.elements).unwrap_or_default();
        self.ty.single(row_ops, rows, &self.codes, numbers);
    }
}
