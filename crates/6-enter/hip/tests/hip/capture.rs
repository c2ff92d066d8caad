//! `rockhound capture`: launches of the examples, captured and replayed.

use crate::compiled::{built, root, toolchain};
use crate::profile::rockhound;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Examples with small arguments.
const EXAMPLES: [(&str, &[&str]); 10] = [
    ("daxpy", &["16384"]),
    ("gemm_f16", &["64"]),
    ("histogram", &["65536"]),
    ("mixbench", &["2"]),
    ("reduction", &["65536"]),
    ("softmax", &["64"]),
    ("spill", &["1024"]),
    ("stencil", &["128", "4"]),
    ("transpose", &["128"]),
    ("yax", &["rows", "256", "8"]),
];

/// Runs, and returns what it said.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

/// Captures the first launch of a program and returns the launch file. In place of a GPU's runtime there is ours.
fn capture(place: &str, folder: &Path, program: &Path, arguments: &[&str]) -> String {
    let mut command = rockhound();
    if place == "gpu" {
        command.args(["run", "--"]).arg(built("rockhound", "rockhound"));
    }
    command.args(["capture", "--on", place, "-o"]).arg(folder).arg("--");
    run(command.arg(program).args(arguments));
    std::fs::read_to_string(folder.join("LAUNCH.toml")).unwrap()
}

/// Exact counters of the first dispatch of a recording.
fn counters(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join("pmc_perf.csv")).unwrap();
    let marks = std::fs::read_to_string(folder.join("pmc_marks.csv")).unwrap();
    let exact = |name: &str| marks.lines().any(|it| it.starts_with(&format!("{name},exact")));
    let mut lines = text.lines().map(|it| it.split(',').map(str::to_owned).collect::<Vec<_>>());
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    // Names of kernels have commas in quotes: columns are counted from the end.
    let pairs = names.iter().rev().zip(values.iter().rev()).filter(|(name, _)| exact(name));
    pairs.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// By this runtime itself, and by the library that stands before a runtime, for which this one plays the vendor's.
#[test]
fn launches_of_ten_examples_give_the_same_counters_again() {
    let Some(toolchain) = toolchain() else { return };
    let folder = toolchain.empty("captured");
    for (example, arguments) in EXAMPLES {
        let source = root().join("examples").join(example).join(format!("{example}.hip"));
        let name = format!("{example}-gfx942");
        let Some(program) = toolchain.build(&source, &name, &["gfx942"], &[]) else { continue };
        let path = |it: &str| folder.join(format!("{example}-{it}"));
        let options = ["profile", "--counters-only", "-o"];
        let recorded = path("recorded");
        run(rockhound().args(options).arg(&recorded).args(["-d", "0", "--"]).arg(&program).args(arguments));
        let expected = counters(&recorded);
        assert!(expected.len() > 20, "{example}: {expected:?}");
        for place in ["emulator", "gpu"] {
            let [captured, replayed] = ["captured", "replayed"].map(|it| path(&format!("{place}-{it}")));
            let text = capture(place, &captured, &program, arguments);
            // The first launch of `mixbench` only reads.
            assert!(
                text.contains("expected_file") || example == "mixbench",
                "{example} leaves results: {text}"
            );
            assert!(text.contains("not_captured = []"), "{example}: {text}");
            // The exit code is 2 if a result differs from that of the program.
            run(rockhound().args(options).arg(&replayed).arg(&captured));
            assert_eq!(counters(&replayed), expected, "{example} on {place}");
        }
    }
}

#[test]
fn what_cannot_be_captured_is_said() {
    let Some(toolchain) = toolchain() else { return };
    let source = root().join("examples/daxpy/daxpy.hip");
    let Some(program) = toolchain.build(&source, "daxpy-gfx942", &["gfx942"], &[]) else { return };
    let folder = toolchain.empty("not-captured");
    let refused = |options: &[&str]| {
        let mut command = rockhound();
        let output =
            command.arg("capture").args(options).arg("--").arg(&program).arg("16384").output().unwrap();
        assert_ne!(output.status.code(), Some(0), "{options:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let place = folder.join("x").display().to_string();
    assert!(refused(&["-k", "nosuch", "-o", &place]).contains("launch 1 of nosuch was not seen"));
    assert!(refused(&["--nth", "1000", "-o", &place]).contains("launch 1000"));
    assert!(refused(&["--dispatch", "1000", "-o", &place]).contains("dispatch 1000"));
    assert!(refused(&["--on", "gpu", "--gpu", "mi300x", "-o", &place]).contains("a GPU to emulate"));
    // There is no runtime and no GPU, which the program says itself.
    assert!(refused(&["--on", "gpu", "-o", &place]).contains("no launch was seen"));
    std::fs::create_dir_all(folder.join("full")).unwrap();
    std::fs::write(folder.join("full/file"), "").unwrap();
    assert!(refused(&["-o", &folder.join("full").display().to_string()]).contains("not empty"));
}

#[test]
fn pointers_and_variables_are_followed() {
    let Some(toolchain) = toolchain() else { return };
    let source = root().join("crates/6-enter/hip/tests/programs/reached.cpp");
    let Some(program) = toolchain.build(&source, "reached-gfx942", &["gfx942"], &[]) else { return };
    let folder = toolchain.empty("reached");
    for place in ["emulator", "gpu"] {
        let captured = folder.join(place);
        let text = capture(place, &captured, &program, &[]);
        let count = |it: &str| text.matches(it).count();
        // The table, its three rows and the result; the variable that is not as in the code.
        let found =
            ["[[memory]]", "address = ", "symbol = ", "expected_file", "not_captured = []"].map(count);
        assert_eq!(found, [6, 6, 1, 1, 1], "{place}: {text}");
        let replay = |text: &str| {
            std::fs::write(captured.join("LAUNCH.toml"), text).unwrap();
            let options = ["profile", "--counters-only", "--overwrite", "-o"];
            let mut command = rockhound();
            command.args(options).arg(captured.with_extension("replayed")).arg(&captured);
            command.output().unwrap().status.code()
        };
        // What is captured is what the kernel reads.
        let other = text.replace("file = \"scale.bin.zst\"", "initial = \"zeros\"");
        assert_eq!([&text, &other].map(|it| replay(it)), [Some(0), Some(2)], "{place}");
    }
}
