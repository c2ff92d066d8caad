//! `profile` on a GPU, with a test double of the vendor's profiler.

use crate::run::{command, folder, good};
use std::path::{Path, PathBuf};

/// The test double, which cargo builds with the tests of the crate.
fn stand_in() -> Option<String> {
    let path = Path::new(env!("CARGO_BIN_EXE_rockhound")).with_file_name("examples/stand_in_rocprofv3");
    let path = path.display().to_string();
    testkit::needs(&[&path]).then_some(path)
}

/// Exit code and what is said.
fn profile(output: &Path, wrong: &str, more: &[&str]) -> Option<(i32, String)> {
    profile_with(output, &[("STAND_IN", wrong)], more)
}

/// The same with variables of the environment.
fn profile_with(output: &Path, variables: &[(&str, &str)], more: &[&str]) -> Option<(i32, String)> {
    let (profiler, output) = (stand_in()?, output.display().to_string());
    let words = ["profile", "--on", "gpu", "--gpu", "mi300x", "--profiler", &profiler, "-o", &output];
    let whole = more.contains(&"--") || more.contains(&"--attach");
    let program = if whole { &[][..] } else { &["--", "true"] };
    let mut ran = command(&[&words[..], more, program].concat());
    let ran = ran.envs(variables.iter().copied()).output().unwrap();
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

/// Times that the test double was started for a folder.
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
        &format!(
            "profiling on MI300X (gfx942) with {} 1.1.0: {all} runs of the program",
            stand_in().unwrap()
        )[..],
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
    // The recorded value is the counter of each dispatch: 1000, 2000 and 3000.
    let csv = good(&["analyze", "-p", &path, "-b", "2.1", "--format", "json"]);
    assert!(!csv.contains("SQ_WAVES: not recorded"), "{csv}");
}

#[test]
fn what_fails_keeps_what_is_whole_and_goes_on_later() {
    // Failure, exit code, passes kept, message.
    for (wrong, code, kept, expected) in [
        ("exit@1", 1, 0, "error: pass 1: the profiler or the program ended with exit code 3"),
        (
            "exit@2",
            1,
            1,
            "the profiler or the program ended with exit code 3; what it said is above\n1 pass is kept\nhint: `--resume`",
        ),
        ("kill@3", 1, 2, "the profiler was ended by signal 6\n2 passes are kept"),
        ("forget@2", 1, 1, "the profiler recorded no "),
        ("cut@2", 1, 1, "1 dispatches have no "),
        ("full@3", 1, 2, "No space left on device\nerror: pass 3 of "),
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
        if wrong.starts_with("always") {
            assert!(said.contains("sets that one run reads: ") && said.contains("mem_thruput"), "{said}");
        }
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

#[test]
fn samples_and_traces_are_runs_of_their_own() {
    let output = output("hardware-extra");
    let asked = ["-b", "2", "--pc-sampling", "--thread-trace", "-k", "scale"];
    let Some((code, said)) = profile(&output, "", &asked) else { return };
    assert_eq!(code, 0, "{said}");
    for text in [
        "(samples of the program counter)",
        "(thread trace)",
        "thread trace: 2 dispatches of each kernel, up to 256 MB of trace each before it is decoded; the run is ended when it has written 4096 MB",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let path = output.display().to_string();
    let text = good(&["analyze", "-p", &path, "-b", "21"]);
    for text_of_it in
        ["4 samples of the program counter (stochastic)", "4 instructions of 1 dispatch (thread trace)"]
    {
        assert!(text.contains(text_of_it), "{text_of_it}: {text}");
    }
    // Nothing is recorded again.
    let before = runs(&output);
    let Some((code, said)) = profile(&output, "", &[&asked[..], &["--resume"]].concat()) else { return };
    assert_eq!((code, runs(&output)), (0, before), "{said}");
}

#[test]
fn samples_and_traces_that_fail_keep_the_counters() {
    for (wrong, more, expected) in [
        (
            "empty@1",
            &["--pc-sampling"][..],
            "no sample was taken\nhint: the kernels are too short for this interval",
        ),
        ("empty@1", &["--thread-trace", "-k", "x"], "the thread trace is empty"),
        ("big@1", &["--thread-trace", "-k", "x", "--trace-limit", "3"], "it was ended: it had written "),
    ] {
        let output =
            output(&format!("hardware-{}-{}", wrong.replace('@', "-"), more[0].trim_start_matches('-')));
        // Only what is asked for beside the counters is recorded.
        let Some((code, said)) = profile(&output, wrong, &[more, &["-b", "21"]].concat()) else { return };
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(expected), "{wrong}: {said}");
        assert!(!output.exists(), "{wrong}: nothing is left of nothing");
    }
    let output = output("hardware-empty-later");
    let Some((code, said)) = profile(&output, "empty@2", &["--set", "mem_thruput", "--pc-sampling"]) else {
        return;
    };
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("error: pass 2 of 2: no sample was taken") && said.contains("1 pass is kept"),
        "{said}"
    );
    assert_eq!(passes(&output), ["pmc_1"], "{said}");
}

#[test]
fn what_a_profiler_or_gpu_lacks_is_said_before_the_program_runs() {
    for (variables, more, code, expected) in [
        (
            &[("STAND_IN_VERSION", "0.6.0")][..],
            &["--thread-trace", "-k", "x"][..],
            64,
            "rocprofv3 0.6.0 cannot do this (`--att`): it came with 1.0.0, ROCm 7.0",
        ),
        (
            &[("STAND_IN_VERSION", "0.6.0")],
            &["--pc-sampling", "stochastic"],
            64,
            "it came with 1.0.0, ROCm 7.0",
        ),
        (
            &[("STAND_IN_VERSION", "1.0.0")],
            &["--set", "mem_thruput", "--attach", "5"],
            64,
            "it came with 1.1.0, ROCm 7.1",
        ),
        (
            &[("STAND_IN_VERSION", "none")],
            &["--set", "mem_thruput"],
            0,
            "does not say its version; it is used as 0.6.0",
        ),
        (
            &[("STAND_IN_VERSION", "9.0.0")],
            &["--set", "mem_thruput"],
            0,
            "rocprofv3 9.0.0 is newer than 1.3.5",
        ),
        (
            &[("STAND_IN_COUNTERS", "SQ_WAVES TCC_HIT TCC_MISS")],
            &["-b", "17.1"],
            0,
            "this profiler does not know ",
        ),
        (&[], &["-b", "2", "--attach", "5"], 64, "`--attach` records one run, and what is asked for needs "),
        (&[], &["-b", "2", "--collection-period", "1:1:1"], 64, "`--collection-period` records one run"),
        (&[], &["--set", "mem_thruput", "--collection-period", "1:x:1"], 64, "is not three whole numbers"),
        (
            &[],
            &["--pc-sampling", "stochastic", "--pc-sampling-interval", "1000"],
            64,
            "the hardware takes powers of two\nhint: 1024",
        ),
        (&[], &["--thread-trace"], 64, "--kernel"),
        (&[], &["--rank", "auto"], 64, "no launcher gave this process a rank"),
        (&[], &["-b", "2", "--", "mpirun", "--teleport", "true"], 64, "`--teleport` is not known"),
        (
            &[],
            &["-b", "2", "--pc-sampling", "--", "mpirun", "-n", "2", "true"],
            64,
            "`--pc-sampling` is for one process",
        ),
    ] {
        let output = output("hardware-lacks");
        let Some((found, said)) = profile_with(&output, variables, more) else { return };
        assert!(said.contains(expected), "{more:?}: {said}");
        assert_eq!(found, code, "{more:?}: {said}");
        assert!(code == 0 || runs(&output) == 0, "{more:?}: {said}");
    }
    let ran = command(&["profile", "--on", "emulator", "--pc-sampling", "--", "true"]).output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stderr).contains("`--pc-sampling` needs a GPU"), "{ran:?}");
}

#[test]
fn a_running_process_and_a_part_of_the_time_are_recorded() {
    for (more, expected) in [
        (&["--set", "mem_thruput", "--attach", "5"][..], "1 run of the program"),
        (&["--set", "mem_thruput", "--collection-period", "100:500:1"], "1 run of the program"),
    ] {
        let output = output("hardware-attach");
        let Some((code, said)) = profile(&output, "", more) else { return };
        assert_eq!((code, said.contains(expected)), (0, true), "{said}");
        assert_eq!((passes(&output), runs(&output)), (vec!["pmc_1".to_owned()], 1), "{said}");
    }
}

#[test]
fn a_program_prints_once_and_may_fork_and_be_slow() {
    let output = output("hardware-prints");
    let more = ["-b", "2", "--", "echo", "a line of the program"];
    let Some((code, said)) = profile(&output, "slow@2", &more) else { return };
    assert_eq!(code, 0, "{said}");
    assert!(runs(&output) > 1);
    assert_eq!(said.lines().filter(|line| *line == "a line of the program").count(), 1, "{said}");
    let output = self::output("hardware-forks");
    let Some((code, said)) = profile(&output, "fork@1", &["-b", "2"]) else { return };
    assert_eq!(code, 0, "{said}");
    let text = good(&["analyze", "-p", &output.display().to_string(), "-b", "0.1"]);
    assert!(text.contains("6 dispatches"), "{text}");
}

/// A launcher that starts two ranks, one after the other.
fn mpirun(folder: &Path) -> String {
    let file = folder.join("mpirun");
    let script = "#!/bin/sh\nshift 2\nfor rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 \"$@\" || exit $?; done\n";
    std::fs::write(&file, script).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file.display().to_string()
}

#[test]
fn ranks_have_folders_and_one_report() {
    let dir = folder("hardware-ranks");
    let launcher = mpirun(&dir);
    let output = dir.join("out");
    let more = ["-b", "2", "--", &launcher, "-n", "2", "true"];
    let Some((code, said)) = profile(&output, "", &more) else { return };
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("6 dispatches"), "{said}");
    let one = passes(&output.join("0"));
    assert!(one.len() > 1 && one == passes(&output.join("1")), "{one:?}: {said}");
    assert!(output.join("1/sysinfo.csv").is_file());
    let path = output.display().to_string();
    let text = good(&["analyze", "-p", &path, "--ranks", "-b", "0.6"]);
    assert!(text.contains("Ranks"), "{text}");
    // Each rank as a separate process, by the launcher's variables.
    let output = dir.join("each");
    for rank in ["0", "1"] {
        let variables = [("SLURM_PROCID", rank)];
        let more = ["--set", "mem_thruput", "--rank", "auto"];
        let Some((code, said)) = profile_with(&output, &variables, &more) else { return };
        assert_eq!(code, 0, "{said}");
        assert_eq!(passes(&output.join(rank)), ["pmc_1"], "{said}");
    }
    let text = good(&["analyze", "-p", &output.display().to_string(), "--ranks", "-b", "0.6"]);
    assert!(text.contains("Ranks"), "{text}");
}

#[test]
fn repeated_passes_give_medians_and_their_spread() {
    let output = output("hardware-repeat");
    let more = ["--set", "mem_thruput", "--repeat", "3"];
    let Some((code, said)) = profile(&output, "vary@1", &more) else { return };
    assert_eq!(code, 0, "{said}");
    assert_eq!(runs(&output), 3, "{said}");
    for text in [": 3 runs of the program", "pass 1, run 2 of 3", "pass 1, run 3 of 3", "values are medians"]
    {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert!(output.join("pmc_1/run_3").is_dir());
    let path = output.display().to_string();
    // Of 1001, 1002, 1003 and so on: the runs differ by 2.
    let text = good(&["analyze", "-p", &path, "-b", "0.8"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Spread over Runs") && text.contains("scale(float*, int)"), "{text}");
    assert!(
        text.contains("each pass ran 3 times, values are medians: times of a dispatch lie up to 0.0 % apart"),
        "{text}"
    );
    assert!(text.contains("counters up to 0.2 %"), "{text}");
    // One pass is a recording too.
    let pass = output.join("pmc_1").display().to_string();
    let text = good(&["analyze", "-p", &pass, "-b", "0.8"]);
    assert!(text.contains("each pass ran 3 times"), "{text}");
    // Complete passes are kept, and another number of runs is another recording.
    let before = runs(&output);
    let Some((code, said)) = profile(&output, "", &[&more[..], &["--resume"]].concat()) else { return };
    assert_eq!((code, runs(&output)), (0, before), "{said}");
    let Some((code, said)) = profile(&output, "", &["--set", "mem_thruput", "--repeat", "2", "--resume"])
    else {
        return;
    };
    assert!(code == 1 && said.contains("was recorded with another program"), "{said}");
}

#[test]
fn a_repeated_pass_that_fails_is_not_kept() {
    let output = output("hardware-repeat-fails");
    let more = ["-b", "2", "--repeat", "2"];
    let Some((code, said)) = profile(&output, "exit@4", &more) else { return };
    assert_eq!((code, passes(&output)), (1, vec!["pmc_1".to_owned()]), "{said}");
    assert!(said.contains("error: pass 2 of ") && said.contains("1 pass is kept"), "{said}");
    let Some((code, said)) = profile(&output, "", &[&more[..], &["--resume"]].concat()) else { return };
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("pass 1 is there already"), "{said}");
}

#[test]
fn dispatches_take_turns_at_the_counters_of_several_passes() {
    let output = output("hardware-multiplexed");
    let more = ["-b", "2", "--iteration-multiplexing"];
    let dispatches = [("STAND_IN_DISPATCHES", "100")];
    let Some((code, said)) = profile_with(&output, &dispatches, &more) else { return };
    assert_eq!(code, 0, "{said}");
    assert_eq!((runs(&output), passes(&output)), (1, vec!["pmc_1".to_owned()]), "{said}");
    assert!(said.contains("1 run of the program"), "{said}");
    // The report breaks its lines.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("iteration multiplexing: each dispatch recorded one of "), "{said}");
    assert!(said.contains("standard error of these means"), "{said}");
    let text = good(&["analyze", "-p", &output.display().to_string(), "-b", "2.1"]);
    let table = text.split("2.1  System Speed-of-Light").nth(1).expect("the table");
    assert!(!table.contains("not recorded"), "{text}");
    // Three dispatches cannot take all turns.
    let output = self::output("hardware-multiplexed-few");
    let Some((code, said)) = profile(&output, "", &more) else { return };
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("sets of counters were read in no dispatch: there are too few dispatches, 3"),
        "{said}"
    );
    let output = self::output("hardware-multiplexed-old");
    let old = [("STAND_IN_VERSION", "0.6.0")];
    let Some((code, said)) = profile_with(&output, &old, &more) else { return };
    assert!(code == 64 && said.contains("(`--input`): it came with 1.0.0, ROCm 7.0"), "{said}");
}

/// The test double of a predecessor of rocprofv3, under its name.
fn predecessor(folder: &Path, name: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_BIN_EXE_rockhound")).with_file_name("examples/stand_in_rocprof");
    testkit::needs(&[&path.display().to_string()]).then(|| {
        let link = folder.join(name);
        std::os::unix::fs::symlink(&path, &link).unwrap();
        link.display().to_string()
    })
}

#[test]
fn predecessors_of_the_profiler_are_driven_too() {
    for name in ["rocprof", "rocprofv2"] {
        let dir = folder(&format!("hardware-{name}"));
        let Some(profiler) = predecessor(&dir, name) else { return };
        let run = |output: &Path, wrong: &str, more: &[&str]| {
            let output = output.display().to_string();
            let words = ["profile", "--on", "gpu", "--gpu", "mi250x", "--profiler", &profiler, "-o", &output];
            let mut ran = command(&[&words[..], more, &["--", "true"]].concat());
            let ran = ran.env("STAND_IN", wrong).env("STAND_IN_COUNTERS", "").output().unwrap();
            let said =
                format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            (ran.status.code().unwrap_or(-1), said)
        };
        let output = dir.join("out");
        let (code, said) = run(&output, "", &["-b", "2", "-k", "scale"]);
        assert_eq!(code, 0, "{said}");
        let all = runs(&output);
        assert_eq!(passes(&output).len(), all - 1, "one run is for times: {said}");
        for text in [
            &format!("note: {name} is older than rocprofv3"),
            &format!("with {profiler}: {all} runs of the program"),
            &format!("pass 1 of {all} (times of the dispatches)"),
        ] {
            assert!(said.contains(text.as_str()), "{text}: {said}");
        }
        let path = output.display().to_string();
        let csv = good(&["analyze", "-p", &path, "-b", "0.1", "2.1", "--format", "json"]);
        assert!(csv.contains("scale(float*, int)") && !csv.contains("add(float*"), "{csv}");
        assert!(!csv.contains("SQ_WAVES: not recorded"), "{csv}");
        // 20 us, as the run says that does not count.
        let text = good(&["analyze", "-p", &path, "-b", "0.1"]);
        assert!(text.contains("2 dispatches") && text.contains("20"), "{text}");
        assert!(output.join(format!("pmc_1/{name}.csv")).is_file());

        // Failure, passes kept, message.
        for (wrong, kept, expected) in [
            ("nothing@1", None, format!("error: pass 1: {name} wrote no table")),
            ("exit@3", Some(1), "the profiler or the program ended with exit code 1".to_owned()),
            ("forget@2", Some(0), "the profiler recorded no ".to_owned()),
        ] {
            let output = dir.join(wrong.replace('@', "-"));
            let (code, said) = run(&output, wrong, &["-b", "2"]);
            assert_eq!(code, 1, "{said}");
            assert!(said.contains(&expected), "{expected}: {said}");
            let Some(kept) = kept else {
                assert!(!output.exists(), "{wrong}");
                continue;
            };
            assert_eq!(passes(&output).len(), kept, "{said}");
            let before = runs(&output);
            let (code, said) = run(&output, "", &["-b", "2", "--resume"]);
            assert_eq!(code, 0, "{said}");
            assert_eq!(runs(&output) - before, passes(&output).len() - kept, "{wrong}: {said}");
        }
        let (code, said) = run(&dir.join("shell"), "", &["-b", "2", "--", "echo", "$HOME"]);
        let refused =
            "hands the program to a shell, which changes `$HOME`\nhint: put the command into a script";
        assert_eq!((code == 64, said.contains(refused)), (name == "rocprof", name == "rocprof"), "{said}");
        let output = dir.join("differs");
        let (code, said) = run(&output, "differ@2", &["-b", "2"]);
        assert!(code == 0 && said.contains("pass 2 again: dispatch 0 is `add(float*, float*)`"), "{said}");
        let (code, said) = run(&dir.join("repeat"), "", &["--set", "mem_thruput", "--repeat", "2"]);
        assert!(code == 0 && said.contains("values are medians"), "{said}");
        for (more, expected) in [
            (
                &["-b", "2", "--", "mpirun", "-n", "2", "true"][..],
                format!("{name} cannot tell the ranks of a launcher apart\nhint: start each rank: `mpirun"),
            ),
            (&["--pc-sampling"][..], format!("{name} cannot do this (`host-trap`): rocprofv3 can")),
            (
                &["--set", "mem_thruput", "--iteration-multiplexing"],
                format!("{name} cannot do this (`multiplexing`)"),
            ),
        ] {
            let (code, said) = run(&dir.join("lacks"), "", more);
            assert!(code == 64 && said.contains(&expected), "{code}: {said}");
        }
    }
}

#[test]
fn launches_of_each_kernel_are_left_to_the_profiler() {
    let output = output("hardware-iterations");
    let Some((code, said)) = profile(&output, "", &["--kernel-iteration-range", "2-5", "9", "-b", "10"])
    else {
        return;
    };
    assert_eq!(code, 0, "{said}");
    for (range, message) in [
        (">1", "`--kernel-iteration-range >1`: the profiler takes ranges with an end"),
        ("1-2000000", "the profiler takes ranges with an end"),
        ("x", "`x` names no iterations"),
    ] {
        let (code, said) =
            profile(&self::output("hardware-iterations-wrong"), "", &["--kernel-iteration-range", range])
                .unwrap();
        assert!(code == 64 && said.contains(message), "{range}: {said}");
    }
}
