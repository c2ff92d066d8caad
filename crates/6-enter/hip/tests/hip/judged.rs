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

/// A profiler whose runs of a program take the times that the environment names.
fn profiler(folder: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let double = Path::new(rockhound().get_program()).with_file_name("examples/stand_in_rocprofv3");
    testkit::needs(&[&double.display().to_string()]).then_some(())?;
    let path = folder.join("rocprofv3");
    let text = format!(
        "#!/bin/sh\n# The program itself is not started: it would need a GPU.\nset -- \"$@\"\nfor word; do\n  shift\n  set -- \"$@\" \"$word\"\n  [ \"$word\" = -- ] && set -- \"$@\" true\ndone\nexec '{}' \"$@\"\n",
        double.display()
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Some(path)
}

#[test]
fn right_programs_are_timed_on_a_gpu_in_turn() {
    let (Some(base), Some(fast), Some(wrong), Some(same)) = (program(0), program(1), program(2), program(9))
    else {
        return;
    };
    let folder = crate::profile::empty("judged_gpu");
    std::fs::create_dir_all(&folder).unwrap();
    let Some(profiler) = profiler(&folder) else { return };
    let page = folder.join("page.html");
    let mut judge = rockhound();
    judge.arg("judge").arg(&base).args([&fast, &wrong, &same]);
    judge
        .args(["--on", "gpu", "--gpu", "mi300x", "--rounds", "6", "--format", "json", "--profiler"])
        .arg(&profiler);
    judge.arg("--page").arg(&page).args(["--", "3000"]);
    judge.env("STAND_IN_NS", "judged1=15000 judged0=20000 judged9=20000");
    let output = judge.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["gpu"], "MI300X, measured");
    let verdicts: Vec<&str> =
        answer["candidates"].as_array().unwrap().iter().map(|it| it["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["faster", "wrong", "not_faster"], "{answer}");
    let speedup = answer["candidates"][0]["speedup"].as_f64().unwrap();
    assert!((1.32..1.35).contains(&speedup), "{answer}");
    assert_eq!(answer["candidates"][0]["trust"], Value::Null);
    assert_eq!(std::fs::read_to_string(&page).unwrap().matches("<h2><span class=\"badge").count(), 3);
}

#[test]
fn a_base_that_shows_no_results_is_refused() {
    let (Some(base), Some(other)) = (program(10), program(0)) else { return };
    let output = rockhound().arg("judge").args([&base, &other]).output().unwrap();
    assert_eq!(output.status.code(), Some(64), "{}", String::from_utf8_lossy(&output.stderr));
}
