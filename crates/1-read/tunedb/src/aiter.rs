//! AITER's tuned and untuned tables.
//!
//! 18 headers exist and the order of columns differs between files of one family, so columns are found by
//! name; the key is every column before the first result, and a row that lacks a field in the middle is not
//! read as if it lacked the last.

pub use crate::columns::Columns;
use crate::error::Error;
use crate::format::Format;
use crate::lines::{Line, TextCheck, count_lines, fields, lines};
use crate::model::{Detail, FlawKind, GemmShape, Kind, MoeShape, Row, Said, Shape, Stated, Tunings, time};
use sorting::Sort;
use std::borrow::Cow;

/// Columns that are results. Those before the first of them are the key.
const RESULTS: [&str; 14] = [
    "libtype",
    "kernelId",
    "solidx",
    "splitK",
    "block_m",
    "tile_m",
    "kernelName",
    "kernelName1",
    "BV",
    "NUM_BLOCKS_PER_V_DIM",
    "us",
    "us1",
    "duration",
    "ksplit",
];
/// Columns that no table of another program has together with commas and no blank.
const SIGNS: [&str; 10] = [
    "scaleAB",
    "cu_num",
    "q_dtype_w",
    "model_dim",
    "T_flat",
    "num_k_heads",
    "is_varlen",
    "bpreshuffle",
    "kernelId",
    "libtype",
];
/// A second row for a shape, used only where the first backend is missing.
const FALLBACK: &str = "flydsl_fallback";

/// The columns of a header.
fn columns_of<'a>(header: &'a str, name: &str) -> Columns<'a> {
    let names: Vec<&str> = fields(header).into_iter().map(str::trim).collect();
    let first = names.iter().position(|it| RESULTS.contains(it)).unwrap_or(names.len());
    let is_key = names.iter().enumerate().map(|(at, name)| at < first || *name == "_tag").collect();
    Columns { family: family(name, &names), names, is_key, header }
}

/// Operation that a table tunes, from its file's name, or from its columns if the name does not tell.
fn family(name: &str, columns: &[&str]) -> String {
    let base = name.rsplit('/').next().unwrap_or(name);
    let has = |column: &str| columns.contains(&column);
    const FAMILIES: [&str; 8] = [
        "a8w8_blockscale_bpreshuffle",
        "a8w8_blockscale",
        "a8w8_bpreshuffle",
        "a4w4_blockscale",
        "grouped_fmoe",
        "fhmoe",
        "gdr_decode",
        "chunk_gdn_h_opt",
    ];
    if has("model_dim") {
        return FAMILIES
            .iter()
            .find(|it| base.contains(**it) && it.contains("moe"))
            .unwrap_or(&"fmoe")
            .to_string();
    }
    if let Some(found) = FAMILIES.iter().find(|it| base.contains(**it) && !it.contains("moe")) {
        let batched = has("B") || has("b");
        return if batched { format!("batched {found}") } else { (*found).to_owned() };
    }
    let gemm = [("scaleAB", "bf16"), ("q_dtype_w", "a8w8")].iter().find(|(column, _)| has(column));
    match gemm {
        _ if has("T_flat") || has("chunk_gdn") => "chunk_gdn_h".to_owned(),
        _ if has("B") || has("b") => {
            format!("batched {}", if base.contains("bf16") { "bf16" } else { "gemm" })
        }
        Some((_, name)) => (*name).to_owned(),
        None if base.contains("a8w8") => "a8w8".to_owned(),
        None if base.contains("bf16") => "bf16".to_owned(),
        None => "gemm".to_owned(),
    }
}

/// Whether the first line is the header of a table.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    let first = lines(bytes).next()?;
    let names: Vec<&str> = first.text.split(',').map(str::trim).collect();
    let sizes = ["M", "N", "K"].iter().all(|it| names.contains(it));
    let signed = names.iter().any(|it| SIGNS.contains(it));
    let short = sizes && names.len() <= 4;
    if !signed && !short {
        return None;
    }
    let columns = columns_of(first.text, "");
    Some(if columns.is_tuned() { Format::AiterTuned } else { Format::AiterUntuned })
}

/// Reads a table.
pub(crate) fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut all = lines(bytes);
    let Some(first) = all.next() else { return Err(Error::new(0, "the file is empty")) };
    let columns = columns_of(first.text, name);
    let tuned = columns.is_tuned();
    let format = if tuned { Format::AiterTuned } else { Format::AiterUntuned };
    let mut tunings = Tunings::new(name, format, bytes);
    let mut check = TextCheck::default();
    check.see(&first);
    count_lines(bytes)?;
    let numeric = Numeric::of(&columns, bytes);
    for line in all {
        tunings.bounded(line.number)?;
        check.see(&line);
        if line.invalid {
            tunings.bad_row(line.number, FlawKind::Malformed, "bytes that are no UTF-8 text");
        }
        if line.text.trim().is_empty() {
            continue;
        }
        one(&line, &columns, &numeric, &mut tunings);
    }
    check.note(&mut tunings);
    tunings.flaws.in_order_by_key(|flaw| (flaw.line, flaw.kind));
    tunings.detail = Detail::Columns(columns);
    Ok(tunings)
}

/// Columns whose values are numeric in every complete row.
struct Numeric {
    /// A number.
    number: Vec<bool>,
    /// 0 or 1.
    flag: Vec<bool>,
}

impl Numeric {
    fn of(columns: &Columns<'_>, bytes: &[u8]) -> Numeric {
        let count = columns.names.len();
        let (mut number, mut flag) = (vec![true; count], vec![true; count]);
        let mut any = false;
        for line in lines(bytes).skip(1).take(10_000) {
            let values = fields(line.text);
            if values.len() != count {
                continue;
            }
            any = true;
            for (at, value) in values.iter().enumerate() {
                number[at] &= value.trim().parse::<f64>().is_ok();
                flag[at] &= matches!(value.trim(), "0" | "1");
            }
        }
        if any {
            Numeric { number, flag }
        } else {
            Numeric { number: vec![false; count], flag: vec![false; count] }
        }
    }

    /// The first column whose value is not what it is in whole rows.
    fn contradicted(&self, values: &[&str]) -> Option<usize> {
        values.iter().enumerate().position(|(at, value)| {
            let value = value.trim();
            let number = self.number.get(at).copied().unwrap_or(false);
            let flag = self.flag.get(at).copied().unwrap_or(false);
            number && value.parse::<f64>().is_err() || flag && !matches!(value, "0" | "1")
        })
    }
}

fn one<'a>(line: &Line<'a>, columns: &Columns<'a>, numeric: &Numeric, tunings: &mut Tunings<'a>) {
    let values = fields(line.text);
    let number = line.number;
    let (have, want) = (values.len(), columns.names.len());
    let mut shifted = false;
    if have > want {
        tunings.bad_row(number, FlawKind::Malformed, format!("{have} fields for {want} columns"));
    } else if have < want {
        match numeric.contradicted(&values) {
            Some(at) => {
                shifted = true;
                let name = columns.names[at];
                let text = format!(
                    "{have} fields for {want} columns: `{name}` holds `{}`, so it or one before it is missing",
                    values[at].trim()
                );
                tunings.bad_row(number, FlawKind::ShiftedFields, text);
            }
            None => {
                let names = columns.names[have..].join("`, `");
                tunings.flaw(number, FlawKind::ShortFields, format!("the last column `{names}` is missing"));
            }
        }
    }
    let is_key = |at: usize| columns.is_key.get(at).copied().unwrap_or(false);
    if let Some(at) =
        (0..have.min(want)).find(|at| is_key(*at) && numeric.number[*at] && values[*at].trim().is_empty())
    {
        let text = format!("`{}` is empty", columns.names[at]);
        tunings.flaw(number, FlawKind::Malformed, text);
    }
    let mut row = Row::new(number, line.span.clone(), kind(columns), Cow::Owned(columns.family.clone()));
    row.key = key(columns, &values);
    describe(columns, &values, &mut row);
    if columns.is_tuned() {
        results(columns, &values, shifted, &mut row);
    } else {
        row.candidate = Err("an untuned problem has none");
    }
    if row.shape.is_err() && row.kind == Kind::Gemm {
        tunings.bad_row(number, FlawKind::Malformed, "a size is no number");
    }
    tunings.rows.push(row);
}

fn kind(columns: &Columns<'_>) -> Kind {
    match () {
        () if columns.at("model_dim").is_some() => Kind::Moe,
        () if columns.any(&["M", "m"]).is_some() && columns.any(&["N", "n"]).is_some() => Kind::Gemm,
        () => Kind::Kernel,
    }
}

/// The values of the key columns, by the order of their names in the table.
fn key<'a>(columns: &Columns<'_>, values: &[&'a str]) -> Cow<'a, str> {
    let mut out = String::with_capacity(64);
    for (value, _) in values.iter().zip(&columns.is_key).filter(|(_, is_key)| **is_key) {
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(value.trim());
    }
    // Rows of one table may or may not have the last, empty field.
    Cow::Owned(out.trim_end_matches(',').to_owned())
}

fn describe<'a>(columns: &Columns<'_>, values: &[&'a str], row: &mut Row<'a>) {
    let value = |names: &[&str]| columns.value(values, names);
    let size = |names: &[&str]| value(names).and_then(|it| it.parse::<u64>().ok());
    row.target = match value(&["gfx", "arch"]) {
        Some(it) if !it.is_empty() => Ok(Cow::Borrowed(it)),
        Some(_) => Err("the column `gfx` is empty"),
        None if columns.is_tuned() => Err("no column `gfx`: any GPU with that number of compute units"),
        None => Err("no column `gfx`"),
    };
    row.cu_count = match value(&["cu_num"]) {
        Some(it) => it.parse().map_err(|_| "the column `cu_num` is empty"),
        None => Err("no column `cu_num`"),
    };
    row.layout = Err("AITER's tables name no transposition: A is row-major, B is given as its transpose");
    row.shape = match row.kind {
        Kind::Gemm => match (size(&["M", "m"]), size(&["N", "n"]), size(&["K", "k"])) {
            (Some(m), Some(n), Some(k)) => {
                let batch = size(&["B", "b"]).unwrap_or(1);
                GemmShape::of_long([m, n, k, batch], None).map(Shape::Gemm)
            }
            _ => Err("a size is no number"),
        },
        Kind::Moe => match (size(&["token"]), size(&["expert"])) {
            (Some(tokens), Some(experts)) => Ok(Shape::Moe(Box::new(MoeShape {
                tokens,
                experts,
                model: size(&["model_dim"]),
                inter: size(&["inter_dim"]),
                top_k: size(&["topk"]),
            }))),
            _ => Err("a size is no number"),
        },
        _ => Ok(Shape::Text(Cow::Owned(pairs(columns, values)))),
    };
    row.types = types(columns, values);
}

/// The sizes of a kernel other than a GEMM: key columns with their values.
fn pairs(columns: &Columns<'_>, values: &[&str]) -> String {
    const NO_SIZE: [&str; 6] = ["gfx", "arch", "cu_num", "dtype", "state_dtype", "_tag"];
    let keys = columns.names.iter().zip(values).zip(&columns.is_key);
    let sizes = keys.filter(|((name, _), is_key)| **is_key && !NO_SIZE.contains(name));
    let words: Vec<String> = sizes.map(|((name, value), _)| format!("{name}={}", value.trim())).collect();
    words.join(" ")
}

fn types<'a>(columns: &Columns<'_>, values: &[&'a str]) -> Said<Cow<'a, str>> {
    let value = |name: &str| columns.value(values, &[name]).filter(|it| !it.is_empty());
    if let (Some(a), Some(w)) = (value("q_dtype_a"), value("q_dtype_w")) {
        return Ok(Cow::Owned(format!("{a},{w}")));
    }
    if let Some(it) = value("q_dtype_w").or_else(|| value("dtype")) {
        return Ok(Cow::Borrowed(it));
    }
    ["a8w8", "a4w4", "bf16"]
        .into_iter()
        .find(|it| columns.family.contains(it))
        .map(Cow::Borrowed)
        .ok_or("neither a column nor the file's name says the types")
}

fn results<'a>(columns: &Columns<'_>, values: &[&'a str], shifted: bool, row: &mut Row<'a>) {
    let value = |names: &[&str]| columns.value(values, names);
    const CANDIDATE: [&str; 12] = [
        "libtype",
        "kernelId",
        "solidx",
        "splitK",
        "block_m",
        "ksplit",
        "kernelName",
        "kernelName1",
        "kernelName2",
        "BV",
        "NUM_BLOCKS_PER_V_DIM",
        "NUM_WARPS",
    ];
    let mut words = Vec::new();
    for name in CANDIDATE {
        match (name, value(&[name])) {
            (_, None | Some("")) => {}
            ("libtype" | "kernelName" | "kernelName1" | "kernelName2", Some(it)) => words.push(it.to_owned()),
            (name, Some(it)) => words.push(format!("{name} {it}")),
        }
    }
    row.candidate = Ok(Cow::Owned(words.join(" ")));
    row.time_us = match value(&["us", "duration"]) {
        Some(it) => time::parse(it, 1.0),
        None if columns.any(&["us", "duration"]).is_none() => Err("the table has no column of times"),
        None => Err(time::ABSENT),
    };
    let tera_flops = match value(&["tflops"]) {
        _ if shifted => Err("the columns after the gap are shifted"),
        Some(it) => match it.parse::<f64>() {
            Ok(rate) if rate > 0.0 && rate.is_finite() => Ok(rate),
            Ok(_) => Err("the rate is 0: not stated"),
            Err(_) => Err("the rate is no number"),
        },
        None => Err("no column `tflops`"),
    };
    let errors = ["errRatio", "err_ratio", "err1", "err2"].iter().filter_map(|name| value(&[name]));
    let error = errors.filter_map(share).reduce(f64::max).ok_or("no column of errors");
    row.stated = Some(Box::new(Stated { tera_flops, error }));
}

/// `0.8%`, `0.0`, `0` as a share.
fn share(text: &str) -> Option<f64> {
    let (text, scale) = text.strip_suffix('%').map_or((text, 1.0), |it| (it, 0.01));
    text.trim().parse::<f64>().ok().filter(|it| it.is_finite()).map(|it| it * scale)
}

/// Whether a row is the second choice for its shape.
pub fn is_fallback(row: &Row<'_>) -> bool {
    row.key.ends_with(FALLBACK)
}

/// `M` rounded up as the fine search of AITER's lookup does: to 16, 32, 64 or 128 rows.
pub fn padded_fine(m: u64) -> u64 {
    let step = match m {
        0..=256 => 16,
        257..=1024 => 32,
        1025..=4096 => 64,
        _ => 128,
    };
    m.div_ceil(step).saturating_mul(step)
}

/// `M` as the coarse search of AITER's lookup has it: rounded up to a power of two, and 8192 for more rows of a
/// result that is wider than 4096.
pub fn padded_coarse(m: u64, n: u64) -> u64 {
    if m > 8192 && n > 4096 { 8192 } else { m.checked_next_power_of_two().unwrap_or(m) }
}

/// Numbers of tokens from which on AITER's mixtures of experts share one row, largest first.
const TIERS: [u64; 2] = [131_072, 32_768];

/// The numbers of tokens that AITER's mixtures of experts look up, one after the other: a power of two, and
/// beyond the largest of them a tier, then the tier below.
pub fn padded_tokens(tokens: u64) -> Vec<u64> {
    let tiers: Vec<u64> = TIERS.into_iter().filter(|tier| tokens >= *tier).collect();
    if tiers.is_empty() { vec![tokens.checked_next_power_of_two().unwrap_or(tokens)] } else { tiers }
}
