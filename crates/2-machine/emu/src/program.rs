//! A kernel's instructions, decoded once and resolved for execution.
//!
//! The one idea to keep in mind: operands, functions and branch targets are resolved here, once. An unsupported
//! instruction stops the kernel only when it is reached.

use crate::decode::{Action, Resolver};
use crate::operand::{Files, Pool};
use crate::phases;
use crate::walk;
use codeobj::{Body, CodeObject, Descriptor, Kernel, Metadata};
use isa::{Access, Bits, Inst, Isa, OpFlags, Space};
use std::ops::{Range, RangeInclusive};

/// Most private memory of a lane in bytes: the hardware register for a wave's scratch counts KiB in 13 bits.
const MOST_PRIVATE: u32 = ((1 << 13) - 1) * 1024 / 64;

/// Reasons why a kernel cannot be prepared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramError {
    /// Target the emulator does not know.
    #[error("`{0}` is not a target the emulator knows\nhint: it runs code for {1}")]
    Target(String, String),
    /// There is no machine code.
    #[error("kernel `{0}` has no machine code in this file")]
    NoCode(String),
    /// More private memory than hardware supports.
    #[error(
        "kernel `{0}` asks for {1} bytes of private memory a lane, a wave can have {MOST_PRIVATE} a lane\n\
         hint: no compiler makes such a kernel, the descriptor in the file is damaged"
    )]
    Private(String, u32),
    /// There is no kernel descriptor.
    #[error("kernel `{0}` has no descriptor")]
    NoDescriptor(String),
}

/// A kernel ready to run.
#[derive(Debug)]
pub struct Program {
    /// Name of the kernel.
    pub name: String,
    /// Instruction set.
    pub isa: Isa,
    /// Kernel descriptor.
    pub descriptor: Descriptor,
    /// Arguments and sizes.
    pub metadata: Metadata,
    /// Code-object version.
    pub version: u8,
    insts: Vec<Inst>,
    pub(crate) actions: Vec<Action>,
    /// By instruction: length of the rest of its run, which issues under one EXEC; with
    /// [`TURN_ENDS`](phases::TURN_ENDS) if a wave lets others run before it.
    pub(crate) runs: Vec<u32>,
    pub(crate) pool: Pool,
    /// Instruction index by dword offset.
    index: Vec<u32>,
    /// Virtual address of the first instruction in the code object.
    pub(crate) base: u64,
    pub(crate) entry: usize,
    /// Rows of vector registers, with room for a pair at the last register.
    pub(crate) rows: usize,
    /// Vector memory and LDS instructions.
    pub(crate) accesses: u32,
    /// By instruction: vector memory instructions before it. Empty without loads into the LDS.
    pub(crate) vector_memory_before: Vec<u32>,
    /// Some instruction depends on the order in which workgroups run.
    pub(crate) ordered: bool,
    /// A loop polls memory that other workgroups may write.
    pub(crate) polls: bool,
    /// Loops that only wait for the clock: index of the first and of the last instruction.
    pub(crate) clock_loops: Vec<(usize, usize)>,
    /// The program may call the host.
    pub(crate) interrupts: bool,
}

impl Program {
    /// Decodes a kernel of a code object; `bytes` are the contents of its file.
    pub fn new(bytes: &[u8], object: &CodeObject, kernel: &Kernel) -> Result<Program, ProgramError> {
        let isa = Isa::for_processor(&object.target.processor).ok_or_else(|| {
            let known = Isa::ALL.map(Isa::processor).join(", ");
            ProgramError::Target(object.target.processor.clone(), known)
        })?;
        let no_code = || ProgramError::NoCode(kernel.name.clone());
        let descriptor = kernel.descriptor.ok_or_else(|| ProgramError::NoDescriptor(kernel.name.clone()))?;
        let (start, mut range) = place(&kernel.body).ok_or_else(no_code)?;
        if descriptor.scratch_bytes > MOST_PRIVATE {
            return Err(ProgramError::Private(kernel.name.clone(), descriptor.scratch_bytes));
        }
        let mut insts = isa::decode_all(isa, bytes.get(range.clone()).ok_or_else(no_code)?);
        if insts.iter().any(calls) {
            range = whole(object, start, &range);
            insts = isa::decode_all(isa, bytes.get(range.clone()).ok_or_else(no_code)?);
        }
        let (kernel_start, kernel_range) = place(&kernel.body).ok_or_else(no_code)?;
        let base = kernel_start - (kernel_range.start - range.start) as u64;
        let mut program = Program::of(isa, descriptor, insts);
        program.name = kernel.name.clone();
        program.metadata = kernel.metadata.clone();
        program.version = object.version;
        program.base = base;
        program.entry = program.index_at(kernel_start - base).unwrap_or(u32::MAX as usize);
        Ok(program)
    }

    /// A program of consecutive instructions, without a name; it begins with the first one.
    pub(crate) fn of(isa: Isa, descriptor: Descriptor, insts: Vec<Inst>) -> Program {
        let end = insts.last().map_or(0, |last| last.offset as usize + usize::from(last.size));
        let mut index = vec![u32::MAX; end / 4 + 1];
        for (number, inst) in insts.iter().enumerate() {
            index[inst.offset as usize / 4] = number as u32;
        }
        let mut resolver = Resolver::new(isa, &descriptor, &index, &insts);
        let mut actions: Vec<Action> = insts.iter().map(|inst| resolver.action(inst)).collect();
        let mut runs = vec![1; actions.len()];
        for index in (0..actions.len().saturating_sub(1)).rev() {
            if !actions[index].ends_run() {
                runs[index] = runs[index + 1] + 1;
            }
        }
        if !resolver.alters {
            walk::mark(&insts, resolver.files, &runs, &mut actions);
        }
        phases::mark(&insts, &actions, &mut runs);
        let vector_memory_before = if resolver.lds_dma { count_vector_memory(&insts) } else { Vec::new() };
        let (ordered, interrupts, accesses) = (resolver.ordered, resolver.interrupts, resolver.accesses);
        let (pool, rows) = (resolver.pool, usize::from(resolver.rows));
        let mut program = Program {
            name: String::new(),
            isa,
            descriptor,
            metadata: Metadata::default(),
            version: 0,
            insts,
            actions,
            runs,
            pool,
            index,
            base: 0,
            entry: 0,
            rows,
            accesses,
            vector_memory_before,
            ordered,
            polls: false,
            clock_loops: Vec::new(),
            interrupts,
        };
        let polls = program.back_edges().any(|(from, to)| program.polls_others(from..=to));
        program.polls = polls;
        program.clock_loops =
            program.back_edges().filter(|(from, to)| program.only_waits(*from..=*to)).collect();
        program
    }

    /// True if a loop polls memory that other workgroups may write: the kernel may wait for them.
    pub fn may_wait_for_workgroups(&self) -> bool {
        self.polls
    }

    /// True if the first instruction of a wave is its last.
    pub(crate) fn ends_at_once(&self) -> bool {
        self.insts.get(self.entry).is_some_and(|inst| inst.info().name == "s_endpgm")
    }

    /// Instructions, indexed as in events of observers.
    pub fn instructions(&self) -> &[Inst] {
        &self.insts
    }

    /// True if the program may call the host, for example to print.
    pub fn calls_host(&self) -> bool {
        self.interrupts
    }

    /// Virtual address of an instruction in the code object.
    pub fn address(&self, index: usize) -> u64 {
        self.base + self.insts.get(index).map_or(0, |inst| u64::from(inst.offset))
    }

    /// Virtual address of the entry.
    pub fn entry_address(&self) -> u64 {
        self.address(self.entry)
    }

    /// Text of an instruction.
    pub fn text(&self, index: usize) -> String {
        self.insts.get(index).map_or_else(String::new, |inst| inst.text(self.isa))
    }

    /// Names of unsupported instructions, which stop the kernel when reached; each once.
    pub fn unsupported(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self
            .actions
            .iter()
            .zip(&self.insts)
            .filter(|(action, _)| matches!(action, Action::Unsupported))
            .map(|(_, inst)| inst.info().name)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Rows of `v0` and up; accumulation registers follow.
    pub(crate) fn vector_rows(&self) -> u16 {
        let files = Files::of(&self.descriptor);
        files.accumulators.min(self.rows.saturating_sub(2) as u16)
    }

    /// Index of the instruction `bytes` bytes after another one.
    pub(crate) fn index_after(&self, index: usize, bytes: u64) -> Option<usize> {
        self.index_at(u64::from(self.insts.get(index)?.offset) + bytes)
    }

    /// Backward branches: index of the target, index of the branch.
    pub(crate) fn back_edges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.actions.iter().enumerate().filter_map(|(index, action)| match action {
            Action::Branch { target, .. } if *target <= index => Some((*target, index)),
            _ => None,
        })
    }

    /// True if a loop is short, reads memory that other workgroups may write, and stores nothing.
    pub(crate) fn only_polls(&self, within: RangeInclusive<usize>) -> bool {
        const LONGEST: usize = 64;
        let insts = self.insts.get(within).unwrap_or_default();
        let accesses = || insts.iter().filter_map(Inst::mem);
        let shared = |space| !matches!(space, Space::Lds | Space::Scratch | Space::Gds);
        insts.len() <= LONGEST
            && accesses().any(|it| shared(it.space) && matches!(it.access, Access::Load | Access::Atomic))
            && !accesses().any(|it| matches!(it.access, Access::Store | Access::LoadToLds))
    }

    /// True if a loop only polls, by loads and atomics that go past the caches of a compute unit.
    fn polls_others(&self, within: RangeInclusive<usize>) -> bool {
        let insts = self.insts.get(within.clone()).unwrap_or_default();
        let is_shared = |inst: &Inst| {
            inst.mem().is_some_and(|it| {
                !matches!(it.space, Space::Lds | Space::Scratch | Space::Gds)
                    && matches!(it.access, Access::Load | Access::Atomic)
            })
        };
        self.only_polls(within)
            && insts.iter().any(|it| is_shared(it) && it.mods.bits.intersects(Bits::SC0 | Bits::SC1))
    }

    /// True if a loop does nothing but read the clock and compute, divisions of 64 bits at most.
    fn only_waits(&self, within: RangeInclusive<usize>) -> bool {
        const LONGEST: usize = 400;
        let actions = self.actions.get(within).unwrap_or_default();
        let reads = |action: &Action| matches!(action, Action::Time { .. });
        let acts = |action: &Action| {
            matches!(
                action,
                Action::Memory(_)
                    | Action::ScalarMemory(_)
                    | Action::Interrupt
                    | Action::Barrier
                    | Action::GridBarrier { .. }
                    | Action::Trap(_)
                    | Action::Unsupported
            )
        };
        actions.len() <= LONGEST && actions.iter().any(reads) && !actions.iter().any(acts)
    }

    /// True if an instruction is in a loop that only waits for the clock.
    pub(crate) fn waits_for_clock(&self, index: usize) -> bool {
        self.clock_loops.iter().any(|(from, to)| (*from..=*to).contains(&index))
    }

    /// True if an instruction loads into the LDS.
    pub(crate) fn uses_lds_dma(&self) -> bool {
        !self.vector_memory_before.is_empty()
    }

    /// Index of the instruction at a byte offset from the first.
    pub(crate) fn index_at(&self, offset: u64) -> Option<usize> {
        let index = *self.index.get(usize::try_from(offset / 4).ok()?)?;
        (offset.is_multiple_of(4) && index != u32::MAX).then_some(index as usize)
    }
}

#[cfg(test)]
impl Program {
    /// A program of lines of assembly, for tests; a branch has the number of a line as its target.
    pub(crate) fn of_text(lines: &[&str]) -> Program {
        use isa::text::{Statement, parse_line};
        let mut insts = Vec::new();
        for text in lines {
            let branch = text.split_once(' ').filter(|(name, _)| name.contains("branch"));
            let line = branch.map_or_else(|| (*text).to_string(), |(name, _)| format!("{name} L"));
            let line = parse_line(Isa::Gfx942, &line).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            let Statement::Inst(parsed) = line.statement else { panic!("{text}") };
            let mut inst = parsed.inst;
            (inst.offset, inst.size) = (8 * insts.len() as u32, 8);
            if let Some((_, target)) = branch {
                inst.operands[0] = isa::Operand::Target(8 * target.parse::<i32>().unwrap());
            }
            insts.push(inst);
        }
        let descriptor = Descriptor { vgprs_allocated: 64, ..Descriptor::default() };
        Program::of(Isa::Gfx942, descriptor, insts)
    }

    /// A program without instructions, for tests of single instructions.
    pub(crate) fn empty(isa: Isa) -> Program {
        Program {
            name: "test".into(),
            isa,
            descriptor: Descriptor::default(),
            metadata: Metadata::default(),
            version: 5,
            insts: Vec::new(),
            actions: Vec::new(),
            runs: Vec::new(),
            pool: Pool::default(),
            index: Vec::new(),
            base: 0,
            entry: 0,
            rows: 512,
            accesses: 0,
            vector_memory_before: Vec::new(),
            ordered: false,
            polls: false,
            clock_loops: Vec::new(),
            interrupts: false,
        }
    }
}

/// Numbers of vector memory instructions, as `vmcnt` counts them, before each instruction, and in all.
fn count_vector_memory(insts: &[Inst]) -> Vec<u32> {
    let mut count = 0;
    let behind = insts.iter().map(|inst| {
        count += u32::from(inst.counts_as_vector_memory());
        count
    });
    std::iter::once(0).chain(behind).collect()
}

fn place(body: &Body) -> Option<(u64, Range<usize>)> {
    match body {
        Body::Code { address, bytes } if !bytes.is_empty() => Some((*address, bytes.clone())),
        Body::Code { .. } | Body::Text { .. } | Body::Absent => None,
    }
}

fn calls(inst: &Inst) -> bool {
    inst.info().flags.intersects(OpFlags::CALL | OpFlags::INDIRECT)
}

/// Extent of all code in the kernel's section.
fn whole(object: &CodeObject, start: u64, range: &Range<usize>) -> Range<usize> {
    let kernels = object.kernels.iter().map(|kernel| &kernel.body);
    let functions = object.functions.iter().map(|function| &function.body);
    let mut all = range.clone();
    for (address, bytes) in kernels.chain(functions).filter_map(place) {
        let same_section =
            address.wrapping_sub(start) == (bytes.start as u64).wrapping_sub(range.start as u64);
        if same_section {
            all = all.start.min(bytes.start)..all.end.max(bytes.end);
        }
    }
    all
}
