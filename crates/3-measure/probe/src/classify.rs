//! Events of one execution of an instruction.
//!
//! They depend on the instruction alone, so they are computed once per program. The type of an arithmetic
//! instruction is taken from its name: `v_ashrrev_i64` counts as a 64-bit integer instruction,
//! `v_lshlrev_b64` does not; recordings confirm both.

use crate::event::Event;
use arch::Target;
use isa::{Access, Class, Encoding, Inst, Matrix, MatrixType, Mem, OpFlags, Space};

/// Arithmetic with a counter per float type: stems of names, and the events for 16, 32 and 64 bits.
const ARITHMETIC: [(&[&str], [Event; 3]); 4] = [
    (&["add", "sub", "subrev"], [Event::AddF16, Event::AddF32, Event::AddF64]),
    (&["mul", "mul_legacy"], [Event::MulF16, Event::MulF32, Event::MulF64]),
    (
        &[
            "fma",
            "fmac",
            "mac",
            "mad",
            "mad_legacy",
            "fma_legacy",
            "madmk",
            "madak",
            "fmamk",
            "fmaak",
            "fma_mix",
            "fma_mixlo",
            "fma_mixhi",
        ],
        [Event::FmaF16, Event::FmaF32, Event::FmaF64],
    ),
    (
        &["rcp", "rcp_iflag", "rsq", "sqrt", "exp", "log", "exp_legacy", "log_legacy", "sin", "cos"],
        [Event::TransF16, Event::TransF32, Event::TransF64],
    ),
];

/// Instructions that invalidate the vector L1.
const INVALIDATES: [&str; 3] = ["buffer_inv", "buffer_wbinvl1", "buffer_wbinvl1_vol"];

/// Operations per increment of the counters of matrix operations.
const OPERATIONS_PER_MOP: u64 = 512;

/// Lanes of a wave.
const LANES: u64 = 64;

/// Events of one execution, with their counts. Sums over lanes and accesses are not included.
pub(crate) fn events(inst: &Inst, target: Option<&Target>) -> Vec<(Event, u64)> {
    let info = inst.op.info();
    let mut events = vec![(Event::Instruction, 1)];
    let mut one = |event| events.push((event, 1));
    match info.class {
        Class::Valu => {
            one(Event::Valu);
            if let Some(kind) = arithmetic(info.name) {
                one(kind);
            }
        }
        Class::Mfma => {
            one(Event::Matrix);
            if let Some(matrix) = &info.matrix {
                events.extend(matrix_events(inst, matrix, target));
            }
        }
        Class::Salu => one(Event::Salu),
        Class::Smem => {
            one(Event::Smem);
            if let Some(mem) = inst.mem() {
                events.extend(scalar(mem).map(|event| (event, 1)));
            }
        }
        Class::VmemLoad | Class::VmemStore | Class::VmemAtomic => {
            if let Some(mem) = inst.mem() {
                vector_memory(inst.encoding, mem).into_iter().for_each(one);
            }
        }
        Class::Lds if inst.mem().is_some_and(|mem| mem.space == Space::Gds) => one(Event::Gds),
        Class::Lds => {
            one(Event::Lds);
            if let Some(mem) = inst.mem() {
                events.extend(lds(mem));
            }
        }
        Class::Branch if info.flags.contains(OpFlags::END) => one(Event::End),
        Class::Branch => one(Event::Branch),
        Class::Wait => one(Event::Wait),
        Class::Barrier => one(Event::Barrier),
        Class::Message => one(Event::Message),
        Class::Control | Class::Unknown => {
            one(Event::Control);
            if INVALIDATES.contains(&info.name) {
                one(Event::Invalidate);
            }
        }
    }
    events
}

/// The typed counter a vector instruction belongs to, if there is one.
fn arithmetic(name: &str) -> Option<Event> {
    let stem = name.strip_prefix("v_")?;
    if stem.starts_with("cvt_") {
        return Some(Event::Convert);
    }
    let stem = stem.strip_prefix("pk_").unwrap_or(stem);
    if let Some((operation, float)) = stem.rsplit_once('_') {
        let size = match float {
            "f16" => Some(0),
            "f32" => Some(1),
            "f64" => Some(2),
            _ => None,
        };
        if let Some(size) = size {
            return ARITHMETIC
                .iter()
                .find(|(names, _)| names.contains(&operation))
                .map(|(_, events)| events[size]);
        }
    }
    let typed = |types: [&str; 2]| stem.split('_').any(|part| types.contains(&part));
    if typed(["i64", "u64"]) {
        Some(Event::Int64)
    } else if typed(["i32", "u32"]) {
        Some(Event::Int32)
    } else {
        None
    }
}

fn matrix_events(inst: &Inst, matrix: &Matrix, target: Option<&Target>) -> [(Event, u64); 3] {
    // Element types chosen by modifiers: 0 and 1 are the 8-bit ones.
    let wide = inst.mods.cbsz <= 1 && inst.mods.blgp <= 1;
    let (kind, mops) = match matrix.a {
        MatrixType::F64 => (Event::MatrixF64, Event::MopsF64),
        MatrixType::F32 | MatrixType::Xf32 => (Event::MatrixF32, Event::MopsF32),
        MatrixType::F16 => (Event::MatrixF16, Event::MopsF16),
        MatrixType::Bf16 => (Event::MatrixBf16, Event::MopsBf16),
        MatrixType::I8 | MatrixType::I32 => (Event::MatrixI8, Event::MopsI8),
        MatrixType::F8F6F4 if !wide => (Event::MatrixF6F4, Event::MopsF6F4),
        MatrixType::Fp8 | MatrixType::Bf8 | MatrixType::F8F6F4 => (Event::MatrixF8, Event::MopsF8),
    };
    let [m, n, k, blocks] = [matrix.m, matrix.n, matrix.k, matrix.blocks].map(u64::from);
    let operations = 2 * m * n * k * blocks;
    let cycles = matrix_cycles(inst, target)
        .map_or((Event::MatrixUnknown, 1), |cycles| (Event::MatrixCycles, u64::from(cycles)));
    [(kind, 1), (mops, operations / OPERATIONS_PER_MOP), cycles]
}

/// Cycles for which a matrix instruction occupies the matrix unit.
pub(crate) fn matrix_cycles(inst: &Inst, target: Option<&Target>) -> Option<u32> {
    let shape = target?.matrix_shape(inst.op.info().name)?;
    Some(shape.cycles_of([inst.mods.cbsz, inst.mods.blgp]))
}

fn scalar(mem: Mem) -> Option<Event> {
    match (mem.access, mem.bytes / 4) {
        (Access::Store, _) => Some(Event::ScalarStore),
        (Access::Atomic, _) => Some(Event::ScalarAtomic),
        (_, 1) => Some(Event::ScalarRead1),
        (_, 2) => Some(Event::ScalarRead2),
        (_, 4) => Some(Event::ScalarRead4),
        (_, 8) => Some(Event::ScalarRead8),
        (_, 16) => Some(Event::ScalarRead16),
        _ => None,
    }
}

fn vector_memory(encoding: Encoding, mem: Mem) -> Vec<Event> {
    let buffer = matches!(encoding, Encoding::Mubuf | Encoding::Mtbuf);
    let mut events = vec![if buffer { Event::Buffer } else { Event::Flat }];
    events.push(match (buffer, mem.access) {
        (false, Access::Store) => Event::FlatStore,
        (false, Access::Atomic) => Event::FlatAtomic,
        (false, _) => Event::FlatLoad,
        (true, Access::Store) => Event::BufferStore,
        (true, Access::Atomic) => Event::BufferAtomic,
        (true, _) => Event::BufferLoad,
    });
    if mem.access == Access::LoadToLds {
        events.push(if buffer { Event::BufferToLds } else { Event::FlatToLds });
    }
    if mem.space == Space::Flat {
        events.push(Event::FlatAny);
    }
    events
}

fn lds(mem: Mem) -> Vec<(Event, u64)> {
    let sixty_fours = u64::from(mem.bytes) * u64::from(mem.elements) * LANES / 64;
    let (kind, volume) = match mem.access {
        Access::Load | Access::LoadToLds => (Event::LdsLoad, Event::LdsLoad64),
        Access::Store => (Event::LdsStore, Event::LdsStore64),
        Access::Atomic => (Event::LdsAtomic, Event::LdsAtomic64),
        Access::Exchange => return Vec::new(),
    };
    vec![(kind, 1), (volume, sixty_fours)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_type() {
        let cases = [
            ("v_add_f32", Some(Event::AddF32)),
            ("v_pk_add_f32", Some(Event::AddF32)),
            ("v_subrev_f16", Some(Event::AddF16)),
            ("v_mul_legacy_f32", Some(Event::MulF32)),
            ("v_fmac_f64", Some(Event::FmaF64)),
            ("v_pk_fma_f16", Some(Event::FmaF16)),
            ("v_fma_mixlo_f16", Some(Event::FmaF16)),
            ("v_rsq_f64", Some(Event::TransF64)),
            ("v_cvt_f32_u32", Some(Event::Convert)),
            ("v_cvt_pkrtz_f16_f32", Some(Event::Convert)),
            ("v_max_f32", None),
            ("v_cmp_eq_f32", None),
            ("v_cmp_gt_i32", Some(Event::Int32)),
            ("v_add_co_u32", Some(Event::Int32)),
            ("v_addc_co_u32", Some(Event::Int32)),
            ("v_ashrrev_i32", Some(Event::Int32)),
            ("v_mul_i32_i24", Some(Event::Int32)),
            ("v_or_b32", None),
            ("v_mov_b32", None),
            ("v_mad_u16", None),
            ("v_lshl_add_u64", Some(Event::Int64)),
            ("v_ashrrev_i64", Some(Event::Int64)),
            ("v_lshlrev_b64", None),
        ];
        for (name, event) in cases {
            assert!(isa::Op::by_name(name).is_some(), "{name}");
            assert_eq!(arithmetic(name), event, "{name}");
        }
    }
}
