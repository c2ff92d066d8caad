//! Real traces of the PyTorch profiler: counts, idle time, stale kernels, grids, collectives, as computed
//! from their events without this code.

use rockhound_timeline::{Launched, Links, Overview, kernels, linked, overviews, together};
use serde_json::Value;
use std::collections::BTreeMap;
use trace::{GpuKind, HostKind, Timeline};

fn read(name: &str) -> Option<Timeline> {
    let path = testkit::shared(&format!("traces/torch/{name}"))?;
    let mut file = std::fs::File::open(path).expect("a shared file");
    Some(trace::read(name, &mut file).expect(name))
}

fn expected() -> Option<Value> {
    let path = testkit::shared("traces/torch/expected.json")?;
    Some(serde_json::from_slice(&std::fs::read(path).expect("a shared file")).expect("JSON"))
}

fn us(ns: i64) -> f64 {
    ns as f64 / 1e3
}

fn close(found: f64, wanted: &Value, what: &str) {
    let wanted = wanted.as_f64().expect(what);
    // The expected sums are of floats near 6.5e12 us, each off by up to a nanosecond.
    assert!((found - wanted).abs() <= 0.002 + wanted.abs() * 2e-6, "{what}: {found}, wanted {wanted}");
}

#[test]
fn every_expected_number() {
    let Some(expected) = expected() else { return };
    for (file, want) in expected.as_object().expect("an object") {
        let Some(timeline) = read(file) else { return };
        let links = Links::of(&timeline);
        let phases = want["by_phase_and_category"].as_object().expect("counts");
        for (kind, count) in phases {
            let found = timeline.counts.iter().find(|(name, _)| name == kind).map_or(0, |(_, n)| *n);
            assert_eq!(Some(found), count.as_u64(), "{file}: {kind}");
        }
        let all = together(&overviews(&timeline, &|_| true));
        check(file, &all, &want["all_gpu_events"]);
        check(file, &together(&linked(&timeline, &links)), &want["linked_gpu_events"]);
        let kernel = |at: &usize| timeline.gpu.kind[*at] == GpuKind::Kernel;
        let gpu = 0..timeline.gpu.len();
        let stale = gpu.clone().filter(|at| links.is_stale(*at));
        assert_eq!(
            Some(stale.clone().filter(kernel).count() as u64),
            want["stale"]["kernels"].as_u64(),
            "{file}"
        );
        let others = stale.filter(|at| !kernel(at)).count() as u64;
        assert_eq!(Some(others), want["stale"]["other"].as_u64(), "{file}");
        let no_grid = gpu.clone().filter(kernel).filter(|at| timeline.gpu.block[*at] == [0; 3]).count();
        assert_eq!(Some(no_grid as u64), want["kernels_without_grid"].as_u64(), "{file}: no grid");
        let no_id = gpu.filter(kernel).filter(|at| timeline.gpu.external[*at] == 0).count();
        assert_eq!(
            Some(no_id as u64),
            want["kernels_without_external_id"].as_u64(),
            "{file}: no external id"
        );
        let launched = Launched::of(&timeline, &links);
        assert_eq!(Some(launched.graphs), want["graph_launches"].as_u64(), "{file}");
        assert_eq!(Some(launched.replayed), want["kernels_replayed_by_graphs"].as_u64(), "{file}");
        let sums = kernels(&timeline, &links);
        let of_kernels: Vec<_> = sums.iter().filter(|k| k.kind == GpuKind::Kernel).collect();
        assert_eq!(Some(of_kernels.len() as u64), want["distinct_kernel_names"].as_u64(), "{file}");
        for (found, want) in of_kernels.iter().zip(want["top_kernels"].as_array().expect("a list")) {
            let name = want["name"].as_str().expect("a name");
            assert!(timeline.names.get(found.name).starts_with(name), "{file}: {name}");
            assert_eq!(Some(found.durations.count), want["calls"].as_u64(), "{file}: {name}");
            close(us(found.durations.total), &want["sum_us"], name);
        }
    }
}

/// Calls, flows, collectives, copies and links, as far as the files have them.
#[test]
fn every_other_expected_number() {
    let Some(expected) = expected() else { return };
    for (file, want) in expected.as_object().expect("an object") {
        let Some(timeline) = read(file) else { return };
        let links = Links::of(&timeline);
        let gpu = &timeline.gpu;
        let kernels = || (0..gpu.len()).filter(|at| gpu.kind[*at] == GpuKind::Kernel);
        let mut calls: BTreeMap<&str, u64> = BTreeMap::new();
        for row in kernels().filter_map(|at| links.launch_of(at)) {
            *calls.entry(timeline.names.get(timeline.host.name[row])).or_default() += 1;
        }
        let wanted: BTreeMap<&str, u64> = want["kernels_by_launch_call"]
            .as_object()
            .expect("calls")
            .iter()
            .map(|(name, count)| (name.as_str(), count.as_u64().expect("a count")))
            .collect();
        assert_eq!(calls, wanted, "{file}");
        let replayed: Vec<u64> =
            rockhound_timeline::graphs(&timeline, &links).iter().map(|it| it.kernels).collect();
        let wanted: Vec<u64> = want["kernels_per_graph_launch"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_u64)
            .collect();
        assert_eq!(replayed, wanted, "{file}");
        // Kernels that say of which collective they are; those launched before the trace do not.
        let mut collectives: Vec<(&str, u64, i64)> = kernels()
            .filter_map(|at| {
                let it = timeline.detail(&gpu.get(at))?.collective.as_ref()?;
                Some((timeline.names.get(it.operation), it.elements_in, gpu.duration(at)))
            })
            .collect();
        assert_eq!(Some(collectives.len() as u64), want["collective_kernels"].as_u64(), "{file}");
        let mut wanted: Vec<(&str, u64, i64)> = want["collectives"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| {
                let us = it["dur_us"].as_f64()?;
                Some((it["name"].as_str()?, it["in"].as_u64()?, (us * 1e3).round() as i64))
            })
            .collect();
        collectives.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(collectives, wanted, "{file}");
        let bytes: Vec<u64> = (0..gpu.len())
            .filter(|at| gpu.kind[*at] == GpuKind::Copy)
            .filter_map(|at| timeline.detail(&gpu.get(at))?.bytes)
            .collect();
        assert_eq!(Some(bytes.iter().sum::<u64>()), want["memcpy_bytes_sum"].as_u64(), "{file}");
        let one = bytes.iter().filter(|bytes| **bytes == 1).count() as u64;
        assert_eq!(Some(one), want["memcpy_with_bytes_1"].as_u64(), "{file}");
        let linked = kernels().filter_map(|at| links.operator_of(at));
        let linked = linked.filter(|row| timeline.host.kind[*row] == HostKind::Operator).count() as u64;
        assert_eq!(Some(linked), want["kernels_linked_to_cpu_op_by_external_id"].as_u64(), "{file}");
        assert_eq!(Some(timeline.devices.len() as u64), want["devices"].as_u64(), "{file}");
        let mut streams: Vec<[u64; 3]> = rockhound_timeline::streams(&timeline)
            .iter()
            .map(|it| [it.queue.device, it.queue.stream, it.spans])
            .collect();
        streams.sort_unstable();
        let mut wanted: Vec<[u64; 3]> = want["pid_device_stream"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|row| [1, 2, 3].map(|at| row[at].as_u64().expect("a number")))
            .collect();
        wanted.sort_unstable();
        assert_eq!(streams, wanted, "{file}");
    }
}

fn check(file: &str, found: &Overview, want: &Value) {
    assert_eq!(Some(found.spans), want["events"].as_u64(), "{file}");
    close(us(found.span), &want["span_us"], file);
    close(us(found.sum), &want["sum_us"], file);
    // Expected ends are sums of floats, each off by up to a nanosecond, so kernels that follow each other seem to overlap.
    let busy = want["busy_union_us"].as_f64().expect(file);
    let off = 0.001 * found.spans as f64;
    assert!((us(found.busy) - busy).abs() < off, "{file}: busy {} {busy}", us(found.busy));
    let idle = want["idle_percent"].as_f64().expect(file);
    let found_idle = found.idle_percent().expect(file);
    assert!((found_idle - idle).abs() < 0.002, "{file}: idle {found_idle} {idle}");
}

#[test]
fn collectives_of_resnet() {
    let Some(timeline) = read("mi300x-resnet-8ranks-rank.json.gz") else { return };
    let links = Links::of(&timeline);
    let all = together(&overviews(&timeline, &|_| true));
    let of_trace = together(&linked(&timeline, &links));
    for (found, wanted) in [
        (all.communicating, 71516.523),
        (all.exposed_communication, 55288.468),
        (of_trace.communicating, 47200.310),
        (of_trace.exposed_communication, 35038.680),
        (of_trace.communicating - of_trace.exposed_communication, 12161.630),
    ] {
        assert!((us(found) - wanted).abs() < 0.05, "{} {wanted}", us(found));
    }
    let list = rockhound_timeline::collectives::collectives(&timeline);
    let mut kinds: Vec<(&str, Option<u64>, u64, u64)> =
        list.iter().map(|c| (c.operation.as_str(), c.bytes, c.ranks, c.durations.count)).collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            ("allreduce", Some(5_746_640), 8, 3),
            ("allreduce", Some(17_632_384), 8, 3),
            ("broadcast", Some(160), 8, 3),
            ("broadcast", Some(19_200), 8, 3)
        ]
    );
    assert_eq!(timeline.rank, Some((0, 8)));
}

#[test]
fn grids_are_workgroups_whatever_launched_them() {
    let Some(timeline) = read("mi300x-resnet-8ranks-rank.json.gz") else { return };
    let name = timeline.names.find("transpose_NCHW2CNHW_V2_2D_WG_off64").or_else(|| {
        let at = timeline.names.iter().position(|n| n.contains("transpose_NCHW2CNHW_V2_2D_WG_off64"))?;
        Some(trace::Name(at as u32))
    });
    let name = name.expect("the kernel whose grid does not divide");
    let grids: Vec<[u32; 3]> = (0..timeline.gpu.len())
        .filter(|at| timeline.gpu.name[*at] == name && timeline.gpu.block[*at] != [0; 3])
        .map(|at| timeline.gpu.grid[at])
        .collect();
    assert!(grids.contains(&[4, 1, 64]), "784 work-items in workgroups of 256 are 4: {grids:?}");
}

#[test]
fn a_captured_graph_is_no_idle_time() {
    let Some(timeline) = read("mi300x-vllm-decode-capture.json.gz") else { return };
    let evidence = rockhound_timeline::TimelineEvidence::gather(&timeline);
    assert!(evidence.is_capture());
    assert!(evidence.launched.without_kernel >= 421, "{:?}", evidence.launched);
}

#[test]
fn products_of_bert() {
    let Some(timeline) = read("mi300x-bert-small.json.gz") else { return };
    let all = rockhound_timeline::gemm::products(&timeline, &Links::of(&timeline));
    let calls: u64 = all.iter().map(|p| p.durations.count).sum();
    assert_eq!(calls, 26, "each launch of hipBLASLt is a product");
    assert!(all.iter().all(|p| p.product.layout == "tn"), "weights of linear layers are transposed");
}
