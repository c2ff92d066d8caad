//! Events per execution of each instruction of a program, computed before it runs.
//!
//! Totals are executions times these rows; only sums over lanes, jumps and memory accesses come from the run
//! itself.

use crate::classify;
use crate::code::Code;
use crate::counts::{Counts, Memory};
use crate::event::{Event, Totals};
use crate::issue;
use crate::launch_registers::LaunchRegisters;
use crate::policy::policy;
use arch::Target;
use emu::Program;
use isa::Class;
use mem::{AccessKind, Policy};
use std::sync::Arc;

/// Bytes of code a wave gets with one fetch.
const FETCH_BYTES: u64 = 32;

/// No memory instruction.
pub const NO_SLOT: u32 = u32::MAX;

/// Events per execution of one instruction.
#[derive(Clone, Debug)]
struct Row {
    /// Events of one execution.
    events: Vec<(Event, u64)>,
    /// Cycles on a SIMD.
    cycles: u64,
    /// True if active lanes are counted.
    lanes: bool,
    /// Fetches when it follows the instruction before it.
    fetches: u64,
    /// Fetches when it is jumped to.
    fetches_after_jump: u64,
}

/// The rows of a program, and the facts of its target for splitting accesses into groups of adjacent lanes.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Row>,
    /// Number among the memory instructions, by instruction.
    slots: Vec<u32>,
    /// Instruction of each memory slot.
    of_slot: Vec<u32>,
    registers: LaunchRegisters,
    /// Line of the vector L1, bytes.
    pub(crate) line: u64,
    /// Banks of the LDS.
    pub(crate) banks: usize,
    /// Whether an atomic returns the old value, by memory slot.
    returns: Vec<bool>,
    /// Cache policy, by memory slot.
    policies: Vec<Policy>,
    /// Inputs of the clock, by instruction.
    ops: Arc<[clock::Op]>,
    /// Code the program was read from, if known.
    code: Option<Arc<Code>>,
}

/// Defaults for unknown targets.
const LINE: u64 = 64;
const BANKS: usize = 32;

impl Table {
    /// Computes the rows of a program.
    pub fn new(program: &Program) -> Table {
        let target = Target::by_name(program.isa.processor());
        let mut table = Table {
            rows: Vec::with_capacity(program.instructions().len()),
            slots: Vec::with_capacity(program.instructions().len()),
            of_slot: Vec::new(),
            registers: LaunchRegisters::of(&program.descriptor),
            line: target.map_or(LINE, |target| u64::from(target.vector_l1.line_bytes.value)),
            banks: target.map_or(BANKS, |target| target.lds.banks.value as usize),
            returns: Vec::new(),
            policies: Vec::new(),
            ops: Arc::new([]),
            code: None,
        };
        let mut ops = Vec::with_capacity(program.instructions().len());
        for (index, inst) in program.instructions().iter().enumerate() {
            let info = inst.op.info();
            let (start, end) = (program.address(index), program.address(index) + u64::from(inst.size).max(1));
            let blocks = |from: u64| end.div_ceil(FETCH_BYTES).saturating_sub(from);
            table.rows.push(Row {
                events: classify::events(inst, target),
                cycles: cycles(inst, target),
                lanes: matches!(info.class, Class::Valu | Class::Mfma),
                fetches: blocks(start.div_ceil(FETCH_BYTES)),
                fetches_after_jump: blocks(start / FETCH_BYTES),
            });
            let slot = if info.mem.is_some() { table.of_slot.len() as u32 } else { NO_SLOT };
            table.slots.push(slot);
            let op = issue::op(inst, slot, cycles(inst, target) as u32);
            ops.push(issue::on_target(op, inst, start, target));
            if slot == NO_SLOT {
                continue;
            }
            table.of_slot.push(index as u32);
            let returns = returns_old_value(inst);
            table.returns.push(returns);
            table.policies.push(policy(inst, target, returns));
        }
        table.ops = ops.into();
        table
    }

    /// The same with the code object that the program was read from.
    pub fn with_code(self, code: Arc<Code>) -> Table {
        Table { code: Some(code), ..self }
    }

    /// The code object that the program was read from.
    pub fn code(&self) -> Option<&Arc<Code>> {
        self.code.as_ref()
    }

    /// Zero counts for this program.
    pub fn counts(&self) -> Counts {
        Counts::new(self.rows.len(), self.of_slot.len())
    }

    /// Number among the memory instructions of the instruction at an index; [`NO_SLOT`] if it accesses no
    /// memory.
    #[inline(always)]
    pub fn slot(&self, index: usize) -> u32 {
        self.slots.get(index).copied().unwrap_or(NO_SLOT)
    }

    /// Cache policy of the instruction of a memory slot.
    #[inline(always)]
    pub fn policy(&self, slot: u32) -> Policy {
        self.policies.get(slot as usize).copied().unwrap_or(Policy::plain(AccessKind::Load))
    }

    /// Totals of a memory instruction; `None` if it is not one.
    pub fn memory<'a>(&self, counts: &'a Counts, index: usize) -> Option<&'a Memory> {
        counts.memory.get(self.slot(index) as usize)
    }

    /// Inputs of the clock, by instruction.
    pub fn ops(&self) -> Arc<[clock::Op]> {
        self.ops.clone()
    }

    /// Cycles on a SIMD of all vector and matrix instructions of a run.
    pub fn vector_cycles(&self, counts: &Counts) -> u64 {
        self.rows.iter().zip(&counts.executions).map(|(row, executed)| row.cycles * executed.times).sum()
    }

    /// All events of a run. `compute_units` of the GPU count once.
    pub fn totals(&self, counts: &Counts, compute_units: u64) -> Totals {
        let mut totals = Totals::default();
        totals.add(Event::ComputeUnit, compute_units);
        totals.add(Event::Workgroup, counts.workgroups);
        totals.add(Event::Wave, counts.waves);
        totals.add(Event::SgprQuads, counts.waves * self.registers.quads);
        totals.add(Event::SgprQuadsWithScratch, counts.waves * self.registers.quads_with_scratch);
        for (lanes, &waves) in counts.waves_by_lanes.iter().enumerate() {
            let bounds = [
                (Event::WaveBelow64, 64),
                (Event::WaveBelow48, 48),
                (Event::WaveBelow32, 32),
                (Event::WaveBelow16, 16),
            ];
            if lanes == 64 {
                totals.add(Event::WaveFull, waves);
            }
            for (event, bound) in bounds {
                if lanes < bound {
                    totals.add(event, waves);
                }
            }
        }
        for (row, executed) in self.rows.iter().zip(&counts.executions) {
            if executed.times == 0 {
                continue;
            }
            for &(event, times) in &row.events {
                totals.add(event, times * executed.times);
            }
            let in_sequence = executed.times - executed.jumps.min(executed.times);
            totals.add(Event::Fetch, in_sequence * row.fetches + executed.jumps * row.fetches_after_jump);
            if row.lanes {
                totals.add(Event::ValuLanes, executed.lanes);
            }
        }
        for (memory, &returns) in counts.memory.iter().zip(&self.returns) {
            memory.add_to(&mut totals, returns);
        }
        totals
    }
}

/// Cycles a SIMD is occupied by an instruction; those whose cost is unknown count as ordinary ones.
fn cycles(inst: &isa::Inst, target: Option<&Target>) -> u64 {
    const ORDINARY: u32 = 4;
    let info = inst.op.info();
    let cycles = match info.class {
        Class::Mfma => classify::matrix_cycles(inst, target),
        Class::Valu => target.and_then(|it| it.issue.cycles(&format!("{:?}", info.cost))),
        _ => return 0,
    };
    u64::from(cycles.unwrap_or(ORDINARY))
}

/// Whether an atomic writes the old value to a register.
fn returns_old_value(inst: &isa::Inst) -> bool {
    let flags = inst.op.info().flags;
    flags.contains(isa::OpFlags::RETURNS)
        || (flags.contains(isa::OpFlags::OPTIONAL_DST) && inst.mods.bits.contains(isa::Bits::SC0))
}
