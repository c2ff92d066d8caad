//! Kernels that race or read what nobody wrote, and the same put right: only the first are found.
#![allow(clippy::disallowed_methods, reason = "tests read the committed fixtures")]

use emu::{Hidden, Launch, Program};
use probe::{Checked, Checks, Job, Wrong, check};
use std::path::Path;

const GROUPS: u32 = 8;
const ITEMS: usize = 256 * GROUPS as usize;

fn fixture() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/checks/checks.gfx942.hsaco"))
        .unwrap()
}

/// Runs a kernel of the fixture with two buffers and everything checked.
fn run(bytes: &[u8], kernel: &str, threads: usize, checks: Checks) -> (Program, Checked) {
    let mut job = Job::find(bytes, Some(kernel)).unwrap();
    let values: Vec<u8> = (0..ITEMS as u32).flat_map(u32::to_le_bytes).collect();
    let buffers = ["a", "b"].map(|name| job.memory.allocate_with(name, &values));
    job.give(buffers.map(u64::to_le_bytes));
    let launch = Launch { threads, ..Launch::new([GROUPS, 1, 1], [256, 1, 1], 0) };
    let mut launch = job.launch(launch, &Hidden::default());
    launch.packet = job.memory.allocate_with("packet", &launch.dispatch_packet(&job.program));
    let (result, checked) = check(checks, &job.program, &job.memory, &launch);
    result.unwrap();
    (job.program, checked)
}

const BOTH: Checks = Checks { races: true, uninitialized: true, limit: Checks::LIMIT };

#[test]
fn what_is_wrong_is_found_and_what_is_right_is_not() {
    let bytes = fixture();
    for (kernel, expected) in [
        ("lds_race", Some(Wrong::LdsRace)),
        ("lds_right", None),
        ("refill_race", Some(Wrong::LdsRace)),
        ("refill_right", None),
        ("waves_race", Some(Wrong::GlobalRace)),
        ("waves_right", None),
        ("stencil_race", Some(Wrong::GroupRace)),
        ("stencil_right", None),
        ("flag_race", Some(Wrong::GroupRace)),
        ("flag_right", None),
        ("last_right", None),
        ("histogram_right", None),
        ("bytes_right", None),
        ("replicated_right", None),
        ("unwritten", Some(Wrong::Uninitialized)),
        ("written", None),
    ] {
        let (_, checked) = run(&bytes, kernel, 1, BOTH);
        // A missing barrier also leaves LDS unwritten when it is read; that is not what is looked at here.
        let kinds: Vec<Wrong> = checked
            .conflicts
            .iter()
            .map(|it| it.wrong)
            .filter(|wrong| expected == Some(Wrong::Uninitialized) || *wrong != Wrong::Uninitialized)
            .collect();
        match expected {
            Some(wrong) => {
                assert!(kinds.iter().all(|it| *it == wrong) && !kinds.is_empty(), "{kernel}: {kinds:?}")
            }
            None => assert_eq!(checked.conflicts, [], "{kernel}"),
        }
        assert_eq!(checked.unwatched, 0, "{kernel}");
    }
}

#[test]
fn both_instructions_are_named() {
    let (program, checked) = run(&fixture(), "stencil_race", 1, BOTH);
    let conflict = checked.conflicts[0];
    assert!(program.text(conflict.first.index).starts_with("global_"), "{conflict:?}");
    let texts = [conflict.first, conflict.second].map(|side| program.text(side.index));
    assert!(texts.iter().any(|text| text.contains("store")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("load")), "{texts:?}");
    assert_eq!(conflict.first.workgroup[0].abs_diff(conflict.second.workgroup[0]), 1, "neighbours");
    // One element between each two workgroups.
    assert_eq!(conflict.times, u64::from(GROUPS) - 1);
}

#[test]
fn what_is_found_does_not_depend_on_threads() {
    let bytes = fixture();
    for kernel in ["lds_race", "stencil_race", "flag_race", "unwritten"] {
        assert_eq!(run(&bytes, kernel, 1, BOTH).1, run(&bytes, kernel, 2, BOTH).1, "{kernel}");
    }
}

#[test]
fn only_what_is_asked_for_is_looked_for() {
    let bytes = fixture();
    let races = Checks { uninitialized: false, ..BOTH };
    let unwritten = Checks { races: false, ..BOTH };
    assert_eq!(run(&bytes, "unwritten", 1, races).1.conflicts, []);
    assert_eq!(run(&bytes, "stencil_race", 1, unwritten).1.conflicts, []);
    assert_eq!(Checks::parse("uninit, races").map(|it| (it.races, it.uninitialized)), Ok((true, true)));
    assert_eq!(Checks::parse("race"), Err("race".to_string()));
    assert!(!Checks::parse("").unwrap().any());
}

#[test]
fn memory_is_bounded_and_what_is_not_watched_is_counted() {
    let small = Checks { limit: 64 << 10, ..BOTH };
    let (_, checked) = run(&fixture(), "stencil_right", 1, small);
    assert_eq!(checked.conflicts, []);
    assert!(checked.unwatched > 0);
}
