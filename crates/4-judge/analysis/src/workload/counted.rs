//! The table of recorded counters: every counter of every kernel, whether or not a metric reads it.
//!
//! Unknown names are kept. A counter that is in no catalogue is shown with its numbers like any other, and is
//! marked as unknown.

use super::overview::{row, table};
use super::subject::Subject;
use counters::{Averaged, OfInstances, catalogue, derived};
use metrics::{Evaluation, kernels};
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet};
use view::{Cell, Column, ColumnKind, Number, Row, Table};
use workload::{Counter, Workload, plain_kernel_name};

/// Maximum number of rows in the overview.
const ROOM: usize = 60;

/// Counters named in a note before the rest is only counted.
const NAMED: usize = 6;

/// Counters to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    /// All counters, of at most this many kernels.
    All(usize),
    /// All counters, summed over all dispatches.
    Together,
    /// All counters of recordings that are compared.
    Compared,
    /// As many as the overview has room for.
    Overview,
}

/// Facts about a counter.
struct Known {
    unit: String,
    averaged: Averaged,
    /// Name in the catalogue.
    plain: Option<String>,
    what: String,
}

/// Values of one counter: as recorded, or its instances.
struct Recorded<'w> {
    name: &'w str,
    run: Option<&'w str>,
    parts: Vec<&'w Counter>,
    known: Known,
}

/// The counters of one of some recordings.
pub(crate) fn counters(
    subjects: &[Subject],
    subject: &Subject,
    evaluation: &Evaluation<'_>,
    shown: Shown,
) -> Table {
    let w = &subject.workload;
    let mut all = recorded(w);
    let kernels = kernels(w, evaluation.rows()).len();
    let (by_kernel, compared) = match shown {
        Shown::All(top) => (Some(top), false),
        Shown::Together => (None, false),
        Shown::Compared => (None, true),
        Shown::Overview if all.len() * kernels <= ROOM => (Some(usize::MAX), false),
        Shown::Overview => {
            if all.len() > ROOM {
                let unread = unread(&all, evaluation);
                // A recording that was made for metrics has them to show.
                let few = 2 * unread.len() < all.len();
                all.retain(|it| !few && unread.contains(&it.name));
            }
            (None, false)
        }
    };
    let groups = match by_kernel {
        Some(top) => of_kernels(w, evaluation.rows(), top),
        None => vec![(None, evaluation.rows().to_vec())],
    };
    let mut out = made(w, &all, &groups, compared.then_some(subjects));
    let left = kernels.saturating_sub(groups.len());
    if by_kernel.is_some() && left > 0 {
        out.notes.push(format!("{left} more kernels; `--top N` shows more"));
    }
    if shown == Shown::Overview && by_kernel.is_none() && kernels > 1 {
        out.notes.push("over all kernels together; `-b counters` shows each".to_string());
    }
    out
}

/// The counters of the dispatches that each operator of a framework launched, by row of the recording.
pub(crate) fn by_operator(
    subject: &Subject,
    evaluation: &Evaluation<'_>,
    operators: &[Option<String>],
    top: usize,
) -> Table {
    const UNKNOWN: &str = "(no operator)";
    let w = &subject.workload;
    let mut of_operator: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for row in evaluation.rows() {
        let name = operators.get(*row as usize).and_then(Option::as_deref).unwrap_or(UNKNOWN);
        of_operator.entry(name).or_default().push(*row);
    }
    let time =
        |rows: &[u32]| -> f64 { rows.iter().filter_map(|row| w.dispatches.duration(*row as usize)).sum() };
    let mut groups: Vec<(Option<&str>, Vec<u32>)> =
        of_operator.into_iter().map(|(name, rows)| (Some(name), rows)).collect();
    groups.in_order_by(|a, b| time(&b.1).total_cmp(&time(&a.1)));
    let left = groups.len().saturating_sub(top);
    groups.truncate(top);
    let mut out = made(w, &recorded(w), &groups, None);
    out.id = "0.10".to_string();
    out.title = "Counters by Operator".to_string();
    for (at, row) in out.rows.iter_mut().enumerate() {
        row.id = format!("0.10.{at}");
    }
    if let Some(column) = out.columns.first_mut().filter(|it| it.title == "kernel") {
        column.title = "operator".to_string();
    }
    if left > 0 {
        out.notes.push(format!("{left} more operators; `--top N` shows more"));
    }
    out
}

/// Counters that no metric reads, of a recording that has too many for the overview.
pub(crate) fn note(subject: &Subject, evaluation: &Evaluation<'_>) -> Option<String> {
    let all = recorded(&subject.workload);
    let unread: Vec<&str> = unread(&all, evaluation).into_iter().collect();
    // An emulator writes all counters it can, whether or not a metric reads them.
    let emulated = subject.workload.machine.emulator().is_some();
    if all.len() <= ROOM || unread.is_empty() || emulated {
        return None;
    }
    let named = unread.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let rest = match unread.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let is = if unread.len() == 1 { "is" } else { "are" };
    Some(format!(
        "{} {is} read by no metric: {named}{rest}; `-b counters` shows all",
        view::counted(unread.len(), "counter")
    ))
}

/// Names of the counters that no metric reads whose counters are all there.
fn unread<'w>(all: &[Recorded<'w>], evaluation: &Evaluation<'_>) -> BTreeSet<&'w str> {
    let read = evaluation.counters_read();
    let is_unread = |it: &&Recorded<'_>| it.known.plain.as_deref().is_none_or(|name| !read.contains(name));
    all.iter().filter(is_unread).map(|it| it.name).collect()
}

/// The dispatches of each of the `top` kernels, most time first.
fn of_kernels<'w>(w: &'w Workload, rows: &[u32], top: usize) -> Vec<(Option<&'w str>, Vec<u32>)> {
    let mut of_kernel: Vec<Vec<u32>> = vec![Vec::new(); w.kernels.len()];
    for row in rows {
        let kernel = w.dispatches.kernel.get(*row as usize);
        if let Some(list) = kernel.and_then(|kernel| of_kernel.get_mut(*kernel as usize)) {
            list.push(*row);
        }
    }
    let named = |times: metrics::KernelTimes| {
        let name = w.kernels.get(times.kernel as usize)?;
        let rows = std::mem::take(of_kernel.get_mut(times.kernel as usize)?);
        Some((Some(plain_kernel_name(name)), rows))
    };
    kernels(w, rows).into_iter().take(top).filter_map(named).collect()
}

/// All counters by name, with the instances of each.
fn recorded(w: &Workload) -> Vec<Recorded<'_>> {
    let mut by_name: BTreeMap<(&str, Option<&str>, bool), Vec<&Counter>> = BTreeMap::new();
    for counter in w.counters.iter().filter(|it| !it.values.is_blank()) {
        let key = (counter.name.as_str(), counter.run.as_deref(), counter.instance.is_some());
        by_name.entry(key).or_default().push(counter);
    }
    let one = |((name, run, instances), parts): ((_, _, bool), Vec<_>)| {
        let mut known = known(name);
        if instances {
            known.what += &format!("; sum of {} recorded one by one", parts.len());
        }
        if let Some(run) = run {
            known.what += &format!("; in the run of {run}");
        }
        Recorded { name, run, parts, known }
    };
    by_name.into_iter().map(one).collect()
}

fn known(recorded: &str) -> Known {
    if let Some(found) = catalogue().find(recorded) {
        let it = found.definition;
        let (unit, what) = match found.accumulated {
            true => (format!("{}*cycle", it.unit), format!("{}, summed over cycles", it.meaning)),
            false => (it.unit.clone(), it.meaning.clone()),
        };
        return Known { unit, what, averaged: Averaged::Total, plain: Some(it.name.clone()) };
    }
    if let Some(it) = derived().find(recorded) {
        return Known {
            unit: it.unit.clone(),
            averaged: it.averaged,
            plain: Some(it.name.clone()),
            what: it.meaning.clone(),
        };
    }
    if let Some((it, of)) = catalogue().find_of_instances(recorded) {
        let which = match of {
            OfInstances::Largest => "of the instance that has most",
            OfInstances::Least => "of the instance that has least",
            OfInstances::Mean => "of the mean instance",
        };
        let what = format!("{}, {which}", it.meaning);
        return Known {
            unit: it.unit.clone(),
            averaged: Averaged::Total,
            plain: Some(it.name.clone()),
            what,
        };
    }
    let what = "not in our catalogue".to_string();
    Known { unit: String::new(), averaged: Averaged::Total, plain: None, what }
}

impl Recorded<'_> {
    /// The value in a dispatch; instances add up.
    fn value(&self, row: u32) -> Option<f64> {
        let mut known = self.parts.iter().filter_map(|it| it.values.get(row as usize));
        let first = known.next()?;
        Some(first + known.sum::<f64>())
    }
}

/// Bytes per unit, if the unit is one of bytes.
fn bytes(unit: &str) -> Option<f64> {
    match unit {
        "KiB" => Some(1024.0),
        "B" => Some(1.0),
        _ => None,
    }
}

/// Values of a counter over some dispatches.
#[derive(Default)]
struct Sum {
    count: usize,
    sum: f64,
    least: f64,
    most: f64,
    /// Sums over the dispatches that have a time: value, and time in ns.
    timed: (f64, f64),
}

impl Sum {
    fn of(counter: &Recorded<'_>, w: &Workload, rows: &[u32]) -> Option<Sum> {
        let mut out = Sum { least: f64::INFINITY, most: f64::NEG_INFINITY, ..Sum::default() };
        for row in rows {
            let Some(value) = counter.value(*row) else { continue };
            out.count += 1;
            out.sum += value;
            out.least = out.least.min(value);
            out.most = out.most.max(value);
            if let Some(time) = w.dispatches.duration(*row as usize) {
                out.timed = (out.timed.0 + value, out.timed.1 + time);
            }
        }
        (out.count > 0).then_some(out)
    }
}

/// Columns of the table.
#[derive(Clone, Copy, Default)]
struct Layout {
    /// Names of kernels.
    kernels: bool,
    /// Counters of bytes get a rate.
    moves: bool,
    /// The peak of memory is known.
    peak: bool,
    /// A counter has several dispatches, so that there is a spread to see.
    spread: bool,
}

impl Layout {
    fn columns(self) -> Vec<Column> {
        let number = |title: &str| Column::new(title, ColumnKind::Number, "");
        let mut columns = Vec::new();
        if self.kernels {
            columns.push(Column::new("kernel", ColumnKind::Text, ""));
        }
        columns.push(number("count"));
        if self.moves {
            columns.push(Column::new("rate", ColumnKind::Number, "GB/s"));
        }
        if self.moves && self.peak {
            columns.push(Column::new("percent of peak", ColumnKind::Percent, "%"));
        }
        columns.push(number("mean"));
        if self.spread {
            columns.extend(["min", "max"].map(number));
        }
        columns.push(number("sum"));
        columns.push(Column::new("what it is", ColumnKind::Meaning, ""));
        columns
    }

    fn cells(self, one: &One<'_>, peak: Option<f64>) -> Vec<Cell> {
        let number = |value: f64| Cell::Number(Number::from(value));
        let One { kernel, counter, sum } = one;
        let rate = bytes(&counter.known.unit).filter(|_| sum.timed.1 > 0.0);
        let rate = rate.map(|bytes| bytes * sum.timed.0 / sum.timed.1);
        let mut cells = Vec::new();
        if self.kernels {
            cells.push(Cell::Text(kernel.unwrap_or_default().to_string()));
        }
        cells.push(number(sum.count as f64));
        if self.moves {
            cells.push(rate.map_or(Cell::Empty, number));
        }
        if self.moves && self.peak {
            let share = rate.and_then(|rate| Some(100.0 * rate / peak?));
            cells.push(share.map_or(Cell::Empty, number));
        }
        cells.push(number(sum.sum / sum.count as f64));
        if self.spread {
            cells.extend([sum.least, sum.most].map(number));
        }
        cells.push(if counter.known.averaged.is_total() { number(sum.sum) } else { Cell::Empty });
        cells.push(Cell::Text(counter.known.what.clone()));
        cells
    }
}

/// A counter of a kernel, or of all.
struct One<'a> {
    kernel: Option<&'a str>,
    counter: &'a Recorded<'a>,
    sum: Sum,
}

fn peak(w: &Workload) -> Option<f64> {
    w.machine.number("hbm_bw").filter(|it| *it > 0.0)
}

/// The table; of recordings that are compared the columns are the same.
fn made(
    w: &Workload,
    all: &[Recorded<'_>],
    groups: &[(Option<&str>, Vec<u32>)],
    compared: Option<&[Subject]>,
) -> Table {
    let each: Vec<One<'_>> = groups
        .iter()
        .flat_map(|(kernel, rows)| {
            let sum = move |counter| Some(One { kernel: *kernel, counter, sum: Sum::of(counter, w, rows)? });
            all.iter().filter_map(sum)
        })
        .collect();
    let moves = |w: &Workload| w.counters.iter().any(|it| bytes(&known(&it.name).unit).is_some());
    let any = |of: &dyn Fn(&Workload) -> bool| match compared {
        Some(subjects) => subjects.iter().any(|it| of(&it.workload)),
        None => of(w),
    };
    let layout = Layout {
        kernels: groups.len() > 1,
        moves: any(&moves),
        peak: any(&|w| peak(w).is_some()),
        spread: compared.is_some() || each.iter().any(|it| it.sum.count > 1),
    };
    let rows = each.iter().enumerate().map(|(at, it)| {
        let label = match it.counter.run {
            Some(run) => format!("{} @{run}", it.counter.name),
            None => it.counter.name.to_string(),
        };
        let plain = it.counter.known.plain.clone();
        Row {
            metric: plain.unwrap_or_else(|| it.counter.name.to_string()),
            unit: it.counter.known.unit.clone(),
            ..row(format!("0.9.{at}"), &label, layout.cells(it, peak(w)))
        }
    });
    let title = "Recorded Counters";
    let mut out = table("0.9", "Top Stats", title, "counter", layout.columns(), rows.collect());
    out.notes.extend(unknown(all));
    if layout.moves && peak(w).is_none() {
        out.notes.push(
            "what share of the peak the bytes are is not known: the recording does not say which GPU it is from; `--arch` with a model names it"
                .to_string(),
        );
    }
    out
}

/// Message about unknown counter names.
fn unknown(all: &[Recorded<'_>]) -> Option<String> {
    let names: BTreeSet<&str> = all.iter().filter(|it| it.known.plain.is_none()).map(|it| it.name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    match names[..] {
        [] => None,
        [one] => Some(format!("1 counter is not in our catalogue, and no metric reads it: {one}")),
        _ => Some(format!(
            "{} counters are not in our catalogue, and no metric reads them: {}",
            names.len(),
            names.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::{Definitions, Settings};
    use view::Wanted;

    /// A recording as a long table, made from a wide one: four columns of the dispatch, then counters.
    fn subject(wide: &str) -> Subject {
        let mut lines = wide.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().unwrap();
        let mut csv = format!("{},Counter_Name,Counter_Value\n", header[..4].join(","));
        for line in lines {
            for (name, value) in header.iter().zip(&line).skip(4).filter(|(_, value)| !value.is_empty()) {
                csv += &format!("{},{name},{value}\n", line[..4].join(","));
            }
        }
        let files = BTreeMap::from([("pmc_perf.csv".to_string(), csv.into_bytes())]);
        let workload = workload::read(&files, &workload::Options::default()).unwrap();
        Subject {
            name: "x".to_string(),
            path: String::new(),
            rows: (0..workload.dispatches.len() as u32).collect(),
            workload,
            filled: Vec::new(),
            selection: String::new(),
            wanted: Wanted::default(),
        }
    }

    fn made(csv: &str, shown: Shown) -> (Table, Option<String>) {
        let subject = subject(csv);
        let compiled = Definitions::built_in().compile("gfx942").unwrap();
        let evaluation =
            Evaluation::new(&compiled, &subject.workload, subject.rows.clone(), Settings::default());
        let table = counters(std::slice::from_ref(&subject), &subject, &evaluation, shown);
        (table, note(&subject, &evaluation))
    }

    /// Headings, then rows as one text each.
    fn lines(table: &Table) -> Vec<String> {
        let headings = table.columns.iter().map(|it| it.title.as_str()).collect::<Vec<_>>().join(" | ");
        let rows = table.rows.iter().map(|row| {
            let cells = row.cells.iter().map(|cell| match cell {
                Cell::Text(text) => text.clone(),
                other => other.number().map_or_else(String::new, |it| it.to_string()),
            });
            format!("{} [{}]: {}", row.label, row.unit, cells.collect::<Vec<_>>().join(" | "))
        });
        std::iter::once(headings).chain(rows).collect()
    }

    const TWO_KERNELS: &str = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,FETCH_SIZE,L2CacheHit,mystery_counter\n\
        0,a,0,1000,4,1000,50,1\n1,a,2000,3000,8,3000,60,2\n2,b,4000,4100,2,,,3\n";

    #[test]
    fn every_counter_of_every_kernel_has_a_row() {
        let (table, _) = made(TWO_KERNELS, Shown::All(10));
        testkit::golden("two kernels", &[lines(&table), table.notes.clone()].concat().join("\n"));
        // Of few counters the overview has all.
        assert_eq!(lines(&made(TWO_KERNELS, Shown::Overview).0), lines(&table));
        let first = made(TWO_KERNELS, Shown::All(1)).0;
        assert_eq!((first.rows.len(), first.columns[0].title.as_str()), (4, "count"));
        assert!(first.notes.last().unwrap().contains("`--top N`"), "{:?}", first.notes);
    }

    #[test]
    fn instances_and_forms_of_names_are_told() {
        let csv = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,TCC_HIT[0],TCC_HIT[1],TCC_HIT_sum,TA_TA_BUSY_max,SQ_LEVEL_WAVES_ACCUM\n\
            0,a,0,1000,4,5,9,7,100\n";
        testkit::golden("instances and forms of names", &lines(&made(csv, Shown::All(10)).0).join("\n"));
    }

    #[test]
    fn the_overview_of_many_counters_has_those_that_no_metric_reads() {
        let table = |names: &[String]| {
            let values = names.iter().map(|_| ",5").collect::<String>();
            format!(
                "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,{}\n0,a,0,1000{values}\n",
                names.join(",")
            )
        };
        let strange: Vec<String> = (0..ROOM + 5).map(|at| format!("strange_{at:02}")).collect();
        let mostly_strange: Vec<String> =
            strange.iter().cloned().chain(["TCC_HIT_sum".into(), "TCC_MISS_sum".into()]).collect();
        let (shown, _) = made(&table(&mostly_strange), Shown::Overview);
        assert_eq!(shown.rows.len(), strange.len());
        // A recording that was made for metrics names the few in a note.
        let read = catalogue().counters().iter().filter(|it| !it.is_level()).map(|it| it.name.clone());
        let mostly_read: Vec<String> = read.chain(["strange_00".into()]).collect();
        let (shown, note) = made(&table(&mostly_read), Shown::Overview);
        assert_eq!(shown.rows.len(), 0);
        assert!(note.is_some());
    }
}
