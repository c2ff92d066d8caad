//! Servers that restart or refuse.

use crate::contract::study_of;
use crate::engines::{Database, study, worker};
use crate::recordings::made;
use rockhound_store::{Archive, Finish, Scale, StoreError, open, script};
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

/// Functions of Citus that check what its documentation asks: every key of a distributed table has its column, and rows refer
/// to whole tables only.
const CITUS: &str = "
    CREATE TABLE whole_tables (id regclass); CREATE TABLE spread_tables (id regclass);
    CREATE FUNCTION create_reference_table(it regclass) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
        IF EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conrelid = it AND c.contype = 'f' AND c.confrelid <> it
                   AND c.confrelid NOT IN (SELECT id FROM public.whole_tables)) THEN
            RAISE EXCEPTION '% refers to a table that is not whole', it;
        END IF;
        INSERT INTO public.whole_tables VALUES (it);
    END $$;
    CREATE FUNCTION create_distributed_table(it regclass, name text, colocate_with text) RETURNS void
    LANGUAGE plpgsql AS $$ BEGIN
        IF EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = it AND i.indisunique AND NOT EXISTS (
                SELECT 1 FROM pg_attribute a WHERE a.attrelid = it AND a.attname = name AND a.attnum = ANY (i.indkey))) THEN
            RAISE EXCEPTION 'a key of % has no column %', it, name;
        END IF;
        IF EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conrelid = it AND c.contype = 'f'
                   AND c.confrelid NOT IN (SELECT id FROM public.whole_tables)) THEN
            RAISE EXCEPTION '% refers to a table that is not whole', it;
        END IF;
        IF colocate_with <> 'default' AND colocate_with::regclass NOT IN (SELECT id FROM public.spread_tables) THEN
            RAISE EXCEPTION 'no table % to be beside of', colocate_with;
        END IF;
        INSERT INTO public.spread_tables VALUES (it);
    END $$;";

#[test]
fn a_database_with_partitions_holds_recordings() {
    let Some(database) = Database::postgres() else { return };
    let server = database.server.as_ref().unwrap();
    let plain = Database::sqlite();
    let mut plain = Archive::open(&plain.address).unwrap();
    let address = |name: &str| format!("{}/{name}", database.address.rsplit_once('/').unwrap().0);
    for (name, scale) in [("parts", Scale::Partitions), ("spread", Scale::Citus)] {
        // The second is made with the functions above in place of the extension.
        server.sql(&format!("CREATE DATABASE {name}"));
        server.sql_of(name, CITUS);
        let script = script(scale);
        assert_eq!(script.contains("create_distributed_table"), scale == Scale::Citus);
        let script = script.replace("CREATE EXTENSION IF NOT EXISTS citus;", "");
        server.sql_of(name, &script);
        let mut archive = Archive::open(&address(name)).unwrap();
        for number in 0..3 {
            let added = archive.add(&made(number)).unwrap();
            assert!(added.is_new);
            assert!(!archive.add(&made(number)).unwrap().is_new);
            let shown = archive.show(&added.id.to_string()).unwrap();
            let id = plain.add(&made(number)).unwrap().id;
            let expected = plain.show(&id.to_string()).unwrap();
            assert_eq!(
                (shown.kernels, shown.findings, shown.files),
                (expected.kernels, expected.findings, expected.files)
            );
        }
        // A recording far in the future has a partition too.
        server.sql_of(name, "ALTER TABLE rockhound.recordings ALTER id RESTART WITH 99999999");
        assert_eq!(archive.add(&made(4)).unwrap().id, 99_999_999);
        let count = |table: &str| server.sql_of(name, &format!("SELECT count(*) FROM rockhound.{table}"));
        assert_eq!((&count("kernel_runs_0")[..], &count("kernel_runs_rest")[..]), ("3", "1"));
        archive.remove("1").unwrap();
        assert_eq!((&count("kernel_runs_0")[..], &count("answer_cells")[..]), ("2", "0"));
        assert_eq!(
            archive.query("SELECT count(*) FROM counter_values", 9).unwrap().rows[0][0].as_deref(),
            Some("3")
        );
    }
}

#[test]
fn a_server_that_restarts_while_recordings_are_added_loses_none() {
    let Some(database) = Database::postgres() else { return };
    let server = database.server.as_ref().unwrap();
    let added: Vec<i64> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2u64)
            .map(|writer| {
                let address = &database.address;
                scope.spawn(move || {
                    let mut archive = Archive::open(address).unwrap();
                    let all = (0..60).map(|at| archive.add(&made(1000 * writer + at)).unwrap().id);
                    all.collect::<Vec<_>>()
                })
            })
            .collect();
        for mode in ["fast", "immediate"] {
            std::thread::sleep(Duration::from_millis(150));
            server.down(mode);
            server.up();
        }
        writers.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    let mut archive = Archive::open(&database.address).unwrap();
    assert_eq!(added.iter().collect::<BTreeSet<_>>().len(), 120);
    assert_eq!(
        archive.query("SELECT count(*) FROM recordings", 9).unwrap().rows[0][0].as_deref(),
        Some("120")
    );
    for id in added {
        let whole = archive.show(&id.to_string()).unwrap();
        assert_eq!((whole.kernels.len(), whole.files.len(), whole.findings.len()), (1, 4, 1));
    }
}
