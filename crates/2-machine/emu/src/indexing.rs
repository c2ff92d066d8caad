//! Indexing of registers by M0.

use crate::operand::Src;

/// Position of an operand; its value is the bit in `M0[15:12]`.
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

/// Indexing by one value of M0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Indexing {
    pub(crate) enabled: u8,
    pub(crate) index: u16,
    /// First row behind the wave's `v` registers.
    pub(crate) end: u16,
}

impl Indexing {
    /// Indexed row of the first of `count` registers; `None` when out of range.
    pub(crate) fn row(self, position: Position, row: u16, count: usize) -> Option<u16> {
        if self.enabled >> position as u8 & 1 == 0 || row >= self.end {
            return Some(row);
        }
        let indexed = row + self.index;
        (usize::from(indexed) + count.max(1) <= usize::from(self.end)).then_some(indexed)
    }

    /// Indexes a source of `count` registers; out of range it is `v0`.
    pub(crate) fn source(self, position: Position, src: &mut Src, count: usize) {
        if let Src::Row(row) = src {
            *row = self.row(position, *row, count).unwrap_or(0);
        }
    }

    /// Indexes a destination of `count` registers; `None` when out of range: the instruction does nothing.
    pub(crate) fn destination(self, row: &mut u16, count: usize) -> Option<()> {
        *row = self.row(Position::Destination, *row, count)?;
        Some(())
    }
}
