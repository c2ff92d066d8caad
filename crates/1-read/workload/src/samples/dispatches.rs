//! Dispatches listed in a file with samples, and the recording made of them if no counters exist.
//!
//! Without counters, a recording still has kernels, sizes and times.

use super::{Found, NO_KERNEL};
use crate::check;
use crate::folder::Files;
use crate::model::{Dispatches, Generation, Machine};
use crate::problem::{Error, Problems};
use crate::recording::Workload;
use crate::side;
use crate::values::Values;
use sorting::Sort;
use std::collections::{BTreeSet, HashMap};

/// One dispatch of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    pub(super) id: u64,
    pub(super) kernel: String,
    pub(super) gpu: u32,
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    /// Work items, work items per workgroup, LDS bytes, scratch bytes, VGPRs, AGPRs, SGPRs.
    pub(super) sizes: [Option<f64>; 7],
}

/// Data of a file other than its samples.
#[derive(Default)]
pub(crate) struct Run {
    pub(super) dispatches: Vec<Listed>,
    /// Facts of the GPU, under the names of `sysinfo.csv`.
    pub(super) machine: Machine,
}

/// A recording of samples alone.
pub(super) fn workload(found: Found, files: &Files<'_>, mut problems: Problems) -> Result<Workload, Error> {
    let Found { samples, run } = found;
    let file = samples.sources.first().cloned().unwrap_or_default();
    let mut list = run.dispatches;
    if list.is_empty() {
        let ids: BTreeSet<u64> = samples.rows.iter().map(|row| row.dispatch).collect();
        list = ids.into_iter().map(|id| Listed { id, ..Listed::default() }).collect();
        problems.warn(
            &file,
            0,
            "no kernel trace is recorded with the samples",
            "names and times of kernels are not known; record with `--kernel-trace` too",
        );
    }
    list.in_order_by_key(|dispatch| dispatch.start);
    let mut kernels: Vec<String> = Vec::new();
    let mut places: HashMap<String, u32> = HashMap::new();
    let kernel: Vec<u32> = list
        .iter()
        .map(|dispatch| {
            *places.entry(dispatch.kernel.clone()).or_insert_with(|| {
                kernels.push(if dispatch.kernel.is_empty() {
                    NO_KERNEL.to_string()
                } else {
                    dispatch.kernel.clone()
                });
                kernels.len() as u32 - 1
            })
        })
        .collect();
    let size = |at: usize| list.iter().map(|dispatch| dispatch.sizes[at]).collect::<Values>();
    let dispatches = Dispatches {
        id: list.iter().map(|dispatch| dispatch.id).collect(),
        kernel,
        gpu: list.iter().map(|dispatch| dispatch.gpu).collect(),
        start: list.iter().map(|dispatch| dispatch.start).collect(),
        end: list.iter().map(|dispatch| dispatch.end).collect(),
        grid: size(0),
        workgroup: size(1),
        lds: size(2),
        scratch: size(3),
        arch_vgpr: size(4),
        accum_vgpr: size(5),
        sgpr: size(6),
        ..Dispatches::default()
    };
    let machine = if files.has("sysinfo.csv") { side::machine(files, &mut problems) } else { run.machine };
    let sources = samples.sources.clone();
    let mut w = Workload { machine, kernels, dispatches, sources, ..Workload::empty(Generation::Samples) };
    w.ceilings = side::ceilings(files, &w.machine, &mut problems);
    w.settings = side::settings(files, &mut problems);
    let mut samples = samples;
    for kernel in samples.kernels.iter_mut().filter(|kernel| kernel.name.is_empty()) {
        NO_KERNEL.clone_into(&mut kernel.name);
    }
    w.samples = Some(samples);
    check::workload(&mut w, problems);
    Ok(w)
}
