//! `rocprofv3 --summary`: a table of sums for each domain, as text.
//!
//! The last table repeats the rows of the tables before it, so it is read only if it is the only table;
//! averages are rounded, so the mean is computed from sum and calls.

use crate::error::{Error, note_at};
use crate::timeline::{CallSum, Format, Timeline};
use view::NoteKind;

const TITLE: &str = "ROCPROFV3 ";
const END: &str = "SUMMARY:";

/// Whether a text begins with such tables.
pub(crate) fn is(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.lines().any(|line| title(line).is_some())
}

/// The domain of a table's title; empty for the table of all.
fn title(line: &str) -> Option<&str> {
    Some(line.trim().strip_prefix(TITLE)?.strip_suffix(END)?.trim())
}

/// Name and unit of a column: `DURATION (nsec)`.
fn column(text: &str) -> (&str, f64) {
    let (name, unit) =
        text.split_once('(').map_or((text, ""), |(name, unit)| (name, unit.trim_end_matches(')')));
    let scale = match unit.trim() {
        "sec" => 1e9,
        "msec" => 1e6,
        "usec" => 1e3,
        _ => 1.0,
    };
    (name.trim(), scale)
}

/// Domains as the other readers of statistics call them.
fn domain(text: &str) -> &str {
    match text {
        "KERNEL_DISPATCH" => "kernels",
        "MEMORY_COPY" => "memory copies",
        "HIP_API" => "HIP API",
        "HSA_API" => "HSA API",
        "MARKER_API" => "markers",
        "RCCL_API" => "RCCL API",
        other => other,
    }
}

/// Reads the tables.
pub(crate) fn read(text: &str) -> Result<Timeline, Error> {
    let mut timeline = Timeline::new(Format::Stats);
    let mut columns: Vec<(&str, f64)> = Vec::new();
    let (mut of, mut bad) = ("", None::<(usize, u64)>);
    let mut all = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(found) = title(line) {
            (of, columns) = (found, Vec::new());
            continue;
        }
        let Some(inner) = line.trim().strip_prefix('|').map(|it| it.trim_end_matches('|')) else { continue };
        if inner.starts_with('-') {
            continue;
        }
        if columns.is_empty() {
            columns = inner.split('|').map(|it| column(it.trim())).collect();
            continue;
        }
        // Names may hold bars, so the other columns are counted from the end.
        let mut cells: Vec<&str> = inner.rsplitn(columns.len(), '|').map(str::trim).collect();
        cells.reverse();
        let cell = |name: &str| {
            let at = columns.iter().position(|it| it.0 == name)?;
            Some((*cells.get(at)?, columns[at].1))
        };
        let ns = |name: &str| cell(name).and_then(|(text, scale)| Some(text.parse::<f64>().ok()? * scale));
        let calls = cell("CALLS").and_then(|it| it.0.parse::<u64>().ok());
        let (Some((name, _)), Some(calls), Some(total)) = (cell("NAME"), calls, ns("DURATION")) else {
            bad = Some(bad.map_or((at + 1, 1), |(first, count)| (first, count + 1)));
            continue;
        };
        let own = cell("DOMAIN").map_or(of, |it| it.0);
        let sum = CallSum {
            domain: domain(own).to_owned(),
            name: timeline.names.add(name),
            thread: None,
            depth: 0,
            calls,
            total_ns: total,
            mean_ns: (calls > 0).then(|| total / calls as f64),
            min_ns: ns("MIN"),
            max_ns: ns("MAX"),
            stddev_ns: ns("STDDEV"),
            self_percent: None,
        };
        all.push((of.is_empty(), sum));
    }
    let parts = all.iter().any(|(whole, _)| !whole);
    timeline.calls.extend(all.into_iter().filter(|(whole, _)| !(parts && *whole)).map(|it| it.1));
    if timeline.calls.is_empty() {
        return Err(Error::Unknown("a summary of rocprofv3 without rows".to_owned()));
    }
    if let Some((line, rows)) = bad {
        let text = format!("{rows} rows are no rows of their table; they are left out");
        timeline.problems.push(note_at(NoteKind::Error, &format!("line {line}"), &text));
    }
    timeline
        .problem(NoteKind::Info, "the file holds sums of calls; it has no times, so no idle time or overlap");
    Ok(timeline)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\nROCPROFV3 KERNEL_DISPATCH SUMMARY:\n\n\
        | NAME | DOMAIN | CALLS | DURATION (usec) | AVERAGE (usec) | PERCENT (INC) | MIN (usec) | MAX (usec) | STDDEV |\n\
        |------|--------|-------|-----------------|----------------|---------------|------------|------------|--------|\n\
        | f(a|b) | KERNEL_DISPATCH | 4 | 10 | 2.5e+00 | 80.0 | 1 | 4 | 0.5 |\n| broken | x |\n\n\
        ROCPROFV3 SUMMARY:\n\n| NAME | DOMAIN | CALLS | DURATION (usec) |\n|--|--|--|--|\n| f(a|b) | KERNEL_DISPATCH | 4 | 10 |\n";

    #[test]
    fn sums_once_in_nanoseconds() {
        let timeline = read(TEXT).unwrap();
        let sum = &timeline.calls[0];
        assert_eq!(
            (timeline.calls.len(), timeline.names.get(sum.name), sum.domain.as_str()),
            (1, "f(a|b)", "kernels")
        );
        assert_eq!(
            (sum.calls, sum.total_ns, sum.mean_ns, sum.max_ns),
            (4, 10_000.0, Some(2_500.0), Some(4_000.0))
        );
        assert!(timeline.problems[0].text.starts_with("line 7: 1 rows"), "{:?}", timeline.problems);
        let alone = read(&TEXT[TEXT.find("ROCPROFV3 SUMMARY").unwrap()..]).unwrap();
        assert_eq!(alone.calls.len(), 1);
        for end in (0..TEXT.len()).filter(|it| TEXT.is_char_boundary(*it)) {
            let _ = read(&TEXT[..end]);
        }
    }
}
