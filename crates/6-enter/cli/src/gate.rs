//! Gates: which findings make the exit code 2, what is known from earlier runs, what a project allows.

use crate::args::Memory;
use crate::exit::usage;
use crate::explain;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use study::{Exceptions, FailOn, Gate, Judges};
use view::GateSummary;

/// Name of the file of exceptions.
const CONFIG: &str = "rockhound.toml";
/// Findings that are gone, named at most.
const NAMED: usize = 10;

/// The gate of a command, and the file for its findings.
#[derive(Default)]
pub(crate) struct Gated {
    pub(crate) gate: Gate,
    write: Option<PathBuf>,
    command: &'static str,
}

/// The gate of a command's options.
pub(crate) fn open(
    command: &'static str,
    judges: Judges,
    fail_on: &[String],
    memory: &Memory,
) -> Result<Gated> {
    let parse = |flag: &String| FailOn::parse(flag).ok_or_else(|| explain::unknown_rule(flag));
    let conditions = fail_on.iter().map(parse).collect::<Result<Vec<FailOn>>>()?;
    let mut gate = Gate::new(conditions, judges);
    if let Some(path) = &memory.baseline {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
        gate = gate.with_baseline(&name, &text).map_err(|error| {
            usage(
                format!("`{name}` is no baseline: {error}"),
                "write one with `--write-baseline FILE` of the same command",
            )
        })?;
    }
    if let Some(path) = memory.config.clone().or_else(nearest) {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{name}`"))?;
        let exceptions = Exceptions::parse(&text, &today()).map_err(|error| {
            usage(
                format!("`{name}`: {error}"),
                "an exception is `[[allow]]` with `rule`, `kernel` or `where`, `reason`, and `until = 2027-01-31` if it is to end",
            )
        })?;
        gate = gate.with_exceptions(&name, exceptions);
    }
    if memory.write_baseline.is_some() {
        gate = gate.writing();
    }
    Ok(Gated { gate, write: memory.write_baseline.clone(), command })
}

impl Gated {
    /// A gate of a command without the options.
    pub(crate) fn none() -> Gated {
        Gated::default()
    }

    /// Writes the baseline, prints what the gate found, and returns whether a condition is met. With `failed`
    /// inputs no baseline is written: it would lack their findings.
    pub(crate) fn close(&self, failed: bool) -> Result<bool> {
        if let Some(summary) = self.gate.summary() {
            tell(&summary, failed);
        }
        let verdicts = self.gate.verdicts();
        verdicts.iter().for_each(|it| eprintln!("{it}"));
        if let Some(path) = &self.write {
            let name = path.display();
            if failed {
                eprintln!("note: `{name}` is not written: an input could not be read");
            } else {
                let text = render::json::baseline(&self.gate.baseline(self.command));
                std::fs::write(path, text).with_context(|| format!("cannot write `{name}`"))?;
                eprintln!("wrote {name}");
            }
        }
        Ok(!verdicts.is_empty())
    }
}

/// Prints the comparison.
fn tell(summary: &GateSummary, failed: bool) {
    if let Some(baseline) = &summary.baseline {
        eprintln!(
            "baseline {baseline}: {} known, {} new, {} worse, {} gone",
            summary.known,
            summary.new,
            summary.worse,
            summary.gone.len()
        );
        for gone in summary.gone.iter().take(NAMED) {
            eprintln!("gone: {gone}");
        }
    }
    let Some(config) = &summary.config else { return };
    if summary.allowed > 0 {
        eprintln!("{config}: {} allowed", view::counted(summary.allowed, "finding"));
    }
    for it in &summary.expired {
        let until = it.until.as_deref().unwrap_or_default();
        eprintln!("warning: {config}: the exception for {} ended on {until}: {}", it.exception, it.reason);
    }
    // An input that was not read may have what the exception is for.
    for it in summary.unused.iter().filter(|_| !failed) {
        eprintln!("warning: {config}: the exception for {} matches nothing: {}", it.exception, it.reason);
    }
}

/// The file of exceptions of this folder, or the nearest above.
fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let path = here.ancestors().map(|folder| folder.join(CONFIG)).find(|path| path.is_file())?;
    let name = path.strip_prefix(&here).map(Path::to_owned);
    Some(name.unwrap_or(path))
}

/// Today's date in UTC: `2026-11-28`.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
    view::date((seconds / 86_400) as i64)
}
