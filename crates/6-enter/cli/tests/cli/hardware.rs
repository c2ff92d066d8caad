//! `profile` on a GPU, with a test double of the vendor's profiler.

use crate::run::{Ran, command, folder, golden, good, notes};
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
    let ran = Ran::from(ran);
    Some((ran.code, ran.stdout + &ran.stderr))
}

/// Text without the numbers of processes in names of files.
fn without_processes(text: &str) -> String {
    let parts: Vec<&str> =
        text.split("pass_").map(|it| it.trim_start_matches(|it: char| it.is_ascii_digit())).collect();
    parts.join("pass_")
}

/// Text without how much had been written when a trace over its limit was seen.
fn without_size(text: &str) -> String {
    let Some((before, after)) = text.split_once("it had written ") else { return text.to_owned() };
    format!("{before}it had written N{}", after.trim_start_matches(|it: char| it.is_ascii_digit()))
}

/// Compares what is said, from the first message on, with a section of the golden file.
fn messages(section: &str, said: &str) {
    let starts = ["error: ", "warning: ", "note: "];
    let message = said.lines().skip_while(|line| !starts.iter().any(|it| line.starts_with(it)));
    let no_time = |line: &&str| !line.starts_with("pass ") && !line.starts_with("wrote ");
    let message = message.filter(no_time).collect::<Vec<_>>().join("\n");
    golden(section, &without_size(&without_processes(&message)));
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
        &format!("MI300X (gfx942) with {} 1.1.0: {all} runs", stand_in().unwrap())[..],
        "pass 1 of",
        &format!("pass {all} of {all}, "),
        &output.display().to_string(),
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
    // Failure, passes kept.
    for (wrong, kept) in [
        ("exit@1", 0),
        ("exit@2", 1),
        ("kill@3", 2),
        ("forget@2", 1),
        ("cut@2", 1),
        ("full@3", 2),
        ("nothing@1", 0),
        ("always-differ@2", 1),
    ] {
        let name = format!("hardware-{}", wrong.replace('@', "-"));
        let output = output(&name);
        let Some((found, said)) = profile(&output, wrong, &["-b", "2"]) else { return };
        assert_eq!((found, passes(&output).len()), (1, kept), "{wrong}: {said}");
        messages(wrong, &said);
        assert_eq!(said.contains("No space left"), wrong == "full@3", "the profiler is heard: {said}");
        if kept == 0 {
            assert!(!output.exists(), "{wrong}");
            continue;
        }
        assert!(!passes(&output).contains(&".running".to_owned()), "{wrong}");
        let before = runs(&output);
        let Some((found, said)) = profile(&output, "", &["-b", "2", "--resume"]) else { return };
        assert_eq!(found, 0, "{wrong}: {said}");
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
    for (more, code) in [
        (&["-b", "17", "--resume"][..], 1),
        (&["-b", "2"], 64),
        (&["--what-if", "vgpr=96"], 64),
        (&["-d", "3"], 64),
        (&["-b", "2", "--overwrite"], 64),
    ] {
        let (found, said) = profile(&output, "", more).unwrap();
        assert_eq!(found, code, "{more:?}: {said}");
        messages(&more.join(" "), &said);
    }
    let ran =
        command(&["profile", "--on", "gpu", "--gpu", "mi300x", "--profiler", "/nowhere/rocprofv3", "-o"]);
    let ran = { ran }.arg(folder("hardware-nowhere").join("out")).args(["--", "true"]).output().unwrap();
    Ran::from(ran).golden("no profiler");
}

#[test]
fn samples_and_traces_are_runs_of_their_own() {
    let output = output("hardware-extra");
    let asked = ["-b", "2", "--pc-sampling", "--thread-trace", "-k", "scale"];
    let Some((code, said)) = profile(&output, "", &asked) else { return };
    assert_eq!(code, 0, "{said}");
    let plan = said.lines().filter(|line| line.starts_with("thread trace: ")).collect::<Vec<_>>();
    golden("plan of a thread trace", &plan.join("\n"));
    let path = output.display().to_string();
    let text = good(&["analyze", "-p", &path, "-b", "21"]);
    for text_of_it in ["4 samples", "(stochastic)", "4 instructions", "(thread trace)"] {
        assert!(text.contains(text_of_it), "{text_of_it}: {text}");
    }
    // Nothing is recorded again.
    let before = runs(&output);
    let Some((code, said)) = profile(&output, "", &[&asked[..], &["--resume"]].concat()) else { return };
    assert_eq!((code, runs(&output)), (0, before), "{said}");
}

#[test]
fn samples_and_traces_that_fail_keep_the_counters() {
    for (wrong, more) in [
        ("empty@1", &["--pc-sampling"][..]),
        ("empty@1", &["--thread-trace", "-k", "x"]),
        ("big@1", &["--thread-trace", "-k", "x", "--trace-limit", "3"]),
    ] {
        let output =
            output(&format!("hardware-{}-{}", wrong.replace('@', "-"), more[0].trim_start_matches('-')));
        // Only what is asked for beside the counters is recorded.
        let Some((code, said)) = profile(&output, wrong, &[more, &["-b", "21"]].concat()) else { return };
        assert_eq!(code, 1, "{said}");
        messages(&format!("{wrong} {}", more[0]), &said);
        assert!(!output.exists(), "{wrong}: nothing is left of nothing");
    }
    let output = output("hardware-empty-later");
    let Some((code, said)) = profile(&output, "empty@2", &["--set", "mem_thruput", "--pc-sampling"]) else {
        return;
    };
    assert_eq!(code, 1, "{said}");
    messages("empty@2 --pc-sampling", &said);
    assert_eq!(passes(&output), ["pmc_1"], "{said}");
}

#[test]
fn what_a_profiler_or_gpu_lacks_is_said_before_the_program_runs() {
    // Version and counters of the profiler, exit code, options.
    for (version, counters, code, more) in [
        ("0.6.0", "", 64, "--thread-trace -k x"),
        ("0.6.0", "", 64, "--pc-sampling stochastic"),
        ("1.0.0", "", 64, "--set mem_thruput --attach 5"),
        ("none", "", 0, "--set mem_thruput"),
        ("9.0.0", "", 0, "--set mem_thruput"),
        ("", "SQ_WAVES TCC_HIT TCC_MISS", 0, "-b 17.1"),
        ("", "", 64, "-b 2 --attach 5"),
        ("", "", 64, "-b 2 --collection-period 1:1:1"),
        ("", "", 64, "--set mem_thruput --collection-period 1:x:1"),
        ("", "", 64, "--pc-sampling stochastic --pc-sampling-interval 1000"),
        ("", "", 64, "--thread-trace"),
        ("", "", 64, "--rank auto"),
        ("", "", 64, "-b 2 -- mpirun --teleport true"),
        ("", "", 64, "-b 2 --pc-sampling -- mpirun -n 2 true"),
    ] {
        let output = output("hardware-lacks");
        let variables = [("STAND_IN_VERSION", version), ("STAND_IN_COUNTERS", counters)];
        let variables: Vec<_> = variables.into_iter().filter(|it| !it.1.is_empty()).collect();
        let words: Vec<&str> = more.split(' ').collect();
        let Some((found, said)) = profile_with(&output, &variables, &words) else { return };
        assert_eq!(found, code, "{more}: {said}");
        let is_said = ["warning: ", "note: "];
        let warnings = said.lines().filter(|line| code != 0 || is_said.iter().any(|it| line.starts_with(it)));
        let section = format!("{version}{counters} {more}");
        messages(section.trim(), &warnings.collect::<Vec<_>>().join("\n"));
        assert!(code == 0 || runs(&output) == 0, "{more}: {said}");
    }
    let ran = command(&["profile", "--on", "emulator", "--pc-sampling", "--", "true"]).output().unwrap();
    Ran::from(ran).golden("--pc-sampling on the emulator");
}

#[test]
fn a_running_process_and_a_part_of_the_time_are_recorded() {
    for more in [
        ["--set", "mem_thruput", "--attach", "5"],
        ["--set", "mem_thruput", "--collection-period", "100:500:1"],
    ] {
        let output = output("hardware-attach");
        let Some((code, said)) = profile(&output, "", &more) else { return };
        assert_eq!(code, 0, "{said}");
        assert_eq!((passes(&output), runs(&output)), (vec!["pmc_1".to_owned()], 1), "{said}");
    }
}

#[test]
fn a_program_prints_once_and_may_fork_and_be_slow() {
    let output = output("hardware-prints");
    let more = ["-b", "2", "--", "echo", "a-line"];
    let Some((code, said)) = profile(&output, "slow@2", &more) else { return };
    assert_eq!(code, 0, "{said}");
    assert!(runs(&output) > 1);
    assert_eq!(said.lines().filter(|line| *line == "a-line").count(), 1, "{said}");
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
    for text in ["pass 1, run 2 of 3", "pass 1, run 3 of 3"] {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert!(output.join("pmc_1/run_3").is_dir());
    let path = output.display().to_string();
    // Of 1001, 1002, 1003 and so on: the runs differ by 2. One pass is a recording too.
    for (section, path) in [("runs", path), ("runs of a pass", output.join("pmc_1").display().to_string())] {
        let args = ["analyze", "-p", &path, "-b", "0.8"];
        assert!(good(&args).contains("scale(float*, int)"));
        golden(&format!("spread over {section}"), &notes(&args));
    }
    // Complete passes are kept, and another number of runs is another recording.
    let before = runs(&output);
    let Some((code, said)) = profile(&output, "", &[&more[..], &["--resume"]].concat()) else { return };
    assert_eq!((code, runs(&output)), (0, before), "{said}");
    let Some((code, said)) = profile(&output, "", &["--set", "mem_thruput", "--repeat", "2", "--resume"])
    else {
        return;
    };
    assert_eq!(code, 1, "{said}");
    messages("another number of runs", &said);
}

#[test]
fn a_repeated_pass_that_fails_is_not_kept() {
    let output = output("hardware-repeat-fails");
    let more = ["-b", "2", "--repeat", "2"];
    let Some((code, said)) = profile(&output, "exit@4", &more) else { return };
    assert_eq!((code, passes(&output)), (1, vec!["pmc_1".to_owned()]), "{said}");
    messages("exit@4 of repeated passes", &said);
    let before = runs(&output);
    let Some((code, said)) = profile(&output, "", &[&more[..], &["--resume"]].concat()) else { return };
    assert_eq!(code, 0, "{said}");
    assert_eq!(runs(&output) - before, 2 * (passes(&output).len() - 1), "{said}");
}

#[test]
fn dispatches_take_turns_at_the_counters_of_several_passes() {
    let output = output("hardware-multiplexed");
    let more = ["-b", "2", "--iteration-multiplexing"];
    let dispatches = [("STAND_IN_DISPATCHES", "100")];
    let Some((code, said)) = profile_with(&output, &dispatches, &more) else { return };
    assert_eq!(code, 0, "{said}");
    assert_eq!((runs(&output), passes(&output)), (1, vec!["pmc_1".to_owned()]), "{said}");
    let args = ["analyze", "-p", &output.display().to_string(), "-b", "2.1"];
    golden("multiplexed dispatches", &without_processes(&notes(&args)));
    let text = good(&args);
    let table = text.split("2.1  System").nth(1).expect("the table");
    assert!(!table.contains("not recorded"), "{text}");
    // Three dispatches cannot take all turns.
    let output = self::output("hardware-multiplexed-few");
    let Some((code, said)) = profile(&output, "", &more) else { return };
    assert_eq!(code, 0, "{said}");
    let path = output.display().to_string();
    let said = notes(&["analyze", "-p", &path, "-b", "2.1"]);
    golden("too few dispatches to multiplex", &without_processes(&said));
    let output = self::output("hardware-multiplexed-old");
    let old = [("STAND_IN_VERSION", "0.6.0")];
    let Some((code, said)) = profile_with(&output, &old, &more) else { return };
    assert_eq!(code, 64, "{said}");
    messages("multiplexing with 0.6.0", &said);
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
            let ran = Ran::from(ran.env("STAND_IN", wrong).env("STAND_IN_COUNTERS", "").output().unwrap());
            (ran.code, ran.stdout + &ran.stderr)
        };
        let output = dir.join("out");
        let (code, said) = run(&output, "", &["-b", "2", "-k", "scale"]);
        assert_eq!(code, 0, "{said}");
        let all = runs(&output);
        assert_eq!(passes(&output).len(), all - 1, "one run is for times: {said}");
        for text in [format!("note: {name} "), format!("{profiler}: {all} runs"), format!("pass 1 of {all}")]
        {
            assert!(said.contains(&text), "{text}: {said}");
        }
        let path = output.display().to_string();
        let csv = good(&["analyze", "-p", &path, "-b", "0.1", "2.1", "--format", "json"]);
        assert!(csv.contains("scale(float*, int)") && !csv.contains("add(float*"), "{csv}");
        assert!(!csv.contains("SQ_WAVES: not recorded"), "{csv}");
        // 20 us, as the run says that does not count.
        let text = good(&["analyze", "-p", &path, "-b", "0.1"]);
        assert!(text.contains("2 dispatches") && text.contains("20"), "{text}");
        assert!(output.join(format!("pmc_1/{name}.csv")).is_file());

        // Failure, passes kept.
        for (wrong, kept) in [("nothing@1", None), ("exit@3", Some(1)), ("forget@2", Some(0))] {
            let output = dir.join(wrong.replace('@', "-"));
            let (code, said) = run(&output, wrong, &["-b", "2"]);
            assert_eq!(code, 1, "{said}");
            messages(&format!("{name} {wrong}"), &said);
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
        assert_eq!(code == 64, name == "rocprof", "{said}");
        messages(&format!("{name} -- echo $HOME"), if code == 64 { &said } else { "" });
        let output = dir.join("differs");
        let (code, said) = run(&output, "differ@2", &["-b", "2"]);
        assert!(code == 0 && said.contains("pass 2 again: dispatch 0 is `add(float*, float*)`"), "{said}");
        let (code, said) = run(&dir.join("repeat"), "", &["--set", "mem_thruput", "--repeat", "2"]);
        assert!(code == 0 && said.contains("medians"), "{said}");
        for more in [
            &["-b", "2", "--", "mpirun", "-n", "2", "true"][..],
            &["--pc-sampling"],
            &["--set", "mem_thruput", "--iteration-multiplexing"],
        ] {
            let (code, said) = run(&dir.join("lacks"), "", more);
            assert_eq!(code, 64, "{said}");
            messages(&format!("{name} {}", more.join(" ")), &said);
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
    for range in [">1", "1-2000000", "x"] {
        let more = ["--kernel-iteration-range", range];
        let (code, said) = profile(&self::output("hardware-iterations-wrong"), "", &more).unwrap();
        assert_eq!(code, 64, "{said}");
        messages(&more.join(" "), &said);
    }
}
