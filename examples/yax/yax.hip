// result = y^T A x in five variants that differ in how threads are laid over the matrix.
//
//   rows          a thread takes a row: neighbouring threads read addresses a row apart
//   rows_lds      as rows; the first elements of x are copied to the LDS: 64 KiB (all of it) or 2 KiB
//   rows_assert   as rows, with an assert, which costs registers
//   columns       as rows with the matrix stored by columns: neighbouring threads read neighbouring addresses
//   row_per_wave  a workgroup takes a row, its 64 threads the elements, and adds up in the LDS
//
//   examples/program.sh yax && rockhound profile -- target/examples/yax rows 512
//   arguments: variant, n, workgroups (2048)
//
// What the counters must be (n rows and columns, n a multiple of 64; workgroups are one wave, at least n / 64 of them):
//   w = n / 64 waves have rows, and each element of A is loaded once, 64 at a time: n w loads, 8 bytes per lane
//   TCP_TOTAL_READ   64 per load. rows, columns: 64 (n w + w) with the load of y; x[j] is the same for all lanes and read
//                    by scalar loads. row_per_wave: 64 elements of A and of x at a time: 128 n w, and y[i] is read by one
//                    lane or by a scalar load
//                    rows_lds: the compiler loads two elements of A at once, 16 bytes per lane, still one access per lane:
//                    64 (n w / 2 + w), and every workgroup copies what it keeps of x
//   TCP_TOTAL_CACHE_ACCESSES  rows: no two lanes of a load of A share a line: 64 n w, and 16 w for y;
//                    columns: 16 n w + 16 w; row_per_wave: 32 n w
//   SQ_INSTS_VALU_FMA_F64  rows, columns: n w + w
//   atomics          on gfx942 and later the compiler lets one lane of a wave add for all 64: TCP_TOTAL_ATOMIC_WITHOUT_RET w
//                    and as many look-ups; on gfx90a every lane adds: 64 w and 16 w look-ups. row_per_wave: n
//   SQ_INSTS_LDS     row_per_wave, per row: 1 write, then 6 halvings with a read of both halves and a write, which are two
//                    reads in the last, and the read of the sum: 1 + 12 + 1 + 1 = 15
#include <hip/hip_runtime.h>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

constexpr int SIZE = 64;

__device__ size_t first() { return threadIdx.x + size_t(blockIdx.x) * SIZE; }
__device__ size_t stride() { return size_t(SIZE) * gridDim.x; }

__global__ void rows(double *y, double *A, double *x, int n, int m, double *result) {
  double sum = 0.0;
  for (size_t i = first(); i < n; i += stride()) {
    double row = 0.0;
    for (int j = 0; j < m; j++) row += A[i * m + j] * x[j];
    sum += y[i] * row;
  }
  if (first() < n) unsafeAtomicAdd(result, sum);
}

template <int KEPT>
__global__ void rows_lds(double *y, double *A, double *x, int n, int m, double *result) {
  __shared__ double kept[KEPT];
  for (int j = threadIdx.x; j < KEPT && j < m; j += SIZE) kept[j] = x[j];
  __syncthreads();
  double sum = 0.0;
  for (size_t i = first(); i < n; i += stride()) {
    double row = 0.0;
    for (int j = 0; j < m && j < KEPT; j++) row += A[i * m + j] * kept[j];
    for (int j = KEPT; j < m; j++) row += A[i * m + j] * x[j];
    sum += y[i] * row;
  }
  if (first() < n) unsafeAtomicAdd(result, sum);
}

__global__ void rows_assert(double *y, double *A, double *x, int n, int m, double *result) {
  double sum = 0.0;
  for (size_t i = first(); i < n; i += stride()) {
    double row = 0.0;
    for (int j = 0; j < m; j++) row += A[i * m + j] * x[j];
    assert(row >= 0.0);
    sum += y[i] * row;
  }
  if (first() < n) unsafeAtomicAdd(result, sum);
}

__global__ void __launch_bounds__(256) columns(double *y, double *A, double *x, int n, int m, double *result) {
  double sum = 0.0;
  for (size_t i = first(); i < n; i += stride()) {
    double row = 0.0;
    for (int j = 0; j < m; j++) row += A[size_t(j) * n + i] * x[j];
    sum += y[i] * row;
  }
  if (first() < n) unsafeAtomicAdd(result, sum);
}

__global__ void __launch_bounds__(SIZE) row_per_wave(double *y, double *A, double *x, int n, int m, double *result) {
  __shared__ double partial[SIZE];
  for (size_t i = blockIdx.x; i < n; i += gridDim.x) {
    double row = 0.0;
    for (int j = threadIdx.x; j < m; j += SIZE) row += A[i * m + j] * x[j];
    partial[threadIdx.x] = row;
    __syncthreads();
    for (int half = SIZE / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
      __syncthreads();
    }
    if (threadIdx.x == 0) unsafeAtomicAdd(result, y[i] * partial[0]);
    __syncthreads();
  }
}

using Kernel = void (*)(double *, double *, double *, int, int, double *);
struct { const char *name; Kernel kernel; } const VARIANTS[] = {
    {"rows", rows},       {"lds_64k", rows_lds<8192>}, {"lds_2k", rows_lds<256>}, {"assert", rows_assert},
    {"columns", columns}, {"row_per_wave", row_per_wave},
};

int main(int argc, char **argv) {
  const char *variant = argc > 1 ? argv[1] : "rows";
  int n = argc > 2 ? atoi(argv[2]) : 1024;
  int workgroups = argc > 3 ? atoi(argv[3]) : 2048;
  Kernel kernel = nullptr;
  for (auto &known : VARIANTS) if (!strcmp(known.name, variant)) kernel = known.kernel;
  if (!kernel) { printf("no variant %s\n", variant); return 2; }
  bool by_columns = kernel == (Kernel)columns;
  double *A, *x, *y, *result;
  OK(hipHostMalloc((void **)&A, size_t(n) * n * sizeof(double), 0));
  OK(hipHostMalloc((void **)&x, n * sizeof(double), 0));
  OK(hipHostMalloc((void **)&y, n * sizeof(double), 0));
  OK(hipHostMalloc((void **)&result, sizeof(double), 0));
  *result = 0.0;
  // Small whole numbers, different in every row and column: sums are exact whatever their order.
  double expected = 0.0;
  for (int i = 0; i < n; i++) { x[i] = i % 5; y[i] = i % 3; }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double a = (3 * i + j) % 11;
      A[by_columns ? j * n + i : i * n + j] = a;
      expected += y[i] * a * x[j];
    }
  kernel<<<workgroups, SIZE>>>(y, A, x, n, n, result);
  OK(hipGetLastError());
  OK(hipDeviceSynchronize());
  printf("y^T A x = %.0f, expected %.0f\n", *result, expected);
  return *result != expected;
}
