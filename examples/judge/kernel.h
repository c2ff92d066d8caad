// What a kernel needs of HIP, without the headers of ROCm.
#define GLOBAL extern "C" __attribute__((global))
#define DEV __attribute__((device))
#define SHARED __attribute__((shared))
static DEV unsigned thread() { return __builtin_amdgcn_workitem_id_x(); }
static DEV unsigned block() { return __builtin_amdgcn_workgroup_id_x(); }
static DEV void barrier() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); }
