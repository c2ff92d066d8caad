//! `rockhound inspect` of one small code object, as a new process.
//!
//! Users wait for the whole process, so the whole process is measured.

use super::{Line, median, millis};
use crate::run::{files, root};
use anyhow::{Context, Result, ensure};
use std::process::{Command, Stdio};
use std::time::Duration;

const ASKED: Duration = Duration::from_millis(15);

pub(crate) fn run() -> Result<Vec<Line>> {
    let program = super::build_rockhound()?;
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
