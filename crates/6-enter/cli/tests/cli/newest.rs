//! Every layout of the newest profilers gives the metrics of the recording it was made from, in `../shared`;
//! skipped loudly without it.

use crate::run::{folder, golden, good, notes, rockhound};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn shared(what: &str) -> Option<PathBuf> {
    testkit::shared(&format!("workloads/{what}"))
}

/// Table, row, label and column.
type Cell = (String, String, String, String);

/// Cells of every table, without facts and files.
fn tables(path: &Path, more: &[&str]) -> BTreeMap<Cell, String> {
    let path = path.display().to_string();
    let args: Vec<&str> =
        ["analyze", "-p", &path, "-b", "all", "--format", "csv"].iter().chain(more).copied().collect();
    let csv = good(&args);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let head = reader.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let columns = [at("table"), at("row"), at("label"), at("column")];
    let (value, missing) = (at("value"), at("missing"));
    let cells = reader.records().map(|record| {
        let record = record.unwrap();
        let [table, row, label, column] = columns.map(|at| record[at].to_owned());
        // A value, or the reason for there being none.
        ((table, row, label, column), format!("{}{}", &record[value], &record[missing]))
    });
    cells.filter(|(cell, _)| cell.0 != "1.1" && cell.0 != "0.6").collect()
}

fn close(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        _ => a == b,
    }
}

/// Cells compared at least: there are more than 350 averages that no time decides.
const LEAST: usize = 350;

/// Compares cells; cells in `apart` may differ.
fn same(
    what: &str,
    want: &BTreeMap<Cell, String>,
    found: &BTreeMap<Cell, String>,
    apart: &dyn Fn(&Cell) -> bool,
) {
    let differ: Vec<String> = want
        .iter()
        .filter(|(cell, _)| !apart(cell))
        .filter(|(cell, value)| !found.get(*cell).is_some_and(|found| close(found, value)))
        .map(|(cell, value)| format!("{cell:?}: {value}, found {:?}", found.get(cell)))
        .collect();
    let compared = want.keys().filter(|cell| !apart(cell)).count();
    assert!(differ.is_empty(), "{what}: {} of {compared} cells differ:\n{}", differ.len(), differ.join("\n"));
    assert!(compared > LEAST, "{what}: {compared} cells");
}

/// The recording with other times: `time` gives start and end of a dispatch, from those recorded.
fn with_times(base: &Path, name: &str, time: &dyn Fn(&str, i64, i64) -> (i64, i64)) -> PathBuf {
    let dir = folder(&format!("newest-{name}"));
    let mut reader = csv::Reader::from_path(base.join("pmc_perf.csv")).unwrap();
    let head = reader.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (id, start, end) = (at("Dispatch_ID"), at("Start_Timestamp"), at("End_Timestamp"));
    let mut writer = csv::Writer::from_path(dir.join("pmc_perf.csv")).unwrap();
    writer.write_record(&head).unwrap();
    for record in reader.records() {
        let record = record.unwrap();
        let (from, to) = time(&record[id], record[start].parse().unwrap(), record[end].parse().unwrap());
        let fields = record.iter().enumerate().map(|(at, field)| match at {
            at if at == start => from.to_string(),
            at if at == end => to.to_string(),
            _ => field.to_owned(),
        });
        writer.write_record(fields).unwrap();
    }
    writer.flush().unwrap();
    std::fs::copy(base.join("sysinfo.csv"), dir.join("sysinfo.csv")).unwrap();
    dir
}

/// Whether a cell is about the times of dispatches.
fn of_times(base: &Path, base_tables: &BTreeMap<Cell, String>) -> BTreeSet<Cell> {
    let slower = tables(&with_times(base, "slower", &|_, start, end| (start, end + (end - start) / 2)), &[]);
    base_tables
        .iter()
        .filter(|(cell, value)| !close(&slower[*cell], value))
        .map(|(cell, _)| cell.clone())
        .collect()
}

#[test]
fn every_layout_gives_the_metrics_of_the_recording() {
    let (Some(base), Some(newest)) = (shared("vcopy/MI300X_A1_rocpd"), shared("newest")) else { return };
    let want = tables(&base, &[]);
    for what in
        ["f1_results_gz", "f4_out_db_only", "f4_out_with_pmc", "f5_ps_and_pmc", "f5_ps_csv", "f6_ranks/0"]
    {
        same(what, &want, &tables(&newest.join(what), &[]), &|_| false);
    }
    // The native layout has the times of one pass.
    let native = newest.join("f3_native");
    let times: BTreeMap<&str, (i64, i64)> = BTreeMap::from([
        ("1", (13_386_724_674_342_798, 13_386_724_674_350_850)),
        ("2", (13_386_724_675_304_242, 13_386_724_675_310_892)),
        ("3", (13_386_724_676_009_983, 13_386_724_676_016_713)),
    ]);
    let one_pass = with_times(&base, "one-pass", &|id, _, _| times[id]);
    same("f3_native", &tables(&one_pass, &[]), &tables(&native, &[]), &|_| false);
    // Half of the memory's channels, so another peak of its bandwidth; all that is counted is equal.
    let channels = tables(&newest.join("f0_ch64"), &[]);
    let counted = |cell: &Cell| !matches!(cell.3.as_str(), "avg" | "min" | "max" | "count" | "sum");
    same("f0_ch64", &want, &channels, &|cell| counted(cell) || of_bandwidth(cell));
    // Another rank is slower.
    let slower = with_times(&base, "rank", &|_, start, end| (start, end + 1000));
    same("f6_ranks/1", &tables(&slower, &[]), &tables(&newest.join("f6_ranks/1"), &[]), &|_| false);
}

/// Rows that are made with the bandwidth of memory that the recording states.
fn of_bandwidth(cell: &Cell) -> bool {
    cell.2.contains("HBM") || cell.2.contains("Bandwidth") || cell.2.contains("BW")
}

#[test]
fn multiplexed_iterations_give_the_averages_of_the_recording() {
    let (Some(base), Some(newest)) = (shared("vcopy/MI300X_A1_rocpd"), shared("newest/f7_iter_mux")) else {
        return;
    };
    let want = tables(&base, &[]);
    let apart = of_times(&base, &want);
    let only_averages = |cell: &Cell| cell.3 != "avg" || apart.contains(cell);
    same("f7_iter_mux", &want, &tables(&newest, &[]), &only_averages);
    golden("multiplexed iterations", &notes(&["analyze", "-p", &newest.display().to_string()]));
}

#[test]
fn ranks_are_named_merged_and_compared() {
    let (Some(base), Some(newest)) = (shared("vcopy/MI300X_A1_rocpd"), shared("newest/f6_ranks")) else {
        return;
    };
    let path = newest.display().to_string();
    let ran = rockhound(&["analyze", "-p", &path]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("`0`, `1`\n") && ran.stderr.contains("`--ranks`"), "{}", ran.stderr);
    // Values independent of time equal each rank's.
    let want = tables(&base, &[]);
    let apart = of_times(&base, &want);
    let counted = |cell: &Cell| cell.3 != "avg" || apart.contains(cell);
    same("f6_ranks", &want, &tables(&newest, &["--ranks"]), &counted);
    let text = good(&["analyze", "-p", &path, "--ranks", "-b", "0.6"]);
    assert!(text.contains("`1`") && text.contains("6.4 %"), "{text}");
    let text = good(&["analyze", "-p", &path, "--ranks=each", "-b", "0.1"]);
    assert!(text.contains("+13.6 %") || text.contains("13.59"), "{text}");
}
