//! `rockhound analyze` of recordings: a small one as a new process, and generated ones of many dispatches.
//!
//! The large recordings repeat the dispatches of a real one under 50 kernel names, so columns are as wide and
//! as varied as a profiler writes them.

use super::libraries::{Measured, measure, seconds};
use super::{Line, median, millis};
use crate::run::root;
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const COLD: Duration = Duration::from_millis(40);
const KERNELS: usize = 50;

/// Dispatches, and the time and memory (MiB) that are asked.
const SIZES: [(usize, Duration, u64); 2] =
    [(10_000, Duration::from_secs(1), 300), (100_000, Duration::from_secs(8), 1500)];

pub(crate) fn run() -> Result<Vec<Line>> {
    let shared = root().join("../shared/workloads/vcopy");
    if !shared.is_dir() {
        let text = format!("skipped: needs {}", shared.display());
        return Ok(vec![Line::plain(text, String::new())]);
    }
    let program = super::build_rockhound()?;
    let mut lines = vec![cold(&program, &shared.join("MI300X_A1"))?];
    let folder = std::env::temp_dir().join(format!("rockhound-bench-{}", std::process::id()));
    for (dispatches, time, memory) in SIZES {
        fs::create_dir_all(&folder)?;
        let counters = generate(&shared.join("MI200"), &folder, dispatches)?;
        let measured = measure(Command::new(&program).args(["analyze", "-b", "all", "-p"]).arg(&folder));
        fs::remove_dir_all(&folder)?;
        let Measured { time: took, peak_kib } = measured?;
        let what = format!("{dispatches} dispatches x {counters} counters");
        lines.push(Line {
            what: format!("{what}: wall"),
            value: seconds(took),
            asked: Some((format!("at most {}", seconds(time)), took <= time)),
        });
        lines.push(Line {
            what: format!("{what}: peak resident"),
            value: format!("{} MiB", peak_kib / 1024),
            asked: Some((format!("at most {memory} MiB"), peak_kib / 1024 <= memory)),
        });
    }
    Ok(lines)
}

/// The full report as a new process.
fn cold(program: &Path, recording: &Path) -> Result<Line> {
    let time = median(21, || {
        let mut command = Command::new(program);
        let status =
            command.args(["analyze", "-b", "all", "-p"]).arg(recording).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "`rockhound analyze -p {}` failed", recording.display());
        Ok(())
    })?;
    Ok(Line {
        what: "vcopy/MI300X_A1, every table".to_owned(),
        value: millis(time),
        asked: Some((format!("at most {}", millis(COLD)), time <= COLD)),
    })
}

/// Writes a recording of many dispatches; returns its columns of counters.
fn generate(from: &Path, folder: &Path, dispatches: usize) -> Result<usize> {
    let text = fs::read_to_string(from.join("pmc_perf.csv"))?;
    let mut lines = text.lines();
    let header = lines.next().context("a header")?;
    // The text before the kernel's name is the dispatch's ID.
    let samples: Vec<&str> = lines
        .map(|line| line.split_once(",\"").and_then(|(_, rest)| rest.split_once('"')).map(|(_, rest)| rest))
        .collect::<Option<_>>()
        .context("rows of an ID, a quoted kernel name and numbers")?;
    ensure!(!samples.is_empty(), "no dispatches");
    let path: PathBuf = folder.join("pmc_perf.csv");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    writeln!(out, "{header}")?;
    for i in 0..dispatches {
        writeln!(out, "{i},\"kernel_{}(double*, int)\"{}", i % KERNELS, samples[i % samples.len()])?;
    }
    out.flush()?;
    fs::copy(from.join("sysinfo.csv"), folder.join("sysinfo.csv"))?;
    let counters =
        header.split(',').filter(|c| c.starts_with(|c: char| c.is_ascii_uppercase()) && c.contains('_'));
    Ok(counters
        .filter(|c| {
            ["SQ", "TA_", "TD_", "TCP_", "TCC_", "SPI_", "CP", "GRBM"].iter().any(|p| c.starts_with(p))
        })
        .count())
}
