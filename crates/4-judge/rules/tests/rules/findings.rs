//! Findings of the memory, LDS and synchronisation rules on the fixture kernels.
//!
//! One row per kernel and rule with the words of the finding, so that a change of the arithmetic behind a
//! message shows. Every kernel of a trigger file that triggers has a row for the rule of its folder.

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
        "mem003",
        "stride_28",
        "1 store touching up to 14 cache lines of 128 bytes, where 2 would hold the data; neighbouring lanes are 28 bytes apart",
        "14 line look-ups per wave where 2 would do",
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
        "3 of 4 16-byte loads per iteration are separated from the load before by instructions that can move",
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
        "up to 800 of 824 cycles per iteration, of which other waves hide 11 %",
    ),
    (
        "syn002",
        "waits_for_all",
        "1 wait per iteration for all LDS operations where the next work needs only the first of them",
        "about 24 of 144 cycles per iteration, 17 % of the time of the loop",
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
    let (mut findings, _) = rockhound_rules::check(&evidence);
    findings.retain(|finding| finding.rule.eq_ignore_ascii_case(rule));
    findings
}

/// Findings for an unknown workgroup shape or stride, and for code written in assembly: fixture, rule,
/// severity, message, advice.
#[test]
fn what_follows_for_usual_shapes_and_from_assembly() {
    use view::Severity::{Info, Warning};
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/rules");
    for (name, rule, severity, message, advice) in [
        (
            "mem003/trigger_stride",
            "MEM003",
            Info,
            "1 load per iteration touching up to 64 cache lines of 128 bytes, where 2 would hold the data; lanes are n x 4 bytes apart, n known at run time only",
            "",
        ),
        (
            "mem003/trigger_shape",
            "MEM003",
            Info,
            "in workgroups of 64x1 and 256x1: 1 store touching up to 64 cache lines of 128 bytes, where 2 would hold the data; lanes are n x 4 bytes apart, n known at run time only",
            "",
        ),
        (
            "lds002/trigger_shape",
            "LDS002",
            Info,
            "in workgroups of 64x1 and 256x1, 32x8: 1 LDS access per iteration with conflicts over the 32 banks; the worst (4 bytes per lane) takes 64 cycles instead of 2",
            "",
        ),
        (
            "res002/trigger_unused",
            "RES002",
            Warning,
            "1 of 8 waves per SIMD, limited by VGPR (512 of 512 registers): loop 1 waits for 1 load with 8 instructions per iteration to cover them",
            "ask for the registers that the code names only (`.amdhsa_next_free_vgpr`, `.amdhsa_accum_offset`): 8 waves per SIMD",
        ),
        (
            "res003/trigger_assembly",
            "RES003",
            Warning,
            "8 VGPRs above the boundary for 3 waves per SIMD: 176 used, 168 would do",
            "let values share registers, so that the code names 168 or fewer, and lower `.amdhsa_next_free_vgpr`",
        ),
        (
            "res003/trigger_unused",
            "RES003",
            Warning,
            "8 VGPRs above the boundary for 3 waves per SIMD: 176 used, 168 would do",
            "lower `.amdhsa_next_free_vgpr` with `.amdhsa_accum_offset` to 168 or fewer: the code names no register beyond",
        ),
        (
            "mat001/trigger_assembly",
            "MAT001",
            Info,
            "loop 1 is a single GEMM of 4 32x32x8 matrix instructions",
            "compare with a variant of the generator that has 16x16 instructions, if there is one",
        ),
    ] {
        let data = std::fs::read(folder.join(name).with_extension("hsaco")).unwrap();
        let object = codeobj::CodeObject::read(&data).unwrap();
        let source = analysis::Source::Binary { data: &data, lines: None };
        let evidence = analysis::KernelEvidence::gather(&object, &object.kernels[0], source);
        let (findings, _) = rockhound_rules::check(&evidence);
        let found: Vec<&view::Finding> = findings.iter().filter(|finding| finding.rule == rule).collect();
        let [finding] = found[..] else { panic!("{name}: {found:?}") };
        assert_eq!((finding.severity, finding.message.as_str()), (severity, message), "{name} {finding:?}");
        assert!(advice.is_empty() || finding.advice == advice, "{name}: {}", finding.advice);
    }
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
