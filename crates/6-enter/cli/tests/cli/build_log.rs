//! `inspect` of the logs of builds: what the compiler printed of each kernel.

use crate::run::{folder, golden, rockhound, rockhound_with_input};
use crate::schema::Schema;
use serde_json::Value;

/// Messages on a kernel of `tile.hip`.
fn remarks(name: &str, line: u32, numbers: [u32; 5]) -> String {
    let [vgprs, scratch, occupancy, spills, lds] = numbers;
    [
        format!("Function Name: {name}"),
        "    TotalSGPRs: 10".to_owned(),
        format!("    VGPRs: {vgprs}"),
        "    AGPRs: 0".to_owned(),
        format!("    ScratchSize [bytes/lane]: {scratch}"),
        "    Dynamic Stack: False".to_owned(),
        format!("    Occupancy [waves/SIMD]: {occupancy}"),
        "    SGPRs Spill: 0".to_owned(),
        format!("    VGPRs Spill: {spills}"),
        format!("    LDS Size [bytes/block]: {lds}"),
    ]
    .map(|text| format!("tile.hip:{line}:1: remark: {text} [-Rpass-analysis=kernel-resource-usage]\n"))
    .concat()
}

fn inspect(log: &str, args: &[&str]) -> (i32, Value, String) {
    let ran = rockhound_with_input(&[&["inspect", "-", "--format", "json"], args].concat(), log.as_bytes());
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    assert_eq!(Schema::of("inspect-1").problems(&value), [""; 0]);
    (ran.code, value, ran.stderr)
}

#[test]
fn resources_and_their_findings() {
    let log = "[1/2] clang++ --offload-arch=gfx942 -c tile.hip\n".to_owned()
        + &remarks("_Z5spillPf", 4, [128, 64, 4, 12, 0])
        + &remarks("fine", 9, [32, 0, 8, 0, 0]);
    let (code, value, said) = inspect(&log, &["--fail-on", "RES001"]);
    assert_eq!(code, 2, "{said}");
    golden("resources of two kernels", &said);
    let [spill, fine] = &value["kernels"].as_array().unwrap()[..] else { panic!("{value:#}") };
    assert_eq!((&spill["demangled"], &spill["target"]), (&"spill(float*)".into(), &"gfx942".into()));
    assert_eq!(spill["resources"]["vgpr_spills"], 12);
    assert_eq!(spill["occupancy"]["waves_per_simd"], 4.0);
    assert_eq!((&spill["source"]["file"], &spill["source"]["line"]), (&"tile.hip".into(), &4.into()));
    assert_eq!(spill["findings"][0]["rule"], "RES001");
    assert_eq!(fine["findings"].as_array().map(Vec::len), Some(0), "{fine:#}");
    let (code, _, _) = inspect(&log, &["--fail-on", "RES001", "--kernel", "fine"]);
    assert_eq!(code, 0);
}

#[test]
fn the_printed_occupancy_is_explained() {
    // 32 KiB with workgroups of four waves: LLVM up to 22 prints 5 for the target with 160 KiB.
    let log = remarks("tile", 4, [8, 0, 5, 0, 32768]);
    let (_, value, _) = inspect(&log, &["--arch", "gfx950"]);
    let kernel = &value["kernels"][0];
    assert_eq!(kernel["compiler"]["waves_per_simd"], 5, "{kernel:#}");
    assert_eq!(kernel["occupancy"]["waves_per_simd"], 4.0);
    assert!(kernel["occupancy"]["reasons"][0].as_str().unwrap().contains("1280"), "{kernel:#}");
    // Without a target there is no calculation, and the answer says how to get it.
    let (code, value, said) = inspect(&log, &[]);
    assert!(code == 0 && value["kernels"][0]["occupancy"].is_null() && said.contains("--arch"), "{said}");
    let report =
        rockhound(&["occupancy", "--arch", "mi350x", "--lds", "32K", "--waves", "4", "--format", "json"]);
    assert!(report.stdout.contains("steps of 1280 B"), "{}", report.stdout);
}

#[test]
fn text_without_messages_of_a_compiler_is_refused() {
    for text in ["[1/2] clang++ --offload-arch=gfx942 -c tile.hip\nok\n", "__global__ void k() {}\n"] {
        let path = folder("build-log-refused").join("log.txt");
        std::fs::write(&path, text).unwrap();
        let ran = rockhound(&["inspect", &path.display().to_string()]);
        assert_eq!(ran.code, 1, "{ran:?}");
        ran.golden(text);
    }
}

#[test]
fn a_log_on_a_pipe_is_read_in_pieces() {
    let one = remarks("spill", 4, [128, 64, 4, 12, 0]);
    let log = "plain text of a build\n".repeat(60_000) + &one;
    let (code, value, _) = inspect(&log, &["--fail-on", "RES001", "--arch", "gfx90a"]);
    assert_eq!((code, &value["kernels"][0]["compiler"]["line"]), (2, &60_001.into()));
}
