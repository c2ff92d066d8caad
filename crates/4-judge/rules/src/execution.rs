//! Evidence of rules on emulated runs, and shared parts of their findings.
//!
//! Such a rule judges correctness, not time; the two conflicting instructions are the evidence.

use codeobj::LineTable;
use emu::{Memory, Program};
use probe::{Checked, Conflict, Side, Wrong};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use view::{Place, SourceLine};

/// A load that writes the LDS instead of registers.
pub(crate) const INTO_LDS: &str = "load into the LDS";

/// Facts that an emulated run of a kernel shows.
#[derive(Clone, Copy)]
pub struct ExecutionEvidence<'a> {
    /// The kernel.
    pub program: &'a Program,
    /// Result of the checker.
    pub checked: &'a Checked,
    /// Memory it ran in: allocations have names.
    pub memory: &'a Memory,
    /// Source lines by address, with debug information.
    pub lines: Option<&'a LineTable<'a>>,
}

impl ExecutionEvidence<'_> {
    /// The conflicts of some kinds, one for each pair of source lines: the first, with the occurrences of all.
    pub(crate) fn conflicts(&self, kinds: &[Wrong]) -> Vec<Conflict> {
        let line = |side: Side| match self.place(side).source {
            Some(source) if source.line > 0 => (source.file, source.line as usize),
            _ => (String::new(), side.index),
        };
        let mut of_lines: BTreeMap<_, usize> = BTreeMap::new();
        let mut found: Vec<Conflict> = Vec::new();
        for conflict in self.checked.conflicts.iter().filter(|it| kinds.contains(&it.wrong)) {
            let (one, other) = (line(conflict.first), line(conflict.second));
            let lines = if other < one { (other, one) } else { (one, other) };
            match of_lines.entry((conflict.wrong, lines)) {
                Entry::Occupied(known) => found[*known.get()].times += conflict.times,
                Entry::Vacant(new) => {
                    new.insert(found.len());
                    found.push(*conflict);
                }
            }
        }
        found
    }

    /// True if an access is in a kernel of Python, which is Triton's.
    pub(crate) fn is_python(&self, side: Side) -> bool {
        self.place(side).source.is_some_and(|source| source.file.ends_with(".py"))
    }

    /// The barrier of a workgroup in the language of the kernel.
    pub(crate) fn barrier(&self, side: Side) -> &'static str {
        if self.is_python(side) { "`tl.debug_barrier()`" } else { "`__syncthreads()`" }
    }

    /// `load`, `store`, `atomic` or `load into the LDS`.
    pub(crate) fn verb(&self, side: Side) -> &'static str {
        let inst = self.program.instructions().get(side.index);
        match inst.and_then(|inst| inst.mem()).map(|mem| mem.access) {
            Some(isa::Access::Store) => "store",
            Some(isa::Access::Atomic) => "atomic",
            Some(isa::Access::LoadToLds) => INTO_LDS,
            _ => "load",
        }
    }

    /// Position of an access.
    pub(crate) fn place(&self, side: Side) -> Place {
        let address = self.program.address(side.index);
        let frame = self.lines.and_then(|lines| lines.frames(address).into_iter().next());
        let source = frame.filter(|frame| !frame.file.is_empty()).map(|frame| SourceLine {
            file: frame.file,
            line: frame.line,
            function: Some(frame.function).filter(|name| !name.is_empty()),
        });
        Place {
            address: Some(address),
            instruction: Some(self.program.text(side.index)),
            source,
            ..Place::default()
        }
    }

    /// An address of global memory, as allocation and byte if it is inside one.
    pub(crate) fn global(&self, address: u64) -> String {
        match self.memory.nearest(address) {
            Some(near) if (near.base..near.base + near.bytes).contains(&address) => {
                format!("byte {} of `{}` ({address:#x})", address - near.base, near.name)
            }
            _ => format!("{address:#x}"),
        }
    }
}

/// `workgroup (0, 0, 0), wave 1, lane 5`.
pub(crate) fn who(side: Side) -> String {
    let [x, y, z] = side.workgroup;
    format!("workgroup ({x}, {y}, {z}), wave {}, lane {}", side.wave, side.lane)
}
