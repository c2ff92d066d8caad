//! Benchmarks: measured numbers and their bounds.
//!
//! A benchmark is one row of [`BENCHMARKS`]; it returns lines, and a line with a bound reports whether it is
//! kept. Missing inputs are reported as skipped.

mod cold_start;
mod decoder;
mod emulator;
mod facts;
mod judging;
mod launches;
mod libraries;
mod memory;
mod recordings;
mod traces;
mod tuning;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// One measured number.
pub(crate) struct Line {
    pub(crate) what: String,
    pub(crate) value: String,
    /// Request, and whether it is kept.
    pub(crate) asked: Option<(String, bool)>,
}

impl Line {
    /// A number nothing is asked of.
    fn plain(what: String, value: String) -> Self {
        Line { what, value, asked: None }
    }
}

struct Benchmark {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<Vec<Line>>,
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark { name: "facts", about: "reading the data file of one GPU target", run: facts::first_use },
    Benchmark { name: "cold", about: "`rockhound inspect` of one small code object", run: cold_start::run },
    Benchmark {
        name: "decode",
        about: "decoding the kernels of a real library, one core",
        run: decoder::speed,
    },
    Benchmark {
        name: "library",
        about: "`rockhound inspect` of a library beside `llvm-objdump-22 -d` of its code objects",
        run: libraries::against_llvm,
    },
    Benchmark {
        name: "analyze",
        about: "`rockhound analyze` of a small recording and of generated large ones",
        run: recordings::run,
    },
    Benchmark {
        name: "trace",
        about: "`rockhound trace` of a real trace, of a gigabyte made of it, and of that again from its index",
        run: traces::run,
    },
    Benchmark {
        name: "judge",
        about: "`rockhound judge` of two compiled variants, as a new process",
        run: judging::run,
    },
    Benchmark { name: "emu", about: "emulated wave instructions per second", run: emulator::speed },
    Benchmark {
        name: "models",
        about: "profiling with caches and clock beside counters only: time and memory",
        run: emulator::models,
    },
    Benchmark {
        name: "launches",
        about: "launches of an empty kernel under `rockhound profile`: processor time and memory of the program",
        run: launches::run,
    },
    Benchmark {
        name: "emu-8g",
        about: "emulated y^T A x of a matrix of 8 GiB, as in the training (needs the memory)",
        run: emulator::large,
    },
    Benchmark { name: "largest", about: "`rockhound inspect` of librocsparse", run: libraries::largest },
    Benchmark {
        name: "tune",
        about: "searching the recorded spaces of `../shared`, 50 seeds, and building the described ones",
        run: tuning::run,
    },
    Benchmark {
        name: "left-out",
        about: "the same, 20 seeds, by settings of the model that were chosen on other spaces (minutes)",
        run: tuning::left_out,
    },
];

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if arguments.iter().any(|argument| argument == "--list") {
        for benchmark in BENCHMARKS {
            println!("{:<8} {}", benchmark.name, benchmark.about);
        }
        return Ok(());
    }
    if let [emulator::ALONE, kernel, how] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return emulator::alone(kernel, how);
    }
    for argument in arguments {
        if !BENCHMARKS.iter().any(|benchmark| benchmark.name == argument) {
            bail!("no benchmark `{argument}`; `cargo xtask bench --list` names them");
        }
    }
    let chosen =
        |benchmark: &&Benchmark| arguments.is_empty() || arguments.iter().any(|it| it == benchmark.name);
    let mut missed = Vec::new();
    for benchmark in BENCHMARKS.iter().filter(chosen) {
        println!("{}: {}", benchmark.name, benchmark.about);
        for line in (benchmark.run)().with_context(|| format!("benchmark `{}`", benchmark.name))? {
            let asked = match &line.asked {
                Some((asked, true)) => format!("  (asked: {asked}; kept)"),
                Some((asked, false)) => format!("  (asked: {asked}; MISSED)"),
                None => String::new(),
            };
            println!("  {:<48} {:>16}{asked}", line.what, line.value);
            if line.asked.is_some_and(|(_, kept)| !kept) {
                missed.push(line.what);
            }
        }
    }
    if !missed.is_empty() {
        bail!("not kept: {}", missed.join(", "));
    }
    Ok(())
}

/// Builds the command in release and returns its path.
fn build_rockhound() -> Result<PathBuf> {
    crate::run::run("cargo", &["build", "--quiet", "--release", "-p", "rockhound", "-j1"])?;
    Ok(release_folder().join("rockhound"))
}

/// Folder of release builds.
fn release_folder() -> PathBuf {
    crate::run::target().join("release")
}

/// Median time of `runs` calls.
pub(crate) fn median(runs: usize, mut call: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        call()?;
        times.push(start.elapsed());
    }
    times.sort();
    times.get(runs / 2).copied().context("no runs")
}

/// Milliseconds, for people.
pub(crate) fn millis(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}
