//! The origin of a launch that a program made, as `capture` writes it.

use crate::capture::VERSION;
use anyhow::{Result, bail};
use serde::Deserialize;

/// The fields of the origin that are checked; command line, environment and the rest are for people. Nothing changes a replay.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(super) struct Captured {
    /// Arguments that follow.
    arguments: usize,
    /// Parts of memory that follow.
    memory: usize,
}

impl Captured {
    /// Whether all of it is there.
    pub(super) fn check(&self, arguments: usize, memory: usize) -> Result<()> {
        if (arguments, memory) != (self.arguments, self.memory) {
            bail!(
                "the capture is cut: it has {arguments} arguments and {memory} parts of memory of {} and {}",
                self.arguments,
                self.memory
            );
        }
        Ok(())
    }
}

/// Refuses captures of a version that is not known, before fields that are not known are.
pub(super) fn check_version(text: &str) -> Result<()> {
    // A text that is no table is reported by whoever reads it.
    let Ok(table) = text.parse::<toml::Table>() else { return Ok(()) };
    let Some(captured) = table.get("captured") else { return Ok(()) };
    let version = captured.get("version").and_then(toml::Value::as_integer);
    if version != Some(i64::from(VERSION)) {
        let by = captured.get("by").and_then(toml::Value::as_str).unwrap_or("an unknown program");
        let version = version.map_or_else(|| "no version".to_owned(), |it| format!("version {it}"));
        bail!("a capture of {by} with {version} of the form; this command reads version {VERSION}");
    }
    Ok(())
}
