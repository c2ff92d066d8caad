// Kernels that together use every field of the descriptor and the metadata. Needs no headers or libraries.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

extern "C" __global__ void plain(float *a, const float *__restrict b, int n) {
    int i = __builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workgroup_id_x() * n;
    a[i] = b[i] * n;
}

template <class T> __device__ __attribute__((noinline)) T helper(T x) { return x * x + 1; }

template <class T> __device__ inline T inlined(T x, T y) {
    T z = x * y;
    return z + x;
}

namespace outer {
template <class T, int N> __global__ __launch_bounds__(256) void staged(T *a) {
    __shared__ T s[256];
    int i = __builtin_amdgcn_workitem_id_x() + 16 * __builtin_amdgcn_workitem_id_y();
    s[i] = inlined(a[i], T(N));
    __builtin_amdgcn_s_barrier();
    a[i] = helper(inlined(s[i ^ N], s[i]));
}
template __global__ void staged<float, 3>(float *);
template __global__ void staged<double, 1>(double *);
} // namespace outer

// Scratch through an array that is indexed at run time.
extern "C" __global__ void scratch(int *a, int n) {
    int local[64];
    for (int i = 0; i < 64; ++i) local[i] = a[i];
    for (int i = 0; i < n; ++i) local[a[i] & 63] += i;
    a[n] = local[n & 63];
}

extern "C" __global__ void three_dimensions(int *a) {
    a[__builtin_amdgcn_workitem_id_z() * 7 + __builtin_amdgcn_workgroup_id_y() + __builtin_amdgcn_workgroup_id_z()] = 1;
}

// A stack of unknown size: the target of the call is not known.
extern "C" __global__ void through_pointer(void (*f)(int *), int *a) { f(a); }

struct Wide {
    int values[9];
};
extern "C" __global__ void by_value(Wide wide, char c, long *out) { out[0] = wide.values[c & 7]; }
