//! rocpd SQLite databases of rocprofv3 and rocprof-sys, and the database of rocprof version 1.
//!
//! Names of tables have a suffix per database, which views without it hide. [`Rocpd::kernels`] and its like read
//! these views of tables, [`Rocpd::launches`] the joined views that other tools write too. Versions differ in
//! tables and columns, so each part is read alone and an error is of that part.

use crate::agents::Agent;
use crate::database;
use crate::json::{Cursor, unescape};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result, Row};
use std::borrow::Cow;

/// The layout that this reader was written for.
pub const SCHEMA: &str = "3";
/// The view of counters, with a row for each dispatch and counter.
pub const COUNTERS: &str = "counters_collection";
/// The view of dispatches.
pub const KERNELS: &str = "kernels";

/// Source of each part of a [`Launch`]: the first of these columns that the view has.
const COLUMNS: [(&str, &[&str]); 14] = [
    ("dispatch", &["dispatch_id"]),
    ("gpu", &["agent_abs_index", "agent_id"]),
    ("kernel", &["kernel_name", "name"]),
    ("start", &["start"]),
    ("end", &["end"]),
    ("grid", &["grid_size"]),
    ("workgroup", &["workgroup_size"]),
    ("lds", &["lds_block_size", "lds_size"]),
    ("scratch", &["scratch_size"]),
    ("vgpr", &["vgpr_count"]),
    ("agpr", &["accum_vgpr_count"]),
    ("sgpr", &["sgpr_count"]),
    ("counter", &["counter_name"]),
    ("value", &["value", "counter_value"]),
];

/// An open database.
#[derive(Debug)]
pub struct Rocpd {
    db: Connection,
}

/// A number of a cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// A whole number.
    Whole(i64),
    /// A number with decimals.
    Real(f64),
}

/// A row of the views [`COUNTERS`] and [`KERNELS`].
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// Number of the dispatch.
    pub dispatch: Option<Number>,
    /// Index of the GPU.
    pub gpu: Option<Number>,
    /// Name of the kernel.
    pub kernel: Cow<'a, str>,
    /// Start, ns.
    pub start: Option<Number>,
    /// End, ns.
    pub end: Option<Number>,
    /// Grid, workgroup, LDS, scratch, VGPRs, AGPRs, SGPRs.
    pub sizes: [Option<f64>; 7],
    /// Name of the counter; empty if the view has none.
    pub counter: Cow<'a, str>,
    /// Value of the counter.
    pub value: Option<f64>,
}

/// A dispatch or copy.
#[derive(Clone, Debug)]
pub struct Span<'a> {
    /// Start, ns.
    pub start: Option<i64>,
    /// End, ns.
    pub end: Option<i64>,
    /// Kernel, or direction of the copy.
    pub name: Cow<'a, str>,
    /// GPU: where a dispatch runs and a copy goes to.
    pub agent: u64,
    /// GPU that a copy comes from.
    pub source: u64,
    /// Queue.
    pub queue: u64,
    /// Stream.
    pub stream: u64,
    /// Number that a call and what it starts have in common.
    pub correlation: u64,
    /// Work items of a workgroup.
    pub block: [u32; 3],
    /// Work items.
    pub grid: [u32; 3],
    /// Bytes copied.
    pub bytes: Option<u64>,
}

/// A call or range of the host.
#[derive(Clone, Debug)]
pub struct Region<'a> {
    /// Start, ns.
    pub start: Option<i64>,
    /// End, ns.
    pub end: Option<i64>,
    /// Function.
    pub name: Cow<'a, str>,
    /// Interface such as `HIP_RUNTIME_API`.
    pub category: Cow<'a, str>,
    /// Process.
    pub process: Cow<'a, str>,
    /// Thread.
    pub thread: Cow<'a, str>,
    /// Number that a call and what it starts have in common.
    pub correlation: u64,
    /// More about it, as JSON.
    pub extra: Cow<'a, str>,
}

/// An allocation of memory.
#[derive(Clone, Debug)]
pub struct Allocation<'a> {
    /// Start, ns.
    pub start: Option<i64>,
    /// End, ns.
    pub end: Option<i64>,
    /// Operation.
    pub operation: Cow<'a, str>,
    /// Bytes.
    pub bytes: Option<u64>,
    /// Interface such as `SCRATCH_MEMORY`.
    pub category: Cow<'a, str>,
}

/// A counter over all dispatches and all instances of its block.
#[derive(Clone, Debug)]
pub struct CounterSum<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Dispatches that have it.
    pub dispatches: u64,
    /// Sum of its values.
    pub sum: f64,
}

impl Rocpd {
    /// Opens a database. All its queries together may take `thousands` of thousands of steps of SQLite's machine.
    ///
    /// # Errors
    /// As [`database::open`].
    pub fn open(bytes: &[u8], thousands: u64) -> Result<Rocpd> {
        Ok(Rocpd { db: database::open(bytes, thousands)? })
    }

    /// Whether it has a table or view of this name.
    ///
    /// # Errors
    /// Fails if the schema is damaged.
    pub fn has(&self, table: &str) -> Result<bool> {
        let query = "SELECT count(*) FROM sqlite_master WHERE name = ?1";
        let count: i64 = self.db.query_row(query, [table], |row| row.get(0))?;
        Ok(count > 0)
    }

    /// Version of the layout; empty if absent.
    ///
    /// # Errors
    /// Fails without the table of metadata.
    pub fn schema(&self) -> Result<String> {
        let mut version = String::new();
        let query = "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'";
        self.each(query, |row| version = row.text(0).into_owned())?;
        Ok(version)
    }

    /// GPUs of the machine. Facts that are numbers are in a JSON text.
    ///
    /// # Errors
    /// Fails without a table of agents that have names.
    pub fn gpus(&self) -> Result<Vec<Agent>> {
        let mut agents = Vec::new();
        let mut take = |row: &Cells<'_>| {
            let mut agent = Agent { node: row.number(0), is_gpu: true, ..Agent::default() };
            // Facts that are not JSON are ignored.
            let _ = agent.add_json(&row.text(3));
            for (at, fact) in [(1, "name"), (2, "product_name")] {
                agent.facts.insert(fact.to_owned(), row.text(at).into_owned());
            }
            agents.push(agent);
        };
        let (from, all) = ("FROM rocpd_info_agent WHERE type = 'GPU'", "id, name, product_name, extdata");
        if self.db.prepare(&format!("SELECT {all} {from}")).is_ok() {
            self.each(&format!("SELECT {all} {from} ORDER BY id"), take)?;
        } else {
            self.each(&format!("SELECT 0, name, NULL, NULL {from}"), &mut take)?;
        }
        Ok(agents)
    }

    /// Command line and environment of each process; the environment gives its variables one by one.
    ///
    /// # Errors
    /// Fails without the table of processes.
    pub fn processes(
        &self,
        mut command: impl FnMut(Cow<'_, str>),
        mut variable: impl FnMut(Cow<'_, str>, Cow<'_, str>),
    ) -> Result<()> {
        self.each("SELECT command, environment FROM rocpd_info_process", |row| {
            command(row.text(0));
            let text = format!("{} ", row.text(1));
            let _ = Cursor::of(text.as_bytes()).object(|key, c| {
                let value = c.plain()?;
                variable(String::from_utf8_lossy(key), String::from_utf8_lossy(value));
                Ok(())
            });
        })
    }

    /// Columns of a view; none if it is absent.
    ///
    /// # Errors
    /// Fails on views that refer to what does not exist.
    pub fn columns(&self, view: &str) -> Result<Vec<String>> {
        let mut statement = self.db.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([view], |row| row.get::<_, String>(0))?;
        names.collect()
    }

    /// Rows of [`COUNTERS`] or [`KERNELS`], of whose columns some may be absent. Returns their number.
    ///
    /// # Errors
    /// Fails on damaged pages.
    pub fn launches(&self, view: &str, columns: &[String], mut take: impl FnMut(&Launch<'_>)) -> Result<u64> {
        let product = |axis: &str| {
            [format!("{axis}_size"), axis.to_string()].iter().find_map(|stem| {
                let parts = ["x", "y", "z"].map(|d| format!("{stem}_{d}"));
                parts.iter().all(|p| columns.contains(p)).then(|| parts.join(" * "))
            })
        };
        let source = |(part, names): &(&str, &[&str])| {
            let found = names.iter().find(|name| columns.iter().any(|column| column == *name));
            let found = found.map(|name| format!("\"{name}\"")).or_else(|| product(part));
            found.unwrap_or_else(|| "NULL".to_string())
        };
        let list: Vec<String> = COLUMNS.iter().map(source).collect();
        let mut count = 0;
        self.each(&format!("SELECT {} FROM \"{view}\"", list.join(", ")), |row| {
            take(&Launch {
                dispatch: row.value(0),
                gpu: row.value(1),
                kernel: row.string(2),
                start: row.value(3),
                end: row.value(4),
                sizes: [5, 6, 7, 8, 9, 10, 11].map(|at| row.real(at)),
                counter: row.string(12),
                value: row.real(13),
            });
            count += 1;
        })?;
        Ok(count)
    }

    /// Dispatches.
    ///
    /// # Errors
    /// Fails where tables or columns are absent or damaged.
    pub fn kernels(&self, mut take: impl FnMut(&Span<'_>)) -> Result<()> {
        let query = "SELECT d.start, d.\"end\", coalesce(nullif(k.display_name, ''), k.kernel_name), d.agent_id, \
             d.queue_id, e.stack_id, d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, d.grid_size_x, \
             d.grid_size_y, d.grid_size_z, d.stream_id FROM rocpd_kernel_dispatch d \
             LEFT JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id AND k.guid = d.guid \
             LEFT JOIN rocpd_event e ON e.id = d.event_id AND e.guid = d.guid";
        self.each(query, |row| {
            take(&Span {
                start: row.whole(0),
                end: row.whole(1),
                name: row.text(2),
                agent: row.number(3),
                source: 0,
                queue: row.number(4),
                stream: row.number(12),
                correlation: row.number(5),
                block: [row.size(6), row.size(7), row.size(8)],
                grid: [row.size(9), row.size(10), row.size(11)],
                bytes: None,
            });
        })
    }

    /// Copies of memory.
    ///
    /// # Errors
    /// As [`Rocpd::kernels`].
    pub fn copies(&self, mut take: impl FnMut(&Span<'_>)) -> Result<()> {
        let query = "SELECT m.start, m.\"end\", s.string, m.dst_agent_id, m.src_agent_id, m.stream_id, e.stack_id, m.size \
             FROM rocpd_memory_copy m LEFT JOIN rocpd_string s ON s.id = m.name_id AND s.guid = m.guid \
             LEFT JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid";
        self.each(query, |row| {
            take(&Span {
                start: row.whole(0),
                end: row.whole(1),
                name: row.text(2),
                agent: row.number(3),
                source: row.number(4),
                queue: 0,
                stream: row.number(5),
                correlation: row.number(6),
                block: [0; 3],
                grid: [0; 3],
                bytes: row.whole(7).and_then(|n| u64::try_from(n).ok()),
            });
        })
    }

    /// Calls and ranges of the host. Markers without length are samples on a track and end where they start.
    ///
    /// # Errors
    /// As [`Rocpd::kernels`].
    pub fn regions(&self, mut take: impl FnMut(&Region<'_>)) -> Result<()> {
        let query = "SELECT r.start, r.\"end\", s.string, c.string, r.pid, r.tid, e.stack_id, e.extdata \
             FROM rocpd_region r LEFT JOIN rocpd_string s ON s.id = r.name_id AND s.guid = r.guid \
             LEFT JOIN rocpd_event e ON e.id = r.event_id AND e.guid = r.guid \
             LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid";
        self.each(query, |row| take(&row.region()))?;
        if !self.has("rocpd_sample")? {
            return Ok(());
        }
        let query = "SELECT m.timestamp, m.timestamp, c.string, c.string, t.pid, t.tid, e.stack_id, e.extdata \
             FROM rocpd_sample m LEFT JOIN rocpd_track t ON t.id = m.track_id AND t.guid = m.guid \
             LEFT JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid \
             LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid";
        self.each(query, |row| take(&row.region()))
    }

    /// Allocations of memory.
    ///
    /// # Errors
    /// As [`Rocpd::kernels`].
    pub fn allocations(&self, mut take: impl FnMut(&Allocation<'_>)) -> Result<()> {
        let query = "SELECT m.start, m.\"end\", m.type, m.size, c.string FROM rocpd_memory_allocate m \
             LEFT JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid \
             LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid";
        self.each(query, |row| {
            take(&Allocation {
                start: row.whole(0),
                end: row.whole(1),
                operation: row.text(2),
                bytes: row.whole(3).and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0),
                category: row.text(4),
            });
        })
    }

    /// Counters, each summed over its instances and dispatches.
    ///
    /// # Errors
    /// As [`Rocpd::kernels`].
    pub fn counter_sums(&self, mut take: impl FnMut(&CounterSum<'_>)) -> Result<()> {
        let query = "SELECT p.name, count(DISTINCT v.event_id), sum(v.value) FROM rocpd_pmc_event v \
             JOIN rocpd_info_pmc p ON p.id = v.pmc_id AND p.guid = v.guid GROUP BY p.name ORDER BY p.name";
        self.each(query, |row| {
            let sum = row.real(2).unwrap_or(0.0);
            take(&CounterSum { name: row.text(0), dispatches: row.number(1), sum });
        })
    }

    /// Calls of a database of rocprof version 1; [`Region::extra`] is the text of their arguments.
    ///
    /// # Errors
    /// As [`Rocpd::kernels`].
    pub fn version1_calls(&self, mut take: impl FnMut(&Region<'_>)) -> Result<()> {
        let columns = self.columns("HIP")?;
        let (index, arguments) = (or_none(&columns, "Index"), or_none(&columns, "args"));
        let query = format!("SELECT BeginNs, EndNs, Name, '', pid, tid, {index}, {arguments} FROM HIP");
        self.each(&query, |row| take(&row.region()))
    }

    /// Dispatches (table `OPS`) or copies (table `COPY`) of a database of rocprof version 1.
    ///
    /// # Errors
    /// As [`Rocpd::kernels`].
    pub fn version1_spans(&self, table: &str, mut take: impl FnMut(&Span<'_>)) -> Result<()> {
        let index = or_none(&self.columns(table)?, "Index");
        let query =
            format!("SELECT BeginNs, EndNs, Name, \"dev-id\", \"queue-id\", {index} FROM \"{table}\"");
        self.each(&query, |row| {
            take(&Span {
                start: row.whole(0),
                end: row.whole(1),
                name: row.text(2),
                agent: row.number(3),
                source: 0,
                queue: row.number(4),
                stream: 0,
                correlation: row.number(5),
                block: [0; 3],
                grid: [0; 3],
                bytes: None,
            });
        })
    }

    fn each(&self, query: &str, mut take: impl FnMut(&Cells<'_>)) -> Result<()> {
        let mut statement = self.db.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            take(&Cells(row));
        }
        Ok(())
    }
}

/// A column in quotes, or `NULL` where the table lacks it.
fn or_none(columns: &[String], name: &str) -> String {
    if columns.iter().any(|column| column == name) { format!("\"{name}\"") } else { "NULL".to_owned() }
}

/// The text of `{"message": "..."}`, as markers have it in [`Region::extra`].
pub fn message(json: &str) -> Option<String> {
    let json = format!("{json} ");
    let mut found = None;
    let _ = Cursor::of(json.as_bytes()).object(|key, c| {
        if key == b"message" {
            found = Some(String::from_utf8_lossy(&unescape(c.plain()?)).into_owned());
            return Ok(());
        }
        c.skip(0)
    });
    found
}

/// Cells of a row.
struct Cells<'a>(&'a Row<'a>);

impl Cells<'_> {
    fn value(&self, at: usize) -> Option<Number> {
        match self.0.get_ref(at) {
            Ok(ValueRef::Integer(v)) => Some(Number::Whole(v)),
            Ok(ValueRef::Real(v)) => Some(Number::Real(v)),
            _ => None,
        }
    }

    fn real(&self, at: usize) -> Option<f64> {
        Some(match self.value(at)? {
            Number::Whole(v) => v as f64,
            Number::Real(v) => v,
        })
    }

    /// A whole number, also of text.
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

    /// A text; empty for any other value.
    fn string(&self, at: usize) -> Cow<'_, str> {
        match self.0.get_ref(at) {
            Ok(ValueRef::Text(t)) => String::from_utf8_lossy(t),
            _ => "".into(),
        }
    }

    /// A text, or a number as text.
    fn text(&self, at: usize) -> Cow<'_, str> {
        match self.0.get_ref(at) {
            Ok(ValueRef::Integer(v)) => v.to_string().into(),
            _ => self.string(at),
        }
    }

    fn region(&self) -> Region<'_> {
        Region {
            start: self.whole(0),
            end: self.whole(1),
            name: self.text(2),
            category: self.text(3),
            process: self.text(4),
            thread: self.text(5),
            correlation: self.number(6),
            extra: self.text(7),
        }
    }
}
