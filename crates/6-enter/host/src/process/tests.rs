use super::*;
use crate::tune::Failure;

fn run(command: &str, bounds: Bounds) -> End {
    shell(command, Path::new("/"), &bounds)
}

/// Whether a process runs; a zombie does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn ends_are_told_apart() {
    let ten = || Bounds { seconds: 10.0, ..Bounds::default() };
    for (command, bounds, failure, why) in [
        ("echo 5", ten(), None, "exit code 0"),
        ("echo bad >&2; exit 3", ten(), Some(Failure::Run), "exit code 3: bad"),
        ("kill -SEGV $$", ten(), Some(Failure::Run), "ended by SIGSEGV"),
        ("kill -9 $$", ten(), Some(Failure::Run), "killed by SIGKILL, as the kernel does if memory runs out"),
        ("exec 1>&2; echo x", ten(), None, "exit code 0: x"),
        (
            "sleep 60",
            Bounds { seconds: 0.2, ..ten() },
            Some(Failure::Time),
            "killed after 0.2 s, the limit of its time",
        ),
        ("read word && echo read", ten(), Some(Failure::Run), "exit code 1"),
        ("yes", Bounds { output_mib: 1, ..ten() }, Some(Failure::Run), "killed after 1 MiB of output"),
        (
            "sleep 60",
            Bounds { stop: Some(Arc::new(AtomicBool::new(true))), ..ten() },
            Some(Failure::Run),
            "killed because the search was interrupted",
        ),
        (
            "test \"$TUNED\" = 'a b'",
            Bounds { variables: vec![("TUNED".into(), "a b".into())], ..ten() },
            None,
            "exit code 0",
        ),
    ] {
        let end = run(command, bounds);
        assert_eq!((Failure::of(&end), end.why().as_str()), (failure, why), "{command}");
        assert!(end.seconds < 9.0, "{command}: {} s", end.seconds);
    }
    let absent = program(&["/no/such/program".as_ref()], Path::new("/"), &Bounds::default());
    assert!(absent.why().contains("`/no/such/program`"), "{}", absent.why());
    assert_eq!(Failure::of(&absent), Some(Failure::Run));
}

#[test]
fn memory_of_all_processes_of_a_group_counts() {
    // Two processes hold 40 MiB each.
    let hold = "(head -c 40000000 /dev/zero | tail -c 40000000 >/dev/null; sleep 60)";
    let hold = hold.replace("/dev/null; sleep 60", "/dev/null")
        + " & "
        + "x=$(head -c 40000000 /dev/zero | tr '\\0' a); sleep 60; echo ${#x}";
    let end = run(&hold, Bounds { seconds: 30.0, memory_mib: 30, ..Bounds::default() });
    assert_eq!(Failure::of(&end), Some(Failure::Memory), "{}", end.why());
    assert!(end.memory_mib > 30 && end.seconds < 20.0);
}

#[test]
fn what_a_program_leaves_running_ends_with_it() {
    let end = run("sleep 60 & echo $!", Bounds { seconds: 10.0, ..Bounds::default() });
    assert!(end.is_well() && end.seconds < 5.0, "{}", end.why());
    std::thread::sleep(Duration::from_millis(50));
    assert!(!runs(&end.output));
}

#[test]
fn a_pipe_that_another_group_holds_is_not_waited_for() {
    let end = run("setsid sleep 3 & echo 5", Bounds { seconds: 10.0, ..Bounds::default() });
    assert!(end.is_well() && end.seconds < 2.5, "{} s", end.seconds);
    assert_eq!(end.output, "5\n");
}

/// Runs a program until killed, if another test asks.
#[test]
fn runs_if_another_test_asks() {
    if let Ok(file) = std::env::var("PROCESS_TEST_FILE") {
        run(
            &format!("sh -c 'sleep 60' & echo $! > {file}.new; mv {file}.new {file}; wait"),
            Bounds::default(),
        );
    }
}

#[test]
fn programs_end_when_this_process_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "process::tests::runs_if_another_test_asks"]).env("PROCESS_TEST_FILE", &file);
    let mut runner = command.stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = std::fs::read_to_string(&file).unwrap();
    assert!(runs(&pid));
    runner.kill().unwrap();
    runner.wait().unwrap();
    while runs(&pid) {
        assert!(begun.elapsed() < Duration::from_secs(30), "`sleep` outlives the process that ran it");
        std::thread::sleep(Duration::from_millis(10));
    }
}
