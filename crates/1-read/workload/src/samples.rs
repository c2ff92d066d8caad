//! Samples of the program counter: the instruction of a wave, and the reason why it did not issue.
//!
//! A sample is one observation of one wave. Sample counts estimate shares of time, not numbers of executions.

mod csv;
mod dispatches;
mod json;

use crate::folder::Files;
use crate::model::{Generation, plain_kernel_name};
use crate::problem::{Error, Problems};
use crate::recording::Workload;
pub(crate) use crate::sampled::*;
use sorting::Sort;
use std::collections::HashMap;

/// Puts samples together, each kernel and instruction once.
#[derive(Default)]
struct Collect {
    samples: Samples,
    kernels: HashMap<SampledKernel, u32>,
    instructions: HashMap<SampledInstruction, u32>,
    rows: HashMap<(u64, u64, u32, u32), usize>,
    /// Process whose samples are added now; 0 if unknown.
    process: u64,
}

impl Collect {
    fn kernel(&mut self, kernel: SampledKernel) -> u32 {
        let list = &mut self.samples.kernels;
        *self.kernels.entry(kernel).or_insert_with_key(|kernel| {
            list.push(kernel.clone());
            list.len() as u32 - 1
        })
    }

    fn instruction(&mut self, instruction: SampledInstruction) -> u32 {
        let list = &mut self.samples.instructions;
        *self.instructions.entry(instruction).or_insert_with_key(|instruction| {
            list.push(instruction.clone());
            list.len() as u32 - 1
        })
    }

    fn add(&mut self, dispatch: u64, kernel: u32, instruction: u32, counts: &SampleCounts) {
        let list = &mut self.samples.rows;
        let process = self.process;
        let at = *self.rows.entry((process, dispatch, kernel, instruction)).or_insert_with(|| {
            list.push(SampleRow { process, dispatch, kernel, instruction, counts: SampleCounts::default() });
            list.len() - 1
        });
        list[at].counts.add(counts);
    }

    fn method(&mut self, method: SamplingMethod) {
        if !self.samples.methods.contains(&method) {
            self.samples.methods.push(method);
        }
    }
}

/// Merges the samples of several ranks, whose dispatch numbers coincide; samples can then be selected by
/// kernel only.
pub(crate) fn merge(ranks: Vec<Samples>) -> Option<Samples> {
    let mut collect = Collect::default();
    for (number, own) in ranks.into_iter().enumerate() {
        own.methods.iter().for_each(|method| collect.method(*method));
        collect.samples.own_run |= own.own_run || number > 0;
        for row in &own.rows {
            let kernel = collect.kernel(own.kernels[row.kernel as usize].clone());
            let instruction = collect.instruction(own.instructions[row.instruction as usize].clone());
            collect.process = row.process;
            collect.add(row.dispatch, kernel, instruction, &row.counts);
        }
        collect.samples.sources.extend(own.sources);
    }
    (!collect.samples.rows.is_empty()).then_some(collect.samples)
}

/// Content of files with samples.
pub(crate) struct Found {
    samples: Samples,
    /// The dispatches they list, and the machine they name.
    run: dispatches::Run,
}

/// Placeholder for the name of a kernel that is not recorded.
pub(crate) const NO_KERNEL: &str = "(kernel not recorded)";

pub(crate) fn kernels_by_dispatch(w: &Workload) -> HashMap<u64, u32> {
    w.dispatches.id.iter().copied().zip(w.dispatches.kernel.iter().copied()).collect()
}

pub(crate) fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Process that wrote a file, from the number at the beginning of its name; 0 without a number.
fn process_of(name: &str) -> u64 {
    let (number, _) = last_part(name).split_once('_').unwrap_or_default();
    number.parse().unwrap_or(0)
}

/// Reads the samples of a folder, if it has some. JSON is preferred: the CSV files have neither addresses nor
/// kernels.
pub(crate) fn read(files: &Files<'_>, problems: &mut Problems) -> Option<Found> {
    let mut collect = Collect::default();
    let mut run = dispatches::Run::default();
    let named = |suffix: &str| -> Vec<String> {
        files.names().filter(|name| last_part(name).ends_with(suffix)).map(str::to_string).collect()
    };
    for name in named("results.json") {
        json::file(files, &name, &mut collect, &mut run, problems);
    }
    if collect.samples.rows.is_empty() {
        run = dispatches::Run::default();
        for (suffix, method) in [
            ("pc_sampling_host_trap.csv", SamplingMethod::HostTrap),
            ("pc_sampling_stochastic.csv", SamplingMethod::Stochastic),
        ] {
            for name in named(suffix) {
                csv::file(files, &name, method, &mut collect, problems);
            }
        }
    }
    let mut samples = collect.samples;
    samples.methods.in_order();
    (!samples.rows.is_empty()).then_some(Found { samples, run })
}

impl Found {
    /// Adds the samples to a recording of counters or times.
    pub(crate) fn attach(mut self, w: &mut Workload, problems: &mut Problems) {
        if self.samples.kernels.iter().all(|kernel| kernel.name.is_empty()) {
            self.name_kernels(w, problems);
        }
        let of: HashMap<u64, u32> = kernels_by_dispatch(w);
        // Two runs of a program that does the same number their dispatches alike, mostly.
        self.samples.own_run = !self.samples.rows.iter().all(|row| {
            let name = of.get(&row.dispatch).and_then(|at| w.kernels.get(*at as usize));
            let kernel = self.samples.kernels.get(row.kernel as usize);
            kernel.zip(name).is_some_and(|(kernel, name)| is_sampled_kernel(kernel, name))
        });
        w.sources.extend(self.samples.sources.iter().cloned());
        w.samples = Some(self.samples);
    }

    /// CSV files list dispatches without kernels; the names come from the recording of the same run.
    fn name_kernels(&mut self, w: &Workload, problems: &mut Problems) {
        if let [only] = &w.kernels[..] {
            self.samples.kernels.iter_mut().for_each(|kernel| kernel.name.clone_from(only));
            return;
        }
        let of = kernels_by_dispatch(w);
        let mut collect = Collect::default();
        let old = std::mem::take(&mut self.samples);
        let mut unnamed = 0;
        for row in &old.rows {
            // Only files of rocprofv3 in one folder belong to one run.
            let at = of.get(&row.dispatch).filter(|_| w.generation == Generation::Rocprofv3);
            let name = at.and_then(|at| w.kernels.get(*at as usize));
            unnamed += if name.is_none() { row.counts.samples } else { 0 };
            let name = name.map_or(NO_KERNEL, String::as_str).to_string();
            let kernel = collect.kernel(SampledKernel { name, symbol: String::new() });
            let instruction = collect.instruction(old.instructions[row.instruction as usize].clone());
            collect.process = row.process;
            collect.add(row.dispatch, kernel, instruction, &row.counts);
        }
        let Samples { kernels, instructions, rows, .. } = collect.samples;
        self.samples = Samples { kernels, instructions, rows, ..old };
        if unnamed > 0 {
            problems.warn(
                self.samples.sources.first().map_or("", String::as_str),
                unnamed,
                "the kernel of samples is not recorded",
                "they are shown together; JSON output (`--output-format json`) names kernels and addresses",
            );
        }
    }

    /// A recording that holds nothing but samples.
    pub(crate) fn workload(self, files: &Files<'_>, problems: Problems) -> Result<Workload, Error> {
        dispatches::workload(self, files, problems)
    }
}

/// Whether a sampled kernel is the one of this name, whatever profilers add to names.
pub fn is_sampled_kernel(kernel: &SampledKernel, name: &str) -> bool {
    let name = plain_kernel_name(name);
    plain_kernel_name(&kernel.name) == name || (!kernel.symbol.is_empty() && kernel.symbol == name)
}

#[cfg(test)]
mod tests;
