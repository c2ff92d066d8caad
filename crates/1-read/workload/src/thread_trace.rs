//! Thread traces of `rocprofv3 --att`: cost of every instruction of the traced waves.
//!
//! The folder `ui_output_agent_A_dispatch_N` and the table `stats_ui_output_agent_A_dispatch_N.csv` describe
//! the same dispatch; the folder names kernels, so it is preferred. Columns are found by name.
//!
//! Source: rocprofiler-sdk, documentation of thread traces.

mod code;
#[cfg(test)]
mod tests;

use crate::folder::Files;
use crate::model::{Dispatches, Generation, numbered};
use crate::problem::Problems;
use crate::recording::Workload;
use crate::sampled::SampledKernel;
use crate::samples::{NO_KERNEL, is_sampled_kernel, kernels_by_dispatch, last_part};
use crate::side;
use crate::traced::{TraceRow, TracedDispatch, Traces};
use crate::values::Values;
use crate::{check, model};
use std::collections::{BTreeMap, HashMap};

/// Start of the folder's name, and of the table's after `stats_`.
const START: &str = "ui_output_agent_";

/// Agent and dispatch of `ui_output_agent_A_dispatch_N`.
fn agent_and_dispatch(name: &str) -> Option<(u64, u64)> {
    let (agent, dispatch) = name.strip_prefix(START)?.split_once("_dispatch_")?;
    Some((agent.parse().ok()?, dispatch.parse().ok()?))
}

/// True for the table of a thread trace, whose folder is in the same place.
pub(crate) fn is_thread_trace(name: &str) -> bool {
    let table = last_part(name).strip_prefix("stats_").and_then(|it| it.strip_suffix(".csv"));
    table.and_then(agent_and_dispatch).is_some()
}

/// Whether a folder has the name of a thread trace's.
pub fn is_thread_trace_folder(name: &str) -> bool {
    agent_and_dispatch(name).is_some()
}

/// Whether a file holds the instructions of one wave, in the order in which they issued:
/// `se0_sm1_sl2_wv3.json`.
pub fn is_wave_file(name: &str) -> bool {
    let number = |part: &str, start: &str| {
        part.strip_prefix(start).is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
    };
    let Some(stem) = last_part(name).strip_suffix(".json") else { return false };
    let parts: Vec<&str> = stem.split('_').collect();
    parts.len() == 4 && ["se", "sm", "sl", "wv"].iter().zip(&parts).all(|(start, part)| number(part, start))
}

/// Files of one traced dispatch.
#[derive(Default)]
struct Of {
    table: Option<String>,
    code: Option<String>,
    names: Option<String>,
}

/// Content of the files of thread traces.
pub(crate) struct Found {
    traces: Traces,
    /// GPU target, where the files say it.
    target: Option<String>,
}

/// Reads the thread traces of a folder, if it has some.
pub(crate) fn read(files: &Files<'_>, problems: &mut Problems) -> Option<Found> {
    let mut dispatches: BTreeMap<(u64, u64, String), Of> = BTreeMap::new();
    for name in files.names() {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let (above, own) = folder.rsplit_once('/').unwrap_or(("", folder));
        if let Some((agent, dispatch)) = agent_and_dispatch(own) {
            let of = || (dispatch, agent, above.to_string());
            match file {
                "code.json" => dispatches.entry(of()).or_default().code = Some(name.to_string()),
                "filenames.json" => dispatches.entry(of()).or_default().names = Some(name.to_string()),
                _ => {}
            }
        } else if is_thread_trace(name)
            && let Some((agent, dispatch)) = file
                .strip_prefix("stats_")
                .and_then(|it| it.strip_suffix(".csv"))
                .and_then(agent_and_dispatch)
        {
            let of = (dispatch, agent, folder.to_string());
            dispatches.entry(of).or_default().table = Some(name.to_string());
        }
    }
    let mut collect = Collect::default();
    for ((dispatch, agent, _), of) in &dispatches {
        one(files, (*dispatch, *agent), of, &mut collect, problems);
    }
    let Collect { traces, target, .. } = collect;
    (!traces.dispatches.is_empty()).then_some(Found { traces, target })
}

#[derive(Default)]
struct Collect {
    traces: Traces,
    kernels: HashMap<String, u32>,
    target: Option<String>,
}

impl Collect {
    /// Index of a kernel; of none in files without names.
    fn kernel(&mut self, symbol: &str) -> u32 {
        let list = &mut self.traces.kernels;
        *self.kernels.entry(symbol.to_string()).or_insert_with(|| {
            list.push(SampledKernel { name: symbol.to_string(), symbol: symbol.to_string() });
            list.len() as u32 - 1
        })
    }
}

/// Reads the files that exist for one dispatch.
fn one(
    files: &Files<'_>,
    (dispatch, agent): (u64, u64),
    of: &Of,
    collect: &mut Collect,
    problems: &mut Problems,
) {
    let said = of.names.as_ref().and_then(|name| code::names(files, name, problems));
    let from_folder = of.code.as_ref().and_then(|name| Some((name, code::json(files, name, problems)?)));
    let read = from_folder
        .or_else(|| of.table.as_ref().and_then(|name| Some((name, code::csv(files, name, problems)?))));
    let Some((file, lines)) = read else { return };
    let waves = said.as_ref().map(|it| it.waves);
    let spans = said.as_ref().map_or_else(Vec::new, |it| it.spans.clone());
    let mut own = TracedDispatch { id: dispatch, agent, kernel: None, waves, spans };
    let mut ran = false;
    for line in lines {
        let kernel = collect.kernel(&line.symbol);
        own.kernel.get_or_insert(kernel);
        ran |= line.counts.hits > 0;
        let (instruction, counts) = (line.instruction, line.counts);
        collect.traces.rows.push(TraceRow { dispatch, kernel, instruction, counts });
    }
    if !ran {
        problems.warn(
            file,
            0,
            format!("the thread trace of dispatch {dispatch} is empty: no wave ran on the compute unit that was traced"),
            "trace another one (`--att-target-cu`), more shader engines (`--att-shader-engine-mask`), or a dispatch with more workgroups",
        );
    }
    collect.traces.sources.push(file.clone());
    collect.traces.dispatches.push(own);
    collect.target = collect.target.take().or_else(|| said.and_then(|it| it.target));
}

impl Found {
    /// Adds the traces to a recording of counters, times or samples.
    pub(crate) fn attach(mut self, w: &mut Workload) {
        let of = kernels_by_dispatch(w);
        self.name_kernels(w, &of);
        self.traces.own_run = !self.traces.dispatches.iter().all(|traced| {
            let name = of.get(&traced.id).and_then(|at| w.kernels.get(*at as usize));
            let kernel = traced.kernel.and_then(|at| self.traces.kernels.get(at as usize));
            traced.kernel.is_none()
                || kernel.zip(name).is_some_and(|(kernel, name)| is_sampled_kernel(kernel, name))
        });
        if let Some(target) = self.target.filter(|_| w.machine.target().is_none()) {
            w.machine.facts.insert("gpu_arch".to_string(), target);
        }
        w.sources.extend(self.traces.sources.iter().cloned());
        w.traces = Some(self.traces);
    }

    /// Tables alone do not name kernels; if the recording has a single kernel, its name is used.
    fn name_kernels(&mut self, w: &Workload, of: &HashMap<u64, u32>) {
        for at in 0..self.traces.kernels.len() {
            if !self.traces.kernels[at].name.is_empty() {
                continue;
            }
            let mut own = self.traces.dispatches.iter().filter(|it| it.kernel == Some(at as u32));
            let first = own.next().and_then(|it| of.get(&it.id));
            let alike = own.all(|it| of.get(&it.id) == first);
            let name = match &w.kernels[..] {
                [only] => Some(only),
                all => first
                    .filter(|_| alike && w.generation == Generation::Rocprofv3)
                    .and_then(|at| all.get(*at as usize)),
            };
            name.map_or(NO_KERNEL, String::as_str).clone_into(&mut self.traces.kernels[at].name);
        }
    }

    /// A recording that holds nothing but thread traces.
    pub(crate) fn workload(mut self, files: &Files<'_>, mut problems: Problems) -> Workload {
        for kernel in self.traces.kernels.iter_mut().filter(|kernel| kernel.name.is_empty()) {
            NO_KERNEL.clone_into(&mut kernel.name);
        }
        let list = &self.traces.dispatches;
        let mut kernels: Vec<String> = self.traces.kernels.iter().map(|it| it.name.clone()).collect();
        let unnamed = kernels.len() as u32;
        if list.iter().any(|it| it.kernel.is_none()) {
            kernels.push(NO_KERNEL.to_string());
        }
        let none = || list.iter().map(|_| None).collect::<Values>();
        let dispatches = Dispatches {
            id: list.iter().map(|it| it.id).collect(),
            kernel: list.iter().map(|it| it.kernel.unwrap_or(unnamed)).collect(),
            gpu: list.iter().map(|it| u32::try_from(it.agent).unwrap_or(u32::MAX)).collect(),
            start: vec![None; list.len()],
            end: vec![None; list.len()],
            grid: none(),
            workgroup: none(),
            lds: none(),
            scratch: none(),
            arch_vgpr: none(),
            accum_vgpr: none(),
            sgpr: none(),
            ..Dispatches::default()
        };
        let machine = if files.has("sysinfo.csv") {
            side::machine(files, &mut problems)
        } else {
            model::Machine::default()
        };
        let mut w = Workload { machine, kernels, dispatches, ..Workload::empty(Generation::ThreadTrace) };
        w.settings = side::settings(files, &mut problems);
        self.attach(&mut w);
        check::workload(&mut w, problems);
        w
    }
}

/// Merges the traces of several ranks, whose dispatch numbers coincide; traces can then be selected by kernel
/// only.
pub(crate) fn merge(ranks: Vec<Traces>) -> Option<Traces> {
    let mut whole = Traces::default();
    let mut places: HashMap<SampledKernel, u32> = HashMap::new();
    for (number, own) in ranks.into_iter().enumerate() {
        whole.own_run |= own.own_run || number > 0;
        let numbers = numbered(&own.kernels, &mut places, &mut whole.kernels);
        let place = |at: u32| numbers.get(at as usize).copied().unwrap_or(u32::MAX);
        whole.rows.extend(own.rows.into_iter().map(|row| TraceRow { kernel: place(row.kernel), ..row }));
        let dispatches = own.dispatches.into_iter();
        whole.dispatches.extend(dispatches.map(|it| TracedDispatch { kernel: it.kernel.map(place), ..it }));
        whole.sources.extend(own.sources);
    }
    (!whole.dispatches.is_empty()).then_some(whole)
}
