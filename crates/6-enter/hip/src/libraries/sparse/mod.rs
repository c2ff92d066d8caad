//! hipSPARSE: products with sparse matrices, sparse vectors, conversions and sorts, of the generic interface and of the
//! older one with its types in the names.

mod convert;
mod elements;
mod generic;
mod legacy;
mod objects;

use super::blas::{Factor, Handle, Type, put};
use super::{Answer, Arguments, Problem};

/// Version that programs are told: 4.0.0.
const VERSION: i32 = 400_000;

/// A function of the library; `None` for others.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let name = function.strip_prefix("hipsparse")?;
    let text = |text: &'static std::ffi::CStr| Some(Ok(text.as_ptr().expose_provenance() as u64));
    let done = match name {
        "GetErrorName" | "GetErrorString" => return text(status(arguments.int())),
        "GetVersion" => Handle::take(arguments).and_then(|_| put(arguments.address(), VERSION)),
        "SetPointerMode" => pointer_mode(arguments),
        "GetPointerMode" => {
            Handle::take(arguments).and_then(|it| put(arguments.address(), i32::from(it.on_gpu)))
        }
        _ => {
            if let Some(answer) = objects::describe(name, arguments) {
                return Some(answer);
            }
            return objects::call(name, arguments)
                .or_else(|| generic::call(name, arguments))
                .or_else(|| convert::call(name, arguments))
                .or_else(|| legacy::call(name, arguments))
                .map(|done| done.map(|()| 0));
        }
    };
    Some(done.map(|()| 0))
}

fn pointer_mode(arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, mode) = (arguments.address(), arguments.int());
    match mode {
        0 | 1 => Handle::change(number, |it| it.on_gpu = mode == 1),
        _ => Err(Problem::Value),
    }
}

fn status(status: i32) -> &'static std::ffi::CStr {
    match status {
        0 => c"HIPSPARSE_STATUS_SUCCESS",
        1 => c"HIPSPARSE_STATUS_NOT_INITIALIZED",
        2 => c"HIPSPARSE_STATUS_ALLOC_FAILED",
        3 => c"HIPSPARSE_STATUS_INVALID_VALUE",
        4 => c"HIPSPARSE_STATUS_ARCH_MISMATCH",
        5 => c"HIPSPARSE_STATUS_MAPPING_ERROR",
        6 => c"HIPSPARSE_STATUS_EXECUTION_FAILED",
        7 => c"HIPSPARSE_STATUS_INTERNAL_ERROR",
        8 => c"HIPSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
        9 => c"HIPSPARSE_STATUS_ZERO_PIVOT",
        10 => c"HIPSPARSE_STATUS_NOT_SUPPORTED",
        11 => c"HIPSPARSE_STATUS_INSUFFICIENT_RESOURCES",
        _ => c"<undefined hipsparseStatus_t value>",
    }
}

/// The type that a name begins with, and the rest.
fn letter(name: &str) -> Option<(Type, &str)> {
    let (letter, rest) = name.split_at_checked(1)?;
    let of = match letter {
        "S" => Type::F32,
        "D" => Type::F64,
        "C" => Type::C32,
        "Z" => Type::C64,
        _ => return None,
    };
    Some((of, rest))
}

/// Answers how much scratch memory an operation needs: none.
fn no_memory(arguments: &mut Arguments, skipped: usize) -> Result<(), Problem> {
    Handle::take(arguments)?;
    arguments.skip(skipped);
    put(arguments.address(), 0usize)
}

fn size(arguments: &mut Arguments) -> Result<i64, Problem> {
    let size = i64::from(arguments.int());
    if size < 0 { Err(Problem::Size) } else { Ok(size) }
}

fn factor(at: usize, of: Type, handle: &Handle) -> Result<Factor, Problem> {
    // SAFETY: addresses of factors as the headers say.
    unsafe { Factor::read(at, of, handle.on_gpu) }
}
