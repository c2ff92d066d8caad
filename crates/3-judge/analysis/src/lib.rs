//! Evidence from code objects: what one kernel looks like, as values.
//!
//! The one idea to keep in mind: everything a rule or a card needs is computed once per kernel, here.

/// Everything known about one kernel.
pub struct KernelEvidence<'a> {
    /// Code object it is part of.
    pub object: &'a codeobj::CodeObject,
    /// The kernel.
    pub kernel: &'a codeobj::Kernel,
    /// Registers and memory from descriptor and metadata.
    pub resources: view::Resources,
    /// Its instructions in code order.
    pub insts: Vec<isa::Inst>,
}
