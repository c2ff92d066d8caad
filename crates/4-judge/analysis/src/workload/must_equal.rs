//! Compares a GPU recording with an emulated one of the same program: counters that depend only on execution
//! must be equal.
//!
//! Dispatches of the two are matched by kernel; a kernel with different numbers of dispatches is not
//! compared.

use super::compare::Renames;
use super::subject::Subject;
use std::collections::{BTreeMap, BTreeSet};
use view::{Mark, counted};
use workload::{Workload, plain_kernel_name};

/// Differences named before the rest is only counted.
const NAMED: usize = 5;
/// Part by which sums of 64-bit floats may differ.
const ROUNDING: f64 = 1e-9;

/// One counter of one kernel, summed over its dispatches.
#[derive(Clone, PartialEq, Debug)]
pub struct Beside {
    /// Kernel.
    pub kernel: String,
    /// Dispatches of each.
    pub dispatches: usize,
    /// Counter.
    pub counter: String,
    /// Mark of the emulated value.
    pub mark: Mark,
    /// On the GPU.
    pub measured: f64,
    /// Emulated.
    pub emulated: f64,
    /// On the GPU, by dispatch.
    pub measured_each: Vec<f64>,
    /// Emulated, by dispatch.
    pub emulated_each: Vec<f64>,
}

impl Beside {
    /// Whether the two differ though the counter follows from execution.
    pub fn must_be_equal_and_is_not(&self) -> bool {
        let difference = (self.measured - self.emulated).abs();
        self.mark == Mark::Exact && difference > ROUNDING * self.measured.abs().max(self.emulated.abs())
    }
}

/// The counters of both, of kernels that both ran equally often.
pub fn beside(measured: &Subject, emulated: &Subject, renames: &Renames) -> Vec<Beside> {
    let Some(marks) = &emulated.workload.marks else { return Vec::new() };
    let (ours, theirs) = (by_kernel(measured, renames, 0), by_kernel(emulated, renames, 1));
    let names: BTreeSet<&str> = emulated.workload.counters.iter().map(|it| it.name.as_str()).collect();
    let mut out = Vec::new();
    for (kernel, rows) in &ours {
        let Some(others) = theirs.get(kernel).filter(|others| others.len() == rows.len()) else { continue };
        for name in &names {
            let plain = name.strip_suffix("_sum").unwrap_or(name);
            let (Some(measured), Some(emulated)) =
                (each(&measured.workload, rows, plain), each(&emulated.workload, others, plain))
            else {
                continue;
            };
            out.push(Beside {
                kernel: kernel.to_string(),
                dispatches: rows.len(),
                counter: plain.to_string(),
                mark: if emulated.iter().all(|it| *it == 0.0) { marks.of_zero(name) } else { marks.of(name) },
                measured: measured.iter().sum(),
                emulated: emulated.iter().sum(),
                measured_each: measured,
                emulated_each: emulated,
            });
        }
    }
    out.dedup_by(|a, b| a.kernel == b.kernel && a.counter == b.counter);
    out
}

fn by_kernel<'a>(subject: &'a Subject, renames: &'a Renames, place: usize) -> BTreeMap<&'a str, Vec<u32>> {
    let mut rows: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for row in &subject.rows {
        let name = plain_kernel_name(subject.workload.kernel_of(*row as usize));
        rows.entry(renames.in_base(name, place)).or_default().push(*row);
    }
    rows
}

/// A counter by dispatch, summed over instances; absent if one of them lacks it.
fn each(w: &Workload, rows: &[u32], name: &str) -> Option<Vec<f64>> {
    let whole = w.counters.get(name).or_else(|| w.counters.get(&format!("{name}_sum")));
    let columns = whole.map_or_else(|| w.counters.instances(name), |it| vec![it]);
    if columns.is_empty() {
        return None;
    }
    let of = |row: &u32| columns.iter().map(|column| column.values.get(*row as usize)).sum();
    rows.iter().map(of).collect()
}

/// Times of dispatches of both in nanoseconds by kernel, of kernels that both ran equally often and timed.
pub fn times_beside(
    measured: &Subject,
    emulated: &Subject,
    renames: &Renames,
) -> BTreeMap<String, (Vec<f64>, Vec<f64>)> {
    let (ours, theirs) = (by_kernel(measured, renames, 0), by_kernel(emulated, renames, 1));
    let times = |subject: &Subject, rows: &[u32]| -> Option<Vec<f64>> {
        rows.iter().map(|row| subject.workload.dispatches.duration(*row as usize)).collect()
    };
    let both = |(kernel, rows): (&&str, &Vec<u32>)| {
        let others = theirs.get(*kernel).filter(|others| others.len() == rows.len())?;
        Some((kernel.to_string(), (times(measured, rows)?, times(emulated, others)?)))
    };
    ours.iter().filter_map(both).collect()
}

/// Note on a measured and an emulated recording compared: whether it is a warning, and the text.
pub(crate) fn note(subjects: &[Subject], renames: &Renames) -> Option<(bool, String)> {
    let [first, second] = subjects else { return None };
    let is_emulated = |subject: &Subject| subject.workload.machine.emulator().is_some();
    let pairs = match (is_emulated(first), is_emulated(second)) {
        (false, true) => beside(first, second, renames),
        (true, false) => beside(second, first, &Renames::default()),
        _ => return None,
    };
    let exact: Vec<&Beside> = pairs.iter().filter(|it| it.mark == Mark::Exact).collect();
    if exact.is_empty() {
        return None;
    }
    let kernels = exact.iter().map(|it| &it.kernel).collect::<BTreeSet<_>>().len();
    let wrong: Vec<&&Beside> = exact.iter().filter(|it| it.must_be_equal_and_is_not()).collect();
    let of = format!("{} of execution in {}", counted(exact.len(), "counter"), counted(kernels, "kernel"));
    if wrong.is_empty() {
        return Some((false, format!("GPU and emulator agree in {of}")));
    }
    let named = wrong.iter().take(NAMED).map(|it| {
        format!("{} of `{}`: {} on the GPU, {} emulated", it.counter, it.kernel, it.measured, it.emulated)
    });
    let rest = wrong.len().saturating_sub(NAMED);
    let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
    let text = named.collect::<Vec<_>>().join("; ");
    Some((true, format!("{} of {of} must be equal and are not: {text}{more}", wrong.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::Wanted;
    use workload::{Options, read};

    fn subject(name: &str, emulated: bool, waves: &str) -> Subject {
        let counters = format!("Dispatch_ID,Kernel_Name,SQ_WAVES,TCC_HIT_sum\n0,k,{waves},5\n1,k,4,7\n");
        let facts = if emulated { "gpu_arch,emulated_by\ngfx942,rockhound\n" } else { "gpu_arch\ngfx942\n" };
        let mut files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), counters.into_bytes()),
            ("sysinfo.csv".to_string(), facts.as_bytes().to_vec()),
        ]);
        if emulated {
            let marks = "Quantity,Mark,Error_Percent\nSQ_WAVES,exact,\nTCC_HIT_sum,modelled,3\n";
            files.insert("pmc_marks.csv".to_string(), marks.as_bytes().to_vec());
        }
        let workload = read(&files, &Options::default()).unwrap();
        let (path, selection) = (String::new(), String::new());
        let (filled, wanted) = (Vec::new(), Wanted::default());
        Subject { name: name.to_string(), path, workload, filled, rows: vec![0, 1], selection, wanted }
    }

    #[test]
    fn counters_that_must_be_equal_are_compared() {
        let renames = Renames::default();
        let said = |waves: &str| note(&[subject("gpu", false, "4"), subject("emu", true, waves)], &renames);
        for (waves, differ) in [("4", false), ("5", true)] {
            let (found, text) = said(waves).unwrap();
            assert_eq!(found, differ);
            testkit::golden(if differ { "one differs" } else { "all are equal" }, &text);
        }
        assert_eq!(note(&[subject("a", true, "4"), subject("b", true, "5")], &renames), None);
        let all = beside(&subject("gpu", false, "4"), &subject("emu", true, "4"), &renames);
        assert_eq!(all.len(), 2);
        assert_eq!(
            (all[1].counter.as_str(), all[1].measured, all[1].mark),
            ("TCC_HIT", 12.0, Mark::Modelled(Some(3.0)))
        );
    }
}
