//! Choice of dispatches, folders of recordings, and treatment of recordings: options that the newest
//! profilers have too.

use crate::run::{command, folder, good, rockhound, root};

const TABLE: &str = "Index,KernelName,gpu-id,grd,wgr,BeginNs,EndNs,SQ_WAVES\n\
0,\"copy(int*)\",0,64,64,1000,2000,1\n\
1,\"fill(int*)\",0,64,64,3000,3500,2\n\
2,\"copy(int*)\",0,64,64,4000,5100,3\n\
3,\"copy(int*)\",0,64,64,6000,7200,4\n";

fn table(test: &str) -> (std::path::PathBuf, String) {
    let dir = folder(test);
    let file = dir.join("tab.csv");
    std::fs::write(&file, TABLE).unwrap();
    (dir, file.display().to_string())
}

#[test]
fn launches_of_each_kernel_are_counted_from_one() {
    let (_, file) = table("selection-iterations");
    for (range, dispatches) in [
        (&["1"][..], "2 of 4 dispatches"),
        (&["2-3"], "2 of 4 dispatches"),
        (&["[2-3]"], "2 of 4 dispatches"),
        (&[">1"], "2 of 4 dispatches"),
        (&["1", "3"], "3 of 4 dispatches"),
        (&["1,3"], "3 of 4 dispatches"),
        (&["<=3"], "4 dispatches"),
    ] {
        let args =
            [&["analyze", "-p", &file, "--arch", "mi300x", "--kernel-iteration-range"], range].concat();
        let text = good(&args);
        assert!(text.contains(&format!("· {dispatches} ·")), "{range:?}: {text}");
    }
    for range in ["9", "0", "x", "3-2"] {
        let ran = rockhound(&["analyze", "-p", &file, "--kernel-iteration-range", range]);
        assert_ne!(ran.code, 0, "{range}");
        ran.golden(&format!("analyze --kernel-iteration-range {range}"));
    }
}

#[test]
fn words_in_the_folder_of_a_recording_are_replaced() {
    let dir = folder("selection-words");
    let output = format!("{}/%hostname%/%gpu%-%env{{ROCKHOUND_TEST_JOB}}%-100%%", dir.display());
    let ran = command(&[
        "profile",
        "examples/vector_copy/LAUNCH.toml",
        "--counters-only",
        "-o",
        &output,
        "-b",
        "10",
    ])
    .env("ROCKHOUND_TEST_JOB", "a/7")
    .output()
    .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let made = dir.join(host.trim()).join("MI300X-a_7-100%");
    assert!(
        made.join("pmc_perf.csv").is_file(),
        "{} in {:?}",
        made.display(),
        std::fs::read_dir(&dir).unwrap().collect::<Vec<_>>()
    );
    for (word, message) in
        [("%nosuch%", "`%nosuch%`"), ("%env{ROCKHOUND_TEST_ABSENT}%", "ROCKHOUND_TEST_ABSENT")]
    {
        let output = format!("{}/{word}", dir.display());
        let ran = rockhound(&["profile", "examples/vector_copy/LAUNCH.toml", "-o", &output]);
        assert!(ran.code != 0 && ran.stderr.contains(message), "{word}: {}", ran.stderr);
    }
}

#[test]
fn a_roofline_has_kernels_or_single_dispatches() {
    let recording = root().join("examples/heat3d").display().to_string();
    let kernels = good(&["roofline", &recording]);
    let dispatches = good(&["roofline", &recording, "--roofline-sort", "dispatches"]);
    let points = |text: &str| {
        text.lines()
            .filter(|line| {
                line.trim_start().starts_with(|c: char| c.is_ascii_uppercase()) && line.contains(" % ")
            })
            .count()
    };
    assert!(points(&dispatches) >= points(&kernels), "{kernels}\n{dispatches}");
    // Each is called by its number.
    assert!(dispatches.contains(") #1") && !kernels.contains(") #"), "{kernels}\n{dispatches}");
    let picture = folder("selection-roofline").join("r.svg").display().to_string();
    assert_eq!(rockhound(&["roofline", &recording, "--sort", "dispatches", "-o", &picture]).code, 0);
    assert!(std::fs::read_to_string(&picture).unwrap().contains(") #1"));
    assert_eq!(rockhound(&["roofline", &recording, "--roofline-sort", "x"]).code, 64);
}

/// The trace of the table's run: each launch below an operator.
fn trace(operators: [&str; 4]) -> String {
    let launches = [
        ("copy(int*)", 1.0, 1.0),
        ("fill(int*)", 3.0, 0.5),
        ("copy(int*)", 4.0, 1.1),
        ("copy(int*)", 6.0, 1.2),
    ];
    let mut events = Vec::new();
    for (at, ((kernel, start, time), operator)) in launches.into_iter().zip(operators).enumerate() {
        let (call, at) = (start - 0.4, at + 1);
        events.push(format!(
            r#"{{"ph": "X", "cat": "cpu_op", "name": "{operator}", "pid": 1, "tid": 1, "ts": {}, "dur": 0.3, "args": {{"External id": {at}}}}},
{{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": {call}, "dur": 0.1, "args": {{"External id": {at}, "correlation": {at}}}}},
{{"ph": "X", "cat": "kernel", "name": "{kernel}", "pid": 2, "tid": 0, "ts": {start}, "dur": {time}, "args": {{"device": 0, "stream": 0, "correlation": {at}, "External id": {at}}}}}"#,
            call - 0.05
        ));
    }
    format!("{{\"traceEvents\": [{}]}}", events.join(",\n"))
}

#[test]
fn counters_are_summed_by_the_operators_of_a_trace() {
    let (dir, file) = table("selection-operators");
    let path = dir.join("trace.json");
    std::fs::write(&path, trace(["aten::mm", "aten::fill_", "aten::mm", "aten::relu"])).unwrap();
    let path = path.display().to_string();
    let text = good(&["analyze", "-p", &file, "--arch", "mi300x", "--trace", &path]);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.contains("Counters by Operator"))
        .filter(|line| line.contains("SQ_WAVES") && line.contains("aten::"))
        .map(|line| line.split_whitespace().skip(2).collect())
        .collect();
    assert_eq!(
        rows,
        [
            ["aten::mm", "2", "2", "1", "3", "4"],
            ["aten::relu", "1", "4", "4", "4", "4"],
            ["aten::fill_", "1", "2", "2", "2", "2"]
        ],
        "{text}"
    );
    let absent = rockhound(&["analyze", "-p", &file, "--trace", "/nowhere.json"]);
    assert!(absent.code != 0 && absent.stderr.contains("/nowhere.json"), "{}", absent.stderr);
}

#[test]
fn an_analysis_is_written_as_a_database() {
    let (dir, file) = table("selection-db");
    let path = dir.join("a.db").display().to_string();
    let ran = rockhound(&["analyze", "-p", &file, "--arch", "mi300x", "--format", "db", "-o", &path]);
    assert!(ran.code == 0 && ran.stderr.contains("wrote"), "{}", ran.stderr);
    assert!(std::fs::read(&path).unwrap().starts_with(b"SQLite format 3\0"));
    // It has a file to go to, and no judgement.
    let ran = rockhound(&["analyze", "-p", &file, "--format", "db"]);
    assert!(ran.code == 64 && ran.stderr.contains("`-o analysis.db`"), "{}", ran.stderr);
    if testkit::needs(&["sqlite3"]) {
        let ask = |query: &str| testkit::run("sqlite3", &[&path, query]);
        assert_eq!(
            ask(
                "SELECT kernel_name, count(*) FROM compute_kernel JOIN compute_dispatch USING (kernel_uuid) GROUP BY 1 ORDER BY 1"
            ),
            "copy(int*)|3\nfill(int*)|1\n"
        );
        assert_eq!(ask("SELECT sum(end_timestamp - start_timestamp) FROM compute_dispatch").trim(), "3800");
        // Unknown values are absent, not 0.
        assert_eq!(ask("SELECT count(*) FROM compute_kernel_metric_value WHERE value IS NULL").trim(), "0");
    }
}

#[test]
fn launches_of_each_kernel_are_selected_by_their_number() {
    let dir = folder("profile-iterations").display().to_string();
    for (range, rest) in [
        ("x", &["-o", &dir, "--", "true"][..]),
        ("0", &["-o", &dir, "--", "true"]),
        ("1", &["examples/vector_copy/LAUNCH.toml"]),
    ] {
        let ran = rockhound(&[&["profile", "--kernel-iteration-range", range], rest].concat());
        assert_eq!(ran.code, 64, "{range}: {}", ran.stderr);
        ran.golden(&format!("profile --kernel-iteration-range {range}"));
    }
}
