// Kernels of the training exercises whose profiles are compared, written to their description.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

static __device__ int item(int size) {
  return size * __builtin_amdgcn_workgroup_id_x() + __builtin_amdgcn_workitem_id_x();
}

// The hardware's own addition, as the exercises are built.
static __device__ void add(double *result, double sum) {
  __builtin_amdgcn_global_atomic_fadd_f64((__attribute__((address_space(1))) double *)result, sum);
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

extern "C" __global__ __launch_bounds__(256) void fill(double *p, int value) { p[item(256)] = value; }

// A thread takes rows of A; neighbouring threads read addresses a row apart.
extern "C" __global__ __launch_bounds__(1024) void rows(double *y, double *A, double *x, int n, int m,
                                                        double *result, int threads) {
  double sum = 0.0;
  for (int i = item(64); i < n; i += threads) {
    double row = 0.0;
    for (int j = 0; j < m; j++) row += A[(long)i * m + j] * x[j];
    sum += y[i] * row;
  }
  add(result, sum);
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
  add(result, sum);
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
  add(result, sum);
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
  add(result, sum);
}

extern "C" __global__ __launch_bounds__(1024) void kept_8192(double *y, double *A, double *x, int n, int m,
                                                             double *result, int threads, int pitch, int count) {
  kept<8192>(y, A, x, n, m, result, threads, pitch, count);
}

extern "C" __global__ __launch_bounds__(1024) void kept_256(double *y, double *A, double *x, int n, int m,
                                                            double *result, int threads, int pitch, int count) {
  kept<256>(y, A, x, n, m, result, threads, pitch, count);
}

typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));

// c = a b^T for square matrices of f16, sums in f32: 128 by 128 elements by a workgroup of four waves, 64 by 64 by a wave, 32 deep.
// What comes next is loaded while matrix instructions run; rows in the LDS are padded so that lanes of a read lie in other banks.
// Both operands are taken from the same places along k, so their order there does not matter.
#define DEEP 32
#define ROW (DEEP + 8)
extern "C" __global__ __launch_bounds__(256) void tiles_f16(_Float16 const *__restrict__ a, _Float16 const *__restrict__ b,
                                                            float *__restrict__ c, int n) {
  __shared__ _Float16 left[128 * ROW], right[128 * ROW];
  int lane = __builtin_amdgcn_workitem_id_x();
  int wave = lane / 64, place = lane % 64;
  int down = 64 * (wave / 2), across = 64 * (wave % 2);
  long row = 128 * (long)__builtin_amdgcn_workgroup_id_x(), column = 128 * (long)__builtin_amdgcn_workgroup_id_y();
  // Of each operand a work-item loads 16 bytes twice: of one row, and of the one 64 below.
  int from = lane / 4, part = 8 * (lane % 4);
  _Float16 const *of_a = a + (row + from) * n + part, *of_b = b + (column + from) * n + part;
  half8 next[4] = {*(half8 *)of_a, *(half8 *)(of_a + 64l * n), *(half8 *)of_b, *(half8 *)(of_b + 64l * n)};
  float16 sum[2][2] = {};
  for (int k = 0; k < n; k += DEEP) {
    __builtin_amdgcn_s_barrier();
    *(half8 *)&left[from * ROW + part] = next[0];
    *(half8 *)&left[(from + 64) * ROW + part] = next[1];
    *(half8 *)&right[from * ROW + part] = next[2];
    *(half8 *)&right[(from + 64) * ROW + part] = next[3];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    if (k + DEEP < n) {
      of_a += DEEP, of_b += DEEP;
      next[0] = *(half8 *)of_a, next[1] = *(half8 *)(of_a + 64l * n);
      next[2] = *(half8 *)of_b, next[3] = *(half8 *)(of_b + 64l * n);
    }
#pragma unroll
    for (int step = 0; step < DEEP; step += 16) {
      int at = step + 8 * (place / 32);
      half8 x[2], y[2];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        x[i] = *(half8 *)&left[(down + 32 * i + place % 32) * ROW + at];
        y[i] = *(half8 *)&right[(across + 32 * i + place % 32) * ROW + at];
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
          sum[i][j] = __builtin_amdgcn_mfma_f32_32x32x8f16(x[i].lo, y[j].lo, sum[i][j], 0, 0, 0);
          sum[i][j] = __builtin_amdgcn_mfma_f32_32x32x8f16(x[i].hi, y[j].hi, sum[i][j], 0, 0, 0);
        }
    }
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int e = 0; e < 16; e++) {
        long r = row + down + 32 * i + 8 * (e / 4) + 4 * (place / 32) + e % 4;
        c[r * n + column + across + 32 * j + place % 32] = sum[i][j][e];
      }
}

// The sum of numbers, read by work-items that go on by all of them.
extern "C" __global__ __launch_bounds__(256) void total(double const *x, double *out, int n, int threads) {
  double sum = 0.0;
  for (int i = item(256); i < n; i += threads) sum += x[i];
  if (sum == 1.0) *out = sum;
}

// A work-item follows a chain through a table, to places all over it; workgroups take unequal numbers of steps.
extern "C" __global__ __launch_bounds__(256) void uneven(unsigned const *table, unsigned *out, int n, int most) {
  unsigned at = item(256);
  unsigned steps = 1 + __builtin_amdgcn_workgroup_id_x() * 2654435761u % (unsigned)most;
  for (unsigned step = 0; step < steps; step++) at = (at + table[at % (unsigned)n]) * 1664525u + 1013904223u;
  out[item(256)] = at;
}

// Additions of which each waits for the one before.
extern "C" __global__ __launch_bounds__(64) void dependent(float *out, float a, int passes) {
  float sum = a;
  for (int pass = 0; pass < passes; pass++)
    __asm__ volatile(".rept 512\nv_add_f32 %0, %0, %1\n.endr" : "+v"(sum) : "v"(a));
  out[item(64)] = sum;
}
