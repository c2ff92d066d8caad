//! The row of a file that a library takes for a problem, by the rule of that library's loader.
//!
//! Each format has one rule, stated in words beside the code that follows it; cases that a rule leaves open
//! are reported as open.

mod config;
mod grid;
mod records;

use super::{answer, column, facts, gpu, rounded_words, said, shape, table};
pub(super) use config::rows_take;
use rules::TuneMachine;
use sorting::Sort;
use tunedb::{Detail, Format, Kind, Row, Shape, Tunings, aiter, hipblaslt, triton};
use view::{Answer, Cell, ColumnKind, Table, Tuned};

/// Rows that answer one question at most.
const MOST_TAKEN: usize = 1000;

/// A problem.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// Computed operation.
    pub kind: Option<Kind>,
    /// M, N and K, as the file has them.
    pub mnk: Option<[u64; 3]>,
    /// Products in one call.
    pub batch: Option<u64>,
    /// Leading dimensions of A, B and C.
    pub leading: Option<[u64; 3]>,
    /// Transposition: `TN`.
    pub layout: Option<String>,
    /// Types: words of the file, or names such as `bf16`.
    pub types: Option<String>,
    /// Tokens of a mixture of experts.
    pub tokens: Option<u64>,
    /// The key as written in the file, or a part of it.
    pub key: Option<String>,
}

/// Rows that a loader takes.
#[derive(Clone, Debug)]
pub struct Choice<'f, 'a> {
    /// The loader's rule.
    pub rule: &'static str,
    /// The rows it takes; one for each of several problems that match the question.
    pub taken: Vec<Taken<'f, 'a>>,
    /// Reason why no row is taken, or the open question.
    pub note: Option<String>,
}

/// One row that is taken.
#[derive(Clone, Debug)]
pub struct Taken<'f, 'a> {
    /// The row.
    pub row: &'f Row<'a>,
    /// Kind of match: `exact`, `M rounded up to 128`, `nearest`.
    pub how: String,
}

impl<'f, 'a> Choice<'f, 'a> {
    fn of(rule: &'static str, taken: Vec<Taken<'f, 'a>>) -> Choice<'f, 'a> {
        Choice { rule, taken, note: None }
    }

    fn none(rule: &'static str, note: impl Into<String>) -> Choice<'f, 'a> {
        Choice { rule, taken: Vec::new(), note: Some(note.into()) }
    }
}

/// Returns the rows that the loader of a file takes for a problem on a machine.
pub fn choose<'f, 'a>(
    file: &'f Tunings<'a>,
    problem: &Problem,
    machine: Option<&TuneMachine>,
) -> Choice<'f, 'a> {
    match file.format {
        Format::TunableOp => tunable_op(file, problem, machine),
        Format::TuningFile => tuning_file(file, problem, machine),
        Format::Logic => logic(file, problem),
        Format::FindDb | Format::PerfDb | Format::PerfDbSqlite if for_another(file, machine).is_some() => {
            Choice::none(
                "the file of the GPU's target, and of those the one with the nearest number of compute units",
                for_another(file, machine).unwrap_or_default(),
            )
        }
        Format::FindDb => find_db(file, problem),
        Format::PerfDb | Format::PerfDbSqlite => perf_db(file, problem),
        Format::AiterTuned => aiter_table(file, problem, machine),
        Format::MoeJson | Format::BlockGemmJson => nearest(file, problem),
        Format::AiterJson => config::choose(file, problem, machine),
        Format::Autotune => autotune(file, problem),
        Format::KernelTuner | Format::SpaceResults => least_time(file),
        _ => Choice::none(
            "",
            format!("no library looks problems up in a file of this kind ({})", file.format.name()),
        ),
    }
}

/// True if a row matches the problem, apart from the fields that the caller compares.
fn fits(row: &Row<'_>, problem: &Problem, sizes: bool) -> bool {
    let types = |wanted: &String| {
        let Ok(own) = &row.types else { return true };
        let element = tunedb::element(wanted);
        own.to_ascii_lowercase().contains(&wanted.to_ascii_lowercase())
            || element.is_some() && tunedb::element(own) == element
    };
    let gemm = row.shape.as_ref().ok().and_then(|it| it.gemm());
    let same_sizes = !sizes
        || problem.mnk.is_none_or(|mnk| gemm.is_some_and(|own| own.sizes()[..3] == mnk))
            && problem.batch.is_none_or(|batch| gemm.is_none_or(|own| own.sizes()[3] == batch))
            && problem.leading.is_none_or(|wanted| {
                gemm.and_then(|own| own.leading).is_none_or(|[a, b, c, _]| [a, b, c].map(u64::from) == wanted)
            });
    same_sizes
        && problem.kind.is_none_or(|kind| row.kind == kind)
        && problem
            .layout
            .as_ref()
            .is_none_or(|it| row.layout.as_ref().map_or(true, |own| own.eq_ignore_ascii_case(it)))
        && problem.types.as_ref().is_none_or(types)
        && problem.key.as_ref().is_none_or(|key| row.key.contains(key.as_str()))
}

/// Reason why MIOpen does not open a file on a machine: its name begins with another target.
fn for_another(file: &Tunings<'_>, machine: Option<&TuneMachine>) -> Option<String> {
    let own = file.rows.first()?.target.as_deref().ok()?;
    let wanted = machine?.target.as_deref()?;
    (own != wanted).then(|| format!("the file is for {own}: MIOpen does not open it on {wanted}"))
}

/// The fastest row of each key, in the order of the keys' first rows, and how many keys have several rows.
fn fastest_of_keys<'f, 'a>(rows: &[&'f Row<'a>]) -> (Vec<&'f Row<'a>>, usize) {
    let mut taken: Vec<&'f Row<'a>> = Vec::new();
    let mut repeated = std::collections::BTreeSet::new();
    let time = |row: &Row<'_>| row.time_us.unwrap_or(f64::INFINITY);
    for row in rows {
        match taken.iter_mut().find(|it| it.key == row.key) {
            None => taken.push(row),
            Some(best) => {
                repeated.insert(row.key.as_ref());
                if time(row) < time(best) {
                    *best = row;
                }
            }
        }
    }
    (taken, repeated.len())
}

/// The first row of each key, in the order of the file.
fn first_of_keys<'f, 'a>(rows: impl Iterator<Item = &'f Row<'a>>) -> Vec<Taken<'f, 'a>>
where
    'a: 'f,
{
    let mut seen = std::collections::HashSet::new();
    rows.filter(|row| seen.insert(row.key.as_ref()))
        .map(|row| Taken { row, how: "exact".to_owned() })
        .collect()
}

fn tunable_op<'f, 'a>(
    file: &'f Tunings<'a>,
    problem: &Problem,
    machine: Option<&TuneMachine>,
) -> Choice<'f, 'a> {
    const RULE: &str = "exact operation and sizes, the first row; one version that differs rejects the file";
    if let Some(machine) = machine {
        let target = file.version("GCN_ARCH_NAME").and_then(|it| it.split(':').next()).map(str::trim_end);
        if let (Some(own), Some(wanted)) = (target, &machine.target)
            && own != wanted
        {
            return Choice::none(RULE, format!("the file is for {own}: PyTorch rejects it on {wanted}"));
        }
        for (name, wanted) in &machine.versions {
            match file.version(name) {
                Some(own) if own == wanted => {}
                Some(own) => {
                    let text = format!("`{name}` is `{own}`, not `{wanted}`: PyTorch rejects the file");
                    return Choice::none(RULE, text);
                }
                None => {
                    return Choice::none(RULE, format!("the file has no `{name}`: PyTorch rejects it"));
                }
            }
        }
    }
    if file.flaws.iter().any(|it| it.kind == tunedb::FlawKind::CarriageReturn) {
        return Choice::none(RULE, "lines end in CR LF, so no version matches: PyTorch rejects the file");
    }
    let taken = first_of_keys(file.rows.iter().filter(|row| fits(row, problem, true)));
    if taken.is_empty() {
        return Choice::none(RULE, "no row: PyTorch runs its default kernel, or tunes where tuning is on");
    }
    Choice::of(RULE, taken)
}

fn tuning_file<'f, 'a>(
    file: &'f Tunings<'a>,
    problem: &Problem,
    machine: Option<&TuneMachine>,
) -> Choice<'f, 'a> {
    const RULE: &str = "with a schema version all of the problem and the kernel's name; without one transposition, sizes, batch \
                        and main types, and the build that `Git Version` names";
    let wanted = machine.and_then(|it| it.versions.get("Git Version"));
    if let (Some(own), Some(wanted)) = (file.version("Git Version"), wanted)
        && own != wanted
        && !hipblaslt::has_schema(file)
    {
        return Choice::none(
            RULE,
            format!("`Git Version` is `{own}`, not `{wanted}`: rows without a name are not used"),
        );
    }
    // Without a schema version the look-up ignores the leading dimensions.
    let asked = if hipblaslt::has_schema(file) {
        problem.clone()
    } else {
        Problem { leading: None, ..problem.clone() }
    };
    let rows: Vec<&Row<'_>> = file.rows.iter().filter(|row| fits(row, &asked, true)).collect();
    if rows.is_empty() {
        return Choice::none(RULE, "no row: the heuristic of the library decides");
    }
    let mut keys: Vec<String> = rows.iter().map(|row| hipblaslt::lookup_key(file, row)).collect();
    keys.in_order();
    keys.dedup();
    let open = rows.len() - keys.len();
    let taken = rows.into_iter().map(|row| Taken { row, how: "exact".to_owned() }).collect();
    let note = (open > 0)
        .then(|| format!("{open} of these rows are the same problem for the loader: one of them is taken"));
    Choice { rule: RULE, taken, note }
}

fn logic<'f, 'a>(file: &'f Tunings<'a>, problem: &Problem) -> Choice<'f, 'a> {
    const EXACT: &str = "the exact size; with 8 numbers also the leading dimensions";
    let Detail::Logic(logic) = &file.detail else { return Choice::none(EXACT, "no logic") };
    let taken = first_of_keys(file.rows.iter().filter(|row| fits(row, problem, true)));
    match logic.library.trim() {
        "Equality" if taken.is_empty() => {
            Choice::none(EXACT, "no entry: the library goes on to its grid-based and free-size solutions")
        }
        "Equality" => Choice::of(EXACT, taken),
        "GridBased" => grid::choose(file, problem, taken),
        "FreeSize" => Choice::none(
            "any size",
            format!("{} solutions serve every size; the library's prediction decides", logic.solutions.len()),
        ),
        other => Choice::none("", format!("the rule of `{other}` is not documented")),
    }
}

fn find_db<'f, 'a>(file: &'f Tunings<'a>, problem: &Problem) -> Choice<'f, 'a> {
    const RULE: &str = "the record of the key as text, of several the first; in it the smallest time";
    let mut taken: Vec<Taken<'f, 'a>> = Vec::new();
    let mut note = None;
    let rows: Vec<&'f Row<'a>> = file.rows.iter().filter(|row| fits(row, problem, false)).collect();
    let mut done: Vec<&str> = Vec::new();
    for row in &rows {
        if done.contains(&row.key.as_ref()) {
            continue;
        }
        done.push(row.key.as_ref());
        let record = rows.iter().filter(|it| it.line == row.line);
        // A time of 0 is smaller than any measurement, and MIOpen does not know that it is none.
        let order = |row: &Row<'_>| match row.time_us {
            Ok(us) => us,
            Err(tunedb::time::ZERO) => 0.0,
            Err(_) => f64::INFINITY,
        };
        if let Some(best) = record.min_by(|a, b| order(a).total_cmp(&order(b))) {
            if best.time_us.is_err() {
                note = Some("a time of 0 is taken for the smallest: nobody measured it".to_owned());
            }
            taken.push(Taken { row: best, how: "smallest time of the record".to_owned() });
        }
        if taken.len() >= MOST_TAKEN {
            break;
        }
    }
    if taken.is_empty() {
        return Choice::none(RULE, "no record: MIOpen measures all solvers, or predicts one in FAST mode");
    }
    Choice { rule: RULE, taken, note }
}

fn perf_db<'f, 'a>(file: &'f Tunings<'a>, problem: &Problem) -> Choice<'f, 'a> {
    const RULE: &str = "the record of the key as text; each solver gets its parameters, and a user's record comes before the system's";
    let rows = file.rows.iter().filter(|row| fits(row, problem, false)).take(MOST_TAKEN);
    let taken: Vec<_> = rows.map(|row| Taken { row, how: "parameters of the solver".to_owned() }).collect();
    if taken.is_empty() {
        return Choice::none(RULE, "no record: solvers run with default parameters");
    }
    Choice::of(RULE, taken)
}

fn aiter_table<'f, 'a>(
    file: &'f Tunings<'a>,
    problem: &Problem,
    machine: Option<&TuneMachine>,
) -> Choice<'f, 'a> {
    const GEMM: &str = "exact in every key column; M as given, then rounded up finely, then coarsely: more than 8192 rows of a result wider than 4096 take \
                        the row of 8192";
    const MOE: &str = "exact in every key column; tokens rounded up to a power of two, from 32768 on down to 32768 or 131072";
    let rule = if problem.tokens.is_some() || problem.kind == Some(Kind::Moe) { MOE } else { GEMM };
    let machine_fits = |row: &Row<'_>| {
        let target = machine.and_then(|it| it.target.as_ref());
        let units = machine.and_then(|it| it.cu_count);
        target.is_none_or(|wanted| row.target.as_ref().map_or(true, |own| own == wanted))
            && units.is_none_or(|wanted| row.cu_count.map_or(true, |own| own == wanted))
    };
    // Rows for a missing backend are set aside first.
    let rows: Vec<&'f Row<'a>> = file
        .rows
        .iter()
        .filter(|row| machine_fits(row) && !aiter::is_fallback(row) && fits(row, problem, false))
        .collect();
    let tries = attempts(problem);
    for (number, (value, how)) in tries.iter().enumerate() {
        // A size that was tried already finds nothing again.
        if tries[..number].iter().any(|it| it.0 == *value) {
            continue;
        }
        let found: Vec<&'f Row<'a>> =
            rows.iter().copied().filter(|row| has_size(row, problem, *value)).take(MOST_TAKEN).collect();
        if !found.is_empty() {
            let (taken, repeated) = fastest_of_keys(&found);
            let note = (repeated > 0).then(|| {
                format!(
                    "{repeated} keys have several rows: AITER's loader writes the file again with the fastest of each, and stops"
                )
            });
            let taken = taken.into_iter().map(|row| Taken { row, how: how.clone() }).collect();
            return Choice { rule, taken, note };
        }
    }
    let note = match file.rows.iter().any(machine_fits) {
        false => "no row is for this GPU: every problem takes the default path",
        true => "no row: the default path",
    };
    Choice::none(rule, note)
}

/// The sizes that AITER looks for, one after the other.
fn attempts(problem: &Problem) -> Vec<(u64, String)> {
    if let Some(tokens) = problem.tokens {
        let how = |it: &u64| {
            if *it == tokens { "exact".to_owned() } else { format!("tokens {}", rounded_words(tokens, *it)) }
        };
        return aiter::padded_tokens(tokens).iter().map(|it| (*it, how(it))).collect();
    }
    let Some([m, n, _]) = problem.mnk else { return vec![(0, "fits the question".to_owned())] };
    let (fine, coarse) = (aiter::padded_fine(m), aiter::padded_coarse(m, n));
    vec![
        (m, "exact".to_owned()),
        (fine, format!("M {}", rounded_words(m, fine))),
        (coarse, format!("M {}", rounded_words(m, coarse))),
    ]
}

fn has_size(row: &Row<'_>, problem: &Problem, value: u64) -> bool {
    match (&row.shape, problem.mnk, problem.tokens) {
        (Ok(Shape::Gemm(own)), Some([_, n, k]), _) => {
            let [own_m, own_n, own_k, batch] = own.sizes();
            own_m == value && own_n == n && own_k == k && problem.batch.is_none_or(|it| it == batch)
        }
        (Ok(Shape::Moe(own)), _, Some(_)) => own.tokens == value,
        (_, None, None) => true,
        _ => false,
    }
}

fn nearest<'f, 'a>(file: &'f Tunings<'a>, problem: &Problem) -> Choice<'f, 'a> {
    const RULE: &str =
        "the entry whose number of tokens is nearest, the first of two; nothing between entries is computed";
    let Some(wanted) = problem.tokens.or(problem.mnk.map(|it| it[0])) else {
        return Choice::none(RULE, "needs the number of tokens: --tokens");
    };
    if let (Some([_, n, k]), Some(own)) =
        (problem.mnk, file.rows.first().and_then(|row| row.shape.as_ref().ok()?.gemm()))
        && own.sizes()[1..3] != [n, k]
    {
        return Choice::none(
            RULE,
            format!("the file is for N {} and K {}: no other sizes are looked up in it", own.n, own.k),
        );
    }
    let tokens = |row: &Row<'_>| match &row.shape {
        Ok(Shape::Moe(it)) => Some(it.tokens),
        _ => row.key.parse().ok(),
    };
    let entries = file.rows.iter().filter_map(|row| Some((tokens(row)?, row)));
    match entries.min_by_key(|(own, _)| own.abs_diff(wanted)) {
        Some((own, row)) => {
            let how = if own == wanted {
                "exact".to_owned()
            } else {
                format!("nearest of the entries: {own} tokens")
            };
            Choice::of(RULE, vec![Taken { row, how }])
        }
        None => Choice::none(RULE, "no entry"),
    }
}

/// Kernel Tuner's `get_best_config`: the least mean time of the configurations that ran.
fn least_time<'f, 'a>(file: &'f Tunings<'a>) -> Choice<'f, 'a> {
    const RULE: &str = "the least mean time of all configurations that ran, the first of equal ones";
    let timed = file.rows.iter().filter_map(|row| Some((row, row.time_us.ok()?)));
    match timed.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((row, _)) => Choice::of(RULE, vec![Taken { row, how: "least time".to_owned() }]),
        None => Choice::none(RULE, "every configuration failed"),
    }
}

fn autotune<'f, 'a>(file: &'f Tunings<'a>, problem: &Problem) -> Choice<'f, 'a> {
    const RULE: &str = "the smallest median, then 20th, then 80th percentile, the first of equal ones";
    if let (Some(key), Some(first)) = (&problem.key, file.rows.first())
        && !first.key.contains(key.as_str())
    {
        return Choice::none(RULE, format!("the file is for the key ({})", first.key));
    }
    match triton::best(file).and_then(|at| file.rows.get(at)) {
        Some(row) => Choice::of(RULE, vec![Taken { row, how: "smallest timing".to_owned() }]),
        None => Choice::none(RULE, "every configuration failed"),
    }
}

/// The answers of several files as tables.
pub fn query(
    files: &[Tunings<'_>],
    problem: &Problem,
    machine: Option<&TuneMachine>,
    top: usize,
) -> Answer<Tuned> {
    let mut report = answer("query", files);
    for (number, file) in files.iter().enumerate() {
        let mut choice = config::set_aside(files, number, problem, machine)
            .unwrap_or_else(|| choose(file, problem, machine));
        records::of_users_first(files, number, problem, machine, &mut choice);
        let all = choice.taken.len();
        let rows = choice.taken.iter().take(if top == 0 { usize::MAX } else { top }).map(|it| {
            vec![
                Cell::text(&it.how),
                Cell::count(u64::from(it.row.line)),
                shape(it.row),
                said(&it.row.types),
                gpu(it.row),
                said(&it.row.candidate),
                Cell::known(it.row.time_us),
            ]
        });
        let rows: Vec<_> = rows.collect();
        let mut facts = facts(file);
        facts.truncate(1);
        if !choice.rule.is_empty() {
            facts.push(("rule".to_owned(), choice.rule.to_owned()));
        }
        let columns = vec![
            column("found", "found", "", ColumnKind::Word),
            column("line", "line", "", ColumnKind::Id),
            column("shape", "shape", "", ColumnKind::Text),
            column("types", "types", "", ColumnKind::Text),
            column("gpu", "GPU", "", ColumnKind::Word),
            column("candidate", "takes", "", ColumnKind::Text),
            column("time_us", "time", "us", ColumnKind::Number),
        ];
        let more = all - rows.len();
        let notes = choice.note.into_iter().collect();
        report.tables.push(Table { more, notes, ..table(&file.name, facts, columns, rows) });
    }
    report
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
