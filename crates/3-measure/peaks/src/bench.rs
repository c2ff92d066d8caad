//! Bandwidths and rates of arithmetic.
//!
//! The one idea to keep in mind: one row per number says which kernel runs, how much it does in two lengths, and what the
//! data sheet promises.

use arch::Model;
use codeobj::CodeObject;
use emu::Memory;
use probe::Value;
use record::{Job, Recorder};

/// Code objects by generation.
const KERNELS: &[(&str, &[u8])] = &[
    ("CDNA 2", include_bytes!("../kernels/peaks.cdna2.hsaco")),
    ("CDNA 3", include_bytes!("../kernels/peaks.cdna3.hsaco")),
    ("CDNA 4", include_bytes!("../kernels/peaks.cdna4.hsaco")),
];

/// Work-items of a workgroup.
const GROUP: u64 = 256;
/// Bytes of an item that is read.
const ITEM: u64 = 16;
/// Lets a kernel read item `i` at place `i`.
const EVERY_PLACE: u64 = u32::MAX as u64;
/// Operations that the counters of matrix instructions count as one.
const MATRIX_OPERATIONS: f64 = 512.0;

/// Why nothing is measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There are no kernels for the target.
    #[error("there are no kernels for `{target}`\nhint: there are some for GPUs of {known}")]
    NoKernels {
        /// Target of the GPU.
        target: &'static str,
        /// Generations that have kernels.
        known: String,
    },
    /// The model has no times for the GPU.
    #[error("no times are modelled for {0}: nobody has measured its memory")]
    NoTime(String),
    /// A kernel could not run.
    #[error("kernel `{kernel}`: {what}")]
    Kernel {
        /// Its name.
        kernel: String,
        /// What was wrong.
        what: String,
    },
}

/// What a number counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// 10^9 bytes per second.
    Bytes,
    /// 10^9 floating-point operations per second; a multiply-add is two.
    Flops,
    /// 10^9 integer operations per second.
    Ops,
}

impl Unit {
    /// As shown.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Bytes => "GB/s",
            Unit::Flops => "Gflop/s",
            Unit::Ops => "Gop/s",
        }
    }
}

/// One measured number.
#[derive(Clone, PartialEq, Debug)]
pub struct Peak {
    /// Column of `roofline.csv`; none where that file has none.
    pub column: Option<&'static str>,
    /// What was measured.
    pub what: &'static str,
    /// Unit of both values.
    pub unit: Unit,
    /// Measured.
    pub value: f64,
    /// What the data sheet or the width of the unit promises.
    pub sheet: Option<f64>,
}

/// A GPU with the kernels for it.
pub(crate) struct Bench {
    pub(crate) model: &'static Model,
    bytes: &'static [u8],
    object: CodeObject,
}

/// A value for an argument of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Given {
    /// Where a buffer begins.
    Address(u64),
    Integer(u32),
    /// A factor of whatever type the kernel takes: near 1, or small.
    Factor,
}

/// What a run came to.
pub(crate) struct Ran {
    pub(crate) nanoseconds: f64,
    counters: Vec<(&'static str, Value)>,
}

impl Ran {
    fn counter(&self, name: &str) -> f64 {
        self.counters.iter().find(|(it, _)| *it == name).map_or(0.0, |(_, value)| match value {
            Value::Known(count) => *count as f64,
            Value::Missing(_) => 0.0,
        })
    }
}

impl Bench {
    pub(crate) fn new(model: &'static Model) -> Result<Bench, Error> {
        let target = model.target();
        let known = || KERNELS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let found = KERNELS.iter().find(|(name, _)| *name == target.generation);
        let (_, bytes) = found.ok_or_else(|| Error::NoKernels { target: target.name, known: known() })?;
        let object = CodeObject::read(bytes)
            .map_err(|error| Error::Kernel { kernel: target.name.to_owned(), what: error.to_string() })?;
        Ok(Bench { model, bytes, object })
    }

    fn has(&self, kernel: &str) -> bool {
        self.object.kernels.iter().any(|it| it.name == kernel)
    }

    /// Runs a kernel on a GPU whose caches are empty.
    pub(crate) fn run(
        &self,
        kernel: &str,
        memory: Memory,
        groups: u64,
        threads: u64,
        given: &[Given],
    ) -> Result<Ran, Error> {
        let failed = |what: String| Error::Kernel { kernel: kernel.to_owned(), what };
        let found = self.object.kernels.iter().find(|it| it.name == kernel);
        let found = found.ok_or_else(|| failed("not in the code object".to_owned()))?;
        let job = Job::new(self.bytes, &self.object, found, memory);
        let mut job = job.map_err(|error| failed(error.to_string()))?;
        job.give(given.iter().map(|given| match given {
            Given::Address(address) => address.to_le_bytes().to_vec(),
            Given::Integer(value) => value.to_le_bytes().to_vec(),
            Given::Factor => vec![0x3c; 8],
        }));
        let mut recorder = Recorder::new(self.model);
        let ran = job.run(&mut recorder, [groups as u32, 1, 1], [threads as u32, 1, 1]);
        ran.map_err(|fault| failed(fault.to_string()))?;
        let dispatch =
            recorder.dispatches().first().ok_or_else(|| failed("it was not recorded".to_owned()))?;
        let time = dispatch.time.as_ref().ok_or_else(|| Error::NoTime(self.model.name.clone()))?;
        Ok(Ran { nanoseconds: time.nanoseconds, counters: dispatch.counters.clone() })
    }
}

/// Work of two runs and what it took: work per nanosecond of what the longer one does more.
fn rate(work: [f64; 2], nanoseconds: [f64; 2]) -> f64 {
    (work[1] - work[0]) / (nanoseconds[1] - nanoseconds[0])
}

/// A vector operation that is measured.
struct Vector {
    /// In roofline.csv.
    column: Option<&'static str>,
    what: &'static str,
    /// Type of the data sheet, where it promises this.
    element: Option<&'static str>,
    kernel: &'static str,
    /// Operations of a lane and pass.
    operations: f64,
}

const fn vector(
    column: Option<&'static str>,
    what: &'static str,
    element: Option<&'static str>,
    kernel: &'static str,
    operations: f64,
) -> Vector {
    Vector { column, what, element, kernel, operations }
}

const VECTOR: &[Vector] = &[
    vector(Some("FP16Flops"), "vector f16", Some("f16"), "fma_f16", 32.0),
    vector(Some("FP32Flops"), "vector f32", Some("f32"), "fma_f32", 32.0),
    vector(None, "vector f32, not packed", None, "fma_f32_plain", 16.0),
    vector(Some("FP64Flops"), "vector f64", Some("f64"), "fma_f64", 16.0),
];

/// Column, what, matrix type of the data sheet, kernel, counter of its operations.
const MATRIX: &[(&str, &str, &str, &str, &str)] = &[
    ("MFMAF6F4Flops", "matrix f4", "f4", "mfma_f4", "SQ_INSTS_VALU_MFMA_MOPS_F6F4"),
    ("MFMAF8Flops", "matrix f8", "f8", "mfma_f8", "SQ_INSTS_VALU_MFMA_MOPS_F8"),
    ("MFMAF16Flops", "matrix f16", "f16", "mfma_f16", "SQ_INSTS_VALU_MFMA_MOPS_F16"),
    ("MFMABF16Flops", "matrix bf16", "bf16", "mfma_bf16", "SQ_INSTS_VALU_MFMA_MOPS_BF16"),
    ("MFMAF32Flops", "matrix f32", "f32", "mfma_f32", "SQ_INSTS_VALU_MFMA_MOPS_F32"),
    ("MFMAF64Flops", "matrix f64", "f64", "mfma_f64", "SQ_INSTS_VALU_MFMA_MOPS_F64"),
    ("MFMAI8Ops", "matrix i8", "i8", "mfma_i8", "SQ_INSTS_VALU_MFMA_MOPS_I8"),
];

/// Measures everything there is a kernel for; `say` is told what comes next.
pub fn measure(model: &'static Model, mut say: impl FnMut(&str)) -> Result<Vec<Peak>, Error> {
    let bench = Bench::new(model)?;
    let target = model.target();
    let units = u64::from(model.compute_units.value);
    let megahertz = f64::from(model.engine_mhz.value);
    let mut peaks = Vec::new();
    let mut add = |column, what, unit, value, sheet| peaks.push(Peak { column, what, unit, value, sheet });

    say("memory");
    let hbm = Some(model.hbm.gb_per_s.value);
    add(Some("HBMBw"), "memory, read", Unit::Bytes, stream(&bench, "read", units, 1)?, hbm);
    add(None, "memory, triad", Unit::Bytes, stream(&bench, "triad", units, 3)?, hbm);

    say("L2");
    let l2 = &target.l2;
    let window = u64::from(l2.bytes_per_xcd.value) / 2 / ITEM;
    // More than a vector L1 holds.
    let span = 4 * u64::from(target.vector_l1.bytes.value) / ITEM;
    let promised = f64::from(model.xcds.value * l2.channels_per_xcd.value * l2.bytes_per_channel_cycle.value);
    let value = cached(&bench, 4 * units, span, window, [1, 3])?;
    add(Some("L2Bw"), "L2", Unit::Bytes, value, Some(promised * megahertz / 1e3));

    say("vector L1");
    let promised = units as f64 * f64::from(target.vector_l1.bytes_per_cycle.value);
    let value = cached(&bench, 8 * units, 4 * GROUP, 0, [4, 12])?;
    add(Some("L1Bw"), "vector L1", Unit::Bytes, value, Some(promised * megahertz / 1e3));

    say("LDS");
    let promised = target.lds.bytes_per_cycle.value();
    let promised = promised.map(|bytes| units as f64 * f64::from(bytes) * megahertz / 1e3);
    add(Some("LDSBw"), "LDS", Unit::Bytes, local(&bench, 4 * units)?, promised);

    for &Vector { column, what, element, kernel, operations } in VECTOR {
        say(what);
        // As many as fit, and so long that the first have not ended when the last begin.
        let groups = 8 * units;
        let [short, long] = computed(&bench, kernel, groups, [32, 64])?;
        let work = [32.0, 64.0].map(|passes| passes * (groups * GROUP) as f64 * operations);
        let sheet = element.and_then(|it| model.peak_tera_ops(arch::Unit::Vector, it)).map(|tera| 1e3 * tera);
        let value = rate(work, [short.nanoseconds, long.nanoseconds]);
        add(column, what, Unit::Flops, value, sheet);
    }
    for &(column, what, element, kernel, counter) in MATRIX {
        if !bench.has(kernel) {
            continue;
        }
        say(what);
        let [short, long] = computed(&bench, kernel, units, [8, 24])?;
        let work = [&short, &long].map(|ran| MATRIX_OPERATIONS * ran.counter(counter));
        let sheet = model.peak_tera_ops(arch::Unit::Matrix, element).map(|tera| 1e3 * tera);
        let unit = if column.ends_with("Ops") { Unit::Ops } else { Unit::Flops };
        add(Some(column), what, unit, rate(work, [short.nanoseconds, long.nanoseconds]), sheet);
    }
    Ok(peaks)
}

/// 10^9 bytes per second of a kernel that goes through memory once and touches as many buffers.
fn stream(bench: &Bench, kernel: &str, units: u64, buffers: u64) -> Result<f64, Error> {
    const SPAN: u64 = 4 * GROUP;
    let mut work = [0.0; 2];
    let mut nanoseconds = [0.0; 2];
    // What is written fills the cache on the memory's side before it counts.
    let cached = bench.model.memory_side_cache.bytes.value().map_or(0, u64::from);
    let least = if kernel == "read" { 0 } else { cached / (SPAN * ITEM) };
    for (at, rounds) in [1, 2].into_iter().enumerate() {
        let groups = rounds * least.max(16 * units);
        let bytes = groups * SPAN * ITEM;
        let mut memory = Memory::new();
        let mut given: Vec<Given> =
            (0..buffers).map(|_| Given::Address(memory.allocate("data", bytes as usize))).collect();
        match kernel {
            "read" => {
                given.push(Given::Address(memory.allocate("result", (GROUP * ITEM) as usize)));
                let integers = [SPAN, SPAN, groups * SPAN, EVERY_PLACE, 1];
                given.extend(integers.map(|value| Given::Integer(value as u32)));
            }
            _ => given.push(Given::Integer(SPAN as u32)),
        }
        nanoseconds[at] = bench.run(kernel, memory, groups, GROUP, &given)?.nanoseconds;
        work[at] = (buffers * bytes) as f64;
    }
    Ok(rate(work, nanoseconds))
}

/// 10^9 bytes per second of workgroups that read `span` items again and again, each from its own place in a window.
fn cached(bench: &Bench, groups: u64, span: u64, window: u64, passes: [u64; 2]) -> Result<f64, Error> {
    let mut nanoseconds = [0.0; 2];
    // Without a window all read the same few items, each several times in a pass.
    let (step, mask) = if window == 0 { (0, GROUP - 1) } else { (span, EVERY_PLACE) };
    for (nanoseconds, passes) in nanoseconds.iter_mut().zip(passes) {
        let mut memory = Memory::new();
        let data = memory.allocate("data", (window.max(span) * ITEM) as usize);
        let result = memory.allocate("result", (GROUP * ITEM) as usize);
        let integers = [span, step, window.max(1), mask, passes].map(|value| Given::Integer(value as u32));
        let given = [&[Given::Address(data), Given::Address(result)][..], &integers].concat();
        *nanoseconds = bench.run("read", memory, groups, GROUP, &given)?.nanoseconds;
    }
    Ok(rate(passes.map(|passes| (groups * span * ITEM * passes) as f64), nanoseconds))
}

/// 10^9 bytes per second read from the LDS.
fn local(bench: &Bench, groups: u64) -> Result<f64, Error> {
    let passes = [16, 64];
    let mut nanoseconds = [0.0; 2];
    for (nanoseconds, passes) in nanoseconds.iter_mut().zip(passes) {
        let mut memory = Memory::new();
        let result = Given::Address(memory.allocate("result", (GROUP * ITEM) as usize));
        let given = [result, Given::Integer(passes)];
        *nanoseconds = bench.run("local_read", memory, groups, GROUP, &given)?.nanoseconds;
    }
    Ok(rate(passes.map(|passes| (groups * 4 * GROUP * ITEM) as f64 * f64::from(passes)), nanoseconds))
}

/// Two runs of a kernel that computes.
fn computed(bench: &Bench, kernel: &str, groups: u64, passes: [u32; 2]) -> Result<[Ran; 2], Error> {
    /// Bytes of a work-item's results at most.
    const RESULT: u64 = 64;
    let run = |passes| {
        let mut memory = Memory::new();
        let result = memory.allocate("result", (groups * GROUP * RESULT) as usize);
        let given = [Given::Address(result), Given::Factor, Given::Integer(passes)];
        bench.run(kernel, memory, groups, GROUP, &given)
    };
    Ok([run(passes[0])?, run(passes[1])?])
}
