//! Answers on recordings in a database.

mod document;

use serde_json::Value;
use std::collections::BTreeMap;
use view::{
    Answer, Cell, Column, ColumnKind, Number, Row, STORE_SCHEMA, Stored, StoredCell, StoredConfiguration,
    StoredFile, StoredFinding, StoredKernel, StoredRecording, Table, duration, thousands,
};

/// Characters shown of the hash of a commit.
const COMMIT: usize = 12;
/// Configurations of a tuning that are shown.
const FASTEST: usize = 20;
/// Rows that are shown of each table of an answer.
const LINES: usize = 50;

/// An empty answer of `store`.
pub fn answer(question: &'static str, place: &str) -> Answer<Stored> {
    Answer::new(STORE_SCHEMA, Stored { question, store: place.to_owned(), ..Stored::default() })
}

/// Recordings as a table, oldest first.
pub fn list(question: &'static str, place: &str, recordings: Vec<StoredRecording>) -> Answer<Stored> {
    let mut answer = self::answer(question, place);
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    recordings.iter().flat_map(|it| it.labels.keys()).for_each(|name| *names.entry(name).or_default() += 1);
    let text = |title: &str, kind| Column::new(title, kind, "");
    // Recordings alone need no word for what they are.
    let has_others = recordings.iter().any(|it| !it.sort.is_recording());
    let mut columns = vec![text("address", ColumnKind::Word)];
    if has_others {
        columns.push(text("is", ColumnKind::Word));
    }
    columns.extend([
        text(if has_others { "name" } else { "recording" }, ColumnKind::Text),
        text("GPU", ColumnKind::Word),
        text("made by", ColumnKind::Word),
        text("dispatches", ColumnKind::Id),
        text("date (UTC)", ColumnKind::Word),
    ]);
    columns.extend(names.keys().map(|name| text(name, ColumnKind::Text)));
    let row = |it: &StoredRecording| {
        let is_recording = it.sort.is_recording();
        let mut cells = vec![Cell::text(format!("store:{}", it.id))];
        if has_others {
            cells.push(Cell::text(it.sort.word()));
        }
        cells.extend([
            Cell::text(&it.name),
            it.gpu.as_ref().map_or(Cell::missing("the recording does not say"), Cell::text),
            if is_recording { Cell::text(made_by(it)) } else { Cell::Empty },
            if is_recording { Cell::Number(Number::Known(it.dispatches as f64)) } else { Cell::Empty },
            Cell::text(date(it.measured_ms)),
        ]);
        cells.extend(
            names.keys().map(|name| it.labels.get(*name).map_or(Cell::Empty, |value| label(name, value))),
        );
        Row::of(cells)
    };
    let rows = recordings.iter().map(row).collect();
    answer.tables.push(Table { title: "Recordings".to_owned(), columns, rows, ..Table::default() });
    answer.part.recordings = recordings;
    answer
}

fn made_by(it: &StoredRecording) -> &'static str {
    if it.emulated_by.is_some() { "emulator" } else { "GPU" }
}

/// The value of a label; the hash of a commit is shortened.
pub(crate) fn label(name: &str, value: &str) -> Cell {
    let is_hash = name == "commit" && value.len() == 40 && value.bytes().all(|it| it.is_ascii_hexdigit());
    Cell::text(if is_hash { &value[..COMMIT] } else { value })
}

/// Parts of a recording.
pub struct Shown {
    /// The recording.
    pub recording: StoredRecording,
    /// Kernels, most time first.
    pub kernels: Vec<StoredKernel>,
    /// Files.
    pub files: Vec<StoredFile>,
    /// Findings.
    pub findings: Vec<StoredFinding>,
    /// Configurations of a tuning, fastest first.
    pub configurations: Vec<StoredConfiguration>,
    /// Tables of an answer or timeline.
    pub cells: Vec<StoredCell>,
    /// The document of an answer or timeline, whose tables are shown in place of the cells.
    pub document: Option<Value>,
}

/// One recording with its parts.
pub fn show(place: &str, shown: Shown) -> Answer<Stored> {
    let Shown { recording, kernels, files, findings, configurations, cells, document } = shown;
    let mut answer = self::answer("show", place);
    let mut input = view::Input::new(&recording.name, format!("store:{}", recording.id), &recording.kind);
    input.fact("path", &recording.path);
    if !recording.opened.is_empty() {
        input.fact("file or run", &recording.opened);
    }
    input.fact("GPU", recording.gpu.as_deref().unwrap_or("not recorded"));
    if recording.sort.is_recording() {
        match &recording.emulated_by {
            Some(emulator) => input.fact("emulated by", emulator),
            None => input.fact("made by", "GPU"),
        }
        input.fact("dispatches", thousands(recording.dispatches.unsigned_abs()));
    }
    input.fact("bytes", thousands(recording.bytes.unsigned_abs()));
    input.fact("date (UTC)", date(recording.measured_ms));
    input.fact("added (UTC)", date(recording.added_ms));
    input.fact("metrics by", format!("rockhound {}", recording.version));
    recording.labels.iter().for_each(|(name, value)| input.fact(&format!("label {name}"), value));
    answer.inputs.push(input);
    if recording.sort.is_recording() {
        answer.tables.push(of_kernels(&kernels));
    }
    answer.part.recordings.push(recording);
    answer.tables.extend(of_configurations(&configurations));
    match &document {
        Some(document) => document::add(&mut answer, document, LINES),
        None => answer.tables.extend(of_cells(&cells)),
    }
    if !findings.is_empty() {
        answer.tables.push(of_findings(&findings));
    }
    answer.tables.push(of_files(&files));
    answer
}

fn time(ns: Option<f64>) -> Cell {
    Cell::known(ns.map(|ns| ns / 1000.0).ok_or("times were not recorded"))
}

fn of_kernels(kernels: &[StoredKernel]) -> Table {
    let number = |title: &str, unit: &str| Column::new(title, ColumnKind::Number, unit);
    let columns = vec![
        Column::new("kernel", ColumnKind::Text, ""),
        Column::new("dispatches", ColumnKind::Id, ""),
        number("total", "us"),
        number("median", "us"),
        number("spread", "us"),
    ];
    let row = |it: &StoredKernel| {
        let spread = it.spread_ns.map(|ns| ns / 1000.0).ok_or("fewer than two dispatches have times");
        Row::of(vec![
            Cell::text(&it.name),
            Cell::Number(Number::Known(it.dispatches as f64)),
            time(it.total_ns),
            time(it.median_ns),
            Cell::known(spread),
        ])
    };
    let rows = kernels.iter().map(row).collect();
    Table { title: "Kernels".to_owned(), columns, rows, ..Table::default() }
}

fn of_findings(findings: &[StoredFinding]) -> Table {
    let text = |title: &str, kind| Column::new(title, kind, "");
    let columns = vec![
        text("rule", ColumnKind::Word),
        text("severity", ColumnKind::Word),
        text("kernel", ColumnKind::Text),
        text("time lost", ColumnKind::Word),
    ];
    let row = |it: &StoredFinding| {
        Row::of(vec![
            Cell::text(&it.rule),
            Cell::text(&it.severity),
            it.kernel.as_ref().map_or(Cell::Empty, Cell::text),
            it.time_lost_ns.map_or(Cell::Empty, |ns| Cell::text(duration(ns))),
        ])
    };
    let rows = findings.iter().map(row).collect();
    let notes = vec!["`rockhound analyze -p store:ID` shows them in full".to_owned()];
    Table { title: "Findings".to_owned(), columns, rows, notes, ..Table::default() }
}

/// Configurations by outcome, and the fastest; none without configurations.
fn of_configurations(all: &[StoredConfiguration]) -> Vec<Table> {
    if all.is_empty() {
        return Vec::new();
    }
    let text = |title: &str, kind| Column::new(title, kind, "");
    let mut counts: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for it in all {
        let (count, why) = counts.entry(&it.status).or_insert((0, ""));
        *count += 1;
        if why.is_empty() {
            *why = it.why.as_deref().and_then(|why| why.lines().next()).unwrap_or("");
        }
    }
    let outcome = |(status, (count, why)): (&&str, &(usize, &str))| {
        Row::of(vec![Cell::text(*status), Cell::count(*count as u64), Cell::text(*why)])
    };
    let outcomes = Table {
        title: "Outcomes".to_owned(),
        columns: vec![
            text("status", ColumnKind::Text),
            text("configurations", ColumnKind::Id),
            text("first reason", ColumnKind::Text),
        ],
        rows: counts.iter().map(outcome).collect(),
        ..Table::default()
    };
    let fast: Vec<&StoredConfiguration> = all.iter().filter(|it| it.us.is_some()).collect();
    let row = |it: &&StoredConfiguration| {
        Row::of(vec![
            Cell::from(it.us.unwrap_or_default()),
            Cell::text(&it.study),
            Cell::text(&it.configuration),
        ])
    };
    let fastest = Table {
        title: "Fastest configurations".to_owned(),
        columns: vec![
            Column::new("time", ColumnKind::Number, "us"),
            text("study", ColumnKind::Text),
            text("configuration", ColumnKind::Text),
        ],
        rows: fast.iter().take(FASTEST).map(row).collect(),
        more: fast.len().saturating_sub(FASTEST),
        ..Table::default()
    };
    vec![outcomes, fastest]
}

/// Tables of an answer from its cells, which are in the order of tables and lines.
fn of_cells(cells: &[StoredCell]) -> Vec<Table> {
    let tables = cells.chunk_by(|a, b| a.table == b.table);
    tables.map(of_table).collect()
}

fn of_table(cells: &[StoredCell]) -> Table {
    let mut columns: Vec<Column> = Vec::new();
    let mut place: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for it in cells {
        place.entry((&it.column, &it.unit)).or_insert_with(|| {
            let kind = if it.number.is_some() { ColumnKind::Number } else { ColumnKind::Text };
            columns.push(Column::new(&it.column, kind, &it.unit));
            columns.len() - 1
        });
    }
    let row = |line: &[StoredCell]| {
        let mut row = vec![Cell::Empty; columns.len()];
        for it in line {
            row[place[&(&it.column[..], &it.unit[..])]] = match (it.number, &it.text) {
                (Some(number), _) => Cell::from(number),
                (None, Some(text)) => Cell::text(text),
                (None, None) => Cell::Empty,
            };
        }
        Row::of(row)
    };
    let all: Vec<Row> = cells.chunk_by(|a, b| a.line == b.line).map(row).collect();
    let title = cells.first().map_or_else(String::new, |it| it.table.clone());
    let more = all.len().saturating_sub(LINES);
    Table { title, columns, rows: all.into_iter().take(LINES).collect(), more, ..Table::default() }
}

fn of_files(files: &[StoredFile]) -> Table {
    let columns = vec![
        Column::new("file", ColumnKind::Text, ""),
        Column::new("bytes", ColumnKind::Id, ""),
        Column::new("is", ColumnKind::Word, ""),
    ];
    let row = |it: &StoredFile| {
        let kind = if it.is_code { Cell::text("code object") } else { Cell::Empty };
        Row::of(vec![Cell::text(&it.name), Cell::Number(Number::Known(it.bytes as f64)), kind])
    };
    let rows = files.iter().map(row).collect();
    Table { title: "Files".to_owned(), columns, rows, ..Table::default() }
}

/// Rows of a query; `more`: the query has further rows.
pub fn queried(place: &str, columns: &[String], rows: &[Vec<Option<String>>], more: bool) -> Answer<Stored> {
    let mut answer = self::answer("query", place);
    let is_number = |at: usize| {
        let known = || rows.iter().filter_map(|row| row.get(at)?.as_deref());
        known().next().is_some() && known().all(|it| it.parse::<f64>().is_ok_and(|it| it.is_finite()))
    };
    let numeric: Vec<bool> = (0..columns.len()).map(is_number).collect();
    let is_whole =
        |at: usize| rows.iter().filter_map(|row| row.get(at)?.as_deref()).all(|it| it.parse::<i64>().is_ok());
    let kind = |at: usize| match (numeric[at], is_whole(at)) {
        (true, true) => ColumnKind::Id,
        (true, false) => ColumnKind::Number,
        _ => ColumnKind::Text,
    };
    let cell = |(at, value): (usize, &Option<String>)| match value {
        None => Cell::Empty,
        Some(text) if numeric.get(at) == Some(&true) => {
            text.parse::<f64>().map_or(Cell::text(text), Cell::from)
        }
        Some(text) => Cell::text(text),
    };
    answer.tables.push(Table {
        title: "Rows".to_owned(),
        columns: columns.iter().enumerate().map(|(at, name)| Column::new(name, kind(at), "")).collect(),
        rows: rows.iter().map(|row| Row::of(row.iter().enumerate().map(cell).collect())).collect(),
        notes: if more { vec!["there are more rows: `--top 0` shows all".to_owned()] } else { Vec::new() },
        ..Table::default()
    });
    answer
}

/// `2026-11-28 09:30` of milliseconds since 1970.
pub(crate) fn date(ms: i64) -> String {
    let minutes = ms.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    format!("{} {:02}:{:02}", view::date(days), minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (ms, expected) in [
            (0, "1970-01-01 00:00"),
            (951_782_400_000, "2000-02-29 00:00"),
            (1_795_858_200_000, "2026-11-28 09:30"),
            (-60_000, "1969-12-31 23:59"),
        ] {
            assert_eq!(date(ms), expected);
        }
    }

    #[test]
    fn columns_of_numbers_are_numbers() {
        let texts = |row: &[&str]| row.iter().map(|it| (!it.is_empty()).then(|| (*it).to_owned())).collect();
        let rows = vec![texts(&["a", "1", "2.5", ""]), texts(&["2", "", "1e3", ""])];
        let columns = ["t", "n", "r", "e"].map(str::to_owned);
        let answer = queried("db", &columns, &rows, false);
        let kinds: Vec<ColumnKind> = answer.tables[0].columns.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [ColumnKind::Text, ColumnKind::Id, ColumnKind::Number, ColumnKind::Text]);
        assert_eq!(answer.tables[0].rows[1].cells[2].number(), Some(1000.0));
        assert_eq!(answer.tables[0].rows[1].cells[1], Cell::Empty);
    }
}
