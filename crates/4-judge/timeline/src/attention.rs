//! Attention that runs as separate kernels: two batched products around a softmax.

use crate::category::category;
use crate::links::Links;
use sorting::Sort;
use std::collections::HashMap;
use trace::{GpuKind, Name, Timeline};

/// Kernels between two batched products that may belong to one attention: scale, mask, softmax, dropout, casts.
const BETWEEN: usize = 8;

/// Attention made of several kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UnfusedAttention {
    /// How often two batched products have a softmax between them.
    pub count: u64,
    /// Time of the products, each counted once, ns.
    pub products: i64,
    /// Time of softmax kernels between them, ns.
    pub softmax: i64,
    /// Time of other kernels between them, ns.
    pub others: i64,
}

impl UnfusedAttention {
    /// All of it, ns.
    pub fn total(&self) -> i64 {
        self.products + self.softmax + self.others
    }
}

/// Role of a kernel in attention.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Product,
    Softmax,
    Other,
}

/// Finds it, stream by stream.
pub fn unfused_attention(timeline: &Timeline, links: &Links) -> UnfusedAttention {
    let mut out = UnfusedAttention::default();
    let gpu = &timeline.gpu;
    let mut streams: HashMap<u32, Vec<usize>> = HashMap::new();
    for at in (0..gpu.len()).filter(|at| gpu.kind[*at] == GpuKind::Kernel) {
        streams.entry(gpu.queue[at]).or_default().push(at);
    }
    let mut softmax: HashMap<Name, bool> = HashMap::new();
    let mut role = |at: usize| {
        let operator = links.operator_of(at).map_or("", |row| timeline.names.get(timeline.host.name[row]));
        if matches!(operator, "aten::bmm" | "aten::baddbmm" | "aten::baddbmm_") {
            return Role::Product;
        }
        let is_softmax = *softmax
            .entry(gpu.name[at])
            .or_insert_with(|| category(timeline.names.get(gpu.name[at]), None) == "softmax");
        if is_softmax || operator.contains("softmax") { Role::Softmax } else { Role::Other }
    };
    for mut rows in streams.into_values() {
        rows.in_order_by_key(|at| gpu.start[*at]);
        // The product that began the current group, whether it was counted, and the kernels since.
        let mut first: Option<(usize, bool)> = None;
        let mut since: Vec<(usize, Role)> = Vec::new();
        for at in rows {
            let role = role(at);
            if role != Role::Product {
                since.push((at, role));
                if since.len() > BETWEEN {
                    first = None;
                }
                continue;
            }
            let mut counted = false;
            if let Some((product, before)) = first
                && since.iter().any(|(_, role)| *role == Role::Softmax)
            {
                out.count += 1;
                out.products += gpu.duration(at) + if before { 0 } else { gpu.duration(product) };
                for (other, role) in &since {
                    let sum = if *role == Role::Softmax { &mut out.softmax } else { &mut out.others };
                    *sum += gpu.duration(*other);
                }
                counted = true;
            }
            first = Some((at, counted));
            since.clear();
        }
    }
    out
}
