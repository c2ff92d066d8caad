// Host code of a source whose kernels are compiled: it has to be read and is never run.
#pragma once
// Sources ask by this name whether HIP's header was included.
#define HIP_INCLUDE_HIP_HIP_RUNTIME_API_H
#pragma clang system_header

#include <rockhound_any.h>
// Sizes of these are those of the runtime: classes that kernels take may have them.
typedef enum hipError_t { hipSuccess = 0 } hipError_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
// Properties of a GPU that programs print and divide by.
struct hipDeviceProp_t {
  __rh_any name, gcnArchName, gcnArch, major, minor, totalGlobalMem, totalConstMem, sharedMemPerBlock, sharedMemPerMultiprocessor,
      maxSharedMemoryPerMultiProcessor, regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsDim,
      maxGridSize, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor, multiProcessorCount, clockRate, memoryClockRate,
      memoryBusWidth, clockInstructionRate, l2CacheSize, computeMode, concurrentKernels, cooperativeLaunch, canMapHostMemory,
      managedMemory, concurrentManagedAccess, unifiedAddressing, integrated, isMultiGpuBoard, isLargeBar, pciDomainID, pciBusID,
      pciDeviceID, asyncEngineCount, asicRevision, ECCEnabled, kernelExecTimeoutEnabled, memPitch, textureAlignment, arch;
};
// Handles whose size programs ask for.
struct hipIpcMemHandle_t { char reserved[64]; };
struct hipIpcEventHandle_t { char reserved[64]; };
int __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds = 0, __rh_any stream = 0);
#define hipLaunchKernelGGL(kernel, grid, block, lds, stream, ...) (kernel)<<<(grid), (block), (lds), (stream)>>>(__VA_ARGS__)
