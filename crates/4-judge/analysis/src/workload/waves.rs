//! The timeline of traced waves: place and time of each, drawn as text.
//!
//! A wave slot of a SIMD holds one wave at a time, so a row is a slot and a gap in it is idle time of that
//! slot.

use super::overview::{row, table};
use super::samples::selected_traces;
use super::subject::Subject;
use std::collections::BTreeMap;
use view::{Cell, Column, ColumnKind, Number, Table};
use workload::{TracedDispatch, WaveSpan};

/// Characters of a row of the timeline.
const WIDTH: usize = 40;
/// Share of a character's time that waves occupy, from none to all.
const SHADES: [char; 5] = ['.', '░', '▒', '▓', '█'];

/// Places with their waves, of the first dispatch of each kernel selected; at most `top` places of each.
pub(crate) fn waves(subject: &Subject, top: usize) -> Table {
    let w = &subject.workload;
    let kernels = selected_traces(w, &subject.rows);
    let is_selected = |dispatch: &&TracedDispatch| {
        let kernel = dispatch.kernel.and_then(|at| w.traces.as_ref()?.kernels.get(at as usize));
        kernel.is_some_and(|kernel| kernels.iter().any(|it| it.kernel == *kernel))
    };
    let all = w.traces.iter().flat_map(|it| &it.dispatches).filter(|it| !it.spans.is_empty());
    let mut first: BTreeMap<Option<u32>, &TracedDispatch> = BTreeMap::new();
    for dispatch in all.filter(is_selected) {
        first.entry(dispatch.kernel).or_insert(dispatch);
    }
    let (mut rows, mut notes, mut left) = (Vec::new(), Vec::new(), 0);
    for dispatch in first.values() {
        let begin = dispatch.spans.iter().map(|it| it.begin).min().unwrap_or(0);
        let end = dispatch.spans.iter().map(|it| it.end).max().unwrap_or(begin);
        let mut places: BTreeMap<[u32; 3], Vec<WaveSpan>> = BTreeMap::new();
        dispatch.spans.iter().for_each(|it| places.entry(it.place).or_default().push(*it));
        left += places.len().saturating_sub(top);
        let count = places.len();
        for (place, spans) in places.into_iter().take(top) {
            let [engine, simd, slot] = place;
            let busy = covered(&spans, begin, end);
            let number = |value: f64| Cell::Number(Number::from(value));
            let last = spans.iter().map(|it| it.end - begin).max().unwrap_or(0);
            let cells = vec![
                Cell::Text(drawn(&spans, begin, end)),
                number(spans.len() as f64),
                number((spans[0].begin - begin) as f64),
                number(last as f64),
                number(100.0 * busy / ((end - begin).max(1) as f64)),
                number(dispatch.id as f64),
            ];
            rows.push(row(
                format!("21.4.{}", rows.len()),
                &format!("SE {engine}, SIMD {simd}, slot {slot}"),
                cells,
            ));
        }
        notes.push(format!(
            "dispatch {}: {} waves in {count} places over {} cycles",
            dispatch.id,
            dispatch.spans.len(),
            end - begin
        ));
    }
    if left > 0 {
        notes.push(format!("{left} more places; `--top N` shows more"));
    }
    let number = |title: &str| Column::new(title, ColumnKind::Number, "");
    let columns = vec![
        Column::new("timeline", ColumnKind::Text, ""),
        number("waves"),
        number("from"),
        number("to"),
        Column::new("busy", ColumnKind::Number, "%"),
        number("dispatch"),
    ];
    let mut out = table("21.4", "PC Sampling", "Traced Waves", "place", columns, rows);
    out.notes = notes;
    out
}

/// Cycles between `from` and `to` in which a slot holds a wave.
fn covered(spans: &[WaveSpan], from: u64, to: u64) -> f64 {
    let mut cycles = 0;
    let mut at = from;
    for span in spans {
        let (begin, end) = (span.begin.max(at), span.end.min(to));
        if end > begin {
            cycles += end - begin;
            at = end;
        }
    }
    cycles as f64
}

/// A row of the timeline.
fn drawn(spans: &[WaveSpan], begin: u64, end: u64) -> String {
    let length = end.saturating_sub(begin).max(1);
    let at = |part: usize| begin + (u128::from(length) * part as u128 / WIDTH as u128) as u64;
    let shade = |part: usize| {
        // Of a short dispatch several characters are one cycle.
        let (from, to) = (at(part), at(part + 1).max(at(part) + 1));
        let share = covered(spans, from, to) / (to - from) as f64;
        SHADES[(share * (SHADES.len() - 1) as f64).ceil() as usize]
    };
    (0..WIDTH).map(shade).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_parts_are_drawn() {
        let span = |begin, end| WaveSpan { place: [0; 3], begin, end };
        let text = drawn(&[span(100, 140), span(150, 180)], 100, 180);
        assert_eq!(text, format!("{}{}{}", "█".repeat(20), ".".repeat(5), "█".repeat(15)));
        assert_eq!(drawn(&[span(0, 1)], 0, 80).chars().next(), Some('▒'));
        assert_eq!(covered(&[span(0, 10), span(5, 12)], 0, 100), 12.0);
        assert_eq!(drawn(&[span(7, 7)], 7, 7), ".".repeat(WIDTH));
        assert_eq!(drawn(&[span(0, u64::MAX)], 0, u64::MAX), "█".repeat(WIDTH));
    }

    #[test]
    fn the_sample_of_the_documentation() {
        let Some(path) = testkit::shared("traces/att/made-mi300x") else { return };
        let mut files = testkit::files(&path);
        files.retain(|name, _| !workload::is_wave_file(name));
        let workload = workload::read(&files, &workload::Options::default()).unwrap();
        let subject = Subject {
            name: String::new(),
            path: String::new(),
            rows: vec![0],
            workload,
            filled: Vec::new(),
            selection: String::new(),
            wanted: view::Wanted::default(),
        };
        let table = waves(&subject, 10);
        let labels: Vec<&str> = table.rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!(
            labels,
            ["SE 0, SIMD 0, slot 0", "SE 0, SIMD 1, slot 0", "SE 0, SIMD 2, slot 0", "SE 0, SIMD 3, slot 0"]
        );
        let cells = |at: usize| table.rows.iter().map(|row| row.cells[at].clone()).collect::<Vec<_>>();
        let numbers = |values: [f64; 4]| values.map(|it| Cell::Number(Number::from(it))).to_vec();
        assert_eq!(cells(2), numbers([0.0, 16.0, 32.0, 48.0]));
        assert_eq!(cells(3), numbers([885.0, 897.0, 922.0, 943.0]));
        assert_eq!(table.notes, ["dispatch 1: 4 waves in 4 places over 943 cycles"]);
    }
}
