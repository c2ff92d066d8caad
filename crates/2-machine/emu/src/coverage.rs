//! Compile-time proof that every opcode is executed, or left out for a reason.

use crate::control::CONTROL;
use crate::kernels::compared;
use crate::lanes_cross::LANE_OPS;
use crate::scalar::{EXEC_OPERATIONS, OPERATIONS};
use crate::vector::{KEYS, Variant};
use isa::{Class, Op};

/// Opcodes that no compute kernel needs: prefix of the mnemonic, and reason.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("buffer_load_format", "formats in the buffer resource belong to graphics"),
    ("buffer_store_format", "formats in the buffer resource belong to graphics"),
    ("ds_gws", "global wave sync belongs to the firmware"),
    ("s_rfe", "trap handler"),
    ("s_cbranch_g_fork", "trap handler and graphics"),
    ("s_cbranch_i_fork", "trap handler and graphics"),
    ("s_cbranch_join", "trap handler and graphics"),
    ("v_screen_partition", "graphics"),
    ("v_interp", "graphics"),
    ("buffer_store_lds", "graphics"),
    ("s_scratch_", "compilers never use it"),
    ("v_mfma_ld_scale", "first half of the scaled matrix instructions, which are decoded in one piece"),
];

/// Vector instructions executed outside of the tables.
const OTHER_VECTOR: &[&str] = &["v_nop", "v_clrexcp", "v_mqsad_u32_u8", "v_cvt_scalef32_"];

// An opcode without execution fails to compile here; the error shows its mnemonic.
const _: () = {
    let vector = marked(marked_by_kernel([false; OPCODES]), LANE_OPS);
    let scalar = marked(marked(marked([false; OPCODES], OPERATIONS), EXEC_OPERATIONS), CONTROL);
    let mut index = 0;
    while index < Op::COUNT {
        let op = Op(index);
        let executed = match op.row().class {
            Class::Valu => vector[compared(op).0 as usize] || begins_with_any(op, OTHER_VECTOR),
            Class::Salu | Class::Branch | Class::Control | Class::Message => scalar[index as usize],
            Class::Mfma => op.row().matrix.is_some(),
            // The mnemonic of a memory instruction determines its data and operation; a test checks all of them.
            Class::Smem | Class::VmemLoad | Class::VmemStore | Class::VmemAtomic | Class::Lds => true,
            Class::Wait | Class::Barrier => true,
            Class::Unknown => false,
        };
        assert!(executed || is_left_out(op), "{}", op.row().name);
        index += 1;
    }
};

const OPCODES: usize = Op::COUNT as usize;

/// Marks the opcodes of a table. A search of the tables for each opcode would take the compiler seconds.
const fn marked<T>(mut marks: [bool; OPCODES], table: &[(Op, T)]) -> [bool; OPCODES] {
    let mut row = 0;
    while row < table.len() {
        marks[table[row].0.0 as usize] = true;
        row += 1;
    }
    marks
}

/// Marks the opcodes that have a kernel.
const fn marked_by_kernel(mut marks: [bool; OPCODES]) -> [bool; OPCODES] {
    let mut table = 0;
    while table < KEYS.len() {
        let mut row = 0;
        while row < KEYS[table].len() {
            let key = KEYS[table][row];
            if matches!(key.variant, Variant::Plain) {
                marks[key.op.0 as usize] = true;
            }
            row += 1;
        }
        table += 1;
    }
    marks
}

/// True if an opcode is left out on purpose.
pub const fn is_left_out(op: Op) -> bool {
    let mut row = 0;
    while row < LEFT_OUT.len() {
        if begins_with(op, LEFT_OUT[row].0) {
            return true;
        }
        row += 1;
    }
    false
}

const fn begins_with_any(op: Op, prefixes: &[&str]) -> bool {
    let mut row = 0;
    while row < prefixes.len() {
        if begins_with(op, prefixes[row]) {
            return true;
        }
        row += 1;
    }
    false
}

const fn begins_with(op: Op, prefix: &str) -> bool {
    let (name, prefix) = (op.row().name.as_bytes(), prefix.as_bytes());
    let mut at = 0;
    while at < prefix.len() {
        if at >= name.len() || name[at] != prefix[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::executes;
    use isa::Isa;

    #[test]
    fn every_opcode_of_every_target_is_executed_or_left_out() {
        // GFX908 also has LDS operations with two addresses (`ds_*_src2_*`), which are not executed.
        for isa in [Isa::Gfx90a, Isa::Gfx942, Isa::Gfx950] {
            let missing: Vec<&str> = Op::all()
                .filter(|&op| isa.has(op) && !is_left_out(op) && !executes(isa, op))
                .map(|op| op.info().name)
                .collect();
            assert_eq!(missing, [""; 0], "{isa:?}");
        }
    }
}
