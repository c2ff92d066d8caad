//! Averages over several dispatches.
//!
//! Totals are summed and divided at the end. A recorded ratio cannot be separated into totals, so its
//! dispatches are weighted by a known size (time or waves).

use super::{CHUNK, Chunk, Evaluation};
use crate::compile::{Leaf, Node, leaves_of};
use counters::Averaged;
use view::Average;

/// Lanes of a wave on every GPU that the counters are of.
const LANES_PER_WAVE: f64 = 64.0;

impl Evaluation<'_> {
    /// A node over all dispatches as one number.
    pub(super) fn average(&self, node: &Node, degree: i8, channel: u32) -> f64 {
        match self.settings.average {
            Average::Dispatches => {
                let (mut sum, mut n) = (0.0, 0u64);
                for v in self.column(node, channel) {
                    if v.is_finite() {
                        sum += v;
                        n += 1;
                    }
                }
                sum / n as f64
            }
            Average::Weighted => {
                let mut leaves = Vec::new();
                leaves_of(node, &mut leaves);
                let (mut sums, mut n) = (vec![0.0; leaves.len()], 0u64);
                for rows in self.rows.chunks(CHUNK) {
                    let columns: Vec<Vec<f64>> = leaves
                        .iter()
                        .map(|l| match self.chunk(&Node::Leaf(*l), rows, channel) {
                            Chunk::Each(v) => v,
                            Chunk::Same(v) => vec![v; rows.len()],
                        })
                        .collect();
                    for i in 0..rows.len() {
                        // Only dispatches for which everything was recorded count, above and below.
                        if columns.iter().all(|c| c[i].is_finite()) {
                            sums.iter_mut().zip(&columns).for_each(|(s, c)| *s += c[i]);
                            n += 1;
                        }
                    }
                }
                if n == 0 {
                    return f64::NAN;
                }
                for (sum, leaf) in sums.iter_mut().zip(&leaves) {
                    if let Leaf::Derived { averaged, .. } = self.leaf_of(*leaf)
                        && !averaged.is_total()
                    {
                        *sum = self.weighted(*leaf, *averaged, &leaves, channel);
                    }
                }
                let v =
                    self.scalar(node, &|l| leaves.iter().position(|x| *x == l).map_or(f64::NAN, |i| sums[i]));
                if degree == 1 { v / n as f64 } else { v }
            }
        }
    }

    /// The mean of a recorded ratio over the dispatches that have all of `with`.
    fn weighted(&self, leaf: usize, averaged: Averaged, with: &[usize], channel: u32) -> f64 {
        let d = &self.workload.dispatches;
        let weight = |row: u32| match averaged {
            Averaged::ByTime => d.duration(row as usize),
            Averaged::ByWaves => self.waves(row as usize),
            Averaged::Constant | Averaged::Total => Some(1.0),
        };
        let all = self.rows.iter().all(|row| weight(*row).is_some());
        let (mut sum, mut of) = (0.0, 0.0);
        for rows in self.rows.chunks(CHUNK) {
            let values = self.leaf(leaf, rows, channel);
            let others: Vec<Vec<f64>> = with.iter().map(|it| self.leaf(*it, rows, channel)).collect();
            for (i, row) in rows.iter().enumerate() {
                if others.iter().all(|column| column[i].is_finite()) {
                    // Where one dispatch has no weight, all count the same.
                    let weight = if all { weight(*row).unwrap_or(1.0) } else { 1.0 };
                    sum += weight * values[i];
                    of += weight;
                }
            }
        }
        sum / of
    }

    /// Waves of a dispatch, computed from the launch.
    fn waves(&self, row: usize) -> Option<f64> {
        let d = &self.workload.dispatches;
        let (grid, workgroup) = (d.grid.get(row)?, d.workgroup.get(row).filter(|it| *it > 0.0)?);
        let lanes = self.fact("machine.lanes_per_wave");
        let lanes = if lanes > 0.0 { lanes } else { LANES_PER_WAVE };
        Some((grid / workgroup).ceil() * (workgroup / lanes).ceil())
    }
}
