// Math library calls on the device against the host's library in higher precision.
//
// The device library states the limits of the OpenCL C specification (relative error in units in the last place); each
// function is called on 10,240 inputs: a spread over its domain, and edges. Prints the worst error of each function; the
// exit code is the number of functions beyond their limit.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(255); } } while (0)

constexpr int COUNT = 10240;

// name, arguments, lowest and highest input, limit for float, limit for double, the call, the reference in wider type
#define FUNCTIONS(F) \
  F(sin, -1000, 1000, 4, sin(x), std::sin(x)) \
  F(sin_large, -1e30, 1e30, 4, sin(x), std::sin(x)) \
  F(cos, -1000, 1000, 4, cos(x), std::cos(x)) \
  F(tan, -1000, 1000, 5, tan(x), std::tan(x)) \
  F(asin, -1, 1, 4, asin(x), std::asin(x)) \
  F(acos, -1, 1, 4, acos(x), std::acos(x)) \
  F(atan, -100, 100, 5, atan(x), std::atan(x)) \
  F(atan2, -100, 100, 6, atan2(x, y), std::atan2(x, y)) \
  F(sinh, -60, 60, 4, sinh(x), std::sinh(x)) \
  F(cosh, -60, 60, 4, cosh(x), std::cosh(x)) \
  F(tanh, -10, 10, 5, tanh(x), std::tanh(x)) \
  F(asinh, -1e6, 1e6, 4, asinh(x), std::asinh(x)) \
  F(acosh, 1, 1e6, 4, acosh(x), std::acosh(x)) \
  F(atanh, -1, 1, 5, atanh(x), std::atanh(x)) \
  F(exp, -80, 80, 3, exp(x), std::exp(x)) \
  F(exp2, -120, 120, 3, exp2(x), std::exp2(x)) \
  F(exp10, -35, 35, 3, exp10(x), std::pow((W)10, x)) \
  F(expm1, -20, 20, 3, expm1(x), std::expm1(x)) \
  F(log, 0, 1e30, 3, log(x), std::log(x)) \
  F(log_near_1, 0.5, 2, 3, log(x), std::log(x)) \
  F(log2, 0, 1e30, 3, log2(x), std::log2(x)) \
  F(log10, 0, 1e30, 3, log10(x), std::log10(x)) \
  F(log1p, -1, 100, 2, log1p(x), std::log1p(x)) \
  F(pow, 0, 40, 16, pow(x, y), std::pow(x, y)) \
  F(cbrt, -1e20, 1e20, 2, cbrt(x), std::cbrt(x)) \
  F(rsqrt, 0, 1e20, 2, rsqrt(x), (W)1 / std::sqrt(x)) \
  F(sqrt, 0, 1e20, 3, sqrt(x), std::sqrt(x)) \
  F(hypot, -1e10, 1e10, 4, hypot(x, y), std::hypot(x, y)) \
  F(erf, -5, 5, 16, erf(x), std::erf(x)) \
  F(erfc, -5, 9, 16, erfc(x), std::erfc(x)) \
  F(tgamma, 0.01, 30, 16, tgamma(x), std::tgamma(x)) \
  F(lgamma, 3, 1000, 16, lgamma(x), std::lgamma(x)) \
  F(fmod, -1e6, 1e6, 0, fmod(x, y), std::fmod(x, y)) \
  F(remainder, -1e6, 1e6, 0, remainder(x, y), std::remainder(x, y)) \
  F(ldexp, -10, 10, 0, ldexp(x, (int)fmin(fmax(y, -2000), 2000)), std::ldexp(x, (int)std::fmin(std::fmax(y, (W)-2000), (W)2000))) \
  F(fma, -1e6, 1e6, 0, fma(x, y, x), (W)std::fma((T)x, (T)y, (T)x)) \
  F(nextafter, -10, 10, 0, nextafter(x, y), (W)std::nextafter((T)x, (T)y)) \
  F(divide, -1e10, 1e10, 3, x / y, x / y)

#define KERNEL(name, low, high, limit, call, reference) \
  __global__ void f32_##name(const float *px, const float *py, float *out) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x; \
    float x = px[i], y = py[i]; \
    out[i] = call; \
  } \
  __global__ void f64_##name(const double *px, const double *py, double *out) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x; \
    double x = px[i], y = py[i]; \
    out[i] = call; \
  } \
  template <class T, class W> static W host_##name(W x, W y) { return reference; }
FUNCTIONS(KERNEL)

static unsigned long long state;
static double random01() {
  state += 0x9e3779b97f4a7c15;
  unsigned long long bits = state;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return ((bits ^ bits >> 31) >> 11) / 9007199254740992.0;
}

// Edges first, then half of them spread evenly, half by size.
template <class T> static std::vector<T> inputs(double low, double high, int seed) {
  using limits = std::numeric_limits<T>;
  std::vector<T> values = {0, T(-0.0), 1, -1, limits::min(), -limits::min(), limits::denorm_min(), limits::max(),
      -limits::max(), limits::infinity(), -limits::infinity(), limits::quiet_NaN(), T(0.5), 2, T(low), T(high)};
  if (seed) for (size_t i = 0; i + 1 < values.size(); i++) std::swap(values[i], values[(i * 7 + 3) % values.size()]);
  state = seed;
  while (values.size() < COUNT) {
    double even = low + (high - low) * random01();
    values.push_back(even);
    double size = std::exp2(-40 * random01());
    values.push_back(low > 0 ? low + (high - low) * size : low < 0 && random01() < 0.5 ? low * size : high * size);
  }
  values.resize(COUNT);
  return values;
}

// Distance of a result from the exact value, in units in the last place of the result's type.
template <class T, class W> static double distance(T found, W exact) {
  using limits = std::numeric_limits<T>;
  T rounded = (T)exact;
  if (std::isnan(found) || std::isnan(exact)) return std::isnan(found) && std::isnan(exact) ? 0 : INFINITY;
  if (found == rounded) return 0;
  if (std::isinf(found) || std::isinf(rounded)) {
    // Infinity stands for the number after the largest.
    W limit = std::ldexp((W)1, limits::max_exponent);
    if (std::isinf(found)) return distance<T, W>(std::copysign(limits::max(), found), exact) + 1;
    if (std::isinf(exact)) return INFINITY;
    return (double)(std::fabs((W)found - std::copysign(limit, exact)) / std::ldexp((W)1, limits::max_exponent - limits::digits));
  }
  int exponent;
  std::frexp(exact, &exponent);
  exponent = std::max(exponent, limits::min_exponent);
  return (double)(std::fabs((W)found - exact) / std::ldexp((W)1, exponent - limits::digits));
}

template <class T, class W>
static int check(const char *name, void (*kernel)(const T *, const T *, T *), W (*host)(W, W), double low, double high, double limit) {
  std::vector<T> x = inputs<T>(low, high, 0), y = inputs<T>(low, high, 1), found(COUNT);
  T *dx, *dy, *dout;
  OK(hipMalloc(&dx, COUNT * sizeof(T)));
  OK(hipMalloc(&dy, COUNT * sizeof(T)));
  OK(hipMalloc(&dout, COUNT * sizeof(T)));
  OK(hipMemcpy(dx, x.data(), COUNT * sizeof(T), hipMemcpyHostToDevice));
  OK(hipMemcpy(dy, y.data(), COUNT * sizeof(T), hipMemcpyHostToDevice));
  kernel<<<COUNT / 256, 256>>>(dx, dy, dout);
  OK(hipGetLastError());
  OK(hipMemcpy(found.data(), dout, COUNT * sizeof(T), hipMemcpyDeviceToHost));
  OK(hipFree(dx));
  OK(hipFree(dy));
  OK(hipFree(dout));
  double worst = 0;
  int at = 0;
  for (int i = 0; i < COUNT; i++) {
    double error = distance<T, W>(found[i], host(x[i], y[i]));
    if (!(error <= worst)) { worst = error; at = i; }
  }
  bool bad = !(worst <= limit);
  printf("%s %s: %.2f of %g", bad ? "beyond" : "within", name, worst, limit);
  if (bad) printf(" at %a, %a: %a, exact %a", (double)x[at], (double)y[at], (double)found[at], (double)host(x[at], y[at]));
  printf("\n");
  return bad;
}

int main() {
  int bad = 0;
#define CHECK(name, low, high, limit, call, reference) \
  bad += check<float, double>("f32 " #name, f32_##name, host_##name<float, double>, low, high, limit > 0 ? limit : 0.5); \
  bad += check<double, long double>("f64 " #name, f64_##name, host_##name<double, long double>, low, high, limit > 0 ? limit : 0.5);
  FUNCTIONS(CHECK)
  return bad;
}
