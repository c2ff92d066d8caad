//! Triton programs as their users start them: unmodified, with arrays of NumPy and with tensors of torch.
//!
//! The programs compare their results themselves; what is looked at here is what Rockhound adds.

use crate::run::{Ran, command, folder, golden, root};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `rockhound ARGS -- PYTHON SCRIPT`.
fn live(args: &[&str], python: &Path, script: &str) -> Ran {
    let script = root().join("crates/6-enter/cli/tests/live").join(script);
    let (python, script) = (python.display().to_string(), script.display().to_string());
    run(&args.iter().copied().chain(["--", &python, &script]).collect::<Vec<_>>())
}

/// Runs the command with a cache of Triton's own. A program that a signal ends has the code of the command.
fn run(args: &[&str]) -> Ran {
    command(args)
        .env("TRITON_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("triton-cache"))
        .env("TRITON_DEFAULT_FP_FUSION", "1")
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
        .into()
}

#[test]
fn arrays_of_numpy_are_arguments_of_kernels() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    for gpu in ["mi300x", "mi355x", "mi210"] {
        let ran = live(&["run", "--gpu", gpu], &python, "vector_add.py");
        assert_eq!((ran.code, ran.stdout.trim()), (0, "sums equal NumPy's"), "{gpu}: {}", ran.stderr);
    }
}

#[test]
fn programs_with_torch_are_right() {
    let Some(python) = testkit::python_with_torch() else { return };
    for (script, said) in [
        ("vector_add_torch.py", "sums equal torch's"),
        ("softmax.py", "softmax equals torch's"),
        ("matmul.py", "product equals torch's"),
        ("layer_norm.py", "layer norm and its gradients equal torch's"),
        ("attention.py", "attention equals torch's"),
        ("precision.py", "products and norms are exact"),
    ] {
        let ran = live(&["run"], &python, script);
        assert_eq!(ran.code, 0, "{script}: {}", ran.stderr);
        assert!(ran.stdout.contains(said), "{script}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn recordings_know_what_was_launched() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    let place = folder("live_recording");
    let output = place.display().to_string();
    let ran = live(&["profile", "-o", &output, "--overwrite"], &python, "vector_add.py");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let notes = std::fs::read_to_string(place.join("pmc_launches.jsonl")).expect("notes of launches");
    let note: serde_json::Value = serde_json::from_str(notes.lines().next().unwrap()).unwrap();
    assert_eq!(note["kernel"], "add_kernel");
    assert_eq!(note["configuration"][0], serde_json::json!(["BLOCK", 1024]));
    assert_eq!(note["arguments"][3], serde_json::json!({"name": "n", "type": "i32", "value": 98432}));
    assert_eq!(note["arguments"][0]["shape"], serde_json::json!([98432]));
    // What the compiler wrote is beside the code.
    let inspected = command(&["inspect", &output, "--format", "json"]).output().expect("it starts");
    let inspected: serde_json::Value = serde_json::from_slice(&inspected.stdout).expect("JSON");
    let kernels = inspected["kernels"].as_array().expect("kernels");
    assert_eq!(kernels.len(), 1, "{inspected}");
    assert!(kernels[0]["triton"]["lines"].is_array(), "{}", kernels[0]);
}

#[test]
fn accesses_past_the_end_name_the_argument_and_the_line() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    // Just after the array, and inside another one.
    for shift in ["8", "400000"] {
        let script = root().join("crates/6-enter/cli/tests/live/out_of_bounds.py");
        let (python, script) = (python.display().to_string(), script.display().to_string());
        let ran = run(&["run", "--check", "races,uninit", "--", &python, &script, shift]);
        assert_eq!(ran.code, 1, "{shift}: {}", ran.stderr);
        for said in ["float32 [1024] (first as x_ptr of copy_kernel)", "out_of_bounds.py:13"] {
            assert!(ran.stderr.contains(said), "{shift}: {said}: {}", ran.stderr);
        }
    }
}

#[test]
fn stopped_kernels_are_exceptions_that_the_command_repeats() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    let ran = live(&["run"], &python, "faults.py");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "caught\ncaught\nwent on\n"), "{}", ran.stderr);
    for said in
        ["float32 [1024] (first as x_ptr of double)", "workgroup (0, 0, 0)", "faults.py:11", "2 launches"]
    {
        assert_eq!(ran.stderr.matches(said).count(), 1, "{said}: {}", ran.stderr);
    }
}

#[test]
fn torch_is_answered_as_on_a_gpu() {
    let Some(python) = testkit::python_with_torch() else { return };
    let ran = live(&["run"], &python, "torch_answers.py");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn races_name_the_line() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    let ran = live(&["run", "--check", "races"], &python, "racing.py");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("CHK") && ran.stderr.contains("racing.py:1"), "{}", ran.stderr);
}

#[test]
fn a_missing_barrier_is_one_finding_in_words_of_triton() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    let ran = live(&["run", "--gpu", "mi300x", "--check", "races"], &python, "missing_barrier.py");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    for (said, times) in
        [("CHK002", 1), ("missing_barrier.py:", 2), ("tl.debug_barrier()", 1), ("__syncthreads", 0)]
    {
        assert_eq!(ran.stderr.matches(said).count(), times, "{said}: {}", ran.stderr);
    }
}

#[test]
fn kernels_that_read_what_nothing_has_written_are_found() {
    let Some(python) = testkit::python_with_torch() else { return };
    let ran = live(&["run", "--check", "races,uninit"], &python, "unwritten.py");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let lines: BTreeSet<&str> =
        ran.stderr.split("unwritten.py:").skip(1).filter_map(|it| it.split_whitespace().next()).collect();
    assert_eq!(lines, BTreeSet::from(["14", "16", "18", "20", "22", "24"]), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("severe  CHK003").count(), 6, "{}", ran.stderr);
}

#[test]
fn autotuners_try_as_many_configurations_as_they_may() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    let place = folder("live_limit");
    let output = place.display().to_string();
    let options = ["profile", "--counters-only", "-o", &output, "--overwrite", "--autotune-limit", "2"];
    let ran = live(&options, &python, "tuned.py");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let notes = std::fs::read_to_string(place.join("pmc_launches.jsonl")).expect("notes of launches");
    let notes: Vec<serde_json::Value> =
        notes.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    let (tried, chosen): (Vec<_>, Vec<_>) = notes.iter().partition(|it| it.get("tuning").is_some());
    // Sums have one key, copies two.
    let count =
        |notes: &[&serde_json::Value], kernel: &str| notes.iter().filter(|it| it["kernel"] == kernel).count();
    let counts = ["row_sum", "copy"].map(|it| (count(&tried, it), count(&chosen, it)));
    assert_eq!(counts, [(2, 1), (4, 2)], "{notes:?}");
}

#[test]
fn autotuning_is_by_modelled_time_and_a_table_of_the_recording() {
    let Some(python) = testkit::python_with_torch() else { return };
    let output = folder("live_tuning").display().to_string();
    let ran = live(&["profile", "-o", &output, "--overwrite", "-b", "0.2", "0.7"], &python, "matmul.py");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("are modelled;").count(), 1, "{}", ran.stderr);
    for said in ["matmul_kernel (M=128, N=160, K=96)", "best", "shared memory", "BLOCK_M=16", "configuration"]
    {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    let guide = command(&["guide", &output]).output().expect("it starts");
    let guide = String::from_utf8_lossy(&guide.stdout).into_owned();
    for said in [" -b 0.7", "what Triton's compiler made of it", "rockhound inspect ", "triton-cache/"] {
        assert!(guide.contains(said), "{said}: {guide}");
    }
    // Three configurations, the call that tuned, and the benchmark, which tunes nothing.
    let notes =
        std::fs::read_to_string(std::path::Path::new(&output).join("pmc_launches.jsonl")).expect("notes");
    assert_eq!(notes.lines().filter(|line| line.contains("\"dispatch\"")).count(), 5, "{notes}");
}

#[test]
fn what_needs_a_gpu_is_said_with_the_line() {
    let Some(python) = testkit::python_with_torch() else { return };
    let ran = live(&["run"], &python, "cuda_only.py");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("`torch.cuda.CUDAGraph`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("cuda_only.py:5"), "{}", ran.stderr);
}

#[test]
fn a_site_customization_still_runs() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    let place = folder("live_site");
    std::fs::write(place.join("sitecustomize.py"), "print('customized')\n").unwrap();
    std::fs::write(
        place.join("script.py"),
        "import sys\nprint([it for it in sys.path if 'rockhound' in it])\n",
    )
    .unwrap();
    let (python, script) = (python.display().to_string(), place.join("script.py").display().to_string());
    let output = command(&["run", "--", &python, &script]).env("PYTHONPATH", &place).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("customized\n"), "{said}");
    // It launches nothing, and no library is to blame.
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("hint:").count(), 0, "{output:?}");
}

#[test]
fn lds_by_our_account_is_what_triton_asks_for() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    // Triton keeps what it compiled: 120 compilations take half a minute of one core once.
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("triton-many");
    let script = root().join("crates/6-enter/cli/tests/live/compile_many.py");
    let ran = Command::new(&python).arg(&script).env("TRITON_CACHE_DIR", &cache).output().expect("it starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let mut compared = BTreeSet::new();
    for entry in std::fs::read_dir(&cache).expect("the cache").map(|it| it.expect("an entry").path()) {
        let files = std::fs::read_dir(&entry).expect("a folder").map(|it| it.expect("an entry").path());
        for ir in files.filter(|it| it.extension().is_some_and(|it| it == "ttgir")) {
            let json = std::fs::read(ir.with_extension("json")).expect("the JSON beside it");
            let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
            let text = std::fs::read_to_string(&ir).expect("the IR");
            let dump = tritonir::read(&text).unwrap_or_else(|error| panic!("{}: {error}", ir.display()));
            let kernel = tritonir::kernels(&dump.modules[0], None).remove(0);
            assert_eq!(kernel.lds.total.clone().ok(), json["shared"].as_u64(), "{}", ir.display());
            compared.insert((kernel.name, json["arch"].to_string(), entry.clone()));
        }
    }
    for target in ["gfx90a", "gfx942", "gfx950"] {
        for kernel in ["matmul", "matmul_int4", "softmax", "layer_norm", "attention"] {
            let settings = compared.iter().filter(|it| it.0 == kernel && it.1.contains(target)).count();
            assert!(settings >= 8, "{kernel} {target}: {settings} settings");
        }
    }
}

/// Runs `rockhound tune ARGS --format json -- PYTHON SCRIPT` with results kept in a folder; returns the answer.
fn tuned(kept: &Path, args: &[&str], python: &Path, script: &str) -> (Ran, serde_json::Value) {
    let store = kept.join("tune.db").display().to_string();
    let first = ["tune", "--format", "json", "--gpu", "mi300x", "--store", &store];
    let ran = live(&[&first, args].concat(), python, script);
    let answer = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
    (ran, answer)
}

#[test]
fn every_autotuned_kernel_and_key_is_searched() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    let place = folder("live_tune");
    let (ran, answer) = tuned(&place, &["--write", &place.display().to_string()], &python, "tuned.py");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let searches = answer["searches"].as_array().expect("searches");
    let names: Vec<&str> = searches.iter().map(|it| it["name"].as_str().unwrap()).collect();
    for (at, said) in ["row_sum (columns=2048", "copy (n=500", "copy (n=1000"].into_iter().enumerate() {
        assert!(names[at].starts_with(said), "{names:?}");
    }
    // The copies compared with each other; the fastest sum is wrong, one leaves its memory, one does not compile.
    let sums = &searches[0];
    assert_eq!((&sums["tried"], &sums["failed"]), (&5.into(), &2.into()), "{}", ran.stderr);
    let steps: Vec<&str> =
        sums["proof"].as_array().unwrap().iter().map(|it| it["outcome"].as_str().unwrap()).collect();
    assert_eq!(steps, ["failed", "passed", "passed", "passed"], "{sums}");
    let values = sums["winner"]["values"].to_string();
    assert!(values.contains("right") && ran.stderr.contains("sums {'BLOCK': "), "{values}{}", ran.stderr);
    let failures = answer["tables"].to_string();
    for said in ["does not build", "fails while it runs"] {
        assert!(failures.contains(said), "{said}: {failures}");
    }
    // The same command takes all results from the database, and finds the same.
    let (again, same) = tuned(&place, &[], &python, "tuned.py");
    assert_eq!(again.code, 0, "{}", again.stderr);
    golden("the same search again", &format!("{:#}", same["notes"]));
    for (it, before) in same["searches"].as_array().unwrap().iter().zip(searches) {
        assert_eq!((&it["winner"], &it["tried"]), (&before["winner"], &before["tried"]));
    }
    // The source as it would be, and what Triton's own cache reads.
    let patch = std::fs::read_to_string(place.join("winners.patch")).expect("a patch");
    assert!(patch.contains("+    triton.Config({\"BLOCK\": ") && patch.contains("tuned.py"), "{patch}");
    let caches = testkit::files(&place.join("triton-cache"));
    assert_eq!(caches.len(), 2, "a pre_hook cannot be kept in a file: {:?}", caches.keys());
    // Triton itself takes the winner from them.
    let script = root().join("crates/6-enter/cli/tests/live/tuned.py").display().to_string();
    let python = python.display().to_string();
    let ran = command(&["run", "--gpu", "mi300x", "--", &python, &script])
        .env("TRITON_CACHE_DIR", place.join("triton-cache"))
        .env("TRITON_CACHE_AUTOTUNING", "1")
        .env("TRITON_PRINT_AUTOTUNING", "1")
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(!said.contains("function copy"), "{said}");
}

#[test]
fn wider_spaces_are_searched_by_the_rules_of_the_gpu() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    let (ran, answer) =
        tuned(&folder("live_tune_wider"), &["--widen", "--budget", "6", "--seed", "1"], &python, "tuned.py");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let copies = &answer["searches"][1];
    assert!(copies["configurations"].as_u64() > Some(40), "{copies}");
    assert_eq!(copies["tried"], 6, "{copies}");
    assert!(copies["winner"]["values"].to_string().contains("waves_per_eu"), "{copies}");
}

#[test]
fn programs_without_a_search_are_errors() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    let (ran, _) = tuned(&folder("live_tune_none"), &[], &python, "vector_add.py");
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("`@triton.autotune`"), "{}", ran.stderr);
}
