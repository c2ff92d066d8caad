//! Tables of any name, and several runs in one folder: told by headers and launches, never joined silently.

use crate::run::{folder, golden, good, notes, rockhound};

const LONG: &str = "Correlation_Id,Dispatch_Id,Agent_Id,Grid_Size,Kernel_Name,Workgroup_Size,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n";

/// A table of rocprofv3: dispatches of kernels, each with one counter.
fn table(kernels: &[&str], counter: &str, value: u32) -> String {
    let row = |(id, kernel): (usize, &&str)| {
        let start = 1000 * id;
        format!("{id},{id},Agent 2,64,{kernel},64,{counter},{value},{start},{}\n", start + 500)
    };
    LONG.to_owned() + &kernels.iter().enumerate().map(row).collect::<String>()
}

/// A folder with files.
fn made(test: &str, files: &[(&str, String)]) -> String {
    let dir = folder(test);
    for (name, text) in files {
        std::fs::write(dir.join(name), text).unwrap();
    }
    dir.display().to_string()
}

#[test]
fn runs_are_refused_or_taken_with_runs() {
    let agents = "Node_Id,Agent_Type,Name,Cu_Count,Num_Xcc,Simd_Per_Cu,Max_Engine_Clk_Fcompute\n2,GPU,gfx942,304,8,4,2100\n";
    let dir = made(
        "runs",
        &[
            ("a_counter_collection.csv", table(&["copy", "copy"], "SQ_LDS_BANK_CONFLICT", 0)),
            ("b_counter_collection.csv", table(&["copy"], "SQ_LDS_BANK_CONFLICT", 7)),
            ("a_agent_info.csv", agents.to_owned()),
            ("b_agent_info.csv", agents.replace("304", "228")),
        ],
    );
    for args in
        [&["analyze", "-p", &dir][..], &["guide", &dir], &["roofline", &dir], &["report", &dir, "-o", "-"]]
    {
        let ran = rockhound(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}: {}", ran.stderr);
        ran.golden(&args.join(" "));
    }
    let text = good(&["analyze", "-p", &dir, "--runs", "--width", "200"]);
    for part in [
        "a_counter_collection.csv",
        "b_counter_collection.csv",
        "gfx942 · 2 dispatches",
        "gfx942 · 1 dispatch ",
    ] {
        assert!(text.contains(part), "{part} not in {text}");
    }
    let ran = rockhound(&["analyze", "-p", &dir, "--runs=merged"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    ran.golden("runs of two kinds of GPU");
    std::fs::copy(format!("{dir}/a_agent_info.csv"), format!("{dir}/b_agent_info.csv")).unwrap();
    let merged = good(&["analyze", "-p", &dir, "--runs=merged"]);
    assert!(merged.contains("3 dispatches"), "{merged}");
    std::fs::write(format!("{dir}/b_agent_info.csv"), agents.replace("304", "228")).unwrap();
    // One of them knows its machine from the file beside it.
    let one = good(&["analyze", "-p", &format!("{dir}/b_counter_collection.csv")]);
    assert!(one.contains("1 dispatch ") && one.contains("228 CUs"), "{one}");
    let ran = rockhound(&["guide", &dir, "--runs"]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    ran.golden("guide --runs");
}

#[test]
fn a_run_of_several_files_is_read_by_its_name() {
    let dir = made(
        "runs-named",
        &[
            ("a.csv", table(&["copy"], "SQ_WAVES", 1)),
            ("b.csv", table(&["fill", "fill"], "SQ_WAVES", 2)),
            ("c.csv", table(&["fill", "fill"], "SQ_INSTS_VALU", 3)),
        ],
    );
    rockhound(&["analyze", "-p", &dir]).golden("runs of any name");
    let text = good(&["analyze", "-p", &format!("{dir}/b"), "--arch", "mi300x"]);
    assert!(text.contains("2 dispatches · 1 kernel · 2 counters"), "{text}");
    let absent = rockhound(&["analyze", "-p", &format!("{dir}/d")]);
    assert_eq!(absent.code, 1, "{absent:?}");
    absent.golden("no run of this name");
    // Quotes where a shell needs them.
    let spaced = made(
        "runs named",
        &[("a.csv", table(&["copy"], "SQ_WAVES", 1)), ("b.csv", table(&["fill"], "SQ_WAVES", 2))],
    );
    rockhound(&["analyze", "-p", &spaced]).golden("runs in a folder with a space");
}

#[test]
fn passes_of_any_name_are_joined() {
    let dir = made(
        "runs-passes",
        &[
            ("first.csv", table(&["copy", "fill"], "SQ_WAVES", 4)),
            ("second.csv", table(&["copy", "fill"], "SQ_INSTS_VALU", 9)),
        ],
    );
    let text = good(&["analyze", "-p", &dir]);
    assert!(text.contains("2 dispatches · 2 kernels · 2 counters"), "{text}");
    assert!(!text.contains("order"), "{text}");
    // In another order they are joined, and it is said.
    let dir = made(
        "runs-order",
        &[
            ("first.csv", table(&["copy", "fill"], "SQ_WAVES", 4)),
            ("second.csv", table(&["fill", "copy"], "SQ_INSTS_VALU", 9)),
        ],
    );
    golden("passes in another order", &notes(&["analyze", "-p", &dir]));
}

#[test]
fn a_named_file_is_always_tried() {
    let table = table(&["copy"], "FETCH_SIZE", 9);
    let dir = made(
        "runs-tried",
        &[
            ("my.txt", table.clone()),
            ("spreadsheet.csv", format!("\u{feff}{}", table.replace(',', ";").replace('\n', "\r\n"))),
            ("trace.json", "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"copy\", \"ts\": 1, \"dur\": 2, \"args\": {\"device\": 0, \"stream\": 0}}]}".to_owned()),
        ],
    );
    for file in ["my.txt", "spreadsheet.csv"] {
        let text = good(&["analyze", "-p", &format!("{dir}/{file}")]);
        assert!(text.contains("1 dispatch · 1 kernel · 1 counter"), "{file}: {text}");
    }
    let ran = rockhound(&["analyze", "-p", &format!("{dir}/trace.json")]);
    assert_eq!(ran.code, 1);
    ran.golden("a timeline");
}
