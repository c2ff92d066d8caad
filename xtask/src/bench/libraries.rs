//! `rockhound inspect` of whole libraries: against `llvm-objdump` on the same code objects, and the largest
//! one.
//!
//! The libraries come from package registries (`cargo xtask setup --real`) and are found by file name below
//! `target/real`, or the folder that `ROCKHOUND_REAL` names; missing ones are reported as skipped.

use super::Line;
use crate::run::{files, root};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Required speed-up over the disassembler alone.
const FASTER: f64 = 10.0;
const LARGEST_TIME: Duration = Duration::from_secs(60);
const LARGEST_MEMORY_MIB: u64 = 500;

/// Against `llvm-objdump-22 -d` of the code objects in the library, on all cores, wall time of the same run.
pub(crate) fn against_llvm() -> Result<Vec<Line>> {
    let Some(library) = find("libonnxruntime_providers_rocm.so")? else { return Ok(skipped()) };
    let program = super::build_rockhound()?;
    let folder = std::env::temp_dir().join(format!("rockhound-bench-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let result = compare(&library, &program, &folder);
    fs::remove_dir_all(&folder)?;
    result
}

fn compare(library: &Path, program: &Path, folder: &Path) -> Result<Vec<Line>> {
    let data = fs::read(library)?;
    let mut count = 0;
    for found in codeobj::scan(&data, &codeobj::Wanted::all())? {
        let found = found?;
        fs::write(folder.join(format!("{count}.hsaco")), &found.data)?;
        count += 1;
    }
    drop(data);
    let ours = inspect(program, library)?;
    let start = Instant::now();
    let cores = std::thread::available_parallelism()?.get();
    let command =
        format!("ls {}/*.hsaco | xargs -P {cores} -n 1 llvm-objdump-22 -d > /dev/null", folder.display());
    let status = Command::new("sh").args(["-c", &command]).status()?;
    ensure!(status.success(), "`{command}` failed");
    let theirs = start.elapsed();
    let ratio = theirs.as_secs_f64() / ours.time.as_secs_f64();
    Ok(vec![
        Line::plain(format!("rockhound inspect --format json, {count} code objects"), seconds(ours.time)),
        Line::plain("llvm-objdump-22 -d of the same".to_owned(), seconds(theirs)),
        Line {
            what: "ratio".to_owned(),
            value: format!("{ratio:.1}"),
            asked: Some((format!("at least {FASTER}"), ratio >= FASTER)),
        },
    ])
}

/// Time and memory for a library of more than a gigabyte.
pub(crate) fn largest() -> Result<Vec<Line>> {
    let Some(library) = find("librocsparse.so.0.1")? else { return Ok(skipped()) };
    let measured = inspect(&super::build_rockhound()?, &library)?;
    let memory = measured.peak_kib / 1024;
    Ok(vec![
        Line {
            what: "wall time".to_owned(),
            value: seconds(measured.time),
            asked: Some((format!("under {}", seconds(LARGEST_TIME)), measured.time < LARGEST_TIME)),
        },
        Line {
            what: "peak resident".to_owned(),
            value: format!("{memory} MiB"),
            asked: Some((format!("under {LARGEST_MEMORY_MIB} MiB"), memory < LARGEST_MEMORY_MIB)),
        },
    ])
}

/// Costs of a run.
pub(super) struct Measured {
    pub(super) time: Duration,
    pub(super) peak_kib: u64,
}

fn inspect(program: &Path, library: &Path) -> Result<Measured> {
    measure(Command::new(program).args(["inspect", "--format", "json"]).arg(library))
}

/// Runs a command that has to succeed, its output thrown away.
pub(super) fn measure(command: &mut Command) -> Result<Measured> {
    let start = Instant::now();
    let mut child =
        command.stdout(Stdio::null()).spawn().with_context(|| format!("cannot start {command:?}"))?;
    let mut peak_kib = 0;
    let status = loop {
        peak_kib = peak_kib.max(peak_resident(&child));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    ensure!(status.success(), "{command:?} failed");
    Ok(Measured { time: start.elapsed(), peak_kib })
}

/// High-water mark of resident memory, KiB; 0 where the system does not tell.
fn peak_resident(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}

pub(super) fn find(name: &str) -> Result<Option<PathBuf>> {
    let folder = std::env::var_os("ROCKHOUND_REAL").map_or_else(|| root().join("target/real"), PathBuf::from);
    if !folder.is_dir() {
        return Ok(None);
    }
    let found = files(&folder, |path| path.extension().is_some() && path.is_file() && !path.is_symlink())?;
    Ok(found.into_iter().find(|path| path.file_name().is_some_and(|file| file == name)))
}

pub(super) fn skipped() -> Vec<Line> {
    vec![Line::plain(
        "skipped: needs real libraries, get them with `cargo xtask setup --real`".to_owned(),
        String::new(),
    )]
}

pub(super) fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}
