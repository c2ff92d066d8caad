// Kernels of the stand-in for hipSPARSE: products of sparse matrices, conversions, sorts, sparse vectors.
// Built by build.sh for every target into one bundle. No header of ROCm is needed.
#define GLOBAL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256)))
#define DEVICE static inline __attribute__((device, always_inline))
#define SHARED __attribute__((shared))

enum { LANES = 256, WAVE = 64 };
template <class T> struct complex { T re, im; };

DEVICE int lane() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE long group() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE long item() { return group() * LANES + lane(); }
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

template <class T> DEVICE complex<T> operator+(complex<T> a, complex<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> DEVICE complex<T> operator-(complex<T> a, complex<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> DEVICE complex<T> operator*(complex<T> a, complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> DEVICE complex<T> operator/(complex<T> a, complex<T> b) {
  T size = b.re * b.re + b.im * b.im;
  return {(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}
template <class T> DEVICE T conjugate(T x, int) { return x; }
template <class T> DEVICE complex<T> conjugate(complex<T> x, int yes) { return {x.re, yes ? -x.im : x.im}; }
template <class T> DEVICE bool is_zero(T x) { return x == 0; }
template <class T> DEVICE bool is_zero(complex<T> x) { return x.re == 0 && x.im == 0; }
// By the instruction of the GPU where it has one: matrices are in its own memory.
template <class T> DEVICE void add(T *to, T value) {
  [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {
    __hip_atomic_fetch_add((__attribute__((address_space(1))) T *)to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}
template <class T> DEVICE void add(complex<T> *to, complex<T> value) { add(&to->re, value.re), add(&to->im, value.im); }
DEVICE float shuffled(float x, int by) { return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(4 * ((lane() + by) % WAVE), __builtin_bit_cast(int, x))); }
DEVICE double shuffled(double x, int by) {
  long bits = __builtin_bit_cast(long, x);
  int at = 4 * ((lane() + by) % WAVE);
  unsigned low = __builtin_amdgcn_ds_bpermute(at, (int)bits);
  long high = __builtin_amdgcn_ds_bpermute(at, (int)(bits >> 32));
  return __builtin_bit_cast(double, high << 32 | low);
}
template <class T> DEVICE complex<T> shuffled(complex<T> x, int by) { return {shuffled(x.re, by), shuffled(x.im, by)}; }
// The sum over a wave, in its lane 0.
template <class T> DEVICE T wave_sum(T x) {
  for (int by = WAVE / 2; by > 0; by /= 2) x = x + shuffled(x, by);
  return x;
}

// A factor: given by value, or by address on the GPU with its type.
enum { BY_VALUE, F32, F64, C32 = 6, C64 };
struct Factor { double re, im; const void *at; long kind; };
DEVICE complex<double> pair(const Factor &f) {
  switch (f.kind) {
  case F32: return {*(const float *)f.at, 0};
  case F64: return {*(const double *)f.at, 0};
  case C32: return {((const float *)f.at)[0], ((const float *)f.at)[1]};
  case C64: return {((const double *)f.at)[0], ((const double *)f.at)[1]};
  default: return {f.re, f.im};
  }
}
DEVICE void take(const Factor &f, float &to) { to = (float)pair(f).re; }
DEVICE void take(const Factor &f, double &to) { to = pair(f).re; }
template <class T> DEVICE void take(const Factor &f, complex<T> &to) {
  complex<double> p = pair(f);
  to = {(T)p.re, (T)p.im};
}

// Indices of 4 or 8 bytes.
struct Indices { void *at; long is_wide; };
DEVICE long get(const Indices &i, long k) { return i.is_wide ? ((const long *)i.at)[k] : ((const int *)i.at)[k]; }
DEVICE void set(const Indices &i, long k, long value) {
  if (i.is_wide) ((long *)i.at)[k] = value; else ((int *)i.at)[k] = (int)value;
}

// A sparse matrix as lines: rows or columns. `lines` has where each line begins in `across`, or the line of each element.
struct Sparse { Indices lines, across; void *values; long count, elements, base; };
// A dense matrix; elements `row` and `column` apart.
struct Dense { void *at; long row, column; };
DEVICE long from(const Sparse &a, long line) { return get(a.lines, line) - a.base; }

// c = alpha A b + beta c for a matrix of compressed rows: a wave for each row, a workgroup in y for each column of c.
struct Product { Sparse a; Dense b, c; Factor alpha, beta; long conjugates; };
template <class T> DEVICE void gathered(const Product &p) {
  long line = item() / WAVE, column = __builtin_amdgcn_workgroup_id_y();
  if (line >= p.a.count) return;
  const T *b = (const T *)p.b.at + column * p.b.column;
  T sum = {};
  for (long k = from(p.a, line) + lane() % WAVE, end = from(p.a, line + 1); k < end; k += WAVE)
    sum = sum + conjugate(((const T *)p.a.values)[k], p.conjugates) * b[(get(p.a.across, k) - p.a.base) * p.b.row];
  sum = wave_sum(sum);
  if (lane() % WAVE) return;
  T alpha, beta, *c = (T *)p.c.at + line * p.c.row + column * p.c.column;
  take(p.alpha, alpha), take(p.beta, beta);
  sum = alpha * sum;
  *c = is_zero(beta) ? sum : sum + beta * *c;
}
// c += alpha A^T b for compressed rows.
template <class T> DEVICE void scattered(const Product &p) {
  long line = item() / WAVE, column = __builtin_amdgcn_workgroup_id_y();
  if (line >= p.a.count) return;
  T alpha;
  take(p.alpha, alpha);
  T b = alpha * ((const T *)p.b.at)[line * p.b.row + column * p.b.column], *c = (T *)p.c.at + column * p.c.column;
  for (long k = from(p.a, line) + lane() % WAVE, end = from(p.a, line + 1); k < end; k += WAVE)
    add(c + (get(p.a.across, k) - p.a.base) * p.c.row, conjugate(((const T *)p.a.values)[k], p.conjugates) * b);
}
// c += alpha A b for a list of elements, whose lines are rows of c.
template <class T> DEVICE void listed(const Product &p) {
  long k = item(), column = __builtin_amdgcn_workgroup_id_y();
  if (k >= p.a.elements) return;
  T alpha;
  take(p.alpha, alpha);
  T b = ((const T *)p.b.at)[(get(p.a.across, k) - p.a.base) * p.b.row + column * p.b.column];
  add((T *)p.c.at + from(p.a, k) * p.c.row + column * p.c.column, alpha * conjugate(((const T *)p.a.values)[k], p.conjugates) * b);
}
// c = beta c for `elements` rows.
template <class T> DEVICE void scaled(const Product &p) {
  if (item() >= p.a.elements) return;
  T beta, *c = (T *)p.c.at + item() * p.c.row + (long)__builtin_amdgcn_workgroup_id_y() * p.c.column;
  take(p.beta, beta);
  *c = is_zero(beta) ? T{} : beta * *c;
}

// Elements between a dense matrix, in lines along `row`, and a sparse one.
struct Change { Sparse a; Dense b; long across; };
template <class T> DEVICE void to_dense(const Change &c) {
  long line = item();
  if (line >= c.a.count) return;
  for (long k = from(c.a, line), end = from(c.a, line + 1); k < end; k++)
    ((T *)c.b.at)[line * c.b.row + (get(c.a.across, k) - c.a.base) * c.b.column] = ((const T *)c.a.values)[k];
}
template <class T> DEVICE void list_to_dense(const Change &c) {
  long k = item();
  if (k >= c.a.elements) return;
  ((T *)c.b.at)[from(c.a, k) * c.b.row + (get(c.a.across, k) - c.a.base) * c.b.column] = ((const T *)c.a.values)[k];
}
// Elements other than zero of each line.
template <class T> DEVICE void counted(const Change &c) {
  long line = item(), found = 0;
  if (line >= c.a.count) return;
  for (long i = 0; i < c.across; i++) found += !is_zero(((const T *)c.b.at)[line * c.b.row + i * c.b.column]);
  set(c.a.lines, line, found);
}
template <class T> DEVICE void to_sparse(const Change &c) {
  long line = item();
  if (line >= c.a.count) return;
  long to = from(c.a, line);
  for (long i = 0; i < c.across; i++) {
    T value = ((const T *)c.b.at)[line * c.b.row + i * c.b.column];
    if (is_zero(value)) continue;
    set(c.a.across, to, i + c.a.base);
    ((T *)c.a.values)[to++] = value;
  }
}

// Sparse vectors: elements of `x` belong to the indices of `y`.
enum { GATHER, GATHER_AND_CLEAR, SCATTER, ADD, DOT };
struct Vectors { Indices indices; void *x, *y, *result; Factor alpha; long count, base, what, conjugates; };
template <class T> DEVICE void vectors(const Vectors &v) {
  T *x = (T *)v.x, *y = (T *)v.y;
  if (v.what == DOT) {
    // One workgroup.
    SHARED static T sums[LANES / WAVE];
    T sum = {};
    for (long k = lane(); k < v.count; k += LANES) sum = sum + conjugate(x[k], v.conjugates) * y[get(v.indices, k) - v.base];
    sum = wave_sum(sum);
    if (lane() % WAVE == 0) sums[lane() / WAVE] = sum;
    barrier();
    if (lane() == 0) *(T *)v.result = sums[0] + sums[1] + (sums[2] + sums[3]);
    return;
  }
  long k = item();
  if (k >= v.count) return;
  T *at = y + (get(v.indices, k) - v.base), alpha;
  take(v.alpha, alpha);
  if (v.what == SCATTER) *at = x[k];
  else if (v.what == ADD) *at = *at + alpha * x[k];
  else x[k] = *at;
  if (v.what == GATHER_AND_CLEAR) *at = T{};
}

// alpha A + beta B, line by line of sorted indices. Without values, only the elements of each line are counted.
struct Sum { Sparse a, b, c; Factor alpha, beta; };
template <class T> DEVICE void summed(const Sum &s) {
  long line = item();
  if (line >= s.a.count) return;
  long i = from(s.a, line), j = from(s.b, line), to = s.c.values ? from(s.c, line) : 0, begin = to;
  long end_a = from(s.a, line + 1), end_b = from(s.b, line + 1), none = ~0UL >> 1;
  T alpha, beta;
  take(s.alpha, alpha), take(s.beta, beta);
  while (i < end_a || j < end_b) {
    long left = i < end_a ? get(s.a.across, i) - s.a.base : none, right = j < end_b ? get(s.b.across, j) - s.b.base : none;
    long at = left < right ? left : right;
    if (s.c.values) {
      T value = {};
      if (left == at) value = alpha * ((const T *)s.a.values)[i];
      if (right == at) value = value + beta * ((const T *)s.b.values)[j];
      set(s.c.across, to, at + s.c.base);
      ((T *)s.c.values)[to] = value;
    }
    i += left == at, j += right == at, to++;
  }
  if (!s.c.values) set(s.c.lines, line, to - begin);
}

// T x = alpha b for a triangle of compressed rows, by one workgroup.
struct Solve { Sparse a; const void *b; void *x; Factor alpha; long is_upper, has_ones; };
template <class T> DEVICE void solved(const Solve &s) {
  SHARED static T sums[LANES / WAVE];
  SHARED static T diagonal;
  T alpha, *x = (T *)s.x;
  take(s.alpha, alpha);
  for (long step = 0; step < s.a.count; step++) {
    long line = s.is_upper ? s.a.count - 1 - step : step;
    T sum = {};
    for (long k = from(s.a, line) + lane(), end = from(s.a, line + 1); k < end; k += LANES) {
      long at = get(s.a.across, k) - s.a.base;
      T value = ((const T *)s.a.values)[k];
      if (at == line) diagonal = value;
      else if (s.is_upper ? at > line : at < line) sum = sum + value * x[at];
    }
    sum = wave_sum(sum);
    if (lane() % WAVE == 0) sums[lane() / WAVE] = sum;
    barrier();
    if (lane() == 0) {
      T value = alpha * ((const T *)s.b)[line] - (sums[0] + sums[1] + (sums[2] + sums[3]));
      x[line] = s.has_ones ? value : value / diagonal;
    }
    barrier();
  }
}

#define FOR(NAME, T)                                                                                                   \
  GLOBAL void rockhound_sparse_product_##NAME(Product p) { gathered<T>(p); }                                           \
  GLOBAL void rockhound_sparse_transposed_##NAME(Product p) { scattered<T>(p); }                                       \
  GLOBAL void rockhound_sparse_listed_##NAME(Product p) { listed<T>(p); }                                              \
  GLOBAL void rockhound_sparse_scale_##NAME(Product p) { scaled<T>(p); }                                               \
  GLOBAL void rockhound_sparse_to_dense_##NAME(Change c) { to_dense<T>(c); }                                           \
  GLOBAL void rockhound_sparse_list_to_dense_##NAME(Change c) { list_to_dense<T>(c); }                                 \
  GLOBAL void rockhound_sparse_count_##NAME(Change c) { counted<T>(c); }                                               \
  GLOBAL void rockhound_sparse_of_dense_##NAME(Change c) { to_sparse<T>(c); }                                          \
  GLOBAL void rockhound_sparse_vector_##NAME(Vectors v) { vectors<T>(v); }                                             \
  GLOBAL void rockhound_sparse_sum_##NAME(Sum s) { summed<T>(s); }                                                     \
  GLOBAL void rockhound_sparse_solve_##NAME(Solve s) { solved<T>(s); }
FOR(f32, float)
FOR(f64, double)
FOR(c32, complex<float>)
FOR(c64, complex<double>)

// Indices. `lines` and `list` are the two forms of the lines of `count` elements; `order` has the old places of elements.
struct Lists { Indices lines, list; long count, elements, base; int *order; const void *from; void *to; long words; };

// The line of each element.
GLOBAL void rockhound_sparse_expand(Lists l) {
  long line = item() / WAVE;
  if (line >= l.count) return;
  for (long k = get(l.lines, line) - l.base + lane() % WAVE, end = get(l.lines, line + 1) - l.base; k < end; k += WAVE) set(l.list, k, line + l.base);
}
// Where each line begins, of sorted lines of elements.
GLOBAL void rockhound_sparse_compress(Lists l) {
  long line = item();
  if (line > l.count) return;
  long low = 0, high = l.elements;
  while (low < high) {
    long middle = (low + high) / 2;
    if (get(l.list, middle) - l.base < line) low = middle + 1; else high = middle;
  }
  set(l.lines, line, low + l.base);
}
// Elements of each line; `order` counts them, and is cleared before.
GLOBAL void rockhound_sparse_tally(Lists l) {
  if (item() < l.elements) __hip_atomic_fetch_add(l.order + (get(l.list, item()) - l.base), 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
// Numbers of elements in `list` to where lines begin, by one workgroup.
GLOBAL void rockhound_sparse_scan(Lists l) {
  SHARED static long sums[LANES];
  long each = (l.count + LANES - 1) / LANES, first = lane() * each, last = first + each < l.count ? first + each : l.count, sum = 0;
  for (long i = first; i < last; i++) sum += get(l.list, i);
  sums[lane()] = sum;
  for (int by = 1; by < LANES; by *= 2) {
    barrier();
    long before = lane() >= by ? sums[lane() - by] : 0;
    barrier();
    sums[lane()] += before;
  }
  barrier();
  sum = l.base + (lane() ? sums[lane() - 1] : 0);
  for (long i = first; i < last; i++) {
    long count = get(l.list, i);
    set(l.lines, i, sum);
    sum += count;
  }
  if (lane() == LANES - 1) set(l.lines, l.count, l.base + sums[lane()]);
}
// Where lines begin, counted from another number.
GLOBAL void rockhound_sparse_shift(Lists l) {
  if (item() < l.count) set(l.lines, item(), get(l.list, item()) + l.base);
}
// Places of elements by line, in any order within a line; `to` has where the next element of each line goes.
GLOBAL void rockhound_sparse_place(Lists l) {
  long k = item();
  if (k >= l.elements) return;
  l.order[__hip_atomic_fetch_add((int *)l.to + (get(l.list, k) - l.base), 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)] = (int)k;
}
GLOBAL void rockhound_sparse_number(Lists l) {
  if (item() < l.elements) l.order[item()] = (int)item();
}
// Sorts the places of each line by `list`, where there is one, and by place: a heap sort by a work-item for each line.
GLOBAL void rockhound_sparse_sort(Lists l) {
  long line = item();
  if (line >= l.count) return;
  long begin = get(l.lines, line) - l.base, size = get(l.lines, line + 1) - l.base - begin;
  int *heap = l.order + begin;
  auto is_less = [&](int a, int b) {
    if (!l.list.at) return a < b;
    long left = get(l.list, a), right = get(l.list, b);
    return left != right ? left < right : a < b;
  };
  auto sink = [&](long at, long end) {
    int value = heap[at];
    for (long child; (child = 2 * at + 1) < end; at = child) {
      if (child + 1 < end && is_less(heap[child], heap[child + 1])) child++;
      if (!is_less(value, heap[child])) break;
      heap[at] = heap[child];
    }
    heap[at] = value;
  };
  for (long at = size / 2 - 1; at >= 0; at--) sink(at, size);
  for (long end = size - 1; end > 0; end--) {
    int largest = heap[0];
    heap[0] = heap[end], heap[end] = largest;
    sink(0, end);
  }
}
// Elements of some words in a new order.
GLOBAL void rockhound_sparse_reorder(Lists l) {
  long at = item();
  if (at >= l.elements * l.words) return;
  ((int *)l.to)[at] = ((const int *)l.from)[(long)l.order[at / l.words] * l.words + at % l.words];
}
