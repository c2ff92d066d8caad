//! Comparison of an emulated recording with a GPU recording of the same program, in a form that reveals
//! nothing about its user.
//!
//! The file that leaves the machine is filled from a list of allowed values (counter values and GPU facts),
//! never by removing forbidden ones.

use analysis::workload::{Beside, Renames, Subject, beside, times_beside};
use std::collections::BTreeMap;
use view::Mark;

/// GPU facts allowed in the file: none identifies the owner.
const FACTS: [&str; 14] = [
    "gpu_arch",
    "gpu_model",
    "cu_per_gpu",
    "se_per_gpu",
    "num_xcd",
    "max_sclk",
    "cur_sclk",
    "max_mclk",
    "compute_partition",
    "memory_partition",
    "total_l2_chan",
    "num_hbm_channels",
    "num_memory_channels",
    "rocm_version",
];

/// Result for a counter of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// It follows from execution and is equal.
    Equal,
    /// It follows from execution and is not equal: a fault of the emulator, or a different run.
    NotEqual,
    /// It is modelled.
    Modelled,
}

impl Verdict {
    /// Name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::NotEqual => "not equal",
            Verdict::Modelled => "modelled",
        }
    }
}

/// One quantity of one kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantity {
    /// Counter, or `time` in nanoseconds.
    pub name: String,
    /// Result.
    pub verdict: Verdict,
    /// On the GPU, by dispatch.
    pub measured: Vec<f64>,
    /// Emulated, by dispatch.
    pub emulated: Vec<f64>,
}

impl Quantity {
    /// Relative error of the emulated sum against the measured one; `None` if only the measured sum is 0.
    pub fn error(&self) -> Option<f64> {
        let (measured, emulated): (f64, f64) = (self.measured.iter().sum(), self.emulated.iter().sum());
        let error = if measured == emulated { 0.0 } else { (emulated - measured) / measured };
        error.is_finite().then_some(error)
    }
}

/// A kernel that both ran equally often.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// Its name, which a file need not have.
    pub name: String,
    /// Work-items of the first dispatch's grid.
    pub grid: Option<f64>,
    /// Work-items of its workgroup.
    pub workgroup: Option<f64>,
    /// Dispatches.
    pub dispatches: usize,
    /// Times first, then counters by name.
    pub quantities: Vec<Quantity>,
}

/// Two recordings side by side.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Agreement {
    /// Facts of the GPU.
    pub gpu: BTreeMap<String, String>,
    /// Facts of the emulated one.
    pub emulated: BTreeMap<String, String>,
    /// Kernels.
    pub kernels: Vec<Kernel>,
    /// Counters that the GPU has and the emulator has not.
    pub only_measured: Vec<String>,
    /// Counters the other way round.
    pub only_emulated: Vec<String>,
    /// Kernels that only one ran, or not equally often.
    pub left_out: usize,
}

impl Agreement {
    /// Quantities with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.kernels.iter().flat_map(|it| &it.quantities).filter(|it| it.verdict == verdict).count()
    }

    /// Mean distance of each modelled quantity over the kernels as a share, the largest first, and of how
    /// many kernels.
    pub fn errors(&self) -> Vec<(String, f64, usize)> {
        let mut by_name: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for quantity in self.kernels.iter().flat_map(|it| &it.quantities) {
            if let (Verdict::Modelled, Some(error)) = (quantity.verdict, quantity.error()) {
                by_name.entry(&quantity.name).or_default().push(error.abs());
            }
        }
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
        let mut out: Vec<(String, f64, usize)> = by_name
            .into_iter()
            .map(|(name, errors)| (name.to_owned(), mean(&errors), errors.len()))
            .collect();
        out.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        out
    }
}

/// Compares a recording of a GPU with an emulated one.
pub fn agreement(measured: &Subject, emulated: &Subject, renames: &Renames) -> Agreement {
    let facts = |subject: &Subject| -> BTreeMap<String, String> {
        let machine = &subject.workload.machine;
        FACTS.iter().filter_map(|name| Some((name.to_string(), machine.text(name)?.to_owned()))).collect()
    };
    let mut quantities: BTreeMap<String, Vec<Quantity>> = BTreeMap::new();
    for (kernel, (measured, emulated)) in times_beside(measured, emulated, renames) {
        let verdict = Verdict::Modelled;
        let time = Quantity { name: workload::TIME.to_owned(), verdict, measured, emulated };
        quantities.entry(kernel).or_default().push(time);
    }
    for one in beside(measured, emulated, renames) {
        let verdict = verdict(&one);
        let Beside { kernel, counter, measured_each, emulated_each, .. } = one;
        let quantity = Quantity { name: counter, verdict, measured: measured_each, emulated: emulated_each };
        quantities.entry(kernel).or_default().push(quantity);
    }
    let kernels: Vec<Kernel> = quantities
        .into_iter()
        .map(|(name, quantities)| {
            let w = &measured.workload;
            let is = |row: &&u32| workload::plain_kernel_name(w.kernel_of(**row as usize)) == name;
            let first = measured.rows.iter().find(is).map(|row| *row as usize);
            let size = |of: &workload::Values| of.get(first?);
            let dispatches = quantities.first().map_or(0, |it| it.measured.len());
            let (grid, workgroup) = (size(&w.dispatches.grid), size(&w.dispatches.workgroup));
            Kernel { name, grid, workgroup, dispatches, quantities }
        })
        .collect();
    let names = |subject: &Subject| -> Vec<String> {
        let all = subject.workload.counters.iter();
        let mut names: Vec<String> =
            all.map(|it| it.name.strip_suffix("_sum").unwrap_or(&it.name).to_owned()).collect();
        names.sort();
        names.dedup();
        names
    };
    let (ours, theirs) = (names(measured), names(emulated));
    let without = |some: &[String], other: &[String]| -> Vec<String> {
        some.iter().filter(|it| !other.contains(it)).cloned().collect()
    };
    let all = |subject: &Subject| {
        let of = subject.rows.iter().filter_map(|row| subject.workload.dispatches.kernel.get(*row as usize));
        of.collect::<std::collections::BTreeSet<_>>().len()
    };
    Agreement {
        gpu: facts(measured),
        emulated: facts(emulated),
        left_out: all(measured).max(all(emulated)).saturating_sub(kernels.len()),
        kernels,
        only_measured: without(&ours, &theirs),
        only_emulated: without(&theirs, &ours),
    }
}

fn verdict(one: &Beside) -> Verdict {
    match one.mark {
        Mark::Exact if one.must_be_equal_and_is_not() => Verdict::NotEqual,
        Mark::Exact => Verdict::Equal,
        _ => Verdict::Modelled,
    }
}
