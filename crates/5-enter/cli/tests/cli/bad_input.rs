//! Inputs that cannot be read: one clear error each, the others are still reported.

use crate::run::{Ran, clean, folder, good, rockhound, spilling};
use std::fmt::Write as _;
use std::path::Path;

/// Runs `inspect` on a bad file and a good one.
fn with_a_good_one(bad: &str) -> Ran {
    let ran = rockhound(&["inspect", bad, &clean()]);
    assert_eq!(ran.code, 1, "{bad}: {}", ran.stderr);
    assert!(ran.stdout.contains("no_spills"), "the good file is reported: {}", ran.stdout);
    assert!(!ran.stdout.contains("error"), "errors go to standard error: {}", ran.stdout);
    let errors = ran.stderr.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "one error per file: {}", ran.stderr);
    assert!(ran.stderr.contains(bad), "{}", ran.stderr);
    ran
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// Bytes that look random and are the same in every run.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    })
    .take(length)
    .collect()
}

#[test]
fn each_kind_of_bad_file() {
    let folder = folder("bad_input");
    let object = std::fs::read(spilling()).unwrap();
    let mut other_machine = object.clone();
    other_machine[18] = 62;
    let mut damaged_header = object.clone();
    damaged_header[40..48].fill(0xff);
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", Vec::new(), "the file is empty"),
        ("noise", noise(1, 5000), ""),
        ("text.txt", b"hello\n".to_vec(), ""),
        ("magic", b"\x7fELF".to_vec(), ""),
        ("half.hsaco", object[..object.len() / 2].to_vec(), ""),
        ("machine.so", other_machine, ""),
        ("header.hsaco", damaged_header, ""),
        ("json.json", b"{\"name\": \"k\"}".to_vec(), "without the code object"),
        ("bundle", [&b"__CLANG_OFFLOAD_BUNDLE__"[..], &[0xff; 40]].concat(), ""),
        ("ccob", [&b"CCOB\x02\x00\x01\x00"[..], &[0xff; 40]].concat(), ""),
        ("empty.s", b"\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n".to_vec(), ""),
    ];
    for (name, bytes, message) in cases {
        let ran = with_a_good_one(&write(&folder, name, &bytes));
        assert!(ran.stderr.contains(message), "{name}: {}", ran.stderr);
    }
    let missing = with_a_good_one("/no/such/file.hsaco");
    assert!(missing.stderr.contains("no such file"), "{}", missing.stderr);
}

#[test]
fn every_kind_of_output_survives_a_bad_file() {
    let folder = folder("bad_formats");
    let bad = write(&folder, "noise", &noise(2, 3000));
    for format in ["text", "json", "csv", "sarif"] {
        let ran = rockhound(&["inspect", &bad, &clean(), "--format", format]);
        assert_eq!(ran.code, 1, "{format}");
        if format == "json" || format == "sarif" {
            let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            assert!(value.to_string().contains("noise"), "{format} names the bad file");
        }
    }
}

#[test]
fn truncation_anywhere_is_an_error_or_a_warning() {
    let folder = folder("truncated");
    let object = std::fs::read(clean()).unwrap();
    // The reader's own tests take every offset; here the program as a whole takes some.
    for cut in (0..object.len()).step_by(object.len() / 24) {
        let path = write(&folder, "cut.hsaco", &object[..cut]);
        let ran = rockhound(&["inspect", &path]);
        assert!(ran.code == 1 || ran.code == 0, "cut at {cut}: {ran:?}");
        if ran.code == 1 {
            assert!(ran.stderr.starts_with("error: "), "cut at {cut}: {}", ran.stderr);
        }
        assert!(!ran.stderr.contains("panicked"), "cut at {cut}: {}", ran.stderr);
    }
}

#[test]
fn folders_may_hold_anything() {
    let folder = folder("folder");
    std::fs::create_dir_all(folder.join("deep/er")).unwrap();
    write(&folder, "notes.txt", b"hello\n");
    write(&folder, "settings.json", b"{}");
    write(&folder, "noise", &noise(3, 4000));
    std::fs::copy(clean(), folder.join("deep/er/k.hsaco")).unwrap();
    let path = folder.display().to_string();
    let text = good(&["inspect", &path]);
    assert!(text.starts_with("no_spills\n"), "{text}");
    let empty = folder.join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    let ran = rockhound(&["inspect", &empty.display().to_string()]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no GPU code found"), "{}", ran.stderr);
}

#[test]
fn links_in_a_circle_end() {
    #[cfg(unix)]
    {
        let folder = folder("circle");
        std::os::unix::fs::symlink(&folder, folder.join("again")).unwrap();
        std::fs::copy(clean(), folder.join("k.hsaco")).unwrap();
        let text = good(&["inspect", &folder.display().to_string(), "--format", "csv"]);
        assert_eq!(text.lines().count(), 2);
    }
}

#[test]
fn a_selection_that_matches_nothing_says_so() {
    let ran = rockhound(&["inspect", &clean(), "--kernel", "nothing_of_that_name"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no kernel matches"), "{}", ran.stderr);
    let ran = rockhound(&["inspect", &clean(), "--arch", "gfx908"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("holds code for gfx942"), "{}", ran.stderr);
}

#[test]
fn devices_are_not_read() {
    if cfg!(target_os = "linux") {
        let ran = rockhound(&["inspect", "/dev/zero"]);
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains("not a regular file"), "{}", ran.stderr);
    }
}

#[test]
fn triton_sets_belong_together() {
    let folder = folder("triton");
    std::fs::copy(clean(), folder.join("no_spills.hsaco")).unwrap();
    let mut json = String::new();
    write!(json, "{{\"name\": \"no_spills\", \"shared\": 49152, \"num_warps\": 4, \"num_stages\": 2}}")
        .unwrap();
    write(&folder, "no_spills.json", json.as_bytes());
    write(&folder, "no_spills.amdgcn", b"\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n");
    let in_folder = folder.display().to_string();
    let by_code = folder.join("no_spills.hsaco").display().to_string();
    let by_json = folder.join("no_spills.json").display().to_string();
    for path in [in_folder, by_code, by_json] {
        let document: serde_json::Value =
            serde_json::from_str(&good(&["inspect", &path, "--format", "json"])).unwrap();
        let kernels = document["kernels"].as_array().unwrap();
        assert_eq!(kernels.len(), 1, "{path}");
        assert_eq!(kernels[0]["resources"]["launch_lds_bytes"], 49152, "{path}");
        assert_eq!(kernels[0]["resources"]["waves_per_workgroup"], 4, "{path}");
    }
}
