//! Caches for facts that the summary of a kernel needs repeatedly: users of values, positions.

use crate::model::{Function, Module, OpId};

/// Position of an operation: line of the IR, and the kernel's Python line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct At {
    /// Line of the IR text, from 1.
    pub line: u32,
    /// Name of the operation.
    pub op: String,
    /// Python file, as the compiler wrote it; empty if unknown.
    pub file: String,
    /// Python line of the kernel; 0 if unknown.
    pub source_line: u32,
    /// Index into [`KernelIr::loops`] of the innermost loop around it.
    pub in_loop: Option<usize>,
}

/// Cached facts about a kernel while it is summarized.
pub(crate) struct Context<'k, 'a> {
    pub(crate) module: &'k Module<'a>,
    pub(crate) function: &'k Function<'a>,
    /// Operations that use each value.
    pub(crate) users: Vec<Vec<OpId>>,
    /// Loops in order of the text.
    pub(crate) loop_ops: Vec<OpId>,
}

impl<'k, 'a> Context<'k, 'a> {
    pub(crate) fn new(module: &'k Module<'a>, function: &'k Function<'a>) -> Self {
        let mut users: Vec<Vec<OpId>> = vec![Vec::new(); function.values.len()];
        for op in 0..function.ops.len() {
            for value in function.operands(op).iter().flatten() {
                if let Some(list) = users.get_mut(*value)
                    && list.last() != Some(&op)
                {
                    list.push(op);
                }
            }
        }
        let loop_ops =
            (0..function.ops.len()).filter(|op| function.ops.get(*op).is_some_and(|it| it.is_loop()));
        Context { module, function, users, loop_ops: loop_ops.collect() }
    }

    pub(crate) fn at(&self, op: OpId) -> At {
        let Some(it) = self.function.ops.get(op) else { return At::default() };
        let location = self.module.location(self.function, op);
        let frame = location.kernel_line();
        let inside = self.function.enclosing_loop(op);
        At {
            line: it.line,
            op: it.name.to_owned(),
            file: frame.map_or_else(String::new, |it| it.file.to_owned()),
            source_line: frame.map_or(0, |it| it.line),
            in_loop: inside.and_then(|of| self.loop_ops.iter().position(|it| *it == of)),
        }
    }

    /// The operation that defines an operand.
    pub(crate) fn definition(&self, op: OpId, operand: usize) -> Option<OpId> {
        self.function.definition(self.function.operand(op, operand)?)
    }

    pub(crate) fn short(&self, op: OpId) -> &'a str {
        self.function.ops.get(op).map_or("", |it| it.short())
    }

    /// Users of an operation's results.
    pub(crate) fn users_of(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        let results = self.function.ops.get(op).map_or(0..0, |it| it.results.clone());
        results.flat_map(|value| self.users.get(value).into_iter().flatten().copied())
    }

    /// Value of an operand that is an integer `arith.constant`, scalar or splat tensor.
    pub(crate) fn constant(&self, value: usize) -> Option<i64> {
        let op = self.function.ops.get(self.function.definition(value)?)?;
        if op.name != "arith.constant" {
            return None;
        }
        let text = op.text.trim();
        text.strip_prefix("dense<").and_then(|it| it.strip_suffix('>')).unwrap_or(text).parse().ok()
    }
}
