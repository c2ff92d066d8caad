//! How rocprofv3 is called: arguments, and the file of counters that it does not know by itself.
//!
//! Source: its documentation of command-line options, of counter collection and of extra counters.

use super::Request;
use counters::{Pass, Plan};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// File with counters of ours.
pub const EXTRA_COUNTERS: &str = ".rockhound-counters.yaml";

/// What the sum of a level over cycles is called by.
pub(super) const ACCUMULATED: &str = "_ACCUM";

/// The register that the sequencer sums a level in.
const ACCUMULATOR: &str = "SQ_ACCUM_PREV_HIRES";

/// A process to start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandLine {
    /// File.
    pub program: PathBuf,
    /// Arguments.
    pub arguments: Vec<OsString>,
}

/// The names that a pass is asked for by: the sum of a level is a counter of its own, which reads level and accumulator.
pub(super) fn names(pass: &Pass) -> Vec<String> {
    let level = pass.level.as_deref();
    let mut names: Vec<String> = level.map(|level| format!("{level}{ACCUMULATED}")).into_iter().collect();
    let others = pass.counters.iter().filter(|name| Some(name.as_str()) != level && *name != ACCUMULATOR);
    names.extend(others.cloned());
    names
}

/// The command of a pass.
pub(super) fn command(request: &Request, pass: &Pass, folder: &Path) -> CommandLine {
    let mut arguments: Vec<OsString> = Vec::new();
    if pass.level.is_some() {
        arguments.extend(["--extra-counters".into(), request.output.join(EXTRA_COUNTERS).into()]);
    }
    if !request.kernels.is_empty() {
        let any: Vec<String> = request.kernels.iter().map(|it| format!("({it})")).collect();
        arguments.extend(["--kernel-include-regex".into(), any.join("|").into()]);
    }
    arguments.extend(["--output-directory".into(), folder.into(), "--output-file".into(), "pass".into()]);
    arguments.extend(["--output-format".into(), "csv".into(), "--pmc".into()]);
    arguments.extend(names(pass).into_iter().map(OsString::from));
    arguments.push("--".into());
    arguments.extend(request.program.iter().cloned());
    CommandLine { program: request.profiler.clone(), arguments }
}

/// Definitions of the sums of levels, in the profiler's own format.
pub(super) fn extra_counters(plan: &Plan, target: &str) -> String {
    let levels: BTreeSet<&str> = plan.passes.iter().filter_map(|pass| pass.level.as_deref()).collect();
    let mut text = String::from("rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n");
    for level in levels {
        text += &format!(
            "  - name: {level}{ACCUMULATED}\n    description: Sum of {level} over the cycles of a dispatch\n    properties: []\n    \
             definitions:\n    - architectures:\n      - {target}\n      expression: accumulate({level}, HIGH_RES)\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn request(kernels: &[&str]) -> Request {
        Request {
            profiler: "/opt/rocm/bin/rocprofv3".into(),
            program: vec!["./app".into(), "-n".into(), "5".into()],
            target: "gfx942".into(),
            plan: Plan {
                passes: vec![
                    Pass { level: None, counters: vec!["SQ_WAVES".into(), "TCC_HIT".into()] },
                    Pass {
                        level: Some("SQ_IFETCH_LEVEL".into()),
                        counters: ["SQ_IFETCH_LEVEL", ACCUMULATOR, "SQ_IFETCH"].map(str::to_owned).to_vec(),
                    },
                ],
            },
            kernels: kernels.iter().map(|it| it.to_string()).collect(),
            output: "/out".into(),
            resume: false,
            facts: BTreeMap::new(),
        }
    }

    #[test]
    fn command_lines_are_those_of_the_documentation() {
        let before = "--output-directory /out/.running --output-file pass --output-format csv --pmc";
        for (kernels, pass, expected) in [
            (&[][..], 0, format!("{before} SQ_WAVES TCC_HIT -- ./app -n 5")),
            (&["^a"], 0, format!("--kernel-include-regex (^a) {before} SQ_WAVES TCC_HIT -- ./app -n 5")),
            (
                &["a", "b c"],
                1,
                format!(
                    "--extra-counters /out/.rockhound-counters.yaml --kernel-include-regex (a)|(b c) {before} SQ_IFETCH_LEVEL_ACCUM SQ_IFETCH -- ./app -n 5"
                ),
            ),
        ] {
            let request = request(kernels);
            let command = command(&request, &request.plan.passes[pass], Path::new("/out/.running"));
            let words: Vec<_> = command.arguments.iter().map(|it| it.to_string_lossy()).collect();
            assert_eq!(words.join(" "), expected);
        }
    }

    #[test]
    fn levels_are_defined_as_sums() {
        let text = extra_counters(&request(&[]).plan, "gfx942");
        assert_eq!(text.matches("- name:").count(), 1);
        assert!(text.contains("  - name: SQ_IFETCH_LEVEL_ACCUM\n"), "{text}");
        assert!(
            text.contains("      - gfx942\n      expression: accumulate(SQ_IFETCH_LEVEL, HIGH_RES)\n"),
            "{text}"
        );
    }
}
