//! Functions of the libraries around HIP that a machine without ROCm lacks: rocBLAS, hipBLAS and others.
//!
//! `host::stand_ins` writes a small library under each SONAME, whose functions all call
//! [`rockhound_library_call`] with their name and arguments. What is known here runs kernels of ours on the
//! emulated GPU; everything else returns the library's own status for it and is named.

mod arguments;
mod blas;
mod collectives;
mod dnn;
mod fft;
mod handles;
mod kernels;
mod numa;
mod objects;
mod presence;
mod random;
mod solver;
mod sparse;

use crate::codes::Code;
use crate::message::say_once;
use arguments::Arguments;
use host::session::Reliance;

/// Why a function did not do what it was called for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Problem {
    /// No handle of this library.
    Handle,
    /// A null pointer where there must be one.
    Pointer,
    /// A negative size, or a leading dimension below the number of rows.
    Size,
    /// A number that no enumeration has.
    Value,
    /// The function, or what its arguments request, is not implemented.
    Unsupported(String),
    /// The runtime refused a launch or a copy.
    Runtime(Code),
}

impl From<Code> for Problem {
    fn from(code: Code) -> Problem {
        Problem::Runtime(code)
    }
}

/// Status numbers of a family of functions.
struct Family {
    /// Beginning of the functions' names.
    prefix: &'static str,
    handle: i32,
    pointer: i32,
    size: i32,
    value: i32,
    unsupported: i32,
    memory: i32,
    runtime: i32,
}

/// Families by prefix; the first that fits counts.
const FAMILIES: [Family; 21] = [
    Family::new("rocblas_", [1, 3, 4, 11, 2, 5, 6]),
    Family::new("rocsolver_", [1, 3, 4, 11, 2, 5, 6]),
    Family::new("hipblas", [1, 3, 3, 10, 7, 2, 5]),
    Family::new("hipfft", [1, 4, 8, 4, 16, 2, 6]),
    Family::new("rocfft_", [2, 2, 2, 2, 1, 1, 1]),
    Family::new("hiprand", [101, 104, 104, 103, 1000, 102, 201]),
    Family::new("rocrand_", [101, 104, 104, 103, 108, 102, 107]),
    Family::new("hipsparse", [1, 3, 3, 3, 10, 2, 5]),
    Family::new("hipsolver", [1, 3, 3, 10, 7, 2, 5]),
    Family::new("miopen", [3, 3, 3, 2, 6, 4, 7]),
    Family::new("nccl", [4, 4, 4, 4, 5, 2, 1]),
    Family::new("hsa_", [0x1001, 0x1001, 0x1001, 0x1001, 0x1000, 0x1008, 0x1000]),
    Family::new("rsmi_", [1, 1, 1, 1, 2, 1, 1]),
    Family::new("amdsmi_", [1, 1, 1, 1, 2, 1, 1]),
    Family::new("roctracer_", [-1, -1, -1, -1, -8, -1, -1]),
    // These two return addresses. There is no such device.
    Family::new("amdgpu_get_marketing_name", [0; 7]),
    Family::new("numa_bitmask_alloc", [0; 7]),
    Family::new("drm", [-19; 7]),
    Family::new("amdgpu_", [-19; 7]),
    Family::new("numa_", [-1; 7]),
    // Of `rocprofiler_…`, the last library, and nothing else.
    Family::new("", [1, 1, 1, 1, 17, 1, 1]),
];

impl Family {
    /// Numbers for a handle, a pointer, a size, a value, what is not supported, memory, and the runtime.
    const fn new(prefix: &'static str, numbers: [i32; 7]) -> Family {
        let [handle, pointer, size, value, unsupported, memory, runtime] = numbers;
        Family { prefix, handle, pointer, size, value, unsupported, memory, runtime }
    }

    fn of(function: &str) -> &'static Family {
        FAMILIES.iter().find(|it| function.starts_with(it.prefix)).unwrap_or(&FAMILIES[FAMILIES.len() - 1])
    }

    fn status(&self, problem: &Problem) -> i32 {
        match problem {
            Problem::Handle => self.handle,
            Problem::Pointer => self.pointer,
            Problem::Size => self.size,
            Problem::Value => self.value,
            Problem::Unsupported(_) => self.unsupported,
            Problem::Runtime(Code::hipErrorOutOfMemory) => self.memory,
            Problem::Runtime(_) => self.runtime,
        }
    }
}

/// Value that a function returns: a status, or another one such as an address.
type Answer = Result<u64, Problem>;

/// Entry of every function of every stand-in library.
///
/// # Safety
/// `function` is a text that ends with a zero; `registers` and `stack` lead to the arguments as the calling
/// convention of x86-64 has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rockhound_library_call(
    function: *const libc::c_char,
    registers: *const u64,
    stack: *const u64,
) -> u64 {
    // SAFETY: as the stand-in library promises.
    let function = unsafe { std::ffi::CStr::from_ptr(function) }.to_str().unwrap_or_default();
    // SAFETY: as above.
    let mut arguments = unsafe { Arguments::new(registers, stack) };
    let answer = handles::call(function, &mut arguments)
        .or_else(|| blas::call(function, &mut arguments))
        .or_else(|| fft::call(function, &mut arguments))
        .or_else(|| dnn::call(function, &mut arguments))
        .or_else(|| solver::call(function, &mut arguments))
        .or_else(|| sparse::call(function, &mut arguments))
        .or_else(|| random::call(function, &mut arguments))
        .or_else(|| collectives::call(function, &mut arguments))
        .or_else(|| presence::call(function, &mut arguments))
        .or_else(|| numa::call(function, &mut arguments))
        .unwrap_or_else(|| Err(Problem::Unsupported("it is not implemented".to_owned())));
    match answer {
        Ok(value) => {
            note(function, "");
            value
        }
        Err(problem) => {
            if let Problem::Unsupported(why) = &problem {
                let status = Family::of(function).status(&problem);
                say_once(&format!("`{function}` returned status {status}, not supported: {why}"));
                note(function, why);
            }
            // The upper half of the register means nothing for a status.
            u64::from(Family::of(function).status(&problem).cast_unsigned())
        }
    }
}

/// Tells the command that a stand-in answered a function, or why it did not.
fn note(function: &str, refused: &str) {
    let function = function.to_owned();
    crate::message::rely(&match refused {
        "" => Reliance::StoodIn { function },
        why => Reliance::NotSupported { function, why: why.to_owned() },
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_has_its_own_numbers() {
        for (function, problem, expected) in [
            ("rocblas_sgemm", Problem::Unsupported(String::new()), 2),
            ("rocblas_sgemm", Problem::Size, 4),
            ("hipblasSgemm", Problem::Unsupported(String::new()), 7),
            ("hipblasLtMatmul", Problem::Runtime(Code::hipErrorOutOfMemory), 2),
            ("hipblasSgemm", Problem::Runtime(Code::hipErrorLaunchFailure), 5),
            ("miopenConvolutionForward", Problem::Unsupported(String::new()), 6),
            ("hiprandCreateGenerator", Problem::Value, 103),
            ("rocprofiler_force_configure", Problem::Unsupported(String::new()), 17),
        ] {
            assert_eq!(Family::of(function).status(&problem), expected, "{function} {problem:?}");
        }
    }
}
