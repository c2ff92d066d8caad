//! `rockhound capture`: launches of the examples, captured and replayed.

use crate::compiled::{built, prepared, root, toolchain};
use crate::profile::rockhound;
use host::launch_file::LaunchFile;
use host::run::{self as runs, Conditions, Emulate, Output, Reporter};
use host::session::Progress;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use view::Finding;

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
    std::fs::create_dir_all(folder.join("full")).unwrap();
    std::fs::write(folder.join("full/file"), "").unwrap();
    let full = folder.join("full").display().to_string();
    for (options, place, words) in [
        (&["-k", "nosuch"][..], &place, "nosuch"),
        (&["--nth", "1000"], &place, "launch 1000"),
        (&["--dispatch", "1000"], &place, "dispatch 1000"),
        (&["--on", "gpu", "--gpu", "mi300x"], &place, "--gpu"),
        // There is no runtime and no GPU, which the program says itself.
        (&["--on", "gpu"], &place, "error: "),
        (&[], &full, &full),
    ] {
        let said = refused(&[options, &["-o", place]].concat());
        assert!(said.contains(words), "{options:?}: {said}");
    }
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

#[test]
fn cooperative_launches_meet_again() {
    let Some(programs) = prepared() else { return };
    let folder = crate::profile::empty("cooperative");
    for place in ["emulator", "gpu"] {
        // By the barrier of the grid, whose structure the runtime gives, and by a counter in memory.
        for part in ["grid", "counter"] {
            let path = |it: &str| folder.join(format!("{place}-{part}-{it}"));
            let text = capture(place, &path("captured"), &programs.join("together"), &[part]);
            assert!(text.contains("cooperative = true"), "{text}");
            assert!(text.contains("expected_file") && text.contains("not_captured = []"), "{text}");
            let options = ["profile", "--counters-only", "-o"];
            run(rockhound().args(options).arg(path("replayed")).arg(path("captured")));
            let program = programs.join("together");
            run(rockhound().args(options).arg(path("recorded")).arg("--").arg(&program).arg(part));
            assert_eq!(counters(&path("replayed")), counters(&path("recorded")), "{place} {part}");
        }
    }
}

/// Rewrites a capture in the form of kerncap, whose variables have their own file.
fn as_kerncap(captured: &Path, folder: &Path) {
    let table: toml::Table = std::fs::read_to_string(captured.join("LAUNCH.toml")).unwrap().parse().unwrap();
    for name in ["memory", "module_variables"] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
    }
    std::fs::copy(captured.join("kernel.hsaco"), folder.join("kernel.hsaco")).unwrap();
    let file = LaunchFile::read(captured).unwrap();
    let parts =
        ["argument", "memory"].iter().filter_map(|it| table.get(*it)).flat_map(|it| it.as_array().unwrap());
    let (mut regions, mut variables) = (Vec::new(), Vec::new());
    for (part, contents) in parts.zip(file.contents().unwrap()) {
        let bytes = &contents.bytes();
        let size = bytes.len();
        if let Some(symbol) = part.get("symbol").and_then(toml::Value::as_str) {
            let blob = format!("module_variables/0123_{symbol}.bin");
            std::fs::write(folder.join(&blob), bytes).unwrap();
            variables.push(json!({"executable_sha256": "0123", "name": symbol, "size": size, "blob": blob}));
            // Another kernel of the program has a variable of that name, in other code.
            let other = format!("module_variables/4567_{symbol}.bin");
            std::fs::write(folder.join(&other), vec![0; size]).unwrap();
            variables.push(json!({"executable_sha256": "4567", "name": symbol, "size": size, "blob": other}));
        } else if let Some(address) = part.get("address").and_then(toml::Value::as_integer) {
            std::fs::write(folder.join(format!("memory/region_{address:x}.bin")), bytes).unwrap();
            regions.push(json!({"base": address, "size": size}));
        } else {
            std::fs::write(folder.join("kernarg.bin"), bytes).unwrap();
        }
    }
    let write = |name: &str, value: Value| std::fs::write(folder.join(name), value.to_string()).unwrap();
    let dispatch = json!({"mangled_name": table["kernel"].as_str(), "grid": file.grid().unwrap(), "block": file.workgroup().unwrap(), "group_segment_size": 0});
    write("dispatch.json", dispatch);
    write("memory_regions.json", json!({ "regions": regions }));
    write("module_variables.json", json!({ "variables": variables }));
    write("metadata.json", json!({"hsaco_sha256": "0123"}));
}

#[test]
fn variables_of_kerncap_are_placed() {
    let Some(toolchain) = toolchain() else { return };
    let source = root().join("crates/6-enter/hip/tests/programs/reached.cpp");
    let Some(program) = toolchain.build(&source, "reached-gfx942", &["gfx942"], &[]) else { return };
    let folder = toolchain.empty("kerncap");
    let [own, theirs] = ["own", "theirs"].map(|it| folder.join(it));
    capture("emulator", &own, &program, &[]);
    as_kerncap(&own, &theirs);
    let left = |folder: &Path| {
        let file = LaunchFile::read(folder).unwrap();
        let results = runs::results(&file, &emulate(), Conditions::default(), &Silent).unwrap();
        assert!(results.stopped.is_none(), "{:?}", results.stopped);
        let mut after: Vec<Vec<u8>> = results.buffers.into_iter().map(|it| it.after).collect();
        after.sort();
        after
    };
    let expected = left(&own);
    assert_eq!(expected.len(), 6, "a table, three rows, a result, a variable");
    assert_eq!(left(&theirs), expected);
    // Without its variable the kernel computes something else.
    std::fs::remove_file(theirs.join("module_variables.json")).unwrap();
    assert!(left(&theirs).iter().any(|it| !expected.contains(it)));
}

fn emulate() -> Emulate {
    Emulate {
        gpu: None,
        devices: 1,
        threads: 1,
        max_instructions: runs::MOST_INSTRUCTIONS,
        check: Vec::new(),
        progress: Progress::Silent,
        repeats: false,
        virtual_time: None,
        autotune_limit: None,
    }
}

/// Reports to nobody.
struct Silent;

impl Reporter for Silent {
    fn say(&self, _: &str) {}
    fn print(&self, _: Output, _: &[u8]) {}
    fn running(&self, _: &str, _: Duration, _: &dyn Fn() -> String) {}
    fn stopped(&self) {}
    fn ran(&self, _: &str, _: &str) {}
    fn interrupts(&self) -> anyhow::Result<Arc<AtomicBool>> {
        Ok(Arc::default())
    }
    fn findings(&self, _: &str, _: &[Finding], _: bool) -> anyhow::Result<()> {
        Ok(())
    }
}
