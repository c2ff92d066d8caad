//! Real HIP programs, compiled here, on this library.
//!
//! The one idea to keep in mind: a program checks its own results and calls; its exit code is the number of checks that
//! failed. What the library says goes to standard error and is compared.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests compile and run programs")]

mod compiled;

use compiled::prepared;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a part of the first program on a GPU.
fn session(folder: &Path, gpu: &str, arguments: &[&str]) -> Output {
    program(folder, "session", gpu, arguments).output().unwrap()
}

/// A program on a GPU.
fn program(folder: &Path, name: &str, gpu: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(folder.join(name));
    command.args(arguments).env("LD_LIBRARY_PATH", folder).env("ROCKHOUND_GPU", gpu);
    command
}

#[test]
fn parts_pass_on_every_gpu_with_code() {
    let Some(folder) = prepared() else { return };
    for gpu in ["mi210", "mi300x"] {
        for part in ["copies", "reductions", "symbols", "queries", "bad"] {
            let output = session(folder, gpu, &[part]);
            assert_eq!(output.status.code(), Some(0), "{gpu} {part}: {output:?}");
        }
    }
}

#[test]
fn a_million_work_items_copy() {
    let Some(folder) = prepared() else { return };
    let output = session(folder, "mi300x", &["copies", "1048576"]);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

#[test]
fn a_stray_store_ends_the_program_with_its_place() {
    use std::os::unix::process::ExitStatusExt;
    let Some(folder) = prepared() else { return };
    let output = session(folder, "mi300x", &["stray"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(6), "{said}");
    for part in
        ["kernel stopped: store of 4 bytes at", "outside every allocation", "in `stray(int*)`", "lane 0"]
    {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_gpu_without_code_is_named_with_the_code_there_is() {
    let Some(folder) = prepared() else { return };
    let output = session(folder, "mi355x", &["copies"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.code(), Some(0));
    assert!(said.contains("code for gfx90a, gfx942, and none for the emulated MI355X (gfx950)"), "{said}");
}

/// What the kernel `lines` prints.
fn lines() -> String {
    let line = |id: u32| {
        let name =
            ["a rather long text that does not fit into one packet of seven words", "odd"][id as usize % 2];
        let letter = char::from(b'a' + (id % 26) as u8);
        let number = if id == 0 { "0".to_string() } else { format!("{id:#x}") };
        format!("item {id} of {name}: {:6.2} {letter} {number}%\n", f64::from(id) * 0.5)
    };
    format!("begin\n{}end\n", (0..2500).map(line).collect::<String>())
}

#[test]
fn kernels_print_in_the_order_of_workgroups() {
    let Some(folder) = prepared() else { return };
    for name in ["printing", "printing-buffered"] {
        for (gpu, threads) in [("mi300x", "1"), ("mi300x", "2"), ("mi210", "4")] {
            let mut command = program(folder, name, gpu, &["lines"]);
            let output = command.env("ROCKHOUND_THREADS", threads).output().unwrap();
            assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
            assert!(
                output.stdout == lines().as_bytes(),
                "{name} {gpu}: {}",
                String::from_utf8_lossy(&output.stdout)
            );
        }
    }
}

#[test]
fn failed_asserts_and_abort_end_the_program() {
    use std::os::unix::process::ExitStatusExt;
    let Some(folder) = prepared() else { return };
    let assertion = "void check(const int *): Device-side assertion `values[id] >= 0 && \"values are positive\"' failed.\n";
    for (part, stdout, stderr) in [
        (
            "assert",
            "begin\n",
            ["printing.cpp:", assertion, "in `check(int const*)`", "workgroup (2, 0, 0), wave 0"],
        ),
        (
            "abort",
            "begin\nitem 0 of a rather long text that does not fit into one packet of seven words:   0.00 a 0%\n",
            ["kernel stopped: trap 2: `abort`", "in `halt(int)`", "`s_trap 2`", "workgroup (0, 0, 0)"],
        ),
    ] {
        let output = program(folder, "printing", "mi300x", &[part]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(6), "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), stdout);
        for text in stderr {
            assert!(said.contains(text), "{text}: {said}");
        }
    }
}

#[test]
fn kernels_have_a_heap() {
    let Some(folder) = prepared() else { return };
    let output = program(folder, "printing", "mi300x", &["heap"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "begin\nsum 32640\nend\n", "{output:?}");
}

#[test]
fn cooperative_launches_meet_or_say_that_they_cannot() {
    use std::os::unix::process::ExitStatusExt;
    let Some(folder) = prepared() else { return };
    // (part, what it prints, signal, what is said)
    let cases = [
        ("grid", "hipSuccess, 33 right\n", None, ""),
        ("counter", "hipSuccess, 33 right\n", None, ""),
        ("large", "hipErrorCooperativeLaunchTooLarge, 0 right\n", None, "100000 workgroups, but only "),
        ("plain", "", Some(6), "barrier of the whole grid in a launch that is not cooperative"),
        ("deadlock", "", Some(6), "deadlock: 32 of 33 waves wait for the rest of the grid, 1 have ended"),
        ("spin", "", Some(6), "deadlock: 3 of 4 waves wait for the rest of the grid, 1 have ended"),
    ];
    for gpu in ["mi300x", "mi210"] {
        for (part, stdout, signal, stderr) in cases {
            let output = program(folder, "together", gpu, &[part]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.signal(), signal, "{gpu} {part}: {said}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{gpu} {part}: {said}");
            assert!(said.contains(stderr) && said.is_empty() == stderr.is_empty(), "{gpu} {part}: {said}");
        }
    }
}

#[test]
fn a_race_is_named_once_however_often_it_runs() {
    let Some(folder) = prepared() else { return };
    for (part, findings) in [("race", 1), ("right", 0)] {
        let session = folder.join(format!("session-{part}"));
        let _ = std::fs::remove_dir_all(&session);
        std::fs::create_dir_all(&session).unwrap();
        let mut command = program(folder, "racing", "mi300x", &[part]);
        command.env("ROCKHOUND_SESSION", &session).env("ROCKHOUND_CHECK", "races");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert_eq!(said.matches("CHK001").count(), findings, "{said}");
        assert_eq!(said.matches("racing.cpp:").count(), 2 * findings, "{said}");
        let files = std::fs::read_dir(&session).unwrap().map(|entry| entry.unwrap().path());
        let counted: usize = files
            .filter(|path| path.extension().is_some_and(|it| it == "checks"))
            .map(|path| std::fs::read_to_string(path).unwrap().lines().count())
            .sum();
        assert_eq!(counted, findings);
    }
}
