// Kernels of the training exercises whose profiles are compared, written to their description.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

static __device__ int item(int size) {
  return size * __builtin_amdgcn_workgroup_id_x() + __builtin_amdgcn_workitem_id_x();
}

__constant__ double a = 1.0;

extern "C" __global__ __launch_bounds__(256) void daxpy(int n, double const *x, int incx, double *y, int incy) {
  int i = item(256);
  if (i < n)
    for (int pass = 0; pass < 20; pass++) y[i] = a * x[i] + y[i];
}

extern "C" __global__ __launch_bounds__(256) void daxpy_restrict(int n, double const *__restrict__ x, int incx,
                                                                 double *__restrict__ y, int incy) {
  int i = item(256);
  if (i < n)
    for (int pass = 0; pass < 20; pass++) y[i] = a * x[i] + y[i];
}

// A thread takes rows of A; neighbouring threads read addresses a row apart.
extern "C" __global__ __launch_bounds__(1024) void rows(double *y, double *A, double *x, int n, int m,
                                                        double *result, int threads) {
  double sum = 0.0;
  for (int i = item(64); i < n; i += threads) {
    double row = 0.0;
    for (int j = 0; j < m; j++) row += A[(long)i * m + j] * x[j];
    sum += y[i] * row;
  }
  __hip_atomic_fetch_add(result, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// The same with the matrix stored by columns: neighbouring threads read neighbouring addresses.
extern "C" __global__ __launch_bounds__(256) void columns(double *y, double *A, double *x, int n, int m,
                                                          double *result, int threads) {
  double sum = 0.0;
  for (int i = item(64); i < n; i += threads) {
    double row = 0.0;
    for (int j = 0; j < m; j++) row += A[(long)j * n + i] * x[j];
    sum += y[i] * row;
  }
  __hip_atomic_fetch_add(result, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
