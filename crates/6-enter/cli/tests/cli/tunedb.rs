//! `rockhound tunedb` as its users run it.

use crate::run::{folder, golden, good, rockhound};
use crate::schema::Schema;
use serde_json::Value;

const HEAD: &str = "Validator,PT_VERSION,2.9.1\nValidator,HIP_VERSION,702\nValidator,HIPBLASLT_VERSION,1\nValidator,GCN_ARCH_NAME,gfx942:xnack-\nValidator,ROCBLAS_VERSION,5\n";

fn write(path: &std::path::Path, rows: &str) -> String {
    std::fs::write(path, format!("{HEAD}{rows}")).expect("a file");
    path.display().to_string()
}

/// Facts, decisions and notes of every table of an answer.
fn told(args: &[&str]) -> String {
    let answer: Value = serde_json::from_str(&good(&[args, &["--format", "json"]].concat())).unwrap();
    let mut said = String::new();
    for table in answer["tables"].as_array().unwrap() {
        for fact in table["facts"].as_array().into_iter().flatten() {
            said += &format!("{}: {}\n", fact["name"], fact["value"]);
        }
        for row in table["rows"].as_array().into_iter().flatten() {
            said += &format!("row {}: {}\n", row["label"], row["cells"]);
        }
        for note in table["notes"].as_array().into_iter().flatten() {
            said += &format!("note {note}\n");
        }
    }
    said
}

#[test]
fn show_lint_and_merge_results() {
    let folder = folder("tunedb");
    let a = write(
        &folder.join("r0.csv"),
        "GemmTunableOp_Half_TN,tn_4096_16_8,Gemm_Rocblas_1,0.5\nGemmTunableOp_Half_TN,tn_4096_16_8,Gemm_Rocblas_2,0.25\n",
    );
    let b = write(&folder.join("r1.csv"), "GemmTunableOp_Half_TN,tn_4096_32_8,Gemm_Rocblas_3,0.5\n");
    let shown = good(&["tunedb", "show", &a, "--width", "160"]);
    assert!(
        shown.contains("TunableOp results") && shown.contains("4096x16x8") && shown.contains("500"),
        "{shown}"
    );
    let json: Value = serde_json::from_str(&good(&["tunedb", "show", &a, "--format", "json"])).unwrap();
    assert_eq!((&json["schema"], &json["question"]), (&"rockhound.tunedb/2".into(), &"show".into()));
    let table = &json["tables"][0];
    let cell = |row: usize, key: &str| {
        let at = table["columns"].as_array().unwrap().iter().position(|it| it["key"] == key).unwrap();
        table["rows"][row]["cells"][at].clone()
    };
    assert_eq!((cell(1, "time_us"), cell(0, "gpu")), (250.0.into(), "gfx942".into()));
    assert_eq!(Schema::of("tunedb-2").problems(&json), [""; 0]);

    let lint = rockhound(&["tunedb", "lint", &a, "--gpu", "mi300x", "--fail-on", "TUN002"]);
    assert_eq!(lint.code, 2, "{lint:?}");
    assert!(
        lint.stdout.contains("severe   TUN002") && lint.stderr.contains("`--fail-on TUN002`: findings 1"),
        "{lint:?}"
    );
    let github = rockhound(&["tunedb", "lint", &a, "--format", "github"]).stdout;
    assert!(github.starts_with("::error file=") && github.contains(",line=6,title=TUN002::"), "{github}");
    let sarif: Value = serde_json::from_str(&good(&["tunedb", "lint", &a, "--format", "sarif"])).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 6);

    let out = folder.join("merged.csv").display().to_string();
    let report = good(&["tunedb", "merge", &a, &b, "-o", &out, "--explain"]);
    assert!(report.contains("faster") && report.contains("only one"), "{report}");
    let merged = std::fs::read_to_string(&out).unwrap();
    let expected = "GemmTunableOp_Half_TN,tn_4096_16_8,Gemm_Rocblas_2,0.25\nGemmTunableOp_Half_TN,tn_4096_32_8,Gemm_Rocblas_3,0.5\n";
    assert_eq!(merged, format!("{HEAD}{expected}"));
    golden("diff", &told(&["tunedb", "diff", &a, &out]));
    let query = good(&["tunedb", "query", &a, "--mnk", "4096,16,8"]);
    assert!(query.contains("first row") && query.contains("Gemm_Rocblas_1"), "{query}");
    let advice = good(&["tunedb", "advise", &a]);
    assert!(
        advice.contains("PYTORCH_TUNABLEOP_TUNING=0") && advice.contains("hipblaslt-bench -m 4096"),
        "{advice}"
    );
}

#[test]
fn a_refused_merge_writes_nothing() {
    let folder = folder("tunedb-refused");
    let a = write(&folder.join("a.csv"), "GemmTunableOp_Half_TN,tn_8_8_8,A,1\n");
    let b = folder.join("b.csv").display().to_string();
    std::fs::write(&b, HEAD.replace("702", "701") + "GemmTunableOp_Half_TN,tn_8_8_8,B,1\n").unwrap();
    let out = folder.join("out.csv");
    std::fs::write(&out, "old").unwrap();
    let ran = rockhound(&["tunedb", "merge", &a, &b, "-o", &out.display().to_string()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("HIP_VERSION is 702 and 701") && ran.stderr.contains("hint: "), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "old");
    let unknown = rockhound(&["tunedb", "show", "README.md"]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
    unknown.golden("no tuning database");
}

/// A trace with one matrix product, which PyTorch launched twice.
const TRACE: &str = r#"{"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 1, "ts": 1, "dur": 9, "args": {"External id": 5,
    "Input Dims": [[40], [20, 30], [30, 40], [], []], "Input Strides": [[1], [30, 1], [1, 30], [], []],
    "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"]}},
  {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3,
    "args": {"External id": 5, "correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "Cijk", "pid": 0, "tid": 0, "ts": 20, "dur": 4,
    "args": {"device": 0, "stream": 0, "correlation": 7, "External id": 5}}]}"#;

#[test]
fn coverage_of_lists_and_traces() {
    let folder = folder("tunedb-coverage");
    let tuned = write(
        &folder.join("r.csv"),
        "GemmTunableOp_BFloat16_TN,tn_40_20_30_ld_30_30_40,Gemm_Rocblas_1,0.5\n",
    );
    let path = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    for (list, without) in [
        (path("run.pt.trace.json", TRACE), "0"),
        (path("shapes.txt", "# rows, columns, inner size\n20 40 30 NT bf16\n"), "0"),
        (path("shapes.csv", "M,N,K\n20,40,30\n"), "0"),
        (path("untuned.csv", "GemmTunableOp_BFloat16_TN,tn_40_20_30_ld_30_30_40\n"), "0"),
        (path("other.txt", "20x41x30\n"), "1"),
    ] {
        let args = ["tunedb", "coverage", &tuned, "--shapes", &list, "--format", "json"];
        let json: Value = serde_json::from_str(&good(&args)).unwrap();
        let facts = json["tables"][0]["facts"].as_array().unwrap();
        let found = facts.iter().find(|it| it["name"] == "without").unwrap();
        assert_eq!(found["value"], without, "{list}: {json}");
    }
    let empty = path("empty.json", "{\"traceEvents\": []}");
    let ran = rockhound(&["tunedb", "coverage", &tuned, "--shapes", &empty]);
    assert!(ran.code == 1 && !ran.stderr.is_empty(), "{ran:?}");
    let shown = good(&["tunedb", "coverage", &tuned, "--shapes", &path("run.json", TRACE), "--width", "160"]);
    assert!(shown.contains("100.0 %"), "{shown}");
}

#[test]
fn merges_of_databases_ladders_and_caches() {
    let folder = folder("tunedb-merges");
    let out = folder.join("out");
    std::fs::create_dir_all(&out).unwrap();
    let name = "E=8,N=4,device_name=AMD_Instinct_MI300X.json";
    let path = |sub: &str, name: &str, text: &str| {
        std::fs::create_dir_all(folder.join(sub)).unwrap();
        let path = folder.join(sub).join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let merged = |a: &str, b: &str, name: &str, more: &[&str]| {
        let to = out.join(name).display().to_string();
        let args = [&["tunedb", "merge", a, b, "-o", &to], more].concat();
        (told(&args), std::fs::read_to_string(&to).unwrap())
    };
    let a = path(
        "a",
        name,
        "{\n    \"triton_version\": \"3.4.0\",\n    \"1\": {\"BLOCK_SIZE_M\": 16},\n    \"64\": {\"BLOCK_SIZE_M\": 64}\n}\n",
    );
    let b =
        path("b", name, "{\n    \"8\": {\"BLOCK_SIZE_M\": 32},\n    \"64\": {\"BLOCK_SIZE_M\": 128}\n}\n");
    let (report, text) = merged(&a, &b, name, &[]);
    golden("merge of ladders", &report);
    assert_eq!(
        text,
        "{\n    \"triton_version\": \"3.4.0\",\n    \"1\": {\"BLOCK_SIZE_M\": 16},\n    \"8\": {\"BLOCK_SIZE_M\": 32},\n    \"64\": {\"BLOCK_SIZE_M\": 64}\n}\n"
    );
    let (_, forced) = merged(&a, &b, name, &["--force"]);
    assert_eq!(forced, text.replace("\"BLOCK_SIZE_M\": 64", "\"BLOCK_SIZE_M\": 128"));
    let other = path("b", "E=8,N=8,device_name=AMD_Instinct_MI300X.json", "{\"8\": {\"BLOCK_SIZE_M\": 32}}");
    let to = out.join(name).display().to_string();
    let ran = rockhound(&["tunedb", "merge", &a, &other, "-o", &to]);
    assert!(ran.code == 1 && ran.stderr.contains("other names"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&to).unwrap(), forced);

    let cache = |sub: &str, first: &str, second: &str| {
        let text = format!(
            "{{\"key\": [\"8\"], \"configs_timings\": [[{{\"kwargs\": {{\"B\": 1}}}}, {first}], [{{\"kwargs\": {{\"B\": 2}}}}, {second}]]}}"
        );
        path(sub, "k.autotune.json", &text)
    };
    let (a, b) = (
        cache("a", "[0.3, 0.2, 0.4]", "[Infinity, Infinity, Infinity]"),
        cache("b", "[0.4, 0.3, 0.5]", "[0.1, 0.1, 0.2]"),
    );
    let (report, text) = merged(&a, &b, "k.autotune.json", &["--explain"]);
    assert!(text.contains("[0.3, 0.2, 0.4]") && text.contains("[0.1, 0.1, 0.2]"), "{text}");
    golden("merge of caches", &report);

    // AITER's mixtures of experts: the fallback row of a shape is a separate row.
    let head = "cu_num,token,model_dim,inter_dim,expert,topk,act_type,dtype,q_dtype_a,q_dtype_w,q_type,use_g1u1,doweight_stage1,block_m,ksplit,us1,kernelName1,err1,us2,kernelName2,err2,us,run_1stage,tflops,bw,_tag\n";
    let row = |kernel: &str, us: &str, tag: &str| {
        format!("80,16,1,1,8,2,a,d,q,w,t,1,0,32,0,1,{kernel},0,1,k2,0,{us},0,1,1,{tag}\n")
    };
    let a = path(
        "a",
        "tuned_fmoe.csv",
        &format!("{head}{}{}", row("slow", "6.0", ""), row("back", "1.0", "flydsl_fallback")),
    );
    let b = path("b", "tuned_fmoe.csv", &format!("{head}{}", row("fast", "5.0", "")));
    let (_, text) = merged(&a, &b, "tuned_fmoe.csv", &[]);
    assert_eq!(text, format!("{head}{}{}", row("fast", "5.0", ""), row("back", "1.0", "flydsl_fallback")));
}

#[test]
fn configurations_of_aiters_kernels() {
    let folder = folder("tunedb-configs");
    let path = |sub: &str, name: &str, text: &str| {
        std::fs::create_dir_all(folder.join(sub)).unwrap();
        let path = folder.join(sub).join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let name = "gfx942-GEMM-A16W16.json";
    let own = "{\n    \"M_LEQ_16\": {\n        \"BLOCK_SIZE_M\": 16\n    },\n    \"any\": {\n        \"BLOCK_SIZE_M\": 128\n    }\n}\n";
    let other = "{\n  \"M_LEQ_64\": {\n    \"BLOCK_SIZE_M\": 64\n  },\n  \"any\": {\n    \"BLOCK_SIZE_M\": 256\n  }\n}\n";
    let (a, b) = (path("a", name, own), path("b", name, other));
    let out = folder.join(name).display().to_string();
    golden("merge for AITER", &told(&["tunedb", "merge", &a, &b, "-o", &out]));
    let expected =
        own.replace("    \"any\"", "    \"M_LEQ_64\": {\n        \"BLOCK_SIZE_M\": 64\n    },\n    \"any\"");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), expected);
    // The file of an N and K takes precedence over the default.
    let sized = path("a", "gfx942-GEMM-A16W16-N=8-K=16.json", own);
    let query = ["tunedb", "query", &a, &sized, "--mnk", "4,8,16", "--gpu", "mi300x"];
    golden("query of two files", &told(&query));
    let ran = rockhound(&["tunedb", "merge", &a, &sized, "-o", &out]);
    assert_eq!(ran.code, 1, "{ran:?}");
    ran.golden("merge of two keys");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), expected);
    let ran = rockhound(&["tunedb", "lint", &a, "--here"]);
    if !std::path::Path::new("/dev/kfd").exists() {
        assert!(ran.code != 0 && ran.stderr.contains("no GPU of AMD is known"), "{ran:?}");
    }
}

/// A table of a JSON answer as cells by column.
fn cell(json: &Value, table: usize, row: usize, key: &str) -> Value {
    let table = &json["tables"][table];
    let at = table["columns"].as_array().unwrap().iter().position(|it| it["key"] == key).unwrap();
    table["rows"][row]["cells"][at].clone()
}

/// What servers, profilers and libraries print is read as problems or results.
#[test]
fn logs_and_outputs_are_problems_with_calls() {
    let folder = folder("tunedb-logs");
    let path = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let aiter = "[aiter] shape is M:8, N:32, K:64 dtype='torch.bfloat16' otype='torch.bfloat16' bias=False, scaleAB=False, bpreshuffle=False, not found tuned config in /tmp/bf16_tuned_gemm.csv, will use default config!";
    let server = path(
        "server.log",
        &format!(
            "INFO start\n(Worker_TP0 pid=1) {aiter}\n(Worker_TP1 pid=2) {aiter}\nConfig file not found at /c/E=16,N=8,device_name=AMD_Instinct_MI350X_VF.json\n"
        ),
    );
    let json = |args: &[&str]| -> Value {
        let json = serde_json::from_str(&good(&[args, &["--format", "json"]].concat())).unwrap();
        assert_eq!(Schema::of("tunedb-2").problems(&json), [""; 0], "{args:?}");
        json
    };
    let shapes = json(&["tunedb", "shapes", &server]);
    assert_eq!(shapes["question"], "shapes");
    let sizes = ["m", "n", "k", "calls"].map(|key| cell(&shapes, 0, 0, key));
    assert_eq!(sizes, [8.0, 32.0, 64.0, 2.0].map(Value::from));
    assert_eq!(cell(&shapes, 1, 0, "calls"), 1.0);

    let ran = rockhound(&["tunedb", "shapes", &server, "--to", "aiter"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.golden("problems left out");
    let untuned = ran.stdout;
    assert_eq!(
        untuned,
        "M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle\n8,32,64,False,torch.bfloat16,torch.bfloat16,False,False\n"
    );
    let out = folder.join("untuned");
    std::fs::create_dir_all(&out).unwrap();
    let ran = rockhound(&["tunedb", "shapes", &server, "--to", "aiter", "-o", &out.display().to_string()]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(out.join("bf16_untuned_gemm.csv")).unwrap(), untuned);
    let refused = rockhound(&[
        "tunedb",
        "shapes",
        &path("c.log", "Config file not found at /c/E=16,N=8,device_name=X.json\n"),
        "--to",
        "geko",
    ]);
    assert!(
        refused.code != 0 && refused.stdout.is_empty() && refused.stderr.contains("hint:"),
        "{refused:?}"
    );

    let table = path(
        "bf16_tuned_gemm.csv",
        "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,bw\ngfx942,304,16,32,64,False,torch.bfloat16,torch.bfloat16,False,False,hipblaslt,1,0,9.0,k,0,0,0\n",
    );
    for (gpu, entry) in [("mi300x", "rounded up to 16"), ("mi350x", "none")] {
        let covered = json(&["tunedb", "coverage", &table, "--shapes", &server, "--gpu", gpu]);
        let rows = covered["tables"][0]["rows"].as_array().unwrap();
        let found = (0..rows.len()).find(|row| cell(&covered, 0, *row, "shape") == "8x32x64").unwrap();
        assert_eq!(cell(&covered, 0, found, "entry"), entry, "{gpu}");
    }

    // One virtual function asks for a name that no file has.
    let config = path(
        "E=16,N=8,device_name=AMD_Instinct_MI350X.json",
        "{\"1\": {\"BLOCK_SIZE_M\": 16}, \"8192\": {\"BLOCK_SIZE_M\": 16}}",
    );
    let lint = json(&["tunedb", "lint", &server, &config]);
    let finding = lint["findings"].as_array().unwrap().iter().find(|it| it["rule"] == "TUN018").unwrap();
    assert_eq!(finding["places"][0]["source"]["line"], 4);
    assert!(finding["advice"].as_str().unwrap().contains("MI350X_VF.json"), "{finding}");

    // Versions without rows are an answer, and a failure where that is asked for.
    let empty = path("empty.csv", HEAD);
    let lint = json(&["tunedb", "lint", &empty]);
    assert_eq!(lint["findings"][0]["rule"], "TUN020");
    assert_eq!(rockhound(&["tunedb", "lint", &empty, "--fail-on", "TUN020"]).code, 2);

    let ck = path(
        "ck.txt",
        "a_m_k: dim 2, lengths {512, 64}, strides {64, 1}\nc_m_n: dim 2, lengths {512, 256}, strides {256, 1}\nPerf:   0.02 ms, 600.5 TFlops, 450.7 GB/s, DeviceA\nPerf:   0.04 ms, 300.5 TFlops, 225.7 GB/s, DeviceB\n",
    );
    let shown = json(&["tunedb", "show", &ck]);
    assert_eq!(
        (cell(&shown, 0, 0, "candidate"), cell(&shown, 0, 0, "time_us")),
        ("DeviceA".into(), 20.0.into())
    );
    let note = shown["tables"][0]["notes"][0].as_str().unwrap();
    assert!(note.contains("`DeviceA`") && note.contains("2.00 times"), "{note}");

    let profile = path(
        "log64.yaml",
        "- { function: matmul, M: 32, N: 8, K: 64, lda: 64, ldb: 64, ldc: 32, ldd: 32, transA: T, transB: N, batch_count: 1, a_type: f16_r, b_type: f16_r, compute_type: c_f32_r, call_count: 12 }\n",
    );
    let shown = json(&["tunedb", "show", &profile]);
    assert_eq!(
        (cell(&shown, 0, 0, "shape"), cell(&shown, 0, 0, "calls")),
        ("32x8x64 ld 64,64,32".into(), 12.0.into())
    );
}
