// Kernels of the stand-ins for rocSOLVER and hipSOLVER: Cholesky and LU factorizations and what they solve.
// Built by build.sh for every target into one bundle. No header of ROCm is needed.
#define GLOBAL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256)))
#define DEVICE static inline __attribute__((device, always_inline))
#define SHARED __attribute__((shared))

enum { LANES = 256 };
DEVICE int lane() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Matrices one after the other, or listed by address; a workgroup for each.
struct Matrices { void *at; long stride; long is_list; };
template <class T> DEVICE T *matrix(const Matrices &m) {
  long batch = __builtin_amdgcn_workgroup_id_x();
  return m.is_list ? ((T *const *)m.at)[batch] : (T *)m.at + batch * m.stride;
}

// A = L L^T in one triangle, element (i, j) of L at `row i + column j`. `info`: 0, or the first column without a root.
struct Cholesky { Matrices a; long n, row, column; int *info; };
template <class T> DEVICE void cholesky(const Cholesky &c) {
  T *a = matrix<T>(c.a);
  int *info = c.info + __builtin_amdgcn_workgroup_id_x();
  if (lane() == 0) *info = 0;
  for (long j = 0; j < c.n; j++) {
    barrier();
    T d = a[j * (c.row + c.column)];
    barrier();
    if (!(d > 0)) {
      if (lane() == 0) *info = j + 1;
      return;
    }
    T root = __builtin_elementwise_sqrt(d);
    for (long i = j + lane(); i < c.n; i += LANES) a[i * c.row + j * c.column] = i == j ? root : a[i * c.row + j * c.column] / root;
    barrier();
    long rest = c.n - j - 1;
    for (long at = lane(); at < rest * rest; at += LANES) {
      long i = j + 1 + at % rest, k = j + 1 + at / rest;
      if (i >= k) a[i * c.row + k * c.column] -= a[i * c.row + j * c.column] * a[k * c.row + j * c.column];
    }
  }
}

// P A = L U with the largest element of each column as pivot; `pivots` count from 1, and are null without them.
struct Lu { Matrices a; long m, n, lda; int *pivots; long pivot_stride; int *info; };
template <class T> DEVICE void lu(const Lu &c) {
  SHARED static T most[LANES];
  SHARED static long where[LANES];
  T *a = matrix<T>(c.a);
  long batch = __builtin_amdgcn_workgroup_id_x(), steps = c.m < c.n ? c.m : c.n;
  if (lane() == 0) c.info[batch] = 0;
  for (long j = 0; j < steps; j++) {
    barrier();
    long pivot = j;
    if (c.pivots) {
      T best = -1;
      long at = j;
      for (long i = j + lane(); i < c.m; i += LANES) {
        T size = __builtin_elementwise_abs(a[i + j * c.lda]);
        if (size > best) best = size, at = i;
      }
      most[lane()] = best, where[lane()] = at;
      for (int half = LANES / 2; half > 0; half /= 2) {
        barrier();
        if (lane() < half) {
          T other = most[lane() + half];
          // Of equal ones the first row counts.
          if (other > most[lane()] || (other == most[lane()] && where[lane() + half] < where[lane()])) most[lane()] = other, where[lane()] = where[lane() + half];
        }
      }
      barrier();
      pivot = where[0];
      if (lane() == 0) c.pivots[batch * c.pivot_stride + j] = pivot + 1;
      if (pivot != j) for (long k = lane(); k < c.n; k += LANES) {
        T kept = a[j + k * c.lda];
        a[j + k * c.lda] = a[pivot + k * c.lda], a[pivot + k * c.lda] = kept;
      }
      barrier();
    }
    T d = a[j + j * c.lda];
    if (d == 0) {
      if (lane() == 0 && c.info[batch] == 0) c.info[batch] = j + 1;
      continue;
    }
    for (long i = j + 1 + lane(); i < c.m; i += LANES) a[i + j * c.lda] /= d;
    barrier();
    long rows = c.m - j - 1, columns = c.n - j - 1;
    for (long at = lane(); at < rows * columns; at += LANES) {
      long i = j + 1 + at % rows, k = j + 1 + at / rows;
      a[i + k * c.lda] -= a[i + j * c.lda] * a[j + k * c.lda];
    }
  }
}

// Solves T x = b for a triangle T with element (i, j) at `row i + column j`, for one column.
template <class T> DEVICE void triangle(const T *a, long row, long column, long n, bool is_lower, bool has_ones, T *x) {
  for (long step = 0; step < n; step++) {
    long i = is_lower ? step : n - 1 - step, from = is_lower ? 0 : i + 1, to = is_lower ? i : n;
    T sum = x[i];
    for (long k = from; k < to; k++) sum -= a[i * row + k * column] * x[k];
    x[i] = has_ones ? sum : sum / a[i * row + i * column];
  }
}

// From factors: with `pivots` of LU, as it is or transposed, else of Cholesky. Each work-item solves columns of b.
struct Solve { Matrices a, b; long n, columns, row, column, ldb; const int *pivots; long pivot_stride; long is_transposed, is_lu; };
template <class T> DEVICE void solve(const Solve &s) {
  const T *a = matrix<T>(s.a);
  T *b = matrix<T>(s.b);
  const int *pivots = s.pivots + __builtin_amdgcn_workgroup_id_x() * s.pivot_stride;
  for (long k = lane(); k < s.columns; k += LANES) {
    T *x = b + k * s.ldb;
    auto swap = [&](long i) {
      long p = pivots[i] - 1;
      T kept = x[i];
      x[i] = x[p], x[p] = kept;
    };
    if (!s.is_lu) {
      triangle(a, s.row, s.column, s.n, true, false, x);
      triangle(a, s.column, s.row, s.n, false, false, x);
    } else if (s.is_transposed) {
      triangle(a, s.column, s.row, s.n, true, false, x);
      triangle(a, s.column, s.row, s.n, false, true, x);
      for (long i = s.n - 1; i >= 0; i--) swap(i);
    } else {
      for (long i = 0; i < s.n; i++) swap(i);
      triangle(a, s.row, s.column, s.n, true, true, x);
      triangle(a, s.row, s.column, s.n, false, false, x);
    }
  }
}

#define FOR(NAME, T)                                                                                                   \
  GLOBAL void rockhound_solver_cholesky_##NAME(Cholesky a) { cholesky<T>(a); }                                         \
  GLOBAL void rockhound_solver_lu_##NAME(Lu a) { lu<T>(a); }                                                           \
  GLOBAL void rockhound_solver_solve_##NAME(Solve a) { solve<T>(a); }
FOR(f32, float)
FOR(f64, double)
