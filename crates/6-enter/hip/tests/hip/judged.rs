//! `rockhound judge` of whole programs.

use crate::compiled::toolchain;
use crate::profile::rockhound;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Number of the variant, verdict, a part of the grounds.
const VARIANTS: [(u32, &str, &str); 9] = [
    (1, "faster", ""),
    (2, "wrong", "element 1 of `copy 0`"),
    (3, "unsafe", "CHK003"),
    (4, "unsafe", "outside every allocation"),
    (5, "wrong", "exit code 3: it failed its own check"),
    (6, "hangs", "scale"),
    (7, "unsafe", "CHK001"),
    (8, "unsafe", "the order of workgroups"),
    (9, "not_faster", ""),
];

fn program(variant: u32) -> Option<PathBuf> {
    let common = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/judged.cpp");
    // A file of each: macros on the command line would refuse the header that is compiled for all tests.
    let source = toolchain()?.folder().join(format!("judged{variant}.cpp"));
    let text = format!("#include <hip/hip_runtime.h>\n#define VARIANT {variant}\n#include {common:?}\n");
    if std::fs::read_to_string(&source).ok().as_ref() != Some(&text) {
        std::fs::write(&source, text).unwrap();
    }
    toolchain()?.build(&source, &format!("judged{variant}"), &["gfx942"], &["-gline-tables-only"])
}

#[test]
fn programs_are_compared_by_what_they_read_back() {
    let Some(base) = program(0) else { return };
    let candidates: Vec<PathBuf> = VARIANTS.iter().map(|it| program(it.0).unwrap()).collect();
    let mut judge = rockhound();
    judge.arg("judge").arg(&base).args(&candidates).args(["--format", "json", "--", "3000"]);
    let output = judge.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let judged = answer["candidates"].as_array().unwrap();
    assert_eq!(judged.len(), VARIANTS.len());
    for ((variant, verdict, part), candidate) in VARIANTS.iter().zip(judged) {
        assert_eq!(candidate["name"], format!("judged{variant}"));
        assert_eq!(candidate["verdict"], *verdict, "{candidate}");
        assert!(candidate["because"].as_str().unwrap().contains(part), "{candidate}");
    }
}

#[test]
fn a_base_that_shows_no_results_is_refused() {
    let (Some(base), Some(other)) = (program(10), program(0)) else { return };
    let output = rockhound().arg("judge").args([&base, &other]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("reads nothing back from the GPU"), "{said}");
    assert_eq!(output.status.code(), Some(64));
}
