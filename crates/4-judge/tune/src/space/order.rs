//! The order in which the tree binds parameters.
//!
//! Two partial configurations share a subtree where the bound parts of all constraints are equal. The order is chosen
//! so that there are few different ones: an estimate of their number is made from the values that each part can have,
//! and improved by moving parameters.

use super::interval::{Interval, compute};
use super::op::{Op, OpId};
use super::program::{Domain, Program};
use std::collections::BTreeSet;

/// Most pairs of values that are combined to count the values of an operation.
const MOST_PAIRS: usize = 4096;
/// Most rounds of improvement.
const MOST_ROUNDS: usize = 3;
/// Parameters above which the first order is kept: an estimate costs time in proportion to their number.
const MOST_PARAMETERS: usize = 48;

/// An operation as the estimate sees it.
struct Part {
    /// The parameters that it reads, as bits.
    reads: u128,
    /// How many values it has.
    values: f64,
    set: Option<Vec<f64>>,
}

/// Parameters in the order in which the tree binds them.
pub(super) fn order(program: &Program, domains: &[Domain]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..domains.len()).filter(|&it| domains[it].numbers.len() == 1).collect();
    let fixed = first.len();
    for op in &program.ops {
        // Parts of a product come next to each other: the operations are in the order of the text.
        if let Op::Parameter(it) = *op
            && !first.contains(&(it as usize))
        {
            first.push(it as usize);
        }
    }
    let used = first.len();
    // Parameters that no constraint reads are last: their subtrees are all the same.
    first.extend((0..domains.len()).filter(|it| !first.contains(it)).collect::<Vec<_>>());
    if domains.len() > MOST_PARAMETERS || program.roots.is_empty() {
        return first;
    }
    let parts = parts(program, domains);
    let readers = readers(program);
    let cost = |order: &[usize]| estimate(order, program, domains, &parts, &readers);
    let mut best = cost(&first);
    for _ in 0..MOST_ROUNDS {
        let before = best;
        for from in fixed..used {
            for to in fixed..used {
                let mut moved = first.clone();
                let it = moved.remove(from);
                moved.insert(to, it);
                let cost = cost(&moved);
                if cost < best * 0.999 {
                    (best, first) = (cost, moved);
                }
            }
        }
        if best >= before {
            break;
        }
    }
    first
}

/// For each operation, the operations that read it.
fn readers(program: &Program) -> Vec<Vec<OpId>> {
    let mut out = vec![Vec::new(); program.ops.len()];
    for at in 0..program.ops.len() as OpId {
        for it in program.inputs(at) {
            out[it as usize].push(at);
        }
    }
    out
}

fn parts(program: &Program, domains: &[Domain]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, &op) in program.ops.iter().enumerate() {
        let inputs = program.inputs(at as OpId);
        let reads = inputs.iter().fold(0, |all, &it| all | parts[it as usize].reads);
        let product: f64 = inputs.iter().map(|&it| parts[it as usize].values).product();
        parts.push(match op {
            Op::Parameter(it) => {
                let numbers = &domains[it as usize].numbers;
                Part { reads: 1 << it, values: numbers.len() as f64, set: Some(numbers.clone()) }
            }
            Op::Constant(bits) => Part { reads: 0, values: 1.0, set: Some(vec![f64::from_bits(bits)]) },
            _ if program.widest[at].low >= 0.0 && program.widest[at].high <= 1.0 => {
                Part { reads, values: 2.0, set: None }
            }
            _ => {
                let set = combined(op, &inputs, &parts);
                let values = set.as_ref().map_or(product, |it| it.len() as f64);
                Part { reads, values, set }
            }
        });
    }
    parts
}

/// The values of an operation on one or two others, where these are few.
fn combined(op: Op, inputs: &[OpId], parts: &[Part]) -> Option<Vec<f64>> {
    let set = |at: usize| inputs.get(at).map(|&it| parts[it as usize].set.as_ref());
    let one = vec![0.0];
    let (a, b) = match (set(0)?, set(1), set(2)) {
        (Some(a), None, None) => (a, &one),
        (Some(a), Some(Some(b)), None) => (a, b),
        _ => return None,
    };
    if a.len() * b.len() > MOST_PAIRS {
        return None;
    }
    let mut out = BTreeSet::new();
    for &left in a {
        for &right in b {
            let of = |it: OpId| Interval::point(if it == inputs[0] { left } else { right });
            out.insert(compute(op, of).low.to_bits());
        }
    }
    Some(out.into_iter().map(f64::from_bits).collect())
}

/// Expected number of visits: for each parameter, different states before it times its values.
fn estimate(
    order: &[usize],
    program: &Program,
    domains: &[Domain],
    parts: &[Part],
    readers: &[Vec<OpId>],
) -> f64 {
    let (mut bound, mut product, mut total) = (0u128, 1.0f64, 0.0);
    let all = program.roots.iter().fold(0, |all, &it| all | parts[it as usize].reads);
    for &parameter in order {
        // A part is kept as long as something that is not bound reads it.
        let mut states = 1.0f64;
        for (at, part) in parts.iter().enumerate() {
            let is_bound = part.reads & !bound == 0 && part.reads != 0;
            if is_bound && readers[at].iter().any(|&it| parts[it as usize].reads & !bound != 0) {
                states = (states * part.values).min(product);
            }
        }
        if all & !bound == 0 {
            states = 1.0;
        }
        let values = domains[parameter].numbers.len() as f64;
        total += states.min(product) * values;
        product *= values;
        bound |= 1 << parameter;
    }
    total
}
