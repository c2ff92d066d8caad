//! Merges the recordings of a program's ranks, or of its GPUs, into one.
//!
//! The dispatches of all ranks are concatenated, and each counter is a column over all of them, with gaps for
//! ranks that did not record it. Values of ranks on different GPUs are not added up.

use crate::model::{Counter, Counters, Dispatches, Extra, Rank, numbered};
use crate::problem::Problem;
use crate::recording::Workload;
use crate::sampled::Samples;
use crate::traced::Traces;
use crate::values::Values;
use crate::{samples, thread_trace};
use std::collections::{BTreeMap, HashMap};

/// Facts in which the ranks must agree: metrics are made with them.
const ALIKE: [&str; 4] = ["gpu_arch", "cu_per_gpu", "num_xcd", "emulated_by"];

/// Merges recordings, each with the name of its rank. The error says in which fact two differ.
pub fn merge(ranks: Vec<(String, Workload)>) -> Result<Workload, String> {
    let Some((first_name, first)) = ranks.first() else { return Err("no recording is given".to_string()) };
    for (name, w) in &ranks {
        let differs = ALIKE.iter().find(|fact| w.machine.text(fact) != first.machine.text(fact));
        if let Some(fact) = differs {
            let value = |w: &Workload| w.machine.text(fact).unwrap_or("not recorded").to_string();
            return Err(format!(
                "`{fact}` is {} in `{first_name}` and {} in `{name}`",
                value(first),
                value(w)
            ));
        }
    }
    let mut whole = Workload {
        machine: first.machine.clone(),
        ceilings: first.ceilings.clone(),
        marks: first.marks.clone(),
        settings: first.settings.clone(),
        ..Workload::empty(first.generation)
    };
    let rows: usize = ranks.iter().map(|(_, w)| w.dispatches.len()).sum();
    let mut problems = Vec::new();
    let mut samples: Vec<Samples> = Vec::new();
    let mut traces: Vec<Traces> = Vec::new();
    let mut kernels: HashMap<String, u32> = HashMap::new();
    let mut columns: Columns = Columns { rows, ..Columns::default() };
    let mut start = 0;
    let count = ranks.len();
    for (name, mut w) in ranks {
        let d = std::mem::take(&mut w.dispatches);
        let range = start..start + d.len() as u32;
        let numbers = numbered(&w.kernels, &mut kernels, &mut whole.kernels);
        append(&mut whole.dispatches, &d, &numbers);
        let source = whole.sources.len() as u16;
        whole.sources.extend(w.sources.iter().map(|file| format!("{name}/{file}")));
        for counter in std::mem::take(&mut w.counters).into_list() {
            columns.add(counter, start, source);
        }
        for extra in std::mem::take(&mut w.extras) {
            columns.add_extra(&extra, start);
        }
        whole.shares.extend(w.shares.into_iter().map(|mut it| {
            it.row += start;
            it
        }));
        whole.spreads.extend(w.spreads.into_iter().map(|mut it| {
            it.kernel = numbers.get(it.kernel as usize).copied().unwrap_or_default();
            it
        }));
        whole.launches.extend(w.launches.into_iter().map(|mut it| {
            it.row = it.row.map(|row| row + start);
            it
        }));
        whole.occupancy.extend(w.occupancy.into_iter().map(|mut it| {
            it.row += start;
            it
        }));
        samples.extend(w.samples.take());
        traces.extend(w.traces.take());
        let host = w.machine.text("hostname").map(|host| host.trim().to_string());
        problems.extend(w.problems.into_iter().map(|problem| (name.clone(), problem)));
        start = range.end;
        whole.ranks.push(Rank { name, rows: range, host });
    }
    (whole.counters, whole.extras) = columns.finish();
    whole.samples = samples::merge(samples);
    whole.traces = thread_trace::merge(traces);
    whole.problems = grouped(problems, count);
    Ok(whole)
}

/// Appends the dispatches of a rank. `numbers` are the numbers of its kernels in the merged recording.
fn append(whole: &mut Dispatches, d: &Dispatches, numbers: &[u32]) {
    let (before, more) = (whole.len(), d.len());
    whole.id.extend(&d.id);
    whole
        .kernel
        .extend(d.kernel.iter().map(|kernel| numbers.get(*kernel as usize).copied().unwrap_or_default()));
    whole.gpu.extend(&d.gpu);
    whole.start.extend(&d.start);
    whole.end.extend(&d.end);
    for (column, own) in [
        (&mut whole.grid, &d.grid),
        (&mut whole.workgroup, &d.workgroup),
        (&mut whole.lds, &d.lds),
        (&mut whole.scratch, &d.scratch),
        (&mut whole.arch_vgpr, &d.arch_vgpr),
        (&mut whole.accum_vgpr, &d.accum_vgpr),
        (&mut whole.sgpr, &d.sgpr),
    ] {
        (0..more).for_each(|row| column.push(own.get(row), 0));
    }
    // Columns of fractions have no cells where every time is whole.
    for (column, own) in
        [(&mut whole.start_fraction, &d.start_fraction), (&mut whole.end_fraction, &d.end_fraction)]
    {
        if column.is_empty() && own.is_empty() {
            continue;
        }
        (column.len()..before).for_each(|_| column.push(Some(0.0), 0));
        (0..more).for_each(|row| column.push(Some(own.get(row).unwrap_or(0.0)), 0));
    }
}

/// Run, name and instance of a counter.
type CounterKey = (Option<String>, String, Option<u32>);

/// Columns over the dispatches of all ranks, while ranks are added.
#[derive(Default)]
struct Columns {
    rows: usize,
    counters: Vec<Counter>,
    known: HashMap<CounterKey, usize>,
    extras: Vec<Extra>,
}

impl Columns {
    fn add(&mut self, counter: Counter, start: u32, source: u16) {
        let key = (counter.run.clone(), counter.name.clone(), counter.instance);
        let at = match self.known.get(&key) {
            Some(at) => *at,
            None => {
                self.known.insert(key, self.counters.len());
                let source = source.saturating_add(counter.source);
                self.counters.push(Counter { source, values: Values::new(), ..counter.clone() });
                self.counters.len() - 1
            }
        };
        extend(&mut self.counters[at].values, &counter.values, start);
        if self.counters[at].pass != counter.pass {
            self.counters[at].pass = None;
        }
    }

    fn add_extra(&mut self, extra: &Extra, start: u32) {
        let at = self.extras.iter().position(|it| it.name == extra.name).unwrap_or_else(|| {
            self.extras.push(Extra { name: extra.name.clone(), values: Values::new() });
            self.extras.len() - 1
        });
        extend(&mut self.extras[at].values, &extra.values, start);
    }

    fn finish(self) -> (Counters, Vec<Extra>) {
        let Columns { rows, mut counters, mut extras, .. } = self;
        let end = rows as u32;
        counters.iter_mut().for_each(|it| extend(&mut it.values, &Values::new(), end));
        extras.iter_mut().for_each(|it| extend(&mut it.values, &Values::new(), end));
        let mut all = Counters::default();
        for counter in counters {
            all.add(counter);
        }
        (all, extras)
    }
}

/// Appends cells at a row, with gaps before it.
fn extend(column: &mut Values, own: &Values, start: u32) {
    (column.len()..start as usize).for_each(|_| column.push(None, 0));
    own.iter().for_each(|cell| column.push(cell, 0));
}

/// Problems that every rank has are reported once.
fn grouped(problems: Vec<(String, Problem)>, ranks: usize) -> Vec<Problem> {
    let mut alike: BTreeMap<usize, Vec<(String, Problem)>> = BTreeMap::new();
    let mut firsts: Vec<Problem> = Vec::new();
    for (name, problem) in problems {
        let same = |it: &Problem| {
            (it.kind, &it.file, &it.column, &it.message, &it.consequence)
                == (problem.kind, &problem.file, &problem.column, &problem.message, &problem.consequence)
        };
        let at = firsts.iter().position(same).unwrap_or_else(|| {
            firsts.push(problem.clone());
            firsts.len() - 1
        });
        alike.entry(at).or_default().push((name, problem));
    }
    alike
        .into_values()
        .flat_map(|list| {
            if ranks > 1 && list.len() == ranks {
                let rows = list.iter().map(|it| it.1.rows).sum();
                let first = list.into_iter().next().map(|(_, problem)| Problem {
                    file: format!("{} of each of the {ranks} recordings", problem.file),
                    line: None,
                    rows,
                    ..problem
                });
                return first.into_iter().collect();
            }
            let named = |(name, problem): (String, Problem)| Problem {
                file: format!("{name}/{}", problem.file),
                ..problem
            };
            list.into_iter().map(named).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, read};

    fn rank(rows: &str, machine: &str) -> Workload {
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), rows.as_bytes().to_vec()),
            ("sysinfo.csv".to_string(), machine.as_bytes().to_vec()),
        ]);
        read(&files, &Options::default()).unwrap()
    }

    const MACHINE: &str = "gpu_arch,hostname\ngfx942,a\n";

    #[test]
    fn ranks_stand_behind_each_other() {
        let first = rank(
            "Dispatch_ID,Kernel_Name,Grid_Size,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_HIT[0]\n0,a,64,0,10,4,1\n1,b,64,10,20,5,2\n",
            MACHINE,
        );
        let second = rank(
            "Dispatch_ID,Kernel_Name,Grid_Size,Start_Timestamp,End_Timestamp,SQ_WAVES,SQ_INSTS_VALU\n0,b,128,0.5,10.75,6,7\n",
            "gpu_arch,hostname\ngfx942,b\n",
        );
        let w = merge(vec![("0".to_string(), first), ("1".to_string(), second)]).unwrap();
        assert_eq!(w.kernels, ["a", "b"]);
        assert_eq!(w.dispatches.kernel, [0, 1, 1]);
        assert_eq!(
            (0..3).map(|row| w.dispatches.duration(row)).collect::<Vec<_>>(),
            [10.0, 10.0, 10.25].map(Some)
        );
        let column = |name: &str| w.counters.get(name).unwrap().values.iter().collect::<Vec<_>>();
        assert_eq!(column("SQ_WAVES"), [4.0, 5.0, 6.0].map(Some));
        assert_eq!(column("SQ_INSTS_VALU"), [None, None, Some(7.0)]);
        let channel = w.counters.instance("TCC_HIT", 0).unwrap();
        assert_eq!(channel.values.iter().collect::<Vec<_>>(), [Some(1.0), Some(2.0), None]);
        let ranks: Vec<_> =
            w.ranks.iter().map(|it| (it.name.as_str(), it.rows.clone(), it.host.as_deref())).collect();
        assert_eq!(ranks, [("0", 0..2, Some("a")), ("1", 2..3, Some("b"))]);
        // Data that every rank lacks are reported once.
        let absent =
            w.problems.iter().filter(|it| it.file.starts_with("SQ_IFETCH_LEVEL.csv")).collect::<Vec<_>>();
        assert_eq!(absent.len(), 1, "{:?}", w.problems);
    }

    #[test]
    fn ranks_of_different_gpus_are_refused() {
        let rows = "Dispatch_ID,Kernel_Name,SQ_WAVES\n0,a,4\n";
        let ranks = [("x", MACHINE), ("y", "gpu_arch,hostname\ngfx90a,a\n")];
        let ranks = ranks.map(|(name, machine)| (name.to_string(), rank(rows, machine)));
        let error = merge(ranks.to_vec()).unwrap_err();
        assert!(
            ["`gpu_arch`", "gfx942", "`x`", "gfx90a", "`y`"].iter().all(|it| error.contains(it)),
            "{error}"
        );
    }
}
