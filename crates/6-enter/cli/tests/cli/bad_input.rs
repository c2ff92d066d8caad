//! Inputs that cannot be read: one clear error each, the others are still reported.

use crate::run::{Ran, clean, folder, good, rockhound, spilling};
use std::fmt::Write as _;
use std::io::Write as _;
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
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("noise", noise(1, 5000)),
        ("text.txt", b"hello\n".to_vec()),
        ("magic", b"\x7fELF".to_vec()),
        ("half.hsaco", object[..object.len() / 2].to_vec()),
        ("machine.so", other_machine),
        ("header.hsaco", damaged_header),
        ("json.json", b"{\"name\": \"k\"}".to_vec()),
        ("bundle", [&b"__CLANG_OFFLOAD_BUNDLE__"[..], &[0xff; 40]].concat()),
        ("ccob", [&b"CCOB\x02\x00\x01\x00"[..], &[0xff; 40]].concat()),
        ("empty.s", b"\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n".to_vec()),
    ];
    for (name, bytes) in cases {
        with_a_good_one(&write(&folder, name, &bytes)).golden(name);
    }
    with_a_good_one("/no/such/file.hsaco").golden("no file");
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
    ran.golden("an empty folder");
}

#[test]
fn folders_of_other_targets_name_them() {
    let folder = folder("other");
    // The machine flag of the ELF header: the low byte tells the processor.
    let mut code = std::fs::read(clean()).unwrap();
    for (name, machine) in [("a.hsaco", 0x41), ("b.hsaco", 0x36)] {
        code[48] = machine;
        write(&folder, name, &code);
    }
    write(&folder, "notes.txt", b"hello\n");
    let path = folder.display().to_string();
    let ran = rockhound(&["inspect", &path]);
    assert_eq!(ran.code, 1);
    ran.golden("a folder of other targets");
    let ran = rockhound(&["inspect", &path, "--arch", "gfx942"]);
    assert_eq!(ran.code, 1);
    ran.golden("a folder of other targets --arch gfx942");
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
    for selection in [["--kernel", "nothing_of_that_name"], ["--arch", "gfx908"]] {
        let ran = rockhound(&[&["inspect", &clean()], &selection[..]].concat());
        assert_eq!(ran.code, 1);
        ran.golden(&selection.join(" "));
    }
}

#[test]
fn devices_are_not_read() {
    if cfg!(target_os = "linux") {
        let ran = rockhound(&["inspect", "/dev/zero"]);
        assert_eq!(ran.code, 1);
        ran.golden("/dev/zero");
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

/// Small files that unfold to gigabytes or claim to, in a folder with a good one, read with 200 MB of memory.
#[test]
fn hostile_files_are_read_within_200_megabytes() {
    let folder = folder("hostile");
    // Further memory that one CPU's threads need is not the reader's.
    const LIMIT_KB: usize = 200 * 1000 * 1000 / 1024;
    const ID: &[u8] = b"hipv4-amdgcn-amd-amdhsa--gfx942";
    let object = std::fs::read(clean()).unwrap();
    let table = |offset: u64, size: u64| {
        let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
        for field in [1, offset, size, ID.len() as u64] {
            bundle.extend(field.to_le_bytes());
        }
        bundle.extend(ID);
        bundle
    };
    let compressed = |claimed: u64, frame: &[u8]| {
        let mut data = b"CCOB\x03\x00\x01\x00".to_vec();
        data.extend((32 + frame.len() as u64).to_le_bytes());
        data.extend(claimed.to_le_bytes());
        data.extend([0; 8]);
        data.extend(frame);
        data
    };
    // 1 GiB behind the header of a code object, in a frame of some kilobytes.
    let bomb = {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        let mut head = table(4096, (1 << 30) - 4096);
        head.resize(4096, 0);
        head.extend(&object[..64]);
        encoder.write_all(&head).unwrap();
        let zeros = vec![0; 1 << 20];
        for _ in 0..1023 {
            encoder.write_all(&zeros).unwrap();
        }
        encoder.finish().unwrap()
    };
    assert!(bomb.len() < 1 << 20, "{} bytes", bomb.len());
    let mut long_note = object.clone();
    let sections = u64::from_le_bytes(object[40..48].try_into().unwrap()) as usize;
    // Every section claims 4 GB.
    for section in (sections..object.len().saturating_sub(63)).step_by(64) {
        long_note[section + 32..section + 40].copy_from_slice(&(4u64 << 30).to_le_bytes());
    }
    let files: [(&str, Vec<u8>); 7] = [
        ("bomb", compressed(1 << 30, &bomb)),
        ("bomb_that_lies", compressed(4096, &bomb)),
        ("claim_of_exabytes", compressed(u64::MAX, &bomb[..200])),
        ("entry_of_4_gb", [table(4096, 4 << 30), vec![0; 8192]].concat()),
        ("name_of_4_gb", {
            let mut data = table(4096, 100);
            data[48..56].copy_from_slice(&(4u64 << 30).to_le_bytes());
            data
        }),
        ("sections_of_4_gb.hsaco", long_note),
        ("noise.so", [b"\x7fELF\x02\x01\x01\x40".to_vec(), noise(4, 60000)].concat()),
    ];
    for (name, bytes) in &files {
        write(&folder, name, bytes);
    }
    std::fs::copy(clean(), folder.join("good.hsaco")).unwrap();
    // The limit is on memory that is written to; mapped files do not count.
    let shell = format!("ulimit -d {LIMIT_KB} && exec \"$0\" inspect --format json \"$1\"");
    let output = std::process::Command::new("sh")
        .args(["-c", &shell, env!("CARGO_BIN_EXE_rockhound"), &folder.display().to_string()])
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    for (name, _) in &files {
        let errors = stderr.lines().filter(|l| l.starts_with("error: ") && l.contains(&format!("/{name}:")));
        assert_eq!(errors.count(), 1, "{name}: {stderr}");
    }
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["kernels"].as_array().unwrap().len(), 1, "the good file is reported");
    assert_eq!(document["errors"].as_array().unwrap().len(), files.len());
}
