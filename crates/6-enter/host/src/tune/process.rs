//! Interim.

use super::evaluation::Failure;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Limits.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Wall.
    pub seconds: f64,
    /// Memory.
    pub memory_mib: u64,
}

/// End.
#[derive(Clone, Debug)]
pub struct End {
    /// Output.
    pub output: String,
    /// Code.
    pub code: Option<i32>,
    errors: String,
}

impl End {
    /// Well.
    pub fn is_well(&self) -> bool {
        self.code == Some(0)
    }
    /// Failure.
    pub fn failure(&self) -> Option<Failure> {
        (!self.is_well()).then_some(Failure::Run)
    }
    /// Why.
    pub fn why(&self) -> String {
        self.errors.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or("it failed").to_owned()
    }
}

/// Shell.
pub fn shell(command: &str, folder: &Path, bounds: &Bounds) -> End {
    program(&["sh".as_ref(), "-c".as_ref(), command.as_ref()], folder, bounds)
}

/// Program.
pub fn program(words: &[&OsStr], folder: &Path, _bounds: &Bounds) -> End {
    let output = Command::new(words[0]).args(&words[1..]).current_dir(folder).stdin(Stdio::null()).output();
    match output {
        Ok(it) => End {
            output: String::from_utf8_lossy(&it.stdout).into_owned(),
            errors: String::from_utf8_lossy(&it.stderr).into_owned(),
            code: it.status.code(),
        },
        Err(error) => End { output: String::new(), errors: error.to_string(), code: None },
    }
}

/// Number.
pub fn number(output: &str, pattern: Option<&str>) -> Result<f64, String> {
    let pattern = pattern.unwrap_or(r"([0-9][0-9.]*(?:[eE][-+]?[0-9]+)?)");
    let regex = regex::Regex::new(pattern).map_err(|it| it.to_string())?;
    let all: Vec<&str> = regex.captures_iter(output).filter_map(|it| Some(it.get(1)?.as_str())).collect();
    match all[..] {
        [one] => one.parse().map_err(|_| format!("`{one}` is no number")),
        [] => Err("it printed no time".to_owned()),
        _ => Err(format!("it printed {} times", all.len())),
    }
}
