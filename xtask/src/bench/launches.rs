//! What a launch of an empty kernel costs under `rockhound profile`, and whether memory stays the same.
//!
//! The program, `launches.hip`, takes its own processor time, so that other work of the machine counts little.

use super::Line;
use crate::run::root;
use anyhow::{Context, Result, ensure};
use std::process::Command;

/// Launches, and kinds of their arguments.
const LAUNCHES: u32 = 100_000;
const KINDS: [&str; 2] = ["other", "same"];

/// Asked: microseconds of a launch, and KiB that the process may gain over nine tenths of the launches.
const MICROSECONDS: f64 = 200.0;
const GAINED: i64 = 16 << 10;

pub(crate) fn run() -> Result<Vec<Line>> {
    let rockhound = super::build_rockhound()?;
    crate::run::run("cargo", &["build", "--quiet", "--release", "-p", "rockhound-hip", "-j1"])?;
    let folder = crate::run::target().join("launches");
    std::fs::create_dir_all(&folder)?;
    let (program, source) = (folder.join("launches"), root().join("xtask/src/bench/launches.hip"));
    let library = super::release_folder().join("libamdhip64.so");
    let link = folder.join("libamdhip64.so");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(library, link)?;
    let built = Command::new(root().join("examples/program.sh"))
        .arg("-o")
        .arg(&program)
        .arg(source)
        .arg("gfx942")
        .arg(format!("-L{}", folder.display()))
        .status()?;
    if !built.success() {
        return Ok(vec![Line::plain("skipped".to_owned(), "no compiler for HIP programs".to_owned())]);
    }
    let mut lines = Vec::new();
    for kind in KINDS {
        let recording = folder.join(format!("recording-{kind}"));
        let _ = std::fs::remove_dir_all(&recording);
        let output = Command::new(&rockhound)
            .args(["profile", "--no-repeats", "-o"])
            .arg(&recording)
            .arg("--")
            .arg(&program)
            .args([LAUNCHES.to_string().as_str(), kind])
            .output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout)?;
        let numbers: Vec<f64> =
            text.lines().next().unwrap_or_default().split(' ').flat_map(str::parse).collect();
        let [time, before, after] = numbers[..] else { anyhow::bail!("it printed `{text}`") };
        let gained = after as i64 - before as i64;
        let asked = |words: String, kept: bool| Some((words, kept));
        lines.push(Line {
            what: format!("a launch, {kind} arguments"),
            value: format!("{time:.1} us"),
            asked: asked(format!("under {MICROSECONDS} us"), time < MICROSECONDS),
        });
        lines.push(Line {
            what: format!("memory gained over {LAUNCHES} launches, {kind} arguments"),
            value: format!("{gained} KiB"),
            asked: asked(format!("under {GAINED} KiB"), gained < GAINED),
        });
        std::fs::remove_dir_all(&recording).context("the recording")?;
    }
    Ok(lines)
}
