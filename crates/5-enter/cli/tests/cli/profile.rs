//! `rockhound profile` and `rockhound launch-template` on the committed example.

use crate::run::{folder, rockhound, root};
use std::path::Path;

const EXAMPLE: &str = "examples/vector_copy/LAUNCH.toml";

/// Writes a launch file of the example with some text replaced, and runs it.
fn changed(folder: &Path, from: &str, to: &str) -> crate::run::Ran {
    let text = std::fs::read_to_string(root().join(EXAMPLE)).unwrap();
    let code = root().join("examples/vector_copy/vector_copy.gfx942.hsaco").display().to_string();
    let text = text.replace("vector_copy.gfx942.hsaco", &code);
    assert!(text.contains(from), "{from}");
    let file = folder.join("LAUNCH.toml");
    std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
    rockhound(&["profile", &file.display().to_string(), "-o", &folder.display().to_string()])
}

#[test]
fn the_example_leaves_a_recording_and_a_report() {
    let recording = folder("profile");
    let ran = rockhound(&["profile", EXAMPLE, "-o", &recording.display().to_string()]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("`c`: all 1048576 elements as expected"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("recording: {}", recording.display())), "{}", ran.stderr);
    let row = ran.stdout.lines().find(|line| line.contains("Cache Accesses")).unwrap();
    assert!(row.contains("524,288"), "{row}");
    let instructions = std::fs::read_to_string(recording.join("pmc_instructions.csv")).unwrap();
    assert!(instructions.contains("global_store_dwordx2"), "{instructions}");
    let again = rockhound(&["analyze", "-p", &recording.display().to_string(), "-b", "7.1"]);
    assert!(again.stdout.contains("16,384"), "{}", again.stdout);
}

#[test]
fn what_does_not_fit_is_said() {
    // (text of the launch file, its replacement, exit code, message)
    let cases = [
        ("expected = \"a\"", "expected = \"2 * a\"", 2, "failed: `c`: element 1 is 1, expected 2"),
        ("expected = \"a\"", "expected = \"b\"", 1, "there is no argument `b`"),
        ("gpu = \"mi300x\"", "gpu = \"mi999\"", 64, "there is no GPU `mi999`"),
        ("gpu = \"mi300x\"", "gpu = \"mi210\"", 1, "has no code for gfx90a, only for gfx942"),
        ("kernel = \"vecCopy\"", "kernel = \"other\"", 1, "there is no kernel `other`, only vecCopy("),
        ("workgroup = [256]", "workgroup = [2048]", 1, "2048 work-items"),
        ("workgroup = [256]", "workgroup = [0]", 1, "`workgroup` has one to three sizes"),
        ("workgroup = [256]", "workgroup = [256]\ndynamic_lds = 70000", 1, "70000 bytes of LDS"),
        ("workgroup = [256]", "workgroups = [256]", 1, "unknown field `workgroups`"),
        ("type = \"i32\"", "type = \"i64\"", 1, "argument `n` has 8 bytes"),
        ("shape = [1048576]", "shape = [1048576]\nvalue = 1", 1, "give either `value`"),
        ("shape = [1048576]", "shape = [10]", 1, "outside every allocation"),
        ("grid = [1048576]", "grid = [1048576]\nrepeat = 0", 0, ""),
    ];
    for (number, (from, to, code, message)) in cases.into_iter().enumerate() {
        let ran = changed(&folder(&format!("profile_bad_{number}")), from, to);
        assert_eq!(ran.code, code, "{to}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{to}: {}", ran.stderr);
    }
}

#[test]
fn a_template_lists_the_arguments() {
    let ran = rockhound(&["launch-template", "examples/vector_copy/vector_copy.gfx942.hsaco"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(toml::from_str::<toml::Table>(&ran.stdout).is_ok(), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("[[argument]]").count(), 3);
    assert_eq!(ran.stdout.matches("type = \"f64\"").count(), 2);
    assert!(ran.stdout.contains("type = \"i32\"\nvalue = 1"), "{}", ran.stdout);
}
