//! Files of other profilers that are not read, told by their first bytes, with what to do in place.

/// Words that a file of a tool has among its first bytes, all of them, and what to say of it.
const FOREIGN: [(&[&str], &str); 5] = [
    (&["Process ID", "Metric Name", "Metric Value"], NCU),
    (&["Kernel Name", "Section Name", "Metric Name"], NCU),
    (&["Start (ns)", "Duration (ns)", "CorrId"], NSYS),
    (&["Time (%)", "Total Time (ns)", "Instances"], NSYS),
    (
        &["\"schema\"", "\"nodes\"", "\"ctrl_deps\""],
        "an execution trace (Chakra) has no times of the GPU; give the profiler's trace of the same run",
    ),
];

/// Advice on what to do with XLA's protobuf.
const XPLANE: &str = "an XSpace protobuf (`*.xplane.pb`) of JAX or TensorFlow is not read; read the `*.trace.json.gz` beside it";
/// Advice on what to do with Nsight Compute's tables.
const NCU: &str = "counters of Nsight Compute, of NVIDIA GPUs, are not read; `rockhound analyze` reads counters of rocprofv3";
/// Advice on what to do with Nsight Systems' tables and databases.
pub(crate) const NSYS: &str =
    "an export of Nsight Systems, of NVIDIA GPUs, is not read; a PyTorch profiler's trace of such a GPU is";

/// Returns what to say of a file that another tool wrote and that is not read.
pub(crate) fn named(name: &str, head: &[u8]) -> Option<&'static str> {
    let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
    let ends = |ending: &str| name.to_ascii_lowercase().ends_with(ending);
    // The protobuf of XLA begins with a plane, whose name is a path of a device.
    let plane = head.first() == Some(&0x0a)
        && [
            "/host:CPU",
            "/host:metadata",
            "/device:GPU:",
            "/device:TPU:",
            "/host:TFStreamz",
            "/device:CUSTOM",
        ]
        .iter()
        .any(|path| within(head, path));
    if plane || ends(".xplane.pb") {
        return Some(XPLANE);
    }
    if head.starts_with(b"NVR\0") || ends(".ncu-rep") {
        return Some(NCU);
    }
    if ends(".nsys-rep") || ends(".qdrep") {
        return Some(NSYS);
    }
    FOREIGN.iter().find(|(words, _)| words.iter().all(|word| has(word))).map(|(_, text)| *text)
}

/// True if a path is near the beginning.
fn within(head: &[u8], path: &str) -> bool {
    let begin = head.get(..head.len().min(64)).unwrap_or_default();
    memchr::memmem::find(begin, path.as_bytes()).is_some()
}
