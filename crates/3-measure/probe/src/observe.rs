//! The observer: counts events while a kernel runs.
//!
//! Per instruction only executions, active lanes and jumps are counted; memory accesses are analysed as they
//! occur. All other events are computed afterwards.

use crate::counts::{Counts, Memory};
use crate::memo::Memo;
use crate::table::{NO_SLOT, Table};
use emu::{MemoryAccess, Observer, WaveId};
use isa::{Access, Space};
use mem::{BankCycles, bank_cycles};
use mem::{Coalesced, coalesce};

/// Bytes a bank of the LDS gives.
const BANK_BYTES: u64 = 4;
/// Lanes of a wave.
const LANES: u64 = 64;

/// Counts the workgroups it is given.
#[derive(Debug)]
pub struct Probe<'t> {
    table: &'t Table,
    /// Counts so far.
    pub counts: Counts,
    /// The wave that issued last, and the instruction that would follow.
    wave: u32,
    next: usize,
    /// The instruction that would follow, of the waves of the workgroup that are not issuing.
    waiting: Vec<usize>,
    /// By memory instruction.
    vector_memos: Vec<Option<Box<Memo<Coalesced>>>>,
    lds_memos: Vec<Option<Box<Memo<BankCycles>>>>,
}

/// An access to scratch.
#[inline(never)]
fn scratch(memory: &mut Memory, access: &MemoryAccess<'_>, line: u64) {
    let mut in_quads = true;
    each_dword(access, |addresses, bytes| {
        let found = coalesce(addresses, access.lanes, bytes, line);
        memory.count(access.kind, &found);
        in_quads &= found.in_quads;
    });
    memory.coalesced += u64::from(in_quads);
}

/// Index before any instruction: the first instruction of a wave counts as a jump.
const NOWHERE: usize = usize::MAX;

impl<'t> Probe<'t> {
    /// A probe with zero counts.
    pub fn new(table: &'t Table) -> Self {
        let counts = table.counts();
        let slots = counts.memory.len();
        Probe {
            table,
            counts,
            wave: 0,
            next: NOWHERE,
            waiting: Vec::new(),
            vector_memos: std::iter::repeat_with(|| None).take(slots).collect(),
            lds_memos: std::iter::repeat_with(|| None).take(slots).collect(),
        }
    }

    /// Another wave issues, or a wave jumped.
    #[cold]
    #[inline(never)]
    fn elsewhere(&mut self, wave: u32, index: usize) {
        if wave != self.wave {
            if let Some(place) = self.waiting.get_mut(self.wave as usize) {
                *place = self.next;
            }
            self.wave = wave;
            self.next = self.waiting.get(wave as usize).copied().unwrap_or(NOWHERE);
        }
        if self.next != index
            && let Some(executed) = self.counts.executions.get_mut(index)
        {
            executed.jumps += 1;
        }
    }

    #[inline(always)]
    fn vector(&mut self, slot: usize, access: &MemoryAccess<'_>) {
        let line = self.table.line;
        let memory = &mut self.counts.memory[slot];
        memory.vector += 1;
        if access.space == Space::Scratch {
            scratch(memory, access, line);
        } else {
            let memo = self.vector_memos[slot].get_or_insert_with(|| Box::new(Memo::new()));
            let found = memo.get(access.addresses, access.lanes, access.formation, line, || {
                coalesce(access.addresses, access.lanes, access.bytes, line)
            });
            // Wide atomics are an access for each lane of the wave, as recorded of one with a single active
            // lane.
            let wide = access.kind == Access::Atomic && access.bytes > 4;
            let accesses = if wide { LANES } else { found.accesses };
            memory.count(access.kind, &Coalesced { accesses, ..found });
            memory.coalesced += u64::from(found.in_quads);
        }
    }

    #[inline(always)]
    fn lds(&mut self, slot: usize, access: &MemoryAccess<'_>) {
        let memory = &mut self.counts.memory[slot];
        let atomic = access.kind == Access::Atomic;
        let banks = self.table.banks;
        let memo = self.lds_memos[slot].get_or_insert_with(|| Box::new(Memo::new()));
        let period = BANK_BYTES * banks as u64;
        let found = memo.get(access.addresses, access.lanes, access.formation, period, || {
            bank_cycles(access.addresses, access.lanes, access.bytes, banks, !atomic)
        });
        memory.lds += 1;
        memory.lds_cycles += found.taken;
        memory.bank_conflicts += found.bank;
        memory.address_conflicts += found.address;
        memory.unaligned += u64::from(found.unaligned);
        if atomic {
            memory.lds_atomic_cycles += found.taken;
        }
    }
}

/// An access to scratch, dword by dword: the same dword of all lanes is contiguous.
pub fn each_dword(access: &MemoryAccess<'_>, mut each: impl FnMut(&[u64; 64], u32)) {
    for dword in 0..access.bytes.div_ceil(4).max(1) {
        let addresses = std::array::from_fn(|lane| {
            let offset = access.addresses[lane].wrapping_add(4 * u64::from(dword));
            (offset & !3).wrapping_mul(64).wrapping_add(4 * lane as u64 + (offset & 3))
        });
        each(&addresses, access.bytes.min(4));
    }
}

impl Observer for Probe<'_> {
    fn wave_start(&mut self, wave: WaveId, lanes: u64) {
        if wave.wave == 0 {
            self.counts.workgroups += 1;
            self.waiting.clear();
            self.next = NOWHERE;
            self.wave = 0;
        }
        self.waiting.push(NOWHERE);
        self.counts.waves += 1;
        self.counts.waves_by_lanes[lanes.count_ones() as usize] += 1;
    }

    #[inline(always)]
    fn issue_run(&mut self, wave: WaveId, first: usize, count: usize, exec: u64) {
        if first != self.next || wave.wave != self.wave {
            self.elsewhere(wave.wave, first);
        }
        self.next = first + count;
        let lanes = u64::from(exec.count_ones());
        for executed in self.counts.executions.get_mut(first..first + count).unwrap_or_default() {
            executed.times += 1;
            executed.lanes += lanes;
        }
    }

    #[inline(always)]
    fn access(&mut self, _: WaveId, access: &MemoryAccess<'_>) {
        let slot = self.table.slot(access.index);
        if slot == NO_SLOT || slot as usize >= self.counts.memory.len() {
            return;
        }
        match access.space {
            Space::Global | Space::Flat | Space::Buffer | Space::Scratch => {
                self.vector(slot as usize, access);
            }
            Space::Lds => self.lds(slot as usize, access),
            Space::Scalar | Space::Gds => {}
        }
    }
}
