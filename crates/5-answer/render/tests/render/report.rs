//! Reports of recordings against golden files in `tests/golden/`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p rockhound-render` rewrites the files; read the difference before
//! committing.

use crate::golden_file::check;
use rockhound_render::{How, Style, json, table_csv, text};
use view::{
    ANALYZE_SCHEMA, Answer, Cell, Column, ColumnKind, Delta, Finding, Format, Input, Known, Mark,
    MissingValues, NamedValue, NoteKind, Number, Recording, Recordings, ReportSettings, Row, Severity, Table,
};

fn number(value: f64) -> Cell {
    Cell::Number(Number::from(value))
}

fn absent() -> Cell {
    Cell::Number(Number::missing("needs TCC_HIT, TCC_MISS: not recorded"))
}

fn row(id: &str, label: &str, unit: &str, cells: Vec<Cell>) -> Row {
    Row { id: id.into(), label: label.into(), unit: unit.into(), cells, ..Row::default() }
}

fn table(id: &str, title: &str, label: &str, columns: Vec<Column>, rows: Vec<Row>) -> Table {
    Table {
        id: id.into(),
        panel: "Panel".into(),
        title: title.into(),
        label: label.into(),
        columns,
        rows,
        ..Table::default()
    }
}

fn columns(list: &[(&str, ColumnKind, &str)]) -> Vec<Column> {
    list.iter().map(|(title, kind, unit)| Column::new(*title, *kind, *unit)).collect()
}

fn recording(name: &str) -> Input {
    let mut input = Input::new(name, format!("workloads/{name}/mi200"), "rocprof-compute folder, wide");
    input.fact("GPU", "104 CUs · 1700 MHz");
    input.fact("command", "./solve --size 4096 --steps 20");
    input.recording = Some(Recording {
        gpu: "MI210".into(),
        target: "gfx90a".into(),
        kernels: 2,
        dispatches: 40,
        recorded_dispatches: 42,
        counters: 231,
        time_ns: Number::from(1_234_567.0),
        time_trust: None,
        selection: "dispatch >1".into(),
        machine: vec![NamedValue::new("cu_per_gpu", "104")],
    });
    input
}

fn rendered(report: &Answer<Recordings>, format: Format) -> String {
    rockhound_render::answer(
        report,
        format,
        &How { decimals: 2, style: Style::default(), version: "0.0.0", rules: &[] },
    )
}

fn single() -> Answer<Recordings> {
    use ColumnKind::{Number as N, Percent, Quartile, Text};
    let speed = table(
        "2.1",
        "System Speed-of-Light",
        "metric",
        columns(&[("avg", N, ""), ("peak", N, ""), ("percent of peak", Percent, "%")]),
        vec![
            row("2.1.0", "VALU FLOPs", "Gflop/s", vec![number(9728.2), number(22630.4), number(42.987)]),
            row("2.1.1", "IPC", "instr/cycle", vec![number(0.003), number(5.0), number(0.06)]),
            row("2.1.2", "L2 Cache Hit Rate", "%", vec![absent(), number(100.0), absent()]),
            row("2.1.3", "L2-Fabric Read Latency", "cycle", vec![number(-3.0), Cell::Empty, Cell::Empty]),
            row("2.1.4", "Read BW", "GB/s", vec![number(1500.0), number(1400.0), number(107.1)]),
        ],
    );
    let boxes = |values: [f64; 5]| values.map(number).to_vec();
    let quartiles = [
        ("min", Quartile, "%"),
        ("q1", Quartile, "%"),
        ("median", Quartile, "%"),
        ("q3", Quartile, "%"),
        ("max", Quartile, "%"),
    ];
    let stalls = table(
        "16.2",
        "Cache stalls",
        "metric",
        columns(&quartiles),
        vec![
            row("16.2.0", "Stalled on L2 Data", "", boxes([10.0, 40.0, 62.0, 70.0, 90.0])),
            row("16.2.1", "Tag RAM Stall", "", boxes([0.0; 5])),
            row("16.2.2", "Stalled on L2 Req", "", vec![absent(); 5]),
        ],
    );
    let mix = table(
        "10.1",
        "Instruction Mix",
        "metric",
        columns(&[("coherency", Text, ""), ("avg", N, ""), ("min", N, ""), ("max", N, "")]),
        vec![
            row(
                "10.1.0",
                "Read",
                "req per kernel",
                vec![Cell::Text("RW".into()), number(131_072.0), number(1.5), number(1e16)],
            ),
            row(
                "10.1.1",
                "Write",
                "req per kernel",
                vec![Cell::Text("NC".into()), number(0.0), number(0.0), number(0.0)],
            ),
        ],
    );
    let finding = Finding::new(
        "MEM003",
        Severity::Warning,
        "25 % of what a wave reads from a line is used",
        "let neighbouring lanes read neighbouring addresses",
    )
    .with_cost("up to 310 us of 1.23 ms (25 %)")
    .with_evidence("coalescing", "25 %");
    let part = Recordings {
        settings: ReportSettings { average: "weighted", normalization: "per_kernel" },
        missing: vec![MissingValues {
            reason: "needs TCC_HIT, TCC_MISS: not recorded".into(),
            rows: vec!["2.1.2".into(), "16.2.2".into()],
            hint: Some("profile with `-b 17`".into()),
        }],
        ..Recordings::default()
    };
    let kernel = "void yax<double>(double*, double*, double*, int, int, double*)";
    let mut report = Answer::new(ANALYZE_SCHEMA, part);
    report.inputs = vec![recording("problem")];
    report.findings = vec![finding.of_kernel(kernel, Number::from(98.2), None)];
    report.tables = vec![speed, mix, stalls];
    report.note(NoteKind::Warning, "timestamps.csv: the file is absent");
    report.note(NoteKind::Error, "pmc_perf.csv:4: the row ends early \u{1b}[31m");
    report
}

fn compared() -> Answer<Recordings> {
    use ColumnKind::{Number as N, Percent};
    let delta = |base: f64, value: f64, beyond_noise| {
        Cell::Change(Delta {
            value: Number::from(value),
            change: Some(value - base),
            change_percent: (base != 0.0).then(|| 100.0 * (value - base) / base),
            beyond_noise,
        })
    };
    let of = |recording, title: &str, kind| Column { recording, ..Column::new(title, kind, "") };
    let occupancy = table(
        "2.1",
        "System Speed-of-Light",
        "metric",
        vec![
            of(0, "avg", N),
            of(1, "avg", N),
            of(0, "peak", N),
            of(0, "percent of peak", Percent),
            of(1, "percent of peak", Percent),
        ],
        vec![
            row(
                "2.1.15",
                "Wavefront Occupancy",
                "wave",
                vec![
                    number(102.7),
                    delta(102.7, 487.32, Some(true)),
                    number(3328.0),
                    number(3.09),
                    delta(3.09, 14.64, None),
                ],
            ),
            row(
                "2.1.18",
                "vL1D Cache Hit Rate",
                "%",
                vec![
                    number(0.0),
                    delta(0.0, 49.98, Some(true)),
                    number(100.0),
                    number(0.0),
                    delta(0.0, 49.98, None),
                ],
            ),
            row(
                "2.1.24",
                "Read Latency",
                "cycle",
                vec![number(500.0), delta(500.0, 502.0, Some(false)), Cell::Empty, Cell::Empty, Cell::Empty],
            ),
        ],
    );
    let mut report = Answer::new(ANALYZE_SCHEMA, Recordings { missing: Vec::new(), ..single().part });
    report.inputs = vec![recording("problem"), recording("solution")];
    report.tables = vec![occupancy];
    report
}

#[test]
fn text_at_two_widths() {
    for (name, report) in [("single", single()), ("compared", compared())] {
        for width in [80, 160] {
            let out = text::report(&report, 2, &Style { width, ..Style::default() });
            for line in out.lines() {
                assert!(line.chars().count() <= width, "{} columns: {line}", line.chars().count());
            }
            assert!(!out.contains('\u{1b}'), "controls of the input are made visible");
            check(&format!("report-{name}-{width}.txt"), &out);
        }
    }
    check("report-color.txt", &text::report(&single(), 1, &Style { color: true, ..Style::default() }));
}

/// Numbers of findings that are modelled, and what their signs mean, in every format for people.
#[test]
fn signs_of_findings_have_a_legend() {
    let [cycles, time] = [(59.3, 5.0), (19_800.0, 20.0)]
        .map(|(value, error)| Known { value, trust: Some(Mark::Modelled(Some(error))) });
    let finding =
        Finding::new("MEM012", Severity::Warning, format!("waits in {cycles:.0} % of its cycles"), "")
            .with_cost(format!("up to {time} ns"))
            .with_time_lost(Some(time))
            .with_trust([cycles, time]);
    let findings = vec![finding.of_kernel("copy", Number::from(98.2), time.trust)];
    let report = Answer { findings, ..single() };
    let style = Style { width: 120, ..Style::default() };
    let legend = "~ modelled ±5 % · ≈ modelled ±20 %";
    let shown = text::report(&report, 2, &style);
    for part in ["waits in ~59 % of its cycles; costs up to ≈19800 ns", legend] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let shown = rendered(&report, Format::Markdown);
    for part in ["waits in \\~59 % of its cycles; costs up to ≈19800 ns", &legend.replace('~', "\\~")] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!text::report(&single(), 2, &style).contains("~ modelled"), "nothing is modelled");
}

#[test]
fn other_formats() {
    check("report.csv", &rendered(&compared(), Format::Csv));
    check("report-wide.csv", &table_csv::wide(&compared(), &compared().tables[0]));
    check("report.md", &rendered(&single(), Format::Markdown));
    check("report-compared.md", &rendered(&compared(), Format::Markdown));
    let value: serde_json::Value = serde_json::from_str(&json::answer(&single())).unwrap();
    check("report.json", &(serde_json::to_string_pretty(&value).unwrap() + "\n"));
}
