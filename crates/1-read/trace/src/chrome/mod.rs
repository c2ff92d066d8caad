//! Chrome trace events: PyTorch's profiler (Kineto), rocprof v1, and any other writer.
//!
//! The kind of an event follows from its category and arguments, never from its process number. Related
//! events are joined at the end, since events arrive in any order.

mod event;
mod finish;
mod tools;
mod version1;
pub(crate) use finish::workgroups;
mod head;

use crate::error::Error;
use crate::names::Name;
use crate::timeline::{
    Collective, Detail, Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue, Shapes, Timeline,
};
use event::{Args, Event};
use rocprof::json::{Fault, Stream, nanoseconds};
use std::collections::HashMap;
use std::io::Read;
use version1::{Agents, Exact, FlowEnd};
use view::NoteKind;

/// Elements of an array among which an event must be.
const FIRST: u64 = 1000;

/// Reads a document: an object with `traceEvents`, or an array of events.
pub(crate) fn read(input: &mut dyn Read) -> Result<Timeline, Error> {
    let mut stream = Stream::new(input);
    let mut reader = Reader::new();
    let result = reader.document(&mut stream);
    reader.finish(result)
}

/// State collected while events pass.
struct Reader {
    timeline: Timeline,
    /// Process, thread and row of the last event: neighbours are mostly of one thread.
    last_thread: (Vec<u8>, Vec<u8>, u32),
    /// Names of processes, by their number.
    processes: HashMap<Name, Name>,
    /// Open `B` events of each thread.
    open: HashMap<u32, Vec<HostSpan>>,
    shapes: HashMap<Shapes, u32>,
    counts: Vec<(u8, Vec<u8>, u64)>,
    last_count: usize,
    /// Spans with exact times, whose process determines their kind.
    exact: Vec<Exact>,
    /// Arrows from calls to what they start.
    flows: Vec<FlowEnd>,
    agents: Agents,
    unopened: u64,
    backwards: u64,
    untimed: u64,
    kineto: bool,
    /// The tool, where an event's category or a process told it.
    tool: Option<Format>,
    /// Nodes of ONNX Runtime by name: the id of the last one.
    nodes: HashMap<Name, u64>,
    events: u64,
    /// Latest time seen, ns.
    latest: i64,
}

impl Reader {
    fn new() -> Self {
        Reader {
            timeline: Timeline::new(Format::Chrome),
            last_thread: (vec![0], Vec::new(), 0),
            processes: HashMap::new(),
            open: HashMap::new(),
            shapes: HashMap::new(),
            counts: Vec::new(),
            last_count: 0,
            exact: Vec::new(),
            flows: Vec::new(),
            agents: Agents::new(),
            unopened: 0,
            backwards: 0,
            untimed: 0,
            kineto: false,
            tool: None,
            nodes: HashMap::new(),
            events: 0,
            latest: i64::MIN,
        }
    }

    fn document(&mut self, stream: &mut Stream<'_>) -> Result<(), Fault> {
        match stream.peek()? {
            Some(b'[') => {
                stream.open(b'[')?;
                // An array without its closing bracket is a whole trace by the format's own words.
                match self.events(stream, true) {
                    Err(Fault::Cut(_)) if stream.peek()?.is_none() => Ok(()),
                    other => other,
                }
            }
            _ => {
                stream.open(b'{')?;
                while let Some(key) = stream.key()? {
                    match (key.as_str(), stream.peek()?) {
                        ("traceEvents", Some(b'[')) => {
                            stream.open(b'[')?;
                            self.events(stream, false)?;
                        }
                        ("otherData", Some(b'{')) => {
                            head::other(&mut self.timeline, stream, &mut self.agents)?
                        }
                        (key, _) => head::member(&mut self.timeline, key, stream, &mut self.kineto)?,
                    }
                }
                Ok(())
            }
        }
    }

    /// Events of an array. One that is the document may be of anything else: it has no events if its first
    /// elements are none.
    fn events(&mut self, stream: &mut Stream<'_>, is_document: bool) -> Result<(), Fault> {
        let mut others = 0;
        while stream.element()? {
            if is_document && self.events == 0 && others == FIRST {
                return Ok(());
            }
            others += 1;
            if stream.peek()? == Some(b'{') {
                stream.with(|c| {
                    let event = Event::parse(c)?;
                    if event.phase != 0 || !event.start.is_empty() {
                        self.event(&event);
                    }
                    Ok(())
                })?;
            } else {
                stream.skip()?;
                self.timeline.problem(NoteKind::Warning, "an element of `traceEvents` is no object");
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) {
        self.events += 1;
        self.count(event.phase, event.category);
        match event.phase {
            b'X' => self.complete(event),
            b'B' => {
                let thread = self.thread(event);
                match nanoseconds(event.start) {
                    Some(start) => {
                        self.latest = self.latest.max(start);
                        let span = self.host_span(event, start, start, thread);
                        self.open.entry(thread).or_default().push(span);
                    }
                    None => self.untimed += 1,
                }
            }
            b'E' => {
                let thread = self.thread(event);
                let end = nanoseconds(event.start);
                match (self.open.get_mut(&thread).and_then(Vec::pop), end) {
                    (Some(span), Some(end)) => {
                        self.latest = self.latest.max(end);
                        self.timeline.host.push(HostSpan { end, ..span });
                    }
                    _ => self.unopened += 1,
                }
            }
            b'M' => self.metadata(event),
            b's' | b't' if event.category == b"DataFlow" => self.flow(event),
            _ => {}
        }
    }

    fn count(&mut self, phase: u8, category: &[u8]) {
        if let Some(last) = self.counts.get_mut(self.last_count)
            && last.0 == phase
            && last.1 == category
        {
            last.2 += 1;
            return;
        }
        match self.counts.iter().position(|(p, c, _)| *p == phase && c == category) {
            Some(at) => {
                self.counts[at].2 += 1;
                self.last_count = at;
            }
            // A file with thousands of categories is not worth counting.
            None if self.counts.len() < 1000 => {
                self.last_count = self.counts.len();
                self.counts.push((phase, category.to_vec(), 1));
            }
            None => {}
        }
    }

    fn thread(&mut self, event: &Event<'_>) -> u32 {
        if self.last_thread.0 == event.process && self.last_thread.1 == event.thread {
            return self.last_thread.2;
        }
        let names = &mut self.timeline.names;
        let (process, thread) = (names.add_json(event.process), names.add_json(event.thread));
        let row = self.timeline.thread(process, thread);
        self.last_thread = (event.process.to_vec(), event.thread.to_vec(), row);
        row
    }

    /// An event with duration.
    fn complete(&mut self, event: &Event<'_>) {
        let Some(start) = nanoseconds(event.start) else {
            self.untimed += 1;
            return;
        };
        let duration = nanoseconds(event.duration).unwrap_or(0);
        self.backwards += u64::from(duration < 0);
        let end = start.saturating_add(duration.max(0));
        if let (Some(begin), Some(finish)) = (event.args.begin_ns, event.args.end_ns) {
            self.exact(event, begin, finish);
            return;
        }
        let kind = match event.category {
            b"kernel" | b"Kernel" => Some(GpuKind::Kernel),
            b"gpu_memcpy" | b"Memcpy" => Some(GpuKind::Copy),
            b"gpu_memset" | b"Memset" => Some(GpuKind::Set),
            _ => None,
        };
        match kind {
            Some(kind) => {
                self.kineto = true;
                self.latest = self.latest.max(end);
                let span = self.gpu_span(event, kind, start, end);
                self.timeline.gpu.push(span);
            }
            // The frame around everything is not work.
            None if event.category == b"Trace" => self.kineto = true,
            None => {
                self.latest = self.latest.max(end);
                let thread = self.thread(event);
                let span = self.host_span(event, start, end, thread);
                self.timeline.host.push(span);
            }
        }
    }

    fn gpu_span(&mut self, event: &Event<'_>, kind: GpuKind, start: i64, end: i64) -> GpuSpan {
        let args = &event.args;
        // Without arguments the process is the device and the thread the stream, as older files have it.
        let number = |value: Option<u64>, text: &[u8]| value.or(rocprof::json::whole(text)).unwrap_or(0);
        let mut queue =
            Queue { device: number(args.device, event.process), stream: number(args.stream, event.thread) };
        let external = self.of_tool(event, &mut queue).unwrap_or(args.external);
        GpuSpan {
            start,
            end,
            name: self.timeline.names.add_json(event.name),
            kind,
            queue: self.timeline.queue(queue),
            correlation: args.correlation,
            external,
            grid: args.grid.unwrap_or_default(),
            block: args.block.unwrap_or_default(),
            detail: self.detail(args, kind),
        }
    }

    fn detail(&mut self, args: &Args<'_>, kind: GpuKind) -> u32 {
        let names = &mut self.timeline.names;
        let detail = if !args.collective.is_empty() {
            let collective = Collective {
                operation: names.add_json(args.collective),
                elements_in: args.elements_in,
                elements_out: args.elements_out,
                data_type: names.add_json(args.data_type),
                group_size: args.group_size,
                group: names.add_json(args.group),
            };
            Detail { collective: Some(collective), ..Detail::default() }
        } else if kind != GpuKind::Kernel {
            Detail { bytes: args.bytes, direction: names.add_json(args.kind), collective: None }
        } else {
            return 0;
        };
        self.timeline.add_detail(detail)
    }

    fn host_span(&mut self, event: &Event<'_>, start: i64, end: i64, thread: u32) -> HostSpan {
        let args = &event.args;
        let kind = match event.category {
            b"cpu_op" | b"Operator" => HostKind::Operator,
            b"python_function" => HostKind::Python,
            b"cuda_runtime" | b"cuda_driver" | b"hip_runtime" | b"hip_api" | b"Runtime" => HostKind::Runtime,
            b"user_annotation" => HostKind::Annotation,
            b"gpu_user_annotation" => HostKind::GpuAnnotation,
            b"overhead" => HostKind::Overhead,
            _ => match self.kind_of_tool(event) {
                Some((kind, name, external)) => {
                    let (correlation, shapes) = (args.correlation, 0);
                    return HostSpan { start, end, name, kind, thread, correlation, external, shapes };
                }
                None => HostKind::Other,
            },
        };
        self.kineto |= matches!(kind, HostKind::Operator | HostKind::Python);
        HostSpan {
            start,
            end,
            name: self.timeline.names.add_json(event.name),
            kind,
            thread,
            correlation: args.correlation,
            external: args.external,
            shapes: self.shapes(args),
        }
    }

    fn shapes(&mut self, args: &Args<'_>) -> u32 {
        if args.dims.is_empty() {
            return 0;
        }
        let names = &mut self.timeline.names;
        let shapes = Shapes {
            dims: names.add_bytes(args.dims),
            types: names.add_bytes(args.types),
            strides: names.add_bytes(args.strides),
            values: names.add_bytes(args.values),
        };
        let all = &mut self.timeline.shapes;
        *self.shapes.entry(shapes).or_insert_with(|| {
            all.push(shapes);
            u32::try_from(all.len()).unwrap_or(0)
        })
    }

    fn metadata(&mut self, event: &Event<'_>) {
        match event.name {
            b"process_name" => {
                let name = self.timeline.names.add_json(event.args.name);
                let process = self.timeline.names.add_json(event.process);
                self.processes.insert(process, name);
            }
            b"thread_name" => {
                let row = self.thread(event) as usize;
                let name = self.timeline.names.add_json(event.args.name);
                if let Some(thread) = self.timeline.threads.get_mut(row) {
                    thread.name = name;
                }
            }
            _ => {}
        }
    }
}
