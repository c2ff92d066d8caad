//! Samples in `*results.json` of rocprofv3 and rocprof-compute.
//!
//! Such a file may hold millions of samples, so each is counted as it is read and then dropped; only names,
//! dispatches and one count per dispatch and instruction are kept.

use super::dispatches::{Listed, Run};
use super::{Collect, SampleCounts, SampledInstruction, SampledKernel, SamplingMethod, stall_reason};
use crate::agent;
use crate::folder::Files;
use crate::problem::Problems;
use crate::side::first_line;
use rocprof::agents::Agent;
use rocprof::json::Fault;
use rocprof::results::{self, List, Record, Row};
use sorting::Sort;
use std::collections::HashMap;

/// Lists of records that are read.
const LISTS: [List; 3] = [List::Kernel, List::HostTrap, List::Stochastic];

/// Reads one file; a damaged one is a problem and is left out.
pub(super) fn file(
    files: &Files<'_>,
    name: &str,
    collect: &mut Collect,
    run: &mut Run,
    problems: &mut Problems,
) {
    let bytes = match files.bytes(name) {
        Ok(bytes) => bytes,
        Err(error) => {
            problems.error(name, first_line(&error.to_string()), "its samples, if it has some, are left out");
            return;
        }
    };
    // Other tools write `results.json` too.
    if memchr::memmem::find(&bytes, b"\"pc_sample_").is_none() {
        return;
    }
    let mut processes: Vec<Process> = Vec::new();
    let mut process = Process::default();
    let found = results::read(&mut &bytes[..], &LISTS, &mut |row| match row {
        Row::End => processes.push(std::mem::take(&mut process)),
        row => process.take(row),
    });
    let damage = match found {
        Ok(_) => None,
        Err(Fault::Cut(at)) => Some(format!("the JSON is damaged: it ends within the value at byte {at}")),
        Err(Fault::Bad(at, what)) => Some(format!("the JSON is damaged: byte {at}: {what}")),
    };
    if let Some(damage) = damage {
        problems.error(name, damage, "the samples of this file are left out");
        return;
    }
    let mut any = false;
    for process in processes {
        any |= finish(name, process, collect, run, problems);
    }
    if any {
        collect.samples.sources.push(name.to_string());
    }
}

/// Key of a sample: dispatch, code object, offset in it, number of the instruction's text.
type Place = (u64, u64, u64, u64);

/// Data of one process.
#[derive(Default)]
struct Process {
    samples: HashMap<Place, SampleCounts>,
    methods: [u64; 2],
    /// Samples without a position.
    unplaced: u64,
    instructions: Vec<String>,
    comments: Vec<String>,
    symbols: HashMap<u64, Symbol>,
    dispatches: Vec<Record>,
    /// Load base less load delta of each code object: what makes an offset an address of its ELF file.
    deltas: HashMap<u64, u64>,
    /// The first GPU.
    gpu: Option<Agent>,
    /// Number that the system gave it.
    pid: Option<u64>,
}

struct Symbol {
    name: String,
    symbol: String,
    registers: [Option<f64>; 3],
}

/// Gives a process to the samples of the recording; whether it has any.
fn finish(
    file: &str,
    process: Process,
    collect: &mut Collect,
    run: &mut Run,
    problems: &mut Problems,
) -> bool {
    if process.unplaced > 0 {
        problems.warn(file, process.unplaced, "samples without a program counter", "they are left out");
    }
    if process.samples.is_empty() {
        return false;
    }
    for (method, samples) in
        [SamplingMethod::HostTrap, SamplingMethod::Stochastic].into_iter().zip(process.methods)
    {
        if samples > 0 {
            collect.method(method);
        }
    }
    for (name, value) in process.gpu.iter().flat_map(agent::facts) {
        run.machine.facts.entry(name).or_insert(value);
    }
    let of: HashMap<u64, u64> =
        process.dispatches.iter().filter_map(|it| Some((it.dispatch?, it.kernel?))).collect();
    collect.process = process.pid.unwrap_or_else(|| super::process_of(file));
    let (mut unnamed, mut without_text) = (0, 0);
    let mut samples: Vec<(Place, SampleCounts)> = process.samples.into_iter().collect();
    samples.in_order_by_key(|(place, _)| *place);
    for ((dispatch, code, offset, text), counts) in samples {
        let symbol = of.get(&dispatch).and_then(|kernel| process.symbols.get(kernel));
        if symbol.is_none() {
            unnamed += counts.samples;
        }
        let kernel = collect.kernel(match symbol {
            Some(it) => SampledKernel { name: it.name.clone(), symbol: it.symbol.clone() },
            None => SampledKernel { name: super::NO_KERNEL.to_string(), symbol: String::new() },
        });
        let text_of = |list: &[String]| usize::try_from(text).ok().and_then(|at| list.get(at)).cloned();
        let instruction = text_of(&process.instructions);
        if instruction.is_none() {
            without_text += counts.samples;
        }
        let delta = process.deltas.get(&code).copied().unwrap_or(0);
        let instruction = collect.instruction(SampledInstruction {
            address: Some(offset.wrapping_add(delta)),
            text: instruction.unwrap_or_default(),
            source: text_of(&process.comments).unwrap_or_default(),
        });
        collect.add(dispatch, kernel, instruction, &counts);
    }
    if unnamed > 0 {
        let consequence = "they are shown together; record with `--kernel-trace` too";
        problems.warn(file, unnamed, "the kernel of samples is not recorded", consequence);
    }
    if without_text > 0 {
        problems.warn(file, without_text, "the instruction of samples has no text", "its address is shown");
    }
    run.dispatches.extend(process.dispatches.iter().filter_map(|it| {
        let (id, symbol) = (it.dispatch?, process.symbols.get(&it.kernel?));
        let [vgprs, agprs, sgprs] = symbol.map_or([None; 3], |it| it.registers);
        let product = |sides: Option<[u32; 3]>| Some(sides?.iter().map(|side| f64::from(*side)).product());
        let sizes = [product(it.grid), product(it.block), it.lds.map(f64::from), it.scratch.map(f64::from)];
        let [grid, workgroup, lds, scratch] = sizes;
        Some(Listed {
            id,
            kernel: symbol.map_or_else(String::new, |it| it.name.clone()),
            gpu: u32::try_from(it.agent).unwrap_or(u32::MAX),
            start: it.start,
            end: it.end,
            sizes: [grid, workgroup, lds, scratch, vgprs, agprs, sgprs],
        })
    }));
    true
}

impl Process {
    fn take(&mut self, row: Row<'_>) {
        match row {
            Row::Pid(pid) => self.pid = pid.parse().ok(),
            Row::Agent(agent) if agent.is_gpu && self.gpu.is_none() => self.gpu = Some(agent),
            Row::Symbol(raw) => self.symbol(&raw),
            Row::CodeObject(it) => {
                let (Some(id), Some(base)) = (it.id, it.load_base) else { return };
                self.deltas.insert(id, base.wrapping_sub(it.load_delta.unwrap_or(base)));
            }
            Row::Instruction(text) => self.instructions.push(text.into_owned()),
            Row::SourceLine(text) => self.comments.push(text.into_owned()),
            Row::Record(record) => self.dispatches.push(record),
            Row::Sample(raw) => self.sample(&raw),
            Row::Agent(_)
            | Row::Host(_)
            | Row::Command(_)
            | Row::Operations(_)
            | Row::Marker(..)
            | Row::End => {}
        }
    }

    fn sample(&mut self, raw: &results::Sample<'_>) {
        let (Some(code), Some(offset)) = (raw.code_object, raw.offset) else {
            self.unplaced += 1;
            return;
        };
        let (method, issued) = match raw.list {
            List::Stochastic => (SamplingMethod::Stochastic, raw.issued),
            _ => (SamplingMethod::HostTrap, None),
        };
        let place = (raw.dispatch.unwrap_or(u64::MAX), code, offset, raw.instruction.unwrap_or(u64::MAX));
        self.samples.entry(place).or_default().one(issued, reason(&raw.stall));
        self.methods[method as usize] += 1;
    }

    fn symbol(&mut self, raw: &results::Symbol<'_>) {
        let Some(id) = raw.id else { return };
        let symbol = raw.symbol.strip_suffix(".kd").unwrap_or(&raw.symbol).to_string();
        let name = if raw.formatted.is_empty() { symbol.clone() } else { raw.formatted.to_string() };
        let registers = [raw.arch_vgprs, raw.accum_vgprs, raw.sgprs];
        let registers = registers.map(|count| count.map(|count| count as f64));
        if !name.is_empty() {
            self.symbols.insert(id, Symbol { name, symbol, registers });
        }
    }
}

/// A reason by name or by number.
fn reason(text: &str) -> usize {
    match text.parse::<usize>() {
        Ok(number) if number < super::SAMPLE_STALLS.len() => number,
        Ok(_) => 0,
        Err(_) => stall_reason(text),
    }
}
