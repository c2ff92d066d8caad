//! Arrays, textures and surfaces: what AMD's runtime answers on GPUs without image instructions.
//!
//! It checks arguments and then says that the GPU does not support images. No array, texture or reference can be made, so
//! functions that want one find none. GPUs that have image instructions would do more, which the emulator does not: there
//! the function is refused by name.

use super::memory::Size3;
use super::unsupported::refuse;
use super::{In, entries};
use crate::codes::{Code, finish};
use crate::runtime::lock;

/// Why a function is refused on GPUs that have them.
const WHY: &str = "images, arrays and textures: the emulator has no image instructions";

/// The first check that fails decides: index of an argument that must not be null, and what it is otherwise.
fn answer(function: &str, checks: &[(usize, Code)], arguments: [usize; 3], otherwise: Code) -> i32 {
    if has_images() {
        return refuse(function, WHY);
    }
    let failed = checks.iter().find(|(index, _)| arguments[*index] == 0);
    finish(Err(failed.map_or(otherwise, |it| it.1)))
}

fn has_images() -> bool {
    lock().device.model.target().image_instructions.value
}

/// Functions that look at nothing but whether arguments are null: checks, answer, names.
macro_rules! images {
    ($([$($index:literal: $code:ident)*] $otherwise:ident => { $($name:ident)* })*) => {
        $(images!(@ [$(($index, Code::$code)),*] $otherwise $($name)*);)*
    };
    (@ $checks:tt $otherwise:ident $($name:ident)*) => {
        $(
            /// Only the arguments that are checked matter.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(first: usize, second: usize, third: usize) -> i32 {
                answer(stringify!($name), &$checks, [first, second, third], Code::$otherwise)
            }
        )*
    };
}

images! {
    [] hipErrorNotSupported => {
        hipCreateTextureObject hipCreateSurfaceObject hipMallocMipmappedArray hipMipmappedArrayCreate
    }
    [0: hipErrorInvalidValue] hipErrorNotSupported => {
        hipUnbindTexture hipGetTextureReference hipTexRefSetFormat hipTexRefSetFlags hipTexRefSetFilterMode
        hipTexRefSetMaxAnisotropy hipTexRefSetMipmapFilterMode hipTexRefSetMipmapLevelBias
        hipTexRefSetMipmapLevelClamp
    }
    [0: hipErrorInvalidValue 1: hipErrorInvalidValue] hipErrorNotSupported => {
        hipGetTextureObjectResourceDesc hipGetTextureObjectResourceViewDesc hipGetTextureObjectTextureDesc
        hipGetTextureAlignmentOffset hipTexRefGetBorderColor hipTexRefGetFilterMode hipTexRefGetFlags
        hipTexRefGetMaxAnisotropy hipTexRefGetMipmapFilterMode hipTexRefGetMipmapLevelBias
        hipTexRefGetMipMappedArray hipTexRefSetBorderColor hipTexObjectGetResourceDesc
        hipTexObjectGetResourceViewDesc hipTexObjectGetTextureDesc
    }
    [0: hipErrorInvalidValue 1: hipErrorInvalidValue 2: hipErrorInvalidValue] hipErrorNotSupported => {
        hipTexRefGetFormat hipTexRefGetMipmapLevelClamp hipTexObjectCreate
    }
    [0: hipErrorInvalidValue 1: hipErrorInvalidHandle] hipErrorNotSupported => {
        hipGetChannelDesc
    }
    // References without a texture, which all are.
    [] hipErrorInvalidValue => {
        hipTexRefGetArray hipTexRefGetAddress
    }
    // References that no module has given out.
    [0: hipErrorInvalidValue 1: hipErrorInvalidValue] hipErrorNotFound => {
        hipTexRefSetAddress2D hipTexRefSetArray hipTexRefSetMipmappedArray
    }
    [1: hipErrorInvalidValue] hipErrorNotFound => {
        hipTexRefSetAddress
    }
    // Variables that are none of the program's.
    [] hipErrorInvalidSymbol => {
        hipBindTexture hipBindTexture2D
    }
    [0: hipErrorInvalidValue 1: hipErrorInvalidValue 2: hipErrorInvalidValue] hipErrorInvalidSymbol => {
        hipBindTextureToArray hipBindTextureToMipmappedArray
    }
    // Arrays that were never made.
    [0: hipErrorInvalidValue] hipErrorContextIsDestroyed => {
        hipArrayDestroy hipFreeArray
    }
    [] hipErrorInvalidValue => {
        hipFreeMipmappedArray hipMipmappedArrayDestroy hipMemcpyAtoA hipMemcpyAtoD hipMemcpyAtoH hipMemcpyAtoHAsync
        hipMemcpyDtoA hipMemcpyHtoA hipMemcpyHtoAAsync hipMemcpyFromArray hipMemcpyFromArray_spt hipMemcpyToArray
    }
    [1: hipErrorInvalidHandle 0: hipErrorInvalidValue] hipErrorInvalidHandle => {
        hipArrayGetDescriptor hipArray3DGetDescriptor
    }
    [0: hipErrorInvalidValue 1: hipErrorInvalidHandle] hipErrorInvalidValue => {
        hipGetMipmappedArrayLevel hipMipmappedArrayGetLevel
    }
    // Copies check their other end first and then find no array.
    [0: hipErrorInvalidHandle] hipErrorInvalidValue => {
        hipMemcpy2DToArray hipMemcpy2DToArrayAsync hipMemcpy2DToArrayAsync_spt hipMemcpy2DToArray_spt
        hipMemcpy2DArrayToArray
    }
    [0: hipErrorInvalidValue 2: hipErrorInvalidHandle] hipErrorInvalidValue => {
        hipMemcpy2DFromArray hipMemcpy2DFromArrayAsync hipMemcpy2DFromArrayAsync_spt hipMemcpy2DFromArray_spt
    }
}

/// A two-dimensional array as the driver interface describes it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Array2 {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

/// The same in three dimensions.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Array3 {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

/// Bits of four channels, and their kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Channels {
    bits: [i32; 4],
    kind: i32,
}

/// Flags of arrays: layered, for surfaces, for gathering, which is for two dimensions.
const FLAGS: u32 = 1 | 2 | 8;
const GATHER: u32 = 8;

impl Array3 {
    /// The answer to a request for an array: why it is wrong, or that there are none.
    fn refusal(&self) -> Code {
        let is_flat = self.width > 0 && self.height > 0 && self.depth == 0;
        let is_right = matches!(self.channels, 1 | 2 | 4)
            && self.flags & !FLAGS == 0
            && (self.flags & GATHER == 0 || is_flat);
        if is_right { Code::hipErrorNotSupported } else { Code::hipErrorInvalidValue }
    }
}

impl Channels {
    /// Number of channels: those that are there come first and have the same number of bits.
    fn count(&self) -> Option<u32> {
        let there = self.bits.iter().take_while(|it| **it != 0).count();
        let (first, rest) = self.bits.split_at(there);
        let is_right = there > 0 && first.iter().all(|it| *it == first[0]) && rest.iter().all(|it| *it == 0);
        is_right.then_some(there as u32)
    }
}

/// Answers with a code, unless the GPU has images.
fn say(function: &str, code: Code) -> Result<(), Code> {
    if has_images() { Err(Code(refuse(function, WHY))) } else { Err(code) }
}

/// Answers a request for an array of channels.
fn array(
    function: &str,
    place: usize,
    channels: In<Channels>,
    [width, height, depth]: [usize; 3],
    flags: u32,
) -> Result<(), Code> {
    let channels = channels.get().ok().filter(|_| place != 0).and_then(|it| it.count());
    let described = channels.map(|channels| Array3 { width, height, depth, format: 0, channels, flags });
    say(function, described.map_or(Code::hipErrorInvalidValue, |it| it.refusal()))
}

entries! {
    /// An array of the driver interface.
    fn hipArrayCreate(place: usize, wanted: In<Array2>) {
        let wanted = wanted.get().ok().filter(|_| place != 0);
        let described = wanted.map(|it| Array3 {
            width: it.width, height: it.height, depth: 0, format: it.format, channels: it.channels, flags: 0,
        });
        say("hipArrayCreate", described.map_or(Code::hipErrorInvalidValue, |it| it.refusal()))
    }

    /// The same in three dimensions.
    fn hipArray3DCreate(place: usize, wanted: In<Array3>) {
        let wanted = wanted.get().ok().filter(|_| place != 0);
        say("hipArray3DCreate", wanted.map_or(Code::hipErrorInvalidValue, |it| it.refusal()))
    }

    /// An array.
    fn hipMallocArray(place: usize, channels: In<Channels>, width: usize, height: usize, flags: u32) {
        array("hipMallocArray", place, channels, [width, height, 0], flags)
    }

    /// The same in three dimensions.
    fn hipMalloc3DArray(place: usize, channels: In<Channels>, extent: Size3, flags: u32) {
        array("hipMalloc3DArray", place, channels, [extent.x, extent.y, extent.z], flags)
    }

    /// Describes an array: there are none.
    fn hipArrayGetInfo(channels: usize, extent: usize, flags: usize, array: usize) {
        if array != 0 && channels == 0 && extent == 0 && flags == 0 && !has_images() {
            return Ok(());
        }
        say("hipArrayGetInfo", Code::hipErrorInvalidHandle)
    }

    /// No texture ends successfully.
    fn hipDestroyTextureObject = hipTexObjectDestroy(texture: usize) {
        if texture == 0 { Ok(()) } else { say("hipDestroyTextureObject", Code::hipErrorNotSupported) }
    }

    /// As above.
    fn hipDestroySurfaceObject(surface: usize) {
        if surface == 0 { Ok(()) } else { say("hipDestroySurfaceObject", Code::hipErrorInvalidValue) }
    }

    /// Sets how a dimension is addressed.
    fn hipTexRefSetAddressMode(reference: usize, dimension: i32, _mode: u32) {
        let is_right = reference != 0 && (0..=2).contains(&dimension);
        let code = if is_right { Code::hipErrorNotSupported } else { Code::hipErrorInvalidValue };
        say("hipTexRefSetAddressMode", code)
    }

    /// How a dimension is addressed.
    fn hipTexRefGetAddressMode(mode: usize, reference: usize, dimension: i32) {
        let is_right = mode != 0 && reference != 0 && (0..=2).contains(&dimension);
        let code = if is_right { Code::hipErrorNotSupported } else { Code::hipErrorInvalidValue };
        say("hipTexRefGetAddressMode", code)
    }

    /// A texture reference of a module.
    fn hipModuleGetTexRef(place: usize, module: usize, name: In<libc::c_char>) {
        let is_named = name.text().is_ok_and(|it| !it.is_empty());
        let code = match (place != 0 && is_named, module != 0) {
            (false, _) => Code::hipErrorInvalidValue,
            (true, false) => Code::hipErrorInvalidHandle,
            (true, true) => Code::hipErrorNotSupported,
        };
        say("hipModuleGetTexRef", code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_alike_and_come_first() {
        for (bits, expected) in [
            ([32, 0, 0, 0], Some(1)),
            ([8, 8, 8, 8], Some(4)),
            ([8, 16, 0, 0], None),
            ([8, 0, 8, 0], None),
            ([0; 4], None),
        ] {
            assert_eq!(Channels { bits, kind: 0 }.count(), expected, "{bits:?}");
        }
        let array =
            |channels, flags, depth| Array3 { width: 4, height: 4, depth, format: 0, channels, flags };
        for (array, is_right) in [
            (array(4, 0, 0), true),
            (array(3, 0, 0), false),
            (array(1, GATHER, 0), true),
            (array(1, GATHER, 2), false),
            (array(1, 4, 0), false),
        ] {
            assert_eq!(array.refusal() == Code::hipErrorNotSupported, is_right);
        }
    }
}
