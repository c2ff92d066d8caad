//! Databases: rocpd (rocprofv3, rocprof-sys) and the one of rocprof version 1.
//!
//! Tables are read through the views that hide the suffix of their names; a table or column that a database
//! of another version lacks is named, and the rest is read.

use crate::chrome::workgroups;
use crate::error::{Error, Severity};
use crate::json::Cursor;
use crate::timeline::{
    Allocation, CounterSum, Detail, Device, Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue, Timeline,
};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// Thousands of steps a query may take: more than a database of gigabytes needs, and an end for views that
/// loop.
const STEP_THOUSANDS: u64 = 20_000_000;
/// The layout this reader was written for.
const SCHEMA: &str = "3";

/// Reads a database.
pub(crate) fn read(bytes: &[u8]) -> Result<Timeline, Error> {
    let db = database::open(bytes, STEP_THOUSANDS).map_err(broken)?;
    if has(&db, "rocpd_kernel_dispatch")? {
        return Rocpd::read(&db);
    }
    if has(&db, "HIP")? || has(&db, "OPS")? {
        return version1(&db);
    }
    Err(Error::Database("it has neither `rocpd_kernel_dispatch` nor `OPS`".to_owned()))
}

fn broken(error: rusqlite::Error) -> Error {
    Error::Database(error.to_string())
}

fn has(db: &Connection, table: &str) -> Result<bool, Error> {
    let query = "SELECT count(*) FROM sqlite_master WHERE name = ?1";
    let count: i64 = db.query_row(query, [table], |row| row.get(0)).map_err(broken)?;
    Ok(count > 0)
}

/// Cells of a row.
struct Cells<'a>(&'a rusqlite::Row<'a>);

impl Cells<'_> {
    fn whole(&self, at: usize) -> Option<i64> {
        match self.0.get_ref(at) {
            Ok(ValueRef::Integer(v)) => Some(v),
            Ok(ValueRef::Real(v)) if v.is_finite() => Some(v as i64),
            Ok(ValueRef::Text(t)) => std::str::from_utf8(t).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    fn number(&self, at: usize) -> u64 {
        self.whole(at).and_then(|v| u64::try_from(v).ok()).unwrap_or(0)
    }

    fn size(&self, at: usize) -> u32 {
        u32::try_from(self.number(at)).unwrap_or(0)
    }

    fn text(&self, at: usize) -> std::borrow::Cow<'_, str> {
        match self.0.get_ref(at) {
            Ok(ValueRef::Text(t)) => String::from_utf8_lossy(t),
            Ok(ValueRef::Integer(v)) => v.to_string().into(),
            _ => "".into(),
        }
    }
}

fn each(db: &Connection, query: &str, mut take: impl FnMut(&Cells<'_>)) -> Result<(), Error> {
    let mut statement = db.prepare(query).map_err(broken)?;
    let mut rows = statement.query([]).map_err(broken)?;
    while let Some(row) = rows.next().map_err(broken)? {
        take(&Cells(row));
    }
    Ok(())
}

/// A rocpd database while it is read.
struct Rocpd {
    timeline: Timeline,
    untimed: u64,
}

impl Rocpd {
    fn read(db: &Connection) -> Result<Timeline, Error> {
        let mut it = Rocpd { timeline: Timeline::new(Format::Rocpd), untimed: 0 };
        it.head(db)?;
        it.kernels(db)?;
        // Other versions lack tables, or have them with other columns: complete parts are read.
        type Part = fn(&mut Rocpd, &Connection) -> Result<(), Error>;
        let parts: [(&str, &str, Part); 4] = [
            ("copies", "rocpd_memory_copy", Rocpd::copies),
            ("calls of the host", "rocpd_region", Rocpd::regions),
            ("allocations", "rocpd_memory_allocate", Rocpd::allocations),
            ("counters", "rocpd_pmc_event", Rocpd::counters),
        ];
        for (what, table, read) in parts {
            if !has(db, table)? {
                it.timeline.problem(Severity::Warning, format!("no {what}: the database lacks `{table}`"));
            } else if let Err(error) = read(&mut it, db) {
                it.timeline.problem(Severity::Error, format!("{what} are left out: {error}"));
            }
        }
        if it.untimed > 0 {
            let text = format!("{} records have no start or end; they are left out", it.untimed);
            it.timeline.problem(Severity::Warning, text);
        }
        Ok(it.timeline)
    }

    fn head(&mut self, db: &Connection) -> Result<(), Error> {
        let mut version = String::new();
        let query = "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'";
        each(db, query, |row| version = row.text(0).into_owned())?;
        if version != SCHEMA {
            let text = format!("the database has schema version {version:?}, this reader knows {SCHEMA}");
            self.timeline.problem(Severity::Warning, text);
        }
        let devices = &mut self.timeline.devices;
        each(db, "SELECT id, name, product_name, extdata FROM rocpd_info_agent WHERE type = 'GPU'", |row| {
            let mut device = Device {
                id: row.number(0),
                target: row.text(1).into_owned(),
                name: row.text(2).into_owned(),
                compute_units: 0,
            };
            let facts = format!("{} ", row.text(3));
            // Facts that are not JSON are ignored.
            let _ = Cursor::of(facts.as_bytes()).object(|key, c| {
                if key == b"cu_count" {
                    device.compute_units = c.number()?.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
                    return Ok(());
                }
                c.skip(0)
            });
            devices.push(device);
        })?;
        let (mut commands, mut environment) = (Vec::new(), None);
        each(db, "SELECT command, environment FROM rocpd_info_process", |row| {
            commands.push(row.text(0).into_owned());
            let text = format!("{} ", row.text(1));
            let list: &mut Vec<_> = environment.get_or_insert_with(Vec::new);
            let _ = Cursor::of(text.as_bytes()).object(|key, c| {
                let value = c.plain()?;
                let name = String::from_utf8_lossy(key).into_owned();
                if crate::steers(&name) {
                    list.push((name, String::from_utf8_lossy(value).into_owned()));
                }
                Ok(())
            });
        })?;
        self.timeline.environment = environment;
        self.timeline.facts.extend(commands.into_iter().map(|c| ("command".to_owned(), c)));
        Ok(())
    }

    fn kernels(&mut self, db: &Connection) -> Result<(), Error> {
        let mut streams = std::collections::BTreeSet::new();
        let query = "SELECT d.start, d.\"end\", coalesce(nullif(k.display_name, ''), k.kernel_name), d.agent_id, \
             d.queue_id, e.stack_id, d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, d.grid_size_x, \
             d.grid_size_y, d.grid_size_z, d.stream_id FROM rocpd_kernel_dispatch d \
             LEFT JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id AND k.guid = d.guid \
             LEFT JOIN rocpd_event e ON e.id = d.event_id AND e.guid = d.guid";
        each(db, query, |row| {
            let (Some(start), Some(end)) = (row.whole(0), row.whole(1)) else {
                self.untimed += 1;
                return;
            };
            streams.insert(row.number(12));
            let block = [row.size(6), row.size(7), row.size(8)];
            let queue = Queue { device: row.number(3), stream: row.number(4) };
            let span = GpuSpan {
                start,
                end,
                name: self.timeline.names.add(&row.text(2)),
                kind: GpuKind::Kernel,
                queue: self.timeline.queue(queue),
                correlation: row.number(5),
                external: 0,
                grid: workgroups([row.size(9), row.size(10), row.size(11)], block),
                block,
                detail: 0,
            };
            self.timeline.gpu.push(span);
        })?;
        if !streams.is_empty() {
            self.timeline.facts.push(("streams".to_owned(), streams.len().to_string()));
        }
        Ok(())
    }

    fn copies(&mut self, db: &Connection) -> Result<(), Error> {
        let query = "SELECT m.start, m.\"end\", s.string, m.dst_agent_id, m.src_agent_id, m.stream_id, e.stack_id, m.size \
             FROM rocpd_memory_copy m LEFT JOIN rocpd_string s ON s.id = m.name_id AND s.guid = m.guid \
             LEFT JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid";
        let gpus: Vec<u64> = self.timeline.devices.iter().map(|d| d.id).collect();
        each(db, query, |row| {
            let (Some(start), Some(end)) = (row.whole(0), row.whole(1)) else {
                self.untimed += 1;
                return;
            };
            let name = self.timeline.names.add(&row.text(2));
            let bytes = row.whole(7).and_then(|n| u64::try_from(n).ok());
            let detail = self.timeline.add_detail(Detail { bytes, direction: name, collective: None });
            // A copy to the host belongs to its source GPU.
            let device = [row.number(3), row.number(4)].into_iter().find(|id| gpus.contains(id));
            let queue = Queue { device: device.unwrap_or(row.number(3)), stream: row.number(5) };
            let span = GpuSpan {
                start,
                end,
                name,
                kind: GpuKind::Copy,
                queue: self.timeline.queue(queue),
                correlation: row.number(6),
                external: 0,
                grid: [0; 3],
                block: [0; 3],
                detail,
            };
            self.timeline.gpu.push(span);
        })
    }

    fn regions(&mut self, db: &Connection) -> Result<(), Error> {
        let query = "SELECT r.start, r.\"end\", s.string, c.string, r.pid, r.tid, e.stack_id, e.extdata \
             FROM rocpd_region r LEFT JOIN rocpd_string s ON s.id = r.name_id AND s.guid = r.guid \
             LEFT JOIN rocpd_event e ON e.id = r.event_id AND e.guid = r.guid \
             LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid";
        each(db, query, |row| self.region(row, row.whole(1)))?;
        if !has(db, "rocpd_sample")? {
            return Ok(());
        }
        // A marker without length is a sample on a track.
        let query = "SELECT m.timestamp, m.timestamp, c.string, c.string, t.pid, t.tid, e.stack_id, e.extdata \
             FROM rocpd_sample m LEFT JOIN rocpd_track t ON t.id = m.track_id AND t.guid = m.guid \
             LEFT JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid \
             LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid";
        each(db, query, |row| self.region(row, row.whole(0)))
    }

    fn region(&mut self, row: &Cells<'_>, end: Option<i64>) {
        let (Some(start), Some(end)) = (row.whole(0), end) else {
            self.untimed += 1;
            return;
        };
        let category = row.text(3);
        let kind = match &*category {
            c if c.starts_with("MARKER") => HostKind::Annotation,
            c if c.starts_with("RCCL") => HostKind::Collective,
            c if c.starts_with("HIP") || c.starts_with("HSA") => HostKind::Runtime,
            _ => HostKind::Other,
        };
        // The name of a marker's region is the function; its message is in the event's data.
        let message = (kind == HostKind::Annotation).then(|| message(&row.text(7))).flatten();
        let names = &mut self.timeline.names;
        let name = match &message {
            Some(text) => names.add(text),
            None => names.add(&row.text(2)),
        };
        let (process, thread) = (names.add(&row.text(4)), names.add(&row.text(5)));
        let thread = self.timeline.thread(process, thread);
        let correlation = row.number(6);
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

    fn allocations(&mut self, db: &Connection) -> Result<(), Error> {
        let names = &mut self.timeline.names;
        let all = &mut self.timeline.allocations;
        let query = "SELECT m.start, m.\"end\", m.type, m.size, c.string FROM rocpd_memory_allocate m \
             LEFT JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid \
             LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid";
        each(db, query, |row| {
            let operation = names.add(&row.text(2));
            let bytes = row.whole(3).and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
            let (start, end) = (row.whole(0).unwrap_or(0), row.whole(1).unwrap_or(0));
            let scratch = row.text(4).starts_with("SCRATCH");
            all.push(Allocation { operation, bytes, start, end, scratch });
        })
    }

    fn counters(&mut self, db: &Connection) -> Result<(), Error> {
        let names = &mut self.timeline.names;
        let all = &mut self.timeline.counters;
        // A counter has a row for each instance of its block.
        let query = "SELECT p.name, count(DISTINCT v.event_id), sum(v.value) FROM rocpd_pmc_event v \
             JOIN rocpd_info_pmc p ON p.id = v.pmc_id AND p.guid = v.guid GROUP BY p.name ORDER BY p.name";
        each(db, query, |row| {
            let sum = match row.0.get_ref(2) {
                Ok(ValueRef::Real(v)) => v,
                _ => row.whole(2).unwrap_or(0) as f64,
            };
            all.push(CounterSum { name: names.add(&row.text(0)), dispatches: row.number(1), sum });
        })
    }
}

/// The text of `{"message": "..."}`.
fn message(json: &str) -> Option<String> {
    let json = format!("{json} ");
    let mut found = None;
    let _ = Cursor::of(json.as_bytes()).object(|key, c| {
        if key == b"message" {
            let text = crate::json::unescape(c.plain()?);
            found = Some(String::from_utf8_lossy(&text).into_owned());
            return Ok(());
        }
        c.skip(0)
    });
    found
}

/// The database of rocprof version 1: a table of calls, one of kernels, one of copies.
fn version1(db: &Connection) -> Result<Timeline, Error> {
    let mut timeline = Timeline::new(Format::Rocprofv1Database);
    if has(db, "HIP")? {
        each(db, "SELECT BeginNs, EndNs, Name, pid, tid FROM HIP", |row| {
            let (process, thread) = (timeline.names.add(&row.text(3)), timeline.names.add(&row.text(4)));
            let thread = timeline.thread(process, thread);
            let name = timeline.names.add(&row.text(2));
            timeline.host.push(HostSpan {
                start: row.whole(0).unwrap_or(0),
                end: row.whole(1).unwrap_or(0),
                name,
                kind: HostKind::Runtime,
                thread,
                correlation: 0,
                external: 0,
                shapes: 0,
            });
        })?;
    }
    for (table, kind) in [("OPS", GpuKind::Kernel), ("COPY", GpuKind::Copy)] {
        if !has(db, table)? {
            continue;
        }
        let query = format!("SELECT BeginNs, EndNs, Name, \"dev-id\", \"queue-id\" FROM \"{table}\"");
        each(db, &query, |row| {
            let queue = Queue { device: row.number(3), stream: row.number(4) };
            let name = timeline.names.add(&row.text(2));
            let detail = Detail { direction: name, ..Detail::default() };
            let span = GpuSpan {
                start: row.whole(0).unwrap_or(0),
                end: row.whole(1).unwrap_or(0),
                name,
                kind,
                queue: timeline.queue(queue),
                correlation: 0,
                external: 0,
                grid: [0; 3],
                block: [0; 3],
                detail: if kind == GpuKind::Copy { timeline.add_detail(detail) } else { 0 },
            };
            timeline.gpu.push(span);
        })?;
    }
    Ok(timeline)
}
