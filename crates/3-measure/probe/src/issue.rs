//! Resources of a compute unit that an instruction needs, for the clock.
//!
//! Crate `clock` knows no instructions; their unit and busy cycles are read from the row of the opcode once
//! per program.

use arch::Target;
use clock::{NO_SLOT, Op, Unit};
use isa::{Access, Class, Cost, Inst, OpFlags, Operand, Space};

/// Cycles between two instructions of a wave.
const STEP: u32 = 4;
/// Cycles of a unit of `s_sleep`.
const SLEEP: u32 = 64;
/// Bytes of code that a wave gets at a time.
const FETCH: u64 = 8;
/// Lanes of a wave.
const LANES: u32 = 64;
/// Bytes that the LDS takes in a cycle.
const LDS_BYTES: u32 = 128;
/// LDS cycles of an exchange of dwords between lanes: 32 lanes a cycle.
const EXCHANGE: u32 = 2;

/// An instruction; `slot` is its number among the memory instructions, `cycles` the cycles of a vector or
/// matrix unit.
pub(crate) fn op(inst: &Inst, slot: u32, cycles: u32) -> Op {
    let info = inst.op.info();
    let op = |unit| Op::new(unit, STEP);
    let memory = |unit| Op { slot, ..Op::new(unit, STEP) };
    match info.class {
        Class::Valu => {
            Op { f64: matches!(info.cost, Cost::ValuF64 | Cost::TransF64), ..Op::new(Unit::Vector, cycles) }
        }
        Class::Mfma => Op::new(Unit::Matrix, cycles),
        Class::Salu => op(Unit::Scalar),
        Class::Smem => memory(Unit::ScalarMemory),
        Class::VmemLoad | Class::VmemStore | Class::VmemAtomic => match info.mem.map(|mem| mem.space) {
            Some(Space::Flat) => memory(Unit::Flat),
            Some(_) if inst.loads_to_lds() => {
                let bytes = info.mem.map_or(0, |mem| u32::from(mem.bytes)).next_multiple_of(4);
                Op { exchange: bytes * LANES / LDS_BYTES, ..memory(Unit::Memory) }
            }
            _ => memory(Unit::Memory),
        },
        Class::Lds => {
            let exchange = info.mem.is_some_and(|mem| mem.access == Access::Exchange);
            Op { slot, exchange: if exchange { EXCHANGE } else { 0 }, ..Op::new(Unit::Lds, STEP) }
        }
        Class::Branch if info.flags.contains(OpFlags::END) => op(Unit::End),
        Class::Branch => op(Unit::Branch),
        Class::Barrier => op(Unit::Barrier),
        Class::Wait => wait(inst),
        Class::Message => op(Unit::Idle),
        Class::Control | Class::Unknown => {
            let times = immediate(inst).max(0) as u32;
            match info.name {
                "s_nop" => Op::new(Unit::Idle, STEP * (times & 15).saturating_add(1)),
                "s_sleep" => Op::new(Unit::Pause, STEP + SLEEP * (times & 127)),
                _ if slot != NO_SLOT => memory(Unit::Memory),
                _ => op(Unit::Idle),
            }
        }
    }
}

/// The operation of an instruction at an address, with costs that only some targets are known to have.
pub(crate) fn on_target(op: Op, inst: &Inst, address: u64, target: Option<&Target>) -> Op {
    if op.unit != Unit::Vector {
        return op;
    }
    let info = inst.op.info();
    let is_packed = info.cost == Cost::ValuPk && info.flags.contains(OpFlags::FLOAT);
    let overlaps = target.and_then(|it| it.packed_f32_beside_matrix.value()).unwrap_or(true);
    let is_split = u64::from(inst.size) == FETCH && !address.is_multiple_of(FETCH);
    let split = target.filter(|_| is_split).and_then(|it| it.split_fetch_cycles.value());
    Op {
        unit: if is_packed && !overlaps { Unit::Packed } else { Unit::Vector },
        split_fetch: split.unwrap_or(0) as u8,
        ..op
    }
}

fn immediate(inst: &Inst) -> i32 {
    inst.operands()
        .iter()
        .find_map(|it| if let Operand::Imm(value) = it { Some(*value) } else { None })
        .unwrap_or(0)
}

/// A wait needs no unit: the next instruction issues in the cycle in which it ends.
fn wait(inst: &Inst) -> Op {
    let word = immediate(inst) as u32;
    let (mut vector, mut other) = (u8::MAX, u8::MAX);
    match inst.op.info().name {
        "s_waitcnt" => {
            vector = inst.waits_for_vector_memory().unwrap_or(u8::MAX);
            other = (word >> 8 & 15) as u8;
        }
        "s_waitcnt_vmcnt" | "s_waitcnt_vscnt" => vector = (word & 63) as u8,
        "s_waitcnt_lgkmcnt" => other = (word & 15) as u8,
        _ => {}
    }
    // The largest values wait for nothing.
    if vector == 63 {
        vector = u8::MAX;
    }
    if other == 15 {
        other = u8::MAX;
    }
    Op::new(Unit::Wait { vector, other }, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use isa::Isa;
    use isa::text::{Statement, parse_line};

    #[test]
    fn loads_into_the_lds_keep_it_busy() {
        let cases = [
            (Isa::Gfx942, "global_load_lds_dword v[2:3], off", 2),
            (Isa::Gfx942, "global_load_lds_ubyte v[2:3], off", 2),
            (Isa::Gfx950, "global_load_lds_dwordx4 v[2:3], off", 8),
            (Isa::Gfx942, "buffer_load_dword v1, s[8:11], 0 offen lds", 2),
            (Isa::Gfx942, "global_load_dwordx4 v[4:7], v[2:3], off", 0),
        ];
        for (isa, text, cycles) in cases {
            let line = parse_line(isa, text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            let Statement::Inst(parsed) = line.statement else { panic!("{text}") };
            let found = op(&parsed.inst, 3, 0);
            assert_eq!((found.unit, found.slot, found.exchange), (Unit::Memory, 3, cycles), "{text}");
        }
    }
}
