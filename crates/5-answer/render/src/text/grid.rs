//! One table of a report: columns at their minimum width, bars and boxes in the remaining width.
//!
//! Every column becomes finished cells first; only then are widths shared out, the label giving way before
//! numbers do.

mod unlabelled;

use crate::text::figure::{Figure, figure};
use crate::text::names::shorten;
use crate::text::page::{Page, Span, dim, plain, span, width};
use crate::{Role, Style};
use std::borrow::Cow;
use std::collections::HashSet;
use view::{Cell, ColumnKind, Delta, LITTLE_PERCENT, Number, Row, Table, counted};

/// Narrowest and widest bar or box.
const DRAWING: (usize, usize) = (8, 40);
/// Narrowest label.
const LABEL_LEAST: usize = 20;
/// Rows without any value that are still shown one by one.
const FEW: usize = 3;
/// Width reserved for the row number and label if columns of words follow.
const BESIDE_TEXT: usize = 36;
/// Between two columns.
const GAP: usize = 2;
/// Prefix of a trust word that an error follows, and the whole word if the error is unknown.
const MODELLED: &str = "modelled";
const UNKNOWN: &str = "±?";

/// A column ready to be written.
struct Finished {
    /// Lines of the heading.
    heading: Vec<String>,
    left: bool,
    cells: Vec<Vec<Span>>,
    width: usize,
    /// Columns that go together when the terminal is narrow; without one it stays.
    group: Option<Group>,
}

/// Position of a heading in the table, and whether it is dropped first.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Group {
    place: usize,
    first_to_go: bool,
}

/// Headings dropped first in comparisons: machine facts, and values that are not measurements.
const FIRST_TO_GO: [&str; 2] = ["peak", "count"];

/// The heading that goes next; the last one stays.
fn next_to_go(data: &[Finished]) -> Option<Group> {
    let mut groups: Vec<Group> = data.iter().filter_map(|c| c.group).collect();
    groups.dedup();
    if groups.len() < 2 {
        return None;
    }
    groups.iter().rev().find(|g| g.first_to_go).or(groups.last()).copied()
}

impl Finished {
    fn new(heading: &str, left: bool, cells: Vec<Vec<Span>>) -> Self {
        let body = cells.iter().map(|c| spans_width(c)).max().unwrap_or(0);
        let heading = folded(heading, body.max(8));
        let width = heading.iter().map(|h| width(h)).max().unwrap_or(0).max(body);
        Finished { heading, left, cells, width, group: None }
    }
}

fn spans_width(spans: &[Span]) -> usize {
    spans.iter().map(|s| width(&s.text)).sum()
}

/// A heading over several lines, broken at spaces if wider than `room`.
fn folded(heading: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in heading.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// True if a table that should have numbers has none.
fn all_missing(table: &Table) -> bool {
    table.rows.iter().flat_map(|r| &r.cells).all(|cell| match cell {
        Cell::Number(n) | Cell::Change(Delta { value: n, .. }) => n.get().is_none(),
        Cell::Empty => true,
        Cell::Text(_) => false,
    })
}

/// Rows that say little as one.
fn folded_rows(table: &Table) -> Cow<'_, Table> {
    if !table.rows.iter().any(|r| r.little) {
        return Cow::Borrowed(table);
    }
    let runs = table.rows.chunk_by(|a, b| a.little && b.little);
    let rows = runs.map(|run| match run {
        [first, ..] if first.little => {
            let each = if run.len() == 1 { "" } else { "each " };
            let label = format!("{} more, {each}less than {LITTLE_PERCENT} %", run.len());
            Row { label, cells: vec![Cell::Empty; first.cells.len()], ..first.clone() }
        }
        _ => run[0].clone(),
    });
    Cow::Owned(Table { rows: rows.collect(), ..table.clone() })
}

/// Indentation of row labels, by row: spaces if a row belongs to one above, as `0.1` to `0`.
fn indents(table: &Table) -> Vec<&'static str> {
    let ids: HashSet<&str> = table.rows.iter().map(|row| row.id.as_str()).collect();
    let indent = |row: &Row| row.id.rsplit_once('.').filter(|(id, _)| ids.contains(id)).map_or("", |_| "  ");
    table.rows.iter().map(indent).collect()
}

/// The unit that all rows share, which the title then shows.
pub(super) fn common_unit(table: &Table) -> Option<&str> {
    let first = table.rows.first().map(|r| r.unit.as_str()).filter(|u| !u.is_empty())?;
    table.rows.iter().all(|r| r.unit == first).then_some(first)
}

/// Writes a table; `names` are the names of the recordings.
pub(super) fn table(page: &mut Page, table: &Table, names: &[&str], decimals: usize) {
    if table.rows.is_empty() {
        page.wrapped(2, 4, &[dim("no rows")]);
        return;
    }
    if table.rows.len() > FEW && all_missing(table) {
        page.wrapped(2, 4, &[dim(format!("all {} rows are n/a", table.rows.len()))]);
        return;
    }
    let table = &folded_rows(table);
    if table.label.is_empty() {
        unlabelled::write(page, table, decimals);
        return;
    }
    let style = page.style;
    let compared = table.columns.iter().any(|c| c.recording > 0);
    // A channel's number says all that its row's number would.
    let has_ids = table.label != "channel" && table.rows.iter().any(|r| r.id != r.label && !r.id.is_empty());
    let ids: Vec<Vec<Span>> = table.rows.iter().map(|r| vec![dim(&r.id)]).collect();
    let indents = indents(table);
    let label = |(r, indent): (&Row, &&str)| width(&r.label) + width(indent);
    let longest = table.rows.iter().zip(&indents).map(label).max().unwrap_or(0).max(width(&table.label));
    let mut columns = Vec::new();
    if has_ids {
        columns.push(Finished::new("", false, ids));
    }
    let before: usize = columns.iter().map(|c| c.width + GAP).sum();
    let least = longest.min(LABEL_LEAST) + GAP + before;
    let fits = |data: &[Finished]| least + data.iter().map(|c| c.width + GAP).sum::<usize>() <= style.width;
    // Differences are beside percentages if they fit.
    let mut data = data_columns(table, names, decimals, Room { differences: compared, ..room_of(&style) });
    if compared && !fits(&data) {
        data = data_columns(table, names, decimals, room_of(&style));
    }
    let short = !fits(&data) && table.columns.iter().any(|c| c.kind == ColumnKind::Trust);
    if short {
        data = data_columns(table, names, decimals, Room { short, ..room_of(&style) });
    }
    let mut left_out = 0;
    while !fits(&data)
        && let Some(group) = next_to_go(&data)
    {
        left_out += 1;
        data.retain(|c| c.group != Some(group));
    }
    // Of a comparison with one heading left the change matters more than the unit.
    if !fits(&data) && compared {
        data.retain(|c| c.group.is_some());
    }
    let fixed: usize = before + data.iter().map(|c| c.width + GAP).sum::<usize>();
    let room = style.width.saturating_sub(fixed + GAP).max(LABEL_LEAST.min(longest));
    let label = if style.full_names { longest } else { longest.min(room) };
    let left = style.width.saturating_sub(fixed + label + GAP);
    columns.push(labels(table, &indents, label, &style));
    columns.extend(data);
    if !compared && let Some(drawing) = drawing(table, left.saturating_sub(GAP).min(DRAWING.1)) {
        columns.push(drawing);
    }
    let has_trust = |c: &Finished| c.heading.iter().any(|line| line == "trust");
    let of_trust = short && columns.iter().any(has_trust);
    write(page, columns);
    if of_trust {
        let text =
            format!("trust: ± is how far modelled values are off on average, {UNKNOWN} was never compared");
        page.wrapped(2, 4, &[dim(text)]);
    }
    if left_out > 0 {
        let does = if left_out == 1 { "does" } else { "do" };
        page.wrapped(
            2,
            4,
            &[dim(format!("{} {does} not fit: `--width` shows them", counted(left_out, "more column")))],
        );
    }
    meanings(page, table);
}

/// Explanations of the labels, each once.
fn meanings(page: &mut Page, table: &Table) {
    let Some(at) = table.columns.iter().position(|c| c.kind == ColumnKind::Meaning) else { return };
    let mut seen: HashSet<&str> = HashSet::new();
    let first = table.rows.iter().filter(|row| seen.insert(&row.label));
    let each: Vec<(&str, &str)> = first
        .filter_map(|row| match row.cells.get(at) {
            Some(Cell::Text(text)) if !text.is_empty() => Some((row.label.as_str(), text.as_str())),
            _ => None,
        })
        .collect();
    let longest = each.iter().map(|(label, _)| width(label)).max().unwrap_or(0);
    for (label, text) in each {
        let gap = " ".repeat(longest - width(label) + GAP);
        let rest = plain(" ".repeat(longest + GAP + 4));
        page.prefixed(&[dim("  "), dim(label), dim(gap)], &[rest], &[dim(text)]);
    }
}

/// Available width.
#[derive(Clone, Copy)]
struct Room {
    /// Columns that say by how much numbers changed.
    differences: bool,
    /// Only the least of words of trust.
    short: bool,
    /// Columns of the terminal.
    total: usize,
}

fn room_of(style: &Style) -> Room {
    Room { differences: false, short: false, total: style.width }
}

/// The columns of cells.
fn data_columns(table: &Table, names: &[&str], decimals: usize, room: Room) -> Vec<Finished> {
    let Room { differences, short, total } = room;
    let beside = |kind: ColumnKind| kind.is_words() && kind != ColumnKind::Meaning;
    let texts = table.columns.iter().filter(|c| beside(c.kind)).count().max(1);
    let room = (total.saturating_sub(BESIDE_TEXT) / texts).max(16);
    let compared = table.columns.iter().any(|c| c.recording > 0);
    let has_percent = table.columns.iter().any(|c| c.kind == ColumnKind::Percent);
    let has_units = common_unit(table).is_none() && table.rows.iter().any(|r| !r.unit.is_empty());
    // The unit follows its numbers, before percentages.
    let last_number =
        table.columns.iter().rposition(|c| matches!(c.kind, ColumnKind::Number | ColumnKind::Quartile));
    let mut data: Vec<Finished> = Vec::new();
    for (index, column) in table.columns.iter().enumerate() {
        let place = table.columns.iter().position(|c| c.title == column.title).unwrap_or(index);
        // Percent of a peak says more than the peak itself.
        let first_to_go = FIRST_TO_GO.contains(&column.title.as_str())
            && (compared || column.title == "peak" && has_percent);
        let group = Some(Group { place, first_to_go });
        let mut heading = if column.unit.is_empty() || column.title.contains("percent") {
            column.title.clone()
        } else {
            format!("{} {}", column.title, column.unit)
        };
        if compared && let Some(name) = names.get(column.recording) {
            heading = format!("{name} {heading}");
        }
        match column.kind {
            // Written below the table.
            ColumnKind::Meaning => {}
            ColumnKind::Text | ColumnKind::Word | ColumnKind::Trust => {
                let short = short && column.kind == ColumnKind::Trust;
                let cell = |r: &Row| vec![words(r.cells.get(index), room, short)];
                let cells = table.rows.iter().map(cell).collect();
                data.push(Finished { group, ..Finished::new(&heading, true, cells) });
            }
            _ => {
                let cells = numbers(table, index, decimals);
                data.push(Finished { group, ..Finished::new(&heading, false, cells) });
                let changes = table.rows.iter().any(|r| matches!(r.cells.get(index), Some(Cell::Change(_))));
                // A peak is a fact of the machine; what it changes by explains nothing.
                if changes && column.title != "peak" {
                    if differences {
                        let cells =
                            table.rows.iter().map(|r| difference(r.cells.get(index), decimals)).collect();
                        data.push(Finished { group, ..Finished::new("+/-", false, cells) });
                    }
                    let cells = table.rows.iter().map(|r| change(r.cells.get(index))).collect();
                    data.push(Finished { group, ..Finished::new("change", false, cells) });
                }
            }
        }
        if has_units && last_number == Some(index) {
            let units = table.rows.iter().map(|r| vec![dim(&r.unit)]).collect();
            data.push(Finished::new("", true, units));
        }
    }
    data
}

/// `+384.62`: by how much a number changed.
fn difference(cell: Option<&Cell>, decimals: usize) -> Vec<Span> {
    let Some(Cell::Change(Delta { change: Some(change), .. })) = cell else { return Vec::new() };
    if *change == 0.0 {
        return Vec::new();
    }
    let sign = if *change > 0.0 { "+" } else { "" };
    vec![dim(format!("{sign}{}", figure(*change, decimals).text()))]
}

/// `+7.3 %*`: how a number changed; the star says that it is more than noise.
fn change(cell: Option<&Cell>) -> Vec<Span> {
    let Some(Cell::Change(delta)) = cell else { return Vec::new() };
    let Some(change) = delta.change else { return Vec::new() };
    let text = match delta.change_percent {
        Some(p) if p.abs() >= 9999.5 => format!("×{:.0}", 1.0 + p / 100.0),
        Some(0.0) => "=".to_owned(),
        Some(p) if p.abs() < 0.05 => "<0.1 %".to_owned(),
        Some(p) => format!("{p:+.1} %"),
        None if change > 0.0 => "from 0".to_owned(),
        None => "to 0".to_owned(),
    };
    let (role, mark) = match delta.beyond_noise {
        Some(true) => (Role::Strong, "*"),
        Some(false) => (Role::Dim, " "),
        None => (Role::Plain, " "),
    };
    let role = if change == 0.0 { Role::Dim } else { role };
    vec![span(role, format!("{text}{mark}"))]
}

fn write(page: &mut Page, mut columns: Vec<Finished>) {
    let lines = columns.iter().map(|c| c.heading.len()).max().unwrap_or(0);
    for line in 0..lines {
        let mut spans = Vec::new();
        for c in &columns {
            let skipped = lines - c.heading.len();
            let text = line.checked_sub(skipped).and_then(|i| c.heading.get(i)).map_or("", String::as_str);
            push(&mut spans, vec![dim(text)], (c.left, c.width));
        }
        page.raw(&spans);
    }
    let rows = columns.iter().map(|c| c.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        let mut spans = Vec::new();
        for c in &mut columns {
            let cell = c.cells.get_mut(row).map(std::mem::take).unwrap_or_default();
            push(&mut spans, cell, (c.left, c.width));
        }
        page.raw(&spans);
    }
}

/// A cell in a column that is so wide and begins at its left or ends at its right.
fn push(line: &mut Vec<Span>, cell: Vec<Span>, (left, wide): (bool, usize)) {
    let spaces = |count: usize| Span { role: Role::Plain, text: " ".repeat(count) };
    let padding = wide.saturating_sub(spans_width(&cell));
    if left {
        line.push(spaces(GAP));
        line.extend(cell);
        line.push(spaces(padding));
    } else {
        line.push(spaces(GAP + padding));
        line.extend(cell);
    }
}

fn words(cell: Option<&Cell>, room: usize, short: bool) -> Span {
    match cell {
        Some(Cell::Text(text)) => match text.strip_prefix(MODELLED).filter(|_| short) {
            Some("") => plain(UNKNOWN),
            Some(error) => plain(cut(error.trim_start(), room)),
            None => plain(cut(text, room)),
        },
        Some(Cell::Number(Number::Missing(_))) => dim("n/a"),
        _ => plain(""),
    }
}

/// A text of at most `room` characters.
fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

fn labels(table: &Table, indents: &[&'static str], room: usize, style: &Style) -> Finished {
    let short = |r: &Row, indent: &str| {
        let room = room.saturating_sub(width(indent));
        if style.full_names { r.label.clone() } else { shorten(&r.label, room).into_owned() }
    };
    let cell = |(r, indent): (&Row, &&'static str)| vec![plain(*indent), plain(short(r, indent))];
    let cells = table.rows.iter().zip(indents).map(cell).collect();
    Finished { heading: vec![table.label.clone()], left: true, cells, width: room, group: None }
}

/// Cells of a column of numbers, aligned at the point.
fn numbers(table: &Table, index: usize, decimals: usize) -> Vec<Vec<Span>> {
    enum Shown {
        Nothing,
        Missing,
        Figure(Figure),
    }
    let kind = table.columns.get(index).map(|column| column.kind);
    let of = |value: f64| match kind {
        Some(ColumnKind::Id) => Figure { whole: format!("{value:.0}"), part: String::new() },
        Some(ColumnKind::Share) => Figure { whole: format!("{:+.1} %", 100.0 * value), part: String::new() },
        _ => figure(value, decimals),
    };
    let shown: Vec<Shown> = table
        .rows
        .iter()
        .map(|r| match r.cells.get(index) {
            Some(Cell::Number(n) | Cell::Change(Delta { value: n, .. })) => match n {
                Number::Known(v) => Shown::Figure(of(*v)),
                Number::Missing(_) => Shown::Missing,
            },
            _ => Shown::Nothing,
        })
        .collect();
    let part = |s: &Shown| if let Shown::Figure(f) = s { width(&f.part) } else { 0 };
    let most = shown.iter().map(part).max().unwrap_or(0);
    shown
        .iter()
        .map(|s| match s {
            Shown::Nothing => Vec::new(),
            Shown::Missing => vec![dim(format!("n/a{}", " ".repeat(most)))],
            Shown::Figure(f) => {
                vec![plain(format!("{}{}{}", f.whole, f.part, " ".repeat(most - width(&f.part))))]
            }
        })
        .collect()
}

/// Bars of a percent column, or boxes of five quartile columns, `room` wide.
fn drawing(table: &Table, room: usize) -> Option<Finished> {
    if room < DRAWING.0 {
        return None;
    }
    let finished =
        |cells| Some(Finished { heading: vec![String::new()], left: true, cells, width: room, group: None });
    if let Some(at) = table.columns.iter().rposition(|c| c.kind == ColumnKind::Percent) {
        let cells = table.rows.iter().map(|r| match r.cells.get(at).and_then(Cell::number) {
            Some(percent) => vec![span(Role::Info, bar(percent, room)), dim(rest(percent, room))],
            None => Vec::new(),
        });
        return finished(cells.collect());
    }
    let first = table.columns.iter().position(|c| c.kind == ColumnKind::Quartile)?;
    let five = |row: &Row| -> Option<[f64; 5]> {
        let mut out = [0.0; 5];
        for (i, v) in out.iter_mut().enumerate() {
            *v = row.cells.get(first + i)?.number()?;
        }
        Some(out)
    };
    let all: Vec<Option<[f64; 5]>> = table.rows.iter().map(five).collect();
    let least = all.iter().flatten().map(|q| q[0]).fold(f64::INFINITY, f64::min);
    let most = all.iter().flatten().map(|q| q[4]).fold(f64::NEG_INFINITY, f64::max);
    if least >= most {
        return None;
    }
    let cells = all.iter().map(|q| q.map_or_else(Vec::new, |q| vec![plain(quartiles(q, least, most, room))]));
    finished(cells.collect())
}

/// A bar in eighths of a character; a value above 100 percent ends in an arrow.
fn bar(percent: f64, room: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    if percent > 100.5 {
        return "█".repeat(room - 1) + "▶";
    }
    let eighths = (percent.clamp(0.0, 100.0) / 100.0 * (room * 8) as f64).round() as usize;
    // A value above zero shows at least one eighth.
    let eighths = if percent > 0.0 { eighths.max(1) } else { eighths };
    let mut out = "█".repeat(eighths / 8);
    if eighths % 8 > 0 {
        out.push(EIGHTHS[eighths % 8]);
    }
    out
}

/// Unfilled part of a bar's scale.
fn rest(percent: f64, room: usize) -> String {
    "·".repeat(room - width(&bar(percent, room)))
}

/// `├──▓▓┃▓▓──┤` between the table's least and greatest value.
fn quartiles(q: [f64; 5], least: f64, most: f64, room: usize) -> String {
    let at = |v: f64| (((v - least) / (most - least)) * (room - 1) as f64).round() as usize;
    let [min, q1, median, q3, max] = q.map(at);
    (0..room)
        .map(|i| match i {
            i if i == median => '┃',
            i if i > q1 && i < q3 || (i == q1 || i == q3) && q1 < q3 => '▓',
            i if i == min && min < q1 => '├',
            i if i == max && max > q3 => '┤',
            i if i > min && i < max => '─',
            _ => ' ',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars() {
        for (percent, text) in [
            (0.0, ""),
            (0.01, "▏"),
            (50.0, "████"),
            (100.0, "████████"),
            (56.25, "████▌"),
            (140.0, "███████▶"),
        ] {
            assert_eq!(bar(percent, 8), text, "{percent}");
        }
    }

    #[test]
    fn boxes() {
        for (q, text) in [
            ([0.0, 2.0, 5.0, 7.0, 9.0], "├─▓▓▓┃▓▓─┤"),
            ([0.0, 0.0, 0.0, 0.0, 0.0], "┃         "),
            ([0.0, 0.0, 0.0, 0.0, 9.0], "┃────────┤"),
            ([3.0, 3.0, 4.0, 4.0, 4.0], "   ▓┃     "),
        ] {
            assert_eq!(quartiles(q, 0.0, 9.0, 10), text, "{q:?}");
        }
    }

    #[test]
    fn headings_fold_at_spaces() {
        assert_eq!(folded("percent a peak", 8), ["percent", "a peak"]);
        assert_eq!(folded("avg", 8), ["avg"]);
    }
}
