//! Incidents of the samples of ../shared/faults, and the listing of a code object found beside a dump.

use rockhound_study::triage::{KernelCode, triage};
use system::fault::FaultLog;
use view::{Answer, Incident, Incidents, Listing, ListingLine};

fn read(names: &[&str]) -> Option<Answer<Incidents>> {
    let logs: Option<Vec<FaultLog>> = names
        .iter()
        .map(|name| {
            let path = testkit::shared(&format!("faults/{name}"))?;
            Some(FaultLog::read(name, &std::fs::read(path).unwrap()).unwrap())
        })
        .collect();
    Some(triage(&logs?, &[]))
}

fn fact<'a>(incident: &'a Incident, name: &str) -> &'a str {
    incident.facts.iter().find(|it| it.name == name).map_or("", |it| it.value.as_str())
}

#[test]
fn the_cause_stands_before_what_follows() {
    let Some(found) = read(&["made-training-log-with-fault.txt", "made-dmesg-gfxhub.log"]) else { return };
    let order: Vec<(u32, bool)> = found.part.incidents.iter().map(|it| (it.line, it.consequence)).collect();
    assert_eq!(order, [(2, false), (9, false), (4, true)]);
    // The driver's block is told with the message of its address.
    assert!(fact(&found.part.incidents[0], "kernel log").contains("python3 30911, load, by TCP"));
    assert!(found.notes.iter().any(|note| note.text.contains("signal 6")));
    let Some(found) = read(&["made-runtime-messages.txt"]) else { return };
    assert_eq!(found.part.incidents.len(), 15);
    assert!(found.part.incidents.iter().all(|it| !it.meaning.is_empty()), "{:?}", found.part.incidents);
}

#[test]
fn the_access_before_the_program_counter() {
    let Some(found) = read(&["made-debug-agent-memory-fault.txt"]) else { return };
    for (incident, lanes) in found.part.incidents.iter().zip(["0-63 (64 lanes)", "0-31 (32 lanes)"]) {
        assert!(
            fact(incident, "access").starts_with("+172: global_store_dword v[0:1], v2, off (before"),
            "{incident:?}"
        );
        assert!(fact(incident, "lanes in the page").starts_with(lanes), "{incident:?}");
        let suspect = incident.code.iter().find(|it| it.suspect).unwrap();
        assert_eq!((suspect.address, suspect.current), (0x7fbe_4cc0_d0ac, false));
    }
    let Some(found) = read(&["made-debug-agent-no-code-object.txt"]) else { return };
    assert!(
        fact(&found.part.incidents[0], "kernel").starts_with("unknown")
            && found.part.incidents[0].code.is_empty()
    );
    let Some(found) = read(&["made-debug-agent-cut.txt"]) else { return };
    assert!(found.notes.iter().any(|note| note.text.contains("breaks off")));
    assert_eq!(found.part.incidents.len(), 2);
}

#[test]
fn a_code_object_beside_the_dump_gives_the_listing() {
    let dump = "Queue error (HSA_STATUS_ERROR_EXCEPTION: x)\n\nwave_7: pc=0x7f0000001010 (stopped, reason: ASSERT_TRAP)\n\n\
                system registers:\n    exec: 0000000000000003\n\nDisassembly for function k(int*):\n    code object: file:///app#offset=4096&size=100\n    \
                loaded at: [0x7f0000000000-0x7f0000002000]\n\n => 0x7f0000001010 <+16>:    s_trap 2\n\nEnd of disassembly.\n";
    let log = FaultLog::read("d", dump.as_bytes()).unwrap();
    let line = |address, text: &str| ListingLine::new(address, text);
    let code = |file_name: &str, size| KernelCode {
        file: format!("dir/{file_name}"),
        file_name: file_name.to_owned(),
        size,
        kernel: "k(int*)".to_owned(),
        listing: Listing {
            kernel: "k".to_owned(),
            text_lines: false,
            run: None,
            samples: None,
            trace: None,
            lines: vec![line(0x100c, "s_nop 0"), line(0x1010, "s_trap 2"), line(0x1014, "s_endpgm")],
        },
    };
    for (name, size) in [
        ("file____app_offset_4096_size_100", 1),
        ("renamed_offset_4096_size_100", 1),
        ("other", 100),
        ("program", 5),
    ] {
        let found = triage(std::slice::from_ref(&log), &[code(name, size)]);
        let incident = &found.part.incidents[0];
        assert_eq!(incident.code_from, format!("dir/{name}"));
        let text: Vec<(&str, bool)> = incident.code.iter().map(|it| (it.text.as_str(), it.current)).collect();
        assert_eq!(text, [("s_nop 0", false), ("s_trap 2", true), ("s_endpgm", false)]);
        assert_eq!(fact(incident, "lanes at work"), "2 of 64: 0-1");
    }
}
