//! rocprofv3 `--output-format json`: `*_results.json`.
//!
//! The document is `{"rocprofiler-sdk-tool": [process, …]}`. Records name kernels and operations by number, and
//! the lists that say what the numbers mean may come before or after them.

use crate::agents::{Agent, GPU};
use crate::json::{Cursor, Fault, Stop, Stream, text};
use std::borrow::Cow;

/// Key of the list of processes.
pub const PROCESSES: &str = "rocprofiler-sdk-tool";

/// A list of records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum List {
    /// Kernel dispatches.
    Kernel,
    /// Copies of memory.
    Copy,
    /// Allocations of memory.
    Allocation,
    /// Allocations of scratch memory.
    Scratch,
    /// Ranges that the program marks.
    Marker,
    /// Calls of RCCL.
    Rccl,
    /// Calls of other interfaces.
    Api,
    /// Samples of the program counter at a fixed interval of time.
    HostTrap,
    /// Samples of the program counter that the hardware takes.
    Stochastic,
}

impl List {
    /// Lists of what has a time.
    pub const TIMED: [List; 7] =
        [List::Kernel, List::Copy, List::Allocation, List::Scratch, List::Marker, List::Rccl, List::Api];
    /// Lists of samples.
    pub const SAMPLES: [List; 2] = [List::HostTrap, List::Stochastic];

    fn of(key: &str) -> Option<List> {
        Some(match key {
            "kernel_dispatch" => List::Kernel,
            "memory_copy" => List::Copy,
            "memory_allocation" => List::Allocation,
            "scratch_memory" => List::Scratch,
            "marker_api" => List::Marker,
            "rccl_api" => List::Rccl,
            "hip_api" | "hsa_api" | "rocdecode_api" | "rocjpeg_api" | "ompt_api" => List::Api,
            "pc_sample_host_trap" => List::HostTrap,
            "pc_sample_stochastic" => List::Stochastic,
            _ => return None,
        })
    }
}

/// What the document says, in its order.
#[derive(Clone, Debug)]
pub enum Row<'a> {
    /// Number of the process.
    Pid(Cow<'a, str>),
    /// Name of the machine.
    Host(Cow<'a, str>),
    /// Command line, its words separated by spaces.
    Command(String),
    /// A CPU or GPU.
    Agent(Agent),
    /// A kernel.
    Symbol(Symbol<'a>),
    /// A loaded code object.
    CodeObject(CodeObject),
    /// Names of the operations of the next kind of record; the first is kind 0.
    Operations(Vec<Cow<'a, str>>),
    /// Text of a marker.
    Marker(u64, Cow<'a, str>),
    /// Text of the next sampled instruction; the first is number 0.
    Instruction(Cow<'a, str>),
    /// Source line of the next sampled instruction; the first is number 0.
    SourceLine(Cow<'a, str>),
    /// A record with times.
    Record(Record),
    /// A sample of the program counter.
    Sample(Sample<'a>),
    /// The process ends.
    End,
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Symbol<'a> {
    /// Number by which records name it.
    pub id: Option<u64>,
    /// Symbol in the code object, with `.kd`.
    pub symbol: Cow<'a, str>,
    /// Demangled name, or another that the profiler shows; empty if absent.
    pub formatted: Cow<'a, str>,
    /// Vector registers.
    pub arch_vgprs: Option<u64>,
    /// Accumulation registers.
    pub accum_vgprs: Option<u64>,
    /// Scalar registers.
    pub sgprs: Option<u64>,
}

/// A loaded code object.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodeObject {
    /// Number by which samples name it.
    pub id: Option<u64>,
    /// Address at which it begins.
    pub load_base: Option<u64>,
    /// Difference between addresses in memory and in its file.
    pub load_delta: Option<u64>,
}

/// A record with times. What its list does not have is absent or zero.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// The list it is from.
    pub list: List,
    /// Kind of record: index of a list of operations.
    pub kind: u64,
    /// Operation: index in that list.
    pub operation: u64,
    /// Thread of the host.
    pub thread: u64,
    /// Number that a call and what it starts have in common; 0 if absent.
    pub correlation: u64,
    /// Number that the program gave it; 0 if absent.
    pub external: u64,
    /// Start, ns.
    pub start: Option<i64>,
    /// End, ns.
    pub end: Option<i64>,
    /// Handle of the GPU.
    pub agent: u64,
    /// Handle of the GPU or CPU that a copy goes to.
    pub destination: u64,
    /// Handle of the GPU or CPU that a copy comes from.
    pub source: u64,
    /// Queue.
    pub queue: u64,
    /// Stream.
    pub stream: Option<u64>,
    /// Bytes copied or allocated.
    pub bytes: Option<u64>,
    /// Number of the dispatch.
    pub dispatch: Option<u64>,
    /// Number of the kernel.
    pub kernel: Option<u64>,
    /// Work items.
    pub grid: Option<[u32; 3]>,
    /// Work items of a workgroup.
    pub block: Option<[u32; 3]>,
    /// LDS of a workgroup, bytes.
    pub lds: Option<u32>,
    /// Scratch memory of a work item, bytes.
    pub scratch: Option<u32>,
}

/// A sample of the program counter.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    /// The list it is from.
    pub list: List,
    /// Number of the code object.
    pub code_object: Option<u64>,
    /// Offset in it.
    pub offset: Option<u64>,
    /// Number of the dispatch.
    pub dispatch: Option<u64>,
    /// Number of the instruction's text and source line.
    pub instruction: Option<u64>,
    /// Whether the wave issued its instruction.
    pub issued: Option<bool>,
    /// Reason why it did not, as name or number; empty if absent.
    pub stall: Cow<'a, str>,
}

/// Reads a document and gives its rows to `take`; records of other lists than those in `lists` are passed over.
/// Returns whether the document has a list of processes.
///
/// # Errors
/// Fails where the document is damaged or ends too early; the rows before were given.
pub fn read(
    input: &mut dyn std::io::Read,
    lists: &[List],
    take: &mut dyn FnMut(Row<'_>),
) -> Result<bool, Fault> {
    let mut reader = Reader { stream: Stream::new(input), lists, take };
    let mut found = false;
    reader.stream.open(b'{')?;
    while let Some(key) = reader.stream.key()? {
        if key != PROCESSES {
            reader.stream.skip()?;
            continue;
        }
        found = true;
        reader.stream.open(b'[')?;
        while reader.stream.element()? {
            reader.process()?;
            (reader.take)(Row::End);
        }
    }
    match reader.stream.peek()? {
        None => Ok(found),
        Some(_) => Err(Fault::Bad(reader.stream.offset(), "text after the end of the document".to_owned())),
    }
}

struct Reader<'r> {
    stream: Stream<'r>,
    lists: &'r [List],
    take: &'r mut dyn FnMut(Row<'_>),
}

type Parsed<T> = Result<T, Stop>;

impl Reader<'_> {
    fn process(&mut self) -> Result<(), Fault> {
        let samples = List::SAMPLES.iter().any(|list| self.lists.contains(list));
        self.stream.open(b'{')?;
        while let Some(key) = self.stream.key()? {
            match (key.as_str(), self.stream.peek()?) {
                ("metadata", Some(b'{')) => self.metadata()?,
                ("agents", Some(b'[')) => self.each(|c| agent(c).map(Row::Agent))?,
                ("kernel_symbols", Some(b'[')) => self.each(|c| symbol(c).map(Row::Symbol))?,
                ("code_objects", Some(b'[')) if samples => self.each(|c| code(c).map(Row::CodeObject))?,
                ("strings", Some(b'{')) => self.strings(samples)?,
                ("buffer_records", Some(b'{')) => self.records()?,
                ("callback_records", Some(b'{')) if samples => self.records()?,
                _ => self.stream.skip()?,
            }
        }
        Ok(())
    }

    /// Gives each element of an array.
    fn each(&mut self, parse: impl for<'a> Fn(&mut Cursor<'a>) -> Parsed<Row<'a>>) -> Result<(), Fault> {
        let Reader { stream, take, .. } = self;
        stream.open(b'[')?;
        while stream.element()? {
            // A row is given once it was parsed whole, and so only once.
            stream.with(|c| parse(c).map(&mut *take))?;
        }
        Ok(())
    }

    fn metadata(&mut self) -> Result<(), Fault> {
        let Reader { stream, take, .. } = self;
        stream.open(b'{')?;
        while let Some(key) = stream.key()? {
            match key.as_str() {
                "pid" => stream.with(|c| c.plain().map(|raw| take(Row::Pid(text(raw)))))?,
                "node" => stream.with(|c| host(c).map(|host| take(Row::Host(host))))?,
                "command" => stream.with(|c| command(c).map(|words| take(Row::Command(words.join(" ")))))?,
                _ => stream.skip()?,
            }
        }
        Ok(())
    }

    fn strings(&mut self, samples: bool) -> Result<(), Fault> {
        self.stream.open(b'{')?;
        while let Some(key) = self.stream.key()? {
            match (key.as_str(), self.stream.peek()?) {
                ("buffer_records", Some(b'[')) => self.each(|c| operations(c).map(Row::Operations))?,
                ("marker_api", Some(b'[')) => {
                    self.each(|c| marker(c).map(|(key, text)| Row::Marker(key, text)))?;
                }
                ("pc_sample_instructions", Some(b'[')) if samples => {
                    self.each(|c| c.plain().map(|raw| Row::Instruction(text(raw))))?;
                }
                ("pc_sample_comments", Some(b'[')) if samples => {
                    self.each(|c| c.plain().map(|raw| Row::SourceLine(text(raw))))?;
                }
                _ => self.stream.skip()?,
            }
        }
        Ok(())
    }

    fn records(&mut self) -> Result<(), Fault> {
        self.stream.open(b'{')?;
        while let Some(key) = self.stream.key()? {
            match (List::of(&key).filter(|list| self.lists.contains(list)), self.stream.peek()?) {
                (Some(list @ (List::HostTrap | List::Stochastic)), Some(b'[')) => {
                    self.each(|c| sample(list, c).map(Row::Sample))?;
                }
                (Some(list), Some(b'[')) => self.each(|c| record(list, c).map(Row::Record))?,
                _ => self.stream.skip()?,
            }
        }
        Ok(())
    }
}

/// A number, or the number of `{"handle": 5}`.
#[inline]
fn handle(c: &mut Cursor<'_>) -> Parsed<u64> {
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

fn size(c: &mut Cursor<'_>) -> Parsed<Option<u32>> {
    Ok(c.number()?.and_then(|n| u32::try_from(n).ok()))
}

fn time(c: &mut Cursor<'_>) -> Parsed<Option<i64>> {
    Ok(c.number()?.and_then(|n| i64::try_from(n).ok()))
}

/// A number, or a word for it.
fn flag(c: &mut Cursor<'_>) -> Parsed<Option<bool>> {
    Ok(match c.plain()? {
        b"true" => Some(true),
        b"false" => Some(false),
        raw => crate::json::whole(raw).map(|n| n != 0),
    })
}

/// Visits the members of an object; any other value has none.
fn members<'a>(
    c: &mut Cursor<'a>,
    member: impl FnMut(&'a [u8], &mut Cursor<'a>) -> Parsed<()>,
) -> Parsed<()> {
    if c.peek()? == b'{' { c.object(member) } else { c.skip(0) }
}

fn host<'a>(c: &mut Cursor<'a>) -> Parsed<Cow<'a, str>> {
    let mut host: &[u8] = b"";
    members(c, |key, c| {
        match key {
            b"hostname" => host = c.plain()?,
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    Ok(text(host))
}

fn command<'a>(c: &mut Cursor<'a>) -> Parsed<Vec<Cow<'a, str>>> {
    let mut words = Vec::new();
    if c.peek()? != b'[' {
        return c.skip(0).map(|()| words);
    }
    c.array(|c| c.plain().map(|word| words.push(text(word))))?;
    Ok(words)
}

fn agent(c: &mut Cursor<'_>) -> Parsed<Agent> {
    let mut agent = Agent::default();
    members(c, |key, c| {
        match key {
            b"id" => agent.handle = handle(c)?,
            b"node_id" => agent.node = c.number()?.unwrap_or(0),
            b"type" => agent.is_gpu = c.number()? == Some(GPU),
            key => agent.fact_of(key, c)?,
        }
        Ok(())
    })?;
    Ok(agent)
}

fn symbol<'a>(c: &mut Cursor<'a>) -> Parsed<Symbol<'a>> {
    let mut it = Symbol::default();
    members(c, |key, c| {
        match key {
            b"kernel_id" => it.id = c.number()?,
            b"formatted_kernel_name" => it.formatted = text(c.plain()?),
            b"kernel_name" => it.symbol = text(c.plain()?),
            b"arch_vgpr_count" => it.arch_vgprs = c.number()?,
            b"accum_vgpr_count" => it.accum_vgprs = c.number()?,
            b"sgpr_count" => it.sgprs = c.number()?,
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    Ok(it)
}

fn code(c: &mut Cursor<'_>) -> Parsed<CodeObject> {
    let mut it = CodeObject::default();
    members(c, |key, c| {
        match key {
            b"code_object_id" => it.id = c.number()?,
            b"load_base" => it.load_base = c.number()?,
            b"load_delta" => it.load_delta = c.number()?,
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    Ok(it)
}

fn operations<'a>(c: &mut Cursor<'a>) -> Parsed<Vec<Cow<'a, str>>> {
    let mut list = Vec::new();
    members(c, |key, c| match key {
        b"operations" if c.peek()? == b'[' => c.array(|c| c.plain().map(|raw| list.push(text(raw)))),
        _ => c.skip(0),
    })?;
    Ok(list)
}

fn marker<'a>(c: &mut Cursor<'a>) -> Parsed<(u64, Cow<'a, str>)> {
    let (mut number, mut value): (u64, &[u8]) = (0, b"");
    members(c, |key, c| {
        match key {
            b"key" => number = c.number()?.unwrap_or(0),
            b"value" => value = c.plain()?,
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    Ok((number, text(value)))
}

fn record(list: List, c: &mut Cursor<'_>) -> Parsed<Record> {
    let mut r = Record {
        list,
        kind: 0,
        operation: 0,
        thread: 0,
        correlation: 0,
        external: 0,
        start: None,
        end: None,
        agent: 0,
        destination: 0,
        source: 0,
        queue: 0,
        stream: None,
        bytes: None,
        dispatch: None,
        kernel: None,
        grid: None,
        block: None,
        lds: None,
        scratch: None,
    };
    members(c, |key, c| {
        match key {
            b"kind" => r.kind = c.number()?.unwrap_or(0),
            b"operation" => r.operation = c.number()?.unwrap_or(0),
            b"thread_id" => r.thread = c.number()?.unwrap_or(0),
            b"start_timestamp" => r.start = time(c)?,
            b"end_timestamp" => r.end = time(c)?,
            b"stream_id" => r.stream = Some(handle(c)?),
            b"bytes" | b"allocation_size" => r.bytes = c.number()?,
            b"dst_agent_id" => r.destination = handle(c)?,
            b"src_agent_id" => r.source = handle(c)?,
            b"agent_id" => r.agent = handle(c)?,
            b"queue_id" => r.queue = handle(c)?,
            b"correlation_id" => members(c, |key, c| {
                match key {
                    b"internal" => r.correlation = c.number()?.unwrap_or(0),
                    b"external" => r.external = handle(c)?,
                    _ => c.skip(0)?,
                }
                Ok(())
            })?,
            b"dispatch_info" => members(c, |key, c| dispatched(&mut r, key, c))?,
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    Ok(r)
}

/// A member of a record's `dispatch_info`.
fn dispatched(r: &mut Record, key: &[u8], c: &mut Cursor<'_>) -> Parsed<()> {
    match key {
        b"agent_id" => r.agent = handle(c)?,
        b"queue_id" => r.queue = handle(c)?,
        b"kernel_id" => r.kernel = c.number()?,
        b"dispatch_id" => r.dispatch = c.number()?,
        b"workgroup_size" => r.block = c.triple()?,
        b"grid_size" => r.grid = c.triple()?,
        b"group_segment_size" => r.lds = size(c)?,
        b"private_segment_size" => r.scratch = size(c)?,
        _ => c.skip(0)?,
    }
    Ok(())
}

fn sample<'a>(list: List, c: &mut Cursor<'a>) -> Parsed<Sample<'a>> {
    let mut it = Sample {
        list,
        code_object: None,
        offset: None,
        dispatch: None,
        instruction: None,
        issued: None,
        stall: Cow::Borrowed(""),
    };
    members(c, |key, c| match key {
        b"inst_index" => c.number().map(|n| it.instruction = n),
        b"record" => members(c, |key, c| sampled(&mut it, key, c)),
        _ => c.skip(0),
    })?;
    Ok(it)
}

/// A member of a sample's `record`.
fn sampled<'a>(it: &mut Sample<'a>, key: &[u8], c: &mut Cursor<'a>) -> Parsed<()> {
    match key {
        b"pc" => members(c, |key, c| {
            match key {
                b"code_object_id" => it.code_object = c.number()?,
                b"code_object_offset" => it.offset = c.number()?,
                _ => c.skip(0)?,
            }
            Ok(())
        }),
        b"dispatch_id" => c.number().map(|n| it.dispatch = n),
        b"wave_issued" => flag(c).map(|issued| it.issued = issued),
        b"snapshot" => members(c, |key, c| match key {
            b"stall_reason" => c.plain().map(|raw| it.stall = text(raw)),
            _ => c.skip(0),
        }),
        _ => c.skip(0),
    }
}

#[cfg(test)]
mod tests;
