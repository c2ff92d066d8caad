//! Bandwidths and rates of arithmetic.
//!
//! One row per number has the kernel, its work in two lengths, and the value of the data sheet; a [`Device`]
//! runs the kernels.

use crate::device::{Device, Given, Launch};
use crate::emulated::{Bench, Emulated};
use crate::error::Error;
use arch::{ElementType, Model};

/// Work-items of a workgroup.
const GROUP: u64 = 256;
/// Bytes of an item read.
const ITEM: u64 = 16;
/// Largest size of a work-item's results, bytes.
const RESULT: u64 = 64;
/// Lets a kernel read item `i` at place `i`.
const EVERY_PLACE: u64 = u32::MAX as u64;
/// Operations that the counters of matrix instructions count as one.
const MATRIX_OPERATIONS: f64 = 512.0;

/// Unit of a number.
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
    /// Column of `roofline.csv`; `None` if that file has no such column.
    pub column: Option<&'static str>,
    /// Subject of the measurement.
    pub what: &'static str,
    /// Unit of both values.
    pub unit: Unit,
    /// Measured; the median where it was measured several times.
    pub value: f64,
    /// The smallest and the largest, where it was measured several times.
    pub range: Option<[f64; 2]>,
    /// Value of the data sheet, or computed from the width of the unit.
    pub sheet: Option<f64>,
}

/// Makes launches of two lengths, and the work of each, to measure a rate.
type Lengths<'a> = dyn Fn(u64) -> [(Launch<'a>, f64); 2] + 'a;

/// A rate, with its range over repeated measurements.
struct Rate {
    value: f64,
    range: Option<[f64; 2]>,
}

/// Largest factor on the work to make launches long enough.
const MOST_EFFORT: u64 = 1 << 16;

/// Difference in work of two launches divided by their difference in time, per nanosecond. `lengths` makes
/// the launches for an effort, which grows until the device resolves their difference.
fn rate(device: &mut dyn Device, what: &str, most_effort: u64, lengths: &Lengths<'_>) -> Result<Rate, Error> {
    let least = device.least_nanoseconds();
    let mut effort = 1;
    let mut launches = lengths(effort);
    loop {
        let [short, long] = [device.run(&launches[0].0)?, device.run(&launches[1].0)?];
        if long - short >= least || 2 * effort > most_effort.min(MOST_EFFORT) {
            // Where caches are kept, the first launches are the ones that find no code in them.
            if device.repeats() <= 1 && !device.keeps_caches() {
                return Ok(Rate { value: (launches[1].1 - launches[0].1) / (long - short), range: None });
            }
            break;
        }
        effort *= 2;
        launches = lengths(effort);
    }
    let mut found = Vec::new();
    for _ in 0..device.repeats() {
        let [short, long] = [device.run(&launches[0].0)?, device.run(&launches[1].0)?];
        if long > short {
            found.push((launches[1].1 - launches[0].1) / (long - short));
        }
    }
    found.sort_by(f64::total_cmp);
    match found[..] {
        [] => Err(Error::NoDifference { what: what.to_owned() }),
        [first, ..] => {
            let range = (device.repeats() > 1).then_some([first, found[found.len() - 1]]);
            Ok(Rate { value: found[found.len() / 2], range })
        }
    }
}

/// A vector operation that is measured.
struct Vector {
    /// In roofline.csv.
    column: Option<&'static str>,
    what: &'static str,
    /// Type of the data sheet, where it promises this.
    element: Option<ElementType>,
    kernel: &'static str,
    /// Operations of a lane and pass.
    operations: f64,
}

const fn vector(
    column: Option<&'static str>,
    what: &'static str,
    element: Option<ElementType>,
    kernel: &'static str,
    operations: f64,
) -> Vector {
    Vector { column, what, element, kernel, operations }
}

const VECTOR: &[Vector] = &[
    vector(Some("FP16Flops"), "vector f16", Some(ElementType::F16), "fma_f16", 32.0),
    vector(Some("FP32Flops"), "vector f32", Some(ElementType::F32), "fma_f32", 32.0),
    vector(None, "vector f32, not packed", None, "fma_f32_plain", 16.0),
    vector(Some("FP64Flops"), "vector f64", Some(ElementType::F64), "fma_f64", 16.0),
];

/// Column, what, matrix type of the data sheet, kernel, counter of its operations.
const MATRIX: &[(&str, &str, ElementType, &str, &str)] = &[
    ("MFMAF6F4Flops", "matrix f4", ElementType::F4, "mfma_f4", "SQ_INSTS_VALU_MFMA_MOPS_F6F4"),
    ("MFMAF8Flops", "matrix f8", ElementType::F8, "mfma_f8", "SQ_INSTS_VALU_MFMA_MOPS_F8"),
    ("MFMAF16Flops", "matrix f16", ElementType::F16, "mfma_f16", "SQ_INSTS_VALU_MFMA_MOPS_F16"),
    ("MFMABF16Flops", "matrix bf16", ElementType::Bf16, "mfma_bf16", "SQ_INSTS_VALU_MFMA_MOPS_BF16"),
    ("MFMAF32Flops", "matrix f32", ElementType::F32, "mfma_f32", "SQ_INSTS_VALU_MFMA_MOPS_F32"),
    ("MFMAF64Flops", "matrix f64", ElementType::F64, "mfma_f64", "SQ_INSTS_VALU_MFMA_MOPS_F64"),
    ("MFMAI8Ops", "matrix i8", ElementType::I8, "mfma_i8", "SQ_INSTS_VALU_MFMA_MOPS_I8"),
];

/// Measures all numbers with a kernel on an emulated GPU; `say` is called with the name of each before it
/// starts.
///
/// # Errors
/// A GPU without kernels or without modelled times.
pub fn measure(model: &'static Model, say: impl FnMut(&str)) -> Result<Vec<Peak>, Error> {
    let bench = Bench::new(model)?;
    measure_on(&mut Emulated(&bench), model, say)
}

/// The same on a device.
///
/// # Errors
/// Fails if the device cannot run a kernel.
pub fn measure_on(
    device: &mut dyn Device,
    model: &'static Model,
    mut say: impl FnMut(&str),
) -> Result<Vec<Peak>, Error> {
    let target = model.target();
    let units = u64::from(model.compute_units.value);
    let megahertz = f64::from(model.engine_mhz.value);
    let mut peaks = Vec::new();
    let mut add = |column, what, unit, rate: Rate, sheet| {
        peaks.push(Peak { column, what, unit, value: rate.value, range: rate.range, sheet });
    };

    say("memory");
    let hbm = Some(model.hbm.gb_per_s.value);
    add(Some("HBMBw"), "memory, read", Unit::Bytes, stream(device, model, "read", 1)?, hbm);
    add(None, "memory, triad", Unit::Bytes, stream(device, model, "triad", 3)?, hbm);

    say("L2");
    let l2 = &target.l2;
    let window = u64::from(l2.bytes_per_xcd.value) / 2 / ITEM;
    // More than a vector L1 holds.
    let span = 4 * u64::from(target.vector_l1.bytes.value) / ITEM;
    let promised = f64::from(model.xcds.value * l2.channels_per_xcd.value * l2.bytes_per_channel_cycle.value);
    let value = cached(device, "L2", Walk { groups: 4 * units, span, window, passes: [1, 3] })?;
    add(Some("L2Bw"), "L2", Unit::Bytes, value, Some(promised * megahertz / 1e3));

    say("vector L1");
    let promised = units as f64 * f64::from(target.vector_l1.bytes_per_cycle.value);
    let walk = Walk { groups: 8 * units, span: 4 * GROUP, window: 0, passes: [4, 12] };
    let value = cached(device, "vector L1", walk)?;
    add(Some("L1Bw"), "vector L1", Unit::Bytes, value, Some(promised * megahertz / 1e3));

    say("LDS");
    let promised = target.lds.bytes_per_cycle.value();
    let promised = promised.map(|bytes| units as f64 * f64::from(bytes) * megahertz / 1e3);
    add(Some("LDSBw"), "LDS", Unit::Bytes, local(device, 4 * units)?, promised);

    for &Vector { column, what, element, kernel, operations } in VECTOR {
        say(what);
        // As many as fit, and so long that the first have not ended when the last begin.
        let groups = 8 * units;
        let work = (groups * GROUP) as f64 * operations;
        let sheet = element.and_then(|it| model.peak_tera_ops(arch::Unit::Vector, it)).map(|tera| 1e3 * tera);
        add(column, what, Unit::Flops, computed(device, kernel, groups, [32, 64], work)?, sheet);
    }
    let bench = Bench::new(model)?;
    for &(column, what, element, kernel, counter) in MATRIX {
        if !bench.has(kernel) {
            continue;
        }
        // What a pass does follows from execution, of which one workgroup is enough.
        let Some(work) = bench.operations_of_a_pass(kernel, counter)? else { continue };
        say(what);
        let sheet = model.peak_tera_ops(arch::Unit::Matrix, element).map(|tera| 1e3 * tera);
        let unit = if column.ends_with("Ops") { Unit::Ops } else { Unit::Flops };
        let work = units as f64 * MATRIX_OPERATIONS * work;
        add(Some(column), what, unit, computed(device, kernel, units, [8, 24], work)?, sheet);
    }
    Ok(peaks)
}

/// 10^9 bytes per second of a kernel that streams once through the given number of buffers.
fn stream(device: &mut dyn Device, model: &Model, kernel: &'static str, buffers: u64) -> Result<Rate, Error> {
    const SPAN: u64 = 4 * GROUP;
    let units = u64::from(model.compute_units.value);
    let side = model.memory_side_cache.bytes.value().map_or(0, u64::from);
    // What is written fills the cache on the memory's side before it counts; where caches keep what the
    // launch before left, all must be larger than they are.
    let least = match (device.keeps_caches(), kernel) {
        (true, _) => 4 * side / (SPAN * ITEM),
        (false, "read") => 0,
        (false, _) => side / (SPAN * ITEM),
    };
    let base = least.max(16 * units);
    // An eighth of the memory for each buffer, and the grid's items in 32 bits.
    let capacity = (u64::from(model.hbm.gib.value) << 30) / 8;
    let most = (capacity / (2 * base * SPAN * ITEM)).min(u64::from(u32::MAX) / (2 * base * SPAN)).max(1);
    let lengths = move |effort: u64| {
        [1, 2].map(|rounds| {
            let groups = rounds * base * effort;
            let bytes = groups * SPAN * ITEM;
            let mut sizes = vec![bytes; buffers as usize];
            let mut given: Vec<Given> = (0..sizes.len()).map(Given::Buffer).collect();
            if kernel == "read" {
                given.push(Given::Buffer(sizes.len()));
                sizes.push(GROUP * ITEM);
                let integers = [SPAN, SPAN, groups * SPAN, EVERY_PLACE, 1];
                given.extend(integers.map(|value| Given::Integer(value as u32)));
            } else {
                given.push(Given::Integer(SPAN as u32));
            }
            (Launch { kernel, sizes, groups, threads: GROUP, given }, (buffers * bytes) as f64)
        })
    };
    rate(device, "memory", most, &lengths)
}

/// Workgroups that read `span` items repeatedly, each from its own offset in a window.
#[derive(Clone, Copy)]
struct Walk {
    groups: u64,
    span: u64,
    window: u64,
    passes: [u64; 2],
}

/// 10^9 bytes per second of a walk.
fn cached(device: &mut dyn Device, what: &str, walk: Walk) -> Result<Rate, Error> {
    let Walk { groups, span, window, passes } = walk;
    // Without a window all read the same few items, each several times in a pass.
    let (step, mask) = if window == 0 { (0, GROUP - 1) } else { (span, EVERY_PLACE) };
    let lengths = move |effort: u64| {
        passes.map(|passes| {
            let passes = passes * effort;
            let sizes = vec![window.max(span) * ITEM, GROUP * ITEM];
            let integers =
                [span, step, window.max(1), mask, passes].map(|value| Given::Integer(value as u32));
            let given = [&[Given::Buffer(0), Given::Buffer(1)][..], &integers].concat();
            let launch = Launch { kernel: "read", sizes, groups, threads: GROUP, given };
            (launch, (groups * span * ITEM * passes) as f64)
        })
    };
    rate(device, what, MOST_EFFORT, &lengths)
}

/// 10^9 bytes per second read from the LDS.
fn local(device: &mut dyn Device, groups: u64) -> Result<Rate, Error> {
    let lengths = move |effort: u64| {
        [16, 64].map(|passes| {
            let passes = passes * effort;
            let given = vec![Given::Buffer(0), Given::Integer(passes as u32)];
            let sizes = vec![GROUP * ITEM];
            let launch = Launch { kernel: "local_read", sizes, groups, threads: GROUP, given };
            (launch, (groups * 4 * GROUP * ITEM * passes) as f64)
        })
    };
    rate(device, "LDS", MOST_EFFORT, &lengths)
}

/// 10^9 operations per second of a compute kernel; `work` is the work of one pass of all workgroups.
fn computed(
    device: &mut dyn Device,
    kernel: &'static str,
    groups: u64,
    passes: [u64; 2],
    work: f64,
) -> Result<Rate, Error> {
    let lengths = move |effort: u64| {
        passes.map(|passes| {
            let passes = passes * effort;
            let given = vec![Given::Buffer(0), Given::Factor, Given::Integer(passes as u32)];
            let sizes = vec![groups * GROUP * RESULT];
            (Launch { kernel, sizes, groups, threads: GROUP, given }, work * passes as f64)
        })
    };
    rate(device, kernel, MOST_EFFORT, &lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that needs 10 us for a launch and 1 ns for each pass of a workgroup, and is a little slower
    /// each time.
    struct Made {
        launches: usize,
        repeats: usize,
        stuck: bool,
    }

    impl Device for Made {
        fn run(&mut self, launch: &Launch<'_>) -> Result<f64, Error> {
            self.launches += 1;
            let Some(Given::Integer(passes)) = launch.given.last() else { panic!("{launch:?}") };
            let slower = 1.0 + self.launches as f64 * 1e-3;
            Ok(if self.stuck { 10_000.0 } else { 10_000.0 + slower * f64::from(*passes) })
        }

        fn least_nanoseconds(&self) -> f64 {
            1000.0
        }

        fn repeats(&self) -> usize {
            self.repeats
        }

        fn keeps_caches(&self) -> bool {
            true
        }
    }

    #[test]
    fn lengths_grow_until_they_can_be_told_apart() {
        let mut device = Made { launches: 0, repeats: 5, stuck: false };
        let rate = computed(&mut device, "fma_f32", 1, [32, 64], 2.0).unwrap();
        // 32 passes more take 32 ns; 32 times as many take 1024.
        assert_eq!(device.launches, 2 * 6 + 2 * 5);
        let [low, high] = rate.range.unwrap();
        assert!(low < rate.value && rate.value < high && high < 2.0 && low > 1.7, "{low} {high}");
    }

    #[test]
    fn once_is_once_more_after_the_first() {
        let mut device = Made { launches: 0, repeats: 1, stuck: false };
        let rate = computed(&mut device, "fma_f32", 1, [32, 64], 2.0).unwrap();
        assert_eq!((device.launches, rate.range), (2 * 6 + 2, None));
    }

    #[test]
    fn a_device_whose_time_stands_still_is_told_of() {
        let mut device = Made { launches: 0, repeats: 5, stuck: true };
        let error = computed(&mut device, "fma_f32", 1, [32, 64], 2.0).err().unwrap().to_string();
        assert!(error.starts_with("fma_f32: "), "{error}");
    }
}
