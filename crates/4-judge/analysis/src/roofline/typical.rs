//! The dispatches of a kernel that a verdict is about.
//!
//! One outlier among three dispatches is a third of their time, and launches of different sizes are different
//! work under one name. A verdict covers the launches that take the most time, and of these the middle half.

use crate::numbers::KernelNumbers;
use sorting::Sort;
use std::collections::BTreeMap;

/// Dispatches that a verdict is about.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Typical {
    /// Rows of the recording.
    pub rows: Vec<u32>,
    /// Dispatches of the kernel.
    pub of: usize,
    /// Sizes of launches of the kernel: work-items and workgroup.
    pub sizes: usize,
    /// Work-items of these dispatches, where the kernel has launches of several sizes.
    pub grid: Option<f64>,
    /// Shortest, middle and longest time of the dispatches of this size, ns; none without times.
    pub times: Option<[f64; 3]>,
    /// Relative deviation of their times from the median, for the half that is judged.
    pub noise: f64,
}

/// Time and row of each dispatch.
type Timed = Vec<(f64, u32)>;

impl Typical {
    pub(super) fn of(kernel: &KernelNumbers<'_>) -> Self {
        let rows = kernel.evaluation.rows();
        let d = &kernel.workload.dispatches;
        let all = || Typical { rows: rows.to_vec(), of: rows.len(), sizes: 1, ..Typical::default() };
        // Each dispatch has counters that others have not: only all together have all.
        if kernel.workload.multiplexed.is_some() {
            return all();
        }
        // Sizes are whole numbers.
        let size = |row: u32| {
            let of = |values: &workload::Values| values.get(row as usize).map_or(0, |value| value as u64);
            (of(&d.grid), of(&d.workgroup))
        };
        let mut by_size: BTreeMap<(u64, u64), Timed> = BTreeMap::new();
        for row in rows {
            let Some(time) = d.duration(*row as usize) else { continue };
            by_size.entry(size(*row)).or_default().push((time, *row));
        }
        let sum = |list: &Timed| list.iter().map(|it| it.0).sum::<f64>();
        let sizes = by_size.len();
        let longest = by_size.into_iter().max_by(|a, b| sum(&a.1).total_cmp(&sum(&b.1)));
        let Some(((grid, _), mut timed)) = longest else { return all() };
        timed.in_order_by(|a, b| a.0.total_cmp(&b.0));
        let n = timed.len();
        let middle = timed[n / 2].0;
        let cut = if n < 3 { 0 } else { (n / 4).max(1) };
        let (low, high) = (timed[cut].0, timed[n - 1 - cut].0);
        // All of equal time are in or out, so that the order of rows does not matter.
        let rows = timed.iter().filter(|it| (low..=high).contains(&it.0)).map(|it| it.1).collect();
        let noise = if middle > 0.0 { (high - low) / 2.0 / middle } else { 0.0 };
        Typical {
            rows,
            of: kernel.evaluation.rows().len(),
            sizes,
            grid: (sizes > 1).then_some(grid as f64),
            times: Some([timed[0].0, middle, timed[n - 1].0]),
            noise,
        }
    }
}
