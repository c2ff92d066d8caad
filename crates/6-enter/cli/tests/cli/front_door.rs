//! What people paste: logs with prefixes, reports, outputs of tools; each must be answered or refused, never
//! passed over.

use crate::run::{golden, rockhound, rockhound_with_input};
use crate::schema::Schema;
use serde_json::Value;
use std::path::PathBuf;

fn triage(text: &str) -> Value {
    let ran = rockhound_with_input(&["triage", "-", "--format", "json"], text.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(Schema::of("triage-3").problems(&value), [""; 0]);
    value
}

/// Value of a fact of the first incident.
fn fact<'v>(value: &'v Value, name: &str) -> &'v str {
    let facts = value["incidents"][0]["facts"].as_array().map_or(&[][..], Vec::as_slice);
    facts.iter().find(|it| it["name"] == name).map_or("", |it| it["value"].as_str().unwrap_or_default())
}

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/reports").join(name);
    path.display().to_string()
}

/// A page fault of a GPU as `dmesg -T` prints it.
fn page_fault(bdf: &str, page: &str, client: &str) -> Vec<String> {
    [
        "[gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:8 pasid:1)".to_owned(),
        " for process app pid 41 thread app pid 41)".to_owned(),
        format!("  in page starting at address {page} from IH client 0x1b (UTCL2)"),
        "VM_L2_PROTECTION_FAULT_STATUS:0x00341051".to_owned(),
        format!("\t Faulty UTCL2 client ID: {client} (0x8)"),
        "\t RW: 0x1".to_owned(),
    ]
    .map(|text| format!("[Tue Sep  9 02:30:28 2025] amdgpu {bdf}: amdgpu: {text}"))
    .to_vec()
}

#[test]
fn page_faults_of_two_gpus_are_one_incident_with_the_runtimes_messages() {
    let (a, b) = (page_fault("0000:06:00.0", "0x7000", "TCP"), page_fault("0000:66:00.0", "0x9000", "TCP"));
    let mixed: Vec<String> = a.iter().zip(&b).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let runtime =
        "Memory access fault by GPU node-3 (Agent handle: 0x1) on address 0x9000. Reason: Unknown.\n";
    let value = triage(&format!("{}\n{runtime}", mixed.join("\n")));
    assert_eq!(value["incidents"].as_array().map(Vec::len), Some(1), "{value:#}");
    assert!(fact(&value, "GPU 0000:06:00.0").contains("store, by TCP"), "{value:#}");
    assert!(fact(&value, "GPU 0000:66:00.0").contains("node 3"), "{value:#}");
    // A fault of the copy engine is no fault of a kernel.
    let value = triage(&page_fault("0000:06:00.0", "0x7000", "SDMA0").join("\n"));
    golden("fault of a copy", value["incidents"][0]["next"][0].as_str().unwrap());
}

#[test]
fn the_worker_of_a_fault_and_what_it_did() {
    let text = "(Worker_TP0 pid=10) DEBUG 02-24 02:39:34 [c.py:1] Capturing a cudagraph on (num_tokens=64)\n\
        (Worker_TP1 pid=11) DEBUG 02-24 02:39:34 [c.py:1] Capturing a cudagraph on (num_tokens=32)\n\
        Memory access fault by GPU node-3 (Agent handle: 0x1) on address 0x7000. Reason: Write access to a read-only page.\n\
        ERROR 02-24 02:39:36 [m.py:2] Worker proc VllmWorker-1 died unexpectedly, shutting down executor.\n";
    let value = triage(text);
    assert!(fact(&value, "doing before").contains("num_tokens=32"), "{value:#}");
    assert!(fact(&value, "worker").starts_with("VllmWorker-1"), "{value:#}");
    let next = value["incidents"][0]["next"].as_array().unwrap();
    assert!(next.iter().any(|it| it.as_str().unwrap().contains("--enforce-eager")), "{value:#}");
}

#[test]
fn the_rank_that_is_behind() {
    let line = |rank: u32, sequence: u32, kind: &str| {
        format!(
            "[rank{rank}]:[E826 11:02:33.1 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={sequence}, OpType={kind}, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n"
        )
    };
    let text = line(0, 9, "ALLREDUCE") + &line(1, 9, "ALLREDUCE") + &line(2, 8, "BROADCAST");
    let value = triage(&text);
    golden("a rank behind", value["incidents"][0]["title"].as_str().unwrap());
    let value = triage(&(line(0, 9, "ALLREDUCE") + &line(3, 9, "ALLREDUCE")));
    assert!(fact(&value, "silent").contains("ranks 1-2 "), "{value:#}");
}

#[test]
fn causes_and_what_follows_in_the_kernels_log() {
    let text = "[ 10.000001] amdgpu 0000:05:00.0: amdgpu: socket: 0, die: 0, 1 new uncorrectable hardware errors detected in umc block\n\
        [ 10.100001] amdgpu: Fatal error occurred. Poison consumption, killing process app pid 7\n\
        [ 11.000001] amdgpu 0000:05:00.0: amdgpu: GPU reset begin!. Source:  4\n\
        [ 11.100001] amdgpu 0000:15:00.0: amdgpu: GPU reset begin!. Source:  1\n\
        [ 12.000001] amdgpu 0000:05:00.0: amdgpu: GPU SMU Throttling: PPT0\n\
        [ 12.000002] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n";
    let value = triage(text);
    let events: Vec<(&str, &str, bool)> = value["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let text = |key: &str| it[key].as_str().unwrap_or_default();
            (text("id"), text("device"), !text("follows").is_empty())
        })
        .collect();
    assert_eq!(
        events,
        [
            ("ecc-uncorrectable", "0000:05:00.0", false),
            ("poison-killed", "", true),
            ("reset", "0000:05:00.0", true),
            ("reset", "0000:15:00.0", true),
            ("nvidia-xid", "", false),
            ("throttled-smu", "0000:05:00.0", false),
        ]
    );
}

#[test]
fn a_bug_report_is_one_answer() {
    let path = fixture("server-fails.md");
    let ran = rockhound(&["triage", &path, "--format", "json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(Schema::of("triage-3").problems(&value), [""; 0]);
    assert_eq!(fact(&value, "message"), "hip-invalid-device-function");
    assert_eq!(
        (value["incidents"][0]["line"].as_u64(), fact(&value, "written by")),
        (Some(44), "Worker_TP1, pid 891")
    );
    let machine = &value["machines"][0];
    let checks: Vec<&str> =
        machine["checks"].as_array().unwrap().iter().filter_map(|it| it["check"].as_str()).collect();
    for check in ["gfx-override", "visible-devices", "vllm-settings"] {
        assert!(checks.contains(&check), "{check} in {checks:?}");
    }
    assert_eq!(machine["facts"][0]["value"], "2 x AMD Instinct MI300X, gfx942");
    let ids: Vec<&str> =
        value["events"].as_array().unwrap().iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ids, ["reset", "moe-config-missing"]);
    // `doctor` takes the same file.
    let ran = rockhound(&["doctor", &path, "--format", "json"]);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    let failed = |check: &str| {
        let checks = value["machines"][0]["checks"].as_array().unwrap();
        checks.iter().any(|it| it["check"] == check && it["verdict"] == "fail")
    };
    assert!(failed("gfx-override") && failed("visible-devices"), "{value:#}");
}

#[test]
fn text_without_a_log_is_refused() {
    for text in ["all is well\n", "1,2,3\n4,5,6\n", "\n\n\n"] {
        let ran = rockhound_with_input(&["triage", "-"], text.as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{text:?}: {ran:?}");
    }
}
