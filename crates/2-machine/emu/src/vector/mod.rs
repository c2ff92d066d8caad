//! Functions of vector ALU instructions: one line per opcode.
//!
//! The one idea to keep in mind: a line is a function of one lane; modifiers, register widths and EXEC are
//! handled elsewhere. Every table is compiled twice, for any CPU and for AVX2 with FMA; the choice is made at run
//! time. Lines under `in place` are also compiled as in-place kernels, for instructions without modifiers; not for
//! x86-64 CPUs without AVX2, which are rare.

macro_rules! kernels {
    (in place { $( $direct:ident { $( $known:literal = $done:expr; )* } )* }
     $( $adapter:ident { $( $name:literal = $function:expr; )* } )*) => {
        /// Opcodes and variants of the table.
        pub(super) const KEYS: &[crate::vector::Key] = &[
            $( $( crate::vector::Key::named($known), )* )*
            $( $( crate::vector::Key::named($name), )* )*
        ];

        pub(super) fn portable(list: &mut Vec<crate::vector::Named>) {
            $( $( {
                #[cfg(target_arch = "x86_64")]
                let in_place = None;
                #[cfg(not(target_arch = "x86_64"))]
                let in_place =
                    Some(crate::in_place::in_place(|o, a, b, c, n| crate::in_place::$direct(o, a, b, c, n, $done)));
                list.push((
                    const { crate::vector::Key::named($known) },
                    crate::lanes::kernel(|o, a, b, c, x| $direct(o, a, b, c, x, $done)),
                    in_place,
                ));
            } )* )*
            $( $( list.push((
                const { crate::vector::Key::named($name) },
                crate::lanes::kernel(|o, a, b, c, x| $adapter(o, a, b, c, x, $function)),
                None,
            )); )* )*
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        pub(super) fn avx2(list: &mut Vec<crate::vector::Named>) {
            $( $( list.push((
                const { crate::vector::Key::named($known) },
                crate::lanes::kernel(|o, a, b, c, x| $direct(o, a, b, c, x, $done)),
                Some(crate::in_place::in_place(|o, a, b, c, n| crate::in_place::$direct(o, a, b, c, n, $done))),
            )); )* )*
            $( $( list.push((
                const { crate::vector::Key::named($name) },
                crate::lanes::kernel(|o, a, b, c, x| $adapter(o, a, b, c, x, $function)),
                None,
            )); )* )*
        }
    };
    ($( $adapter:ident { $( $name:literal = $function:expr; )* } )*) => {
        kernels! { in place {} $( $adapter { $( $name = $function; )* } )* }
    };
}

mod bits;
mod compare;
mod convert;
mod division;
mod dot;
mod float32;
mod float64;
mod integer;
mod minmax;
mod packed;
mod rounded;
mod saturate;
mod short;
mod tiny;
mod trans;

use crate::in_place::InPlace;
use crate::lanes::Kernel;
use isa::Op;

/// Variant of an opcode's kernel; the tables name it after the mnemonic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Variant {
    Plain,
    /// Integer results saturate.
    Clamp,
    /// Results round as MODE says.
    Rounded,
    /// Denormals are flushed.
    Flushed,
    /// The shift is 0.
    Unshifted,
}

/// Name of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key {
    pub(crate) op: Op,
    pub(crate) variant: Variant,
}

impl Key {
    /// Key of a mnemonic, with the variant after a space. An unknown mnemonic does not compile.
    pub(crate) const fn named(name: &str) -> Key {
        let bytes = name.as_bytes();
        let mut end = 0;
        while end < bytes.len() && bytes[end] != b' ' {
            end += 1;
        }
        let (mnemonic, suffix) = bytes.split_at(end);
        let variant = match suffix {
            b"" => Variant::Plain,
            b" clamp" => Variant::Clamp,
            b" rounded" => Variant::Rounded,
            b" flushed" => Variant::Flushed,
            b" unshifted" => Variant::Unshifted,
            _ => panic!("no such variant of a kernel"),
        };
        match Op::find(b"", mnemonic) {
            Some(op) => Key { op, variant },
            None => panic!("no row has this mnemonic"),
        }
    }
}

/// Keys of all tables.
pub(crate) const KEYS: &[&[Key]] = &[
    bits::KEYS,
    compare::KEYS,
    convert::KEYS,
    division::KEYS,
    dot::KEYS,
    float32::KEYS,
    float64::KEYS,
    integer::KEYS,
    minmax::KEYS,
    packed::KEYS,
    rounded::KEYS,
    saturate::KEYS,
    short::KEYS,
    tiny::KEYS,
    trans::KEYS,
];

/// Key, kernel, and in-place form if it exists.
pub(crate) type Named = (Key, Kernel, Option<InPlace>);

macro_rules! all_tables {
    ($which:ident) => {{
        let mut list = Vec::with_capacity(800);
        bits::$which(&mut list);
        compare::$which(&mut list);
        convert::$which(&mut list);
        division::$which(&mut list);
        dot::$which(&mut list);
        float32::$which(&mut list);
        float64::$which(&mut list);
        integer::$which(&mut list);
        minmax::$which(&mut list);
        packed::$which(&mut list);
        rounded::$which(&mut list);
        saturate::$which(&mut list);
        short::$which(&mut list);
        tiny::$which(&mut list);
        trans::$which(&mut list);
        list
    }};
}

/// All kernels, compiled for any CPU.
pub(crate) fn portable() -> Vec<Named> {
    all_tables!(portable)
}

/// All kernels, compiled for CPUs with AVX2, FMA, BMI, LZCNT, POPCNT and F16C.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn avx2() -> Vec<Named> {
    let mut list = all_tables!(avx2);
    let by_hand: [(Key, InPlace); 4] = [
        (const { Key::named("v_add_f64") }, |o, a, b, _, _| crate::raw::add_f64(o, a, b)),
        (const { Key::named("v_mul_f64") }, |o, a, b, _, _| crate::raw::mul_f64(o, a, b)),
        (const { Key::named("v_fma_f64") }, |o, a, b, c, _| crate::raw::fma_f64(o, a, b, c)),
        (const { Key::named("v_fmac_f64") }, |o, a, b, c, _| crate::raw::fma_f64(o, a, b, c)),
    ];
    for (key, kernel) in by_hand {
        if let Some(known) = list.iter_mut().find(|it| it.0 == key) {
            known.2 = Some(kernel);
        }
    }
    list
}
