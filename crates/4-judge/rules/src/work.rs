//! Cycles that instructions occupy a SIMD.
//!
//! [`Work::cycles`] counts the instructions that do work: vector, matrix and LDS, without scalar bookkeeping.
//! [`Clock`] counts the cycles in which one wave issues, without waits.

use analysis::KernelEvidence;
use isa::{Class, Cost, Inst, Op};
use std::cell::RefCell;

/// Cycles between two instructions of a wave.
const ISSUE_CYCLES: u32 = 4;
/// Cycles a vector instruction takes where the target gives no figure.
const VECTOR_CYCLES: u32 = 4;

/// Vector cost classes and their names among the target's facts.
const CLASSES: [(Cost, &str); 6] = [
    (Cost::Valu, "Valu"),
    (Cost::ValuPk, "ValuPk"),
    (Cost::ValuF64, "ValuF64"),
    (Cost::Trans, "Trans"),
    (Cost::TransF64, "TransF64"),
    (Cost::ValuQuarter, "ValuQuarter"),
];

/// Issue cycles on one target.
pub(crate) struct Work {
    target: Option<&'static arch::Target>,
    cycles: [u32; CLASSES.len()],
    /// Matrix opcodes met so far.
    matrix: RefCell<Vec<(Op, Option<&'static arch::MatrixShape>)>>,
}

impl Work {
    /// Figures of the kernel's target.
    pub(crate) fn of(evidence: &KernelEvidence<'_>) -> Work {
        let cycles = |name| evidence.target.and_then(|target| target.issue.cycles(name));
        Work {
            target: evidence.target,
            cycles: CLASSES.map(|(_, name)| cycles(name).unwrap_or(VECTOR_CYCLES)),
            matrix: RefCell::default(),
        }
    }

    /// Issue cycles of an instruction that does work; 0 for the others.
    pub(crate) fn cycles(&self, inst: &Inst) -> u32 {
        let info = inst.op.info();
        match info.class {
            Class::Mfma => self.matrix_cycles(inst),
            Class::Valu => {
                let at = CLASSES.iter().position(|(cost, _)| *cost == info.cost);
                at.map_or(VECTOR_CYCLES, |at| self.cycles[at])
            }
            Class::Lds => VECTOR_CYCLES,
            _ => 0,
        }
    }

    fn matrix_cycles(&self, inst: &Inst) -> u32 {
        let mut met = self.matrix.borrow_mut();
        let shape = match met.iter().find(|(known, _)| *known == inst.op) {
            Some((_, shape)) => *shape,
            None => {
                let shape = self.target.and_then(|target| target.matrix_shape(inst.op.info().name));
                met.push((inst.op, shape));
                shape
            }
        };
        shape.map_or(VECTOR_CYCLES, |shape| shape.cycles_of([inst.mods.cbsz, inst.mods.blgp]))
    }
}

/// The cycle in which a wave issues its next instruction, waits left out.
#[derive(Clone, Copy, Default)]
pub(crate) struct Clock {
    pub(crate) now: u32,
    /// First cycle in which the matrix unit takes another instruction.
    matrix_free: u32,
}

impl Clock {
    /// Issues one instruction. A wave continues while the matrix unit works.
    pub(crate) fn issue(&mut self, work: &Work, inst: &Inst) {
        match inst.class() {
            Class::Wait | Class::Control => {}
            Class::Mfma => {
                self.now = self.now.max(self.matrix_free);
                self.matrix_free = self.now + work.cycles(inst);
                self.now += ISSUE_CYCLES;
            }
            _ => self.now += work.cycles(inst).max(ISSUE_CYCLES),
        }
    }

    /// Cycles until everything issued is done.
    pub(crate) fn end(&self) -> u32 {
        self.now.max(self.matrix_free)
    }
}

/// Cycles of one iteration of a loop, loops inside and waits left out.
pub(crate) fn iteration_cycles(evidence: &KernelEvidence<'_>, work: &Work, id: u32) -> u32 {
    let mut clock = Clock::default();
    for at in evidence.cfg.loop_own_insts(id) {
        clock.issue(work, &evidence.insts[at as usize]);
    }
    clock.end()
}
