//! Arguments of a call in the calling convention of x86-64: six integers or addresses and eight floating-point
//! numbers in registers, the rest on the stack in order.

/// Integer registers of a call, followed by eight floating-point registers.
const INTEGERS: usize = 6;
const FLOATS: usize = 8;

/// Arguments, taken one after the other.
pub(super) struct Arguments {
    registers: *const u64,
    stack: *const u64,
    integers: usize,
    floats: usize,
    stacked: usize,
}

impl Arguments {
    /// # Safety
    /// `registers` leads to the saved registers, `stack` to the arguments that have none; both stay for the
    /// life of the value, and no more arguments are taken than the caller gave.
    pub(super) unsafe fn new(registers: *const u64, stack: *const u64) -> Arguments {
        Arguments { registers, stack, integers: 0, floats: 0, stacked: 0 }
    }

    /// The next integer or address.
    pub(super) fn word(&mut self) -> u64 {
        if self.integers < INTEGERS {
            self.integers += 1;
            // SAFETY: the stand-in library saved all registers.
            return unsafe { self.registers.add(self.integers - 1).read_unaligned() };
        }
        self.stacked()
    }

    /// The next word of the stack.
    fn stacked(&mut self) -> u64 {
        self.stacked += 1;
        // SAFETY: the caller gave this argument, and it has no register.
        unsafe { self.stack.add(self.stacked - 1).read_unaligned() }
    }

    /// The next value of `N` words that is given by value and is too large for registers.
    pub(super) fn value<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.stacked())
    }

    /// Leaves out integers or addresses.
    pub(super) fn skip(&mut self, count: usize) {
        (0..count).for_each(|_| {
            self.word();
        });
    }

    /// The next 32-bit integer.
    pub(super) fn int(&mut self) -> i32 {
        self.word() as i32
    }

    /// The next 64-bit integer.
    pub(super) fn long(&mut self) -> i64 {
        self.word().cast_signed()
    }

    /// The next address.
    pub(super) fn address(&mut self) -> usize {
        self.word() as usize
    }

    /// The next floating-point number as it is in its register.
    pub(super) fn float_bits(&mut self) -> u64 {
        if self.floats < FLOATS {
            self.floats += 1;
            // SAFETY: the stand-in library saved these behind the integers.
            return unsafe { self.registers.add(INTEGERS + self.floats - 1).read_unaligned() };
        }
        self.stacked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_from_registers_and_then_from_the_stack() {
        let registers: Vec<u64> = (1..=14).collect();
        let stack: Vec<u64> = (100..110).collect();
        // SAFETY: both lists are as long as what is taken.
        let mut arguments = unsafe { Arguments::new(registers.as_ptr(), stack.as_ptr()) };
        let words: Vec<u64> = (0..8).map(|_| arguments.word()).collect();
        assert_eq!(words, [1, 2, 3, 4, 5, 6, 100, 101]);
        let floats: Vec<u64> = (0..9).map(|_| arguments.float_bits()).collect();
        assert_eq!(floats, [7, 8, 9, 10, 11, 12, 13, 14, 102]);
        assert_eq!(arguments.word(), 103);
        assert_eq!(arguments.value(), [104, 105]);
    }
}
