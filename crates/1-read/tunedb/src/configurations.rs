//! Problem sizes that people write for a tuner: find_exact, TensileLite's configurations, hipblaslt-bench's
//! problem sets.
//!
//! These hold problems and a space of candidates, and no results; each size is a row without a candidate.

use crate::error::Error;
use crate::format::Format;
use crate::lines::{lines, text};
use crate::model::{FlawKind, GemmShape, Kind, Row, Shape, Tunings, Version};
use crate::tensile_space::{forked, problem_type};
use crate::yaml::{Node, parse};
use std::borrow::Cow;

/// Format of a configuration, detected from its top-level keys.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    for line in lines(bytes).take(5_000) {
        match line.text.trim_end() {
            it if it.starts_with("Bench:") || it.starts_with("CreateLogic:") => {
                return Some(Format::FindExact);
            }
            it if it.starts_with("BenchmarkProblems:") => return Some(Format::TensileConfig),
            "Tests:" => return Some(Format::BenchProblems),
            _ => {}
        }
    }
    None
}

/// A size `[m, n, batch, k, …]` as a row.
fn row<'a>(size: &Node, layout: &str, types: &str) -> Option<Row<'a>> {
    let numbers: Vec<u64> = size.list().iter().map(Node::number).collect::<Option<_>>()?;
    let [m, n, batch, k, rest @ ..] = numbers.as_slice() else { return None };
    let leading = <[u64; 4]>::try_from(rest).ok();
    let mut row = Row::new(size.line, 0..0, Kind::Gemm, "contraction");
    row.shape = GemmShape::of_long([*m, *n, *k, *batch], leading).map(Shape::Gemm);
    of_problem(&mut row, layout, types);
    row.key = Cow::Owned(match &row.shape {
        Ok(shape) => format!("{layout},{types},{shape}"),
        Err(_) => format!("{layout},{types},{numbers:?}"),
    });
    Some(row)
}

/// Sets layout and types of a row.
fn of_problem(row: &mut Row<'_>, layout: &str, types: &str) {
    row.layout = Ok(Cow::Owned(layout.to_owned()));
    row.types =
        if types.is_empty() { Err("the problem type names none") } else { Ok(Cow::Owned(types.to_owned())) };
    row.candidate = Err("a configuration names no winner");
}

/// Reads a configuration of `find_exact.py`.
pub(crate) fn find_exact<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let root = parse(text(bytes)?)?;
    let mut tunings = Tunings::new(name, Format::FindExact, bytes);
    let Some(bench) = root.get("Bench") else { return Ok(tunings) };
    let (layout, types) = bench.get("ProblemType").map(problem_type).unwrap_or_default();
    for (key, value) in bench.get("TestConfig").map(Node::map).unwrap_or_default() {
        let value = Cow::Owned(value.text().unwrap_or_default().to_owned());
        tunings.versions.push(Version { key: Cow::Owned(key.clone()), value, line: bench.line });
    }
    for size in bench.get("ProblemSizes").map(Node::list).unwrap_or_default() {
        match row(size, &layout, &types) {
            Some(row) => tunings.rows.push(row),
            None => tunings.bad_row(size.line, FlawKind::Malformed, "no list of 4 or 8 numbers"),
        }
    }
    Ok(tunings)
}

/// Reads a configuration of TensileLite.
pub(crate) fn tensile<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let root = parse(text(bytes)?)?;
    let mut tunings = Tunings::new(name, Format::TensileConfig, bytes);
    let problems = root.get("BenchmarkProblems").map(Node::list).unwrap_or_default();
    for (at, problem) in problems.iter().enumerate() {
        let Some((head, groups)) = problem.list().split_first() else {
            return Err(Error::new(problem.line, "a benchmark problem is no list of type and groups"));
        };
        let (layout, types) = problem_type(head);
        for (number, group) in groups.iter().enumerate() {
            let mut counts = forked(group)?.into_iter().map(|it| it.values.len() as u64);
            let candidates = counts.try_fold(1u64, |product, count| product.checked_mul(count));
            let key = Cow::Owned(format!("candidates of problem {}, group {}", at + 1, number + 1));
            let value = Cow::Owned(match candidates {
                Some(count) => format!("{count} before the tool rejects some"),
                None => "more than can be counted".to_owned(),
            });
            tunings.versions.push(Version { key, value, line: group.line });
            let last = group.get("BenchmarkFinalParameters").map(Node::list).unwrap_or_default();
            let sizes = last.iter().filter_map(|it| it.get("ProblemSizes")).flat_map(Node::list);
            for size in sizes {
                add(size, &layout, &types, &mut tunings);
            }
            tunings.bounded(group.line)?;
        }
    }
    Ok(tunings)
}

fn add(size: &Node, layout: &str, types: &str, tunings: &mut Tunings<'_>) {
    match size.map().first() {
        Some((key, value)) if key == "Exact" => match row(value, layout, types) {
            Some(row) => tunings.rows.push(row),
            None => {
                tunings.bad_row(size.line, FlawKind::Malformed, "`Exact` is no list of 4 or 8 numbers");
            }
        },
        Some((key, _)) if key == "Range" => {
            let mut row = Row::new(size.line, 0..0, Kind::Gemm, "contraction");
            row.shape = Err("a range of sizes");
            of_problem(&mut row, layout, types);
            tunings.rows.push(row);
        }
        _ => tunings.bad_row(size.line, FlawKind::Malformed, "neither `Exact` nor `Range`"),
    }
}

/// Reads the sizes of a problem set: lines `- { M: 16, N: 16, K: 1024 }`. Includes and anchors of other files
/// stay unread.
pub(crate) fn problem_set<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::BenchProblems, bytes);
    let mut first_of_test = 0;
    let mut transposed = [None; 2];
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        let trimmed = line.text.trim();
        if trimmed.starts_with('#') {
            continue;
        }
        if trimmed.starts_with("- name:") {
            layout(&mut tunings, first_of_test, transposed);
            first_of_test = tunings.rows.len();
            transposed = [None; 2];
        }
        for (at, key) in ["transA:", "transB:"].iter().enumerate() {
            if let Some(value) = trimmed.strip_prefix(key) {
                transposed[at] = Some(value.trim());
            }
        }
        let Some(inner) = trimmed.strip_prefix("- {").and_then(|it| it.strip_suffix('}')) else { continue };
        let size = |name: &str| {
            inner
                .split(',')
                .find_map(|it| it.trim().strip_prefix(name))
                .and_then(|it| it.trim().parse::<u64>().ok())
        };
        let (Some(m), Some(n), Some(k)) = (size("M:"), size("N:"), size("K:")) else { continue };
        let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, "matmul");
        row.shape = GemmShape::of_long([m, n, k, 1], None).map(Shape::Gemm);
        row.key = Cow::Owned(match &row.shape {
            Ok(shape) => shape.to_string(),
            Err(_) => format!("{m}x{n}x{k}"),
        });
        row.types = Err("the types are an anchor of another file");
        row.candidate = Err("a problem set names no winner");
        tunings.rows.push(row);
    }
    layout(&mut tunings, first_of_test, transposed);
    Ok(tunings)
}

/// Sets the transposition, which follows below the rows, on the rows of one test.
fn layout(tunings: &mut Tunings<'_>, from: usize, transposed: [Option<&str>; 2]) {
    let [Some(a), Some(b)] = transposed else { return };
    for row in tunings.rows.iter_mut().skip(from) {
        row.layout = Ok(Cow::Owned(format!("{a}{b}")));
    }
}
