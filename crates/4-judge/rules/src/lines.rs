//! Cache lines that one access of a wave touches, for addresses known lane by lane or up to one stride.
//!
//! The first lane is assumed to begin a line. Alignment adds at most one line.

use analysis::affine::{Access, Addresses, LANES, Strided};
use sorting::Sort;

/// Lines of one access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lines {
    /// Touched.
    pub(crate) touched: u32,
    /// Minimum number of lines that would hold the same bytes.
    pub(crate) least: u32,
    /// Bytes from the first lane to the second; with a stride, bytes for each element of it.
    pub(crate) apart: i32,
    /// The lanes are apart by a stride known at run time only.
    pub(crate) by_stride: bool,
}

impl Lines {
    /// Lines of `line` bytes that `bytes` per lane touch; `None` if the lanes are not known.
    pub(crate) fn of(
        addresses: &Addresses,
        access: &Access,
        position: i64,
        bytes: u32,
        line: u32,
    ) -> Option<Self> {
        if let Some(lanes) = addresses.lanes(access) {
            let relative = relative(&lanes);
            return Some(Lines::count(&relative, &[0; LANES], position, bytes, line));
        }
        let Strided { offsets, steps, bytes: unit } = addresses.strided(access)?;
        let (offsets, steps) = (relative(&offsets), relative(&steps));
        let mut lines = Lines::count(&offsets, &steps, position, bytes, line);
        lines.by_stride = true;
        lines.apart =
            unit as i32 * (1..LANES).map(|i| steps[i] - steps[i - 1]).find(|step| *step != 0)? as i32;
        Some(lines)
    }

    /// Lanes with different `steps` are assumed to be in different lines.
    fn count(offsets: &[i64; LANES], steps: &[i64; LANES], position: i64, bytes: u32, line: u32) -> Self {
        let lowest = offsets.iter().min().copied().unwrap_or(0);
        let (line, bytes) = (i64::from(line.max(1)), i64::from(bytes.max(1)));
        let (in_lines, in_elements) = (divide(line), divide(bytes));
        // The accesses of a group share a line where their positions do.
        let phase = position.rem_euclid(line);
        let (mut lines, mut touched) = (Distinct::<{ 2 * LANES }>::new(), Distinct::<LANES>::new());
        for (offset, step) in offsets.iter().zip(steps) {
            let at = offset - lowest + phase;
            for byte in [at, at + bytes - 1] {
                lines.add((*step, in_lines(byte)));
            }
            touched.add((*step, in_elements(at)));
        }
        let least = (touched.count() as u64 * bytes as u64).div_ceil(line as u64);
        Lines {
            touched: lines.count() as u32,
            least: least as u32,
            apart: (offsets[1] - offsets[0]) as i32,
            by_stride: false,
        }
    }

    /// Lines touched beyond those needed.
    pub(crate) fn surplus(self) -> u32 {
        self.touched.saturating_sub(self.least)
    }
}

/// Divides non-negative numbers. Sizes are powers of two, except one of three words.
fn divide(size: i64) -> impl Fn(i64) -> i64 {
    let shift = size.trailing_zeros();
    let is_power = size == 1 << shift;
    move |at| if is_power { at >> shift } else { at / size }
}

/// Different pairs among at most `N`. Lanes mostly come in order, where nothing is left to sort and
/// neighbours are the same.
struct Distinct<const N: usize> {
    pairs: [(i64, i64); N],
    len: usize,
    /// They arrived in order.
    sorted: bool,
}

impl<const N: usize> Distinct<N> {
    const fn new() -> Self {
        Distinct { pairs: [(0, 0); N], len: 0, sorted: true }
    }

    fn add(&mut self, pair: (i64, i64)) {
        let last = self.pairs[..self.len].last();
        if last != Some(&pair) {
            self.sorted &= last.is_none_or(|last| *last < pair);
            self.pairs[self.len] = pair;
            self.len += 1;
        }
    }

    fn count(&mut self) -> usize {
        if self.sorted {
            return self.len;
        }
        let pairs = &mut self.pairs[..self.len];
        pairs.in_order();
        pairs.chunk_by(|a, b| a == b).count()
    }
}

/// Distances to the first lane.
fn relative(lanes: &[u32; LANES]) -> [i64; LANES] {
    lanes.map(|lane| i64::from(lane.wrapping_sub(lanes[0]) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_strides() {
        let linear = |step: i64| std::array::from_fn(|lane| lane as i64 * step);
        let none = [0; LANES];
        let rows = |width: i64| std::array::from_fn(|lane| lane as i64 / width);
        let columns = |width: i64| std::array::from_fn(|lane| lane as i64 % width * 4);
        // Offsets, steps, bytes, line, lines touched, least.
        for (offsets, steps, bytes, line, touched, least) in [
            (linear(4), none, 4, 64, 4, 4),
            (linear(4), none, 4, 128, 2, 2),
            (linear(16), none, 16, 64, 16, 16),
            (linear(28), none, 4, 64, 28, 4),
            (linear(28), none, 4, 128, 14, 2),
            (linear(256), none, 4, 64, 64, 4),
            (linear(-4), none, 4, 64, 4, 4),
            // All lanes at one address.
            (linear(0), none, 4, 64, 1, 1),
            // A row per lane, and rows of 16 lanes.
            (linear(0), linear(1), 4, 64, 64, 4),
            (columns(16), rows(16), 4, 64, 4, 4),
            (columns(8), rows(8), 4, 64, 8, 4),
        ] {
            let lines = Lines::count(&offsets, &steps, 0, bytes, line);
            assert_eq!(
                (lines.touched, lines.least),
                (touched, least),
                "{offsets:?} {steps:?} {bytes} {line}"
            );
        }
    }
}
