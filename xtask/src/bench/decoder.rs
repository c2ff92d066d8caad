//! Decoding the kernels of a real library, one core.
//!
//! The code is taken out of the library first, so that only decoding is measured.

use super::Line;
use super::libraries::{find, skipped};
use crate::run::run;
use anyhow::{Context, Result};
use codeobj::{Body, Target, Wanted};
use std::process::Command;

const PROCESSOR: &str = "gfx942";
/// Millions of instructions per second.
const ASKED: f64 = 10.0;
/// Enough code for a steady number.
const BYTES: usize = 16 << 20;

pub(crate) fn speed() -> Result<Vec<Line>> {
    let Some(library) = find("libonnxruntime_providers_rocm.so")? else { return Ok(skipped()) };
    run("cargo", &["build", "--quiet", "--release", "-p", "rockhound-isa", "--example", "decode_speed"])?;
    let data = std::fs::read(&library)?;
    let target = Target::parse(PROCESSOR).context("a target")?;
    let mut code = Vec::new();
    for found in codeobj::scan(&data, &Wanted::targets(vec![target]))? {
        let found = found?;
        for kernel in found.read()?.kernels {
            if let Body::Code { bytes, .. } = kernel.body {
                code.extend_from_slice(found.data.get(bytes).unwrap_or(&[]));
            }
        }
        if code.len() > BYTES {
            break;
        }
    }
    let path = std::env::temp_dir().join(format!("rockhound-decode-{}.bin", std::process::id()));
    std::fs::write(&path, &code)?;
    let program = super::release_folder().join("examples/decode_speed");
    let output = Command::new(&program).arg(PROCESSOR).arg(&path).output();
    std::fs::remove_file(&path)?;
    let text = String::from_utf8(output.with_context(|| program.display().to_string())?.stdout)?;
    let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let &[count, decoding, printing] = numbers.as_slice() else { anyhow::bail!("no numbers in `{text}`") };
    let rate = |nanoseconds: f64| count * 1e3 / nanoseconds;
    Ok(vec![
        Line {
            what: format!("decode {count} instructions of {PROCESSOR}"),
            value: format!("{:.1} million per second", rate(decoding)),
            asked: Some((format!("at least {ASKED}"), rate(decoding) >= ASKED)),
        },
        Line::plain("decode and print".to_owned(), format!("{:.1} million per second", rate(printing))),
    ])
}
