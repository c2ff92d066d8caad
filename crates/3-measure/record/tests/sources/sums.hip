// Sums whose bits depend on the order of their terms: each work-item adds several numbers of very different size to one
// of four sums, and the first of each workgroup looks at a sum in the middle of it.
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

extern "C" __global__ void sums(float* sum, double* wide, float* seen, const float* in, int n) {
    __shared__ float tile[64];
    int lane = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x();
    for (int i = 64 * group + lane; i < n; i += 1024) {
        tile[lane] = in[i];
        __builtin_amdgcn_s_barrier();
        float value = tile[lane ^ 1] * static_cast<float>(1 + 1000 * (lane & 1));
        __hip_atomic_fetch_add(sum + (lane & 3), value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __hip_atomic_fetch_add(wide, static_cast<double>(value), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
    if (lane == 0 && group % 3 == 1) {
        seen[group] = *static_cast<volatile float*>(sum);
    }
    __hip_atomic_fetch_add(sum, 0.1f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
