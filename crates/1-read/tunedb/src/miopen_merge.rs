//! Merging MIOpen's databases in SQLite.
//!
//! The first database is copied and rows are added to the copy, so any other content that MIOpen wrote stays;
//! two problems are equal if all columns of `config` except the number are equal.

use crate::error::Error;
use rusqlite::Connection;

/// Steps of SQLite's machine a merge may cost, in thousands.
const STEP_THOUSANDS: u64 = 4_000_000;

/// Merges PerfDb databases: every problem and solver of the first, plus the additional ones of later
/// databases. If parameters of one solver differ, the first database wins, or the last one with `last`.
///
/// # Errors
/// Fails if a database is damaged, or if its tables have other columns than the first database's.
pub fn merge_databases(files: &[(&str, &[u8])], last: bool) -> Result<Vec<u8>, Error> {
    let Some(((name, bytes), rest)) = files.split_first() else { return Err(Error::new(0, "no file")) };
    let mut db = rocprof::database::open_copy(bytes, STEP_THOUSANDS).map_err(broken(name))?;
    whole(&db, "main", name)?;
    db.execute_batch("ATTACH ':memory:' AS other").map_err(broken(name))?;
    let own = columns(&db, "main").map_err(broken(name))?;
    for (name, bytes) in rest {
        rocprof::database::load_beside(&mut db, "other", bytes).map_err(broken(name))?;
        whole(&db, "other", name)?;
        let theirs = columns(&db, "other").map_err(broken(name))?;
        if theirs != own {
            let text = format!("`{name}`: the table `config` has other columns than in the first file");
            return Err(Error::new(0, text).hint("merge databases that one version of MIOpen wrote"));
        }
        add(&db, &own, last).map_err(broken(name))?;
    }
    db.execute_batch("DETACH other").map_err(broken(name))?;
    Ok(db.serialize("main").map_err(broken(name))?.to_vec())
}

fn broken(name: &str) -> impl Fn(rusqlite::Error) -> Error + '_ {
    move |error| Error::new(0, format!("`{name}`: the database cannot be read: {error}"))
}

/// Refuses a database with damaged pages: rows on them would be lost.
fn whole(db: &Connection, schema: &str, name: &str) -> Result<(), Error> {
    match rocprof::database::damage(db, schema).map_err(broken(name))? {
        None => Ok(()),
        Some(fault) => {
            let first = fault.lines().next().unwrap_or_default();
            Err(Error::new(0, format!("`{name}`: the database is damaged: {first}"))
                .hint("`sqlite3 FILE .recover` writes what can be saved of it"))
        }
    }
}

/// Columns of `config` but its number, in the order of their names.
fn columns(db: &Connection, schema: &str) -> rusqlite::Result<Vec<String>> {
    let query = "SELECT name FROM pragma_table_info('config', ?1) WHERE name <> 'id' ORDER BY name";
    let mut statement = db.prepare(query)?;
    let names = statement.query_map([schema], |row| row.get::<_, String>(0))?;
    names.map(|name| Ok(format!("\"{}\"", name?.replace('"', "\"\"")))).collect()
}

fn add(db: &Connection, columns: &[String], last: bool) -> rusqlite::Result<()> {
    let list = columns.join(",");
    let replace = if last {
        "UPDATE main.perf_db SET params = p.params FROM other.perf_db p JOIN temp.place t ON t.theirs = p.config \
         WHERE main.perf_db.config = t.own AND main.perf_db.solver = p.solver AND main.perf_db.params <> p.params;"
    } else {
        ""
    };
    db.execute_batch(&format!(
        "INSERT INTO main.config ({list}) SELECT {list} FROM other.config EXCEPT SELECT {list} FROM main.config;
         CREATE TABLE temp.place AS SELECT o.id AS theirs, m.id AS own FROM other.config o JOIN main.config m USING ({list});
         CREATE INDEX temp.place_theirs ON place(theirs);
         {replace}
         INSERT INTO main.perf_db (solver, config, params) SELECT p.solver, t.own, p.params FROM other.perf_db p \
             JOIN temp.place t ON t.theirs = p.config WHERE NOT EXISTS \
             (SELECT 1 FROM main.perf_db m WHERE m.solver = p.solver AND m.config = t.own) ORDER BY t.own, p.solver;
         DROP TABLE temp.place;"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database of one column of sizes.
    fn made(rows: &[(i64, &str, &str)]) -> Vec<u8> {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(
            "CREATE TABLE config (id INTEGER PRIMARY KEY ASC, in_h INT NOT NULL);
             CREATE TABLE perf_db (id INTEGER PRIMARY KEY ASC, solver TEXT NOT NULL, config INTEGER NOT NULL, params TEXT NOT NULL);
             CREATE UNIQUE INDEX idx_config ON config(in_h);
             CREATE UNIQUE INDEX idx_perf_db ON perf_db(solver, config);",
        )
        .unwrap();
        for (size, solver, params) in rows {
            db.execute("INSERT OR IGNORE INTO config (in_h) VALUES (?1)", [size]).unwrap();
            let query =
                "INSERT INTO perf_db (solver, config, params) SELECT ?1, id, ?2 FROM config WHERE in_h = ?3";
            db.execute(query, (solver, params, size)).unwrap();
        }
        db.serialize("main").unwrap().to_vec()
    }

    fn rows(bytes: &[u8]) -> Vec<(i64, String, String)> {
        let db = rocprof::database::open(bytes, 1000).unwrap();
        let query = "SELECT in_h, solver, params FROM perf_db p JOIN config c ON c.id = p.config ORDER BY in_h, solver";
        let mut statement = db.prepare(query).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn problems_and_solvers_of_both() {
        let a = made(&[(7, "A", "1"), (9, "A", "2")]);
        // The same problems have other numbers here.
        let b = made(&[(5, "A", "3"), (9, "A", "4"), (9, "B", "5"), (7, "A", "1")]);
        let files = [("a.db", &a[..]), ("b.db", &b[..])];
        for (last, params) in [(false, "2"), (true, "4")] {
            let merged = merge_databases(&files, last).unwrap();
            let expected = [(5, "A", "3"), (7, "A", "1"), (9, "A", params), (9, "B", "5")];
            let expected = expected.map(|(size, a, b)| (size, a.to_owned(), b.to_owned()));
            assert_eq!(rows(&merged), expected, "{last}");
            assert_eq!(merged, merge_databases(&files, last).unwrap());
        }
        assert_eq!(rows(&merge_databases(&files[..1], false).unwrap()), rows(&a));
    }

    #[test]
    fn damaged_and_strange_databases_are_refused() {
        let a = made(&[(7, "A", "1")]);
        let mut broken = a.clone();
        let page = broken.len() - 4096;
        broken[page..page + 64].fill(0xff);
        let other = Connection::open_in_memory().unwrap();
        other
            .execute_batch(
                "CREATE TABLE config (id INTEGER PRIMARY KEY, in_w INT); CREATE TABLE perf_db (id INTEGER);",
            )
            .unwrap();
        let other = other.serialize("main").unwrap().to_vec();
        for (bytes, words) in [(&broken, "b.db"), (&other, "other columns"), (&a[..600].to_vec(), "b.db")] {
            let error = merge_databases(&[("a.db", &a), ("b.db", bytes)], false).unwrap_err();
            assert!(error.message.contains(words), "{error}");
        }
    }
}
