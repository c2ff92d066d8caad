//! One kernel of a recording, as evidence.
//!
//! Metrics are evaluated by name, over this kernel's dispatches only; a metric that was not recorded is
//! missing with its reason, and a rule passes that reason on.

use crate::limit::{Leading, Limit, Saved};
use crate::numbers::KernelNumbers;
use crate::roofline::Roof;
use crate::runtime_kernel::RuntimeKernel;
use crate::workload::predictions::Times;
use arch::{Resources, Target};
use metrics::{Compiled, Evaluation, Settings, Value, Window, kernels};
use sorting::Sort;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Deref;
use view::{Known, Mark, Missing};
use workload::{TIME, Workload, plain_kernel_name};

/// Facts about one kernel from its dispatches.
pub struct WorkloadEvidence<'a> {
    numbers: KernelNumbers<'a>,
    /// Name, without what profilers add.
    pub kernel: &'a str,
    /// Time of its dispatches together, ns.
    pub time: Value,
    /// Percent of the time of all selected dispatches.
    pub time_percent: Value,
    /// The same kernel in the base recording of a comparison.
    pub baseline: Option<&'a WorkloadEvidence<'a>>,
    roof: OnceCell<Roof>,
}

/// Methods of the numbers are available on the evidence.
impl<'a> Deref for WorkloadEvidence<'a> {
    type Target = KernelNumbers<'a>;

    fn deref(&self) -> &KernelNumbers<'a> {
        &self.numbers
    }
}

/// The rows without the launches by which an autotuner chose, of kernels that were launched otherwise too.
fn without_trials(workload: &Workload, rows: &[u32]) -> Vec<u32> {
    let tried = workload.launches.iter().filter(|it| it.tuning.is_some());
    let trials: BTreeSet<u32> = tried.filter_map(|it| it.row).collect();
    let kernel = |row: &u32| workload.dispatches.kernel.get(*row as usize);
    let launched: BTreeSet<_> = rows.iter().filter(|it| !trials.contains(it)).filter_map(kernel).collect();
    let is_trial = |row: &u32| trials.contains(row) && kernel(row).is_some_and(|it| launched.contains(it));
    rows.iter().copied().filter(|row| !is_trial(row)).collect()
}

impl<'a> WorkloadEvidence<'a> {
    /// Evidence of every kernel of the selected dispatches, most time first. What an autotuner tried counts only for kernels
    /// of which nothing else is selected.
    pub fn gather(compiled: &'a Compiled, workload: &'a Workload, rows: &[u32]) -> Vec<Self> {
        let rows = &without_trials(workload, rows);
        let mut of_kernel: Vec<Vec<u32>> = vec![Vec::new(); workload.kernels.len()];
        for row in rows {
            let kernel = workload.dispatches.kernel.get(*row as usize);
            if let Some(list) = kernel.and_then(|kernel| of_kernel.get_mut(*kernel as usize)) {
                list.push(*row);
            }
        }
        let target = workload.machine.target().and_then(Target::by_name);
        let times = kernels(workload, rows);
        let of_dispatch = Settings { window: Window::Dispatch, ..Settings::default() };
        let evaluation = Evaluation::new(compiled, workload, Vec::new(), of_dispatch);
        times
            .into_iter()
            .filter_map(|times| {
                let rows = std::mem::take(of_kernel.get_mut(times.kernel as usize)?);
                Some(WorkloadEvidence {
                    numbers: KernelNumbers { workload, evaluation: evaluation.over(rows), target },
                    kernel: plain_kernel_name(workload.kernels.get(times.kernel as usize)?),
                    time: times.sum,
                    time_percent: times.percent,
                    baseline: None,
                    roof: OnceCell::new(),
                })
            })
            .collect()
    }

    /// Percent of a metric's peak; `None` if the metric has no peak.
    pub fn percent_of_peak(&self, metric: &str) -> Option<Result<Known, Missing>> {
        let value = self.evaluation.percent_of_peak(metric)?;
        let trust = self.trust(metric, &value);
        Some(value.map(|value| Known { value, trust }))
    }

    /// A time of this recording, ns, or a share that depends only on times.
    pub fn timed(&self, value: f64) -> Known {
        Known { value, trust: self.workload.marks.as_ref().map(|marks| marks.of(TIME)) }
    }

    /// Confidence of its times; `None` if they were measured.
    pub fn time_trust(&self) -> Option<Mark> {
        self.timed(*self.time.as_ref().ok()?).trust
    }

    /// Confidence of the percentage of the time; `None` if it was measured, or if this is the only kernel.
    pub fn time_percent_trust(&self) -> Option<Mark> {
        let percent = self.time_percent.as_ref().ok().filter(|percent| **percent < 100.0)?;
        self.timed(*percent).trust
    }

    /// Purpose for which the HIP runtime launches it; `None` for a kernel of the program.
    pub fn runtime(&self) -> Option<RuntimeKernel> {
        RuntimeKernel::by_name(self.kernel)
    }

    /// The numbers of the dispatches that the verdict is about: of one size, without outliers.
    pub fn typical(&self) -> KernelNumbers<'a> {
        let rows = self.roof().typical.rows.clone();
        KernelNumbers {
            workload: self.workload,
            evaluation: self.numbers.evaluation.over(rows),
            target: self.numbers.target,
        }
    }

    /// Dispatches.
    pub fn dispatches(&self) -> usize {
        self.evaluation.rows().len()
    }

    /// Position of the kernel below the machine's ceilings.
    pub fn roof(&self) -> &Roof {
        self.roof.get_or_init(|| Roof::of(&self.numbers))
    }

    /// Saving of the kernel without a limit; `None` if that was not simulated.
    pub fn saved_without(&self, limit: &str) -> Option<Saved> {
        let found = self.workload.predictions.iter().find(|it| it.lifted && it.name == limit)?;
        Times::of(self.workload, found, self.evaluation.rows()).map(Saved::of)
    }

    /// Saving of the kernel without each simulated limit, most first.
    pub fn limits(&self) -> Vec<Limit<'a>> {
        let tried = self.workload.predictions.iter().filter(|it| it.lifted);
        let saved = tried.filter_map(|it| {
            let times = Times::of(self.workload, it, self.evaluation.rows())?;
            Some(Limit { name: &it.name, title: &it.title, saved: Saved::of(times) })
        });
        let mut all: Vec<Limit<'_>> = saved.collect();
        all.in_order_by(|a, b| b.saved.ns.total_cmp(&a.saved.ns));
        all
    }

    /// The limit that costs most, if its cost is large enough to report.
    pub fn leading_limit(&self) -> Option<Leading<'a>> {
        Leading::of(&self.limits())
    }

    /// Resources of a workgroup of the kernel, as recorded.
    pub fn resources(&self) -> Result<Resources, Missing> {
        let count = |metric: &str| self.value(metric).map(|value| value.round() as u32);
        let threads = count("dispatch.workgroup_size")?;
        let lanes = self.target.map_or(64, |target| target.lanes_per_wave.value);
        Ok(Resources {
            vgprs: count("dispatch.vgpr_count")?,
            // Older recordings do not tell the two kinds apart.
            agprs: count("dispatch.agpr_count").unwrap_or(0),
            sgprs: count("dispatch.sgpr_count")?,
            lds_bytes: count("dispatch.lds_allocation")?,
            waves_per_workgroup: threads.div_ceil(lanes),
        })
    }

    /// Size of the L2 caches together.
    pub fn l2_bytes(&self) -> Value {
        let target = self.target.ok_or(Missing::TargetFacts)?;
        // GPUs of one die do not record their number of dies.
        let dies = self.machine("num_xcd").unwrap_or(1.0).max(1.0);
        Ok(dies * f64::from(target.l2.bytes_per_xcd.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn trials_of_an_autotuner_count_where_nothing_else_does() {
        let counters = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n\
            0,mm,0,100,4\n1,mm,100,300,4\n2,mm,300,400,4\n3,add,400,500,4\n4,copy,500,600,4\n";
        let notes = [(0, "mm"), (1, "mm"), (3, "add")].map(|(dispatch, kernel)| {
            workload::launch_note(Some(dispatch), &format!(r#"{{"kernel": "{kernel}", "tuning": "M=8"}}"#))
        });
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), counters.as_bytes().to_vec()),
            (workload::LAUNCHES_FILE.to_string(), notes.concat().into_bytes()),
        ]);
        let workload = workload::read(&files, &workload::Options::default()).unwrap();
        for (rows, expected) in [
            (&[0, 1, 2, 3, 4][..], &[2, 3, 4][..]),
            (&[0, 1], &[0, 1]),
            (&[1, 3], &[1, 3]),
            (&[2, 0, 4], &[2, 4]),
        ] {
            assert_eq!(without_trials(&workload, rows), expected, "{rows:?}");
        }
    }
}
