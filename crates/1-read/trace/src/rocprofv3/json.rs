//! rocprofv3 `--output-format json`.
//!
//! Records name kernels and operations by number, and the lists that say what the numbers mean may come
//! later, so spans get their names when a process has been read whole.

use crate::chrome::workgroups;
use crate::error::{Error, Problem, Severity};
use crate::json::{Cursor, Fault, Stop, Stream, unescape};
use crate::names::Name;
use crate::timeline::{
    Allocation, Detail, Device, Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue, Timeline,
};
use std::collections::{BTreeSet, HashMap};
use std::io::Read;

/// Reads a document whose object was not opened yet.
pub(crate) fn read(input: &mut dyn Read) -> Result<Timeline, Error> {
    let mut stream = Stream::new(input);
    let mut timeline = Timeline::new(Format::Rocprofv3Json);
    let mut found = false;
    let mut process = Process::default();
    let result = document(&mut stream, &mut timeline, &mut process, &mut found);
    // What a file that is cut off lacks is its end; the records before it are whole.
    process.finish(&mut timeline);
    let (offset, what) = match result {
        Ok(()) => return if found { Ok(timeline) } else { Err(unknown()) },
        Err(Fault::Cut(offset)) => (offset, "the file ends within a value that begins here".to_owned()),
        Err(Fault::Bad(offset, what)) => (offset, what),
    };
    if timeline.gpu.is_empty() && timeline.host.is_empty() {
        return Err(Error::Broken { kind: "rocprofv3 JSON", offset, what });
    }
    let spans = timeline.gpu.len() + timeline.host.len();
    let message = format!("{what}; {spans} records before it are read");
    timeline.problems.push(Problem::new(Severity::Error, message).at(format!("byte {offset}")));
    Ok(timeline)
}

fn unknown() -> Error {
    Error::Unknown("JSON without `rocprofiler-sdk-tool`".to_owned())
}

fn document(
    stream: &mut Stream<'_>,
    timeline: &mut Timeline,
    process: &mut Process,
    found: &mut bool,
) -> Result<(), Fault> {
    stream.open(b'{')?;
    while let Some(key) = stream.key()? {
        if key != "rocprofiler-sdk-tool" || stream.peek()? != Some(b'[') {
            stream.skip()?;
            continue;
        }
        *found = true;
        stream.open(b'[')?;
        while stream.element()? {
            process.read(stream, timeline)?;
            std::mem::take(process).finish(timeline);
        }
    }
    Ok(())
}

/// Records of one process.
#[derive(Default)]
struct Process {
    pid: String,
    kernels: HashMap<u64, Name>,
    /// Names of operations, by kind of record.
    operations: Vec<Vec<Name>>,
    /// Texts of markers, by the number their records have.
    markers: HashMap<u64, Name>,
    agents: HashMap<u64, u64>,
    records: Vec<(List, Record)>,
    streams: BTreeSet<u64>,
}

/// List that a record is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Kernel,
    Copy,
    Allocation,
    Scratch,
    Marker,
    Rccl,
    Api,
}

#[derive(Clone, Copy, Default)]
struct Record {
    kind: u64,
    operation: u64,
    thread: u64,
    correlation: u64,
    external: u64,
    start: i64,
    end: i64,
    agent: u64,
    queue: u64,
    stream: Option<u64>,
    kernel: u64,
    grid: [u32; 3],
    block: [u32; 3],
    bytes: Option<u64>,
    destination: u64,
}

impl Process {
    fn read(&mut self, stream: &mut Stream<'_>, timeline: &mut Timeline) -> Result<(), Fault> {
        stream.open(b'{')?;
        while let Some(key) = stream.key()? {
            match (key.as_str(), stream.peek()?) {
                ("metadata", Some(b'{')) => self.metadata(stream, timeline)?,
                ("agents", Some(b'[')) => self.agents(stream, timeline)?,
                ("kernel_symbols", Some(b'[')) => {
                    stream.open(b'[')?;
                    while stream.element()? {
                        let names = &mut timeline.names;
                        let (id, name) = stream.with(|c| symbol(c).map(|(id, n)| (id, names.add_json(n))))?;
                        self.kernels.insert(id, name);
                    }
                }
                ("strings", Some(b'{')) => self.strings(stream, timeline)?,
                ("buffer_records", Some(b'{')) => self.records(stream)?,
                _ => stream.skip()?,
            }
        }
        Ok(())
    }

    fn metadata(&mut self, stream: &mut Stream<'_>, timeline: &mut Timeline) -> Result<(), Fault> {
        stream.open(b'{')?;
        while let Some(key) = stream.key()? {
            match key.as_str() {
                "pid" => self.pid = stream.with(|c| c.plain().map(text))?,
                "node" => {
                    let mut host = String::new();
                    stream.with(|c| {
                        c.object(|key, c| {
                            match key {
                                b"hostname" => host = text(c.plain()?),
                                _ => c.skip(0)?,
                            }
                            Ok(())
                        })
                    })?;
                    timeline.facts.push(("host".to_owned(), host));
                }
                "command" => {
                    let mut words = Vec::new();
                    stream.with(|c| {
                        words.clear();
                        if c.peek()? != b'[' {
                            return c.skip(0);
                        }
                        c.array(|c| c.plain().map(|word| words.push(text(word))))
                    })?;
                    timeline.facts.push(("command".to_owned(), words.join(" ")));
                }
                _ => stream.skip()?,
            }
        }
        Ok(())
    }

    fn agents(&mut self, stream: &mut Stream<'_>, timeline: &mut Timeline) -> Result<(), Fault> {
        stream.open(b'[')?;
        while stream.element()? {
            let (handle, gpu, device) = stream.with(agent)?;
            self.agents.insert(handle, device.id);
            if gpu {
                timeline.devices.push(device);
            }
        }
        Ok(())
    }

    fn strings(&mut self, stream: &mut Stream<'_>, timeline: &mut Timeline) -> Result<(), Fault> {
        stream.open(b'{')?;
        while let Some(key) = stream.key()? {
            match (key.as_str(), stream.peek()?) {
                ("buffer_records", Some(b'[')) => {
                    stream.open(b'[')?;
                    while stream.element()? {
                        let names = &mut timeline.names;
                        let operations = stream.with(|c| {
                            let mut list = Vec::new();
                            c.object(|key, c| {
                                if key == b"operations" && c.peek()? == b'[' {
                                    c.array(|c| c.plain().map(|text| list.push(names.add_json(text))))
                                } else {
                                    c.skip(0)
                                }
                            })?;
                            Ok(list)
                        })?;
                        self.operations.push(operations);
                    }
                }
                ("marker_api", Some(b'[')) => {
                    stream.open(b'[')?;
                    while stream.element()? {
                        let names = &mut timeline.names;
                        let (key, value) = stream.with(|c| {
                            let (mut number, mut value) = (0, Name::NONE);
                            c.object(|key, c| {
                                match key {
                                    b"key" => number = c.number()?.unwrap_or(0),
                                    b"value" => value = names.add_json(c.plain()?),
                                    _ => c.skip(0)?,
                                }
                                Ok(())
                            })?;
                            Ok((number, value))
                        })?;
                        self.markers.insert(key, value);
                    }
                }
                _ => stream.skip()?,
            }
        }
        Ok(())
    }

    fn records(&mut self, stream: &mut Stream<'_>) -> Result<(), Fault> {
        stream.open(b'{')?;
        while let Some(key) = stream.key()? {
            let list = match key.as_str() {
                "kernel_dispatch" => List::Kernel,
                "memory_copy" => List::Copy,
                "memory_allocation" => List::Allocation,
                "scratch_memory" => List::Scratch,
                "marker_api" => List::Marker,
                "rccl_api" => List::Rccl,
                "hip_api" | "hsa_api" | "rocdecode_api" | "rocjpeg_api" | "ompt_api" => List::Api,
                _ => {
                    stream.skip()?;
                    continue;
                }
            };
            if stream.peek()? != Some(b'[') {
                stream.skip()?;
                continue;
            }
            stream.open(b'[')?;
            while stream.element()? {
                let record = stream.with(record)?;
                self.records.push((list, record));
            }
        }
        Ok(())
    }

    fn finish(self, timeline: &mut Timeline) {
        let mut threads: HashMap<u64, u32> = HashMap::new();
        let mut streams = self.streams;
        let process = timeline.names.add(&self.pid);
        for (list, r) in &self.records {
            let operation = self.operations.get(r.kind as usize);
            let operation = operation.and_then(|all| all.get(r.operation as usize)).copied();
            let operation =
                operation.unwrap_or_else(|| timeline.names.add(&format!("operation {}", r.operation)));
            match list {
                List::Kernel | List::Copy => {
                    streams.extend(r.stream);
                    let agent = if *list == List::Copy { r.destination } else { r.agent };
                    let device = self.agents.get(&agent).copied().unwrap_or(agent);
                    // A copy has no queue; its stream orders it.
                    let row = if *list == List::Copy { r.stream.unwrap_or(0) } else { r.queue };
                    let kernel = *list == List::Kernel;
                    let named = self.kernels.get(&r.kernel).copied();
                    let name = if kernel {
                        named.unwrap_or_else(|| timeline.names.add(&format!("kernel {}", r.kernel)))
                    } else {
                        operation
                    };
                    let detail = Detail { bytes: r.bytes, direction: operation, collective: None };
                    let span = GpuSpan {
                        start: r.start,
                        end: r.end,
                        name,
                        kind: if kernel { GpuKind::Kernel } else { GpuKind::Copy },
                        queue: timeline.queue(Queue { device, stream: row }),
                        correlation: r.correlation,
                        external: r.external,
                        grid: workgroups(r.grid, r.block),
                        block: r.block,
                        detail: if kernel { 0 } else { timeline.add_detail(detail) },
                    };
                    timeline.gpu.push(span);
                }
                List::Allocation | List::Scratch => timeline.allocations.push(Allocation {
                    operation,
                    bytes: r.bytes,
                    start: r.start,
                    end: r.end,
                    scratch: *list == List::Scratch,
                }),
                List::Marker | List::Rccl | List::Api => {
                    let thread = *threads.entry(r.thread).or_insert_with(|| {
                        let thread = timeline.names.add(&r.thread.to_string());
                        timeline.thread(process, thread)
                    });
                    let (kind, name) = match list {
                        List::Marker => {
                            let text = self.markers.get(&r.correlation).copied();
                            (HostKind::Annotation, text.unwrap_or(operation))
                        }
                        List::Rccl => (HostKind::Collective, operation),
                        _ => (HostKind::Runtime, operation),
                    };
                    timeline.host.push(HostSpan {
                        start: r.start,
                        end: r.end,
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
}

fn text(raw: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(raw)).into_owned()
}

/// A number, or the number of `{"handle": 5}`.
fn handle(c: &mut Cursor<'_>) -> Result<u64, Stop> {
    if c.peek()? != b'{' {
        return Ok(c.number()?.unwrap_or(0));
    }
    let mut value = 0;
    c.object(|key, c| {
        match key {
            b"handle" => value = c.number()?.unwrap_or(0),
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    Ok(value)
}

fn symbol<'a>(c: &mut Cursor<'a>) -> Result<(u64, &'a [u8]), Stop> {
    let (mut id, mut formatted, mut plain): (u64, &[u8], &[u8]) = (0, b"", b"");
    c.object(|key, c| {
        match key {
            b"kernel_id" => id = c.number()?.unwrap_or(0),
            b"formatted_kernel_name" => formatted = c.plain()?,
            b"kernel_name" => plain = c.plain()?,
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    Ok((id, if formatted.is_empty() { plain } else { formatted }))
}

/// An agent: its handle, whether it is a GPU, and its facts.
fn agent(c: &mut Cursor<'_>) -> Result<(u64, bool, Device), Stop> {
    let (mut id, mut kind, mut device) = (0, 0, Device::default());
    c.object(|key, c| {
        match key {
            b"id" => id = handle(c)?,
            b"type" => kind = c.number()?.unwrap_or(0),
            b"node_id" => device.id = c.number()?.unwrap_or(0),
            b"name" => device.target = text(c.plain()?),
            b"product_name" => device.name = text(c.plain()?),
            b"cu_count" => {
                device.compute_units = c.number()?.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
            }
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    Ok((id, kind == 2, device))
}

fn record(c: &mut Cursor<'_>) -> Result<Record, Stop> {
    let mut r = Record::default();
    let time = |n: Option<u64>| n.and_then(|n| i64::try_from(n).ok()).unwrap_or(0);
    c.object(|key, c| {
        match key {
            b"kind" => r.kind = c.number()?.unwrap_or(0),
            b"operation" => r.operation = c.number()?.unwrap_or(0),
            b"thread_id" => r.thread = c.number()?.unwrap_or(0),
            b"start_timestamp" => r.start = time(c.number()?),
            b"end_timestamp" => r.end = time(c.number()?),
            b"stream_id" => r.stream = Some(handle(c)?),
            b"bytes" | b"allocation_size" => r.bytes = c.number()?,
            b"dst_agent_id" => r.destination = handle(c)?,
            b"agent_id" => r.agent = handle(c)?,
            b"queue_id" => r.queue = handle(c)?,
            b"correlation_id" if c.peek()? == b'{' => c.object(|key, c| {
                match key {
                    b"internal" => r.correlation = c.number()?.unwrap_or(0),
                    b"external" => r.external = handle(c)?,
                    _ => c.skip(0)?,
                }
                Ok(())
            })?,
            b"dispatch_info" if c.peek()? == b'{' => c.object(|key, c| {
                match key {
                    b"agent_id" => r.agent = handle(c)?,
                    b"queue_id" => r.queue = handle(c)?,
                    b"kernel_id" => r.kernel = c.number()?.unwrap_or(0),
                    b"workgroup_size" => r.block = c.triple()?.unwrap_or_default(),
                    b"grid_size" => r.grid = c.triple()?.unwrap_or_default(),
                    _ => c.skip(0)?,
                }
                Ok(())
            })?,
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    Ok(r)
}
