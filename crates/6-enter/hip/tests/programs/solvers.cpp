// Systems of equations by factors, compared with what was put in. The exit code is the number of results and statuses that
// are wrong. Prototypes are written after the public documentation; handles and enumerations are plain numbers, as they
// are in a call.
#include <hip/hip_runtime.h>
#include "checking.h"
#include <cmath>
#include <cstdio>
#include <vector>

extern "C" {
int rocblas_create_handle(void **);
int rocsolver_spotrf(void *, int, int, float *, int, int *);
int rocsolver_dpotrf(void *, int, int, double *, int, int *);
int rocsolver_dpotrs(void *, int, int, int, double *, int, double *, int);
int rocsolver_dgetrf(void *, int, int, double *, int, int *, int *);
int rocsolver_dgetrs(void *, int, int, int, double *, int, int *, double *, int);
int rocsolver_sgetrf_strided_batched(void *, int, int, float *, int, long, int *, long, int *, int);
int rocsolver_sgetrs_strided_batched(void *, int, int, int, float *, int, long, int *, long, float *, int, long, int);
int rocsolver_dgetri(void *, int, double *, int, int *, int *);
int hipsolverCreate(void **);
int hipsolverDpotrf_bufferSize(void *, int, int, double *, int, int *);
int hipsolverDpotrf(void *, int, int, double *, int, void *, int, int *);
int hipsolverDnDgetrf(void *, int, int, double *, int, void *, int *, int *);
int hipsolverDnDgetrs(void *, int, int, int, double *, int, int *, double *, int, int *);
}

enum { AS_IT_IS = 111, TRANSPOSED = 112, UPPER = 121, LOWER = 122 };
enum { N = 37, LDA = 40, COLUMNS = 3, LDB = 39 };

// b = op(a) x, with leading dimensions LDA and LDB.
template <class T> std::vector<T> product(const std::vector<T> &a, const std::vector<T> &x, bool transposed) {
  std::vector<T> b(LDB * COLUMNS);
  for (int k = 0; k < COLUMNS; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) b[i + k * LDB] += (transposed ? a[j + i * LDA] : a[i + j * LDA]) * x[j + k * LDB];
  return b;
}
template <class T> bool near(const std::vector<T> &got, const std::vector<T> &expected, double by) {
  bool ok = true;
  for (int k = 0; k < COLUMNS; k++) for (int i = 0; i < N; i++) ok &= std::fabs(got[i + k * LDB] - expected[i + k * LDB]) < by;
  return ok;
}
template <class T> std::vector<T> random(size_t count) {
  std::vector<T> all(count);
  for (T &it : all) it = T(next());
  return all;
}

int main() {
  void *handle, *other;
  check(rocblas_create_handle(&handle) == 0 && hipsolverCreate(&other) == 0, "handles");
  std::vector<double> a = random<double>(LDA * N), x = random<double>(LDB * COLUMNS), spd(LDA * N);
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
    double sum = i == j ? 1 : 0;
    for (int k = 0; k < N; k++) sum += a[i + k * LDA] * a[j + k * LDA];
    spd[i + j * LDA] = sum;
  }
  Array<int> info(4), pivots(4 * N);
  for (int triangle : {UPPER, LOWER}) {
    Array<double> factor(spd), b(product(spd, x, false));
    check(rocsolver_dpotrf(handle, triangle, N, factor.gpu, LDA, info.gpu) == 0 && info.get()[0] == 0, "Cholesky");
    check(rocsolver_dpotrs(handle, triangle, N, COLUMNS, factor.gpu, LDA, b.gpu, LDB) == 0 && near(b.get(), x, 1e-9), "solved by Cholesky");
    int bytes = 1;
    Array<double> again(spd);
    check(hipsolverDpotrf_bufferSize(other, triangle, N, again.gpu, LDA, &bytes) == 0 && bytes == 0, "no memory");
    check(hipsolverDpotrf(other, triangle, N, again.gpu, LDA, nullptr, 0, info.gpu) == 0 && again.get() == factor.get(), "the same by hipSOLVER");
  }
  for (int op : {AS_IT_IS, TRANSPOSED}) {
    Array<double> factor(a), b(product(a, x, op == TRANSPOSED)), c(product(a, x, op == TRANSPOSED));
    check(rocsolver_dgetrf(handle, N, N, factor.gpu, LDA, pivots.gpu, info.gpu) == 0 && info.get()[0] == 0, "LU");
    check(rocsolver_dgetrs(handle, op, N, COLUMNS, factor.gpu, LDA, pivots.gpu, b.gpu, LDB) == 0 && near(b.get(), x, 1e-9), "solved by LU");
    Array<double> again(a);
    check(hipsolverDnDgetrf(other, N, N, again.gpu, LDA, nullptr, pivots.gpu, info.gpu) == 0 && again.get() == factor.get(), "the same by hipSOLVER");
    check(hipsolverDnDgetrs(other, op, N, COLUMNS, again.gpu, LDA, pivots.gpu, c.gpu, LDB, info.gpu + 1) == 0 && near(c.get(), x, 1e-9) && info.get()[1] == 0, "solved by hipSOLVER");
  }
  // Three systems at once, the second one singular.
  std::vector<float> many = random<float>(3 * LDA * N), right, y = random<float>(LDB * COLUMNS);
  for (int j = 0; j < N; j++) many[LDA * N + 5 + j * LDA] = 0;
  for (int batch = 0; batch < 3; batch++) {
    std::vector<float> b = product(std::vector<float>(many.begin() + batch * LDA * N, many.begin() + (batch + 1) * LDA * N), y, false);
    right.insert(right.end(), b.begin(), b.end());
  }
  Array<float> factors(many), b(right);
  check(rocsolver_sgetrf_strided_batched(handle, N, N, factors.gpu, LDA, LDA * N, pivots.gpu, N, info.gpu, 3) == 0, "batches");
  std::vector<int> said = info.get();
  check(said[0] == 0 && said[1] > 0 && said[2] == 0, "a singular matrix");
  check(rocsolver_sgetrs_strided_batched(handle, AS_IT_IS, N, COLUMNS, factors.gpu, LDA, LDA * N, pivots.gpu, N, b.gpu, LDB, LDB * COLUMNS, 3) == 0, "batches solved");
  std::vector<float> got = b.get();
  for (int batch : {0, 2}) check(near(std::vector<float>(got.begin() + batch * LDB * COLUMNS, got.begin() + (batch + 1) * LDB * COLUMNS), y, 2e-2), "a system of several");
  std::vector<float> no(LDA * N, -1);
  Array<float> negative(no);
  check(rocsolver_spotrf(handle, LOWER, N, negative.gpu, LDA, info.gpu) == 0 && info.get()[0] == 1, "no root");
  check(rocsolver_spotrf(handle, 7, N, negative.gpu, LDA, info.gpu) == 11 && rocsolver_spotrf(handle, LOWER, N, negative.gpu, N - 1, info.gpu) == 4, "no triangle, too few rows");
  check(rocsolver_dgetri(handle, N, nullptr, N, nullptr, nullptr) == 2, "not supported");
  return wrong;
}
