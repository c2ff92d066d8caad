//! Work of one rank of a run beyond the others: ranges, kernels, products, time on the host.

use crate::category::COMMUNICATION;
use crate::evidence::TimelineEvidence;
use sorting::Sort;
use std::collections::HashMap;
use trace::GpuKind;

/// Something a rank does more of than the others.
#[derive(Clone, PartialEq, Debug)]
pub struct More {
    /// Name of the range, kernel or product.
    pub name: String,
    /// Time beyond the median of the other ranks, ns.
    pub ns: i64,
    /// Calls beyond it.
    pub calls: i64,
    /// Whether no other rank does it at all.
    pub only_here: bool,
}

/// Work of one rank beyond the median of the others, most time first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Excess {
    /// Kernels in ranges, each counted in the innermost one.
    pub ranges: Vec<More>,
    /// Kernels but communication.
    pub kernels: Vec<More>,
    /// Matrix products by size.
    pub products: Vec<More>,
    /// Ranges by their time on the host.
    pub host: Vec<More>,
}

impl Excess {
    /// Time of kernels beyond the median of the other ranks, ns: those with more added, those with less taken off.
    pub fn computing(&self) -> i64 {
        self.kernels.iter().map(|it| it.ns).sum::<i64>().max(0)
    }
}

/// Names with times, ns, and calls.
type Row = (String, i64, u64);
/// The rows of a rank that are compared.
type Rows<'a> = &'a dyn Fn(&TimelineEvidence<'_>) -> Vec<Row>;

/// Compares one rank with the others.
pub fn excess(late: &TimelineEvidence<'_>, others: &[&TimelineEvidence<'_>]) -> Excess {
    let by = |of: Rows<'_>| more(of(late), others.iter().map(|it| of(it)).collect());
    Excess {
        ranges: by(&|it| {
            it.named.iter().map(|range| (it.text(range.name).to_owned(), range.own, range.calls)).collect()
        }),
        kernels: by(&|it| {
            let computing =
                it.kernels.iter().filter(|k| k.kind == GpuKind::Kernel && k.category != COMMUNICATION);
            computing.map(|k| (it.text(k.name).to_owned(), k.durations.total, k.durations.count)).collect()
        }),
        products: by(&|it| {
            let text = |sum: &crate::gemm::ProductSum| {
                let p = &sum.product;
                let batch = if p.batch > 1 { format!("{} × ", p.batch) } else { String::new() };
                format!("{batch}{} × {} × {}", p.m, p.n, p.k)
            };
            it.products.iter().map(|p| (text(p), p.durations.total, p.durations.count)).collect()
        }),
        host: by(&|it| {
            it.named.iter().map(|range| (it.text(range.name).to_owned(), range.host, range.calls)).collect()
        }),
    }
}

/// Differences to the median of others, most time first; less time is negative.
fn more(late: Vec<Row>, others: Vec<Vec<Row>>) -> Vec<More> {
    let sums = |rows: Vec<Row>| {
        let mut out: HashMap<String, (i64, u64)> = HashMap::new();
        for (name, ns, calls) in rows {
            let sum = out.entry(name).or_default();
            sum.0 += ns;
            sum.1 += calls;
        }
        out
    };
    let late = sums(late);
    let others: Vec<_> = others.into_iter().map(sums).collect();
    let mut names: Vec<&String> = late.keys().chain(others.iter().flat_map(HashMap::keys)).collect();
    names.in_order();
    names.dedup();
    let median = |mut values: Vec<i64>| {
        values.in_order();
        values.get(values.len() / 2).copied().unwrap_or(0)
    };
    let mut out: Vec<More> = names
        .into_iter()
        .map(|name| {
            let (ns, calls) = late.get(name).copied().unwrap_or_default();
            let of = |rank: &HashMap<String, (i64, u64)>| rank.get(name).copied().unwrap_or_default();
            let times = median(others.iter().map(|rank| of(rank).0).collect());
            let counts = median(others.iter().map(|rank| of(rank).1 as i64).collect());
            let only_here = others.iter().all(|rank| of(rank).1 == 0 || of(rank).0 == 0);
            More { name: name.clone(), ns: ns - times, calls: calls as i64 - counts, only_here }
        })
        .collect();
    out.in_order_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.name.cmp(&b.name)));
    out
}
