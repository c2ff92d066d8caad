//! Reports of timemory, as rocprof-sys (Omnitrace) writes them: a call tree with sums of a metric such as the wall clock, as a
//! text table or JSON.
//!
//! Times include callees, so rows of a tree must not be added up.

use crate::error::{Error, note_at};
use crate::timeline::{CallSum, Format, Timeline};
use rocprof::json::{Cursor, Fault, Stop, Stream, unescape};
use std::collections::BTreeSet;
use std::io::Read;
use view::{NoteKind, duration};

/// Nanoseconds of the units a table may have.
fn unit_ns(unit: &str) -> Option<f64> {
    match unit {
        "sec" | "s" => Some(1e9),
        "msec" | "ms" => Some(1e6),
        "usec" | "us" => Some(1e3),
        "nsec" | "ns" => Some(1.0),
        _ => None,
    }
}

/// Thread, depth and name of a label: `|00>>>   |_conj_grad`.
fn label(text: &str) -> (Option<u32>, u32, &str) {
    let Some((head, rest)) = text.split_once(">>>") else { return (None, 0, text.trim()) };
    let thread = head.trim().trim_start_matches('|').parse().ok();
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let inner = rest.trim_start_matches(' ');
    let blanks = rest.len() - inner.len();
    match inner.strip_prefix("|_") {
        // Names may begin with `_` themselves, so only the branch's own mark is removed.
        Some(name) => (thread, u32::try_from(blanks / 2 + 1).unwrap_or(0), name.trim_end()),
        None => (thread, 0, inner.trim_end()),
    }
}

/// Whether a text is such a table.
pub(crate) fn is_table(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.lines().any(is_header)
}

fn is_header(line: &str) -> bool {
    line.trim_start().starts_with('|') && line.contains("LABEL") && line.contains("METRIC")
}

/// A metric as the tables call it: `wall_clock` and `wall` are one.
fn metric(text: &str) -> String {
    match text {
        "wall" => "wall clock".to_owned(),
        "cpu" => "CPU time".to_owned(),
        "user" => "CPU time, user".to_owned(),
        "sys" => "CPU time, system".to_owned(),
        text => text.replace('_', " ").replace("cpu ", "CPU "),
    }
}

/// The metric that a file is named for: `sampling_cpu_clock-31.txt` says more than its rows.
fn named(name: &str, metric_of_row: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file.split(['-', '.']).next().unwrap_or(file);
    match stem.ends_with(metric_of_row) && stem.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    {
        true => metric(stem),
        false => metric(metric_of_row),
    }
}

/// The place after the point of a number, 0 without one.
fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// Rows that are left out, with the first one's line.
#[derive(Default)]
struct Left {
    rows: u64,
    first: usize,
}

impl Left {
    fn row(&mut self, line: usize) {
        if self.rows == 0 {
            self.first = line;
        }
        self.rows += 1;
    }
}

/// Reads text tables; `name` is the file's.
pub(crate) fn text(name: &str, text: &str) -> Result<Timeline, Error> {
    let mut timeline = Timeline::new(Format::WallClock);
    let mut columns: Vec<String> = Vec::new();
    let mut bad = Left::default();
    // Metrics that are no time, with their units; and the finest unit that times are rounded to, ns.
    let (mut others, mut rounded) = (BTreeSet::new(), 0.0_f64);
    for (at, line) in text.lines().enumerate() {
        if is_header(line) {
            let inner = line.trim().trim_matches('|');
            columns = inner.split('|').map(|c| c.trim().to_owned()).collect();
            continue;
        }
        let row = line.trim().strip_prefix('|').filter(|inner| !inner.starts_with('-'));
        let Some(inner) = row.filter(|_| !columns.is_empty()) else { continue };
        let cells: Vec<&str> = split(inner, columns.len());
        let cell = |name: &str| {
            let at = columns.iter().position(|c| c == name)?;
            cells.get(at).map(|c| c.trim())
        };
        let number = |name: &str| cell(name).and_then(|c| c.parse::<f64>().ok());
        let (Some(label_cell), Some(calls), Some(sum), Some(unit)) =
            (cells.first(), number("COUNT"), number("SUM"), cell("UNITS"))
        else {
            // A title of another table has no cells.
            if cells.len() > 1 {
                bad.row(at + 1);
            }
            continue;
        };
        let of = cell("METRIC").unwrap_or_default();
        let Some(scale) = unit_ns(unit) else {
            others.insert(format!("`{of}` in {unit}"));
            continue;
        };
        rounded = rounded.max(scale / 10_f64.powi(decimals(cell("SUM").unwrap_or_default()).min(18) as i32));
        let (thread, depth, called) = label(label_cell.strip_prefix(' ').unwrap_or(label_cell));
        let depth = number("DEPTH").map_or(depth, |d| d as u32);
        timeline.calls.push(CallSum {
            domain: named(name, of),
            name: timeline.names.add(called),
            thread,
            depth,
            calls: calls as u64,
            total_ns: sum * scale,
            mean_ns: number("MEAN").map(|v| v * scale),
            min_ns: number("MIN").map(|v| v * scale),
            max_ns: number("MAX").map(|v| v * scale),
            stddev_ns: number("STDDEV").map(|v| v * scale),
            self_percent: number("% SELF"),
        });
    }
    let others: Vec<String> = others.into_iter().collect();
    if timeline.calls.is_empty() {
        let what = match &others[..] {
            [] => "a table of timemory without rows".to_owned(),
            others => format!("a table of timemory without times: {}", others.join(", ")),
        };
        return Err(Error::Unknown(what));
    }
    if bad.rows > 0 {
        let text = format!("{} rows are no rows of this table; they are left out", bad.rows);
        timeline.problems.push(note_at(NoteKind::Error, &format!("line {}", bad.first), &text));
    }
    if !others.is_empty() {
        timeline.problem(NoteKind::Info, format!("no times and left out: {}", others.join(", ")));
    }
    let text = format!("text rounds times to {}; the JSON beside it is exact", duration(rounded));
    timeline.problem(NoteKind::Info, text);
    Ok(timeline)
}

/// Cells of a row: the label itself contains bars, so the other columns are counted from the end.
fn split(inner: &str, columns: usize) -> Vec<&str> {
    let inner = inner.trim_end().trim_end_matches('|');
    if columns < 2 {
        return inner.split('|').collect();
    }
    let mut cells: Vec<&str> = inner.rsplitn(columns, '|').collect();
    cells.reverse();
    cells
}

/// Reads JSON.
pub(crate) fn json(input: &mut dyn Read) -> Result<Timeline, Error> {
    let mut timeline = Timeline::new(Format::WallClock);
    let mut foreign = 0u64;
    let mut stream = Stream::new(input);
    let result = document(&mut stream, &mut timeline, &mut foreign);
    let fault = match result {
        Ok(()) => None,
        Err(Fault::Cut(at)) => Some((at, "the file ends within a value that begins here".to_owned())),
        Err(Fault::Bad(at, what)) => Some((at, what)),
    };
    match fault {
        Some((offset, what)) if timeline.calls.is_empty() => {
            return Err(Error::Broken { kind: "rocprof-sys JSON", offset, what });
        }
        Some((offset, what)) => {
            let message = format!("{what}; {} rows before it are read", timeline.calls.len());
            timeline.problems.push(note_at(NoteKind::Error, &format!("byte {offset}"), &message));
        }
        None if timeline.calls.is_empty() => {
            return Err(Error::Unknown("JSON of timemory without times".to_owned()));
        }
        None => {}
    }
    if foreign > 0 {
        let text = format!("{foreign} elements of `graph` are no rows; they are left out");
        timeline.problem(NoteKind::Warning, text);
    }
    Ok(timeline)
}

fn document(stream: &mut Stream<'_>, timeline: &mut Timeline, foreign: &mut u64) -> Result<(), Fault> {
    inside(stream, "timemory", &mut |stream| {
        stream.open(b'{')?;
        while let Some(key) = stream.key()? {
            match stream.peek()? {
                Some(b'{') => of_metric(&key, stream, timeline, foreign)?,
                _ => stream.skip()?,
            }
        }
        Ok(())
    })
}

/// A member of the document that is named after its metric.
fn of_metric(
    key: &str,
    stream: &mut Stream<'_>,
    timeline: &mut Timeline,
    foreign: &mut u64,
) -> Result<(), Fault> {
    let mut unit = None;
    let before = timeline.calls.len();
    stream.open(b'{')?;
    while let Some(member) = stream.key()? {
        match (member.as_str(), stream.peek()?) {
            ("unit_repr", Some(b'"')) => {
                unit =
                    Some(stream.with(|c| c.plain().map(|text| String::from_utf8_lossy(text).into_owned()))?);
            }
            ("ranks", Some(b'[')) => ranks(key, stream, timeline, foreign)?,
            _ => stream.skip()?,
        }
    }
    if unit.is_some_and(|unit| unit_ns(&unit).is_none()) {
        timeline.calls.truncate(before);
    }
    Ok(())
}

fn ranks(
    key: &str,
    stream: &mut Stream<'_>,
    timeline: &mut Timeline,
    foreign: &mut u64,
) -> Result<(), Fault> {
    let domain = metric(key);
    stream.open(b'[')?;
    while stream.element()? {
        inside(stream, "graph", &mut |stream| {
            stream.open(b'[')?;
            while stream.element()? {
                match stream.with(row)? {
                    Some(row) => {
                        let (thread, depth, name) = label(&row.prefix);
                        let name = timeline.names.add(name);
                        let depth = row.depth.unwrap_or(depth);
                        let domain = domain.clone();
                        timeline.calls.push(CallSum { domain, name, thread, depth, ..row.sum });
                    }
                    None => *foreign += 1,
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Visits the member of an object that has this name; others are skipped.
fn inside(
    stream: &mut Stream<'_>,
    name: &str,
    visit: &mut dyn FnMut(&mut Stream<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    stream.open(b'{')?;
    while let Some(key) = stream.key()? {
        if key == name { visit(stream)? } else { stream.skip()? }
    }
    Ok(())
}

struct Row {
    prefix: String,
    depth: Option<u32>,
    sum: CallSum,
}

fn real(c: &mut Cursor<'_>) -> Result<Option<f64>, Stop> {
    let text = c.plain()?;
    Ok(std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()).filter(|v: &f64| v.is_finite()))
}

/// A row, or nothing for an element that is none.
fn row(c: &mut Cursor<'_>) -> Result<Option<Row>, Stop> {
    if c.peek()? != b'{' {
        c.skip(0)?;
        return Ok(None);
    }
    let (mut prefix, mut depth, mut value) = (None, None, None);
    let mut calls = 0;
    let mut stats = [None; 4];
    c.object(|key, c| {
        match key {
            b"prefix" => prefix = Some(String::from_utf8_lossy(&unescape(c.plain()?)).into_owned()),
            b"depth" => depth = c.number()?.and_then(|n| u32::try_from(n).ok()),
            b"entry" if c.peek()? == b'{' => c.object(|key, c| {
                match key {
                    b"laps" => calls = c.number()?.unwrap_or(0),
                    b"value" => value = real(c)?,
                    _ => c.skip(0)?,
                }
                Ok(())
            })?,
            b"stats" if c.peek()? == b'{' => c.object(|key, c| {
                match key {
                    b"min" => stats[0] = real(c)?,
                    b"max" => stats[1] = real(c)?,
                    b"mean" => stats[2] = real(c)?,
                    b"stddev" => stats[3] = real(c)?,
                    _ => c.skip(0)?,
                }
                Ok(())
            })?,
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    let (Some(prefix), Some(value)) = (prefix, value) else { return Ok(None) };
    // The entry counts nanoseconds, the statistics seconds.
    let [min, max, mean, stddev] = stats.map(|v| v.map(|v| v * 1e9));
    let sum = CallSum {
        domain: String::new(),
        name: crate::names::Name::NONE,
        thread: None,
        depth: 0,
        calls,
        total_ns: value,
        mean_ns: mean,
        min_ns: min,
        max_ns: max,
        stddev_ns: stddev,
        self_percent: None,
    };
    Ok(Some(Row { prefix, depth, sum }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        for (text, expected) in [
            ("|00>>> main", (Some(0), 0, "main")),
            ("|00>>>     |_ompt_parallel [parallelism=12]", (Some(0), 3, "ompt_parallel [parallelism=12]")),
            ("|0>>> |___omp_offloading_3a", (Some(0), 1, "__omp_offloading_3a")),
            ("|0>>> __omp_offloading_3a", (Some(0), 0, "__omp_offloading_3a")),
        ] {
            assert_eq!(label(text), expected, "{text}");
        }
    }

    /// A table of one row, in the columns of timemory.
    fn table(metric: &str, unit: &str, sum: &str) -> String {
        format!(
            "  |-----|\n  |  A TITLE  |\n  | LABEL | COUNT | DEPTH | METRIC | UNITS | SUM |\n  |-----|\n  | >>> f | 2 | 0 | {metric} | {unit} | {sum} |\n"
        )
    }

    #[test]
    fn metrics_are_apart_and_no_time_is_none() {
        let all = [("wall_clock", "sec", "1.500"), ("cpu", "msec", "3"), ("peak_rss", "MB", "7.0")]
            .map(|(metric, unit, sum)| table(metric, unit, sum))
            .concat();
        let it = text("output.txt", &all).unwrap();
        let sums: Vec<_> = it.calls.iter().map(|it| (it.domain.as_str(), it.total_ns)).collect();
        assert_eq!(sums, [("wall clock", 1.5e9), ("CPU time", 3e6)]);
        let notes: Vec<&str> = it.problems.iter().map(|it| it.text.as_str()).collect();
        assert!(notes[0].contains("`peak_rss` in MB") && notes[1].contains("1.00 ms"), "{notes:?}");
        let fine = text("f/sampling_cpu_clock-3.txt", &table("cpu_clock", "sec", "0.000001")).unwrap();
        assert_eq!(fine.calls[0].domain, "sampling CPU clock");
        assert!(
            text("x.txt", &table("peak_rss", "MB", "1")).unwrap_err().to_string().contains("without times")
        );
        let json = r#"{"timemory": {"cpu_clock": {"unit_repr": "sec", "ranks": [{"graph": [{"prefix": ">>> f", "entry": {"laps": 2, "value": 5}}]}]},
            "peak_rss": {"unit_repr": "MB", "ranks": [{"graph": [{"prefix": ">>> f", "entry": {"laps": 2, "value": 5}}]}]}}}"#;
        let it = super::json(&mut json.as_bytes()).unwrap();
        assert_eq!(
            (it.calls.len(), it.calls[0].domain.as_str(), it.calls[0].total_ns),
            (1, "CPU clock", 5.0)
        );
    }
}
