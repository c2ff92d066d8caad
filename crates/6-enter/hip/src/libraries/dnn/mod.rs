//! MIOpen: convolutions in all directions, pooling, batch normalization, activations, softmax, reductions, and
//! operations on tensors of up to five axes, by one algorithm each.
//!
//! Kernels read tensors by the steps of their axes, so every layout is taken. Recurrent nets, dropout and the
//! backward passes of all but convolutions are not implemented.

mod convolution;
mod fusion;
mod layers;
mod objects;
mod tensors;

use super::blas::put;
use super::{Answer, Arguments, Problem, kernels};
use objects::{Tensor, Type};

/// The version whose functions these are.
const VERSION: [usize; 3] = [3, 3, 0];

/// A function of MIOpen; `None` for others and for what is not implemented.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let name = function.strip_prefix("miopen")?;
    if name == "GetErrorString" {
        return Some(Ok(error(arguments.int()).as_ptr().expose_provenance() as u64));
    }
    let done = match name {
        "GetVersion" => VERSION.iter().try_for_each(|it| put(arguments.address(), *it)),
        _ => objects::call(name, arguments)
            .or_else(|| convolution::call(name, arguments))
            .or_else(|| layers::call(name, arguments))
            .or_else(|| tensors::call(name, arguments))
            .or_else(|| fusion::call(name, arguments))?,
    };
    Some(done.map(|()| 0))
}

fn error(status: i32) -> &'static std::ffi::CStr {
    match status {
        0 => c"miopenStatusSuccess",
        1 => c"miopenStatusNotInitialized",
        2 => c"miopenStatusInvalidValue",
        3 => c"miopenStatusBadParm",
        4 => c"miopenStatusAllocFailed",
        5 => c"miopenStatusInternalError",
        6 => c"miopenStatusNotImplemented",
        _ => c"miopenStatusUnknownError",
    }
}

/// A tensor with its contents.
#[derive(Clone, Copy)]
struct Operand {
    tensor: Tensor,
    address: usize,
}

impl Operand {
    /// The next two arguments: descriptor and address.
    fn take(arguments: &mut Arguments) -> Result<Operand, Problem> {
        let tensor = objects::tensor(arguments.address())?;
        let address = arguments.address();
        if address == 0 { Err(Problem::Pointer) } else { Ok(Operand { tensor, address }) }
    }
}

/// Arguments of a kernel, as its structure has them.
struct Packed(Vec<u8>);

impl Packed {
    fn new() -> Packed {
        Packed(Vec::with_capacity(512))
    }

    fn tensor(mut self, it: &Operand) -> Packed {
        let words = std::iter::once(it.address as i64).chain(it.tensor.sizes).chain(it.tensor.steps);
        words.for_each(|word| self.0.extend(word.to_le_bytes()));
        self
    }

    fn address(mut self, it: usize) -> Packed {
        self.0.extend(it.to_le_bytes());
        self
    }

    fn double(mut self, it: f64) -> Packed {
        self.0.extend(it.to_le_bytes());
        self
    }

    fn int(mut self, it: i32) -> Packed {
        self.0.extend(it.to_le_bytes());
        self
    }

    fn ints(self, all: &[i32]) -> Packed {
        all.iter().fold(self, |packed, it| packed.int(*it))
    }

    /// Runs a kernel with a work-item for each of `count` elements.
    fn launch(self, stream: usize, kernel: &str, of: Type, count: i64) -> Result<(), Problem> {
        let groups = u64::try_from(count).map_err(|_| Problem::Size)?.div_ceil(256);
        if groups == 0 {
            return Ok(());
        }
        kernels::launch(stream, &format!("rockhound_dnn_{kernel}_{}", of.name()), [groups, 1, 1], self.0)
    }
}

/// A factor at an address of the host: a float, or a double for tensors of doubles.
fn factor(at: usize, of: Type) -> Result<f64, Problem> {
    if at == 0 {
        return Err(Problem::Pointer);
    }
    let place = std::ptr::with_exposed_provenance::<u8>(at);
    // SAFETY: the program gives a number of this type.
    Ok(unsafe {
        match of {
            Type::F64 => place.cast::<f64>().read_unaligned(),
            _ => f64::from(place.cast::<f32>().read_unaligned()),
        }
    })
}

/// Numbers at an address of the host.
fn ints(at: usize, count: usize) -> Result<Vec<i32>, Problem> {
    if at == 0 {
        return Err(Problem::Pointer);
    }
    let place = std::ptr::with_exposed_provenance::<i32>(at);
    // SAFETY: the program gives as many as it says.
    Ok((0..count).map(|it| unsafe { place.add(it).read_unaligned() }).collect())
}

/// Writes numbers one after the other.
fn put_all(at: usize, all: impl IntoIterator<Item = i32>) -> Result<(), Problem> {
    all.into_iter().enumerate().try_for_each(|(index, it)| match at {
        0 => Err(Problem::Pointer),
        at => put(at.wrapping_add(4 * index), it),
    })
}

/// Writes numbers to the next arguments.
fn put_each(arguments: &mut Arguments, all: impl IntoIterator<Item = i32>) -> Result<(), Problem> {
    all.into_iter().try_for_each(|it| put(arguments.address(), it))
}
