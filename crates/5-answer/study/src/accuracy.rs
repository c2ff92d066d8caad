//! Comparison of an emulated recording with a GPU recording of the same program, in a form that reveals
//! nothing about its user.
//!
//! The file that leaves the machine is filled from a list of allowed values (counter values and GPU facts),
//! never by removing forbidden ones.

use analysis::workload::{Beside, Renames, Subject, beside, times_beside};
use sorting::Sort;
use std::collections::BTreeMap;
use view::{
    ACCURACY_SCHEMA, Accuracy, AccuracyError, AccuracyKernel, AccuracyQuantity, AccuracyVerdict, Answer,
    Mark, UsageError,
};

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

/// Dispatches of a kernel whose values are written one by one.
const EACH: usize = 8;

/// Compares a recording of a GPU with an emulated one; names of kernels are part of the file only if `names`.
pub(crate) fn accuracy(
    gpu: &Subject,
    emulated: &Subject,
    renames: &Renames,
    names: bool,
) -> Result<Answer<Accuracy>, UsageError> {
    check(gpu, emulated)?;
    let agreement = agreement(gpu, emulated, renames);
    if agreement.kernels.is_empty() {
        return Err(UsageError::new(
            "the two recordings have no kernel that both ran equally often and counted",
            "record the same command twice: `--on gpu`, and `--on emulator`",
        ));
    }
    Ok(Answer::new(ACCURACY_SCHEMA, agreement.document(names)))
}

/// Refuses anything but a measured recording and an emulated one of the same target.
fn check(gpu: &Subject, emulated: &Subject) -> Result<(), UsageError> {
    if gpu.workload.machine.emulator().is_some() {
        return Err(UsageError::new(
            format!("`{}` is emulated", gpu.path),
            "the recording of a GPU comes first",
        ));
    }
    if emulated.workload.machine.emulator().is_none() {
        return Err(UsageError::new(
            format!("`{}` is not emulated", emulated.path),
            "the second recording is one of `rockhound profile --on emulator`",
        ));
    }
    if emulated.workload.marks.is_none() {
        return Err(UsageError::new(
            format!("`{}` does not say which counters are exact", emulated.path),
            "record again with this version",
        ));
    }
    if gpu.target() != emulated.target() {
        return Err(UsageError::new(
            format!("the GPU is a {}, and a {} was emulated", gpu.target(), emulated.target()),
            "`rockhound profile --gpu MODEL` emulates the same one",
        ));
    }
    Ok(())
}

/// One quantity of one kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantity {
    /// Counter, or `time` in nanoseconds.
    pub name: String,
    /// Result.
    pub verdict: AccuracyVerdict,
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
    fn document(self, names: bool) -> Accuracy {
        let modelled = self.modelled();
        let first = |values: &[f64]| values[..values.len().min(EACH)].to_vec();
        let quantity = |it: Quantity| AccuracyQuantity {
            verdict: it.verdict,
            error_percent: it.error().map(|error| 100.0 * error),
            measured: first(&it.measured),
            emulated: first(&it.emulated),
            sums: [it.measured.iter().sum(), it.emulated.iter().sum()],
            name: it.name,
        };
        let kernel = |it: Kernel| AccuracyKernel {
            name: names.then(|| it.name.clone()),
            shown_name: it.name,
            grid: it.grid,
            workgroup: it.workgroup,
            dispatches: it.dispatches,
            quantities: it.quantities.into_iter().map(quantity).collect(),
        };
        Accuracy {
            rockhound: env!("CARGO_PKG_VERSION").to_owned(),
            gpu: self.gpu,
            emulated: self.emulated,
            kernels: self.kernels.into_iter().map(kernel).collect(),
            only_measured: self.only_measured,
            only_emulated: self.only_emulated,
            kernels_left_out: self.left_out,
            modelled,
        }
    }

    /// Mean distance of each modelled quantity over the kernels as a share, the largest first, and of how
    /// many kernels.
    fn modelled(&self) -> Vec<AccuracyError> {
        let mut by_name: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for quantity in self.kernels.iter().flat_map(|it| &it.quantities) {
            if let (AccuracyVerdict::Modelled, Some(error)) = (quantity.verdict, quantity.error()) {
                by_name.entry(&quantity.name).or_default().push(error.abs());
            }
        }
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
        let mut out: Vec<AccuracyError> = by_name
            .into_iter()
            .map(|(name, errors)| AccuracyError {
                name: name.to_owned(),
                mean: mean(&errors),
                kernels: errors.len(),
            })
            .collect();
        out.in_order_by(|a, b| b.mean.total_cmp(&a.mean).then_with(|| a.name.cmp(&b.name)));
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
        let verdict = AccuracyVerdict::Modelled;
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
        names.in_order();
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

fn verdict(one: &Beside) -> AccuracyVerdict {
    match one.mark {
        Mark::Exact if one.must_be_equal_and_is_not() => AccuracyVerdict::NotEqual,
        Mark::Exact => AccuracyVerdict::Equal,
        _ => AccuracyVerdict::Modelled,
    }
}
