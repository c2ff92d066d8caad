//! Thread traces: read, tabulated, shown beside the code they were taken of, and taken up by findings.

use crate::run::{fixture, folder, golden, good, notes, rockhound};
use serde_json::{Value, json};
use std::path::Path;

/// A code object with a finding on its waits, its kernel, and its instructions: address, text.
fn code() -> (String, String, Vec<(u64, String)>) {
    let file = fixture("rules/syn001/trigger.hsaco");
    let document: Value =
        serde_json::from_str(&good(&["inspect", "--asm", "--format", "json", &file])).expect("JSON");
    let kernel = &document["kernels"][0];
    let lines = kernel["listing"]["lines"].as_array().expect("lines");
    let line = |line: &Value| {
        (line["address"].as_u64().expect("an address"), line["text"].as_str().expect("text").to_owned())
    };
    (file, kernel["name"].as_str().expect("a name").to_owned(), lines.iter().map(line).collect())
}

/// Output of a profiler: each instruction ran twice in 8 cycles, waits stalled for 92 more.
fn write_trace(folder: &Path, kernel: &str, instructions: &[(u64, String)]) {
    let rows = instructions.iter().enumerate().map(|(number, (address, text))| {
        let stall = if text.starts_with("s_waitcnt vmcnt") { 92 } else { 0 };
        json!([text, 0, number + 2, "a.hip:7", 1, address, 2, 8 + stall, stall, 4])
    });
    let name = json!([format!("; {kernel}.kd"), 0, 1, "", 1, instructions[0].0, 0, 0, 0, 0]);
    let rows: Vec<Value> = std::iter::once(name).chain(rows).collect();
    let inner = folder.join("ui_output_agent_5_dispatch_6");
    std::fs::create_dir_all(&inner).expect("a folder");
    let header = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle";
    let document = json!({"code": rows, "header": header, "version": "3.0.0"});
    std::fs::write(inner.join("code.json"), document.to_string()).expect("written");
    let waves = json!({"0": {"1": {"2": {"0": ["se0_sm1_sl2_wv0.json", 1, 2], "1": ["se0_sm1_sl2_wv1.json", 2, 3]}}}});
    let names = json!({"gfxip": 9, "gfxv": "gfx942", "wave_filenames": waves});
    std::fs::write(inner.join("filenames.json"), names.to_string()).expect("written");
    // Files of waves may be many and large: nothing but a timeline reads them.
    std::fs::write(inner.join("se0_sm1_sl2_wv0.json"), "not read").expect("written");
    std::fs::write(
        folder.join("stats_ui_output_agent_5_dispatch_6.csv"),
        "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n",
    )
    .expect("written");
}

#[test]
fn a_trace_alone_has_a_table() {
    let (_, kernel, instructions) = code();
    let dir = folder("trace_alone");
    write_trace(&dir, &kernel, &instructions);
    let path = dir.display().to_string();
    let ran = rockhound(&["analyze", "-p", &path, "-b", "21", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let tables = document["tables"].as_array().expect("tables");
    let table = tables.iter().find(|it| it["id"] == json!("21.3")).expect("the table");
    let row = &table["rows"][0];
    assert!(row["label"].as_str().expect("text").starts_with("s_waitcnt vmcnt"), "{row}");
    assert_eq!(
        (&row["cells"][0], &row["cells"][1], &row["cells"][2]),
        (&json!(2.0), &json!(100.0), &json!(92.0))
    );
    let waves = tables.iter().find(|it| it["id"] == json!("21.4")).expect("the timeline");
    assert_eq!(
        (&waves["rows"][0]["label"], &waves["rows"][0]["cells"][1]),
        (&json!("SE 0, SIMD 1, slot 2"), &json!(2.0))
    );
    let text = rockhound(&["analyze", "-p", &path]).stdout;
    for part in [
        "Thread Trace",
        "Traced Waves",
        "2 waves in 1 places over 2 cycles",
        "instructions of 2 waves of 1 dispatch (thread trace)",
        "s_waitcnt vmcnt",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The folder of the dispatch alone is the same.
    let inner = dir.join("ui_output_agent_5_dispatch_6").display().to_string();
    let text = rockhound(&["analyze", "-p", &inner]).stdout;
    assert!(text.contains("2 waves of 1 dispatch"), "{text}");
}

#[test]
fn a_trace_stands_beside_the_code_and_findings_take_it() {
    let (file, kernel, instructions) = code();
    let dir = folder("trace_beside");
    write_trace(&dir, &kernel, &instructions);
    let path = dir.display().to_string();
    let json = good(&["inspect", "--asm", &file, "--workload", &path, "--format", "json"]);
    let document: Value = serde_json::from_str(&json).expect("JSON");
    let problems = crate::schema::Schema::of("inspect-1").problems(&document);
    assert!(problems.is_empty(), "{problems:?}");
    let listing = &document["kernels"][0]["listing"];
    let lines = listing["lines"].as_array().expect("lines");
    assert_eq!((&listing["trace"]["waves"], &listing["trace"]["traced_only"]), (&json!(2), &json!(false)));
    assert!(lines.iter().all(|line| line["trace"]["hits"] == json!(2)));
    let stalled = lines.iter().filter(|line| line["trace"]["stall"] == json!(92));
    let cause = |wait: &Value| lines.iter().find(|line| line["address"] == wait["trace"]["cause"]);
    let causes: Vec<String> = stalled.filter_map(cause).map(|line| line["text"].to_string()).collect();
    assert!(causes.iter().any(|text| text.contains("_load_")), "{causes:?}");
    let findings = document["kernels"][0]["findings"].as_array().expect("findings");
    let finding = findings.iter().find(|it| it["rule"] == json!("SYN001")).expect("a finding");
    let measured = finding["evidence"].as_array().expect("evidence");
    let measured = measured.iter().find(|it| it["what"] == json!("stalled there (thread trace)"));
    assert!(
        measured.is_some_and(|it| it["value"].as_str().expect("text").starts_with("92 of ")),
        "{finding}"
    );

    let text = good(&["inspect", "--asm", &file, "--workload", &path, "--width", "120"]);
    assert!(text.contains("    hits latency   stall  of all    idle  for"), "{text}");

    // Without the code object only the page and the screen show something: what was traced.
    let ran = rockhound(&["inspect", "--asm", "--workload", &path]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    ran.golden("no code object");
    let page = dir.join("page.html");
    let shown = page.display().to_string();
    let ran = rockhound(&["report", &path, "-o", &shown]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains("Only traced"), "{html:.400}");

    // The address has another instruction.
    let mut other = instructions.clone();
    other[0].1 = "v_bogus_f32 v0, v1".to_owned();
    write_trace(&dir, &kernel, &other);
    let ran = rockhound(&["inspect", "--asm", &file, "--workload", &path]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    ran.golden("another instruction");
}

#[test]
fn an_empty_trace_says_why() {
    let Some(path) = testkit::shared("traces/att/made-empty") else { return };
    let args = ["analyze", "-p", &path.display().to_string()];
    golden("an empty trace", &format!("{}\n{}", notes(&args), rockhound(&args).stderr));
}

#[test]
fn the_sample_has_the_numbers_of_its_notes() {
    let Some(path) = testkit::shared("traces/att/made-mi300x") else { return };
    let text = rockhound(&["analyze", "-p", &path.display().to_string()]).stdout;
    for part in ["32 instructions of 4 waves of 1 dispatch", "s_waitcnt vmcnt(0)", "square(float*, float*)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let row = text.lines().find(|line| line.contains("s_waitcnt vmcnt(0)")).expect("the wait");
    for number in ["2,557", "2,541"] {
        assert!(row.contains(number) || row.contains(&number.replace(',', "")), "{row}");
    }
}
