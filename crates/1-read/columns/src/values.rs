//! One recorded column, stored as compactly as its numbers allow.
//!
//! Most counters are whole numbers below 2^32 and many are the same in every dispatch, so a column starts as
//! one constant and widens only when a value demands it. Numbers read back are exactly those that were
//! written; a cell that was not recorded is `None`.

/// A column of numbers with gaps.
#[derive(Clone, Debug)]
pub struct Values {
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    /// Every cell equals `value` (NaN: not recorded).
    Same { value: f64, len: usize },
    /// Whole numbers; `GAP` is a cell that was not recorded.
    Small(Vec<u32>),
    /// Anything else; NaN is a cell that was not recorded.
    Wide(Vec<f64>),
}

/// Columns are equal when their cells are, however they are stored.
impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

const GAP: u32 = u32::MAX;

impl Default for Values {
    fn default() -> Self {
        Self::new()
    }
}

impl FromIterator<Option<f64>> for Values {
    fn from_iter<T: IntoIterator<Item = Option<f64>>>(iter: T) -> Self {
        let mut values = Self::new();
        for v in iter {
            values.push(v, 0);
        }
        values
    }
}

impl Values {
    /// An empty column.
    pub const fn new() -> Self {
        Self { cells: Cells::Same { value: f64::NAN, len: 0 } }
    }

    /// `len` cells of the same value.
    pub fn constant(value: Option<f64>, len: usize) -> Self {
        Self { cells: Cells::Same { value: finite(value), len } }
    }

    /// Cells.
    pub fn len(&self) -> usize {
        match &self.cells {
            Cells::Same { len, .. } => *len,
            Cells::Small(v) => v.len(),
            Cells::Wide(v) => v.len(),
        }
    }

    /// True if the column has no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a cell, `None` if nothing was recorded.
    pub fn get(&self, row: usize) -> Option<f64> {
        let v = self.raw(row);
        if v.is_nan() { None } else { Some(v) }
    }

    /// Whether no cell was recorded.
    pub fn is_blank(&self) -> bool {
        match &self.cells {
            Cells::Same { value, len } => *len == 0 || value.is_nan(),
            Cells::Small(v) => v.iter().all(|c| *c == GAP),
            Cells::Wide(v) => v.iter().all(|c| c.is_nan()),
        }
    }

    /// Whether some cell was not recorded.
    pub fn has_gaps(&self) -> bool {
        match &self.cells {
            Cells::Same { value, len } => *len > 0 && value.is_nan(),
            Cells::Small(v) => v.contains(&GAP),
            Cells::Wide(v) => v.iter().any(|c| c.is_nan()),
        }
    }

    /// Writes the cells of `rows` to `out`, NaN where nothing was recorded: the inner loop of evaluation.
    pub fn gather(&self, rows: &[u32], out: &mut [f64]) {
        match &self.cells {
            Cells::Same { value, len } => {
                for (o, r) in out.iter_mut().zip(rows) {
                    *o = if (*r as usize) < *len { *value } else { f64::NAN };
                }
            }
            Cells::Small(v) => {
                for (o, r) in out.iter_mut().zip(rows) {
                    *o = v.get(*r as usize).map_or(f64::NAN, |c| small(*c));
                }
            }
            Cells::Wide(v) => {
                for (o, r) in out.iter_mut().zip(rows) {
                    *o = v.get(*r as usize).copied().unwrap_or(f64::NAN);
                }
            }
        }
    }

    /// The cells in the order of `rows`; `None` gives a gap.
    pub fn reorder(&self, rows: &[Option<u32>]) -> Self {
        rows.iter().map(|r| r.and_then(|r| self.get(r as usize))).collect()
    }

    /// All cells in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Bytes the column holds on the heap.
    #[cfg(test)]
    pub fn heap_bytes(&self) -> usize {
        match &self.cells {
            Cells::Same { .. } => 0,
            Cells::Small(v) => v.capacity() * 4,
            Cells::Wide(v) => v.capacity() * 8,
        }
    }

    fn raw(&self, row: usize) -> f64 {
        match &self.cells {
            Cells::Same { value, len } => {
                if row < *len {
                    *value
                } else {
                    f64::NAN
                }
            }
            Cells::Small(v) => v.get(row).map_or(f64::NAN, |c| small(*c)),
            Cells::Wide(v) => v.get(row).copied().unwrap_or(f64::NAN),
        }
    }

    /// Appends a cell. `expected` is how many cells the column will have, if known: it sizes the first
    /// allocation.
    pub fn push(&mut self, value: Option<f64>, expected: usize) {
        let v = finite(value);
        match &mut self.cells {
            Cells::Same { value, len } => {
                if *len == 0 {
                    *value = v;
                    *len = 1;
                } else if value.to_bits() == v.to_bits() {
                    *len += 1;
                } else {
                    self.widen(expected, fits(v));
                    self.push(value_of(v), expected);
                }
            }
            Cells::Small(cells) => {
                if fits(v) {
                    cells.push(if v.is_nan() { GAP } else { v as u32 });
                } else {
                    let mut wide = Vec::with_capacity(cells.capacity());
                    wide.extend(cells.iter().map(|c| small(*c)));
                    wide.push(v);
                    self.cells = Cells::Wide(wide);
                }
            }
            Cells::Wide(cells) => cells.push(v),
        }
    }

    /// Appends a whole number that fits: the reader's fast path.
    #[inline]
    pub fn push_small(&mut self, v: u32, expected: usize) {
        match &mut self.cells {
            Cells::Small(cells) if v != GAP => cells.push(v),
            Cells::Same { value, len } if *len > 0 && value.to_bits() == f64::from(v).to_bits() => *len += 1,
            _ => self.push(Some(f64::from(v)), expected),
        }
    }

    /// The column itself, or `len` gaps when it is empty.
    pub fn or_blank(self, len: usize) -> Self {
        if self.is_empty() { Self::constant(None, len) } else { self }
    }

    /// Keeps the first `len` cells.
    pub fn truncate(&mut self, keep: usize) {
        match &mut self.cells {
            Cells::Same { len, .. } => *len = (*len).min(keep),
            Cells::Small(v) => v.truncate(keep),
            Cells::Wide(v) => v.truncate(keep),
        }
    }

    /// Gives back memory reserved beyond the cells.
    pub fn shrink(&mut self) {
        match &mut self.cells {
            Cells::Same { .. } => {}
            Cells::Small(v) if v.capacity() > v.len() + v.len() / 8 => v.shrink_to_fit(),
            Cells::Wide(v) if v.capacity() > v.len() + v.len() / 8 => v.shrink_to_fit(),
            Cells::Small(_) | Cells::Wide(_) => {}
        }
    }

    fn widen(&mut self, expected: usize, next_fits: bool) {
        let Cells::Same { value, len } = self.cells else { return };
        let room = expected.max(len + 1);
        self.cells = if next_fits && fits(value) {
            let mut v = Vec::with_capacity(room);
            v.resize(len, if value.is_nan() { GAP } else { value as u32 });
            Cells::Small(v)
        } else {
            let mut v = Vec::with_capacity(room);
            v.resize(len, value);
            Cells::Wide(v)
        };
    }
}

/// True if a value can be stored in a `Small` column. Minus zero keeps its sign, so it cannot.
fn fits(v: f64) -> bool {
    v.is_nan() || (v >= 0.0 && v < f64::from(GAP) && v.fract() == 0.0 && v.to_bits() != (-0.0f64).to_bits())
}

fn small(c: u32) -> f64 {
    if c == GAP { f64::NAN } else { f64::from(c) }
}

/// Infinities and NaN are not recordings of anything; all gaps share one bit pattern.
fn finite(v: Option<f64>) -> f64 {
    match v {
        Some(v) if v.is_finite() => v,
        _ => f64::NAN,
    }
}

fn value_of(v: f64) -> Option<f64> {
    if v.is_nan() { None } else { Some(v) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_return_what_was_pushed() {
        let cases: [&[Option<f64>]; 8] = [
            &[],
            &[Some(0.0), Some(0.0), Some(0.0)],
            &[Some(1.0), Some(2.0), None, Some(4_294_967_294.0)],
            &[Some(1.0), Some(4_294_967_295.0)],
            &[None, None, Some(3.5), Some(-1.0)],
            &[Some(7.0), None, Some(7.0)],
            &[Some(1e300), Some(1.0)],
            &[Some(5.0), Some(5.0), Some(0.25), Some(5.0)],
        ];
        for cells in cases {
            let v: Values = cells.iter().copied().collect();
            assert_eq!(v.iter().collect::<Vec<_>>(), cells, "{cells:?}");
            let rows: Vec<u32> = (0..cells.len() as u32).rev().collect();
            let mut out = vec![0.0; rows.len()];
            v.gather(&rows, &mut out);
            let back: Vec<Option<f64>> = out.iter().map(|v| value_of(*v)).collect();
            assert_eq!(back, cells.iter().rev().copied().collect::<Vec<_>>());
        }
    }

    #[test]
    fn equal_columns_cost_nothing_and_whole_ones_four_bytes() {
        let same: Values = (0..1000).map(|_| Some(12.0)).collect();
        assert_eq!(same.heap_bytes(), 0);
        let mut whole = Values::new();
        for i in 0..1000u32 {
            whole.push_small(i, 1000);
        }
        assert_eq!(whole.heap_bytes(), 4000);
    }

    #[test]
    fn not_finite_is_not_recorded() {
        let v: Values = [Some(f64::INFINITY), Some(f64::NAN), None].into_iter().collect();
        assert!(v.is_blank());
        assert_eq!(v.get(9), None);
    }
}
