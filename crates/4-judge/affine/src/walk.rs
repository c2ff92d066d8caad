//! Propagates values from block to block.
//!
//! Blocks are visited once per pass in execution order. Where paths meet, a register keeps its value only if
//! all paths agree; at a loop's header, registers the loop writes are unknown in the first pass, and `start +
//! travelled` in the second if the first found them to advance by the same amount in every lane.

use super::effects::Effects;
use super::entry::Entry;
use super::state::{NONE, SLOTS, Set, State, VECTOR_SLOTS, members, slots};
use super::value::{Id, Marks, Pool, Symbol};
use super::{Access, Addresses, Advance};
use foldhash::HashMap;
use isa::{Cfg, Inst, RegFile, RegRange};

/// A register that the loop computes, at the top of an iteration.
#[derive(Clone)]
struct Phi {
    slot: u16,
    id: Id,
    /// Step per iteration; `None` once a latch disagrees.
    step: Option<Id>,
    /// Some latch was seen.
    closed: bool,
}

/// A kernel while it is evaluated.
pub(super) struct Walker<'a> {
    pub(super) insts: &'a [Inst],
    cfg: &'a Cfg,
    pub(super) effects: &'a Effects,
    pub(super) entry: &'a Entry,
    pub(super) pool: Pool,
    /// Phis of each loop, ascending by slot.
    phis: Vec<Vec<Phi>>,
    /// Iterations of a loop times a step.
    counts: HashMap<(u32, Id), Id>,
    advances: HashMap<u32, Advance>,
    pub(super) accesses: Vec<Access>,
    /// Registers that are not needed any more: there is one set for every block, and each is larger than an
    /// allocator keeps at hand.
    #[allow(
        clippy::vec_box,
        reason = "the boxes are what is kept: they come from the states of blocks and go back there"
    )]
    spare: Vec<Box<State>>,
    /// Pointers to the kernel's arguments and to the dispatch packet.
    pub(super) kernarg: Id,
    pub(super) dispatch: Id,
    /// Innermost loop around the block at hand.
    pub(super) innermost: Option<u32>,
}

/// Progress of a pass.
#[derive(Clone)]
struct Progress {
    /// Position of the next block in the order of execution.
    next: usize,
    /// Registers at the end of each block that something still follows.
    states: Vec<Option<Box<State>>>,
    /// Number of successors of each block that are still to be visited.
    uses: Vec<usize>,
    /// Accesses found so far.
    accesses: usize,
}

impl Progress {
    fn at_start(cfg: &Cfg) -> Self {
        let count = cfg.blocks.len();
        Progress {
            next: 0,
            states: vec![None; count],
            uses: (0..count as u32).map(|block| cfg.succs(block).len()).collect(),
            accesses: 0,
        }
    }
}

/// Evaluates a kernel.
pub(super) fn walk(insts: &[Inst], cfg: &Cfg, effects: &Effects, entry: &Entry) -> Addresses {
    let mut walker = Walker {
        insts,
        cfg,
        effects,
        entry,
        pool: Pool::for_instructions(insts.len()),
        phis: vec![Vec::new(); cfg.loops.len()],
        counts: HashMap::default(),
        advances: HashMap::default(),
        accesses: Vec::new(),
        spare: Vec::new(),
        kernarg: NONE,
        dispatch: NONE,
        innermost: None,
    };
    walker.pool.constant(0);
    let before_loops = walker.pass(&[], Progress::at_start(cfg));
    let found = std::mem::replace(&mut walker.phis, vec![Vec::new(); cfg.loops.len()]);
    if found.iter().flatten().any(|phi| phi.step.is_some()) {
        // Ids of the first pass stay valid: the pool only grows. Code before every loop is unchanged.
        let from = before_loops.unwrap_or_else(|| Progress::at_start(cfg));
        walker.accesses.truncate(from.accesses);
        walker.pass(&found, from);
    }
    walker.accesses.sort_unstable_by_key(|access| access.inst);
    Addresses { pool: walker.pool, accesses: walker.accesses, advances: walker.advances }
}

impl Walker<'_> {
    /// Visits the blocks that are left; returns where the first loop was entered.
    fn pass(&mut self, found: &[Vec<Phi>], mut progress: Progress) -> Option<Progress> {
        let cfg = self.cfg;
        let mut before_loops = None;
        for (at, &block) in cfg.order().iter().enumerate().skip(progress.next) {
            self.innermost = cfg.blocks[block as usize].innermost;
            let header = self.innermost.filter(|&id| cfg.loops[id as usize].header == block);
            if header.is_some() && found.is_empty() && before_loops.is_none() {
                before_loops = Some(Progress { next: at, accesses: self.accesses.len(), ..progress.clone() });
            }
            let mut state = self.enter(block, header, &mut progress.states, &mut progress.uses, found);
            for at in cfg.blocks[block as usize].insts.clone() {
                self.step(at, &mut state);
            }
            self.close(block, &state);
            if progress.uses[block as usize] > 0 {
                progress.states[block as usize] = Some(state);
            } else {
                self.spare.push(state);
            }
        }
        before_loops
    }

    /// Copies the registers.
    fn copy(&mut self, from: &State) -> Box<State> {
        let Some(mut copy) = self.spare.pop() else { return Box::new(from.clone()) };
        copy.registers = from.registers;
        copy.levels.clone_from(&from.levels);
        copy
    }

    /// Registers of which nothing is known.
    fn nothing(&mut self) -> Box<State> {
        let spare = self.spare.pop();
        let mut state =
            spare.unwrap_or_else(|| Box::new(State { registers: [NONE; SLOTS], levels: Vec::new() }));
        state.registers.fill(NONE);
        state.levels.clear();
        state
    }

    /// Registers at the start of a block.
    fn enter(
        &mut self,
        block: u32,
        header: Option<u32>,
        states: &mut [Option<Box<State>>],
        uses: &mut [usize],
        found: &[Vec<Phi>],
    ) -> Box<State> {
        let mut state = self.arriving(block, header, states, uses).unwrap_or_else(|| self.nothing());
        if let Some(id) = header {
            let known = found.get(id as usize).map_or(&[][..], Vec::as_slice);
            self.iterate(id, known, &mut state);
        }
        state
    }

    /// State on which all paths to a block agree, back edges excluded; `None` if a path has not been visited
    /// yet.
    fn arriving(
        &mut self,
        block: u32,
        header: Option<u32>,
        states: &mut [Option<Box<State>>],
        uses: &mut [usize],
    ) -> Option<Box<State>> {
        let cfg = self.cfg;
        let mut state: Option<Box<State>> = (block == 0).then(|| Box::new(self.start()));
        let mut complete = true;
        for &pred in cfg.preds(block) {
            let left = &mut uses[pred as usize];
            *left = left.saturating_sub(1);
            let last = *left == 0;
            if header.is_some_and(|id| cfg.loop_contains(id, pred)) {
                continue;
            }
            let from = &mut states[pred as usize];
            match (&mut state, &from) {
                (_, None) => {
                    complete = false;
                    continue;
                }
                (None, Some(_)) if last => state = from.take(),
                (None, Some(from)) => state = Some(self.copy(from)),
                (Some(state), Some(from)) => state.meet(from),
            }
            if last {
                self.spare.extend(states[pred as usize].take());
            }
            if let Some(state) = &mut state {
                self.leave_loops(pred, block, state);
            }
        }
        state.filter(|_| complete)
    }

    /// Forgets what loops that end between two blocks write where lanes may leave them early: those keep what
    /// they had then.
    fn leave_loops(&self, from: u32, to: u32, state: &mut State) {
        let mut left = self.cfg.blocks[from as usize].innermost;
        while let Some(id) = left
            && !self.cfg.loop_contains(id, to)
        {
            if self.effects.loops[id as usize].exec {
                state.forget(&self.effects.loops[id as usize].slots);
            }
            left = self.cfg.loops[id as usize].parent;
        }
    }

    /// Registers at the top of a loop, for any iteration: unknown if the loop writes them, except registers
    /// that the previous pass found to advance by a constant step (`known`).
    fn iterate(&mut self, id: u32, known: &[Phi], state: &mut State) {
        let before = state.registers;
        let written = self.effects.loops[id as usize].clone();
        members(&written.slots).for_each(|slot| state.registers[slot] = NONE);
        let irreducible = self.cfg.loops[id as usize].irreducible;
        let advancing = if irreducible { Set::default() } else { written.computed };
        let mut phis = Vec::new();
        for slot in members(&advancing) {
            let at = known.binary_search_by_key(&(slot as u16), |phi| phi.slot);
            let step = at.ok().and_then(|at| known[at].step);
            let value = self.in_iteration(id, slot, before[slot], step);
            state.registers[slot] = value;
            phis.push(Phi { slot: slot as u16, id: value, step: None, closed: false });
        }
        self.phis[id as usize] = phis;
    }

    /// A register that starts at `start` and advances by `step` in each iteration of a loop.
    fn in_iteration(&mut self, id: u32, slot: usize, start: Id, step: Option<Id>) -> Id {
        if let Some(step) = step.filter(|_| start != NONE) {
            let travelled = self.travelled(id, step);
            if let Some(value) = self.pool.add(start, travelled).filter(|value| *value != NONE) {
                return value;
            }
        }
        let symbol =
            Symbol { varying: slot < VECTOR_SLOTS, max: None, changes_in: Some(id), marks: Marks::default() };
        let value = self.pool.unknown(symbol);
        if let (Some(step), Some(term)) = (step, self.pool.get(value).terms().first()) {
            self.advances.insert(term.symbol, Advance { in_loop: id, step });
        }
        value
    }

    /// Total of `step` since loop `id` was entered. Registers that advance together share the unknown, so
    /// their distance stays known.
    fn travelled(&mut self, id: u32, step: Id) -> Id {
        let constant = self.pool.as_constant(step);
        let (unit, factor) = match constant {
            Some(factor) => (self.pool.constant(1), factor),
            None => (step, 1),
        };
        let count = match self.counts.get(&(id, unit)) {
            Some(&count) => count,
            None => {
                let marks = self.pool.marks(unit);
                let count =
                    self.pool.unknown(Symbol { varying: false, max: None, changes_in: Some(id), marks });
                if let Some(term) = self.pool.get(count).terms().first() {
                    self.advances.insert(term.symbol, Advance { in_loop: id, step: unit });
                }
                self.counts.insert((id, unit), count);
                count
            }
        };
        self.pool.scale(count, factor).unwrap_or(NONE)
    }

    /// The loop around a loop.
    pub(super) fn parent_of(&self, id: u32) -> Option<u32> {
        self.cfg.loops[id as usize].parent
    }

    /// At the end of a latch: what an iteration added to each register.
    fn close(&mut self, block: u32, state: &State) {
        let mut at = self.innermost;
        while let Some(id) = at {
            let found = &self.cfg.loops[id as usize];
            at = found.parent;
            if !found.latches.contains(&block) {
                continue;
            }
            for phi in &mut self.phis[id as usize] {
                let new = state.registers[usize::from(phi.slot)];
                let step = if new == NONE { None } else { self.pool.sub(new, phi.id) };
                let step = step.filter(|step| {
                    self.pool.is_uniform(*step) && self.pool.changes_in(*step).is_none_or(|inner| inner < id)
                });
                phi.step = if !phi.closed || phi.step == step { step } else { None };
                phi.closed = true;
            }
        }
    }

    /// Registers when the kernel starts.
    fn start(&mut self) -> State {
        let mut state = State { registers: [NONE; SLOTS], levels: Vec::new() };
        for (slot, value) in self.entry.vgprs(&mut self.pool).into_iter().enumerate() {
            state.registers[slot] = value.unwrap_or(NONE);
        }
        let first = usize::from(slots(RegRange::new(RegFile::Sgpr, 0, 1)).start);
        for register in 0..self.entry.user_sgprs.saturating_add(self.entry.workgroup_ids).min(100) {
            let marks = Marks {
                workgroup: register >= self.entry.user_sgprs,
                argument: self.entry.kernarg.is_some_and(|at| register >= at + 2)
                    && register < self.entry.user_sgprs,
                ..Marks::default()
            };
            let symbol = Symbol { varying: false, max: None, changes_in: None, marks };
            state.registers[first + usize::from(register)] = self.pool.unknown(symbol);
        }
        let read =
            |at: Option<u16>| at.map_or(NONE, |at| state.registers[(first + usize::from(at)).min(SLOTS - 1)]);
        self.kernarg = read(self.entry.kernarg);
        self.dispatch = read(self.entry.dispatch);
        state
    }
}
