//! Compilation at run time: the interface of `libhiprtc.so`.
//!
//! Handles are numbers the tables know; pointers that were given out stay valid until the program or link
//! they belong to is destroyed.

use super::{In, Out};
use crate::rtc::{Failure, Link, Program, VERSION};
use crate::runtime::lock;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Chars = In<libc::c_char>;

/// Programs and links by handle.
#[derive(Default)]
struct Tables {
    programs: BTreeMap<usize, Program>,
    links: BTreeMap<usize, Link>,
    last: usize,
}

static TABLES: Mutex<Option<Tables>> = Mutex::new(None);

/// Something done with the tables.
fn with<T>(work: impl FnOnce(&mut Tables) -> Result<T, Failure>) -> Result<T, Failure> {
    let mut tables: MutexGuard<'_, Option<Tables>> = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    work(tables.get_or_insert_default())
}

fn with_program<T>(
    handle: usize,
    work: impl FnOnce(&mut Program) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with(|tables| work(tables.programs.get_mut(&handle).ok_or(Failure::INVALID_PROGRAM)?))
}

impl Tables {
    fn handle(&mut self) -> usize {
        self.last += 16;
        self.last
    }
}

/// Fails if the caller passed null.
fn input<T>(result: Result<T, crate::codes::Code>) -> Result<T, Failure> {
    result.map_err(|_| Failure::INVALID_INPUT)
}

/// Texts of a list; nulls are skipped.
fn texts(list: In<Chars>, count: i32) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    for index in 0..usize::try_from(count).unwrap_or(0) {
        let place = input(list.at(index).get())?;
        all.push(place.text().unwrap_or_default());
    }
    Ok(all)
}

/// Copies bytes to where the caller has room.
///
/// # Safety
/// `place` is null or has room.
unsafe fn copy(bytes: &[u8], place: *mut u8) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::INVALID_INPUT);
    }
    // SAFETY: the caller asked for the size and made room.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
    Ok(())
}

/// Target of the GPU that is emulated.
fn own_target() -> String {
    lock().device.target_id()
}

/// Text of a result.
#[unsafe(no_mangle)]
pub extern "C" fn hiprtcGetErrorString(result: i32) -> *const libc::c_char {
    let text: &CStr = match result {
        0 => c"HIPRTC_SUCCESS",
        1 => c"HIPRTC_ERROR_OUT_OF_MEMORY",
        2 => c"HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
        3 => c"HIPRTC_ERROR_INVALID_INPUT",
        4 => c"HIPRTC_ERROR_INVALID_PROGRAM",
        5 => c"HIPRTC_ERROR_INVALID_OPTION",
        6 => c"HIPRTC_ERROR_COMPILATION",
        7 => c"HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        8 => c"HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        9 => c"HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        10 => c"HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        11 => c"HIPRTC_ERROR_INTERNAL_ERROR",
        100 => c"HIPRTC_ERROR_LINKING",
        _ => c"HIPRTC_ERROR_UNKNOWN",
    };
    text.as_ptr()
}

/// Like `entries!` of the runtime, with results of this interface.
macro_rules! rtc_entries {
    ($($(#[$note:meta])* fn $name:ident ($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$note])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> i32 {
                #[allow(clippy::redundant_closure_call, reason = "the closure gives `?` a place to go")]
                match (move || -> Result<(), Failure> { $body })() {
                    Ok(()) => 0,
                    Err(Failure(code)) => code,
                }
            }
        )*
    };
}

rtc_entries! {
    /// Version of the interface.
    fn hiprtcVersion(major: Out<i32>, minor: Out<i32>) {
        input(major.put(VERSION[0]))?;
        input(minor.put(VERSION[1]))
    }

    /// A program from its source and headers.
    fn hiprtcCreateProgram(
        place: Out<usize>, source: Chars, name: Chars, count: i32, headers: In<Chars>, names: In<Chars>,
    ) {
        if place.is_null() || count < 0 {
            return Err(Failure::INVALID_INPUT);
        }
        let (source, name, contents, names) = {
            (input(source.text())?, name.text().ok(), texts(headers, count)?, texts(names, count)?)
        };
        if names.iter().any(String::is_empty) {
            return Err(Failure::PROGRAM_CREATION);
        }
        let program = Program::new(source, name, names.into_iter().zip(contents).collect());
        with(|tables| {
            let handle = tables.handle();
            tables.programs.insert(handle, program);
            input(place.put(handle))
        })
    }

    /// Ends a program.
    fn hiprtcDestroyProgram(place: Out<usize>) {
        let handle = input(place.get())?;
        with(|tables| tables.programs.remove(&handle).map(drop).ok_or(Failure::INVALID_PROGRAM))?;
        input(place.put(0))
    }

    /// Compiles a program.
    fn hiprtcCompileProgram(program: usize, count: i32, options: In<Chars>) {
        let options = texts(options, count)?;
        let target = own_target();
        // The table is not held meanwhile: other threads compile too.
        let mut own = with_program(program, |it| Ok(std::mem::take(it)))?;
        let result = own.compile(&target, &options);
        with_program(program, |it| {
            *it = own;
            Ok(())
        })?;
        result
    }

    /// Asks for the linker name of an expression.
    fn hiprtcAddNameExpression(program: usize, expression: Chars) {
        let expression = input(expression.text())?;
        with_program(program, |it| it.add_expression(expression))
    }

    /// The linker name of an expression.
    fn hiprtcGetLoweredName(program: usize, expression: Chars, name: Out<*const libc::c_char>) {
        let expression = input(expression.text())?;
        let lowered = with_program(program, |it| it.lowered(&expression))?;
        input(name.put(lowered))
    }

    /// Output of the compiler, terminated by zero.
    fn hiprtcGetProgramLog(program: usize, place: *mut u8) {
        // SAFETY: as above.
        with_program(program, |it| unsafe { copy(&[it.log.as_bytes(), b"\0"].concat(), place) })
    }

    /// Bytes of the compiler's messages, with the zero.
    fn hiprtcGetProgramLogSize(program: usize, size: Out<usize>) {
        with_program(program, |it| input(size.put(it.log.len() + 1)))
    }

    /// The code object.
    fn hiprtcGetCode(program: usize, place: *mut u8) {
        // SAFETY: as above.
        with_program(program, |it| unsafe { copy(made(&it.code)?, place) })
    }

    /// Bytes of the code object.
    fn hiprtcGetCodeSize(program: usize, size: Out<usize>) {
        with_program(program, |it| input(size.put(made(&it.code)?.len())))
    }

    /// Bitcode, of a program compiled with `-fgpu-rdc`.
    fn hiprtcGetBitcode(program: usize, place: *mut u8) {
        // SAFETY: as above.
        with_program(program, |it| unsafe { copy(made(&it.bitcode)?, place) })
    }

    /// Bytes of the bitcode.
    fn hiprtcGetBitcodeSize(program: usize, size: Out<usize>) {
        with_program(program, |it| input(size.put(made(&it.bitcode)?.len())))
    }

    /// Something to link; options are for compilers.
    fn hiprtcLinkCreate(_count: u32, _options: Out<u32>, _values: *mut *mut c_void, place: Out<usize>) {
        with(|tables| {
            let handle = tables.handle();
            tables.links.insert(handle, Link::default());
            input(place.put(handle))
        })
    }

    /// Adds bitcode from memory.
    fn hiprtcLinkAddData(
        link: usize, kind: u32, image: *const u8, bytes: usize, _name: Chars, _count: u32, _options: Out<u32>,
        _values: *mut *mut c_void,
    ) {
        if image.is_null() || bytes == 0 || bytes > isize::MAX as usize {
            return Err(Failure::INVALID_INPUT);
        }
        // SAFETY: the program gives memory of that size.
        let data = unsafe { std::slice::from_raw_parts(image, bytes) };
        add(link, kind, data)
    }

    /// Adds bitcode from a file.
    fn hiprtcLinkAddFile(
        link: usize, kind: u32, path: Chars, _count: u32, _options: Out<u32>, _values: *mut *mut c_void,
    ) {
        let path = input(path.text())?;
        add(link, kind, &std::fs::read(path).map_err(|_| Failure::INVALID_INPUT)?)
    }

    /// Links; the code belongs to the link.
    fn hiprtcLinkComplete(link: usize, code: Out<*const u8>, bytes: Out<usize>) {
        let target = own_target();
        with(|tables| {
            let link = tables.links.get_mut(&link).ok_or(Failure::INVALID_INPUT)?;
            link.complete(&target)?;
            input(code.put(link.code.as_ptr()))?;
            input(bytes.put(link.code.len()))
        })
    }

    /// Ends a link.
    fn hiprtcLinkDestroy(link: usize) {
        with(|tables| tables.links.remove(&link).map(drop).ok_or(Failure::INVALID_INPUT))
    }
}

/// A result, if it exists.
fn made(bytes: &[u8]) -> Result<&[u8], Failure> {
    if bytes.is_empty() { Err(Failure::INVALID_PROGRAM) } else { Ok(bytes) }
}

fn add(link: usize, kind: u32, data: &[u8]) -> Result<(), Failure> {
    let target = own_target();
    with(|tables| tables.links.get_mut(&link).ok_or(Failure::INVALID_INPUT)?.add(kind, data, &target))
}
