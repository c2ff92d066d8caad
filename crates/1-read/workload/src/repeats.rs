//! Passes that were run several times: values are medians over the runs, and the spread between runs is kept.
//!
//! A spread is the distance between the smallest and the largest value of one dispatch, as a share of their
//! median, so it needs only two runs and never understates the observed range.

use crate::folder::Files;
use crate::problem::Problems;
use crate::side;
use crate::table::Want;
use crate::values::Values;
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Name of the file with spreads of a recording whose runs are not there any more.
pub(crate) const SPREADS_FILE: &str = "pmc_spreads.csv";

/// Its header.
pub(crate) const SPREADS_HEADER: &str = "Kernel_Name,Quantity,Runs,Dispatches,Spread_Percent,Most_Percent";

/// Run-to-run spread of a pass in one quantity of one kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Spread {
    /// Kernel, an index into [`Workload::kernels`](crate::Workload::kernels).
    pub kernel: u32,
    /// A counter as recorded, or [`TIME`](crate::TIME).
    pub quantity: String,
    /// Runs, of the dispatch with most.
    pub runs: u32,
    /// Dispatches of the kernel that several runs have.
    pub dispatches: u32,
    /// Largest minus smallest value as a share of the median: the median over dispatches.
    pub typical: f64,
    /// Spread of the dispatch with the largest.
    pub most: f64,
}

/// Columns of repeated runs.
pub(crate) struct Repeats {
    rows: usize,
    /// For each run, the run that it repeats.
    first: Vec<u16>,
    columns: BTreeMap<(u16, usize), Vec<f64>>,
    /// Number of runs and spread of each dispatch, by quantity.
    found: Vec<(String, Vec<RowSpread>)>,
}

/// Number of runs and spread of a dispatch; `None` if it ran once.
type RowSpread = Option<(u32, f64)>;

impl Repeats {
    pub(crate) fn new(rows: usize, first: Vec<u16>) -> Repeats {
        Repeats { rows, first, columns: BTreeMap::new(), found: Vec::new() }
    }

    fn first(&self, run: u16) -> u16 {
        self.first.get(usize::from(run)).copied().unwrap_or(run)
    }

    /// Whether two runs are of one pass.
    pub(crate) fn is_repetition(&self, one: u16, other: u16) -> bool {
        self.first(one) == self.first(other)
    }

    /// The column of a counter in a run; created empty if absent.
    pub(crate) fn column(&mut self, run: u16, counter: usize) -> &mut Vec<f64> {
        self.columns.entry((run, counter)).or_default()
    }

    /// Puts the median over the runs of its pass into a column.
    pub(crate) fn take_medians(
        &mut self,
        counter: usize,
        name: &str,
        origin: Option<u16>,
        column: &mut Vec<f64>,
    ) {
        let Some(origin) = origin else { return };
        let runs: Vec<u16> = (0..self.first.len() as u16)
            .filter(|run| *run != origin && self.is_repetition(origin, *run))
            .collect();
        let more: Vec<Vec<f64>> =
            runs.iter().filter_map(|run| self.columns.remove(&(*run, counter))).collect();
        if more.is_empty() {
            return;
        }
        let all: Vec<&[f64]> = std::iter::once(&column[..]).chain(more.iter().map(|it| &it[..])).collect();
        let (medians, spreads) = medians(self.rows, &all);
        *column = medians;
        self.found.push((name.to_string(), spreads));
    }

    /// Times of dispatches in each pass, from those in each run.
    pub(crate) fn times(&mut self, runs: &BTreeMap<u16, Vec<f64>>, passes: &[u16]) -> Vec<(u16, Values)> {
        let mut by_first: BTreeMap<u16, Vec<&[f64]>> = BTreeMap::new();
        for (run, column) in runs {
            by_first.entry(self.first(*run)).or_default().push(column);
        }
        let mut out: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
        // If several passes have their own times, the largest spread of a dispatch counts.
        let mut spread: Vec<RowSpread> = Vec::new();
        for (first, columns) in by_first {
            let (medians, spreads) = medians(self.rows, &columns);
            let Some(pass) = passes.get(usize::from(first)) else { continue };
            // Several files may be of one pass.
            let whole = out.entry(*pass).or_insert_with(|| vec![f64::NAN; self.rows]);
            for (whole, own) in whole.iter_mut().zip(medians) {
                *whole = if own.is_nan() { *whole } else { own };
            }
            if columns.len() > 1 {
                spread.resize(self.rows, None);
                for (whole, own) in spread.iter_mut().zip(spreads) {
                    let larger = own.is_some_and(|(_, own)| whole.is_none_or(|(_, whole)| own > whole));
                    if larger {
                        *whole = own;
                    }
                }
            }
        }
        if !spread.is_empty() {
            self.found.push((crate::TIME.to_string(), spread));
        }
        out.into_iter().map(|(pass, times)| (pass, values(&times))).collect()
    }

    /// Counters in passes other than the main one, by pass and counter: medians over the runs of each.
    pub(crate) fn other_passes(&self, origin: &[Option<u16>], passes: &[u16]) -> Vec<((u16, usize), Values)> {
        let mut by_pass: BTreeMap<(u16, usize), Vec<&[f64]>> = BTreeMap::new();
        for ((run, counter), column) in &self.columns {
            let own = origin[*counter].is_some_and(|origin| self.is_repetition(origin, *run));
            if let Some(pass) = passes.get(usize::from(*run)).filter(|_| !own) {
                by_pass.entry((*pass, *counter)).or_default().push(column);
            }
        }
        by_pass.into_iter().map(|(key, columns)| (key, values(&medians(self.rows, &columns).0))).collect()
    }

    /// Spreads by kernel and quantity, where a pass was repeated.
    pub(crate) fn spreads(&self, kernel_of: &[u32]) -> Vec<Spread> {
        let mut out = Vec::new();
        for kernel in kernel_of.iter().collect::<BTreeSet<_>>() {
            for (quantity, rows) in &self.found {
                let own = rows.iter().zip(kernel_of).filter(|(_, of)| *of == kernel);
                let own: Vec<(u32, f64)> = own.filter_map(|(found, _)| *found).collect();
                let mut shares: Vec<f64> = own.iter().map(|it| it.1).collect();
                let Some(typical) = median(&mut shares) else { continue };
                out.push(Spread {
                    kernel: *kernel,
                    quantity: quantity.clone(),
                    runs: own.iter().map(|it| it.0).max().unwrap_or(0),
                    dispatches: own.len() as u32,
                    typical,
                    most: shares.last().copied().unwrap_or(typical),
                });
            }
        }
        out
    }
}

fn values(column: &[f64]) -> Values {
    column.iter().map(|value| Some(*value).filter(|value| !value.is_nan())).collect()
}

/// Median of each row; for rows with several values, also their number and spread.
fn medians(rows: usize, columns: &[&[f64]]) -> (Vec<f64>, Vec<RowSpread>) {
    let one = |row: usize| {
        let cells = columns.iter().filter_map(|column| column.get(row)).copied();
        let mut cells: Vec<f64> = cells.filter(|value| !value.is_nan()).collect();
        let Some(middle) = median(&mut cells) else { return (f64::NAN, None) };
        let (least, most) = (cells[0], cells[cells.len() - 1]);
        let share = if most == least { 0.0 } else { (most - least) / middle.abs() };
        // If the median is 0 and not all values are, the relative spread is undefined.
        (middle, (cells.len() > 1 && share.is_finite()).then_some((cells.len() as u32, share)))
    };
    (0..rows).map(one).unzip()
}

/// The median; the values are sorted then.
fn median(values: &mut [f64]) -> Option<f64> {
    values.in_order_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[half]),
        _ => Some(values[half - 1].midpoint(values[half])),
    }
}

/// The file.
pub(crate) fn write(spreads: &[Spread], kernels: &[String]) -> String {
    let mut out = format!("{SPREADS_HEADER}\n");
    for Spread { kernel, quantity, runs, dispatches, typical, most } in spreads {
        let kernel = kernels.get(*kernel as usize).map_or("", String::as_str).replace('"', "\"\"");
        let (typical, most) = (100.0 * typical, 100.0 * most);
        let _ = writeln!(out, "\"{kernel}\",{quantity},{runs},{dispatches},{typical},{most}");
    }
    out
}

/// Reads the file, if there is one.
pub(crate) fn read(files: &Files<'_>, kernels: &[String], problems: &mut Problems) -> Vec<Spread> {
    let choose = |name: &str, _: &[u8]| match name {
        "Kernel_Name" | "Quantity" => Want::Text,
        _ => Want::Number,
    };
    let consequence = "the spread of the runs is not known";
    let Some(table) = side::table(files, SPREADS_FILE, &choose, consequence, problems) else {
        return Vec::new();
    };
    let absent: Vec<&str> = SPREADS_HEADER.split(',').filter(|name| table.position(name).is_none()).collect();
    if !absent.is_empty() {
        problems.error(SPREADS_FILE, format!("there is no column `{}`", absent.join("`, `")), consequence);
        return Vec::new();
    }
    let line = |row: usize| {
        let text = |column: &str| table.text(column).map_or("", |texts| texts.get(row));
        let number = |column: &str| table.number(column)?.get(row).filter(|it| *it >= 0.0);
        let kernel = kernels.iter().position(|name| name == text("Kernel_Name"))?;
        Some(Spread {
            kernel: kernel as u32,
            quantity: text("Quantity").to_string(),
            runs: number("Runs")? as u32,
            dispatches: number("Dispatches")? as u32,
            typical: number("Spread_Percent")? / 100.0,
            most: number("Most_Percent")? / 100.0,
        })
    };
    let found: Vec<Option<Spread>> = (0..table.rows).map(line).collect();
    let left_out = found.iter().filter(|it| it.is_none()).count() as u64;
    if left_out > 0 {
        let message = format!("{left_out} lines name no kernel of the recording, or lack a number");
        problems.warn(SPREADS_FILE, left_out, message, "they are left out");
    }
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Workload};

    const HEADER: &str = "Dispatch_Id,Agent_Id,Process_Id,Grid_Size,Kernel_Name,Workgroup_Size,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n";

    fn run(start: u32, time: u32, counters: &[(&str, [u32; 2])]) -> Vec<u8> {
        let mut text = HEADER.to_string();
        for (name, values) in counters {
            for (at, value) in values.iter().enumerate() {
                let start = start + 1000 * at as u32;
                let kernel = ["a", "b"][at];
                text +=
                    &format!("{},Agent 4,7,64,{kernel},64,{name},{value},{start},{}\n", at + 1, start + time);
            }
        }
        text.into_bytes()
    }

    fn workload(runs: &[(&str, Vec<u8>)]) -> Workload {
        let files = runs
            .iter()
            .map(|(folder, text)| (format!("{folder}/pass_7_counter_collection.csv"), text.clone()));
        let files: BTreeMap<String, Vec<u8>> = files.collect();
        crate::read(&files, &Options::default()).unwrap()
    }

    #[test]
    fn repeated_passes_give_medians_and_spreads() {
        let runs = |with_third: bool| {
            let mut runs = vec![
                ("pmc_1/run_1", run(0, 100, &[("SQ_WAVES", [4, 8]), ("GRBM_GUI_ACTIVE", [100, 100])])),
                ("pmc_1/run_2", run(9000, 120, &[("SQ_WAVES", [4, 10]), ("GRBM_GUI_ACTIVE", [120, 90])])),
                ("pmc_2/run_1", run(20_000, 100, &[("TCC_HIT", [0, 8]), ("GRBM_GUI_ACTIVE", [10, 10])])),
                ("pmc_2/run_2", run(30_000, 100, &[("TCC_HIT", [3, 8]), ("GRBM_GUI_ACTIVE", [30, 10])])),
            ];
            if with_third {
                let third = run(40_000, 110, &[("SQ_WAVES", [4, 9]), ("GRBM_GUI_ACTIVE", [90, 95])]);
                runs.push(("pmc_1/run_10", third));
            }
            workload(&runs)
        };
        let w = runs(true);
        let column = |name: &str| w.counters.get(name).unwrap().values.iter().collect::<Vec<_>>();
        assert_eq!(column("SQ_WAVES"), [4.0, 9.0].map(Some));
        assert_eq!(column("GRBM_GUI_ACTIVE"), [100.0, 95.0].map(Some));
        // An even number of runs: halfway.
        assert_eq!(column("TCC_HIT"), [1.5, 8.0].map(Some));
        let passes: Vec<u16> = w.counters.timed_passes().collect();
        assert_eq!(passes.len(), 2, "repetitions are one pass");
        let in_second = w.counters.get_in_pass(passes[1], "GRBM_GUI_ACTIVE").unwrap();
        assert_eq!(in_second.iter().collect::<Vec<_>>(), [20.0, 10.0].map(Some));
        assert_eq!(w.counters.time_in_pass(passes[0]).unwrap().get(0), Some(110.0));
        let spread = |kernel: u32, quantity: &str| {
            let found = w.spreads.iter().find(|it| it.kernel == kernel && it.quantity == quantity);
            found.map(|it| (it.runs, it.dispatches, (1e4 * it.most).round() / 1e4)).unwrap()
        };
        assert_eq!(spread(0, "SQ_WAVES"), (3, 1, 0.0));
        assert_eq!(spread(1, "SQ_WAVES"), (3, 1, 0.2222));
        assert_eq!(spread(0, "TCC_HIT"), (2, 1, 2.0));
        assert_eq!(spread(0, "time"), (3, 1, 0.1818));
        assert!(w.problems.iter().all(|it| it.message == crate::ABSENT), "{:?}", w.problems);
        // One run alone has no spread.
        let alone = workload(&[("pmc_1/run_1", run(0, 100, &[("SQ_WAVES", [4, 8])]))]);
        assert_eq!(alone.spreads, []);
    }

    #[test]
    fn spreads_that_are_written_are_read() {
        let mut w = workload(&[
            ("pmc_1/run_1", run(0, 100, &[("SQ_WAVES", [4, 8])])),
            ("pmc_1/run_2", run(9000, 120, &[("SQ_WAVES", [4, 10])])),
        ]);
        w.kernels[1] = "b(\"x\", y)".to_string();
        let back = crate::read(&crate::write(&w), &Options::default()).unwrap();
        assert_eq!(back.spreads.len(), 4);
        for (own, back) in w.spreads.iter().zip(&back.spreads) {
            assert_eq!((own.kernel, &own.quantity, own.runs), (back.kernel, &back.quantity, back.runs));
            assert!((own.most - back.most).abs() < 1e-12);
        }
        let mut files = crate::write(&w);
        let cut = format!("{SPREADS_HEADER}\nnobody,time,2,1,3,4\n");
        files.insert(SPREADS_FILE.to_string(), cut.into_bytes());
        let back = crate::read(&files, &Options::default()).unwrap();
        assert_eq!(back.spreads, []);
        assert!(back.problems.iter().any(|it| it.file == SPREADS_FILE), "{:?}", back.problems);
    }
}
