//! Kernels timed with events on an MI300A: launches in a row, with the cache lines that earlier launches left.
//!
//! `events.tsv` has the measured times. A kernel of `events.hip` has the shape of the measured one, and this
//! file says how it is launched. One warm-up precedes the timed launches, as in the measurement.

mod marks;

use self::marks::{Row, marks, page};
use super::kernels::compile;
use crate::run::root;
use anyhow::{Context, Result, bail};
use clock::Estimate;
use codeobj::{CodeObject, Kernel};
use emu::{Hidden, Launch, Program};
use probe::{Code, Table};
use record::{CacheState, Job, Recorder};
use std::collections::BTreeMap;
use std::sync::Arc;

const MEASURED: &str = include_str!("events.tsv");

/// GPU of all rows.
const GPU: &str = "mi300a";

/// Value of an argument.
#[derive(Clone, Copy)]
pub(super) enum Argument {
    /// Address of a buffer.
    Buffer(usize),
    /// Address in a buffer, some bytes behind its start.
    Inside(usize, usize),
    Integer(i32),
    Float(f32),
}
use Argument::{Buffer, Float, Inside, Integer};

/// Contents of a buffer.
#[derive(Clone, Copy)]
pub(super) enum Contents {
    Zeros,
    /// Zeros in memory that a program has from `malloc`.
    HostZeros,
    /// Doubles of 1.
    Ones,
    /// Numbers of the zones of a cube with this edge among its nodes, 64 bits each.
    Zones(u32),
    /// Floats from 0 to the bound.
    Floats(f32),
    /// Floats from minus the bound to the bound.
    SignedFloats(f32),
    /// Integers below the bound.
    Integers(u32),
    /// Indices that form one cycle through all elements in random order.
    Chain,
}

/// A launch of a kernel.
pub(super) struct Step {
    pub(super) kernel: &'static str,
    pub(super) workgroups: [u32; 3],
    pub(super) workgroup: [u32; 3],
    pub(super) arguments: Vec<Argument>,
}

/// Launches between two events, and the buffers they work on, with their bytes.
pub(super) struct Timed {
    pub(super) buffers: Vec<(usize, Contents)>,
    pub(super) steps: Vec<Step>,
}

pub(super) fn step(kernel: &'static str, items: usize, arguments: &[Argument]) -> Step {
    Step {
        kernel,
        workgroups: [items.div_ceil(256) as u32, 1, 1],
        workgroup: [256, 1, 1],
        arguments: arguments.to_vec(),
    }
}

fn plane(kernel: &'static str, [x, y, z]: [usize; 3], arguments: &[Argument]) -> Step {
    Step {
        kernel,
        workgroups: [x.div_ceil(16) as u32, y.div_ceil(16) as u32, z as u32],
        workgroup: [16, 16, 1],
        arguments: arguments.to_vec(),
    }
}

/// Updates of each thread of `scattered`.
const UPDATES: i32 = 256;

const MIB: usize = 1 << 20;

/// Launches of a benchmark at a size.
fn timed(benchmark: &str, size: usize) -> Result<Timed> {
    let known = [loops_and_streams, others, atomics_and_steps];
    let found = known.into_iter().find_map(|it| it(benchmark, size));
    found.with_context(|| format!("events.tsv: no launches are known for `{benchmark}`"))
}

/// Launches of loops over matrices and of streams.
fn loops_and_streams(benchmark: &str, size: usize) -> Option<Timed> {
    let n = size as i32;
    let floats = |count: usize| (4 * count, Contents::Floats(1.0));
    let zeros = |count: usize| (4 * count, Contents::Zeros);
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(Buffer);
    let (buffers, steps) = match benchmark {
        "stencil27" => (
            vec![floats(size.pow(3)), zeros(size.pow(3))],
            vec![plane("stencil27", [size; 3], &[a, b, Integer(n)])],
        ),
        "two_products" => (
            vec![floats(size * size), floats(size * size), floats(size), zeros(size)],
            vec![step("two_products", size, &[a, b, c, d, Float(3.0), Float(2.0), Integer(n)])],
        ),
        "products" => (
            vec![floats(size * size), zeros(size), zeros(size), floats(size), floats(size)],
            vec![
                step("by_rows", size, &[a, b, d, Integer(n)]),
                step("by_columns", size, &[a, c, e, Integer(n)]),
            ],
        ),
        "pairs" => (
            vec![(16 * size, Contents::Floats(100.0)), zeros(4 * size)],
            vec![step("pairs", size, &[a, b, Integer(n), Float(10.0)])],
        ),
        "near" => (
            vec![(16 * size, Contents::Floats(10.0)), zeros(size * size), zeros(size)],
            vec![
                step("distances", size * size, &[a, b, Integer(n), Integer(4)]),
                step("near_ones", size, &[b, c, Integer(n), Float(1.0)]),
            ],
        ),
        "stream_read" | "stream_write" => {
            let count = size * MIB / 4;
            let buffer = zeros(count);
            let items = 256 * count.div_ceil(256).min(65_535);
            let [count, threads] = [count, items].map(|it| Integer(it as i32));
            match benchmark {
                "stream_read" => {
                    (vec![buffer, buffer], vec![step("stream_read", items, &[a, b, count, threads])])
                }
                _ => (vec![buffer], vec![step("stream_write", items, &[a, count, threads])]),
            }
        }
        "multiply_adds" => (vec![zeros(size)], vec![step("multiply_adds", size, &[a, Integer(512)])]),
        _ => return None,
    };
    Some(Timed { buffers, steps })
}

/// Launches of all other benchmarks.
fn others(benchmark: &str, size: usize) -> Option<Timed> {
    let n = size as i32;
    let floats = |count: usize| (4 * count, Contents::Floats(1.0));
    let zeros = |count: usize| (4 * count, Contents::Zeros);
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(Buffer);
    let (buffers, steps) = match benchmark {
        "options" => (
            vec![floats(size), floats(size), floats(size), zeros(size), zeros(size)],
            vec![step("options", size, &[a, b, c, d, e, Float(0.02), Float(0.3), Integer(n)])],
        ),
        "histogram" => {
            let items = 256 * size.div_ceil(256).min(1024);
            (
                vec![(4 * size, Contents::Integers(256)), zeros(256)],
                vec![
                    step("clear", 256, &[b, Integer(256)]),
                    step("histogram", items, &[a, b, Integer(n), Integer(items as i32)]),
                ],
            )
        }
        "layer" => (
            vec![floats(size), floats(16 * (size + 1)), zeros(16)],
            vec![step("layer", 16, &[a, b, c, Integer(n), Integer(16)])],
        ),
        "in_place" => {
            let mut one =
                step("in_place", size + 1, &[a, b, c, d, Integer(n), Integer(16), Float(0.3), Float(0.5)]);
            one.workgroups[1] = 16;
            (vec![floats(16), floats(size), floats(16 * (size + 1)), zeros(16 * (size + 1))], vec![one])
        }
        "tiled" => (
            vec![floats(size * size), floats(size * size), zeros(size * size)],
            vec![plane("tiled", [size, size, 1], &[a, b, c, Integer(n), Float(1.0), Float(0.0)])],
        ),
        "angles" => {
            let width = std::f32::consts::PI / 64.0;
            (
                vec![
                    (4 * size, Contents::Floats(6.25)),
                    (4 * size, Contents::SignedFloats(1.57)),
                    zeros(128),
                ],
                vec![
                    step("clear", 128, &[c, Integer(128)]),
                    step("angles", size, &[a, b, c, Integer(n), Integer(64), Float(0.0), Float(width)]),
                ],
            )
        }
        "norm" => (
            vec![floats(4096 * size), floats(4096), floats(4096), zeros(4096 * size)],
            vec![step("norm", 256 * size, &[a, b, c, d, Integer(n), Integer(4096), Float(1e-5)])],
        ),
        "turned" => (
            vec![floats(4 * 32 * 128 * size), floats(4 * 32 * 128 * size)],
            vec![step(
                "turned",
                4 * 32 * 64 * size,
                &[a, b, Integer(n), Integer(32), Integer(128), Float(10_000.0)],
            )],
        ),
        "gated" => {
            (vec![floats(size), floats(size), zeros(size)], vec![step("gated", size, &[a, b, c, Integer(n)])])
        }
        _ => return None,
    };
    Some(Timed { buffers, steps })
}

/// Launches of atomics, chains and time steps.
fn atomics_and_steps(benchmark: &str, size: usize) -> Option<Timed> {
    let n = size as i32;
    let floats = |count: usize| (4 * count, Contents::Floats(1.0));
    let zeros = |count: usize| (4 * count, Contents::Zeros);
    let [a, b, c, d] = [0, 1, 2, 3].map(Buffer);
    let (buffers, steps) = match benchmark {
        "scattered" => {
            // The size is a million times the table's power of two, plus the threads.
            let (bits, threads) = (size / 1_000_000, size % 1_000_000);
            let mut one = step("scattered", 1, &[a, Integer((1 << bits) - 1), Integer(UPDATES), b]);
            (one.workgroups, one.workgroup) =
                ([threads.div_ceil(64) as u32, 1, 1], [threads.min(64) as u32, 1, 1]);
            (vec![((8 << bits).max(64), Contents::HostZeros), zeros(2 * threads)], vec![one])
        }
        "chase" => {
            let mut one = step("chase", 1, &[a, Integer(n), Integer(1024), b]);
            one.workgroup = [64, 1, 1];
            (vec![(4 * size, Contents::Chain), zeros(64)], vec![one])
        }
        "fields" => {
            let all = [size, size, 1];
            let one = |t: i32| {
                vec![
                    step("field_edge", size, &[b, d, Integer(n), Integer(t)]),
                    plane("field_y", all, &[b, c, Integer(n)]),
                    plane("field_x", all, &[a, c, Integer(n)]),
                    plane("field_z", all, &[a, b, c, Integer(n)]),
                ]
            };
            (
                vec![floats(size * size), floats(size * size), floats(size * size), floats(10)],
                (0..10).flat_map(one).collect(),
            )
        }
        _ => return None,
    };
    Some(Timed { buffers, steps })
}

/// Numbers of the zones of a cube with two nodes before each and behind each along every edge.
fn zones(edge: u64) -> Vec<u8> {
    let row = edge + 4;
    let zone = |it: u64| ((it / edge / edge + 2) * row + it / edge % edge + 2) * row + it % edge + 2;
    (0..edge.pow(3)).flat_map(|it| zone(it).to_le_bytes()).collect()
}

/// Bytes of a buffer.
fn bytes(size: usize, contents: Contents) -> Vec<u8> {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let count = size / 4;
    let words: Vec<u32> = match contents {
        Contents::Zeros | Contents::HostZeros => return Vec::new(),
        Contents::Ones => return 1f64.to_le_bytes().repeat(size / 8),
        Contents::Zones(edge) => return zones(u64::from(edge)),
        Contents::Floats(most) => {
            (0..count).map(|_| (random() as f32 / (1u32 << 31) as f32 * most).to_bits()).collect()
        }
        Contents::SignedFloats(most) => {
            (0..count).map(|_| ((random() as f32 / (1u32 << 30) as f32 - 1.0) * most).to_bits()).collect()
        }
        Contents::Integers(below) => (0..count).map(|_| random() % below).collect(),
        Contents::Chain => {
            let mut order: Vec<u32> = (0..count as u32).collect();
            for at in (1..count).rev() {
                order.swap(at, random() as usize % (at + 1));
            }
            let mut next = vec![0; count];
            for (at, &here) in order.iter().enumerate() {
                next[here as usize] = order[(at + 1) % count];
            }
            next
        }
    };
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A code object's kernels in one memory.
struct Suite {
    job: Job,
    kernels: BTreeMap<&'static str, (Program, Table)>,
}

impl Suite {
    fn new(code: &[u8], timed: &Timed) -> Result<Suite> {
        let object = CodeObject::read(code).map_err(|error| anyhow::anyhow!("{error}"))?;
        let find = |name: &str| -> Result<&Kernel> {
            object.kernels.iter().find(|it| it.name == name).with_context(|| format!("no kernel `{name}`"))
        };
        let mut kernels = BTreeMap::new();
        for step in &timed.steps {
            if !kernels.contains_key(step.kernel) {
                let program = Program::new(code, &object, find(step.kernel)?)?;
                let table = Table::new(&program).with_code(Arc::new(Code::new(code.to_vec())));
                kernels.insert(step.kernel, (program, table));
            }
        }
        let job = Job::find(code, timed.steps.first().map(|it| it.kernel))?;
        Ok(Suite { job, kernels })
    }

    /// Runs a step; returns its modelled nanoseconds.
    fn run(&mut self, step: &Step, buffers: &[u64], recorder: &mut Recorder) -> Result<Estimate> {
        let (program, table) = self.kernels.get_mut(step.kernel).context("a kernel of the step")?;
        std::mem::swap(program, &mut self.job.program);
        std::mem::swap(table, &mut self.job.table);
        self.job.explicit.clear();
        self.job.give(step.arguments.iter().map(|it| match it {
            Buffer(number) => buffers[*number].to_le_bytes().to_vec(),
            Inside(number, at) => (buffers[*number] + *at as u64).to_le_bytes().to_vec(),
            Integer(value) => value.to_le_bytes().to_vec(),
            Float(value) => value.to_le_bytes().to_vec(),
        }));
        let launch = self.job.launch(Launch::new(step.workgroups, step.workgroup, 0), &Hidden::default());
        let Job { program: running, table: events, memory, .. } = &self.job;
        let (_, time) = recorder.time(running, events, memory, &launch)?;
        std::mem::swap(program, &mut self.job.program);
        std::mem::swap(table, &mut self.job.table);
        time.with_context(|| format!("`{}` has no modelled time", step.kernel))
    }
}

/// Modelled time of each launch of a row, with or without a warm-up before.
pub(super) fn launches(
    code: &[u8],
    timed: &Timed,
    recorder: &mut Recorder,
    is_warmed: bool,
) -> Result<Vec<Estimate>> {
    let mut suite = Suite::new(code, timed)?;
    let mut addresses = Vec::new();
    for &(size, contents) in &timed.buffers {
        let filled = bytes(size, contents);
        addresses.push(match filled.is_empty() {
            true => suite.job.memory.allocate("buffer", size),
            false => suite.job.memory.allocate_with("buffer", &filled),
        });
        if let (Contents::HostZeros, Some(&base)) = (contents, addresses.last()) {
            suite.job.memory.place_on_host(base);
            suite.job.memory.place_in_small_pages(base);
        }
    }
    for step in timed.steps.iter().filter(|_| is_warmed) {
        suite.run(step, &addresses, recorder)?;
    }
    timed.steps.iter().map(|step| suite.run(step, &addresses, recorder)).collect()
}

/// Models the rows whose `KERNEL SIZE` contains `only`; `None` without a compiler.
fn rows(only: &str) -> Result<Option<Vec<Row>>> {
    let model = arch::Model::by_name(GPU).context("a model of the data files")?;
    let source = root().join("xtask/src/accuracy/events.hip");
    let Some(code) = compile(&source, model.target().name)? else { return Ok(None) };
    let mut rows = Vec::new();
    for line in MEASURED.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [benchmark, size, measured] = fields[..] else { bail!("events.tsv: a row has 3 fields: {line}") };
        if !format!("{benchmark} {size}").contains(only) {
            continue;
        }
        let (size, measured): (usize, f64) = (size.parse()?, measured.parse()?);
        let timed = timed(benchmark, size)?;
        let start = std::time::Instant::now();
        let mut recorder = Recorder::new(model);
        recorder.caches(CacheState::AsRun);
        let each = launches(&code, &timed, &mut recorder, true)?;
        let limit = each.iter().max_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds)).map(Estimate::limit);
        let limit = limit.context("a launch")?;
        let each: Vec<f64> = each.iter().map(|it| it.nanoseconds).collect();
        let modelled = model.target().launch.between_events(&each).context("costs of launches")? / 1e3;
        let (measured, modelled) = match benchmark {
            // The measurement is updates a second over half a second, without events.
            "scattered" => {
                let updates = (size % 1_000_000) as f64 * f64::from(UPDATES);
                (updates / measured * 1e6, each.iter().sum::<f64>() / 1e3)
            }
            _ => (measured, modelled),
        };
        let row =
            Row { benchmark: benchmark.to_owned(), size, launches: each.len(), measured, modelled, limit };
        println!(
            "{benchmark} {size}: {measured:.1} us measured, {modelled:.1} modelled, {:+.1} %, {} launches, {}, {:.1} s",
            100.0 * row.error(),
            row.launches,
            limit.name(),
            start.elapsed().as_secs_f64()
        );
        rows.push(row);
    }
    Ok(Some(rows))
}

/// Writes the page and the marks; with a text in `only`, prints the rows whose `KERNEL SIZE` contains it.
pub(super) fn write(only: &str) -> Result<()> {
    let Some(rows) = rows(only)? else { return Ok(()) };
    if rows.is_empty() {
        bail!("events.tsv: no `KERNEL SIZE` contains `{only}`");
    }
    if !only.is_empty() {
        return Ok(());
    }
    for (path, text) in [("docs/accuracy-events.md", page(&rows)), (MARKS, marks(&rows))] {
        std::fs::write(root().join(path), text).with_context(|| format!("cannot write {path}"))?;
    }
    println!("accuracy: docs/accuracy-events.md and {MARKS} are written");
    Ok(())
}

/// Marks of times.
const MARKS: &str = "crates/3-measure/record/data/times.tsv";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_launches() {
        for line in MEASURED.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split('\t');
            let (benchmark, size) = (fields.next().unwrap(), fields.next().unwrap().parse().unwrap());
            let timed = timed(benchmark, size).unwrap();
            let buffers = timed.buffers.len();
            for step in &timed.steps {
                let is_there = |it: &Argument| !matches!(it, Buffer(number) if *number >= buffers);
                assert!(step.arguments.iter().all(is_there), "{line}");
            }
        }
    }
}
