//! Iteration multiplexing: each dispatch of a kernel recorded another set of counters, so that one run of the
//! application is enough.
//!
//! Dispatches of one kernel are taken as repetitions. A counter that a dispatch did not record is the mean
//! over the dispatches of the same kernel that did, so sums and ratios over all dispatches equal the
//! kernel's. The error of the mean follows from the spread between the dispatches that recorded the counter.

use crate::model::Counter;
use crate::multiplexed::{Members, Multiplexed};
use crate::problem::Problems;
use crate::recording::Workload;
use crate::values::Values;
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use view::counted;

/// The profiler's setting: `kernel`, or `kernel_launch_params`.
const SETTING: &str = "iteration_multiplexing";

/// If the setting is not recorded, dispatches that lack less than this share of their kernel's counters are
/// defects.
const LEAST_ABSENT: f64 = 0.1;

/// Kernels named in a warning.
const NAMED: usize = 3;

/// Errors of means.
#[derive(Default)]
struct Errors {
    /// Standard error of a mean as a share of it, and which counter's it is.
    known: Vec<(f64, String)>,
    /// Means over one dispatch.
    unknown: u64,
}

/// Recognises a recording of this kind and gives each dispatch the counters that others of its kernel
/// recorded.
pub(crate) fn fill(w: &mut Workload, problems: &mut Problems) {
    let setting =
        w.settings.get(SETTING).map(String::as_str).filter(|it| !matches!(*it, "" | "None" | "false"));
    let columns: Vec<&Counter> =
        w.counters.iter().filter(|c| c.run.is_none() && !c.values.is_blank()).collect();
    if !columns.iter().any(|c| c.values.has_gaps()) {
        return;
    }
    let (set_of, sets) = sets(w.dispatches.len(), &columns);
    let groups = groups(w, setting == Some("kernel"));
    if setting.is_none() && !groups.iter().any(|rows| is_multiplexed(rows, &set_of, &sets)) {
        return;
    }
    let mut errors = Errors::default();
    let mut filled: Vec<(String, Option<u32>, Values)> = Vec::new();
    let mut sets_with: BTreeMap<String, BTreeMap<Option<u32>, Members>> = BTreeMap::new();
    let mut lacking: BTreeMap<u32, u64> = BTreeMap::new();
    for (at, counter) in columns.iter().enumerate() {
        let mut with = Members::default();
        (0..sets.len()).filter(|set| sets[*set].contains(at)).for_each(|set| with.insert(set));
        sets_with.entry(counter.name.clone()).or_default().insert(counter.instance, with);
        if !counter.values.has_gaps() {
            continue;
        }
        let mut cells: Vec<Option<f64>> = counter.values.iter().collect();
        for rows in &groups {
            match mean(&cells, rows) {
                Some(found) if found.count < rows.len() => {
                    errors.add(&found, counter);
                    for row in rows {
                        cells[*row as usize].get_or_insert(found.mean);
                    }
                }
                Some(_) => {}
                None => *lacking.entry(rows[0]).or_default() += 1,
            }
        }
        filled.push((counter.name.clone(), counter.instance, cells.into_iter().collect()));
    }
    for (name, instance, values) in filled {
        w.counters.set_values(&name, instance, values);
    }
    let multiplexed = Multiplexed { set_of, sets_with };
    report(w, setting, &multiplexed, &mut errors, &lacking, problems);
    w.multiplexed = Some(multiplexed);
}

/// The set of counters that each dispatch recorded.
fn sets(rows: usize, columns: &[&Counter]) -> (Vec<u32>, Vec<Members>) {
    let mut members = vec![Members::default(); rows];
    for (at, counter) in columns.iter().enumerate() {
        for (row, members) in members.iter_mut().enumerate() {
            if counter.values.get(row).is_some() {
                members.insert(at);
            }
        }
    }
    let mut known: HashMap<Members, u32> = HashMap::new();
    let mut sets: Vec<Members> = Vec::new();
    let number = |it: Members| {
        *known.entry(it).or_insert_with_key(|it| {
            sets.push(it.clone());
            sets.len() as u32 - 1
        })
    };
    let set_of = members.into_iter().map(number).collect();
    (set_of, sets)
}

/// Dispatches that repeat each other: of one kernel, and of the same sizes unless only the kernel counts.
fn groups(w: &Workload, by_kernel: bool) -> Vec<Vec<u32>> {
    let d = &w.dispatches;
    let mut groups: BTreeMap<(u32, [Option<u64>; 3]), Vec<u32>> = BTreeMap::new();
    for row in 0..d.len() {
        let sizes =
            [&d.grid, &d.workgroup, &d.lds].map(|it| it.get(row).filter(|_| !by_kernel).map(f64::to_bits));
        groups.entry((d.kernel[row], sizes)).or_default().push(row as u32);
    }
    groups.into_values().collect()
}

/// Whether dispatches took turns at counters: each lacks many, and some have what others lack and the other
/// way round.
fn is_multiplexed(rows: &[u32], set_of: &[u32], sets: &[Members]) -> bool {
    let own: BTreeSet<u32> = rows.iter().map(|row| set_of[*row as usize]).collect();
    let mut all = Members::default();
    own.iter().for_each(|set| all.union(&sets[*set as usize]));
    let many = (LEAST_ABSENT * f64::from(all.len())).ceil() as u32;
    let lacks_many = |set: &u32| all.without(&sets[*set as usize]) >= many.max(1);
    if own.len() < 2 || !own.iter().all(lacks_many) {
        return false;
    }
    let first = &sets[own.first().copied().unwrap_or_default() as usize];
    own.iter()
        .skip(1)
        .map(|set| &sets[*set as usize])
        .any(|other| first.without(other) > 0 && other.without(first) > 0)
}

/// A mean over the dispatches that recorded a counter.
struct Mean {
    mean: f64,
    /// Number of dispatches.
    count: usize,
    /// Its standard error, if there is more than one dispatch.
    error: Option<f64>,
}

fn mean(cells: &[Option<f64>], rows: &[u32]) -> Option<Mean> {
    let values: Vec<f64> = rows.iter().filter_map(|row| cells[*row as usize]).collect();
    let count = values.len();
    if count == 0 {
        return None;
    }
    let n = count as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (count > 1).then(|| (squares / (n - 1.0) / n).sqrt());
    Some(Mean { mean, count, error })
}

impl Errors {
    fn add(&mut self, found: &Mean, counter: &Counter) {
        match found.error {
            None => self.unknown += 1,
            // Where a counter is 0 throughout so is the mean.
            Some(error) if found.mean != 0.0 => {
                let instance = counter.instance.map_or_else(String::new, |it| format!("[{it}]"));
                self.known.push(((error / found.mean).abs(), format!("{}{instance}", counter.name)));
            }
            Some(_) => {}
        }
    }

    /// Display text.
    fn describe(&mut self) -> String {
        self.known.in_order_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        let unknown = match self.unknown {
            0 => String::new(),
            n => format!("of {n} means over one dispatch the error is not known"),
        };
        let Some((most, name)) = self.known.last() else { return unknown };
        let median = self.known[self.known.len() / 2].0;
        let known = format!(
            "standard error of these means {:.1} % (median), {:.1} % at most (`{name}`)",
            100.0 * median,
            100.0 * most
        );
        if unknown.is_empty() { known } else { format!("{known}; {unknown}") }
    }
}

fn report(
    w: &Workload,
    setting: Option<&str>,
    multiplexed: &Multiplexed,
    errors: &mut Errors,
    lacking: &BTreeMap<u32, u64>,
    problems: &mut Problems,
) {
    let file = w.sources.first().map_or("", String::as_str);
    let repetitions = match setting {
        Some("kernel") => "dispatches of its kernel",
        _ => "dispatches of its kernel with its sizes",
    };
    problems.warn(
        file,
        0,
        format!(
            "iteration multiplexing: each dispatch recorded one of {} sets of counters",
            multiplexed.sets()
        ),
        format!(
            "a counter that a dispatch did not record is the mean over the {repetitions} that did; {}",
            errors.describe()
        ),
    );
    if !lacking.is_empty() {
        let name = |row: &u32| format!("`{}`", w.kernel_of(*row as usize));
        let names: BTreeSet<String> = lacking.keys().map(name).collect();
        let named: Vec<String> = names.iter().take(NAMED).cloned().collect();
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        problems.warn(
            file,
            0,
            format!("too few dispatches to record every set of counters: {}{more}", named.join(", ")),
            format!("n/a for them: up to {}", counted(*lacking.values().max().unwrap_or(&0), "counter")),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, Workload, read, write};
    use std::collections::BTreeMap;

    fn load(rows: &str, setting: &str) -> Workload {
        let text = format!(
            "Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value\n{rows}"
        );
        let mut files = BTreeMap::from([("pmc_perf.csv".to_string(), text.into_bytes())]);
        if !setting.is_empty() {
            let settings = format!("name: x\niteration_multiplexing: {setting}\n");
            files.insert("profiling_config.yaml".to_string(), settings.into_bytes());
        }
        read(&files, &Options::default()).unwrap()
    }

    fn row(dispatch: u32, kernel: &str, grid: u32, counter: &str, value: f64) -> String {
        let start = 100 * dispatch;
        format!("{dispatch},0,{kernel},{grid},64,0,{start},{},{counter},{value}\n", start + 10)
    }

    fn said(w: &Workload) -> Vec<String> {
        let own = w.problems.iter().map(ToString::to_string);
        own.filter(|it| !it.contains("absent") && !it.contains("end when")).collect()
    }

    fn values(w: &Workload, name: &str) -> Vec<Option<f64>> {
        w.counters.get(name).unwrap().values.iter().collect()
    }

    #[test]
    fn dispatches_that_take_turns_at_counters_have_all() {
        let rows = [
            row(1, "a", 64, "SQ_WAVES", 10.0),
            row(2, "a", 64, "SQ_INSTS_VALU", 100.0),
            row(3, "a", 64, "SQ_WAVES", 14.0),
            row(4, "a", 64, "SQ_INSTS_VALU", 100.0),
        ]
        .concat();
        for setting in ["", "kernel", "kernel_launch_params"] {
            let w = load(&rows, setting);
            assert_eq!(values(&w, "SQ_WAVES"), [10.0, 12.0, 14.0, 12.0].map(Some));
            assert_eq!(values(&w, "SQ_INSTS_VALU"), [Some(100.0); 4]);
            let said = said(&w);
            assert_eq!(said.len(), 1, "{said:?}");
            // 12 is off by the root of 8 over the root of 2.
            assert!(said[0].ends_with(" 16.7 % at most (`SQ_WAVES`)"), "{said:?}");
            if setting == "kernel" {
                testkit::golden("two sets of counters", &said[0]);
            }
            // What a dispatch did not record is not written as if it had.
            let back = read(&write(&w), &Options::default()).unwrap();
            assert_eq!(values(&back, "SQ_WAVES"), values(&w, "SQ_WAVES"));
            assert_eq!(back.multiplexed, w.multiplexed);
            let text = String::from_utf8(write(&w)["pmc_perf.csv"].clone()).unwrap();
            assert!(text.lines().nth(1).unwrap().ends_with("10,"), "{text}");
        }
    }

    #[test]
    fn sizes_count_unless_only_the_kernel_does() {
        let rows = [
            row(1, "a", 64, "SQ_WAVES", 1.0),
            row(2, "a", 128, "SQ_WAVES", 2.0),
            row(3, "a", 64, "SQ_INSTS_VALU", 10.0),
            row(4, "a", 128, "SQ_INSTS_VALU", 20.0),
            row(5, "b", 64, "SQ_WAVES", 7.0),
        ]
        .concat();
        let w = load(&rows, "kernel_launch_params");
        assert_eq!(values(&w, "SQ_WAVES"), [1.0, 2.0, 1.0, 2.0, 7.0].map(Some));
        testkit::golden("too few dispatches", &said(&w).join("\n"));
        let w = load(&rows, "kernel");
        assert_eq!(values(&w, "SQ_WAVES"), [1.0, 2.0, 1.5, 1.5, 7.0].map(Some));
    }

    #[test]
    fn what_a_program_that_died_did_not_record_stays_absent() {
        // The last dispatch lacks what the pass that was cut off would have read.
        let rows = [
            row(1, "a", 64, "SQ_WAVES", 1.0),
            row(1, "a", 64, "SQ_INSTS_VALU", 5.0),
            row(2, "a", 64, "SQ_WAVES", 1.0),
        ]
        .concat();
        let w = load(&rows, "");
        assert_eq!(values(&w, "SQ_INSTS_VALU"), [Some(5.0), None]);
        assert_eq!(w.multiplexed, None);
    }
}
