//! Files of every tool in the shared data, against the numbers of their notes.

use rockhound_trace::{GpuKind, HostKind, Timeline};
use serde_json::Value;
use std::collections::BTreeMap;
use view::NoteKind;

fn open(path: &str) -> Option<Result<Timeline, rockhound_trace::Error>> {
    let found = testkit::shared(&format!("traces/{path}"))?;
    let mut file = std::fs::File::open(found).expect("a shared file");
    Some(rockhound_trace::read(path, &mut file))
}

fn read(path: &str) -> Option<Timeline> {
    open(path).map(|it| it.unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// Calls and time by name.
fn sums(timeline: &Timeline) -> BTreeMap<&str, (u64, i64)> {
    let mut out: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
    let gpu = (0..timeline.gpu.len()).map(|at| (timeline.gpu.name[at], timeline.gpu.duration(at)));
    let host = (0..timeline.host.len()).map(|at| (timeline.host.name[at], timeline.host.duration(at)));
    for (name, ns) in gpu.chain(host) {
        let sum = out.entry(timeline.names.get(name)).or_default();
        *sum = (sum.0 + 1, sum.1 + ns);
    }
    out
}

fn span(timeline: &Timeline) -> i64 {
    timeline.gpu.end.iter().max().unwrap() - timeline.gpu.start.iter().min().unwrap()
}

fn total(timeline: &Timeline) -> i64 {
    (0..timeline.gpu.len()).map(|at| timeline.gpu.duration(at)).sum()
}

#[test]
fn rocprofv3_json() {
    for (file, dispatches, spans, sum, nccl) in [
        ("rocprofv3/mi350x-training-cut_results.json", 500, 5_022_246_315, 890_312_791, (15, 887_784_696)),
        (
            "rocprofv3/mi350x-training_results.json.gz",
            43_915,
            15_122_023_494,
            4_441_741_378,
            (1_310, 4_158_756_678),
        ),
    ] {
        let Some(t) = read(file) else { return };
        assert_eq!((t.gpu.len(), span(&t), total(&t)), (dispatches, spans, sum), "{file}");
        assert!(t.problems.is_empty(), "{:?}", t.problems);
        let sums = sums(&t);
        let found = sums.iter().find(|(name, _)| name.starts_with("ncclDevKernel_Generic_1"));
        assert_eq!(found.map(|(_, sum)| *sum), Some(nccl), "{file}");
        assert_eq!(t.devices.len(), 8);
        let gpu = &t.devices[0];
        assert_eq!(
            (gpu.name.as_str(), gpu.target.as_str(), gpu.compute_units),
            ("AMD Instinct MI350X", "gfx950", 256)
        );
        assert!(t.queues.iter().all(|q| q.device == 2), "one agent worked: {:?}", t.queues);
    }
    let Some(t) = read("rocprofv3/mi350x-training_results.json.gz") else { return };
    let queues: std::collections::BTreeSet<u64> = t.queues.iter().map(|q| q.stream).collect();
    assert_eq!(queues, (16..=20).collect());
    assert!(t.facts.contains(&("streams".to_owned(), "567".to_owned())), "{:?}", t.facts);
    let earlier = t.gpu.start.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert_eq!(earlier, 1_937, "records are kept in the order of the file");
}

#[test]
fn rocprofv3_csv() {
    for (file, rows, ns) in [
        ("kernel_trace", 9, 96_160),
        ("kernel_trace_truncated", 4, 44_840),
        ("hip_trace", 17, 476_345_901),
        ("hip_runtime_trace", 8, 972_177_644),
        ("hip_compile_trace", 5, 44_990),
        ("hsa_api_trace", 10, 13_473),
        ("hsa_core_api_trace", 32, 108_547_274),
        ("marker_api_trace", 5, 4_962_639),
        ("memory_copy_trace", 4, 329_162),
        ("memory_allocation_trace", 4, 430_862),
        ("scratch_memory_trace", 2, 609_107_599),
        ("rccl_trace", 21, 430_140_109),
        ("rocdecode_api_trace", 6, 881_421_797),
        ("rocjpeg_api_trace", 4, 218_830_427),
        ("rocpd-to-csv", 13, 173_915_064),
        ("rocpd-kernel-trace-openmp", 9, 551_280),
    ] {
        let Some(t) = read(&format!("rocprofv3/csv/{file}.csv")) else { return };
        let spans = sums(&t);
        let (mut count, mut time) = spans.values().fold((0, 0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
        count += t.allocations.len() as u64;
        time += t.allocations.iter().map(|a| a.end - a.start).sum::<i64>();
        assert_eq!((count, time), (rows, ns), "{file}");
        assert!(t.problems.is_empty(), "{file}: {:?}", t.problems);
    }
    let Some(t) = read("rocprofv3/csv/kernel_trace.csv") else { return };
    assert_eq!(t.gpu.grid[0], [16, 1024, 1], "1024 x 1024 work-items in workgroups of 64 x 1");
    assert_eq!(t.queues[0].device, 4);
    let Some(t) = read("rocprofv3/csv/counter_collection.csv") else { return };
    assert_eq!((t.gpu.len(), t.counters[0].dispatches, t.counters[0].sum), (4, 4, 4.0 * 16384.0));
    for (file, reason) in
        [("kernel_names", "no start and end times"), ("pc_sampling_host_trap", "no durations")]
    {
        let Some(error) = open(&format!("rocprofv3/csv/{file}.csv")) else { return };
        let error = error.expect_err(file).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn rocprof_version_1() {
    let Some(t) = read("rocprofv1/hip-trace/results.json") else { return };
    let count = |kind: GpuKind| t.gpu.kind.iter().filter(|k| **k == kind).count();
    assert_eq!((t.host.len(), count(GpuKind::Copy), count(GpuKind::Kernel)), (135, 6, 1));
    let by_name = sums(&t);
    let host: i64 = (0..t.host.len()).map(|at| t.host.duration(at)).sum();
    assert_eq!(host, 285_689_160);
    assert_eq!(by_name["hipMemcpyWithStream"], (6, 276_004_952));
    assert_eq!(by_name["CopyDeviceToHost"], (4, 671_961));
    assert_eq!(by_name["CopyHostToDevice"], (2, 14_720));
    assert_eq!(by_name["elementwise_kernel"], (1, 5_280));
    assert_eq!(t.queues[t.gpu.queue[t.gpu.len() - 1] as usize].device, 2);
    let Some(db) = read("rocprofv1/hip-trace/results.db") else { return };
    assert_eq!(sums(&db)["hipMemcpyWithStream"], (6, 276_004_952));
    assert_eq!(sums(&db)["elementwise_kernel"], (1, 5_280));
    let Some(t) = read("rocprofv1/hsa-trace/results.csv") else { return };
    assert_eq!(
        (t.gpu.duration(0), t.gpu.grid[0]),
        (7_840, [1, 1, 1]),
        "a grid of 256 work-items is one workgroup"
    );
    assert_eq!(t.gpu.start[0] - t.host.start[0], 49_484);
    let Some(t) = read("rocprofv1/hip-trace/results.hip_stats.csv") else { return };
    let total: f64 = t.calls.iter().map(|c| c.total_ns).sum();
    assert_eq!((t.calls.len(), total), (14, 285_689_160.0));
}

#[test]
fn rocpd() {
    let Some(path) = testkit::shared("traces/rocpd/expected.json") else { return };
    let expected: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for (file, want) in expected.as_object().unwrap() {
        let Some(t) = read(&format!("rocpd/{file}")) else { return };
        let kernels: Vec<usize> = (0..t.gpu.len()).filter(|at| t.gpu.kind[*at] == GpuKind::Kernel).collect();
        assert_eq!(Some(kernels.len() as u64), want["dispatches"].as_u64(), "{file}");
        let sum: i64 = kernels.iter().map(|at| t.gpu.duration(*at)).sum();
        assert_eq!(Some(sum), want["sum_ns"].as_i64(), "{file}");
        let by_name = sums(&t);
        for (name, pair) in want["kernels"].as_object().unwrap() {
            let found = by_name[name.as_str()];
            assert_eq!((Some(found.0), Some(found.1)), (pair[0].as_u64(), pair[1].as_i64()), "{name}");
        }
        let copies: Vec<u64> = (0..t.gpu.len())
            .filter(|at| t.gpu.kind[*at] == GpuKind::Copy)
            .filter_map(|at| t.detail(&t.gpu.get(at)).and_then(|d| d.bytes))
            .collect();
        assert_eq!((copies.len(), copies.iter().sum::<u64>()), (6, 66_060_288), "{file}");
        assert_eq!(t.allocations.len(), 5, "{file}");
        assert_eq!(t.allocations.iter().filter(|a| a.scratch).count(), 2, "{file}");
        assert!(t.problems.is_empty(), "{:?}", t.problems);
        // A launch and its kernel share the stack id.
        let launches: std::collections::HashSet<u64> = t.host.correlation.iter().copied().collect();
        assert!(kernels.iter().all(|at| launches.contains(&t.gpu.correlation[*at])), "{file}");
        let markers = (0..t.host.len()).filter(|at| t.host.kind[*at] == HostKind::Annotation);
        let texts: Vec<&str> = markers.map(|at| t.names.get(t.host.name[at])).collect();
        assert!(texts.contains(&"epoch") && !texts.contains(&"roctxThreadRangeA"), "{texts:?}");
        let environment = t.environment.as_deref().unwrap_or_default();
        assert!(environment.iter().any(|(k, v)| k == "HIP_FORCE_DEV_KERNARG" && v == "1"), "{environment:?}");
    }
    let Some(t) = read("rocpd/made-mi350x_results.db") else { return };
    let counters: Vec<(&str, u64, f64)> =
        t.counters.iter().map(|c| (t.names.get(c.name), c.dispatches, c.sum)).collect();
    assert_eq!(
        counters,
        [("GRBM_GUI_ACTIVE", 40, 341_442.0), ("SQ_WAVES", 40, 21_728.0), ("TCC_HIT", 40, 130_368.0)]
    );
    assert_eq!(span(&t).max(5_022_246_315), span(&t));
}

#[test]
fn perfetto() {
    let Some(path) = testkit::shared("traces/perfetto/expected.json") else { return };
    let expected: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for (file, want) in expected.as_object().unwrap() {
        let Some(t) = read(&format!("perfetto/{file}")) else { return };
        let by_name = sums(&t);
        let slices = want["slices"].as_object().unwrap();
        assert_eq!(by_name.len(), slices.len(), "{file}: {:?}", by_name.keys());
        for (name, pair) in slices {
            let found = by_name[name.as_str()];
            assert_eq!(
                (Some(found.0), Some(found.1)),
                (pair[0].as_u64(), pair[1].as_i64()),
                "{file}: {name}"
            );
        }
        let counts: BTreeMap<&str, u64> = t.counts.iter().map(|(n, c)| (n.as_str(), *c)).collect();
        for (name, key) in [
            ("counter points", "counter_points"),
            ("flows", "flows"),
            ("packets", "packets"),
            ("tracks", "tracks"),
        ] {
            assert_eq!(Some(counts[name]), want[key].as_u64(), "{file}: {name}");
        }
        assert!(t.problems.is_empty(), "{:?}", t.problems);
    }
    let Some(t) = read("perfetto/made-cut.proto") else { return };
    let cut: Vec<_> = t.problems.iter().filter(|p| p.kind == NoteKind::Error).collect();
    assert_eq!(cut.len(), 1);
    assert!(cut[0].text.starts_with("byte 71"), "{cut:?}");
    assert!(t.gpu.len() > 200, "{}", t.gpu.len());
}

#[test]
fn summary_of_rocprofv3() {
    let Some(t) = read("rocprofv3/csv/summary.txt") else { return };
    let of = |domain: &str| t.calls.iter().filter(|it| it.domain == domain).collect::<Vec<_>>();
    let kernels = of("kernels");
    assert_eq!(kernels.len(), 4);
    assert_eq!((kernels[0].calls, kernels[0].total_ns, kernels[0].min_ns), (8, 184_324.0, Some(11_200.0)));
    assert!(t.names.get(kernels[0].name).starts_with("void addition_kernel<float>(float*,"));
    assert_eq!(of("memory copies").iter().map(|it| it.calls).collect::<Vec<_>>(), [16, 8]);
    assert!(t.problems.iter().all(|it| it.kind == NoteKind::Info), "{:?}", t.problems);
}

#[test]
fn rocprof_sys() {
    let row = |t: &Timeline, thread: u32, name: &str| {
        let found = t.calls.iter().find(|c| t.names.get(c.name) == name && c.thread == Some(thread));
        found.unwrap_or_else(|| panic!("{name}")).clone()
    };
    let Some(t) = read("rocprofsys/wall_clock-openmp-cg.txt") else { return };
    let main = row(&t, 0, "main");
    assert_eq!((main.total_ns, main.self_percent), (13.360265 * 1e9, Some(18.2)));
    let grad = row(&t, 0, "conj_grad");
    assert_eq!((grad.calls, grad.total_ns, grad.mean_ns), (76, 10.641165 * 1e9, Some(0.140015 * 1e9)));
    let Some(t) = read("rocprofsys/wall_clock-openmp-cg.json") else { return };
    for (name, ns) in [("main", 894_743_517.0), ("read_input", 9_808.0), ("setcoeff", 922.0)] {
        assert_eq!(row(&t, 0, name).total_ns, ns, "{name}");
    }
    assert_eq!(t.calls.len(), 5);
    assert!(t.problems.iter().any(|p| p.text.contains("no rows")), "{:?}", t.problems);
    let Some(t) = read("rocprofsys/wall_clock-jacobi-cxx-flat.txt") else { return };
    assert_eq!(t.calls.len(), 13);
    assert_eq!(row(&t, 0, "Jacobi_t::Run").total_ns, 0.490124 * 1e9);
    let Some(t) = read("rocprofsys/wall_clock-jacobi-fortran-flat.txt") else { return };
    let call = row(&t, 0, "mbind");
    assert_eq!((call.calls, call.total_ns), (9_094, 0.047982 * 1e9));
    let call = row(&t, 0, "MEMORY_COPY_DEVICE_TO_DEVICE");
    assert_eq!((call.calls, call.total_ns), (63_014, 0.009603 * 1e9));
    let Some(t) = read("rocprofsys/wall_clock-jacobi-cxx-tree.txt") else { return };
    assert!(
        t.calls.iter().any(|c| t.names.get(c.name).starts_with("__omp_offloading")),
        "a name may begin with _"
    );
    let Some(error) = open("rocprofsys/metadata-invalid-as-documented.json") else { return };
    assert!(error.is_err());
}
