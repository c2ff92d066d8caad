//! A timeline: what ran on the GPUs and what the host did meanwhile, as columns.
//!
//! Times are whole nanoseconds of the trace's own clock; a number that the trace does not have is absent,
//! never zero.

pub use crate::format::Format;
use crate::names::{Name, Names};
pub use crate::scopes::ScopeSum;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use view::{Note, NoteKind};

/// Kind of a span on a GPU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum GpuKind {
    /// A kernel.
    Kernel,
    /// A copy of memory.
    Copy,
    /// A fill of memory.
    Set,
}

/// Kind of a span on the host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum HostKind {
    /// An operator of the framework.
    Operator,
    /// A Python function.
    Python,
    /// A call of the HIP, HSA or CUDA runtime.
    Runtime,
    /// A range a user named, ROCTx included.
    Annotation,
    /// A host annotation as the profiler projects it on the GPU.
    GpuAnnotation,
    /// A call of RCCL or NCCL.
    Collective,
    /// Another span.
    Other,
    /// Work of the profiler itself, such as a request for buffers.
    Overhead,
}

/// A queue or stream of a GPU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Queue {
    /// GPU as the trace numbers it.
    pub device: u64,
    /// Stream, or queue where the trace knows no streams.
    pub stream: u64,
}

/// A thread of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Thread {
    /// Process.
    pub process: Name,
    /// Thread.
    pub thread: Name,
    /// Name, or none.
    pub name: Name,
}

/// A GPU of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Device {
    /// Number of the device in the trace.
    pub id: u64,
    /// Product, as the driver names it; may be empty.
    pub name: String,
    /// Target such as `gfx942`; empty if the trace does not tell.
    pub target: String,
    /// Compute units; 0 if the trace does not say.
    pub compute_units: u32,
}

/// Details of a span on a GPU, in addition to its times.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Detail {
    /// Bytes copied.
    pub bytes: Option<u64>,
    /// Direction of a copy as the trace words it: `DtoD`, `HOST_TO_DEVICE`.
    pub direction: Name,
    /// A collective.
    pub collective: Option<Collective>,
}

/// Arguments of a collective kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Collective {
    /// `allreduce`, `broadcast`, …
    pub operation: Name,
    /// Elements sent by this rank.
    pub elements_in: u64,
    /// Elements received by this rank.
    pub elements_out: u64,
    /// `BFloat16`, `Long`, …
    pub data_type: Name,
    /// Ranks in the group; 0 if unknown.
    pub group_size: u64,
    /// Group.
    pub group: Name,
}

/// Spans on the GPUs, a column per fact.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs, reason = "columns named after what they hold; units in the struct's text")]
pub struct GpuSpans {
    /// Start, ns.
    #[serde(with = "crate::column")]
    pub start: Vec<i64>,
    /// End, ns.
    #[serde(with = "crate::column")]
    pub end: Vec<i64>,
    #[serde(with = "crate::column")]
    pub name: Vec<Name>,
    pub kind: Vec<GpuKind>,
    /// Index into [`Timeline::queues`].
    #[serde(with = "crate::column")]
    pub queue: Vec<u32>,
    /// Id shared with the launch; 0 for none.
    #[serde(with = "crate::column")]
    pub correlation: Vec<u64>,
    /// Id shared with the operator; 0 for none.
    #[serde(with = "crate::column")]
    pub external: Vec<u64>,
    /// Workgroups per axis; zeros where unknown. What a launch call counts in work-items is divided.
    pub grid: Vec<[u32; 3]>,
    /// Work-items of a workgroup per axis; zeros where unknown.
    pub block: Vec<[u32; 3]>,
    /// Index into [`Timeline::details`], plus 1; 0 for none.
    #[serde(with = "crate::column")]
    pub detail: Vec<u32>,
    /// Spans that ended before they started.
    #[serde(skip)]
    pub(crate) backwards: u64,
}

/// One row of [`GpuSpans`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "see `GpuSpans`")]
pub struct GpuSpan {
    pub start: i64,
    pub end: i64,
    pub name: Name,
    pub kind: GpuKind,
    pub queue: u32,
    pub correlation: u64,
    pub external: u64,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub detail: u32,
}

impl GpuSpans {
    /// Spans.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Adds a span. One that ends before it starts gets its start as its end.
    pub fn push(&mut self, span: GpuSpan) {
        self.backwards += u64::from(span.end < span.start);
        self.start.push(span.start);
        self.end.push(span.end.max(span.start));
        self.name.push(span.name);
        self.kind.push(span.kind);
        self.queue.push(span.queue);
        self.correlation.push(span.correlation);
        self.external.push(span.external);
        self.grid.push(span.grid);
        self.block.push(span.block);
        self.detail.push(span.detail);
    }

    /// One span.
    pub fn get(&self, at: usize) -> GpuSpan {
        GpuSpan {
            start: self.start[at],
            end: self.end[at],
            name: self.name[at],
            kind: self.kind[at],
            queue: self.queue[at],
            correlation: self.correlation[at],
            external: self.external[at],
            grid: self.grid[at],
            block: self.block[at],
            detail: self.detail[at],
        }
    }

    /// Duration, ns.
    pub fn duration(&self, at: usize) -> i64 {
        self.end[at].saturating_sub(self.start[at])
    }
}

/// Spans on the host, a column per fact.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs, reason = "columns named after what they hold")]
pub struct HostSpans {
    /// Start, ns.
    #[serde(with = "crate::column")]
    pub start: Vec<i64>,
    /// End, ns.
    #[serde(with = "crate::column")]
    pub end: Vec<i64>,
    #[serde(with = "crate::column")]
    pub name: Vec<Name>,
    pub kind: Vec<HostKind>,
    /// Index into [`Timeline::threads`].
    #[serde(with = "crate::column")]
    pub thread: Vec<u32>,
    /// Id shared with what it launched; 0 for none.
    #[serde(with = "crate::column")]
    pub correlation: Vec<u64>,
    /// Id shared with kernels; 0 for none.
    #[serde(with = "crate::column")]
    pub external: Vec<u64>,
    /// Index into [`Timeline::shapes`], plus 1; 0 for none.
    #[serde(with = "crate::column")]
    pub shapes: Vec<u32>,
    /// Spans that ended before they started.
    #[serde(skip)]
    pub(crate) backwards: u64,
}

/// One row of [`HostSpans`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "see `HostSpans`")]
pub struct HostSpan {
    pub start: i64,
    pub end: i64,
    pub name: Name,
    pub kind: HostKind,
    pub thread: u32,
    pub correlation: u64,
    pub external: u64,
    pub shapes: u32,
}

impl HostSpans {
    /// Spans.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Adds a span. One that ends before it starts gets its start as its end.
    pub fn push(&mut self, span: HostSpan) {
        self.backwards += u64::from(span.end < span.start);
        self.start.push(span.start);
        self.end.push(span.end.max(span.start));
        self.name.push(span.name);
        self.kind.push(span.kind);
        self.thread.push(span.thread);
        self.correlation.push(span.correlation);
        self.external.push(span.external);
        self.shapes.push(span.shapes);
    }

    /// One span.
    pub fn get(&self, at: usize) -> HostSpan {
        HostSpan {
            start: self.start[at],
            end: self.end[at],
            name: self.name[at],
            kind: self.kind[at],
            thread: self.thread[at],
            correlation: self.correlation[at],
            external: self.external[at],
            shapes: self.shapes[at],
        }
    }

    /// Duration, ns.
    pub fn duration(&self, at: usize) -> i64 {
        self.end[at].saturating_sub(self.start[at])
    }
}

/// Arguments of an operator, as JSON texts: `[[8, 128], [128]]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named after the trace's fields")]
pub struct Shapes {
    pub dims: Name,
    pub types: Name,
    pub strides: Name,
    pub values: Name,
}

/// Calls of one name, where a file holds sums and no timeline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CallSum {
    /// Domain of the calls counted: `HIP API`, `kernels`, `wall clock`.
    pub domain: String,
    /// Name.
    pub name: Name,
    /// Thread, where the file says.
    pub thread: Option<u32>,
    /// Depth in the call tree; 0 in flat tables.
    pub depth: u32,
    /// Calls.
    pub calls: u64,
    /// Time, ns; in call trees with everything called.
    pub total_ns: f64,
    /// Mean, ns.
    pub mean_ns: Option<f64>,
    /// Shortest, ns.
    pub min_ns: Option<f64>,
    /// Longest, ns.
    pub max_ns: Option<f64>,
    /// Standard deviation, ns.
    pub stddev_ns: Option<f64>,
    /// Percent of its time not spent in what it calls.
    pub self_percent: Option<f64>,
}

/// An allocation of memory.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Allocation {
    /// Memory operation: `ALLOC`, `FREE`, `RECLAIM`.
    pub operation: Name,
    /// Bytes; absent if a free names none.
    pub bytes: Option<u64>,
    /// Start, ns.
    pub start: i64,
    /// End, ns.
    pub end: i64,
    /// Whether it is scratch memory.
    pub scratch: bool,
}

/// A hardware counter over the dispatches of a trace.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct CounterSum {
    /// Counter.
    pub name: Name,
    /// Dispatches that have it.
    pub dispatches: u64,
    /// Sum of its values.
    pub sum: f64,
}

/// A whole trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timeline {
    /// Tool that wrote it.
    pub format: Format,
    /// Strings.
    pub names: Names,
    /// Queues of GPUs.
    pub queues: Vec<Queue>,
    /// Rows of `queues`.
    #[serde(skip)]
    pub(crate) queue_rows: HashMap<Queue, u32>,
    /// Threads of the host.
    pub threads: Vec<Thread>,
    /// Rows of `threads`, by process and thread.
    #[serde(skip)]
    pub(crate) thread_rows: HashMap<(Name, Name), u32>,
    /// GPUs named by the trace.
    pub devices: Vec<Device>,
    /// Spans on the GPUs, in the order of the file.
    pub gpu: GpuSpans,
    /// Spans on the host, in the order of the file.
    pub host: HostSpans,
    /// Details of GPU spans.
    pub details: Vec<Detail>,
    /// Arguments of operators.
    pub shapes: Vec<Shapes>,
    /// Sums of calls, where the file holds those.
    pub calls: Vec<CallSum>,
    /// Scopes and kernels with their work, where the file holds those: each before the scopes within it.
    pub scopes: Vec<ScopeSum>,
    /// Allocations.
    pub allocations: Vec<Allocation>,
    /// Counters.
    pub counters: Vec<CounterSum>,
    /// Rank and number of ranks of a distributed run.
    pub rank: Option<(u64, u64)>,
    /// Environment variables that steer the runtime and libraries; absent if the trace records none.
    pub environment: Option<Vec<(String, String)>>,
    /// Facts of the head, by name: `HIP runtime`, `command`.
    pub facts: Vec<(String, String)>,
    /// Records by kind as the file names them: `X kernel`, `s ac2g`.
    pub counts: Vec<(String, u64)>,
    /// Defects and missing data.
    pub problems: Vec<Note>,
}

impl Timeline {
    /// One without spans.
    pub fn new(format: Format) -> Self {
        Timeline {
            format,
            names: Names::default(),
            queues: Vec::new(),
            queue_rows: HashMap::new(),
            threads: Vec::new(),
            thread_rows: HashMap::new(),
            devices: Vec::new(),
            gpu: GpuSpans::default(),
            host: HostSpans::default(),
            details: Vec::new(),
            shapes: Vec::new(),
            calls: Vec::new(),
            scopes: Vec::new(),
            allocations: Vec::new(),
            counters: Vec::new(),
            rank: None,
            environment: None,
            facts: Vec::new(),
            counts: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// The same head, strings and tables without any span.
    pub fn without_spans(&self) -> Self {
        Timeline {
            format: self.format,
            names: self.names.clone(),
            queues: self.queues.clone(),
            queue_rows: self.queue_rows.clone(),
            threads: self.threads.clone(),
            thread_rows: self.thread_rows.clone(),
            devices: self.devices.clone(),
            gpu: GpuSpans::default(),
            host: HostSpans::default(),
            details: self.details.clone(),
            shapes: self.shapes.clone(),
            calls: self.calls.clone(),
            scopes: self.scopes.clone(),
            allocations: self.allocations.clone(),
            counters: self.counters.clone(),
            rank: self.rank,
            environment: self.environment.clone(),
            facts: self.facts.clone(),
            counts: self.counts.clone(),
            problems: self.problems.clone(),
        }
    }

    /// The details of a GPU span.
    pub fn detail(&self, span: &GpuSpan) -> Option<&Detail> {
        (span.detail as usize).checked_sub(1).and_then(|at| self.details.get(at))
    }

    /// Adds details and returns their index for [`GpuSpans::detail`].
    pub fn add_detail(&mut self, detail: Detail) -> u32 {
        self.details.push(detail);
        u32::try_from(self.details.len()).unwrap_or(0)
    }

    /// First start and last end of everything, ns.
    pub fn range(&self) -> Option<(i64, i64)> {
        let start = self.gpu.start.iter().chain(&self.host.start).min()?;
        let end = self.gpu.end.iter().chain(&self.host.end).max()?;
        Some((*start, *end))
    }

    pub(crate) fn problem(&mut self, kind: NoteKind, text: impl Into<String>) {
        self.problems.push(Note { kind, text: text.into() });
    }

    /// Says how many spans end before they start.
    pub(crate) fn note_backwards(&mut self) {
        let gpu = (std::mem::take(&mut self.gpu.backwards), "spans on the GPU");
        let host = (std::mem::take(&mut self.host.backwards), "spans on the host");
        for (count, what) in [gpu, host] {
            if count > 0 {
                let text = format!("{count} {what} end before they begin; they are kept with no duration");
                self.problem(NoteKind::Warning, text);
            }
        }
    }

    /// The index of a queue; new queues are added.
    pub fn queue(&mut self, queue: Queue) -> u32 {
        let queues = &mut self.queues;
        *self.queue_rows.entry(queue).or_insert_with(|| {
            queues.push(queue);
            index(queues.len() - 1)
        })
    }

    /// The index of a thread; new threads are added without a name.
    pub fn thread(&mut self, process: Name, thread: Name) -> u32 {
        let threads = &mut self.threads;
        *self.thread_rows.entry((process, thread)).or_insert_with(|| {
            threads.push(Thread { process, thread, name: Name::NONE });
            index(threads.len() - 1)
        })
    }

    /// Adds another part of the same run: another file of a set.
    pub fn append(&mut self, other: &Timeline) {
        let names: Vec<Name> = other.names.iter().map(|text| self.names.add(text)).collect();
        let name = |n: Name| names.get(n.0 as usize).copied().unwrap_or_default();
        let queues: Vec<u32> = other.queues.iter().map(|q| self.queue(*q)).collect();
        let threads: Vec<u32> = other
            .threads
            .iter()
            .map(|it| {
                let row = self.thread(name(it.process), name(it.thread));
                if let Some(own) = self.threads.get_mut(row as usize).filter(|own| own.name.is_none()) {
                    own.name = name(it.name);
                }
                row
            })
            .collect();
        let details = index(self.details.len());
        self.details.extend(other.details.iter().map(|d| Detail {
            bytes: d.bytes,
            direction: name(d.direction),
            collective: d.collective.as_ref().map(|c| Collective {
                operation: name(c.operation),
                data_type: name(c.data_type),
                group: name(c.group),
                ..c.clone()
            }),
        }));
        let shapes = index(self.shapes.len());
        self.shapes.extend(other.shapes.iter().map(|s| Shapes {
            dims: name(s.dims),
            types: name(s.types),
            strides: name(s.strides),
            values: name(s.values),
        }));
        for at in 0..other.gpu.len() {
            let span = other.gpu.get(at);
            self.gpu.push(GpuSpan {
                name: name(span.name),
                queue: queues.get(span.queue as usize).copied().unwrap_or(0),
                detail: if span.detail == 0 { 0 } else { span.detail + details },
                ..span
            });
        }
        for at in 0..other.host.len() {
            let span = other.host.get(at);
            self.host.push(HostSpan {
                name: name(span.name),
                thread: threads.get(span.thread as usize).copied().unwrap_or(0),
                shapes: if span.shapes == 0 { 0 } else { span.shapes + shapes },
                ..span
            });
        }
        self.calls.extend(other.calls.iter().map(|c| CallSum { name: name(c.name), ..c.clone() }));
        let parents = index(self.scopes.len());
        self.scopes.extend(other.scopes.iter().map(|scope| ScopeSum {
            name: name(scope.name),
            parent: scope.parent.map(|parent| parent + parents),
            ..scope.clone()
        }));
        let operation = |a: &Allocation| Allocation { operation: name(a.operation), ..*a };
        self.allocations.extend(other.allocations.iter().map(operation));
        self.counters.extend(other.counters.iter().map(|c| CounterSum { name: name(c.name), ..*c }));
        for device in &other.devices {
            if !self.devices.contains(device) {
                self.devices.push(device.clone());
            }
        }
        for fact in &other.facts {
            if !self.facts.contains(fact) {
                self.facts.push(fact.clone());
            }
        }
        self.counts.extend(other.counts.iter().cloned());
        self.problems.extend(other.problems.iter().cloned());
        self.rank = self.rank.or(other.rank);
        if self.environment.is_none() {
            self.environment.clone_from(&other.environment);
        }
    }
}

fn index(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(0)
}
