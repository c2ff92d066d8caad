//! Files that are not part of a recording: beside a recording they are named; in its place, the command that
//! reads them is.

use crate::run::{folder, golden, good, notes, rockhound};

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
    golden("beside a recording", &notes(&["analyze", "-p", &dir, "--arch", "mi300x"]));
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
    for file in ["results.stats.csv", "tunableop.csv", "power.csv", "empty.csv"] {
        let ran = rockhound(&["analyze", "-p", &format!("{dir}/{file}")]);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        ran.golden(file);
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
    for (section, name, text) in [
        ("2 of 3", "pmc_perf.csv", "Dispatch_ID,Kernel_Name,SQ_WAVES\n0,co"),
        ("3 of 5", "x.csv", "Index,KernelName,grd,wgr,SQ_WAVES\n0,copy,64"),
        ("3 of 4", "a_counter_collection.csv", &format!("{LONG}1,copy,SQ_")),
        ("2 of 4", "pmc_perf.csv", &format!("{LONG}1,copy")),
        ("5 of 4", "pmc_perf.csv", &format!("{LONG}\n\n1,copy,SQ_WAVES,1,2\n")),
        ("no row", "pmc_perf.csv", LONG),
    ] {
        let dir = made("strangers-cut", &[(name, text)]);
        for (path, what) in [(dir.clone(), "folder"), (format!("{dir}/{name}"), "file")] {
            let ran = rockhound(&["analyze", "-p", &path]);
            assert_eq!(ran.code, 1, "{}", ran.stderr);
            ran.golden(&format!("{what} with {section} fields"));
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
    for (name, text, taken) in [
        ("trace.csv", same.as_str(), true),
        ("results.csv", v1, true),
        ("trace.csv", &other_sizes, false),
        ("trace.csv", &shorter, false),
        ("trace.csv", &other_order, false),
        ("results.stats.csv", STATS, false),
    ] {
        let dir = made("strangers-times", &[("mine.csv", COUNTERS), (name, text)]);
        let path = format!("{dir}/mine.csv");
        let args = ["analyze", "-p", &path, "--arch", "mi300x"];
        let said = good(&args);
        assert_eq!(said.contains("· 2.10 us"), taken, "{name}: {said}");
        golden(&format!("times {}taken from {name}", if taken { "" } else { "not " }), &notes(&args));
    }
    // Of two that fit nobody knows which.
    let dir = made("strangers-times", &[("mine.csv", COUNTERS), ("a.csv", &same), ("b.csv", &same)]);
    let path = format!("{dir}/mine.csv");
    golden("times of two", &notes(&["analyze", "-p", &path, "--arch", "mi300x"]));
}
