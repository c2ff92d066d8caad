//! The code of a kernel: its instructions, and facts that follow from them alone.
//!
//! Templates leave many kernels with the same bytes under different names; such kernels share one [`Code`],
//! so it knows neither name nor address nor resources.

use affine::{Addresses, Effects, Entry};
use isa::{Cfg, Class, Encoding, Inst, Isa, Liveness, Mix, OpFlags, RegRange};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Instructions and what follows from them alone.
#[derive(Default)]
pub struct Code {
    /// Instructions in code order, trailing padding excluded.
    pub insts: Vec<Inst>,
    /// Positions of the instructions that access memory, in code order: what most rules look at.
    pub memory: Vec<u32>,
    /// Control flow over `insts`.
    pub cfg: Cfg,
    /// Live registers before each instruction.
    pub live: Liveness,
    /// Instructions by unit.
    pub mix: Mix,
    /// Effects of the instructions on addresses; computed on first use.
    effects: OnceLock<Effects>,
    /// Addresses for the first requested way to start the kernel.
    addresses: OnceLock<(Entry, Arc<Addresses>)>,
}

impl Code {
    /// Works out what follows from some instructions.
    pub(crate) fn of(mut insts: Vec<Inst>) -> Self {
        insts.truncate(without_padding(&insts));
        let cfg = Cfg::build(&insts);
        let live = Liveness::build(&insts, &cfg);
        let mix = Mix::of(&insts);
        let memory = (0..).zip(&insts).filter(|(_, inst)| inst.mem().is_some()).map(|(at, _)| at).collect();
        Code { insts, memory, cfg, live, mix, effects: OnceLock::new(), addresses: OnceLock::new() }
    }

    /// Addresses the memory instructions form in a kernel that starts like this.
    pub(crate) fn addresses(&self, entry: Entry) -> Arc<Addresses> {
        let (first, shared) = self.addresses.get_or_init(|| (entry.clone(), Arc::new(self.evaluate(&entry))));
        match *first == entry {
            true => Arc::clone(shared),
            false => Arc::new(self.evaluate(&entry)),
        }
    }

    /// Evaluates the address arithmetic of a kernel that starts like this.
    pub(crate) fn evaluate(&self, entry: &Entry) -> Addresses {
        Addresses::build(&self.insts, &self.cfg, self.effects(), entry)
    }

    fn effects(&self) -> &Effects {
        self.effects.get_or_init(|| Effects::of(&self.insts, &self.cfg))
    }

    /// Vector registers that an instruction writes, as runs of their numbers.
    pub fn vectors_written(&self, inst: u32) -> impl Iterator<Item = Range<usize>> {
        self.effects().vectors_written(inst)
    }

    /// Whether an instruction of loop `id`, or of a loop inside it, writes some of `range`; `None` for files
    /// other than vector and scalar registers.
    pub fn loop_writes(&self, id: u32, range: RegRange) -> Option<bool> {
        self.effects().loop_writes(id, range)
    }

    /// Positions of the instructions within `range` that access memory.
    pub fn memory_in(&self, range: Range<u32>) -> &[u32] {
        let from = self.memory.partition_point(|at| *at < range.start);
        let count = self.memory[from..].partition_point(|at| *at < range.end);
        &self.memory[from..from + count]
    }
}

/// The code that was read last.
#[derive(Default)]
pub struct Recent<'a> {
    last: Option<(Isa, &'a [u8], Arc<Code>)>,
    /// Functions that kernels of one code object call, by address.
    functions: HashMap<u64, (&'a [u8], Arc<Code>)>,
}

/// Functions kept.
const MOST_FUNCTIONS: usize = 512;

impl<'a> Recent<'a> {
    /// Reads a function, unless the kernels before called it too.
    pub(crate) fn function(&mut self, isa: Isa, address: u64, bytes: &'a [u8]) -> Arc<Code> {
        if let Some((known, code)) = self.functions.get(&address)
            && *known == bytes
        {
            return Arc::clone(code);
        }
        if self.functions.len() == MOST_FUNCTIONS {
            self.functions.clear();
        }
        let code = Arc::new(Code::of(isa::decode_all(isa, bytes)));
        self.functions.insert(address, (bytes, Arc::clone(&code)));
        code
    }

    /// Reads code, unless it is the same as the last.
    pub(crate) fn code(&mut self, isa: Isa, bytes: &'a [u8]) -> Arc<Code> {
        if let Some((last_isa, last_bytes, code)) = &self.last
            && *last_isa == isa
            && *last_bytes == bytes
        {
            return Arc::clone(code);
        }
        let code = Arc::new(Code::of(isa::decode_all(isa, bytes)));
        self.last = Some((isa, bytes, Arc::clone(&code)));
        code
    }
}

/// Number of instructions up to the last that can run: compilers pad a kernel's end.
fn without_padding(insts: &[Inst]) -> usize {
    let mut end = insts.len();
    while let Some(inst) = insts[..end].last() {
        let info = inst.op.info();
        let padding = inst.encoding == Encoding::Unknown
            || (info.class == Class::Control && !info.flags.intersects(OpFlags::END | OpFlags::JUMP));
        if !padding {
            return end;
        }
        end -= 1;
    }
    // A region of only padding is an empty kernel, unless it does not decode, in which case it is shown as it
    // is.
    if insts.iter().any(|inst| inst.encoding == Encoding::Unknown) { insts.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_code_is_shared() {
        let isa = Isa::for_processor("gfx942").unwrap();
        let other = Isa::for_processor("gfx90a").unwrap();
        let (first, second) = ([0, 0, 0x80, 0xbf, 0, 0, 0x81, 0xbf], [1, 0, 0x80, 0xbf, 0, 0, 0x81, 0xbf]);
        let mut recent = Recent::default();
        let code = recent.code(isa, &first);
        assert_eq!(code.insts.len(), 2);
        let copy = first;
        assert!(Arc::ptr_eq(&code, &recent.code(isa, &copy)));
        assert!(!Arc::ptr_eq(&code, &recent.code(other, &first)));
        assert!(!Arc::ptr_eq(&code, &recent.code(isa, &second)));
    }

    #[test]
    fn addresses_are_shared_between_kernels_that_start_alike() {
        let code = Code::of(Vec::new());
        let entry = Entry { dimensions: 1, ..Entry::default() };
        let first = code.addresses(entry.clone());
        assert!(Arc::ptr_eq(&first, &code.addresses(entry)));
        assert!(!Arc::ptr_eq(&first, &code.addresses(Entry { dimensions: 2, ..Entry::default() })));
    }
}
