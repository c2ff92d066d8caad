// Kernels of growing arithmetic intensity: each thread loads eight elements and works on each for a number of iterations.
//
//   examples/program.sh mixbench && rockhound profile -- target/examples/mixbench
//   rockhound analyze -p workloads/mixbench/MI300X -b 4 16.3
//
// Where the time goes moves from memory to arithmetic with the iterations: the roofline with its bend, one kernel per
// point. What the counters must be, per wave, whatever the iterations:
//   SQ_INSTS_VMEM_RD  8, SQ_INSTS_VMEM_WR 0: the store behind the comparison is never taken
//   TCP_TOTAL_READ    short, float, int, two halves: 128 = 8 * 16; double: 512 = 8 * 64
//   TCP_TOTAL_CACHE_ACCESSES  32 = 8 * 4; 128 = 8 * 16
// and with i iterations SQ_INSTS_VALU_FMA_F64 of double, _FMA_F32 of float and _FMA_F16 of two halves (a packed instruction
// counts once): 8 i for the iterations and 4 for the sum of products.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

constexpr int SIZE = 256;
constexpr int EACH = 8;

typedef _Float16 half2_ __attribute__((ext_vector_type(2)));

template <class T> __device__ T mad(T a, T b, T c) { return a * b + c; }
template <> __device__ double mad(double a, double b, double c) { return fma(a, b, c); }
template <> __device__ float mad(float a, float b, float c) { return fmaf(a, b, c); }
template <> __device__ half2_ mad(half2_ a, half2_ b, half2_ c) { return __builtin_elementwise_fma(a, b, c); }
template <class T> __device__ bool never(T a) { return a == T(-1); }
template <> __device__ bool never(half2_ a) { return a.x == -1; }

template <class T, unsigned ITERATIONS>
__global__ void __launch_bounds__(SIZE) mix(T seed, T *data) {
  const unsigned id = blockIdx.x * SIZE * EACH + threadIdx.x;
  T values[EACH];
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    values[i] = data[id + i * SIZE];
#pragma unroll 64
    for (int j = 0; j < ITERATIONS; j++) values[i] = mad(values[i], values[i], seed);
  }
  T sum = T();
#pragma unroll
  for (int i = 0; i < EACH; i += 2) sum = mad(values[i], values[i + 1], sum);
  if (never(sum)) data[id] = sum;
}

template <class T, unsigned ITERATIONS>
static int launch(int workgroups) {
  size_t count = size_t(workgroups) * SIZE * EACH;
  T *data;
  OK(hipMalloc(&data, count * sizeof(T)));
  OK(hipMemset(data, 0, count * sizeof(T)));
  T seed;
  OK(hipMemcpy(&seed, data, sizeof(T), hipMemcpyDeviceToHost));
  mix<T, ITERATIONS><<<workgroups, SIZE>>>(seed, data);
  OK(hipGetLastError());
  // All values are and stay 0: 0 * 0 + 0.
  char bytes[sizeof(T) * 8];
  OK(hipMemcpy(bytes, data, sizeof bytes, hipMemcpyDeviceToHost));
  OK(hipFree(data));
  int wrong = 0;
  for (char byte : bytes) wrong += byte != 0;
  return wrong;
}

template <class T>
static int all(int workgroups) {
  return launch<T, 0>(workgroups) + launch<T, 1>(workgroups) + launch<T, 8>(workgroups) + launch<T, 32>(workgroups);
}

int main(int argc, char **argv) {
  int workgroups = argc > 1 ? atoi(argv[1]) : 256;
  int wrong = all<short>(workgroups) + all<float>(workgroups) + all<double>(workgroups) + all<int>(workgroups) +
              all<half2_>(workgroups);
  printf("%d bytes are wrong\n", wrong);
  return wrong != 0;
}
