//! Live ranges of buffers, in the numbering of Triton's allocation: an operation follows the operations of
//! its regions.

use crate::model::{Function, Module, OpId, Source, ValueId};
use crate::types::Type;
use std::ops::Range;

/// Operations with their numbers, and the buffers each value may be.
pub(super) struct Liveness {
    /// Number of each operation.
    number: Vec<usize>,
    /// Line by number.
    line: Vec<u32>,
    allocations: Vec<OpId>,
    ranges: Vec<Range<usize>>,
}

impl Liveness {
    pub(super) fn of(module: &Module<'_>, function: &Function<'_>, allocations: &[OpId]) -> Liveness {
        let number = numbers(function);
        let mut line = vec![0; number.len()];
        for (op, at) in function.ops.iter().zip(&number) {
            if let Some(it) = line.get_mut(*at) {
                *it = op.line;
            }
        }
        let mut liveness = Liveness { number, line, allocations: allocations.to_vec(), ranges: Vec::new() };
        liveness.ranges = liveness.ranges_of(module, function);
        liveness
    }

    /// Range of an allocation.
    pub(super) fn allocation(&self, op: OpId) -> Range<usize> {
        let index = self.allocations.iter().position(|it| *it == op);
        index.and_then(|it| self.ranges.get(it)).cloned().unwrap_or_else(|| self.moment(op))
    }

    /// Range of what one operation needs for itself.
    pub(super) fn moment(&self, op: OpId) -> Range<usize> {
        let at = self.number.get(op).copied().unwrap_or(0);
        at..at + 1
    }

    /// First and last line of a range.
    pub(super) fn lines(&self, function: &Function<'_>, range: Range<usize>, own: (u32, u32)) -> (u32, u32) {
        let lines = self.line.get(range.clone()).unwrap_or_default();
        let first = lines.iter().copied().filter(|it| *it > 0).min().unwrap_or(own.0);
        let last = lines.iter().copied().max().unwrap_or(own.1);
        // The position of a loop is its first line; a buffer live to the loop's end is live to the last line
        // in it.
        let looped =
            (0..function.ops.len()).filter(|op| self.number.get(*op) == Some(&range.end.saturating_sub(1)));
        let end = looped
            .filter_map(|op| function.ops.get(function.ops.get(op)?.end.checked_sub(1)?))
            .map(|it| it.line);
        (first, end.max().unwrap_or(last).max(last))
    }

    fn ranges_of(&self, module: &Module<'_>, function: &Function<'_>) -> Vec<Range<usize>> {
        let sets = aliases(module, function, &self.allocations);
        let uses = last_uses(function, &self.number);
        let mut ranges: Vec<Option<Range<usize>>> = vec![None; self.allocations.len()];
        for (value, set) in sets.iter().enumerate() {
            if set.is_empty() {
                continue;
            }
            let Some(range) = self.range_of(function, value, uses.get(value).copied().flatten()) else {
                continue;
            };
            for &buffer in set {
                if let Some(all) = ranges.get_mut(buffer) {
                    let so_far = all.take().unwrap_or_else(|| range.clone());
                    *all = Some(so_far.start.min(range.start)..so_far.end.max(range.end));
                }
            }
        }
        ranges.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn range_of(&self, function: &Function<'_>, value: ValueId, last: Option<usize>) -> Option<Range<usize>> {
        let start = match function.values.get(value)?.source {
            Source::Result(op, _) => *self.number.get(op)?,
            Source::Block { of: Some(of), block, .. } => {
                let first = function.inside(of).find(|op| {
                    function.ops.get(*op).is_some_and(|it| it.parent == Some(of) && it.block == block)
                })?;
                *self.number.get(first)?
            }
            _ => return None,
        };
        Some(start..last.unwrap_or(start).max(start) + 1)
    }
}

/// Numbers in post-order.
fn numbers(function: &Function<'_>) -> Vec<usize> {
    let mut number = vec![0; function.ops.len()];
    let mut open: Vec<OpId> = Vec::new();
    let mut next = 0;
    let mut close = |open: &mut Vec<OpId>, before: OpId| {
        while let Some(&last) = open.last()
            && function.ops.get(last).is_some_and(|op| op.end <= before)
        {
            if let Some(it) = number.get_mut(last) {
                *it = next;
            }
            next += 1;
            open.pop();
        }
    };
    for op in 0..function.ops.len() {
        close(&mut open, op);
        open.push(op);
    }
    close(&mut open, usize::MAX);
    number
}

/// Number of the last use of each value, of operations in the block that defines it: a use in a loop counts
/// as the loop.
fn last_uses(function: &Function<'_>, number: &[usize]) -> Vec<Option<usize>> {
    let mut last: Vec<Option<usize>> = vec![None; function.values.len()];
    for op in 0..function.ops.len() {
        for value in function.operands(op).iter().flatten() {
            let home = match function.values.get(*value).map(|it| it.source) {
                Some(Source::Result(definition, _)) => function.ops.get(definition).and_then(|it| it.parent),
                Some(Source::Block { of, .. }) => of,
                _ => None,
            };
            let mut at = op;
            while let Some(parent) = function.ops.get(at).and_then(|it| it.parent)
                && Some(parent) != home
            {
                at = parent;
            }
            let used = number.get(at).copied();
            if let Some(it) = last.get_mut(*value) {
                *it = (*it).max(used);
            }
        }
    }
    last
}

/// The allocations each value may be, by index.
fn aliases(module: &Module<'_>, function: &Function<'_>, allocations: &[OpId]) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new(); function.values.len()];
    let memory = |value: ValueId| matches!(module.type_of(function, value), Some(Type::Memory(_)));
    for (index, op) in allocations.iter().enumerate() {
        if let Some(set) = function.result(*op).and_then(|value| sets.get_mut(value)) {
            set.push(index);
        }
    }
    let edges = edges(function, memory);
    loop {
        let mut changed = false;
        for &(from, to) in &edges {
            let Some(source) = sets.get(from).cloned() else { continue };
            let Some(target) = sets.get_mut(to) else { continue };
            for buffer in source {
                if !target.contains(&buffer) {
                    target.push(buffer);
                    changed = true;
                }
            }
        }
        if !changed {
            return sets;
        }
    }
}

/// Copy edges between buffer values: from a value to the values it becomes.
fn edges(function: &Function<'_>, memory: impl Fn(ValueId) -> bool) -> Vec<(ValueId, ValueId)> {
    let mut edges = Vec::new();
    let mut edge = |from: Option<ValueId>, to: Option<ValueId>| {
        if let (Some(from), Some(to)) = (from, to)
            && memory(from)
            && memory(to)
        {
            edges.push((from, to));
        }
    };
    for (id, op) in function.ops.iter().enumerate() {
        match op.name {
            "scf.for" | "scf.while" => {
                for (argument, initial) in op.block_arguments.iter().zip(&op.initial) {
                    edge(*initial, Some(*argument));
                }
                let skipped = usize::from(op.name == "scf.for");
                for (argument, result) in op.block_arguments.iter().skip(skipped).zip(op.results.clone()) {
                    edge(Some(*argument), Some(result));
                }
            }
            "scf.yield" | "scf.condition" => {
                let Some(parent) = op.parent.and_then(|it| function.ops.get(it)) else { continue };
                let carried =
                    parent.block_arguments.get(usize::from(parent.name == "scf.for")..).unwrap_or_default();
                for (at, value) in function.operands(id).iter().enumerate() {
                    if parent.is_loop() {
                        edge(*value, carried.get(at).copied());
                    }
                    edge(*value, parent.results.clone().nth(at));
                }
            }
            _ => {
                for result in op.results.clone() {
                    for operand in function.operands(id) {
                        edge(*operand, Some(result));
                    }
                }
            }
        }
    }
    edges
}
