//! `rockhound trace` and `rockhound comm`: timelines and communication, in every format.

use crate::run::{folder, good, rockhound, rockhound_with_input};
use serde_json::Value;

/// A PyTorch trace of one rank: 30 products and 30 collectives that each last `wait` us.
fn trace(rank: u32, wait: u32) -> String {
    let mut events = Vec::new();
    for at in 0..30 {
        let (start, id) = (at * 1000, at + 1);
        events.push(format!(
            r#"{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{start},"dur":9,"args":{{"External id":{id},"Input Dims":[[512,64],[64,512]],"Input Strides":[[64,1],[512,1]],"Input type":["float","float"]}}}}"#
        ));
        events.push(format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":{start}.5,"dur":2,"args":{{"External id":{id},"correlation":{id}}}}}"#
        ));
        events.push(format!(
            r#"{{"ph":"X","cat":"kernel","name":"Cijk_Ailk <b>&\"","pid":2,"tid":0,"ts":{},"dur":100.25,"args":{{"External id":{id},"device":0,"stream":0,"correlation":{id},"grid":[8,1,1],"block":[256,1,1]}}}}"#,
            start + 20
        ));
        events.push(format!(
            r#"{{"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic","pid":2,"tid":4,"ts":{},"dur":{wait},"args":{{"device":0,"stream":4,"correlation":{id},"Collective name":"allreduce","In msg nelems":1024,"Out msg nelems":1024,"Group size":8,"dtype":"Float"}}}}"#,
            start + 900 - wait
        ));
    }
    format!(
        r#"{{"deviceProperties":[{{"id":0,"name":"AMD Instinct MI300X","numSms":304}}],"distributedInfo":{{"rank":{rank},"world_size":8}},"traceEvents":[{}]}}"#,
        events.join(",\n")
    )
}

fn files(test: &str) -> [String; 2] {
    let dir = folder(test);
    [(0, 300), (1, 40)].map(|(rank, wait)| {
        let path = dir.join(format!("rank{rank}.json"));
        std::fs::write(&path, trace(rank, wait)).unwrap();
        path.display().to_string()
    })
}

#[test]
fn a_trace_says_where_its_time_goes() {
    let [one, _] = files("trace-one");
    let text = good(&["trace", &one, "--width", "140"]);
    for part in [
        "PyTorch profiler trace",
        "AMD Instinct MI300X, 304 CUs",
        "0 of 8",
        "60 kernels",
        "512 × 512 × 64",
        "allreduce",
        "TRC001",
        "TRC004",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: Value = serde_json::from_str(&good(&["trace", &one, "--format", "json"])).unwrap();
    assert_eq!(json["schema"], "rockhound.trace/2");
    let time = json["tables"].as_array().unwrap().iter().find(|t| t["id"] == "1.1").unwrap();
    assert_eq!(time["rows"][1]["label"], "busy: anything runs");
    assert_eq!(time["rows"][1]["cells"][0], 30.0 * 0.40025);
    let csv = good(&["trace", &one, "--format", "csv"]);
    assert!(
        csv.starts_with("recording,table,panel,title,row,label") && csv.contains("rank0.json,2.1,kernels"),
        "{csv}"
    );
    assert!(good(&["trace", &one, "--format", "markdown"]).contains("## 2.1 "));
    let sarif: Value = serde_json::from_str(&good(&["trace", &one, "--format", "sarif"])).unwrap();
    assert!(!sarif["runs"][0]["results"].as_array().unwrap().is_empty());
    // Some kernels, some time.
    let some = good(&["trace", &one, "-k", "Cijk", "--from", "5ms", "--to", "8ms", "-b", "2.2"]);
    assert!(some.contains("gemm") && !some.contains("communication "), "{some}");
    assert!(some.contains("3 kernels"), "{some}");
}

#[test]
fn ranks_and_changes() {
    let [one, two] = files("trace-ranks");
    let text = good(&["trace", &one, &two, "--width", "140"]);
    for part in ["9.1  Ranks", "TRC005", "30 of 30"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = good(&["trace", &two, "--base", &one, "-b", "1.1", "--width", "140"]);
    assert!(text.contains("-86.7 %"), "{text}");
    let ran = rockhound(&["trace", &one, &two, "--base", &one]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    assert_eq!(rockhound(&["trace", &one, "--fail-on", "TRC004"]).code, 2);
    assert_eq!(rockhound(&["trace", &one, "--fail-on", "TRC007"]).code, 0);
}

#[test]
fn exports_say_the_same() {
    let [one, _] = files("trace-export");
    let time = |path: &str| -> Value {
        let json: Value =
            serde_json::from_str(&good(&["trace", path, "--format", "json", "-b", "1.1"])).unwrap();
        json["tables"][0]["rows"][1]["cells"][0].clone()
    };
    let wanted = time(&one);
    for (kind, name) in [("chrome", "out.json"), ("perfetto", "out.pftrace")] {
        let out = folder(&format!("trace-export-{kind}")).join(name).display().to_string();
        good(&["trace", &one, "--export", kind, "-o", &out]);
        assert_eq!(time(&out), wanted, "{kind}");
    }
    let page = folder("trace-page").join("run.html").display().to_string();
    let ran = rockhound(&["trace", &one, "-o", &page]);
    assert!(ran.code == 0 && ran.stderr.starts_with("wrote "), "{ran:?}");
    let html = std::fs::read_to_string(page).unwrap();
    assert!(
        html.contains("<canvas") && html.contains("sha256-") && !html.contains("<b>&\\\""),
        "names stay text"
    );
    let list = folder("trace-untuned").join("list.csv").display().to_string();
    // How many there are is said on standard error.
    assert_eq!(rockhound(&["trace", &one, "--untuned", &list]).code, 0);
    let list = std::fs::read_to_string(list).unwrap();
    assert_eq!(list, "GemmTunableOp_float_NN,nn_512_512_64_ld_512_64_512\n");
}

#[test]
fn emulated_recordings_are_timelines() {
    let example = crate::run::root().join("examples/heat3d").display().to_string();
    let text = good(&["trace", &example]);
    assert!(text.contains("recording") && text.contains("heat"), "{text}");
    let kernels = |path: &str| -> Value {
        let json: Value =
            serde_json::from_str(&good(&["trace", path, "--format", "json", "-b", "2.1"])).unwrap();
        let rows = json["tables"][0]["rows"].as_array().unwrap().clone();
        rows.into_iter().map(|row| Value::from(vec![row["label"].clone(), row["cells"][0].clone()])).collect()
    };
    let wanted = kernels(&example);
    for (kind, name) in [("chrome", "out.json"), ("perfetto", "out.pftrace")] {
        let out = folder(&format!("trace-emulated-{kind}")).join(name).display().to_string();
        good(&["trace", &example, "--export", kind, "-o", &out]);
        assert_eq!(kernels(&out), wanted, "{kind}");
    }
}

#[test]
fn reports_of_traces() {
    let [one, other] = files("trace-report");
    let page = |arguments: &[&str]| {
        let ran = rockhound(&[&["report"], arguments, &["-o", "-"]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        ran.stdout
    };
    let html = page(&[&one]);
    for part in ["id=\"timeline\"", "60 on the GPU", "TRC001", "<bdi>rank0.json</bdi>"] {
        assert!(html.contains(part), "{part}");
    }
    let ranks = page(&[&one, &other]);
    assert!(ranks.contains("rank0.json and 1 more") && ranks.contains("120 on the GPU"));
    let compared = page(&[&other, "--base", &one]);
    assert!(
        compared.contains("rank1.json against rank0.json")
            && compared.contains("<span class=\"badge base\">")
    );
    let narrowed = page(&[&one, "-k", "nccl"]);
    assert!(narrowed.contains("30 on the GPU"));
    // Options for recordings only are refused for traces.
    let ran = rockhound(&["report", &one, "-d", "1", "-o", "-"]);
    assert_eq!((ran.code, ran.stdout.is_empty()), (1, true), "{}", ran.stderr);
    let ran = rockhound(&["report", &one, "-k", "(", "-o", "-"]);
    assert!(ran.code == 64 && ran.stderr.contains("--kernel ("), "{}", ran.stderr);
}

/// A table of rocprofv3 with a kernel at each of these times, ns.
fn kernels_at(starts: &[u64]) -> String {
    let mut text = String::from(
        "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n",
    );
    for start in starts {
        text += &format!("\"KERNEL_DISPATCH\",\"Agent 4\",1,\"f\",1,{start},{}\n", start + 100);
    }
    text
}

#[test]
fn runs_of_a_folder_are_apart() {
    let dir = folder("trace-runs");
    let agents =
        "Node_Id,Agent_Type,Cu_Count,Name,Product_Name\n0,CPU,0,x,x\n4,GPU,304,gfx942,AMD Instinct MI300X\n";
    let files = [
        ("named/a_kernel_trace.csv", kernels_at(&[1000, 2000])),
        ("named/b_kernel_trace.csv", kernels_at(&[900_000])),
        ("ranks/11_kernel_trace.csv", kernels_at(&[1000, 2000])),
        ("ranks/12_kernel_trace.csv", kernels_at(&[1500])),
        ("ranks/11_agent_info.csv", agents.to_owned()),
        ("forms/a_kernel_trace.csv", kernels_at(&[1000, 2000])),
        ("forms/a_results.json", r#"{"rocprofiler-sdk-tool": [{"buffer_records": {"kernel_dispatch": [
            {"start_timestamp": 1000, "end_timestamp": 1100, "dispatch_info": {"dispatch_id": 1, "kernel_id": 4}},
            {"start_timestamp": 2000, "end_timestamp": 2100, "dispatch_info": {"dispatch_id": 2, "kernel_id": 4}}]}}]}"#.to_owned()),
        ("forms/notes.json", "[{\"a\": 1}]".to_owned()),
    ];
    for (name, text) in files {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let path = |name: &str| dir.join(name).display().to_string();
    for command in [&["trace"][..], &["report", "-o", "-"]] {
        let ran = rockhound(&[command, &[path("named").as_str()]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{command:?}");
        ran.golden("two runs in a folder");
    }
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&good(&[&["trace", "--format", "json"], args].concat())).unwrap()
    };
    let (a, b) = (path("named/a"), path("named/b"));
    let one = json(&[&a]);
    assert_eq!(one["inputs"].as_array().unwrap().len(), 1);
    assert_eq!(one["tables"][0]["rows"][0]["cells"][0], 0.0011);
    assert_eq!(json(&[&b, "--base", &a])["inputs"].as_array().unwrap().len(), 2);
    // Files are what they were given as, with a doubt.
    let files = [path("named/a_kernel_trace.csv"), path("named/b_kernel_trace.csv")];
    let doubted = json(&[&files[0], &files[1]]);
    assert!(doubted["notes"].to_string().contains("not of the same time"), "{}", doubted["notes"]);
    let ranks = json(&[&path("ranks")]);
    assert_eq!(ranks["inputs"].as_array().unwrap().len(), 2);
    assert!(ranks["inputs"][0].to_string().contains("MI300X (gfx942), 304 CUs"), "{}", ranks["inputs"]);
    let forms = json(&[&path("forms")]);
    assert_eq!(forms["inputs"].as_array().unwrap().len(), 1);
    let notes = forms["notes"].to_string();
    assert!(notes.contains("not used") && notes.contains("`notes.json`"), "{notes}");
}

#[test]
fn damaged_traces_are_errors() {
    let dir = folder("trace-damaged");
    let whole = trace(0, 300);
    for (name, bytes, shown) in [
        ("cut.json", &whole.as_bytes()[..whole.len() / 2], true),
        ("empty.json", b"", false),
        ("text.json", b"hello", false),
        ("none.json", b"{\"a\": 1}", false),
    ] {
        let path = dir.join(name);
        std::fs::write(&path, bytes).unwrap();
        let ran = rockhound(&["trace", &path.display().to_string()]);
        assert_eq!((ran.code, ran.stdout.is_empty()), (1, !shown), "{name}: {}", ran.stderr);
        ran.golden(name);
    }
}

#[test]
fn communication_is_judged() {
    let mut text =
        String::from("# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1 minBytes 8\n");
    for rank in 0..8 {
        text += &format!(
            "#  Rank {rank} Group 0 Pid {rank} on node device {rank} [0000:05:00] AMD Instinct MI300X\n"
        );
    }
    text += "8589934592 2147483648 float sum -1 90304 95.12 166.46 0 88639 96.91 169.59 0\n\
             # Out of bounds values : 0 OK\n# Avg bus bandwidth : 168\n";
    let ran = rockhound_with_input(&["comm", "-", "--fail-on", "COM002"], text.as_bytes());
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    for part in ["rccl-tests", "all_reduce", "COM002", "55 %", "310 GB/s"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let ran = rockhound_with_input(&["comm", "-"], b"nothing");
    assert_eq!(ran.code, 1);
    ran.golden("no text of rccl-tests");
}
