//! Files that SQLite cannot use.

use crate::contract::study_of;
use crate::engines::{Database, study, worker};
use crate::recordings::made;
use rockhound_store::recordings::Selection;
use rockhound_store::{Archive, StoreError, open};
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::Scratch;

fn refusal(address: &str) -> String {
    open(address).err().map(|it| it.to_string()).unwrap_or_default()
}

#[test]
fn files_of_others_are_refused() {
    let folder = Scratch::new("store");
    folder.write(
        "text.db",
        b"a text that is longer than the header of a database, one hundred bytes, which is enough for SQLite",
    );
    let foreign = folder.path("foreign.db").display().to_string();
    let connection = rusqlite::Connection::open(&foreign).unwrap();
    connection.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
    for name in ["text.db", "foreign.db", "none/tune.db", "."] {
        testkit::golden(name, &refusal(&folder.path(name).display().to_string()));
    }
    let rows: i64 = connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!((rows, tables), (1, 1), "a refused database stays as it is");
}

#[test]
fn a_newer_schema_is_refused() {
    for database in Database::all() {
        drop(database.open());
        database.sql("INSERT INTO {s}rockhound_schema (version, applied) VALUES (7, 0)");
        let error = open(&database.address).err().unwrap();
        assert!(matches!(error, StoreError::Newer { found: 7, known: 4, .. }), "{error}");
        for opened in [Archive::open(&database.address), Archive::open_to_read(&database.address)] {
            assert!(matches!(opened.err(), Some(StoreError::Newer { .. })));
        }
    }
}

#[test]
fn a_full_disk_is_named_and_results_are_kept() {
    let Some(disk) = SmallDisk::mount() else { return };
    let address = disk.0.path("tune.db").display().to_string();
    let mut journal = open(&address).unwrap();
    let id = study_of(&mut *journal, "full", 100);
    let large = "x".repeat(100_000);
    let mut kept = 0;
    let error = loop {
        assert!(kept < 100, "the disk has room for 1 MiB");
        let claimed = journal.claim(id, &worker("a"), Duration::from_secs(60));
        match claimed.and_then(|claim| journal.finish(&claim.unwrap(), &large)) {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error, StoreError::Full { place: address.clone() });
    drop(journal);
    testkit::run("mount", &["-o", "remount,size=8m", &disk.0.path("").display().to_string()]);
    let mut journal = open(&address).unwrap();
    assert_eq!(journal.begin(&study("full")).unwrap(), id);
    let results = journal.results(id, 0).unwrap();
    assert_eq!(results.len(), kept);
    assert!(results.iter().all(|it| it.result.as_ref() == Ok(&large)));
}

#[test]
fn a_full_disk_keeps_the_recordings_that_were_added() {
    let Some(disk) = SmallDisk::of("4m") else { return };
    let address = disk.0.path("runs.db").display().to_string();
    let mut archive = Archive::open(&address).unwrap();
    let mut random = testkit::Random(4);
    let mut files = Vec::new();
    let error = loop {
        assert!(files.len() < 100, "the disk has room for 4 MiB");
        let mut new = made(files.len() as u64);
        let noise: Vec<u8> = (0..200_000).map(|_| random.next() as u8).collect();
        new.files.insert("noise".to_owned(), noise);
        match archive.add(&new) {
            Ok(_) => files.push(new.files),
            Err(error) => break error,
        }
    };
    assert_eq!(error, StoreError::Full { place: address.clone() });
    assert!(files.len() > 5, "{}", files.len());
    drop(archive);
    testkit::run("mount", &["-o", "remount,size=16m", &disk.0.path("").display().to_string()]);
    let mut archive = Archive::open(&address).unwrap();
    let all = archive.list(&Selection::default()).unwrap();
    assert_eq!(all.len(), files.len());
    for (entry, expected) in all.iter().zip(&files) {
        let mut found = std::collections::BTreeMap::new();
        let take = |name: &str, bytes| {
            found.insert(name.to_owned(), bytes);
            Ok::<(), StoreError>(())
        };
        archive.files(entry.id, take).unwrap();
        assert!(found == *expected, "{}", entry.id);
    }
    assert!(archive.add(&made(99)).unwrap().is_new);
}

/// A small file system.
struct SmallDisk(Scratch);

impl SmallDisk {
    fn mount() -> Option<SmallDisk> {
        SmallDisk::of("1m")
    }

    fn of(size: &str) -> Option<SmallDisk> {
        let folder = Scratch::new("store");
        let mut mount = Command::new("mount");
        let size = format!("size={size}");
        let mounted = mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path("")).output();
        if mounted.is_ok_and(|it| it.status.success()) {
            return Some(SmallDisk(folder));
        }
        testkit::absent("rights to mount a file system", "`sudo`");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path("")).status();
    }
}

#[test]
fn files_and_folders_that_are_read_only_are_named() {
    let Some(disk) = SmallDisk::mount() else { return };
    let address = disk.0.path("tune.db").display().to_string();
    let mut journal = open(&address).unwrap();
    study_of(&mut *journal, "read", 1);
    drop(journal);
    testkit::run("mount", &["-o", "remount,ro", &disk.0.path("").display().to_string()]);
    let error = open(&address).err().unwrap();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    let error = open(&disk.0.path("new.db").display().to_string()).err().unwrap();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

#[test]
fn processes_wait_for_each_other() {
    let database = Database::sqlite();
    let mut journal = database.open();
    let other = rusqlite::Connection::open(&database.address).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            other.execute_batch("COMMIT").unwrap();
        });
        let begun = Instant::now();
        study_of(&mut *journal, "waits", 1);
        assert!(begun.elapsed() >= Duration::from_millis(200));
    });
}
