//! Matching kernels of two builds, and what counts as a change.

use rockhound_analysis::{compare, compare_kernels};
use view::{Finding, KernelCard, LoopCard, Mix, OccupancyCard, Place, Resources, Severity, Verdict};

fn card(name: &str, target: &str, vgprs: u32) -> KernelCard {
    KernelCard {
        file: "f".into(),
        origin: String::new(),
        target: target.into(),
        code_object_version: 5,
        name: name.into(),
        demangled: name.into(),
        source: None,
        resources: Resources { vgprs: Some(vgprs), ..Resources::default() },
        occupancy: None,
        code_bytes: Some(100),
        instructions: Some(20),
        unknown_instructions: Some(0),
        mix: Some(Mix::default()),
        load_widths: Default::default(),
        store_widths: Default::default(),
        lds_widths: Default::default(),
        pressure: None,
        loops: Vec::new(),
        compiler: None,
        triton: None,
        arguments: Vec::new(),
        hidden_arguments: Vec::new(),
        calls: Vec::new(),
        findings: Vec::new(),
        not_checked: Vec::new(),
        warnings: Vec::new(),
    }
}

fn finding(rule: &'static str, message: &str) -> Finding {
    Finding::new(rule, Severity::Warning, message, "")
}

#[test]
fn kernels_are_matched_by_name_and_target() {
    let old = [card("k", "gfx90a", 8), card("k", "gfx942:xnack-", 9), card("gone", "gfx942", 1)];
    let new = [card("k", "gfx942:xnack+", 9), card("k", "gfx90a", 12), card("fresh", "gfx942", 1)];
    let comparison = compare(&old, &new, &[]);
    assert_eq!((comparison.changed.len(), comparison.unchanged), (1, 1));
    assert_eq!(comparison.changed[0].new.target, "gfx90a");
    assert_eq!(comparison.removed[0].name, "gone");
    assert_eq!(comparison.added[0].name, "fresh");
}

#[test]
fn builds_for_different_targets_are_matched_by_name() {
    let comparison = compare(&[card("k", "gfx90a", 8)], &[card("k", "gfx942", 8)], &[]);
    assert_eq!((comparison.unchanged, comparison.added.len()), (1, 0));
}

#[test]
fn a_name_that_occurs_twice_is_matched_in_order() {
    let old = [card("k", "gfx942", 8), card("k", "gfx942", 80)];
    let new = [card("k", "gfx942", 8), card("k", "gfx942", 88)];
    let comparison = compare(&old, &new, &[]);
    assert_eq!((comparison.unchanged, comparison.changed.len()), (1, 1));
    assert_eq!(comparison.changed[0].changes[0].old, Some(80.0));
}

#[test]
fn renamed_kernels_are_compared() {
    let renamed = [("a".to_owned(), "b".to_owned())];
    let comparison = compare(&[card("a", "gfx942", 8)], &[card("b", "gfx942", 4)], &renamed);
    assert_eq!((comparison.changed.len(), comparison.added.len(), comparison.removed.len()), (1, 0, 0));
    let change = &comparison.changed[0].changes[0];
    assert_eq!((change.verdict, change.remark), (Verdict::Neutral, Some("waves unchanged")));
    assert_eq!((comparison.totals[0].metric.as_str(), comparison.totals[0].different), ("vgprs", 1));
}

#[test]
fn a_number_that_moves_in_a_sentence_is_no_new_finding() {
    let mut old = card("k", "gfx942", 8);
    let mut new = old.clone();
    old.findings = vec![finding("MEM001", "4 of 6 loads"), finding("MEM001", "same"), finding("SYN001", "x")];
    new.findings = vec![finding("MEM001", "same"), finding("MEM001", "5 of 6 loads"), finding("LDS001", "y")];
    let comparison = compare_kernels(&old, &new).expect("they differ");
    let rules = |findings: &[Finding]| findings.iter().map(|finding| finding.rule).collect::<Vec<_>>();
    assert_eq!((rules(&comparison.appeared), rules(&comparison.gone)), (vec!["LDS001"], vec!["SYN001"]));
}

#[test]
fn a_width_of_one_side_counts_as_none_on_the_other_and_an_unknown_value_does_not() {
    let mut old = card("k", "gfx942", 8);
    let mut new = old.clone();
    new.load_widths.insert(16, 3);
    old.resources.lds_bytes = Some(64);
    let comparison = compare_kernels(&old, &new).expect("they differ");
    let change =
        |metric: &str| comparison.changes.iter().find(|change| change.metric == metric).expect("a change");
    assert_eq!((change("loads.16").old, change("loads.16").new), (Some(0.0), Some(3.0)));
    assert_eq!((change("lds_bytes").new, change("lds_bytes").verdict), (None, Verdict::Neutral));
    assert!(compare_kernels(&old, &old).is_none());
}

/// A kernel with one loop: its instructions, and the widths of its loads and stores per iteration.
fn looping(instructions: u32, loads: (u32, u32), stores: (u32, u32)) -> KernelCard {
    let mut card = card("k", "gfx942", 8);
    let mix = Mix { valu: instructions, ..Mix::default() };
    let (load_widths, store_widths) = ([loads].into(), [stores].into());
    card.mix = Some(mix);
    card.instructions = Some(instructions);
    (card.load_widths, card.store_widths) = (load_widths, store_widths);
    card.loops = vec![LoopCard {
        id: 1,
        depth: 1,
        parent: None,
        function: None,
        place: Place::default(),
        instructions,
        mix,
        load_widths: card.load_widths.clone(),
        store_widths: card.store_widths.clone(),
        lds_widths: Default::default(),
        waits: Vec::new(),
    }];
    card
}

#[test]
fn executed_work_and_width_decide() {
    let vectors = looping(24, (16, 2), (16, 1));
    let cases = [
        // A quarter of the work per iteration by a quarter of the instructions and more: fewer, and worse.
        ("scalars for vectors", vectors.clone(), looping(12, (4, 2), (4, 1)), Verdict::Worse),
        ("vectors for scalars", looping(12, (4, 2), (4, 1)), vectors.clone(), Verdict::Better),
        ("not unrolled", looping(64, (4, 8), (4, 4)), looping(22, (4, 2), (4, 1)), Verdict::Worse),
        ("unrolled", looping(22, (4, 2), (4, 1)), looping(64, (4, 8), (4, 4)), Verdict::Better),
        ("fewer instructions for the same", vectors.clone(), looping(20, (16, 2), (16, 1)), Verdict::Better),
        (
            "wider, with more work",
            looping(12, (4, 2), (4, 1)),
            looping(60, (16, 2), (16, 1)),
            Verdict::Neutral,
        ),
    ];
    for (name, old, new, expected) in cases {
        let found = compare_kernels(&old, &new).expect(name);
        assert_eq!(found.balance.verdict, expected, "{name}: {}", found.balance.words);
        let static_counts = ["instructions", "code_bytes"];
        let judged = found.changes.iter().find(|change| {
            static_counts.contains(&change.metric.as_str()) && change.verdict != Verdict::Neutral
        });
        assert_eq!(judged, None, "{name}");
        assert_eq!(found.loops.len(), 1, "{name}");
        assert_eq!(found.loops[0].old.instructions, old.loops[0].instructions, "{name}");
    }
}

#[test]
fn loops_are_matched_in_order_or_by_their_work() {
    let mut old = looping(24, (16, 2), (16, 1));
    let mut new = old.clone();
    let remainder = LoopCard { id: 2, instructions: 6, ..old.loops[0].clone() };
    new.loops.push(remainder.clone());
    assert!(compare_kernels(&old, &new).expect("they differ").loops.is_empty());
    old.loops.insert(0, LoopCard { id: 3, instructions: 5, ..remainder });
    let found = compare_kernels(&old, &new).expect("they differ").loops;
    let pairs: Vec<(u32, u32)> = found.iter().map(|it| (it.old.id, it.new.id)).collect();
    assert_eq!(pairs, [(3, 1), (1, 2)]);
}

#[test]
fn registers_are_judged_by_the_waves_they_leave_room_for() {
    let waves = |waves_per_simd| {
        Some(OccupancyCard {
            waves_per_simd,
            waves_per_cu: 8,
            max_waves_per_simd: 8,
            limiter: "VGPR".into(),
            assumptions: Vec::new(),
            reasons: Vec::new(),
            next: Vec::new(),
            together: Vec::new(),
        })
    };
    let mut old = card("k", "gfx942", 8);
    let mut new = card("k", "gfx942", 80);
    (old.occupancy, new.occupancy) = (waves(8.0), waves(6.0));
    let found = compare_kernels(&old, &new).expect("they differ");
    let vgprs = found.changes.iter().find(|change| change.metric == "vgprs").expect("a change");
    assert_eq!((vgprs.verdict, vgprs.remark), (Verdict::Worse, None));
    assert_eq!(found.balance.words, "worse: waves per SIMD 8 → 6");
}
