//! `rockhound diff` with thresholds.

use crate::run::{clean, folder, good, rockhound, spilling};
use serde_json::Value;

const RENAME: &str = "no_spills=spills_in_loop";

#[test]
fn equal_builds_do_not_differ() {
    let text = good(&["diff", &clean(), &clean()]);
    assert_eq!(text, "0 changed, 0 added, 0 removed, 1 unchanged\n");
}

#[test]
fn kernels_come_and_go() {
    let json: Value =
        serde_json::from_str(&good(&["diff", &clean(), &spilling(), "--format", "json"])).unwrap();
    assert_eq!(json["schema"], "rockhound.diff/2");
    assert_eq!(json["removed"][0]["name"], "no_spills");
    assert_eq!(json["added"][0]["name"], "spills_in_loop");
    assert_eq!(json["changed"].as_array().unwrap().len(), 0);
}

#[test]
fn changes_are_named_and_judged() {
    let json: Value =
        serde_json::from_str(&good(&["diff", &clean(), &spilling(), "--match", RENAME, "--format", "json"]))
            .unwrap();
    let changed = &json["changed"][0];
    let change = |metric: &str| {
        changed["changes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|change| change["metric"] == metric)
            .unwrap_or_else(|| panic!("{metric} differs"))
            .clone()
    };
    assert_eq!(change("vgprs")["verdict"], "better");
    assert_eq!(change("occupancy")["verdict"], "better");
    assert_eq!(change("scratch_bytes")["verdict"], "worse");
    assert_eq!(change("scratch_bytes")["old"], 0.0);
    assert!(changed["appeared"].as_array().unwrap().iter().any(|finding| finding["rule"] == "RES001"));
    let text = good(&["diff", &clean(), &spilling(), "--match", RENAME]);
    assert!(text.contains("VGPRs") && text.contains("worse") && text.contains("RES001"), "{text}");
}

#[test]
fn thresholds_decide_the_exit_code() {
    let folder = folder("thresholds");
    let path = folder.join("limits.toml");
    for (limits, code) in [
        ("scratch_bytes = \"+0\"", 2),
        ("findings.RES001 = \"+0\"", 2),
        ("vgprs = \"-0\"", 2),
        ("vgprs = \"+0\"", 0),
        ("scratch_bytes = \"+100000\"", 0),
        ("occupancy = \"-0\"", 0),
        ("", 0),
        ("vgpr = \"+0\"", 64),
        ("vgprs = 4", 64),
    ] {
        std::fs::write(&path, limits).unwrap();
        let ran = rockhound(&[
            "diff",
            &clean(),
            &spilling(),
            "--match",
            RENAME,
            "--thresholds",
            &path.display().to_string(),
        ]);
        assert_eq!(ran.code, code, "{limits}: {} {}", ran.stdout, ran.stderr);
        if code == 2 {
            assert!(ran.stdout.contains("beyond"), "{limits}: {}", ran.stdout);
        }
    }
    std::fs::write(&path, "kernels.removed = \"+0\"").unwrap();
    let ran = rockhound(&["diff", &clean(), &spilling(), "--thresholds", &path.display().to_string()]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
}

#[test]
fn bad_sides_are_errors() {
    for args in [["diff", "/no/such/file", "fixtures/rules"], ["diff", "fixtures/rules", "/no/such/file"]] {
        let ran = rockhound(&args);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(ran.stderr.starts_with("error: /no/such/file: "), "{}", ran.stderr);
    }
    let ran = rockhound(&["diff", &clean(), &spilling(), "--match", "gone=spills_in_loop"]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    let ran = rockhound(&["diff", &clean(), &spilling(), "--thresholds", "/no/such/limits.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}
