//! Operations of constraints.

/// Place of an operation; operations that it reads come before it.
pub(super) type OpId = u32;

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Op {
    /// A number, by its bits.
    Constant(u64),
    Parameter(u32),
    Add(OpId, OpId),
    Subtract(OpId, OpId),
    Multiply(OpId, OpId),
    Divide(OpId, OpId),
    FloorDivide(OpId, OpId),
    Remainder(OpId, OpId),
    Min(OpId, OpId),
    Max(OpId, OpId),
    Negate(OpId),
    Abs(OpId),
    Equal(OpId, OpId),
    Less(OpId, OpId),
    LessOrEqual(OpId, OpId),
    And(OpId, OpId),
    Or(OpId, OpId),
    Not(OpId),
    /// Condition, then, else.
    If(OpId, OpId, OpId),
    /// A constraint that `expression` computes.
    Whole(u32),
}

impl Op {
    /// The operations that it reads; the operations of `Whole` are in [`Program::wholes`].
    pub(super) fn inputs(self) -> ([OpId; 3], usize) {
        use Op::{Abs, Add, And, Constant, Divide, Equal, FloorDivide, If, Less, LessOrEqual, Max, Min};
        use Op::{Multiply, Negate, Not, Or, Parameter, Remainder, Subtract, Whole};
        match self {
            Constant(_) | Parameter(_) | Whole(_) => ([0; 3], 0),
            Add(a, b) | Subtract(a, b) | Multiply(a, b) | Divide(a, b) | FloorDivide(a, b) => ([a, b, 0], 2),
            Remainder(a, b) | Min(a, b) | Max(a, b) | Equal(a, b) | Less(a, b) => ([a, b, 0], 2),
            LessOrEqual(a, b) | And(a, b) | Or(a, b) => ([a, b, 0], 2),
            Negate(a) | Abs(a) | Not(a) => ([a, 0, 0], 1),
            If(a, b, c) => ([a, b, c], 3),
        }
    }
}
