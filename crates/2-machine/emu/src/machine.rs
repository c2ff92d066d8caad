//! Machine of one thread: memory, LDS and operand buffers.
//!
//! A machine keeps no state between workgroups except memory and caches of facts.

use crate::deferred_atomics::DeferredAtomics;
use crate::formation::Formations;
use crate::host::Host;
use crate::kernels;
use crate::lanes::{Extra, Pair, Row, RowOps};
use crate::memory::{Hint, Memory};
use crate::operand::{EXEC, NONE, Pool, Special, Src};
use crate::outside::Outside;
use crate::valu::Valu;
use crate::wave::Wave;

/// Addresses of the LDS and scratch windows in the flat address space.
pub(crate) const SHARED_BASE: u64 = 0x0001_0000_0000_0000;
/// As above.
pub(crate) const PRIVATE_BASE: u64 = 0x0002_0000_0000_0000;

/// High bits of the base in the buffer resource of a wave's own scratch; no real allocation has them.
pub(crate) const SCRATCH_RESOURCE: u64 = 0xfffe;

/// Lanes of which an access reaches only the first dwords.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) lanes: u64,
    /// By lane.
    pub(crate) dwords: [u8; 64],
}

/// The machine of one thread.
#[derive(Debug)]
pub(crate) struct Machine<'a> {
    /// The program's constants.
    pub(crate) pool: &'a Pool,
    pub(crate) memory: &'a Memory,
    /// Address at which the code object's virtual address 0 lies.
    pub(crate) load: u64,
    pub(crate) lds: Vec<u8>,
    /// Memory ranges reached last.
    pub(crate) hint: Hint,
    /// The program's constants, as operands of in-place kernels.
    pub(crate) constants: Vec<Pair>,
    /// Buffers for scalar operands spread over lanes, one per source.
    pub(crate) spread: [Pair; 3],
    /// Result of the kernel.
    pub(crate) out: Pair,
    /// Addresses of the memory instruction's elements.
    pub(crate) addresses: [[u64; 64]; 2],
    /// Formations of the memory instructions.
    pub(crate) formations: Formations,
    /// Formation of the current memory instruction.
    pub(crate) formation: Option<u64>,
    /// Trip number: constant while a wave repeats one run.
    pub(crate) trip: u64,
    /// Advances when cached lines of memory may be stale.
    pub(crate) time: u64,
    pub(crate) row_ops: RowOps,
    /// Instructions of the workgroup so far, read by `s_memtime`.
    pub(crate) clock: u64,
    /// The workgroup has several waves, which let each other run before they store.
    pub(crate) takes_turns: bool,
    /// Accesses of the LDS past its end.
    pub(crate) outside: Option<Outside>,
    /// Accesses of buffers whose offset register is negative.
    pub(crate) negative: Option<Outside>,
    /// Lanes of the current buffer access that begin in range and end behind it, and their dwords in range.
    pub(crate) begun: Begun,
    /// Deferred atomics.
    pub(crate) deferred_atomics: DeferredAtomics<'a>,
    /// Host that device code calls.
    pub(crate) host: Option<&'a dyn Host>,
}

impl<'a> Machine<'a> {
    /// A machine for a program with `accesses` memory instructions and these constants.
    pub(crate) fn new(pool: &'a Pool, accesses: usize, memory: &'a Memory, load: u64, lds: usize) -> Self {
        Machine {
            pool,
            memory,
            load,
            lds: vec![0; lds],
            hint: Hint::default(),
            constants: pool.rows.clone(),
            spread: [[Row::ZERO; 2]; 3],
            out: [Row::ZERO; 2],
            addresses: [[0; 64]; 2],
            formations: Formations::new(accesses),
            formation: None,
            trip: 0,
            time: 0,
            row_ops: kernels::row_ops(),
            clock: 0,
            takes_turns: false,
            outside: None,
            negative: None,
            begun: Begun { lanes: 0, dwords: [0; 64] },
            deferred_atomics: DeferredAtomics::default(),
            host: None,
        }
    }

    /// Value of a source that is the same in all lanes.
    #[inline(always)]
    pub(crate) fn scalar(&self, wave: &Wave, src: Src) -> u64 {
        match src {
            Src::Scalar(index) => wave.pair(index),
            Src::Constant(index) => self.pool.value(index),
            _ => self.rare_scalar(wave, src),
        }
    }

    #[cold]
    fn rare_scalar(&self, wave: &Wave, src: Src) -> u64 {
        match src {
            Src::Special(special) => match special {
                Special::Vccz => u64::from(wave.vcc() == 0),
                Special::Execz => u64::from(wave.exec() == 0),
                Special::Scc => u64::from(wave.scc),
                Special::SharedBase => SHARED_BASE,
                Special::SharedLimit => SHARED_BASE + 0xffff_ffff,
                Special::PrivateBase => PRIVATE_BASE,
                Special::PrivateLimit => PRIVATE_BASE + 0xffff_ffff,
            },
            // The scalar unit sees the first lane of a vector register.
            Src::Row(row) => u64::from(wave.v[usize::from(row)].0[0]),
            _ => 0,
        }
    }

    /// One lane of a source.
    #[inline(always)]
    pub(crate) fn lane(&self, wave: &Wave, src: Src, lane: usize) -> u32 {
        match src {
            Src::Row(row) => wave.v[usize::from(row)].0[lane],
            _ => self.scalar(wave, src) as u32,
        }
    }

    /// A source as a row, by value.
    #[inline(always)]
    pub(crate) fn row(&self, wave: &Wave, src: Src) -> Row {
        match src {
            Src::Row(row) => wave.v[usize::from(row)],
            _ => Row([self.scalar(wave, src) as u32; 64]),
        }
    }

    /// A source as a pair of rows, by value.
    #[inline(always)]
    pub(crate) fn pair(&self, wave: &Wave, src: Src) -> Pair {
        match src {
            Src::Row(row) => {
                let row = usize::from(row);
                [row, row + 1].map(|row| wave.v.get(row).copied().unwrap_or(Row::ZERO))
            }
            _ => {
                let value = self.scalar(wave, src);
                [Row([value as u32; 64]), Row([(value >> 32) as u32; 64])]
            }
        }
    }

    /// Copies a source to its buffer, where it can be changed; only one row if `one`.
    #[inline(always)]
    pub(crate) fn spread_pair(&mut self, wave: &Wave, src: Src, position: usize, one: bool) {
        let value = match src {
            Src::Row(row) => {
                let row = usize::from(row);
                let [low, high] = &mut self.spread[position];
                low.copy_from(wave.v.get(row).unwrap_or(&Row::ZERO));
                if !one {
                    high.copy_from(wave.v.get(row + 1).unwrap_or(&Row::ZERO));
                }
                return;
            }
            _ => self.scalar(wave, src),
        };
        self.spread[position] = [Row([value as u32; 64]), Row([(value >> 32) as u32; 64])];
    }

    /// Inputs of a kernel besides rows.
    #[inline(always)]
    pub(crate) fn extra(&self, wave: &Wave, valu: &Valu) -> Extra {
        let mask_in = if valu.mask_in == Src::None { 0 } else { self.scalar(wave, valu.mask_in) };
        Extra { mask_in, mask_out: 0, mode: wave.mode, immediate: valu.immediate }
    }

    /// Stores the mask of a kernel for the active lanes; others get 0.
    #[inline(always)]
    pub(crate) fn store_mask(&self, wave: &mut Wave, valu: &Valu, extra: &Extra, lanes: u64) {
        if valu.mask_out != NONE {
            wave.set_pair(valu.mask_out, extra.mask_out & lanes);
        }
        if valu.writes_exec {
            wave.set_pair(EXEC, extra.mask_out & lanes);
        }
    }
}

/// A source as a reference to a pair of rows: registers and constants where they are, scalars spread first.
#[inline(always)]
pub(crate) fn fetch<'a>(pool: &'a Pool, wave: &'a Wave, place: &'a mut Pair, src: Src) -> &'a Pair {
    match src {
        Src::Row(row) => wave.v[usize::from(row)..].first_chunk().unwrap_or(place),
        Src::Constant(index) => &pool.rows[usize::from(index)],
        Src::Scalar(index) => {
            let value = wave.pair(index);
            place[0] = Row([value as u32; 64]);
            place[1] = Row([(value >> 32) as u32; 64]);
            place
        }
        Src::None | Src::Special(_) => place,
    }
}
