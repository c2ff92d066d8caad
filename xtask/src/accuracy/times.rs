//! Kernel times.
//!
//! Kernels are written after the description of the profiled ones, compiled and emulated; the page marks
//! those with different code.

use super::kernels::{Prepared, compile};
use super::{Errors, Page, distance, grouped};
use crate::run::root;
use anyhow::{Context, Result, bail};
use probe::registry;
use record::{Recorder, Settings};
use std::collections::BTreeMap;

const INTENSITY: &str = include_str!("intensity.tsv");

/// Workgroups of the kernels of growing intensity.
const INTENSITY_GROUPS: u32 = 16_384;
/// Recorded counts below this say nothing about a model.
const LEAST_COUNT: f64 = 10_000.0;

/// Emulated kernels: family, name, GPU, elements as a power of two, factor by which the profiled kernel had
/// more, profiled nanoseconds, and their source.
type Profiled = (&'static str, &'static str, &'static str, u32, f64, f64, &'static str);

const PROFILED: &[Profiled] = &[
    (
        "vecCopy",
        "vecCopy(double*, double*, double*, int, int)",
        "mi210",
        20,
        1.0,
        16_320.0,
        "median of three dispatches on MI200",
    ),
    (
        "vecCopy",
        "vecCopy(double*, double*, double*, int, int)",
        "mi300x",
        20,
        1.0,
        6811.0,
        "median of three dispatches on MI300X with ROCm 7.0, which take 5.2 to 9.6; engines are busy for 3.7 of it",
    ),
    ("fill", "fill", "mi210", 25, 1.0, 237_441.0, "256 MiB"),
    ("daxpy", "daxpy", "mi210", 22, 4.0, 2_024_491.0, "2^24 elements; 2^22 emulated, time times 4"),
    ("daxpy", "daxpy_restrict", "mi210", 24, 1.0, 323_522.0, "2^24 elements"),
];

/// Writes the section.
pub(super) fn write(page: &mut Page) -> Result<()> {
    let mut found = Vec::new();
    for &(short, name, gpu, bits, times, truth, what) in PROFILED {
        let model = arch::Model::by_name(gpu).context("a model of the data files")?;
        let copy = short == "vecCopy";
        let source = match copy {
            true => root().join("crates/3-measure/record/tests/sources/vector_copy.hip"),
            false => root().join("xtask/src/accuracy/kernels.hip"),
        };
        let Some(prepared) = Prepared::new(&source, model.target().name, name)? else { return Ok(()) };
        let n: u32 = 1 << bits;
        let mut recorder = Recorder::new(model);
        let mut loaded = match short {
            "vecCopy" => prepared.launch([8 * n as usize, 8, 8 * n as usize], &[n as i32, 1])?,
            "fill" => prepared.launch([8 * n as usize], &[1])?,
            _ => prepared.launch([8 * n as usize; 2], &[n as i32, 1, 1])?,
        };
        loaded.run(&mut recorder, [n / 256, 1, 1], [256, 1, 1])?;
        let time = recorder.dispatches().first().and_then(|it| it.time.clone()).context("a time")?;
        // The part before the work does not grow with it.
        let start = time.start / time.cycles * time.nanoseconds;
        let modelled = (time.nanoseconds - start) * times + start;
        found.push(modelled);
        let of = format!("`{}` on {}", name.split('(').next().unwrap_or(name), model.short());
        page.errors.add(model.target().name, record::time_quantity(truth), of, (modelled - truth) / truth);
        let error = format!("{:+.1} %", 100.0 * (modelled - truth) / truth);
        println!("{name} on {gpu}: {:.1} us profiled, {:.1} modelled, {error}", truth / 1e3, modelled / 1e3);
        let limit = time.limit().name().to_string();
        let title = format!("{} on {}", name.split('(').next().unwrap_or(name), gpu);
        let (truth, modelled) = (format!("{:.1}", truth / 1e3), format!("{:.1}", modelled / 1e3));
        page.row("times", &[title, truth, modelled, error, limit, what.into()]);
    }
    let optimized = ("daxpy to daxpy_restrict", found[3] / found[4], 6.2);
    exercises(page, optimized)?;
    product(page)?;
    intensities(page)
}

fn product(page: &mut Page) -> Result<()> {
    const N: usize = 4096;
    const TILE: usize = 128;
    let model = arch::Model::by_name("mi300x").context("a model of the data files")?;
    let source = root().join("xtask/src/accuracy/kernels.hip");
    let Some(prepared) = Prepared::new(&source, model.target().name, "tiles_f16")? else { return Ok(()) };
    let mut loaded = prepared.launch([2, 2, 4].map(|bytes| bytes * N * N), &[N as i32])?;
    let settings = Settings { shares_xcds: true, ..Settings::default() };
    let mut recorder = settings.recorder(model, None)?;
    let side = (N / TILE) as u32;
    loaded.run(&mut recorder, [side, side, 1], [256, 1, 1])?;
    let dispatch = recorder.dispatches().first().context("a dispatch")?;
    let time = dispatch.time.as_ref().context("a time")?;
    let rate = 2.0 * (N as f64).powi(3) / time.nanoseconds / 1e3;
    let peak = model.peak_tera_ops(arch::Unit::Matrix, arch::ElementType::F16).context("the peak of f16")?;
    let share = 100.0 * rate / peak;
    let said = dispatch.shared.map_or(0.0, |it| 100.0 * it.time_error);
    println!(
        "product of 4096^3 f16: {:.1} us, {rate:.0} Tflop/s, {share:.0} % of {peak:.0}",
        time.nanoseconds / 1e3
    );
    let us = format!("{:.1}", time.nanoseconds / 1e3);
    page.row(
        "product",
        &[
            "4096^3 f16".into(),
            us,
            format!("{rate:.0}"),
            format!("{share:.0} % of {peak:.0}"),
            format!("{said:.1} %"),
        ],
    );
    Ok(())
}

/// A training exercise that was profiled.
struct Exercise {
    gpu: &'static str,
    title: &'static str,
    kernel: &'static str,
    workgroups: u32,
    /// Elements of x in the LDS.
    kept: i32,
    /// Columns that are summed, of [`SIZE`].
    columns: i32,
    milliseconds: f64,
    /// Waves in flight, and steps in which compute units lack LDS.
    waves: Option<(f64, f64)>,
}

/// Rows and columns of the exercises' matrix.
const SIZE: i32 = 32_768;

const fn exercise(
    (gpu, title): (&'static str, &'static str),
    (kernel, workgroups, kept, columns): (&'static str, u32, i32, i32),
    milliseconds: f64,
    waves: Option<(f64, f64)>,
) -> Exercise {
    Exercise { gpu, title, kernel, workgroups, kept, columns, milliseconds, waves }
}

/// Times as the vendor's training material prints them (github.com/amd/HPCTrainingExamples,
/// `OmniperfExamples` and `rocprof-compute`): MI200 with ROCm 5.7, MI300A with ROCm 6.2.1.
const EXERCISES: &[Exercise] = &[
    exercise(("mi210", "1 with 4 workgroups"), ("pitched", 4, 0, 4096), 755.935, None),
    exercise(("mi210", "1 with 2048 workgroups"), ("pitched", 2048, 0, SIZE), 69.876, None),
    exercise(
        ("mi210", "2 with 64 KiB of LDS"),
        ("kept_8192", 2048, 8192, SIZE),
        175.427,
        Some((102.70, 6_015_745_446.0)),
    ),
    exercise(("mi210", "2 with 2 KiB of LDS"), ("kept_256", 2048, 256, SIZE), 50.366, Some((487.32, 0.0))),
    exercise(("mi210", "2 without LDS"), ("pitched", 2048, 0, SIZE), 70.513, Some((445.33, 0.0))),
    exercise(("mi210", "4 by rows"), ("pitched", 2048, 0, SIZE), 69.768, None),
    exercise(("mi210", "4 by columns"), ("columns", 2048, 0, SIZE), 12.465, None),
    exercise(("mi300a", "1 with 4 workgroups"), ("pitched", 4, 0, 4096), 541.264, None),
    exercise(("mi300a", "1 with 2048 workgroups"), ("pitched", 2048, 0, 16_384), 9.483, None),
    exercise(("mi300a", "2 with 64 KiB of LDS"), ("kept_8192", 2048, 8192, 16_384), 7.241, None),
    exercise(("mi300a", "2 with 2 KiB of LDS"), ("kept_256", 2048, 256, 16_384), 5.767, None),
    exercise(("mi300a", "2 without LDS"), ("pitched", 2048, 0, 16_384), 9.485, None),
    exercise(("mi300a", "4 by rows"), ("pitched", 2048, 0, 16_384), 9.599, None),
    exercise(("mi300a", "4 by columns"), ("columns", 2048, 0, 16_384), 12.104, None),
];

/// Pairs of exercises whose speed-up the training states, and the stated speed-up.
const SPEEDUPS: &[(usize, usize, f64)] = &[(0, 1, 10.8), (2, 3, 3.4), (5, 6, 5.6)];

/// Emulates an exercise on the first columns: milliseconds, milliseconds summed over waves, and steps in which
/// compute units lack LDS.
fn sum_columns(
    prepared: &Prepared,
    model: &'static arch::Model,
    (kernel, workgroups): (&str, u32),
    (columns, kept): (i32, i32),
) -> Result<[f64; 3]> {
    let sizes = [SIZE as usize, SIZE as usize * SIZE as usize, SIZE as usize, 1].map(|items| 8 * items);
    let threads = workgroups as i32 * 64;
    let integers = match kernel {
        "columns" => vec![SIZE, columns, threads],
        "pitched" => vec![SIZE, columns, threads, SIZE],
        _ => vec![SIZE, columns, threads, SIZE, kept * columns / SIZE],
    };
    let mut loaded = prepared.launch(sizes, &integers)?;
    let mut recorder = Recorder::new(model);
    loaded.run(&mut recorder, [workgroups, 1, 1], [64, 1, 1])?;
    let dispatch = recorder.dispatches().first().context("a dispatch")?;
    let time = dispatch.time.as_ref().context("a time")?;
    let counted = |name: &str| -> Result<f64> {
        let found = dispatch.counters.iter().find(|it| it.0 == name);
        Ok(found.and_then(|it| it.1.known()).with_context(|| name.to_string())? as f64)
    };
    let milliseconds = time.nanoseconds / 1e6;
    let of_waves = milliseconds * counted("SQ_LEVEL_WAVES")? / time.cycles;
    Ok([milliseconds, of_waves, counted("SPI_RA_LDS_CU_FULL_CSN")?])
}

fn exercises(page: &mut Page, more: (&str, f64, f64)) -> Result<()> {
    let source = root().join("xtask/src/accuracy/kernels.hip");
    // Earlier time of the same kernel, and the waves in flight.
    let mut known: BTreeMap<(&str, &str, u32), (f64, f64, f64)> = BTreeMap::new();
    let mut modelled_all = Vec::new();
    for &Exercise { gpu, title, kernel, workgroups, kept, columns, milliseconds: truth, waves } in EXERCISES {
        let before = std::time::Instant::now();
        let model = arch::Model::by_name(gpu).context("a model of the data files")?;
        let (modelled, in_flight, no_lds) = match known.get(&(gpu, kernel, workgroups)) {
            Some(&known) => known,
            None => {
                let model =
                    if workgroups < model.compute_units.value / 2 { model.lightly_used() } else { model };
                let Some(prepared) = Prepared::new(&source, model.target().name, kernel)? else {
                    return Ok(());
                };
                let summed = |columns| sum_columns(&prepared, model, (kernel, workgroups), (columns, kept));
                let mut found = summed(columns)?;
                if columns < SIZE {
                    // A line through two widths: atomics do not grow with the columns. The smaller width takes
                    // longer than all atomics.
                    let more = f64::from(SIZE - columns) / f64::from(columns / 2);
                    for (found, half) in found.iter_mut().zip(summed(columns / 2)?) {
                        *found += (*found - half) * more;
                    }
                }
                let [milliseconds, of_waves, no_lds] = found;
                (milliseconds, of_waves / milliseconds, no_lds)
            }
        };
        let fresh = known.insert((gpu, kernel, workgroups), (modelled, in_flight, no_lds)).is_none();
        modelled_all.push(modelled);
        // The same kernel that was profiled several times counts once.
        if fresh {
            let of = format!("y^T A x, {title}, on {}", model.short());
            let quantity = record::time_quantity(truth * 1e6);
            page.errors.add(model.target().name, quantity, of, (modelled - truth) / truth);
        }
        let error = format!("{:+.1} %", 100.0 * (modelled - truth) / truth);
        println!(
            "{gpu} {title}: {truth} ms profiled, {modelled:.2} modelled, {error} ({:.1} s)",
            before.elapsed().as_secs_f64()
        );
        let lds = waves.map_or_else(Default::default, |(_, lds)| [grouped(lds), grouped(no_lds)]);
        let waves =
            waves.map_or_else(Default::default, |(waves, _)| [waves, in_flight].map(|it| format!("{it:.1}")));
        let (truth, modelled) = (format!("{truth:.1}"), format!("{modelled:.1}"));
        let of_time = [gpu.into(), title.into(), truth, modelled, error];
        page.row("exercises", &[&of_time[..], &waves, &lds].concat());
    }
    let speedups = SPEEDUPS.iter().map(|&(slow, fast, truth)| {
        let title = format!("{} to {}", EXERCISES[slow].title, EXERCISES[fast].title);
        (title, modelled_all[slow] / modelled_all[fast], truth)
    });
    let (title, modelled, truth) = more;
    for (title, modelled, truth) in speedups.chain([(title.to_owned(), modelled, truth)]) {
        let error = format!("{:+.1} %", 100.0 * (modelled - truth) / truth);
        println!("{title}: {truth} profiled, {modelled:.2} modelled, {error}");
        page.row("speedups", &[title, format!("{truth:.1}x"), format!("{modelled:.1}x"), error]);
    }
    Ok(())
}

pub(super) fn intensities(page: &mut Page) -> Result<()> {
    let model = arch::Model::by_name("mi210").context("a model of the data files")?;
    let source = root().join("xtask/src/accuracy/intensity.hip");
    let Some(bytes) = compile(&source, model.target().name)? else { return Ok(()) };
    let header = INTENSITY.lines().nth(1).context("a header")?;
    let counters: Vec<&str> = header.split('\t').skip(3).collect();
    let mut found = Intensities::default();
    for line in INTENSITY.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, iterations, truth, recorded @ ..] = &fields[..] else {
            bail!("intensity.tsv: a row is short")
        };
        let prepared = Prepared::of(bytes.clone(), &format!("mix_{kind}_{iterations}"));
        let row = Intensity { kind, iterations, truth: truth.parse()? };
        let recorded = counters.iter().copied().zip(recorded.iter().copied());
        found.measure(&row, &prepared, model, recorded, &mut page.errors)?;
    }
    found.write(page);
    Ok(())
}

/// A kernel of growing intensity, as recorded.
struct Intensity {
    kind: &'static str,
    iterations: &'static str,
    /// Nanoseconds.
    truth: f64,
}

/// Relative errors, each with the iterations of its kernel.
type ByIterations = Vec<(f64, &'static str)>;

/// Distance between modelled and recorded kernels of growing intensity.
#[derive(Default)]
struct Intensities {
    /// Times, by type.
    times: Vec<(&'static str, ByIterations)>,
    /// Vector instructions.
    instructions: Vec<f64>,
    counters: BTreeMap<&'static str, ByIterations>,
}

impl Intensities {
    fn measure(
        &mut self,
        row: &Intensity,
        prepared: &Prepared,
        model: &'static arch::Model,
        recorded: impl Iterator<Item = (&'static str, &'static str)>,
        errors: &mut Errors,
    ) -> Result<()> {
        let Intensity { kind, iterations, truth } = *row;
        let target = model.target().name;
        let size = if matches!(kind, "double" | "float2") { 8 } else { 4 };
        let mut loaded = prepared.launch([size * INTENSITY_GROUPS as usize * 256 * 8], &[0])?;
        let mut recorder = Recorder::new(model);
        let before = std::time::Instant::now();
        loaded.run(&mut recorder, [INTENSITY_GROUPS, 1, 1], [256, 1, 1])?;
        let dispatch = recorder.dispatches().first().context("a dispatch")?;
        let time = dispatch.time.as_ref().context("a time")?.nanoseconds;
        let error = (time - truth) / truth;
        let of = format!("intensity of `{kind}`, {iterations} iterations, on {}", model.short());
        errors.add(target, record::time_quantity(truth), of.clone(), error);
        for (counter, recorded) in recorded {
            let recorded: f64 = recorded.parse()?;
            let value = dispatch.counters.iter().find(|it| it.0 == counter).and_then(|it| it.1.known());
            let value = value.with_context(|| format!("`{counter}` is not known"))? as f64;
            let error = distance(value, recorded, recorded);
            match registry().rule(counter, target).is_some_and(record::is_modelled) {
                // Some hundred hits, mostly of the command processor, are not a usable measure.
                true if recorded > LEAST_COUNT => {
                    errors.add(target, counter, of.clone(), error);
                    self.counters.entry(counter).or_default().push((error, iterations));
                }
                true => {}
                false => self.instructions.push(error),
            }
        }
        println!(
            "{kind} with {iterations} iterations: {:.1} us profiled, {:.1} modelled, {:+.1} % ({:.1} s)",
            truth / 1e3,
            time / 1e3,
            100.0 * error,
            before.elapsed().as_secs_f64()
        );
        match self.times.last_mut() {
            Some((last, errors)) if *last == kind => errors.push((error, iterations)),
            _ => self.times.push((kind, vec![(error, iterations)])),
        }
        Ok(())
    }

    fn write(&self, page: &mut Page) {
        let least = self.instructions.iter().copied().fold(0.0, f64::min);
        let most = self.instructions.iter().copied().fold(0.0, f64::max);
        let range = format!("{:+.0} to {:+.0} %", 100.0 * least, 100.0 * most);
        page.slots.insert("intensity instructions", range);
        let first = self.times.first();
        let numbers: Vec<&str> = first.into_iter().flat_map(|(_, it)| it).map(|it| it.1).collect();
        let mut table = format!("| type | {} iterations | mean error | worst |\n", numbers.join(" | "));
        table += &format!("|---|{}---|---|\n", "---|".repeat(numbers.len()));
        page.slots.insert("intensities", table);
        let mut all = ByIterations::new();
        for (kind, errors) in &self.times {
            let [mean, worst] = mean_and_worst(errors);
            let mut cells = vec![(*kind).to_string()];
            cells.extend(errors.iter().map(|it| format!("{:+.1} %", 100.0 * it.0)));
            cells.extend([format!("{mean:.1} %"), format!("{worst:+.1} %")]);
            page.row("intensities", &cells);
            all.extend(errors);
        }
        let [mean, worst] = mean_and_worst(&all);
        let sum = format!("{}: mean {mean:.1} %, worst {worst:+.1} %", all.len());
        println!("intensities, {sum}");
        page.slots.insert("intensity sum", sum);
        for (counter, errors) in &self.counters {
            let [mean, worst] = mean_and_worst(errors);
            let cells = [format!("`{counter}`"), format!("{mean:.1} %"), format!("{worst:+.1} %")];
            page.row("intensity counters", &cells);
        }
    }
}

/// Mean size of errors, and the largest with its sign; percent.
fn mean_and_worst(errors: &[(f64, &str)]) -> [f64; 2] {
    let mean = errors.iter().map(|it| it.0.abs()).sum::<f64>() / errors.len() as f64;
    let worst = errors.iter().map(|it| it.0).max_by(|a, b| a.abs().total_cmp(&b.abs()));
    [100.0 * mean, 100.0 * worst.unwrap_or_default()]
}
