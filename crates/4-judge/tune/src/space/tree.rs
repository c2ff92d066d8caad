//! The valid configurations as a tree whose equal subtrees are one.

use super::interval::{Certainty, Interval, compute};
use super::op::{Op, OpId};
use super::program::{Domain, Program};
use super::{Id, Limits};
use foldhash::fast::FixedState;
use sorting::Sort;
use std::collections::HashMap;

/// The child below the last parameter.
const LEAF: u32 = u32::MAX;

/// A value of a parameter and the configurations that have it.
#[derive(Clone, Copy, Debug)]
struct Edge {
    place: u32,
    child: u32,
    /// Configurations of the edges before it.
    before: u64,
}

/// All valid configurations.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Parameters in the order in which the tree binds them.
    order: Vec<usize>,
    edges: Vec<Edge>,
    /// Edges of each node.
    nodes: Vec<(u32, u32)>,
    root: u32,
    count: u64,
}

/// Why no tree was made.
pub(super) enum Failed {
    /// Exceeds a limit.
    TooLarge,
    /// A constraint cannot be computed for a configuration that all others allow.
    Constraint { constraint: usize, places: Vec<u32> },
}

/// Computes constraints that the program holds as a whole.
pub(super) trait Wholes {
    /// Whether the constraint holds for these places of its parameters' values; `None`: it cannot be computed.
    fn holds(&self, whole: usize, places: &[u32]) -> Option<bool>;
}

/// The input of a tree.
pub(super) struct Plan<'a> {
    pub(super) program: &'a Program,
    pub(super) domains: &'a [Domain],
    pub(super) wholes: &'a dyn Wholes,
    pub(super) order: Vec<usize>,
    pub(super) limits: Limits,
    /// The constraints that count.
    pub(super) constraints: Vec<usize>,
}

/// A constraint that is not decided yet at a level.
#[derive(Default)]
struct Open {
    /// Operations that the next parameters decide, inputs first.
    pending: Vec<OpId>,
    /// Bound operations that these read.
    keys: Vec<OpId>,
}

struct Builder<'a> {
    plan: &'a Plan<'a>,
    /// For each level: operations whose last parameter is bound there.
    decided: Vec<Vec<OpId>>,
    /// For each level and constraint: what is open after the level.
    open: Vec<Vec<Open>>,
    /// The operation of each parameter, where a constraint reads it.
    parameter_ops: Vec<Option<usize>>,
    now: Vec<Interval>,
    places: Vec<u32>,
    tree: Tree,
    known: HashMap<Box<[u64]>, (u32, u64), FixedState>,
    key: Vec<u64>,
    work: u64,
}

/// The state that a node is built for: the constraints that are open, as bits, and the one that failed.
#[derive(Clone)]
struct State {
    open: Vec<u64>,
    failed: Option<usize>,
}

impl Tree {
    /// Builds the tree.
    pub(super) fn build(plan: &Plan<'_>) -> Result<Tree, Failed> {
        let program = plan.program;
        let mut level_of_parameter = vec![0usize; plan.order.len()];
        for (level, &it) in plan.order.iter().enumerate() {
            level_of_parameter[it] = level + 1;
        }
        // Level 0: constants. Level n: decided by the first n parameters.
        let mut level: Vec<usize> = Vec::new();
        for (at, op) in program.ops.iter().enumerate() {
            let inputs = program.inputs(at as OpId);
            level.push(match op {
                Op::Parameter(it) => level_of_parameter[*it as usize],
                _ => inputs.iter().map(|&it| level[it as usize]).max().unwrap_or(0),
            });
        }
        let levels = plan.order.len();
        let mut decided = vec![Vec::new(); levels + 1];
        for at in needed(program, &plan.constraints) {
            decided[level[at as usize]].push(at);
        }
        let open = (0..=levels)
            .map(|at| {
                plan.constraints
                    .iter()
                    .map(|&it| open_after(program, &level, at, program.roots[it]))
                    .collect()
            })
            .collect();
        let tree = Tree { order: plan.order.clone(), edges: vec![], nodes: vec![], root: 0, count: 0 };
        let mut builder = Builder {
            plan,
            decided,
            open,
            parameter_ops: (0..levels as u32)
                .map(|it| program.ops.iter().position(|op| *op == Op::Parameter(it)))
                .collect(),
            now: program.widest.clone(),
            places: vec![0; levels],
            tree,
            known: HashMap::with_hasher(FixedState::default()),
            key: Vec::new(),
            work: 0,
        };
        let words = plan.constraints.len().div_ceil(64);
        let mut state = State { open: vec![0; words], failed: None };
        for at in 0..plan.constraints.len() {
            state.open[at / 64] |= 1 << (at % 64);
        }
        let (root, count) = match builder.enter(0, &mut state) {
            true => builder.node(0, &state)?,
            false => (LEAF, 0),
        };
        builder.tree.root = root;
        builder.tree.count = count;
        Ok(builder.tree)
    }

    pub(super) fn len(&self) -> u64 {
        self.count
    }

    fn edges(&self, node: u32) -> &[Edge] {
        let (start, end) = self.nodes[node as usize];
        &self.edges[start as usize..end as usize]
    }

    /// Writes the places of a configuration, in the order of the parameters.
    pub(super) fn places(&self, id: Id, out: &mut [u32]) {
        let (mut node, mut rest) = (self.root, id);
        for &parameter in &self.order {
            let edges = self.edges(node);
            let at = edges.partition_point(|it| it.before <= rest) - 1;
            let edge = edges[at];
            out[parameter] = edge.place;
            rest -= edge.before;
            node = edge.child;
        }
    }

    pub(super) fn id(&self, places: &[u32]) -> Option<Id> {
        let (mut node, mut id) = (self.root, 0);
        for &parameter in &self.order {
            let edges = self.edges(node);
            let at = edges.binary_search_by_key(&places[parameter], |it| it.place).ok()?;
            id += edges[at].before;
            node = edges[at].child;
        }
        Some(id)
    }
}

/// The operations that these constraints read, inputs first.
fn needed(program: &Program, constraints: &[usize]) -> Vec<OpId> {
    let mut wanted = vec![false; program.ops.len()];
    for &it in constraints {
        wanted[program.roots[it] as usize] = true;
    }
    for at in (0..wanted.len()).rev() {
        if wanted[at] {
            for it in program.inputs(at as OpId) {
                wanted[it as usize] = true;
            }
        }
    }
    (0..wanted.len() as OpId).filter(|&it| wanted[it as usize]).collect()
}

fn open_after(program: &Program, level: &[usize], after: usize, root: OpId) -> Open {
    let (mut seen, mut stack, mut open) = (vec![false; root as usize + 1], vec![root], Open::default());
    while let Some(at) = stack.pop() {
        if std::mem::replace(&mut seen[at as usize], true) {
            continue;
        }
        match level[at as usize] {
            it if it > after => {
                open.pending.push(at);
                stack.extend(program.inputs(at));
            }
            0 => {}
            _ => open.keys.push(at),
        }
    }
    open.pending.in_order();
    open.pending.retain(|&it| !matches!(program.ops[it as usize], Op::Parameter(_)));
    open.keys.in_order();
    open
}

impl Builder<'_> {
    /// Computes what a level decides. False: a constraint is broken, now or for all that follows.
    fn enter(&mut self, level: usize, state: &mut State) -> bool {
        let plan = self.plan;
        let (program, now) = (plan.program, &mut self.now);
        for &at in &self.decided[level] {
            now[at as usize] = match program.ops[at as usize] {
                // Bound by the loop over its values.
                Op::Parameter(_) => continue,
                Op::Whole(it) => {
                    let parameters = &program.wholes[it as usize].parameters;
                    let places: Vec<u32> = parameters
                        .iter()
                        .map(|&it| match program.ops[it as usize] {
                            Op::Parameter(it) => self.places[it as usize],
                            _ => 0,
                        })
                        .collect();
                    self.work += 100;
                    match plan.wholes.holds(it as usize, &places) {
                        Some(it) => Interval::point(f64::from(u8::from(it))),
                        None => Interval { low: 0.0, high: 1.0, fails: Certainty::Surely },
                    }
                }
                op => compute(op, |it| now[it as usize]),
            };
        }
        for word in 0..state.open.len() {
            let mut rest = state.open[word];
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let at = word * 64 + bit as usize;
                let open = &self.open[level][at];
                for &it in &open.pending {
                    let op = program.ops[it as usize];
                    now[it as usize] = compute(op, |it| now[it as usize]);
                }
                self.work += open.pending.len() as u64;
                let result = now[program.roots[plan.constraints[at]] as usize];
                if result.is_false() {
                    return false;
                }
                if result.is_true() || result.fails == Certainty::Surely {
                    state.open[word] &= !(1 << bit);
                }
                if result.fails == Certainty::Surely && state.failed.is_none() {
                    state.failed = Some(plan.constraints[at]);
                }
            }
        }
        true
    }

    /// The node of a level, and its configurations. The values before it are bound.
    fn node(&mut self, level: usize, state: &State) -> Result<(u32, u64), Failed> {
        let plan = self.plan;
        if level == plan.order.len() {
            return Ok((LEAF, 1));
        }
        self.key.clear();
        self.key.push((level as u64) << 32 | state.failed.map_or(0, |it| it as u64 + 1));
        for (word, &bits) in state.open.iter().enumerate() {
            self.key.push(bits);
            let mut rest = bits;
            while rest != 0 {
                let open = &self.open[level][word * 64 + rest.trailing_zeros() as usize];
                rest &= rest - 1;
                self.key.extend(open.keys.iter().map(|&it| self.now[it as usize].low.to_bits()));
            }
        }
        if let Some(&known) = self.known.get(self.key.as_slice()) {
            return Ok(known);
        }
        let key: Box<[u64]> = self.key.as_slice().into();
        let parameter = plan.order[level];
        let op = self.parameter_ops[parameter];
        let (mut edges, mut count) = (Vec::new(), 0u64);
        for (place, &number) in plan.domains[parameter].numbers.iter().enumerate() {
            self.work += 1;
            if self.work > plan.limits.steps {
                return Err(Failed::TooLarge);
            }
            if let Some(op) = op {
                self.now[op] = Interval::point(number);
            }
            self.places[parameter] = place as u32;
            let mut next = state.clone();
            if !self.enter(level + 1, &mut next) {
                continue;
            }
            let (child, below) = self.node(level + 1, &next)?;
            if below == 0 {
                continue;
            }
            if let (Some(constraint), None) = (next.failed, state.failed) {
                return Err(self.failure(constraint, level + 1, child));
            }
            edges.push(Edge { place: place as u32, child, before: count });
            count = count.checked_add(below).ok_or(Failed::TooLarge)?;
        }
        // A parameter that is not bound has its widest interval.
        if let Some(op) = op {
            self.now[op] = plan.program.widest[op];
        }
        let start = self.tree.edges.len();
        if start + edges.len() > plan.limits.edges {
            return Err(Failed::TooLarge);
        }
        self.tree.edges.extend(edges);
        self.tree.nodes.push((start as u32, self.tree.edges.len() as u32));
        let node = self.tree.nodes.len() as u32 - 1;
        self.known.insert(key, (node, count));
        Ok((node, count))
    }

    /// A configuration for which a constraint cannot be computed: the bound values and the first below `node`.
    fn failure(&self, constraint: usize, level: usize, mut node: u32) -> Failed {
        let mut places = self.places.clone();
        for &parameter in &self.plan.order[level..] {
            let edge = self.tree.edges(node)[0];
            places[parameter] = edge.place;
            node = edge.child;
        }
        Failed::Constraint { constraint, places }
    }
}
