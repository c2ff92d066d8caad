//! Gates with a memory: baselines and exceptions, for every command that judges.

use crate::run::{clean, folder, run_in, spilling};
use crate::schema::Schema;
use serde_json::Value;

/// A text without its line breaks.
fn words(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_baseline_makes_only_new_findings_fail() {
    let dir = folder("gates-baseline");
    let (spilling, clean) = (spilling(), clean());
    let ran = run_in(&dir, &["inspect", &clean, "--write-baseline", "clean.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("clean.json")).unwrap()).unwrap();
    assert_eq!(Schema::of("baseline-1").problems(&written), [""; 0]);
    let ran = run_in(&dir, &["inspect", &spilling, "--write-baseline", "spilling.json", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);

    let ran = run_in(&dir, &["inspect", &spilling, "--baseline", "spilling.json", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(Schema::of("inspect-1").problems(&value), [""; 0]);
    assert_eq!((&value["gate"]["new"], &value["gate"]["worse"]), (&0.into(), &0.into()));
    assert_eq!(value["kernels"][0]["findings"][0]["gate"]["state"], "known");

    let ran = run_in(&dir, &["inspect", &spilling, "--baseline", "clean.json"]);
    assert!(ran.code == 2 && ran.stderr.contains("new: RES001"), "{}", ran.stderr);
    let ran = run_in(&dir, &["inspect", &clean, "--baseline", "spilling.json"]);
    assert!(ran.code == 0 && ran.stderr.contains("gone: RES001"), "{}", ran.stderr);
    // A run that read half of its inputs is no baseline.
    let ran = run_in(&dir, &["inspect", &clean, "missing", "--write-baseline", "half.json"]);
    assert!(ran.code == 1 && !dir.join("half.json").exists(), "{}", ran.stderr);
    let ran = run_in(&dir, &["inspect", &clean, "--baseline", &clean]);
    assert_eq!(ran.code, 1, "binary data is no text: {}", ran.stderr);
    std::fs::write(dir.join("other.json"), "{}").unwrap();
    let ran = run_in(&dir, &["inspect", &clean, "--baseline", "other.json"]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    ran.golden("no baseline");
}

#[test]
fn exceptions_are_found_above_the_folder_and_marked_in_every_format() {
    let dir = folder("gates-exceptions");
    let inner = dir.join("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    let file = spilling();
    let allow = |more: &str| {
        let text = format!("[[allow]]\nrule = \"RES001\"\nkernel = \"*\"\nreason = \"runs once\"\n{more}");
        std::fs::write(dir.join("rockhound.toml"), text).unwrap();
    };
    allow("");
    let inspect =
        |more: &[&str]| run_in(&inner, &[&["inspect", &file, "--fail-on", "RES001"], more].concat());
    let ran = inspect(&[]);
    assert!(ran.code == 0 && words(&ran.stdout).contains("[allowed: runs once]"), "{ran:?}");
    let ran = inspect(&["--format", "sarif"]);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    let results = value["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|it| it["ruleId"] == "RES001").unwrap();
    assert_eq!(result["suppressions"][0]["status"], "accepted");
    let ran = inspect(&["--format", "github"]);
    assert!(ran.stdout.contains("::notice") && !ran.stdout.contains("::error"), "{}", ran.stdout);

    allow("until = 2020-01-01\n");
    let ran = inspect(&[]);
    assert!(ran.code == 2 && ran.stderr.contains("ended on 2020-01-01: runs once"), "{}", ran.stderr);
    std::fs::write(inner.join("own.toml"), "[[allow]]\nrule = \"RES001\"\nkernel = \"x\"\nreason = \"r\"\n")
        .unwrap();
    let ran = inspect(&["--config", "own.toml"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    ran.golden("an exception for nothing");
    std::fs::write(dir.join("rockhound.toml"), "[[allow]]\nrule = 1\n").unwrap();
    assert_eq!(inspect(&[]).code, 64);
}

#[test]
fn all_judging_commands_have_the_options() {
    let dir = folder("gates-commands");
    let tunings = dir.join("t.csv");
    std::fs::write(
        &tunings,
        "Validator,PT_VERSION,2.5.1\nGemmTunableOp_float_NN,nn_8_8_8,Gemm_Rocblas_1,0.1\nGemmTunableOp_float_NN,nn_8_8_8,Gemm_Rocblas_2,0.1\n",
    )
    .unwrap();
    let tunings = tunings.display().to_string();
    let machine = dir.join("env.txt");
    std::fs::write(&machine, "HSA_OVERRIDE_GFX_VERSION=9.4.2\nHIP_LAUNCH_BLOCKING=1\nAMD_LOG_LEVEL=4\n")
        .unwrap();
    let machine = machine.display().to_string();
    let recording = crate::guide::recording("gates-recording", crate::guide::READS_AGAIN, 100);
    let log = dir.join("build.log");
    std::fs::write(&log, "remark: a.hip:1:0: Function Name: k\nremark: a.hip:1:0:     VGPRs Spill: 9\n")
        .unwrap();
    let log = log.display().to_string();
    let cases: [(&[&str], &str); 5] = [
        (&["inspect", &log], "warning"),
        (&["tunedb", "lint", &tunings], "info"),
        (&["doctor", &machine], "warn"),
        (&["analyze", "-p", &recording], "info"),
        (
            &["tile", "--gpu", "mi300x", "--dtype", "bf16", "--mnk", "4096,4096,4096", "--tile", "16x16x16"],
            "info",
        ),
    ];
    for (args, condition) in cases {
        let with = |more: &[&str]| run_in(&dir, &[args, more].concat());
        let ran = with(&["--fail-on", condition]);
        assert_eq!(ran.code, 2, "{args:?} has findings: {} {}", ran.stdout, ran.stderr);
        let ran = with(&["--write-baseline", "b.json"]);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        let ran = with(&["--baseline", "b.json", "--fail-on", condition, "--format", "json"]);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        let value: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(value["gate"]["known"].as_u64() > Some(0), "{args:?}: {}", value["gate"]);
    }
}
