//! Loops: what they count, and how loads are pipelined in them as built.
//!
//! A load is prefetched by as many iterations as its value passes ends of the loop's body on the way to the
//! operation that uses it: through registers, or through a buffer of the LDS that is handed from one
//! iteration to the next.

use crate::context::{At, Context};
use crate::model::{OpId, ValueId};
use std::collections::VecDeque;

/// A bound of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// A constant.
    Constant(i64),
    /// A value: its name, without `%`.
    Value(String),
}

impl Bound {
    /// Display text.
    pub fn text(&self) -> String {
        match self {
            Bound::Constant(it) => it.to_string(),
            Bound::Value(name) => name.clone(),
        }
    }
}

/// A loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    /// Position.
    pub at: At,
    /// Nesting depth, from 1.
    pub depth: u32,
    /// Index of the loop around it.
    pub parent: Option<usize>,
    /// Lines of the text it covers.
    pub lines: (u32, u32),
    /// Lower bound, upper bound, step; `None` for `scf.while`.
    pub bounds: Option<[Bound; 3]>,
    /// `num_stages` of `tl.range`, where the loop still has it.
    pub stages: Option<i64>,
    /// Loads from global memory in its body, inner loops left out.
    pub loads: Vec<LoopLoad>,
    /// Matrix products in its body, inner loops left out.
    pub dots: u32,
    /// It has loops in it.
    pub has_inner: bool,
    /// Stores and loads of LDS buffers in its body.
    pub local_stores: u32,
    /// Loads from the LDS.
    pub local_loads: u32,
    /// Workgroup barriers written in the IR; more are added later where LDS accesses need them.
    pub barriers: u32,
    /// Operations that each `async_wait` leaves outstanding.
    pub async_waits: Vec<i64>,
    /// Priorities are set: two groups of waves take turns (ping-pong), with `cond_barrier` before the loop.
    pub ping_pong: bool,
    /// Values carried from one iteration to the next.
    pub carried: usize,
}

/// A load in a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopLoad {
    /// Position.
    pub at: At,
    /// Iterations between the load and the matrix product it is for; `None` if it is for none.
    pub to_dot: Option<u32>,
    /// Iterations between the load and the first operation on its value.
    pub to_use: Option<u32>,
    /// Its value is an address, or part of one, for another load.
    pub is_address: bool,
    /// The load writes directly to the LDS.
    pub to_lds: bool,
}

impl LoopLoad {
    /// Iterations ahead.
    pub fn distance(&self) -> Option<u32> {
        self.to_dot.or(self.to_use)
    }
}

impl Loop {
    /// Iterations by which its loads are ahead, the least of them; `None` without loads.
    pub fn prefetch(&self) -> Option<u32> {
        self.loads.iter().filter_map(LoopLoad::distance).min()
    }

    /// At least one load is ahead of its use.
    pub fn pipelined(&self) -> bool {
        self.loads.iter().any(|it| it.distance().is_some_and(|it| it > 0))
    }

    /// Iterations, where all bounds are constants.
    pub fn trips(&self) -> Option<i64> {
        match self.bounds.as_ref()? {
            [Bound::Constant(from), Bound::Constant(to), Bound::Constant(step)] if *step > 0 => {
                Some(to.checked_sub(*from)?.max(0).checked_add(step - 1)? / step)
            }
            _ => None,
        }
    }
}

pub(crate) fn loops(context: &Context<'_, '_>) -> Vec<Loop> {
    let conditional = context.function.named("cond_barrier").next().is_some();
    context.loop_ops.iter().map(|op| one(context, *op, conditional)).collect()
}

fn one(context: &Context<'_, '_>, id: OpId, conditional: bool) -> Loop {
    let function = context.function;
    let at = context.at(id);
    let parent = at.in_loop;
    let mut depth = 1;
    let mut outer = function.enclosing_loop(id);
    while let Some(op) = outer {
        depth += 1;
        outer = function.enclosing_loop(op);
    }
    let inside = function.inside(id);
    let own: Vec<OpId> = inside.clone().filter(|op| function.enclosing_loop(*op) == Some(id)).collect();
    let count = |names: &[&str]| {
        let is = |op: &&OpId| names.contains(&context.short(**op));
        u32::try_from(own.iter().filter(is).count()).unwrap_or(u32::MAX)
    };
    let last_line = inside.clone().filter_map(|op| function.ops.get(op)).map(|it| it.line).max();
    let waits = own.iter().filter(|op| context.short(**op) == "async_wait");
    let op = function.ops.get(id);
    Loop {
        lines: (at.line, last_line.unwrap_or(at.line)),
        depth,
        parent,
        bounds: bounds(context, id),
        stages: op.and_then(|op| op.number("tt.num_stages")),
        loads: own.iter().filter(|op| is_load(context, **op)).map(|op| load(context, id, *op)).collect(),
        dots: count(&["dot", "dot_scaled"]),
        has_inner: own.iter().any(|op| function.ops.get(*op).is_some_and(|it| it.is_loop())),
        local_stores: count(&["local_store", "local_alloc"]),
        local_loads: count(&["local_load"]),
        barriers: count(&["barrier", "s.barrier"]),
        async_waits: waits.filter_map(|op| function.ops.get(*op)?.number("num")).collect(),
        ping_pong: conditional && count(&["s.setprio"]) > 0,
        carried: op.map_or(0, |op| op.results.len()),
        at,
    }
}

fn bounds(context: &Context<'_, '_>, id: OpId) -> Option<[Bound; 3]> {
    if context.function.ops.get(id)?.name != "scf.for" {
        return None;
    }
    let bound = |operand: usize| {
        let value = context.function.operand(id, operand)?;
        Some(match context.constant(value) {
            Some(it) => Bound::Constant(it),
            None => Bound::Value(expression(context, value, MOST_NESTED)),
        })
    };
    Some([bound(0)?, bound(1)?, bound(2)?])
}

/// Maximum depth of the expression of a bound; deeper parts are shown by name.
const MOST_NESTED: u32 = 3;

/// A value as a readable expression: `K - 64`.
fn expression(context: &Context<'_, '_>, value: ValueId, depth: u32) -> String {
    if let Some(constant) = context.constant(value) {
        return constant.to_string();
    }
    let name = || context.function.values.get(value).map_or("", |it| it.name).to_owned();
    let Some(op) = context.function.definition(value).filter(|_| depth > 0) else { return name() };
    let sign = match context.function.ops.get(op).map(|it| it.name) {
        Some("arith.addi") => "+",
        Some("arith.subi") => "-",
        Some("arith.muli") => "*",
        Some("arith.divsi" | "arith.divui") => "/",
        _ => return name(),
    };
    let (Some(a), Some(b)) = (context.function.operand(op, 0), context.function.operand(op, 1)) else {
        return name();
    };
    let part = |value| {
        let text = expression(context, value, depth - 1);
        if text.contains(' ') && sign != "+" { format!("({text})") } else { text }
    };
    format!("{} {sign} {}", part(a), part(b))
}

/// A load of a tensor from global memory.
fn is_load(context: &Context<'_, '_>, op: OpId) -> bool {
    let Some(it) = context.function.ops.get(op) else { return false };
    let tensor = || {
        let ty = context.module.result_type(context.function, op);
        ty.is_some_and(|it| it.tensor().is_some())
    };
    match it.short() {
        "load" => it.dialect() == "tt" && tensor(),
        "buffer_load" => tensor(),
        "buffer_load_to_local" | "async_copy_global_to_local" => true,
        _ => false,
    }
}

/// Operations that move a value and do not use it: through layouts, buffers, casts and shapes.
const MOVES: &[&str] = &[
    "convert_layout",
    "in_thread_transpose",
    "local_alloc",
    "local_load",
    "memdesc_index",
    "memdesc_subview",
    "memdesc_subslice",
    "memdesc_trans",
    "trans",
    "reshape",
    "extf",
    "truncf",
    "bitcast",
    "fp_to_fp",
    "split",
    "join",
];

fn load(context: &Context<'_, '_>, of: OpId, op: OpId) -> LoopLoad {
    let to_lds = matches!(context.short(op), "buffer_load_to_local" | "async_copy_global_to_local");
    let mut found = LoopLoad { at: context.at(op), to_dot: None, to_use: None, is_address: false, to_lds };
    let start = if to_lds { destination(context, op) } else { context.function.result(op) };
    let Some(start) = start else { return found };
    let mut walk =
        Walk { context, of, seen: vec![false; context.function.values.len()], open: VecDeque::new() };
    walk.push(start, 0, false);
    while let Some(at) = walk.open.pop_front() {
        for &user in context.users.get(at.value).into_iter().flatten() {
            if user != op {
                walk.step(user, at, &mut found);
            }
        }
    }
    found
}

/// The buffer an asynchronous copy writes: the operand that is one.
fn destination(context: &Context<'_, '_>, op: OpId) -> Option<ValueId> {
    let is =
        |it: &ValueId| context.module.type_of(context.function, *it).is_some_and(|it| it.memory().is_some());
    context.function.operands(op).iter().flatten().copied().find(is)
}

/// A walk from a load to what uses it, nearest iteration first.
struct Walk<'w, 'k, 'a> {
    context: &'w Context<'k, 'a>,
    of: OpId,
    seen: Vec<bool>,
    open: VecDeque<Reached>,
}

/// A value on the path.
#[derive(Clone, Copy)]
struct Reached {
    value: ValueId,
    /// Iterations passed.
    distance: u32,
    /// Arithmetic was done on it.
    used: bool,
}

impl Walk<'_, '_, '_> {
    fn push(&mut self, value: ValueId, distance: u32, used: bool) {
        if let Some(seen) = self.seen.get_mut(value)
            && !std::mem::replace(seen, true)
        {
            self.open.push_back(Reached { value, distance, used });
        }
    }

    fn step(&mut self, user: OpId, at: Reached, found: &mut LoopLoad) {
        let Reached { value, distance, used } = at;
        let function = self.context.function;
        if !function.inside(self.of).contains(&user) {
            return;
        }
        let short = self.context.short(user);
        let first_use = |found: &mut LoopLoad| {
            if !used {
                found.to_use = Some(found.to_use.map_or(distance, |it| it.min(distance)));
            }
        };
        match short {
            "yield" => {
                let Some(op) = function.ops.get(user) else { return };
                let positions =
                    function.operands(user).iter().enumerate().filter(|(_, it)| **it == Some(value));
                let positions: Vec<usize> = positions.map(|(at, _)| at).collect();
                if op.parent == Some(self.of) {
                    let Some(parent) = function.ops.get(self.of) else { return };
                    let skipped = usize::from(parent.name == "scf.for");
                    for at in positions {
                        if let Some(&next) = parent.block_arguments.get(at + skipped) {
                            self.push(next, distance + 1, used);
                        }
                    }
                } else if let Some(parent) = op.parent.and_then(|it| function.ops.get(it)) {
                    for at in positions {
                        if let Some(next) = parent.results.clone().nth(at) {
                            self.push(next, distance, used);
                        }
                    }
                }
            }
            "dot" | "dot_scaled" => {
                first_use(found);
                found.to_dot = Some(found.to_dot.map_or(distance, |it| it.min(distance)));
            }
            "local_store" => {
                if let Some(buffer) = function.operand(user, 1).filter(|it| *it != value) {
                    self.push(buffer, distance, used);
                }
            }
            "load" | "buffer_load" | "buffer_load_to_local" | "async_copy_global_to_local" => {
                first_use(found);
                found.is_address = true;
            }
            "async_wait" | "local_dealloc" | "async_commit_group" => {}
            _ => {
                let moves = MOVES.contains(&short);
                if !moves {
                    first_use(found);
                }
                for result in function.ops.get(user).map_or(0..0, |it| it.results.clone()) {
                    self.push(result, distance, used || !moves);
                }
            }
        }
    }
}
