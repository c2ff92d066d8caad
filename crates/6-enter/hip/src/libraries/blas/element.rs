//! Types of elements.

use super::Problem;

/// Type of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::libraries) enum Type {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    I32,
    C32,
    C64,
}

/// Numbers of types in the enumerations: rocBLAS and hipBLAS's first one, and HIP's.
const NUMBERS: [(i32, i32, Type); 8] = [
    (150, 2, Type::F16),
    (168, 14, Type::Bf16),
    (151, 0, Type::F32),
    (152, 1, Type::F64),
    (160, 3, Type::I8),
    (162, 10, Type::I32),
    (154, 4, Type::C32),
    (155, 5, Type::C64),
];

impl Type {
    /// The type with a number of either enumeration: their ranges do not overlap.
    pub(in crate::libraries) fn of_number(number: i32) -> Result<Type, Problem> {
        let found = NUMBERS.iter().find(|it| it.0 == number || it.1 == number);
        let unknown = || Problem::Unsupported(format!("elements of type {number}"));
        found.map(|it| it.2).ok_or_else(unknown)
    }

    pub(in crate::libraries) fn bytes(self) -> usize {
        match self {
            Type::I8 => 1,
            Type::F16 | Type::Bf16 => 2,
            Type::F32 | Type::I32 => 4,
            Type::F64 | Type::C32 => 8,
            Type::C64 => 16,
        }
    }

    /// Part of the kernels' names.
    pub(in crate::libraries) fn word(self) -> &'static str {
        match self {
            Type::F16 => "f16",
            Type::Bf16 => "bf16",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::I8 => "i8",
            Type::I32 => "i32",
            Type::C32 => "c32",
            Type::C64 => "c64",
        }
    }

    /// The real type of a complex one.
    pub(in crate::libraries) fn real(self) -> Type {
        match self {
            Type::C32 => Type::F32,
            Type::C64 => Type::F64,
            other => other,
        }
    }

    /// Number of the kernels' enumeration of factors.
    pub(in crate::libraries) fn kind(self) -> i64 {
        match self {
            Type::I8 => 0,
            Type::F32 => 1,
            Type::F64 => 2,
            Type::F16 => 3,
            Type::Bf16 => 4,
            Type::I32 => 5,
            Type::C32 => 6,
            Type::C64 => 7,
        }
    }
}
