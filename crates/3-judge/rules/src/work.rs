//! How long instructions occupy a SIMD.
//!
//! The one idea to keep in mind: only work that hides latency counts: vector, matrix and LDS instructions, not
//! scalar bookkeeping.

use analysis::KernelEvidence;
use isa::{Class, Cost, Inst, Op};
use std::cell::RefCell;

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
