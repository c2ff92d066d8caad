//! PyTorch TunableOp: results, untuned GEMMs, verbose logs.
//!
//! PyTorch splits lines at commas and looks a GEMM up by the text of operation and sizes, so the key here is
//! that text; sizes are column-major, so `m` and `n` of a `torch.mm` appear swapped.

use crate::error::Error;
use crate::format::Format;
use crate::lines::{Ending, Line, TextCheck, count_lines, lines, parts};
use crate::model::{FlawKind, GemmShape, Kind, MOST_ROWS, Row, Said, Shape, Tunings, Version, time};
use sorting::Sort;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Operations PyTorch knows.
const OPERATIONS: [&str; 4] =
    ["GemmTunableOp", "GemmAndBiasTunableOp", "GemmStridedBatchedTunableOp", "ScaledGemmTunableOp"];
/// Marker in verbose logs before an operation is tuned.
const FOUND: &str = " -> ";

/// Versions a results file holds for, in the order PyTorch writes them. One of the second and third is there.
pub const VALIDATORS: [&str; 6] =
    ["PT_VERSION", "ROCM_VERSION", "HIP_VERSION", "HIPBLASLT_VERSION", "GCN_ARCH_NAME", "ROCBLAS_VERSION"];

/// True if the first lines of a text are from a results file or an untuned file.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    let mut untuned = false;
    for line in lines(bytes).take(64) {
        let text = line.text;
        if text.starts_with("Validator,") {
            return Some(Format::TunableOp);
        }
        if text.starts_with("Validator ") || text.starts_with("reading tuning results from") {
            return Some(Format::TunableOpLog);
        }
        if is_operation(text) {
            match text.split(',').nth(2) {
                None => untuned = true,
                Some(third) if third.starts_with("BLAS_PARAMS") => untuned = true,
                Some(_) => return Some(Format::TunableOp),
            }
        }
    }
    untuned.then_some(Format::TunableOpUntuned)
}

fn is_operation(text: &str) -> bool {
    (text.starts_with("Gemm") || text.starts_with("ScaledGemm")) && text.contains("TunableOp_")
}

/// Reads a results file.
pub(crate) fn results<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::TunableOp, bytes);
    // A row has 40 bytes and more.
    let rows = count_lines(bytes)?.min(bytes.len() / 40).min(MOST_ROWS);
    tunings.rows.reserve_exact(rows + 1);
    let mut check = TextCheck::default();
    let mut last_cut = None;
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        check.see(&line);
        if line.text.is_empty() {
            if line.invalid {
                tunings.flaw(line.number, FlawKind::Malformed, "bytes that are no UTF-8 text");
            }
            continue;
        }
        if let Some(rest) = line.text.strip_prefix("Validator,") {
            match rest.split_once(',') {
                Some((key, value)) => {
                    let (key, value) = (Cow::Borrowed(key), Cow::Borrowed(value));
                    tunings.versions.push(Version { key, value, line: line.number });
                }
                None => tunings.flaw(line.number, FlawKind::Malformed, "a validator without a value"),
            }
            continue;
        }
        last_cut = result_row(&line, &mut tunings).then_some(line.number);
    }
    if let Some(number) = last_cut {
        cut(&mut tunings, number);
    }
    check.note(&mut tunings);
    tunings.flaws.in_order_by_key(|flaw| (flaw.line, flaw.kind));
    target(&mut tunings);
    Ok(tunings)
}

/// Reads one line of results. Returns whether it is a last line that may be cut.
fn result_row<'a>(line: &Line<'a>, tunings: &mut Tunings<'a>) -> bool {
    let number = line.number;
    let ends_here = line.ending == Ending::Nothing;
    let mut fields = parts(line.text, b',');
    let (Some(operation), Some(params), Some(solution)) = (fields.next(), fields.next(), fields.next())
    else {
        tunings.bad_row(number, FlawKind::Malformed, "fewer than 3 fields: PyTorch leaves the line out");
        return ends_here;
    };
    let rest = fields.rest;
    let mut row = Row::new(number, line.span.clone(), Kind::Gemm, operation);
    row.key = Cow::Borrowed(&line.text[..operation.len() + 1 + params.len()]);
    row.candidate = Ok(Cow::Borrowed(solution));
    let (ms, more) = (fields.next(), fields.rest);
    row.time_us = ms.map_or(Err(time::ABSENT), |ms| time::parse(ms, 1e3));
    if row.time_us == Err(time::NO_NUMBER) {
        let text = format!("`{}` is no time: PyTorch reads it as 0", ms.unwrap_or_default());
        tunings.bad_row(number, FlawKind::Malformed, text);
    }
    if let Some(more) = more.filter(|more| !more.starts_with("BLAS_PARAMS")) {
        tunings.flaw(number, FlawKind::Malformed, format!("unknown field `{more}` after the time"));
    }
    problem(operation, params, &mut row, tunings);
    tunings.rows.push(row);
    ends_here && rest.is_none()
}

/// Fills in what operation and sizes say.
fn problem<'a>(operation: &'a str, params: &'a str, row: &mut Row<'a>, tunings: &mut Tunings<'a>) {
    let number = row.line;
    let Some((name, types, layout)) = split_operation(operation) else {
        tunings.bad_row(number, FlawKind::UnknownOperation, format!("unknown operation `{operation}`"));
        row.shape = Err("the operation is unknown");
        return;
    };
    row.operation = Cow::Borrowed(name);
    row.types = Ok(Cow::Borrowed(types));
    row.layout = Ok(Cow::Borrowed(layout));
    match sizes(params) {
        Ok((own, shape)) => {
            row.shape = shape.map(Shape::Gemm);
            if !own.eq_ignore_ascii_case(layout) {
                let text = format!("`{own}` of the sizes contradicts `{layout}` of the operation");
                tunings.bad_row(number, FlawKind::Contradiction, text);
            }
        }
        Err(reason) => {
            tunings.bad_row(number, FlawKind::Malformed, format!("sizes `{params}`: {reason}"));
            row.shape = Err("the sizes cannot be read");
        }
    }
}

/// Operation, types and transposition of `GemmTunableOp_Half_TN`. Types may contain `_`, so it is read from
/// both ends.
fn split_operation(text: &str) -> Option<(&str, &str, &str)> {
    let mut words = parts(text, b'_');
    let (name, rest) = (words.next()?, words.rest?);
    let (types, layout) = rest.rsplit_once('_')?;
    let transposition = layout.len() == 2 && layout.bytes().all(|it| matches!(it, b'N' | b'T'));
    (OPERATIONS.contains(&name) && transposition && !types.is_empty()).then_some((name, types, layout))
}

/// Transposition and sizes of `tn_51866_16_1280_ld_1280_1280_51866`. `*` instead of a number matches any
/// number.
fn sizes(params: &str) -> Result<(&str, Said<GemmShape>), &'static str> {
    let mut parts = parts(params, b'_').peekable();
    let layout = parts.next().filter(|it| it.len() == 2 && it.bytes().all(|b| matches!(b, b'n' | b't')));
    let layout = layout.ok_or("they do not begin with `nn`, `nt`, `tn` or `tt`")?;
    let mut any = false;
    let mut number = |part: Option<&str>| match part {
        None => Err("a size is missing"),
        Some("*") => {
            any = true;
            Ok(0)
        }
        Some(part) => part.parse::<u64>().map_err(|_| "a size is no number"),
    };
    let [m, n, k] = [number(parts.next())?, number(parts.next())?, number(parts.next())?];
    let (mut batch, mut leading) = (1, None);
    if parts.next_if_eq(&"B").is_some() {
        batch = number(parts.next())?;
    }
    if parts.next_if_eq(&"ld").is_some() {
        let [a, b, c] = [number(parts.next())?, number(parts.next())?, number(parts.next())?];
        leading = Some([a, b, c, c]);
    }
    if parts.next_if_eq(&"rw").is_some() {
        number(parts.next())?;
        if parts.next_if_eq(&"bias").is_some() {
            parts.next().ok_or("the type of the bias is missing")?;
            // The type of a bias may contain `_` too.
            parts.by_ref().for_each(drop);
        }
    }
    if parts.next().is_some() {
        return Err("there is more than sizes");
    }
    if any {
        return Ok((layout, Err("the row stands for any size")));
    }
    Ok((layout, GemmShape::of_long([m, n, k, batch], leading)))
}

/// Notes that the last line of a file has no time and no end.
fn cut(tunings: &mut Tunings<'_>, number: u32) {
    // Old PyTorch wrote no times at all, and a file of that kind may end without a line end.
    let timed = tunings.rows.iter().any(|row| row.time_us != Err(time::ABSENT));
    let row = tunings.rows.last().is_some_and(|row| row.line == number);
    if timed || !row {
        tunings.flaws.retain(|flaw| flaw.line != number);
        tunings.bad_row(number, FlawKind::CutLine, "the last line is cut: no time and no line end");
    }
}

/// Sets the target named by the validators on every row.
fn target(tunings: &mut Tunings<'_>) {
    let target = tunings.versions.iter().find(|it| it.key == "GCN_ARCH_NAME").map(|it| it.value.clone());
    let processor = target.and_then(|it| match it {
        Cow::Borrowed(it) => it.split(':').next(),
        Cow::Owned(_) => None,
    });
    for row in &mut tunings.rows {
        row.target = match processor {
            Some(it) => Ok(Cow::Borrowed(it.trim_end())),
            None if tunings.format == Format::TunableOpLog => Err("the log names no GCN_ARCH_NAME"),
            None => Err("the file has no GCN_ARCH_NAME; PyTorch before 2.4 wrote none"),
        };
        row.cu_count = Err("TunableOp does not record the number of compute units");
    }
}

/// Reads an untuned file: operation and sizes, no versions.
pub(crate) fn untuned<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::TunableOpUntuned, bytes);
    let mut check = TextCheck::default();
    count_lines(bytes)?;
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        check.see(&line);
        if line.text.is_empty() {
            continue;
        }
        let mut parts = line.text.splitn(3, ',');
        let (Some(operation), Some(params)) = (parts.next(), parts.next()) else {
            let text = format!("`{}` is no GEMM: PyTorch leaves the line out", line.text);
            tunings.bad_row(line.number, FlawKind::Malformed, text);
            continue;
        };
        let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, operation);
        row.key = Cow::Borrowed(&line.text[..operation.len() + 1 + params.len()]);
        row.candidate = Err("an untuned problem has none");
        problem(operation, params, &mut row, &mut tunings);
        tunings.rows.push(row);
    }
    check.note(&mut tunings);
    tunings.flaws.in_order_by_key(|flaw| (flaw.line, flaw.kind));
    Ok(tunings)
}

/// Reason why PyTorch's offline tuning skips an untuned GEMM, if it does.
pub fn offline_skips(row: &Row<'_>) -> Option<&'static str> {
    let shape = row.shape.as_ref().ok()?.gemm()?;
    let one = shape.m == 1 || shape.n == 1 || shape.k == 1;
    let layout = row.layout.as_deref().ok()?;
    match row.operation.as_ref() {
        "GemmStridedBatchedTunableOp" if one => Some("a batched GEMM with a dimension of 1"),
        "GemmTunableOp" if layout.starts_with('T') && shape.n == 1 => Some("A is transposed and n = 1"),
        "GemmTunableOp" if one && layout != "NN" => Some("a dimension of 1 that is not NN"),
        _ => None,
    }
}

/// Reads the results and validators that a verbose log names: `OP(SIZES) -> SOLUTION,MS`.
pub(crate) fn log<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::TunableOpLog, bytes);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        if let Some((key, value)) = line.text.strip_prefix("Validator ").and_then(|it| it.split_once('=')) {
            let (key, value) = (Cow::Borrowed(key), Cow::Borrowed(value));
            tunings.versions.push(Version { key, value, line: line.number });
            continue;
        }
        let Some((problem_text, result)) = line.text.split_once(FOUND) else { continue };
        let Some((operation, params)) =
            problem_text.split_once('(').and_then(|(op, rest)| Some((op, rest.strip_suffix(')')?)))
        else {
            continue;
        };
        if split_operation(operation).is_none() {
            continue;
        }
        let (solution, ms) = result.split_once(',').map_or((result, None), |(a, b)| (a, Some(b)));
        let key = format!("{operation},{params}");
        if let Some(at) = seen.get(&key) {
            tunings.rows[*at].calls += 1;
            continue;
        }
        let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, operation);
        seen.insert(key.clone(), tunings.rows.len());
        row.key = Cow::Owned(key);
        row.candidate = Ok(Cow::Borrowed(solution));
        row.time_us = ms.map_or(Err(time::ABSENT), |ms| time::parse(ms, 1e3));
        problem(operation, params, &mut row, &mut tunings);
        tunings.rows.push(row);
    }
    target(&mut tunings);
    Ok(tunings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read_from_both_ends() {
        for (text, expected) in [
            ("GemmTunableOp_Half_TN", Some(("GemmTunableOp", "Half", "TN"))),
            (
                "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN",
                Some(("ScaledGemmTunableOp", "Float8_e4m3fn_Float8_e4m3fn_BFloat16", "TN")),
            ),
            ("GemmTunableOp_c10::complex<float>_NT", Some(("GemmTunableOp", "c10::complex<float>", "NT"))),
            ("Gemm_Half_TN", None),
            ("GemmTunableOp_TN", None),
            ("GemmTunableOp_Half_TX", None),
        ] {
            assert_eq!(split_operation(text), expected, "{text}");
        }
    }

    #[test]
    fn sizes_of_every_generation() {
        let shape = |m, n, k, batch, leading| GemmShape { m, n, k, batch, leading };
        for (text, expected) in [
            ("nt_25088_4096_64", Ok(("nt", Ok(shape(25088, 4096, 64, 1, None))))),
            ("tn_8_9_7_ld_1_2_3", Ok(("tn", Ok(shape(8, 9, 7, 1, Some([1, 2, 3, 3])))))),
            ("nn_8_9_7_B_4_ld_1_2_3", Ok(("nn", Ok(shape(8, 9, 7, 4, Some([1, 2, 3, 3])))))),
            ("tn_8_9_7_ld_1_2_3_rw_1_bias_None", Ok(("tn", Ok(shape(8, 9, 7, 1, Some([1, 2, 3, 3])))))),
            (
                "tn_8_9_7_ld_1_2_3_rw_1_bias_Float8_e4m3fn",
                Ok(("tn", Ok(shape(8, 9, 7, 1, Some([1, 2, 3, 3]))))),
            ),
            ("tn_*_9_7", Ok(("tn", Err("the row stands for any size")))),
            ("tn_8_x_7", Err("a size is no number")),
            ("tn_8_9", Err("a size is missing")),
            ("xx_8_9_7", Err("they do not begin with `nn`, `nt`, `tn` or `tt`")),
            ("tn_8_9_7_6", Err("there is more than sizes")),
        ] {
            assert_eq!(sizes(text), expected, "{text}");
        }
    }

    #[test]
    fn what_offline_tuning_leaves_out() {
        for (line, expected) in [
            ("GemmTunableOp_Half_NN,nn_1_8_8", false),
            ("GemmTunableOp_Half_TN,tn_8_1_8", true),
            ("GemmTunableOp_Half_NT,nt_1_8_8", true),
            ("GemmTunableOp_Half_TN,tn_8_8_8", false),
            ("GemmStridedBatchedTunableOp_float_NN,nn_8_8_1_B_4", true),
            ("GemmAndBiasTunableOp_Half_TN,tn_8_1_8", false),
        ] {
            let read = untuned("t", line.as_bytes()).unwrap();
            assert_eq!(offline_skips(&read.rows[0]).is_some(), expected, "{line}");
        }
    }
}
