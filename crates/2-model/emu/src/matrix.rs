//! Matrix instructions: the seam between the executor and the shapes.
//!
//! The one idea to keep in mind: an instruction is resolved to rows of its operands and a shape; what a shape computes
//! is a function of those rows.

use crate::machine::Machine;
use crate::operand::{Files, Pool};
use crate::wave::Wave;
use isa::Inst;

/// A matrix instruction, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Instruction;

/// Resolves a matrix instruction; `None` when it is not emulated.
pub(crate) fn resolve(_inst: &Inst, _files: Files, _pool: &mut Pool) -> Option<Instruction> {
    None
}

impl Instruction {
    pub(crate) fn run(&self, _machine: &mut Machine<'_>, _wave: &mut Wave) {}
}
