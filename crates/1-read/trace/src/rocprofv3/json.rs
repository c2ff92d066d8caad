//! rocprofv3 `--output-format json` as a timeline.
//!
//! Records name kernels and operations by number, and the lists that say what the numbers mean may come
//! later, so spans get their names when a process has been read whole.

use crate::chrome::workgroups;
use crate::error::{Error, note_at};
use crate::names::Name;
use crate::timeline::{
    Allocation, Detail, Device, Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue, Timeline,
};
use rocprof::agents::Agent;
use rocprof::json::Fault;
use rocprof::results::{List, PROCESSES, Record, Row};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read;
use view::NoteKind;

/// Reads a document whose object was not opened yet.
pub(crate) fn read(input: &mut dyn Read) -> Result<Timeline, Error> {
    let mut timeline = Timeline::new(Format::Rocprofv3Json);
    let mut process = Process::default();
    let result = rocprof::results::read(input, &List::TIMED, &mut |row| process.take(row, &mut timeline));
    // What a file that is cut off lacks is its end; the records before it are whole.
    process.finish(&mut timeline);
    let (offset, what) = match result {
        Ok(true) => return Ok(timeline),
        Ok(false) => return Err(Error::Unknown(format!("JSON without `{PROCESSES}`"))),
        Err(Fault::Cut(offset)) => (offset, "the file ends within a value that begins here".to_owned()),
        Err(Fault::Bad(offset, what)) => (offset, what),
    };
    if timeline.gpu.is_empty() && timeline.host.is_empty() {
        return Err(Error::Broken { kind: "rocprofv3 JSON", offset, what });
    }
    let spans = timeline.gpu.len() + timeline.host.len();
    let message = format!("{what}; {spans} records before it are read");
    timeline.problems.push(note_at(NoteKind::Error, &format!("byte {offset}"), &message));
    Ok(timeline)
}

/// Records of one process.
#[derive(Default)]
struct Process {
    pid: Name,
    kernels: HashMap<u64, Name>,
    /// Names of operations, by kind of record.
    operations: Vec<Vec<Name>>,
    /// Texts of markers, by the number their records have.
    markers: HashMap<u64, Name>,
    agents: HashMap<u64, u64>,
    /// Handles of GPUs.
    gpus: HashSet<u64>,
    records: Vec<Record>,
}

impl Process {
    fn take(&mut self, row: Row<'_>, timeline: &mut Timeline) {
        let names = &mut timeline.names;
        match row {
            Row::Pid(pid) => self.pid = names.add(&pid),
            Row::Host(host) => timeline.facts.push(("host".to_owned(), host.into_owned())),
            Row::Command(command) => timeline.facts.push(("command".to_owned(), command)),
            Row::Agent(agent) => {
                self.agents.insert(agent.handle, agent.node);
                if agent.is_gpu {
                    self.gpus.insert(agent.handle);
                    timeline.devices.push(device(&agent));
                }
            }
            Row::Symbol(it) => {
                let name = if it.formatted.is_empty() { &it.symbol } else { &it.formatted };
                self.kernels.insert(it.id.unwrap_or(0), names.add(name));
            }
            Row::Operations(list) => {
                self.operations.push(list.iter().map(|name| names.add(name)).collect());
            }
            Row::Marker(key, text) => {
                self.markers.insert(key, names.add(&text));
            }
            Row::Record(record) => self.records.push(record),
            Row::End => std::mem::take(self).finish(timeline),
            Row::CodeObject(_) | Row::Instruction(_) | Row::SourceLine(_) | Row::Sample(_) => {}
        }
    }

    fn finish(self, timeline: &mut Timeline) {
        let mut threads: HashMap<u64, u32> = HashMap::new();
        let mut streams = BTreeSet::new();
        for r in &self.records {
            let operation = self.operations.get(r.kind as usize);
            let operation = operation.and_then(|all| all.get(r.operation as usize)).copied();
            let operation =
                operation.unwrap_or_else(|| timeline.names.add(&format!("operation {}", r.operation)));
            match r.list {
                List::Kernel | List::Copy => {
                    streams.extend(r.stream);
                    self.gpu(r, operation, timeline);
                }
                List::Allocation | List::Scratch => timeline.allocations.push(Allocation {
                    operation,
                    bytes: r.bytes,
                    start: r.start.unwrap_or(0),
                    end: r.end.unwrap_or(0),
                    scratch: r.list == List::Scratch,
                }),
                _ => {
                    let thread = *threads.entry(r.thread).or_insert_with(|| {
                        let thread = timeline.names.add(&r.thread.to_string());
                        timeline.thread(self.pid, thread)
                    });
                    let (kind, name) = match r.list {
                        List::Marker => {
                            let text = self.markers.get(&r.correlation).copied();
                            (HostKind::Annotation, text.unwrap_or(operation))
                        }
                        List::Rccl => (HostKind::Collective, operation),
                        _ => (HostKind::Runtime, operation),
                    };
                    timeline.host.push(HostSpan {
                        start: r.start.unwrap_or(0),
                        end: r.end.unwrap_or(0),
                        name,
                        kind,
                        thread,
                        correlation: r.correlation,
                        external: r.external,
                        shapes: 0,
                    });
                }
            }
        }
        if !streams.is_empty() {
            timeline.facts.push(("streams".to_owned(), streams.len().to_string()));
        }
    }

    /// The GPU that a copy belongs to: where it goes, or where it comes from if it goes to the host.
    fn gpu_of_copy(&self, r: &Record, direction: &str) -> u64 {
        let known = [r.destination, r.source].into_iter().find(|agent| self.gpus.contains(agent));
        known.unwrap_or(if to_host(direction) { r.source } else { r.destination })
    }

    fn gpu(&self, r: &Record, operation: Name, timeline: &mut Timeline) {
        let kernel = r.list == List::Kernel;
        let agent = if kernel { r.agent } else { self.gpu_of_copy(r, timeline.names.get(operation)) };
        let device = self.agents.get(&agent).copied().unwrap_or(agent);
        // A copy has no queue; its stream orders it.
        let row = if kernel { r.queue } else { r.stream.unwrap_or(0) };
        let id = r.kernel.unwrap_or(0);
        let name = if kernel {
            let named = self.kernels.get(&id).copied();
            named.unwrap_or_else(|| timeline.names.add(&format!("kernel {id}")))
        } else {
            operation
        };
        let detail = Detail { bytes: r.bytes, direction: operation, collective: None };
        let block = r.block.unwrap_or_default();
        let span = GpuSpan {
            start: r.start.unwrap_or(0),
            end: r.end.unwrap_or(0),
            name,
            kind: if kernel { GpuKind::Kernel } else { GpuKind::Copy },
            queue: timeline.queue(Queue { device, stream: row }),
            correlation: r.correlation,
            external: r.external,
            grid: workgroups(r.grid.unwrap_or_default(), block),
            block,
            detail: if kernel { 0 } else { timeline.add_detail(detail) },
        };
        timeline.gpu.push(span);
    }
}

/// Whether a copy goes from a GPU to the host: `MEMORY_COPY_DEVICE_TO_HOST`.
pub(super) fn to_host(direction: &str) -> bool {
    direction.ends_with("DEVICE_TO_HOST")
}

/// A GPU of a timeline.
pub(crate) fn device(agent: &Agent) -> Device {
    Device {
        id: agent.node,
        target: agent.fact("name").to_owned(),
        name: agent.fact("product_name").to_owned(),
        compute_units: agent.compute_units(),
    }
}
