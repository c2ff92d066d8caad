//! Chrome trace events of tools that name kinds in their own way: Triton's Proton, ONNX Runtime, XLA.

use super::Reader;
use super::event::Event;
use crate::names::Name;
use crate::timeline::{CallSum, Detail, Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue};
use std::collections::{BTreeMap, HashMap};

/// Threads of Proton's GPU streams begin here, and each GPU has a million of them.
const PROTON_STREAMS: u64 = 200_000;
/// Threads of a GPU.
const PROTON_GPU: u64 = 1_000_000;
/// Ending of the event that is a node's run in ONNX Runtime.
const NODE: &[u8] = b"_kernel_time";
/// Ids of nodes, which have none, are above all others.
const NODE_IDS: u64 = 1 << 62;

impl Reader {
    /// Classifies an event of a known tool: kind, name and id.
    pub(super) fn kind_of_tool(&mut self, event: &Event<'_>) -> Option<(HostKind, Name, u64)> {
        let names = &mut self.timeline.names;
        match event.category {
            b"scope" => {
                self.tool = Some(Format::ProtonTrace);
                Some((HostKind::Annotation, names.add_json(event.name), 0))
            }
            b"metric" => {
                self.tool = Some(Format::ProtonTrace);
                Some((HostKind::Other, names.add_json(event.name), 0))
            }
            b"Session" => {
                self.tool = Some(Format::OnnxRuntime);
                Some((HostKind::Annotation, names.add_json(event.name), 0))
            }
            b"Node" => {
                self.tool = Some(Format::OnnxRuntime);
                let name = names.add_json(event.name);
                if !event.name.ends_with(NODE) {
                    return Some((HostKind::Other, name, 0));
                }
                let id = NODE_IDS + self.nodes.len() as u64 + self.events;
                self.nodes.insert(name, id);
                let operator = if event.args.operator.is_empty() {
                    names.add_json(&event.name[..event.name.len() - NODE.len()])
                } else {
                    names.add_json(event.args.operator)
                };
                Some((HostKind::Operator, operator, id))
            }
            b"Api" => Some((HostKind::Runtime, names.add_json(event.name), 0)),
            _ => None,
        }
    }

    /// Queue of a kernel as its tool numbers it, and the id it shares with its operator.
    pub(super) fn of_tool(&mut self, event: &Event<'_>, queue: &mut Queue) -> Option<u64> {
        let args = &event.args;
        if args.device.is_none() && args.stream.is_none() && queue.stream >= PROTON_STREAMS {
            let lane = queue.stream - PROTON_STREAMS;
            *queue = Queue { device: lane / PROTON_GPU, stream: lane % PROTON_GPU };
        }
        if args.parent.is_empty() {
            return None;
        }
        let parent = self.timeline.names.add_json(args.parent);
        self.nodes.get(&parent).copied()
    }

    /// Spans of XLA's GPUs: streams are lanes of a process `/device:GPU:0`, without category.
    pub(super) fn place_xla(&mut self) {
        let mut gpus: HashMap<Name, u64> = HashMap::new();
        for (process, name) in &self.processes {
            let name = self.timeline.names.get(*name);
            if let Some((_, rest)) = name.split_once("/device:GPU:") {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                gpus.insert(*process, digits.parse().unwrap_or(0));
            }
        }
        let is_xla = !gpus.is_empty() && self.timeline.gpu.is_empty();
        if !is_xla {
            return;
        }
        self.tool = Some(Format::Xla);
        let lanes: Vec<Lane> = self
            .timeline
            .threads
            .iter()
            .map(|it| {
                let name = self.timeline.names.get(it.name);
                match gpus.get(&it.process) {
                    Some(device) => Lane::of_gpu(*device, name),
                    None => Lane::Host,
                }
            })
            .collect();
        let spans = std::mem::take(&mut self.timeline.host);
        let mut sums: BTreeMap<(u32, Name), (u64, i64, i64, i64)> = BTreeMap::new();
        for at in 0..spans.len() {
            let span = spans.get(at);
            match lanes.get(span.thread as usize).copied().unwrap_or(Lane::Host) {
                Lane::Stream(queue) => self.xla_span(span, queue),
                Lane::Projected => {
                    let sum = sums.entry((span.thread, span.name)).or_insert((0, 0, i64::MAX, 0));
                    let ns = span.end - span.start;
                    *sum = (sum.0 + 1, sum.1 + ns, sum.2.min(ns), sum.3.max(ns));
                    self.timeline.host.push(HostSpan { kind: HostKind::GpuAnnotation, ..span });
                }
                Lane::Host => {
                    let kind = host_kind(self.timeline.names.get(span.name)).unwrap_or(span.kind);
                    self.timeline.host.push(HostSpan { kind, ..span });
                }
            }
        }
        self.xla_sums(sums);
    }

    /// Sums what XLA derives of the streams, operations above all, as sums by name.
    fn xla_sums(&mut self, sums: BTreeMap<(u32, Name), (u64, i64, i64, i64)>) {
        for ((thread, name), (calls, total, min, max)) in sums {
            let thread = self.timeline.threads.get(thread as usize);
            let domain = thread.map_or("", |thread| self.timeline.names.get(thread.name));
            // Steps, modules and scopes hold what operations are made of.
            if !domain.ends_with("Ops") && !domain.ends_with("Modules") {
                continue;
            }
            self.timeline.calls.push(CallSum {
                domain: domain.to_owned(),
                name,
                thread: None,
                depth: 0,
                calls,
                total_ns: total as f64,
                mean_ns: Some(total as f64 / calls as f64),
                min_ns: Some(min as f64),
                max_ns: Some(max as f64),
                stddev_ns: None,
                self_percent: None,
            });
        }
    }

    fn xla_span(&mut self, span: HostSpan, queue: Queue) {
        let name = self.timeline.names.get(span.name);
        let kind = match () {
            () if name.starts_with("Memcpy") || name.starts_with("CopyD") => GpuKind::Copy,
            () if name.starts_with("Memset") => GpuKind::Set,
            () => GpuKind::Kernel,
        };
        let detail = if kind == GpuKind::Kernel {
            0
        } else {
            self.timeline.add_detail(Detail { direction: span.name, ..Detail::default() })
        };
        let queue = self.timeline.queue(queue);
        self.timeline.gpu.push(GpuSpan {
            start: span.start,
            end: span.end,
            name: span.name,
            kind,
            queue,
            correlation: span.correlation,
            external: 0,
            grid: [0; 3],
            block: [0; 3],
            detail,
        });
    }
}

/// Content of a thread in a trace by XLA.
#[derive(Clone, Copy)]
enum Lane {
    /// A stream of a GPU.
    Stream(Queue),
    /// Modules, operations and names of scopes, projected on the time of the GPU.
    Projected,
    /// Work of the host.
    Host,
}

impl Lane {
    /// `Stream #20(MemcpyD2D,Compute)`, or a lane that XLA derives from streams.
    fn of_gpu(device: u64, name: &str) -> Lane {
        match name.split_once("Stream #") {
            Some((_, rest)) => {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                Lane::Stream(Queue { device, stream: digits.parse().unwrap_or(0) })
            }
            None => Lane::Projected,
        }
    }
}

/// Kind of a span on XLA's host by its name: calls of the runtime, Python functions (`$file.py:12 name`).
fn host_kind(name: &str) -> Option<HostKind> {
    let call = |prefix: &str| {
        name.strip_prefix(prefix).and_then(|rest| rest.chars().next()).is_some_and(char::is_uppercase)
    };
    if call("hip") || name.starts_with("hsa_") || call("cu") || call("cuda") {
        Some(HostKind::Runtime)
    } else if name.starts_with('$') {
        Some(HostKind::Python)
    } else {
        None
    }
}
