//! CSV of rocprofv3, of rocprof v1 and v2, and their statistics, distinguished by the header.

use crate::chrome::workgroups;
use crate::error::Error;
use crate::names::Name;
use crate::rocprofv1;
use crate::rocprofv3::json::to_host;
use crate::row_text::{is_barrier, note_barriers, plain};
use crate::table::{Bad, Table};
use crate::timeline::{
    Allocation, CallSum, CounterSum, Detail, Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue, Timeline,
};
use std::collections::{HashMap, HashSet};
use std::io::Read;
use view::NoteKind;

/// Columns of sums of calls: name, calls, time, least, most, deviation.
const SUMS: [&str; 6] = ["name", "calls", "totaldurationns", "minns", "maxns", "stddev"];
/// The same in rocprof-compute's `pmc_kernel_top.csv`, new and old.
const KERNEL_TOP: [[&str; 6]; 2] =
    [["kernel_name", "count", "sum(ns)", "", "", ""], ["name", "count", "sum(ns)", "", "", ""]];

/// Reads one table; `name` is the file's, which tells tables of statistics apart.
pub(crate) fn read(name: &str, input: &mut dyn Read) -> Result<Timeline, Error> {
    let table = Table::open(input)?;
    if table.has(&["sample_timestamp"]) {
        let what = "PC samples have no durations; `rockhound analyze` reads them";
        return Err(Error::Unknown(what.to_owned()));
    }
    if table.has(&["name", "calls", "totaldurationns"]) {
        return stats(name, table, SUMS);
    }
    if let Some(columns) = KERNEL_TOP.into_iter().find(|columns| table.has(&columns[..3])) {
        return stats("kernel", table, columns);
    }
    if table.has(&["kernelname"]) || table.has(&["dispatch_id", "gpu_id"]) {
        return rocprofv1::read(table);
    }
    let timed = table.has(&["start_timestamp", "end_timestamp"]);
    if !timed && table.has(&["kernel_name"]) {
        let what = "the table has no start and end times; `rockhound analyze` reads its counters";
        return Err(Error::Unknown(what.to_owned()));
    }
    if !timed {
        return Err(Error::Unknown(format!("a table with the columns {}", table.header())));
    }
    Spans::new(table).read()
}

/// A table of rocprofv3 with times.
struct Spans<'r> {
    table: Table<'r>,
    timeline: Timeline,
    /// Dispatches of a table of counters, which has a row per counter.
    dispatches: HashSet<(u64, i64)>,
    counters: HashMap<Name, (HashSet<u64>, f64)>,
}

impl<'r> Spans<'r> {
    fn new(table: Table<'r>) -> Self {
        // rocprof v2 names calls without their process.
        let is_version2 = table.has(&["domain", "function"]) && table.column("process_id").is_none();
        let format = if is_version2 { Format::Rocprofv2Csv } else { Format::Rocprofv3Csv };
        Spans { table, timeline: Timeline::new(format), dispatches: HashSet::new(), counters: HashMap::new() }
    }

    fn read(mut self) -> Result<Timeline, Error> {
        let kernels = self.table.has(&["kernel_name"]);
        let copies = self.table.has(&["direction"]);
        let calls = self.table.has(&["function"]);
        let memory = self.table.has(&["operation"]);
        if !(kernels || copies || calls || memory) {
            return Err(Error::Unknown(format!("a table with the columns {}", self.table.header())));
        }
        let (starts, ends) = (self.table.column("start_timestamp"), self.table.column("end_timestamp"));
        let mut bad = Bad::default();
        while let Some(row) = self.table.next() {
            let times = (self.table.time(starts), self.table.time(ends));
            let (Ok(()), (Some(start), Some(end)), true) = (row, times, self.table.is_whole()) else {
                bad.row(&self.table);
                continue;
            };
            if kernels || copies {
                self.gpu(kernels, start, end);
            } else if calls {
                self.call(start, end);
            } else {
                self.memory(start, end);
            }
        }
        bad.report(&mut self.timeline);
        let mut counters: Vec<CounterSum> = self
            .counters
            .into_iter()
            .map(|(name, (dispatches, sum))| CounterSum { name, dispatches: dispatches.len() as u64, sum })
            .collect();
        counters.sort_by_key(|c| c.name);
        self.timeline.counters = counters;
        Ok(self.timeline)
    }

    fn number(&self, column: &str) -> Option<u64> {
        self.table.number(self.table.column(column))
    }

    fn name(&mut self, column: &str) -> Name {
        self.timeline.names.add(self.table.text(self.table.column(column)))
    }

    fn axes(&self, stem: &str) -> [u32; 3] {
        ["x", "y", "z"].map(|axis| {
            let n = self.number(&format!("{stem}_{axis}")).and_then(|n| u32::try_from(n).ok());
            n.unwrap_or(0)
        })
    }

    fn gpu(&mut self, kernel: bool, start: i64, end: i64) {
        let correlation = self.number("correlation_id").unwrap_or(0);
        if kernel && self.table.column("counter_name").is_some() {
            let dispatch = self.number("dispatch_id").unwrap_or(0);
            let counter = self.name("counter_name");
            let value = self.table.real(self.table.column("counter_value")).unwrap_or(0.0);
            let sum = self.counters.entry(counter).or_default();
            sum.0.insert(dispatch);
            sum.1 += value;
            if !self.dispatches.insert((dispatch, start)) {
                return;
            }
        }
        let to_host = !kernel && to_host(self.table.text(self.table.column("direction")));
        let device = self.number(match (kernel, to_host) {
            (true, _) => "agent_id",
            (_, true) => "source_agent_id",
            _ => "destination_agent_id",
        });
        let row = self.number("queue_id").or(self.number("stream_id"));
        let block = self.axes("workgroup_size");
        let name = self.name(if kernel { "kernel_name" } else { "direction" });
        let queue = self.timeline.queue(Queue { device: device.unwrap_or(0), stream: row.unwrap_or(0) });
        let grid = workgroups(self.axes("grid_size"), block);
        let detail = Detail { direction: name, ..Detail::default() };
        let detail = if kernel { 0 } else { self.timeline.add_detail(detail) };
        let kind = if kernel { GpuKind::Kernel } else { GpuKind::Copy };
        self.timeline.gpu.push(GpuSpan {
            start,
            end,
            name,
            kind,
            queue,
            correlation,
            external: 0,
            grid,
            block,
            detail,
        });
    }

    fn call(&mut self, start: i64, end: i64) {
        let domain = self.table.text(self.table.column("domain"));
        let kind = match domain {
            d if d.starts_with("MARKER") => HostKind::Annotation,
            d if d.starts_with("RCCL") => HostKind::Collective,
            _ => HostKind::Runtime,
        };
        let (process, thread) = (self.name("process_id"), self.name("thread_id"));
        let thread = self.timeline.thread(process, thread);
        let name = self.name("function");
        let correlation = self.number("correlation_id").unwrap_or(0);
        self.timeline.host.push(HostSpan {
            start,
            end,
            name,
            kind,
            thread,
            correlation,
            external: 0,
            shapes: 0,
        });
    }

    fn memory(&mut self, start: i64, end: i64) {
        let scratch = self.table.text(self.table.column("kind")).starts_with("SCRATCH");
        let operation = self.name("operation");
        let bytes = self.number("allocation_size");
        self.timeline.allocations.push(Allocation { operation, bytes, start, end, scratch });
    }
}

/// `hip_stats.csv` and similar.
fn stats(file: &str, mut table: Table<'_>, columns: [&str; 6]) -> Result<Timeline, Error> {
    let mut timeline = Timeline::new(Format::Stats);
    let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let domain = ["hip", "hsa", "copy", "kernel", "marker", "rccl", "memory", "domain"]
        .into_iter()
        .find(|word| stem.contains(word))
        .map_or("kernels", |word| match word {
            "hip" => "HIP API",
            "hsa" => "HSA API",
            "copy" | "memory" => "memory copies",
            "marker" => "markers",
            "rccl" => "RCCL API",
            "domain" => "domains",
            _ => "kernels",
        });
    let columns = columns.map(|name| table.column(name));
    let (mut bad, mut barriers) = (Bad::default(), 0);
    while let Some(row) = table.next() {
        if is_barrier(table.text(columns[0])) {
            barriers += table.number(columns[1]).unwrap_or(1);
            continue;
        }
        let (Some(calls), Some(total)) = (table.number(columns[1]), table.real(columns[2])) else {
            bad.row(&table);
            continue;
        };
        if row.is_err() {
            bad.row(&table);
            continue;
        }
        let name = timeline.names.add(plain(table.text(columns[0])));
        // The file cuts the mean to whole nanoseconds.
        let mean = if calls > 0 { Some(total / calls as f64) } else { None };
        timeline.calls.push(CallSum {
            domain: domain.to_owned(),
            name,
            thread: None,
            depth: 0,
            calls,
            total_ns: total,
            mean_ns: mean,
            min_ns: table.real(columns[3]),
            max_ns: table.real(columns[4]),
            stddev_ns: table.real(columns[5]),
            self_percent: None,
        });
    }
    bad.report(&mut timeline);
    note_barriers(&mut timeline, barriers);
    timeline
        .problem(NoteKind::Info, "the file holds sums of calls; it has no times, so no idle time or overlap");
    Ok(timeline)
}
