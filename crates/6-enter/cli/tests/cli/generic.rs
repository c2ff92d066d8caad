//! Code for generic targets, on the GPUs that it runs on.

use crate::profile::changed_with;
use crate::run::{folder, good, root};
use std::path::Path;

#[test]
fn code_for_generic_targets_runs_like_code_of_its_own() {
    let source = root().join("examples/vector_copy/vector_copy.hip");
    let Some(code) = testkit::compile("clang++-22", &source, "gfx9-4-generic", &[]) else { return };
    let dir = folder("profile-generic");
    std::fs::write(dir.join("generic.hsaco"), code).unwrap();
    let code = dir.join("generic.hsaco").display().to_string();
    let own = root().join("examples/vector_copy/vector_copy.gfx942.hsaco").display().to_string();
    let ran = changed_with(&dir, &[(&own, &code)], &["-b", "10"]);
    assert!(ran.code == 0 && ran.stderr.contains("`c`: all 1048576 "), "{}", ran.stderr);
    let counted = |folder: &Path| {
        let text = good(&[
            "analyze",
            "-p",
            &folder.display().to_string(),
            "-b",
            "10",
            "11",
            "16",
            "17",
            "--format",
            "csv",
        ]);
        // The first column is the recording's name.
        text.lines().map(|line| line.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    let plain = folder("profile-generic-plain");
    assert_eq!(changed_with(&plain, &[], &["-b", "10"]).code, 0);
    assert_eq!(counted(&dir), counted(&plain));
    let listing = good(&["inspect", "--asm", "--workload", &dir.display().to_string()]);
    assert!(listing.contains("gfx9-4-generic") && listing.contains("16384"), "{listing}");
    // It does not run on what it was not made for.
    let ran = changed_with(&dir, &[(&own, &code), ("mi300x", "mi210")], &[]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    ran.golden("another target");
}

#[test]
fn code_without_instruction_tables_gives_metadata_and_occupancy() {
    let source = root().join("examples/vector_copy/vector_copy.hip");
    let dir = folder("metadata-only");
    // Of 40 wave slots two workgroups of 16 waves take 32.
    for (target, waves) in [("gfx906", 8.0), ("gfx1030", 16.0), ("gfx1100", 16.0), ("gfx1250", 16.0)] {
        let Some(code) = testkit::compile("clang++-22", &source, target, &[]) else { return };
        let path = dir.join(format!("{target}.hsaco"));
        std::fs::write(&path, code).unwrap();
        let ran = crate::run::rockhound(&["inspect", &path.display().to_string(), "--format", "json"]);
        assert_eq!(ran.code, 0, "{target}: {}", ran.stderr);
        ran.golden(target);
        let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let kernel = &value["kernels"][0];
        assert_eq!(kernel["target"], target);
        assert!(kernel["resources"]["vgprs"].as_u64() > Some(0), "{kernel}");
        assert_eq!(kernel["occupancy"]["waves_per_simd"], waves, "{target}: {kernel}");
    }
    // A program with code for both kinds of targets is judged by the code that can be read.
    let text = good(&["occupancy", "--arch", "gfx1100", "--vgpr", "97", "--waves", "4"]);
    assert!(text.contains("12 of 16 waves"), "{text}");
}
