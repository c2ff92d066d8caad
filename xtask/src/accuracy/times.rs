//! Kernel times.
//!
//! The one idea to keep in mind: what can be emulated is; for the many kernels of one recording the clock alone is asked,
//! fed with the counters that were recorded.

use super::{Errors, kernels::Prepared, row};
use crate::run::root;
use anyhow::{Context, Result, bail};
use clock::{Work, estimate};
use mem::{Count, Tally};
use probe::Recorder;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const INTENSITY: &str = include_str!("intensity.tsv");

const WORDS: &str = "## Times

A time is the moment at which the last wave has ended and, where the hardware does so, everything is written back. *limit* is the
part of the GPU that would need longest for its share of the work if nothing waited. Profiled times differ from run to run and machine to machine: three dispatches of the vector copy took 15.5, 16.3 and 20.5 us.

";

const INTENSITY_WORDS: &str = "Kernels of growing arithmetic intensity, 65,536 waves of eight loads each, recorded on an MI200. Here no kernel runs: the time is
what the slowest part needs for the recorded counts (instructions, cache and memory requests):

";

/// Emulated kernels: family, name, GPU, profiled nanoseconds, and what those are.
const PROFILED: &[(&str, &str, &str, f64, &str)] = &[
    (
        "vecCopy",
        "vecCopy(double*, double*, double*, int, int)",
        "mi210",
        16_320.0,
        "median of three dispatches on MI200",
    ),
    ("vecCopy", "vecCopy(double*, double*, double*, int, int)", "mi300x", 8653.0, "one dispatch on MI300X"),
    ("daxpy", "daxpy", "mi210", 2_024_491.0, "2^24 elements; 2^20 emulated, time times 16"),
    ("daxpy", "daxpy_restrict", "mi210", 323_522.0, "2^24 elements; 2^20 emulated, time times 16"),
];

/// Writes the section.
pub(super) fn write(text: &mut String, errors: &mut Errors) -> Result<()> {
    text.push_str(WORDS);
    text.push_str("| kernel | profiled us | modelled us | error | limit | |\n|---|---|---|---|---|---|\n");
    for &(short, name, gpu, truth, what) in PROFILED {
        let model = arch::Model::by_name(gpu).context("a model of the data files")?;
        let copy = short == "vecCopy";
        let source = match copy {
            true => root().join("crates/2-model/probe/tests/sources/vector_copy.hip"),
            false => root().join("xtask/src/accuracy/kernels.hip"),
        };
        let Some(prepared) = Prepared::new(&source, model.target().name, name)? else { return Ok(()) };
        let n: u32 = 1 << 20;
        let mut recorder = Recorder::new(model);
        let mut loaded = match copy {
            true => prepared.launch([8 * n as usize, 8, 8 * n as usize], &[n as i32, 1])?,
            false => prepared.launch([8 * n as usize; 2], &[n as i32, 1, 1])?,
        };
        loaded.run(&mut recorder, [n / 256, 1, 1], [256, 1, 1])?;
        let time = recorder.dispatches().first().and_then(|it| it.time.clone()).context("a time")?;
        let times = if copy { 1.0 } else { 16.0 };
        // What stands before the work does not grow with it.
        let start = time.start / time.cycles * time.nanoseconds;
        let modelled = (time.nanoseconds - start) * times + start;
        errors.add(model.target().name, workload::TIME, (modelled - truth) / truth);
        let error = format!("{:+.1} %", 100.0 * (modelled - truth) / truth);
        println!("{name} on {gpu}: {:.1} us profiled, {:.1} modelled, {error}", truth / 1e3, modelled / 1e3);
        let limit = time.limit().name().to_string();
        let title = format!("{} on {}", name.split('(').next().unwrap_or(name), gpu);
        let (truth, modelled) = (format!("{:.1}", truth / 1e3), format!("{:.1}", modelled / 1e3));
        row(text, &[title, truth, modelled, error, limit, what.into()]);
    }
    text.push('\n');
    exercises(text, errors)?;
    intensities(text)
}

/// Training exercises: name, kernel, workgroups, elements of x in the LDS of 32,768, profiled milliseconds.
const EXERCISES: &[(&str, &str, u32, i32, f64)] = &[
    ("1 with 4 workgroups", "pitched", 4, 0, 755.935),
    ("1 with 2048 workgroups", "pitched", 2048, 0, 69.876),
    ("2 with 64 KiB of LDS", "kept_8192", 2048, 8192, 175.427),
    ("2 with 2 KiB of LDS", "kept_256", 2048, 256, 50.366),
    ("2 without LDS", "pitched", 2048, 0, 70.513),
    ("4 by rows", "pitched", 2048, 0, 69.768),
    ("4 by columns", "columns", 2048, 0, 12.465),
];

const EXERCISE_WORDS: &str = "Training exercises on one die of an MI200: y^T A x of 32,768 rows and columns. The matrix is summed over the first
128 columns, in rows of full length, and the time taken 256 times. The kernels are written to their description and compiled by
another compiler, which unrolls the loops that read the LDS: there loads wait together that waited one by one.

";
const EXERCISE_OPEN: &str = "Rows that lie 256 KiB apart take twice as long on hardware as in the model, where their lines are spread over all channels
of the L2; with half of the channels the time is 28 % too long and the hit rate of the L2 falls to 65 %, so what holds them up is not known.

";

fn exercises(text: &mut String, errors: &mut Errors) -> Result<()> {
    const N: i32 = 32_768;
    const M: i32 = 128;
    let model = arch::Model::by_name("mi210").context("a model of the data files")?;
    let source = root().join("xtask/src/accuracy/kernels.hip");
    text.push_str(EXERCISE_WORDS);
    text.push_str("| exercise | profiled ms | modelled ms | error |\n|---|---|---|---|\n");
    for &(title, kernel, groups, kept, truth) in EXERCISES {
        let Some(prepared) = Prepared::new(&source, model.target().name, kernel)? else { return Ok(()) };
        let m = M;
        let sizes = [N as usize, N as usize * N as usize, N as usize, 1].map(|items| 8 * items);
        let threads = groups as i32 * 64;
        let integers = match kernel {
            "columns" => vec![N, m, threads],
            "pitched" => vec![N, m, threads, N],
            _ => vec![N, m, threads, N, kept * m / N],
        };
        let mut loaded = prepared.launch(sizes, &integers)?;
        let mut recorder = Recorder::new(model);
        let before = std::time::Instant::now();
        loaded.run(&mut recorder, [groups, 1, 1], [64, 1, 1])?;
        let time = recorder.dispatches().first().and_then(|it| it.time.clone()).context("a time")?;
        let modelled = time.nanoseconds * f64::from(N / m) / 1e6;
        // Other code says nothing about the model.
        if kept == 0 {
            errors.add(model.target().name, workload::TIME, (modelled - truth) / truth);
        }
        let error = format!("{:+.1} %", 100.0 * (modelled - truth) / truth);
        println!(
            "{title}: {truth} ms profiled, {modelled:.2} modelled, {error} ({:.1} s)",
            before.elapsed().as_secs_f64()
        );
        row(text, &[title.into(), format!("{truth:.1}"), format!("{modelled:.1}"), error]);
    }
    text.push('\n');
    text.push_str(EXERCISE_OPEN);
    Ok(())
}

fn intensities(text: &mut String) -> Result<()> {
    let model = arch::Model::by_name("mi210").context("a model of the data files")?;
    let channels = model.target().l2.channels_per_xcd.value as usize;
    let mut errors: BTreeMap<&str, Vec<(f64, u64)>> = BTreeMap::new();
    for line in INTENSITY.lines().filter(|line| !line.starts_with('#')) {
        let (kind, numbers) = line.split_once('\t').context("a type and numbers")?;
        let numbers = numbers.split('\t').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        let [intensity, ns, waves, vector, scalar_loads, loads, lookups, reads, requests, misses, fabric] =
            numbers[..]
        else {
            bail!("intensity.tsv: a row has 12 fields");
        };
        let work = Work {
            waves,
            waves_per_unit: model.target().waves_per_cu(),
            groups: waves / 4,
            // All of them are multiply-adds at full rate on this GPU.
            vector_cycles: 4 * vector,
            lds_cycles: 0,
            lookups,
            loads,
            scalar_loads,
            // Loads of a wave are under way together.
            waits: 2 * waves,
        };
        let tally = Tally::even(
            channels,
            &[
                (Count::L1Read, reads),
                (Count::L2Read, requests),
                (Count::L2Hit, requests.saturating_sub(misses)),
                (Count::L2Miss, misses),
                (Count::FabricRead64, fabric),
            ],
        );
        let time = estimate(model, &work, &tally).context("a GPU whose memory was measured")?;
        errors.entry(kind).or_default().push(((time.nanoseconds - ns as f64) / ns as f64, intensity));
    }
    text.push_str(INTENSITY_WORDS);
    text.push_str("| type | kernels | mean error | worst | at intensity |\n|---|---|---|---|---|\n");
    let mean = |errors: &[(f64, u64)]| errors.iter().map(|it| it.0.abs()).sum::<f64>() / errors.len() as f64;
    let mut all: Vec<(f64, u64)> = Vec::new();
    for (kind, errors) in &errors {
        let worst = errors.iter().copied().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs())).unwrap_or_default();
        let cells = [
            (*kind).to_string(),
            errors.len().to_string(),
            format!("{:.1} %", 100.0 * mean(errors)),
            format!("{:+.1} %", 100.0 * worst.0),
            worst.1.to_string(),
        ];
        row(text, &cells);
        all.extend(errors.iter().copied());
    }
    let worst = all.iter().map(|it| it.0.abs()).fold(0.0, f64::max);
    writeln!(text, "\nAll {}: mean {:.1} %, worst {:.1} %.\n", all.len(), 100.0 * mean(&all), 100.0 * worst)?;
    println!(
        "intensities: {} kernels, mean {:.1} %, worst {:.1} %",
        all.len(),
        100.0 * mean(&all),
        100.0 * worst
    );
    Ok(())
}
