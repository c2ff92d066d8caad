//! Rows of one dispatch and counter each, gathered into a workload.
//!
//! A dispatch appears once per run of the application, with the same ID and another start time. The run with
//! most dispatches is the base; the others are brought into its order. A dispatch's time is the median over
//! all its readings, so that one slow run does not dominate.

use crate::headers;
use crate::join::{self, Launch};
use crate::model::{Counter, Counters, Dispatches, Generation};
use crate::passes::{Part, is_of_pass};
use crate::problem::{Error, Problems};
use crate::recording::Workload;
use crate::repeats::Repeats;
use crate::runs::{self, Recorded};
use crate::side;
use crate::times::{Time, between, fractions, split};
use crate::values::Values;
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One row, whatever it was read from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row<'a> {
    pub(crate) dispatch: u64,
    pub(crate) gpu: u32,
    pub(crate) kernel: &'a str,
    pub(crate) start: Option<Time>,
    pub(crate) end: Option<Time>,
    /// Grid, workgroup, LDS, scratch, VGPRs, AGPRs, SGPRs.
    pub(crate) sizes: [Option<f64>; 7],
    pub(crate) counter: &'a str,
    pub(crate) value: Option<f64>,
}

/// One launch in one run.
struct Execution {
    process: u32,
    dispatch: u64,
    gpu: u32,
    kernel: u32,
    start: Option<Time>,
    end: Option<Time>,
    sizes: [Option<f64>; 7],
}

impl Execution {
    /// Time it took, ns.
    fn time(&self) -> Option<f64> {
        between(self.start?, self.end?)
    }

    /// Key of a dispatch in its run.
    const fn id(&self) -> (u32, u32, u64) {
        (self.process, self.gpu, self.dispatch)
    }
}

/// Key of an execution: run, process, GPU, dispatch, start, kernel.
type ExecutionKey = (u32, u32, u32, u64, Option<i64>, u32);

/// A column may be empty in most dispatches, but not in as many as nothing but a damaged file has.
const MOST_CELLS: usize = 1 << 27;
/// Cells of memory per value read, beyond [`MOST_CELLS`].
const CELLS_PER_VALUE: usize = 64;

/// Gathers rows into a workload.
#[derive(Default)]
pub(crate) struct Gather {
    kernels: Names,
    counters: Names,
    executions: Vec<Execution>,
    by_key: HashMap<ExecutionKey, u32>,
    repeats: HashMap<(u32, u32, u32, u64), u32>,
    /// run (part, repeat) -> executions
    runs: BTreeMap<(u32, u32), Vec<u32>>,
    /// execution, counter, value
    cells: Vec<(u32, u32, f64)>,
    last: Option<(ExecutionKey, u32)>,
    /// For each repeated run, the run it repeats.
    first_of: BTreeMap<u32, u32>,
    /// Counters have a row for each instance of their block, which are meant to be added up.
    pub(crate) by_instance: bool,
}

/// Names by number, each once.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    ids: HashMap<String, u32>,
    last: usize,
}

impl Names {
    /// The number of a name.
    fn id(&mut self, text: &str) -> u32 {
        // Rows name a kernel again and again, and the counters of each dispatch in the same order.
        let next = if self.last + 1 < self.list.len() { self.last + 1 } else { 0 };
        for at in [self.last, next] {
            if self.list.get(at).is_some_and(|it| it == text) {
                self.last = at;
                return at as u32;
            }
        }
        let id = match self.ids.get(text) {
            Some(id) => *id,
            None => {
                let id = self.list.len() as u32;
                self.list.push(text.to_string());
                self.ids.insert(text.to_string(), id);
                id
            }
        };
        self.last = id as usize;
        id
    }
}

impl Gather {
    /// Adds a row.
    pub(crate) fn add(&mut self, part: Part, row: &Row<'_>) {
        let kernel = self.kernels.id(row.kernel);
        let Part { run, process, first } = part;
        let key = (run, process, row.gpu, row.dispatch, row.start.map(|time| time.0), kernel);
        let execution = match self.last {
            Some((k, e)) if k == key => e,
            _ => match self.by_key.get(&key) {
                Some(e) => *e,
                None => {
                    let e = self.executions.len() as u32;
                    let repeat = self.repeats.entry((run, process, row.gpu, row.dispatch)).or_insert(0);
                    self.runs.entry((run, *repeat)).or_default().push(e);
                    *repeat += 1;
                    self.by_key.insert(key, e);
                    if first != run {
                        self.first_of.insert(run, first);
                    }
                    self.executions.push(Execution {
                        process,
                        dispatch: row.dispatch,
                        gpu: row.gpu,
                        kernel,
                        start: row.start,
                        end: row.end,
                        sizes: row.sizes,
                    });
                    e
                }
            },
        };
        self.last = Some((key, execution));
        if row.counter.is_empty() {
            return;
        }
        let counter = self.counters.id(row.counter);
        self.cells.push((execution, counter, row.value.unwrap_or(f64::NAN)));
    }

    /// Whether rows of some dispatch were added.
    pub(crate) fn is_empty(&self) -> bool {
        self.executions.is_empty()
    }

    /// Brings the executions of each run into the order of its launches.
    fn sort(&mut self) {
        for list in self.runs.values_mut() {
            let of = |e: &u32| &self.executions[*e as usize];
            let processes = list.first().map(|e| of(e).process);
            if list.iter().all(|e| Some(of(e).process) == processes) {
                list.in_order_by_key(|e| (of(e).gpu, of(e).dispatch, of(e).start.map(|time| time.0)));
            } else {
                let when = |e: &u32| of(e).start.map(|time| time.0);
                list.in_order_by_key(|e| {
                    (when(e).is_none(), when(e), of(e).process, of(e).gpu, of(e).dispatch)
                });
            }
        }
    }

    fn launches(&self, list: &[u32]) -> Vec<Launch> {
        let launch = |e: &u32| {
            let x = &self.executions[*e as usize];
            Launch {
                kernel: self.kernels.list[x.kernel as usize].clone(),
                grid: x.sizes[0].unwrap_or(0.0) as u64,
                workgroup: x.sizes[1].unwrap_or(0.0) as u64,
                gpu: x.gpu,
            }
        };
        list.iter().map(launch).collect()
    }

    /// Launches and counters of each file; empty for a single file.
    fn recorded(&self, runs: &[((u32, u32), Vec<u32>)], sources: &[String]) -> Vec<Recorded> {
        let firsts: Vec<(u32, &Vec<u32>)> =
            runs.iter().filter(|it| it.0.1 == 0).map(|it| (it.0.0, &it.1)).collect();
        let name = |part: u32| sources.get(part as usize).cloned().unwrap_or_default();
        if firsts.len() < 2 || firsts.iter().all(|it| is_of_pass(&name(it.0))) {
            return Vec::new();
        }
        let mut part_of = vec![0; self.executions.len()];
        for ((part, _), list) in runs {
            list.iter().for_each(|e| part_of[*e as usize] = *part);
        }
        let counted: BTreeSet<(u32, u32)> =
            self.cells.iter().map(|cell| (part_of[cell.0 as usize], cell.1)).collect();
        let recorded = |(part, list): &(u32, &Vec<u32>)| Recorded {
            file: name(*part),
            launches: self.launches(list),
            counters: counted
                .range((*part, 0)..=(*part, u32::MAX))
                .map(|it| self.counters.list[it.1 as usize].clone())
                .collect(),
            is_pass: is_of_pass(&name(*part)),
        };
        firsts.iter().map(recorded).collect()
    }

    /// For each execution: its row in the base run and its run. Reports runs in which a dispatch has no
    /// counterpart.
    fn places(
        &self,
        runs: &[((u32, u32), Vec<u32>)],
        base: &[u32],
        sources: &[String],
        problems: &mut Problems,
    ) -> Vec<Option<(u32, u16)>> {
        let base_launches = self.launches(base);
        let mut place: Vec<Option<(u32, u16)>> = vec![None; self.executions.len()];
        // The executions of the file that is read, by what they are known by in it.
        let mut of_file: HashMap<(u32, u32, u64), u32> = HashMap::new();
        for (number, ((part, repeat), list)) in runs.iter().enumerate() {
            if *repeat == 0 {
                of_file = list.iter().map(|e| (self.executions[*e as usize].id(), *e)).collect();
            }
            // In one file an ID is of one dispatch, unless it is of another kernel.
            let same = |e: &u32| {
                let x = &self.executions[*e as usize];
                let first = *of_file.get(&x.id())?;
                let kernel = self.executions[first as usize].kernel;
                (kernel == x.kernel).then_some(first)
            };
            let partners: Option<Vec<u32>> = (*repeat > 0).then(|| list.iter().map(same).collect()).flatten();
            if let Some(partners) = partners {
                let rows: Vec<Option<u32>> =
                    partners.iter().map(|first| place[*first as usize].map(|it| it.0)).collect();
                let found = rows.iter().flatten().count();
                for (e, row) in list.iter().zip(rows) {
                    place[*e as usize] = row.map(|row| (row, number as u16));
                }
                let alone = base.len() - found.min(base.len());
                if alone > 0 {
                    let file = sources.get(*part as usize).cloned().unwrap_or_default();
                    problems.partial.push((file, alone as u64, base.len()));
                }
                continue;
            }
            let met = join::join(&base_launches, &self.launches(list));
            for (row, at) in met.rows.iter().enumerate() {
                if let Some(at) = at {
                    place[list[*at as usize] as usize] = Some((row as u32, number as u16));
                }
            }
            let file = sources.get(*part as usize).map_or("", String::as_str);
            side::report(file, &met, "counters of that run are n/a for them", problems);
            if !met.in_order() {
                problems.warn(
                    file,
                    0,
                    "its dispatches are in another order",
                    "they meet the others by kernel, sizes and occurrence",
                );
            }
        }
        place
    }

    /// The median time of each row over everything read of it, weighted by how much was read.
    fn times(&self, rows: usize, place: &[Option<(u32, u16)>]) -> Vec<Option<f64>> {
        let mut reads: Vec<u64> = vec![0; self.executions.len()];
        for (execution, _, _) in &self.cells {
            reads[*execution as usize] += 1;
        }
        let mut times: Vec<Vec<(f64, u64)>> = vec![Vec::new(); rows];
        for ((execution, place), reads) in self.executions.iter().zip(place).zip(&reads) {
            let Some((row, _)) = place else { continue };
            if let Some(time) = execution.time() {
                times[*row as usize].push((time, (*reads).max(1)));
            }
        }
        times.iter_mut().map(|times| median(times)).collect()
    }

    /// Time of each row in each run.
    fn run_times(&self, rows: usize, place: &[Option<(u32, u16)>]) -> BTreeMap<u16, Vec<f64>> {
        let mut times: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
        for (execution, place) in self.executions.iter().zip(place) {
            let (Some((row, run)), Some(time)) = (place, execution.time()) else { continue };
            let column = times.entry(*run).or_insert_with(|| vec![f64::NAN; rows]);
            column[*row as usize] = if time > 0.0 { time } else { f64::NAN };
        }
        times
    }

    /// For each run, the index of the run it repeats.
    fn first_runs(&self, runs: &[((u32, u32), Vec<u32>)]) -> Vec<u16> {
        let place: HashMap<(u32, u32), u16> =
            runs.iter().enumerate().map(|(at, (key, _))| (*key, at as u16)).collect();
        let first = |(at, ((run, repeat), _)): (usize, &((u32, u32), Vec<u32>))| {
            let first = self.first_of.get(run).copied().unwrap_or(*run);
            place.get(&(first, *repeat)).copied().unwrap_or(at as u16)
        };
        runs.iter().enumerate().map(first).collect()
    }

    /// Refuses a recording whose columns would be far larger than what was recorded.
    fn check_size(&self, rows: usize, file: &str) -> Result<(), Error> {
        let cells = rows.saturating_mul(self.counters.list.len());
        if cells <= MOST_CELLS.max(CELLS_PER_VALUE.saturating_mul(self.cells.len())) {
            return Ok(());
        }
        Err(Error::TooSparse {
            file: file.to_string(),
            dispatches: rows,
            counters: self.counters.list.len(),
            values: self.cells.len(),
        })
    }

    /// The workload. `sources` names the file of each run.
    pub(crate) fn finish(
        mut self,
        generation: Generation,
        sources: Vec<String>,
        problems: &mut Problems,
    ) -> Result<Workload, Error> {
        self.sort();
        let runs: Vec<((u32, u32), Vec<u32>)> = std::mem::take(&mut self.runs).into_iter().collect();
        runs::check(self.recorded(&runs, &sources))?;
        let most = runs.iter().map(|run| run.1.len()).max().unwrap_or(0);
        let base: Vec<u32> =
            runs.iter().find(|run| run.1.len() == most).map_or_else(Vec::new, |run| run.1.clone());
        let rows = base.len();
        let file = sources.first().map_or("", String::as_str);
        self.check_size(rows, file)?;
        let place = self.places(&runs, &base, &sources, problems);
        let times = self.times(rows, &place);
        let count = self.counters.list.len();
        let (mut columns, mut origin) = (vec![Vec::new(); count], vec![None; count]);
        let mut summed: u64 = 0;
        let passes = self.passes(&runs);
        let counts_time: Vec<bool> =
            self.counters.list.iter().map(|name| name.starts_with("GRBM_")).collect();
        let mut repeats = Repeats::new(rows, self.first_runs(&runs));
        for (execution, counter, value) in &self.cells {
            let Some((row, run)) = place[*execution as usize] else { continue };
            let c = *counter as usize;
            // A counter read in several passes counts as read first; what counts time is kept of each, and so are repetitions.
            let first = *origin[c].get_or_insert(run);
            let column = if first == run {
                &mut columns[c]
            } else if repeats.is_repetition(first, run) || counts_time[c] {
                repeats.column(run, c)
            } else {
                continue;
            };
            if column.is_empty() {
                *column = vec![f64::NAN; rows];
            }
            let cell = &mut column[row as usize];
            if cell.is_nan() {
                *cell = *value;
            } else {
                *cell += value;
                summed += 1;
            }
        }
        if summed > 0 && !self.by_instance {
            problems.warn(file, summed, "counters with several rows per dispatch", "the rows are added up");
        }
        self.unused(&runs, &origin, &repeats, &sources, problems);
        let mut counters = Counters::default();
        for (pass, times) in repeats.times(&self.run_times(rows, &place), &passes) {
            counters.set_times(pass, times);
        }
        for ((pass, counter), values) in repeats.other_passes(&origin, &passes) {
            counters.add_repeated(pass, self.counters.list[counter].clone(), values);
        }
        for (i, name) in self.counters.list.iter().enumerate() {
            let (base, instance) = headers::split_instance(name);
            let source = origin[i].and_then(|r| runs.get(r as usize)).map_or(0, |r| r.0.0 as u16);
            let mut column = std::mem::take(&mut columns[i]);
            repeats.take_medians(i, name, origin[i], &mut column);
            counters.add(Counter {
                name: base.to_string(),
                instance,
                run: None,
                pass: origin[i].and_then(|run| passes.get(usize::from(run)).copied()),
                source,
                values: column
                    .iter()
                    .map(|v| if v.is_nan() { None } else { Some(*v) })
                    .collect::<Values>()
                    .or_blank(rows),
            });
        }
        let dispatches = self.dispatches(&base, &times, file, problems);
        let (kernels, spreads) = (self.kernels.list, repeats.spreads(&dispatches.kernel));
        Ok(Workload { kernels, dispatches, counters, spreads, sources, ..Workload::empty(generation) })
    }

    fn dispatches(
        &self,
        base: &[u32],
        times: &[Option<f64>],
        file: &str,
        problems: &mut Problems,
    ) -> Dispatches {
        let x = |e: &u32| &self.executions[*e as usize];
        let size = |i: usize| base.iter().map(|e| x(e).sizes[i]).collect::<Values>();
        let ends: Vec<Option<Time>> = base
            .iter()
            .zip(times)
            .map(|(e, time)| match (x(e).start, time) {
                (Some((start, fraction)), Some(time)) => {
                    let (whole, rest) = split(fraction + time)?;
                    Some((start.saturating_add(whole), rest))
                }
                _ => x(e).end,
            })
            .collect();
        let processes: BTreeSet<u32> = base.iter().map(|e| x(e).process).collect();
        let id = if processes.len() > 1 {
            problems.warn(
                file,
                0,
                format!("the dispatches are of {} processes", processes.len()),
                "they are renumbered in the order of their start",
            );
            (1..=base.len() as u64).collect()
        } else {
            base.iter().map(|e| x(e).dispatch).collect()
        };
        Dispatches {
            id,
            kernel: base.iter().map(|e| x(e).kernel).collect(),
            gpu: base.iter().map(|e| x(e).gpu).collect(),
            start: base.iter().map(|e| x(e).start.map(|time| time.0)).collect(),
            end: ends.iter().map(|end| end.map(|time| time.0)).collect(),
            start_fraction: fractions(base.iter().map(|e| x(e).start)),
            end_fraction: fractions(ends.iter().copied()),
            grid: size(0),
            workgroup: size(1),
            lds: size(2),
            scratch: size(3),
            arch_vgpr: size(4),
            accum_vgpr: size(5),
            sgpr: size(6),
        }
    }

    /// The number of the application run behind each run read. Files in which a dispatch has the same start
    /// share one.
    fn passes(&self, runs: &[((u32, u32), Vec<u32>)]) -> Vec<u16> {
        let mut known: HashMap<(u32, u64, i64), u16> = HashMap::new();
        let first = |list: &[u32]| {
            let x = &self.executions[*list.first()? as usize];
            Some((x.gpu, x.dispatch, x.start?.0))
        };
        let number = |(at, run): (usize, &((u32, u32), Vec<u32>))| {
            let own = at as u16;
            first(&run.1).map_or(own, |first| *known.entry(first).or_insert(own))
        };
        let firsts = self.first_runs(runs);
        let own: Vec<u16> = runs.iter().enumerate().map(number).collect();
        firsts.iter().map(|first| own[usize::from(*first)]).collect()
    }

    /// Reports files of which no value is used.
    fn unused(
        &self,
        runs: &[((u32, u32), Vec<u32>)],
        origin: &[Option<u16>],
        repeats: &Repeats,
        sources: &[String],
        problems: &mut Problems,
    ) {
        let origins: BTreeSet<u16> = origin.iter().flatten().copied().collect();
        let is_used = |at: u16| origins.iter().any(|origin| repeats.is_repetition(*origin, at));
        let used: BTreeSet<u32> =
            (0..).zip(runs).filter(|(at, _)| is_used(*at)).map(|(_, run)| run.0.0).collect();
        let mut of: HashMap<u32, u32> = HashMap::new();
        for ((part, _), list) in runs {
            of.extend(list.iter().map(|e| (*e, *part)));
        }
        let read: BTreeSet<u32> = self.cells.iter().filter_map(|cell| of.get(&cell.0)).copied().collect();
        for part in read.difference(&used) {
            let file = sources.get(*part as usize).map_or("", String::as_str);
            problems.warn(
                file,
                0,
                "each of its counters was read from another file before",
                "only its times are used; give its path to read it alone",
            );
        }
    }
}

/// The median of values with weights.
fn median(values: &mut [(f64, u64)]) -> Option<f64> {
    values.in_order_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let all: u64 = values.iter().map(|v| v.1).sum();
    let mut below = 0;
    for (i, (v, weight)) in values.iter().enumerate() {
        below += weight;
        if 2 * below > all {
            return Some(*v);
        }
        if 2 * below == all {
            let next = values.get(i + 1)?.0;
            return Some(v.midpoint(next));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn medians_have_weights() {
        for (values, want) in [
            (vec![], None),
            (vec![(7.0, 1)], Some(7.0)),
            (vec![(9.0, 1), (5.0, 1)], Some(7.0)),
            (vec![(8.0, 1), (5.0, 1)], Some(6.5)),
            (vec![(9.0, 3), (5.0, 1)], Some(9.0)),
            (vec![(1.0, 2), (9.0, 1), (5.0, 2)], Some(5.0)),
        ] {
            assert_eq!(median(&mut values.clone()), want, "{values:?}");
        }
    }
}
