use super::*;
use crate::hardware::Attach;
use crate::hardware::version::Version;
use std::collections::BTreeMap;

pub(in crate::hardware) fn request(kernels: &[&str], version: [u32; 3]) -> Request {
    Request {
        profiler: "/opt/rocm/bin/rocprofv3".into(),
        tool: Tool::Rocprofv3(Version(version)),
        program: vec!["./app".into(), "-n".into(), "5".into()],
        launcher: None,
        attach: None,
        collection_period: None,
        target: "gfx942".into(),
        plan: Plan {
            passes: vec![
                Pass { level: None, counters: vec!["SQ_WAVES".into(), "TCC_HIT".into()] },
                Pass {
                    level: Some("SQ_IFETCH_LEVEL".into()),
                    counters: ["SQ_IFETCH_LEVEL", ACCUMULATOR, "SQ_IFETCH"].map(str::to_owned).to_vec(),
                },
            ],
        },
        repeat: 1,
        multiplexing: None,
        samples: None,
        trace: None,
        kernels: kernels.iter().map(|it| it.to_string()).collect(),
        iterations: Vec::new(),
        output: "/out".into(),
        resume: false,
        silent: false,
        facts: BTreeMap::new(),
    }
}

/// The command as words, or the missing feature.
fn words(request: &Request, run: &Run<'_>) -> String {
    joined(command(request, run, Path::new("/out/.running")))
}

/// A command as words, or the reason why it cannot be made.
pub(in crate::hardware) fn joined(command: Result<CommandLine, String>) -> String {
    match command {
        Ok(line) => {
            let arguments = line.arguments.iter().map(|it| it.to_string_lossy().into_owned());
            std::iter::once(line.program.display().to_string()).chain(arguments).collect::<Vec<_>>().join(" ")
        }
        Err(error) => error,
    }
}

/// Every command that we write, as the documentation of each version has it.
#[test]
fn command_lines_are_those_of_the_documentation() {
    const NEW: [u32; 3] = [1, 1, 0];
    let out = "--output-directory /out/.running --output-file pass_%pid% --output-format";
    let app = "-- ./app -n 5";
    let plain = Pass { level: None, counters: vec!["SQ_WAVES".into(), "TCC_HIT".into()] };
    let level = request(&[], NEW).plan.passes.remove(1);
    let counters = Run::Counters(&plain);
    let host = Samples { method: "host-trap".into(), interval: 10 };
    let stochastic = Samples { method: "stochastic".into(), interval: 1_048_576 };
    let trace = ThreadTrace { compute_unit: 1, engines: 1, buffer: 1 << 28, dispatches: 2, limit: 1 << 32 };
    let with = |change: &dyn Fn(&mut Request)| {
        let mut request = request(&[], NEW);
        change(&mut request);
        request
    };
    let old = "--pc-sampling-beta-enabled --pc-sampling-method";
    for (request, run, expected) in [
        (request(&[], [0, 5, 0]), counters, format!("{out} csv --pmc SQ_WAVES TCC_HIT {app}")),
        (
            request(&["^a"], NEW),
            counters,
            format!("--kernel-include-regex (^a) {out} csv --pmc SQ_WAVES TCC_HIT {app}"),
        ),
        (
            request(&["a", "b c"], NEW),
            Run::Counters(&level),
            format!(
                "--extra-counters /out/.rockhound-counters.yaml --kernel-include-regex (a)|(b c) {out} csv --pmc SQ_IFETCH_LEVEL_ACCUM SQ_IFETCH {app}"
            ),
        ),
        (
            request(&[], [0, 6, 0]),
            Run::Samples(&host),
            format!(
                "{old} host_trap --pc-sampling-unit time --pc-sampling-interval 10 --kernel-trace {out} json {app}"
            ),
        ),
        (
            request(&[], NEW),
            Run::Samples(&stochastic),
            format!(
                "{old} stochastic --pc-sampling-unit cycles --pc-sampling-interval 1048576 --kernel-trace {out} json {app}"
            ),
        ),
        (
            request(&["gemm"], [1, 0, 0]),
            Run::Trace(&trace),
            format!(
                "--att --att-target-cu 1 --att-shader-engine-mask 0x1 --att-simd-select 0xF --att-buffer-size 268435456 --kernel-include-regex (gemm) --kernel-iteration-range [1-2] --output-directory /out/.running --output-format csv {app}"
            ),
        ),
        (
            with(&|it| it.collection_period = Some("100:500:1".into())),
            counters,
            format!(
                "--collection-period 100:500:1 --collection-period-unit msec {out} csv --pmc SQ_WAVES TCC_HIT {app}"
            ),
        ),
        (
            with(&|it| it.iterations = vec![(2, 5), (9, 9)]),
            counters,
            format!("--kernel-iteration-range [2-5],[9-9] {out} csv --pmc SQ_WAVES TCC_HIT {app}"),
        ),
        (
            with(&|it| {
                it.kernels = vec!["gemm".into()];
                it.iterations = vec![(3, 4)];
            }),
            Run::Trace(&trace),
            format!(
                "--att --att-target-cu 1 --att-shader-engine-mask 0x1 --att-simd-select 0xF --att-buffer-size 268435456 --kernel-include-regex (gemm) --kernel-iteration-range [3-4] --output-directory /out/.running --output-format csv {app}"
            ),
        ),
        (
            with(&|it| it.attach = Some(Attach { pid: 77, milliseconds: 2000 })),
            counters,
            format!("--attach 77 --attach-duration-msec 2000 {out} csv --pmc SQ_WAVES TCC_HIT"),
        ),
    ] {
        assert_eq!(words(&request, &run), format!("/opt/rocm/bin/rocprofv3 {expected}"));
    }
    let ranks = with(&|it| it.launcher = Some(["mpirun", "-n", "4"].map(OsString::from).to_vec()));
    assert_eq!(
        words(&ranks, &counters),
        format!(
            "mpirun -n 4 /opt/rocm/bin/rocprofv3 --output-directory /out/.running/%rank% --output-file pass_%pid% --output-format csv --pmc SQ_WAVES TCC_HIT {app}"
        )
    );
    let rotating = request(&["a"], [1, 0, 0]);
    assert_eq!(
        words(&rotating, &Run::Rotating(&rotating.plan.passes)),
        format!(
            "/opt/rocm/bin/rocprofv3 --extra-counters /out/.rockhound-counters.yaml --kernel-include-regex (a) {out} csv --input /out/.rockhound-groups.json {app}"
        )
    );
    // A missing feature is reported, with the version that has it.
    let attached = Request {
        tool: Tool::Rocprofv3(Version([1, 0, 0])),
        ..with(&|it| it.attach = Some(Attach { pid: 7, milliseconds: 1 }))
    };
    let missing = [
        words(&request(&[], [0, 6, 0]), &Run::Samples(&stochastic)),
        words(&request(&[], [0, 6, 0]), &Run::Trace(&trace)),
        words(&attached, &counters),
    ];
    testkit::golden("missing features", &missing.join("\n"));
}

#[test]
fn levels_are_defined_as_sums() {
    let text = extra_counters(&request(&[], [1, 0, 0]).plan, "gfx942");
    assert_eq!(text.matches("- name:").count(), 1);
    assert!(text.contains("  - name: SQ_IFETCH_LEVEL_ACCUM\n"), "{text}");
    assert!(
        text.contains("      - gfx942\n      expression: accumulate(SQ_IFETCH_LEVEL, HIGH_RES)\n"),
        "{text}"
    );
}

#[test]
fn passes_that_dispatches_take_turns_at_are_a_prime_number_of_groups() {
    let request = request(&[], [1, 0, 0]);
    let expected = "{\n  \"jobs\": [\n    {\n      \"pmc_group_interval\": 1,\n      \"pmc_groups\": [\n        [\n          \"SQ_WAVES\",\n          \"TCC_HIT\"\n        ],\n        [\n          \"SQ_IFETCH_LEVEL_ACCUM\",\n          \"SQ_IFETCH\"\n        ]\n      ]\n    }\n  ]\n}\n";
    assert_eq!(groups(&request.plan.passes), expected);
    let one = &request.plan.passes[..1];
    for (passes, expected) in [(1, 1), (2, 2), (4, 5), (12, 13), (13, 13)] {
        let text = groups(&vec![one[0].clone(); passes]);
        assert_eq!(text.matches("SQ_WAVES").count(), expected, "{passes}");
    }
}

/// Every kind of run for every version whose arguments differ, with the input files: `golden.txt`, which
/// `UPDATE_GOLDEN=1` rewrites.
#[test]
fn commands_and_input_files_are_the_golden_ones_of_each_version() {
    let level = request(&[], [1, 0, 0]).plan.passes.remove(1);
    let plain = Pass { level: None, counters: vec!["SQ_WAVES".into(), "TCC_HIT".into()] };
    let host = Samples { method: "host-trap".into(), interval: 10 };
    let stochastic = Samples { method: "stochastic".into(), interval: 1_048_576 };
    let trace = ThreadTrace { compute_unit: 1, engines: 1, buffer: 1 << 28, dispatches: 2, limit: 1 << 32 };
    let mut text = String::new();
    for version in [[0, 5, 0], [0, 6, 0], [1, 0, 0], [1, 1, 0], [1, 3, 5]] {
        let request = request(&["gemm"], version);
        let attached =
            Request { attach: Some(Attach { pid: 77, milliseconds: 2000 }), ..self::request(&[], version) };
        let periodic = Request { collection_period: Some("100:500:1".into()), ..self::request(&[], version) };
        let ranks = Request {
            launcher: Some(["srun", "-n4"].map(OsString::from).to_vec()),
            ..self::request(&[], version)
        };
        let [major, minor, patch] = version;
        text += &format!("# rocprofv3 {major}.{minor}.{patch}\n");
        for (name, request, run) in [
            ("counters", &request, Run::Counters(&plain)),
            ("level", &request, Run::Counters(&level)),
            ("turns", &request, Run::Rotating(&request.plan.passes)),
            ("host-trap", &request, Run::Samples(&host)),
            ("stochastic", &request, Run::Samples(&stochastic)),
            ("thread trace", &request, Run::Trace(&trace)),
            ("attach", &attached, Run::Counters(&plain)),
            ("period", &periodic, Run::Counters(&plain)),
            ("ranks", &ranks, Run::Counters(&plain)),
        ] {
            text += &format!("{name}: {}\n", words(request, &run));
        }
    }
    let request = request(&[], [1, 0, 0]);
    text += &format!("# {EXTRA_COUNTERS}\n{}", extra_counters(&request.plan, "gfx942"));
    text += &format!("# {GROUPS}\n{}", groups(&request.plan.passes));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/hardware/rocprofv3/golden.txt");
    testkit::golden_file(file, &text);
}
