//! Opcodes that the emulator executes, per target and microcode format.
//!
//! The list comes from the emulator, by resolving a sample of every opcode; intentional omissions are listed
//! with their reason.

use anyhow::Result;
use isa::{Isa, Op};
use std::collections::BTreeMap;

pub(crate) fn run(_arguments: &[String]) -> Result<()> {
    for isa in [Isa::Gfx90a, Isa::Gfx942, Isa::Gfx950] {
        let mut table: BTreeMap<String, (u32, u32, Vec<&str>)> = BTreeMap::new();
        let mut left_out = 0;
        for op in Op::all().filter(|op| isa.has(*op)) {
            let name = op.info().name;
            if emu::is_left_out(op) {
                left_out += 1;
                continue;
            }
            let Some(encoding) = isa.encodings(op).next() else { continue };
            let entry = table.entry(format!("{encoding:?}")).or_default();
            entry.1 += 1;
            if emu::executes(isa, op) {
                entry.0 += 1;
            } else {
                entry.2.push(name);
            }
        }
        let sum = table.values().fold((0, 0), |sum, entry| (sum.0 + entry.0, sum.1 + entry.1));
        println!("{}: {} of {} opcodes, {left_out} left out", isa.processor(), sum.0, sum.1);
        for (encoding, (done, all, missing)) in &table {
            println!("  {:<8} {done:>4} of {all:>4}  {}", encoding.to_lowercase(), missing.join(" "));
        }
    }
    println!("left out:");
    for (prefix, reason) in emu::LEFT_OUT {
        println!("  {prefix:<20} {reason}");
    }
    Ok(())
}
