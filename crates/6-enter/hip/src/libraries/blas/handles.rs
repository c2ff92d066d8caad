//! Handles, their settings, and copies between host and GPU.

use super::{Answer, Arguments, Problem};
use crate::libraries::kernels;
use crate::libraries::objects::Objects;
pub(in crate::libraries) use crate::libraries::objects::put;
use crate::work::{Copy3, Place};

/// Settings of a handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::libraries) struct Handle {
    pub(in crate::libraries) stream: usize,
    /// Factors and results are on the GPU.
    pub(in crate::libraries) on_gpu: bool,
    math: i32,
    atomics: i32,
}

static HANDLES: Objects<Handle> = Objects::numbered_from(0x1000);

impl Handle {
    /// The handle that is the next argument.
    pub(in crate::libraries) fn take(arguments: &mut Arguments) -> Result<Handle, Problem> {
        Handle::of(arguments.address())
    }

    /// The handle with a number.
    pub(in crate::libraries) fn of(number: usize) -> Result<Handle, Problem> {
        HANDLES.find(number)
    }

    /// Changes a handle.
    pub(in crate::libraries) fn change(
        number: usize,
        change: impl FnOnce(&mut Handle),
    ) -> Result<(), Problem> {
        HANDLES.change(number, change)
    }

    /// Makes one; its number looks like an address and leads nowhere.
    pub(in crate::libraries) fn create() -> usize {
        HANDLES.add(Handle::default())
    }

    pub(in crate::libraries) fn destroy(number: usize) -> Result<(), Problem> {
        HANDLES.remove(number)
    }
}

/// Handles and copies by name; `None` for other functions.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let text = |text: &'static std::ffi::CStr| Some(Ok(text.as_ptr().expose_provenance() as u64));
    let done = match function {
        "rocblas_create_handle" | "hipblasCreate" | "hipblasLtCreate" => {
            HANDLES.create(arguments.address(), Handle::default()).map(drop)
        }
        "rocblas_destroy_handle" | "hipblasDestroy" | "hipblasLtDestroy" => {
            Handle::destroy(arguments.address())
        }
        // Kernels are loaded when they are first needed.
        "rocblas_initialize" => Ok(()),
        "rocblas_status_to_string" => return text(rocblas_status(arguments.int())),
        "hipblasStatusToString" => return text(hipblas_status(arguments.int())),
        "rocblas_get_version_string_size" => put(arguments.address(), VERSION.len()),
        "rocblas_get_version_string" => version(arguments),
        "rocblas_pointer_to_mode" => {
            let on_gpu = crate::runtime::lock().allocations.find(arguments.address()).is_some();
            return Some(Ok(u64::from(on_gpu)));
        }
        // Work space is the caller's matter; these kernels need none.
        "rocblas_set_workspace" | "hipblasSetWorkspace" => Handle::take(arguments).map(|_| ()),
        _ => return setting(function, arguments).or_else(|| copy(function, arguments)),
    };
    Some(done.map(|()| 0))
}

/// Version that programs are told, with its final zero.
const VERSION: &[u8] = b"5.0.0.0\0";

fn version(arguments: &mut Arguments) -> Result<(), Problem> {
    let (at, room) = (arguments.address(), arguments.address());
    if room < VERSION.len() {
        return Err(Problem::Size);
    }
    VERSION.iter().enumerate().try_for_each(|(index, byte)| put(at + index, *byte))
}

/// Reads or writes a setting of a handle.
fn setting(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let lower = function.to_ascii_lowercase().replace('_', "");
    let rest = lower.strip_prefix("rocblas").or_else(|| lower.strip_prefix("hipblas"))?;
    let (is_set, what) = match (rest.strip_prefix("set"), rest.strip_prefix("get")) {
        (Some(what), _) => (true, what),
        (None, Some(what)) => (false, what),
        (None, None) => return None,
    };
    if !["stream", "pointermode", "mathmode", "atomicsmode"].contains(&what) {
        return None;
    }
    let (number, value) = (arguments.address(), arguments.word());
    let change = || {
        let mut handles = HANDLES.lock();
        let handle = handles.get_mut(&number).ok_or(Problem::Handle)?;
        match (is_set, what) {
            (true, "stream") => handle.stream = value as usize,
            (true, "pointermode") => match value as u32 {
                0 => handle.on_gpu = false,
                1 => handle.on_gpu = true,
                _ => return Err(Problem::Value),
            },
            (true, "mathmode") => handle.math = value as i32,
            (true, _) => handle.atomics = value as i32,
            (false, "stream") => put(value as usize, handle.stream)?,
            (false, "pointermode") => put(value as usize, i32::from(handle.on_gpu))?,
            (false, "mathmode") => put(value as usize, handle.math)?,
            (false, _) => put(value as usize, handle.atomics)?,
        }
        Ok(0)
    };
    Some(change())
}

/// Copies of vectors and matrices with steps.
fn copy(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let lower = function.to_ascii_lowercase().replace('_', "");
    let rest = lower.strip_prefix("rocblas").or_else(|| lower.strip_prefix("hipblas"))?;
    let is_wide = rest.ends_with("64");
    let rest = rest.strip_suffix("64").unwrap_or(rest);
    let (rest, is_async) = rest.strip_suffix("async").map_or((rest, false), |rest| (rest, true));
    let is_matrix = match rest {
        "setvector" | "getvector" => false,
        "setmatrix" | "getmatrix" => true,
        _ => return None,
    };
    let size = |arguments: &mut Arguments| {
        let size = if is_wide { arguments.long() } else { i64::from(arguments.int()) };
        usize::try_from(size).map_err(|_| Problem::Size)
    };
    let mut work = || {
        let rows = if is_matrix { size(arguments)? } else { 1 };
        let (count, bytes) = (size(arguments)?, size(arguments)?);
        let (from, from_step) = (arguments.address(), size(arguments)?);
        let (to, to_step) = (arguments.address(), size(arguments)?);
        let stream = if is_async { arguments.address() } else { 0 };
        if rows == 0 || count == 0 {
            return Ok(0);
        }
        if from == 0 || to == 0 {
            return Err(Problem::Pointer);
        }
        if from_step < rows || to_step < rows || bytes == 0 {
            return Err(Problem::Size);
        }
        let all = |count: usize| count.checked_mul(bytes).ok_or(Problem::Size);
        let to = Place { address: to, pitch: all(to_step)?, slice: 0 };
        let from = Place { address: from, pitch: all(from_step)?, slice: 0 };
        let copy = Copy3 { to, from, width: all(rows)?, height: count, depth: 1 };
        kernels::copy(stream, copy).map(|()| 0)
    };
    Some(work())
}

fn rocblas_status(status: i32) -> &'static std::ffi::CStr {
    match status {
        0 => c"rocblas_status_success",
        1 => c"rocblas_status_invalid_handle",
        2 => c"rocblas_status_not_implemented",
        3 => c"rocblas_status_invalid_pointer",
        4 => c"rocblas_status_invalid_size",
        5 => c"rocblas_status_memory_error",
        6 => c"rocblas_status_internal_error",
        11 => c"rocblas_status_invalid_value",
        _ => c"<undefined rocblas_status value>",
    }
}

fn hipblas_status(status: i32) -> &'static std::ffi::CStr {
    match status {
        0 => c"HIPBLAS_STATUS_SUCCESS",
        1 => c"HIPBLAS_STATUS_NOT_INITIALIZED",
        2 => c"HIPBLAS_STATUS_ALLOC_FAILED",
        3 => c"HIPBLAS_STATUS_INVALID_VALUE",
        4 => c"HIPBLAS_STATUS_MAPPING_ERROR",
        5 => c"HIPBLAS_STATUS_EXECUTION_FAILED",
        6 => c"HIPBLAS_STATUS_INTERNAL_ERROR",
        7 => c"HIPBLAS_STATUS_NOT_SUPPORTED",
        10 => c"HIPBLAS_STATUS_INVALID_ENUM",
        _ => c"<undefined hipblasStatus_t value>",
    }
}
