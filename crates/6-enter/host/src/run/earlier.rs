//! Checks the output folder of a recording.
//!
//! A recording can cost hours on a machine that is no longer available. An emulated one is replaced on
//! request; a profiler's, never.

use super::report::Reporter;
use crate::usage;
use anyhow::{Context as _, Result};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// Makes the folder of a recording; refuses one that holds a recording which is not to be replaced.
pub(super) fn make_folder(folder: &Path, overwrite: bool, reporter: &dyn Reporter) -> Result<()> {
    match found(folder) {
        None => {}
        Some(Maker::Profiler) => {
            return Err(usage(
                format!(
                    "{} holds a recording that a profiler made, which an emulated one does not replace",
                    folder.display()
                ),
                "`-o DIR` names another folder",
            ));
        }
        Some(Maker::Emulator) if !overwrite => {
            return Err(usage(
                format!("{} holds a recording", folder.display()),
                "`--overwrite` replaces it, `-o DIR` names another folder",
            ));
        }
        Some(Maker::Emulator) => reporter.say(&format!("{} is overwritten", folder.display())),
    }
    writable(folder)
}

/// Maker of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Maker {
    Emulator,
    Profiler,
}

/// Maker of the recording in a folder; `None` if it contains no recording.
fn found(folder: &Path) -> Option<Maker> {
    let entries = std::fs::read_dir(folder).ok()?;
    let names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    if !names.iter().any(|name| is_of_recording(name)) {
        return None;
    }
    // The emulator writes this file with the first dispatch, and no profiler has the column.
    let sysinfo = std::fs::read_to_string(folder.join("sysinfo.csv")).unwrap_or_default();
    let emulated =
        sysinfo.lines().next().is_some_and(|header| header.split(',').any(|it| it == "emulated_by"));
    Some(if emulated { Maker::Emulator } else { Maker::Profiler })
}

fn is_of_recording(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let table = name.ends_with(".csv")
        && (["pmc_perf", "results", "counters_"].iter().any(|start| name.starts_with(start))
            || ["counter_collection.csv", "kernel_trace.csv"].iter().any(|end| name.ends_with(end))
            || matches!(name, "sysinfo.csv" | "timestamps.csv"));
    table || name == ".rockhound-plan" || [".db", ".rocpd"].iter().any(|end| name.ends_with(end))
}

/// Makes the folder, so that obstacles show before the program runs.
fn writable(folder: &Path) -> Result<()> {
    let probe = folder.join(".rockhound");
    let made = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&probe, ""))
        .and_then(|()| std::fs::remove_file(&probe));
    made.map_err(|error| {
        usage(
            format!("cannot write into {}: {error}", folder.display()),
            "`-o DIR` names the folder of the recording",
        )
    })
}

/// A folder that one run records into, until this goes.
#[derive(Debug)]
pub(super) struct Held {
    path: PathBuf,
    _file: File,
}

/// Holds a folder for a recording; refuses one that another run holds.
pub(super) fn hold(folder: &Path) -> Result<Held> {
    writable(folder)?;
    let path = folder.join(".rockhound-recording");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(usage(
            format!("another run records into {}", folder.display()),
            "`-o DIR` names another folder",
        )),
        // File systems without locks hold nobody up.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Held { path, _file: file }),
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes files of an earlier recording that the new one may lack.
pub(super) fn remove_earlier(folder: &Path) -> Result<()> {
    let beside = [
        "pmc_perf.csv",
        workload::PREDICTIONS_FILE,
        workload::SHARES_FILE,
        workload::MARKS_FILE,
        workload::OCCUPANCY_FILE,
        workload::LAUNCHES_FILE,
        workload::REPEATS_FILE,
    ];
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if beside.contains(&&*name) || workload::is_events_file(&name) || workload::is_level_file(&name) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::Silent;
    use super::*;

    #[test]
    fn a_folder_is_recorded_into_once_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let held = hold(folder.path()).unwrap();
        assert!(hold(folder.path()).is_err());
        drop(held);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        hold(folder.path()).unwrap();
    }

    #[test]
    fn recordings_of_profilers_are_never_replaced() {
        let root = std::env::temp_dir().join(format!("rockhound-earlier-{}", std::process::id()));
        let emulated = "workload_name,emulated_by\nx,rockhound\n";
        type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], bool, Option<&'a str>);
        let cases: &[Case<'_>] = &[
            ("nothing", &[], false, None),
            ("notes", &[("notes.txt", "")], false, None),
            (
                "hardware",
                &[("pmc_perf.csv", "x"), ("sysinfo.csv", "workload_name\nx\n")],
                true,
                Some("that a profiler made"),
            ),
            ("unnamed", &[("results_pmc_perf_0.csv.gz", "x")], true, Some("that a profiler made")),
            ("database", &[("1_results.db", "x")], false, Some("that a profiler made")),
            (
                "emulated",
                &[("pmc_perf.csv", "x"), ("sysinfo.csv", emulated)],
                false,
                Some("holds a recording"),
            ),
            ("again", &[("pmc_perf.csv", "x"), ("sysinfo.csv", emulated)], true, None),
        ];
        for (name, files, overwrite, error) in cases {
            let folder = root.join(name);
            std::fs::create_dir_all(&folder).unwrap();
            for (file, text) in *files {
                std::fs::write(folder.join(file), text).unwrap();
            }
            let made = make_folder(&folder, *overwrite, &Silent)
                .and_then(|()| remove_earlier(&folder))
                .map_err(|error| error.to_string());
            match error {
                None => assert_eq!(made, Ok(()), "{name}"),
                Some(words) => assert!(made.clone().is_err_and(|it| it.contains(words)), "{name}: {made:?}"),
            }
            let left = files.iter().filter(|(file, _)| folder.join(file).exists()).count();
            let gone = usize::from(*overwrite && error.is_none());
            assert_eq!(left, files.len() - gone, "{name}");
        }
        std::fs::remove_dir_all(&root).unwrap();
    }
}
