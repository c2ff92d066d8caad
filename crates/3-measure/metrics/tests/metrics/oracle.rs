//! Every cell of the reference's reports in `../shared/oracle`, computed from the same recordings.
//!
//! A difference is either listed here by name with its reason or a failure.

use rockhound_metrics::{Definitions, EvaluatedTable, Evaluation, Settings, Style, kernels, table};
use std::collections::BTreeMap;
use std::path::Path;
use view::{Average, Norm};
use workload::{Options, Workload};

/// Cells that differ on purpose: table, row, column (empty: all), condition on the folder, reason.
const DIFFERENT: &[(&str, &str, &str, &str, &str)] = &[
    ("18.9", "", "", "", "the reference leaves the columns empty although the recording holds the counters"),
    (
        "18.10",
        "",
        "",
        "",
        "the reference leaves three columns empty although the recording holds the counters",
    ),
    (
        "2.1",
        "L2 Cache BW",
        "Peak",
        "MI200",
        "the reference takes 64 bytes per channel and cycle here and 128 in its table 17.1; hardware reaches more than 64",
    ),
    ("2.1", "L2 Cache BW", "Pct of Peak", "MI200", "follows from the peak"),
    ("2.1", "Wavefront Occupancy", "", "", OF_ANOTHER_RUN),
    ("3.1", "Wavefront Occupancy", "", "", OF_ANOTHER_RUN),
    ("7.2", "Wavefront Occupancy", "", "", OF_ANOTHER_RUN),
    (
        "17.2",
        "Write and Atomic BW",
        "",
        "MI200",
        "the reference asks this target for a counter it does not have and divides by the normalisation",
    ),
    ("3.1", "IL1 Lat", "Value", "", "the reference asks for a level without saying which"),
    (
        "7.2",
        "Kernel Time",
        "",
        "vcopy_MI300X_A1",
        "time stamps rounded by a spreadsheet: theirs are differences of equal numbers",
    ),
    (
        "18.1",
        "L2 Cache Hit Rate",
        "",
        "",
        "the reference adds the misses of channel 28 twice and those of 29 never; on MI300X it reads channels 0 to 15 of 128",
    ),
];

const OF_ANOTHER_RUN: &str = "the reference divides the level of one run by the cycles of another";

/// The wavefront occupancy of a dispatch as the reference divides it: see the reason in [`DIFFERENT`].
fn reference_occupancy(w: &Workload, row: usize) -> f64 {
    let one = |name: &str| w.counters.get(name).and_then(|c| c.values.get(row)).unwrap();
    let xcds = if w.machine.target() == Some("gfx90a") { 1.0 } else { w.machine.number("num_xcd").unwrap() };
    one("SQ_LEVEL_WAVES_ACCUM") / (one("GRBM_GUI_ACTIVE") / xcds)
}

/// The same of the run of the level: its own cycles where it has them, the time of its pass at the highest
/// clock where not.
fn own_occupancy(w: &Workload, row: usize) -> f64 {
    let level = w.counters.get("SQ_LEVEL_WAVES_ACCUM").unwrap();
    let xcds = if w.machine.target() == Some("gfx90a") { 1.0 } else { w.machine.number("num_xcd").unwrap() };
    let cycles = match w.counters.get_in("SQ_LEVEL_WAVES", "GRBM_GUI_ACTIVE") {
        Some(own) => own.values.get(row).unwrap() / xcds,
        None => {
            let time = w.counters.time_in_pass(level.pass.unwrap()).unwrap().get(row).unwrap();
            time * w.machine.number("max_sclk").unwrap() / 1000.0
        }
    };
    level.values.get(row).unwrap() / cycles
}

/// The aggregate hit rate of a dispatch as the reference adds it up: see the reason in [`DIFFERENT`].
fn reference_hit_rate(w: &Workload, row: usize) -> f64 {
    let one = |name: &str, i: u32| w.counters.instance(name, i).and_then(|c| c.values.get(row)).unwrap();
    let channels: Vec<u32> =
        if w.machine.target() == Some("gfx90a") { (0..32).collect() } else { (0..16).collect() };
    let hits: f64 = channels.iter().map(|c| one("TCC_HIT", *c)).sum();
    let misses: f64 = channels.iter().map(|c| one("TCC_MISS", if *c == 29 { 28 } else { *c })).sum();
    100.0 * hits / (hits + misses)
}

struct Reference {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

fn reference(path: &Path) -> Reference {
    let mut r = csv::ReaderBuilder::new().flexible(true).from_path(path).unwrap();
    let headings = r.headers().unwrap().iter().map(str::to_string).collect();
    let rows = r.records().map(|r| r.unwrap().iter().map(str::to_string).collect()).collect();
    Reference { headings, rows }
}

#[derive(Default, Debug)]
struct Count {
    equal: usize,
    both_empty: usize,
    infinite: usize,
    listed: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Count {
    fn number(&mut self, place: &(&str, &str, &str, &str), theirs: &str, ours: Option<f64>) {
        let (folder, id, row, column) = *place;
        let their_number = theirs.parse::<f64>().ok().filter(|v| !v.is_nan());
        let equal = match (their_number, ours) {
            (Some(t), Some(o)) if t.is_finite() => {
                (t - o).abs() <= 1e-9 * t.abs().max(o.abs()) || (t - o).abs() < 6e-13
            }
            (None, None) => {
                self.both_empty += 1;
                return;
            }
            // Rates over the durations that a spreadsheet rounded to nothing.
            (Some(t), None) if t.is_infinite() && folder == "vcopy_MI300X_A1" => {
                self.infinite += 1;
                return;
            }
            _ => false,
        };
        if equal {
            self.equal += 1;
            return;
        }
        let known = DIFFERENT.iter().find(|(t, r, c, f, _)| {
            // A listing without row is about what the reference leaves empty.
            let row_fits = if r.is_empty() { theirs.is_empty() } else { *r == row };
            *t == id && row_fits && (c.is_empty() || *c == column) && in_folder(f, folder)
        });
        match known {
            Some((t, r, ..)) => *self.listed.entry(format!("{t} {r}")).or_default() += 1,
            None => {
                self.wrong.push(format!("{folder} {id} {row} / {column}: theirs `{theirs}`, ours {ours:?}"))
            }
        }
    }

    fn text(&mut self, place: &str, theirs: &str, ours: &str) {
        if theirs.trim() == ours.trim() {
            self.equal += 1;
        } else {
            self.wrong.push(format!("{place}: theirs `{theirs}`, ours `{ours}`"));
        }
    }
}

fn in_folder(condition: &str, folder: &str) -> bool {
    condition.is_empty() || condition == folder || (condition == "MI200" && folder.contains("MI200"))
}

/// Index of our cell under a heading of the vendor's tool.
fn cell_of(ours: &EvaluatedTable, heading: &str) -> Option<usize> {
    let name = match heading {
        "Avg" | "Value" => "avg",
        "Min" => "min",
        "Max" => "max",
        "Q1" => "q1",
        "Q3" => "q3",
        "Median" => "median",
        "Std Dev" => "std dev",
        "Peak" => "peak",
        "Pct of Peak" => "percent of peak",
        other => other,
    };
    ours.headings.iter().position(|h| h == name)
}

fn compare_table(folder: &str, id: &str, theirs: &Reference, ours: &EvaluatedTable, count: &mut Count) {
    assert_eq!(theirs.rows.len(), ours.rows.len(), "{folder} {id}: rows");
    for (t, o) in theirs.rows.iter().zip(&ours.rows) {
        for (column, cell) in theirs.headings.iter().zip(t) {
            let place = format!("{folder} {id} {} / {column}", o.label);
            match column.as_str() {
                "Metric" => count.text(&place, cell, &o.label),
                "Channel" => count.text(&place, cell.trim_end_matches(".0"), &o.label),
                // The reference's units are wrong in ways its notes describe; ours are checked by their
                // algebra.
                "Unit" | "Units" => {}
                _ => {
                    if let Some(i) = ours.tags.iter().position(|t| t == column) {
                        count.text(&place, cell, &o.tags[i]);
                        continue;
                    }
                    let i = cell_of(ours, column).unwrap_or_else(|| panic!("{place}: no such column"));
                    let value = o.cells[i].as_ref().and_then(|v| v.as_ref().ok().copied());
                    count.number(&(folder, id, &o.label, column), cell, value);
                }
            }
        }
    }
}

fn compare_overview(folder: &str, dir: &Path, w: &Workload, rows: &[u32], count: &mut Count) {
    let top = reference(&dir.join("0.1_Top_Kernels.csv"));
    let ours = kernels(w, rows);
    assert_eq!(top.rows.len(), ours.len());
    for (t, o) in top.rows.iter().zip(&ours) {
        let squeeze = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
        count.text("0.1 name", &squeeze(&t[0]), &squeeze(&w.kernels[o.kernel as usize]));
        let cells = [Ok(o.count as f64), o.sum.clone(), o.mean.clone(), o.median.clone(), o.percent.clone()];
        for ((heading, t), o) in top.headings[1..].iter().zip(&t[1..]).zip(cells) {
            // Durations of 0 come from rounded time stamps: theirs are sums of zeros, ours are not known.
            if t == "0.0" && o.is_err() {
                *count.listed.entry("0.1 durations of rounded time stamps".to_string()).or_default() += 1;
                continue;
            }
            count.number(&(folder, "0.1", "kernel", heading), t, o.ok());
        }
    }
    let list = reference(&dir.join("0.2_Dispatch_List.csv"));
    for (t, row) in list.rows.iter().zip(rows) {
        count.text("0.2 name", &t[1], w.kernel_of(*row as usize));
    }
    assert_eq!(list.rows.len(), rows.len());
    let info = std::fs::read_to_string(dir.join("1.1.csv")).unwrap();
    for line in info.lines().skip(1) {
        let line = line.trim_matches('"');
        let known = line.is_empty() || w.machine.facts.values().any(|v| v.trim() == line.trim());
        if known {
            count.equal += 1;
        } else {
            count.wrong.push(format!("{folder} 1.1: `{line}` is no fact of the machine"));
        }
    }
}

#[test]
fn every_cell_of_the_reference() {
    let Some(oracle) = testkit::shared("oracle") else { return };
    let shared = oracle.parent().expect("the folder of the shared data");
    let mut count = Count::default();
    let folders = [
        ("vcopy_MI200", "vcopy/MI200", Norm::Kernel),
        ("vcopy_MI200_d1", "vcopy/MI200", Norm::Kernel),
        ("vcopy_MI200_per_wave", "vcopy/MI200", Norm::Wave),
        ("vcopy_MI200_per_cycle", "vcopy/MI200", Norm::Cycle),
        ("vcopy_MI200_per_second", "vcopy/MI200", Norm::Second),
        ("vcopy_MI300X_A1", "vcopy/MI300X_A1", Norm::Kernel),
        ("vcopy_MI300X_A1_rocpd", "vcopy/MI300X_A1_rocpd", Norm::Kernel),
    ];
    let definitions = Definitions::built_in();
    for (folder, recording, norm) in folders {
        let w =
            workload::read(&testkit::files(&shared.join("workloads").join(recording)), &Options::default())
                .unwrap();
        let compiled = definitions.compile(w.machine.target().unwrap()).unwrap();
        let rows: Vec<u32> =
            if folder.ends_with("_d1") { vec![1] } else { (0..w.dispatches.len() as u32).collect() };
        let settings = Settings { average: Average::Dispatches, norm, ..Settings::default() };
        let e = Evaluation::new(&compiled, &w, rows.clone(), settings);
        let dir = shared.join("oracle").join(folder);
        compare_overview(folder, &dir, &w, &rows, &mut count);
        // The one table whose every number differs: the reference's way of adding gives the reference's
        // numbers.
        let theirs = reference(&dir.join("18.1_Aggregate_Stats_(All_channels).csv"));
        let wrong: Vec<f64> = rows.iter().map(|r| reference_hit_rate(&w, *r as usize)).collect();
        let mean = wrong.iter().sum::<f64>() / wrong.len() as f64;
        let least = wrong.iter().copied().fold(f64::INFINITY, f64::min);
        for (heading, want) in [("Avg", mean), ("Min", least)] {
            let i = theirs.headings.iter().position(|h| h == heading).unwrap();
            let got: f64 = theirs.rows[0][i].parse().unwrap();
            assert!((got - want).abs() < 1e-9 * want, "{folder} 18.1 {heading}: {got}, explained {want}");
        }
        let theirs = reference(&dir.join("7.2_Wavefront_Runtime_Stats.csv"));
        let row = theirs.rows.iter().find(|row| row.contains(&"Wavefront Occupancy".to_string())).unwrap();
        let i = theirs.headings.iter().position(|h| h == "Avg").unwrap();
        let average = |of: fn(&Workload, usize) -> f64| {
            rows.iter().map(|row| of(&w, *row as usize)).sum::<f64>() / rows.len() as f64
        };
        for (got, want) in [
            (row[i].parse::<f64>().unwrap(), average(reference_occupancy)),
            (e.value("wave.occupancy").unwrap(), average(own_occupancy)),
        ] {
            assert!((got - want).abs() < 1e-9 * want, "{folder} 7.2 occupancy: {got}, explained {want}");
        }
        let mut seen = 3;
        for t in definitions.tables() {
            let id = format!("{}.{}", t.id.0, t.id.1);
            let ours = table(definitions, t, &e, settings);
            let file = std::fs::read_dir(&dir)
                .unwrap()
                .flatten()
                .map(|f| f.path())
                .find(|p| p.file_name().unwrap().to_string_lossy().starts_with(&format!("{id}_")));
            match file {
                Some(file) => {
                    seen += 1;
                    compare_table(folder, &id, &reference(&file), &ours, &mut count);
                }
                None => {
                    // The reference drops a table in which a column is empty; ours may be there.
                    let empty = ours.rows.iter().flat_map(|r| &r.cells).all(|c| !matches!(c, Some(Ok(_))));
                    assert!(ours.rows.is_empty() || !empty || ours.style == Style::Channels, "{folder} {id}");
                }
            }
        }
        let files = std::fs::read_dir(&dir).unwrap().count();
        assert_eq!(files, seen, "{folder}: tables of the reference that were not compared");
    }
    println!(
        "equal {}, empty in both {}, infinite in theirs {}, listed {:?}",
        count.equal, count.both_empty, count.infinite, count.listed
    );
    assert!(count.wrong.is_empty(), "{} differ:\n{}", count.wrong.len(), count.wrong.join("\n"));
    assert!(count.equal > 27_000, "{}", count.equal);
}
