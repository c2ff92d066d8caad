//! Collectives: bandwidth of each, and who waits for whom across ranks.
//!
//! Clocks of ranks differ, durations do not. All ranks leave a collective together, so the one that spends
//! least time in it came last.

use crate::category::{COMMUNICATION, category};
use crate::kernels::Durations;
use arch::ElementType;
use sorting::Sort;
use std::collections::{BTreeMap, HashMap};
use trace::{GpuKind, Name, Timeline};

/// Collectives of one kind and size.
#[derive(Clone, PartialEq, Debug)]
pub struct CollectiveSum {
    /// Operation as named in the trace: `allreduce`.
    pub operation: String,
    /// Bytes of one rank's buffer; of gathering kinds, of all ranks' together.
    pub bytes: Option<u64>,
    /// `BFloat16`, …
    pub data_type: String,
    /// Ranks.
    pub ranks: u64,
    /// Durations.
    pub durations: Durations,
    /// Factor from algorithm to bus bandwidth.
    pub factor: Option<f64>,
}

impl CollectiveSum {
    /// Bus bandwidth of the fastest rank, GB/s: the others wait for late ranks.
    pub fn bus_gb_per_s(&self) -> Option<f64> {
        let bytes = self.bytes? as f64;
        (self.durations.min > 0).then(|| bytes / self.durations.min as f64 * self.factor.unwrap_or(1.0))
    }
}

/// Bytes of an element, by PyTorch's name of its type.
fn element_bytes(data_type: &str) -> Option<u64> {
    let name = data_type.rsplit("::").next().unwrap_or(data_type);
    if name.eq_ignore_ascii_case("ComplexFloat") {
        return Some(8);
    }
    ElementType::by_name(name).map(|it| it.bytes_of(1))
}

/// Collectives whose kernels carry arguments, most time first.
pub fn collectives(timeline: &Timeline) -> Vec<CollectiveSum> {
    let gpu = &timeline.gpu;
    let mut sums: HashMap<(Name, u64, u64, Name, u64), Durations> = HashMap::new();
    for at in 0..gpu.len() {
        let span = gpu.get(at);
        let Some(c) = timeline.detail(&span).and_then(|detail| detail.collective.as_ref()) else { continue };
        let key = (c.operation, c.elements_in, c.elements_out, c.data_type, c.group_size);
        sums.entry(key).or_default().add(gpu.duration(at));
    }
    let mut out: Vec<CollectiveSum> = sums
        .into_iter()
        .map(|((operation, elements_in, elements_out, data_type, ranks), durations)| {
            let operation = timeline.names.get(operation).to_owned();
            let data_type = timeline.names.get(data_type).to_owned();
            let kind = arch::fabric::Collective::by_name(&operation);
            // Gathering has the larger buffer behind it, scattering before it.
            let elements = elements_in.max(elements_out);
            let bytes = element_bytes(&data_type).and_then(|size| size.checked_mul(elements));
            let factor = kind.filter(|_| ranks > 1).map(|kind| kind.factor(ranks));
            CollectiveSum { operation, bytes, data_type, ranks, durations, factor }
        })
        .collect();
    out.in_order_by(|a, b| {
        b.durations.total.cmp(&a.durations.total).then_with(|| a.operation.cmp(&b.operation))
    });
    out
}

/// A rank among others.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RankTime {
    /// Index of its timeline.
    pub timeline: usize,
    /// Rank, where the trace says.
    pub rank: Option<u64>,
    /// Collectives matched with the other ranks.
    pub matched: u64,
    /// Time in them, ns.
    pub communicating: i64,
    /// Part of it spent waiting for ranks that came later, ns.
    pub waiting: i64,
    /// Collectives in which it arrived last.
    pub last: u64,
}

/// Ranks that wait, and the ranks they wait for.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ranks {
    /// A row per timeline.
    pub ranks: Vec<RankTime>,
    /// Collectives that only some timelines have, and why they are not matched.
    pub unmatched: u64,
    /// Clock skew: median difference between the ends of matched collectives and their ends in the first
    /// timeline, ns.
    pub skew: Vec<Option<i64>>,
}

/// Matches the collectives of several ranks in order, by kind, group and size.
pub fn match_ranks(timelines: &[&Timeline]) -> Ranks {
    type Key = (String, u64, u64, String, String);
    let mut by_key: BTreeMap<Key, Vec<Vec<usize>>> = BTreeMap::new();
    for (index, timeline) in timelines.iter().enumerate() {
        let gpu = &timeline.gpu;
        let mut rows: Vec<usize> = (0..gpu.len()).filter(|at| gpu.kind[*at] == GpuKind::Kernel).collect();
        rows.in_order_by_key(|at| gpu.start[*at]);
        for at in rows {
            let span = gpu.get(at);
            let text = |name: Name| timeline.names.get(name).to_owned();
            let key = match timeline.detail(&span).and_then(|d| d.collective.as_ref()) {
                Some(c) => {
                    (text(c.operation), c.elements_in, c.elements_out, text(c.data_type), text(c.group))
                }
                // Without arguments the kernel's name is all that is known.
                None if category(timeline.names.get(span.name), None) == COMMUNICATION => {
                    (text(span.name), 0, 0, String::new(), String::new())
                }
                None => continue,
            };
            by_key.entry(key).or_insert_with(|| vec![Vec::new(); timelines.len()])[index].push(at);
        }
    }
    let mut out = Ranks {
        ranks: timelines
            .iter()
            .enumerate()
            .map(|(timeline, t)| RankTime {
                timeline,
                rank: t.rank.map(|(rank, _)| rank),
                ..RankTime::default()
            })
            .collect(),
        unmatched: 0,
        skew: vec![None; timelines.len()],
    };
    let mut skews: Vec<Vec<i64>> = vec![Vec::new(); timelines.len()];
    for lists in by_key.values() {
        // Traces that began at different times lack some of the first; then matching by order would be wrong.
        if lists.iter().any(|list| list.len() != lists[0].len()) {
            out.unmatched += lists.iter().map(|list| list.len() as u64).max().unwrap_or(0);
            continue;
        }
        for at in 0..lists[0].len() {
            let durations: Vec<i64> =
                lists.iter().zip(timelines).map(|(list, t)| t.gpu.duration(list[at])).collect();
            let least = durations.iter().copied().min().unwrap_or(0);
            let last = durations.iter().position(|ns| *ns == least);
            let first_end = timelines[0].gpu.end[lists[0][at]];
            for (index, ns) in durations.iter().enumerate() {
                let rank = &mut out.ranks[index];
                rank.matched += 1;
                rank.communicating += ns;
                rank.waiting += ns - least;
                rank.last += u64::from(last == Some(index));
                skews[index].push(timelines[index].gpu.end[lists[index][at]] - first_end);
            }
        }
    }
    for (skew, mut all) in out.skew.iter_mut().zip(skews) {
        all.in_order();
        *skew = all.get(all.len() / 2).copied();
    }
    out
}
