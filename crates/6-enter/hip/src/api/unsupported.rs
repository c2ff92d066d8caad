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
fn refuse(function: &str, why: &str) -> i32 {
    say_once(&format!("{function} is not supported by the emulated runtime ({why})"));
    crate::message::rely(&Reliance::NotSupported { function: function.to_owned(), why: why.to_owned() });
    finish(Err(Code::hipErrorNotSupported))
}

unsupported! {
    "images and arrays: the GPUs have no texture units" => {
        hipArray3DCreate hipArray3DGetDescriptor hipArrayCreate hipArrayDestroy
        hipArrayGetDescriptor hipArrayGetInfo hipBindTexture hipBindTexture2D hipBindTextureToArray
        hipBindTextureToMipmappedArray hipCreateSurfaceObject hipCreateTextureObject
        hipDestroySurfaceObject hipDestroyTextureObject hipDeviceGetTexture1DLinearMaxWidth
        hipExternalMemoryGetMappedMipmappedArray hipFreeArray hipFreeMipmappedArray
        hipGetChannelDesc hipGetMipmappedArrayLevel hipGetTextureAlignmentOffset
        hipGetTextureObjectResourceDesc hipGetTextureObjectResourceViewDesc
        hipGetTextureObjectTextureDesc hipGetTextureReference hipGraphicsSubResourceGetMappedArray
        hipMalloc3DArray hipMallocArray hipMallocMipmappedArray hipMemMapArrayAsync
        hipMemcpy2DArrayToArray hipMemcpy2DFromArray hipMemcpy2DFromArrayAsync
        hipMemcpy2DFromArrayAsync_spt hipMemcpy2DFromArray_spt hipMemcpy2DToArray
        hipMemcpy2DToArrayAsync hipMemcpy2DToArrayAsync_spt hipMemcpy2DToArray_spt hipMemcpyAtoA
        hipMemcpyAtoD hipMemcpyAtoH hipMemcpyAtoHAsync hipMemcpyDtoA hipMemcpyFromArray
        hipMemcpyFromArray_spt hipMemcpyHtoA hipMemcpyHtoAAsync hipMemcpyToArray
        hipMipmappedArrayCreate hipMipmappedArrayDestroy hipMipmappedArrayGetLevel
        hipModuleGetTexRef hipTexObjectCreate hipTexObjectDestroy hipTexObjectGetResourceDesc
        hipTexObjectGetResourceViewDesc hipTexObjectGetTextureDesc hipTexRefGetAddress
        hipTexRefGetAddressMode hipTexRefGetArray hipTexRefGetBorderColor hipTexRefGetFilterMode
        hipTexRefGetFlags hipTexRefGetFormat hipTexRefGetMaxAnisotropy hipTexRefGetMipMappedArray
        hipTexRefGetMipmapFilterMode hipTexRefGetMipmapLevelBias hipTexRefGetMipmapLevelClamp
        hipTexRefSetAddress hipTexRefSetAddress2D hipTexRefSetAddressMode hipTexRefSetArray
        hipTexRefSetBorderColor hipTexRefSetFilterMode hipTexRefSetFlags hipTexRefSetFormat
        hipTexRefSetMaxAnisotropy hipTexRefSetMipmapFilterMode hipTexRefSetMipmapLevelBias
        hipTexRefSetMipmapLevelClamp hipTexRefSetMipmappedArray hipUnbindTexture
    }
    "graphics: nothing is drawn" => {
        hipGLGetDevices hipGraphicsGLRegisterBuffer hipGraphicsGLRegisterImage
        hipGraphicsMapResources hipGraphicsResourceGetMappedPointer hipGraphicsUnmapResources
        hipGraphicsUnregisterResource
    }
    "memory and semaphores of other interfaces: there are none in this process" => {
        hipDestroyExternalMemory hipDestroyExternalSemaphore hipExternalMemoryGetMappedBuffer
        hipGraphAddExternalSemaphoresSignalNode hipGraphAddExternalSemaphoresWaitNode
        hipGraphExecExternalSemaphoresSignalNodeSetParams
        hipGraphExecExternalSemaphoresWaitNodeSetParams
        hipGraphExternalSemaphoresSignalNodeGetParams hipGraphExternalSemaphoresSignalNodeSetParams
        hipGraphExternalSemaphoresWaitNodeGetParams hipGraphExternalSemaphoresWaitNodeSetParams
        hipImportExternalMemory hipImportExternalSemaphore hipSignalExternalSemaphoresAsync
        hipWaitExternalSemaphoresAsync
    }
    "memory between processes: each has its own emulated GPU" => {
        hipIpcCloseMemHandle hipIpcGetEventHandle hipIpcGetMemHandle hipIpcOpenEventHandle
        hipIpcOpenMemHandle hipMemExportToShareableHandle hipMemGetHandleForAddressRange
        hipMemImportFromShareableHandle hipMemPoolExportPointer hipMemPoolExportToShareableHandle
        hipMemPoolImportFromShareableHandle hipMemPoolImportPointer
    }
    "virtual memory: allocations have one address for their life" => {
        hipMemAddressFree hipMemAddressReserve hipMemCreate hipMemGetAccess
        hipMemGetAllocationGranularity hipMemGetAllocationPropertiesFromHandle hipMemMap
        hipMemRelease hipMemRetainAllocationHandle hipMemSetAccess hipMemUnmap
    }
    "graphs: nodes of this kind, or attributes of nodes" => {
        hipDrvGraphAddMemFreeNode hipDrvGraphAddMemcpyNode hipDrvGraphAddMemsetNode
        hipDrvGraphExecMemcpyNodeSetParams hipDrvGraphExecMemsetNodeSetParams
        hipDrvGraphMemcpyNodeGetParams hipDrvGraphMemcpyNodeSetParams hipGraphAddBatchMemOpNode
        hipGraphAddMemAllocNode hipGraphAddMemFreeNode hipGraphAddNode
        hipGraphBatchMemOpNodeGetParams hipGraphBatchMemOpNodeSetParams hipGraphDebugDotPrint
        hipGraphExecBatchMemOpNodeSetParams hipGraphExecChildGraphNodeSetParams
        hipGraphExecNodeSetParams hipGraphKernelNodeCopyAttributes hipGraphKernelNodeGetAttribute
        hipGraphKernelNodeSetAttribute hipGraphMemAllocNodeGetParams hipGraphMemFreeNodeGetParams
        hipGraphNodeSetParams hipGraphReleaseUserObject hipGraphRetainUserObject
        hipStreamBeginCaptureToGraph
    }
    "captures: their dependencies cannot be changed" => {
        hipStreamGetCaptureInfo_v2 hipStreamGetCaptureInfo_v2_spt hipStreamUpdateCaptureDependencies
    }
    "launches on several GPUs at once" => {
        hipExtLaunchMultiKernelMultiDevice hipLaunchCooperativeKernelMultiDevice
        hipModuleLaunchCooperativeKernelMultiDevice
    }
    "tracing: `rockhound profile` records what a program does" => {
        hipRegisterActivityCallback hipRegisterApiCallback hipRemoveActivityCallback
        hipRemoveApiCallback
    }
    "linking at run time: `hiprtcLink…` does this" => {
        hipLinkAddData hipLinkAddFile hipLinkComplete hipLinkCreate hipLinkDestroy
    }
    "advice on memory is not kept" => {
        hipMemRangeGetAttribute hipMemRangeGetAttributes
    }
    "objects that graphs own" => {
        hipUserObjectCreate hipUserObjectRelease hipUserObjectRetain
    }
    "attributes of streams have no meaning here" => {
        hipExtStreamGetCUMask hipStreamBatchMemOp hipStreamGetAttribute hipStreamSetAttribute
    }
    "copies in this form" => {
        hipDrvMemcpy3D hipDrvMemcpy3DAsync hipMemcpy3DBatchAsync hipMemcpy3DPeer
        hipMemcpy3DPeerAsync hipMemcpyBatchAsync hipMemsetD2D16Async hipMemsetD2D32Async
        hipMemsetD2D8Async
    }
}
