//! Matrix products of timelines as a list of problems for tuning databases.

use ::trace::Timeline;
use sorting::Sort;
use std::borrow::Cow;
use std::collections::HashMap;
use timeline::Links;
use timeline::gemm::{Product, products};
use tunedb::{Format, GemmShape, Kind, Row, Shape, Tunings};

/// Products of one or several timelines, each once with its calls and mean time, longest first; `None` if
/// they contain none.
pub fn of_timelines(name: &str, timelines: &[&Timeline]) -> Option<Tunings<'static>> {
    let mut sums: HashMap<Product, (u64, i64)> = HashMap::new();
    for timeline in timelines {
        for sum in products(timeline, &Links::of(timeline)) {
            let total = sums.entry(sum.product).or_default();
            *total = (total.0 + sum.durations.count, total.1 + sum.durations.total);
        }
    }
    let mut all: Vec<(Product, (u64, i64))> = sums.into_iter().collect();
    all.in_order_by(|(a, (_, x)), (b, (_, y))| {
        y.cmp(x).then_with(|| (a.m, a.n, a.k, &a.layout).cmp(&(b.m, b.n, b.k, &b.layout)))
    });
    let mut list = Tunings::new(name, Format::Timeline, b"");
    for (at, (product, (calls, ns))) in all.into_iter().enumerate() {
        list.rows.push(row(at, product, calls, ns as f64 / 1e3));
    }
    (!list.rows.is_empty()).then_some(list)
}

/// A product as a row; its line is its place in the list.
fn row(at: usize, product: Product, calls: u64, us: f64) -> Row<'static> {
    let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
    let mut row = Row::new(line, 0..0, Kind::Gemm, product.operator);
    let leading = product.leading.map(|[a, b]| [a, b, product.m, product.m]);
    let (m, n, k, batch) = (product.m, product.n, product.k, product.batch);
    row.shape = GemmShape::of_long([m, n, k, batch], leading).map(Shape::Gemm);
    let types = product.data_type.trim_start_matches("c10::").to_owned();
    row.types = if types.is_empty() { Err("the trace names no types") } else { Ok(Cow::Owned(types)) };
    let known = !product.layout.contains('?');
    let layout = product.layout.to_ascii_uppercase();
    row.layout = if known { Ok(Cow::Owned(layout)) } else { Err("the trace names no strides") };
    row.candidate = Err("a list of problems has none");
    row.calls = calls;
    row.time_us = if calls > 0 { tunedb::time::check(us / calls as f64) } else { Err(tunedb::time::ABSENT) };
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_layer_as_blas_has_it() {
        let text = br#"{"traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 1, "ts": 1, "dur": 9, "args": {"External id": 5,
              "Input Dims": [[40], [20, 30], [30, 40], [], []], "Input Strides": [[1], [30, 1], [1, 30], [], []],
              "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"]}},
            {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3,
              "args": {"External id": 5, "correlation": 7}},
            {"ph": "X", "cat": "kernel", "name": "Cijk", "pid": 0, "tid": 0, "ts": 20, "dur": 4,
              "args": {"device": 0, "stream": 0, "correlation": 7, "External id": 5}}]}"#;
        let timeline = ::trace::read("a.json", &mut &text[..]).unwrap();
        let list = of_timelines("a.json", &[&timeline, &timeline]).unwrap();
        let row = &list.rows[0];
        assert_eq!(row.shape.as_ref().unwrap().to_string(), "40x20x30 ld 30,30,40");
        assert_eq!((row.types.as_deref(), row.layout.as_deref()), (Ok("BFloat16"), Ok("TN")));
        assert_eq!((row.calls, row.time_us, list.rows.len()), (2, Ok(4.0), 1));
        assert!(of_timelines("b", &[]).is_none());
    }
}
