//! Kernels ranked by time.
//!
//! A kernel is ranked by the sum of its dispatches' times; dispatches without a known time are counted and
//! marked.

use crate::evaluate::Value;
use view::Missing;
use workload::Workload;

/// One kernel's dispatches.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTimes {
    /// Kernel, an index into [`Workload::kernels`].
    pub kernel: u32,
    /// Dispatches.
    pub count: u64,
    /// Dispatches with a known time.
    pub timed: u64,
    /// Sum of times, ns.
    pub sum: Value,
    /// Mean time, ns.
    pub mean: Value,
    /// Median time, ns.
    pub median: Value,
    /// Share of all selected dispatches' time, percent.
    pub percent: Value,
}

/// Kernels of the selected dispatches, most time first, then as first seen.
pub fn kernels(w: &Workload, rows: &[u32]) -> Vec<KernelTimes> {
    let mut order: Vec<u32> = Vec::new();
    let mut times: Vec<(u64, Vec<f64>)> = vec![(0, Vec::new()); w.kernels.len()];
    for r in rows {
        let Some(k) = w.dispatches.kernel.get(*r as usize) else { continue };
        let Some(t) = times.get_mut(*k as usize) else { continue };
        if t.0 == 0 {
            order.push(*k);
        }
        t.0 += 1;
        t.1.extend(w.dispatches.duration(*r as usize));
    }
    let all: f64 = times.iter().flat_map(|t| &t.1).sum();
    let mut out: Vec<KernelTimes> = order
        .into_iter()
        .map(|kernel| {
            let (count, list) = &mut times[kernel as usize];
            list.sort_by(f64::total_cmp);
            let n = list.len();
            let value = |v: f64| {
                if n > 0 { Ok(v) } else { Err(Missing::Durations) }
            };
            let sum: f64 = list.iter().sum();
            let median = match n {
                0 => f64::NAN,
                _ if n % 2 == 1 => list[n / 2],
                _ => (list[n / 2 - 1] + list[n / 2]) / 2.0,
            };
            KernelTimes {
                kernel,
                count: *count,
                timed: n as u64,
                sum: value(sum),
                mean: value(sum / n as f64),
                median: value(median),
                percent: value(100.0 * sum / all),
            }
        })
        .collect();
    let time = |k: &KernelTimes| k.sum.as_ref().copied().unwrap_or(-1.0);
    out.sort_by(|a, b| time(b).total_cmp(&time(a)));
    out
}
