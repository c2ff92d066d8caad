// y = a x + y, twenty times over the same elements, with and without `__restrict__`.
//
// The promise that x and y do not overlap lets the compiler keep both elements in registers; without it every pass must
// load x and y again, because the store before might have changed x.
//
//   examples/program.sh daxpy && rockhound profile -- target/examples/daxpy
//
// What the counters must be, per wave (an access of 8 bytes per lane is one access per lane and a tag look-up per quad):
//   SQ_INSTS_VALU_FMA_F64              20, one per pass, in both
//   may alias:  TCP_TOTAL_READ       1344 = 64 * (20 of x + 1 of y): y is what the pass before stored
//               TCP_TOTAL_WRITE      1280 = 64 * 20
//               TCP_TOTAL_CACHE_ACCESSES  656 = 16 * 41
//   restrict:   TCP_TOTAL_READ        128 = 64 * 2, TCP_TOTAL_WRITE 64, TCP_TOTAL_CACHE_ACCESSES 48 = 16 * 3
// These are the numbers a real MI200 shows for this kernel.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

constexpr int PASSES = 20;
__constant__ double a = 1.0;

__global__ void daxpy(int n, double const *x, int incx, double *y, int incy) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n)
    for (int pass = 0; pass < PASSES; pass++) y[i] = a * x[i] + y[i];
}

__global__ void daxpy_restrict(int n, double const *__restrict__ x, int incx, double *__restrict__ y, int incy) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n)
    for (int pass = 0; pass < PASSES; pass++) y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  std::vector<double> x(n), y(n), result(n);
  for (int i = 0; i < n; i++) { x[i] = i % 1000; y[i] = i % 7; }
  double *dx, *dy;
  OK(hipMalloc(&dx, n * sizeof(double)));
  OK(hipMalloc(&dy, n * sizeof(double)));
  OK(hipMemcpy(dx, x.data(), n * sizeof(double), hipMemcpyHostToDevice));
  int wrong = 0;
  for (auto kernel : {daxpy, daxpy_restrict}) {
    OK(hipMemcpy(dy, y.data(), n * sizeof(double), hipMemcpyHostToDevice));
    kernel<<<(n + 255) / 256, 256>>>(n, dx, 1, dy, 1);
    OK(hipGetLastError());
    OK(hipMemcpy(result.data(), dy, n * sizeof(double), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) wrong += result[i] != y[i] + PASSES * x[i];
  }
  OK(hipFree(dx));
  OK(hipFree(dy));
  printf("%d of %d elements are wrong\n", wrong, 2 * n);
  return wrong != 0;
}
