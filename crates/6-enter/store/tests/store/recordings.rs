//! Recordings over both engines.

use crate::engines::Database;
use rockhound_store::recordings::{NewRecording, Selection, TIME};
use rockhound_store::{Archive, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Random, Scratch};
use view::{KernelRun, QuantityKind, StoredCeiling, StoredFinding, StoredPoint, StoredQuantity};

/// Address and first number of the writer that this test program is as a process.
const ADDRESS: &str = "STORE_TEST_ARCHIVE";
const FIRST: &str = "STORE_TEST_FIRST";

/// A recording of a program in which one number differs.
pub(crate) fn made(number: u64) -> NewRecording {
    let row = |at: u64| format!("{at},copy(double*),{},{}\n", 1000 + number, at * 7919 % 997);
    let csv = format!("Dispatch_ID,Kernel_Name,A,B\n{}", (0..40).map(row).collect::<String>());
    let quantity =
        |kind, name: &str, unit: &str| StoredQuantity { kind, name: name.into(), unit: unit.into() };
    NewRecording {
        name: "app/MI300X".into(),
        path: "workloads/app/MI300X".into(),
        kind: "made".into(),
        gpu: Some("gfx942".into()),
        facts: [("gpu_arch".to_owned(), "gfx942".to_owned())].into(),
        version: "1.0".into(),
        dispatches: 40,
        measured_ms: Some(1_700_000_000_000 + number.cast_signed() * 60_000),
        files: [
            ("pmc_perf.csv".to_owned(), csv.into_bytes()),
            ("sysinfo.csv".to_owned(), b"gpu_arch\ngfx942\n".to_vec()),
            ("out/code.co".to_owned(), vec![0x7f, b'E', b'L', b'F', 0, 255]),
            ("empty".to_owned(), Vec::new()),
        ]
        .into(),
        code: vec!["out/code.co".into()],
        quantities: vec![
            quantity(QuantityKind::Counter, "A", ""),
            quantity(QuantityKind::Metric, "l2.hit_rate", "%"),
            quantity(QuantityKind::Peak, "l2.hit_rate", "%"),
        ],
        kernels: vec![KernelRun {
            name: "copy(double*)".into(),
            base_name: "copy".into(),
            dispatches: 3,
            grid: Some(1024.0),
            workgroup: None,
            times: vec![Some(10.0 + number as f64), None, Some(12.5 + number as f64)],
            numbers: vec![Some(1000.0 + number as f64), Some(0.1 + 0.2), None],
            normals: vec![Some(number as f64), Some(2.5)],
            roofline: vec![StoredPoint {
                level: "HBM".into(),
                intensity: Some(0.5),
                rate: Some(20.0),
                bandwidth: None,
            }],
        }],
        normal_quantities: vec![
            quantity(QuantityKind::PerWave, "lds.loads", "instr/norm"),
            quantity(QuantityKind::PerCycle, "lds.loads", "instr/norm"),
        ],
        ceilings: vec![StoredCeiling {
            is_bandwidth: true,
            name: "HBM".into(),
            value: 5300.0,
            unit: "GB/s".into(),
            is_used: true,
        }],
        findings: vec![StoredFinding {
            kernel: Some("copy(double*)".into()),
            rule: "CTR001".into(),
            severity: "warning".into(),
            time_lost_ns: Some(1.5),
        }],
        ..NewRecording::default()
    }
}

fn labelled(number: u64, labels: &[(&str, &str)]) -> NewRecording {
    let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    NewRecording { labels, ..made(number) }
}

fn files(archive: &mut Archive, id: i64) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let take = |name: &str, bytes| {
        all.insert(name.to_owned(), bytes);
        Ok::<(), StoreError>(())
    };
    archive.files(id, take).unwrap();
    all
}

#[test]
fn what_was_added_comes_back() {
    for database in Database::all() {
        let mut archive = Archive::open(&database.address).unwrap();
        for number in 0..3 {
            let new = labelled(number, &[("branch", "main"), ("n", &number.to_string())]);
            let added = archive.add(&new).unwrap();
            assert!(added.is_new);
            assert_eq!(files(&mut archive, added.id), new.files);
            let shown = archive.show(&added.id.to_string()).unwrap();
            assert_eq!((&shown.entry.labels, &shown.findings), (&new.labels, &new.findings));
            assert_eq!(shown.kernels[0].median_ns, Some(11.25 + number as f64));
            assert_eq!(shown.files.iter().filter(|it| it.is_code).count(), 1);
        }
        let newest = archive.resolve("label=branch=main").unwrap();
        assert_eq!(newest.labels["n"], "2");
        for (labels, newest, expected) in [
            (&[][..], None, 3),
            (&[], Some(2), 2),
            (&[("n", "1")], None, 1),
            (&[("n", "1"), ("branch", "x")], None, 0),
        ] {
            let labels = labels.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            assert_eq!(archive.list(&Selection { labels, newest, sort: None }).unwrap().len(), expected);
        }
        for wanted in ["99", "label=n=9", "label=n", "nonsense"] {
            let error = archive.resolve(wanted).unwrap_err();
            assert!(matches!(&error, StoreError::NoRecording { wanted: it, .. } if it == wanted), "{error}");
        }
    }
}

#[test]
fn the_same_twice_is_one_and_another_commit_is_another() {
    for database in Database::all() {
        let mut archive = Archive::open(&database.address).unwrap();
        let first = archive.add(&labelled(1, &[("commit", "a"), ("run", "1")])).unwrap();
        let again = archive.add(&labelled(1, &[("commit", "a"), ("run", "2")])).unwrap();
        assert_eq!((again.id, again.is_new), (first.id, false));
        let label =
            |archive: &mut Archive, id: i64| archive.resolve(&id.to_string()).unwrap().labels["run"].clone();
        assert_eq!(label(&mut archive, first.id), "2");
        let other = archive.add(&labelled(1, &[("commit", "b")])).unwrap();
        assert!(other.is_new && other.id != first.id);
        // A new commit is a new identity.
        let commit = |it: &str| BTreeMap::from([("commit".to_owned(), it.to_owned())]);
        let error = archive.label(other.id, &commit("a")).unwrap_err().to_string();
        assert!(error.contains(&format!(" {} ", first.id)), "{error}");
        assert_eq!(archive.resolve(&other.id.to_string()).unwrap().labels, commit("b"));
        archive.label(other.id, &commit("c")).unwrap();
        assert_eq!(archive.add(&labelled(1, &[("commit", "c")])).unwrap().id, other.id);
        // Equal files are kept once.
        let blobs = |archive: &mut Archive| archive.query("SELECT id FROM blobs", 99).unwrap().rows.len();
        assert_eq!(blobs(&mut archive), 4);
        archive.remove(&first.id.to_string()).unwrap();
        assert_eq!(archive.compact().unwrap(), 0);
        assert_eq!(files(&mut archive, other.id), made(1).files);
        archive.remove(&other.id.to_string()).unwrap();
        assert_eq!((archive.compact().unwrap(), blobs(&mut archive)), (4, 0));
        // A process that knew the blobs adds them again.
        let back = archive.add(&made(1)).unwrap();
        assert_eq!(files(&mut archive, back.id), made(1).files);
    }
}

#[test]
fn a_base_stays_while_others_are_packed_against_it() {
    for database in Database::all() {
        let mut archive = Archive::open(&database.address).unwrap();
        let base = archive.add(&made(1)).unwrap().id;
        let other = archive.add(&made(2)).unwrap().id;
        archive.remove(&base.to_string()).unwrap();
        archive.compact().unwrap();
        assert_eq!(files(&mut archive, other), made(2).files);
    }
}

#[test]
fn series_have_times_metrics_and_counters() {
    for database in Database::all() {
        let mut archive = Archive::open(&database.address).unwrap();
        for number in [3, 1, 2] {
            archive.add(&labelled(number, &[("branch", if number == 2 { "x" } else { "main" })])).unwrap();
        }
        let kernels = archive.kernels().unwrap();
        assert_eq!(kernels.len(), 1);
        let (id, name, base) = kernels[0].clone();
        assert_eq!((&name[..], &base[..]), ("copy(double*)", "copy"));
        let main = [("branch".to_owned(), "main".to_owned())];
        for (metric, labels, unit, expected) in [
            (TIME, &[][..], "ns", &[12.25, 13.25, 14.25][..]),
            (TIME, &main, "ns", &[12.25, 14.25]),
            ("A", &main, "", &[1001.0, 1003.0]),
            ("l2.hit_rate", &[], "%", &[0.1 + 0.2; 3]),
        ] {
            let series = archive.series(id, metric, labels).unwrap();
            let values: Vec<f64> = series.points.iter().filter_map(|it| it.value).collect();
            assert_eq!((&series.unit[..], &values[..]), (unit, expected), "{metric}");
        }
        let error = archive.series(id, "nonsense", &[]).unwrap_err();
        assert!(matches!(error, StoreError::NoMetric { .. }), "{error}");
    }
}

#[test]
fn views_have_long_form() {
    for database in Database::all() {
        let mut archive = Archive::open(&database.address).unwrap();
        archive.add(&made(7)).unwrap();
        for (sql, expected) in [
            ("SELECT name, value FROM counter_values", "A|1007"),
            ("SELECT name || ' ' || unit, value FROM metric_values", "l2.hit_rate %|0.30000000000000004"),
            ("SELECT count(*) FROM peak_values WHERE value IS NOT NULL", "0"),
            (
                "SELECT unit, value FROM values_by_unit WHERE normal_unit = 'per_wave' AND value < 8",
                "instr per wave|7",
            ),
            ("SELECT unit, count(*) FROM values_by_unit WHERE name = 'l2.hit_rate' GROUP BY unit", "%|4"),
            ("SELECT level, intensity FROM roofline_points", "HBM|0.5"),
            ("SELECT name, value FROM roofline_ceilings", "HBM|5300"),
            ("SELECT gpu, made_by FROM recordings_with_labels", "gfx942|GPU"),
            ("SELECT dispatch, ns FROM dispatch_times ORDER BY dispatch DESC LIMIT 1", "2|19.5"),
        ] {
            let rows = archive.query(sql, 9).unwrap().rows;
            let row: Vec<String> = rows[0].iter().map(|it| it.clone().unwrap_or_default()).collect();
            assert_eq!(row.join("|").replace(".0|", "|").trim_end_matches(".0"), expected, "{sql}");
        }
    }
}

#[test]
fn queries_only_read() {
    for database in Database::all() {
        let mut archive = Archive::open(&database.address).unwrap();
        archive.add(&made(1)).unwrap();
        for sql in [
            "DELETE FROM recordings",
            "SELECT 1; DELETE FROM recordings",
            "COMMIT; DELETE FROM recordings",
            "DROP TABLE labels",
            "WITH a AS (SELECT 1) DELETE FROM recordings",
            "CREATE TABLE x (y INTEGER)",
            "SELECT nonsense",
            "",
        ] {
            let found = archive.query(sql, 9);
            assert!(
                matches!(found, Err(StoreError::Query { .. })) || found.is_ok_and(|it| it.rows.is_empty()),
                "{sql}"
            );
            assert_eq!(archive.list(&Selection::default()).unwrap().len(), 1, "{sql}");
        }
    }
}

#[test]
fn hostile_names_are_kept_as_they_are() {
    let hostile = "'); DROP TABLE recordings; -- \"\u{1f980}\u{202e} ?1 $1 {s}";
    let long = "x".repeat(20_000);
    for database in Database::all() {
        let mut archive = Archive::open(&database.address).unwrap();
        let mut new = labelled(1, &[("branch", hostile)]);
        for name in [hostile, &long] {
            new.kernels.push(KernelRun {
                name: name.into(),
                base_name: name.into(),
                ..new.kernels[0].clone()
            });
            new.quantities.push(StoredQuantity {
                kind: QuantityKind::Counter,
                name: name.into(),
                unit: hostile.into(),
            });
            new.kernels.iter_mut().for_each(|it| it.numbers.push(Some(5.0)));
            new.facts.insert(name.into(), hostile.into());
            new.files.insert(name.into(), name.as_bytes().to_vec());
        }
        let id = archive.add(&new).unwrap().id;
        let shown = archive.show(&id.to_string()).unwrap();
        let names: BTreeSet<String> = shown.kernels.into_iter().map(|it| it.name).collect();
        assert!(names.contains(hostile) && names.contains(&long));
        assert_eq!(archive.resolve(&format!("label=branch={hostile}")).unwrap().id, id);
        assert_eq!(files(&mut archive, id), new.files);
        for (name, value) in [("a=b", "x"), ("", "x"), (&long[..101], "x"), ("a", &long[..1001]), ("a", "\0")]
        {
            let error = archive.add(&labelled(2, &[(name, value)])).unwrap_err();
            assert!(matches!(error, StoreError::Unstorable { .. }), "{error}");
        }
        let mut zero = made(3);
        zero.kernels[0].name = "a\0b".into();
        zero.facts.insert("a\0".into(), "\0".into());
        // Looks like a zero byte in JSON, and is none.
        zero.facts.insert("path".into(), "C:\\u0000".into());
        let id = archive.add(&zero).unwrap().id;
        let target = Scratch::new("store-hostile");
        let mut other = Archive::open(&target.path("other.db").display().to_string()).unwrap();
        assert!(archive.copy(&id.to_string(), &mut other).unwrap().is_new);
    }
}

#[test]
fn a_copy_is_the_same_in_another_database() {
    let all = Database::all();
    let target = Scratch::new("store-copy");
    for database in &all {
        let mut from = Archive::open(&database.address).unwrap();
        let new = labelled(5, &[("commit", "a"), ("branch", "main")]);
        let id = from.add(&new).unwrap().id;
        let address = target.path(&format!("{}.db", all.len() + id as usize)).display().to_string();
        let mut to = Archive::open(&address).unwrap();
        let copied = from.copy(&id.to_string(), &mut to).unwrap();
        assert!(copied.is_new);
        // A label that changed since then is kept.
        let main = |name: &str| BTreeMap::from([("branch".to_owned(), name.to_owned())]);
        to.label(copied.id, &main("dev")).unwrap();
        assert!(!from.copy(&id.to_string(), &mut to).unwrap().is_new);
        assert_eq!(to.resolve(&copied.id.to_string()).unwrap().labels["branch"], "dev");
        to.label(copied.id, &main("main")).unwrap();
        let (old, new) = (from.show(&id.to_string()).unwrap(), to.show(&copied.id.to_string()).unwrap());
        let entry = |it: &view::StoredRecording| view::StoredRecording { id: 0, added_ms: 0, ..it.clone() };
        assert_eq!(entry(&old.entry), entry(&new.entry));
        assert_eq!((&old.kernels, &old.files, &old.findings), (&new.kernels, &new.files, &new.findings));
        assert_eq!(files(&mut from, id), files(&mut to, copied.id));
        for table in
            ["counter_values", "metric_values", "normal_values", "roofline_points", "roofline_ceilings"]
        {
            let sql = format!("SELECT * FROM {table}");
            let rows = |archive: &mut Archive| archive.query(&sql, 99).unwrap().rows.len();
            assert_eq!((rows(&mut to), rows(&mut to) > 0), (rows(&mut from), true), "{table}");
        }
        let values = "SELECT name, value FROM counter_values ORDER BY name";
        assert_eq!(to.query(values, 9).unwrap().rows[0][0], from.query(values, 9).unwrap().rows[0][0]);
        std::fs::remove_file(address).unwrap();
    }
}

#[test]
fn a_database_that_is_not_there_is_not_made_by_reading() {
    let folder = Scratch::new("store-read");
    let address = folder.path("none.db").display().to_string();
    let error = Archive::open_to_read(&address).err().unwrap();
    assert!(matches!(error, StoreError::NoDatabase { .. }), "{error}");
    assert!(!folder.path("none.db").exists());
}

/// Adds recordings from a number on until it is killed.
#[test]
fn adds_if_another_test_asks() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let mut archive = Archive::open(&address).unwrap();
    for number in first..first + 1000 {
        let added = archive.add(&labelled(number, &[("n", &number.to_string())])).unwrap();
        println!("added {number} {}", added.id);
    }
}

fn start(address: &str, first: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "recordings::adds_if_another_test_asks", "--nocapture"]);
    command.env(ADDRESS, address).env(FIRST, first.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Numbers that a writer reported as added before it was killed.
fn said(writer: Child) -> Vec<u64> {
    let text = writer.wait_with_output().unwrap().stdout;
    let text = String::from_utf8_lossy(&text);
    // The last line may be cut.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().filter_map(|it| it.split("added ").nth(1)?.split(' ').next()?.parse().ok()).collect()
}

#[test]
fn writers_killed_at_random_lose_nothing_and_leave_nothing_half() {
    let (writers, kills) = if std::env::var_os("STORE_TEST_LONG").is_some() { (16, 100) } else { (4, 12) };
    for database in Database::all() {
        drop(Archive::open(&database.address).unwrap());
        let mut random = Random(47);
        let mut first = 0;
        let mut next = || {
            first += 1000;
            start(&database.address, first)
        };
        let mut all: Vec<Child> = (0..writers).map(|_| next()).collect();
        let mut expected = Vec::new();
        let begun = Instant::now();
        for _ in 0..kills {
            assert!(begun.elapsed() < Duration::from_secs(300));
            std::thread::sleep(Duration::from_millis(30 + random.next() % 60));
            let at = random.below(all.len());
            all[at].kill().unwrap();
            expected.extend(said(std::mem::replace(&mut all[at], next())));
        }
        for mut writer in all {
            writer.kill().unwrap();
            expected.extend(said(writer));
        }
        let mut archive = Archive::open(&database.address).unwrap();
        let there: BTreeMap<u64, i64> = archive
            .list(&Selection::default())
            .unwrap()
            .into_iter()
            .map(|it| (it.labels["n"].parse().unwrap(), it.id))
            .collect();
        assert!(!expected.is_empty());
        for number in &expected {
            assert!(there.contains_key(number), "recording {number} was added and is lost");
        }
        for (number, id) in &there {
            let whole = archive.show(&id.to_string()).unwrap();
            assert_eq!((whole.kernels.len(), whole.files.len(), whole.findings.len()), (1, 4, 1), "{number}");
            assert_eq!(files(&mut archive, *id), made(*number).files);
        }
    }
}
