//! Call targets of a kernel.
//!
//! Compilers build a callee's address from the program counter and constants just before the call, so
//! following constants through scalar registers names it; anything else is a call through a pointer.

use codeobj::{Body, CodeObject};
use isa::{Inst, OpFlags, Operand, RegFile, RegRange};

/// One call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Position of the calling instruction.
    pub inst: usize,
    /// Function called; `None` for a call through a pointer.
    pub callee: Option<String>,
}

/// Distance before a call within which its address is searched, in instructions.
const WINDOW: usize = 96;

/// All calls in code that starts at `address`. In assembly text, `symbols` names the relocation targets.
pub(crate) fn find(
    insts: &[Inst],
    address: u64,
    object: &CodeObject,
    symbols: &[(usize, String)],
) -> Vec<Call> {
    let mut calls = Vec::new();
    for (at, inst) in insts.iter().enumerate() {
        if inst.op.info().flags.contains(OpFlags::CALL) {
            let target = match inst.operands().iter().rev().find_map(direct_target) {
                Some(offset) => Some(address.wrapping_add_signed(i64::from(offset))),
                None => called_register(inst).and_then(|reg| constant(insts, at, address, reg)),
            };
            let callee = named(symbols, at).or_else(|| target.and_then(|target| function_at(object, target)));
            calls.push(Call { inst: at, callee });
        }
    }
    calls
}

fn direct_target(operand: &Operand) -> Option<i32> {
    match operand {
        Operand::Target(offset) => Some(*offset),
        _ => None,
    }
}

/// The register pair that holds a call's target: the last register operand.
fn called_register(inst: &Inst) -> Option<RegRange> {
    inst.operands().iter().rev().find_map(|operand| match operand {
        Operand::Reg(reg) if reg.file == RegFile::Sgpr && reg.count == 2 => Some(*reg),
        _ => None,
    })
}

/// The symbol last used before the call.
fn named(symbols: &[(usize, String)], at: usize) -> Option<String> {
    let before = symbols.partition_point(|(inst, _)| *inst <= at);
    let (inst, name) = symbols[..before].last()?;
    (at - inst <= WINDOW).then(|| name.clone())
}

fn function_at(object: &CodeObject, target: u64) -> Option<String> {
    object
        .functions
        .iter()
        .find(|function| matches!(function.body, Body::Code { address, .. } if address == target))
        .map(|function| function.name.clone())
}

/// The 64-bit constant in `pair` before instruction `at`, where the instructions shortly before make one.
fn constant(insts: &[Inst], at: usize, address: u64, pair: RegRange) -> Option<u64> {
    let mut known: [Option<u32>; 128] = [None; 128];
    let mut carry = None;
    for inst in &insts[at.saturating_sub(WINDOW)..at] {
        let source = |index: usize, half: u16| -> Option<u32> {
            match inst.operands().get(index)? {
                Operand::Reg(reg) if reg.file == RegFile::Sgpr => {
                    *known.get(usize::from(reg.first + half))?
                }
                Operand::Literal(bits) => Some(if half == 0 { *bits } else { 0 }),
                Operand::Int(value) => {
                    Some(if half == 0 { i32::from(*value) as u32 } else { (i32::from(*value) >> 31) as u32 })
                }
                _ => None,
            }
        };
        let mut results = [None; 2];
        match inst.op.info().name {
            "s_getpc_b64" => {
                let next = address + u64::from(inst.offset) + u64::from(inst.size);
                results = [Some(next as u32), Some((next >> 32) as u32)];
            }
            "s_add_u32" => {
                let sum = source(1, 0).zip(source(2, 0)).map(|(a, b)| a.overflowing_add(b));
                results[0] = sum.map(|(value, _)| value);
                carry = sum.map(|(_, carry)| carry);
            }
            "s_addc_u32" => {
                let sum = source(1, 0).zip(source(2, 0)).zip(carry);
                results[0] = sum.map(|((a, b), carry)| a.wrapping_add(b).wrapping_add(u32::from(carry)));
                carry = None;
            }
            "s_mov_b32" => results[0] = source(1, 0),
            "s_mov_b64" => results = [source(1, 0), source(1, 1)],
            _ => {}
        }
        let mut next = results.into_iter();
        inst.visit_writes(|range| {
            if range.file == RegFile::Sgpr {
                for index in range.indices() {
                    if let Some(slot) = known.get_mut(usize::from(index)) {
                        *slot = next.next().flatten();
                    }
                }
            }
        });
    }
    let half = |index: u16| known.get(usize::from(index)).copied().flatten();
    Some(u64::from(half(pair.first)?) | u64::from(half(pair.first + 1)?) << 32)
}
