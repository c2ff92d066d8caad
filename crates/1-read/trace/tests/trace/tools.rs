//! Profiles of Proton, XLA and ONNX Runtime, and files of tools that are refused with what to do.

use rockhound_trace::{Error, Format, GpuKind, HostKind, Timeline, WIDTHS};

fn read(name: &str, bytes: &[u8]) -> Result<Timeline, Error> {
    rockhound_trace::read(name, &mut &*bytes)
}

/// Members sorted by name, as Proton writes them: children come first.
const PROTON: &str = r#"[{"children": [{"children": [{"children": [], "frame": {"name": "gemm_kernel", "type": "function"},
 "metrics": {"count": 4, "device_id": "1", "device_type": "HIP", "time (us)": 20.5}}],
 "frame": {"name": "layer", "type": "function"}, "metrics": {"flops16": 2e9, "flops": 5, "bytes": 4096, "mine": 1}},
 {"children": [], "frame": {"name": "cycles_only"}, "metrics": {"cycles": 900, "normalized_cycles": 1.5, "device_id": "0"}}],
 "frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0, "time (us)": 0}},
 {"CUDA": {"0": {"arch": "90", "num_sms": 132}}, "HIP": {"1": {"arch": "gfx942", "num_sms": 304, "clock_rate": 2100000}}}]"#;

#[test]
fn scopes_of_proton() {
    let t = read("x.hatchet", PROTON.as_bytes()).unwrap();
    assert_eq!(t.format, Format::Proton);
    let of = |name: &str| t.scopes.iter().find(|it| t.names.get(it.name) == name).expect(name);
    let names: Vec<&str> = t.scopes.iter().map(|it| t.names.get(it.name)).collect();
    assert_eq!(names, ["ROOT", "layer", "gemm_kernel", "cycles_only"]);
    let kernel = of("gemm_kernel");
    assert_eq!((kernel.calls, kernel.device, kernel.time_ns), (4, Some(1), Some(20_500.0)));
    assert_eq!((kernel.kernel, kernel.parent), (true, Some(1)));
    let layer = of("layer");
    assert_eq!((layer.kernel, layer.bytes, layer.parent), (false, Some(4096.0), Some(0)));
    assert_eq!(WIDTHS.map(|bits| bits), [8, 16, 32, 64, 0]);
    assert_eq!(layer.operations, [0.0, 2e9, 0.0, 0.0, 5.0]);
    assert_eq!(of("cycles_only").cycles, Some(900.0));
    assert!(!of("ROOT").kernel);
    let devices: Vec<_> = t.devices.iter().map(|d| (d.id, d.name.as_str(), d.target.as_str())).collect();
    assert_eq!(devices, [(0, "CUDA 90", ""), (1, "", "gfx942")]);
    assert_eq!(t.problems.len(), 1, "metrics that are not shown: {:?}", t.problems);
    // Cut off anywhere it is an error, and too deep a tree is one.
    for end in 1..PROTON.len() {
        assert!(read("x", &PROTON.as_bytes()[..end]).is_err(), "{end}");
    }
    let deep = r#"[{"children": "#.repeat(5_000);
    assert!(matches!(read("x", deep.as_bytes()), Err(Error::Broken { .. })));
}

#[test]
fn traces_of_proton() {
    let text = r#"{"displayTimeUnit": "us", "traceEvents": [
        {"cat": "scope", "ph": "X", "pid": 0, "tid": 1, "ts": 0, "dur": 40, "name": "layer", "args": {"call_stack": ["ROOT"]}},
        {"cat": "kernel", "ph": "X", "pid": 0, "tid": 1200003, "ts": 20, "dur": 60, "name": "k", "args": {"call_stack": ["k"]}}]}"#;
    let t = read("x.chrome_trace", text.as_bytes()).unwrap();
    assert_eq!(t.format, Format::ProtonTrace);
    assert_eq!((t.queues[0].device, t.queues[0].stream), (1, 3));
    assert_eq!(t.host.kind, [HostKind::Annotation]);
}

#[test]
fn streams_and_operations_of_xla() {
    let text = r#"{"displayTimeUnit": "ns", "metadata": {"highres-ticks": true}, "traceEvents": [
        {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "/device:GPU:1"}},
        {"ph": "M", "pid": 2, "tid": 13, "name": "thread_name", "args": {"name": "Stream #20(Compute,MemcpyD2H)"}},
        {"ph": "M", "pid": 2, "tid": 90, "name": "thread_name", "args": {"name": "XLA Ops"}},
        {"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
        {"ph": "X", "pid": 701, "tid": 5, "ts": 1, "dur": 4, "name": "hipModuleLaunchKernel", "args": {"correlation_id": "7"}},
        {"ph": "X", "pid": 701, "tid": 5, "ts": 0, "dur": 9, "name": "$train.py:12 step"},
        {"ph": "X", "pid": 2, "tid": 13, "ts": 10, "dur": 40, "name": "loop_add_fusion", "args": {"correlation_id": "7"}},
        {"ph": "X", "pid": 2, "tid": 13, "ts": 50, "dur": 5, "name": "MemcpyD2H"},
        {"ph": "X", "pid": 2, "tid": 90, "ts": 10, "dur": 40, "name": "fusion.3"}]}"#;
    let t = read("host.trace.json", text.as_bytes()).unwrap();
    assert_eq!(t.format, Format::Xla);
    assert_eq!(t.gpu.kind, [GpuKind::Kernel, GpuKind::Copy]);
    assert_eq!((t.gpu.correlation[0], t.queues[0].device, t.queues[0].stream), (7, 1, 20));
    assert_eq!(t.host.kind, [HostKind::Runtime, HostKind::Python, HostKind::GpuAnnotation]);
    let sums: Vec<_> =
        t.calls.iter().map(|it| (it.domain.as_str(), t.names.get(it.name), it.total_ns)).collect();
    assert_eq!(sums, [("XLA Ops", "fusion.3", 40_000.0)]);
}

#[test]
fn nodes_of_onnx_runtime() {
    let text = r#"[{"cat": "Session", "pid": 1, "tid": 1, "dur": 900, "ts": 1, "ph": "X", "name": "model_run", "args": {}},
        {"cat": "Node", "pid": 1, "tid": 1, "dur": 2, "ts": 3, "ph": "X", "name": "a_fence_before", "args": {"op_name": "MatMul"}},
        {"cat": "Node", "pid": 1, "tid": 1, "dur": 50, "ts": 5, "ph": "X", "name": "a_kernel_time", "args": {"op_name": "MatMul"}},
        {"cat": "Kernel", "pid": -1, "tid": 7, "dur": 120, "ts": 30, "ph": "X", "name": "Cijk", "args": {"stream": "7", "parent_name": "a_kernel_time"}}]"#;
    let t = read("profile.json", text.as_bytes()).unwrap();
    assert_eq!(t.format, Format::OnnxRuntime);
    assert_eq!(t.host.kind, [HostKind::Annotation, HostKind::Other, HostKind::Operator]);
    assert_eq!(t.names.get(t.host.name[2]), "MatMul");
    assert_eq!(t.gpu.external[0], t.host.external[2]);
    assert_ne!(t.gpu.external[0], 0);
}

#[test]
fn files_of_others_are_named() {
    let plane = b"\x0a\x20\x08\x01\x12\x09/host:CPU\x1a\x05aaaaa";
    let packed = b"\x92\x83\xa5frame\x82\xa4name";
    let rows: [(&str, &[u8], &str); 6] = [
        ("a.pb", plane, "trace.json.gz"),
        ("a.ncu-rep", b"NVR\0abc", "Nsight Compute"),
        (
            "a.csv",
            b"\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n",
            "Nsight Compute",
        ),
        ("a.csv", b"Start (ns),Duration (ns),CorrId,Name\n1,2,3,k\n", "Nsight Systems"),
        ("a.nsys-rep", b"anything", "Nsight Systems"),
        ("a.hatchet", packed, "MessagePack"),
    ];
    for (name, bytes, says) in rows {
        match read(name, bytes) {
            Err(Error::Foreign(text)) => assert!(text.to_string().contains(says), "{name}: {text}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}
