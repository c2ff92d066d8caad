//! A workload as rocpd databases, the newest format of rocprofv3.
//!
//! A database is one run of the application, so counters that were read in the run of a level counter go into
//! a separate one. Only totals of grid and workgroup are known; they are written as the first dimension.

use super::long::name;
use crate::agent;
use crate::model::{Counter, plain_kernel_name};
use crate::recording::Workload;
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, BTreeSet};

const TABLES: &str = include_str!("../../data/rocpd-tables.tsv");

/// The schema that is written.
const SCHEMA: &str = "3";

/// Views that resolve references of rows, as used by `analyze` and the vendor's tools.
const VIEWS: &str = include_str!("../../data/rocpd-views.sql");

/// Reason why no database is written.
#[derive(Debug, thiserror::Error)]
pub enum RocpdError {
    /// SQLite refuses
    #[error("the database cannot be made: {0}")]
    Database(#[from] rusqlite::Error),
    /// a kernel, a launch and its times are what the format is made of
    #[error("{0} of {1} dispatches have no start or end, which rocpd cannot do without")]
    Untimed(usize, usize),
}

/// The databases by name: the main run, then one for each run of a level counter. All are files of one
/// recording.
///
/// # Errors
/// Fails for dispatches without times, and with SQLite's own errors.
pub fn write_rocpd(w: &Workload) -> Result<BTreeMap<String, Vec<u8>>, RocpdError> {
    let d = &w.dispatches;
    let timed =
        |row: &usize| d.start.get(*row).copied().flatten().zip(d.end.get(*row).copied().flatten()).is_some();
    let untimed = (0..d.len()).filter(|row| !timed(row)).count();
    if untimed > 0 {
        return Err(RocpdError::Untimed(untimed, d.len()));
    }
    let runs: BTreeSet<Option<&str>> = w.counters.iter().map(|c| c.run.as_deref()).chain([None]).collect();
    let mut files = BTreeMap::new();
    let levels: BTreeSet<&str> = runs.iter().copied().flatten().collect();
    for (at, run) in (1..).zip(runs.iter().copied()) {
        let counters: Vec<&Counter> = w.counters.iter().filter(|c| run_of(c, &levels) == run).collect();
        files.insert(format!("{at}_results.db"), database(w, &counters, at)?);
    }
    Ok(files)
}

/// An identifier that is the same for the same recording: version 8 of UUIDs leaves the digits to the writer.
/// The run of a level that a counter was read in: the level's own sum belongs to it too.
fn run_of<'c>(counter: &'c Counter, levels: &BTreeSet<&str>) -> Option<&'c str> {
    let level = counter.name.strip_suffix("_ACCUM").filter(|level| levels.contains(level));
    counter.run.as_deref().or(level)
}

fn guid(w: &Workload, run: u32) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        bytes.iter().for_each(|b| hash = (hash ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3));
    };
    add(&run.to_le_bytes());
    w.kernels.iter().for_each(|name| add(name.as_bytes()));
    w.dispatches.start.iter().flatten().for_each(|time| add(&time.to_le_bytes()));
    w.counters.iter().for_each(|c| add(name(c).as_bytes()));
    let (high, low) = (hash >> 32, hash & 0xffff_ffff);
    format!("{high:08x}-{:04x}-8{:03x}-8{:03x}-{low:08x}{run:04x}", low >> 16, low & 0xfff, high & 0xfff)
}

fn database(w: &Workload, counters: &[&Counter], run: u32) -> Result<Vec<u8>, RocpdError> {
    let guid = guid(w, run);
    let suffix = format!("_{}", guid.replace('-', "_"));
    let db = Connection::open_in_memory()?;
    db.execute_batch("BEGIN")?;
    for line in TABLES.lines().filter(|line| !line.starts_with('#')) {
        let Some((table, columns)) = line.split_once('\t') else { continue };
        let columns: Vec<String> = columns.split(", ").map(column).collect();
        db.execute_batch(&format!(
            "CREATE TABLE \"{table}{suffix}\" ({}); CREATE VIEW \"{table}\" AS SELECT * FROM \"{table}{suffix}\";",
            columns.join(", ")
        ))?;
    }
    db.execute_batch(VIEWS)?;
    let insert = Insert { db: &db, suffix: &suffix, guid: &guid };
    head(&insert, w)?;
    rows(&insert, w, counters)?;
    db.execute_batch("COMMIT")?;
    Ok(db.serialize("main")?.to_vec())
}

/// A column as SQL: its name in quotes, since one is called `end`.
fn column(text: &str) -> String {
    let (name, kind) = text.split_once(' ').unwrap_or((text, "TEXT"));
    let more = if name == "id" { " PRIMARY KEY" } else { "" };
    format!("\"{name}\" {kind}{more}")
}

/// Target of inserted rows.
struct Insert<'a> {
    db: &'a Connection,
    suffix: &'a str,
    guid: &'a str,
}

impl Insert<'_> {
    /// Adds a row; all tables except the metadata table have the identifier.
    fn row(&self, table: &str, columns: &str, values: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<()> {
        let places = vec!["?"; values.len()].join(", ");
        let (guid, more) =
            if table == "metadata" { (String::new(), "") } else { (format!(", '{}'", self.guid), ", guid") };
        let sql =
            format!("INSERT INTO \"rocpd_{table}{}\" ({columns}{more}) VALUES ({places}{guid})", self.suffix);
        self.db.prepare_cached(&sql)?.execute(values).map(drop)
    }
}

/// Writes the head: schema version, machine, process, thread.
fn head(insert: &Insert<'_>, w: &Workload) -> rusqlite::Result<()> {
    for (at, (tag, value)) in
        (1..).zip([("schema_version", SCHEMA), ("uuid", insert.suffix), ("guid", insert.guid)])
    {
        insert.row("metadata", "id, tag, value", params![at, tag, value])?;
    }
    let text = |fact: &str| w.machine.text(fact).unwrap_or_default().trim().to_string();
    insert.row(
        "info_node",
        "id, hash, machine_id, system_name, hostname, release",
        params![1, 1, "", "Linux", text("hostname"), text("linux_kernel_version")],
    )?;
    let d = &w.dispatches;
    let first = d.start.iter().flatten().min().copied().unwrap_or(0);
    let last = d.end.iter().flatten().max().copied().unwrap_or(0);
    insert.row(
        "info_process",
        "id, nid, ppid, pid, init, fini, start, \"end\", command, environment, extdata",
        params![1, 1, 0, 1, first, last, first, last, text("command"), "{}", "{}"],
    )?;
    insert.row(
        "info_thread",
        "id, nid, ppid, pid, tid, start, \"end\", extdata",
        params![1, 1, 0, 1, 1, first, last, "{}"],
    )?;
    insert.row("info_queue", "id, nid, pid, name, extdata", params![1, 1, 1, "Queue 1", "{}"])?;
    insert.row("info_stream", "id, nid, pid, name, extdata", params![1, 1, 1, "Default Stream", "{}"])?;
    for (id, word) in [(1, "KERNEL_DISPATCH"), (2, "")] {
        insert.row("string", "id, string", params![id, word])?;
    }
    let mut facts: serde_json::Map<String, serde_json::Value> = agent::NUMBERS
        .iter()
        .filter_map(|(theirs, ours)| Some((theirs.to_string(), w.machine.number(ours)?.into())))
        .collect();
    if let Some(emulator) = w.machine.emulator() {
        facts.insert("emulated_by".to_string(), emulator.into());
    }
    let facts = serde_json::Value::Object(facts).to_string();
    let gpus: BTreeSet<u32> = d.gpu.iter().copied().collect();
    for (at, gpu) in gpus.iter().enumerate() {
        insert.row(
            "info_agent",
            "id, nid, pid, type, absolute_index, logical_index, type_index, uuid, name, model_name, vendor_name, product_name, user_name, extdata",
            params![gpu, 1, 1, "GPU", gpu, gpu, at as i64, 0, text("gpu_arch"), "", "AMD", text("gpu_model"), text("gpu_model"), facts],
        )?;
    }
    let agent = gpus.first().copied().unwrap_or(0);
    insert.row("info_code_object", "id, nid, pid, agent_id, uri, extdata", params![1, 1, 1, agent, "", "{}"])
}

/// Kernels, dispatches and counters.
fn rows(insert: &Insert<'_>, w: &Workload, counters: &[&Counter]) -> rusqlite::Result<()> {
    let d = &w.dispatches;
    let whole = |value: Option<f64>| value.map(|it| it as i64);
    // Registers are of the kernel there; what differs between dispatches is another symbol.
    let mut symbols: BTreeMap<(u32, [Option<i64>; 3]), i64> = BTreeMap::new();
    let gpus: BTreeSet<u32> = d.gpu.iter().copied().collect();
    for (at, counter) in (1i64..).zip(counters) {
        let block = counter.name.split('_').next().unwrap_or_default();
        let agent = gpus.first().copied().unwrap_or(0);
        let name = name(counter);
        insert.row(
            "info_pmc",
            "id, nid, pid, agent_id, target_arch, name, symbol, description, component, value_type, block, expression, is_constant, is_derived, extdata",
            params![at, 1, 1, agent, "GPU", name, name, "", "rocm", "ABS", block, "", 0, 0, "{}"],
        )?;
    }
    let mut cell = 0i64;
    for row in 0..d.len() {
        let registers = [&d.arch_vgpr, &d.accum_vgpr, &d.sgpr].map(|it| whole(it.get(row)));
        let next = symbols.len() as i64 + 1;
        let kernel = w.kernel_of(row);
        let symbol = *symbols.entry((d.kernel[row], registers)).or_insert(next);
        if symbol == next {
            let [vgprs, agprs, sgprs] = registers;
            insert.row(
                "info_kernel_symbol",
                "id, nid, pid, code_object_id, kernel_name, display_name, group_segment_size, private_segment_size, sgpr_count, arch_vgpr_count, accum_vgpr_count, extdata",
                params![symbol, 1, 1, 1, kernel, plain_kernel_name(kernel), whole(d.lds.get(row)), whole(d.scratch.get(row)), sgprs, vgprs, agprs, "{}"],
            )?;
        }
        let event = row as i64 + 1;
        insert.row(
            "event",
            "id, category_id, stack_id, parent_stack_id, correlation_id, call_stack, line_info, extdata",
            params![event, 1, event, 0, event, "{}", "{}", "{}"],
        )?;
        let (start, end) = (at(&d.start, &d.start_fraction, row), at(&d.end, &d.end_fraction, row));
        insert.row(
            "kernel_dispatch",
            "id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, \"end\", private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id, extdata",
            params![
                event, 1, 1, 1, d.gpu.get(row).copied().unwrap_or(0), symbol, d.id[row] as i64, 1, 1, start, end,
                whole(d.scratch.get(row)), whole(d.lds.get(row)), whole(d.workgroup.get(row)), 1, 1, whole(d.grid.get(row)), 1, 1, 2, event, "{}"
            ],
        )?;
        for (pmc, counter) in (1i64..).zip(counters) {
            let recorded = w.multiplexed.as_ref().is_none_or(|it| it.recorded(counter, row));
            if let Some(value) = counter.values.get(row).filter(|_| recorded) {
                cell += 1;
                insert.row(
                    "pmc_event",
                    "id, event_id, pmc_id, value, extdata",
                    params![cell, event, pmc, value, "{}"],
                )?;
            }
        }
    }
    Ok(())
}

/// A time as SQLite keeps it: whole nanoseconds, unless there is a fraction.
fn at(whole: &[Option<i64>], fraction: &crate::Values, row: usize) -> rusqlite::types::Value {
    match (whole.get(row).copied().flatten(), fraction.get(row).unwrap_or(0.0)) {
        (None, _) => rusqlite::types::Value::Null,
        (Some(whole), fraction) if fraction > 0.0 => rusqlite::types::Value::Real(whole as f64 + fraction),
        (Some(whole), _) => rusqlite::types::Value::Integer(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Generation, Options};

    fn workload() -> Workload {
        let wide = "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Arch_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_HIT[0],TCC_HIT[1]\n\
             3,2,64,64,0,8,16,\"a(int, b)\",1000,2000,4,1,2\n7,2,128,64,512,8,32,c,3000,5000,8,3,\n9,2,64,64,0,8,16,\"a(int, b)\",6000,7000,5,1,2\n";
        let level = "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_ACCUM_PREV_HIRES,SQ_WAVES\n\
             3,2,64,64,\"a(int, b)\",11000,12000,400,4\n7,2,128,64,c,13000,15000,800,8\n9,2,64,64,\"a(int, b)\",16000,17000,500,5\n";
        let facts = b"gpu_arch,gpu_model,cu_per_gpu,num_xcd,max_sclk,emulated_by\ngfx942,mi300x,304,8,2100,rockhound\n";
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), wide.as_bytes().to_vec()),
            ("SQ_LEVEL_WAVES.csv".to_string(), level.as_bytes().to_vec()),
            ("sysinfo.csv".to_string(), facts.to_vec()),
        ]);
        crate::read(&files, &Options::default()).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let w = workload();
        let files = write_rocpd(&w).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["1_results.db", "2_results.db"]);
        let back = crate::read(&files, &Options::default()).unwrap();
        assert_eq!(back.generation, Generation::Rocpd);
        let sizes = |w: &Workload| {
            let d = &w.dispatches;
            let columns = [&d.grid, &d.workgroup, &d.lds, &d.arch_vgpr, &d.sgpr];
            columns.map(|it| it.iter().collect::<Vec<_>>())
        };
        assert_eq!((sizes(&back), &back.dispatches.id), (sizes(&w), &w.dispatches.id));
        let times = |w: &Workload| (0..3).map(|row| w.dispatches.duration(row)).collect::<Vec<_>>();
        assert_eq!((times(&back), &back.kernels), (times(&w), &w.kernels));
        for counter in w.counters.iter().filter(|it| it.run.is_none()) {
            let found = back.counters.iter().find(|it| name(it) == name(counter)).unwrap();
            let values = |it: &Counter| it.values.iter().collect::<Vec<_>>();
            assert_eq!(values(found), values(counter), "{}", counter.name);
        }
        for fact in ["gpu_arch", "gpu_model", "cu_per_gpu", "num_xcd", "max_sclk", "emulated_by"] {
            assert_eq!(back.machine.text(fact), w.machine.text(fact), "{fact}");
        }
        // The same recording gives the same bytes.
        assert_eq!(write_rocpd(&w).unwrap(), files);
    }

    #[test]
    fn tables_and_columns_are_those_of_the_vendor() {
        let files = write_rocpd(&workload()).unwrap();
        let db = rocprof::database::open(&files["1_results.db"], 1000).unwrap();
        let of = |db: &Connection, table: &str| -> Vec<String> {
            let mut statement = db.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
            let names = statement.query_map([table], |row| row.get::<_, String>(0)).unwrap();
            names.map(Result::unwrap).collect()
        };
        assert_eq!(rocprof::database::damage(&db, "main").unwrap(), None);
        let Some(folder) = testkit::shared("traces/rocpd") else { return };
        let theirs =
            rocprof::database::open(&testkit::files(&folder)["made-mi350x_results.db"], 1000).unwrap();
        let mut views: Vec<String> = TABLES
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('\t').map(|it| it.0.to_string()))
            .collect();
        views.extend(["kernels", "counters_collection", "pmc_events", "top_kernels"].map(str::to_string));
        for view in views {
            let (own, vendor) = (of(&db, &view), of(&theirs, &view));
            assert!(!vendor.is_empty(), "{view}");
            assert_eq!(own, vendor, "{view}");
        }
    }

    #[test]
    fn dispatches_without_times_are_refused() {
        let mut w = workload();
        w.dispatches.end[1] = None;
        let error = write_rocpd(&w).unwrap_err().to_string();
        assert!(error.contains("1 of 3"), "{error}");
    }
}
