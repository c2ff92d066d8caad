//! Kernels and operators, summed by name.

use crate::category::category;
use crate::links::Links;
use sorting::Sort;
use std::collections::HashMap;
use trace::{GpuKind, Name, Timeline};

/// Durations of one name.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Durations {
    /// Number of executions.
    pub count: u64,
    /// Sum, ns.
    pub total: i64,
    /// Shortest, ns.
    pub min: i64,
    /// Longest, ns.
    pub max: i64,
    squares: f64,
}

impl Durations {
    /// Adds one, ns.
    pub fn add(&mut self, ns: i64) {
        self.min = if self.count == 0 { ns } else { self.min.min(ns) };
        self.max = self.max.max(ns);
        self.count += 1;
        self.total += ns;
        self.squares += ns as f64 * ns as f64;
    }

    /// Mean, ns; 0 of none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total as f64 / self.count as f64 }
    }

    /// Standard deviation of the whole, ns.
    pub fn deviation(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        (self.squares / self.count as f64 - self.mean().powi(2)).max(0.0).sqrt()
    }
}

/// One kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelSum {
    /// Name.
    pub name: Name,
    /// Kind of work.
    pub kind: GpuKind,
    /// Its durations.
    pub durations: Durations,
    /// `gemm`, `norm`, …
    pub category: &'static str,
    /// The operator of most of its time.
    pub operator: Option<Name>,
    /// Workgroups and work-items per workgroup, where all its launches have the same.
    pub sizes: Option<([u32; 3], [u32; 3])>,
    /// The row of its longest span.
    pub longest: usize,
}

/// Kernels, copies and fills by name, most time first.
pub fn kernels(timeline: &Timeline, links: &Links) -> Vec<KernelSum> {
    struct Sum {
        durations: Durations,
        operators: HashMap<Name, i64>,
        sizes: Option<([u32; 3], [u32; 3])>,
        longest: usize,
    }
    let gpu = &timeline.gpu;
    let mut sums: HashMap<(Name, GpuKind), Sum> = HashMap::new();
    for at in 0..gpu.len() {
        let ns = gpu.duration(at);
        let sizes = (gpu.block[at] != [0; 3]).then_some((gpu.grid[at], gpu.block[at]));
        let sum = sums.entry((gpu.name[at], gpu.kind[at])).or_insert_with(|| Sum {
            durations: Durations::default(),
            operators: HashMap::new(),
            sizes,
            longest: at,
        });
        if sum.sizes != sizes {
            sum.sizes = None;
        }
        if ns > gpu.duration(sum.longest) {
            sum.longest = at;
        }
        sum.durations.add(ns);
        if let Some(operator) = links.operator_of(at) {
            *sum.operators.entry(timeline.host.name[operator]).or_default() += ns;
        }
    }
    let mut out: Vec<KernelSum> = sums
        .into_iter()
        .map(|((name, kind), sum)| {
            let operator = sum.operators.into_iter().max_by_key(|(name, ns)| (*ns, *name)).map(|(n, _)| n);
            let text = operator.map(|name| timeline.names.get(name));
            let category = match kind {
                GpuKind::Kernel => category(timeline.names.get(name), text),
                GpuKind::Copy | GpuKind::Set => crate::category::COPY,
            };
            KernelSum {
                name,
                kind,
                durations: sum.durations,
                category,
                operator,
                sizes: sum.sizes,
                longest: sum.longest,
            }
        })
        .collect();
    out.in_order_by_key(|k| (std::cmp::Reverse(k.durations.total), k.name));
    out
}

/// Kernels by category, most time first: time and count.
pub fn by_category(kernels: &[KernelSum]) -> Vec<(&'static str, i64, u64)> {
    let mut out: Vec<(&'static str, i64, u64)> = Vec::new();
    for kernel in kernels {
        let (ns, n) = (kernel.durations.total, kernel.durations.count);
        match out.iter_mut().find(|(category, _, _)| *category == kernel.category) {
            Some(row) => {
                row.1 += ns;
                row.2 += n;
            }
            None => out.push((kernel.category, ns, n)),
        }
    }
    out.in_order_by_key(|(category, ns, _)| (std::cmp::Reverse(*ns), *category));
    out
}
