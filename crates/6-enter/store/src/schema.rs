//! Tables, as numbered steps. The database has one number for all tables of Rockhound; a step never changes once
//! released.

use crate::engine::{Cell, Engine};
use crate::error::StoreError;

/// SQL of each step, from schema 1.
pub(crate) const STEPS: [&str; 4] = [
    include_str!("../data/1-tuning.sql"),
    include_str!("../data/2-recordings.sql"),
    include_str!("../data/3-dashboards.sql"),
    include_str!("../data/4-answers.sql"),
];

/// Statements of a step: they end with `;` at the end of a line, and lines that begin with `--` are comments.
pub(crate) fn statements(step: &str) -> Vec<String> {
    let lines: Vec<&str> = step.lines().filter(|line| !line.starts_with("--")).collect();
    lines.join("\n").split_terminator(';').map(|it| it.trim_start_matches('\n').to_owned()).collect()
}

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
    migrate_to(engine, NEWEST)
}

/// Applies the steps up to a version.
fn migrate_to(engine: &mut dyn Engine, last: i64) -> Result<(), StoreError> {
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
        for (version, step) in (1..).zip(STEPS).filter(|(version, _)| *version > from && *version <= last) {
            for text in self::statements(step) {
                statements.rows(&dialect.sql(&text), &[])?;
            }
            let insert = dialect.sql("INSERT INTO {s}rockhound_schema (version, applied) VALUES (?1, {now})");
            statements.rows(&insert, &[Cell::Integer(version)])?;
        }
        Ok(())
    })
}

/// The table of versions.
pub(crate) const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS {s}rockhound_schema (version BIGINT NOT NULL PRIMARY KEY, applied BIGINT NOT NULL)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recordings::{Archive, Selection};
    use view::StoredSort;

    /// A database as an earlier version left it, with a recording.
    fn made_by(mut engine: Box<dyn Engine>, last: i64) {
        migrate_to(&mut *engine, last).unwrap();
        assert_eq!(version(&mut *engine).unwrap(), last);
        let dialect = engine.dialect();
        for (sql, cells) in [
            (
                "INSERT INTO {s}machines (id, hash, gpu, facts) VALUES (1, ?1, 'gpu', '{}')",
                vec![Cell::Bytes(vec![1])],
            ),
            (
                "INSERT INTO {s}recordings (id, identity, name, path, opened, kind, machine, version, dispatches, bytes, measured, added)
                 VALUES (7, ?1, 'app', 'app', '', 'k', 1, '0', 1, 1, 1, 1)",
                vec![Cell::Bytes(vec![2])],
            ),
            ("INSERT INTO {s}labels (recording, name, value) VALUES (7, 'a', 'b')", Vec::new()),
        ] {
            engine.rows(&dialect.sql(sql), &cells).unwrap();
        }
    }

    /// Recordings of earlier versions stay recordings.
    fn brings_up_to_date(open: &dyn Fn() -> Box<dyn Engine>, address: &str) {
        made_by(open(), 3);
        for opened in [Archive::open_to_read(address), Archive::open(address)] {
            let mut archive = opened.unwrap();
            let all = archive.list(&Selection::default()).unwrap();
            assert_eq!((all.len(), all[0].id, all[0].sort), (1, 7, StoredSort::Recording));
            assert_eq!(all[0].labels["a"], "b");
            assert_eq!(archive.resolve("label=a=b").unwrap().id, 7);
            for (sql, rows) in [
                ("SELECT id FROM recordings_with_labels", 1),
                ("SELECT * FROM tunings", 0),
                ("SELECT * FROM answer_cells", 0),
            ] {
                assert_eq!(archive.query(sql, 9).unwrap().rows.len(), rows, "{sql}");
            }
        }
        assert_eq!(version(&mut *open()).unwrap(), NEWEST);
    }

    #[test]
    fn a_file_of_an_earlier_version_is_brought_up_to_date() {
        let folder = testkit::Scratch::new("store-schema");
        let path = folder.path("old.db");
        let open = || Box::new(crate::sqlite::Sqlite::open(&path).unwrap()) as Box<dyn Engine>;
        brings_up_to_date(&open, &path.display().to_string());
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn a_server_of_an_earlier_version_is_brought_up_to_date() {
        let folder = testkit::Scratch::new("store-schema");
        let Some(server) = testkit::postgres::Server::start(&folder.path("server")) else { return };
        let address = server.address();
        let open = || Box::new(crate::postgres::Postgres::open(&address).unwrap()) as Box<dyn Engine>;
        brings_up_to_date(&open, &address);
    }
}
