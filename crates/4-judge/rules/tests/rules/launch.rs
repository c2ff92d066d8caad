//! Rules that fire on launches: a row that triggers each and a near miss.

use arch::{ElementType, Model};
use gemm::{Estimate, Operands, Problem, Scales, Tile, alternatives};
use rockhound_rules::{LaunchEvidence, check_launch};

/// A product, its tile, and how it is launched.
#[derive(Clone, Copy)]
struct Launch {
    gpu: &'static str,
    mnk: [u64; 3],
    tile: [u64; 3],
    element: ElementType,
    operands: Operands,
    mapping: Option<u32>,
    remaps: bool,
    stride: Option<u64>,
    split_k: u64,
}

const BASE: Launch = Launch {
    gpu: "mi300x",
    mnk: [4864, 4864, 4160],
    tile: [128, 128, 64],
    element: ElementType::Bf16,
    operands: Operands::Tn,
    mapping: Some(8),
    remaps: true,
    stride: Some(4160 + 64),
    split_k: 1,
};

fn fired(launch: Launch) -> Vec<&'static str> {
    let model = Model::by_name(launch.gpu).expect("known");
    let problem = Problem {
        m: launch.mnk[0],
        n: launch.mnk[1],
        k: launch.mnk[2],
        element: launch.element,
        scales: Scales::End,
        operands: launch.operands,
        left_stride: launch.stride,
        right_stride: launch.stride,
    };
    let tile = Tile {
        m: launch.tile[0],
        n: launch.tile[1],
        k: launch.tile[2],
        split_k: launch.split_k,
        waves: 4,
        stages: 2,
    };
    let estimate = Estimate::of(model, problem, tile);
    let others = alternatives(model, problem, 2, false);
    let evidence = LaunchEvidence {
        model,
        workgroups: estimate.workgroups,
        gemm: Some(&estimate),
        alternatives: &others,
        workgroup_mapping: launch.mapping,
        remaps_xcds: Some(launch.remaps),
    };
    let (findings, not_checked) = check_launch(&evidence);
    crate::words::are_well_said(&findings);
    assert!(not_checked.is_empty() || launch.mapping.is_none(), "{not_checked:?}");
    for finding in &findings {
        let rule = rockhound_rules::by_id(finding.rule).expect("registered");
        assert!(finding.severity <= rule.severity, "{finding:?}");
        assert!(finding.message.bytes().any(|it| it.is_ascii_digit()), "{finding:?}");
        assert!(!finding.advice.is_empty() && !finding.evidence.is_empty(), "{finding:?}");
        assert!(!finding.message.ends_with('.') && !finding.advice.ends_with('.'), "{finding:?}");
    }
    findings.iter().map(|it| it.rule).collect()
}

#[test]
fn triggers_fire_and_near_misses_do_not() {
    // Rule, a launch that triggers it, and a near miss.
    let rows: &[(&str, Launch, Launch)] = &[
        // 400 tiles fill a round and a third, where smaller ones fill theirs; 38 x 38 = 1,444 fill five rounds to 95 %.
        ("TIL001", Launch { mnk: [5120, 5120, 4160], tile: [256, 256, 32], ..BASE }, BASE),
        ("TIL003", Launch { mnk: [256, 512, 16448], ..BASE }, Launch { mnk: [256, 512, 448], ..BASE }),
        ("TIL004", Launch { mapping: Some(12), ..BASE }, Launch { mapping: Some(16), ..BASE }),
        ("TIL005", Launch { stride: Some(4352), ..BASE }, BASE),
        (
            "TIL009",
            Launch { remaps: false, mnk: [9728, 9728, 4160], ..BASE },
            Launch { remaps: false, gpu: "mi250x", mnk: [9728, 9728, 4160], ..BASE },
        ),
        // 1,024 tiles leave the fourth round a third full.
        ("LCH003", Launch { mnk: [4096, 4096, 4160], ..BASE }, BASE),
        (
            "MAT003",
            Launch { element: ElementType::F16, tile: [256, 128, 32], ..BASE },
            Launch { element: ElementType::F16, mnk: [128, 128, 64], ..BASE },
        ),
    ];
    for (rule, trigger, miss) in rows {
        let found = fired(*trigger);
        assert!(found.contains(rule), "{rule}: {found:?}");
        let found = fired(*miss);
        assert!(!found.contains(rule), "{rule} fires on the near miss: {found:?}");
    }
    let on_launches = rockhound_rules::all().iter().filter(|it| it.launch_check().is_some());
    assert!(on_launches.map(|it| it.id).all(|id| rows.iter().any(|(rule, ..)| *rule == id)));
}

#[test]
fn what_is_not_known_is_said() {
    let model = Model::by_name("mi300x").expect("known");
    let evidence = LaunchEvidence {
        model,
        workgroups: 320,
        gemm: None,
        alternatives: &[],
        workgroup_mapping: None,
        remaps_xcds: None,
    };
    let (findings, not_checked) = check_launch(&evidence);
    assert_eq!(findings.iter().map(|it| it.rule).collect::<Vec<_>>(), ["LCH003"]);
    assert_eq!(not_checked.len(), 6, "{not_checked:?}");
}
