//! Every kind of input given to every command: a command answers or refuses, and a refusal names the command
//! that reads the file.

use crate::run::{clean, fixture, folder, rockhound, root};
use std::path::{Path, PathBuf};

/// A command as typed before a path.
const COMMANDS: [&[&str]; 17] = [
    &["inspect"],
    &["analyze", "-p"],
    &["guide"],
    &["roofline"],
    &["accuracy"],
    &["breakdown"],
    &["comm"],
    &["trace"],
    &["tunedb", "show"],
    &["tunedb", "lint"],
    &["tunedb", "shapes"],
    &["tunedb", "query", "--mnk", "1,2,3"],
    &["tunedb", "advise"],
    &["doctor"],
    &["triage"],
    &["profile"],
    &["launch-template"],
];

const TRACE: &str = r#"{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "copy", "ts": 1, "dur": 2, "args": {"device": 0, "stream": 0}}]}"#;
const LAUNCH: &str = "code = \"k.hsaco\"\ngrid = [64]\nworkgroup = [64]\n";
const COUNTERS: &str = "Dispatch_ID,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,SQ_WAVES\n0,copy,64,64,1000,2000,1\n";
const TUNABLE: &str =
    "Validator,PT_VERSION,2.9.1\nGemmTunableOp_float_NT,nt_512_64_64,Gemm_Hipblaslt_NT_1,0.01\n";
const RCCL: &str = "# nThread 1 nGpus 2 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n\
# Using devices\n#  Rank  0 Group  0 Pid 1 on host device 0 [0x05] AMD Instinct MI300X\n#  Rank  1 Group  0 Pid 1 on host device 1 [0x26] AMD Instinct MI300X\n\
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
     1048576        262144     float     sum      -1    45.10   23.25   40.69      0    44.90   23.35   40.87      0\n\
# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 40.78\n";
const NCCL: &str = "host:100:120 [0] NCCL INFO RCCL version : 2.22.3\n\
host:100:120 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId 5000 commId 0xabc - Init COMPLETE\n";
const ROCMINFO: &str = "ROCk module is loaded\nHSA System Attributes\nRuntime Version:         1.14\nHSA Agents\n*******\nAgent 1\n*******\n  Name:                    gfx942\n  Marketing Name:          AMD Instinct MI300X\n  Device Type:             GPU\n  Compute Unit:            304\n";
const ENVIRONMENT: &str = "HSA_OVERRIDE_GFX_VERSION=9.4.2\nNCCL_DEBUG=INFO\nHIP_VISIBLE_DEVICES=0,1\n";
const DMESG: &str = "[  100.000000] amdgpu 0000:05:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:8 pasid:32770)\n\
[  100.000001] amdgpu 0000:05:00.0: amdgpu:   in page starting at address 0x7f0000000000 from IH client 0x1b (UTCL2)\n";
const SERVER: &str = "(Worker_TP0 pid=10) ERROR 02-24 02:39:34 [c.py:1] torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.\n";

/// An input, the command that reads it, and further commands that answer on it.
struct Case {
    path: PathBuf,
    nearest: &'static str,
    others: &'static [&'static str],
}

/// Inputs that commands read, and inputs that none reads.
fn cases(folder: &Path) -> Vec<Case> {
    let case = |path: PathBuf, nearest, others| Case { path, nearest, others };
    let made = |name: &str, text: &[u8], nearest, others| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        Case { path, nearest, others }
    };
    let seed = |name: &str| root().join("fuzz/seeds/tunedb").join(name);
    const TUNED: &[&str] = &["tunedb"];
    let mut noise = 1_u64;
    let random: Vec<u8> = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 33) as u8
    })
    .take(5000)
    .collect();
    let letters: Vec<u8> = random.iter().map(|it| if it % 9 == 0 { b'\n' } else { b'a' + it % 26 }).collect();
    vec![
        case(clean().into(), "inspect", &["launch-template"]),
        case(fixture("containers/clang22.s").into(), "inspect", &[]),
        case(fixture("containers/zstd-v2.hipfb").into(), "inspect", &["launch-template"]),
        case(fixture("rules/til002/trigger.ttgir").into(), "inspect", &[]),
        case(
            root().join("examples/heat3d"),
            "analyze",
            &["guide", "roofline", "inspect", "trace", "breakdown", "accuracy"],
        ),
        made(
            "pmc_perf.csv",
            COUNTERS.as_bytes(),
            "analyze",
            &["guide", "trace", "roofline", "accuracy", "breakdown"],
        ),
        made("t.json", TRACE.as_bytes(), "trace", &[]),
        made("tunableop_results0.csv", TUNABLE.as_bytes(), "tunedb", TUNED),
        case(seed("a8w8_tuned_gemm.csv"), "tunedb", TUNED),
        case(seed("gfx942130.HIP.fdb.txt"), "tunedb", TUNED),
        case(seed("logic.yaml"), "tunedb", TUNED),
        case(seed("ck.txt"), "tunedb", TUNED),
        case(seed("rb.csv"), "tunedb", TUNED),
        case(seed("problems.log"), "tunedb", TUNED),
        case(seed("gfx942_GEMM_A16W16.json"), "tunedb", TUNED),
        case(seed("E_8_N_14336_device_name_AMD_Instinct_MI300X.json"), "tunedb", TUNED),
        case(seed("server.log"), "triage", TUNED),
        made("rccl.txt", RCCL.as_bytes(), "comm", &[]),
        made("nccl.log", NCCL.as_bytes(), "comm", &[]),
        made("rocminfo.txt", ROCMINFO.as_bytes(), "doctor", &["triage"]),
        made("job.env", ENVIRONMENT.as_bytes(), "doctor", &[]),
        case(fixture("reports/server-fails.md").into(), "triage", &["doctor", "tunedb", "comm"]),
        made("dmesg.txt", DMESG.as_bytes(), "triage", &[]),
        made("out.log", SERVER.as_bytes(), "triage", &[]),
        made("launch.toml", LAUNCH.as_bytes(), "profile", &[]),
        made("empty", b"", "", &[]),
        made("random.bin", &random, "", &[]),
        made("random.txt", &letters, "", &[]),
        made("other.json", b"{\"a\": [1, {\"b\": null}]}", "", &[]),
        made("other.csv", b"name,amount\nx,3\ny,4\n", "", &[]),
        made("page.html", b"<!doctype html><html><body>hello</body></html>", "", &[]),
        made("model.pt", b"PK\x03\x04rest of an archive", "", &[]),
        made("k.bc", b"BC\xc0\xde\x35\x14\0\0", "", &[]),
    ]
}

#[test]
fn every_command_answers_or_names_the_one_that_does() {
    let folder = folder("kinds");
    let cases = cases(&folder);
    let wrong: Vec<String> =
        cases.iter().flat_map(|case| COMMANDS.iter().filter_map(|it| problem(case, it))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with the end of a command on an input.
fn problem(case: &Case, command: &[&str]) -> Option<String> {
    let path = case.path.display().to_string();
    let ran = rockhound(&[command, &[path.as_str()]].concat());
    let reads = case.nearest == command[0] || case.others.contains(&command[0]);
    let says = |text: String| Some(format!("{command:?} {path}: {text}; exit {}: {}", ran.code, ran.stderr));
    match ran.code {
        0 if !reads => says("answered".to_owned()),
        0 if ran.stdout.trim().is_empty() => says("silence".to_owned()),
        0 => None,
        1 | 64 if !ran.stderr.contains("error: ") => says("no error".to_owned()),
        1 | 64 if reads => None,
        1 | 64 if case.nearest.is_empty() => ran
            .stderr
            .lines()
            .any(|line| line.starts_with("hint: ") && line.contains("reads it"))
            .then(|| says("a command that does not read it is named".to_owned()))?,
        1 | 64 => {
            // `profile` names how code becomes its input.
            let more = ["launch-template", "profile --"]
                .iter()
                .filter(|_| command == ["profile"] && case.nearest == "inspect");
            let named =
                [case.nearest].iter().chain(more).any(|it| ran.stderr.contains(&format!("`rockhound {it}")));
            (!named).then(|| says("no command is named".to_owned()))?
        }
        _ => says("another exit code".to_owned()),
    }
}

#[test]
fn data_of_other_programs_are_named() {
    let folder = folder("foreign_kinds");
    for (name, bytes, what) in [
        ("k.bc", &b"BC\xc0\xde\x35\x14\0\0"[..], "LLVM bitcode"),
        ("m.pt", b"PK\x03\x04rest", "a zip archive"),
        ("t.zst", b"\x28\xb5\x2f\xfd1234", "packed by zstd"),
        ("shot.png", b"\x89PNG\r\n\x1a\n1234", "an image"),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        for command in ["inspect", "trace", "comm", "triage", "doctor"] {
            let ran = rockhound(&[command, &path.display().to_string()]);
            assert_eq!(ran.code, 1, "{command} {name}: {ran:?}");
            assert!(ran.stderr.contains(what), "{command} {name}: {ran:?}");
        }
    }
}
