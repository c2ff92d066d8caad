//! Files that are not part of a recording: beside a recording they are named; in its place, the command that
//! reads them is.

use crate::run::{folder, good, rockhound};

const RECORDING: &str = "Dispatch_ID,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,SQ_WAVES\n\
0,copy,64,64,1000,2000,1\n1,fill,64,64,3000,3600,1\n";
const STATS: &str =
    "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"copy\",1,1000,1000,62.5\n";
const TUNINGS: &str = "Validator,PT_VERSION,2.3.0\nGemmTunableOp_float_NT,nt_64_64_64,Default,0.1\n";
const POWER: &str = "\u{feff}time;power w;temperature;fan;note\r\n1;500,5;60;10;\r\n";
const TRACE: &str = r#"{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "copy", "ts": 1, "dur": 2, "args": {"device": 0, "stream": 0}}]}"#;

fn made(test: &str, files: &[(&str, &str)]) -> String {
    let dir = folder(test);
    for (name, text) in files {
        std::fs::write(dir.join(name), text).unwrap();
    }
    dir.display().to_string()
}

/// Text on one line, whatever it was wrapped at.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_stands_beside_a_recording_is_named() {
    let dir = made(
        "strangers",
        &[
            ("pmc_perf.csv", RECORDING),
            ("results.stats.csv", STATS),
            ("tunableop results0.csv", TUNINGS),
            ("power.csv", POWER),
            ("run.json", TRACE),
            ("settings.json", "{\"a\": 1}"),
            ("README.md", "a run\n"),
            ("timestamps.csv", "Index,KernelName,BeginNs,EndNs\n"),
        ],
    );
    let text = flat(&good(&["analyze", "-p", &dir, "--arch", "mi300x"]));
    let unused = "no part of the recording, and not used";
    for part in [
        format!(
            "results.stats.csv: sums of times by name, as `--stats` writes them; {unused}; `rockhound trace {dir}/results.stats.csv` reads it"
        ),
        format!(
            "tunableop results0.csv: tunings of TunableOp; {unused}; `rockhound tunedb lint '{dir}/tunableop results0.csv'` reads it"
        ),
        format!(
            "power.csv: a table of no profiler that is known (`time`, `power_w`, `temperature`, `fan`, …); {unused}"
        ),
        format!("run.json: a timeline; {unused}; `rockhound trace {dir}/run.json` reads it"),
    ] {
        assert!(text.contains(&part), "{part}\nnot in {text}");
    }
    for name in ["settings.json", "README.md", "timestamps.csv: a"] {
        assert!(!text.contains(name), "{name} in {text}");
    }
    // The commands that are named read the files.
    for args in [["trace", "run.json"], ["trace", "results.stats.csv"]] {
        good(&[args[0], &format!("{dir}/{}", args[1])]);
    }
    let ran = rockhound(&["tunedb", "lint", &format!("{dir}/tunableop results0.csv")]);
    assert!(ran.stdout.contains("tunableop results0.csv"), "{ran:?}");
}

#[test]
fn a_file_that_is_no_recording_is_told_what_reads_it() {
    let dir = made(
        "strangers-alone",
        &[("results.stats.csv", STATS), ("tunableop.csv", TUNINGS), ("power.csv", POWER), ("empty.csv", "")],
    );
    for (file, parts) in [
        ("results.stats.csv", ["is sums of times by name", "rockhound trace"]),
        ("tunableop.csv", ["is tunings of TunableOp", "rockhound tunedb lint"]),
        ("power.csv", ["is a table of no profiler that is known (`time`", "a row for each dispatch"]),
        ("empty.csv", ["is an empty table", "a row for each dispatch"]),
    ] {
        let ran = rockhound(&["analyze", "-p", &format!("{dir}/{file}")]);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        for part in parts {
            assert!(ran.stderr.contains(part), "{file}: {part} not in {}", ran.stderr);
        }
    }
    let one = made("strangers-one", &[("notes.txt", "x")]);
    let ran = rockhound(&["analyze", "-p", &one]);
    assert!(ran.stderr.contains("in 1 file (notes.txt)"), "{}", ran.stderr);
    let two = made("strangers-two", &[("a.txt", "x"), ("b.txt", "x")]);
    assert!(rockhound(&["analyze", "-p", &two]).stderr.contains("in 2 files (a.txt, b.txt)"));
}

#[test]
fn a_table_that_is_cut_in_its_first_row_says_so() {
    const LONG: &str = "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n";
    for (name, text, part) in [
        (
            "pmc_perf.csv",
            "Dispatch_ID,Kernel_Name,SQ_WAVES\n0,co",
            "`pmc_perf.csv`:2: the row has 2 of 3 fields",
        ),
        ("x.csv", "Index,KernelName,grd,wgr,SQ_WAVES\n0,copy,64", "`x.csv`:2: the row has 3 of 5 fields"),
        (
            "a_counter_collection.csv",
            &format!("{LONG}1,copy,SQ_"),
            "`a_counter_collection.csv`:2: the row has 3 of 4 fields",
        ),
        ("pmc_perf.csv", &format!("{LONG}1,copy"), "`pmc_perf.csv`:2: the row has 2 of 4 fields"),
        (
            "pmc_perf.csv",
            &format!("{LONG}\n\n1,copy,SQ_WAVES,1,2\n"),
            "`pmc_perf.csv`:4: the row has 5 of 4 fields",
        ),
        ("pmc_perf.csv", LONG, "holds a header and no dispatches"),
    ] {
        let dir = made("strangers-cut", &[(name, text)]);
        for path in [dir.clone(), format!("{dir}/{name}")] {
            let ran = rockhound(&["analyze", "-p", &path]);
            assert!(ran.code == 1 && ran.stderr.contains(part), "{path}: {part} not in {}", ran.stderr);
            let is_cut = part.contains("of 3")
                || part.contains("of 5")
                || (part.contains("of 4") && !part.contains("5 of"));
            assert_eq!(ran.stderr.contains("the file is cut off"), is_cut, "{}", ran.stderr);
        }
    }
}

const COUNTERS: &str = "Dispatch_Id,Kernel_Name,Grid_Size,Workgroup_Size,Counter_Name,Counter_Value\n\
1,copy,64,64,SQ_WAVES,1\n2,fill,128,64,SQ_WAVES,2\n3,copy,64,64,SQ_WAVES,1\n";

/// A kernel trace of rocprofv3 with launches: kernel and grid.
fn kernel_trace(launches: &[(&str, u32)]) -> String {
    let mut text = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\
        \"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
        .to_owned();
    for (at, (kernel, grid)) in launches.iter().enumerate() {
        let start = 1000 * (at + 1);
        text += &format!(
            "\"KERNEL_DISPATCH\",1,1,1,\"{kernel}\",{at},{start},{},64,1,1,{grid},1,1\n",
            start + 700
        );
    }
    text
}

#[test]
fn a_table_named_alone_takes_times_of_its_own_run_only() {
    let same = kernel_trace(&[("copy", 64), ("fill", 128), ("copy", 64)]);
    let v1 = "Index,KernelName,gpu-id,grd,wgr,BeginNs,EndNs\n0,\"copy [clone .kd]\",0,64,64,10,710\n\
        1,\"fill [clone .kd]\",0,128,64,20,720\n2,\"copy [clone .kd]\",0,64,64,30,730\n";
    let other_sizes = kernel_trace(&[("copy", 64), ("fill", 256), ("copy", 64)]);
    let shorter = kernel_trace(&[("copy", 64), ("fill", 128)]);
    let other_order = kernel_trace(&[("copy", 64), ("copy", 64), ("fill", 128)]);
    let not_taken = "are not taken: the dispatches are not certainly the same";
    for (name, text, taken) in [
        ("trace.csv", same.as_str(), true),
        ("results.csv", v1, true),
        ("trace.csv", &other_sizes, false),
        ("trace.csv", &shorter, false),
        ("trace.csv", &other_order, false),
        ("results.stats.csv", STATS, false),
    ] {
        let dir = made("strangers-times", &[("mine.csv", COUNTERS), (name, text)]);
        let said = flat(&good(&["analyze", "-p", &format!("{dir}/mine.csv"), "--arch", "mi300x"]));
        let is_taken =
            format!("{name}: it lists the same launches in the same order; their times are taken from it");
        assert_eq!(said.contains(&is_taken), taken, "{name}: {said}");
        assert_eq!(said.contains("· 2.10 us"), taken, "{name}: {said}");
        assert_eq!(said.contains(not_taken), !taken, "{name}: {said}");
        let typed = ["rockhound trace", "rockhound analyze -p"]
            .iter()
            .any(|command| said.contains(&format!("`{command} {dir}/{name}` reads it")));
        assert_eq!(typed, !taken, "{name}: {said}");
    }
    // Of two that fit nobody knows which.
    let dir = made("strangers-times", &[("mine.csv", COUNTERS), ("a.csv", &same), ("b.csv", &same)]);
    let said = flat(&good(&["analyze", "-p", &format!("{dir}/mine.csv"), "--arch", "mi300x"]));
    assert!(
        said.contains(&format!("a.csv, b.csv: a trace of kernels; times lie there and {not_taken}")),
        "{said}"
    );
}
