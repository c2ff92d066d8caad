//! Parts of a workload: machine, dispatches, counters.
//!
//! All data are columns over the same dispatches in the same order. A counter that was read in another run of
//! the application has already been reordered.

use crate::times;
use crate::values::Values;
use sorting::Sort;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Kind of recording that a workload was read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generation {
    /// A folder with a wide `pmc_perf.csv`, one column per counter, with Omniperf 1.x header names.
    Omniperf1,
    /// The same layout with the header names of Omniperf 2.x and rocprof-compute.
    Wide,
    /// A folder with a long `pmc_perf.csv`, one row per dispatch and counter.
    Long,
    /// `*_counter_collection.csv` and `*_kernel_trace.csv` of rocprofv3.
    Rocprofv3,
    /// `counters_*`, `dispatch_*` and `kernel_symbols_*` of rocprof-compute's own collector.
    Native,
    /// `results.csv` of rocprof.
    Rocprof1,
    /// A rocpd SQLite database.
    Rocpd,
    /// Samples of the program counter alone.
    Samples,
    /// Thread traces alone.
    ThreadTrace,
    /// Text that `analyze` of rocprof-compute or Omniperf printed.
    Printed,
}

impl Generation {
    /// Display text.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Omniperf1 => "Omniperf 1.x folder",
            Self::Wide => "rocprof-compute folder, wide",
            Self::Long => "rocprof-compute folder, long (rocpd)",
            Self::Rocprofv3 => "rocprofv3 CSV",
            Self::Native => "rocprof-compute folder, native counters",
            Self::Rocprof1 => "rocprof CSV",
            Self::Rocpd => "rocpd database",
            Self::Samples => "PC samples",
            Self::ThreadTrace => "thread traces",
            Self::Printed => "text of rocprof-compute analyze",
        }
    }
}

/// The machine a recording was made on, as far as the recording says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// Facts under the names of the newest `sysinfo.csv`: `gpu_arch`, `cu_per_gpu`, `max_sclk`, ….
    pub facts: BTreeMap<String, String>,
}

impl Machine {
    /// A fact as text; blank and `NA` count as missing.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str).filter(|v| !matches!(v.trim(), "" | "NA" | "N/A" | "nan"))
    }

    /// A fact as number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.text(name)?.trim().parse::<f64>().ok().filter(|v| v.is_finite())
    }

    /// The emulator that made the recording, where no GPU did.
    pub fn emulator(&self) -> Option<&str> {
        self.text("emulated_by")
    }

    /// The GPU target, without feature suffixes.
    pub fn target(&self) -> Option<&str> {
        self.text("gpu_arch").map(|t| t.split(':').next().unwrap_or(t).trim())
    }
}

/// The dispatches, one column per property.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dispatches {
    /// ID as recorded.
    pub id: Vec<u64>,
    /// Kernel, an index into [`Workload::kernels`].
    pub kernel: Vec<u32>,
    /// GPU as recorded.
    pub gpu: Vec<u32>,
    /// Start, ns since the profiler's epoch.
    pub start: Vec<Option<i64>>,
    /// End.
    pub end: Vec<Option<i64>>,
    /// Fraction of a nanosecond after `start`; no cells where every time is whole.
    pub start_fraction: Values,
    /// Fraction of a nanosecond after `end`; no cells where every time is whole.
    pub end_fraction: Values,
    /// Work items.
    pub grid: Values,
    /// Work items per workgroup.
    pub workgroup: Values,
    /// LDS bytes per workgroup.
    pub lds: Values,
    /// Scratch bytes per work item.
    pub scratch: Values,
    /// Architectural VGPRs.
    pub arch_vgpr: Values,
    /// Accumulation VGPRs.
    pub accum_vgpr: Values,
    /// SGPRs.
    pub sgpr: Values,
}

impl Dispatches {
    /// Number of dispatches.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Time a dispatch took in ns; `None` when not recorded, zero or negative.
    pub fn duration(&self, row: usize) -> Option<f64> {
        let (start, end) = (self.start.get(row).copied()??, self.end.get(row).copied()??);
        let fraction = |values: &Values| values.get(row).unwrap_or(0.0);
        let time =
            times::between((start, fraction(&self.start_fraction)), (end, fraction(&self.end_fraction)))?;
        (time > 0.0).then_some(time)
    }
}

/// One recorded counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// Name as recorded, without instance: `TCC_HIT`, `TCC_HIT_sum`, `SQ_LEVEL_WAVES_ACCUM`.
    pub name: String,
    /// Instance of the block, counted over all XCDs, XCD-major.
    pub instance: Option<u32>,
    /// Level counter in whose run it was read, for a counter of a companion file: `SQ_IFETCH_LEVEL`. Such a
    /// counter is also in the main run mostly, with another value.
    pub run: Option<String>,
    /// Number of the application run it was read in, where the recording says.
    pub pass: Option<u16>,
    /// File it was read from, an index into [`Workload::sources`].
    pub source: u16,
    /// Value per dispatch.
    pub values: Values,
}

/// The counters of a workload.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    list: Vec<Counter>,
    index: HashMap<(Option<String>, String, Option<u32>), usize>,
    instances: HashMap<String, Vec<usize>>,
    /// Time of each dispatch in each pass, ns.
    times: BTreeMap<u16, Values>,
    /// Counters of a pass that an earlier pass has too.
    repeated: BTreeMap<(u16, String), Values>,
}

impl PartialEq for Counters {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Counters {
    /// All, in the order recorded.
    pub fn iter(&self) -> std::slice::Iter<'_, Counter> {
        self.list.iter()
    }

    /// Number of counters.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A counter of the main run by its recorded name.
    pub fn get(&self, name: &str) -> Option<&Counter> {
        self.index.get(&(None, name.to_string(), None)).map(|i| &self.list[*i])
    }

    /// A counter as read in the run of a level counter.
    pub fn get_in(&self, run: &str, name: &str) -> Option<&Counter> {
        self.index.get(&(Some(run.to_string()), name.to_string(), None)).map(|i| &self.list[*i])
    }

    /// The instances of a counter, by instance number.
    pub fn instances(&self, name: &str) -> Vec<&Counter> {
        let mut list: Vec<&Counter> =
            self.instances.get(name).map_or_else(Vec::new, |v| v.iter().map(|i| &self.list[*i]).collect());
        list.in_order_by_key(|c| c.instance);
        list
    }

    /// One instance.
    pub fn instance(&self, name: &str, instance: u32) -> Option<&Counter> {
        self.index.get(&(None, name.to_string(), Some(instance))).map(|i| &self.list[*i])
    }

    /// Adds a counter; one of the same name, instance and run replaces nothing and is refused.
    pub fn add(&mut self, counter: Counter) -> bool {
        let key = (counter.run.clone(), counter.name.clone(), counter.instance);
        match self.index.entry(key) {
            Entry::Occupied(_) => return false,
            Entry::Vacant(vacant) => vacant.insert(self.list.len()),
        };
        if counter.instance.is_some() && counter.run.is_none() {
            self.instances.entry(counter.name.clone()).or_default().push(self.list.len());
        }
        self.list.push(counter);
        true
    }

    /// Time of the dispatches in a pass, ns, if each pass has its own times.
    pub fn time_in_pass(&self, pass: u16) -> Option<&Values> {
        self.times.get(&pass)
    }

    /// Passes that have their own times.
    pub fn timed_passes(&self) -> impl Iterator<Item = u16> + '_ {
        self.times.keys().copied()
    }

    /// A counter of the main run as one pass read it. Of a counter that several passes read, `get` has the
    /// first; later readings are kept only for counters of time (`GRBM_…`).
    pub fn get_in_pass(&self, pass: u16, name: &str) -> Option<&Values> {
        match self.get(name).filter(|counter| counter.pass == Some(pass)) {
            Some(counter) => Some(&counter.values),
            None => self.repeated.get(&(pass, name.to_string())),
        }
    }

    pub(crate) fn set_times(&mut self, pass: u16, times: Values) {
        self.times.insert(pass, times);
    }

    pub(crate) fn add_repeated(&mut self, pass: u16, name: String, values: Values) {
        self.repeated.insert((pass, name), values);
    }

    pub(crate) fn into_list(self) -> Vec<Counter> {
        self.list
    }

    pub(crate) fn set_values(&mut self, name: &str, instance: Option<u32>, values: Values) {
        if let Some(i) = self.index.get(&(None, name.to_string(), instance)) {
            self.list[*i].values = values;
        }
    }

    pub(crate) fn clear_passes(&mut self) {
        self.list.iter_mut().for_each(|counter| counter.pass = None);
    }

    pub(crate) fn set_pass(&mut self, name: &str, instance: Option<u32>, pass: u16) {
        if let Some(i) = self.index.get(&(None, name.to_string(), instance)) {
            self.list[*i].pass = Some(pass);
        }
    }
}

/// A further column that is neither a counter nor known otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// Header.
    pub name: String,
    /// Numbers, where the column holds numbers.
    pub values: Values,
}

/// A row of a panel that a profiler printed.
#[derive(Clone, PartialEq, Debug)]
pub struct PrintedRow {
    /// Number of the panel: 17.
    pub panel: u16,
    /// Title of the table.
    pub table: String,
    /// Label of the row.
    pub label: String,
    /// Mean over the dispatches.
    pub mean: f64,
    /// Least and greatest value of a dispatch, where they are printed.
    pub extremes: Option<(f64, f64)>,
    /// Unit as printed: `Gb/s`, `Req per wave`.
    pub unit: String,
}

/// Measured ceilings of one device, from `roofline.csv`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ceilings {
    /// Device number.
    pub device: u32,
    /// GPU, as `gpu_model` of `sysinfo.csv` has it; empty in files that do not say.
    pub gpu: String,
    /// Values by header: `HBMBw` in GB/s, `FP32Flops` in GFLOP/s, and their `Low` and `High`.
    pub values: BTreeMap<String, f64>,
}

/// One of several recordings that were merged: a rank of a program, or a GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rank {
    /// Name of its folder.
    pub name: String,
    /// Its dispatches, as rows.
    pub rows: std::ops::Range<u32>,
    /// Host that it ran on, if recorded.
    pub host: Option<String>,
}

/// A kernel name without what profilers add: ` [clone .kd]`, ` (.kd)`, `.kd`.
pub fn plain_kernel_name(name: &str) -> &str {
    [" [clone .kd]", " (.kd)", ".kd"].iter().find_map(|s| name.strip_suffix(s)).unwrap_or(name).trim_end()
}

/// Numbers of one recording's kernels in `all`; new ones are added. `known` maps the existing ones to their
/// numbers.
pub(crate) fn numbered<K: Clone + Eq + Hash>(
    own: &[K],
    known: &mut HashMap<K, u32>,
    all: &mut Vec<K>,
) -> Vec<u32> {
    let place = |kernel: &K| {
        *known.entry(kernel.clone()).or_insert_with(|| {
            all.push(kernel.clone());
            all.len() as u32 - 1
        })
    };
    own.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_names_lose_the_profilers_marks() {
        for (name, plain) in [
            ("copy(double*) [clone .kd]", "copy(double*)"),
            ("copy(double*) (.kd)", "copy(double*)"),
            ("fill.kd", "fill"),
            ("fill", "fill"),
        ] {
            assert_eq!(plain_kernel_name(name), plain);
        }
    }

    #[test]
    fn blank_machine_facts_are_no_facts() {
        let mut m = Machine::default();
        for (k, v) in [("a", "NA"), ("b", ""), ("c", "1700"), ("gpu_arch", "gfx90a:sramecc+")] {
            m.facts.insert(k.into(), v.into());
        }
        assert_eq!((m.number("a"), m.number("b"), m.number("c")), (None, None, Some(1700.0)));
        assert_eq!(m.target(), Some("gfx90a"));
    }
}
