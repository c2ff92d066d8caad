//! Real HIP programs, compiled here, on this library.
//!
//! A program checks its own results and calls; its exit code is the number of checks that failed. What the
//! library says goes to standard error and is compared.

use crate::compiled::{self, counter, prepared};
use host::session::{Record, Session};
use record::Settings;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a part of the first program on a GPU.
fn session(folder: &Path, gpu: &str, arguments: &[&str]) -> Output {
    program(folder, "session", gpu, arguments).output().unwrap()
}

/// A program on a GPU.
fn program(folder: &Path, name: &str, gpu: &str, arguments: &[&str]) -> Command {
    let mut command = compiled::on(folder, &folder.join(name), gpu);
    command.args(arguments);
    command
}

#[test]
fn parts_pass_on_every_gpu_with_code() {
    let Some(folder) = prepared() else { return };
    for gpu in ["mi210", "mi300x"] {
        for part in ["copies", "reductions", "symbols", "queries", "bad", "rare"] {
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
    for part in ["store of 4", "allocation", "`stray(int*)`", "lane 0"] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_gpu_without_code_is_named_with_the_code_there_is() {
    let Some(folder) = prepared() else { return };
    let output = session(folder, "mi355x", &["copies"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.code(), Some(0));
    assert!(said.contains("gfx90a, gfx942") && said.contains("MI355X (gfx950)"), "{said}");
}

/// Output of the kernel `lines`.
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
        for (gpu, threads) in [("mi300x", 1), ("mi300x", 2), ("mi210", 4)] {
            let session = Session { gpu: gpu.to_owned(), threads, ..Session::default() };
            let mut command = compiled::with(folder, &folder.join(name), &session);
            let output = command.arg("lines").output().unwrap();
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
        // Every lane has the same message; one of them says it.
        assert!(said.matches(assertion).count() <= 1, "{said}");
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
        ("barrier", "hipSuccess, 33 right\n", None, ""),
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
fn a_mistake_is_named_once_however_often_it_runs() {
    let Some(folder) = prepared() else { return };
    // (part, what is looked for, rule, findings, lines of each)
    for (part, check, rule, findings, lines) in [
        ("race", "races", "CHK001", 1, 2),
        ("right", "races", "CHK001", 0, 2),
        ("fresh", "uninit", "CHK003", 1, 1),
        ("fresh", "races", "CHK003", 0, 1),
        ("cleared", "uninit", "CHK003", 0, 1),
        ("copied", "uninit", "CHK003", 0, 1),
        ("stored", "uninit", "CHK003", 0, 1),
    ] {
        let session = folder.join(format!("session-{part}"));
        let _ = std::fs::remove_dir_all(&session);
        std::fs::create_dir_all(&session).unwrap();
        Session { check: vec![check.into()], ..Session::default() }.write(&session).unwrap();
        let output =
            compiled::in_session(folder, &folder.join("racing"), &session).arg(part).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert_eq!(said.matches(rule).count(), findings, "{part}: {said}");
        assert_eq!(said.matches("racing.cpp:").count(), lines * findings, "{part}: {said}");
        let files = std::fs::read_dir(&session).unwrap().map(|entry| entry.unwrap().path());
        let counted: usize = files
            .filter(|path| path.extension().is_some_and(|it| it == "checks"))
            .map(|path| std::fs::read_to_string(path).unwrap().lines().count())
            .sum();
        assert_eq!(counted, findings);
    }
}

#[test]
fn graphs_are_built_captured_and_updated() {
    let Some(folder) = prepared() else { return };
    for gpu in ["mi210", "mi300x"] {
        let output = program(folder, "graphs", gpu, &[]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "0 failed\n", "{gpu}: {output:?}");
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{gpu}: {output:?}");
    }
}

#[test]
fn what_few_programs_use_works() {
    let Some(folder) = prepared() else { return };
    for gpu in ["mi210", "mi300x"] {
        for part in
            ["virtual", "pools", "graphs", "objects", "captures", "images", "copies", "busy", "processes"]
        {
            let output = program(folder, "further", gpu, &[part]).current_dir(folder).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(printed.lines().last(), Some("0 failed"), "{gpu} {part}: {output:?}");
            assert_eq!(output.status.code(), Some(0), "{gpu} {part}: {output:?}");
        }
    }
}

#[test]
fn wrong_arguments_are_refused_as_amd_does() {
    let Some(folder) = prepared() else { return };
    for gpu in ["mi210", "mi300x"] {
        for part in ["memory", "pools", "pointers", "waiting", "graphs", "launches"] {
            let output = program(folder, "refusing", gpu, &[part]).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(printed, "0 failed\n", "{gpu} {part}: {output:?}");
            assert_eq!(output.status.code(), Some(0), "{gpu} {part}: {output:?}");
        }
    }
}

#[test]
fn devices_have_one_name_each() {
    let Some(folder) = prepared() else { return };
    let session = Session { gpu: "mi300x".to_owned(), devices: 2, ..Session::default() };
    let output = compiled::with(folder, &folder.join("refusing"), &session).arg("devices").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 failed\n", "{output:?}");
}

#[test]
fn programs_compile_their_kernels() {
    let Some(folder) = prepared() else { return };
    for gpu in ["mi210", "mi300x", "mi350x"] {
        for (part, printed) in [
            ("whole", ""),
            ("wrong", ""),
            ("linked", ""),
            ("libraries", "at 6.566\n"),
            ("declared", ""),
            ("halves", ""),
            ("bfloats", ""),
            ("eights", ""),
            ("vectors", ""),
            ("managed", ""),
        ] {
            // Only conversions of eight bits differ between the two generations of matrix cores.
            if gpu == "mi350x" && part != "eights" {
                continue;
            }
            let output = program(folder, "compiling", gpu, &[part]).output().unwrap();
            let expected = format!("{printed}0 failed\n");
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{gpu} {part}: {output:?}");
            assert_eq!(output.status.code(), Some(0), "{gpu} {part}: {output:?}");
        }
    }
}

#[test]
fn a_machine_with_one_compiler_and_no_libraries_compiles_too() {
    let Some(folder) = prepared() else { return };
    for compiler in ["/usr/bin/clang++-19", "/usr/bin/clang++-22"] {
        if !testkit::needs(&[compiler]) {
            continue;
        }
        let mut command = program(folder, "compiling", "mi300x", &["whole"]);
        // A folder without device libraries hides the system's.
        let output =
            command.env("ROCKHOUND_CLANG", compiler).env("HIP_DEVICE_LIB_PATH", "").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "0 failed\n", "{compiler}: {output:?}");
    }
}

#[test]
fn a_machine_without_a_compiler_for_the_gpu_says_so() {
    let Some(folder) = prepared() else { return };
    for (compiler, expected) in [
        (
            "/bin/false",
            "no compiler of this machine can build for gfx942:sramecc+:xnack-:\n  /bin/false: it fails\n",
        ),
        ("/nowhere/clang++", "  /nowhere/clang++: error: it cannot be started: "),
    ] {
        let mut command = program(folder, "compiling", "mi300x", &["missing"]);
        let output = command.env("ROCKHOUND_CLANG", compiler).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let log = String::from_utf8_lossy(&output.stdout);
        for text in [&said, &log] {
            assert!(text.contains(expected) && text.contains("hint: install one"), "{text}");
        }
        assert_eq!(said.matches("rockhound:").count(), 1, "{said}");
        assert_eq!(output.status.code(), Some(0), "{log}");
    }
}

#[test]
fn memory_that_only_the_host_has_is_named() {
    use std::os::unix::process::ExitStatusExt;
    let Some(folder) = prepared() else { return };
    for (part, place) in [("heap", "`malloc`"), ("local", "a local variable")] {
        let output = program(folder, "launching", "mi300x", &[part]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(6), "{said}");
        for text in ["store of 4", place, "`hipHostRegister`", "`HSA_XNACK=1`"] {
            assert!(said.contains(text), "{text}: {said}");
        }
        assert!(!said.contains("runtime"), "{said}");
    }
}

#[test]
fn kernels_reach_all_memory_where_page_faults_are_retried() {
    let Some(folder) = prepared() else { return };
    for gpu in ["mi210", "mi300a"] {
        for part in ["pageable", "heap", "local"] {
            let output = program(folder, "launching", gpu, &[part]).env("HSA_XNACK", "1").output().unwrap();
            assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{gpu} {part}: {output:?}");
        }
    }
}

#[test]
fn files_that_are_not_there_are_the_programs_affair() {
    let Some(folder) = prepared() else { return };
    let output = program(folder, "launching", "mi300x", &["probing"]).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

#[test]
fn a_launch_costs_little_however_many_there_were() {
    let Some(folder) = prepared() else { return };
    let time = |count: &str| {
        let output = program(folder, "launching", "mi300x", &["many", count]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        said.split(' ').next().and_then(|it| it.parse::<f64>().ok()).unwrap()
    };
    // Other work on the machine makes single runs slow.
    let best = |count| (0..3).map(|_| time(count)).fold(f64::MAX, f64::min);
    let (few, many) = (best("2000"), best("20000"));
    println!("{few} us a launch of 2,000, {many} us of 20,000");
    assert!(many < 4.0 * few, "{few} us, then {many} us");
}

#[test]
fn launches_on_unchanged_memory_are_counted() {
    let Some(folder) = prepared() else { return };
    for (repeats, expected) in [(true, "22 of 47 launches were counted, not run"), (false, "")] {
        let session = Session { gpu: "mi300x".to_owned(), repeats, ..Session::default() };
        let mut command = compiled::with(folder, &folder.join("launching"), &session);
        let output = command.arg("repeats").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(said.contains(expected) && said.is_empty() != repeats, "{said}");
    }
    // A recording has all of them.
    recorded(folder, "mi300x", &["repeats"], "repeats", Record::default());
    let workload = folder.join("times-repeats/workload");
    let times = recorded_times(&workload);
    let taken = std::fs::read_to_string(workload.join("pmc_repeats.jsonl")).unwrap();
    assert_eq!((times.len(), taken.lines().last()), (47, Some("{\"dispatch\": 46, \"taken_from\": 43}")));
    assert!(times[2..20].iter().all(|it| (it - times[2]).abs() < 2e-6), "{times:?}");
}

#[test]
fn clocks_of_the_program_move_by_modelled_time() {
    let Some(folder) = prepared() else { return };
    let printed = |virtual_time: bool| {
        let session = session_folder(folder, &format!("clocks-{virtual_time}"));
        let asked = Session { virtual_time, ..Session::default() };
        let mut command = compiled::recording(folder, &folder.join("launching"), &session, asked);
        let output = command.arg("clocks").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let microseconds: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
        (microseconds, 1e3 * recorded_times(&session.join("workload"))[0])
    };
    // Other work on the machine stops a program between its two looks at the clock.
    let shortest = (0..3).map(|_| printed(true)).min_by(|one, other| one.0.total_cmp(&other.0));
    let (virtual_time, modelled) = shortest.unwrap();
    assert!(
        (modelled..modelled + 20_000.0).contains(&virtual_time),
        "{virtual_time} us, modelled {modelled} us"
    );
    assert!(printed(false).0 > 3.0 * virtual_time, "{virtual_time} us");
}

/// An empty folder for a session.
fn session_folder(folder: &Path, name: &str) -> std::path::PathBuf {
    let session = folder.join(format!("times-{name}"));
    let _ = std::fs::remove_dir_all(&session);
    std::fs::create_dir_all(&session).unwrap();
    session
}

/// A run of the program that is recorded into a folder with such a name.
fn recorded(folder: &Path, gpu: &str, arguments: &[&str], name: &str, record: Record) -> Output {
    let session = session_folder(folder, name);
    let asked = Session { gpu: gpu.to_owned(), record: Some(record), ..Session::default() };
    let mut command = compiled::recording(folder, &folder.join("launching"), &session, asked);
    let output = command.args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    output
}

#[test]
fn an_empty_kernel_takes_time_also_when_its_code_is_cached() {
    let Some(folder) = prepared() else { return };
    for gpu in ["mi250x", "mi300x"] {
        let name = format!("empty-{gpu}");
        recorded(folder, gpu, &["many", "4"], &name, Record::default());
        let times = recorded_times(&folder.join(format!("times-{name}/workload")));
        println!("{gpu}: {times:?} ms");
        // Code comes from memory first, then from the instruction cache.
        assert!(times.len() == 4 && times[0] > 200e-6 && times[1..].iter().all(|it| *it > 5e-6), "{times:?}");
    }
}

/// Part of the note on times that no hardware gave.
const MODELLED: &str = "events are modelled";

/// Milliseconds that the program's events give, on a GPU that is recorded; what is said.
fn event_times(folder: &Path, gpu: &str, name: &str, record: Record) -> (Vec<f64>, String) {
    let output = recorded(folder, gpu, &["times"], name, record);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let times = printed.lines().map(|line| line.parse().unwrap()).collect();
    (times, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Milliseconds of the dispatches of a recording.
fn recorded_times(folder: &Path) -> Vec<f64> {
    let [starts, ends] = ["Start_Timestamp", "End_Timestamp"].map(|name| counter(folder, name));
    // One right after the other, also where they were added to the files later.
    assert!(starts.iter().skip(1).zip(&ends).all(|(start, end)| start == end), "{starts:?} {ends:?}");
    starts.iter().zip(ends).map(|(start, end)| (end - start) / 1e6).collect()
}

#[test]
fn times_between_events_are_those_of_the_recording() {
    let Some(folder) = prepared() else { return };
    let (times, said) = event_times(folder, "mi300x", "modelled", Record::default());
    assert_eq!(said.matches(MODELLED).count(), 1, "{said}");
    let milliseconds = recorded_times(&folder.join("times-modelled/workload"));
    assert_eq!(milliseconds.len(), 3);
    let costs = &arch::Model::by_name("mi300x").unwrap().target().launch;
    let event = costs.event_ns().unwrap() / 1e6;
    let queued = f64::from(costs.queued_ns.value().unwrap()) / 1e6;
    let kernels = [milliseconds[0] + queued, milliseconds[1] + milliseconds[2] + 2.0 * queued];
    // 64 MB over a link of 64 GB/s; read at 4199 and written at 3345 GB/s; written.
    let copies = [1.0, 64.0 / 4199.0 + 64.0 / 3345.0 + queued, 64.0 / 3345.0 + queued, 0.0];
    for (time, work) in times.iter().zip(kernels.into_iter().chain(copies)) {
        let expected = work + event;
        // The recording has whole nanoseconds, the program six decimals.
        assert!((time - expected).abs() < 4e-6, "{times:?}: {time} and {expected}");
    }
}

#[test]
fn times_between_events_are_modelled_without_a_recording() {
    let Some(folder) = prepared() else { return };
    let output = program(folder, "launching", "mi300x", &["times"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(MODELLED), "{said}");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let times: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    // A kernel of 65,536 stores and its events take 3 to 8 us, two 1 to 5 more.
    assert!((3e-3..8e-3).contains(&times[0]), "{times:?}");
    assert!((1e-3..5e-3).contains(&(times[1] - times[0])), "{times:?}");
}

#[test]
fn times_between_events_of_sampled_launches_are_modelled() {
    let Some(folder) = prepared() else { return };
    // 131,072 workgroups, of which 40,000 fill the MI210 and its L2 often enough for a time.
    let times = |name: &str, most_workgroups: Option<u64>| {
        let settings = Settings { most_workgroups, shares_xcds: true, ..Settings::default() };
        let record = Record { settings, ..Record::default() };
        let output = recorded(folder, "mi210", &["times", "33554432"], name, record);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.matches(MODELLED).count(), 1, "{said}");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        printed.lines().take(2).map(|line| line.parse().unwrap()).collect::<Vec<f64>>()
    };
    let [whole, sampled] =
        [("whole-times", None), ("sampled-times", Some(40_000))].map(|it| times(it.0, it.1));
    for (whole, sampled) in whole.iter().zip(&sampled) {
        assert!((sampled / whole - 1.0).abs() < 0.1, "{whole} ms, of a sample {sampled}");
    }
}

#[test]
fn times_without_a_clock_are_those_of_the_emulation() {
    let Some(folder) = prepared() else { return };
    let counters = Settings { counters_only: true, ..Settings::default() };
    for (name, record, expected) in [
        (
            "counters",
            Record { settings: counters, ..Record::default() },
            "how long the emulation took, not what a GPU would take",
        ),
        (
            "selected",
            Record { limit: Some(1), ..Record::default() },
            "not all work between them has a modelled time",
        ),
    ] {
        let (times, said) = event_times(folder, "mi300x", name, record);
        assert_eq!(said.matches(expected).count(), 1, "{name}: {said}");
        assert!(times[1] > 0.0, "{name}: {times:?}");
    }
}

#[test]
fn a_session_that_cannot_be_used_ends_the_program() {
    let Some(folder) = prepared() else { return };
    let session = folder.join("session-wrong");
    let _ = std::fs::remove_dir_all(&session);
    std::fs::create_dir_all(&session).unwrap();
    for (text, expected) in [
        ("{\"gpu\": \"mi999\"}", "there is no GPU `mi999`"),
        ("{\"devices\": 65}", "`devices` is 65"),
        ("{\"record\": {\"output\": \"x\", \"settings\": {\"what_if\": [\"vgpr=many\"]}}}", "vgpr"),
        ("not JSON", "cannot use the session in"),
    ] {
        std::fs::write(session.join("session.json"), text).unwrap();
        let mut command = compiled::in_session(folder, &folder.join("session"), &session);
        let output = command.arg("queries").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{text}: {said}");
        assert!(said.contains(expected), "{text}: {said}");
    }
}
