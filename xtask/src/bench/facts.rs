//! Reading one target's facts, which every `inspect` does once.
//!
//! A target is parsed once per process, so each measurement is a new process.

use super::{Line, median, millis};
use crate::run::run;
use anyhow::{Context, Result};
use std::process::Command;
use std::time::Duration;

const ASKED: Duration = Duration::from_millis(1);

pub(crate) fn first_use() -> Result<Vec<Line>> {
    run("cargo", &["build", "--quiet", "--release", "-p", "rockhound-arch", "--example", "parse"])?;
    let program = super::release_folder().join("examples/parse");
    let mut inside = Vec::new();
    median(15, || {
        let output = Command::new(&program).output().with_context(|| program.display().to_string())?;
        inside.push(String::from_utf8(output.stdout)?.trim().parse::<u64>()?);
        Ok(())
    })?;
    inside.sort_unstable();
    let time = Duration::from_nanos(inside[inside.len() / 2]);
    Ok(vec![Line {
        what: "facts of one target, first use".to_owned(),
        value: millis(time),
        asked: Some((format!("under {}", millis(ASKED)), time < ASKED)),
    }])
}
