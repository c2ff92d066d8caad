//! Kernels that race or read what nobody wrote, and the same put right: only the first are found.

use emu::{Hidden, Launch, Program};
use probe::{Checked, Checks, Wrong, check};
use rockhound_record::Job;
use std::path::Path;

const GROUPS: u32 = 8;
const ITEMS: usize = 256 * GROUPS as usize;

fn fixture() -> Vec<u8> {
    named("checks.gfx942.hsaco")
}

fn named(file: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/checks").join(file)).unwrap()
}

/// Runs a kernel of the fixture with two buffers and everything checked.
fn run(bytes: &[u8], kernel: &str, threads: usize, checks: Checks) -> (Program, Checked) {
    let mut job = Job::find(bytes, Some(kernel)).unwrap();
    // Kernels that load tiles into the LDS load eight for each workgroup.
    let values: Vec<u8> = (1..=8 * ITEMS as u32).flat_map(u32::to_le_bytes).collect();
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
fn races_are_found_and_correct_kernels_are_clean() {
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
fn scopes_of_flags_and_arrays_of_lanes_are_checked() {
    let bytes = named("scopes.gfx942.hsaco");
    for (kernel, expected, times) in [
        ("volatile_flag_race", Some(Wrong::GroupRace), u64::from(GROUPS) - 1),
        ("workgroup_flag_race", Some(Wrong::GroupRace), u64::from(GROUPS) - 1),
        ("agent_flag_right", None, 0),
        ("fence_flag_right", None, 0),
        // `a` holds 1, 2, 3 …: lanes with an even value read the last element.
        ("array_unwritten", Some(Wrong::Private), ITEMS as u64 / 2),
        ("array_written", None, 0),
    ] {
        let (_, checked) = run(&bytes, kernel, 1, BOTH);
        let found: Vec<(Wrong, u64)> = checked.conflicts.iter().map(|it| (it.wrong, it.times)).collect();
        assert_eq!(found, expected.map(|wrong| (wrong, times)).into_iter().collect::<Vec<_>>(), "{kernel}");
        assert_eq!(checked.conflicts, run(&bytes, kernel, 3, BOTH).1.conflicts, "{kernel}");
    }
}

#[test]
fn loads_into_the_lds_that_are_not_waited_for_are_found() {
    use Wrong::{LdsRace, NotWaited};
    // (kernel, kinds of what is found, and of the accesses that meet loads)
    let cases: [(&str, &[Wrong], &[&str]); 14] = [
        ("double_buffered", &[], &[]),
        ("refilled", &[], &[]),
        ("counted", &[], &[]),
        ("buffer", &[], &[]),
        ("roles", &[], &[]),
        ("producer_sleeping", &[], &[]),
        ("producer_busy", &[], &[]),
        ("refilled_too_early", &[LdsRace], &["ds_read_b32"]),
        ("no_wait", &[NotWaited], &["ds_read_b32"]),
        ("counted_short", &[NotWaited], &["ds_read_b32"]),
        ("barrier_only", &[LdsRace], &["ds_read_b32"]),
        ("wait_behind_barrier", &[LdsRace], &["ds_read_b32"]),
        ("producer_without_wait", &[LdsRace], &["ds_read_b32"]),
        ("polled", &[LdsRace], &["ds_read_b32", "ds_write_b32"]),
    ];
    for target in ["gfx942", "gfx950"] {
        let bytes = named(&format!("lds_dma.{target}.hsaco"));
        for (kernel, expected, others) in cases {
            let (program, checked) = run(&bytes, kernel, 1, BOTH);
            let mut kinds: Vec<Wrong> = checked.conflicts.iter().map(|it| it.wrong).collect();
            kinds.dedup();
            assert_eq!(kinds, expected, "{target} {kernel}: {:?}", checked.conflicts);
            for conflict in &checked.conflicts {
                let texts = [conflict.first, conflict.second].map(|side| program.text(side.index));
                let known = |text: &String| {
                    text.starts_with("global_load_lds_dword") || others.iter().any(|it| text.starts_with(it))
                };
                assert!(texts.iter().all(known), "{target} {kernel}: {texts:?}");
                if conflict.wrong == NotWaited {
                    assert_eq!(conflict.first.wave, conflict.second.wave);
                    assert!(texts[0].starts_with("global_load_lds_dword"), "{texts:?}");
                }
            }
            assert_eq!(checked.conflicts, run(&bytes, kernel, 3, BOTH).1.conflicts, "{kernel}");
        }
    }
    // Only the second load of each wave is read too early.
    let (_, checked) = run(&named("lds_dma.gfx942.hsaco"), "counted_short", 1, BOTH);
    assert_eq!(checked.conflicts.len(), 1);
    assert_eq!((checked.conflicts[0].address, checked.conflicts[0].times), (1024, ITEMS as u64));
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
fn findings_do_not_depend_on_threads() {
    let bytes = fixture();
    for kernel in ["lds_race", "stencil_race", "flag_race", "unwritten"] {
        assert_eq!(run(&bytes, kernel, 1, BOTH).1, run(&bytes, kernel, 2, BOTH).1, "{kernel}");
    }
}

#[test]
fn only_requested_checks_run() {
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
fn memory_is_bounded_and_unwatched_bytes_are_counted() {
    let small = Checks { limit: 64 << 10, ..BOTH };
    let (_, checked) = run(&fixture(), "stencil_right", 1, small);
    assert_eq!(checked.conflicts, []);
    assert!(checked.unwatched > 0);
}
