//! Tiles of a matrix product side by side, and shapes below each other.

use super::card::{finding_lines, not_checked_lines};
use super::page::{Page, Span, dim, plain, span, width};
use crate::{Role, Style};
use view::{Answer, Finding, TileProblem, TileRow, TileTime, TileTotal, Tiles, thousands};

/// Columns of a tile.
const COLUMN: usize = 15;
/// Columns of the names on the left.
const NAMES: usize = 25;
/// More shapes than this are a table.
const SIDE_BY_SIDE: usize = 3;

/// A quantity: name, and its value for a tile.
type Quantity = (&'static str, fn(&TileRow) -> String);

fn time(row: &TileRow, of: fn(&TileTime) -> String) -> String {
    row.time.as_ref().map_or_else(|| "-".to_owned(), of)
}

/// Three digits that say something: `3.25`, `47.1`, `1,240`.
fn digits(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => thousands(value.round() as u64),
    }
}

/// A number that follows from the total, where that is known.
fn known(row: &TileRow, of: fn(&TileTotal) -> String) -> String {
    total(row).map_or_else(|| "-".to_owned(), of)
}

/// The total, where it is known.
fn total(row: &TileRow) -> Option<&TileTotal> {
    row.time.as_ref()?.total.as_ref()
}

/// Total in microseconds, or its range: `225`, `171 to 420`.
fn total_or_range(time: &TileTime) -> String {
    match (&time.total, time.range_us) {
        (Some(total), _) => digits(total.total_us),
        (None, Some([least, most])) => format!("{} to {}", digits(least), digits(most)),
        (None, None) => "-".to_owned(),
    }
}

/// `54.2 MB`.
fn size(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1e6 => format!("{} kB", digits(bytes / 1e3)),
        bytes if bytes < 1e9 => format!("{} MB", digits(bytes / 1e6)),
        bytes => format!("{} GB", digits(bytes / 1e9)),
    }
}

fn percent(value: f64) -> String {
    format!("{value:.1} %")
}

const QUANTITIES: &[Quantity] = &[
    ("expected time", |row| time(row, |it| format!("{} us", total_or_range(it)))),
    ("  compute units", |row| known(row, |it| format!("{} us", digits(it.compute_us)))),
    ("  memory", |row| time(row, |it| format!("{} us", digits(it.memory_us)))),
    ("  bound by", |row| known(row, |it| short_bound(it.bound).to_owned())),
    ("tera-operations per s", |row| known(row, |it| digits(it.tera_ops))),
    ("of peak", |row| known(row, |it| percent(it.peak_share))),
    ("workgroups", |row| thousands(row.workgroups)),
    ("rounds over CUs", |row| row.rounds.to_string()),
    ("utilisation of CUs", |row| percent(row.utilisation)),
    ("  of the fullest XCD", |row| percent(row.xcd_utilisation)),
    ("  of the last round", |row| percent(row.last_round)),
    ("elements of the result", |row| percent(row.useful)),
    ("read once", |row| size(row.memory_bytes)),
    ("asked of the L2", |row| size(row.l2_bytes)),
    ("beyond the L2", |row| size(row.fabric_bytes)),
    ("  XCDs get neighbours", |row| size(row.fabric_grouped_bytes)),
    ("read from the LDS", |row| size(row.lds_read_bytes)),
    ("LDS of a workgroup", |row| super::number::bytes(row.lds_bytes)),
    ("VGPRs for sums", |row| row.sum_registers.to_string()),
    ("  at least", |row| row.least_registers.to_string()),
    ("workgroups per CU", |row| format!("{} ({})", row.workgroups_per_cu, row.limiter)),
];

/// A column has no room for the whole phrase.
fn short_bound(bound: &str) -> &str {
    match bound {
        "waits of single workgroups" => "waits",
        "loads from the L2" => "L2 loads",
        other => other,
    }
}

/// Renders a report.
pub(crate) fn tile(answer: &Answer<Tiles>, style: &Style) -> String {
    let report = &answer.part;
    let mut page = Page::new(style);
    page.wrapped(
        0,
        2,
        &[
            span(Role::Heading, format!("{} {}", report.dtype, report.layout.to_uppercase())),
            plain(format!(" on {}: {} CUs, {} XCDs", report.gpu, report.compute_units, report.xcds)),
        ],
    );
    if report.problems.len() > SIDE_BY_SIDE && report.problems.iter().any(has_ranges) {
        ranges(&mut page, report);
    } else if report.problems.len() > SIDE_BY_SIDE {
        table(&mut page, report);
    } else {
        for problem in &report.problems {
            page.blank();
            columns(&mut page, problem);
            page.blank();
            let name = problem.name();
            let findings: Vec<Finding> =
                answer.findings.iter().filter(|it| it.kernel() == name).cloned().collect();
            finding_lines(&mut page, &findings);
            not_checked_lines(&mut page, &answer.not_checked);
        }
    }
    for note in &answer.notes {
        page.blank();
        page.wrapped(0, 2, &[dim(&note.text)]);
    }
    page.finish()
}

/// True if times are ranges, so that no tile is faster than another.
fn has_ranges(problem: &TileProblem) -> bool {
    problem.tiles.iter().filter_map(|it| it.time.as_ref()).any(|it| it.range_us.is_some())
}

/// Order of the tiles.
fn order(problem: &TileProblem) -> &'static str {
    match (has_ranges(problem), problem.asked) {
        (true, true) => "asked, then largest",
        (true, false) => "largest first",
        (false, true) => "asked, then fastest",
        (false, false) => "fastest first",
    }
}

fn columns(page: &mut Page, problem: &TileProblem) {
    let TileProblem { m, n, k, .. } = problem;
    page.wrapped(0, 2, &[span(Role::Strong, format!("{m} x {n} x {k}"))]);
    let room = (page.style.width.saturating_sub(NAMES) / COLUMN).max(1);
    let shown: Vec<&TileRow> = problem.tiles.iter().take(room).collect();
    if shown.is_empty() {
        page.wrapped(2, 4, &[dim("no usual tile fits")]);
        return;
    }
    let name = |row: &TileRow| row.name.replace(" split ", "/");
    let mut line = vec![dim(format!("{:NAMES$}", order(problem)))];
    for (at, row) in shown.iter().enumerate() {
        let role = if at == 0 { Role::Strong } else { Role::Plain };
        line.push(cell(role, &name(row)));
    }
    page.raw(&line);
    for (title, value) in QUANTITIES {
        let mut line = vec![plain(format!("{title:NAMES$}"))];
        line.extend(
            shown
                .iter()
                .enumerate()
                .map(|(at, row)| cell(if at == 0 { Role::Strong } else { Role::Plain }, &value(row))),
        );
        page.raw(&line);
    }
    if problem.tiles.iter().any(|it| it.split_k > 1) {
        page.wrapped(0, 2, &[dim("after the slash: workgroups that share the depth of a tile")]);
    }
    for row in shown.iter().filter(|row| row.no_time.is_some()) {
        let reason = row.no_time.as_deref().unwrap_or_default();
        page.wrapped(0, 2, &[span(Role::Warning, format!("{}: {reason}", row.name))]);
    }
}

/// Aligned to the right.
fn cell(role: Role, text: &str) -> Span {
    span(role, format!("{}{text}", " ".repeat(COLUMN.saturating_sub(width(text)))))
}

/// One line per shape: the range of its time for the first tile, which is the requested or the largest one.
fn ranges(page: &mut Page, report: &Tiles) {
    page.raw(&[dim(format!("{:>6} {:>6} {:>6}  {:<18}{:>18} {:>8}", "M", "N", "K", "tile", "us", "util"))]);
    for problem in &report.problems {
        let Some(row) = problem.tiles.first() else { continue };
        page.raw(&[plain(format!(
            "{:>6} {:>6} {:>6}  {:<18}{:>18} {:>8}",
            problem.m,
            problem.n,
            problem.k,
            row.name.replace(" split ", "/"),
            time(row, total_or_range),
            percent(row.utilisation)
        ))]);
    }
}

/// One line per shape: the first tile, and the fastest other one if the first was requested. Fits 80 columns.
fn table(page: &mut Page, report: &Tiles) {
    let asked = report.problems.iter().any(|it| it.asked);
    let name = |row: &TileRow| row.name.replace(" split ", "/");
    let first = report.problems.iter().find_map(|it| it.tiles.first());
    let mut head = format!("{:>6} {:>6} {:>6}  ", "M", "N", "K");
    if asked {
        // It is the same in every line.
        page.raw(&[dim(format!("asked: {}", first.map_or_else(String::new, name)))]);
    } else {
        head.push_str(&format!("{:<15}", "fastest"));
    }
    head.push_str(&format!("{:>7} {:>6} {:>7}  {:<13}", "us", "Tops", "util", "bound by"));
    if asked {
        head.push_str(&format!("{:<14}{:>7}", "fastest other", "us"));
    }
    page.raw(&[dim(head.trim_end())]);
    for problem in &report.problems {
        let Some(row) = problem.tiles.first() else { continue };
        let mut line = format!("{:>6} {:>6} {:>6}  ", problem.m, problem.n, problem.k);
        if !asked {
            line.push_str(&format!("{:<15}", name(row)));
        }
        line.push_str(&format!(
            "{:>7} {:>6} {:>7}  {:<13}",
            known(row, |it| digits(it.total_us)),
            known(row, |it| digits(it.tera_ops)),
            percent(row.utilisation),
            known(row, |it| short_bound(it.bound).to_owned())
        ));
        let mut spans = vec![plain(line)];
        if asked && let Some(other) = problem.tiles.get(1) {
            let faster = match (total(row), total(other)) {
                (Some(a), Some(b)) => b.total_us < 0.95 * a.total_us,
                (None, Some(_)) => true,
                _ => false,
            };
            let role = if faster { Role::Warning } else { Role::Dim };
            let text = format!("{:<14}{:>7}", name(other), known(other, |it| digits(it.total_us)));
            spans.push(span(role, text));
        }
        page.raw(&spans);
    }
}
