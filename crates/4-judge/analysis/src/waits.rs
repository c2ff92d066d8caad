//! The counters `s_waitcnt` waits for.
//!
//! A count is the number of operations that may still be outstanding; the largest value of a field disables
//! the wait for that counter.

use isa::{Inst, Operand};

/// Value of the vector field that waits for nothing.
const NO_VECTOR_WAIT: u32 = 63;
/// Value of the LDS field that waits for nothing: a higher count cannot be encoded.
pub const NO_LDS_WAIT: u32 = 15;

/// Fields of one wait; `None` if the counter is not waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wait {
    /// Vector memory.
    pub vector: Option<u32>,
    /// LDS, scalar memory, messages.
    pub lds: Option<u32>,
}

/// Counters that `inst` waits for, if it is a wait.
pub fn wait(inst: &Inst) -> Option<Wait> {
    if inst.op.info().name != "s_waitcnt" {
        return None;
    }
    match inst.operands().first() {
        Some(Operand::Imm(value)) => Some(fields(*value as u32)),
        Some(Operand::Literal(value)) => Some(fields(*value)),
        _ => None,
    }
}

/// The fields of the 16-bit immediate: bits 3:0 and 15:14 are the vector count, bits 11:8 the LDS count.
fn fields(value: u32) -> Wait {
    let vector = (value & 15) | ((value >> 14) & 3) << 4;
    let lds = (value >> 8) & 15;
    Wait { vector: (vector < NO_VECTOR_WAIT).then_some(vector), lds: (lds < NO_LDS_WAIT).then_some(lds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn immediates() {
        let cases = [
            (0x0f70, Some(0), None),
            (0xc07f, None, Some(0)),
            (0x0070, Some(0), Some(0)),
            (0x0f7c, Some(12), None),
            (0x4f7c, Some(28), None),
            (0xc37f, None, Some(3)),
            (0xcf7f, None, None),
        ];
        for (value, vector, lds) in cases {
            assert_eq!(fields(value), Wait { vector, lds }, "{value:#x}");
        }
    }
}
