//! Tunings, timelines and answers over both engines.

use crate::engines::Database;
use crate::recordings::made;
use rockhound_store::recordings::{NewRecording, Selection};
use rockhound_store::{Archive, StoreError};
use testkit::Scratch;
use view::{StoredCell, StoredConfiguration, StoredSort};

fn configuration(tile: u64, us: Option<f64>) -> StoredConfiguration {
    StoredConfiguration {
        study: "gemm".into(),
        configuration: format!("{{\"TILE\":{tile}}}"),
        us,
        status: if us.is_some() { "ok" } else { "does not build" }.into(),
        why: us.is_none().then(|| "error: '); DROP TABLE recordings; -- \0".into()),
    }
}

fn tuning() -> NewRecording {
    NewRecording {
        sort: StoredSort::Tuning,
        name: "tune-1".into(),
        kind: "study of rockhound tune".into(),
        gpu: Some("gfx942".into()),
        files: [("results.jsonl".to_owned(), b"{}\n".to_vec())].into(),
        configurations: vec![
            configuration(16, Some(5.0)),
            configuration(32, None),
            configuration(64, Some(2.5)),
        ],
        labels: [("commit".to_owned(), "a".to_owned())].into(),
        ..NewRecording::default()
    }
}

fn answer() -> NewRecording {
    let cell = |line, column: &str, number, text: Option<&str>| StoredCell {
        table: "1.1 Time".into(),
        line,
        column: column.into(),
        unit: if number == Some(7.5) { "us" } else { "" }.into(),
        number,
        text: text.map(str::to_owned),
    };
    NewRecording {
        sort: StoredSort::Answer,
        name: "guide.json".into(),
        kind: "rockhound.guide/1".into(),
        files: [("guide.json".to_owned(), b"{\"schema\":\"rockhound.guide/1\"}".to_vec())].into(),
        cells: vec![
            cell(0, "kernel", None, Some("copy")),
            cell(0, "time", Some(7.5), None),
            cell(1, "kernel", None, None),
        ],
        labels: [("commit".to_owned(), "a".to_owned())].into(),
        ..NewRecording::default()
    }
}

#[test]
fn tunings_and_answers_come_back_and_are_copied() {
    let target = Scratch::new("store-answers");
    for (at, database) in Database::all().iter().enumerate() {
        let mut archive = Archive::open(&database.address).unwrap();
        let recording = archive.add(&NewRecording { labels: tuning().labels, ..made(1) }).unwrap().id;
        let tuned = archive.add(&tuning()).unwrap().id;
        assert!(!archive.add(&tuning()).unwrap().is_new);
        let answered = archive.add(&answer()).unwrap().id;
        // A label names the newest recording, not an answer that has the label too.
        assert_eq!(archive.resolve("label=commit=a").unwrap().id, recording);
        let mut other = Archive::open(&target.path(&format!("{at}.db")).display().to_string()).unwrap();
        for id in [recording, tuned, answered] {
            assert!(archive.copy(&id.to_string(), &mut other).unwrap().is_new);
        }
        for archive in [&mut archive, &mut other] {
            let shown = archive.show(&tuned.to_string()).unwrap();
            let times: Vec<Option<f64>> = shown.configurations.iter().map(|it| it.us).collect();
            assert_eq!((shown.entry.sort, times), (StoredSort::Tuning, vec![Some(2.5), Some(5.0), None]));
            let why = shown.configurations[2].why.as_deref();
            assert_eq!(why, Some("error: '); DROP TABLE recordings; -- \u{fffd}"));
            let shown = archive.show(&answered.to_string()).unwrap();
            assert_eq!(
                (shown.entry.sort, shown.entry.kind.as_str()),
                (StoredSort::Answer, "rockhound.guide/1")
            );
            assert_eq!(shown.cells, answer().cells);
            for (sort, expected) in
                [(None, 3), (Some(StoredSort::Tuning), 1), (Some(StoredSort::Timeline), 0)]
            {
                let selection = Selection { sort, ..Selection::default() };
                assert_eq!(archive.list(&selection).unwrap().len(), expected);
            }
            let best = archive.query("SELECT study, configurations, timed, best_us FROM tunings", 9).unwrap();
            assert_eq!(best.rows[0].iter().flatten().collect::<Vec<_>>().len(), 4);
            assert_eq!(best.rows[0][3].as_deref(), Some("2.5"));
            assert_eq!(archive.query("SELECT * FROM recordings_with_labels", 9).unwrap().rows.len(), 1);
        }
        archive.remove(&tuned.to_string()).unwrap();
        archive.remove(&answered.to_string()).unwrap();
        for table in ["tuned_configurations", "answer_cells"] {
            assert_eq!(archive.query(&format!("SELECT * FROM {table}"), 9).unwrap().rows.len(), 0, "{table}");
        }
        assert!(archive.compact().unwrap() > 0);
        assert!(matches!(archive.show(&tuned.to_string()), Err(StoreError::NoRecording { .. })));
    }
}

/// Rows of a Parquet file as the crate's own reader shows them.
#[cfg(feature = "parquet")]
fn rows_of(path: &std::path::Path) -> Vec<String> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(|it| it.unwrap().to_string()).collect()
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_have_the_rows_of_the_views() {
    for database in Database::all() {
        let mut archive = Archive::open(&database.address).unwrap();
        archive.add(&NewRecording { labels: tuning().labels, ..made(1) }).unwrap();
        archive.add(&made(2)).unwrap();
        archive.add(&tuning()).unwrap();
        archive.add(&answer()).unwrap();
        let folder = Scratch::new("store-parquet");
        let all = archive.list(&Selection::default()).unwrap();
        let files = archive.to_parquet(&all, &folder.path("")).unwrap();
        for (file, rows) in files {
            let found = rows_of(&folder.path(&file));
            assert_eq!(found.len() as u64, rows, "{file}");
            let sql = match file.trim_end_matches(".parquet") {
                "kernels" => "SELECT * FROM kernel_runs",
                "dispatches" => "SELECT * FROM dispatch_times",
                "counters" => "SELECT * FROM counter_values WHERE value IS NOT NULL",
                // Metrics, peaks, and metrics per wave, cycle and second.
                "metrics" => {
                    "SELECT value FROM metric_values WHERE value IS NOT NULL UNION ALL SELECT value FROM peak_values
                     WHERE value IS NOT NULL UNION ALL SELECT value FROM normal_values WHERE value IS NOT NULL"
                }
                "findings" => "SELECT * FROM recording_findings",
                "configurations" => "SELECT * FROM tuned_configurations",
                "recordings" => "SELECT * FROM recordings",
                "labels" => "SELECT * FROM labels",
                "answer_cells" => "SELECT * FROM answer_cells",
                other => panic!("{other} has no view"),
            };
            assert_eq!(archive.query(sql, 999).unwrap().rows.len() as u64, rows, "{file}");
        }
        let counters = rows_of(&folder.path("counters.parquet"));
        assert!(counters[0].contains("copy(double*)") && counters[0].contains("1001"), "{counters:?}");
        let dispatches = rows_of(&folder.path("dispatches.parquet"));
        assert!(dispatches[1].contains("null") && dispatches[2].contains("13.5"), "{dispatches:?}");
    }
}
