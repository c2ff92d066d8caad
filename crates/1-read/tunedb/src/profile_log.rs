//! Problems that hipBLASLt and rocBLAS log with their number of calls: a line of YAML for each
//! (`HIPBLASLT_LOG_MASK=64`, `ROCBLAS_LAYER=4`), and commands of rocblas-bench (`ROCBLAS_LAYER=2`).

use crate::error::Error;
use crate::format::Format;
use crate::lines::{Line, lines};
use crate::model::{FlawKind, GemmShape, Kind, Row, Said, Shape, Tunings};
use std::borrow::Cow;
use std::collections::HashMap;

const COMMAND: &str = "rocblas-bench ";
const HEAD: usize = 20_000;

/// Detects whose log this is.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    lines(bytes).take(HEAD).find_map(|line| match () {
        () if mapping(line.text).is_some_and(|it| !it.contains("rocblas_function")) => {
            Some(Format::ProblemProfile)
        }
        () if mapping(line.text).is_some() || command(line.text).is_some() => Some(Format::RocblasLog),
        () => None,
    })
}

/// The text of a mapping that is a call of a library.
fn mapping(text: &str) -> Option<&str> {
    let (_, inner) = text.split_once('{')?;
    let is_call = inner.contains("rocblas_function") || inner.contains("function: matmul");
    is_call.then(|| inner.split('}').next().unwrap_or(inner))
}

/// A command for matrix products.
fn command(text: &str) -> Option<&str> {
    let at = text.find(COMMAND)?;
    let command = text[at..].trim_end();
    command.contains(" -f gemm").then_some(command)
}

/// Reads a log. Equal problems are one row with the sum of their calls.
pub(crate) fn read<'a>(name: &str, bytes: &'a [u8], format: Format) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, format, bytes);
    let mut seen: HashMap<String, usize> = HashMap::new();
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        let found = match mapping(line.text) {
            Some(inner) => of_mapping(&line, inner),
            None => command(line.text).map(|it| of_command(&line, it)),
        };
        let Some(row) = found else { continue };
        // Other functions of rocBLAS are no products.
        if !row.operation.contains("gemm") && row.operation != "matmul" {
            continue;
        }
        if row.shape.is_err() {
            tunings.bad_row(line.number, FlawKind::CutLine, "the line names no sizes");
            continue;
        }
        match seen.get(row.key.as_ref()) {
            Some(at) => tunings.rows[*at].calls += row.calls,
            None => {
                seen.insert(row.key.to_string(), tunings.rows.len());
                tunings.rows.push(row);
            }
        }
    }
    Ok(tunings)
}

/// Values of a problem, by the names of a format.
struct Values<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Values<'a> {
    fn text(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.pairs.iter().find(|it| it.0 == *name)).map(|it| it.1)
    }

    fn size(&self, names: &[&str]) -> Option<u64> {
        self.text(names)?.parse().ok()
    }
}

/// `function: matmul, M: 1536, …, call_count: 12 }`.
fn of_mapping<'a>(line: &Line<'a>, text: &'a str) -> Option<Row<'a>> {
    let unquoted = |it: &'a str| it.trim().trim_matches(['"', '\'']);
    let pairs = text.split(',').filter_map(|it| it.split_once(':'));
    let values = Values { pairs: pairs.map(|(name, value)| (unquoted(name), unquoted(value))).collect() };
    let operation = values.text(&["function", "rocblas_function"])?;
    let mut row = problem(line, &values, operation);
    let kept = text.split(',').filter(|it| !it.trim_start().starts_with("call_count:"));
    row.key = Cow::Owned(kept.collect::<Vec<_>>().join(",").trim().to_owned());
    row.calls = values.size(&["call_count"]).unwrap_or(1).max(1);
    Some(row)
}

/// `rocblas-bench -f gemm_ex --transposeA N -m 8 …`.
fn of_command<'a>(line: &Line<'a>, command: &'a str) -> Row<'a> {
    let words: Vec<&str> = command.split_ascii_whitespace().collect();
    let pairs = words.windows(2).filter(|it| it[0].starts_with('-'));
    let values = Values { pairs: pairs.map(|it| (it[0].trim_start_matches('-'), it[1])).collect() };
    let mut row = problem(line, &values, values.text(&["f"]).unwrap_or_default());
    row.key = Cow::Borrowed(command);
    row
}

fn problem<'a>(line: &Line<'a>, values: &Values<'a>, operation: &'a str) -> Row<'a> {
    let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, operation);
    row.layout = match (values.text(&["transA", "transposeA"]), values.text(&["transB", "transposeB"])) {
        (Some(a), Some(b)) => Ok(Cow::Owned(format!("{a}{b}"))),
        _ => Err("the line names no transposition"),
    };
    row.types = types(values, operation);
    row.shape = sizes(values);
    row.candidate = match values.text(&["solution_index"]) {
        Some(index) if index != "0" && index != "-1" => Ok(Cow::Borrowed(index)),
        _ => Err("the call leaves the choice to the library"),
    };
    row.time_us = Err("a logged problem has no time");
    row
}

fn types<'a>(values: &Values<'a>, operation: &str) -> Said<Cow<'a, str>> {
    let xf32 = values.text(&["compute_type"]).is_some_and(|it| it.trim_start_matches("c_") == "xf32_r");
    match (values.text(&["a_type", "r"]), values.text(&["b_type", "r"])) {
        (Some(_), Some(_)) if xf32 => Ok(Cow::Borrowed("xf32_r")),
        (Some(a), Some(b)) if a == b => Ok(Cow::Borrowed(a)),
        (Some(a), Some(b)) => Ok(Cow::Owned(format!("{a}/{b}"))),
        // The name of a function for one type begins with its letter.
        _ => match operation.trim_start_matches("rocblas_").chars().next() {
            Some('h') => Ok(Cow::Borrowed("f16_r")),
            Some('s') => Ok(Cow::Borrowed("f32_r")),
            Some('d') => Ok(Cow::Borrowed("f64_r")),
            _ => Err("the line names no types"),
        },
    }
}

fn sizes<'a>(values: &Values<'_>) -> Said<Shape<'a>> {
    let (Some(m), Some(n), Some(k)) =
        (values.size(&["M", "m"]), values.size(&["N", "n"]), values.size(&["K", "k"]))
    else {
        return Err("the line names no sizes");
    };
    let [a, b, c, d] = [["lda"], ["ldb"], ["ldc"], ["ldd"]].map(|it| values.size(&it));
    // Functions for one type write C in place.
    let leading = match (a, b, c) {
        (Some(a), Some(b), Some(c)) => Some([a, b, c, d.unwrap_or(c)]),
        _ => None,
    };
    let batch = values.size(&["batch_count", "batch"]).unwrap_or(1);
    GemmShape::of_long([m, n, k, batch], leading).map(Shape::Gemm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_come_with_their_calls() {
        let profile = "- { function: matmul, M: 96, N: 8, K: 64, lda: 64, ldb: 64, ldc: 96, ldd: 96, transA: T, transB: N, batch_count: 2, a_type: f16_r, b_type: f16_r, compute_type: c_f32_r, call_count: 12 }\n";
        let rocblas = "- { rocblas_function: \"rocblas_gemm_ex\", atomics_mode: atomics_allowed, a_type: \"bf16_r\", b_type: \"bf16_r\", compute_type: \"f32_r\", transA: 'T', transB: 'N', M: 96, N: 8, K: 64, lda: 64, ldb: 64, ldc: 96, ldd: 96, batch_count: 1, solution_index: 0, call_count: 3 }\n";
        let sgemm = "- { rocblas_function: \"rocblas_sgemm\", transA: 'N', transB: 'N', M: 96, N: 8, K: 64, lda: 96, ldb: 64, ldc: 96, call_count: 4 }\n";
        let quoted = "- {'rocblas_function': 'gemm_ex', 'transA': 'T', 'transB': 'N', 'M': 96, 'N': 8, 'K': 64, 'alpha': 1, 'a_type': 'f32_r', 'lda': 64, 'b_type': 'f32_r', 'ldb': 64, 'ldc': 96, 'ldd': 96}\n";
        let axpy = "- { rocblas_function: \"rocblas_saxpy\", N: 8, call_count: 4 }\n";
        let bench = "[rank1]: ./rocblas-bench -f gemm_ex --transposeA N --transposeB T -m 96 -n 8 -k 64 --alpha 1 --a_type f16_r --lda 96 --b_type f16_r --ldb 8 --beta 0 --c_type f16_r --ldc 96 --d_type f16_r --ldd 96 --compute_type f32_r --algo 0 --solution_index 77\n";
        for (text, format, shape, layout, types, calls) in [
            (profile.repeat(2), Format::ProblemProfile, "96x8x64 batch 2 ld 64,64,96", "TN", "f16_r", 24),
            (rocblas.to_owned(), Format::RocblasLog, "96x8x64 ld 64,64,96", "TN", "bf16_r", 3),
            (quoted.to_owned(), Format::RocblasLog, "96x8x64 ld 64,64,96", "TN", "f32_r", 1),
            (format!("{axpy}{sgemm}"), Format::RocblasLog, "96x8x64 ld 96,64,96", "NN", "f32_r", 4),
            (bench.repeat(3), Format::RocblasLog, "96x8x64 ld 96,8,96", "NT", "f16_r", 3),
        ] {
            let log = crate::read("log.yaml", text.as_bytes()).unwrap();
            assert_eq!((log.format, log.rows.len()), (format, 1), "{text}");
            let row = &log.rows[0];
            assert_eq!(row.shape.as_ref().unwrap().to_string(), shape, "{text}");
            assert_eq!((row.layout.as_deref(), row.types.as_deref()), (Ok(layout), Ok(types)), "{text}");
            assert_eq!(row.calls, calls, "{text}");
            assert_eq!(log.write(), text.as_bytes());
        }
    }
}
