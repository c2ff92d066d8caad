// Kernels of the stand-in libraries: matrix products, vectors, element-wise matrices.
// Built by build.sh for every target into one bundle. No header of ROCm is needed.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE static inline __attribute__((device, always_inline))
#define SHARED __attribute__((shared))

typedef _Float16 f16;
typedef f16 f16x4 __attribute__((ext_vector_type(4)));
typedef short i16x4 __attribute__((ext_vector_type(4)));
typedef short i16x2 __attribute__((ext_vector_type(2)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef double f64x4 __attribute__((ext_vector_type(4)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef signed char i8;
struct bf16 { unsigned short bits; };
template <class T> struct complex { T re, im; };

DEVICE int lane_x() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE int group_x() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE int group_y() { return __builtin_amdgcn_workgroup_id_y(); }
DEVICE int group_z() { return __builtin_amdgcn_workgroup_id_z(); }
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Numbers as they are computed with: the type that products of a storage type are added in.
DEVICE float wide(float x) { return x; }
DEVICE double wide(double x) { return x; }
DEVICE float wide(f16 x) { return (float)x; }
DEVICE int wide(i8 x) { return x; }
DEVICE int wide(int x) { return x; }
DEVICE complex<float> wide(complex<float> x) { return x; }
DEVICE complex<double> wide(complex<double> x) { return x; }
DEVICE float wide(bf16 x) { return __builtin_bit_cast(float, (unsigned)x.bits << 16); }

DEVICE void narrow(float x, float &to) { to = x; }
DEVICE void narrow(double x, double &to) { to = x; }
DEVICE void narrow(float x, f16 &to) { to = (f16)x; }
DEVICE void narrow(int x, int &to) { to = x; }
template <class T> DEVICE void narrow(complex<T> x, complex<T> &to) { to = x; }
DEVICE void narrow(float x, bf16 &to) {
  unsigned bits = __builtin_bit_cast(unsigned, x);
  // Round to nearest even; a NaN stays one.
  to.bits = x != x ? (bits >> 16) | 0x40 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

template <class T> DEVICE complex<T> operator+(complex<T> a, complex<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> DEVICE complex<T> operator*(complex<T> a, complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> DEVICE T conjugate(T x, int) { return x; }
template <class T> DEVICE complex<T> conjugate(complex<T> x, int yes) { return {x.re, yes ? -x.im : x.im}; }
DEVICE bool is_zero(float x) { return x == 0; }
DEVICE bool is_zero(double x) { return x == 0; }
DEVICE bool is_zero(int x) { return x == 0; }
template <class T> DEVICE bool is_zero(complex<T> x) { return x.re == 0 && x.im == 0; }

// A factor: given by value, or by address on the GPU with its type.
enum { BY_VALUE, F32, F64, F16, BF16, I32, C32, C64 };
struct Factor { double re, im; const void *at; long kind; };

DEVICE complex<double> pair(Factor f) {
  switch (f.kind) {
  case F32: return {*(const float *)f.at, 0};
  case F64: return {*(const double *)f.at, 0};
  case F16: return {(double)*(const f16 *)f.at, 0};
  case BF16: return {wide(*(const bf16 *)f.at), 0};
  case I32: return {(double)*(const int *)f.at, 0};
  case C32: return {((const float *)f.at)[0], ((const float *)f.at)[1]};
  case C64: return {((const double *)f.at)[0], ((const double *)f.at)[1]};
  default: return {f.re, f.im};
  }
}
DEVICE void take(Factor f, float &to) { to = (float)pair(f).re; }
DEVICE void take(Factor f, double &to) { to = pair(f).re; }
DEVICE void take(Factor f, int &to) { to = (int)pair(f).re; }
template <class T> DEVICE void take(Factor f, complex<T> &to) {
  complex<double> p = pair(f);
  to = {(T)p.re, (T)p.im};
}

// A matrix or vector of a batch: elements `row` and `column` apart; `batch` elements apart, or each behind a
// pointer of a list. `conjugate` takes the conjugate of each element.
struct Matrix { void *at; long row, column, batch; int is_list, conjugate; };

template <class T> DEVICE T *start(const Matrix &m, int batch) {
  return m.is_list ? ((T **)m.at)[batch] + m.batch : (T *)m.at + batch * m.batch;
}

enum { RELU = 1, GELU = 2, BIAS = 4, KEEP = 8, LOWER = 16, UPPER = 32 };

struct Gemm {
  Matrix a, b, c, d;
  Factor alpha, beta;
  const void *bias;
  void *kept;
  long bias_kind, bias_batch, kept_column, kept_batch;
  const float *scale_a, *scale_b, *scale_d;
  int m, n, k, epilogue;
};

template <class T> DEVICE T activate(T x, int) { return x; }
DEVICE float activate(float x, int epilogue) {
  if (epilogue & RELU) return x > 0 ? x : 0;
  if (epilogue & GELU) {
    float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    // tanh(y) = 1 - 2 / (exp(2 y) + 1)
    float e = __builtin_amdgcn_exp2f(2.885390082f * inner);
    return x * (1.0f - 1.0f / (e + 1.0f));
  }
  return x;
}
DEVICE float at_kind(const void *list, long kind, long index) {
  switch (kind) {
  case F16: return wide(((const f16 *)list)[index]);
  case BF16: return wide(((const bf16 *)list)[index]);
  default: return ((const float *)list)[index];
  }
}
template <class T> DEVICE T biased(T x, const Gemm &, int, int) { return x; }
DEVICE float biased(float x, const Gemm &g, int row, int batch) {
  return g.epilogue & BIAS ? x + at_kind(g.bias, g.bias_kind, row + batch * g.bias_batch) : x;
}
template <class T> DEVICE T scaled(T x, const float *) { return x; }
DEVICE float scaled(float x, const float *by) { return by ? x * *by : x; }

// One element of the result, from the sum of its products.
template <class Out, class Sum> DEVICE void finish(const Gemm &g, int row, int column, int batch, Sum sum) {
  if (row >= g.m || column >= g.n) return;
  if (((g.epilogue & LOWER) && row < column) || ((g.epilogue & UPPER) && row > column)) return;
  Sum alpha, beta;
  take(g.alpha, alpha);
  take(g.beta, beta);
  Sum x = scaled(scaled(alpha * sum, g.scale_a), g.scale_b);
  if (!is_zero(beta)) x = x + beta * wide(start<Out>(g.c, batch)[row * g.c.row + column * g.c.column]);
  x = biased(x, g, row, batch);
  if (g.epilogue & KEEP) narrow(x, ((Out *)g.kept)[row + column * g.kept_column + batch * g.kept_batch]);
  narrow(scaled(activate(x, g.epilogue), g.scale_d), start<Out>(g.d, batch)[row * g.d.row + column * g.d.column]);
}

// Matrix instructions of 16 by 16 results. `EACH` consecutive values along k are in one lane; the order along k
// is free as long as both operands have the same. `row` is the row of the result in element `i` of a lane.
template <class In> struct Tile;
template <> struct Tile<f16> {
  enum { EACH = 4, DEPTH = 32, PAD = 4 };
  typedef f32x4 Sum;
  DEVICE int row(int lane, int i) { return lane / 16 * 4 + i; }
  DEVICE Sum multiply(const f16 *a, const f16 *b, Sum c) {
    return __builtin_amdgcn_mfma_f32_16x16x16f16(*(const f16x4 *)a, *(const f16x4 *)b, c, 0, 0, 0);
  }
};
template <> struct Tile<bf16> {
  enum { EACH = 4, DEPTH = 32, PAD = 4 };
  typedef f32x4 Sum;
  DEVICE int row(int lane, int i) { return lane / 16 * 4 + i; }
  DEVICE Sum multiply(const bf16 *a, const bf16 *b, Sum c) {
#ifdef __gfx908__
    const i16x2 *p = (const i16x2 *)a, *q = (const i16x2 *)b;
    c = __builtin_amdgcn_mfma_f32_16x16x8bf16(p[0], q[0], c, 0, 0, 0);
    return __builtin_amdgcn_mfma_f32_16x16x8bf16(p[1], q[1], c, 0, 0, 0);
#else
    return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(*(const i16x4 *)a, *(const i16x4 *)b, c, 0, 0, 0);
#endif
  }
};
template <> struct Tile<float> {
  enum { EACH = 1, DEPTH = 16, PAD = 1 };
  typedef f32x4 Sum;
  DEVICE int row(int lane, int i) { return lane / 16 * 4 + i; }
  DEVICE Sum multiply(const float *a, const float *b, Sum c) {
    return __builtin_amdgcn_mfma_f32_16x16x4f32(*a, *b, c, 0, 0, 0);
  }
};
template <> struct Tile<i8> {
#if defined(__gfx908__) || defined(__gfx90a__)
  enum { EACH = 4, DEPTH = 64, PAD = 4 };
  DEVICE i32x4 multiply(const i8 *a, const i8 *b, i32x4 c) {
    return __builtin_amdgcn_mfma_i32_16x16x16i8(*(const int *)a, *(const int *)b, c, 0, 0, 0);
  }
#else
  enum { EACH = 8, DEPTH = 64, PAD = 8 };
  DEVICE i32x4 multiply(const i8 *a, const i8 *b, i32x4 c) {
    return __builtin_amdgcn_mfma_i32_16x16x32_i8(*(const long *)a, *(const long *)b, c, 0, 0, 0);
  }
#endif
  typedef i32x4 Sum;
  DEVICE int row(int lane, int i) { return lane / 16 * 4 + i; }
};
#ifndef __gfx908__
template <> struct Tile<double> {
  enum { EACH = 1, DEPTH = 16, PAD = 1 };
  typedef f64x4 Sum;
  DEVICE int row(int lane, int i) { return lane / 16 + i * 4; }
  DEVICE Sum multiply(const double *a, const double *b, Sum c) {
    return __builtin_amdgcn_mfma_f64_16x16x4f64(*a, *b, c, 0, 0, 0);
  }
};
#endif

enum { SIDE = 64 };

// Brings SIDE rows of DEPTH values into the LDS; zero where the matrix ends.
template <class In, int DEPTH, int STEP>
DEVICE void bring(In *lds, const In *from, long across, long along, int first, int end, int k, int depth) {
  // Neighbouring work-items read neighbouring addresses.
  bool rows = across == 1;
  for (int i = lane_x(); i < SIDE * DEPTH; i += 256) {
    int row = rows ? i % SIDE : i / DEPTH, at = rows ? i / SIDE : i % DEPTH;
    In value{};
    if (first + row < end && k + at < depth) value = from[(first + row) * across + (k + at) * along];
    lds[row * STEP + at] = value;
  }
}

// 64 by 64 results by four waves, each 32 by 32.
template <class In, class Out> DEVICE void multiply(const Gemm &g) {
  typedef Tile<In> T;
  enum { STEP = T::DEPTH + T::PAD };
  SHARED static In a[SIDE * STEP], b[SIDE * STEP];
  int lane = lane_x() % 64, wave = lane_x() / 64, batch = group_z();
  int m = group_x() * SIDE, n = group_y() * SIDE;
  int wave_m = wave % 2 * 32, wave_n = wave / 2 * 32;
  const In *from_a = start<In>(g.a, batch), *from_b = start<In>(g.b, batch);
  typename T::Sum sums[2][2] = {};
  for (int k = 0; k < g.k; k += T::DEPTH) {
    bring<In, T::DEPTH, STEP>(a, from_a, g.a.row, g.a.column, m, g.m, k, g.k);
    bring<In, T::DEPTH, STEP>(b, from_b, g.b.column, g.b.row, n, g.n, k, g.k);
    barrier();
    for (int at = lane / 16 * T::EACH; at < T::DEPTH; at += 4 * T::EACH)
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
          sums[i][j] = T::multiply(a + (wave_m + i * 16 + lane % 16) * STEP + at,
                                   b + (wave_n + j * 16 + lane % 16) * STEP + at, sums[i][j]);
    barrier();
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int e = 0; e < 4; e++)
        finish<Out>(g, m + wave_m + i * 16 + T::row(lane, e), n + wave_n + j * 16 + lane % 16, batch, sums[i][j][e]);
}

// One result for each work-item, 16 by 16 for each workgroup, where no matrix instruction has the type.
template <class T> DEVICE void multiply_plain(const Gemm &g) {
  int row = group_x() * 16 + lane_x() % 16, column = group_y() * 16 + lane_x() / 16, batch = group_z();
  if (row >= g.m || column >= g.n) return;
  const T *a = start<T>(g.a, batch) + row * g.a.row, *b = start<T>(g.b, batch) + column * g.b.column;
  T sum{};
  for (int k = 0; k < g.k; k++)
    sum = sum + conjugate(a[k * g.a.column], g.a.conjugate) * conjugate(b[k * g.b.row], g.b.conjugate);
  finish<T>(g, row, column, batch, sum);
}

#define GEMM(name, in, out) \
  GLOBAL __attribute__((amdgpu_flat_work_group_size(256, 256))) void name(Gemm g) { multiply<in, out>(g); }
#define PLAIN(name, type) \
  GLOBAL __attribute__((amdgpu_flat_work_group_size(256, 256))) void name(Gemm g) { multiply_plain<type>(g); }
GEMM(rockhound_gemm_f32, float, float)
GEMM(rockhound_gemm_f16, f16, f16)
GEMM(rockhound_gemm_f16_f32, f16, float)
GEMM(rockhound_gemm_bf16, bf16, bf16)
GEMM(rockhound_gemm_bf16_f32, bf16, float)
GEMM(rockhound_gemm_i8_i32, i8, int)
#ifdef __gfx908__
PLAIN(rockhound_gemm_f64_plain, double)
#else
GEMM(rockhound_gemm_f64, double, double)
#endif
PLAIN(rockhound_gemm_c32_plain, complex<float>)
PLAIN(rockhound_gemm_c64_plain, complex<double>)

// Vectors. Negative steps count from the end, which the host has added to the address.
struct Vectors { Matrix x, y; Factor alpha, beta; void *result; long result_step; long n; };

DEVICE long index() { return (long)group_x() * 256 + lane_x(); }

template <class T> DEVICE void axpy(const Vectors &v) {
  typedef decltype(wide(T{})) W;
  if (index() >= v.n) return;
  W alpha;
  take(v.alpha, alpha);
  T *y = start<T>(v.y, group_y()) + index() * v.y.row;
  narrow(alpha * wide(start<T>(v.x, group_y())[index() * v.x.row]) + wide(*y), *y);
}
template <class T> DEVICE void scal(const Vectors &v) {
  typedef decltype(wide(T{})) W;
  if (index() >= v.n) return;
  W alpha;
  take(v.alpha, alpha);
  T *x = start<T>(v.x, group_y()) + index() * v.x.row;
  narrow(alpha * wide(*x), *x);
}
template <class T> DEVICE void copy(const Vectors &v) {
  if (index() < v.n) start<T>(v.y, group_y())[index() * v.y.row] = start<T>(v.x, group_y())[index() * v.x.row];
}
template <class T> DEVICE void swap(const Vectors &v) {
  if (index() >= v.n) return;
  T *x = start<T>(v.x, group_y()) + index() * v.x.row, *y = start<T>(v.y, group_y()) + index() * v.y.row;
  T kept = *x;
  *x = *y;
  *y = kept;
}

// Sums over 256 work-items; work-item 0 has the result.
template <class W> DEVICE W summed(W own) {
  SHARED static W parts[256];
  parts[lane_x()] = own;
  for (int half = 128; half > 0; half /= 2) {
    barrier();
    if (lane_x() < half) parts[lane_x()] = parts[lane_x()] + parts[lane_x() + half];
  }
  return parts[0];
}
template <class T> DEVICE void dot(const Vectors &v) {
  typedef decltype(wide(T{})) W;
  const T *x = start<T>(v.x, group_y()), *y = start<T>(v.y, group_y());
  W own{};
  for (long i = lane_x(); i < v.n; i += 256)
    own = own + conjugate(wide(x[i * v.x.row]), v.x.conjugate) * wide(y[i * v.y.row]);
  own = summed(own);
  if (lane_x() == 0) narrow(own, ((T *)v.result)[group_y() * v.result_step]);
}
DEVICE double square(float x) { return (double)x * x; }
DEVICE double square(double x) { return x * x; }
template <class T> DEVICE double square(complex<T> x) { return square(x.re) + square(x.im); }
DEVICE double one_norm(float x) { return __builtin_fabsf(x); }
DEVICE double one_norm(double x) { return __builtin_fabs(x); }
template <class T> DEVICE double one_norm(complex<T> x) { return one_norm(x.re) + one_norm(x.im); }
DEVICE void real_result(double x, float *to) { *to = (float)x; }
DEVICE void real_result(double x, double *to) { *to = x; }
DEVICE void real_result(double x, f16 *to) { *to = (f16)(float)x; }
DEVICE void real_result(double x, bf16 *to) { narrow((float)x, *to); }
template <class T> DEVICE void real_result(double x, complex<T> *) {}

template <class T, class Real> DEVICE void norm(const Vectors &v, bool squares) {
  const T *x = start<T>(v.x, group_y());
  double own = 0;
  for (long i = lane_x(); i < v.n; i += 256) own += squares ? square(wide(x[i * v.x.row])) : one_norm(wide(x[i * v.x.row]));
  own = summed(own);
  if (lane_x() == 0) real_result(squares ? __builtin_sqrt(own) : own, (Real *)v.result + group_y() * v.result_step);
}
// The first element of greatest (`sign` 1) or least (-1) size, counted from 1; 0 without elements.
template <class T> DEVICE void extreme(const Vectors &v, int sign) {
  SHARED static double sizes[256];
  SHARED static long places[256];
  const T *x = start<T>(v.x, group_y());
  double best = 0;
  long place = 0;
  for (long i = lane_x(); i < v.n; i += 256) {
    double size = sign * one_norm(wide(x[i * v.x.row]));
    if (place == 0 || size > best) best = size, place = i + 1;
  }
  sizes[lane_x()] = best;
  places[lane_x()] = place;
  barrier();
  if (lane_x() != 0) return;
  for (int i = 1; i < 256; i++)
    if (places[i] && (sizes[i] > best || (sizes[i] == best && places[i] < place))) best = sizes[i], place = places[i];
  if (v.beta.kind == I32) ((int *)v.result)[group_y() * v.result_step] = (int)place;
  else ((long *)v.result)[group_y() * v.result_step] = place;
}

// d = alpha a + beta b, element by element.
template <class T> DEVICE void geam(const Gemm &g) {
  typedef decltype(wide(T{})) W;
  int row = group_x() * 16 + lane_x() % 16, column = group_y() * 16 + lane_x() / 16, batch = group_z();
  if (row >= g.m || column >= g.n) return;
  W alpha, beta, sum{};
  take(g.alpha, alpha);
  take(g.beta, beta);
  if (!is_zero(alpha)) sum = alpha * conjugate(wide(start<T>(g.a, batch)[row * g.a.row + column * g.a.column]), g.a.conjugate);
  if (!is_zero(beta)) sum = sum + beta * conjugate(wide(start<T>(g.b, batch)[row * g.b.row + column * g.b.column]), g.b.conjugate);
  narrow(sum, start<T>(g.d, batch)[row * g.d.row + column * g.d.column]);
}
// d = diag(b) a, or a diag(b) where `epilogue` is not 0.
template <class T> DEVICE void dgmm(const Gemm &g) {
  int row = group_x() * 16 + lane_x() % 16, column = group_y() * 16 + lane_x() / 16, batch = group_z();
  if (row >= g.m || column >= g.n) return;
  T factor = start<T>(g.b, batch)[(g.epilogue ? column : row) * g.b.row];
  narrow(wide(factor) * wide(start<T>(g.a, batch)[row * g.a.row + column * g.a.column]),
         start<T>(g.d, batch)[row * g.d.row + column * g.d.column]);
}

// op(a) x = alpha b in place of b, one work-item for each column of the result. `epilogue` says UPPER or LOWER
// of op(a), and BIAS where the diagonal is 1. `b.row` steps along the unknowns.
template <class T> DEVICE T divided(T x, T by) { return x / by; }
template <class T> DEVICE complex<T> divided(complex<T> x, complex<T> by) {
  T size = by.re * by.re + by.im * by.im;
  return {(x.re * by.re + x.im * by.im) / size, (x.im * by.re - x.re * by.im) / size};
}
template <class T> DEVICE T negated(T x) { return -x; }
template <class T> DEVICE complex<T> negated(complex<T> x) { return {-x.re, -x.im}; }
template <class T> DEVICE void trsm(const Gemm &g) {
  int column = group_x() * 256 + lane_x(), batch = group_z();
  if (column >= g.n) return;
  T alpha;
  take(g.alpha, alpha);
  const T *a = start<T>(g.a, batch);
  T *x = start<T>(g.b, batch) + column * g.b.column;
  bool upper = g.epilogue & UPPER;
  for (int step = 0; step < g.m; step++) {
    int i = upper ? g.m - 1 - step : step;
    T sum = alpha * x[i * g.b.row];
    for (int k = upper ? i + 1 : 0; k < (upper ? g.m : i); k++)
      sum = sum + negated(conjugate(a[i * g.a.row + k * g.a.column], g.a.conjugate) * x[k * g.b.row]);
    if (!(g.epilogue & BIAS)) sum = divided(sum, conjugate(a[i * (g.a.row + g.a.column)], g.a.conjugate));
    x[i * g.b.row] = sum;
  }
}

#define VECTOR(name, body) GLOBAL __attribute__((amdgpu_flat_work_group_size(256, 256))) void name(Vectors v) { body; }
#define ELEMENTS(name, body) GLOBAL __attribute__((amdgpu_flat_work_group_size(256, 256))) void name(Gemm g) { body; }
#define STORED(suffix, type) \
  VECTOR(rockhound_axpy_##suffix, axpy<type>(v)) \
  VECTOR(rockhound_scal_##suffix, scal<type>(v)) \
  VECTOR(rockhound_dot_##suffix, dot<type>(v)) \
  ELEMENTS(rockhound_geam_##suffix, geam<type>(g))
#define NUMBERS(suffix, type, real) \
  STORED(suffix, type) \
  VECTOR(rockhound_copy_##suffix, copy<type>(v)) \
  VECTOR(rockhound_swap_##suffix, swap<type>(v)) \
  VECTOR(rockhound_iamax_##suffix, extreme<type>(v, 1)) \
  VECTOR(rockhound_iamin_##suffix, extreme<type>(v, -1)) \
  ELEMENTS(rockhound_dgmm_##suffix, dgmm<type>(g)) \
  ELEMENTS(rockhound_trsm_##suffix, trsm<type>(g)) \
  NORMS(suffix, type, real)
#define NORMS(suffix, type, real) \
  VECTOR(rockhound_nrm2_##suffix, (norm<type, real>(v, true))) \
  VECTOR(rockhound_asum_##suffix, (norm<type, real>(v, false)))
NUMBERS(f32, float, float)
NUMBERS(f64, double, double)
NUMBERS(c32, complex<float>, float)
NUMBERS(c64, complex<double>, double)
STORED(f16, f16)
NORMS(f16, f16, f16)
STORED(bf16, bf16)
NORMS(bf16, bf16, bf16)
