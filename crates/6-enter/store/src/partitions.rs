//! The schema as a script for large databases: partitions by time, and Citus.
//!
//! Numbers of recordings grow with time, so ranges of them are ranges of time. The number is a part of each key, which
//! PostgreSQL asks of the column of partitions, and Citus of the column by which rows are distributed.

use crate::engine::Dialect;
use crate::schema;

/// Tables with many rows per recording, the one with the most first; others are distributed beside it.
const LARGE: [&str; 7] = [
    "kernel_runs",
    "kernel_normals",
    "recording_findings",
    "roofline_ceilings",
    "roofline_points",
    "tuned_configurations",
    "answer_cells",
];

/// Tables that every node of Citus has whole: names, recordings and their labels. Each is after the tables it refers to.
const WHOLE: [&str; 7] =
    ["machines", "kernels", "quantities", "quantity_sets", "quantity_set_members", "recordings", "labels"];

/// Recordings of a partition, and partitions that the script makes.
const RANGE: i64 = 100_000;
const RANGES: i64 = 10;

/// Form of a large database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Partitions of PostgreSQL.
    Partitions,
    /// The same, distributed by Citus.
    Citus,
}

/// Statements that make an empty database of this form.
pub(crate) fn script(scale: Scale, dialect: &Dialect) -> String {
    let mut out = vec![
        "-- Tables of Rockhound for an empty database, in one transaction: psql -1 -v ON_ERROR_STOP=1 -f FILE DATABASE"
            .to_owned(),
        "CREATE SCHEMA rockhound".to_owned(),
        dialect.sql(schema::VERSIONS),
    ];
    for (version, step) in (1..).zip(schema::STEPS) {
        out.extend(schema::statements(step).iter().map(|it| partitioned(&dialect.sql(it))));
        let insert = "INSERT INTO {s}rockhound_schema (version, applied) VALUES ";
        out.push(dialect.sql(&format!("{insert}({version}, {{now}})")));
    }
    for table in LARGE {
        for at in 0..RANGES {
            let (from, to) = (at * RANGE, (at + 1) * RANGE);
            out.push(format!(
                "CREATE TABLE rockhound.{table}_{at} PARTITION OF rockhound.{table} FOR VALUES FROM ({from}) TO ({to})"
            ));
        }
        // A recording beyond the last range is added too.
        out.push(format!("CREATE TABLE rockhound.{table}_rest PARTITION OF rockhound.{table} DEFAULT"));
    }
    if scale == Scale::Citus {
        out.push("CREATE EXTENSION IF NOT EXISTS citus".to_owned());
        out.extend(WHOLE.map(|it| format!("SELECT create_reference_table('rockhound.{it}')")));
        for table in LARGE {
            let beside =
                if table == LARGE[0] { "default".to_owned() } else { format!("rockhound.{}", LARGE[0]) };
            out.push(format!(
                "SELECT create_distributed_table('rockhound.{table}', 'recording', colocate_with => '{beside}')"
            ));
        }
    }
    let (first, rest) = out.split_at(1);
    format!("{}\n\n{};\n", first[0], rest.join(";\n\n"))
}

/// The statement with partitions if it makes a large table.
fn partitioned(statement: &str) -> String {
    let is_large =
        LARGE.iter().any(|table| statement.starts_with(&format!("CREATE TABLE rockhound.{table} (")));
    if is_large { format!("{statement} PARTITION BY RANGE (recording)") } else { statement.to_owned() }
}
