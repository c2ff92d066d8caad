//! Entries of a project from the results of its benchmark: for each shape asked for the fastest.

use super::{Operation, ShapesQuestion, TuneFor};
use crate::tunings::merge::{Options, Refusal, merge};
use crate::tunings::shapes::{Experts, OfAiter, Problem, Product, collect, one};
use arch::Model;
use std::collections::BTreeMap;
use tunedb::{Format, Row, Tunings, time};

/// Entries of measured files.
pub(super) struct Measured {
    /// Names and bytes of the project's files.
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// The problems asked for, each with its entry if one was measured.
    pub(super) problems: Vec<Answered>,
    /// Problems left out, by the reason.
    pub(super) left: BTreeMap<String, u64>,
}

/// A problem with its entry.
pub(super) struct Answered {
    /// The problem in words.
    pub(super) problem: String,
    /// Kernel and time of the entry.
    pub(super) entry: Option<(String, Option<f64>)>,
}

/// A problem that was asked for.
enum Asked {
    Product(Product),
    Experts(OfAiter),
}

impl Asked {
    fn words(&self) -> String {
        match self {
            Asked::Product(it) => {
                let [n, m, k, batch] = it.sizes;
                let batch = if batch > 1 { format!(" batch {batch}") } else { String::new() };
                let types = it.types.as_deref().map_or_else(String::new, |it| format!(" {it}"));
                format!("{m}x{n}x{k}{batch}{types}")
            }
            Asked::Experts(it) => it.experts(),
        }
    }

    /// Whether an entry is for this problem. A property that either lacks matches any.
    fn is(&self, other: &Problem) -> bool {
        fn may<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        match (self, other) {
            (Asked::Product(a), Problem::Product(b)) => {
                let element = |it: &Product| it.types.as_deref().and_then(tunedb::element);
                a.sizes == b.sizes
                    && may(a.layout.as_ref(), b.layout.as_ref())
                    && may(element(a).as_ref(), element(b).as_ref())
                    && may(a.tunable.as_ref(), b.tunable.as_ref())
                    && a.aiter
                        .as_ref()
                        .is_none_or(|own| b.aiter.as_ref().is_none_or(|other| agree(own, other)))
            }
            (Asked::Experts(a), Problem::Experts(Experts::Aiter(b))) => agree(a, b),
            _ => false,
        }
    }
}

/// Whether key columns that both have are equal.
fn agree(a: &OfAiter, b: &OfAiter) -> bool {
    let same = |(name, value): &(String, String)| b.value(name).is_none_or(|other| other == value);
    a.columns.iter().all(same)
}

/// Formats of a project's entries.
fn formats(target: TuneFor) -> &'static [Format] {
    match target {
        TuneFor::Aiter => &[Format::AiterTuned],
        TuneFor::TunableOp => &[Format::TunableOp],
        TuneFor::Hipblaslt => &[Format::TuningFile],
        // Their benchmarks write the tuned files themselves.
        TuneFor::Vllm | TuneFor::Sglang => &[],
    }
}

/// The entries of result files for the problems of a question, merged with the files in use.
///
/// # Errors
/// Results of another format, for other versions, or for none of the problems.
pub(super) fn of(question: &ShapesQuestion<'_>) -> Result<Measured, Refusal> {
    let known = formats(question.target);
    if let Some(other) = question.results.iter().find(|it| !known.contains(&it.format)) {
        let names: Vec<&str> = known.iter().map(|it| it.name()).collect();
        return Err(Refusal::new(
            format!("`{}` ({}) has no entries of {}", other.name, other.format.name(), question.target.key()),
            format!("--from takes files of the format {}", names.join(" or ")),
        ));
    }
    let (asked, model) = (asked(question), question.model()?);
    let mut out = Measured { files: Vec::new(), problems: Vec::new(), left: BTreeMap::new() };
    let mut found: Vec<Option<(String, Option<f64>)>> = asked.iter().map(|_| None).collect();
    let mut texts: Vec<(String, Vec<u8>)> = Vec::new();
    for file in question.results {
        let mut rows: Vec<&Row<'_>> = Vec::new();
        for row in &file.rows {
            let Ok(problem) = one(file, row) else { continue };
            let fits: Vec<usize> = (0..asked.len()).filter(|at| asked[*at].is(&problem)).collect();
            if fits.is_empty() {
                continue;
            }
            if let Err(why) = usable(file, row).and_then(|()| is_of(row, model)) {
                *out.left.entry(why.to_owned()).or_default() += 1;
                continue;
            }
            for at in fits {
                let time = row.time_us.ok();
                let faster = found[at].as_ref().is_none_or(|it| match (time, it.1) {
                    (Some(new), Some(old)) => new < old,
                    (new, old) => new.is_some() && old.is_none(),
                });
                if faster {
                    found[at] = Some((row.candidate.as_deref().unwrap_or_default().to_owned(), time));
                }
            }
            rows.push(row);
        }
        if !rows.is_empty() {
            texts.push((file.name.clone(), part(file, &rows)));
        }
    }
    if texts.is_empty() {
        return Err(Refusal::new(
            format!("the results have none of the {}", view::counted(asked.len(), "problem")),
            "`rockhound tunedb show RESULTS` lists what was measured; sizes, transposition and types have to agree",
        ));
    }
    let made: Vec<Tunings<'_>> =
        texts.iter().filter_map(|(name, text)| tunedb::read(name, text).ok()).collect();
    let all: Vec<Tunings<'_>> = question.existing.iter().cloned().chain(made).collect();
    let name = all.first().map_or_else(String::new, |it| it.base_name().to_owned());
    out.files.push((name, merge(&all, &Options::default())?.bytes));
    let answered = asked.iter().zip(found).map(|(it, entry)| Answered { problem: it.words(), entry });
    out.problems = answered.collect();
    Ok(out)
}

/// Whether a row is a measurement.
fn usable(file: &Tunings<'_>, row: &Row<'_>) -> Result<(), &'static str> {
    match row.time_us {
        Err(why) if time::is_placeholder(why) => Err(why),
        _ if file.spoiled(row.line).is_some() => Err("the row cannot be read"),
        _ => Ok(()),
    }
}

/// Whether a row is of the GPU that was named.
fn is_of(row: &Row<'_>, model: Option<&Model>) -> Result<(), &'static str> {
    let Some(model) = model else { return Ok(()) };
    let target =
        row.target.as_deref().ok().is_none_or(|it| it.split(':').next() == Some(model.target().name));
    let units = row.cu_count.ok().is_none_or(|it| it == model.compute_units.value);
    if target && units { Ok(()) } else { Err("measured on another GPU") }
}

/// The beginning of a file and some of its rows.
fn part(file: &Tunings<'_>, rows: &[&Row<'_>]) -> Vec<u8> {
    let first = file.rows.iter().map(|it| it.span.start).min().unwrap_or(0);
    let mut out = file.bytes.get(..first).unwrap_or_default().to_vec();
    for row in rows {
        out.extend_from_slice(file.text(row));
        out.push(b'\n');
    }
    out
}

fn asked(question: &ShapesQuestion<'_>) -> Vec<Asked> {
    let found = collect(question.lists);
    match question.operation {
        Operation::Gemm => found.products.into_iter().map(|it| Asked::Product(it.0)).collect(),
        Operation::Moe => {
            let of = |(it, _)| if let Experts::Aiter(it) = it { Some(Asked::Experts(it)) } else { None };
            found.experts.into_iter().filter_map(of).collect()
        }
    }
}
