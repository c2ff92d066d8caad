//! Composable Kernel: output of ckProfiler, and of the examples of CK and CK Tile.
//!
//! A line of the problem comes before or after the lines of its instances, so sizes are given to the rows
//! since the last problem.

use crate::error::Error;
use crate::format::Format;
use crate::lines::{Line, lines};
use crate::model::{FlawKind, GemmShape, Kind, Row, Said, Shape, Stated, Tunings, time};
use std::borrow::Cow;

/// An instance: `Perf: 0.22 ms, 615.4 TFlops, 450.7 GB/s, DeviceGemm…`.
const PERF: &str = "Perf: ";
/// The summary of ckProfiler, with the problem in words.
const BEST: &str = "Best Perf for ";
/// A run of CK Tile, with the problem in words: `Run Gemm kernel with M = …: 0.05 ms, …`.
const RUN: &str = "kernel with ";
/// Beginnings of the lines of a tensor.
const TENSORS: [(&str, [Size; 2]); 3] =
    [("a_m_k:", [Size::M, Size::K]), ("b_k_n:", [Size::K, Size::N]), ("c_m_n:", [Size::M, Size::N])];
const HEAD: usize = 20_000;

#[derive(Clone, Copy)]
enum Size {
    M,
    N,
    K,
}

/// Sizes, transposition and types as far as they are known.
#[derive(Clone, Default)]
struct Problem<'a> {
    sizes: [Option<u64>; 3],
    layout: Option<[char; 2]>,
    types: Option<&'a str>,
}

/// Whether a line has a measurement.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    let found = |line: Line<'_>| {
        let text = line.text;
        let begins = text.contains(PERF) || text.contains(RUN) && text.contains("M =");
        begins && text.contains(" ms, ") && text.to_ascii_lowercase().contains(" tflops")
    };
    lines(bytes).take(HEAD).any(found).then_some(Format::CkProfiler)
}

/// Reads a row for each measurement.
pub(crate) fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::CkProfiler, bytes);
    let mut problem = Problem::default();
    // The first row of the problem, and whether its summary was read.
    let (mut first, mut summed) = (0, false);
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        let text = line.text.trim();
        if let Some((_, sizes)) = TENSORS.iter().find(|(begin, _)| text.starts_with(begin)) {
            if std::mem::take(&mut summed) || tunings.rows.len() > first {
                describe(&mut tunings.rows[first..], &problem);
                first = tunings.rows.len();
                problem = Problem::default();
            }
            lengths(text, *sizes, &mut problem);
        } else if let Some(at) = text.find(BEST) {
            let (sizes, best) = text[at..].split_once(" : ").unwrap_or((&text[at..], ""));
            words(sizes, &mut problem);
            // A log that was cut, or of summaries alone, has no line of the fastest instance.
            if let Some(row) = measurement(&line, best)
                && !tunings.rows[first..].iter().any(|it| it.time_us == row.time_us)
            {
                tunings.rows.push(row);
            }
            describe(&mut tunings.rows[first..], &problem);
            (first, summed) = (tunings.rows.len(), true);
        } else if text.starts_with("max err: ") && text.ends_with("wrong values") {
            // It is printed before or after the line of its instance, by program.
            let text = format!(
                "an instance beside this line computes wrong results: {}",
                text.split_once(", ").map_or(text, |(_, it)| it)
            );
            tunings.flaw(line.number, FlawKind::WrongResult, text);
        } else if let Some((before, result)) = text.split_once(PERF) {
            // An old summary repeats the fastest of the lines above.
            if !(before.ends_with("Best ") && tunings.rows.len() > first) {
                tunings.rows.extend(measurement(&line, result));
            }
        } else if let Some((_, run)) = text.split_once(RUN)
            && let Some((run, result)) = run.split_once(" : ").or_else(|| run.split_once(": "))
        {
            let mut own = Problem::default();
            words(run, &mut own);
            if let Some(mut row) = measurement(&line, result) {
                if row.candidate.is_err() {
                    row.candidate = Ok(Cow::Borrowed(text.split(RUN).next().unwrap_or_default().trim()));
                }
                describe(std::slice::from_mut(&mut row), &own);
                tunings.rows.push(row);
                first = tunings.rows.len();
            }
        }
    }
    describe(&mut tunings.rows[first..], &problem);
    Ok(tunings)
}

/// `lengths {4096, 1024}`.
fn lengths(text: &str, sizes: [Size; 2], problem: &mut Problem<'_>) {
    let Some((_, rest)) = text.split_once("lengths {") else { return };
    let list = rest.split('}').next().unwrap_or_default();
    for (size, value) in sizes.into_iter().zip(list.split(',')) {
        problem.sizes[size as usize] = value.trim().parse().ok();
    }
}

/// `datatype = bf16 ALayout = RowMajor … M = 4096 N = 1024`, in the words of either program.
fn words<'a>(text: &'a str, problem: &mut Problem<'a>) {
    let words: Vec<&str> = text.split([' ', '=', ',', ':']).filter(|it| !it.is_empty()).collect();
    let value = |names: &[&str]| {
        let at = words.iter().position(|it| names.contains(it))?;
        words.get(at + 1).copied()
    };
    for (size, name) in [(Size::M, "M"), (Size::N, "N"), (Size::K, "K")] {
        let found = value(&[name]).and_then(|it| it.parse().ok());
        problem.sizes[size as usize] = found.or(problem.sizes[size as usize]);
    }
    problem.types = value(&["datatype", "A_Type"]).or(problem.types);
    let order = |names: &[&str]| match value(names) {
        Some("RowMajor") => Some('N'),
        Some("ColumnMajor") => Some('T'),
        _ => None,
    };
    if let (Some(a), Some(b)) = (order(&["ALayout", "A_Layout"]), order(&["BLayout", "B_Layout"])) {
        problem.layout = Some([a, b]);
    }
}

/// `0.22 ms, 615.4 TFlops, 450.7 GB/s, DeviceGemm…`.
fn measurement<'a>(line: &Line<'a>, text: &'a str) -> Option<Row<'a>> {
    let (ms, rest) = text.trim_start().split_once(" ms,")?;
    let (rate, rest) = rest.split_once(',').unwrap_or((rest, ""));
    let (_, kernel) = rest.split_once(',').unwrap_or((rest, ""));
    let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, "gemm");
    let kernel = kernel.trim().trim_end_matches(',');
    row.candidate =
        if kernel.is_empty() { Err("the line names no kernel") } else { Ok(Cow::Borrowed(kernel)) };
    row.time_us = time::parse(ms, 1e3);
    let rate = rate.split_ascii_whitespace().next().and_then(|it| it.parse::<f64>().ok());
    row.stated = Stated::rate(rate.filter(|it| *it > 0.0).ok_or("the line states no rate"));
    row.shape = Err("the output names no sizes");
    row.types = Err("the output names no types");
    Some(row)
}

fn describe<'a>(rows: &mut [Row<'a>], problem: &Problem<'a>) {
    let shape: Said<GemmShape> = match problem.sizes {
        [Some(m), Some(n), Some(k)] => GemmShape::of_long([m, n, k, 1], None),
        _ => Err("the output names no sizes"),
    };
    for row in rows {
        row.shape = shape.map(Shape::Gemm);
        row.types = problem.types.map(Cow::Borrowed).ok_or("the output names no types");
        row.layout = match problem.layout {
            Some(both) => Ok(Cow::Owned(both.iter().collect())),
            None => Err("the output names no transposition"),
        };
        let sizes = row.shape.as_ref().map(ToString::to_string).unwrap_or_default();
        row.key = Cow::Owned(sizes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_belong_to_the_problem_around_them() {
        let text = "a_m_k: dim 2, lengths {512, 64}, strides {64, 1}\n\
            b_k_n: dim 2, lengths {64, 256}, strides {1, 64}\n\
            c_m_n: dim 2, lengths {512, 256}, strides {256, 1}\n\
            found 2 instances\n\
            Perf:   0.0223 ms, 615.46 TFlops, 450.776 GB/s, DeviceA<Default, RCR> BlkSize: 256\n\
            Perf:   0.25 ms, 359.48 TFlops, 263.29 GB/s, DeviceB\n\
            Best Perf for datatype = bf16 ALayout = RowMajor BLayout = ColumnMajor M = 512 N = 256 K = 64 StrideA = 64 StrideB = 64 StrideC = 256 KBatch = 1 : 0.0223 ms, 615.46 TFlops, 450.776 GB/s, DeviceA\n\
            a_m_k: dim 2, lengths {8, 64}, strides {64, 1}\n\
            c_m_n: dim 2, lengths {8, 16}, strides {16, 1}\n\
            Perf: 0.5 ms, 1.5 TFlops, 2 GB/s, DeviceC\n\
            Best Perf: 0.5 ms, 1.5 TFlops, 2 GB/s\n";
        let file = crate::read("ck.txt", text.as_bytes()).unwrap();
        assert_eq!(file.format, Format::CkProfiler);
        let found: Vec<(u32, &str, &str, f64)> = file
            .rows
            .iter()
            .map(|row| (row.line, row.key.as_ref(), row.candidate.as_deref().unwrap(), row.time_us.unwrap()))
            .collect();
        assert_eq!(
            found,
            [
                (5, "512x256x64", "DeviceA<Default, RCR> BlkSize: 256", 22.3),
                (6, "512x256x64", "DeviceB", 250.0),
                (10, "8x16x64", "DeviceC", 500.0),
            ]
        );
        assert_eq!((file.rows[0].types.as_deref(), file.rows[0].layout.as_deref()), (Ok("bf16"), Ok("NT")));
        assert_eq!(file.write(), text.as_bytes());
    }

    #[test]
    fn a_summary_without_its_line_is_a_measurement() {
        let text = "Perf:    17.0 ms, 64.3 TFlops, 23.5 GB/s, GemmA, KBatch 2\n\
            Best Perf for datatype = f16 ALayout =  RowMajor BLayout =  RowMajor M = 8 N = 16 K = 32 StrideA = 32 KBatch = 2 : 2.5 ms, 506.1 TFlops, 185.3 GB/s, GemmB LoopScheduler: Default, PipelineVersion: v1\n";
        let file = crate::read("ck.txt", text.as_bytes()).unwrap();
        let found: Vec<(&str, f64)> =
            file.rows.iter().map(|it| (it.key.as_ref(), it.time_us.unwrap())).collect();
        assert_eq!(found, [("8x16x32", 17_000.0), ("8x16x32", 2_500.0)]);
        assert!(file.rows[1].candidate.as_deref().unwrap().starts_with("GemmB"));
    }

    #[test]
    fn runs_of_ck_tile_name_their_problem() {
        let text = "Run Gemm kernel with M = 3840 N = 4096 K = 2048 StrideA = 2048 StrideB = 2048 StrideC = 4096 A_Layout =RowMajor B_Layout =ColumnMajor C_Layout =RowMajor A_Type = fp16 B_Type = fp16 C_Type = fp16 : 0.0521 ms, 1236.5 TFlops, 1200.1 GB/s, \n";
        let file = crate::read("tile.txt", text.as_bytes()).unwrap();
        let row = &file.rows[0];
        assert_eq!(row.shape.as_ref().unwrap().to_string(), "3840x4096x2048");
        assert_eq!((row.types.as_deref(), row.layout.as_deref()), (Ok("fp16"), Ok("NT")));
        assert_eq!((row.candidate.as_deref(), row.time_us), (Ok("Run Gemm"), Ok(52.1)));
    }
}
