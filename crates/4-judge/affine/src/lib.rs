//! Addresses of memory instructions: lane by lane if the code determines them, symbolic otherwise.
//!
//! An address is a known number per lane plus a sum of unknowns ([`value`]). Two addresses with the same
//! unknowns are a known distance apart; an address whose unknowns are the same for all lanes has known banks
//! and a known stride. What the code does not determine is `None`, never a guess. One assumption is made: a
//! kernel that asks for one work-item dimension runs in one-dimensional workgroups.

mod effects;
mod entry;
mod eval;
mod semantics;
mod state;
mod value;
mod walk;

#[cfg(test)]
mod tests;

pub use effects::Effects;
pub use entry::Entry;
pub use value::{Id, LANES, Marks};

use foldhash::HashMap;
use isa::{Cfg, Inst};
use value::Pool;

/// The address of one memory instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The instruction.
    pub inst: u32,
    /// Address, or its lower word, without the instruction's immediate offset.
    base: Id,
    /// `base` without its constant.
    stem: Id,
    /// The constant.
    constant: u32,
    /// Parts of a base that must also be equal for two bases to be comparable: upper word, buffer resource.
    key: Id,
    /// No lane was disabled on the way to it, by a branch or a loop.
    all_lanes: bool,
}

impl Access {
    /// Accesses of one group are a known distance apart: the distance of their [`constant`](Self::constant)s.
    pub fn group(&self) -> (Id, Id) {
        (self.key, self.stem)
    }

    /// No lane was disabled on the way to the access, by a branch or a loop.
    pub fn has_all_lanes(&self) -> bool {
        self.all_lanes
    }

    /// Position within the group in bytes, without the instruction's immediate offset.
    pub fn constant(&self) -> i32 {
        self.constant as i32
    }
}

/// Amount that an iteration adds to an unknown.
#[derive(Clone, Copy, Debug)]
struct Advance {
    in_loop: u32,
    step: Id,
}

/// Addresses of the lanes where each has a known number of one unknown stride, up to an amount common to all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strided {
    /// Known part of each lane's address, in bytes.
    pub offsets: [u32; LANES],
    /// Strides of each lane.
    pub steps: [u32; LANES],
    /// Bytes that the stride is counted in.
    pub bytes: u32,
}

/// Addresses of the lanes of a workgroup's first wave, where nothing else is unknown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirstWave {
    /// Each lane's, without the instruction's immediate offset.
    pub lanes: [u32; LANES],
    /// Bytes from one wave to the next.
    pub by_wave: u32,
}

/// Step of an address from one iteration of a loop to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Advances by this many bytes.
    Bytes(i32),
    /// Advances by an amount that is the same in every iteration and lane, known only at run time.
    Uniform(Marks),
}

/// Addresses of all memory instructions of a kernel.
#[derive(Debug)]
pub struct Addresses {
    pool: Pool,
    accesses: Vec<Access>,
    /// Advance of each symbol.
    advances: HashMap<u32, Advance>,
}

impl Addresses {
    /// Evaluates the address arithmetic of a kernel.
    pub fn build(insts: &[Inst], cfg: &Cfg, effects: &Effects, entry: &Entry) -> Addresses {
        walk::walk(insts, cfg, effects, entry)
    }

    /// Accesses in code order.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// The address of instruction `inst`, if it is a tracked memory access.
    pub fn of(&self, inst: u32) -> Option<&Access> {
        let at = self.accesses.binary_search_by_key(&inst, |access| access.inst).ok()?;
        self.accesses.get(at)
    }

    /// Addresses of the lanes up to an amount that is the same for all of them.
    pub fn lanes(&self, access: &Access) -> Option<[u32; LANES]> {
        self.pool.has_uniform_terms(access.base).then(|| self.pool.lane_values(access.base))
    }

    /// Addresses of the first wave's lanes, if they depend only on the work-item's number.
    pub fn first_wave(&self, access: &Access) -> Option<FirstWave> {
        let by_wave = match self.pool.get(access.base).terms() {
            [] => 0,
            [term] => {
                let symbol = self.pool.symbol(*term);
                let is_wave = !symbol.varying
                    && symbol.max.is_some()
                    && symbol.changes_in.is_none()
                    && symbol.marks == Marks::default();
                is_wave.then_some(term.coeff)?
            }
            _ => return None,
        };
        Some(FirstWave { lanes: self.pool.lane_values(access.base), by_wave })
    }

    /// Addresses of the lanes, if they differ by an unknown stride.
    pub fn strided(&self, access: &Access) -> Option<Strided> {
        let (steps, bytes) = self.pool.stride(access.base)?;
        let (offsets, steps) = (self.pool.lane_values(access.base), self.pool.lane_values(steps));
        Some(Strided { offsets, steps, bytes })
    }

    /// Power of two that divides the amount left out of [`lanes`](Self::lanes), in bytes.
    pub fn unknown_alignment(&self, access: &Access) -> u32 {
        1 << self.pool.term_alignment(access.base).min(31)
    }

    /// All lanes form the same address.
    pub fn is_uniform(&self, access: &Access) -> bool {
        self.pool.is_uniform(access.base)
    }

    /// The address is the same in every iteration of loop `id`.
    pub fn is_invariant(&self, access: &Access, cfg: &Cfg, id: u32) -> bool {
        [access.base, access.key].iter().all(|value| {
            let nested = cfg.loops.get(id as usize).map_or(id, |found| found.nested_end);
            self.pool.get(*value).terms().iter().all(|term| {
                !self.pool.symbol(*term).changes_in.is_some_and(|inner| (id..nested).contains(&inner))
            })
        })
    }

    /// Step of the address per iteration of loop `id`; `None` if it differs between iterations or lanes.
    pub fn step(&self, access: &Access, cfg: &Cfg, id: u32) -> Option<Step> {
        let nested = cfg.loops.get(id as usize)?.nested_end;
        let mut bytes = 0u32;
        let mut unknown: Option<Marks> = None;
        for term in self.pool.get(access.base).terms() {
            let changes = self.pool.symbol(*term).changes_in;
            if !changes.is_some_and(|inner| (id..nested).contains(&inner)) {
                continue;
            }
            let advance = self.advances.get(&term.symbol).filter(|advance| advance.in_loop == id)?;
            match self.pool.as_constant(advance.step) {
                Some(step) => bytes = bytes.wrapping_add(step.wrapping_mul(term.coeff)),
                None => {
                    let marks = self.pool.marks(advance.step);
                    unknown = Some(unknown.unwrap_or_default().union(marks));
                }
            }
        }
        Some(unknown.map_or(Step::Bytes(bytes as i32), Step::Uniform))
    }

    /// Origins of the unknowns of the address.
    pub fn marks(&self, access: &Access) -> Marks {
        self.pool.marks(access.base)
    }

    /// Loop `id` runs over the same addresses in each of its iterations: nothing in the address changes with
    /// it but the iteration counts of loops inside it.
    pub fn repeats(&self, access: &Access, cfg: &Cfg, id: u32) -> bool {
        let nested = cfg.loops.get(id as usize).map_or(id, |found| found.nested_end);
        // The upper word follows from the same index.
        self.pool.get(access.base).terms().iter().all(|term| {
            let changes = self.pool.symbol(*term).changes_in.filter(|inner| (id..nested).contains(inner));
            changes.is_none() || self.advances.get(&term.symbol).is_some_and(|advance| advance.in_loop != id)
        })
    }

    /// Names the array: equal for accesses whose addresses are formed from the same pointer argument or
    /// buffer.
    pub fn array(&self, access: &Access) -> (u32, Id) {
        let pointer = self.pool.get(access.base).terms().iter().find(|term| {
            let symbol = self.pool.symbol(**term);
            let marks = symbol.marks;
            term.coeff == 1
                && !symbol.varying
                && marks.argument
                && !marks.workgroup
                && !marks.grid
                && !marks.loaded
        });
        pointer.map_or((u32::MAX, access.key), |term| (term.symbol, 0))
    }
}
