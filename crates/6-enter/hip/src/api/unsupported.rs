//! Functions of the interface that are not implemented: each says so once and returns `hipErrorNotSupported`.
//!
//! A program that asks for something else hears a clear name instead of a missing symbol.

use crate::codes::{Code, finish};
use crate::message::say_once;

macro_rules! unsupported {
    ($($name:ident)*) => {
        $(
            /// Not implemented.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> i32 {
                say_once(concat!(stringify!($name), " is not supported by the emulated runtime"));
                finish(Err(Code::hipErrorNotSupported))
            }
        )*
    };
}

unsupported! {
    hipArray3DCreate hipArray3DGetDescriptor hipArrayCreate hipArrayDestroy hipArrayGetDescriptor
    hipArrayGetInfo hipBindTexture hipBindTexture2D hipBindTextureToArray
    hipBindTextureToMipmappedArray hipConfigureCall hipCreateSurfaceObject hipCreateTextureObject
    hipCtxDisablePeerAccess hipCtxEnablePeerAccess hipCtxGetApiVersion hipCtxGetFlags
    hipDestroyExternalMemory hipDestroyExternalSemaphore hipDestroySurfaceObject
    hipDestroyTextureObject hipDeviceGetGraphMemAttribute hipDeviceGetP2PAttribute
    hipDeviceGetTexture1DLinearMaxWidth hipDeviceGraphMemTrim hipDeviceSetGraphMemAttribute
    hipDrvGraphAddMemFreeNode hipDrvGraphAddMemcpyNode hipDrvGraphAddMemsetNode
    hipDrvGraphExecMemcpyNodeSetParams hipDrvGraphExecMemsetNodeSetParams
    hipDrvGraphMemcpyNodeGetParams hipDrvGraphMemcpyNodeSetParams hipDrvMemcpy2DUnaligned
    hipDrvMemcpy3D hipDrvMemcpy3DAsync hipExtGetLinkTypeAndHopCount
    hipExtLaunchMultiKernelMultiDevice hipExtStreamGetCUMask hipExternalMemoryGetMappedBuffer
    hipExternalMemoryGetMappedMipmappedArray hipFreeArray hipFreeMipmappedArray hipGLGetDevices
    hipGetChannelDesc hipGetMipmappedArrayLevel hipGetTextureAlignmentOffset
    hipGetTextureObjectResourceDesc hipGetTextureObjectResourceViewDesc
    hipGetTextureObjectTextureDesc hipGetTextureReference hipGraphAddBatchMemOpNode
    hipGraphAddExternalSemaphoresSignalNode hipGraphAddExternalSemaphoresWaitNode
    hipGraphAddMemAllocNode hipGraphAddMemFreeNode hipGraphAddNode hipGraphBatchMemOpNodeGetParams
    hipGraphBatchMemOpNodeSetParams hipGraphDebugDotPrint hipGraphExecBatchMemOpNodeSetParams
    hipGraphExecChildGraphNodeSetParams hipGraphExecExternalSemaphoresSignalNodeSetParams
    hipGraphExecExternalSemaphoresWaitNodeSetParams hipGraphExecNodeSetParams
    hipGraphExternalSemaphoresSignalNodeGetParams hipGraphExternalSemaphoresSignalNodeSetParams
    hipGraphExternalSemaphoresWaitNodeGetParams hipGraphExternalSemaphoresWaitNodeSetParams
    hipGraphKernelNodeCopyAttributes hipGraphKernelNodeGetAttribute hipGraphKernelNodeSetAttribute
    hipGraphMemAllocNodeGetParams hipGraphMemFreeNodeGetParams hipGraphNodeSetParams
    hipGraphReleaseUserObject hipGraphRetainUserObject hipGraphicsGLRegisterBuffer
    hipGraphicsGLRegisterImage hipGraphicsMapResources hipGraphicsResourceGetMappedPointer
    hipGraphicsSubResourceGetMappedArray hipGraphicsUnmapResources hipGraphicsUnregisterResource
    hipImportExternalMemory hipImportExternalSemaphore hipIpcCloseMemHandle hipIpcGetEventHandle
    hipIpcGetMemHandle hipIpcOpenEventHandle hipIpcOpenMemHandle hipLaunchByPtr
    hipLaunchCooperativeKernelMultiDevice hipLinkAddData hipLinkAddFile hipLinkComplete
    hipLinkCreate hipLinkDestroy hipMalloc3DArray hipMallocArray hipMallocMipmappedArray
    hipMemAddressFree hipMemAddressReserve hipMemAdvise_v2 hipMemCreate
    hipMemExportToShareableHandle hipMemGetAccess hipMemGetAllocationGranularity
    hipMemGetAllocationPropertiesFromHandle hipMemGetHandleForAddressRange
    hipMemImportFromShareableHandle hipMemMap hipMemMapArrayAsync hipMemPoolExportPointer
    hipMemPoolExportToShareableHandle hipMemPoolGetAccess hipMemPoolGetAttribute
    hipMemPoolImportFromShareableHandle hipMemPoolImportPointer hipMemPrefetchAsync_v2
    hipMemRangeGetAttribute hipMemRangeGetAttributes hipMemRelease hipMemRetainAllocationHandle
    hipMemSetAccess hipMemUnmap hipMemcpy2DArrayToArray hipMemcpy2DFromArray
    hipMemcpy2DFromArrayAsync hipMemcpy2DFromArrayAsync_spt hipMemcpy2DFromArray_spt
    hipMemcpy2DToArray hipMemcpy2DToArrayAsync hipMemcpy2DToArrayAsync_spt hipMemcpy2DToArray_spt
    hipMemcpy3DBatchAsync hipMemcpy3DPeer hipMemcpy3DPeerAsync hipMemcpyAtoA hipMemcpyAtoD
    hipMemcpyAtoH hipMemcpyAtoHAsync hipMemcpyBatchAsync hipMemcpyDtoA hipMemcpyFromArray
    hipMemcpyFromArray_spt hipMemcpyHtoA hipMemcpyHtoAAsync hipMemcpyParam2D hipMemcpyParam2DAsync
    hipMemcpyToArray hipMemsetD2D16Async hipMemsetD2D32Async hipMemsetD2D8Async
    hipMipmappedArrayCreate hipMipmappedArrayDestroy hipMipmappedArrayGetLevel hipModuleGetTexRef
    hipModuleLaunchCooperativeKernelMultiDevice hipRegisterActivityCallback hipRegisterApiCallback
    hipRemoveActivityCallback hipRemoveApiCallback hipSetupArgument hipSignalExternalSemaphoresAsync
    hipStreamBatchMemOp hipStreamBeginCaptureToGraph hipStreamGetAttribute
    hipStreamGetCaptureInfo_v2 hipStreamGetCaptureInfo_v2_spt hipStreamSetAttribute
    hipStreamUpdateCaptureDependencies hipStreamWaitValue32 hipStreamWaitValue64
    hipStreamWriteValue32 hipStreamWriteValue64 hipTexObjectCreate hipTexObjectDestroy
    hipTexObjectGetResourceDesc hipTexObjectGetResourceViewDesc hipTexObjectGetTextureDesc
    hipTexRefGetAddress hipTexRefGetAddressMode hipTexRefGetArray hipTexRefGetBorderColor
    hipTexRefGetFilterMode hipTexRefGetFlags hipTexRefGetFormat hipTexRefGetMaxAnisotropy
    hipTexRefGetMipMappedArray hipTexRefGetMipmapFilterMode hipTexRefGetMipmapLevelBias
    hipTexRefGetMipmapLevelClamp hipTexRefSetAddress hipTexRefSetAddress2D hipTexRefSetAddressMode
    hipTexRefSetArray hipTexRefSetBorderColor hipTexRefSetFilterMode hipTexRefSetFlags
    hipTexRefSetFormat hipTexRefSetMaxAnisotropy hipTexRefSetMipmapFilterMode
    hipTexRefSetMipmapLevelBias hipTexRefSetMipmapLevelClamp hipTexRefSetMipmappedArray
    hipUnbindTexture hipUserObjectCreate hipUserObjectRelease hipUserObjectRetain
    hipWaitExternalSemaphoresAsync
}
