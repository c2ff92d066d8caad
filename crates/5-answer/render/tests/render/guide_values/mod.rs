//! A guide to render, alone and after a change.

use view::{
    Finding, GUIDE_SCHEMA, Guide, GuideChange, GuideChanges, GuideFinding, GuideKernel, GuidePair, GuideStep,
    GuideTotal, GuideVerdict, Number, Severity, StepKind, Verdict,
};

const COPY: &str = "void copy<float, 4>(float const*, float*, unsigned int)";

fn finding(rule: &'static str, severity: Severity, message: &str, lost: f64) -> Finding {
    Finding::new(rule, severity, message, "keep more loads in flight: unroll, load the next values early")
        .of_kernel(COPY, Number::from(81.2), None)
        .with_cost("up to 19.8 us of 52.3 us (38 %)")
        .with_time_lost(Some(lost.into()))
        .with_evidence("waits for data", "59.3 %")
        .with_evidence("latency of reads from L2", "1244 cycles")
}

fn kernel(name: &str, percent: f64, bound: Option<&str>) -> GuideKernel {
    GuideKernel {
        name: name.to_owned(),
        dispatches: 3,
        time_ns: Number::from(percent * 500.0),
        time_trust: None,
        time_percent: Number::from(percent),
        percent_trust: None,
        runtime: (name == "scale").then(|| "a copy (hipMemcpy)".to_owned()),
        bound_by: bound.map(str::to_owned),
        excluded: Vec::new(),
        percent_of_roof: bound
            .map_or_else(|| Number::missing("no rate was recorded"), |_| Number::from(62.0)),
        roof_trust: None,
    }
}

pub(crate) fn guide(compared: bool) -> Guide {
    let waits = finding(
        "MEM012",
        Severity::Warning,
        "the vector L1 waits for data from L2 in 59 % of its cycles",
        19_800.0,
    );
    let gone = finding("MEM010", Severity::Severe, "memory is read 3.1 times", 90_000.0);
    let changes = GuideChanges {
        base: "workloads/copy/MI200".to_owned(),
        total: GuideTotal {
            before_ns: Number::from(57_000.0),
            before_trust: None,
            after_ns: Number::from(21_480.0),
            after_trust: None,
            change_percent: Some(-62.3),
        },
        proposed: Some(GuidePair { old: "plus".to_owned(), new: "fused".to_owned() }),
        kernels: vec![
            GuideChange {
                kernel: COPY.to_owned(),
                before_ns: Number::from(52_300.0),
                before_trust: None,
                after_ns: Number::from(17_440.0),
                after_trust: None,
                change_percent: Some(-66.7),
                trust: Vec::new(),
                beyond_noise: Some(true),
                verdict: Verdict::Better,
                bound_before: Some("HBM".to_owned()),
                bound_now: Some("latency".to_owned()),
                text: "3.0 times as fast; 3.1 times fewer bytes of HBM".to_owned(),
            },
            GuideChange {
                kernel: "scale".to_owned(),
                before_ns: Number::missing("the durations of the dispatches are not known"),
                before_trust: None,
                after_ns: Number::from(900.0),
                after_trust: None,
                change_percent: None,
                trust: Vec::new(),
                beyond_noise: None,
                verdict: Verdict::Neutral,
                bound_before: None,
                bound_now: Some("launch".to_owned()),
                text: "the times are not known".to_owned(),
            },
        ],
        new_kernels: vec!["fused<float>".to_owned()],
        gone_kernels: vec!["hostile\u{1b}[31m name".to_owned()],
        appeared: vec![waits.clone()],
        gone: vec![gone],
    };
    let several = [kernel(COPY, 81.2, Some("HBM")), kernel("scale", 9.1, None)];
    Guide {
        schema: GUIDE_SCHEMA,
        path: "workloads/copy-2/MI200".to_owned(),
        selection: if compared { "-k 'copy.*' -d '>10'".to_owned() } else { String::new() },
        gpu: "MI200 (gfx90a)".to_owned(),
        verdict: GuideVerdict {
            kernel: COPY.to_owned(),
            time_percent: Number::from(81.2),
            headline: "bound by HBM bandwidth".to_owned(),
            bound_by: Some("HBM".to_owned()),
            or: vec!["latency".to_owned()],
            excluded: vec!["L2".to_owned()],
            lacks: vec!["matrix arithmetic".to_owned()],
            notes: vec![
                "judged by the middle 76 of 150 dispatches: 19.5 us to 24.0 us, median 20.1 us".to_owned(),
            ],
            because: "864 GB/s, 62 % of the measured ceiling of 1389".to_owned(),
            percent_of_roof: Number::from(62.0),
            gap: Number::from(1.6),
            roof_trust: None,
            trust: None,
            meaning:
                "more in flight makes it up to 1.6 times as fast; past that only fewer bytes at HBM help"
                    .to_owned(),
        },
        kernels: if compared { several.to_vec() } else { several[..1].to_vec() },
        more_kernels: if compared { 4 } else { 0 },
        changes: compared.then_some(changes),
        findings: vec![GuideFinding { finding: waits, also_in: if compared { 2 } else { 0 } }],
        more_findings: 1,
        steps: vec![
            GuideStep::new(
                StepKind::Record,
                "record the counters of CTR003, which could not be checked",
                "rockhound profile --on gpu -n copy -b 13 -- ./copy --size 1048576 --name 'two words' --iterations 300",
            ),
            GuideStep::new(StepKind::Change, "change the kernel, one finding at a time", ""),
        ],
        caveats: vec!["timestamps.csv: the file is absent; the times are those of the first run".to_owned()],
    }
}
