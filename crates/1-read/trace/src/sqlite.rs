//! Databases: rocpd (rocprofv3, rocprof-sys) and the one of rocprof version 1.
//!
//! Tables are read through the views that hide the suffix of their names; a table or column that a database
//! of another version lacks is named, and the rest is read.

use crate::chrome::workgroups;
use crate::error::Error;
use crate::rocprofv3::json::device;
use crate::row_text;
use crate::timeline::{
    Allocation, CounterSum, Detail, Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue, Timeline,
};
use rocprof::database;
use rocprof::rocpd::{self, Region, Rocpd, SCHEMA, Span};
use std::collections::{BTreeSet, HashMap};
use view::NoteKind;

/// Thousands of steps a query may take: more than a database of gigabytes needs, and an end for views that
/// loop.
const STEP_THOUSANDS: u64 = 20_000_000;

/// Reads a database.
pub(crate) fn read(bytes: &[u8]) -> Result<Timeline, Error> {
    let broken = |error: database::Error| Error::Database(error.to_string());
    let db = Rocpd::open(bytes, STEP_THOUSANDS).map_err(broken)?;
    if db.has("rocpd_kernel_dispatch").map_err(broken)? {
        return Reader::read(&db).map_err(broken);
    }
    if db.has("HIP").map_err(broken)? || db.has("OPS").map_err(broken)? {
        return version1(&db).map_err(broken);
    }
    if let Some(foreign) = crate::foreign::database(|table| db.has(table)).map_err(broken)? {
        return Err(Error::Foreign(foreign));
    }
    Err(Error::Database("it has neither `rocpd_kernel_dispatch` nor `OPS`".to_owned()))
}

/// A timeline while its database is read.
struct Reader {
    timeline: Timeline,
    untimed: u64,
}

impl Reader {
    fn read(db: &Rocpd) -> database::Result<Timeline> {
        let mut it = Reader { timeline: Timeline::new(Format::Rocpd), untimed: 0 };
        it.head(db)?;
        it.kernels(db)?;
        // Other versions lack tables, or have them with other columns: complete parts are read.
        type Part = fn(&mut Reader, &Rocpd) -> database::Result<()>;
        let parts: [(&str, &str, Part); 4] = [
            ("copies", "rocpd_memory_copy", Reader::copies),
            ("calls of the host", "rocpd_region", |it, db| db.regions(|region| it.region(region))),
            ("allocations", "rocpd_memory_allocate", Reader::allocations),
            ("counters", "rocpd_pmc_event", Reader::counters),
        ];
        for (what, table, read) in parts {
            if !db.has(table)? {
                it.timeline.problem(NoteKind::Warning, format!("no {what}: the database lacks `{table}`"));
            } else if let Err(error) = read(&mut it, db) {
                let error = Error::Database(error.to_string());
                it.timeline.problem(NoteKind::Error, format!("{what} are left out: {error}"));
            }
        }
        if it.untimed > 0 {
            let text = format!("{} records have no start or end; they are left out", it.untimed);
            it.timeline.problem(NoteKind::Warning, text);
        }
        Ok(it.timeline)
    }

    fn head(&mut self, db: &Rocpd) -> database::Result<()> {
        let version = db.schema()?;
        if version != SCHEMA {
            let text = format!("the database has schema version {version:?}, this reader knows {SCHEMA}");
            self.timeline.problem(NoteKind::Warning, text);
        }
        self.timeline.devices.extend(db.gpus()?.iter().map(device));
        let (facts, mut variables, mut any) = (&mut self.timeline.facts, Vec::new(), false);
        let command = |command: std::borrow::Cow<'_, str>| {
            any = true;
            facts.push(("command".to_owned(), command.into_owned()));
        };
        db.processes(command, |name, value| {
            if crate::steers(&name) {
                variables.push((name.into_owned(), value.into_owned()));
            }
        })?;
        self.timeline.environment = any.then_some(variables);
        Ok(())
    }

    fn kernels(&mut self, db: &Rocpd) -> database::Result<()> {
        let mut streams = BTreeSet::new();
        db.kernels(|it| {
            if it.start.is_some() && it.end.is_some() {
                streams.insert(it.stream);
            }
            let queue = Queue { device: it.agent, stream: it.queue };
            self.span(it, GpuKind::Kernel, queue);
        })?;
        if !streams.is_empty() {
            self.timeline.facts.push(("streams".to_owned(), streams.len().to_string()));
        }
        Ok(())
    }

    fn copies(&mut self, db: &Rocpd) -> database::Result<()> {
        let gpus: Vec<u64> = self.timeline.devices.iter().map(|d| d.id).collect();
        db.copies(|it| {
            // A copy to the host belongs to its source GPU.
            let device = [it.agent, it.source].into_iter().find(|id| gpus.contains(id));
            self.span(it, GpuKind::Copy, Queue { device: device.unwrap_or(it.agent), stream: it.stream });
        })
    }

    /// A dispatch or copy.
    fn span(&mut self, it: &Span<'_>, kind: GpuKind, queue: Queue) {
        let (Some(start), Some(end)) = (it.start, it.end) else {
            self.untimed += 1;
            return;
        };
        let name = self.timeline.names.add(&it.name);
        let detail = Detail { bytes: it.bytes, direction: name, collective: None };
        let span = GpuSpan {
            start,
            end,
            name,
            kind,
            queue: self.timeline.queue(queue),
            correlation: it.correlation,
            external: 0,
            grid: workgroups(it.grid, it.block),
            block: it.block,
            detail: if kind == GpuKind::Copy { self.timeline.add_detail(detail) } else { 0 },
        };
        self.timeline.gpu.push(span);
    }

    fn region(&mut self, it: &Region<'_>) {
        let (Some(start), Some(end)) = (it.start, it.end) else {
            self.untimed += 1;
            return;
        };
        let kind = match &*it.category {
            c if c.starts_with("MARKER") => HostKind::Annotation,
            c if c.starts_with("RCCL") => HostKind::Collective,
            c if c.starts_with("HIP") || c.starts_with("HSA") => HostKind::Runtime,
            _ => HostKind::Other,
        };
        // The name of a marker's region is the function; its message is in the event's data.
        let message = (kind == HostKind::Annotation).then(|| rocpd::message(&it.extra)).flatten();
        let names = &mut self.timeline.names;
        let name = names.add(message.as_deref().unwrap_or(&it.name));
        let (process, thread) = (names.add(&it.process), names.add(&it.thread));
        let thread = self.timeline.thread(process, thread);
        let correlation = it.correlation;
        let span = HostSpan { start, end, name, kind, thread, correlation, external: 0, shapes: 0 };
        self.timeline.host.push(span);
    }

    fn allocations(&mut self, db: &Rocpd) -> database::Result<()> {
        let (names, all) = (&mut self.timeline.names, &mut self.timeline.allocations);
        db.allocations(|it| {
            all.push(Allocation {
                operation: names.add(&it.operation),
                bytes: it.bytes,
                start: it.start.unwrap_or(0),
                end: it.end.unwrap_or(0),
                scratch: it.category.starts_with("SCRATCH"),
            });
        })
    }

    fn counters(&mut self, db: &Rocpd) -> database::Result<()> {
        let (names, all) = (&mut self.timeline.names, &mut self.timeline.counters);
        db.counter_sums(|it| {
            all.push(CounterSum { name: names.add(&it.name), dispatches: it.dispatches, sum: it.sum });
        })
    }
}

/// The database of rocprof version 1: a table of calls, one of kernels, one of copies.
fn version1(db: &Rocpd) -> database::Result<Timeline> {
    let mut it = Reader { timeline: Timeline::new(Format::Rocprofv1Database), untimed: 0 };
    let mut bytes: HashMap<u64, u64> = HashMap::new();
    if db.has("HIP")? {
        db.version1_calls(|call| {
            bytes.extend(row_text::bytes(call.extra.as_bytes()).map(|size| (call.correlation, size)));
            let region = Region { category: "HIP".into(), extra: "".into(), ..call.clone() };
            it.region(&Region { start: call.start.or(Some(0)), end: call.end.or(Some(0)), ..region });
        })?;
    }
    let mut barriers = 0u64;
    for (table, kind) in [("OPS", GpuKind::Kernel), ("COPY", GpuKind::Copy)] {
        if db.has(table)? {
            db.version1_spans(table, |span| {
                if kind == GpuKind::Kernel && row_text::is_barrier(&span.name) {
                    barriers += 1;
                    return;
                }
                let queue = Queue { device: span.agent, stream: span.queue };
                let bytes = bytes.get(&span.correlation).copied().filter(|_| kind == GpuKind::Copy);
                it.span(&Span { bytes: span.bytes.or(bytes), ..span.clone() }, kind, queue);
            })?;
        }
    }
    row_text::note_barriers(&mut it.timeline, barriers);
    Ok(it.timeline)
}
