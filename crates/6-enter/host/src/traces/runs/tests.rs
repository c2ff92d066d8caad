use super::*;
use trace::{GpuKind, GpuSpan, Queue};

/// A trace with a kernel that starts at each of these times, ns.
fn made(path: &str, format: Format, starts: &[i64]) -> Trace {
    let mut timeline = Timeline::new(format);
    let (name, queue) = (timeline.names.add("k"), timeline.queue(Queue { device: 0, stream: 0 }));
    for start in starts {
        timeline.gpu.push(GpuSpan {
            start: *start,
            end: start + 10,
            name,
            kind: GpuKind::Kernel,
            queue,
            correlation: 0,
            external: 0,
            grid: [0; 3],
            block: [0; 3],
            detail: 0,
        });
    }
    Trace { path: path.into(), timeline }
}

#[test]
fn names_of_runs() {
    for (file, name) in [
        ("a_kernel_trace.csv", "a"),
        ("kernel_trace.csv", ""),
        ("123_memory_copy_trace.csv", "123"),
        ("out_results.json", "out"),
        ("results.json", ""),
        ("results.db", ""),
        ("results.hip_stats.csv", ""),
        ("a.stats.csv", "a"),
        ("kernel_trace_mine.csv", "mine"),
        ("a.csv", "a"),
        ("a_results.pftrace", "a"),
        ("trace", "trace"),
    ] {
        assert_eq!(name_of(file), name, "{file}");
    }
    for (file, name) in
        [("wall_clock-31.txt", "31"), ("perfetto-trace-7.proto", "7"), ("wall_clock.json", "")]
    {
        assert_eq!(process_of(file), name, "{file}");
    }
    assert_eq!(without_digits("rank12_a3"), without_digits("rank4_a0"));
}

#[test]
fn forms_of_a_run_are_one_and_other_runs_are_not() {
    use Format::{
        Kineto, Rocprofv1Csv, Rocprofv1Database, Rocprofv1Json, Rocprofv3Csv, Rocprofv3Json, Stats,
    };
    type Files<'a> = &'a [(&'a str, Format, &'a [i64])];
    type Cases<'a> = &'a [(Files<'a>, &'a [(&'a str, usize, usize)], bool)];
    let cases: Cases<'_> = &[
        // Tables of one run.
        (
            &[("f/a_kernel_trace.csv", Rocprofv3Csv, &[5]), ("f/a_hip_api_trace.csv", Rocprofv3Csv, &[])],
            &[("f", 1, 0)],
            false,
        ),
        // One run in three forms, and another one.
        (
            &[
                ("f/results.db", Rocprofv1Database, &[5, 6]),
                ("f/results.json", Rocprofv1Json, &[5, 6]),
                ("f/results.stats.csv", Stats, &[]),
            ],
            &[("f/results.json", 2, 2)],
            false,
        ),
        // The same name at another time.
        (
            &[("f/results.csv", Rocprofv1Csv, &[5]), ("f/results.json", Rocprofv1Json, &[50_000])],
            &[("f/results.json", 1, 0), ("f", 1, 0)],
            true,
        ),
        // Names and times of runs.
        (
            &[("f/a_kernel_trace.csv", Rocprofv3Csv, &[5]), ("f/b_kernel_trace.csv", Rocprofv3Csv, &[6])],
            &[("f/a", 1, 0), ("f/b", 1, 0)],
            true,
        ),
        (
            &[
                ("f/h/12_kernel_trace.csv", Rocprofv3Csv, &[5]),
                ("f/h/130_kernel_trace.csv", Rocprofv3Csv, &[6]),
            ],
            &[("f/h/12", 1, 0), ("f/h/130", 1, 0)],
            false,
        ),
        (
            &[
                ("f/h/12_kernel_trace.csv", Rocprofv3Csv, &[5]),
                ("f/h/13_kernel_trace.csv", Rocprofv3Csv, &[60]),
            ],
            &[("f/h/12", 1, 0), ("f/h/13", 1, 0)],
            true,
        ),
        // The same spans under another name.
        (
            &[("f/x.json", Rocprofv3Json, &[5, 6]), ("f/y.csv", Rocprofv3Csv, &[6, 5])],
            &[("f/x.json", 2, 1)],
            false,
        ),
        // Ranks of PyTorch are told by its own names.
        (
            &[("f/x.json", Kineto, &[5]), ("f/y.json", Kineto, &[5000])],
            &[("f/x.json", 1, 0), ("f/y.json", 1, 0)],
            false,
        ),
    ];
    for (files, want, refused) in cases {
        let traces = files.iter().map(|(path, format, starts)| made(path, *format, starts)).collect();
        let all = joined(traces, Some(Path::new("f")));
        let found: Vec<(String, usize, usize)> = all
            .iter()
            .map(|it| (it.path.display().to_string(), it.timeline.gpu.len(), it.timeline.problems.len()))
            .collect();
        let want: Vec<_> =
            want.iter().map(|(path, spans, notes)| ((*path).to_owned(), *spans, *notes)).collect();
        assert_eq!(found, want, "{files:?}");
        assert_eq!(refusal(Path::new("f"), &all).is_some(), *refused, "{files:?}");
    }
}

#[test]
fn a_refusal_says_what_to_type() {
    let traces = vec![
        made("f/a_kernel_trace.csv", Format::Rocprofv3Csv, &[5]),
        made("f/b_kernel_trace.csv", Format::Rocprofv3Csv, &[60]),
    ];
    let text = refusal(Path::new("f"), &joined(traces, Some(Path::new("f")))).unwrap().to_string();
    for part in
        ["2 runs of their own: `a` (1 GPU span), `b`", "not run at the same time", "trace f/b --base f/a`"]
    {
        assert!(text.contains(part), "{text}");
    }
}
