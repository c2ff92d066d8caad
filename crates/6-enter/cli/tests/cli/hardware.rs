//! `profile` on a GPU, with a program of the tests in the place of the vendor's profiler.

use crate::run::{command, folder, good};
use std::path::{Path, PathBuf};

/// The stand-in, which cargo builds with the tests of the crate.
fn stand_in() -> Option<String> {
    let path = Path::new(env!("CARGO_BIN_EXE_rockhound")).with_file_name("examples/stand_in_rocprofv3");
    let path = path.display().to_string();
    testkit::needs(&[&path]).then_some(path)
}

/// Exit code and what is said.
fn profile(output: &Path, wrong: &str, more: &[&str]) -> Option<(i32, String)> {
    let (profiler, output) = (stand_in()?, output.display().to_string());
    let words = ["profile", "--on", "gpu", "--gpu", "mi300x", "--profiler", &profiler, "-o", &output];
    let program = if more.contains(&"--") { &[][..] } else { &["--", "true"] };
    let ran = command(&[&words[..], more, program].concat()).env("STAND_IN", wrong).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    Some((ran.status.code().unwrap_or(-1), said))
}

/// Names of the passes in a folder.
fn passes(output: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(output).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter(|name| name.starts_with("pmc_") || name == ".running").collect();
    names.sort();
    names
}

/// Times that the stand-in was started for a folder.
fn runs(output: &Path) -> usize {
    std::fs::read_to_string(output.with_extension("runs")).ok().and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// An output folder that is not there, in a folder of the test.
fn output(test: &str) -> PathBuf {
    folder(test).join("out")
}

#[test]
fn every_pass_is_a_run_of_the_program_and_all_are_one_recording() {
    let output = output("hardware-passes");
    let Some((code, said)) = profile(&output, "", &["-k", "scale", "add", "-b", "2", "17"]) else { return };
    assert_eq!(code, 0, "{said}");
    let all = runs(&output);
    assert!(all > 1, "{said}");
    assert_eq!(passes(&output).len(), all, "{:?}: {said}", passes(&output));
    for text in [
        &format!("profiling on MI300X (gfx942) with {}: {all} runs of the program", stand_in().unwrap())[..],
        "pass 1 of",
        &format!("pass {all} of {all}, about "),
        &format!("wrote {}", output.display()),
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let path = output.display().to_string();
    let text = good(&["analyze", "-p", &path, "-b", "0.1", "0.2", "2.1"]);
    for part in ["3 dispatches", "2 kernels", "scale(float*, int)", "MI300X"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // What was recorded is the counter of each dispatch: 1000, 2000 and 3000.
    let csv = good(&["analyze", "-p", &path, "-b", "2.1", "--format", "json"]);
    assert!(!csv.contains("SQ_WAVES: not recorded"), "{csv}");
}

#[test]
fn what_fails_keeps_what_is_whole_and_goes_on_later() {
    // What goes wrong, exit code, passes kept, what is said.
    for (wrong, code, kept, expected) in [
        ("exit@1", 1, 0, "error: pass 1: the profiler or the program ended with exit code 3"),
        (
            "exit@2",
            1,
            1,
            "the profiler or the program ended with exit code 3; what it said is above\n1 passes are kept\nhint: `--resume`",
        ),
        ("kill@3", 1, 2, "the profiler was ended by signal 6\n2 passes are kept"),
        ("forget@2", 1, 1, "the profiler recorded no "),
        (
            "nothing@1",
            1,
            0,
            "holds a header and no dispatches\nhint: the profiler was interrupted or no kernel matched its filter",
        ),
        (
            "always-differ@2",
            1,
            1,
            "the program did something else than in the first pass, 2 times: dispatch 0 is `add(float*, float*)` (4096 work-items by 256), and was `scale(float*, int)`",
        ),
    ] {
        let name = format!("hardware-{}", wrong.replace('@', "-"));
        let output = output(&name);
        let Some((found, said)) = profile(&output, wrong, &["-b", "2"]) else { return };
        assert_eq!((found, passes(&output).len()), (code, kept), "{wrong}: {said}");
        assert!(said.contains(expected), "{wrong}: {said}");
        if kept == 0 {
            assert!(!output.exists(), "{wrong}");
            continue;
        }
        assert!(!passes(&output).contains(&".running".to_owned()), "{wrong}");
        let before = runs(&output);
        let Some((found, said)) = profile(&output, "", &["-b", "2", "--resume"]) else { return };
        assert_eq!(found, 0, "{wrong}: {said}");
        assert_eq!(said.matches("is there already").count(), kept, "{wrong}: {said}");
        assert_eq!(runs(&output) - before, passes(&output).len() - kept, "{wrong}: {said}");
    }
}

#[test]
fn a_pass_that_differs_is_repeated() {
    let output = output("hardware-differs");
    let Some((code, said)) = profile(&output, "differ@2", &["-b", "2"]) else { return };
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("pass 2 again: dispatch 0 is `add(float*, float*)`"), "{said}");
    assert_eq!(runs(&output), passes(&output).len() + 1, "{said}");
}

#[test]
fn commands_that_cannot_be_carried_out_say_why() {
    let output = output("hardware-refused");
    let Some((code, said)) = profile(&output, "exit@2", &["-b", "2"]) else { return };
    assert_eq!(code, 1, "{said}");
    for (more, code, expected) in [
        (
            &["-b", "17", "--resume"][..],
            1,
            "was recorded with another program, other kernels or other counters",
        ),
        (&["-b", "2"], 64, "holds a recording"),
        (&["--what-if", "vgpr=96"], 64, "`--what-if` is for an emulated GPU"),
        (&["-d", "3"], 64, "`-d` and `--dispatch-limit` select nothing"),
        (&["-b", "2", "--overwrite"], 64, "holds a recording that a profiler made"),
    ] {
        let (found, said) = profile(&output, "", more).unwrap();
        assert!(said.contains(expected), "{more:?}: {said}");
        assert_eq!(found, code, "{more:?}: {said}");
    }
    let ran =
        command(&["profile", "--on", "gpu", "--gpu", "mi300x", "--profiler", "/nowhere/rocprofv3", "-o"]);
    let ran = { ran }.arg(folder("hardware-nowhere").join("out")).args(["--", "true"]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("cannot start /nowhere/rocprofv3"), "{said}");
}
