//! The samples of ../shared/faults: what its NOTES.md expects.

use rockhound_system::fault::{AgentHeader, CodeObjectUri, FaultLog, Message, saved_name};

fn read(name: &str) -> Option<FaultLog> {
    let path = testkit::shared(&format!("faults/{name}"))?;
    Some(FaultLog::read(name, &std::fs::read(path).unwrap()).unwrap())
}

#[test]
fn runtime_messages() {
    let Some(log) = read("made-runtime-messages.txt") else { return };
    let count = |test: &dyn Fn(&Message) -> bool| log.messages.iter().filter(|it| test(&it.message)).count();
    assert_eq!(count(&|it| matches!(it, Message::MemoryFault { .. })), 10);
    assert_eq!(count(&|it| matches!(it, Message::HardwareException { .. })), 2);
    assert_eq!(count(&|it| matches!(it, Message::MemoryInUse { .. })), 1);
    assert_eq!(
        count(
            &|it| matches!(it, Message::QueueError { status, .. } if status == "HSA_STATUS_ERROR_EXCEPTION")
        ),
        1
    );
    assert_eq!(
        count(
            &|it| matches!(it, Message::HipAbort { code: Some(0x29), status, .. } if status == "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION")
        ),
        1
    );
    let Some(training) = read("made-training-log-with-fault.txt") else { return };
    let nodes: Vec<u32> = training
        .messages
        .iter()
        .filter_map(|it| if let Message::MemoryFault { node, .. } = it.message { Some(node) } else { None })
        .collect();
    assert_eq!(nodes, [4, 6]);
    assert_eq!(training.messages.len(), 3);
    assert_eq!(training.exit_codes.iter().map(|(code, _)| *code).collect::<Vec<_>>(), [-6]);
}

#[test]
fn dumps_of_the_debug_agent() {
    for name in ["debug-agent-assert-trap.txt", "debug-agent-assert-trap-guide.txt"] {
        let Some(log) = read(name) else { return };
        let wave = &log.dumps[0].waves[0];
        assert_eq!(
            (wave.number, wave.pc, &wave.reasons[..]),
            (1, 0x7fd4_f100_d0e8, &["ASSERT_TRAP".to_owned()][..]),
            "{name}"
        );
        assert_eq!(wave.active_lanes(), [0], "{name}");
        assert_eq!(
            (wave.scalars.len(), wave.vectors.len(), wave.vectors[&7].len(), wave.lds_bytes),
            (26, 8, 64, 512),
            "{name}"
        );
        assert_eq!(wave.function.as_deref(), Some("vector_add_assert_trap(int*, int*, int*)"), "{name}");
        let at = wave.current().unwrap_or_else(|| panic!("{name}: {:?}", wave.instructions));
        assert_eq!(
            (at.offset, at.text.as_str(), at.source_line),
            (Some(232), "s_trap 2", Some(53)),
            "{name}"
        );
        assert!(at.file.as_deref().unwrap().ends_with("vector_add_assert_trap.cpp"), "{name}");
        let uri = CodeObjectUri::parse(wave.code_object.as_deref().unwrap()).unwrap();
        assert_eq!((uri.offset, uri.size), (Some(14309), Some(31336)), "{name}");
        assert_eq!(wave.loaded.map(|it| it.0), Some(0x7fd4_f100_c000), "{name}");
        assert_eq!(log.dumps[0].cut, None, "{name}");
    }
    let Some(log) = read("made-debug-agent-memory-fault.txt") else { return };
    let dump = &log.dumps[0];
    assert_eq!(dump.page, Some(0x7fbe_4cc0_1000));
    assert!(matches!(&dump.header, AgentHeader::SystemEvent { reasons, .. } if reasons.len() == 2));
    assert_eq!(dump.waves.iter().map(|it| it.active_lanes().len()).collect::<Vec<_>>(), [64, 32]);
    assert_eq!(dump.waves[1].reasons, ["MEMORY_VIOLATION", "ASSERT_TRAP"]);
    assert!((0..64).all(|lane| dump.waves[0].pair(0, lane).unwrap() & !0xfff == 0x7fbe_4cc0_1000));
    assert_eq!(dump.waves[0].current().unwrap().offset, Some(180));
    let Some(log) = read("made-debug-agent-no-code-object.txt") else { return };
    let wave = &log.dumps[0].waves[0];
    assert_eq!((wave.number, wave.pc, wave.function.is_none(), log.dumps[0].cut), (3, 0, true, None));
    assert_eq!(wave.reasons, ["ILLEGAL_INSTRUCTION"]);
    let Some(log) = read("made-debug-agent-cut.txt") else { return };
    let dump = &log.dumps[0];
    assert_eq!((dump.waves.len(), dump.waves[0].cut, dump.waves[1].cut), (2, false, true));
    assert!(dump.cut.is_some() && dump.waves[0].current().is_some());
}

#[test]
fn kernel_logs() {
    let Some(log) = read("dmesg-page-faults.log") else { return };
    assert_eq!(log.page_faults.len(), 4);
    let mut gpus: Vec<&str> = log.page_faults.iter().map(|it| it.bdf.as_str()).collect();
    gpus.sort_unstable();
    gpus.dedup();
    assert_eq!(gpus, ["0000:03:00.0", "0000:f5:00.0", "0003:02:00.0"]);
    assert_eq!(log.page_faults.iter().filter(|it| it.cut).count(), 1);
    let Some(log) = read("made-dmesg-gfxhub.log") else { return };
    let fault = &log.page_faults[0];
    assert_eq!(
        (fault.process.as_deref(), fault.pid, fault.address),
        (Some("python3"), Some(30911), Some(0x7ed3_b5a0_0000))
    );
    assert_eq!(
        (fault.client.as_deref(), fault.permission_faults, fault.rw, fault.more_faults),
        (Some("TCP"), Some(3), Some(0), Some(1))
    );
    let times = |log: &FaultLog, id: &str| {
        let of_id = |it: &&logs::Event| it.id() == id || it.id().is_empty() && it.text.starts_with(id);
        log.text.events.iter().filter(of_id).map(|it| it.times).sum::<u32>()
    };
    assert_eq!((times(&log, "reset"), times(&log, "throttled")), (1, 1));
    assert!(times(&log, "aer") >= 1);
    let Some(log) = read("dmesg-repeated.log") else { return };
    assert_eq!(
        (times(&log, "oom-invoked"), times(&log, "iommu-fault"), times(&log, "CUSTOM_ERROR_TYPE_1")),
        (7, 5, 5)
    );
    let Some(log) = read("dmesg-sample.log") else { return };
    for (id, device) in [
        ("iommu-fault", "0000:00:14.0"),
        ("poison-created", "0000:01:00.0"),
        ("poison-consumed", "0000:01:00.0"),
        ("bad-pages", "0000:02:00.0"),
        ("aca", "0000:03:00.0"),
    ] {
        assert!(
            log.text
                .events
                .iter()
                .any(|it| it.id() == id && it.device.as_deref() == Some(device) && it.times == 1),
            "{id}: {:?}",
            log.text.events
        );
    }
    assert_eq!((times(&log, "acpi"), times(&log, "apei"), times(&log, "aca")), (1, 1, 1));
}

#[test]
fn names_of_saved_code_objects() {
    let Some(path) = testkit::shared("faults/code-object-names.tsv") else { return };
    for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
        let (uri, saved) = line.split_once('\t').unwrap();
        assert_eq!(saved_name(uri), saved);
        assert!(CodeObjectUri::parse(uri).unwrap().may_be(saved));
    }
}

#[test]
fn cuts_and_mutations_never_panic() {
    let Some(folder) = testkit::shared("faults") else { return };
    let mut random = testkit::Random(7);
    for (name, bytes) in testkit::files(&folder) {
        for _ in 0..60 {
            let mut cut = bytes[..random.below(bytes.len() + 1)].to_vec();
            for _ in 0..random.below(6) {
                if !cut.is_empty() {
                    let at = random.below(cut.len());
                    cut[at] = random.next() as u8;
                }
            }
            FaultLog::read(&name, &cut).unwrap();
        }
    }
}
