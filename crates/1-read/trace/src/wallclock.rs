//! rocprof-sys (Omnitrace) wall-clock reports: a call tree with sums, as a text table or JSON.
//!
//! Times include callees, so rows of a tree must not be added up.

use crate::error::{Error, note_at};
use crate::timeline::{CallSum, Format, Timeline};
use rocprof::json::{Cursor, Fault, Stop, Stream, unescape};
use std::io::Read;
use view::NoteKind;

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
    text.lines().any(|line| line.starts_with('|') && line.contains("LABEL") && line.contains("METRIC"))
}

/// Reads a text table.
pub(crate) fn text(text: &str) -> Result<Timeline, Error> {
    let mut timeline = Timeline::new(Format::WallClock);
    let mut columns: Vec<String> = Vec::new();
    let mut bad: Option<(usize, u64)> = None;
    for (at, line) in text.lines().enumerate() {
        let Some(inner) = line.trim_end().strip_prefix('|') else { continue };
        if inner.starts_with('-') {
            continue;
        }
        let cells: Vec<&str> = split(inner, columns.len());
        if columns.is_empty() {
            if inner.contains("LABEL") && inner.contains("METRIC") {
                columns = inner.trim_end_matches('|').split('|').map(|c| c.trim().to_owned()).collect();
            }
            continue;
        }
        let cell = |name: &str| {
            let at = columns.iter().position(|c| c == name)?;
            cells.get(at).map(|c| c.trim())
        };
        let number = |name: &str| cell(name).and_then(|c| c.parse::<f64>().ok());
        let scale = cell("UNITS").and_then(unit_ns);
        let (Some(named), Some(calls), Some(sum), Some(scale)) =
            (cells.first(), number("COUNT"), number("SUM"), scale)
        else {
            bad = Some(bad.map_or((at + 1, 1), |(first, n)| (first, n + 1)));
            continue;
        };
        let (thread, depth, name) = label(named.strip_prefix(' ').unwrap_or(named));
        let depth = number("DEPTH").map_or(depth, |d| d as u32);
        let name = timeline.names.add(name);
        timeline.calls.push(CallSum {
            domain: "wall clock".to_owned(),
            name,
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
    if timeline.calls.is_empty() {
        return Err(Error::Unknown("a table without rows of wall clock".to_owned()));
    }
    if let Some((line, rows)) = bad {
        let text = format!("{rows} rows are no rows of this table; they are left out");
        timeline.problems.push(note_at(NoteKind::Error, &format!("line {line}"), &text));
    }
    timeline.problem(NoteKind::Info, "text rounds times to 1 us; the JSON beside it is exact");
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
            return Err(Error::Unknown("JSON without `timemory.wall_clock`".to_owned()));
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
        inside(stream, "wall_clock", &mut |stream| {
            inside(stream, "ranks", &mut |stream| {
                if stream.peek()? != Some(b'[') {
                    return stream.skip();
                }
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
                                    timeline.calls.push(CallSum { name, thread, depth, ..row.sum });
                                }
                                None => *foreign += 1,
                            }
                        }
                        Ok(())
                    })?;
                }
                Ok(())
            })
        })
    })
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
        domain: "wall clock".to_owned(),
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
    use super::label;

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
}
