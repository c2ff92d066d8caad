//! What the memory, LDS and synchronisation rules say of the fixture kernels.
//!
//! The one idea to keep in mind: one row per kernel and rule with the words of the finding, so that a change of the
//! arithmetic behind a message shows. Every kernel of a trigger file that triggers has a row for the rule of its folder.

#![allow(clippy::disallowed_methods, reason = "tests read the committed fixtures")]

use std::path::Path;

/// Fixture, kernel, message, cost.
const EXPECTED: &[(&str, &str, &str, &str)] = &[
    (
        "mem001",
        "lane_contiguous",
        "1 of 1 loads per iteration move fewer than 16 bytes per lane and can move more",
        "1 load per iteration where 16-byte loads would need 0.25",
    ),
    (
        "mem001",
        "adjacent_bytes",
        "4 of 4 loads per iteration move fewer than 16 bytes per lane and can move more",
        "4 loads per iteration where 16-byte loads would need 1",
    ),
    (
        "mem001",
        "lane_rows",
        "1 of 1 loads per iteration move fewer than 16 bytes per lane and can move more",
        "1 load per iteration where 16-byte loads would need 0.25",
    ),
    (
        "mem002",
        "lane_contiguous",
        "1 of 1 stores per iteration move fewer than 16 bytes per lane and can move more",
        "1 store per iteration where 16-byte stores would need 0.25",
    ),
    (
        "mem002",
        "adjacent",
        "4 of 4 stores outside loops move fewer than 16 bytes per lane and can move more",
        "4 stores outside loops where 16-byte stores would need 1",
    ),
    (
        "mem004",
        "table_of_pointers",
        "1 of 3 vector memory instructions are `flat_`, 1 of them in loops, and the kernel has neither LDS nor scratch",
        "",
    ),
    (
        "mem005",
        "grid_stride",
        "2 accesses of a grid-stride loop without non-temporal hint to data touched once",
        "",
    ),
    ("mem005", "reread", "1 non-temporal access to the same addresses in every iteration of loop 1", ""),
    (
        "mem006",
        "bounds_checked",
        "2 loads per iteration behind 2 branches on the EXEC mask",
        "6 of 28 instructions per iteration",
    ),
    (
        "mem007",
        "interrupted",
        "3 of 4 16-byte loads per iteration are parted from the load before by instructions that could stand elsewhere",
        "",
    ),
    (
        "mem008",
        "daxpy_passes",
        "1 load and 1 store per iteration at addresses that do not change in the loop",
        "2 of 7 instructions per iteration",
    ),
    (
        "lds001",
        "adjacent",
        "4 of 4 LDS accesses per iteration are narrower than 8 bytes per lane; 4 of them touch adjacent bytes and fit in 1 of up to 16",
        "3 of 13 instructions per iteration",
    ),
    (
        "lds002",
        "transpose",
        "8 LDS accesses outside loops with conflicts over the 32 banks; the worst (16 bytes per lane) takes 64 cycles instead of 8",
        "448 conflict cycles per wave outside loops, on top of 128 for the 24 accesses with known lanes",
    ),
    (
        "syn001",
        "load_wait_use",
        "each iteration waits once for all its loads right after the last of them (1 load, 8 cycles of work)",
        "up to 800 cycles per wait, of which 8 waves cover 64",
    ),
    (
        "syn002",
        "waits_for_all",
        "1 wait per iteration for all LDS operations where the next work needs only the first of them",
        "32 of 64 cycles of work per iteration could start earlier",
    ),
    ("syn003", "tree", "1 barrier per iteration with 24 cycles of work per barrier", ""),
];

fn findings(rule: &str, kernel_name: &str) -> Vec<view::Finding> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/rules");
    let data = std::fs::read(folder.join(rule).join("trigger.hsaco")).unwrap();
    let object = codeobj::CodeObject::read(&data).unwrap();
    let lines = codeobj::LineTable::read(&data).unwrap();
    let kernel = object.kernels.iter().find(|kernel| kernel.name == kernel_name).expect(kernel_name);
    let source = analysis::Source::Binary { data: &data, lines: Some(&lines) };
    let evidence = analysis::KernelEvidence::gather(&object, kernel, source);
    let (mut findings, _) = rules::check(&evidence);
    findings.retain(|finding| finding.rule.eq_ignore_ascii_case(rule));
    findings
}

/// Lanes that want bytes of one dword share it, as the LDS counters of emulated runs have it.
#[test]
fn bytes_of_one_dword_are_no_conflict() {
    assert!(findings("lds002", "bytes").is_empty());
}

#[test]
fn messages_and_costs() {
    for (rule, kernel, message, cost) in EXPECTED {
        let findings = findings(rule, kernel);
        let found: Vec<(&str, &str)> = findings
            .iter()
            .map(|finding| (finding.message.as_str(), finding.cost.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(found, [(*message, *cost)], "{rule} {kernel}");
        for finding in &findings {
            let place = finding.places.first().expect("a place");
            assert!(
                place.source.as_ref().is_some_and(|source| source.file.ends_with("trigger.hip")),
                "{place:?}"
            );
        }
    }
}
