//! Evidence of rules on timelines: one trace, or the traces of all ranks of a run.
//!
//! Ranks do the same work, so a rule on single traces reports once, for the rank that loses most.

use crate::Outcome;
use std::collections::HashMap;
use timeline::TimelineEvidence;
use timeline::collectives::{Ranks, match_ranks};
use timeline::gemm::ProductSum;
use trace::{Format, GpuKind};
use tunedb::Tunings;
use view::{Finding, Known};

/// The traces of one run.
pub struct TraceEvidence<'a> {
    /// A trace per rank.
    pub ranks: &'a [TimelineEvidence<'a>],
    /// Names of the traces.
    pub names: Vec<String>,
    /// Collectives matched across ranks; absent for one trace.
    pub matched: Option<Ranks>,
    /// The fastest kernels that files of tunings know, by product.
    pub tuned: TunedProducts,
}

/// A kernel that a file of tunings has for a product.
#[derive(Clone, PartialEq, Debug)]
pub struct TunedProduct {
    /// Time of a call, microseconds.
    pub us: f64,
    /// Kernel.
    pub kernel: String,
    /// File and line.
    pub place: String,
}

/// Sizes as BLAS counts them, batch, transposition and element type.
type ProductKey = (u64, u64, u64, u64, String, arch::ElementType);

/// The fastest kernel of each product in some files of tunings.
#[derive(Clone, Debug, Default)]
pub struct TunedProducts(HashMap<ProductKey, TunedProduct>);

impl TunedProducts {
    /// Products of tuning files; rows without sizes, types or a measured time are skipped.
    pub fn of(files: &[Tunings<'_>]) -> TunedProducts {
        let mut found: HashMap<ProductKey, TunedProduct> = HashMap::new();
        for file in files {
            for row in &file.rows {
                let (Ok(shape), Ok(types), Ok(us)) = (&row.shape, &row.types, row.time_us) else { continue };
                let (Some(shape), Some(element)) = (shape.gemm(), tunedb::element(types)) else { continue };
                let blas = file.format.is_column_major();
                let [m, n, k, batch] = shape.sizes();
                let (m, n) = if blas { (m, n) } else { (n, m) };
                // AITER's tables name no transposition: weights are given as their transpose.
                let layout = row.layout.as_deref().map_or_else(|_| "TN".to_owned(), str::to_ascii_uppercase);
                let key = (m, n, k, batch, layout, element);
                if found.get(&key).is_some_and(|old| old.us <= us) {
                    continue;
                }
                let kernel = row.candidate.as_deref().unwrap_or("unnamed").to_owned();
                found.insert(
                    key,
                    TunedProduct { us, kernel, place: format!("{}:{}", file.base_name(), row.line) },
                );
            }
        }
        TunedProducts(found)
    }

    /// The fastest kernel for a product.
    pub fn get(&self, sum: &ProductSum) -> Option<&TunedProduct> {
        let p = &sum.product;
        self.0.get(&(p.m, p.n, p.k, p.batch, p.layout.to_ascii_uppercase(), sum.element()?))
    }
}

impl<'a> TraceEvidence<'a> {
    /// Evidence of some ranks, called so.
    pub fn new(ranks: &'a [TimelineEvidence<'a>], names: Vec<String>) -> Self {
        let timelines: Vec<_> = ranks.iter().map(|it| it.timeline).collect();
        let matched = (ranks.len() > 1).then(|| match_ranks(&timelines));
        TraceEvidence { ranks, names, matched, tuned: TunedProducts::default() }
    }

    /// The same with the results of tuning files.
    pub fn with_tunings(mut self, files: &[Tunings<'_>]) -> Self {
        self.tuned = TunedProducts::of(files);
        self
    }

    /// Judges each trace and keeps the finding that loses most.
    pub(crate) fn worst(&self, check: impl Fn(&TimelineEvidence<'a>) -> Outcome) -> Outcome {
        self.worst_by_rank(|_, evidence| check(evidence))
    }

    /// The same, for checks that also need the trace's number among [`TraceEvidence::ranks`].
    pub(crate) fn worst_by_rank(&self, check: impl Fn(usize, &TimelineEvidence<'a>) -> Outcome) -> Outcome {
        let mut worst: Option<(usize, Finding)> = None;
        let mut needs = None;
        for (at, rank) in self.ranks.iter().enumerate() {
            match check(at, rank) {
                Outcome::Silent => {}
                Outcome::NotChecked(what) => needs = Some(what),
                Outcome::Findings(found) => {
                    for finding in found {
                        let time = |f: &Finding| f.time_lost_ns.unwrap_or(0.0);
                        if worst.as_ref().is_none_or(|(_, w)| time(&finding) > time(w)) {
                            worst = Some((at, finding));
                        }
                    }
                }
            }
        }
        match (worst, needs) {
            (Some((at, finding)), _) => {
                let named = self.names.get(at).filter(|_| self.ranks.len() > 1);
                let finding = named.map_or(finding.clone(), |name| finding.with_evidence("trace", name));
                Outcome::Findings(vec![finding])
            }
            (None, Some(what)) => Outcome::NotChecked(what),
            (None, None) => Outcome::Silent,
        }
    }
}

/// A finding that loses this many nanoseconds of a trace.
pub(crate) fn lost(finding: Finding, evidence: &TimelineEvidence<'_>, ns: i64) -> Finding {
    let share = percent(ns, evidence.total.span);
    finding
        .with_cost(format!("up to {}, {share:.1} % of the span", ms(ns)))
        .with_time_lost(Some(Known::from(ns as f64)))
}

/// `12.3 ms`.
pub(crate) fn ms(ns: i64) -> String {
    match ns as f64 / 1e6 {
        v if v >= 1e3 => format!("{:.2} s", v / 1e3),
        v if v >= 100.0 => format!("{v:.0} ms"),
        v if v >= 1.0 => format!("{v:.2} ms"),
        v => format!("{:.1} us", v * 1e3),
    }
}

/// Percent of a whole; 0 of none.
pub(crate) fn percent(part: i64, whole: i64) -> f64 {
    if whole <= 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// A name short enough for a sentence.
pub(crate) fn short(name: &str) -> String {
    const MOST: usize = 60;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

/// Percent of GPU time that one product must take for a trace to be its benchmark.
const BENCHMARK: f64 = 80.0;
/// Calls that are a benchmark.
const CALLS: u64 = 20;

/// The matrix product that a trace measures again and again, if it is such a benchmark.
pub(crate) fn benchmarked<'a>(evidence: &'a TimelineEvidence<'_>) -> Option<&'a ProductSum> {
    let product = evidence.products.first()?;
    let time = percent(product.durations.total, evidence.gpu_time());
    (time >= BENCHMARK && product.durations.count >= CALLS).then_some(product)
}

/// What is absent where the rates of a GPU are not known: its name, or a file of its rates.
pub(crate) fn needs_model(evidence: &TimelineEvidence<'_>) -> Outcome {
    let named = evidence.timeline.devices.iter().find(|device| !device.name.is_empty());
    Outcome::needs(match named {
        Some(device) => format!("the peak rates of `{}`, which is not an AMD Instinct GPU", device.name),
        None => "the GPU's name".to_owned(),
    })
}

/// Whether a trace could have shapes of matrix products at all.
pub(crate) fn needs_shapes(evidence: &TimelineEvidence<'_>) -> bool {
    let gemm =
        evidence.kernels.iter().any(|k| k.kind == GpuKind::Kernel && k.category == timeline::category::GEMM);
    gemm && evidence.products.is_empty() && evidence.timeline.format == Format::Kineto
}
