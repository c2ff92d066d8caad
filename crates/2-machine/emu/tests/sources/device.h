// Replaces HIP's headers for kernels compiled without them.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
typedef unsigned int u32;
typedef unsigned long u64;
static __device__ u32 thread_x() { return __builtin_amdgcn_workitem_id_x(); }
static __device__ u32 thread_y() { return __builtin_amdgcn_workitem_id_y(); }
static __device__ u32 block_x() { return __builtin_amdgcn_workgroup_id_x(); }
static __device__ u32 block_y() { return __builtin_amdgcn_workgroup_id_y(); }
static __device__ u32 block_size() { return __builtin_amdgcn_workgroup_size_x(); }
static __device__ u32 global_x() { return block_x() * block_size() + thread_x(); }
static __device__ void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
