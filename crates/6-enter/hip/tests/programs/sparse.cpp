// Sparse matrices, compared with the CPU. The exit code is the number of results and statuses that are wrong. Prototypes are
// written after the public documentation; handles, descriptions and enumerations are plain numbers, as they are in a call.
#include <hip/hip_runtime.h>
#include "checking.h"
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

typedef void *Handle;
extern "C" {
int hipsparseCreate(Handle *);
int hipsparseDestroy(Handle);
int hipsparseSetPointerMode(Handle, int);
int hipsparseCreateCsr(Handle *, long, long, long, void *, void *, void *, int, int, int, int);
int hipsparseCreateCsc(Handle *, long, long, long, void *, void *, void *, int, int, int, int);
int hipsparseCreateCoo(Handle *, long, long, long, void *, void *, void *, int, int, int);
int hipsparseDestroySpMat(Handle);
int hipsparseSpMatGetSize(Handle, long *, long *, long *);
int hipsparseCsrSetPointers(Handle, void *, void *, void *);
int hipsparseSpMatSetAttribute(Handle, int, const void *, size_t);
int hipsparseCreateDnVec(Handle *, long, void *, int);
int hipsparseDestroyDnVec(Handle);
int hipsparseCreateDnMat(Handle *, long, long, long, void *, int, int);
int hipsparseCreateSpVec(Handle *, long, long, void *, void *, int, int, int);
int hipsparseSpMV_bufferSize(Handle, int, const void *, Handle, Handle, const void *, Handle, int, int, size_t *);
int hipsparseSpMV(Handle, int, const void *, Handle, Handle, const void *, Handle, int, int, void *);
int hipsparseSpMM_bufferSize(Handle, int, int, const void *, Handle, Handle, const void *, Handle, int, int, size_t *);
int hipsparseSpMM(Handle, int, int, const void *, Handle, Handle, const void *, Handle, int, int, void *);
int hipsparseSpSV_createDescr(Handle *);
int hipsparseSpSV_analysis(Handle, int, const void *, Handle, Handle, Handle, int, int, Handle, void *);
int hipsparseSpSV_solve(Handle, int, const void *, Handle, Handle, Handle, int, int, Handle);
int hipsparseSpVV(Handle, int, Handle, Handle, void *, int, void *);
int hipsparseAxpby(Handle, const void *, Handle, const void *, Handle);
int hipsparseGather(Handle, Handle, Handle);
int hipsparseSparseToDense(Handle, Handle, Handle, int, void *);
int hipsparseDenseToSparse_analysis(Handle, Handle, Handle, int, void *);
int hipsparseDenseToSparse_convert(Handle, Handle, Handle, int, void *);
int hipsparseCreateMatDescr(Handle *);
int hipsparseSetMatIndexBase(Handle, int);
int hipsparseGetMatIndexBase(Handle);
int hipsparseXcsr2coo(Handle, const int *, int, int, int *, int);
int hipsparseXcoo2csr(Handle, const int *, int, int, int *, int);
int hipsparseCreateIdentityPermutation(Handle, int, int *);
int hipsparseXcsrsort(Handle, int, int, int, Handle, const int *, int *, int *, void *);
int hipsparseXcoosortByRow(Handle, int, int, int, int *, int *, int *, void *);
int hipsparseXcoosortByColumn(Handle, int, int, int, int *, int *, int *, void *);
int hipsparseDcsr2csc(Handle, int, int, int, const double *, const int *, const int *, double *, int *, int *, int, int);
int hipsparseCsr2cscEx2(Handle, int, int, int, const void *, const int *, const int *, void *, int *, int *, int, int, int, int, void *);
int hipsparseDcsrmv(Handle, int, int, int, int, const double *, Handle, const double *, const int *, const int *, const double *, const double *, double *);
int hipsparseDcsrmm2(Handle, int, int, int, int, int, int, const double *, Handle, const double *, const int *, const int *, const double *, int, const double *, double *, int);
int hipsparseDnnz(Handle, int, int, int, Handle, const double *, int, int *, int *);
int hipsparseDdense2csr(Handle, int, int, Handle, const double *, int, const int *, double *, int *, int *);
int hipsparseDcsr2dense(Handle, int, int, Handle, const double *, const int *, const int *, double *, int);
int hipsparseXcsrgeam2Nnz(Handle, int, int, Handle, int, const int *, const int *, Handle, int, const int *, const int *, Handle, int *, int *, void *);
int hipsparseDcsrgeam2(Handle, int, int, const double *, Handle, int, const double *, const int *, const int *, const double *, Handle, int, const double *, const int *, const int *, Handle, double *, int *, int *, void *);
int hipsparseDaxpyi(Handle, int, const double *, const double *, const int *, double *, int);
int hipsparseDdoti(Handle, int, const double *, const int *, const double *, double *, int);
int hipsparseDbsrmv(Handle);
}

enum { AS_IT_IS, TRANSPOSED, CONJUGATED };
enum { F32 = 0, F64 = 1, C32 = 4, C64 = 5 };
enum { NARROW = 2, WIDE = 3, BY_COLUMNS = 1, BY_ROWS = 2 };
enum { M = 75, N = 52 };

static Handle handle;
template <class T> int kind();
template <> int kind<float>() { return F32; }
template <> int kind<double>() { return F64; }
template <> int kind<std::complex<float>>() { return C32; }
template <> int kind<std::complex<double>>() { return C64; }
template <class T> T number() { return T(next()); }
template <> std::complex<float> number() { return {float(next()), float(next())}; }
template <> std::complex<double> number() { return {next(), next()}; }
template <class T> T conjugate(T x) { return x; }
template <class T> std::complex<T> conjugate(std::complex<T> x) { return std::conj(x); }
template <class T> std::vector<T> numbers(size_t count) {
  std::vector<T> all(count);
  for (T &it : all) it = number<T>();
  return all;
}
template <class T> bool near(const std::vector<T> &got, const std::vector<T> &expected, double by) {
  for (size_t i = 0; i < expected.size(); i++) if (!(std::abs(got[i] - expected[i]) <= by)) return false;
  return true;
}
template <class T> double tolerance() { return sizeof(T) == sizeof(float) || std::is_same<T, std::complex<float>>::value ? 2e-5 : 1e-12; }

// A matrix with empty, short and full rows, as a map and in its forms.
template <class T, class I> struct Matrix {
  int rows, columns, base;
  std::map<std::pair<int, int>, T> elements;
  std::vector<I> row_starts, row_of, column_of, column_starts, column_rows;
  std::vector<T> values, column_values;
  Matrix(int rows, int columns, int base) : rows(rows), columns(columns), base(base) {
    for (int i = 0; i < rows; i++) {
      int wanted = i % 7 == 0 ? 0 : i == 5 ? columns : 1 + int(next_word() >> 16) % 9;
      for (int k = 0; k < wanted; k++) elements[{i, i == 5 ? k : int(next_word() >> 16) % columns}] = number<T>();
    }
    fill();
  }
  void fill() {
    row_starts.assign(rows + 1, base), column_starts.assign(columns + 1, base);
    for (auto &it : elements) {
      row_starts[it.first.first + 1]++, column_starts[it.first.second + 1]++;
      row_of.push_back(it.first.first + base), column_of.push_back(it.first.second + base), values.push_back(it.second);
    }
    for (int i = 0; i < rows; i++) row_starts[i + 1] += row_starts[i] - base;
    for (int i = 0; i < columns; i++) column_starts[i + 1] += column_starts[i] - base;
    std::map<std::pair<int, int>, T> other;
    for (auto &it : elements) other[{it.first.second, it.first.first}] = it.second;
    for (auto &it : other) column_rows.push_back(it.first.second + base), column_values.push_back(it.second);
  }
  int count() const { return int(values.size()); }
  // alpha op(A) b + beta c, of matrices by columns.
  std::vector<T> times(int op, T alpha, const std::vector<T> &b, T beta, std::vector<T> c, int width) const {
    int to = op ? columns : rows, from = op ? rows : columns;
    for (T &it : c) it = it * beta;
    for (auto &it : elements) for (int k = 0; k < width; k++) {
      int i = op ? it.first.second : it.first.first, j = op ? it.first.first : it.first.second;
      c[i + k * to] += alpha * (op == CONJUGATED ? conjugate(it.second) : it.second) * b[j + k * from];
    }
    return c;
  }
};

template <class T, class I> void products(int base) {
  Matrix<T, I> a(M, N, base);
  int index = sizeof(I) == 8 ? WIDE : NARROW, count = a.count();
  Array<I> starts(a.row_starts), across(a.column_of), list(a.row_of), column_starts(a.column_starts), column_rows(a.column_rows);
  Array<T> values(a.values), column_values(a.column_values);
  Handle all[3];
  check(hipsparseCreateCsr(&all[0], M, N, count, starts.gpu, across.gpu, values.gpu, index, index, base, kind<T>()) == 0, "rows");
  check(hipsparseCreateCoo(&all[1], M, N, count, list.gpu, across.gpu, values.gpu, index, base, kind<T>()) == 0, "a list");
  check(hipsparseCreateCsc(&all[2], M, N, count, column_starts.gpu, column_rows.gpu, column_values.gpu, index, index, base, kind<T>()) == 0, "columns");
  T alpha = number<T>(), beta = number<T>(), zero = 0;
  for (Handle matrix : all) for (int op : {AS_IT_IS, TRANSPOSED, CONJUGATED}) {
    int rows = op ? N : M, inner = op ? M : N;
    std::vector<T> x = numbers<T>(inner * 3), y = numbers<T>(rows * 3);
    Array<T> gx(x), gy(y);
    Handle vx, vy;
    check(hipsparseCreateDnVec(&vx, inner, gx.gpu, kind<T>()) == 0 && hipsparseCreateDnVec(&vy, rows, gy.gpu, kind<T>()) == 0, "vectors");
    size_t bytes = 1;
    check(hipsparseSpMV_bufferSize(handle, op, &alpha, matrix, vx, &beta, vy, kind<T>(), 0, &bytes) == 0 && bytes == 0, "no memory");
    check(hipsparseSpMV(handle, op, &alpha, matrix, vx, &beta, vy, kind<T>(), 0, nullptr) == 0, "SpMV");
    std::vector<T> x1(x.begin(), x.begin() + inner), y1(y.begin(), y.begin() + rows);
    check(near(gy.get(), a.times(op, alpha, x1, beta, y1, 1), tolerance<T>() * 20), "matrix times vector");
    // Three columns of B and C, C by rows and by columns; beta 0 does not read C.
    for (int order : {BY_COLUMNS, BY_ROWS}) {
      std::vector<T> c(rows * 3, T(NAN)), expected = a.times(op, alpha, x, T(0), std::vector<T>(rows * 3), 3), found(rows * 3);
      Array<T> gc(c);
      Handle b, to;
      check(hipsparseCreateDnMat(&b, inner, 3, inner, gx.gpu, kind<T>(), BY_COLUMNS) == 0 && hipsparseCreateDnMat(&to, rows, 3, order == BY_ROWS ? 3 : rows, gc.gpu, kind<T>(), order) == 0, "matrices");
      check(hipsparseSpMM(handle, op, AS_IT_IS, &alpha, matrix, b, &zero, to, kind<T>(), 0, nullptr) == 0, "SpMM");
      c = gc.get();
      for (int i = 0; i < rows; i++) for (int k = 0; k < 3; k++) found[i + k * rows] = order == BY_ROWS ? c[i * 3 + k] : c[i + k * rows];
      check(near(found, expected, tolerance<T>() * 20), "matrix times matrix");
    }
  }
}

void generic() {
  products<float, int>(0);
  products<double, int>(1);
  products<double, long>(0);
  products<std::complex<float>, int>(0);
  products<std::complex<double>, long>(1);
}

void older() {
  for (int base : {0, 1}) {
    Matrix<double, int> a(M, N, base);
    int count = a.count();
    Array<int> starts(a.row_starts), across(a.column_of), list(count), again(M + 1);
    Array<double> values(a.values);
    Handle description;
    check(hipsparseCreateMatDescr(&description) == 0 && hipsparseSetMatIndexBase(description, base) == 0 && hipsparseGetMatIndexBase(description) == base, "a description");
    check(hipsparseXcsr2coo(handle, starts.gpu, count, M, list.gpu, base) == 0 && list.get() == a.row_of, "rows to a list");
    check(hipsparseXcoo2csr(handle, list.gpu, count, M, again.gpu, base) == 0 && again.get() == a.row_starts, "a list to rows");
    Array<int> rows(count), columns(N + 1), rows2(count), columns2(N + 1);
    Array<double> moved(count), moved2(count);
    check(hipsparseDcsr2csc(handle, M, N, count, values.gpu, starts.gpu, across.gpu, moved.gpu, rows.gpu, columns.gpu, 1, base) == 0, "csr2csc");
    check(hipsparseCsr2cscEx2(handle, M, N, count, values.gpu, starts.gpu, across.gpu, moved2.gpu, columns2.gpu, rows2.gpu, F64, 1, base, 1, nullptr) == 0, "Csr2cscEx2");
    check(rows.get() == a.column_rows && columns.get() == a.column_starts && moved.get() == a.column_values, "rows to columns");
    check(rows2.get() == a.column_rows && columns2.get() == a.column_starts && moved2.get() == a.column_values, "rows to columns by the newer function");
    std::vector<double> x = numbers<double>(M * 2), y = numbers<double>(M * 2);
    double alpha = 1.5, beta = -0.5;
    for (int op : {AS_IT_IS, TRANSPOSED}) {
      int to = op ? N : M, from = op ? M : N;
      std::vector<double> x1(x.begin(), x.begin() + from), y1(y.begin(), y.begin() + to), x2(x.begin(), x.begin() + 2 * from), y2(y.begin(), y.begin() + 2 * to);
      Array<double> gx(x), gy(y1), gz(y2);
      check(hipsparseDcsrmv(handle, op, M, N, count, &alpha, description, values.gpu, starts.gpu, across.gpu, gx.gpu, &beta, gy.gpu) == 0 && near(gy.get(), a.times(op, alpha, x1, beta, y1, 1), 1e-11), "csrmv");
      check(hipsparseDcsrmm2(handle, op, AS_IT_IS, M, 2, N, count, &alpha, description, values.gpu, starts.gpu, across.gpu, gx.gpu, from, &beta, gz.gpu, to) == 0 && near(gz.get(), a.times(op, alpha, x2, beta, y2, 2), 1e-11), "csrmm2");
    }
    // A dense matrix and back.
    Array<double> dense(numbers<double>(M * N)), values2(count);
    Array<int> per_row(M), starts2(M + 1), across2(count);
    int total = 0;
    check(hipsparseDcsr2dense(handle, M, N, description, values.gpu, starts.gpu, across.gpu, dense.gpu, M) == 0, "csr2dense");
    std::vector<double> elements(M * N);
    for (auto &it : a.elements) elements[it.first.first + it.first.second * M] = it.second;
    check(dense.get() == elements, "the dense matrix");
    check(hipsparseDnnz(handle, 0, M, N, description, dense.gpu, M, per_row.gpu, &total) == 0 && total == count && per_row.get()[5] == N, "nnz");
    check(hipsparseDdense2csr(handle, M, N, description, dense.gpu, M, per_row.gpu, values2.gpu, starts2.gpu, across2.gpu) == 0, "dense2csr");
    check(values2.get() == a.values && starts2.get() == a.row_starts && across2.get() == a.column_of, "the sparse matrix again");
    // A sum of two matrices.
    Matrix<double, int> b(M, N, base);
    Array<int> starts_b(b.row_starts), across_b(b.column_of), starts_c(M + 1);
    Array<double> values_b(b.values);
    check(hipsparseXcsrgeam2Nnz(handle, M, N, description, count, starts.gpu, across.gpu, description, b.count(), starts_b.gpu, across_b.gpu, description, starts_c.gpu, &total, nullptr) == 0, "csrgeam2Nnz");
    Matrix<double, int> c = a;
    for (auto &it : c.elements) it.second *= alpha;
    for (auto &it : b.elements) c.elements[it.first] += beta * it.second;
    c.row_of.clear(), c.column_of.clear(), c.values.clear();
    c.fill();
    Array<int> across_c(c.count());
    Array<double> values_c(c.count());
    check(total == c.count() && starts_c.get() == c.row_starts, "rows of the sum");
    check(hipsparseDcsrgeam2(handle, M, N, &alpha, description, count, values.gpu, starts.gpu, across.gpu, &beta, description, b.count(), values_b.gpu, starts_b.gpu, across_b.gpu, description, values_c.gpu, starts_c.gpu, across_c.gpu, nullptr) == 0, "csrgeam2");
    check(across_c.get() == c.column_of && near(values_c.get(), c.values, 1e-14), "the sum");
  }
}

void sorts() {
  Matrix<double, int> a(M, N, 0);
  int count = a.count();
  std::vector<int> places(count);
  for (int i = 0; i < count; i++) places[i] = i;
  for (int i = count - 1; i > 0; i--) std::swap(places[i], places[(next_word() >> 8) % (i + 1)]);
  std::vector<int> rows(count), columns(count);
  for (int i = 0; i < count; i++) rows[i] = a.row_of[places[i]], columns[i] = a.column_of[places[i]];
  Array<int> r(rows), c(columns), p(count), r2(rows), c2(columns), p2(count);
  hipsparseCreateIdentityPermutation(handle, count, p.gpu), hipsparseCreateIdentityPermutation(handle, count, p2.gpu);
  check(hipsparseXcoosortByRow(handle, M, N, count, r.gpu, c.gpu, p.gpu, nullptr) == 0 && r.get() == a.row_of && c.get() == a.column_of, "a list by rows");
  bool ok = true;
  std::vector<int> order = p.get();
  for (int i = 0; i < count; i++) ok &= places[order[i]] == i;
  check(ok, "where elements were");
  check(hipsparseXcoosortByColumn(handle, M, N, count, r2.gpu, c2.gpu, p2.gpu, nullptr) == 0 && r2.get() == a.column_rows, "a list by columns");
  std::vector<int> mixed = a.column_of;
  for (int i = 0; i < M; i++) std::reverse(mixed.begin() + a.row_starts[i], mixed.begin() + a.row_starts[i + 1]);
  Array<int> starts(a.row_starts), across(mixed), p3(count);
  Handle description;
  hipsparseCreateMatDescr(&description), hipsparseCreateIdentityPermutation(handle, count, p3.gpu);
  check(hipsparseXcsrsort(handle, M, N, count, description, starts.gpu, across.gpu, p3.gpu, nullptr) == 0 && across.get() == a.column_of && p3.get()[a.row_starts[5]] == a.row_starts[6] - 1, "columns of rows");
}

void vectors() {
  std::vector<int> indices = {3, 0, 17, 8};
  std::vector<double> x = numbers<double>(4), y = numbers<double>(20), sum = y;
  Array<int> gi(indices);
  Array<double> gx(x), gy(y);
  Handle sparse, dense;
  check(hipsparseCreateSpVec(&sparse, 20, 4, gi.gpu, gx.gpu, NARROW, 0, F64) == 0 && hipsparseCreateDnVec(&dense, 20, gy.gpu, F64) == 0, "vectors");
  double expected = 0, found = 0, alpha = 2, beta = 3;
  for (int i = 0; i < 4; i++) expected += x[i] * y[indices[i]];
  check(hipsparseSpVV(handle, AS_IT_IS, sparse, dense, &found, F64, nullptr) == 0 && std::fabs(found - expected) < 1e-14, "a product");
  Array<double> result(1);
  check(hipsparseSetPointerMode(handle, 1) == 0 && hipsparseDdoti(handle, 4, gx.gpu, gi.gpu, gy.gpu, result.gpu, 0) == 0 && std::fabs(result.get()[0] - expected) < 1e-14, "a product to the GPU");
  hipsparseSetPointerMode(handle, 0);
  for (double &it : sum) it *= beta;
  for (int i = 0; i < 4; i++) sum[indices[i]] += alpha * x[i];
  check(hipsparseAxpby(handle, &alpha, sparse, &beta, dense) == 0 && near(gy.get(), sum, 1e-14), "a sum");
  for (int i = 0; i < 4; i++) sum[indices[i]] += alpha * x[i];
  check(hipsparseDaxpyi(handle, 4, &alpha, gx.gpu, gi.gpu, gy.gpu, 0) == 0 && near(gy.get(), sum, 1e-14), "the older sum");
  check(hipsparseGather(handle, dense, sparse) == 0 && gx.get()[2] == gy.get()[17], "gathered");
}

void dense() {
  Matrix<float, int> a(M, N, 0);
  std::vector<float> elements(M * N);
  for (auto &it : a.elements) elements[it.first.first * N + it.first.second] = it.second;
  Array<float> gd(elements), values(a.count()), again(numbers<float>(M * N));
  Array<int> starts(M + 1), list(a.count()), across(a.count());
  Handle matrix, rows, to;
  hipsparseCreateDnMat(&matrix, M, N, N, gd.gpu, F32, BY_ROWS);
  hipsparseCreateCsr(&rows, M, N, 0, starts.gpu, nullptr, nullptr, NARROW, NARROW, 0, F32);
  long m, n, count = 0;
  check(hipsparseDenseToSparse_analysis(handle, matrix, rows, 0, nullptr) == 0 && hipsparseSpMatGetSize(rows, &m, &n, &count) == 0 && count == a.count() && m == M && n == N, "size of the sparse matrix");
  check(hipsparseCsrSetPointers(rows, starts.gpu, across.gpu, values.gpu) == 0 && hipsparseDenseToSparse_convert(handle, matrix, rows, 0, nullptr) == 0, "DenseToSparse");
  check(starts.get() == a.row_starts && across.get() == a.column_of && values.get() == a.values, "elements");
  hipsparseCreateDnMat(&to, M, N, N, again.gpu, F32, BY_ROWS);
  check(hipsparseSparseToDense(handle, rows, to, 0, nullptr) == 0 && again.get() == elements, "the dense matrix again");
  Handle coo;
  Array<int> list_across(a.count());
  Array<float> list_values(a.count());
  hipsparseCreateCoo(&coo, M, N, a.count(), list.gpu, list_across.gpu, list_values.gpu, NARROW, 0, F32);
  check(hipsparseDenseToSparse_convert(handle, matrix, coo, 0, nullptr) == 0 && list.get() == a.row_of && list_across.get() == a.column_of && list_values.get() == a.values, "a list of a dense matrix");
}

void triangles() {
  for (int upper : {0, 1}) {
    Matrix<double, int> a(70, 70, 0);
    for (int i = 0; i < 70; i++) a.elements[{i, i}] = 4 + next();
    a.row_of.clear(), a.column_of.clear(), a.values.clear();
    a.fill();
    std::vector<double> x = numbers<double>(70), b(70);
    for (auto &it : a.elements) if (upper ? it.first.second >= it.first.first : it.first.second <= it.first.first) b[it.first.first] += it.second * x[it.first.second];
    Array<int> starts(a.row_starts), across(a.column_of);
    Array<double> values(a.values), gb(b), gx(70);
    Handle matrix, from, to, plan;
    double one = 1;
    hipsparseCreateCsr(&matrix, 70, 70, a.count(), starts.gpu, across.gpu, values.gpu, NARROW, NARROW, 0, F64);
    hipsparseCreateDnVec(&from, 70, gb.gpu, F64), hipsparseCreateDnVec(&to, 70, gx.gpu, F64);
    check(hipsparseSpMatSetAttribute(matrix, 0, &upper, 4) == 0 && hipsparseSpSV_createDescr(&plan) == 0, "a triangle");
    check(hipsparseSpSV_analysis(handle, 0, &one, matrix, from, to, F64, 0, plan, nullptr) == 0 && hipsparseSpSV_solve(handle, 0, &one, matrix, from, to, F64, 0, plan) == 0 && near(gx.get(), x, 1e-9), "a triangle solved");
  }
}

void refused() {
  double one = 1;
  Array<double> values(10);
  Array<int> indices(11);
  Handle matrix, x, y;
  check(hipsparseCreateCsr(&matrix, 10, 10, 10, indices.gpu, indices.gpu, nullptr, NARROW, NARROW, 0, F64) == 3, "no values");
  check(hipsparseCreateCsr(&matrix, 10, 10, 10, indices.gpu, indices.gpu, values.gpu, 1, NARROW, 0, F64) == 10, "16-bit indices");
  check(hipsparseCreateCsr(&matrix, 10, 10, 10, indices.gpu, indices.gpu, values.gpu, NARROW, NARROW, 0, F64) == 0, "a matrix");
  hipsparseCreateDnVec(&x, 10, values.gpu, F64), hipsparseCreateDnVec(&y, 9, values.gpu, F64);
  check(hipsparseSpMV(handle, 0, &one, matrix, x, &one, y, F64, 0, nullptr) == 3, "sizes that differ");
  check(hipsparseSpMV(handle, 0, &one, matrix, x, &one, x, F32, 0, nullptr) == 10, "types that differ");
  check(hipsparseSpMV(handle, 0, &one, x, x, &one, x, F64, 0, nullptr) == 1, "no matrix");
  check(hipsparseDestroySpMat(matrix) == 0 && hipsparseDestroySpMat(matrix) == 1, "ended twice");
  check(hipsparseDbsrmv(handle) == 10, "not supported");
}

int main(int, char **words) {
  check(hipsparseCreate(&handle) == 0, "a handle");
  std::string part = words[1];
  if (part == "generic") generic();
  if (part == "older") older();
  if (part == "sorts") sorts();
  if (part == "vectors") vectors();
  if (part == "dense") dense();
  if (part == "triangles") triangles();
  if (part == "refused") refused();
  check(hipsparseDestroy(handle) == 0, "its end");
  return wrong;
}
