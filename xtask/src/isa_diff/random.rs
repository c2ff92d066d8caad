//! Random encodings of every opcode, wrapped into an ELF file for the disassembler.
//!
//! Each sample has a separate slot, followed by no-operations, so that one sample that is decoded with
//! another length does not shift the next.

use anyhow::Result;
use isa::Isa;

use super::{Line, OBJDUMP, Outcome, disassemble, one};

/// Bytes of a slot: sixteen for a sample, the rest no-operations.
const SLOT: usize = 40;
const S_NOP: u32 = 0xbf80_0000;

/// A small generator of pseudo-random numbers (splitmix64): the samples must be the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }
}

/// Leading bits of an encoding, the shift and number of its opcodes, and the mask of its operand fields.
struct Space {
    base: u64,
    shift: u32,
    count: u64,
}

const fn space(base: u64, shift: u32, count: u64) -> Space {
    Space { base, shift, count }
}

const SPACES: &[Space] = &[
    space(0x8000_0000, 23, 96),
    space(0xb000_0000, 23, 29),
    space(0xbe80_0000, 8, 256),
    space(0xbf00_0000, 16, 128),
    space(0xbf80_0000, 16, 128),
    space(0xc000_0000, 18, 256),
    space(0, 25, 62),
    space(0x7e00_0000, 9, 256),
    space(0x7c00_0000, 17, 256),
    // SDWA and DPP
    space(249, 25, 62),
    space(0x7e00_0000 | 249, 9, 256),
    space(0x7c00_0000 | 249, 17, 256),
    space(250, 25, 62),
    space(0x7e00_0000 | 250, 9, 256),
    space(0xd000_0000, 16, 1024),
    space(0xd800_0000, 17, 256),
    space(0xdc00_0000, 18, 128),
    space(0xdc00_4000, 18, 128),
    space(0xdc00_8000, 18, 128),
    space(0xe000_0000, 18, 128),
    space(0xe800_0000, 15, 16),
];

/// Bits that select the encoding and the opcode.
fn fixed(space: &Space, index: usize) -> u64 {
    let opcode = (space.count.next_power_of_two() - 1) << space.shift;
    let encoding = match index {
        0 => 0xc000_0000,
        1 => 0xf000_0000,
        2..=4 => 0xff80_0000,
        5 => 0xfc00_0000,
        6 => 0x8000_0000,
        7 | 8 => 0xfe00_0000,
        9 | 12 => 0x8000_01ff,
        10 | 11 | 13 => 0xfe00_01ff,
        16..=18 => 0xfc00_c000,
        _ => 0xfc00_0000,
    };
    opcode | encoding
}

/// LLVM's printer leaves its tables on these and may crash, so they are not asked.
fn crashes_llvm(index: usize, low: u64, high: u64) -> bool {
    let sdwa = (9..=11).contains(&index);
    let source = |shift: u32| high >> shift & 0x1ff;
    match index {
        // selectors beyond DWORD and a fourth treatment of unused bits
        _ if sdwa => {
            (high >> 16 & 7) == 7 || (high >> 24 & 7) == 7 || (high >> 8 & 7) == 7 || (high >> 11 & 3) == 3
        }
        // a literal in an encoding that has none
        14 => [0, 9, 18].into_iter().any(|shift| source(shift) == 255),
        19 | 20 => high >> 24 == 255,
        // v_mad_mix with a literal word
        _ => low & 0xffff_0000 == 0xd3ac_0000 && (source(0) == 255 || source(9) == 255),
    }
}

/// `count` samples of every opcode of every target.
pub(super) fn all(targets: &[Isa], count: u64, seed: u64) -> Result<Outcome> {
    let mut total = Outcome::default();
    for &isa in targets {
        for (index, space) in SPACES.iter().enumerate() {
            let mut samples: Vec<[u32; 4]> = Vec::new();
            let mut random = Random(seed ^ (index as u64) << 32 ^ (isa as u64) << 48);
            let mask = fixed(space, index);
            for opcode in 0..space.count {
                let base = space.base | opcode << space.shift;
                for _ in 0..count {
                    let (a, b, c) = (random.next(), random.next(), random.next());
                    // Some samples have most modifier bits clear: random ones are rarely valid.
                    let (mut low, mut high) = (a & 0xffff_ffff, a >> 32);
                    match c & 3 {
                        0 => high &= b,
                        1 => {
                            low &= b;
                            high &= b >> 32;
                        }
                        2 if index == 14 => {
                            low &= 0xffff_00ff;
                            high &= 0x07ff_ffff;
                        }
                        _ => {}
                    }
                    let low = base | (low & !mask);
                    if crashes_llvm(index, low, high) {
                        continue;
                    }
                    // Only a scaled MFMA has a second half; elsewhere it would be the next instruction.
                    let (third, fourth) = if low >> 16 == 0xd3ac {
                        (0xd3ad_0800 | (b as u32 & 0x1_87ff), c as u32)
                    } else {
                        (S_NOP, S_NOP)
                    };
                    samples.push([low as u32, high as u32, third, fourth]);
                }
            }
            for chunk in samples.chunks(4_000) {
                total.add(compare(isa, chunk)?);
            }
        }
    }
    Ok(total)
}

/// Compares samples; where the disassembler crashes, the sample is found by halving and counted.
fn compare(isa: Isa, samples: &[[u32; 4]]) -> Result<Outcome> {
    if let Some(outcome) = try_compare(isa, samples)? {
        return Ok(outcome);
    }
    if let [sample] = samples {
        println!("  {OBJDUMP} crashes on {} {sample:08x?}", isa.processor());
        return Ok(Outcome { crashes: 1, ..Outcome::default() });
    }
    let (left, right) = samples.split_at(samples.len() / 2);
    let mut outcome = compare(isa, left)?;
    outcome.add(compare(isa, right)?);
    Ok(outcome)
}

/// `None` if the disassembler crashed.
fn try_compare(isa: Isa, samples: &[[u32; 4]]) -> Result<Option<Outcome>> {
    let mut code = Vec::with_capacity(samples.len() * SLOT);
    for sample in samples {
        let start = code.len();
        for word in sample {
            code.extend(word.to_le_bytes());
        }
        while code.len() < start + SLOT {
            code.extend(S_NOP.to_le_bytes());
        }
    }
    let path = std::env::temp_dir().join(format!("rockhound-isa-diff-{}.o", std::process::id()));
    std::fs::write(&path, elf(isa, &code))?;
    let mut outcome = Outcome::default();
    let mut text = String::new();
    let finished = disassemble(&path, isa, |line: Line| {
        if (line.address as usize).is_multiple_of(SLOT) {
            let inst = isa::decode(isa, &code, line.address as u32);
            one(isa, &inst, &line, &mut text, &mut outcome);
        }
    })?;
    std::fs::remove_file(&path)?;
    Ok(finished.then_some(outcome))
}

/// The smallest relocatable file with one section of code.
fn elf(isa: Isa, code: &[u8]) -> Vec<u8> {
    let machine: u32 = match isa {
        Isa::Gfx908 => 0x30,
        Isa::Gfx90a => 0x3f,
        Isa::Gfx942 => 0x4c,
        Isa::Gfx950 => 0x4f,
    };
    let names = b"\0.text\0.shstrtab\0";
    let (text_at, names_at) = (64u64, 64 + code.len() as u64);
    let sections_at = (names_at + names.len() as u64).next_multiple_of(8);
    let mut out = Vec::with_capacity(sections_at as usize + 192);
    out.extend(b"\x7fELF\x02\x01\x01\x40\x04");
    out.extend([0; 7]);
    out.extend([1, 0, 224, 0]);
    out.extend(1u32.to_le_bytes());
    out.extend([0; 16]);
    out.extend(sections_at.to_le_bytes());
    out.extend(machine.to_le_bytes());
    for half in [64u16, 0, 0, 64, 3, 2] {
        out.extend(half.to_le_bytes());
    }
    out.extend(code);
    out.extend(names);
    out.resize(sections_at as usize, 0);
    out.extend([0; 64]);
    for (name, kind, flags, at, size) in
        [(1u32, 1u32, 6u64, text_at, code.len() as u64), (7, 3, 0, names_at, names.len() as u64)]
    {
        out.extend(name.to_le_bytes());
        out.extend(kind.to_le_bytes());
        for value in [flags, 0, at, size, 0, 4, 0] {
            out.extend(value.to_le_bytes());
        }
    }
    out
}
