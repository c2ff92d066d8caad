//! Launch annotations by a Python program, a side file of the counters: configuration, shapes, strides, runs
//! of an autotuner.
//!
//! A line is a JSON object, since the number of arguments depends on the kernel; an unreadable line is
//! reported and skipped. docs/recording.md describes every field.

use crate::folder::Files;
use crate::model::Dispatches;
use crate::problem::Problems;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Name of the file.
pub const LAUNCHES_FILE: &str = "pmc_launches.jsonl";

/// File that says which dispatches were not run, because they would have done what an earlier one did.
pub const REPEATS_FILE: &str = "pmc_repeats.jsonl";

/// Line of [`REPEATS_FILE`]: a dispatch, and the one whose numbers it has.
pub fn repeat_line(earlier: u64, dispatch: u64) -> String {
    format!("{{\"dispatch\": {dispatch}, \"taken_from\": {earlier}}}\n")
}

/// Maximum bytes of a line.
const MOST_BYTES: usize = 1 << 20;

/// Annotation of one launch, or of a configuration that cannot be launched.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchNote {
    /// Row of the dispatch; `None` without a launch.
    pub row: Option<u32>,
    /// The kernel as the program calls it.
    pub kernel: String,
    /// Source file of the kernel; empty if unknown, with line 0.
    pub file: String,
    /// Line of the source.
    pub line: u32,
    /// Folder with the compiler's output, IR and code; empty if unknown.
    pub compiled: String,
    /// Compile-time values, in the program's order: `BLOCK_SIZE`, `num_warps`.
    pub configuration: Vec<(String, String)>,
    /// Programs of the grid in each dimension.
    pub programs: [u64; 3],
    /// The other arguments.
    pub arguments: Vec<LaunchArgument>,
    /// Autotuner key at this launch: `M=512, N=512`.
    pub tuning: Option<String>,
    /// Reason why it could not be launched.
    pub failed: Option<String>,
}

/// An argument of a launch.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct LaunchArgument {
    /// Name of the parameter.
    pub name: String,
    /// Triton's type: `*fp16`, `i32`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Elements of a tensor in each dimension.
    pub shape: Vec<u64>,
    /// Elements from one index to the next in each dimension.
    pub strides: Vec<i64>,
    /// Value of an argument other than a tensor.
    pub value: Option<Value>,
}

impl LaunchArgument {
    /// The value as a whole number.
    pub fn whole(&self) -> Option<i64> {
        self.value.as_ref()?.as_i64()
    }
}

impl LaunchNote {
    /// The configuration in one line: `BLOCK_SIZE=1024 num_warps=4`.
    pub fn configured(&self) -> String {
        let values: Vec<String> =
            self.configuration.iter().map(|(name, value)| format!("{name}={value}")).collect();
        values.join(" ")
    }

    /// A compile-time value as a whole number.
    pub fn constant(&self, name: &str) -> Option<u64> {
        self.configuration.iter().find(|(key, _)| key == name)?.1.parse().ok()
    }
}

#[derive(Deserialize)]
struct Line {
    dispatch: Option<u64>,
    #[serde(default)]
    kernel: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    line: u32,
    #[serde(default)]
    compiled: String,
    #[serde(default)]
    configuration: Vec<(String, Value)>,
    #[serde(default)]
    programs: Vec<u64>,
    #[serde(default)]
    arguments: Vec<LaunchArgument>,
    tuning: Option<String>,
    failed: Option<String>,
}

/// The line of a dispatch: the program's annotation, a JSON object, with the number of the dispatch.
pub fn launch_note(dispatch: Option<u64>, note: &str) -> String {
    let rest = note.trim().trim_start_matches('{').replace('\n', " ");
    match dispatch {
        Some(dispatch) if rest.trim() == "}" => format!("{{\"dispatch\": {dispatch}}}\n"),
        Some(dispatch) => format!("{{\"dispatch\": {dispatch}, {rest}\n"),
        None => format!("{{{rest}\n"),
    }
}

/// Path of the files that the compiler kept of a kernel, without their extensions, by the program's annotation.
pub fn compiled_stem(note: &str) -> Option<String> {
    let line: Line = serde_json::from_str(note).ok()?;
    let is_plain = !line.compiled.is_empty() && !line.kernel.is_empty() && !line.kernel.contains('/');
    is_plain.then(|| format!("{}/{}", line.compiled, line.kernel))
}

/// Reads the file, if there is one.
pub(crate) fn read(files: &Files<'_>, dispatches: &Dispatches, problems: &mut Problems) -> Vec<LaunchNote> {
    if !files.names().any(|name| name == LAUNCHES_FILE) {
        return Vec::new();
    }
    let Ok(bytes) = files.bytes(LAUNCHES_FILE) else { return Vec::new() };
    let rows: BTreeMap<u64, u32> = dispatches.id.iter().zip(0..).map(|(id, row)| (*id, row)).collect();
    let mut notes = Vec::new();
    let mut unusable = 0;
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        match (line.len() <= MOST_BYTES).then(|| serde_json::from_slice::<Line>(line)) {
            Some(Ok(line)) => notes.extend(note(line, &rows)),
            _ => unusable += 1,
        }
    }
    if unusable > 0 {
        problems.warn(
            LAUNCHES_FILE,
            unusable,
            format!("{unusable} lines are no launch"),
            "they are left out",
        );
    }
    notes
}

/// Parses the note of a line; `None` if its dispatch is not in the recording.
fn note(line: Line, rows: &BTreeMap<u64, u32>) -> Option<LaunchNote> {
    let row = match line.dispatch {
        Some(dispatch) => Some(*rows.get(&dispatch)?),
        None => None,
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let program = |axis: usize| line.programs.get(axis).copied().unwrap_or(1);
    Some(LaunchNote {
        row,
        programs: [program(0), program(1), program(2)],
        configuration: line.configuration.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        kernel: line.kernel,
        file: line.file,
        line: line.line,
        compiled: line.compiled,
        arguments: line.arguments,
        tuning: line.tuning,
        failed: line.failed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Workload};

    fn workload(launches: &str) -> Workload {
        let counters =
            "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n3,a,0,100,4\n7,copy,100,300,4\n";
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), counters.as_bytes().to_vec()),
            (LAUNCHES_FILE.to_string(), launches.as_bytes().to_vec()),
        ]);
        crate::read(&files, &Options::default()).unwrap()
    }

    const NOTE: &str = r#"{"kernel": "copy", "file": "a.py", "line": 3, "configuration": [["BLOCK", 64], ["ACT", "relu"], ["num_warps", 4]],
        "programs": [5], "arguments": [{"name": "x", "type": "*fp16", "shape": [2, 3], "strides": [3, 1]}, {"name": "n", "type": "i32", "value": 6}]}"#;

    #[test]
    fn files_of_the_compiler_are_found_by_the_note() {
        for (note, expected) in [
            (r#"{"kernel": "add", "compiled": "/cache/AB"}"#, Some("/cache/AB/add")),
            (r#"{"kernel": "add", "compiled": ""}"#, None),
            (r#"{"kernel": "../add", "compiled": "/cache/AB"}"#, None),
            (r#"{"kernel": "add"}"#, None),
            ("no note", None),
        ] {
            assert_eq!(compiled_stem(note).as_deref(), expected, "{note}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let text =
            launch_note(Some(7), NOTE) + &launch_note(None, r#"{"tuning": "n=6", "failed": "too large"}"#);
        let found = workload(&text);
        assert!(!found.problems.iter().any(|it| it.file == LAUNCHES_FILE), "{:?}", found.problems);
        let [note, failed] = &found.launches[..] else { panic!("{:?}", found.launches) };
        assert_eq!(
            (note.row, note.kernel.as_str(), note.line, note.programs),
            (Some(1), "copy", 3, [5, 1, 1])
        );
        assert_eq!(note.configured(), "BLOCK=64 ACT=relu num_warps=4");
        assert_eq!(
            (note.constant("BLOCK"), note.constant("ACT"), note.constant("K")),
            (Some(64), None, None)
        );
        assert_eq!((note.arguments[0].shape.as_slice(), note.arguments[1].whole()), (&[2, 3][..], Some(6)));
        assert_eq!(
            (failed.row, failed.tuning.as_deref(), failed.failed.as_deref()),
            (None, Some("n=6"), Some("too large"))
        );
    }

    #[test]
    fn what_cannot_be_used_is_left_out_and_said() {
        for (text, notes, problem) in [
            ("{\n", 0, true),
            ("{\"dispatch\": 7}\n\n[]\n", 1, true),
            ("{\"dispatch\": 9}\n", 0, false),
            ("{\"dispatch\": -1}\n", 0, true),
            ("\u{0}\n{\"dispatch\": 3, \"programs\": [1, 2, 3, 4], \"unknown\": {}}", 1, true),
        ] {
            let found = workload(text);
            assert_eq!(found.launches.len(), notes, "{text}");
            assert_eq!(
                found.problems.iter().any(|it| it.file == LAUNCHES_FILE),
                problem,
                "{text}: {:?}",
                found.problems
            );
        }
        let whole = launch_note(Some(7), NOTE);
        for end in 0..whole.len() {
            workload(&whole[..end]);
        }
    }

    #[test]
    fn any_change_of_a_line_is_read_or_left_out() {
        let whole =
            launch_note(Some(7), NOTE) + &launch_note(None, r#"{"tuning": "n=6", "failed": "too large"}"#);
        let pieces = [
            "{",
            "}",
            "[",
            "]",
            "\"",
            ",",
            ":",
            "-1",
            "1e400",
            "99999999999999999999",
            "null",
            "\n",
            "\\u0000",
        ];
        let mut random = testkit::Random(25);
        let mut read = 0;
        for _ in 0..2000 {
            let mut bytes = whole.clone().into_bytes();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                let piece = pieces[random.below(pieces.len())].as_bytes();
                let end = (at + random.below(12)).min(bytes.len());
                drop(bytes.splice(at..end, piece.iter().copied()));
            }
            let found = workload(&String::from_utf8_lossy(&bytes));
            let rows = found.dispatches.len() as u32;
            assert!(found.launches.iter().all(|it| it.row.is_none_or(|row| row < rows)));
            read += found.launches.len();
        }
        assert!((500..4000).contains(&read), "{read} lines of 4000 are still read");
    }
}
