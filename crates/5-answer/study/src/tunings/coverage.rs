//! Problems of a model without an entry in the files.
//!
//! A problem is looked up by each loader's own rule; where list and file are of one library their keys are
//! compared as text, otherwise transposition, types and sizes, with M and N in the order of the file's
//! library.

mod logged;

use super::query::{Problem, choose};
use super::{answer, column, rounded_words, said, shape, table};
use rules::TuneMachine;
use sorting::Sort;
use std::collections::HashSet;
use tunedb::{Detail, Format, Kind, Row, Shape, Tunings};
use view::{Answer, Cell, ColumnKind, Table, Tuned};

/// Problems as the columns that AITER's untuned table and tuned table have in common.
fn aiter_key(file: &Tunings<'_>, row: &Row<'_>, names: &[&str]) -> Option<String> {
    let Detail::Columns(columns) = &file.detail else { return None };
    let text = std::str::from_utf8(file.text(row)).ok()?;
    let values: Vec<&str> = text.split(',').map(str::trim).collect();
    let cells: Option<Vec<&str>> =
        names.iter().map(|name| columns.at(name).and_then(|at| values.get(at)).copied()).collect();
    Some(cells?.join(","))
}

/// Key columns of an untuned table that a tuned table has too, but for the GPU.
fn shared_columns<'a>(shapes: &Tunings<'a>, tuned: &Tunings<'_>) -> Option<Vec<&'a str>> {
    let (Detail::Columns(own), Detail::Columns(other)) = (&shapes.detail, &tuned.detail) else { return None };
    let aiter = |file: &Tunings<'_>| matches!(file.format, Format::AiterTuned | Format::AiterUntuned);
    if !aiter(shapes) || !aiter(tuned) {
        return None;
    }
    let names = own.names.iter().zip(&own.is_key).filter(|(_, is_key)| **is_key).map(|(name, _)| *name);
    Some(
        names
            .filter(|it| !matches!(*it, "gfx" | "cu_num" | "arch" | "_tag") && other.at(it).is_some())
            .collect(),
    )
}

/// Look-up of the entries of one file.
struct Index<'f, 'a> {
    file: &'f Tunings<'a>,
    /// Keys as text, where list and file write them alike.
    keys: HashSet<String>,
    /// Columns that both have, for tables of AITER.
    columns: Option<Vec<&'f str>>,
}

impl<'f, 'a> Index<'f, 'a> {
    fn new(file: &'f Tunings<'a>, shapes: &'f Tunings<'_>, machine: Option<&TuneMachine>) -> Index<'f, 'a> {
        let fits = |row: &&Row<'_>| {
            let target = machine.and_then(|it| it.target.as_ref());
            let units = machine.and_then(|it| it.cu_count);
            target.is_none_or(|wanted| row.target.as_ref().map_or(true, |own| own == wanted))
                && units.is_none_or(|wanted| row.cu_count.map_or(true, |own| own == wanted))
        };
        let columns = shared_columns(shapes, file);
        let rows = file.rows.iter().filter(fits);
        let keys = match &columns {
            Some(names) => rows.filter_map(|row| aiter_key(file, row, names)).collect(),
            None => rows.map(|row| row.key.to_string()).collect(),
        };
        Index { file, keys, columns }
    }

    /// Looks a problem up in the file.
    fn find(&self, shapes: &Tunings<'_>, row: &Row<'_>, machine: Option<&TuneMachine>) -> Option<String> {
        if let Some(names) = &self.columns {
            let key = aiter_key(shapes, row, names)?;
            if self.keys.contains(&key) {
                return Some("exact".to_owned());
            }
            return rounded(row, names)
                .into_iter()
                .find(|(m, _)| self.keys.contains(&with_m(&key, names, *m)))
                .map(|it| it.1);
        }
        if shapes.format == Format::ServerLog {
            let found = logged::find(self.file, row, machine);
            if found.is_some() || logged::is_of(self.file, row) {
                return found;
            }
        }
        let tunable =
            matches!(shapes.format, Format::TunableOp | Format::TunableOpUntuned | Format::TunableOpLog);
        if tunable && self.file.format == Format::TunableOp || shapes.format == self.file.format {
            return self.keys.contains(row.key.as_ref()).then(|| "exact".to_owned());
        }
        let mut problem = problem(row)?;
        if row.kind == Kind::Gemm && shapes.format.is_column_major() != self.file.format.is_column_major() {
            problem = turned(problem, self.file.format)?;
        }
        let choice = choose(self.file, &problem, machine);
        choice.taken.first().map(|it| it.how.clone())
    }
}

/// The sizes that AITER tries after the exact one.
fn rounded(row: &Row<'_>, names: &[&str]) -> Vec<(u64, String)> {
    if !names.iter().any(|it| matches!(*it, "M" | "token")) {
        return Vec::new();
    }
    let (wanted, tries) = match &row.shape {
        Ok(Shape::Gemm(it)) => {
            let [m, n, ..] = it.sizes();
            (m, vec![tunedb::aiter::padded_fine(m), tunedb::aiter::padded_coarse(m, n)])
        }
        Ok(Shape::Moe(it)) => (it.tokens, tunedb::aiter::padded_tokens(it.tokens)),
        _ => return Vec::new(),
    };
    tries.into_iter().filter(|it| *it != wanted).map(|it| (it, rounded_words(wanted, it))).collect()
}

/// The key with another M or number of tokens.
fn with_m(key: &str, names: &[&str], m: u64) -> String {
    let own = m.to_string();
    let cells = key
        .split(',')
        .zip(names)
        .map(|(cell, name)| if matches!(*name, "M" | "token") { own.as_str() } else { cell });
    cells.collect::<Vec<_>>().join(",")
}

/// A row of a list as a question.
fn problem(row: &Row<'_>) -> Option<Problem> {
    let mut problem = Problem {
        kind: Some(row.kind),
        layout: row.layout.as_deref().ok().filter(|it| it.len() == 2).map(str::to_owned),
        types: row.types.as_deref().ok().and_then(tunedb::element).map(|it| it.name().to_owned()),
        ..Problem::default()
    };
    match row.shape.as_ref().ok()? {
        Shape::Gemm(it) => {
            let [m, n, k, batch] = it.sizes();
            problem.mnk = Some([m, n, k]);
            problem.batch = Some(batch);
            problem.leading = it.leading.map(|[a, b, c, _]| [a, b, c].map(u64::from));
        }
        Shape::Moe(it) => problem.tokens = Some(it.tokens),
        Shape::Text(text) if row.kind == Kind::Convolution => problem.key = Some(text.to_string()),
        _ => return None,
    }
    Some(problem)
}

/// The problem in the order of the other convention: what is column-major for one library is row-major and
/// transposed for the other. `None` if a file of that format cannot hold it.
fn turned(mut problem: Problem, format: Format) -> Option<Problem> {
    if let Some([m, n, k]) = problem.mnk {
        problem.mnk = Some([n, m, k]);
    }
    problem.leading = None;
    let layout = problem.layout.take();
    if format.is_column_major() {
        // PyTorch's A is the second factor of BLAS.
        problem.layout = layout.map(|it| it.chars().rev().collect());
    } else if layout.is_some_and(|it| !it.eq_ignore_ascii_case("TN")) {
        // AITER's weights are given as their transpose.
        return None;
    }
    Some(problem)
}

/// A table of the problems of each list, those without an entry first.
pub fn coverage(
    files: &[Tunings<'_>],
    lists: &[Tunings<'_>],
    machine: Option<&TuneMachine>,
    missing_only: bool,
    top: usize,
) -> Answer<Tuned> {
    let mut report = answer("coverage", files.iter().chain(lists));
    for list in lists {
        let indices: Vec<Index<'_, '_>> = files.iter().map(|file| Index::new(file, list, machine)).collect();
        let mut found = Vec::new();
        for row in &list.rows {
            let hit = indices.iter().find_map(|index| Some((index.find(list, row, machine)?, index.file)));
            found.push((row, hit));
        }
        if list.format == Format::ServerLog && found.iter().any(|it| it.1.is_none()) {
            let name = view::shell_word(&list.name);
            let text = format!(
                "`rockhound tunedb shapes {name} --to aiter -o DIR` writes these problems for AITER's tuners"
            );
            report.note(view::NoteKind::Info, text);
        }
        report.tables.push(problems(list, found, missing_only, top));
    }
    report
}

/// Name of the fact that counts the problems without an entry.
pub const WITHOUT: &str = "without";

type Found<'f, 'a> = (&'f Row<'a>, Option<(String, &'f Tunings<'f>)>);

fn problems(list: &Tunings<'_>, mut found: Vec<Found<'_, '_>>, missing_only: bool, top: usize) -> Table {
    let all = found.len();
    let calls: u64 = found.iter().map(|it| it.0.calls).sum();
    let exact = found.iter().filter(|it| it.1.as_ref().is_some_and(|(how, _)| how == "exact")).count();
    let other = found.iter().filter(|it| it.1.is_some()).count() - exact;
    let covered: u64 = found.iter().filter(|it| it.1.is_some()).map(|it| it.0.calls).sum();
    let total = |row: &Row<'_>| row.time_us.map_or(0.0, |us| us * row.calls as f64);
    let time: f64 = found.iter().map(|it| total(it.0)).sum();
    let covered_time: f64 = found.iter().filter(|it| it.1.is_some()).map(|it| total(it.0)).sum();
    let mut facts =
        vec![("problems".to_owned(), all.to_string()), ("with an entry".to_owned(), exact.to_string())];
    if other > 0 {
        facts.push(("taken from an entry of another size".to_owned(), other.to_string()));
    }
    facts.push((WITHOUT.to_owned(), (all - exact - other).to_string()));
    if calls > all as u64 {
        facts.push(("calls with an entry".to_owned(), format!("{covered} of {calls}")));
    }
    if list.format == Format::Timeline && time > 0.0 {
        let share = 100.0 * covered_time / time;
        let text = format!("{:.3} of {:.3} ms ({share:.1} %)", covered_time / 1e3, time / 1e3);
        facts.push(("GPU time with an entry".to_owned(), text));
    }
    // Problems without an entry first; in a timeline longest first, elsewhere most called first.
    let timed = list.format == Format::Timeline;
    found.in_order_by(|(a, hit), (b, other)| {
        let by_time = if timed { total(b).total_cmp(&total(a)) } else { std::cmp::Ordering::Equal };
        hit.is_some().cmp(&other.is_some()).then(by_time).then_with(|| b.calls.cmp(&a.calls))
    });
    if missing_only {
        found.retain(|it| it.1.is_none());
    }
    let listed = found.len();
    found.truncate(if top == 0 { usize::MAX } else { top });
    let rows = found.iter().map(|(row, hit)| {
        vec![
            Cell::text(hit.as_ref().map_or("none", |(how, _)| how)),
            Cell::count(u64::from(row.line)),
            shape(row),
            said(&row.types),
            said(&row.layout),
            Cell::count(row.calls),
            Cell::known(row.time_us),
            hit.as_ref().map_or_else(
                || Cell::missing("no file has an entry"),
                |(_, file)| Cell::text(file.base_name()),
            ),
        ]
    });
    let more = listed - rows.len();
    let columns = vec![
        column("entry", "entry", "", ColumnKind::Word),
        column("line", "line", "", ColumnKind::Id),
        column("shape", "problem", "", ColumnKind::Text),
        column("types", "types", "", ColumnKind::Text),
        column("layout", "AB", "", ColumnKind::Word),
        column("calls", "calls", "", ColumnKind::Number),
        column("time_us", "time", "us", ColumnKind::Number),
        column("file", "file", "", ColumnKind::Text),
    ];
    Table { more, ..table(&list.name, facts, columns, rows) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests read the shared files")]

    use super::*;
    use tunedb::read;

    const WITH: &str = "with an entry";

    fn fact(report: &Answer<Tuned>, name: &str) -> Option<String> {
        report.tables[0].facts.iter().find(|it| it.name == name).map(|it| it.value.clone())
    }

    #[test]
    fn shapes_of_kimi_on_three_gpus() {
        let Some(folder) = testkit::shared("tuning/aiter") else { return };
        let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
        let (list, table) =
            (bytes("untuned/kimi_bf16_untuned_gemm.csv"), bytes("tuned/kimi_bf16_tuned_gemm.csv"));
        let list = [read("kimi_bf16_untuned_gemm.csv", &list).unwrap()];
        let table = [read("kimi_bf16_tuned_gemm.csv", &table).unwrap()];
        for (target, units, exact) in [("gfx950", 256, "20"), ("gfx942", 80, "3"), ("gfx942", 304, "0")] {
            let machine = TuneMachine {
                target: Some(target.to_owned()),
                cu_count: Some(units),
                ..TuneMachine::default()
            };
            let report = coverage(&table, &list, Some(&machine), false, 0);
            assert_eq!(fact(&report, WITH).as_deref(), Some(exact), "{target} {units}");
            assert_eq!(fact(&report, "problems").as_deref(), Some("40"));
        }
    }

    /// Sizes change places between libraries that count rows and those that count columns.
    #[test]
    fn products_are_found_under_either_order() {
        let aiter = "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,bw\n\
            gfx942,304,16,4096,512,False,torch.bfloat16,torch.bfloat16,False,False,hipblaslt,1,0,9.0,k,0,0,0\n";
        let blas = "Validator,PT_VERSION,2.9.1\nGemmTunableOp_BFloat16_TN,tn_4096_16_512_ld_512_512_4096,Gemm_Rocblas_1,0.5\n";
        let tuned = [("bf16_tuned_gemm.csv", aiter), ("r.csv", blas)];
        for (list, found) in [
            // BLAS as in TunableOp's list.
            ("GemmTunableOp_BFloat16_TN,tn_4096_16_512_ld_512_512_4096\n", [true, true]),
            ("GemmTunableOp_BFloat16_TN,tn_16_4096_512_ld_512_512_16\n", [false, false]),
            ("GemmTunableOp_BFloat16_NN,nn_4096_16_512_ld_4096_512_4096\n", [false, false]),
            // PyTorch's order as in a list of sizes.
            ("16 4096 512\n", [true, true]),
            ("4096 16 512\n", [false, false]),
            ("16 4096 512 NT bf16\n", [true, true]),
        ] {
            let shapes = [read("list", list.as_bytes()).unwrap()];
            for ((name, text), expected) in tuned.iter().zip(found) {
                let files = [read(name, text.as_bytes()).unwrap()];
                let report = coverage(&files, &shapes, None, false, 0);
                let without = if expected { "0" } else { "1" };
                assert_eq!(fact(&report, "without").as_deref(), Some(without), "{list} in {name}");
            }
        }
    }

    #[test]
    fn problems_of_a_log_in_results() {
        let results = b"Validator,PT_VERSION,2.9.1\nGemmTunableOp_Half_NN,nn_1024_512_1024_ld_1024_1024_1024,Gemm_Rocblas_1,0.5\n";
        let log = b"hipblaslt-bench -m 1024 -n 512 -k 1024 --lda 1024 --ldb 1024 --ldc 1024 --ldd 1024 --transA N --transB N --a_type f16_r --b_type f16_r --batch_count 1\nhipblaslt-bench -m 8 -n 8 -k 8 --transA N --transB N --a_type f16_r --b_type f16_r\n";
        let (results, log) = ([read("r.csv", results).unwrap()], [read("l.log", log).unwrap()]);
        let report = coverage(&results, &log, None, false, 0);
        assert_eq!(fact(&report, WITH).as_deref(), Some("1"));
        assert_eq!(report.tables[0].rows[0].cells[0], Cell::text("none"));
    }
}
