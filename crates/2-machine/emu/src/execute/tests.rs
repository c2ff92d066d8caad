//! Executes random words as instructions on random registers: each word executes or stops the kernel.
//!
//! The one idea to keep in mind: no result is compared; the test fails only by a panic. The fuzz target
//! `execution` runs whole kernels in the same way.

use super::run;
use crate::execute::Executor;
use crate::lanes::{LANES, Mode};
use crate::memory::Memory;
use crate::operand::{EXEC, M0};
use crate::program::Program;
use crate::wave::WaveId;
use crate::wave::{Wave, WaveState};
use codeobj::Descriptor;
use isa::{Isa, decode_all};

/// Random words per target.
const WORDS: usize = 20_000;

/// Bytes of memory, LDS, and scratch of a lane.
const MEMORY: usize = 1 << 16;
const LDS: usize = 1 << 12;
const SCRATCH: u32 = 64;

/// splitmix64: a reproducible sequence.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    /// A random word. Encodings of two words, which have most of the instructions, share a quarter of the first
    /// words; every second word is one of them.
    fn word(&mut self) -> u32 {
        let value = self.next();
        let long = if value >> 63 != 0 { 0xc000_0000 } else { 0 };
        value as u32 | long
    }

    /// One of some values, or any value.
    fn of(&mut self, values: &[u64]) -> u64 {
        let value = self.next();
        let chosen = (value >> 32) as usize % (values.len() + 1);
        values.get(chosen).copied().unwrap_or_else(|| self.next())
    }
}

/// Fills registers: some with addresses in memory, LDS or a buffer, others with random numbers.
fn fill(wave: &mut Wave, random: &mut Random, memory: u64) {
    for register in 0..128 {
        wave.s[register] = random.next() as u32;
    }
    for pair in (0..64).step_by(2) {
        wave.set_pair(pair, random.of(&[memory, memory + 4096, 16]));
    }
    wave.set_pair(EXEC, random.of(&[0, 1, u64::MAX, u64::MAX]));
    wave.s[usize::from(M0)] = random.of(&[0, LDS as u64, u64::MAX]) as u32;
    wave.scc = random.next() & 1 != 0;
    // Some modes index registers, some skip vector instructions.
    wave.mode = Mode(random.of(&[0xf0, 0xf0, 0x2f0, 0x0800_00f0, 0x1000_00f0]) as u32);
    for pair in wave.v.chunks_mut(2) {
        let (first, step) = (random.of(&[0, memory, memory + 64]), random.of(&[0, 4, 8, 16, 2048]));
        for lane in 0..LANES {
            let value = first.wrapping_add(step.wrapping_mul(lane as u64));
            for (half, row) in pair.iter_mut().enumerate() {
                row.0[lane] = (value >> (32 * half)) as u32;
            }
        }
    }
}

#[test]
fn no_word_panics() {
    for (number, isa) in Isa::ALL.into_iter().enumerate() {
        let mut random = Random(number as u64);
        let mut memory = Memory::new();
        let base = memory.allocate("memory", MEMORY);
        let words: Vec<u8> = (0..WORDS).flat_map(|_| random.word().to_le_bytes()).collect();
        let descriptor = Descriptor { vgprs_allocated: 512, accum_offset: 256, ..Descriptor::default() };
        let program = Program::of(isa, descriptor, decode_all(isa, &words));
        let id = WaveId { workgroup: [0; 3], workgroup_index: 0, wave: 0 };
        let mut wave = Wave::new(id, program.rows, Mode(0), SCRATCH);
        let mut executor = Executor::new(&program, &memory, 0, LDS, crate::engine::portable());
        let (mut done, mut stopped) = (0, 0);
        for number in 0..program.actions.len() {
            // Executes every instruction three times, so that memory instructions take their path for known
            // distances between lanes.
            fill(&mut wave, &mut random, base);
            for _ in 0..3 {
                (wave.pc, wave.issued, wave.state) = (number, 0, WaveState::Running);
                match run(&mut executor, &mut wave, &mut (), 1) {
                    Ok(()) => done += 1,
                    Err(_) => stopped += 1,
                }
            }
        }
        // Enough words must execute, and enough must stop the kernel, for the test to be meaningful.
        assert!(done > WORDS / 2 && stopped > WORDS / 10, "{isa:?}: {done} done, {stopped} stopped");
    }
}
