//! Execution of a wave's instructions.
//!
//! The one idea to keep in mind: instructions issue in runs, which end at instructions that may write EXEC or
//! jump. One match over actions executes a run; long actions are functions in other modules.

use crate::access::{Access, Part};
use crate::altered::{self, Altered, Next};
use crate::control::{Condition, Indexing};
use crate::decode::{Action, Salu};
use crate::engine::Engine;
use crate::fault::{Cause, Stop};
use crate::lanes::{Extra, Mode};
use crate::machine::{Machine, PRIVATE_BASE, SHARED_BASE, fetch};
use crate::matrix::Workplace;
use crate::memory::Memory;
use crate::observe::{LdsDmaLoad, MemoryAccess, Observer};
use crate::operand::{EXEC, M0, NONE, Src};
use crate::phases::TURN_ENDS;
use crate::program::Program;
use crate::run_in_place;
use crate::valu::Valu;
use crate::wave::{Wave, WaveId, WaveState};
use isa::Space;

#[cfg(test)]
mod tests;

/// Hardware registers of `s_getreg_b32`.
mod register {
    pub(super) const MODE: u16 = 1;
    pub(super) const STATUS: u16 = 2;
    pub(super) const GPR_ALLOC: u16 = 5;
    pub(super) const LDS_ALLOC: u16 = 6;
    pub(super) const SH_MEM_BASES: u16 = 15;
}

/// A program on the machine of one thread.
pub(crate) struct Executor<'a> {
    pub(crate) program: &'a Program,
    pub(crate) machine: Machine<'a>,
    pub(crate) engine: Engine,
    /// Operands of matrix instructions, unpacked.
    pub(crate) matrix: Workplace,
    /// Instructions as MODE alters them.
    pub(crate) altered: Altered,
}

impl<'a> Executor<'a> {
    pub(crate) fn new(
        program: &'a Program,
        memory: &'a Memory,
        load: u64,
        lds: usize,
        engine: Engine,
    ) -> Executor<'a> {
        Executor {
            program,
            machine: Machine::new(&program.pool, program.accesses as usize, memory, load, lds),
            engine,
            matrix: Workplace::default(),
            altered: Altered::default(),
        }
    }
}

/// Cycles after which a wave can issue its next instruction.
const ISSUE_CYCLES: u32 = 4;

/// Continuation of a wave after an instruction.
enum Flow {
    Continue,
    /// The wave waits, ends, or lets other waves run.
    Suspend,
}

/// Executes until a barrier, the end of the wave, the issue of `until` instructions, or the end of a turn.
#[inline(always)]
pub(crate) fn run<O: Observer>(
    executor: &mut Executor<'_>,
    wave: &mut Wave,
    observer: &mut O,
    until: u64,
) -> Result<(), Box<Stop>> {
    let program = executor.program;
    let mut before = usize::MAX;
    let first = wave.issued;
    if wave.dma.waits() {
        end_wait(&mut executor.machine, wave, observer);
    }
    while wave.issued < until {
        let start = wave.pc;
        let run = program.runs.get(start).copied().unwrap_or(0);
        if run & TURN_ENDS != 0 && executor.machine.takes_turns && wave.issued != first {
            return Ok(());
        }
        executor.machine.trip += u64::from(start != before);
        before = start;
        let mut length = u64::from(run & !TURN_ENDS).min(until - wave.issued);
        let mut altered = None;
        if wave.mode.alters_instructions() {
            // One instruction at a time: M0 may change within a run.
            length = length.min(1);
            match altered::next(program, &mut executor.altered, wave) {
                Next::Same => {}
                Next::Other(action) => altered = Some(action),
                Next::Skipped => {
                    wave.pc = start + 1;
                    continue;
                }
            }
        }
        let end = start + length as usize;
        let actions = match &altered {
            Some(action) => Some(std::slice::from_ref(&**action)),
            None => program.actions.get(start..end).filter(|actions| !actions.is_empty()),
        };
        let Some(actions) = actions else {
            wave.pc = start + 1;
            return Err(Stop::new(Cause::BadJump(program.address(start))));
        };
        let exec = wave.exec();
        observer.issue_run(wave.id, start, length as usize, exec);
        wave.issued += length;
        wave.pc = end;
        let vector_memory = &program.vector_memory_before;
        if let (Some(&before), Some(&behind)) = (vector_memory.get(start), vector_memory.get(end)) {
            wave.dma.issue_run(before, behind);
        }
        for (number, action) in actions.iter().enumerate() {
            if let Flow::Suspend = execute(executor, wave, observer, action, (start + number, exec))? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Executes one instruction of a run: the frequent ones here, all others in [`execute_rare`].
#[inline(always)]
fn execute<O: Observer>(
    executor: &mut Executor<'_>,
    wave: &mut Wave,
    observer: &mut O,
    action: &Action,
    (index, exec): (usize, u64),
) -> Result<Flow, Box<Stop>> {
    let Executor { machine, engine, matrix, .. } = executor;
    match action {
        Action::Valu(valu) => {
            let mut extra = Extra { mask_in: 0, mask_out: 0, mode: wave.mode, immediate: valu.immediate };
            run_kernel(machine, wave, valu, &mut extra);
            wave.store_row(usize::from(valu.dst), &machine.out[0], exec);
        }
        Action::InPlace(valu, kernel, number) => run_in_place::run(*kernel, *number, valu, machine, wave),
        Action::ValuAny(valu) => valu_any(machine, wave, valu, exec),
        Action::Modified(both) => {
            let (valu, modifiers) = &**both;
            if modifiers.idle(wave.mode) {
                valu_any(machine, wave, valu, exec);
            } else if !modifiers.is_quick() || !(engine.quick)(modifiers, valu, machine, wave) {
                (engine.modified)(modifiers, valu, machine, wave);
            }
        }
        Action::Lane(op) => (engine.lane)(op, machine, wave),
        Action::Matrix(it) if it.plain => (engine.plain_matrix)(it, machine, matrix, wave),
        Action::Matrix(it) => (engine.matrix)(it, machine, matrix, wave),
        Action::Salu(salu) => scalar(machine, wave, salu),
        Action::Exec { op, src, dst, new } => {
            let (old, source) = (exec, machine.scalar(wave, *src));
            let exec = op(source, old);
            wave.set_pair(*dst, if *new { exec } else { old });
            wave.set_pair(EXEC, exec);
            wave.scc = exec != 0;
        }
        Action::Branch { condition, target } => {
            if is_taken(*condition, wave, exec) {
                wave.pc = *target;
            }
        }
        Action::ScalarMemory(access) => {
            let id = wave.id;
            access
                .run(machine, wave, index, &mut |event| observer.access(id, event))
                .inspect_err(|_| wave.pc = index + 1)?;
        }
        Action::Memory(access) if exec != 0 => {
            vector_memory(access, executor, wave, observer, (index, exec))?;
        }
        Action::Memory(_) | Action::Nothing => {}
        // A wave that waits for loads into the LDS lets other waves run first, as loads are slow.
        Action::Wait(outstanding) if wave.dma.wait(*outstanding) => return Ok(Flow::Suspend),
        Action::Wait(_) => end_wait(machine, wave, observer),
        // A wave that sleeps probably polls for another wave, so others run.
        Action::Sleep { cycles } => {
            machine.clock += u64::from(*cycles);
            wave.waited += u64::from(*cycles / ISSUE_CYCLES);
            return Ok(Flow::Suspend);
        }
        Action::Barrier => {
            wave.state = WaveState::AtBarrier;
            return Ok(Flow::Suspend);
        }
        Action::GridBarrier { waves } => {
            let lane = exec.trailing_zeros() as usize & 63;
            wave.state = WaveState::AtGrid(machine.lane(wave, *waves, lane).saturating_add(1));
            return Ok(Flow::Suspend);
        }
        // A wave may end with outstanding loads into the LDS; they still land.
        Action::End => {
            wave.state = WaveState::Ended;
            return Ok(Flow::Suspend);
        }
        other => execute_rare(other, executor, wave, index)?,
    }
    Ok(Flow::Continue)
}

/// True if a branch is taken.
#[inline(always)]
fn is_taken(condition: Condition, wave: &Wave, exec: u64) -> bool {
    match condition {
        Condition::Always => true,
        Condition::Scc(value) => wave.scc == value,
        Condition::Vcc(zero) => (wave.vcc() == 0) == zero,
        Condition::Exec(zero) => (exec == 0) == zero,
        Condition::Never => false,
    }
}

/// Executes a vector memory or LDS instruction with at least one active lane, on the fast path if possible.
#[inline(always)]
fn vector_memory<O: Observer>(
    access: &Access,
    executor: &mut Executor<'_>,
    wave: &mut Wave,
    observer: &mut O,
    (index, exec): (usize, u64),
) -> Result<(), Box<Stop>> {
    let Executor { machine, engine, .. } = &mut *executor;
    if access.simple && exec == u64::MAX && (engine.ordinary)(access, machine, wave) {
        let space = if access.space == Space::Lds { Space::Lds } else { Space::Global };
        for element in 0..usize::from(access.elements) {
            reached(access, machine, wave.id, observer, (index, element), (space, exec));
        }
        return Ok(());
    }
    memory(access, executor, wave, observer, index).inspect_err(|_| wave.pc = index + 1)
}

/// Executes a vector memory or LDS instruction with at least one active lane: addresses, then the data of each
/// element.
#[inline(always)]
fn memory<O: Observer>(
    access: &Access,
    executor: &mut Executor<'_>,
    wave: &mut Wave,
    observer: &mut O,
    index: usize,
) -> Result<(), Box<Stop>> {
    if access.to_lds {
        begin_lds_dma(access, executor, wave, observer, index);
    }
    let Executor { machine, engine, .. } = executor;
    let parts = (engine.reach)(access, machine, wave);
    let flat = access.space == Space::Flat;
    for element in 0..usize::from(access.elements) {
        for (number, &(space, lanes)) in parts.iter().enumerate() {
            if lanes != 0 {
                reached(access, machine, wave.id, observer, (index, element), (space, lanes));
            } else if number > 0 || flat {
                continue;
            }
            (engine.transfer)(access, machine, wave, Part { space, lanes, element: element & 1 })?;
        }
    }
    Ok(())
}

/// Begins a load into the LDS.
#[inline(never)]
fn begin_lds_dma<O: Observer>(
    access: &Access,
    Executor { program, machine, .. }: &mut Executor<'_>,
    wave: &mut Wave,
    observer: &mut O,
    index: usize,
) {
    let before = program.vector_memory_before.get(index).copied().unwrap_or(0);
    // The whole run counts as issued.
    let time = wave.time() - wave.pc.saturating_sub(index) as u64;
    if let Some(done) = wave.dma.begin_load(before, time, &mut machine.lds) {
        observer.lds_dma_done(wave.id, done);
    }
    let (start, stride) = (access.lds_start(wave), access.lds_stride());
    let load = LdsDmaLoad { index, number: wave.dma.number(), start, stride, lanes: wave.exec() };
    observer.lds_dma_load(wave.id, &load);
}

/// Lands in the LDS the loads that the wave has waited for.
#[inline(never)]
fn end_wait<O: Observer>(machine: &mut Machine<'_>, wave: &mut Wave, observer: &mut O) {
    if let Some(done) = wave.dma.take_waited() {
        wave.dma.write_to_lds(&mut machine.lds, done);
        observer.lds_dma_done(wave.id, done);
    }
}

/// Reports the access of an element to the observer.
#[inline(always)]
fn reached<O: Observer>(
    access: &Access,
    machine: &Machine<'_>,
    wave: WaveId,
    observer: &mut O,
    (index, element): (usize, usize),
    (space, lanes): (Space, u64),
) {
    observer.access(
        wave,
        &MemoryAccess {
            index,
            space,
            kind: access.kind,
            bytes: access.data.bytes(),
            element: element as u8,
            lanes,
            addresses: &machine.addresses[element & 1],
            formation: machine.formation,
        },
    );
}

/// Executes a vector instruction that may write a pair of rows and a mask.
#[inline(always)]
fn valu_any(machine: &mut Machine<'_>, wave: &mut Wave, valu: &Valu, exec: u64) {
    let mut extra = machine.extra(wave, valu);
    run_kernel(machine, wave, valu, &mut extra);
    for row in 0..usize::from(valu.rows) {
        wave.store_row(usize::from(valu.dst) + row, &machine.out[row & 1], exec);
    }
    machine.store_mask(wave, valu, &extra, exec);
}

#[inline(always)]
fn scalar(machine: &Machine<'_>, wave: &mut Wave, salu: &Salu) {
    let operand = |index: usize| {
        let value = machine.scalar(wave, salu.src[index]);
        if salu.wide >> index & 1 != 0 { value } else { value & 0xffff_ffff }
    };
    let (a, b) = (operand(0), operand(1));
    let wide = salu.wide & 4 != 0;
    let old = match salu.dst {
        NONE => 0,
        dst if wide => wave.pair(dst),
        dst => u64::from(wave.s[usize::from(dst) & 127]),
    };
    let result = (salu.op)(a, b, old, &mut wave.scc);
    match salu.dst {
        NONE => {}
        dst if wide => wave.set_pair(dst, result),
        dst => wave.s[usize::from(dst) & 127] = result as u32,
    }
}

#[inline(always)]
fn run_kernel(machine: &mut Machine<'_>, wave: &Wave, valu: &Valu, extra: &mut Extra) {
    let pool = machine.pool;
    for index in 0..3 {
        if matches!(valu.src[index], Src::Special(_)) {
            machine.spread[index] = machine.pair(wave, valu.src[index]);
        }
    }
    let [a, b, c] = &mut machine.spread;
    let a = fetch(pool, wave, a, valu.src[0]);
    let b = fetch(pool, wave, b, valu.src[1]);
    let c = fetch(pool, wave, c, valu.src[2]);
    (valu.kernel)(&mut machine.out, a, b, c, extra);
}

/// Executes infrequent instructions.
#[inline(never)]
fn execute_rare(
    action: &Action,
    executor: &mut Executor<'_>,
    wave: &mut Wave,
    pc: usize,
) -> Result<(), Box<Stop>> {
    let Executor { program, machine, .. } = executor;
    let after = machine.load + program.address(pc + 1).max(program.address(pc) + 4);
    match action {
        Action::Jump { target, link } => {
            let address = machine.scalar(wave, *target);
            if *link != NONE {
                wave.set_pair(*link, after);
            }
            let offset = address.wrapping_sub(machine.load + program.base);
            wave.pc = program.index_at(offset).ok_or_else(|| Stop::new(Cause::BadJump(address)))?;
        }
        Action::Call { target, link } => {
            wave.set_pair(*link, after);
            wave.pc = *target;
        }
        Action::Invalidate => machine.time += 1,
        Action::Scaled(conversion) => conversion.run(machine, wave),
        Action::QuadSums(sums) => sums.run(machine, wave),
        Action::GetPc { dst } => wave.set_pair(*dst, after),
        Action::GetReg { dst, spec } => {
            let value = read_register(program, machine, wave, spec & 63);
            let (at, width) = (spec >> 6 & 31, (spec >> 11) + 1);
            wave.s[usize::from(*dst) & 127] = (u64::from(value) >> at & ((1u64 << width) - 1)) as u32;
        }
        Action::SetReg { src, spec } => {
            let value = machine.scalar(wave, *src) as u32;
            let (at, width) = (spec >> 6 & 31, (spec >> 11) + 1);
            let mask = (((1u64 << width) - 1) << at) as u32;
            if spec & 63 == register::MODE {
                wave.mode = Mode(wave.mode.0 & !mask | value << at & mask);
            }
        }
        Action::MoveIndexed { dst, src, wide, read } => {
            let offset = wave.s[usize::from(M0)] as u8;
            let value = match src {
                Src::Scalar(register) if *read => wave.pair(register.wrapping_add(offset) & 127),
                _ => machine.scalar(wave, *src),
            };
            let dst = if *read { *dst } else { dst.wrapping_add(offset) & 127 };
            if *wide {
                wave.set_pair(dst, value);
            } else {
                wave.s[usize::from(dst) & 127] = value as u32;
            }
        }
        Action::Index { what, src, mode } => {
            let indexed = matches!(what, Indexing::On | Indexing::Index);
            let index = if indexed { machine.scalar(wave, *src) as u32 } else { 0 };
            set_index_mode(wave, *what, index, *mode);
        }
        Action::Skip { src } => {
            let [value, bit] = src.map(|src| machine.scalar(wave, src) as u32);
            let skip = value >> (bit & 31) & 1 != 0;
            wave.mode.0 = wave.mode.0 & !Mode::SKIP | if skip { Mode::SKIP } else { 0 };
        }
        Action::Time { dst } => wave.set_pair(*dst, machine.clock + wave.issued),
        Action::Interrupt => match machine.host {
            Some(host) => {
                host.interrupt(machine.memory).map_err(|why| Stop::new(Cause::Host(why)))?;
                machine.time += 1;
            }
            None => return Err(Stop::new(Cause::Host("there is nobody to answer it".into()))),
        },
        Action::Trap(number) => return Err(Stop::new(Cause::Trap(u32::from(*number)))),
        _ => return Err(Stop::new(Cause::Unsupported(program.text(pc)))),
    }
    Ok(())
}

/// Turns VGPR indexing on or off, or sets its index and which operands it applies to, in M0 and MODE.
fn set_index_mode(wave: &mut Wave, what: Indexing, index: u32, mode: u8) {
    let m0 = &mut wave.s[usize::from(M0)];
    if matches!(what, Indexing::On | Indexing::Index) {
        *m0 = *m0 & !0xff | index & 0xff;
    }
    if matches!(what, Indexing::On | Indexing::Mode) {
        *m0 = *m0 & !0xf000 | u32::from(mode) << 12;
    }
    match what {
        Indexing::On => wave.mode.0 |= Mode::INDEX,
        Indexing::Off => wave.mode.0 &= !Mode::INDEX,
        Indexing::Mode | Indexing::Index => {}
    }
}

fn read_register(program: &Program, machine: &Machine<'_>, wave: &Wave, number: u16) -> u32 {
    match number {
        register::MODE => wave.mode.0,
        // SCC, EXECZ and VCCZ only.
        register::STATUS => {
            u32::from(wave.scc) | u32::from(wave.exec() == 0) << 9 | u32::from(wave.vcc() == 0) << 10
        }
        register::GPR_ALLOC => (program.rows as u32 / 8) << 8,
        // Size in units of 128 dwords.
        register::LDS_ALLOC => (machine.lds.len() as u32).div_ceil(512) << 12,
        register::SH_MEM_BASES => ((SHARED_BASE >> 48) << 16 | PRIVATE_BASE >> 48) as u32,
        _ => 0,
    }
}
