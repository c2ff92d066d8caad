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

// The same by rows that stand `pitch` apart, of which only the first `m` elements are added up.
extern "C" __global__ __launch_bounds__(1024) void pitched(double *y, double *A, double *x, int n, int m,
                                                           double *result, int threads, int pitch) {
  double sum = 0.0;
  for (int i = item(64); i < n; i += threads) {
    double row = 0.0;
    for (int j = 0; j < m; j++) row += A[(long)i * pitch + j] * x[j];
    sum += y[i] * row;
  }
  __hip_atomic_fetch_add(result, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// The first `kept` elements of x are kept in the LDS, which has room for `size`.
template <int size>
static __device__ void kept(double *y, double *A, double *x, int n, int m, double *result, int threads, int pitch,
                            int kept) {
  __attribute__((shared)) static double part[size];
  for (int j = __builtin_amdgcn_workitem_id_x(); j < kept; j += 64) part[j] = x[j];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  double sum = 0.0;
  for (int i = item(64); i < n; i += threads) {
    double row = 0.0;
    for (int j = 0; j < m; j++) row += A[(long)i * pitch + j] * (j < kept ? part[j] : x[j]);
    sum += y[i] * row;
  }
  __hip_atomic_fetch_add(result, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" __global__ __launch_bounds__(1024) void kept_8192(double *y, double *A, double *x, int n, int m,
                                                             double *result, int threads, int pitch, int count) {
  kept<8192>(y, A, x, n, m, result, threads, pitch, count);
}

extern "C" __global__ __launch_bounds__(1024) void kept_256(double *y, double *A, double *x, int n, int m,
                                                            double *result, int threads, int pitch, int count) {
  kept<256>(y, A, x, n, m, result, threads, pitch, count);
}
