//! Samples of ../shared/faults: the report on each equals its notes.

#![allow(clippy::disallowed_methods, reason = "tests read the shared files")]

use super::*;

fn of(names: &[&str]) -> Option<Answer<Incidents>> {
    let folder = testkit::shared("faults")?;
    let read =
        |name: &&str| FaultLog::read(name, &std::fs::read(folder.join(name)).expect(name)).expect(name);
    let logs: Vec<FaultLog> = names.iter().map(read).collect();
    Some(triage(&logs, &[]))
}

fn value<'t>(incident: &'t Incident, name: &str) -> &'t str {
    incident.facts.iter().find(|it| it.name == name).map_or("", |it| it.value.as_str())
}

/// File, incidents, and of some of them: number, title, fact, a part of its value.
type Case = (&'static [&'static str], usize, &'static [(usize, &'static str, &'static str, &'static str)]);

#[test]
fn verdicts_of_all_samples() {
    let assert_trap: &[(usize, &str, &str, &str)] = &[
        (
            0,
            "wave 1 of vector_add_assert_trap(int*, int*, int*) stopped: ASSERT_TRAP",
            "program counter",
            "0x7fd4f100d0e8 (+232): s_trap 2",
        ),
        (0, "ASSERT_TRAP", "source", "vector_add_assert_trap.cpp:53"),
        (0, "ASSERT_TRAP", "lanes at work", "1 of 64: 0"),
        (0, "ASSERT_TRAP", "registers", "26 SGPRs, 8 VGPRs, 512 bytes of LDS"),
        (0, "ASSERT_TRAP", "code object", "#offset=14309&size=31336"),
    ];
    let cases: [Case; 10] = [
        (&["debug-agent-assert-trap.txt"], 1, assert_trap),
        (&["debug-agent-assert-trap-guide.txt"], 1, assert_trap),
        (
            &["made-debug-agent-memory-fault.txt"],
            2,
            &[
                (
                    0,
                    "wave 0 of vector_add_memory_fault(int*, int*, int*) stopped: MEMORY_VIOLATION",
                    "program counter",
                    "(+180): s_waitcnt",
                ),
                (0, "", "access", "+172: global_store_dword v[0:1], v2, off (before the program counter"),
                (0, "", "lanes in the page", "0-63 (64 lanes)"),
                (0, "", "faulting page", "0x7fbe4cc01000"),
                (1, "MEMORY_VIOLATION and ASSERT_TRAP", "lanes at work", "32 of 64"),
            ],
        ),
        (
            &["made-debug-agent-no-code-object.txt"],
            1,
            &[(0, "wave 3 of an unknown kernel stopped: ILLEGAL_INSTRUCTION", "program counter", "0x0")],
        ),
        (
            &["made-debug-agent-cut.txt"],
            2,
            &[
                (0, "wave 0 of vector_add_memory_fault", "access", "+172"),
                (1, "wave 1 of vector_add_memory_fault", "dump", "breaks off"),
            ],
        ),
        (
            &["made-runtime-messages.txt"],
            15,
            &[
                (
                    0,
                    "memory access fault by GPU node 2, page 0x7f52c3f5f000",
                    "address",
                    "the start of the page",
                ),
                (1, "the runtime is not sure of the address", "", ""),
                (2, "a null pointer", "address", "(nil)"),
                (12, "hardware exception of GPU node 1: GPU Hang", "", ""),
                (13, "queue 0x7f3a5c200000 stopped: HSA_STATUS_ERROR_EXCEPTION", "", ""),
                (14, "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION", "", ""),
            ],
        ),
        (
            &["made-training-log-with-fault.txt"],
            3,
            &[
                (0, "memory access fault by GPU node 4", "on its line", "119/290"),
                (1, "memory access fault by GPU node 6", "on its line", "[rank3]"),
                (2, "GPU Hang", "", ""),
            ],
        ),
        (
            &["dmesg-page-faults.log"],
            4,
            &[
                (
                    0,
                    "page fault of GPU 0000:03:00.0 in mmhub0",
                    "fields",
                    "GPU 0000:03:00.0, load, by ABC123",
                ),
                (2, "page fault of GPU 0003:02:00.0 in gfxhub0", "block", "breaks off"),
                (3, "page fault of GPU 0000:f5:00.0", "", ""),
            ],
        ),
        // The driver's page fault is told with the runtime's message of its address.
        (
            &["made-training-log-with-fault.txt", "made-dmesg-gfxhub.log"],
            3,
            &[(0, "memory access fault by GPU node 4", "kernel log", "process python3 30911, load, by TCP")],
        ),
        (&["dmesg-sample.log"], 0, &[]),
    ];
    for (names, count, wanted) in cases {
        let Some(found) = of(names) else { return };
        let titles: Vec<&str> = found.part.incidents.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(titles.len(), count, "{names:?}: {titles:?}");
        for (at, title, name, words) in wanted {
            let incident = &found.part.incidents[*at];
            assert!(incident.title.contains(title), "{names:?} {at}: {}", incident.title);
            assert!(value(incident, name).contains(words), "{names:?} {at} {name}: {:?}", incident.facts);
        }
    }
}

#[test]
fn what_follows_stands_last_and_advice_fits() {
    let Some(found) = of(&["made-runtime-messages.txt"]) else { return };
    let follows: Vec<bool> = found.part.incidents.iter().map(|it| it.consequence).collect();
    assert!(follows.is_sorted() && follows.iter().filter(|it| **it).count() == 3, "{follows:?}");
    let caching =
        |it: &Answer<Incidents>| it.part.next.iter().any(|it| it.contains("PYTORCH_NO_HIP_MEMORY_CACHING"));
    assert!(caching(&found));
    for name in ["debug-agent-assert-trap.txt", "made-debug-agent-no-code-object.txt"] {
        assert!(!caching(&of(&[name]).unwrap()), "{name}");
    }
}

#[test]
fn registers_stand_beside_the_access() {
    let Some(found) = of(&["made-debug-agent-memory-fault.txt"]) else { return };
    let marked: Vec<_> = found.part.incidents[0].code.iter().filter(|it| it.registers.is_some()).collect();
    let access = marked.iter().find(|it| it.suspect).expect("the access");
    let registers = access.registers.as_deref().unwrap();
    assert!(registers.starts_with("v[0:1] = 0x7fbe4cc01000 (lane 0) to 0x7fbe4cc01"), "{registers}");
}

#[test]
fn events_of_the_kernel() {
    for (name, id, times, device) in [
        ("dmesg-repeated.log", "oom-invoked", 7, None),
        ("dmesg-repeated.log", "iommu-fault", 5, None),
        ("dmesg-repeated.log", "CUSTOM_ERROR_TYPE_1", 5, None),
        ("dmesg-sample.log", "iommu-fault", 1, Some("0000:00:14.0")),
        ("dmesg-sample.log", "acpi", 1, None),
        ("dmesg-sample.log", "poison-created", 1, Some("0000:01:00.0")),
        ("dmesg-sample.log", "poison-consumed", 1, Some("0000:01:00.0")),
        ("dmesg-sample.log", "bad-pages", 1, Some("0000:02:00.0")),
        ("dmesg-sample.log", "apei-severity", 1, None),
        ("dmesg-sample.log", "aca", 1, Some("0000:03:00.0")),
    ] {
        let Some(found) = of(&[name]) else { return };
        let event =
            found.part.events.iter().find(|it| it.id == id || it.id.is_empty() && it.text.starts_with(id));
        let event = event.unwrap_or_else(|| panic!("{name}: no {id}"));
        assert_eq!((event.times, event.device.as_deref()), (times, device), "{name} {id}");
    }
}

#[test]
fn the_emulators_report_with_its_code() {
    let text = "rockhound: kernel stopped: store of 4 bytes at 0x10: outside every allocation\n  in `copy` at 0x104: `global_store_dword v[0:1], v2, off`\n  workgroup (1, 0, 0), wave 2, lane 5\n";
    let log = FaultLog::read("run.log", text.as_bytes()).unwrap();
    let line = |address: u64, text: &str| view::ListingLine::new(address, text);
    let listing = Listing {
        lines: vec![
            line(0x100, "s_waitcnt vmcnt(0)"),
            line(0x104, "global_store_dword v[0:1], v2, off"),
            line(0x10c, "s_endpgm"),
        ],
        kernel: "copy".to_owned(),
        text_lines: false,
        run: None,
        samples: None,
        trace: None,
    };
    let code = KernelCode {
        file: "copy.hsaco".to_owned(),
        file_name: "copy.hsaco".to_owned(),
        size: 1,
        kernel: "copy(int*)".to_owned(),
        listing,
    };
    let found = triage(std::slice::from_ref(&log), std::slice::from_ref(&code));
    let incident = &found.part.incidents[0];
    testkit::golden("a stopped kernel", &incident.title);
    let marked: Vec<u64> = incident.code.iter().filter(|it| it.current).map(|it| it.address).collect();
    assert_eq!((marked, incident.code_from.as_str()), (vec![0x104], "copy.hsaco"));
}

#[test]
fn addresses_near_allocations_of_any_log() {
    let calls = ":3:hip_memory.cpp : 1 us: hipMalloc ( 0x7ffd, 4096 ) \n:3:hip_memory.cpp : 2 us: hipMalloc: Returned hipSuccess : 0x7ed3b59ff000: duration: 9 us\n";
    let message = "Memory access fault by GPU node-4 (Agent handle: 0x1) on address 0x7ed3b5a00000. Reason: Page not present or supervisor privilege.\n";
    let read = |name: &str, text: &str| FaultLog::read(name, text.as_bytes()).unwrap();
    for (what, logs) in [
        ("one log", vec![read("a.log", &format!("{calls}{message}"))]),
        ("another log", vec![read("a.log", message), read("hip.log", calls)]),
        ("no allocations", vec![read("a.log", message)]),
    ] {
        let found = triage(&logs, &[]);
        testkit::golden(&format!("near allocations of {what}"), value(&found.part.incidents[0], "near"));
    }
}

/// A log that is not in a file, and its answer.
fn said(text: &str) -> Incidents {
    triage(&[FaultLog::read("a.log", text.as_bytes()).unwrap()], &[]).part
}

#[test]
fn kernels_that_the_runtime_names() {
    let fault = "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7fb3edc00000. Reason: Page not present or supervisor privilege.\n";
    let named = ":0:rocdevice.cpp :3905: 5 us:  Memory Fault Error [host: a, GPU index: 0, faulting addr: 0x7fb3edc00000, kernel: copy(int*)]\n";
    let queue = "Warning: Queue error - HSA_STATUS_ERROR_MEMORY_FAULT\n";
    for (text, titles) in [
        (format!("{queue}{named}{fault}"), 2),
        (format!("{fault}{named}"), 1),
        (named.to_owned(), 1),
        (named.replace("0x7fb3edc00000", "...") + fault, 1),
    ] {
        let found = said(&text).incidents;
        assert_eq!(found.len(), titles, "{text}{found:?}");
        assert_eq!((value(&found[0], "kernel"), found[0].consequence), ("copy(int*)", false), "{text}");
        assert!(found[1..].iter().all(|it| it.consequence), "{text}");
    }
    let abort = "Callback: Queue 0x7e aborting with error : HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: x. code: 0x29\nKernel Name: moe\nVGPU=0x1 SWq=0x2\n\tgrid=[77824, 1, 1], workgroup=[256, 1, 1]\n";
    let found = said(abort).incidents;
    assert_eq!((found.len(), value(&found[0], "kernel").split(',').next()), (1, Some("moe")));
}

#[test]
fn what_a_reader_does_not_understand_is_told_all_the_same() {
    for text in [
        "Memory access fault by GPU node-8 ... Reason: Unknown.",
        "Memory access fault by GPU node-",
        "Memory Fault Error [host: a]",
        "something aborting with error : x",
        "Device::callbackQueue aborting with status: 0x1234",
        "HW Exception by GPU node-4",
    ] {
        assert_eq!(said(text).incidents.len(), 1, "{text}");
    }
}

#[test]
fn reports_of_several_processes_are_one() {
    let line =
        |handle: u32| format!("HW Exception by GPU node-9 (Agent handle: {handle:#x}) reason :GPU Hang\n");
    let found = said(&(1..4).map(line).collect::<String>()).incidents;
    assert!(found.len() == 1 && value(&found[0], "repeats").starts_with("3 "), "{found:?}");
}

#[test]
fn silent_ranks_are_ranges() {
    let line = |rank: u32| {
        format!(
            "[rank{rank}]:[E603 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=1800000) ran for 1800068 milliseconds before timing out.\n"
        )
    };
    let silent = |ranks: &[u32]| {
        let found = said(&ranks.iter().map(|it| line(*it)).collect::<String>()).incidents;
        value(&found[0], "silent").split(" printed").next().unwrap_or_default().to_owned()
    };
    assert_eq!(silent(&[118]), "ranks 0-117");
    assert_eq!(silent(&[0, 2, 5, 6]), "ranks 1, 3-4");
    assert_eq!(silent(&[0, 2]), "rank 1");
}

#[test]
fn a_copy_that_faulted_gets_advice_for_copies() {
    let text = "Memory access fault by GPU node-3 (Agent handle: 0x5a5c) on address 0x7098000. Reason: Write access to a read-only page.\n\
                [19277.975551] amdgpu 0000:3d:00.0: amdgpu: [mmhub0] retry page fault (src_id:0 ring:0 vmid:3 pasid:9)\n\
                [19277.975552] amdgpu 0000:3d:00.0: amdgpu: [mmhub0] no-retry page fault (src_id:0 ring:160 vmid:3 pasid:9)\n\
                [19277.975553] amdgpu 0000:3d:00.0: amdgpu:   in page starting at address 0x0000000007098000 from IH client 0x12 (VMC)\n\
                [19277.975554] amdgpu 0000:3d:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:0x00360251\n\
                [19277.975555] amdgpu 0000:3d:00.0: amdgpu:      Faulty UTCL2 client ID: CLIENT (0x101)\n";
    for (client, copies) in [("SDMA1", true), ("TCP", false)] {
        let log = FaultLog::read("a.log", text.replace("CLIENT", client).as_bytes()).unwrap();
        let found = triage(&[log], &[]).part.incidents;
        assert_eq!(found.len(), 1, "{client}: the driver's fault is part of the runtime's");
        assert_eq!(found[0].next.iter().any(|it| it.contains("HSA_ENABLE_SDMA=0")), copies, "{client}");
    }
}

/// Titles of what was found, and one fact of the first.
fn first(text: &str, name: &str) -> (usize, String) {
    let found = said(text).incidents;
    let fact = found.first().map_or("", |it| value(it, name)).to_owned();
    (found.len(), fact)
}

#[test]
fn faults_of_target_regions_name_their_line() {
    let text = "Kernel 'omp target in halo @ 7 (__omp_offloading_8_2b__halo_l7)'\n\
        OFFLOAD ERROR: memory access fault by GPU 1 (agent 0x5) at virtual address (nil). Reasons: Host access only\n\
        Aborted (core dumped)\n";
    assert_eq!(first(text, "kernel"), (1, "__omp_offloading_8_2b__halo_l7".to_owned()));
    let found = said(text);
    assert!(found.incidents[0].title.contains("a null pointer") && found.events.is_empty());
    assert!(value(&found.incidents[0], "target region").contains("line 7"));
    assert!(found.incidents[0].next[0].contains("OFFLOAD_TRACK_ALLOCATION_TRACES=true"));
}

#[test]
fn stops_of_a_debugger_are_of_the_gpu() {
    let text = "Thread 5 \"app\" received signal SIGSEGV, Segmentation fault.\n\
        [Switching to thread 5, lane 3 (AMDGPU Lane 1:2:7:4/3 (9,0,0)[3,0,0])]\n\
        0x00007ffff7ec1094 in scale (x=0x0) at scale.hip:12\n12\t    x[i] *= 2;\n";
    let (count, source) = first(text, "source");
    assert_eq!((count, source.as_str()), (1, "scale.hip:12: x[i] *= 2;"));
    let found = said(text);
    assert!(value(&found.incidents[0], "place").contains("lane 3") && found.events.is_empty());
    assert!(found.incidents[0].next[0].contains("set amdgpu precise-memory on"));
    let host = "Thread 1 \"app\" received signal SIGSEGV, Segmentation fault.\n0x12 in main () at a.c:3\n";
    assert_eq!(first(host, "message"), (1, "host-segfault".to_owned()));
}

#[test]
fn equal_faults_of_several_gpus_are_one() {
    let fault = |node: u32, reason: &str| {
        format!(
            "> 2026-01-01T01:02:03.1234567Z stderr F Memory access fault by GPU node-{node} (Agent handle: 0x1) on address 0x7f{node:02x}000. Reason: {reason}.\n"
        )
    };
    let all: String = [9, 6, 11].map(|it| fault(it, "Unknown")).concat();
    let (count, gpu) = first(&all, "GPU");
    assert!(count == 1 && gpu.contains("GPU 5 of HIP"), "{gpu}");
    assert_eq!(value(&said(&all).incidents[0], "on its line"), "");
    let other = all.clone() + &fault(8, "Host access only");
    assert_eq!(first(&other, "GPU").0, 2);
}

#[test]
fn a_state_of_the_watchdog_is_a_time_out_too() {
    let text = "[80746] [rank0]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=15, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600060 milliseconds before timing out.\n\
        [80749] [rank2]:[E321 02:07:08.5 ProcessGroupNCCL.cpp:1664] [PG 1 Rank 2] Exception (either an error or timeout) detected by watchdog at work: 15, last enqueued NCCL work: 17, last completed NCCL work: 14.\n";
    let (count, silent) = first(text, "silent");
    assert!(count == 1 && silent.starts_with("rank 1 "), "{silent}");
    let found = said(text);
    assert!(
        value(&found.incidents[0], "rank 2").starts_with("collective 15 ALLREDUCE")
            && found.events.is_empty()
    );
}

#[test]
fn disassembly_alone_is_the_wave_that_stopped_the_queue() {
    let text = "Disassembly for function scan(int*):\n    code object: file:///opt/libx.so#offset=4096&size=512\n\
        \u{20}=> 0x7f0000004130 <+48>:    s_waitcnt lgkmcnt(0)\nEnd of disassembly.\n\
        Device::callbackQueue aborting with error : HSA_STATUS_ERROR_MEMORY_FAULT: x. code: 0x2b\n";
    let found = said(text).incidents;
    assert_eq!((found.len(), value(&found[0], "kernel"), found[1].consequence), (2, "scan(int*)", true));
    assert!(value(&found[0], "report").starts_with("HSA_STATUS_ERROR_MEMORY_FAULT"));
    assert_eq!(said("* `Disassembly for function f` is a title\nerror: x\n").incidents.len(), 0);
}
