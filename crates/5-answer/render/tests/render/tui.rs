//! The screen of `rockhound tui`, drawn into a buffer, against golden files and by what keys do.
//!
//! `UPDATE_GOLDEN=1 cargo test -p rockhound-render` rewrites the files; read the difference before
//! committing.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::golden_file::check;
use crate::{guide_values, values};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use rockhound_render::tui::{App, Ask, Code, Data, KernelEntry, Key};
use view::{
    ANALYZE_SCHEMA, Answer, Cell, Column, ColumnKind, GuideKernel, Input, ListingLine, Number, Recording,
    Recordings, Row, Table,
};

fn table(id: &str, title: &str, rows: usize) -> Table {
    Table {
        id: id.to_owned(),
        panel: "Panel".to_owned(),
        title: title.to_owned(),
        label: "metric".to_owned(),
        columns: vec![Column::new("avg", ColumnKind::Number, "")],
        rows: (0..rows)
            .map(|row| Row {
                id: format!("{id}.{row}"),
                label: format!("{title} Metric {row}"),
                unit: "cycle".to_owned(),
                cells: vec![Cell::Number(Number::from(row as f64))],
                ..Row::default()
            })
            .collect(),
        ..Table::default()
    }
}

fn report() -> Answer<Recordings> {
    let mut input = Input::new("copy", "workloads/copy-2/MI200", "rocprof-compute folder, wide");
    input.recording = Some(Recording {
        gpu: "MI200".to_owned(),
        target: "gfx90a".to_owned(),
        kernels: 3,
        dispatches: 3,
        recorded_dispatches: 3,
        counters: 7,
        time_ns: Number::from(52_300.0),
        time_trust: None,
        selection: String::new(),
        machine: Vec::new(),
    });
    let part = Recordings { guide: Some(guide_values::guide(true)), ..Recordings::default() };
    let mut report = Answer::new(ANALYZE_SCHEMA, part);
    report.inputs.push(input);
    report.tables = vec![table("2.1", "Speed", 30), table("7.1", "Launch", 4), table("16.1", "vL1D", 4)];
    report
}

fn data(kernels: usize) -> Data {
    let guide = guide_values::guide(true);
    let entry = |at: usize| match guide.kernels.get(at) {
        Some(kernel) => {
            KernelEntry { kernel: kernel.clone(), verdict: (at == 0).then(|| guide.verdict.clone()) }
        }
        None => KernelEntry {
            kernel: GuideKernel {
                name: format!("evil\u{1b}[2J\u{202e}<{at}>"),
                time_percent: Number::missing("no time"),
                time_ns: Number::missing("no time"),
                bound_by: None,
                ..guide.kernels[1].clone()
            },
            verdict: None,
        },
    };
    Data {
        report: report(),
        kernels: (0..kernels).map(entry).collect(),
        findings: guide.findings.iter().map(|it| it.finding.clone()).collect(),
        chosen: None,
        code: Code::Listings(vec![(values::measured_listing(), values::gemm().findings)]),
    }
}

/// The screen after some keys.
fn screen(app: &mut App, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let mut out = String::new();
    for y in 0..height {
        let row: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        out += row.trim_end();
        out.push('\n');
    }
    out
}

fn keys(app: &mut App, keys: &str) -> Ask {
    let mut last = Ask::Nothing;
    for c in keys.chars() {
        last = app.key(match c {
            '\n' => Key::Enter,
            '\u{1b}' => Key::Escape,
            '\t' => Key::Tab,
            '↓' => Key::Down,
            '↑' => Key::Up,
            '→' => Key::Right,
            c => Key::Char(c),
        });
    }
    last
}

#[test]
fn pages_fit_a_small_terminal() {
    let mut app = App::new(data(3), true);
    for (key, name) in [("1", "guide"), ("2", "kernels"), ("3", "panels"), ("6", "code"), ("?", "help")] {
        keys(&mut app, key);
        check(&format!("tui-{name}-80.txt"), &screen(&mut app, 80, 24));
    }
    keys(&mut app, "2");
    check("tui-kernels-160.txt", &screen(&mut app, 160, 40));
}

#[test]
fn every_size_and_every_key_is_taken() {
    let all = "1?23456\t/ab\n/c\u{1b}nNrqa[]hHfFgGjk ↓↑→\n\u{1b}";
    for (width, height) in [(1, 1), (19, 3), (20, 4), (40, 10), (80, 24), (240, 60)] {
        for kernels in [0, 1, 3] {
            let mut app = App::new(data(kernels), false);
            for page in ["1", "2", "3", "4", "5", "6", "?"] {
                keys(&mut app, page);
                for key in all.chars() {
                    keys(&mut app, &key.to_string());
                    let text = screen(&mut app, width, height);
                    assert_eq!(text.lines().count(), usize::from(height));
                    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
                }
            }
        }
    }
}

#[test]
fn keys_lead_where_they_say() {
    let mut app = App::new(data(3), true);
    let shows = |app: &mut App, pressed: &str, expected: &str| {
        keys(app, pressed);
        let text = screen(app, 80, 24);
        assert!(text.contains(expected), "`{pressed}` does not lead to `{expected}`: {text}");
    };
    shows(&mut app, "", "What stops it?");
    shows(&mut app, "3", "Speed Metric 0");
    shows(&mut app, "]]", "Launch Metric 0");
    shows(&mut app, "/vl1d metric 3\n", "16.1.3");
    shows(&mut app, "/nowhere\n", "`nowhere` is not on this page");
    shows(&mut app, "4", "no roofline");
    shows(&mut app, "?", "Keys");
    shows(&mut app, "\u{1b}", "no roofline");
    assert_eq!(keys(&mut app, "2↓\n"), Ask::Kernel(Some(1)));
    assert_eq!(keys(&mut app, "a"), Ask::Nothing);
    app.show(Data { chosen: Some(1), ..data(3) });
    shows(&mut app, "", "only scale");
    assert_eq!(keys(&mut app, "\u{1b}"), Ask::Kernel(None));
    assert_eq!(keys(&mut app, "r"), Ask::Reload);
    // Keys typed into a search are not commands.
    assert_eq!(keys(&mut app, "/q"), Ask::Nothing);
    assert_eq!(keys(&mut app, "\u{1b}q"), Ask::Quit);
}

#[test]
fn twenty_thousand_instructions_are_walked() {
    let (mut listing, findings) = (values::measured_listing(), values::gemm().findings);
    let pattern: Vec<ListingLine> = listing.lines.clone();
    listing.lines = (0..20_000).map(|at| pattern[at % pattern.len()].clone()).collect();
    for (at, line) in listing.lines.iter_mut().enumerate() {
        line.address = 4 * at as u64;
        line.findings.retain(|_| at == 15_000);
        if let Some(run) = &mut line.run {
            run.count = if at == 17_003 { 1 << 40 } else { 7 };
        }
    }
    listing.lines[15_000].findings.push(findings[0].rule);
    listing.lines[17_003].run = pattern.iter().find_map(|line| line.run.clone()).map(|mut run| {
        run.count = 1 << 40;
        run
    });
    let mut app = App::new(Data { code: Code::Listings(vec![(listing, findings.clone())]), ..data(1) }, true);
    keys(&mut app, "6");
    screen(&mut app, 80, 24);
    keys(&mut app, "h");
    let hottest = screen(&mut app, 80, 24);
    assert!(hottest.contains(&format!("{:x} ", 4 * 17_003)), "{hottest}");
    keys(&mut app, "f");
    let found = screen(&mut app, 80, 24);
    assert!(
        found.contains(&format!("{:x} ", 4 * 15_000)) && found.contains(&findings[0].message[..20]),
        "{found}"
    );
    keys(&mut app, "G");
    assert!(screen(&mut app, 80, 24).contains(&format!("{:x} ", 4 * 19_999)));
}
