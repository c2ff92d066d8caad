//! `store`: recordings in a database, and commands that read them from there.

use crate::run::{Ran, clean, folder, golden, run_in, spilling};
use crate::schema::Schema;
use std::path::Path;

/// A recording of two kernels; `factor` makes the first one slower.
fn recording(dir: &Path, name: &str, factor: u64) {
    let folder = dir.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let row = |at: u64| {
        let (kernel, time) = if at.is_multiple_of(2) {
            ("copy(float*)", 1000 * factor)
        } else {
            ("void fill<4>(float*)", 500)
        };
        format!("{at},1,1024,256,{kernel},{},{},16,{},5\n", at * 9000, at * 9000 + time + at, 100 + at)
    };
    let csv = format!(
        "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,SQ_WAVE_CYCLES,TCC_HIT_sum\n{}",
        (0..8).map(row).collect::<String>()
    );
    std::fs::write(folder.join("pmc_perf.csv"), csv).unwrap();
    std::fs::write(folder.join("sysinfo.csv"), "gpu_arch,gpu_model\ngfx942,MI300X\n").unwrap();
}

fn store(dir: &Path, args: &[&str]) -> Ran {
    run_in(dir, &[&["store"], args].concat())
}

fn good(dir: &Path, args: &[&str]) -> String {
    let ran = run_in(dir, args);
    assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

#[test]
fn commands_answer_from_the_database_as_from_the_folder() {
    let dir = folder("store-equal");
    recording(&dir, "zfolder", 1);
    recording(&dir, "zother", 2);
    // Both keep code, of one kernel with and without spills.
    for (folder, code) in [("zfolder", clean()), ("zother", spilling())] {
        std::fs::copy(code, dir.join(folder).join("code.co")).unwrap();
    }
    good(&dir, &["store", "add", "zfolder", "zother", "--no-provenance"]);
    for args in [
        &["analyze", "-p", "1", "--format", "json"][..],
        &["analyze", "-p", "1", "-p", "2", "--format", "json"],
        &["guide", "1", "--format", "json"],
        &["guide", "2", "--base", "1", "--format", "json"],
        &["roofline", "1", "--format", "json"],
        &["diff", "1", "2", "--format", "json"],
        &["diff", "1", "2"],
        &["trace", "1"],
        &["trace", "1", "--format", "json"],
        &["analyze", "-p", "2", "--format", "csv"],
    ] {
        let with = |names: [&str; 2]| {
            let args: Vec<&str> = args
                .iter()
                .map(|it| {
                    if *it == "1" {
                        names[0]
                    } else if *it == "2" {
                        names[1]
                    } else {
                        it
                    }
                })
                .collect();
            let ran = run_in(&dir, &args);
            assert!(!ran.stdout.is_empty() || args[0] == "diff", "{args:?}: {}", ran.stderr);
            let text = format!("{} {}{}", ran.code, ran.stdout, ran.stderr);
            text.replace("zfolder", "store:1").replace("zother", "store:2")
        };
        assert_eq!(with(["zfolder", "zother"]), with(["store:1", "store:2"]), "{args:?}");
    }
    for (path, page) in [("zfolder", "a.html"), ("store:1", "b.html")] {
        good(&dir, &["report", path, "-o", page]);
    }
    let page = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    assert_eq!(page("a.html").replace("zfolder", "store:1"), page("b.html"));
}

#[test]
fn metrics_in_the_database_are_those_of_analyze() {
    let dir = folder("store-metrics");
    recording(&dir, "app", 1);
    good(&dir, &["store", "add", "app", "--no-provenance"]);
    let sql = "SELECT v.name, v.value FROM metric_values v JOIN kernels k ON k.id = v.kernel WHERE k.name = 'copy(float*)'";
    let stored: serde_json::Value =
        serde_json::from_str(&good(&dir, &["store", "query", sql, "--format", "json"])).unwrap();
    let report = good(&dir, &["analyze", "-p", "app", "-k", "^copy", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let mut compared = 0;
    for table in report["tables"].as_array().unwrap() {
        let columns = table["columns"].as_array().unwrap();
        // The memory chart is rounded, as the vendor's is.
        if table["id"].as_str().unwrap().starts_with("3.") {
            continue;
        }
        let Some(at) = columns.iter().position(|it| it["title"] == "avg") else { continue };
        for row in table["rows"].as_array().unwrap() {
            let (Some(metric), Some(value)) = (row["metric"].as_str(), row["cells"][at].as_f64()) else {
                continue;
            };
            let rows = stored["tables"][0]["rows"].as_array().unwrap();
            // Metrics of channels and metrics per unit of normalisation have the value of one dispatch.
            let Some(found) = rows.iter().find(|it| it["cells"][0] == metric) else { continue };
            assert_eq!(found["cells"][1].as_f64(), Some(value), "{metric}");
            compared += 1;
        }
    }
    assert!(compared > 5, "{compared}");
}

#[test]
fn recordings_are_listed_labelled_removed_and_copied() {
    let dir = folder("store-list");
    recording(&dir, "app", 1);
    recording(&dir, "slow", 3);
    let schema = Schema::of("store-1");
    let json = |args: &[&str]| {
        let document =
            serde_json::from_str(&good(&dir, &[&["store"], args, &["--format", "json"]].concat())).unwrap();
        assert_eq!(schema.problems(&document), Vec::<String>::new(), "{args:?}");
        document
    };
    let added = json(&["add", "app", "slow", "--no-provenance", "-l", "branch=main"]);
    assert_eq!(added["recordings"].as_array().map(Vec::len), Some(2));
    let again = store(&dir, &["add", "app", "--no-provenance", "-l", "commit=", "--format", "json"]);
    golden("the same again", &again.notes());
    json(&["label", "2", "branch=dev"]);
    assert_eq!(json(&["list", "-l", "branch=dev"])["recordings"][0]["id"], 2);
    let newest = good(&dir, &["analyze", "-p", "store:label=branch=dev", "--list-kernels"]);
    assert!(newest.contains("copy(float*)"), "{newest}");
    let shown: serde_json::Value = json(&["show", "store:1"]);
    assert_eq!(shown["tables"][0]["rows"].as_array().map(Vec::len), Some(2));
    good(&dir, &["store", "export", "1", "-o", "out"]);
    for file in ["pmc_perf.csv", "sysinfo.csv"] {
        let read = |folder: &str| std::fs::read(dir.join(folder).join(file)).unwrap();
        assert_eq!(read("app"), read("out"));
    }
    good(&dir, &["store", "export", "--to", "part.db"]);
    good(&dir, &["store", "import", "part.db", "--store", "third.db"]);
    assert!(good(&dir, &["store", "list", "--store", "third.db"]).contains("slow"));
    json(&["remove", "1"]);
    assert_eq!(json(&["list"])["recordings"].as_array().map(Vec::len), Some(1));
    assert!(good(&dir, &["store", "compact"]).contains("removed"));
    assert!(good(&dir, &["analyze", "-p", "store:2"]).contains("copy(float*)"));
}

#[test]
fn refusals_say_what_to_do() {
    let dir = folder("store-refused");
    recording(&dir, "app", 1);
    std::fs::write(dir.join("text.db"), "no database, and longer than a header of one: 0123456789").unwrap();
    let none = store(&dir, &["list"]);
    assert_eq!(none.code, 1);
    none.golden("no database");
    std::fs::write(dir.join("none.csv"), "").unwrap();
    for args in [
        &["add", "nothing"][..],
        &["add", "none.csv"],
        &["label", "1", "a=b"],
        &["remove", "1"],
        &["compact"],
        &["import", "other.db"],
    ] {
        assert_eq!(store(&dir, args).code, 1, "{args:?}");
        assert!(!dir.join("rockhound.db").exists(), "{args:?}");
    }
    std::fs::write(dir.join("empty.db"), "").unwrap();
    good(&dir, &["store", "add", "app", "--no-provenance"]);
    for (args, code) in [
        (&["analyze", "-p", "store:9"][..], 1),
        (&["guide", "store:label=a=b"], 1),
        (&["store", "show", "nonsense"], 64),
        (&["store", "add", "app", "-l", "nonsense"], 64),
        (&["store", "add", "nothing"], 1),
        (&["store", "query", "DELETE FROM recordings"], 1),
        (&["store", "list", "--store", "text.db"], 1),
        (&["store", "list", "--store", "empty.db"], 1),
        (&["store", "list", "--store", "mysql://h/d"], 1),
        (&["store", "export", "1", "-o", "app"], 64),
    ] {
        let ran = run_in(&dir, args);
        assert_eq!(ran.code, code, "{args:?}: {}{}", ran.stdout, ran.stderr);
        ran.golden(&args.join(" "));
    }
    std::fs::remove_file(dir.join("app/sysinfo.csv")).unwrap();
    let unknown = ["add", "app", "--no-provenance", "--store", "unknown.db", "--format", "json"];
    golden("no GPU is known", &store(&dir, &unknown).notes());
    // What can be read is added beside what cannot.
    let both = store(&dir, &["add", "nothing", "app", "--no-provenance", "-l", "commit=a"]);
    assert_eq!(both.code, 1);
    assert!(both.stdout.contains("store:2"), "{}", both.stdout);
}

#[test]
fn a_step_in_a_history_is_attributed_and_fails_the_check() {
    let dir = folder("store-history");
    recording(&dir, "fast", 1);
    recording(&dir, "slow", 2);
    std::fs::copy(clean(), dir.join("fast/code.co")).unwrap();
    std::fs::copy(spilling(), dir.join("slow/code.co")).unwrap();
    // More misses come with the slow code.
    let path = dir.join("slow/pmc_perf.csv");
    let text = std::fs::read_to_string(&path).unwrap().replace(",5\n", ",9\n");
    std::fs::write(&path, text).unwrap();
    let add = |at: usize, name: &str| {
        let commit = format!("commit=c{at}");
        good(&dir, &["store", "add", name, "--no-provenance", "-l", &commit, "-l", "branch=main"]);
    };
    for at in 0..6 {
        add(at, "fast");
        let checked = store(&dir, &["check"]);
        assert_eq!(checked.code, if at < 3 { 1 } else { 0 }, "{at}: {}{}", checked.stdout, checked.stderr);
    }
    add(6, "slow");
    let checked = store(&dir, &["check", "-k", "copy"]);
    assert_eq!(checked.code, 2, "{}{}", checked.stdout, checked.stderr);
    assert!(
        checked.stdout.contains("worse") && checked.stderr.contains("1 kernel worse"),
        "{}",
        checked.stderr
    );
    assert_eq!(store(&dir, &["check", "-k", "fill"]).code, 0);
    (7..10).for_each(|at| add(at, "slow"));
    let text = good(&dir, &["store", "history", "-k", "copy"]);
    for part in ["c6", "c5", "TCC_HIT_sum", "80", "changed"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = good(&dir, &["store", "history", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(Schema::of("store-1").problems(&json), Vec::<String>::new());
    let histories = json["histories"].as_array().unwrap();
    let of = |name: &str| histories.iter().find(|it| it["kernel"].as_str().unwrap().contains(name)).unwrap();
    let change = &of("copy")["changes"][0];
    assert_eq!(
        (&change["commit"], &change["after"], &change["code_changed"]),
        (&"c6".into(), &"c5".into(), &true.into())
    );
    assert_eq!(of("fill")["changes"].as_array().map(Vec::len), Some(0));
    // An exact counter changes where it changes.
    let counter = good(&dir, &["store", "history", "-k", "copy", "-m", "TCC_HIT_sum"]);
    assert!(counter.contains("none: exact values") && counter.contains("80"), "{counter}");
    for args in
        [["history", "-m", "nonsense"], ["history", "-k", "nonsense"], ["history", "-l", "branch=none"]]
    {
        let ran = store(&dir, &args);
        assert_eq!(ran.code, 1);
        ran.golden(&args.join(" "));
    }
}

#[test]
fn a_kernel_whose_template_arguments_change_stays_one_history() {
    let dir = folder("store-renamed");
    for (at, name) in ["gemm<16>", "gemm<16>", "gemm<32>", "gemm<32>"].iter().enumerate() {
        recording(&dir, "app", 1);
        let path = dir.join("app/pmc_perf.csv");
        let text = std::fs::read_to_string(&path).unwrap().replace("fill<4>", name);
        std::fs::write(&path, text).unwrap();
        good(&dir, &["store", "add", "app", "--no-provenance", "-l", &format!("commit=c{at}")]);
    }
    let json = good(&dir, &["store", "history", "-k", "gemm", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let histories = json["histories"].as_array().unwrap();
    assert_eq!(histories.len(), 1, "{histories:?}");
    assert!(histories[0]["kernel"].as_str().unwrap().contains("gemm<32>"));
    assert!(histories[0]["other_names"][0].as_str().unwrap().contains("gemm<16>"));
    assert_eq!(histories[0]["points"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_kernel_that_is_gone_is_not_judged() {
    let dir = folder("store-gone");
    for at in 0..5 {
        recording(&dir, "app", 1);
        if at == 4 {
            let path = dir.join("app/pmc_perf.csv");
            let text = std::fs::read_to_string(&path).unwrap().replace("fill<4>", "scale");
            std::fs::write(&path, text).unwrap();
        }
        good(&dir, &["store", "add", "app", "--no-provenance", "-l", &format!("commit=c{at}")]);
    }
    let checked = good(&dir, &["store", "check"]);
    golden("a kernel that is gone", &checked);
    let checked = store(&dir, &["check", "-k", "fill"]);
    assert_eq!(checked.code, 1, "{}{}", checked.stdout, checked.stderr);
    let first = good(&dir, &["store", "history", "--kernels", "1"]);
    assert!(first.contains("left out"), "{first}");
    assert!(!good(&dir, &["store", "history", "--kernels", "0"]).contains("left out"));
}

/// T4 of a tuner: two configurations with a time, one that does not compile.
const RESULTS: &str = r#"{"metadata": {"timeunit": "microseconds", "kernel_name": "gemm", "device_name": "AMD Instinct MI300X"},
"schema_version": "1.0.0", "results": [
{"configuration": {"TILE": 16, "PAD": true}, "times": {"compilation": 1.0, "runtimes": [8.0]}, "invalidity": "correct", "correctness": 1,
 "measurements": [{"name": "time", "value": 8.0, "unit": "us"}], "objectives": ["time"]},
{"configuration": {"TILE": 32, "PAD": true}, "times": {"compilation": 1.0, "runtimes": [4.0]}, "invalidity": "correct", "correctness": 1,
 "measurements": [{"name": "time", "value": 4.0, "unit": "us"}], "objectives": ["time"]},
{"configuration": {"TILE": 64, "PAD": false}, "times": {"compilation": 1.0}, "invalidity": "compile", "correctness": 0,
 "measurements": [{"name": "time", "value": "CompilationFailedConfig", "unit": "us"}], "objectives": ["time"]}]}"#;

const TRACE: &str = r#"{"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "copy(float*)", "pid": 0, "tid": 7, "ts": 100, "dur": 50, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "copy(float*)", "pid": 0, "tid": 7, "ts": 200, "dur": 50, "args": {"device": 0, "stream": 7, "correlation": 2}}]}"#;

/// An answer of `judge`.
pub(crate) const VERDICT: &str = r#"{"schema": "rockhound.judge/1", "inputs": [{"name": "base.hip", "path": "base.hip", "kind": "HIP source", "facts": []}],
"gpu": "Instinct MI300X, emulated", "cases": 6, "base": "base.hip", "base_us": 12.5, "candidates": [
{"name": "tiled.hip", "verdict": "faster", "because": "1.5x, beyond the error", "time_us": 8.25, "speedup": 1.515, "bound_by": ["latency", "HBM"],
 "changes": [{"metric": "l2.requests", "name": "L2 requests", "before": 4096, "after": 2048}]},
{"name": "stuck.hip", "verdict": "hangs", "because": "a loop without end", "inputs": "seed 1"}],
"findings": [{"rule": "JDG002", "severity": "severe", "message": "stuck.hip hangs", "advice": "end the loop", "evidence": [], "places": []}],
"not_checked": [], "tables": [], "notes": [{"kind": "info", "text": "from seed 1 on, contents are others in `x`"}], "errors": []}"#;

#[test]
fn tunings_timelines_and_answers_are_entries_too() {
    let dir = folder("store-answers");
    recording(&dir, "app", 1);
    std::fs::write(dir.join("gemm.T4.json"), RESULTS).unwrap();
    std::fs::write(dir.join("step.json"), TRACE).unwrap();
    let guide = good(&dir, &["guide", "app", "--format", "json"]);
    std::fs::write(dir.join("guide.json"), &guide).unwrap();
    std::fs::write(dir.join("cut.json"), &guide[..guide.len() / 2]).unwrap();
    let schema = Schema::of("store-1");
    let add = |name: &str| -> serde_json::Value {
        let args = ["store", "add", name, "--no-provenance", "-l", "branch=main", "--format", "json"];
        let document = serde_json::from_str(&good(&dir, &args)).unwrap();
        assert_eq!(schema.problems(&document), Vec::<String>::new(), "{name}");
        document
    };
    for (at, (name, sort)) in [
        ("app", None),
        ("gemm.T4.json", Some("tuning")),
        ("step.json", Some("timeline")),
        ("guide.json", Some("answer")),
    ]
    .into_iter()
    .enumerate()
    {
        let entry = &add(name)["recordings"][0];
        assert_eq!((entry["id"].as_u64(), entry["sort"].as_str()), (Some(at as u64 + 1), sort), "{name}");
        assert_eq!(add(name)["recordings"][0]["id"], entry["id"], "{name} is added once");
    }
    let cut = store(&dir, &["add", "cut.json"]);
    assert_eq!(cut.code, 1, "{}", cut.stderr);
    cut.golden("half an answer");
    for (id, parts) in [
        ("2", &["gfx942", "{\"PAD\":true,\"TILE\":32}", "Outcomes"][..]),
        ("3", &["rockhound.trace/2", "copy(float*)"]),
        ("4", &["rockhound.guide/1"]),
    ] {
        let text = good(&dir, &["store", "show", id]);
        parts.iter().for_each(|it| assert!(text.contains(it), "{id} {it}: {text}"));
    }
    let best = good(&dir, &["store", "query", "SELECT best_us, timed FROM tunings", "--format", "csv"]);
    assert!(best.contains("4,2"), "{best}");
    // Commands on recordings see the recording alone.
    assert!(
        good(&dir, &["analyze", "-p", "store:label=branch=main", "--list-kernels"]).contains("copy(float*)")
    );
    let summary = good(&dir, &["store", "summary"]);
    assert!(summary.contains("app") && !summary.contains("guide.json"), "{summary}");
    good(&dir, &["store", "export", "--to", "copy.db"]);
    let list = |database: &str| good(&dir, &["store", "list", "--store", database]);
    for word in ["recording", "tuning", "timeline", "answer"] {
        assert!(list("copy.db").contains(word), "{}", list("copy.db"));
    }
    // An answer shows what only its command has, too.
    std::fs::write(dir.join("verdict.json"), VERDICT).unwrap();
    add("verdict.json");
    let text = good(&dir, &["store", "show", "5"]);
    for word in ["Candidates", "tiled.hip", "hangs", "seed 1", "Candidates: changes", "L2 requests"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    good(&dir, &["store", "export", "4", "-o", "out"]);
    assert_eq!(std::fs::read_to_string(dir.join("out/guide.json")).unwrap(), guide);
    good(&dir, &["store", "remove", "2", "3", "4"]);
    assert!(!list("rockhound.db").contains("tuning"));
}

#[test]
fn the_schema_of_a_large_database_is_printed() {
    let dir = folder("store-schema");
    for (form, expected) in [("partitions", false), ("citus", true)] {
        let ran = store(&dir, &["schema", "--for", form]);
        if cfg!(feature = "postgres") {
            assert!(ran.code == 0 && ran.stdout.contains("PARTITION BY RANGE (recording)"), "{}", ran.stderr);
            assert_eq!(ran.stdout.contains("create_distributed_table"), expected);
        } else {
            assert!(ran.code == 1 && ran.stderr.contains("PostgreSQL"), "{}", ran.stderr);
        }
    }
    assert_eq!(store(&dir, &["schema"]).code, 64);
}

#[cfg(feature = "parquet")]
#[test]
fn recordings_are_exported_as_parquet() {
    let dir = folder("store-parquet");
    recording(&dir, "app", 1);
    std::fs::write(dir.join("gemm.T4.json"), RESULTS).unwrap();
    good(&dir, &["store", "add", "app", "gemm.T4.json", "--no-provenance", "-l", "branch=main"]);
    good(&dir, &["store", "export", "--to", "parquet", "-o", "tables"]);
    let mut files: Vec<String> = std::fs::read_dir(dir.join("tables"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files.len(), 9, "{files:?}");
    assert!(files.contains(&"metrics.parquet".to_owned()));
    for (args, code) in [
        (&["export", "--to", "parquet", "-o", "tables"][..], 64),
        (&["export", "--to", "parquet"], 64),
        (&["export", "--to", "other.db", "-o", "x"], 64),
        (&["export", "9", "--to", "parquet", "-o", "x"], 1),
    ] {
        let ran = store(&dir, args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.stderr);
        ran.golden(&args.join(" "));
    }
    assert!(!dir.join("x").exists());
}
