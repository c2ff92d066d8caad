//! Tables, as numbered steps. The database has one number for all tables of Rockhound; a step never changes once
//! released.

use crate::engine::{Cell, Engine, Statements};
use crate::error::StoreError;
use crate::tables;

/// Statements of each step, from schema 1.
const STEPS: &[&[&str]] = &[TUNING, tables::RECORDINGS, tables::DASHBOARDS];

/// The tuner's queue.
const TUNING: &[&str] = &[
    "CREATE TABLE {s}tune_studies (
        id {serial},
        name TEXT NOT NULL UNIQUE,
        fingerprint TEXT NOT NULL,
        settings TEXT NOT NULL,
        population TEXT,
        mixed BIGINT NOT NULL,
        state BIGINT NOT NULL,
        finished BIGINT NOT NULL,
        created BIGINT NOT NULL
    )",
    "CREATE TABLE {s}tune_tasks (
        study BIGINT NOT NULL REFERENCES {s}tune_studies (id) ON DELETE CASCADE,
        sequence BIGINT NOT NULL,
        payload TEXT NOT NULL,
        state BIGINT NOT NULL DEFAULT 0,
        attempt BIGINT NOT NULL DEFAULT 0,
        lost BIGINT NOT NULL DEFAULT 0,
        token TEXT,
        worker TEXT,
        population TEXT,
        started BIGINT,
        beat BIGINT,
        lease BIGINT,
        ended BIGINT,
        finished BIGINT,
        result TEXT,
        failure TEXT,
        PRIMARY KEY (study, sequence)
    )",
    // Done tasks are many, and no claim looks at them.
    "CREATE INDEX tune_tasks_open ON {s}tune_tasks (study, sequence) WHERE state < 2",
    "CREATE UNIQUE INDEX tune_tasks_finished ON {s}tune_tasks (study, finished) WHERE finished IS NOT NULL",
];

/// The newest schema.
pub(crate) const NEWEST: i64 = STEPS.len() as i64;

/// The version of a database; 0 without tables.
pub(crate) fn version(engine: &mut dyn Engine) -> Result<i64, StoreError> {
    let newest = engine.dialect().sql("SELECT max(version) FROM {s}rockhound_schema");
    let found = match engine.rows(&newest, &[])?.first().and_then(|row| row.first()) {
        Some(Cell::Integer(it)) => *it,
        _ => 0,
    };
    if found > NEWEST {
        return Err(StoreError::Newer { place: engine.place().to_owned(), found, known: NEWEST });
    }
    Ok(found)
}

/// Brings the schema up to date; several processes may do so at once. One that is up to date is only read.
pub(crate) fn migrate(engine: &mut dyn Engine) -> Result<(), StoreError> {
    if version(engine)? == NEWEST {
        return Ok(());
    }
    let (dialect, place) = (engine.dialect(), engine.place().to_owned());
    let newest = dialect.sql("SELECT max(version) FROM {s}rockhound_schema");
    engine.transaction(&mut |statements| {
        if let Some(lock) = dialect.lock_schema {
            statements.rows(lock, &[])?;
        }
        let from = match statements.rows(&newest, &[])?.first().and_then(|row| row.first()) {
            Some(Cell::Integer(it)) => *it,
            _ => 0,
        };
        if from > NEWEST {
            return Err(StoreError::Newer { place: place.clone(), found: from, known: NEWEST });
        }
        for (version, step) in (1..).zip(STEPS).filter(|(version, _)| *version > from) {
            apply(statements, step, |it| dialect.sql(it))?;
            let insert = dialect.sql("INSERT INTO {s}rockhound_schema (version, applied) VALUES (?1, {now})");
            statements.rows(&insert, &[Cell::Integer(version)])?;
        }
        Ok(())
    })
}

/// The table of versions.
pub(crate) const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS {s}rockhound_schema (version BIGINT NOT NULL PRIMARY KEY, applied BIGINT NOT NULL)";

fn apply(
    statements: &mut dyn Statements,
    step: &[&str],
    sql: impl Fn(&str) -> String,
) -> Result<(), StoreError> {
    for text in step {
        statements.rows(&sql(text), &[])?;
    }
    Ok(())
}
