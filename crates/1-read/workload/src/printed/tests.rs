use super::*;
use crate::Options;
use std::collections::BTreeMap;

const REPORT: &str = "\u{1b}[32mINFO\u{1b}[0m Analysis mode = cli\n\
    0. Top Stats\n0.1 Top Kernels\n\
    ╒════╤══════════════╤═════════╤═══════════╤════════════╕\n\
    │    │ Kernel_Name  │   Count │   Sum(us) │   Mean(us) │\n\
    ╞════╪══════════════╪═════════╪═══════════╪════════════╡\n\
    │  0 │ f(int,       │    3.00 │     30.75 │      10.25 │\n\
    │    │ abcdefghijkl │         │           │            │\n\
    │    │ m)           │         │           │            │\n\
    ╘════╧══════════════╧═════════╧═══════════╧════════════╛\n\
    2. System Speed-of-Light\n2.1 Speed-of-Light\n\
    ╒═════════╤════════════╤═════════╤═════════╤══════════╤═══════╕\n\
    │ Index   │ Metric     │   Value │ Unit    │     Peak │   PoP │\n\
    ╞═════════╪════════════╪═════════╪═════════╪══════════╪═══════╡\n\
    │ 2.1.0   │ VALU FLOPs │  100.50 │ Gflop   │ 22630.40 │  0.44 │\n\
    │ 2.1.9   │ Active CUs │   70    │ Cus     │   104.00 │ 67.31 │\n\
    │ 2.1.10  │ IPC        │         │ Instr   │     5.00 │       │\n\
    │ 2.1.11  │ Cut        │   12\n\
    ╘═════════╧════════════╧═════════╧═════════╧══════════╧═══════╛\n\
    16.2 Stalls\n\
    ╒═════════╤════════════╤═══════╕\n\
    │ Index   │ Metric     │   Min │\n\
    ╞═════════╪════════════╪═══════╡\n\
    │ 16.2.0  │ Stalled    │  1.00 │\n\
    ╘═════════╧════════════╧═══════╛\n\
    17.3 L2 Cache Accesses\n\
    ╒═════════╤════════════╤═══════╤═══════╤═══════╤══════════════╕\n\
    │ Index   │ Metric     │   Avg │   Min │   Max │ Unit         │\n\
    ╞═════════╪════════════╪═══════╪═══════╪═══════╪══════════════╡\n\
    │ 17.3.1  │ Req        │  2.50 │  1.00 │  4.00 │ Req per wave │\n";

fn report(text: &str) -> Result<Workload, Error> {
    let files = BTreeMap::from([("report.txt".to_owned(), text.as_bytes().to_vec())]);
    crate::read(&files, &Options::default())
}

#[test]
fn kernels_facts_and_rows_are_read() {
    let w = report(REPORT).unwrap();
    assert_eq!(w.generation, Generation::Printed);
    assert_eq!(w.kernels, ["f(int, abcdefghijklm)"]);
    assert_eq!((w.dispatches.len(), w.dispatches.duration(2)), (3, Some(10_250.0)));
    assert_eq!((w.machine.number("cu_per_gpu"), w.machine.number("max_sclk")), (Some(104.0), Some(1700.0)));
    let rows: Vec<_> =
        w.printed.iter().map(|it| (it.panel, it.label.as_str(), it.mean, it.extremes)).collect();
    let expected =
        [(2, "VALU FLOPs", 100.5, None), (2, "Active CUs", 70.0, None), (17, "Req", 2.5, Some((1.0, 4.0)))];
    assert_eq!(rows, expected);
    assert_eq!(w.printed[2].unit, "Req per wave");
    let cut = w.problems.iter().find(|it| it.kind == NoteKind::Error).unwrap();
    assert!(cut.message.contains("in line 19"), "{cut}");
    assert!(w.problems.iter().any(|it| it.message.contains("not used: Stalls")), "{:?}", w.problems);
}

#[test]
fn saved_tables_are_read_from_their_folder() {
    let files = [
        (
            "0.1_Top_Kernels.csv",
            "Kernel_Name,Count,Sum(ns),Mean(ns),Median(ns),Pct\n\"f(int, \nint)\",2.0,20.0,10.0,10.0,100.0\n",
        ),
        ("1.1.csv", "Info\npath\ngfx942\n"),
        ("17.1_L2_Speed-of-Light.csv", "Metric,Avg,Unit\nUtilization,56.25,Pct\nHit Rate,,Pct\n"),
        ("notes.csv", "a,b\n1,2\n"),
    ];
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|it| (it.0.to_owned(), it.1.as_bytes().to_vec())).collect();
    let w = crate::read(&files, &Options::default()).unwrap();
    assert_eq!(
        (w.kernels[0].as_str(), w.dispatches.len(), w.machine.target()),
        ("f(int, int)", 2, Some("gfx942"))
    );
    let row = &w.printed[0];
    assert_eq!(
        (row.panel, row.table.as_str(), row.mean, w.printed.len()),
        (17, "L2 Speed-of-Light", 56.25, 1)
    );
    assert_eq!(w.sources.len(), 3);
}

#[test]
fn a_second_report_is_named_and_not_mixed_in() {
    let second = REPORT.replace("2.50", "9.50").replace("3.00", "8.00").replace(" Req ", " Hits");
    let w = report(&format!("{REPORT}\n{second}")).unwrap();
    assert_eq!((w.dispatches.len(), w.printed.len()), (3, 3));
    let note = w.problems.iter().find(|it| it.kind == NoteKind::Warning).unwrap();
    assert!(note.message.contains("line 34"), "{note}");
}

#[test]
fn a_table_alone_has_the_panels_of_its_rows_and_the_same_again_is_another_report() {
    let table = "╒══╤══╕\n│ Metric_ID │ Metric │ Avg │ Unit │\n╞══╪══╡\n│ 17.1.2 │ Hit Rate │ 35.0 │ Pct │\n╘══╧══╛\n";
    let w = report(table).unwrap();
    assert_eq!((w.printed[0].panel, w.printed.len()), (17, 1));
    let w = report(&format!("17.1 L2\n{table}\n17.1 L2\n{}", table.replace("35.0", "90.0"))).unwrap();
    assert_eq!((w.printed[0].mean, w.printed.len()), (35.0, 1));
    assert!(w.problems.iter().any(|it| it.message.contains("line 9")), "{:?}", w.problems);
}

#[test]
fn of_a_comparison_the_first_recording_is_read() {
    let row = |a: &str, b: &str| format!("│ 17.1.0 │ {a} │ {b} │ Pct │\n");
    let text = format!(
        "17.1 Speed-of-Light\n╒══╤══╕\n│ Metric_ID │ Metric │ Avg │ Avg │ Unit │\n╞══╪══╡\n{}{}",
        row("Utilization │ 50.0", "60.0 (20.0%)"),
        row("Hit Rate │", "60.0 (20.0%)")
    );
    let w = report(&text).unwrap();
    assert_eq!((w.printed.len(), w.printed[0].mean), (1, 50.0));
    assert!(w.problems.iter().any(|it| it.kind == NoteKind::Warning && it.message.contains("compares")));
}

#[test]
fn any_cut_of_the_text_is_read_or_refused() {
    for end in (0..REPORT.len()).filter(|it| REPORT.is_char_boundary(*it)) {
        let _ = report(&REPORT[..end]);
    }
    assert!(report("│ Metric\n").is_err());
    // A table of somebody's own.
    let own = "╒══╤══╕\n│ Metric │ Value │\n╞══╪══╡\n│ Accuracy │ 0.93 │\n╘══╧══╛\n";
    assert!(report(own).is_err());
    let many = REPORT.replace("   3.00", "9e300");
    assert_eq!(report(&many).unwrap().dispatches.len(), 1);
}

#[test]
fn times_have_the_printed_mean_and_median() {
    let median = |calls: f64, mean_ns: f64, median_ns: Option<f64>| {
        let mut times: Vec<f64> = Kernel { name: String::new(), calls, mean_ns, median_ns }.times().collect();
        times.sort_by(f64::total_cmp);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        assert!((mean - mean_ns).abs() < 1e-6 && times.iter().all(|it| *it > 0.0), "{times:?}");
        let half = times.len() / 2;
        if times.len() % 2 == 1 { times[half] } else { (times[half - 1] + times[half]) / 2.0 }
    };
    for (calls, mean, printed, want) in [
        (150.0, 19_259.39, Some(19_241.12), 19_241.12),
        (151.0, 5_542.93, Some(5_502.25), 5_502.25),
        (4.0, 10.0, Some(12.0), 12.0),
        (3.0, 10.0, Some(2.5), 2.5),
        (5.0, 10.0, None, 10.0),
        // No times have both.
        (2.0, 10.0, Some(12.0), 10.0),
        (3.0, 10.0, Some(20.0), 10.0),
        (1.0, 10.0, Some(12.0), 10.0),
    ] {
        assert!((median(calls, mean, printed) - want).abs() < 1e-9, "{calls} {mean} {printed:?}");
    }
}
