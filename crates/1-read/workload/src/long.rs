//! Recordings with one row per dispatch and counter: long `pmc_perf.csv`, rocprofv3 CSV, rocpd databases.
//!
//! The one idea to keep in mind: a dispatch appears once per run of the application, with the same ID and another
//! start time. The first run gives the dispatches; the others are brought into its order. A dispatch's time is the
//! median over everything read of it, so that one slow run does not stand for all.

use crate::check;
use crate::dispatch_columns::{choose, take};
use crate::folder::Files;
use crate::headers;
use crate::join::{self, Launch};
use crate::model::{Counter, Counters, Dispatches, Generation, Machine, Workload};
use crate::problem::{Error, Problems};
use crate::side;
use crate::table::{self, Want};
use crate::values::Values;
use std::collections::{BTreeMap, HashMap};

/// One row, whatever it was read from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row<'a> {
    pub(crate) dispatch: u64,
    pub(crate) gpu: u32,
    pub(crate) kernel: &'a str,
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    /// Grid, workgroup, LDS, scratch, VGPRs, AGPRs, SGPRs.
    pub(crate) sizes: [Option<f64>; 7],
    pub(crate) counter: &'a str,
    pub(crate) value: Option<f64>,
}

/// One launch in one run.
struct Execution {
    dispatch: u64,
    gpu: u32,
    kernel: u32,
    start: Option<i64>,
    end: Option<i64>,
    sizes: [Option<f64>; 7],
}

/// What identifies an execution: part, GPU, dispatch, start, kernel.
type ExecutionKey = (u32, u32, u64, Option<i64>, u32);

/// Gathers rows into a workload.
#[derive(Default)]
pub(crate) struct Gather {
    kernels: Vec<String>,
    kernel_ids: HashMap<String, u32>,
    counters: Vec<String>,
    counter_ids: HashMap<String, u32>,
    executions: Vec<Execution>,
    by_key: HashMap<ExecutionKey, u32>,
    repeats: HashMap<(u32, u32, u64), u32>,
    /// run (part, repeat) -> executions
    runs: BTreeMap<(u32, u32), Vec<u32>>,
    /// execution, counter, value
    cells: Vec<(u32, u32, f64)>,
    last: Option<(ExecutionKey, u32)>,
}

fn intern(text: &str, list: &mut Vec<String>, ids: &mut HashMap<String, u32>) -> u32 {
    if let Some(id) = ids.get(text) {
        return *id;
    }
    let id = list.len() as u32;
    list.push(text.to_string());
    ids.insert(text.to_string(), id);
    id
}

impl Gather {
    /// Adds a row of the `part`-th file.
    pub(crate) fn add(&mut self, part: u32, row: &Row<'_>) {
        let kernel = intern(row.kernel, &mut self.kernels, &mut self.kernel_ids);
        let key = (part, row.gpu, row.dispatch, row.start, kernel);
        let execution = match self.last {
            Some((k, e)) if k == key => e,
            _ => match self.by_key.get(&key) {
                Some(e) => *e,
                None => {
                    let e = self.executions.len() as u32;
                    let repeat = self.repeats.entry((part, row.gpu, row.dispatch)).or_insert(0);
                    self.runs.entry((part, *repeat)).or_default().push(e);
                    *repeat += 1;
                    self.by_key.insert(key, e);
                    self.executions.push(Execution {
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
        let counter = intern(row.counter, &mut self.counters, &mut self.counter_ids);
        self.cells.push((execution, counter, row.value.unwrap_or(f64::NAN)));
    }

    /// The workload. `sources` names the part each run came from.
    pub(crate) fn finish(
        mut self,
        generation: Generation,
        sources: Vec<String>,
        problems: &mut Problems,
    ) -> Workload {
        for list in self.runs.values_mut() {
            list.sort_by_key(|e| {
                let x = &self.executions[*e as usize];
                (x.gpu, x.dispatch, x.start)
            });
        }
        let runs: Vec<((u32, u32), Vec<u32>)> = self.runs.into_iter().collect();
        let launches = |list: &[u32]| -> Vec<Launch> {
            list.iter()
                .map(|e| {
                    let x = &self.executions[*e as usize];
                    Launch {
                        kernel: self.kernels[x.kernel as usize].clone(),
                        grid: x.sizes[0].unwrap_or(0.0) as u64,
                        workgroup: x.sizes[1].unwrap_or(0.0) as u64,
                        gpu: x.gpu,
                    }
                })
                .collect()
        };
        let base: Vec<u32> = runs.first().map(|r| r.1.clone()).unwrap_or_default();
        let base_launches = launches(&base);
        // execution -> (row, run)
        let mut place: Vec<Option<(u32, u16)>> = vec![None; self.executions.len()];
        for (number, ((part, _), list)) in runs.iter().enumerate() {
            let met = join::join(&base_launches, &launches(list));
            let file = sources.get(*part as usize).map_or("", String::as_str);
            side::report(file, &met, "counters of that run are n/a for them", problems);
            for (row, at) in met.rows.iter().enumerate() {
                if let Some(at) = at {
                    place[list[*at as usize] as usize] = Some((row as u32, number as u16));
                }
            }
        }
        let rows = base.len();
        let mut reads: Vec<u64> = vec![0; self.executions.len()];
        for (execution, _, _) in &self.cells {
            reads[*execution as usize] += 1;
        }
        let mut times: Vec<Vec<(i64, u64)>> = vec![Vec::new(); rows];
        for ((execution, place), reads) in self.executions.iter().zip(&place).zip(&reads) {
            let Some((row, _)) = place else { continue };
            if let (Some(start), Some(end)) = (execution.start, execution.end) {
                times[*row as usize].push((end.saturating_sub(start), (*reads).max(1)));
            }
        }
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); self.counters.len()];
        let mut origin: Vec<Option<u16>> = vec![None; self.counters.len()];
        let mut summed: u64 = 0;
        for (execution, counter, value) in &self.cells {
            let Some((row, run)) = place[*execution as usize] else { continue };
            let c = *counter as usize;
            // A counter read in several runs counts as read first.
            if *origin[c].get_or_insert(run) != run {
                continue;
            }
            if columns[c].is_empty() {
                columns[c] = vec![f64::NAN; rows];
            }
            let cell = &mut columns[c][row as usize];
            if cell.is_nan() {
                *cell = *value;
            } else {
                *cell += value;
                summed += 1;
            }
        }
        let file = sources.first().map_or("", String::as_str);
        if summed > 0 {
            problems.warn(file, summed, "counters with several rows per dispatch", "the rows are added up");
        }
        let mut counters = Counters::default();
        for (i, name) in self.counters.iter().enumerate() {
            let (base, instance) = headers::split_instance(name);
            let source = origin[i].and_then(|r| runs.get(r as usize)).map_or(0, |r| r.0.0 as u16);
            counters.add(Counter {
                name: base.to_string(),
                instance,
                run: None,
                pass: origin[i],
                source,
                values: columns[i]
                    .iter()
                    .map(|v| if v.is_nan() { None } else { Some(*v) })
                    .collect::<Values>()
                    .or_blank(rows),
            });
        }
        let x = |e: &u32| &self.executions[*e as usize];
        let size = |i: usize| base.iter().map(|e| x(e).sizes[i]).collect::<Values>();
        let dispatches = Dispatches {
            id: base.iter().map(|e| x(e).dispatch).collect(),
            kernel: base.iter().map(|e| x(e).kernel).collect(),
            gpu: base.iter().map(|e| x(e).gpu).collect(),
            start: base.iter().map(|e| x(e).start).collect(),
            end: base
                .iter()
                .zip(&mut times)
                .map(|(e, times)| match median(times) {
                    Some(t) => x(e).start.map(|s| s.saturating_add(t)),
                    None => x(e).end,
                })
                .collect(),
            grid: size(0),
            workgroup: size(1),
            lds: size(2),
            scratch: size(3),
            arch_vgpr: size(4),
            accum_vgpr: size(5),
            sgpr: size(6),
        };
        Workload {
            generation,
            machine: Machine::default(),
            kernels: self.kernels,
            dispatches,
            counters,
            extras: Vec::new(),
            ceilings: Vec::new(),
            predictions: Vec::new(),
            keeps_events: false,
            shares: Vec::new(),
            occupancy: Vec::new(),
            marks: None,
            settings: BTreeMap::new(),
            sources,
            problems: Vec::new(),
        }
    }
}

/// The median of values with weights.
fn median(values: &mut [(i64, u64)]) -> Option<i64> {
    values.sort_unstable();
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

/// Adds the rows of a CSV file.
fn add_csv(
    gather: &mut Gather,
    part: u32,
    file: &str,
    bytes: &[u8],
    problems: &mut Problems,
) -> Result<usize, Error> {
    let choose = |name: &str, first: &[u8]| match name {
        "Counter_Value" => Want::Number,
        "Grid_Size_X" | "Grid_Size_Y" | "Grid_Size_Z" => Want::Number,
        "Workgroup_Size_X" | "Workgroup_Size_Y" | "Workgroup_Size_Z" => Want::Number,
        _ if headers::describes_dispatch(name) => choose(name, first),
        _ => Want::Skip,
    };
    let mut table = table::read(file, bytes, &headers::plain, &choose, problems)?;
    side::multiply_sizes(&mut table);
    // Rows of one dispatch repeat its ID, which is no defect here.
    let (d, kernels) = take(file, &mut table, &mut Problems::default())?;
    let sizes = [&d.grid, &d.workgroup, &d.lds, &d.scratch, &d.arch_vgpr, &d.accum_vgpr, &d.sgpr];
    for row in 0..table.rows {
        gather.add(
            part,
            &Row {
                dispatch: d.id[row],
                gpu: d.gpu[row],
                kernel: &kernels[d.kernel[row] as usize],
                start: d.start[row],
                end: d.end[row],
                sizes: sizes.map(|s| s.get(row)),
                counter: table.text("Counter_Name").map_or("", |t| t.get(row)),
                value: table.number("Counter_Value").and_then(|v| v.get(row)),
            },
        );
    }
    Ok(table.rows)
}

/// Reads a folder whose `pmc_perf.csv` is long.
pub(crate) fn folder(files: &Files<'_>, mut problems: Problems) -> Result<Workload, Error> {
    let name = "pmc_perf.csv";
    let mut gather = Gather::default();
    let bytes = files.bytes(name)?;
    if add_csv(&mut gather, 0, name, &bytes, &mut problems)? == 0 {
        return Err(Error::HeaderOnly { file: name.to_string() });
    }
    let mut w = gather.finish(Generation::Long, vec![name.to_string()], &mut problems);
    w.machine = side::machine(files, &mut problems);
    w.ceilings = side::ceilings(files, &w.machine, &mut problems);
    w.settings = side::settings(files, &mut problems);
    check::workload(&mut w, problems);
    Ok(w)
}

/// Reads rocprofv3's CSV files: counters, or kernel traces alone.
pub(crate) fn rocprofv3(
    files: &Files<'_>,
    collections: &[String],
    traces: &[String],
    mut problems: Problems,
) -> Result<Workload, Error> {
    let main = if collections.is_empty() { traces } else { collections };
    let mut gather = Gather::default();
    let mut rows = 0;
    let mut failed = None;
    for (part, name) in main.iter().enumerate() {
        let added =
            files.bytes(name).and_then(|b| add_csv(&mut gather, part as u32, name, &b, &mut problems));
        match added {
            Ok(n) => rows += n,
            Err(e) if main.len() == 1 => return Err(e),
            Err(e) => {
                problems.error(name, side::first_line(&e.to_string()), "the file is left out");
                failed = Some(e);
            }
        }
    }
    if rows == 0 {
        return Err(failed.unwrap_or(Error::HeaderOnly { file: main[0].clone() }));
    }
    let mut w = gather.finish(Generation::Rocprofv3, main.to_vec(), &mut problems);
    if !collections.is_empty() && w.dispatches.start.iter().all(Option::is_none) {
        // The trace of the same process carries the times.
        let stem = collections[0].trim_end_matches("counter_collection.csv");
        let trace = format!("{stem}kernel_trace.csv");
        if let Some(bytes) = side::try_bytes(files, &trace, &mut problems) {
            side::times(&trace, &bytes, &mut w.dispatches, &w.kernels, &mut problems);
            w.sources.push(trace);
        }
    }
    w.machine = if files.has("sysinfo.csv") {
        side::machine(files, &mut problems)
    } else {
        agents(files, &mut problems)
    };
    check::workload(&mut w, problems);
    Ok(w)
}

/// What `*_agent_info.csv` says about the GPU, under the names of `sysinfo.csv`.
const AGENT: &[(&str, &str)] = &[
    ("name", "gpu_arch"),
    ("cu_count", "cu_per_gpu"),
    ("simd_per_cu", "simd_per_cu"),
    ("wave_front_size", "wave_size"),
    ("num_xcc", "num_xcd"),
    ("num_shader_banks", "se_per_gpu"),
    ("max_engine_clk_fcompute", "max_sclk"),
    ("product_name", "gpu_model"),
];

fn agents(files: &Files<'_>, problems: &mut Problems) -> Machine {
    let mut machine = Machine::default();
    let found = files.names().find(|n| n.ends_with("agent_info.csv")).map(str::to_string);
    let Some(name) = found else {
        problems.warn(
            "agent_info.csv",
            0,
            "the file is absent",
            "peaks and everything else that needs the GPU's size or clock are n/a; name the GPU to fill them in",
        );
        return machine;
    };
    let Some(bytes) = side::try_bytes(files, &name, problems) else { return machine };
    let rename = |h: &str| h.trim().to_ascii_lowercase();
    let table = match table::read(&name, &bytes, &rename, &|_, _| Want::Text, problems) {
        Ok(t) => t,
        Err(e) => {
            problems.error(&name, side::first_line(&e.to_string()), "the machine is not known");
            return machine;
        }
    };
    let cell = |row: usize, column: &str| table.text(column).map_or("", |t| t.get(row)).trim().to_string();
    let Some(gpu) = (0..table.rows).find(|r| cell(*r, "agent_type").eq_ignore_ascii_case("gpu")) else {
        problems.warn(&name, 0, "no GPU is listed", "the machine is not known");
        return machine;
    };
    for (from, to) in AGENT {
        let v = cell(gpu, from);
        if !v.is_empty() {
            machine.facts.insert((*to).to_string(), v);
        }
    }
    if let (Ok(per_simd), Some(simds)) =
        (cell(gpu, "max_waves_per_simd").parse::<f64>(), machine.number("simd_per_cu"))
    {
        machine.facts.insert("max_waves_per_cu".to_string(), (per_simd * simds).to_string());
    }
    machine
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn medians_have_weights() {
        for (values, want) in [
            (vec![], None),
            (vec![(7, 1)], Some(7)),
            (vec![(9, 1), (5, 1)], Some(7)),
            (vec![(9, 3), (5, 1)], Some(9)),
            (vec![(1, 2), (9, 1), (5, 2)], Some(5)),
        ] {
            assert_eq!(median(&mut values.clone()), want, "{values:?}");
        }
    }
}
