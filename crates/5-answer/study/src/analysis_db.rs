//! The analysis of recordings as an SQLite database.
//!
//! Tables and views have the names and columns of the vendor's analysis databases, so that tools which read
//! those databases read these too; an unknown value has no row.

use analysis::workload::{Subject, selected_samples};
use metrics::{Compiled, Definitions, EvaluatedTable, Evaluation, Settings, Style, table};
use rusqlite::{Connection, MAIN_DB, ToSql, Transaction, params};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use workload::{SAMPLE_STALLS, Workload, plain_kernel_name};

const TABLES: &str = include_str!("../data/analysis-db.sql");

/// The schema that is written.
const SCHEMA: &str = "2.0.0";

/// The database of some recordings, as a file has it; `compiled` are the definitions for each one's target.
pub(crate) fn analysis_db(
    definitions: &Definitions,
    compiled: &[&Compiled],
    subjects: &[Subject],
    settings: Settings,
) -> Result<Vec<u8>, rusqlite::Error> {
    let mut database = Connection::open_in_memory()?;
    database.execute_batch(TABLES)?;
    let all = database.transaction()?;
    for (subject, compiled) in subjects.iter().zip(compiled) {
        let mut writer = Writer {
            to: &all,
            definitions,
            workload: add_workload(&all, subject)?,
            metrics: HashMap::new(),
            kernels: HashMap::new(),
            settings,
        };
        writer.recording(subject, compiled)?;
    }
    let version = env!("CARGO_PKG_VERSION");
    all.execute(
        "INSERT INTO compute_metadata (compute_version, git_version, schema_version) VALUES (?1, NULL, ?2)",
        params![format!("rockhound {version}"), SCHEMA],
    )?;
    all.commit()?;
    Ok(database.serialize(MAIN_DB)?.to_vec())
}

/// A recording, named after the parent folder, as in `workloads/NAME/GPU`.
fn add_workload(to: &Transaction<'_>, subject: &Subject) -> Result<i64, rusqlite::Error> {
    let path = Path::new(&subject.path);
    let part = |path: Option<&Path>| Some(path?.file_name()?.to_string_lossy().into_owned());
    let (name, sub_name) = (part(path.parent()), part(Some(path)));
    let w = &subject.workload;
    let facts: BTreeMap<&str, &str> =
        w.machine.facts.keys().filter_map(|fact| Some((fact.as_str(), w.machine.text(fact)?))).collect();
    let ceilings: Option<Json> = w.ceilings.first().map(|it| json!(it.values));
    to.execute(
        "INSERT INTO compute_workload (name, sub_name, sys_info_extdata, roofline_bench_extdata) VALUES (?1, ?2, ?3, ?4)",
        params![
            name.or_else(|| sub_name.clone()),
            sub_name,
            json!(facts).to_string(),
            ceilings.map(|it| it.to_string())
        ],
    )?;
    Ok(to.last_insert_rowid())
}

/// Owner of values: a kernel, or the whole recording.
#[derive(Clone, Copy)]
enum Of {
    Kernel(i64),
    Workload,
}

struct Writer<'a> {
    to: &'a Transaction<'a>,
    definitions: &'a Definitions,
    workload: i64,
    /// Metrics that have a row, by the number of theirs.
    metrics: HashMap<String, i64>,
    /// Kernels that have a row, by name.
    kernels: HashMap<String, i64>,
    settings: Settings,
}

impl Writer<'_> {
    fn recording(&mut self, subject: &Subject, compiled: &Compiled) -> Result<(), rusqlite::Error> {
        let w = &subject.workload;
        let whole = Evaluation::new(compiled, w, subject.rows.clone(), self.settings);
        self.values(&whole, Of::Workload)?;
        for (name, rows) in by_kernel(w, &subject.rows) {
            self.to.execute(
                "INSERT INTO compute_kernel (workload_id, kernel_name) VALUES (?1, ?2)",
                params![self.workload, name],
            )?;
            let kernel = self.to.last_insert_rowid();
            self.kernels.insert(name.to_owned(), kernel);
            self.dispatches(w, kernel, &rows)?;
            self.values(&whole.over(rows), Of::Kernel(kernel))?;
        }
        self.samples(subject)
    }

    /// Samples of the program counter. The code object of an instruction is not distinguished: one entry
    /// covers all.
    fn samples(&self, subject: &Subject) -> Result<(), rusqlite::Error> {
        let all = selected_samples(&subject.workload, &subject.rows);
        if all.is_empty() {
            return Ok(());
        }
        let insert = |sql: &str, row: &[&dyn ToSql]| {
            self.to.prepare_cached(sql)?.execute(row)?;
            Ok::<i64, rusqlite::Error>(self.to.last_insert_rowid())
        };
        let store =
            insert("INSERT INTO compute_code_object_store (workload_id) VALUES (?1)", &[&self.workload])?;
        for (sampled, (instruction, counts)) in
            all.iter().flat_map(|it| it.rows.iter().map(move |row| (it, row)))
        {
            let kernel = self.kernels.get(plain_kernel_name(&sampled.kernel.name));
            let source = (!instruction.source.is_empty()).then_some(&instruction.source);
            let line = insert(
                "INSERT INTO compute_instruction_line (code_object_uuid, kernel_uuid, code_object_offset, comment, instruction) VALUES (?1, ?2, ?3, ?4, ?5)",
                &[&store, &kernel, &instruction.address.map(u64::cast_signed), &source, &instruction.text],
            )?;
            let says = |count: u64| counts.says_issued().then_some(count.cast_signed());
            let state = insert(
                "INSERT INTO compute_pc_sample_state (instruction_uuid, total_count, issue_count, stall_count) VALUES (?1, ?2, ?3, ?4)",
                &[&line, &counts.samples.cast_signed(), &says(counts.issued), &says(counts.stalled)],
            )?;
            for ((_, reason), count) in
                SAMPLE_STALLS.iter().zip(counts.stalls).filter(|(_, count)| *count > 0)
            {
                insert(
                    "INSERT OR IGNORE INTO compute_pc_sample_stall_reason_type (text) VALUES (?1)",
                    &[reason],
                )?;
                insert(
                    "INSERT INTO compute_pc_sample_stall_reason (pc_sample_state_uuid, pc_sample_stall_reason_type_uuid, count)
                     SELECT ?1, pc_sample_stall_reason_type_uuid, ?3 FROM compute_pc_sample_stall_reason_type WHERE text = ?2",
                    &[&state, reason, &count.cast_signed()],
                )?;
            }
        }
        Ok(())
    }

    fn dispatches(&self, w: &Workload, kernel: i64, rows: &[u32]) -> Result<(), rusqlite::Error> {
        let mut insert = self.to.prepare_cached(
            "INSERT INTO compute_dispatch (kernel_uuid, dispatch_id, gpu_id, start_timestamp, end_timestamp) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        let d = &w.dispatches;
        for row in rows.iter().map(|row| *row as usize) {
            let (Some(id), Some(gpu)) = (d.id.get(row), d.gpu.get(row)) else { continue };
            let time = |times: &[Option<i64>]| times.get(row).copied().flatten();
            // SQLite's integers have a sign.
            insert.execute(params![kernel, id.cast_signed(), gpu, time(&d.start), time(&d.end)])?;
        }
        Ok(())
    }

    /// All values of tables and roofline over some dispatches.
    fn values(&mut self, e: &Evaluation<'_>, of: Of) -> Result<(), rusqlite::Error> {
        for t in self.definitions.tables() {
            let evaluated = table(self.definitions, t, e, self.settings);
            self.table(&evaluated, e.target(), of)?;
        }
        let (into, owner) = match of {
            Of::Kernel(kernel) => ("compute_kernel_roofline_data (kernel_uuid", kernel),
            Of::Workload => ("compute_workload_roofline_data (workload_id", self.workload),
        };
        let known = |metric: &str| e.value(metric).ok();
        let [flops, l1, l2, hbm, lds] = [
            "compute.flops",
            "roofline.l1_bytes",
            "roofline.l2_bytes",
            "roofline.hbm_bytes",
            "roofline.lds_bytes",
        ]
        .map(known);
        let into = format!(
            "INSERT INTO {into}, total_flops, l1_cache_data, l2_cache_data, hbm_cache_data, lds_cache_data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
        );
        self.to.prepare_cached(&into)?.execute(params![owner, flops, l1, l2, hbm, lds])?;
        Ok(())
    }

    fn table(&mut self, t: &EvaluatedTable, target: &str, of: Of) -> Result<(), rusqlite::Error> {
        for row in &t.rows {
            let id = format!("{}.{}.{}", t.id.0, t.id.1, row.number);
            for (heading, cell) in t.headings.iter().zip(&row.cells) {
                let Some(Ok(value)) = cell else { continue };
                let metric = match self.metrics.get(&id) {
                    Some(metric) => *metric,
                    None => self.metric(t, row, &id, target)?,
                };
                let (into, owner) = match of {
                    Of::Kernel(kernel) => ("compute_kernel_metric_value (kernel_uuid", kernel),
                    Of::Workload => ("compute_workload_metric_value (workload_id", self.workload),
                };
                let into =
                    format!("INSERT INTO {into}, metric_uuid, value_name, value) VALUES (?1, ?2, ?3, ?4)");
                self.to.prepare_cached(&into)?.execute(params![
                    owner,
                    metric,
                    value_name(t, heading),
                    value
                ])?;
            }
        }
        Ok(())
    }

    fn metric(
        &mut self,
        t: &EvaluatedTable,
        row: &metrics::TableRow,
        id: &str,
        target: &str,
    ) -> Result<i64, rusqlite::Error> {
        let tags = if row.tags.is_empty() { String::new() } else { format!(" ({})", row.tags.join(", ")) };
        let formula = self.definitions.metric(&row.metric).and_then(|it| it.formula(target).ok());
        self.to.execute(
            "INSERT INTO compute_metric_definition (workload_id, name, metric_id, description, table_name, sub_table_name, unit) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![self.workload, format!("{}{tags}", row.label), id, formula, t.panel, t.title, row.unit],
        )?;
        let metric = self.to.last_insert_rowid();
        self.metrics.insert(id.to_owned(), metric);
        Ok(metric)
    }
}

/// Name of a column: its heading, each word capitalised.
fn value_name(t: &EvaluatedTable, heading: &str) -> String {
    match heading {
        _ if t.style == Style::Channels => heading.to_owned(),
        "avg" if matches!(t.style, Style::Value | Style::Chart) => "Value".to_owned(),
        "percent of peak" => "Percent of Peak".to_owned(),
        "std dev" => "Std Dev".to_owned(),
        other => {
            let mut letters = other.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        }
    }
}

/// Dispatches of each kernel by its plain name, in the order first launched.
fn by_kernel<'w>(w: &'w Workload, rows: &[u32]) -> Vec<(&'w str, Vec<u32>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut out: Vec<(&str, Vec<u32>)> = Vec::new();
    for row in rows {
        let name = plain_kernel_name(w.kernel_of(*row as usize));
        let at = *places.entry(name).or_insert_with(|| {
            out.push((name, Vec::new()));
            out.len() - 1
        });
        out[at].1.push(*row);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::Wanted;

    #[test]
    fn views_have_what_was_recorded() {
        let csv = "Dispatch_ID,Kernel_Name,GPU_ID,Start_Timestamp,End_Timestamp,TCC_HIT_sum,TCC_MISS_sum,SQ_WAVES\n\
            0,a,0,0,100,30,70,4\n1,a,0,100,400,50,50,4\n2,b,0,400,500,10,0,2\n";
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_owned(), csv.as_bytes().to_vec()),
            ("sysinfo.csv".to_owned(), b"gpu_arch,cu_per_gpu,num_xcd\ngfx942,304,8\n".to_vec()),
        ]);
        let workload = workload::read(&files, &workload::Options::default()).unwrap();
        let subject = Subject {
            name: "x".to_owned(),
            path: "workloads/copy/MI300X".to_owned(),
            rows: vec![0, 1, 2],
            workload,
            filled: Vec::new(),
            selection: String::new(),
            wanted: Wanted::default(),
        };
        let definitions = Definitions::built_in();
        let compiled = definitions.compile("gfx942").unwrap();
        let bytes = analysis_db(definitions, &[&compiled], &[subject], Settings::default()).unwrap();
        let database = rocprof::database::open(&bytes, 1000).unwrap();
        let ask = |sql: &str| {
            let mut statement = database.prepare(sql).unwrap();
            let columns = statement.column_count();
            let rows = statement.query_map([], |row| {
                let cell = |at| match row.get_ref(at).unwrap() {
                    rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                    rusqlite::types::ValueRef::Integer(value) => value.to_string(),
                    rusqlite::types::ValueRef::Real(value) => value.to_string(),
                    _ => "-".to_owned(),
                };
                Ok((0..columns).map(cell).collect::<Vec<_>>().join("|"))
            });
            rows.unwrap().map(Result::unwrap).collect::<Vec<_>>()
        };
        for (sql, rows) in [
            (
                "SELECT workload_name, kernel_name, dispatch_count, duration_ns_sum, duration_ns_min, duration_ns_max, duration_ns_median, duration_ns_mean FROM compute_kernel_view ORDER BY kernel_name",
                &["copy|a|2|400|100|300|200|200", "copy|b|1|100|100|100|100|100"][..],
            ),
            (
                "SELECT kernel_name, metric_name, table_name, unit, value_name, value FROM compute_kernel_metric_view WHERE metric_id LIKE '2.1.%' AND metric_name = 'L2 Cache Hit Rate' ORDER BY kernel_name, value_name",
                &[
                    "a|L2 Cache Hit Rate|System Speed-of-Light|%|Avg|40",
                    "a|L2 Cache Hit Rate|System Speed-of-Light|%|Peak|100",
                    "a|L2 Cache Hit Rate|System Speed-of-Light|%|Percent of Peak|40",
                    "b|L2 Cache Hit Rate|System Speed-of-Light|%|Avg|100",
                    "b|L2 Cache Hit Rate|System Speed-of-Light|%|Peak|100",
                    "b|L2 Cache Hit Rate|System Speed-of-Light|%|Percent of Peak|100",
                ],
            ),
            (
                "SELECT value_name, round(value, 4) FROM compute_workload_metric_view WHERE metric_id LIKE '18.1.%' ORDER BY value_name",
                &["Avg|42.8571", "Max|100", "Min|30", "Std Dev|36.0555"],
            ),
            // Values that were not recorded have no row.
            (
                "SELECT count(*) FROM compute_kernel_metric_view WHERE metric_name = 'IPC' AND value_name = 'Avg'",
                &["0"],
            ),
            ("SELECT schema_version FROM compute_metadata", &["2.0.0"]),
            (
                "SELECT name, sub_name, json_extract(sys_info_extdata, '$.cu_per_gpu') FROM compute_workload",
                &["copy|MI300X|304"],
            ),
        ] {
            assert_eq!(ask(sql), rows, "{sql}");
        }
    }
}
