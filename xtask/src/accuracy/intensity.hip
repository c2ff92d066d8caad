// Kernels of growing arithmetic intensity, written to their description: a thread loads eight elements and works on each for a
// number of iterations; the store is never taken. `iterations` of each type that is compared are kernels `mix_TYPE_ITERATIONS`.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define EACH 8
#define SIZE 256

typedef _Float16 half2_ __attribute__((ext_vector_type(2)));
typedef float float2_ __attribute__((ext_vector_type(2)));

template <class T> __device__ T mad(T a, T b, T c) { return __builtin_elementwise_fma(a, b, c); }
// The recorded kernels have two vector instructions per iteration here: the multiplication stands by itself.
template <> __device__ int mad(int a, int b, int c) {
  int product;
  asm("v_mul_lo_u32 %0, %1, %2" : "=v"(product) : "v"(a), "v"(b));
  return product + c;
}
template <class T> __device__ bool never(T a) { return a == T(-1); }
template <> __device__ bool never(half2_ a) { return a.x == -1 && a.y == -1; }
template <> __device__ bool never(float2_ a) { return a.x == -1 && a.y == -1; }

template <class T, unsigned ITERATIONS> static __device__ void mix(T *data, int zero) {
  unsigned id = __builtin_amdgcn_workgroup_id_x() * SIZE * EACH + __builtin_amdgcn_workitem_id_x();
  T seed = T(zero), values[EACH];
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    values[i] = data[id + i * SIZE];
#pragma unroll 64
    for (int j = 0; j < ITERATIONS; j++) values[i] = mad(values[i], values[i], seed);
  }
  T sum = T(0);
#pragma unroll
  for (int i = 0; i < EACH; i += 2) sum = mad(values[i], values[i + 1], sum);
  if (never(sum)) data[id] = sum;
}

#define KERNEL(name, type, iterations)                                                                                 \
  extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(1, SIZE))) void mix_##name##_##iterations(        \
      type *data, int zero) {                                                                                          \
    mix<type, iterations>(data, zero);                                                                                 \
  }
#define KERNELS(name, type)                                                                                            \
  KERNEL(name, type, 0) KERNEL(name, type, 1) KERNEL(name, type, 4) KERNEL(name, type, 8)                            \
  KERNEL(name, type, 16) KERNEL(name, type, 32) KERNEL(name, type, 64) KERNEL(name, type, 128)
KERNELS(float, float)
KERNELS(float2, float2_)
KERNELS(double, double)
KERNELS(__half2, half2_)
KERNELS(int, int)
