//! rocpd SQLite databases, as rocprofv3 writes them.
//!
//! The one idea to keep in mind: the database is opened from bytes in memory, read-only and with a bound on the work
//! a query may do, because the views in it are SQL that somebody else wrote.

use crate::check;
use crate::long::{Gather, Row};
use crate::model::{Generation, Workload};
use crate::problem::{Error, Problems};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// Steps of SQLite's machine one database may cost, in thousands.
const STEP_THOUSANDS: u64 = 5_000_000;

/// What a row is made of: the view's column for each part, the first that exists.
const COLUMNS: &[(&str, &[&str])] = &[
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

/// Reads databases; each is one run of the application.
pub(crate) fn databases(
    files: &[(String, std::borrow::Cow<'_, [u8]>)],
    mut problems: Problems,
) -> Result<Workload, Error> {
    let mut gather = Gather::default();
    let mut failed = None;
    let mut rows = 0;
    let mut target = None;
    for (part, (name, bytes)) in files.iter().enumerate() {
        match add(&mut gather, part as u32, name, bytes, &mut problems) {
            Ok((n, arch)) => {
                rows += n;
                target = target.or(arch);
            }
            Err(e) if files.len() == 1 => return Err(e),
            Err(e) => {
                problems.error(name, crate::side::first_line(&e.to_string()), "the database is left out");
                failed = Some(e);
            }
        }
    }
    if rows == 0 {
        return Err(failed.unwrap_or(Error::HeaderOnly { file: files[0].0.clone() }));
    }
    let sources = files.iter().map(|f| f.0.clone()).collect();
    let mut w = gather.finish(Generation::Rocpd, sources, &mut problems);
    if let Some(target) = target {
        w.machine.facts.insert("gpu_arch".to_string(), target);
    }
    check::workload(&mut w, problems);
    Ok(w)
}

fn add(
    gather: &mut Gather,
    part: u32,
    file: &str,
    bytes: &[u8],
    problems: &mut Problems,
) -> Result<(u64, Option<String>), Error> {
    let fail = |reason: String, hint: &str| Error::Database {
        file: file.to_string(),
        reason,
        hint: hint.to_string(),
    };
    let broken = |e: rusqlite::Error| fail(e.to_string(), "the file is damaged or no rocpd database");
    let mut db = Connection::open_in_memory().map_err(broken)?;
    db.deserialize_read_exact("main", bytes, bytes.len(), true).map_err(broken)?;
    db.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;").map_err(broken)?;
    let mut thousands = 0u64;
    db.progress_handler(
        1000,
        Some(move || {
            thousands += 1;
            thousands > STEP_THOUSANDS
        }),
    );
    let mut rows = 0;
    let views = ["counters_collection", "kernels"];
    let mut present = Vec::new();
    for view in views {
        let columns = columns_of(&db, view).map_err(broken)?;
        if !columns.is_empty() {
            present.push((view, columns));
        }
    }
    if present.is_empty() {
        return Err(fail(
            format!("the database has neither view `{}` nor `{}`", views[0], views[1]),
            "record with `rocprofv3 --output-format rocpd`",
        ));
    }
    for (view, columns) in &present {
        rows = query(&db, view, columns, gather, part).map_err(broken)?;
        if rows > 0 {
            if *view == views[1] {
                problems.warn(file, 0, "the database holds no counters", "only times and sizes are known");
            }
            break;
        }
    }
    let arch = db
        .query_row("SELECT name FROM rocpd_info_agent WHERE type = 'GPU' LIMIT 1", [], |r| {
            r.get::<_, String>(0)
        })
        .ok();
    if arch.is_none() {
        problems.warn(file, 0, "the database names no GPU", "the target is not known; name it");
    }
    Ok((rows, arch))
}

fn columns_of(db: &Connection, view: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([view], |r| r.get::<_, String>(0))?;
    names.collect()
}

fn query(
    db: &Connection,
    view: &str,
    columns: &[String],
    gather: &mut Gather,
    part: u32,
) -> rusqlite::Result<u64> {
    let product = |axis: &str| {
        [format!("{axis}_size"), axis.to_string()].iter().find_map(|stem| {
            let parts = ["x", "y", "z"].map(|d| format!("{stem}_{d}"));
            parts.iter().all(|p| columns.contains(p)).then(|| parts.join(" * "))
        })
    };
    let list: Vec<String> = COLUMNS
        .iter()
        .map(|(part, names)| {
            names
                .iter()
                .find(|n| columns.iter().any(|c| c == *n))
                .map(|n| format!("\"{n}\""))
                .or_else(|| product(part))
                .unwrap_or_else(|| "NULL".to_string())
        })
        .collect();
    let mut statement = db.prepare(&format!("SELECT {} FROM \"{view}\"", list.join(", ")))?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(r) = rows.next()? {
        let number = |i: usize| match r.get_ref(i) {
            Ok(ValueRef::Integer(v)) => Some(v as f64),
            Ok(ValueRef::Real(v)) => Some(v),
            _ => None,
        };
        let time = |i: usize| match r.get_ref(i) {
            Ok(ValueRef::Integer(v)) => Some(v),
            Ok(ValueRef::Real(v)) => Some(v as i64),
            _ => None,
        };
        let text = |i: usize| match r.get_ref(i) {
            Ok(ValueRef::Text(t)) => String::from_utf8_lossy(t),
            _ => std::borrow::Cow::Borrowed(""),
        };
        let (kernel, counter) = (text(2), text(12));
        gather.add(
            part,
            &Row {
                dispatch: time(0).map_or(0, |v| v.max(0) as u64),
                gpu: time(1).map_or(0, |v| v.clamp(0, i64::from(u32::MAX)) as u32),
                kernel: &kernel,
                start: time(3),
                end: time(4),
                sizes: [number(5), number(6), number(7), number(8), number(9), number(10), number(11)],
                counter: &counter,
                value: number(13),
            },
        );
        count += 1;
    }
    Ok(count)
}
