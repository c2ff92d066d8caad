//! Register numbers that M0 indexes.

use crate::operand::Src;

/// A place of an operand, by its bit in `M0[15:12]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Position {
    Src0,
    Src1,
    Src2,
    Destination,
}

impl Position {
    pub(crate) const SOURCES: [Position; 3] = [Position::Src0, Position::Src1, Position::Src2];
}

/// How registers are indexed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Indexing {
    pub(crate) enabled: u8,
    pub(crate) index: u16,
    /// First row that is no register of the wave's `v` file.
    pub(crate) end: u16,
}

impl Indexing {
    /// Row of the first of so many registers; `None` when they are out of range.
    pub(crate) fn row(self, position: Position, row: u16, count: usize) -> Option<u16> {
        if self.enabled >> position as u8 & 1 == 0 || row >= self.end {
            return Some(row);
        }
        let indexed = row + self.index;
        (usize::from(indexed) + count.max(1) <= usize::from(self.end)).then_some(indexed)
    }

    /// A source of so many registers.
    pub(crate) fn source(self, position: Position, src: &mut Src, count: usize) {
        if let Src::Row(row) = src {
            *row = self.row(position, *row, count).unwrap_or(0);
        }
    }

    /// A destination of so many registers; `None` when the instruction does nothing.
    pub(crate) fn destination(self, row: &mut u16, count: usize) -> Option<()> {
        *row = self.row(Position::Destination, *row, count)?;
        Some(())
    }
}
