//! rocBLAS, hipBLAS and hipBLASLt: one implementation behind the names of all three.
//!
//! Arguments are read in the order of the headers. Batched forms have a count at the end, strided ones a
//! distance behind each leading dimension; names ending in `_64` have 64-bit sizes.

mod element;
mod gemm;
mod handles;
mod level2;
mod lt;
mod matrix;
mod name;
mod vectors;

use super::{Answer, Arguments, Problem};
pub(super) use handles::{Handle, put};
pub(super) use matrix::{Factor, Type};
use name::Name;

/// A call of one of the three libraries; `None` if the function is not implemented.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    if let Some(answer) = handles::call(function, arguments).or_else(|| lt::call(function, arguments)) {
        return Some(answer);
    }
    let name = Name::parse(function)?;
    let done = match name.operation {
        "gemm" => gemm::gemm(&name, arguments),
        "gemv" => level2::gemv(&name, arguments),
        "ger" | "geru" | "gerc" => level2::ger(&name, arguments),
        "syrk" | "herk" => level2::syrk(&name, arguments),
        "trsm" => level2::trsm(&name, arguments),
        "geam" => level2::geam(&name, arguments),
        "dgmm" => level2::dgmm(&name, arguments),
        "axpy" | "scal" => vectors::scaled(&name, arguments),
        "copy" | "swap" => vectors::moved(&name, arguments),
        "dot" | "dotu" | "dotc" => vectors::dot(&name, arguments),
        "nrm2" | "asum" => vectors::norm(&name, arguments),
        "amax" | "amin" => vectors::extreme(&name, arguments),
        _ => return None,
    };
    Some(done.map(|()| 0))
}
