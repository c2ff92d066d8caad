//! Samples of the program counter: read, tabulated, shown beside the code they were taken in; and the names
//! of blocks and sets.

use crate::run::{fixture, folder, golden, good, notes, rockhound};
use crate::schema::Schema;
use serde_json::{Value, json};
use std::path::Path;

/// A code object, its kernel, and two of its instructions with their addresses.
fn sampled_code() -> (String, String, Vec<(u64, String)>) {
    let file = fixture("rules/res001/miss.hsaco");
    let text = good(&["inspect", "--asm", "--format", "json", &file]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let kernel = &document["kernels"][0];
    let lines = kernel["listing"]["lines"].as_array().expect("lines");
    let at = |place: usize| {
        let line = &lines[place];
        (line["address"].as_u64().expect("an address"), line["text"].as_str().expect("text").to_owned())
    };
    (file, kernel["name"].as_str().expect("a name").to_owned(), vec![at(1), at(lines.len() - 1)])
}

/// Output of a profiler: `counts` samples at each instruction, each of the last one issued.
fn write_samples(folder: &Path, kernel: &str, instructions: &[(u64, String)], counts: &[usize]) {
    let reason = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT";
    let samples: Vec<Value> = instructions
        .iter()
        .zip(counts)
        .enumerate()
        .flat_map(|(index, ((address, _), count))| {
            let sample = json!({"inst_index": index, "record": {
                "pc": {"code_object_id": 3, "code_object_offset": address}, "dispatch_id": 7,
                "wave_issued": u8::from(index + 1 == instructions.len()), "snapshot": {"stall_reason": reason}}});
            std::iter::repeat_n(sample, *count)
        })
        .collect();
    let texts: Vec<&str> = instructions.iter().map(|(_, text)| text.as_str()).collect();
    let document = json!({"rocprofiler-sdk-tool": [{
        "agents": [{"type": 2, "name": "gfx942", "cu_count": 304, "product_name": "AMD Instinct MI300X"}],
        "strings": {"pc_sample_instructions": texts, "pc_sample_comments": ["a.hip:4", "a.hip:9"]},
        "code_objects": [{"code_object_id": 3, "load_base": 65536, "load_delta": 65536}],
        "kernel_symbols": [{"kernel_id": 1, "kernel_name": format!("{kernel}.kd"), "formatted_kernel_name": ""}],
        "buffer_records": {"pc_sample_stochastic": samples, "pc_sample_host_trap": [], "kernel_dispatch": [
            {"start_timestamp": 100, "end_timestamp": 900, "dispatch_info": {"dispatch_id": 7, "kernel_id": 1,
             "agent_id": {"handle": 2}}}]}
    }]});
    std::fs::write(folder.join("9_results.json"), document.to_string()).expect("written");
}

#[test]
fn samples_alone_have_tables() {
    let (_, kernel, instructions) = sampled_code();
    let dir = folder("samples_alone");
    write_samples(&dir, &kernel, &instructions, &[3, 1]);
    let path = dir.display().to_string();
    let document: Value =
        serde_json::from_str(&good(&["analyze", "-p", &path, "-b", "21", "--format", "json"])).expect("JSON");
    let tables = document["tables"].as_array().expect("tables");
    assert_eq!((&tables[0]["id"], &tables[1]["id"]), (&json!("21.1"), &json!("21.2")));
    let row = &tables[0]["rows"][0];
    assert_eq!(row["label"], json!(instructions[0].1));
    assert_eq!(row["cells"][0], json!(3.0));
    assert_eq!(row["cells"][1], json!(75.0));
    assert_eq!(row["cells"][4], json!("waitcnt 3"));
    assert_eq!(row["cells"][5], json!(format!("{:#x}", instructions[0].0)));
    assert_eq!(row["cells"][6], json!("a.hip:4"));
    assert_eq!(tables[1]["rows"][0]["cells"], json!([4.0, 100.0, 25.0, 75.0]));
    let text = good(&["analyze", "-p", &path]);
    for part in ["Samples by Kernel", "4 samples", "(stochastic)", "PC Sampling", "waitcnt"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn samples_stand_beside_the_code() {
    let (file, kernel, instructions) = sampled_code();
    let dir = folder("samples_beside");
    write_samples(&dir, &kernel, &instructions, &[3, 1]);
    let path = dir.display().to_string();
    let text = good(&["inspect", "--asm", &file, "--workload", &path, "--width", "120"]);
    for part in ["9_results.json", "        3   75.0%      0%  waitcnt 100%", "        1   25.0%    100%"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = good(&["inspect", "--asm", &file, "--workload", &path, "--format", "json"]);
    let document: Value = serde_json::from_str(&json).expect("JSON");
    let problems = crate::schema::Schema::of("inspect-1").problems(&document);
    assert!(problems.is_empty(), "{problems:?}");
    let listing = &document["kernels"][0]["listing"];
    let sampled: Vec<&Value> = listing["lines"]
        .as_array()
        .expect("lines")
        .iter()
        .filter(|line| !line["samples"].is_null())
        .collect();
    assert_eq!(sampled.len(), 2);
    assert_eq!(sampled[0]["samples"]["count"], json!(3));
    assert_eq!(listing["samples"]["issued"], json!(25.0));

    // Without the code object only the page and the screen show something: what was sampled.
    let ran = rockhound(&["inspect", "--asm", "--workload", &path]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    ran.golden("no code object");
    let page = dir.join("page.html");
    let shown = page.display().to_string();
    let ran = rockhound(&["report", &path, "-o", &shown]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains("Only sampled"), "{html:.400}");

    // A copy in the folder is found.
    std::fs::copy(&file, dir.join("own.hsaco")).expect("copied");
    assert!(good(&["inspect", "--asm", "--workload", &path]).contains("waitcnt 100%"));

    // The address has another instruction.
    let other = vec![(instructions[0].0, "v_bogus_f32 v0, v1".to_owned()), instructions[1].clone()];
    write_samples(&dir, &kernel, &other, &[3, 1]);
    let ran = rockhound(&["inspect", "--asm", &file, "--workload", &path]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    ran.golden("another instruction");
}

#[test]
fn a_recording_without_samples_says_so() {
    let dir = folder("no_samples");
    std::fs::write(dir.join("pmc_perf.csv"), "Dispatch_ID,Kernel_Name,SQ_WAVES\n0,a,4\n").expect("written");
    std::fs::write(dir.join("sysinfo.csv"), "gpu_arch\ngfx90a\n").expect("written");
    golden("no samples", &notes(&["analyze", "-p", &dir.display().to_string(), "-b", "21"]));
}

#[test]
fn blocks_and_sets_have_names() {
    let dir = folder("block_names");
    std::fs::write(dir.join("pmc_perf.csv"), "Dispatch_ID,Kernel_Name,SQ_WAVES\n0,a,4\n").expect("written");
    std::fs::write(dir.join("sysinfo.csv"), "gpu_arch\ngfx942\n").expect("written");
    let path = dir.display().to_string();
    let blocks = rockhound(&["analyze", "-p", &path, "--list-blocks"]).stdout;
    for part in ["System Speed-of-Light", "sol", "pcsampling", "`hbm` is 17.2 17.6 30.14 30.15"] {
        assert!(blocks.contains(part), "{part}: {blocks}");
    }
    let by_name = rockhound(&["analyze", "-p", &path, "-b", "sol", "--format", "csv"]).stdout;
    let by_number = rockhound(&["analyze", "-p", &path, "-b", "2", "--format", "csv"]).stdout;
    assert!(by_name.contains("2.1.0") && by_name == by_number, "{by_name}");

    let sets = good(&["metrics", "--list-sets", "--arch", "gfx942"]);
    assert!(sets.contains("mem_thruput") && sets.contains("counters in 1 run"), "{sets}");
    let one = good(&["metrics", "--set", "mem_thruput", "--arch", "gfx942"]);
    assert!(one.contains("l2.utilization") && one.contains("TCC_BUSY"), "{one}");
    let json: Value =
        serde_json::from_str(&good(&["metrics", "--list-sets", "--format", "json"])).expect("JSON");
    assert_eq!(json["sets"].as_array().expect("sets").len(), 4);
    assert_eq!(Schema::of("sets-1").problems(&json), Vec::<String>::new());
    let ran = rockhound(&["metrics", "--set", "nothing"]);
    assert_eq!(ran.code, 64);
    ran.golden("metrics --set nothing");
}
