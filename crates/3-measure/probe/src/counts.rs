//! Events counted while a kernel ran, as values.

use crate::event::{Event, Totals};
use isa::Access;
use mem::Coalesced;

/// Executions of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Executions {
    /// By waves.
    pub times: u64,
    /// Active lanes, summed.
    pub lanes: u64,
    /// Of the executions, those that did not follow the instruction before.
    pub jumps: u64,
}

/// Totals of the accesses of one memory instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// Accesses that went to the vector L1, as the executor reports them.
    pub vector: u64,
    /// Of these, accesses of the cache after coalescing: loads, stores, atomics.
    pub accesses: [u64; 3],
    /// Tags looked up.
    pub lookups: u64,
    /// Different cache lines, summed over the accesses.
    pub lines: u64,
    /// Accesses that were coalesced in quads.
    pub coalesced: u64,
    /// Accesses that went to the LDS.
    pub lds: u64,
    /// Cycles they took.
    pub lds_cycles: u64,
    /// Of these, lost to bank conflicts.
    pub bank_conflicts: u64,
    /// Of these, lost to atomics on one dword.
    pub address_conflicts: u64,
    /// Cycles of atomics.
    pub lds_atomic_cycles: u64,
    /// Accesses with an unaligned lane.
    pub unaligned: u64,
}

impl Memory {
    fn merge(&mut self, other: &Memory) {
        let Memory {
            vector,
            accesses,
            lookups,
            lines,
            coalesced,
            lds,
            lds_cycles,
            bank_conflicts,
            address_conflicts,
            lds_atomic_cycles,
            unaligned,
        } = other;
        self.vector += vector;
        self.accesses.iter_mut().zip(accesses).for_each(|(sum, more)| *sum += more);
        self.lookups += lookups;
        self.lines += lines;
        self.coalesced += coalesced;
        self.lds += lds;
        self.lds_cycles += lds_cycles;
        self.bank_conflicts += bank_conflicts;
        self.address_conflicts += address_conflicts;
        self.lds_atomic_cycles += lds_atomic_cycles;
        self.unaligned += unaligned;
    }

    #[inline(always)]
    pub(crate) fn count(&mut self, kind: Access, found: &Coalesced) {
        let kind = match kind {
            Access::Store => 1,
            Access::Atomic => 2,
            _ => 0,
        };
        self.accesses[kind] += found.accesses;
        self.lookups += found.lookups;
        self.lines += found.lines;
    }

    /// Adds the events; `returns` is set if an atomic returns the old value.
    pub(crate) fn add_to(&self, totals: &mut Totals, returns: bool) {
        let atomic = if returns { Event::TcpAtomicReturn } else { Event::TcpAtomic };
        totals.add(Event::TcpRead, self.accesses[0]);
        totals.add(Event::TcpWrite, self.accesses[1]);
        totals.add(atomic, self.accesses[2]);
        totals.add(Event::TcpLookup, self.lookups);
        totals.add(Event::Coalesced, self.coalesced);
        totals.add(Event::LdsCycles, self.lds_cycles);
        totals.add(Event::LdsBankConflict, self.bank_conflicts);
        totals.add(Event::LdsAddressConflict, self.address_conflicts);
        totals.add(Event::LdsAtomicReturn, if returns { self.lds_atomic_cycles } else { 0 });
        totals.add(Event::LdsUnaligned, self.unaligned);
    }
}

/// Counted events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    /// By instruction.
    pub executions: Vec<Executions>,
    /// By memory instruction, in the order of the program.
    pub memory: Vec<Memory>,
    /// Waves begun.
    pub waves: u64,
    /// Waves by the number of lanes they begin with.
    pub waves_by_lanes: [u64; 65],
    /// Workgroups begun.
    pub workgroups: u64,
}

impl Counts {
    /// Zero counts for a program with the given numbers of instructions and of memory instructions.
    pub(crate) fn new(instructions: usize, memory: usize) -> Counts {
        Counts {
            executions: vec![Executions::default(); instructions],
            memory: vec![Memory::default(); memory],
            waves: 0,
            waves_by_lanes: [0; 65],
            workgroups: 0,
        }
    }

    /// Adds the counts of another part of the same launch.
    pub fn merge(&mut self, other: &Counts) {
        self.waves += other.waves;
        self.workgroups += other.workgroups;
        self.waves_by_lanes.iter_mut().zip(&other.waves_by_lanes).for_each(|(sum, more)| *sum += more);
        for (sum, more) in self.executions.iter_mut().zip(&other.executions) {
            sum.times += more.times;
            sum.lanes += more.lanes;
            sum.jumps += more.jumps;
        }
        self.memory.iter_mut().zip(&other.memory).for_each(|(sum, more)| sum.merge(more));
    }
}
