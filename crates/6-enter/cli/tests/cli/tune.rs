//! `tune`: space files whose commands are small scripts, launch files, recorded spaces.

use crate::run::{Ran, folder, golden, root, run_in};
use crate::schema::Schema;
use serde_json::Value;
use std::path::Path;

/// The search of one space file in a new folder.
fn search(name: &str, file: &str, args: &[&str]) -> (Ran, Value) {
    let dir = folder(name);
    std::fs::write(dir.join("tune.toml"), file).unwrap();
    let ran = run_in(&dir, &[&["tune", "tune.toml", "--format", "json"], args].concat());
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    if !value.is_null() {
        assert_eq!(Schema::of("tune-1").problems(&value), [""; 0]);
    }
    (ran, value)
}

/// Times of a parabola: x = 5, y = 2 is fastest with 10 ms.
const PARABOLA: &str = "constraints = [\"x + y <= 12\", \"x % 8 != 7\"]
[parameters]
x = \"range(1, 11)\"
y = [0, 1, 2, 3, 4]
[start]
x = 1
[run]
command = \"echo noise 7; echo time: {10 + (x - 5)**2 + 3 * (y - 2)**2} ms\"
time = \"time: ([0-9.]+) ms\"
";

#[test]
fn the_fastest_of_a_space_is_found() {
    for strategy in ["exhaustive", "model", "random"] {
        let budget = if strategy == "model" { "30" } else { "100" };
        let args = ["--strategy", strategy, "--budget", budget, "--no-proof"];
        let (ran, value) = search(&format!("tune-parabola-{strategy}"), PARABOLA, &args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let search = &value["searches"][0];
        // 10 values of x without 7, with y up to 4: of x = 9 and 10 none is removed but (9, 4), (10, 3), (10, 4).
        assert_eq!(
            (&search["configurations"], &search["combinations"]),
            (&42.into(), &50.into()),
            "{strategy}"
        );
        let values: Vec<&str> = search["winner"]["values"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| it["value"].as_str())
            .collect();
        assert_eq!(values, ["5", "2"], "{strategy}");
        assert_eq!(search["winner"]["value"], 10_000.0);
        assert_eq!(search["start"]["value"], 38_000.0);
        assert_eq!(search["verdict"], "faster");
        assert_eq!(search["outputs"][0]["value"], "-Dx=5 -Dy=2");
    }
}

#[test]
fn the_same_seed_gives_the_same_search() {
    let args = ["--budget", "12", "--seed", "7", "--no-proof", "-j", "2"];
    let (_, one) = search("tune-seed-1", PARABOLA, &args);
    let (_, two) = search("tune-seed-2", PARABOLA, &args);
    assert_eq!(one["searches"], two["searches"]);
    assert_eq!(one["tables"], two["tables"]);
}

#[test]
fn a_failure_has_its_reason_and_its_kind() {
    for (name, from, to) in [
        ("none", "echo time: {10 + (x - 5)**2 + 3 * (y - 2)**2} ms", "true"),
        ("two", "echo noise 7", "echo time: 3 ms"),
        ("zero", "{10 + (x - 5)**2 + 3 * (y - 2)**2}", "0"),
        ("fails", "echo noise 7", "echo broken pipe >&2; exit 3"),
        ("signal", "echo noise 7", "kill -SEGV $$"),
        ("hang", "echo noise 7", "sleep 60"),
    ] {
        let file = format!("{}[limits]\nseconds = 1\n", PARABOLA.replace(from, to));
        let (ran, value) = search(&format!("tune-fails-{name}"), &file, &["--budget", "1", "--no-proof"]);
        assert_eq!(ran.code, 1, "{name}: {}", ran.stderr);
        assert_eq!(value["searches"][0]["verdict"], "nothing", "{name}");
        let tables = value["tables"].as_array().unwrap();
        let failures = tables.iter().find(|it| it["columns"][1]["key"] == "failure").expect(name);
        golden(&format!("failure: {name}"), &format!("{:#}", failures["rows"][0]["cells"]));
    }
}

#[test]
fn a_space_that_cannot_be_is_refused() {
    for (name, from, to, said) in [
        ("unknown", "x % 8 != 7", "z % 8 != 7", "`z`"),
        ("empty", "x + y <= 12", "x + y < 1", "x + y < 1"),
        ("divides", "x % 8 != 7", "8 % (y - 2) == 0", "zero"),
        ("endless", "range(1, 11)", "range(10**15)", "10**15"),
        ("syntax", "x % 8 != 7", "x % 8 !=", "column"),
        ("start", "x = 1\n[run]", "x = 77\n[run]", "77"),
        ("start-breaks", "x = 1\n[run]", "x = 7\n[run]", "constraint"),
        ("braces", "{10 + (x", "{10 + (q", "q"),
    ] {
        let file = PARABOLA.replace(from, to);
        assert_ne!(file, PARABOLA, "{name}");
        let (ran, _) = search(&format!("tune-space-{name}"), &file, &["--budget", "1", "--no-proof"]);
        assert!(ran.code == 1 || ran.code == 64, "{name}: {} {}", ran.code, ran.stderr);
        assert!(ran.stderr.contains(said) || ran.stdout.contains(said), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_time_that_no_gpu_can_reach_is_refused() {
    let file = format!("gpu = \"mi300x\"\n{PARABOLA}[work]\nflops = 3e13\ntype = \"f16\"\n");
    let (ran, value) = search("tune-impossible", &file, &["--strategy", "exhaustive", "--no-proof"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // 3e13 operations take 23 ms at 1,307 Tflop/s, of which the data sheet's clock leaves 5 %.
    let search = &value["searches"][0];
    assert!(
        search["winner"]["value"].as_f64().unwrap() >= 21_000.0 || search["winner"].is_null(),
        "{search}"
    );
    assert!(search["failed"].as_u64().unwrap() > 10, "{search}");
}

/// The tables of an answer by their first words.
fn table<'a>(value: &'a Value, title: &str) -> &'a Value {
    let tables = value["tables"].as_array().unwrap();
    tables.iter().find(|it| it["title"].as_str().unwrap().starts_with(title)).expect(title)
}

/// The parabola over two shapes, with a second number.
fn two_numbers() -> String {
    let run = "echo energy: {10 + x} J; echo time: {M + (x - 5)**2 + 3 * (y - 2)**2} ms";
    let file = PARABOLA.replace("echo noise 7; echo time: {10 + (x - 5)**2 + 3 * (y - 2)**2} ms", run);
    format!(
        "{file}[[shapes]]\nM = 10\n[[shapes]]\nM = 20\nname = \"large\"\n[objective]\nminimize = [\"time\", \"energy\"]\n[objective.numbers]\nenergy = \"energy: ([0-9.]+) J\"\n"
    )
}

#[test]
fn several_numbers_over_several_shapes() {
    let args = ["--strategy", "exhaustive", "--no-proof"];
    let (ran, value) = search("tune-numbers", &two_numbers(), &args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found = &value["searches"][0];
    assert_eq!(found["unit"], "");
    // x = 5, y = 2: 10 and 20 ms, 15 J.
    let winner = &found["winner"];
    let mean = (200f64.sqrt() * 1000.0 * 15.0).sqrt();
    assert!((winner["value"].as_f64().unwrap() / mean - 1.0).abs() < 1e-9, "{winner}");
    assert_eq!(
        (&winner["numbers"][1]["name"], &winner["numbers"][1]["value"]),
        (&"energy".into(), &15.0.into())
    );
    let shapes = table(&value, "Shapes");
    assert_eq!(
        (&shapes["rows"][1]["label"], &shapes["rows"][1]["cells"][1]),
        (&"large".into(), &20_000.0.into())
    );
    // Less energy costs time: x from 1 to 5, always y = 2.
    let front = table(&value, "Configurations of tune that no other beats");
    let rows: Vec<&str> =
        front["rows"].as_array().unwrap().iter().filter_map(|it| it["cells"][2].as_str()).collect();
    assert_eq!(rows, ["5", "4", "3", "2", "1"]);

    // Each shape has its own least time.
    let file = format!("gpu = \"mi300x\"\n{}[work]\nflops = \"1e12 * M\"\ntype = \"f16\"\n", two_numbers());
    let (_, value) = search("tune-numbers-floor", &file, &args);
    // 20e12 operations take 14.5 ms or more: 10 ms for 10e12 can be, 7.2 ms or more.
    assert_eq!(value["searches"][0]["failed"], 0);
    let (_, value) = search("tune-numbers-floor-2", &file.replace("1e12 * M", "1e11 * M * M"), &args);
    let reason = &table(&value, "Configurations of tune without a time")["rows"][0]["cells"][2];
    assert!(reason.as_str().unwrap().starts_with("large: "), "{reason}");
}

#[test]
fn a_budget_of_time_ends_a_search() {
    let file = PARABOLA.replace("echo noise 7", "sleep 0.2");
    for (name, budget) in [("wall", "1s"), ("busy", "1gpu-s")] {
        let args = ["--strategy", "random", "--no-proof", "--budget", budget, "-j", "1"];
        let (ran, value) = search(&format!("tune-time-{name}"), &file, &args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let tried = value["searches"][0]["tried"].as_u64().unwrap();
        assert!((1..=13).contains(&tried), "{name}: {tried}");
    }
    let (ran, _) = search("tune-time-wrong", PARABOLA, &["--budget", "0s"]);
    assert_eq!(ran.code, 64);
}

#[test]
fn a_number_can_be_in_a_file_that_each_run_writes() {
    let file = PARABOLA
        .replace("echo noise 7; echo time", "echo 7 ms; echo time")
        .replace(" ms\"\ntime", " ms > {out}/time.txt\"\nfile = \"{out}/time.txt\"\ntime");
    let (ran, value) = search("tune-file", &file, &["--strategy", "exhaustive", "--no-proof"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(value["searches"][0]["winner"]["value"], 10_000.0);
    // One that only the first run writes is not read again.
    let stale = file.replace(
        "{out}/time.txt\"\nfile = \"{out}/time.txt",
        "time.new; [ -e time.txt ] || mv time.new time.txt\"\nfile = \"time.txt",
    );
    assert_ne!(stale, file);
    let (_, value) = search("tune-stale", &stale, &["--strategy", "exhaustive", "--no-proof", "-j", "1"]);
    assert_eq!(value["searches"][0]["failed"], 41);
}

#[test]
fn a_worker_of_a_database_that_is_not_there_makes_none() {
    let dir = folder("tune-worker-path");
    let ran = run_in(&dir, &["tune", "--worker", "--store", "no.db", "--study", "a"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    ran.golden("a worker without a database");
    assert!(!dir.join("no.db").exists());
}

#[test]
fn one_configuration_is_explained() {
    let dir = folder("tune-why");
    std::fs::write(dir.join("tune.toml"), PARABOLA).unwrap();
    let why = |args: &[&str]| {
        let ran = run_in(&dir, &[&["tune", "tune.toml", "--format", "json", "--why"], args].concat());
        let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let rows = value["tables"][0]["rows"].as_array().cloned().unwrap_or_default();
        let row = |it: &Value| {
            (it["label"].as_str().unwrap().to_owned(), it["cells"][0].as_str().unwrap().to_owned())
        };
        (ran.code, rows.iter().map(row).collect::<Vec<_>>())
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(why(&["x=7 y=2"]), (0, vec![pair("valid", "no")]));
    assert_eq!(why(&["z=7"]).0, 64);
    let not_run = [pair("valid", "yes"), pair("expected time", "not known"), pair("was run", "no")];
    assert_eq!(why(&["x=5,y=2"]), (0, not_run.to_vec()));
    assert!(!dir.join("tune.db").exists());
    assert_eq!(run_in(&dir, &["tune", "tune.toml", "--strategy", "exhaustive", "--no-proof"]).code, 0);
    assert_eq!(why(&["x=5,y=2"]).1[2], pair("was run", "10.0 ms"));
}

/// The code object that the examples have, launched with several workgroups.
fn copy(dir: &Path, expected: &str) {
    let code = root().join("examples/vector_copy/vector_copy.gfx942.hsaco");
    let launch = format!(
        "code = {code:?}\nkernel = \"vecCopy\"\ngrid = [65536]\nworkgroup = [{{WG}}]\n[[argument]]\nname = \"a\"\ntype = \"f64\"\nshape = [65536]\ninitial = \"arange\"\n[[argument]]\nname = \"c\"\ntype = \"f64\"\nshape = [65536]\n{expected}\n[[argument]]\nname = \"n\"\ntype = \"i32\"\nvalue = {{N}}\n"
    );
    std::fs::write(dir.join("LAUNCH.toml"), launch).unwrap();
    let file = "gpu = \"mi300x\"\n[parameters]\nWG = [64, 128, 256]\nN = [65536, 100]\n[start]\nWG = 64\n[run]\nlaunch = \"LAUNCH.toml\"\n";
    std::fs::write(dir.join("tune.toml"), file).unwrap();
}

#[test]
fn a_winner_that_computes_something_else_is_refused() {
    // With n = 100 nearly nothing is copied, so it is the fastest.
    let dir = folder("tune-wrong");
    copy(&dir, "");
    let ran = run_in(&dir, &["tune", "tune.toml", "--format", "json", "--results", "all.T4.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    let search = &value["searches"][0];
    assert_eq!(search["tried"], 6);
    assert_eq!(search["winner"]["values"][1]["value"], "65536", "{search}");
    let proof = search["proof"].as_array().unwrap();
    assert!(proof.iter().any(|it| it["what"] == "results" && it["outcome"] == "failed"), "{search}");
    assert!(proof.iter().any(|it| it["what"] == "results" && it["outcome"] == "passed"), "{search}");
    let rules: Vec<&Value> = value["findings"].as_array().unwrap().iter().map(|it| &it["rule"]).collect();
    assert!(rules.contains(&&"SRC002".into()), "{rules:?}");
    let ran = run_in(&dir, &["tune", "tune.toml", "--fail-on", "SRC002"]);
    assert_eq!(ran.code, 2, "results of the run before, judged again: {}", ran.stderr);
    // What was run is a recorded space, and can stand before another search.
    let ran = run_in(
        &dir,
        &["tune", "all.T4.json", "--budget", "50%", "--prior", "all.T4.json", "--format", "json"],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["searches"][0]["tried"], 3);
    let winner = value["searches"][0]["winner"]["values"].as_array().unwrap();
    assert!(winner.iter().any(|it| it["name"] == "N" && it["value"] == "100"), "{winner:?}");
    // Where the launch file says what is right, a wrong configuration fails as it runs.
    copy(&dir, "expected = \"a\"");
    let ran = run_in(&dir, &["tune", "tune.toml", "--format", "json"]);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["searches"][0]["failed"], 3, "{}", ran.stderr);
}

/// A launch that finds its input in the L2 is faster than one that finds nothing; the answer says what was assumed.
#[test]
fn the_file_says_what_launches_find_in_the_caches() {
    let dir = folder("tune-caches");
    copy(&dir, "expected = \"a\"");
    let file = std::fs::read_to_string(dir.join("tune.toml")).unwrap();
    let run = |caches: &str| {
        std::fs::write(dir.join("tune.toml"), format!("{file}caches = {caches:?}\n").replace(", 100]", "]"))
            .unwrap();
        run_in(&dir, &["tune", "tune.toml", "--format", "json", "--no-proof"])
    };
    let time = |caches: &str| {
        let ran = run(caches);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let value: Value = serde_json::from_str(&ran.stdout).unwrap();
        let search = &value["searches"][0];
        golden(&format!("{caches} caches"), search["objective"].as_str().unwrap());
        search["winner"]["value"].as_f64().unwrap()
    };
    let [cold, warm] = ["cold", "warm"].map(time);
    assert!(warm < cold, "warm {warm} us, cold {cold} us");
    assert_eq!(run("hot").code, 1);
}

#[test]
fn a_description_alone_is_counted_and_not_searched() {
    let dir = folder("tune-described");
    let t1 = "{\"General\": {\"BenchmarkName\": \"a\"}, \"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"x\", \"Type\": \"int\", \"Values\": \"[1, 2, 4]\"}, {\"Name\": \"y\", \"Type\": \"int\", \"Values\": \"list(range(3))\"}], \"Conditions\": [{\"Expression\": \"x * y <= 4\", \"Parameters\": [\"x\", \"y\"]}]}}";
    std::fs::write(dir.join("a.T1.json"), t1).unwrap();
    let ran = run_in(&dir, &["tune", "a.T1.json", "--format", "json"]);
    assert_eq!(ran.code, 1);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["inputs"][0]["used"], "8 valid configurations");
    assert_eq!(value["tables"][0]["rows"][0]["cells"][0], 1.0);
    let file = "space = \"a.T1.json\"\n[run]\ncommand = \"echo {x + y}\"\n";
    std::fs::write(dir.join("tune.toml"), file).unwrap();
    let ran =
        run_in(&dir, &["tune", "tune.toml", "--format", "json", "--no-proof", "--strategy", "exhaustive"]);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["searches"][0]["winner"]["value"], 1000.0, "{}", ran.stderr);
}

#[test]
fn shapes_become_entries_of_tuned_files() {
    let dir = folder("tune-shapes");
    let config = r#"{"hidden_size": 4096, "num_local_experts": 8, "num_experts_per_tok": 2, "intermediate_size": 14336}"#;
    std::fs::write(dir.join("config.json"), config).unwrap();
    std::fs::write(dir.join("list.csv"), "M,N,K\n64,4096,7168\n").unwrap();
    let moe = ["tune", "moe", "--shapes", "config.json", "--tp", "2", "--for", "vllm", "--tokens", "1,64"];
    let ran = run_in(&dir, &[&moe[..], &["--gpu", "mi300x", "-o", "out", "--format", "json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(Schema::of("tune-1").problems(&value), [""; 0]);
    assert_eq!(value["tables"][0]["rows"].as_array().unwrap().len(), 2);
    let name = "E=8,N=7168,device_name=AMD_Instinct_MI300X.json";
    let written = std::fs::read_to_string(dir.join("out").join(name)).unwrap();
    let entries: Value = serde_json::from_str(&written).unwrap();
    assert!(entries["64"]["BLOCK_SIZE_M"].is_number(), "{written}");
    // The folder that was written is a folder of files in use.
    let merge = [&moe[..6], &["--for", "vllm", "--tokens", "128", "--merge", "out", "-o", "out"]].concat();
    let ran = run_in(&dir, &merge);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let both: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("out").join(name)).unwrap()).unwrap();
    assert_eq!(both["64"], entries["64"]);
    assert!(both["128"].is_object());
    for (args, code) in [
        ("gemm --shapes list.csv --for hipblaslt", 1),
        ("moe --shapes list.csv --for vllm", 1),
        ("conv --shapes list.csv --for vllm", 64),
        ("gemm --shapes list.csv", 64),
        ("gemm --for vllm", 64),
        ("gemm --shapes gone.csv --for vllm", 1),
        ("gemm --shapes list.csv --for vllm -o one.json", 64),
        ("gemm --shapes list.csv --for vllm --block 0,1", 64),
        ("moe --shapes config.json --for aiter", 1),
        ("gemm --shapes list.csv --for aiter --from list.csv --one", 64),
    ] {
        let ran = run_in(&dir, &[&["tune"], &args.split(' ').collect::<Vec<_>>()[..]].concat());
        assert_eq!(ran.code, code, "{args}: {}{}", ran.stdout, ran.stderr);
        golden(args, &format!("{}{}", ran.stdout, ran.stderr));
    }
}

#[test]
fn files_of_tensilelite_and_composable_kernel_are_spaces() {
    let dir = folder("tune-library");
    let config = "BenchmarkProblems:\n  -\n    - DataType: h\n      TransposeA: 1\n    - ForkParameters:\n        - MatrixInstruction:\n          - [16, 16, 16, 1, 1, 4, 4, 2, 2]\n        - DepthU: [8, 32, 64]\n      BenchmarkFinalParameters:\n        - ProblemSizes:\n          - Exact: [128, 128, 1, 128]\n";
    std::fs::write(dir.join("config.yaml"), config).unwrap();
    let ran = run_in(&dir, &["tune", "config.yaml"]);
    assert_eq!(ran.code, 1, "nothing to run: {}", ran.stdout);
    golden("a file of TensileLite", &format!("{}{}", ran.stdout, ran.stderr));
    let data = "GFlops, SizeI, SizeJ, SizeK, SizeL, TotalFlops, C_MT128x128x8_WGM1, C_MT128x128x8_WGM2, C_MT64x128x8_WGM1\n0, 1024, 1024, 1, 1024, 2147483648, 9100.5, 9088.0, -1\n1, 512, 512, 1, 512, 268435456, 50, 60, 70\n";
    let perf = |ms: &str, tile: u32| {
        format!(
            "Perf: {ms} ms, 1 TFlops, 1 GB/s, DeviceGemmXdl<256, {tile}, 128, 4, 8, 32, 32, 4, 2> PipelineVersion: v1\n"
        )
    };
    let ck = format!(
        "a_m_k: dim 2, lengths {{512, 64}}, strides {{64, 1}}\nc_m_n: dim 2, lengths {{512, 256}}, strides {{256, 1}}\n{}{}",
        perf("0.5", 256),
        perf("0.25", 64)
    );
    for (name, text, spaces, winner) in
        [("00_Final.csv", data.to_owned(), 2, "WGM=1"), ("ck.log", ck, 1, "MPerBlock=64")]
    {
        std::fs::write(dir.join(name), text).unwrap();
        let ran = run_in(&dir, &["tune", name, "--format", "json"]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        let value: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(Schema::of("tune-1").problems(&value), [""; 0]);
        let searches = value["searches"].as_array().unwrap();
        assert_eq!(searches.len(), spaces, "{name}");
        let values = searches[0]["winner"]["values"].as_array().unwrap();
        let words: Vec<String> = values
            .iter()
            .map(|it| format!("{}={}", it["name"].as_str().unwrap(), it["value"].as_str().unwrap()))
            .collect();
        assert!(words.iter().any(|it| it == winner), "{name}: {words:?}");
    }
}
