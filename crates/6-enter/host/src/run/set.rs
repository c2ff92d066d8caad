//! Sets of metrics that one run of the application reads, recorded alone.
//!
//! The emulator counts everything at once, so a set only says which counters are kept.

use anyhow::{Context, Result};
use metrics::{Definitions, Set};
use std::collections::BTreeSet;
use std::path::Path;

/// Keeps what a set needs of a recording just made.
pub fn keep_set(name: Option<&str>, folder: &Path) -> Result<()> {
    // A profiler writes what it was asked for.
    let Some(name) = name.filter(|_| folder.join("pmc_perf.csv").is_file()) else { return Ok(()) };
    let workload = crate::recording::read(&folder.into())?;
    keep(folder, &Set::named(name)?, workload.machine.target().unwrap_or_default())
}

/// Keeps only the counters of a set.
fn keep(folder: &Path, set: &Set, target: &str) -> Result<()> {
    let compiled = Definitions::built_in().compile(target)?;
    let counters = set.counters(&compiled);
    let file = folder.join("pmc_perf.csv");
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    std::fs::write(&file, columns(&text, &counters)).with_context(|| file.display().to_string())?;
    for entry in std::fs::read_dir(folder)?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let level = name.strip_suffix(".csv").unwrap_or_default();
        if workload::is_level_file(&name) && !counters.contains(level) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The non-counter columns of a CSV file, and the columns of the counters wanted.
fn columns(text: &str, counters: &BTreeSet<String>) -> String {
    let mut kept: Vec<bool> = Vec::new();
    let mut out = String::with_capacity(text.len() / 2);
    for (number, line) in text.lines().enumerate() {
        let fields = split(line);
        if number == 0 {
            kept = fields.iter().map(|field| is_kept(field.trim_matches('"'), counters)).collect();
        }
        let chosen: Vec<&str> =
            fields.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(field, _)| *field).collect();
        out.push_str(&chosen.join(","));
        out.push('\n');
    }
    out
}

/// Counters have a block in capitals before the first `_`: `SQ_WAVES`, `TCC_HIT[3]`, `TCP_TOTAL_READ_sum`.
fn is_kept(header: &str, counters: &BTreeSet<String>) -> bool {
    let name = header.split('[').next().unwrap_or(header);
    let plain = name.strip_suffix("_sum").unwrap_or(name);
    let block = plain.split('_').next().unwrap_or_default();
    let is_counter = block.len() >= 2
        && block.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        && counters::catalogue().get(plain).is_some();
    !is_counter || counters.contains(plain)
}

/// Raw fields of a line, quotes kept; our files have no line ends in fields.
fn split(line: &str) -> Vec<&str> {
    let (mut fields, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                fields.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    fields.push(&line[start..]);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counters_of_the_set_stay() {
        let text = "Dispatch_ID,Kernel_Name,SQ_WAVES,TCC_HIT[0],TCC_HIT[1],SQ_BUSY_CYCLES,End_Timestamp\n\
            0,\"a(int, \"\"x\"\")\",4,1,2,9,7\n";
        let counters = BTreeSet::from(["TCC_HIT".to_owned()]);
        assert_eq!(
            columns(text, &counters),
            "Dispatch_ID,Kernel_Name,TCC_HIT[0],TCC_HIT[1],End_Timestamp\n0,\"a(int, \"\"x\"\")\",1,2,7\n"
        );
    }
}
