//! Kernels of training exercises: rates and counts per wave.
//!
//! A truth is a printed number of a profile; the kernel is written to its description, and the same quantity
//! is computed from its emulated counters.

use super::Page;
use crate::run::root;
use anyhow::{Context, Result, bail};
use probe::registry;
use record::{Dispatch, Job, Recorder};
use std::path::Path;
use std::process::Command;

const TRUTH: &str = include_str!("rates.tsv");
/// GPU on which these kernels were profiled.
const MODEL: &str = "mi210";

/// A compiled kernel.
pub(super) struct Prepared {
    bytes: Vec<u8>,
    kernel: String,
}

/// Compiles a file, or says that the compiler is missing.
pub(super) fn compile(source: &Path, target: &str) -> Result<Option<Vec<u8>>> {
    compile_with("clang++-19", source, target)
}

/// The same by a compiler of this name.
pub(super) fn compile_with(compiler: &str, source: &Path, target: &str) -> Result<Option<Vec<u8>>> {
    let output = std::env::temp_dir().join(format!("accuracy-{}-{target}.hsaco", std::process::id()));
    let result = Command::new(compiler)
        .args(["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "--no-gpu-bundle-output"])
        .args(["-O3", "-munsafe-fp-atomics"])
        .arg(format!("--offload-arch={target}"))
        .arg(source)
        .arg("-o")
        .arg(&output)
        .output();
    let Ok(result) = result else {
        println!("skipped: no {compiler}");
        return Ok(None);
    };
    if !result.status.success() {
        bail!("{compiler}: {}", String::from_utf8_lossy(&result.stderr));
    }
    let bytes = std::fs::read(&output)?;
    std::fs::remove_file(output)?;
    Ok(Some(bytes))
}

impl Prepared {
    /// Compiles a kernel of a file, or says that the compiler is missing.
    pub(super) fn new(source: &Path, target: &str, kernel: &str) -> Result<Option<Prepared>> {
        Ok(compile(source, target)?.map(|bytes| Prepared::of(bytes, kernel)))
    }

    /// A kernel of a code object.
    pub(super) fn of(bytes: Vec<u8>, kernel: &str) -> Prepared {
        Prepared { bytes, kernel: kernel.to_string() }
    }

    /// Buffers of zeros for the arguments that are pointers, in order, and the integers for the others.
    pub(super) fn launch<const N: usize>(&self, buffers: [usize; N], integers: &[i32]) -> Result<Job> {
        let mut job = Job::find(&self.bytes, Some(&self.kernel))?;
        let (mut buffers, mut integers) = (buffers.iter(), integers.iter());
        let mut values = Vec::new();
        for argument in job.program.metadata.given() {
            values.push(match argument.size {
                8 => {
                    let bytes = *buffers.next().context("a buffer for each pointer")?;
                    job.memory.allocate("buffer", bytes).to_le_bytes().to_vec()
                }
                _ => integers.next().context("an integer for each other argument")?.to_le_bytes().to_vec(),
            });
        }
        job.give(values);
        Ok(job)
    }
}

/// Fills in the training kernels. `wide` runs the matrices in full width, which takes minutes.
pub(super) fn write(page: &mut Page, wide: bool) -> Result<()> {
    let columns: i32 = if wide { 32_768 } else { 2048 };
    page.slots.insert(
        "columns",
        if wide { ".".into() } else { format!(" (here\n{columns} columns, counts scaled to 32,768).") },
    );
    let source = root().join("xtask/src/accuracy/kernels.hip");
    let model = arch::Model::by_name(MODEL).context("a model of the data files")?;
    let mut last: Option<(String, Dispatch)> = None;
    for line in TRUTH.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kernel, quantity, truth, unit] = fields[..] else { bail!("rates.tsv: a row has 4 fields") };
        if last.as_ref().is_none_or(|(name, _)| name != kernel) {
            let Some(prepared) = Prepared::new(&source, model.target().name, kernel)? else { return Ok(()) };
            let mut recorder = Recorder::new(model);
            let (n, m) = (32_768, columns);
            let sizes = [n as usize, n as usize * m as usize, m as usize, 1].map(|items| 8 * items);
            let (mut job, groups, size) = match kernel {
                "fill" => (prepared.launch([8 << 25], &[1])?, 1 << 17, 256),
                "rows" | "columns" => (prepared.launch(sizes, &[n, m, 2048 * 64])?, 2048, 64),
                _ => (prepared.launch([8 << 20; 2], &[1 << 20, 1, 1])?, 1 << 12, 256),
            };
            job.run(&mut recorder, [groups, 1, 1], [size, 1, 1])?;
            let dispatch = recorder.dispatches().first().cloned().context("a dispatch")?;
            last = Some((kernel.to_string(), dispatch));
        }
        let Some((_, dispatch)) = &last else { continue };
        let scale = if matches!(kernel, "rows" | "columns") { 32_768.0 / f64::from(columns) } else { 1.0 };
        let truth: f64 = truth.parse().context("a number of the data file")?;
        let value = value(dispatch, quantity)?;
        let (value, difference) = match unit {
            "%" => (value, format!("{:+.2} points", value - truth)),
            _ => (value * scale, format!("{:+.2} %", 100.0 * (value * scale - truth) / truth)),
        };
        let counter = match quantity {
            "l2_requests" => Some("TCC_REQ"),
            "l2_misses" => Some("TCC_MISS"),
            counter => registry().rule(counter, model.target().name).map(|_| counter),
        };
        if let Some(counter) = counter {
            let of = format!("training kernel `{kernel}` on {}", model.short());
            page.errors.add(model.target().name, counter, of, (value - truth) / truth);
        }
        let name = quantity.replace('_', " ");
        page.row(
            "training",
            &[
                kernel.into(),
                name,
                format!("{truth} {unit}"),
                format!("{value:.2} {unit}"),
                difference.clone(),
            ],
        );
        println!("{kernel} {quantity}: {truth} profiled, {value:.2} modelled, {difference}");
    }
    Ok(())
}

/// A quantity of a dispatch, as profilers compute it.
fn value(dispatch: &Dispatch, quantity: &str) -> Result<f64> {
    let counter = |name: &str| -> Result<f64> {
        let found = dispatch.counters.iter().find(|it| it.0 == name).and_then(|it| it.1.known());
        found.map(|value| value as f64).with_context(|| format!("`{name}` is not known"))
    };
    let sum = |names: &[&str]| names.iter().map(|name| counter(name)).sum::<Result<f64>>();
    let sent = || {
        sum(&[
            "TCP_TCC_READ_REQ",
            "TCP_TCC_WRITE_REQ",
            "TCP_TCC_ATOMIC_WITH_RET_REQ",
            "TCP_TCC_ATOMIC_WITHOUT_RET_REQ",
        ])
    };
    let lookups = counter("TCP_TOTAL_CACHE_ACCESSES")?;
    let waves = counter("SQ_WAVES")?;
    Ok(match quantity {
        "accesses" => counter("TCP_TOTAL_ACCESSES")? / waves,
        "lookups" => lookups / waves,
        "hits" => (lookups - sent()?) / waves,
        "l1_hit_rate" => 100.0 * (lookups - sent()?) / lookups,
        "l2_hit_rate" => 100.0 * counter("TCC_HIT")? / sum(&["TCC_HIT", "TCC_MISS"])?,
        "l2_requests" => counter("TCC_REQ")? / waves,
        "l2_misses" => counter("TCC_MISS")? / waves,
        other => counter(other)?,
    })
}
