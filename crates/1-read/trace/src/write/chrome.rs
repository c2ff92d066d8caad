//! Chrome trace events, in the words of PyTorch's profiler, so that its readers take them too.

use crate::timeline::{GpuKind, HostKind, Timeline};
use std::fmt::Write;

/// Bytes after which a piece is handed out.
const PIECE: usize = 1 << 20;

/// Writes a timeline, a piece at a time.
pub fn chrome<E>(timeline: &Timeline, take: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let mut out = String::from("{\"schemaVersion\": 1, \"deviceProperties\": [");
    for (at, device) in timeline.devices.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let _ = write!(out, "{comma}{{\"id\": {}, \"name\": ", device.id);
        string(&mut out, &device.name);
        let _ = write!(out, ", \"numSms\": {}}}", device.compute_units);
    }
    out.push(']');
    if let Some((rank, world)) = timeline.rank {
        let _ = write!(out, ", \"distributedInfo\": {{\"rank\": {rank}, \"world_size\": {world}}}");
    }
    out.push_str(", \"traceEvents\": [\n");
    let names = |name| timeline.names.get(name);
    for queue in &timeline.queues {
        let _ = writeln!(
            out,
            "{{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": {0}, \"tid\": 0, \"args\": {{\"name\": \"GPU {0}\"}}}},\n\
             {{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": {0}, \"tid\": {1}, \"args\": {{\"name\": \"stream {1}\"}}}},",
            queue.device, queue.stream
        );
    }
    for at in 0..timeline.gpu.len() {
        let span = timeline.gpu.get(at);
        let category = match span.kind {
            GpuKind::Kernel => "kernel",
            GpuKind::Copy => "gpu_memcpy",
            GpuKind::Set => "gpu_memset",
        };
        let queue = timeline.queues.get(span.queue as usize);
        let (device, stream) = queue.map_or((0, 0), |q| (q.device, q.stream));
        begin(&mut out, category, names(span.name), span.start, span.end);
        let _ = write!(
            out,
            ", \"pid\": {device}, \"tid\": {stream}, \"args\": {{\"device\": {device}, \"stream\": {stream}, \
             \"correlation\": {}",
            span.correlation
        );
        if span.external != 0 {
            let _ = write!(out, ", \"External id\": {}", span.external);
        }
        if span.block != [0; 3] {
            let _ = write!(out, ", \"grid\": {:?}, \"block\": {:?}", span.grid, span.block);
        }
        if let Some(bytes) = timeline.detail(&span).and_then(|detail| detail.bytes) {
            let _ = write!(out, ", \"bytes\": {bytes}");
        }
        out.push_str("}},\n");
        if out.len() >= PIECE {
            take(&out)?;
            out.clear();
        }
    }
    for at in 0..timeline.host.len() {
        host(&mut out, timeline, at);
        if out.len() >= PIECE {
            take(&out)?;
            out.clear();
        }
    }
    // The last element needs no comma behind it.
    out.push_str("{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": 0, \"tid\": 0, \"args\": {\"sort_index\": 0}}\n]}\n");
    take(&out)
}

fn host(out: &mut String, timeline: &Timeline, at: usize) {
    let names = |name| timeline.names.get(name);
    let span = timeline.host.get(at);
    let category = match span.kind {
        HostKind::Operator => "cpu_op",
        HostKind::Python => "python_function",
        HostKind::Runtime | HostKind::Collective => "cuda_runtime",
        HostKind::Annotation => "user_annotation",
        HostKind::GpuAnnotation => "gpu_user_annotation",
        HostKind::Other => "other",
        HostKind::Overhead => "overhead",
    };
    begin(out, category, names(span.name), span.start, span.end);
    let thread = timeline.threads.get(span.thread as usize);
    let (process, thread) = thread.map_or(("", ""), |t| (names(t.process), names(t.thread)));
    out.push_str(", \"pid\": ");
    number_or_string(out, process);
    out.push_str(", \"tid\": ");
    number_or_string(out, thread);
    let _ = write!(out, ", \"args\": {{\"correlation\": {}", span.correlation);
    if span.external != 0 {
        let _ = write!(out, ", \"External id\": {}", span.external);
    }
    if let Some(shapes) = (span.shapes as usize).checked_sub(1).and_then(|at| timeline.shapes.get(at)) {
        for (key, value) in
            [("Input Dims", shapes.dims), ("Input type", shapes.types), ("Input Strides", shapes.strides)]
        {
            // Shapes are kept as the JSON they were.
            if !value.is_none() {
                let _ = write!(out, ", \"{key}\": {}", names(value));
            }
        }
    }
    out.push_str("}},\n");
}

fn begin(out: &mut String, category: &str, name: &str, start: i64, end: i64) {
    let _ = write!(out, "{{\"ph\": \"X\", \"cat\": \"{category}\", \"name\": ");
    string(out, name);
    let _ = write!(out, ", \"ts\": {}, \"dur\": {}", Micro(start), Micro(end - start));
}

/// Nanoseconds as microseconds with three decimals.
struct Micro(i64);

impl std::fmt::Display for Micro {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let ns = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:03}", ns / 1000, ns % 1000)
    }
}

fn number_or_string(out: &mut String, text: &str) {
    let digits = !text.is_empty() && text.len() < 18 && text.bytes().all(|b| b.is_ascii_digit());
    if digits && (text.len() == 1 || !text.starts_with('0')) {
        out.push_str(text);
    } else {
        string(out, text);
    }
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
