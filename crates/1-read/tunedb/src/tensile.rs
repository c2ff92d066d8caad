//! Results of TensileLite: benchmark data as CSV, the client's log.
//!
//! The first column is headed `GFlops` and holds the problem's number; rates are in one column per solution,
//! where -1 means not run.

use crate::error::Error;
use crate::format::Format;
use crate::lines::{fields, lines};
use crate::model::{FlawKind, GemmShape, Kind, Row, Said, Shape, Stated, Tunings, time};
use std::borrow::Cow;

const DATA: &str = "GFlops, SizeI,";
const LOG: &str = "run,problem-progress,solution-progress,";

/// Detects which of the two formats a text has.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    lines(bytes).take(200).find_map(|line| match line.text {
        it if it.starts_with(DATA) => Some(Format::TensileData),
        it if it.starts_with(LOG) => Some(Format::TensileLog),
        _ => None,
    })
}

/// Reads benchmark data: a row for each solution that ran.
pub(crate) fn data<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::TensileData, bytes);
    let mut names: Vec<&'a str> = Vec::new();
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        let values: Vec<&'a str> = fields(line.text).into_iter().map(str::trim).collect();
        if line.text.starts_with(DATA) {
            names = values;
            continue;
        }
        if line.text.trim().is_empty() || names.is_empty() {
            continue;
        }
        if values.len() != names.len() {
            let text = format!("{} values under {} columns", values.len(), names.len());
            tunings.bad_row(line.number, FlawKind::CutLine, text);
            continue;
        }
        let value = |name: &str| names.iter().position(|it| *it == name).map(|at| values[at]);
        let size = |name: &str| value(name).and_then(|it| it.parse::<u64>().ok());
        let shape = match (size("SizeI"), size("SizeJ"), size("SizeK"), size("SizeL")) {
            (Some(m), Some(n), Some(batch), Some(k)) => {
                let leading = match (size("LDA"), size("LDB"), size("LDC"), size("LDD")) {
                    (Some(a), Some(b), Some(c), Some(d)) => Some([a, b, c, d]),
                    _ => None,
                };
                GemmShape::of_long([m, n, k, batch], leading)
            }
            _ => Err("a size is no number"),
        };
        let first = names.iter().rposition(|it| is_problem_column(it)).map_or(0, |at| at + 1);
        let solutions = names.iter().zip(&values).skip(first);
        for (name, rate) in solutions {
            let rate = rate.parse::<f64>().unwrap_or(f64::NAN);
            if rate == -1.0 {
                continue;
            }
            tunings.bounded(line.number)?;
            tunings.rows.push(solution(line.number, line.span.clone(), name, rate, shape));
        }
    }
    Ok(tunings)
}

fn is_problem_column(name: &str) -> bool {
    name == "GFlops"
        || name.starts_with("Size")
        || matches!(name, "LDA" | "LDB" | "LDC" | "LDD" | "TotalFlops" | "TilesPerCu" | "TotalGranularity")
        || name.starts_with("Winner")
}

fn solution<'a>(
    line: u32,
    span: std::ops::Range<usize>,
    name: &'a str,
    rate: f64,
    shape: Said<GemmShape>,
) -> Row<'a> {
    let mut row = Row::new(line, span, Kind::Gemm, "contraction");
    row.candidate = Ok(Cow::Borrowed(name));
    row.shape = shape.map(Shape::Gemm);
    row.key = Cow::Owned(row.shape.as_ref().map(ToString::to_string).unwrap_or_default());
    let flop = row.flop();
    let rate =
        if rate > 0.0 && rate.is_finite() { Ok(rate / 1e3) } else { Err("the rate is no measurement") };
    row.stated = Stated::rate(rate);
    row.time_us = match (flop, rate) {
        (Some(flop), Ok(rate)) => time::check(flop / rate / 1e6),
        _ => Err("the rate is no measurement"),
    };
    row
}

/// Reads the client's log: a row for each run that passed.
pub(crate) fn log<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::TensileLog, bytes);
    let mut names: Vec<&'a str> = Vec::new();
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        if line.text.starts_with(LOG) {
            names = fields(line.text);
            continue;
        }
        let values = fields(line.text);
        if names.is_empty() || values.len() != names.len() {
            continue;
        }
        let value =
            |name: &str| names.iter().position(|it| *it == name).map(|at| values[at]).unwrap_or_default();
        if value("run").parse::<u32>().is_err() {
            continue;
        }
        let sizes: Vec<u64> = value("problem-sizes")
            .trim_matches(['(', ')'])
            .split(',')
            .filter_map(|it| it.trim().parse().ok())
            .collect();
        let shape = match sizes.as_slice() {
            [m, n, batch, k, ..] => GemmShape::of_long([*m, *n, *k, *batch], None),
            _ => Err("the line names no sizes"),
        };
        let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, "contraction");
        row.shape = shape.map(Shape::Gemm);
        let activation = value("activation-type");
        row.key = Cow::Owned(format!("{},{activation}", value("problem-sizes")));
        row.candidate = Ok(Cow::Borrowed(value("solution")));
        let validation = value("validation");
        row.time_us = match validation {
            "PASSED" | "NO_CHECK" => time::parse(value("time-us"), 1.0),
            _ => Err("the result was not validated as right"),
        };
        if !matches!(validation, "PASSED" | "NO_CHECK") {
            let text = format!("`{}`: validation {validation}", value("solution"));
            tunings.bad_row(line.number, FlawKind::WrongResult, text);
        }
        let rate = value("gflops").parse::<f64>().ok().filter(|it| *it > 0.0 && it.is_finite());
        row.stated = Stated::rate(rate.map(|it| it / 1e3).ok_or("the rate is no measurement"));
        tunings.rows.push(row);
    }
    Ok(tunings)
}
