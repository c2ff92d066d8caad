//! Causes that findings on timelines name: ranges, operators, kernels around gaps, the profiler.

use crate::timeline::{GEMM, Made, NCCL, judged};
use trace::{HostKind, Timeline};
use view::{Finding, Severity};

fn of_rule(timelines: &[Timeline], rule: &str) -> Option<Finding> {
    judged(timelines).0.into_iter().find(|finding| finding.rule == rule)
}

/// The finding of a rule, whose words are a section of the golden file.
#[track_caller]
fn golden(section: &str, timelines: &[Timeline], rule: &str) -> Finding {
    let found = of_rule(timelines, rule).expect(rule);
    let evidence = found.evidence.iter().map(|it| format!("    {}: {}\n", it.what, it.value));
    testkit::golden(
        &format!("{rule}: {section}"),
        &format!("{}\n{}", found.message, evidence.collect::<String>()),
    );
    found
}

/// Ten steps with a collective each; rank 1 computes `more` us longer in each, in a range if it has a name.
fn ranks(more: i64, range: Option<&str>, stacks: bool) -> Vec<Timeline> {
    let rank = |late: bool| {
        let mut made = Made::new();
        for at in 0..10 {
            let (begin, end) = (at * 1000, at * 1000 + 900);
            let work = if late { 500 + more } else { 500 };
            made.host(HostKind::Annotation, "ProfilerStep#1", (begin, begin + 1000), [0, 0], 0);
            made.kernel(GEMM, (0, 0), begin + 20, begin + 520, begin + 2);
            if late && more > 0 {
                if let Some(name) = range {
                    made.host(HostKind::Annotation, name, (begin + 4, begin + 8), [0, 0], 0);
                }
                made.kernel("extra_gemm", (0, 0), begin + 520, begin + 20 + work, begin + 5);
            }
            let arrives = if late && more == 0 { begin + 860 } else { begin + 20 + work };
            made.kernel(NCCL, (0, 0), arrives, end, begin + 10).collective(8);
            if late && stacks {
                made.host(HostKind::Python, "train.py(1): step", (begin, begin + 900), [0, 0], 0);
            }
        }
        made.timeline
    };
    vec![rank(false), rank(true), rank(false)]
}

#[test]
fn what_the_late_rank_does_more() {
    for (range, section) in [(Some("extra"), "a range"), (None, "a kernel")] {
        let found = golden(section, &ranks(340, range, false), "TRC005");
        // Ten times 340 us; the others wait as long.
        assert_eq!(found.time_lost_ns, Some(3_400_000.0), "{range:?}");
    }
}

#[test]
fn a_rank_that_only_its_profiler_makes_late() {
    let late = |stacks| judged(&ranks(0, None, stacks));
    let (findings, not_checked) = late(true);
    assert!(findings.iter().all(|it| it.rule != "TRC005"), "{findings:?}");
    assert!(not_checked.iter().any(|it| it.rule == "TRC005" && it.needs.needed().contains("with_stack")));
    assert!(late(false).0.iter().any(|it| it.rule == "TRC005"), "without stacks it is late");
    // A rank that computes more is late whatever was recorded.
    assert!(of_rule(&ranks(340, None, true), "TRC005").is_some());
}

#[test]
fn communication_without_what_later_ranks_cost() {
    // Rank 0 waits 340 us of 380 in each collective, which is no communication.
    assert!(of_rule(&ranks(340, None, false), "TRC004").is_none());
    assert!(of_rule(&ranks(340, None, false)[..1], "TRC004").is_some(), "one trace alone does not tell");
}

/// A kernel every 100 us of a time, with a gap of some us before the fifth.
fn one_gap(us: i64, launched: impl Fn(i64) -> i64) -> Timeline {
    let mut made = Made::new();
    for at in 0..10 {
        let begin = at * 100 + if at >= 5 { us } else { 0 };
        made.kernel(if at < 5 { "first" } else { "second" }, (0, 0), begin, begin + 100, launched(begin));
    }
    made.host(HostKind::Annotation, "evaluation", (450, 500 + us + 50), [0, 0], 0);
    made.timeline
}

#[test]
fn one_long_gap_is_named() {
    let late = golden("one long gap", &[one_gap(2000, |begin| begin - 10)], "TRC001");
    assert_eq!(late.severity, Severity::Warning, "a single gap");
    // The launch is called at once and takes long itself.
    let call = |begin: i64| if begin == 2500 { 510 } else { begin - 10 };
    golden("a slow launch", &[one_gap(2000, call)], "TRC001");
    assert!(of_rule(&[one_gap(100, |begin| begin - 10)], "TRC001").is_none(), "a tenth and less");
}

/// Kernels of 30 us every 100 us, launched late; each launch is within nested operators that take `own` us each.
fn recorded(own: i64) -> Timeline {
    let mut made = Made::new();
    for at in 0..40 {
        let begin = at * 100;
        made.kernel(GEMM, (0, 0), begin, begin + 30, begin - 5);
        for depth in 0..4 {
            let inner = depth * own;
            made.host(HostKind::Operator, "aten::linear", (begin - 60 + inner, begin - inner), [0, 0], 0);
        }
    }
    made.timeline
}

#[test]
fn waiting_that_the_profiler_makes() {
    // Each operator that calls one takes twice the step itself: 160 of them of 14 us are 2.2 of 2.7 ms of waiting.
    let found = golden("the profiler's cost", &[recorded(7)], "TRC001");
    assert_eq!(found.severity, Severity::Info, "{}", found.message);
    let found = of_rule(&[recorded(1)], "TRC001").expect("TRC001");
    assert_eq!(found.severity, Severity::Severe, "{}", found.message);
}

#[test]
fn operators_that_wait_are_named() {
    let mut made = Made::new();
    for at in 0..20 {
        let begin = at * 100;
        made.kernel(GEMM, (0, 0), begin, begin + 80, begin - 6);
        made.host(HostKind::Operator, "aten::item", (begin + 10, begin + 90), [0, 0], 0);
        made.host(HostKind::Operator, "aten::_local_scalar_dense", (begin + 11, begin + 89), [0, 0], 0);
        made.host(HostKind::Runtime, "hipMemcpyAsync", (begin + 12, begin + 14), [0, 0], 0);
        made.host(HostKind::Runtime, "hipStreamSynchronize", (begin + 15, begin + 88), [0, 0], 0);
    }
    let found = golden("operators", &[made.timeline], "TRC002");
    // The launch that follows a wait is part of its cost: 14 us until the call and 6 until the start.
    assert_eq!(found.time_lost_ns, Some(380_000.0));
}

#[test]
fn gaps_after_graphs() {
    let with = |gap: i64| {
        let mut made = Made::new();
        for at in 0..8i64 {
            let (begin, id) = (at * 1000, 1000 + at as u64);
            made.host(HostKind::Runtime, "hipGraphLaunch", (begin - 900, begin - 890), [id, 0], 0);
            for kernel in 0..5 {
                made.on_gpu("inner", (0, 0), (begin + kernel * 100, begin + kernel * 100 + 100), id);
            }
            made.kernel("logits", (0, 0), begin + 500 + gap, begin + 1000, begin - 880);
        }
        made.timeline
    };
    assert_eq!(golden("graphs", &[with(400)], "TRC009").severity, Severity::Severe);
    assert!(of_rule(&[with(90)], "TRC009").is_none());
}

#[test]
fn a_gpu_without_known_rates_is_named() {
    let mut made = Made::new();
    made.timeline.devices[0].name = "NVIDIA H200".to_owned();
    made.kernel(GEMM, (0, 0), 0, 100, -10);
    made.operator("aten::mm", "[[8192, 8192], [8192, 8192]]", "[[8192, 1], [8192, 1]]");
    let not_checked = judged(&[made.timeline]).1;
    let needs =
        not_checked.iter().find(|it| it.rule == "TRC006").map_or_else(String::new, |it| it.needs.needed());
    assert!(needs.contains("`NVIDIA H200`"), "{needs}");
}

#[test]
fn optimizers_that_launch_for_each_parameter() {
    let step = |kernels: i64, name: &str| {
        let mut made = Made::new();
        made.kernel(GEMM, (0, 0), 0, 3000, -10);
        made.host(HostKind::Annotation, "Optimizer.step#AdamW.step", (2000, 3500), [0, 0], 0);
        for at in 0..kernels {
            let begin = 3000 + at * 10;
            made.kernel(name, (0, 0), begin, begin + 4, 2001 + at);
        }
        made.timeline
    };
    let found = golden("an optimizer", &[step(120, "vectorized_elementwise_kernel")], "TRC010");
    // 119 times 10 us and a last kernel of 4; a quarter of 480 us is left for the fused kernel.
    assert_eq!(found.time_lost_ns, Some(1_074_000.0));
    assert!(of_rule(&[step(80, "vectorized_elementwise_kernel")], "TRC010").is_none(), "few");
    assert!(of_rule(&[step(120, "multi_tensor_apply_kernel")], "TRC010").is_none(), "foreach");
}

#[test]
fn attention_in_separate_kernels() {
    let layers = |softmax: &str, between: i64| {
        let mut made = Made::new();
        for at in 0..6 {
            let mut begin = at * 1000;
            let mut next = |made: &mut Made, name: &str, us: i64| {
                made.kernel(name, (0, 0), begin, begin + us, -1000);
                begin += us;
            };
            next(&mut made, GEMM, 100);
            made.operator(
                "aten::bmm",
                "[[96, 3137, 64], [96, 64, 3137]]",
                "[[200768, 64, 1], [200768, 1, 64]]",
            );
            for _ in 0..between {
                next(&mut made, "unrolled_mul", 10);
            }
            next(&mut made, softmax, 200);
            next(&mut made, GEMM, 100);
            made.operator(
                "aten::bmm",
                "[[96, 3137, 3137], [96, 3137, 64]]",
                "[[9840769, 3137, 1], [200768, 64, 1]]",
            );
            for _ in 0..9 {
                next(&mut made, "unrolled_add", 10);
            }
        }
        made.timeline
    };
    let found = golden("attention", &[layers("cunn_SoftMaxForward", 2)], "TRC011");
    assert_eq!(found.time_lost_ns, Some(6.0 * 220e3));
    assert!(of_rule(&[layers("layer_norm", 2)], "TRC011").is_none(), "no softmax");
    assert!(of_rule(&[layers("cunn_SoftMaxForward", 9)], "TRC011").is_none(), "too much between");
}
