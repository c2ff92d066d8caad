//! `rockhound inspect` of one small code object, as a new process.
//!
//! The one idea to keep in mind: what a person waits for is the whole process, so that is measured.

use super::{Line, median, millis};
use crate::run::{files, root};
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

const ASKED: Duration = Duration::from_millis(15);

pub(crate) fn run() -> Result<Vec<Line>> {
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--release", "-p", "rockhound", "-j1"]);
    ensure!(build.current_dir(root()).status()?.success(), "cannot build `rockhound`");
    let program = release_folder()?.join("rockhound");
    let inputs = files(&root().join("fixtures"), |path| path.extension().is_some_and(|it| it == "hsaco"))?;
    let input = inputs.first().context("no code object under `fixtures`")?;
    let time = median(21, || {
        let status = Command::new(&program).arg("inspect").arg(input).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "`rockhound inspect {}` failed", input.display());
        Ok(())
    })?;
    Ok(vec![Line {
        what: crate::run::below_root(input),
        value: millis(time),
        asked: Some((format!("under {}", millis(ASKED)), time < ASKED)),
    }])
}

/// Where release builds are.
pub(crate) fn release_folder() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release"))
}
