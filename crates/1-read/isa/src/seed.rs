//! The smallest opcode table: the row every undecodable word has.
//!
//! The one idea to keep in mind: the module that brings the full tables and exact effects replaces this file
//! (delete it with its `mod` line).

use crate::{Class, Cost, Implicit, Inst, Op, OpFlags, OpInfo, Operand, RegRange, Role};

static UNKNOWN: OpInfo = OpInfo {
    name: "unknown",
    class: Class::Unknown,
    cost: Cost::Internal,
    operands: &[],
    reads: Implicit::empty(),
    writes: Implicit::empty(),
    mem: None,
    matrix: None,
    flags: OpFlags::empty(),
};

impl Op {
    /// The row of the opcode.
    pub fn info(self) -> &'static OpInfo {
        &UNKNOWN
    }
}

impl Inst {
    /// Calls `f` with every run of registers the instruction reads.
    pub fn visit_reads(&self, f: impl FnMut(RegRange)) {
        self.visit(&[Role::Src, Role::DstSrc], f);
    }

    /// Calls `f` with every run of registers the instruction writes.
    pub fn visit_writes(&self, f: impl FnMut(RegRange)) {
        self.visit(&[Role::Dst, Role::DstSrc], f);
    }

    fn visit(&self, roles: &[Role], mut f: impl FnMut(RegRange)) {
        for (operand, spec) in self.operands().iter().zip(self.op.info().operands) {
            if let Operand::Reg(range) = operand
                && roles.contains(&spec.role)
            {
                f(*range);
            }
        }
    }
}
