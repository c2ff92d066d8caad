//! Events of rocprof version 1: what the name of their process says, with exact times as arguments and flows from calls to
//! what they start.

use super::Reader;
use super::event::Event;
use crate::names::Name;
use crate::row_text::{bytes, is_barrier, note_barriers};
use crate::timeline::{Detail, Device, Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue};
use rocprof::json::nanoseconds;
use std::collections::HashMap;

/// Nanoseconds of the unit of `ts`.
const US: i64 = 1000;

/// A span whose process determines its kind.
pub(super) struct Exact {
    process: Name,
    gpu: GpuSpan,
    host: HostSpan,
    /// Bytes that a call of a copy names.
    bytes: Option<u64>,
}

/// An end of an arrow from a call to what it starts.
pub(super) struct FlowEnd {
    id: u64,
    thread: u32,
    /// Time, us.
    at: i64,
    is_start: bool,
}

/// Facts of an agent in `otherData`, by its number there.
pub(super) type Agents = HashMap<u64, Agent>;

/// An agent.
#[derive(Default)]
pub(super) struct Agent {
    device: Device,
    node: Option<u64>,
    is_gpu: bool,
}

/// Takes a fact such as `Agent5.Name`; false if the key is none of an agent.
pub(super) fn agent_fact(agents: &mut Agents, key: &str, value: &str) -> bool {
    let Some((number, fact)) = key.strip_prefix("Agent").and_then(|rest| rest.split_once('.')) else {
        return false;
    };
    let Ok(number) = number.parse::<u64>() else { return false };
    let agent = agents.entry(number).or_default();
    match fact {
        "Name" => agent.device.target = value.to_owned(),
        "MarketingName" => agent.device.name = value.to_owned(),
        "ComputeUnit" => agent.device.compute_units = value.parse().unwrap_or(0),
        "Node" => agent.node = value.parse().ok(),
        "DeviceType" => agent.is_gpu = value == "GPU",
        _ => {}
    }
    true
}

impl Reader {
    /// A span: microseconds are cut, the exact times are arguments.
    pub(super) fn exact(&mut self, event: &Event<'_>, begin: u64, end: u64) {
        let time = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        let (start, end) = (time(begin), time(end));
        self.latest = self.latest.max(end);
        let process = self.timeline.names.add_json(event.process);
        let thread = self.thread(event);
        let host = self.host_span(event, start, end, thread);
        let gpu = GpuSpan {
            start,
            end,
            name: host.name,
            kind: GpuKind::Kernel,
            queue: self.timeline.queue(Queue {
                device: event.args.device.unwrap_or(0),
                stream: event.args.stream.unwrap_or(0),
            }),
            correlation: event.args.correlation,
            external: 0,
            grid: [0; 3],
            block: [0; 3],
            detail: 0,
        };
        self.exact.push(Exact { process, gpu, host, bytes: bytes(event.args.text) });
    }

    /// An arrow from a call to what it starts.
    pub(super) fn flow(&mut self, event: &Event<'_>) {
        let (id, at) = (rocprof::json::whole(event.id), nanoseconds(event.start));
        if let (Some(id), Some(at)) = (id, at) {
            let thread = self.thread(event);
            self.flows.push(FlowEnd { id, thread, at: at / US, is_start: event.phase == b's' });
        }
    }

    /// Spans become what the name of their process says: `GPU2`, `COPY`, `CPU HIP API`.
    pub(super) fn place_exact(&mut self) {
        let agents = std::mem::take(&mut self.agents);
        if self.exact.is_empty() {
            return;
        }
        self.timeline.format = Format::Rocprofv1Json;
        self.place_agents(agents);
        self.link_flows();
        let sizes: HashMap<u64, u64> = (self.exact.iter())
            .filter(|it| it.host.correlation != 0)
            .filter_map(|it| Some((it.host.correlation, it.bytes?)))
            .collect();
        let mut barriers = 0;
        for Exact { process, gpu, host, .. } in std::mem::take(&mut self.exact) {
            let process = self.processes.get(&process).copied().unwrap_or_default();
            let process = self.timeline.names.get(process).to_owned();
            if process.starts_with("GPU") {
                match is_barrier(self.timeline.names.get(gpu.name)) {
                    true => barriers += 1,
                    false => self.timeline.gpu.push(gpu),
                }
            } else if process.starts_with("COPY") {
                let bytes = sizes.get(&gpu.correlation).copied();
                let detail = Detail { direction: gpu.name, bytes, ..Detail::default() };
                let detail = self.timeline.add_detail(detail);
                self.timeline.gpu.push(GpuSpan { kind: GpuKind::Copy, detail, ..gpu });
            } else {
                let kind = if process.contains("API") { HostKind::Runtime } else { HostKind::Annotation };
                self.timeline.host.push(HostSpan { kind, ..host });
            }
        }
        note_barriers(&mut self.timeline, barriers);
    }

    /// GPUs that `otherData` describes.
    fn place_agents(&mut self, agents: Agents) {
        let mut gpus: Vec<Device> = agents
            .into_iter()
            .filter(|(_, agent)| agent.is_gpu)
            // Agents are numbered from 1, nodes from 0.
            .map(|(number, it)| Device { id: it.node.unwrap_or(number.saturating_sub(1)), ..it.device })
            .collect();
        gpus.sort_by_key(|gpu| gpu.id);
        self.timeline.devices.extend(gpus);
    }

    /// Gives call and span at the two ends of an arrow the same correlation.
    fn link_flows(&mut self) {
        let flows = std::mem::take(&mut self.flows);
        let mut rows: Vec<usize> = (0..self.exact.len()).collect();
        let place = |it: &Exact| (it.host.thread, it.host.start / US);
        rows.sort_by_key(|row| place(&self.exact[*row]));
        let mut ends: HashMap<u64, [Option<usize>; 2]> = HashMap::new();
        for flow in flows {
            // The span that begins last before the arrow's end, on its thread.
            let at = rows.partition_point(|row| place(&self.exact[*row]) <= (flow.thread, flow.at));
            let row = at.checked_sub(1).and_then(|at| rows.get(at)).copied();
            let holds = |row: &usize| {
                let it = &self.exact[*row].host;
                it.thread == flow.thread && flow.at <= it.end.max(it.start) / US
            };
            ends.entry(flow.id).or_default()[usize::from(!flow.is_start)] = row.filter(holds);
        }
        for (id, rows) in ends {
            let [Some(call), Some(span)] = rows else { continue };
            for row in [call, span] {
                let it = &mut self.exact[row];
                if it.host.correlation == 0 {
                    let number = id.saturating_add(1);
                    (it.host.correlation, it.gpu.correlation) = (number, number);
                }
            }
            // A call that starts several spans has one number.
            let number = self.exact[call].host.correlation;
            self.exact[span].gpu.correlation = number;
        }
    }
}
