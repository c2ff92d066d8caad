//! Rows of tuning databases as tables.

use super::{answer, column, facts, gpu, said, shape, space, table};
use sorting::Sort;
use std::cmp::Ordering;
use std::collections::HashMap;
use tunedb::{Detail, Format, Kind, Row, Tunings};
use view::{Answer, Cell, ColumnKind, Table, Tuned};

/// Filter of rows.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Operation that they compute.
    pub kind: Option<Kind>,
    /// Sizes of a matrix product; none of a size: any.
    pub mnk: Option<[Option<u64>; 3]>,
    /// Words that types contain.
    pub types: Option<String>,
    /// Target.
    pub target: Option<String>,
    /// Compute units.
    pub cu_count: Option<u32>,
    /// Text that key, operation or candidate contains.
    pub text: Option<String>,
}

impl Selection {
    /// True if a row is selected. Fields missing in a row do not exclude it, except sizes and types.
    pub fn takes(&self, row: &Row<'_>) -> bool {
        let contains =
            |text: &str, part: &str| text.to_ascii_lowercase().contains(&part.to_ascii_lowercase());
        let said = |value: &Result<_, _>, part: &String| {
            let value: &Result<std::borrow::Cow<'_, str>, &str> = value;
            value.as_ref().is_ok_and(|text| contains(text, part))
        };
        self.kind.is_none_or(|kind| row.kind == kind)
            && self.mnk.is_none_or(|mnk| fits(row, mnk))
            && self.types.as_ref().is_none_or(|types| {
                said(&row.types, types)
                    || tunedb::element(types).is_some_and(|wanted| {
                        row.types.as_deref().ok().and_then(tunedb::element) == Some(wanted)
                    })
            })
            && self.target.as_ref().is_none_or(|target| row.target.as_ref().map_or(true, |own| own == target))
            && self.cu_count.is_none_or(|units| row.cu_count.map_or(true, |own| own == units))
            && self.text.as_ref().is_none_or(|text| {
                contains(&row.key, text) || contains(&row.operation, text) || said(&row.candidate, text)
            })
    }
}

fn fits(row: &Row<'_>, mnk: [Option<u64>; 3]) -> bool {
    let Some(shape) = row.shape.as_ref().ok().and_then(|it| it.gemm()) else { return false };
    shape.sizes().iter().zip(mnk).all(|(own, wanted)| wanted.is_none_or(|it| it == *own))
}

/// Order of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// Order of the file.
    #[default]
    Line,
    /// Longest time first.
    Time,
    /// Most calls first.
    Calls,
    /// Most time lost first: the time of a row beyond the fastest one of its key, times its calls.
    Lost,
}

/// A table for each file.
pub fn show(files: &[Tunings<'_>], selection: &Selection, order: Order, top: usize) -> Answer<Tuned> {
    let mut report = answer("show", files);
    report.tables = files.iter().map(|file| rows_of(file, selection, order, top)).collect();
    report
}

fn rows_of(file: &Tunings<'_>, selection: &Selection, order: Order, top: usize) -> Table {
    let mut rows: Vec<&Row<'_>> = file.rows.iter().filter(|row| selection.takes(row)).collect();
    let lost = if order == Order::Lost { lost(file) } else { HashMap::new() };
    let time = |row: &Row<'_>| row.time_us.as_ref().copied().unwrap_or(-1.0);
    let place = |row: &Row<'_>| std::ptr::from_ref(row).addr();
    let lost_of = |row: &Row<'_>| lost.get(&place(row)).copied();
    match order {
        Order::Line => {}
        Order::Time => rows.in_order_by(|a, b| time(b).total_cmp(&time(a))),
        Order::Calls => rows.in_order_by_key(|row| std::cmp::Reverse(row.calls)),
        Order::Lost => {
            rows.in_order_by(|a, b| lost_of(b).partial_cmp(&lost_of(a)).unwrap_or(Ordering::Equal))
        }
    }
    let all = rows.len();
    rows.truncate(if top == 0 { usize::MAX } else { top });
    let mut facts = facts(file);
    let tuned = file.rows.iter().filter(|row| row.time_us.is_ok()).count();
    let selected = if all < file.rows.len() { format!(", {all} selected") } else { String::new() };
    facts.push(("rows".to_owned(), format!("{}, {tuned} with a time{selected}", file.rows.len())));
    if !file.flaws.is_empty() {
        let words = format!("{}; `rockhound tunedb lint` lists them", file.flaws.len());
        facts.push(("flaws in the text".to_owned(), words));
    }
    let calls = file.rows.iter().any(|row| row.calls > 1);
    let errors = rows.iter().any(|row| row.error().is_ok_and(|share| share > 0.0));
    let mut columns = vec![
        column("line", "line", "", ColumnKind::Id),
        column("operation", "operation", "", ColumnKind::Text),
        column("types", "types", "", ColumnKind::Text),
        column("layout", "AB", "", ColumnKind::Word),
        column("shape", "shape", "", ColumnKind::Text),
        column("gpu", "GPU", "", ColumnKind::Word),
        column("candidate", "candidate", "", ColumnKind::Text),
        column("time_us", "time", "us", ColumnKind::Number),
        column("tflops", "rate", "TFLOP/s", ColumnKind::Number),
    ];
    if errors {
        columns.push(column("error_percent", "wrong", "%", ColumnKind::Number));
    }
    if calls {
        columns.push(column("calls", "calls", "", ColumnKind::Number));
    }
    if order == Order::Lost {
        columns.push(column("lost_us", "lost", "us", ColumnKind::Number));
    }
    let cells = rows.iter().map(|row| {
        let mut cells = vec![
            if row.line == 0 { Cell::text("") } else { Cell::count(u64::from(row.line)) },
            Cell::text(row.operation.as_ref()),
            said(&row.types),
            said(&row.layout),
            shape(row),
            gpu(row),
            said(&row.candidate),
            Cell::known(row.time_us),
            rate(row),
        ];
        if errors {
            cells.push(Cell::known(row.error().map(|share| 100.0 * share)));
        }
        if calls {
            cells.push(Cell::count(row.calls));
        }
        if order == Order::Lost {
            cells.push(lost_of(row).map_or_else(|| Cell::missing("the row has no time"), Cell::from));
        }
        cells
    });
    let notes =
        without_rows(file).into_iter().chain(fastest_of_problems(file)).chain(space::notes(file)).collect();
    Table { more: all - rows.len(), notes, ..table(&file.name, facts, columns, cells) }
}

/// Why a file that was read has no rows.
fn without_rows(file: &Tunings<'_>) -> Option<String> {
    if !file.rows.is_empty() {
        return None;
    }
    match &file.detail {
        Detail::Space(_) => None,
        Detail::Logic(logic) if !logic.solutions.is_empty() => Some(format!(
            "{} serve every size: a file of the kind `{}` has no table of sizes",
            view::counted(logic.solutions.len(), "solution"),
            logic.library.trim()
        )),
        _ => Some("the file holds no row: the library takes its default for every problem".to_owned()),
    }
}

/// Problems whose fastest solution is named.
const MOST_NAMED: usize = 5;

/// The fastest of several solutions of a problem, in output of programs that measure them.
fn fastest_of_problems(file: &Tunings<'_>) -> Vec<String> {
    if !matches!(file.format, Format::CkProfiler | Format::RocblasBench) {
        return Vec::new();
    }
    let mut problems: Vec<(&str, Vec<(f64, &Row<'_>)>)> = Vec::new();
    let mut place: HashMap<&str, usize> = HashMap::new();
    for row in &file.rows {
        let Ok(us) = row.time_us else { continue };
        let at = *place.entry(row.key.as_ref()).or_insert(problems.len());
        if at == problems.len() {
            problems.push((row.key.as_ref(), Vec::new()));
        }
        problems[at].1.push((us, row));
    }
    let several = problems.into_iter().filter(|it| it.1.len() > 1);
    let note = |(_, mut rows): (&str, Vec<(f64, &Row<'_>)>)| {
        rows.in_order_by(|a, b| a.0.total_cmp(&b.0));
        let ((best, row), (next, _)) = (rows[0], rows[1]);
        let sizes = row.shape.as_ref().map(ToString::to_string).unwrap_or_default();
        let kernel = row.candidate.as_deref().unwrap_or("the first");
        format!(
            "{sizes}: the fastest of {} is `{kernel}`, {best:.1} us; the next takes {:.2} times as long",
            rows.len(),
            next / best
        )
    };
    several.take(MOST_NAMED).map(note).collect()
}

/// The rate of a row: computed where sizes and time are known, otherwise as stated.
fn rate(row: &Row<'_>) -> Cell {
    match (row.flop(), row.time_us) {
        (Some(flop), Ok(us)) => Cell::from(flop / us / 1e6),
        _ => Cell::known(row.tera_flops()),
    }
}

/// Time each row takes beyond the fastest of its key, times its calls, by the place of the row in memory.
fn lost(file: &Tunings<'_>) -> HashMap<usize, f64> {
    let mut best: HashMap<&str, f64> = HashMap::new();
    for row in &file.rows {
        if let Ok(us) = row.time_us {
            let least = best.entry(row.key.as_ref()).or_insert(us);
            *least = least.min(us);
        }
    }
    let lost = file.rows.iter().filter_map(|row| {
        let us = row.time_us.ok()?;
        Some((std::ptr::from_ref(row).addr(), (us - best[row.key.as_ref()]) * row.calls as f64))
    });
    lost.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_results_have_a_column() {
        for (ratio, shown) in [("0.0", None), ("", None), ("0.8%", Some(0.8))] {
            let text = format!(
                "gfx,cu_num,M,N,K,q_dtype_w,kernelId,splitK,us,kernelName,tflops,bw,errRatio\n\
                 gfx942,80,1,1280,8192,torch.int8,34,0,20.5611,kernel,1.02,510.5,{ratio}\n"
            );
            let file = tunedb::read("a8w8_tuned_gemm.csv", text.as_bytes()).unwrap();
            let report = show(&[file], &Selection::default(), Order::Line, 0);
            let sheet = &report.tables[0];
            let at = sheet.columns.iter().position(|column| column.key == "error_percent");
            let found = at.map(|at| sheet.rows[0].cells[at].clone());
            assert_eq!(found, shown.map(Cell::from), "{ratio}");
        }
    }
}
