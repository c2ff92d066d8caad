//! `rockhound judge` of two variants of a kernel of a million elements, as a new process.

use super::{Line, median};
use crate::run::root;
use anyhow::{Context, Result, ensure};
use std::process::{Command, Stdio};
use std::time::Duration;

const ASKED: Duration = Duration::from_secs(1);

/// A copy of random doubles, three seeds of which are tried.
const LAUNCH: &str = r#"
code = "kernel.hsaco"
kernel = "vecCopy"
gpu = "mi300x"
grid = [{N}]
workgroup = [256]

[[argument]]
name = "a"
type = "f64"
shape = [{N}]
initial = "random"

[[argument]]
name = "c"
type = "f64"
shape = [{N}]

[[argument]]
name = "n"
type = "i32"
value = {N}
"#;

pub(crate) fn run() -> Result<Vec<Line>> {
    let program = super::build_rockhound()?;
    let folder = crate::run::target().join("bench-judge");
    std::fs::create_dir_all(&folder).context("cannot make a folder for the variants")?;
    let code = root().join("examples/vector_copy/vector_copy.gfx942.hsaco");
    for name in ["base.hsaco", "candidate.hsaco"] {
        std::fs::copy(&code, folder.join(name))?;
    }
    std::fs::write(folder.join("LAUNCH.toml"), LAUNCH)?;
    let time = median(9, || {
        let words =
            ["judge", "--launch", "LAUNCH.toml", "base.hsaco", "candidate.hsaco", "--shape", "N=1048576"];
        let status =
            Command::new(&program).args(words).current_dir(&folder).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "`rockhound {}` failed", words.join(" "));
        Ok(())
    })?;
    Ok(vec![Line {
        what: "two variants of 1,048,576 elements, 3 seeds".to_owned(),
        value: super::millis(time),
        asked: Some((format!("under {}", super::millis(ASKED)), time < ASKED)),
    }])
}
