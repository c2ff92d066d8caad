//! rocBLAS: tables of rocblas-bench and rocblas-gemm-tune, and its override file.
//!
//! Their headers begin like hipBLASLt's; the column of the rate tells whose a table is.

use crate::columns::Columns;
use crate::error::Error;
use crate::format::Format;
use crate::lines::{Line, fields, lines};
use crate::model::{Detail, FlawKind, GemmShape, Kind, Row, Said, Shape, Stated, Tunings, time};
use std::borrow::Cow;

const HEADER: &str = "transA,transB,";
const RATE: &str = "rocblas-Gflops";
/// Columns that are not part of the problem.
const NOT_KEY: [&str; 6] = ["alpha", "beta", "us", "solution_index", RATE, "rocblas-GB/s"];
const HEAD: usize = 20_000;

/// Whether a line is the header of one of the tables.
fn header(text: &str) -> Option<Format> {
    let text = text.trim();
    let is = |name: &str| text.split(',').any(|it| it.trim() == name);
    match text.starts_with(HEADER) {
        true if is(RATE) => Some(Format::RocblasBench),
        true if is("input_type") && is("solution_index") => Some(Format::RocblasOverride),
        _ => None,
    }
}

/// Detects which of the tables a text has.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    lines(bytes).take(HEAD).find_map(|line| header(line.text))
}

/// Reads rows under their headers, among other lines.
pub(crate) fn read<'a>(name: &str, bytes: &'a [u8], format: Format) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, format, bytes);
    let mut above: Option<Columns<'a>> = None;
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        let text = line.text.trim();
        if header(text).is_some() {
            let names: Vec<&str> = text.split(',').map(str::trim).collect();
            let is_key = names.iter().map(|name| !NOT_KEY.contains(name)).collect();
            above = Some(Columns { names, is_key, header: text, family: "gemm".to_owned() });
            continue;
        }
        let values = fields(text);
        let (Some(columns), Some("N" | "T" | "C")) = (&above, values.first().copied()) else { continue };
        if values.len() < columns.names.len() {
            let text = format!("{} values under {} columns", values.len(), columns.names.len());
            tunings.bad_row(line.number, FlawKind::CutLine, text);
            continue;
        }
        let row = of_values(&line, columns, &values);
        tunings.rows.push(row);
    }
    tunings.detail = above.map_or(Detail::None, Detail::Columns);
    Ok(tunings)
}

fn of_values<'a>(line: &Line<'a>, columns: &Columns<'a>, values: &[&'a str]) -> Row<'a> {
    let value = |names: &[&str]| columns.value(values, names);
    let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, "gemm");
    let keys = columns.names.iter().zip(values).zip(&columns.is_key);
    let key: Vec<&str> = keys.filter(|(_, is_key)| **is_key).map(|((_, value), _)| value.trim()).collect();
    row.key = Cow::Owned(key.join(","));
    row.layout = match (value(&["transA"]), value(&["transB"])) {
        (Some(a), Some(b)) => Ok(Cow::Owned(format!("{a}{b}"))),
        _ => Err("the table has no `transA` and `transB`"),
    };
    row.types = value(&["input_type", "a_type"]).map(Cow::Borrowed).ok_or("the table has no column of types");
    row.shape = sizes(&|names| value(names).and_then(|it| it.parse().ok()));
    row.time_us = match value(&["us"]) {
        Some(us) => time::parse(us, 1.0),
        None => Err(time::NO_COLUMN),
    };
    row.candidate =
        value(&["solution_index"]).map(Cow::Borrowed).ok_or("the table has no column of solutions");
    let rate = value(&[RATE]).and_then(|it| it.parse::<f64>().ok()).filter(|it| *it > 0.0 && it.is_finite());
    row.stated = Stated::rate(rate.map(|it| it / 1e3).ok_or("the table states no rate"));
    row
}

fn sizes<'a>(size: &dyn Fn(&[&str]) -> Option<u64>) -> Said<Shape<'a>> {
    let (Some(m), Some(n), Some(k)) = (size(&["M"]), size(&["N"]), size(&["K"])) else {
        return Err("a size is no number");
    };
    let leading = match (size(&["lda"]), size(&["ldb"]), size(&["ldc"])) {
        (Some(a), Some(b), Some(c)) => Some([a, b, c, size(&["ldd"]).unwrap_or(c)]),
        _ => None,
    };
    GemmShape::of_long([m, n, k, size(&["batch_count"]).unwrap_or(1)], leading).map(Shape::Gemm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_rocblas_are_not_those_of_hipblaslt() {
        let bench = "transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,ldd,batch_count,rocblas-Gflops,rocblas-GB/s,us,solution_index\n\
            N,N,512,64,256,1,512,0,256,512,512,1,400.5,7.1,41.9,0\n\
            N,N,512,64,256,1,512,0,256,512,512,1,600.5,9.1,27.9,18743\n\
            N,N,512\n";
        let choice = "transA,transB,M,N,batch_count,K,alpha,beta,lda,ldb,ldc,input_type,output_type,compute_type,solution_index\n\
            N,T,512,64,2,256,1,0,512,64,512,f16_r,f16_r,f32_r,18743\n";
        let file = crate::read("rb.csv", bench.as_bytes()).unwrap();
        assert_eq!((file.format, file.rows.len(), file.flaws.len()), (Format::RocblasBench, 2, 1));
        assert_eq!(file.rows[0].key, file.rows[1].key);
        assert_eq!((file.rows[1].time_us, file.rows[1].candidate.as_deref()), (Ok(27.9), Ok("18743")));
        assert_eq!(file.rows[0].shape.as_ref().unwrap().to_string(), "512x64x256 ld 512,256,512");
        let file = crate::read("override.csv", choice.as_bytes()).unwrap();
        assert_eq!((file.format, file.rows.len()), (Format::RocblasOverride, 1));
        assert_eq!(file.rows[0].shape.as_ref().unwrap().to_string(), "512x64x256 batch 2 ld 512,64,512");
        assert_eq!((file.rows[0].layout.as_deref(), file.rows[0].types.as_deref()), (Ok("NT"), Ok("f16_r")));
        assert_eq!(file.write(), choice.as_bytes());
    }
}
