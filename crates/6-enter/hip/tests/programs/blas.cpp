// Matrix products, vectors and their like through rocBLAS, hipBLAS and hipBLASLt, compared with the CPU.
// The argument names a part; the exit code is the number of results and statuses that are wrong.
#include <hip/hip_runtime.h>
#include "blas.h"
#include <complex>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

static int wrong = 0;
static void check(bool ok, const char *what) {
  if (!ok) printf("wrong: %s\n", what), wrong++;
}
enum { NONE = 111, TRANS = 112, CONJ = 113, UPPER = 121, LOWER = 122, NON_UNIT = 131, UNIT = 132, LEFT = 141, RIGHT = 142 };

typedef std::complex<double> Number;
static unsigned seed = 1;
// Multiples of 1/8 in [-2, 2): products and sums of a few hundred are exact even in half precision inputs.
static double next() {
  seed = seed * 1664525u + 1013904223u;
  return int(seed >> 27) / 8.0 - 2;
}

// Storage types and their conversions.
struct Half { _Float16 v; };
struct Brain { unsigned short bits; };
static void store(float &to, Number x) { to = float(x.real()); }
static void store(double &to, Number x) { to = x.real(); }
static void store(Half &to, Number x) { to.v = (_Float16)x.real(); }
static void store(std::complex<float> &to, Number x) { to = std::complex<float>(x); }
static void store(Number &to, Number x) { to = x; }
static void store(int8_t &to, Number x) { to = int8_t(x.real() * 8); }
static void store(int &to, Number x) { to = int(x.real() * 8); }
static void store(Brain &to, Number x) {
  float f = float(x.real());
  unsigned bits;
  memcpy(&bits, &f, 4);
  to.bits = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}
static Number load(float x) { return x; }
static Number load(double x) { return x; }
static Number load(int8_t x) { return x; }
static Number load(int x) { return x; }
static Number load(Half x) { return double(x.v); }
static Number load(std::complex<float> x) { return Number(x); }
static Number load(Number x) { return x; }
static Number load(Brain x) {
  unsigned bits = unsigned(x.bits) << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

// Memory of the GPU with a copy on the host.
template <class T> struct Array {
  std::vector<T> host;
  T *gpu = nullptr;
  bool complex = false;
  Array(size_t count) : host(count) {
    for (T &it : host) store(it, Number(next(), sizeof(T) >= 8 ? next() : 0));
    hipMalloc(&gpu, count * sizeof(T));
    put();
  }
  ~Array() { hipFree(gpu); }
  void put() { hipMemcpy(gpu, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice); }
  std::vector<T> get() {
    std::vector<T> out(host.size());
    hipMemcpy(out.data(), gpu, out.size() * sizeof(T), hipMemcpyDeviceToHost);
    return out;
  }
};

template <class T> static Number at(const std::vector<T> &m, size_t first, int ld, int op, int row, int column) {
  Number x = load(op == NONE ? m[first + row + size_t(column) * ld] : m[first + column + size_t(row) * ld]);
  return op == CONJ ? std::conj(x) : x;
}

static double tolerance(size_t bytes) { return bytes == 2 ? 1e-2 : bytes == 4 ? 1e-5 : 1e-6; }
static bool near(Number got, Number expected, double by) {
  return std::abs(got - expected) <= by * (1 + std::abs(expected));
}

// alpha op(A) op(B) + beta C in all elements, and nothing beyond the columns.
template <class In, class Out>
static void compare(const char *what, Array<In> &a, size_t a0, int lda, int on_a, Array<In> &b, size_t b0, int ldb, int on_b,
                    Array<Out> &c, size_t c0, int ldc, int m, int n, int k, Number alpha, Number beta) {
  std::vector<Out> got = c.get();
  bool ok = true;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < ldc; i++) {
      size_t place = c0 + i + size_t(j) * ldc;
      Number expected = load(c.host[place]);
      if (i < m) {
        Number sum = 0;
        for (int l = 0; l < k; l++) sum += at(a.host, a0, lda, on_a, i, l) * at(b.host, b0, ldb, on_b, l, j);
        expected = alpha * sum + beta * expected;
      }
      if (place < got.size() && !near(load(got[place]), expected, tolerance(sizeof(Out)))) {
        if (ok) printf("%s: row %d column %d is %g, not %g\n", what, i, j, load(got[place]).real(), expected.real());
        ok = false;
      }
    }
  check(ok, what);
}

typedef int (*Plain)(void *, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);

template <class T> static void product(void *handle, const char *what, Plain gemm, int on_a, int on_b, int m, int n, int k) {
  int lda = (on_a == NONE ? m : k) + 3, ldb = (on_b == NONE ? k : n) + 1, ldc = m + 2;
  Array<T> a(size_t(lda) * (on_a == NONE ? k : m)), b(size_t(ldb) * (on_b == NONE ? n : k)), c(size_t(ldc) * n);
  T alpha, beta;
  store(alpha, Number(0.5, sizeof(T) >= 8 ? 0.25 : 0));
  store(beta, Number(-2, 0));
  check(gemm(handle, on_a, on_b, m, n, k, &alpha, a.gpu, lda, b.gpu, ldb, &beta, c.gpu, ldc) == 0, what);
  compare(what, a, 0, lda, on_a, b, 0, ldb, on_b, c, 0, ldc, m, n, k, load(alpha), load(beta));
}

static void products(void *handle) {
  for (int on_a : {NONE, TRANS})
    for (int on_b : {NONE, TRANS}) {
      product<float>(handle, "sgemm", rocblas_sgemm, on_a, on_b, 70, 65, 33);
      product<double>(handle, "dgemm", rocblas_dgemm, on_a, on_b, 20, 67, 18);
      product<Half>(handle, "hgemm", rocblas_hgemm, on_a, on_b, 66, 20, 40);
    }
  for (int on_a : {NONE, TRANS, CONJ}) {
    product<std::complex<float>>(handle, "cgemm", rocblas_cgemm, on_a, CONJ, 18, 17, 9);
    product<Number>(handle, "zgemm", rocblas_zgemm, CONJ, on_a, 5, 17, 9);
  }
  product<float>(handle, "sgemm without inner size", rocblas_sgemm, NONE, NONE, 5, 6, 0);
}

// Types by argument.
template <class In, class Out, class Factor>
static void typed(void *roc, void *hip, const char *what, int in, int out, int compute, int hip_in, int hip_out, int hip_compute) {
  int m = 40, n = 35, k = 70;
  Factor alpha, beta;
  store(alpha, 0.25);
  store(beta, 3);
  if (sizeof(Out) == 4 && sizeof(In) == 1) memset(&alpha, 0, 4), *(int *)&alpha = 2, *(int *)&beta = 3;
  Number by = sizeof(In) == 1 ? Number(2) : load(alpha), with = sizeof(In) == 1 ? Number(3) : load(beta);
  Array<In> a(m * k), b(k * n);
  Array<Out> c(m * n), d(m * n), e(m * n);
  d.host = c.host;
  int got = rocblas_gemm_ex(roc, NONE, NONE, m, n, k, &alpha, a.gpu, in, m, b.gpu, in, k, &beta, c.gpu, out, m, d.gpu, out, m, compute, 0, 0, 0);
  check(got == 0, what);
  compare(what, a, 0, m, NONE, b, 0, k, NONE, d, 0, m, m, n, k, by, with);
  got = hipblasGemmEx(hip, NONE, NONE, m, n, k, &alpha, a.gpu, hip_in, m, b.gpu, hip_in, k, &beta, e.gpu, hip_out, m, hip_compute, 160);
  check(got == 0, what);
  compare(what, a, 0, m, NONE, b, 0, k, NONE, e, 0, m, m, n, k, by, with);
}

static void types(void *roc, void *hip) {
  typed<Half, Half, float>(roc, hip, "f16", 150, 150, 151, 2, 2, 2);
  typed<Half, float, float>(roc, hip, "f16 to f32", 150, 151, 151, 150, 151, 151);
  typed<Brain, Brain, float>(roc, hip, "bf16", 168, 168, 151, 14, 14, 2);
  typed<Brain, float, float>(roc, hip, "bf16 to f32", 168, 151, 151, 14, 0, 2);
  typed<int8_t, int, int>(roc, hip, "i8 to i32", 160, 162, 162, 3, 10, 9);
  typed<float, float, float>(roc, hip, "f32", 151, 151, 151, 0, 0, 2);
}

static void batches(void *handle, void *hip) {
  int m = 20, n = 9, k = 17, count = 3;
  Array<float> a(m * k * count), b(k * n * count), c(m * n * count), d(m * n * count), e(m * n * count);
  float alpha = 1.5f, beta = 0.5f;
  float *lists[3][3], **gpu;
  for (int i = 0; i < count; i++) lists[0][i] = a.gpu + i * m * k, lists[1][i] = b.gpu + i * k * n, lists[2][i] = c.gpu + i * m * n;
  hipMalloc(&gpu, sizeof lists);
  hipMemcpy(gpu, lists, sizeof lists, hipMemcpyHostToDevice);
  check(rocblas_sgemm_batched(handle, NONE, NONE, m, n, k, &alpha, gpu, m, gpu + 3, k, &beta, gpu + 6, m, count) == 0, "batched");
  check(rocblas_sgemm_strided_batched_64(handle, NONE, NONE, m, n, k, &alpha, a.gpu, m, m * k, b.gpu, k, k * n, &beta, d.gpu, m, m * n, count) == 0, "strided");
  check(hipblasGemmStridedBatchedEx(hip, NONE, NONE, m, n, k, &alpha, a.gpu, 0, m, m * k, b.gpu, 0, k, k * n, &beta, e.gpu, 0, m, m * n, count, 2, 160) == 0, "strided ex");
  for (int i = 0; i < count; i++) {
    compare("batched", a, i * m * k, m, NONE, b, i * k * n, k, NONE, c, i * m * n, m, m, n, k, alpha, beta);
    compare("strided", a, i * m * k, m, NONE, b, i * k * n, k, NONE, d, i * m * n, m, m, n, k, alpha, beta);
    compare("strided ex", a, i * m * k, m, NONE, b, i * k * n, k, NONE, e, i * m * n, m, m, n, k, alpha, beta);
  }
}

static void vectors(void *handle) {
  int n = 700;
  Array<float> x(2 * n), y(3 * n);
  Array<double> z(n);
  Array<Number> u(n), v(n);
  Array<std::complex<float>> w(n);
  float alpha = 0.5f, sum;
  check(rocblas_saxpy(handle, n, &alpha, x.gpu, 2, y.gpu, -3) == 0, "axpy");
  std::vector<float> got = y.get();
  bool ok = true;
  for (int i = 0; i < n; i++) ok &= got[3 * (n - 1 - i)] == y.host[3 * (n - 1 - i)] + alpha * x.host[2 * i];
  for (int i = 0; i < 3 * n; i++) ok &= i % 3 == 0 || got[i] == y.host[i];
  check(ok, "axpy");
  check(rocblas_sdot(handle, n, x.gpu, 1, x.gpu, 2, &sum) == 0, "dot");
  double expected = 0;
  for (int i = 0; i < n; i++) expected += double(x.host[i]) * x.host[2 * i];
  check(near(sum, expected, 1e-5), "dot");
  Number inner, by_hand = 0;
  check(rocblas_zdotc(handle, n, u.gpu, 1, v.gpu, 1, &inner) == 0, "dotc");
  for (int i = 0; i < n; i++) by_hand += std::conj(u.host[i]) * v.host[i];
  check(near(inner, by_hand, 1e-12), "dotc");
  float norm;
  double squares = 0, sizes = 0, all;
  check(rocblas_scnrm2(handle, n, w.gpu, 1, &norm) == 0, "nrm2");
  for (auto it : w.host) squares += std::norm(Number(it));
  check(near(norm, std::sqrt(squares), 1e-6), "nrm2");
  check(rocblas_dasum(handle, n, z.gpu, 1, &all) == 0, "asum");
  for (double it : z.host) sizes += std::fabs(it);
  check(near(all, sizes, 1e-14), "asum");
  int place, *on_gpu, first = 0;
  x.host[300] = -40, x.host[500] = 40;
  x.put();
  check(rocblas_isamax(handle, n, x.gpu, 1, &place) == 0 && place == 301, "amax");
  hipMalloc(&on_gpu, 4);
  rocblas_set_pointer_mode(handle, 1);
  check(rocblas_isamax(handle, n, x.gpu, 1, on_gpu) == 0, "amax on the GPU");
  hipMemcpy(&first, on_gpu, 4, hipMemcpyDeviceToHost);
  check(first == 301, "amax on the GPU");
  // Factors on the GPU.
  check(rocblas_dscal(handle, n - 1, z.gpu, z.gpu + 1, 1) == 0, "scal");
  std::vector<double> scaled = z.get();
  check(scaled[0] == z.host[0] && scaled[n - 1] == z.host[0] * z.host[n - 1], "scal");
  rocblas_set_pointer_mode(handle, 0);
}

static void shapes(void *handle, void *hip) {
  int m = 37, n = 21;
  float alpha = 2, beta = -1;
  Array<float> a(m * n), x(m), y(n), c(m * n), d(m * n), e(n * m);
  check(rocblas_sgemv(handle, TRANS, m, n, &alpha, a.gpu, m, x.gpu, 1, &beta, y.gpu, 1) == 0, "gemv");
  compare("gemv", a, 0, m, TRANS, x, 0, m, NONE, y, 0, n, n, 1, m, alpha, beta);
  y.host = y.get();
  check(rocblas_sger(handle, m, n, &alpha, x.gpu, 1, y.gpu, 1, c.gpu, m) == 0, "ger");
  compare("ger", x, 0, m, NONE, y, 0, n, TRANS, c, 0, m, m, n, 1, alpha, 1);
  check(rocblas_sgeam(handle, NONE, TRANS, m, n, &alpha, a.gpu, m, &beta, e.gpu, n, d.gpu, m) == 0, "geam");
  bool ok = true;
  std::vector<float> got = d.get();
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) ok &= got[i + j * m] == alpha * a.host[i + j * m] + beta * e.host[j + i * n];
  check(ok, "geam");
  check(hipblasSdgmm(hip, RIGHT, m, n, a.gpu, m, y.gpu, 1, d.gpu, m) == 0, "dgmm");
  got = d.get(), ok = true;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) ok &= got[i + j * m] == a.host[i + j * m] * y.host[j];
  check(ok, "dgmm");

  double one = 1.5, two = 0.5;
  Array<double> s(n * m), t(n * n);
  check(rocblas_dsyrk(handle, LOWER, TRANS, n, m, &one, s.gpu, m, &two, t.gpu, n) == 0, "syrk");
  std::vector<double> sums = t.get();
  ok = true;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double expected = t.host[i + j * n], sum = 0;
      for (int l = 0; l < m; l++) sum += s.host[l + i * m] * s.host[l + j * m];
      if (i >= j) expected = one * sum + two * expected;
      ok &= near(sums[i + j * n], expected, 1e-13);
    }
  check(ok, "syrk");
  for (int side : {LEFT, RIGHT})
    for (int triangle : {UPPER, LOWER})
      for (int op : {NONE, TRANS}) {
        int size = side == LEFT ? m : n;
        Array<double> r(size * size), b(m * n);
        for (int i = 0; i < size; i++) r.host[i * (size + 1)] = 16;
        r.put();
        check(rocblas_dtrsm(handle, side, triangle, op, NON_UNIT, m, n, &one, r.gpu, size, b.gpu, m) == 0, "trsm");
        std::vector<double> solved = b.get();
        ok = true;
        auto element = [&](int i, int j) {
          if (op == TRANS) std::swap(i, j);
          return (triangle == UPPER ? i <= j : i >= j) ? r.host[i + j * size] : 0.0;
        };
        for (int j = 0; j < n; j++)
          for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int l = 0; l < size; l++) sum += side == LEFT ? element(i, l) * solved[l + j * m] : solved[i + l * m] * element(l, j);
            ok &= near(sum, one * b.host[i + j * m], 1e-9);
          }
        check(ok, "trsm");
      }
}

static double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }

static void epilogues() {
  void *handle, *desc, *of_a, *of_b, *of_c, *preference;
  int m = 50, n = 30, k = 64;
  check(hipblasLtCreate(&handle) == 0, "lt create");
  hipblasLtMatrixLayoutCreate(&of_a, 2, k, m, k);
  hipblasLtMatrixLayoutCreate(&of_b, 2, k, n, k);
  hipblasLtMatrixLayoutCreate(&of_c, 2, m, n, m);
  hipblasLtMatmulPreferenceCreate(&preference);
  Array<Half> a(k * m), b(k * n);
  Array<float> bias(m);
  float alpha = 0.125f, beta = 0;
  for (int epilogue : {1, 2, 4, 6, 32, 36, 164}) {
    Array<Half> c(m * n), before(m * n);
    hipblasLtMatmulDescCreate(&desc, 2, 0);
    int trans = TRANS, bias_type = 0;
    int64_t ld = m;
    hipblasLtMatmulDescSetAttribute(desc, 0, &trans, 4);
    hipblasLtMatmulDescSetAttribute(desc, 2, &epilogue, 4);
    if (epilogue & 4) hipblasLtMatmulDescSetAttribute(desc, 3, &bias.gpu, 8), hipblasLtMatmulDescSetAttribute(desc, 4, &bias_type, 4);
    if (epilogue & 128) hipblasLtMatmulDescSetAttribute(desc, 10, &before.gpu, 8), hipblasLtMatmulDescSetAttribute(desc, 11, &ld, 8);
    char algorithm[56];
    int found = 0;
    check(hipblasLtMatmulAlgoGetHeuristic(handle, desc, of_a, of_b, of_c, of_c, preference, 1, algorithm, &found) == 0 && found == 1, "heuristic");
    check(hipblasLtMatmul(handle, desc, &alpha, a.gpu, of_a, b.gpu, of_b, &beta, c.gpu, of_c, c.gpu, of_c, algorithm, nullptr, 0, 0) == 0, "matmul");
    std::vector<Half> got = c.get(), kept = before.get();
    bool ok = true;
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) {
        double x = 0;
        for (int l = 0; l < k; l++) x += double(a.host[l + i * k].v) * double(b.host[l + j * k].v);
        x = alpha * x + (epilogue & 4 ? bias.host[i] : 0);
        if (epilogue & 128) ok &= near(load(kept[i + j * m]), x, 1e-2);
        if (epilogue & 2) x = x > 0 ? x : 0;
        if (epilogue & 32) x = gelu(x);
        ok &= near(load(got[i + j * m]), x, 1e-2);
      }
    std::string what = "epilogue " + std::to_string(epilogue);
    check(ok, what.c_str());
  }
  int gradient = 192, found = -1;
  hipblasLtMatmulDescSetAttribute(desc, 2, &gradient, 4);
  check(hipblasLtMatmulAlgoGetHeuristic(handle, desc, of_a, of_b, of_c, of_c, preference, 1, nullptr, &found) == 7 && found == 0, "other epilogue");
  hipblasLtDestroy(handle);
}

static void refused(void *handle) {
  float x = 1;
  Array<float> a(64);
  check(rocblas_strmm(handle, LEFT, UPPER, NONE, UNIT, 8, 8, &x, a.gpu, 8, a.gpu, 8, a.gpu, 8) == 2, "trmm is not implemented");
  check(rocblas_gemm_ex(handle, NONE, NONE, 8, 8, 8, &x, a.gpu, 150, 8, a.gpu, 151, 8, &x, a.gpu, 151, 8, a.gpu, 151, 8, 151, 0, 0, 0) == 2, "mixed types");
  check(rocblas_sgemm(nullptr, NONE, NONE, 8, 8, 8, &x, a.gpu, 8, a.gpu, 8, &x, a.gpu, 8) == 1, "no handle");
  check(rocblas_sgemm(handle, 7, NONE, 8, 8, 8, &x, a.gpu, 8, a.gpu, 8, &x, a.gpu, 8) == 11, "no operation");
  check(rocblas_sgemm(handle, NONE, NONE, 8, 8, 8, &x, a.gpu, 7, a.gpu, 8, &x, a.gpu, 8) == 4, "leading dimension");
  check(rocblas_sgemm(handle, NONE, NONE, 8, -8, 8, &x, a.gpu, 8, a.gpu, 8, &x, a.gpu, 8) == 4, "negative size");
  check(rocblas_sgemm(handle, NONE, NONE, 8, 8, 8, &x, nullptr, 8, a.gpu, 8, &x, a.gpu, 8) == 3, "null pointer");
  check(a.get() == a.host, "nothing was written");
  check(std::string(rocblas_status_to_string(2)) == "rocblas_status_not_implemented", "status text");
}

int main(int count, char **arguments) {
  std::string part = count > 1 ? arguments[1] : "";
  void *roc, *hip;
  check(rocblas_create_handle(&roc) == 0 && hipblasCreate(&hip) == 0, "handles");
  hipStream_t stream;
  hipStreamCreate(&stream);
  check(rocblas_set_stream(roc, stream) == 0, "stream");
  if (part == "products") products(roc);
  else if (part == "types") types(roc, hip);
  else if (part == "batches") batches(roc, hip);
  else if (part == "vectors") vectors(roc);
  else if (part == "shapes") shapes(roc, hip);
  else if (part == "epilogues") epilogues();
  else if (part == "refused") refused(roc);
  else check(false, "no such part");
  check(rocblas_destroy_handle(roc) == 0 && hipblasDestroy(hip) == 0 && hipblasDestroy(hip) == 1, "handles are gone");
  return wrong;
}
