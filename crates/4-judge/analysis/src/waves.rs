//! Occupancy over time of the kernels of a recording.
//!
//! Dispatches are weighted by their time, so the mean over the parts is the mean over the kernel's time.

use crate::recorded::WorkloadEvidence;
use metrics::Value;
use std::collections::HashMap;
use view::{KernelWaves, Missing, Number, WaveChart};
use workload::Occupancy;

/// Mark of waves in flight.
const LEVEL: &str = "SQ_LEVEL_WAVES";

/// Occupancy over time of at most `most` kernels; `None` if the recording has none.
pub fn chart(kernels: &[WorkloadEvidence<'_>], most: usize) -> Option<WaveChart> {
    let first = kernels.first()?;
    let of_row: HashMap<u32, &Occupancy> = first.workload.occupancy.iter().map(|it| (it.row, it)).collect();
    let mut known: Vec<KernelWaves> = kernels.iter().filter_map(|it| kernel(it, &of_row)).collect();
    if known.is_empty() {
        return None;
    }
    let left_out = known.len().saturating_sub(most);
    known.truncate(most);
    let none = || Value::Err(Missing::WaveSlots);
    Some(WaveChart {
        wave_slots: first.evaluation.peak("wave.occupancy").unwrap_or_else(none).into(),
        compute_units: first
            .machine("cu_per_gpu")
            .map_or_else(|| Number::Missing(Missing::MachineFact("cu_per_gpu".to_owned())), Number::from),
        kernels: known,
        left_out,
    })
}

fn kernel(evidence: &WorkloadEvidence<'_>, of_row: &HashMap<u32, &Occupancy>) -> Option<KernelWaves> {
    let workload = evidence.workload;
    let rows = evidence.evaluation.rows().iter();
    let all: Vec<(f64, &Occupancy)> = rows
        .filter_map(|row| Some((workload.dispatches.duration(*row as usize)?, *of_row.get(row)?)))
        .filter(|(time, _)| *time > 0.0)
        .collect();
    let parts = all.first()?.1.waves.len();
    // Recordings have the same number of parts throughout; what was put together by hand may not.
    let all: Vec<(f64, &Occupancy)> = all.into_iter().filter(|(_, it)| it.waves.len() == parts).collect();
    let time: f64 = all.iter().map(|(time, _)| time).sum();
    let mean = |of: fn(&Occupancy) -> &[f64]| {
        let part = |at: usize| all.iter().map(|(time, it)| time * of(it)[at]).sum::<f64>() / time;
        (0..parts).map(part).collect::<Vec<f64>>()
    };
    let (waves, busy_units) = (mean(|it| &it.waves), mean(|it| &it.units));
    let average = |of: &[f64]| of.iter().sum::<f64>() / parts as f64;
    let peak_waves = waves.iter().copied().fold(0.0, f64::max);
    let tail = waves.iter().rev().take_while(|it| **it < peak_waves / 2.0).count();
    Some(KernelWaves {
        name: evidence.kernel.to_owned(),
        dispatches: all.len(),
        mean_ns: time / all.len() as f64,
        mean_waves: average(&waves),
        peak_waves,
        mean_units: average(&busy_units),
        tail_percent: 100.0 * tail as f64 / parts as f64,
        trust: workload.marks.as_ref().map(|marks| marks.of(LEVEL)),
        waves,
        busy_units,
    })
}
