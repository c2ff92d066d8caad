//! Functions of the interface that are not implemented, with the reason: each says so once and returns
//! `hipErrorNotSupported`.
//!
//! A program that asks for something else hears a clear name instead of a missing symbol.

use crate::codes::{Code, finish};
use crate::message::say_once;
use host::session::Reliance;

macro_rules! unsupported {
    ($($why:literal => { $($name:ident)* })*) => {
        $($(
            /// Not implemented.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> i32 {
                refuse(stringify!($name), $why)
            }
        )*)*
    };
}

/// Says what a function does not do.
pub(super) fn refuse(function: &str, why: &str) -> i32 {
    // The command hears that the program came here.
    drop(crate::runtime::lock());
    say_once(&format!("{function} is not supported by the emulated runtime ({why})"));
    crate::message::rely(&Reliance::NotSupported { function: function.to_owned(), why: why.to_owned() });
    finish(Err(Code::hipErrorNotSupported))
}

unsupported! {
    "graphics: nothing is drawn" => {
        hipGLGetDevices hipGraphicsGLRegisterBuffer hipGraphicsGLRegisterImage
        hipGraphicsMapResources hipGraphicsResourceGetMappedPointer hipGraphicsSubResourceGetMappedArray
        hipGraphicsUnmapResources hipGraphicsUnregisterResource
    }
    "memory and semaphores of other interfaces: there are none in this process" => {
        hipDestroyExternalMemory hipDestroyExternalSemaphore hipExternalMemoryGetMappedBuffer
        hipExternalMemoryGetMappedMipmappedArray
        hipGraphAddExternalSemaphoresSignalNode hipGraphAddExternalSemaphoresWaitNode
        hipGraphExecExternalSemaphoresSignalNodeSetParams
        hipGraphExecExternalSemaphoresWaitNodeSetParams
        hipGraphExternalSemaphoresSignalNodeGetParams hipGraphExternalSemaphoresSignalNodeSetParams
        hipGraphExternalSemaphoresWaitNodeGetParams hipGraphExternalSemaphoresWaitNodeSetParams
        hipImportExternalMemory hipImportExternalSemaphore hipSignalExternalSemaphoresAsync
        hipWaitExternalSemaphoresAsync
    }
    "tracing: `rockhound profile` records what a program does" => {
        hipRegisterActivityCallback hipRegisterApiCallback hipRegisterTracerCallback hipRemoveActivityCallback
        hipRemoveApiCallback
    }
    "questions about textures in linear memory" => {
        hipDeviceGetTexture1DLinearMaxWidth
    }
}
