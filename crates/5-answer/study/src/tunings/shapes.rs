//! Problems of logs, lists and tables as one list with their calls.
//!
//! Products are held as BLAS has them, column-major, because most tuners do; PyTorch's order, in which AITER's
//! tables and messages are, is the same product with its factors exchanged.

mod write;

use super::{answer, column, table};
use sorting::Sort;
use std::collections::HashMap;
use tunedb::{Detail, Format, GemmShape, Kind, Row, Shape, Tunings, moe::MoeName, server_log};
use view::{Answer, Cell, Column, ColumnKind, NoteKind, Table, Tuned, counted};

pub use write::{ShapesTo, Written, write};

/// Operation and key columns of a row of AITER.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct OfAiter {
    pub(super) family: String,
    pub(super) columns: Vec<(String, String)>,
}

/// A matrix product.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Product {
    /// M, N, K and batch of BLAS.
    pub(super) sizes: [u64; 4],
    /// Transposition of both factors in BLAS, upper case.
    pub(super) layout: Option<String>,
    /// Types in the words of the file.
    pub(super) types: Option<String>,
    leading: Option<[u32; 4]>,
    /// The line of TunableOp, which holds more than the other fields do.
    pub(super) tunable: Option<String>,
    pub(super) aiter: Option<OfAiter>,
}

/// A mixture of experts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Experts {
    /// Key columns of AITER's table.
    Aiter(OfAiter),
    /// The name of a configuration file that a server looked for.
    File(String),
}

/// Calls, and the files that name the problem.
#[derive(Clone, Default, Debug)]
pub(super) struct Counted {
    calls: u64,
    files: Vec<usize>,
}

/// Everything found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) products: Vec<(Product, Counted)>,
    pub(super) experts: Vec<(Experts, Counted)>,
    /// Rows that are none of these, by the reason.
    left: HashMap<String, u64>,
}

impl Found {
    /// Rows that are no problems, by the reason.
    pub(super) fn left_out(&self) -> impl Iterator<Item = (&str, u64)> {
        self.left.iter().map(|(why, rows)| (why.as_str(), *rows))
    }
}

/// Adds one problem.
fn add<T: Clone + Eq + std::hash::Hash>(
    list: &mut Vec<(T, Counted)>,
    at: &mut HashMap<T, usize>,
    problem: T,
    calls: u64,
    file: usize,
) {
    let place = *at.entry(problem.clone()).or_insert_with(|| {
        list.push((problem, Counted::default()));
        list.len() - 1
    });
    let counted = &mut list[place].1;
    counted.calls += calls;
    if counted.files.last() != Some(&file) {
        counted.files.push(file);
    }
}

/// Collects the problems of files, most called first.
pub(super) fn collect(files: &[Tunings<'_>]) -> Found {
    let mut found = Found::default();
    let (mut products, mut experts) = (HashMap::new(), HashMap::new());
    for (number, file) in files.iter().enumerate() {
        for row in &file.rows {
            match one(file, row) {
                Ok(Problem::Product(it)) => {
                    add(&mut found.products, &mut products, it, row.calls, number);
                }
                Ok(Problem::Experts(it)) => add(&mut found.experts, &mut experts, it, row.calls, number),
                Err(why) => *found.left.entry(why).or_default() += 1,
            }
        }
    }
    found.products.in_order_by_key(|it| std::cmp::Reverse(it.1.calls));
    found.experts.in_order_by_key(|it| std::cmp::Reverse(it.1.calls));
    found
}

/// The problem of a row.
pub(super) enum Problem {
    Product(Product),
    Experts(Experts),
}

/// The problem of a row, or the reason why it is none.
pub(super) fn one(file: &Tunings<'_>, row: &Row<'_>) -> Result<Problem, String> {
    if file.format == Format::ServerLog && row.key.ends_with(".json") {
        return Ok(Problem::Experts(Experts::File(row.key.to_string())));
    }
    let aiter = of_aiter(file, row);
    match (&row.shape, row.kind) {
        (Ok(Shape::Gemm(shape)), Kind::Gemm) => Ok(Problem::Product(product(file, row, shape, aiter))),
        (Ok(Shape::Moe(_)), Kind::Moe) => match aiter {
            Some(aiter) => Ok(Problem::Experts(Experts::Aiter(aiter))),
            None => Err("a configuration by tokens is no problem of one size".to_owned()),
        },
        (Err(why), _) => Err((*why).to_owned()),
        _ => Err(format!("no product and no mixture of experts ({})", row.kind.key())),
    }
}

fn product(file: &Tunings<'_>, row: &Row<'_>, shape: &GemmShape, aiter: Option<OfAiter>) -> Product {
    let [mut m, mut n, k, batch] = shape.sizes();
    let mut layout = row.layout.as_deref().ok().filter(|it| it.len() == 2).map(str::to_ascii_uppercase);
    if aiter.is_some() {
        layout = Some("NT".to_owned());
    }
    if !file.format.is_column_major() {
        (m, n) = (n, m);
        layout = layout.map(|it| it.chars().rev().collect());
    }
    let tunable = matches!(file.format, Format::TunableOp | Format::TunableOpUntuned | Format::TunableOpLog)
        .then(|| row.key.to_string());
    Product {
        sizes: [m, n, k, batch],
        layout,
        types: row.types.as_deref().ok().map(str::to_owned),
        leading: shape.leading.filter(|_| file.format.is_column_major()),
        tunable,
        aiter,
    }
}

/// Key columns of AITER's tables and messages, without the GPU.
fn of_aiter(file: &Tunings<'_>, row: &Row<'_>) -> Option<OfAiter> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    match (&file.detail, file.format) {
        (Detail::Columns(columns), Format::AiterTuned | Format::AiterUntuned) => {
            let text = std::str::from_utf8(file.text(row)).ok()?;
            let values = text.split(',').map(str::trim);
            let keys = columns.names.iter().zip(&columns.is_key).zip(values).filter(|((name, is_key), _)| {
                **is_key && !matches!(**name, "gfx" | "arch" | "cu_num" | "_tag")
            });
            let columns_of = keys.map(|((name, _), value)| owned((name, value))).collect();
            Some(OfAiter { family: columns.family.clone(), columns: columns_of })
        }
        (_, Format::ServerLog) => {
            let columns: Vec<(String, String)> = server_log::columns(row).map(owned).collect();
            let whole = columns.iter().any(|(name, _)| matches!(name.as_str(), "M" | "token"));
            whole.then(|| OfAiter { family: row.operation.to_string(), columns })
        }
        _ => None,
    }
}

impl OfAiter {
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.columns.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// A mixture of experts: `16 tokens, 8 experts top 2, model 4096, inter 14336`.
    pub(super) fn experts(&self) -> String {
        let size = |name: &str| self.value(name).unwrap_or("?");
        format!(
            "{} tokens, {} experts top {}, model {}, inter {}",
            size("token"),
            size("expert"),
            size("topk"),
            size("model_dim"),
            size("inter_dim")
        )
    }

    /// The columns that are no sizes: `bias=False bpreshuffle=True`.
    fn settings(&self) -> String {
        const SIZES: [&str; 12] = [
            "B",
            "M",
            "N",
            "K",
            "token",
            "model_dim",
            "inter_dim",
            "expert",
            "topk",
            "dtype",
            "q_dtype_w",
            "q_dtype_a",
        ];
        let others = self.columns.iter().filter(|(name, _)| !SIZES.contains(&name.as_str()));
        others.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }
}

/// One list of the problems of all files.
pub fn shapes(files: &[Tunings<'_>], top: usize) -> Answer<Tuned> {
    let mut report = answer("shapes", files);
    let found = collect(files);
    let names: Vec<&str> = files.iter().map(Tunings::base_name).collect();
    if !found.products.is_empty() || found.experts.is_empty() {
        report.tables.push(products(&found, &names, top));
    }
    if !found.experts.is_empty() {
        report.tables.push(experts(&found, &names, top));
    }
    let mut left: Vec<_> = found.left.into_iter().collect();
    left.in_order();
    for (why, rows) in left {
        report.note(NoteKind::Info, format!("{} left out: {why}", counted(rows, "row")));
    }
    report
}

fn of_files(counted: &Counted, names: &[&str]) -> Cell {
    match counted.files.as_slice() {
        [only] => Cell::text(names[*only]),
        several => Cell::text(view::counted(several.len(), "file")),
    }
}

fn limit(top: usize) -> usize {
    if top == 0 { usize::MAX } else { top }
}

fn facts<T>(list: &[(T, Counted)]) -> Vec<(String, String)> {
    let calls: u64 = list.iter().map(|it| it.1.calls).sum();
    vec![("problems".to_owned(), list.len().to_string()), ("calls".to_owned(), calls.to_string())]
}

fn products(found: &Found, names: &[&str], top: usize) -> Table {
    let text = |value: Option<&str>, why: &'static str| value.map_or_else(|| Cell::missing(why), Cell::text);
    let rows = found.products.iter().take(limit(top)).map(|(it, counted)| {
        // Shown in PyTorch's order.
        let [m, n, k, batch] = it.sizes;
        let layout: Option<String> = it.layout.as_ref().map(|it| it.chars().rev().collect());
        vec![
            Cell::count(n),
            Cell::count(m),
            Cell::count(k),
            Cell::count(batch),
            text(layout.as_deref(), "the file names no transposition"),
            text(it.types.as_deref(), "the file names no types"),
            text(it.aiter.as_ref().map(|it| it.family.as_str()), "not AITER's"),
            text(it.aiter.as_ref().map(OfAiter::settings).as_deref(), "not AITER's"),
            Cell::count(counted.calls),
            of_files(counted, names),
        ]
    });
    let number = |key, title| column(key, title, "", ColumnKind::Number);
    let columns: Vec<Column> = vec![
        number("m", "M"),
        number("n", "N"),
        number("k", "K"),
        number("batch", "batch"),
        column("layout", "AB", "", ColumnKind::Word),
        column("types", "types", "", ColumnKind::Text),
        column("operation", "AITER's table", "", ColumnKind::Text),
        column("settings", "settings", "", ColumnKind::Text),
        number("calls", "calls"),
        column("file", "file", "", ColumnKind::Text),
    ];
    let more = found.products.len().saturating_sub(limit(top));
    let notes = vec![
        "M, N and transposition in PyTorch's order: M is the number of rows of the first matrix".to_owned(),
    ];
    Table { more, notes, ..table("matrix products", facts(&found.products), columns, rows) }
}

fn experts(found: &Found, names: &[&str], top: usize) -> Table {
    let rows = found.experts.iter().take(limit(top)).map(|(it, counted)| {
        let (problem, types, of) = match it {
            Experts::Aiter(it) => {
                let problem = it.experts();
                let types: Vec<&str> =
                    ["dtype", "q_dtype_a", "q_dtype_w"].iter().filter_map(|name| it.value(name)).collect();
                (problem, types.join(","), it.settings())
            }
            Experts::File(path) => {
                let name = MoeName::parse(path).unwrap_or_default();
                let problem = match name.k {
                    Some(k) => format!("N {}, K {k}", name.n),
                    None => format!("{} experts, inter {}", name.experts, name.n),
                };
                let base = path.rsplit('/').next().unwrap_or(path).to_owned();
                (problem, name.dtype.unwrap_or_else(|| "the model's".to_owned()), base)
            }
        };
        vec![
            Cell::text(problem),
            Cell::text(types),
            Cell::text(of),
            Cell::count(counted.calls),
            of_files(counted, names),
        ]
    });
    let columns = vec![
        column("shape", "problem", "", ColumnKind::Text),
        column("types", "types", "", ColumnKind::Text),
        column("settings", "settings, or the file that is missing", "", ColumnKind::Text),
        column("calls", "calls", "", ColumnKind::Number),
        column("file", "file", "", ColumnKind::Text),
    ];
    let more = found.experts.len().saturating_sub(limit(top));
    Table {
        more,
        ..table(
            "mixtures of experts, and products with scales by block",
            facts(&found.experts),
            columns,
            rows,
        )
    }
}

#[cfg(test)]
#[path = "shapes_tests.rs"]
mod tests;
