//! Tables that `rocprof-compute analyze` and `omniperf analyze` print, as people paste them into reports, or save as a
//! folder of CSV files (`--save-dfs`).
//!
//! A row is a mean over all selected dispatches. Counters are not printed: the row is the value of the metric of that
//! name, which `metrics` finds.

use crate::folder::Files;
use crate::headers;
use crate::model::{Dispatches, Generation, Machine, PrintedRow};
use crate::names::last;
use crate::problem::{Error, Problem, Problems};
use crate::recording::Workload;
use crate::table::{self, Want};
use crate::values::Values;
use sorting::Sort;
use std::collections::HashMap;
use view::{NoteKind, counted};

/// Frame of a table's cells.
const BAR: char = '│';
/// Begin of the lines between rows: of a table, below its header, between rows, at its end.
const RULES: [char; 4] = ['╒', '╞', '├', '╘'];
/// Most dispatches that are made of printed calls.
const MOST: f64 = 1e6;
/// Most rows that are read; a report has some hundred.
const MOST_ROWS: usize = 10_000;
/// Headings of the mean.
const MEANS: [&str; 3] = ["Avg", "Value", "Mean"];
/// Name of a kernel where none is printed.
const NO_KERNEL: &str = "(kernels that are not printed)";

/// Whether a text has such tables.
fn is(text: &str) -> bool {
    text.lines().any(|line| line.contains(BAR) && ["Metric", "Sum("].iter().any(|it| line.contains(it)))
}

/// Reads the file that was asked for, if it is such a text, or a folder of such tables.
pub(crate) fn read(files: &Files<'_>) -> Option<Result<Workload, Error>> {
    let named = files.named();
    let [file] = &named[..] else { return saved(files) };
    let bytes = files.bytes(file).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    if !is(&text) {
        return saved(files);
    }
    let mut page = Page::default();
    for (at, line) in text.lines().enumerate() {
        page.line(at as u64 + 1, &plain(line));
    }
    page.end_table();
    Some(page.workload(vec![file.clone()]))
}

/// Reads tables that were saved, each in a file with its number: `17.1_L2_Speed-of-Light.csv`.
fn saved(files: &Files<'_>) -> Option<Result<Workload, Error>> {
    let mut tables: Vec<((u16, u16), String)> =
        files.names().filter_map(|name| Some((number(name)?, name.to_owned()))).collect();
    tables.in_order_by_key(|it| it.0);
    let mut page = Page::default();
    let mut problems = Problems::default();
    for ((panel, _), name) in &tables {
        let want = |_: &str, _: &[u8]| Want::Text;
        let read =
            files.bytes(name).and_then(|it| table::read(name, &it, &str::to_string, &want, &mut problems));
        let Ok(table) = read else {
            problems.error(name, "no table", "it is left out");
            continue;
        };
        page.panel = Some(*panel);
        let stem = last(name).trim_end_matches(".csv");
        page.title = stem.split_once('_').map_or(stem, |it| it.1).replace('_', " ");
        let cell = |name: &str, row: usize| table.text(name).map_or("", |it| it.get(row)).replace('\n', "");
        let rows =
            (0..table.rows).map(|row| table.names.iter().map(|name| cell(name, row)).collect()).collect();
        page.grid = Some(Grid { header: table.names.clone(), rows, ..Grid::default() });
        page.end_table();
    }
    let names: Vec<String> = tables.into_iter().map(|it| it.1).collect();
    let mut read = (!page.rows.is_empty()).then(|| page.workload(names))?;
    if let Ok(workload) = &mut read {
        workload.problems.extend(problems.list);
    }
    Some(read)
}

/// The number of a table in the name of its file.
fn number(name: &str) -> Option<(u16, u16)> {
    let (panel, rest) = last(name).strip_suffix(".csv")?.split_once('.')?;
    let table = rest.split('_').next()?;
    Some((panel.parse().ok()?, table.parse().ok()?))
}

/// A line without what colours it.
fn plain(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |line, part| line + part.split_once('m').map_or(part, |it| it.1))
}

/// What is read, line by line.
#[derive(Default)]
struct Page {
    /// Panel of the last heading; its rows have the number, too.
    panel: Option<u16>,
    title: String,
    grid: Option<Grid>,
    machine: Machine,
    kernels: Vec<Kernel>,
    /// Kernels of the list of dispatches.
    listed: Vec<Kernel>,
    /// Their places by name.
    places: HashMap<String, usize>,
    rows: Vec<PrintedRow>,
    /// Peaks of the overview, by label.
    peaks: Vec<(String, f64)>,
    /// Rows that are cut off, with the first one's line.
    cut: Option<(u64, u64)>,
    /// Rows without a number.
    empty: u64,
    /// Rows of no panel.
    foreign: u64,
    /// Titles of tables that are not used.
    others: Vec<String>,
    /// Line in which another report begins, of which nothing is read.
    next: Option<u64>,
    /// The report compares recordings, of which the first is read.
    compares: bool,
}

/// A kernel of the table of kernels.
struct Kernel {
    name: String,
    calls: f64,
    /// 0 where it is not printed.
    mean_ns: f64,
    median_ns: Option<f64>,
}

impl Kernel {
    /// Times of its dispatches, ns, with the printed mean and median.
    fn times(&self) -> impl Iterator<Item = f64> + use<> {
        let (calls, mean) = (self.calls as u64, self.mean_ns);
        // Fewer than half of the dispatches take what the median leaves of the sum.
        let others = calls.saturating_sub(1) / 2;
        let median = self.median_ns.filter(|_| others > 0);
        let other = median.map(|it| (calls as f64 * mean - (calls - others) as f64 * it) / others as f64);
        let (most, other) = match (median, other) {
            (Some(median), Some(other)) if other > 0.0 => (median, other),
            _ => (mean, mean),
        };
        (0..calls).map(move |at| if at < calls - others { most } else { other })
    }
}

/// A table while it is read.
#[derive(Default)]
struct Grid {
    /// Line of its begin.
    at: u64,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The row goes on in the next line.
    open: bool,
}

impl Page {
    fn line(&mut self, at: u64, line: &str) {
        let line = line.trim();
        let Some(first) = line.chars().next().filter(|_| self.next.is_none()) else { return };
        if first == RULES[0] {
            self.end_table();
            self.grid = Some(Grid { at, ..Grid::default() });
        } else if first == RULES[3] {
            self.end_table();
        } else if RULES.contains(&first) {
            self.grid.iter_mut().for_each(|it| it.open = false);
        } else if let Some(inner) = line.strip_prefix(BAR) {
            let Some(grid) = &mut self.grid else { return };
            match inner.strip_suffix(BAR) {
                Some(inner) => grid.add(inner),
                None => {
                    grid.open = false;
                    self.cut = Some(self.cut.map_or((1, at), |(rows, first)| (rows + 1, first)));
                }
            }
        } else if let Some((panel, table, title)) = heading(line) {
            self.end_table();
            let is_first = self.kernels.is_empty() && self.rows.is_empty();
            if panel == 0 && table.is_none() && !is_first {
                self.next = Some(at);
                return;
            }
            self.panel = Some(panel);
            self.title = title.to_owned();
        }
    }

    /// Uses the table that ends.
    fn end_table(&mut self) {
        let Some(mut grid) = self.grid.take() else { return };
        for cell in grid.rows.iter_mut().flatten().chain(&mut grid.header) {
            *cell = cell.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        let at = |name: &str| grid.header.iter().position(|it| it == name);
        let begins = |name: &str| grid.header.iter().position(|it| it.starts_with(name));
        let title = || match self.title.is_empty() {
            true => grid.header.iter().filter(|it| !it.is_empty()).cloned().collect::<Vec<_>>().join(" and "),
            false => self.title.clone(),
        };
        if let (Some(name), Some(calls), Some(mean)) = (begins("Kernel"), at("Count"), begins("Mean(")) {
            self.kernels(&grid, (name, calls, mean), begins("Median("));
        } else if let (Some(name), Some(_)) = (begins("Kernel"), at("Dispatch_ID")) {
            self.listed(&grid, name);
        } else if at("Info") == Some(1) {
            self.machine(&grid);
        } else if at("Info") == Some(0) {
            // Saved without the names of the facts.
            let target = grid.rows.iter().flatten().find(|it| it.starts_with("gfx") && !it.contains(' '));
            self.machine.facts.extend(target.map(|it| ("gpu_arch".to_owned(), it.clone())));
        } else if let (Some(label), Some(mean)) = (at("Metric"), MEANS.iter().find_map(|it| at(it))) {
            self.metrics(&grid, label, mean);
        } else if !grid.header.is_empty() {
            let title = title();
            if !self.others.contains(&title) {
                self.others.push(title);
            }
        }
    }

    /// Rows of a panel.
    fn metrics(&mut self, grid: &Grid, label: usize, mean: usize) {
        let at = |name: &str| grid.header.iter().position(|it| it == name);
        let unit = grid.header.iter().position(|it| it.starts_with("Unit"));
        let panel_of =
            |row: &[String]| row.first().and_then(|it| it.split_once('.')?.0.parse().ok()).or(self.panel);
        let first = grid.rows.first().and_then(|it| Some((panel_of(it)?, it.get(label)?)));
        let is_again =
            self.rows.iter().any(|it| it.table == self.title && Some((it.panel, &it.label)) == first);
        if is_again {
            self.next = Some(grid.at);
            return;
        }
        self.compares |= grid.header.iter().filter(|it| **it == grid.header[mean]).count() > 1;
        for row in &grid.rows {
            let number = |at: Option<usize>| row.get(at?)?.parse::<f64>().ok().filter(|it| it.is_finite());
            let text = |at: usize| row.get(at).cloned().unwrap_or_default();
            let Some(mean) = number(Some(mean)).filter(|_| self.rows.len() < MOST_ROWS) else {
                self.empty += 1;
                continue;
            };
            let Some(panel) = panel_of(row) else {
                self.foreign += 1;
                continue;
            };
            if let (2, Some(peak)) = (panel, number(at("Peak"))) {
                self.peaks.push((text(label), peak));
            }
            self.rows.push(PrintedRow {
                panel,
                table: self.title.clone(),
                label: text(label),
                mean,
                extremes: number(at("Min")).zip(number(at("Max"))),
                unit: unit.map(text).unwrap_or_default(),
            });
        }
    }

    fn kernels(&mut self, grid: &Grid, (name, calls, mean): (usize, usize, usize), median: Option<usize>) {
        // The same table again is of another recording, or of the same with other columns.
        if !self.kernels.is_empty() {
            return;
        }
        let unit = grid.header[mean].trim_start_matches("Mean(").trim_end_matches(')');
        let scale = match unit {
            "s" => 1e9,
            "ms" => 1e6,
            "us" => 1e3,
            _ => 1.0,
        };
        for row in &grid.rows {
            let number =
                |at: usize| row.get(at)?.parse::<f64>().ok().filter(|it| it.is_finite() && *it > 0.0);
            let (Some(name), Some(calls), Some(mean)) = (row.get(name), number(calls), number(mean)) else {
                self.empty += 1;
                continue;
            };
            let (calls, median_ns) = (calls.round(), median.and_then(number).map(|it| it * scale));
            self.kernels.push(Kernel { name: name.clone(), calls, mean_ns: mean * scale, median_ns });
        }
    }

    /// The list of dispatches, which tells the kernels where their table is not printed.
    fn listed(&mut self, grid: &Grid, name: usize) {
        for name in grid.rows.iter().filter_map(|it| it.get(name)) {
            let next = self.listed.len();
            let at = *self.places.entry(name.clone()).or_insert(next);
            match self.listed.get_mut(at) {
                Some(kernel) => kernel.calls += 1.0,
                None => {
                    self.listed.push(Kernel { name: name.clone(), calls: 1.0, mean_ns: 0.0, median_ns: None })
                }
            }
        }
    }

    fn machine(&mut self, grid: &Grid) {
        for row in &grid.rows {
            let [name, value, ..] = &row[..] else { continue };
            let plain =
                headers::MACHINE.iter().find(|(it, other)| it == name || other.contains(&name.as_str()));
            let name = plain.map_or(name.as_str(), |it| it.0).to_owned();
            self.machine.facts.entry(name).or_insert_with(|| value.clone());
        }
    }

    fn workload(self, files: Vec<String>) -> Result<Workload, Error> {
        let file = files.first().map_or("", String::as_str);
        let mut kernels = if self.kernels.is_empty() { self.listed } else { self.kernels };
        if kernels.is_empty() && self.rows.is_empty() {
            return Err(Error::NoRecording { files: 1, some: file.to_owned() });
        }
        let mut w = Workload::empty(Generation::Printed);
        let mut problem = |kind, message: String, consequence: &str| {
            w.problems.push(Problem {
                kind,
                file: file.to_owned(),
                line: None,
                column: None,
                rows: 0,
                message,
                consequence: consequence.to_owned(),
            });
        };
        if let Some(line) = self.next {
            let message = format!("another report begins in line {line}");
            problem(NoteKind::Warning, message, "it is not read; give each report a file of its own");
        }
        if self.compares {
            let message = "the report compares recordings".to_owned();
            problem(NoteKind::Warning, message, "the first one is read");
        }
        if let Some((rows, line)) = self.cut {
            let message = format!("{} left out: cut off, the first in line {line}", counted(rows, "row"));
            problem(NoteKind::Error, message, "");
        }
        let calls: f64 = kernels.iter().map(|it| it.calls).sum();
        if calls > MOST {
            problem(
                NoteKind::Error,
                format!("{calls} calls of kernels"),
                "each kernel has one dispatch, of the mean time",
            );
            kernels.iter_mut().for_each(|it| it.calls = 1.0);
        }
        let read = format!(
            "{} of tables that `analyze` printed or saved, as they are rounded there",
            counted(self.rows.len(), "value")
        );
        let is_timed = kernels.iter().any(|it| it.mean_ns > 0.0);
        let several = match kernels.len() {
            0 | 1 if is_timed => {
                "means over all its dispatches, whose times have the printed mean and median"
            }
            0 | 1 => "means over all its dispatches; their times are not printed",
            _ => "means over all kernels, so none is of one kernel; print them with `-k` for a verdict",
        };
        problem(NoteKind::Info, read, several);
        if self.empty > 0 {
            problem(NoteKind::Info, format!("{} left out: no number", counted(self.empty, "row")), "");
        }
        if self.foreign > 0 {
            let message = format!("{} left out: no number of a panel", counted(self.foreign, "row"));
            problem(NoteKind::Warning, message, "");
        }
        if !self.others.is_empty() {
            problem(NoteKind::Info, format!("not used: {}", self.others.join(", ")), "");
        }
        if kernels.is_empty() {
            kernels.push(Kernel { name: NO_KERNEL.to_owned(), calls: 1.0, mean_ns: 0.0, median_ns: None });
        }
        w.dispatches = dispatches(&kernels);
        w.kernels = kernels.into_iter().map(|it| it.name).collect();
        w.machine = self.machine;
        add_peaks(&mut w.machine, &self.peaks);
        w.printed = self.rows;
        w.sources = files;
        Ok(w)
    }
}

/// Operations of a CU's vector units in a cycle, as the overview counts its peak: a multiply-add per lane of four units.
const VECTOR_OPERATIONS: f64 = 128.0;

/// Facts of the machine that follow from the peaks, where its own table is not printed.
fn add_peaks(machine: &mut Machine, peaks: &[(String, f64)]) {
    let peak = |label: &str| peaks.iter().find(|it| it.0 == label).map(|it| it.1).filter(|it| *it > 0.0);
    let Some(units) = peak("Active CUs").or_else(|| machine.number("cu_per_gpu")) else { return };
    let mut add = |fact: &str, value: f64| {
        machine.facts.entry(fact.to_owned()).or_insert_with(|| value.to_string());
    };
    add("cu_per_gpu", units);
    if let Some(operations) = peak("VALU FLOPs") {
        add("max_sclk", (1000.0 * operations / (units * VECTOR_OPERATIONS)).round());
    }
}

/// Panel, table and title of a line such as `17.2 L2 - Fabric Transactions`.
fn heading(line: &str) -> Option<(u16, Option<u16>, &str)> {
    let (number, title) = line.split_once(' ')?;
    match number.split_once('.')? {
        (panel, "") => Some((panel.parse().ok()?, None, title.trim())),
        (panel, table) => Some((panel.parse().ok()?, Some(table.parse().ok()?), title.trim())),
    }
}

impl Grid {
    /// Adds a line of cells: a row, or more of the row before it.
    fn add(&mut self, line: &str) {
        let cells: Vec<&str> = line.split(BAR).collect();
        let goes_on = self.open && cells.first().is_some_and(|it| it.trim().is_empty());
        let row = match (goes_on, self.rows.last_mut()) {
            (true, Some(row)) => row,
            (true, None) => &mut self.header,
            (false, _) if self.header.is_empty() => &mut self.header,
            (false, _) => {
                self.rows.push(Vec::new());
                let Some(row) = self.rows.last_mut() else { return };
                row
            }
        };
        row.resize(row.len().max(cells.len()), String::new());
        for (have, more) in row.iter_mut().zip(&cells) {
            // Names are broken where their column ends, also within a word.
            let inner = more.strip_prefix(' ').unwrap_or(more);
            have.push_str(inner.strip_suffix(' ').unwrap_or(inner));
        }
        self.open = true;
    }
}

/// Dispatches one after the other.
fn dispatches(kernels: &[Kernel]) -> Dispatches {
    let mut out = Dispatches::default();
    let mut now = 0i64;
    let mut fractions = Values::new();
    for (kernel, it) in kernels.iter().enumerate() {
        for time in it.times() {
            let is_timed = it.mean_ns > 0.0;
            out.id.push(out.id.len() as u64);
            out.kernel.push(u32::try_from(kernel).unwrap_or(u32::MAX));
            out.gpu.push(0);
            out.start.push(is_timed.then_some(now));
            now = now.saturating_add(time as i64);
            out.end.push(is_timed.then_some(now));
            fractions.push(Some(time.fract()), out.id.len() - 1);
        }
    }
    let none: Values = (0..out.id.len()).map(|_| None).collect();
    out.end_fraction = fractions;
    out.start_fraction = (0..out.id.len()).map(|_| Some(0.0)).collect();
    for sizes in [
        &mut out.grid,
        &mut out.workgroup,
        &mut out.lds,
        &mut out.scratch,
        &mut out.arch_vgpr,
        &mut out.accum_vgpr,
        &mut out.sgpr,
    ] {
        sizes.clone_from(&none);
    }
    out
}

#[cfg(test)]
mod tests;
