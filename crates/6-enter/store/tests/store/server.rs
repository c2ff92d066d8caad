//! Servers that restart or refuse.

use crate::contract::study_of;
use crate::engines::{Database, study, worker};
use crate::recordings::made;
use rockhound_store::{Archive, Finish, StoreError, open};
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn a_server_that_restarts_or_crashes_loses_nothing() {
    let Some(database) = Database::postgres() else { return };
    let id = study_of(&mut *database.open(), "restart", 300);
    let kept: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|at| {
                let address = &database.address;
                scope.spawn(move || {
                    let mut journal = open(address).unwrap();
                    let mut kept = 0;
                    while let Some(claim) = journal.claim(id, &worker(&format!("w{at}")), LEASE).unwrap() {
                        std::thread::sleep(Duration::from_millis(10));
                        assert!(journal.heartbeat(&claim).unwrap());
                        kept += usize::from(journal.finish(&claim, "r").unwrap() == Finish::Kept);
                    }
                    kept
                })
            })
            .collect();
        let server = database.server.as_ref().unwrap();
        for mode in ["fast", "immediate"] {
            std::thread::sleep(Duration::from_millis(100));
            server.down(mode);
            server.up();
        }
        workers.into_iter().map(|it| it.join().unwrap()).sum()
    });
    let results = database.open().results(id, 0).unwrap();
    assert_eq!((kept, results.len()), (300, 300));
    assert_eq!(results.iter().map(|it| it.sequence).collect::<BTreeSet<_>>().len(), 300);
    // A claim whose answer was lost is found again: no lease had to expire, and at most one task of a worker and restart
    // was given back.
    assert!(results.iter().all(|it| it.result.is_ok()));
    let again: u32 = results.iter().map(|it| it.attempt - 1).sum();
    assert!(again <= 8, "{again}");
}

const LEASE: Duration = Duration::from_secs(600);

#[test]
fn servers_that_refuse_are_named() {
    let Some(database) = Database::postgres() else { return };
    let server = database.server.as_ref().unwrap();
    drop(database.open());
    server.sql(
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA rockhound TO reader;
         GRANT SELECT ON ALL TABLES IN SCHEMA rockhound TO reader; CREATE ROLE nobody_here",
    );
    let address = |user: &str, name: &str| {
        let host = database.address.split_once('@').unwrap().1.trim_end_matches("/postgres");
        format!("postgres://{user}@{host}/{name}")
    };
    let refusal = |address: &str| open(address).err().map(|it| it.to_string()).unwrap_or_default();
    for (address, expected) in [
        (address("postgres", "absent"), "database \"absent\" does not exist"),
        (address("absent", "postgres"), "role \"absent\" does not exist"),
        (format!("{}?sslmode=require", database.address), "connections are not encrypted"),
        (
            "postgres://u@%2Fno%2Fsuch%2Ffolder/d".to_owned(),
            "cannot reach `postgres://u@%2Fno%2Fsuch%2Ffolder/d`",
        ),
    ] {
        let error = refusal(&address);
        assert!(error.contains(expected), "{address}: {error}");
    }
    // A role that only reads can look, and is told when it writes.
    let mut reader = open(&address("reader", "postgres")).unwrap();
    assert_eq!(reader.studies().unwrap(), []);
    let error = reader.begin(&study("s")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

#[test]
fn recordings_are_restored_from_a_dump_and_read_by_a_role_that_only_reads() {
    let Some(database) = Database::postgres() else { return };
    let server = database.server.as_ref().unwrap();
    let mut archive = Archive::open(&database.address).unwrap();
    for number in 0..3 {
        archive.add(&made(number)).unwrap();
    }
    let before: Vec<_> = (1..4).map(|id| archive.show(&id.to_string()).unwrap()).collect();
    let address = |user: &str, name: &str| {
        let host = database.address.split_once('@').unwrap().1.trim_end_matches("/postgres");
        format!("postgres://{user}@{host}/{name}")
    };
    server.sql("CREATE DATABASE restored");
    server.restore("rockhound", "restored");
    let mut restored = Archive::open(&address("postgres", "restored")).unwrap();
    let after: Vec<_> = (1..4).map(|id| restored.show(&id.to_string()).unwrap()).collect();
    assert_eq!(before, after);
    // Numbers go on behind the restored ones.
    assert_eq!(restored.add(&made(9)).unwrap().id, 4);
    server.sql(
        "CREATE ROLE looker LOGIN; GRANT USAGE ON SCHEMA rockhound TO looker;
         GRANT SELECT ON ALL TABLES IN SCHEMA rockhound TO looker",
    );
    let mut looker = Archive::open_to_read(&address("looker", "postgres")).unwrap();
    assert_eq!(looker.show("2").unwrap(), before[1]);
    let error = looker.add(&made(10)).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}
