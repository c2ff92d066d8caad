// A program that compiles its kernels while it runs. The first argument says what; the exit code is the number of failed checks.
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>
#include <dlfcn.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// Newer than the headers of some systems.
extern "C" {
hiprtcResult hiprtcGetBitcode(hiprtcProgram program, char *bitcode);
hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram program, size_t *size);
hiprtcResult hiprtcLinkCreate(unsigned count, void *options, void **values, void **link);
hiprtcResult hiprtcLinkAddData(void *link, int kind, void *image, size_t bytes, const char *name, unsigned count, void *options, void **values);
hiprtcResult hiprtcLinkComplete(void *link, void **code, size_t *bytes);
hiprtcResult hiprtcLinkDestroy(void *link);
}

static int failed = 0;
#define CHECK(condition) \
  do { if (!(condition)) { failed++; printf("line %d: %s\n", __LINE__, #condition); } } while (0)
#define OK(call) CHECK((int)(call) == 0)

static std::string log_of(hiprtcProgram program) {
  size_t size = 0; OK(hiprtcGetProgramLogSize(program, &size));
  std::string log(size, 'x'); OK(hiprtcGetProgramLog(program, &log[0]));
  CHECK(log.back() == 0); log.pop_back(); return log;
}
static std::vector<char> code_of(hiprtcProgram program) {
  size_t size = 0; OK(hiprtcGetCodeSize(program, &size));
  std::vector<char> code(size); OK(hiprtcGetCode(program, code.data())); return code;
}

static const char *source = R"(
#include "more.h"
__constant__ float offset = 0.5f;
template <class T> __global__ void __launch_bounds__(256) axpy(T k, const T *x, T *y, int n) {
  __shared__ T part[256];
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = id < n ? x[id] : T(0);
  __syncthreads();
  if (id < n) y[id] = k * part[threadIdx.x] + y[id] + T(offset) + T(MORE) + T(EXTRA);
}
namespace inner { __global__ void count(unsigned *out, float4 *v, uint64_t *bits) {
  atomicAdd(out, 1u);
  unsigned lane = __lane_id();
  float sum = float(lane);
  for (int step = 32; step > 0; step >>= 1) sum += __shfl_xor(sum, step);
  uint64_t odd = __ballot(lane & 1);
  if (threadIdx.x == 0) { v[blockIdx.x] = make_float4(sum, sqrtf(16.0f), float(gridDim.x), float(blockDim.x)) * 2.0f; bits[blockIdx.x] = odd; }
} }
)";

static void whole() {
  void *library = dlopen("libhiprtc.so", RTLD_NOW); CHECK(library && dlsym(library, "hiprtcCompileProgram"));
  int major = 0, minor = 0; OK(hiprtcVersion(&major, &minor)); CHECK(major >= 5);
  CHECK(!strcmp(hiprtcGetErrorString(HIPRTC_ERROR_COMPILATION), "HIPRTC_ERROR_COMPILATION"));
  const char *header = "#define MORE 2\n", *name = "more.h";
  hiprtcProgram program; OK(hiprtcCreateProgram(&program, source, "axpy.cu", 1, &header, &name));
  for (const char *it : {"axpy<float>", "&axpy<double>", "inner::count", "&offset"}) OK(hiprtcAddNameExpression(program, it));
  const char *lowered = nullptr;
  CHECK(hiprtcGetLoweredName(program, "axpy<float>", &lowered) == HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
  hipDeviceProp_t properties; OK(hipGetDeviceProperties(&properties, 0));
  std::string target = std::string("--gpu-architecture=") + properties.gcnArchName;
  const char *options[] = {target.c_str(), "-DEXTRA=1", "-std=c++17"};
  OK(hiprtcCompileProgram(program, 3, options)); printf("%s", log_of(program).c_str());
  CHECK(hiprtcAddNameExpression(program, "late") == HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
  CHECK(hiprtcGetLoweredName(program, "axpy<int>", &lowered) == HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
  std::vector<char> code = code_of(program);
  hipModule_t module; OK(hipModuleLoadData(&module, code.data()));
  hipFunction_t axpy, axpy_double, count; hipDeviceptr_t offset; size_t bytes;
  OK(hiprtcGetLoweredName(program, "axpy<float>", &lowered)); OK(hipModuleGetFunction(&axpy, module, lowered));
  OK(hiprtcGetLoweredName(program, "&axpy<double>", &lowered)); OK(hipModuleGetFunction(&axpy_double, module, lowered));
  OK(hiprtcGetLoweredName(program, "inner::count", &lowered)); OK(hipModuleGetFunction(&count, module, lowered));
  OK(hiprtcGetLoweredName(program, "&offset", &lowered)); OK(hipModuleGetGlobal(&offset, &bytes, module, lowered)); CHECK(bytes == 4);
  OK(hiprtcDestroyProgram(&program)); CHECK(program == nullptr);

  int n = 1000; std::vector<float> x(n), y(n); float k = 3, quarter = 0.25f;
  for (int i = 0; i < n; i++) { x[i] = i; y[i] = 2 * i; }
  float *dx, *dy; OK(hipMalloc(&dx, n * 4)); OK(hipMalloc(&dy, n * 4));
  OK(hipMemcpy(dx, x.data(), n * 4, hipMemcpyHostToDevice)); OK(hipMemcpy(dy, y.data(), n * 4, hipMemcpyHostToDevice));
  OK(hipMemcpyHtoD(offset, &quarter, 4));
  void *arguments[] = {&k, &dx, &dy, &n};
  OK(hipModuleLaunchKernel(axpy, 4, 1, 1, 256, 1, 1, 0, 0, arguments, nullptr));
  OK(hipMemcpy(y.data(), dy, n * 4, hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) if (y[i] != 5.0f * i + 3.25f) { CHECK(y[i] == 5.0f * i + 3.25f); break; }
  unsigned *counter, total; float *v, host[12]; uint64_t *bits, odd;
  OK(hipMalloc(&counter, 4)); OK(hipMemset(counter, 0, 4)); OK(hipMalloc(&v, 48)); OK(hipMalloc(&bits, 24));
  void *counts[] = {&counter, &v, &bits};
  OK(hipModuleLaunchKernel(count, 3, 1, 1, 64, 1, 1, 0, 0, counts, nullptr));
  OK(hipMemcpy(&total, counter, 4, hipMemcpyDeviceToHost)); CHECK(total == 192);
  OK(hipMemcpy(host, v, 48, hipMemcpyDeviceToHost));
  CHECK(host[8] == 2 * 2016.0f && host[9] == 8 && host[10] == 6 && host[11] == 128);
  OK(hipMemcpy(&odd, bits, 8, hipMemcpyDeviceToHost)); CHECK(odd == 0xaaaaaaaaaaaaaaaaull);
}

// What the compiler says is the program's to read.
static void wrong() {
  hiprtcProgram program;
  CHECK(hiprtcCreateProgram(nullptr, source, "a", 0, nullptr, nullptr) == HIPRTC_ERROR_INVALID_INPUT);
  OK(hiprtcCreateProgram(&program, "__global__ void f() { nonsense; }\n", "wrong.cu", 0, nullptr, nullptr));
  CHECK(hiprtcCompileProgram(program, 0, nullptr) == HIPRTC_ERROR_COMPILATION);
  std::string log = log_of(program);
  CHECK(log.find("wrong.cu:1:23: error: use of undeclared identifier 'nonsense'") != std::string::npos);
  size_t size; CHECK(hiprtcGetCodeSize(program, &size) == HIPRTC_ERROR_INVALID_PROGRAM);
  OK(hiprtcDestroyProgram(&program));
  hiprtcProgram gone = (hiprtcProgram)0x1234;
  CHECK(hiprtcCompileProgram(gone, 0, nullptr) == HIPRTC_ERROR_INVALID_PROGRAM);
  const char *name = "../outside.h", *header = "";
  OK(hiprtcCreateProgram(&program, "", "a", 1, &header, &name));
  CHECK(hiprtcCompileProgram(program, 0, nullptr) == HIPRTC_ERROR_COMPILATION);
  CHECK(log_of(program).find("`../outside.h` leads out") != std::string::npos);
}

// Two pieces of bitcode make one code object.
static void linked() {
  const char *sources[] = {"extern __device__ int twice(int); extern \"C\" __global__ void run(int *out) { out[threadIdx.x] = twice(threadIdx.x); }",
                           "__device__ int twice(int a) { return 2 * a; }"};
  void *link = nullptr; OK(hiprtcLinkCreate(0, nullptr, nullptr, &link));
  for (const char *it : sources) {
    hiprtcProgram program; OK(hiprtcCreateProgram(&program, it, "part", 0, nullptr, nullptr));
    const char *options[] = {"-fgpu-rdc"}; OK(hiprtcCompileProgram(program, 1, options)); printf("%s", log_of(program).c_str());
    size_t size = 0; OK(hiprtcGetBitcodeSize(program, &size));
    std::vector<char> bitcode(size); OK(hiprtcGetBitcode(program, bitcode.data()));
    OK(hiprtcLinkAddData(link, 100, bitcode.data(), size, "part", 0, nullptr, nullptr));
  }
  CHECK(hiprtcLinkAddData(link, 1, (void *)source, 8, "ptx", 0, nullptr, nullptr) == HIPRTC_ERROR_INVALID_INPUT);
  void *code; size_t size; OK(hiprtcLinkComplete(link, &code, &size));
  hipModule_t module; hipFunction_t run; OK(hipModuleLoadData(&module, code)); OK(hipModuleGetFunction(&run, module, "run"));
  OK(hiprtcLinkDestroy(link));
  int *out, host[64]; OK(hipMalloc(&out, 256)); void *arguments[] = {&out};
  OK(hipModuleLaunchKernel(run, 1, 1, 1, 64, 1, 1, 0, 0, arguments, nullptr));
  OK(hipMemcpy(host, out, 256, hipMemcpyDeviceToHost)); CHECK(host[63] == 126 && host[0] == 0);
}

// No compiler that can build for the GPU.
static void missing() {
  hiprtcProgram program; OK(hiprtcCreateProgram(&program, "", "a.cu", 0, nullptr, nullptr));
  CHECK(hiprtcCompileProgram(program, 0, nullptr) == HIPRTC_ERROR_COMPILATION);
  printf("%s", log_of(program).c_str());
}

// Functions of the device libraries.
static void libraries() {
  hiprtcProgram program;
  OK(hiprtcCreateProgram(&program, "extern \"C\" __global__ void f(double *a) { a[0] = sin(a[0]) + pow(a[0], 2.5); printf(\"at %.3f\\n\", a[0]); }", "math.cu", 0, nullptr, nullptr));
  OK(hiprtcCompileProgram(program, 0, nullptr)); printf("%s", log_of(program).c_str());
  std::vector<char> code = code_of(program);
  hipModule_t module; hipFunction_t f; OK(hipModuleLoadData(&module, code.data())); OK(hipModuleGetFunction(&f, module, "f"));
  double *a, value = 2; OK(hipMalloc(&a, 8)); OK(hipMemcpy(a, &value, 8, hipMemcpyHostToDevice));
  void *arguments[] = {&a}; OK(hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr)); OK(hipDeviceSynchronize());
}

// Declarations without includes, and headers of the interface's names before those of the program's folders.
static const char *declarations = R"(#include <hip/hip_complex.h>
#include <hip/hip_vector_types.h>
#include <hip/hip_math_constants.h>
#include <hip/hip_bf16.h>
#include <hip/hip_version.h>
static_assert(HIP_VERSION >= 60000000, "");
static __device__ int halves(float a) {
  __half_raw raw = __half_raw(__half(a)); half back(raw); raw.x ^= 0x8000;
  __hip_bfloat16 b = a, c(3), d = __float2bfloat16(1.00390625f); b += c * c; d = -d;
  return (__half_raw(back).x == 0x3e00) + 2 * (float(half(raw)) == -1.5f) + 4 * (float(b) == 10.5f) + 8 * (__bfloat16_as_ushort(d) == 0xbf80)
    + 16 * (__float2bfloat16(__builtin_nanf("")).__x > 0x7f80) + 32 * (__heq(__ushort_as_bfloat16(0x4128), b) && c < b);
}
extern "C" __global__ void all(float *f, __half *h, int *n, char *bytes, int count, unsigned long *m) {
  float2 a(1, 2.5); float4 b(3.0f); float2 c = make_float2(1, 2.5f); int4 i{1, 2, 3, 4}; double2 d = {1.0, 2};
  int t = threadIdx.x;
  d = 2 * d * 0.5l; i *= 2u; d.y += halves(1.5f) - 63;
  f[t] = a.y + b.w + (a == c) + d.y + i.w / 2 + hipCmul(hipFloatComplex(1, 2), a).x + (HIP_PI_F > 3);
  h[t] = __hadd(__half(t), __float2half(0.5f)); half2 two(h[t], h[t]); h[t] = __hadd2(two, two).y; h[t] = hsqrt(h[t]);
  static_assert(std::is_same<float, float>::value && std::integral_constant<int, 3>::value == 3, "");
  n[t] = __syncthreads_count(t & 1) + __syncthreads_or(t == 5) + __syncthreads_and(t >= 0) + __float2int_rn(2.5f) + __float2int_rz(2.7f)
    + __sad(-3, 4, 1) + (int)__hiloint2double(0x40000000, 0) + (int)__funnelshift_l(0x80000000u, 1, 1) + (int)__reduce_add_sync(~0ul, t);
  n[t] += 1000 * (10 - (__funnelshift_rc(5, 7, 40) == 7) - (__funnelshift_lc(5, 7, 32 + t) == 5)
    - (__half_as_ushort(__float2half_ru(1.0001f)) == 0x3c01) - (__half_as_ushort(__float2half_rd(1.0001f)) == 0x3c00)
    - (__half_as_ushort(__float2half_rz(-1.0001f)) == 0xbc00) - (__half_as_ushort(__float2half_rd(-1.0001f)) == 0xbc01)
    - (__half_as_ushort(__float2half_ru(1e-9f)) == 1) - (__half_as_ushort(__float2half_rd(1e6f)) == 0x7bff)
    - __hisinf(__float2half_ru(1e6f)) - (__half2int_ru(__half(2.25f)) == 2));
  m[t] = __match_any_sync(~0ul, t % 3);
  memcpy(bytes + t * 8, m + t, count); memset(bytes + t * 8, t, count / 2);
}
)";
static void declared() {
  hiprtcProgram program; OK(hiprtcCreateProgram(&program, declarations, "declared.cu", 0, nullptr, nullptr));
  const char *options[] = {"-I/usr/include"};
  OK(hiprtcCompileProgram(program, 1, options)); printf("%s", log_of(program).c_str());
  std::vector<char> code = code_of(program);
  hipModule_t module; hipFunction_t all; OK(hipModuleLoadData(&module, code.data())); OK(hipModuleGetFunction(&all, module, "all"));
  float *f; unsigned short *h; int *n; char *bytes; unsigned long *m; int count = 4;
  OK(hipMalloc(&f, 256)); OK(hipMalloc(&h, 128)); OK(hipMalloc(&n, 256)); OK(hipMalloc(&bytes, 512)); OK(hipMalloc(&m, 512));
  void *arguments[] = {&f, &h, &n, &bytes, &count, &m};
  OK(hipModuleLaunchKernel(all, 1, 1, 1, 64, 1, 1, 0, 0, arguments, nullptr));
  float value; int sum; unsigned char written[512]; unsigned long same[64]; unsigned short half;
  OK(hipMemcpy(&value, f, 4, hipMemcpyDeviceToHost)); OK(hipMemcpy(&sum, n, 4, hipMemcpyDeviceToHost)); OK(hipMemcpy(&half, h + 4, 2, hipMemcpyDeviceToHost));
  OK(hipMemcpy(written, bytes, 512, hipMemcpyDeviceToHost)); OK(hipMemcpy(same, m, 512, hipMemcpyDeviceToHost));
  // 2.5 + 3 + 1 + 2 + 4 + (1 - 5) + 1
  CHECK(value == 9.5f);
  // 32 + 1 + 1 + 2 + 2 + 8 + 2 + 3 + 2016
  CHECK(sum == 2067);
  // The root of 2 (4 + 0.5).
  CHECK(half == 0x4200);
  CHECK(same[0] == 0x9249249249249249ul && same[1] == 0x2492492492492492ul);
  CHECK(written[8 * 5] == 5 && written[8 * 5 + 1] == 5 && written[8 * 5 + 2] == (same[5] >> 16 & 255));
}

// Managed variables of code that is loaded at run time.
static void managed() {
  hiprtcProgram program; OK(hiprtcCreateProgram(&program, "__attribute__((managed)) int counter = 10; extern \"C\" __global__ void add() { counter += 5; }", "managed.cu", 0, nullptr, nullptr));
  OK(hiprtcCompileProgram(program, 0, nullptr)); printf("%s", log_of(program).c_str());
  std::vector<char> code = code_of(program);
  for (int round = 0; round < 2; round++) {
    hipModule_t module; hipFunction_t add; void *place; size_t bytes; OK(hipModuleLoadData(&module, code.data())); OK(hipModuleGetFunction(&add, module, "add"));
    OK(hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, 0, nullptr, nullptr)); OK(hipDeviceSynchronize());
    OK(hipModuleGetGlobal((hipDeviceptr_t *)&place, &bytes, module, "counter")); CHECK(bytes == 4 && *(int *)place == 15); OK(hipModuleUnload(module));
  }
}

// Pairs of half precision: a kernel stores the number of the first check that fails.
static const char *pairs = R"(
#define TRUE(condition) { number++; if (!(condition) && !*failed) *failed = number; }
extern "C" __global__ void pairs(int *failed, unsigned short nan_bits, float near_one) {
  int number = *failed = 0; half nan = __ushort_as_half(nan_bits), three = 3; half2 a(1, -2), b{3, 4}, c = 2, d;
  TRUE(a + b == half2(4, 2)) TRUE(a * c == half2(2, -4)) TRUE(b / 2 == half2(1.5f, 2)) TRUE(-a == __hneg2(a))
  d = b; d -= 1; TRUE(d == half2(2, 3)) d *= b; TRUE(d == half2(6, 12)) TRUE(d++ == half2(6, 12) && --d == half2(6, 12)) TRUE(++d != half2(6, 12))
  TRUE(a < b && b > a) TRUE(!(half2(1, 5) < b)) TRUE(half2(1, 5) >= b && half2(1, 5) <= b)
  TRUE(__heq2(b, half2(3, 5)) == half2(1, 0)) TRUE(__hblt2(a, b) && !__hbeq2(b, half2(3, 5)) && !__hbne2(b, half2(3, 5)))
  TRUE(!__heq(nan, nan) && __hequ(nan, three) && __hltu(nan, three) && __hneu(nan, nan) && !__hgt(nan, three)) TRUE(__hisnan2(half2(nan, three)) == half2(1, 0))
  TRUE(__hadd_sat(three, three) == (half)1 && __hsub_sat(0, three) == (half)0 && __hisnan(__clamp_01(nan)) && __clamp_01(-1) == (half)0) TRUE(__hmul2_sat(half2(0.5f, -1), b) == half2(1, 0)) TRUE(__hfma2_sat(a, b, c) == half2(1, 0))
  TRUE(__hisnan(__hmax_nan(nan, three)) && __hmax(nan, three) == three && __hmin_nan(three, 2) == (half)2)
  TRUE(__low2half2(b) == half2(3, 3) && __lows2half2(a, b) == half2(1, 3) && __highs2half2(a, b) == half2(-2, 4) && __lowhigh2highlow(b) == make_half2(4, 3) && __half2half2(three) == half2(3, 3))
  TRUE(__half_as_short(-1) == (short)0xbc00 && __short_as_half(0x4200) == three) TRUE(__float22half2_rn(make_float2(1, -2)) == a)
  TRUE(__int2half_rd(4099) == (half)4100 && __int2half_rz(-4099) == (half)-4100 && __half2int_rn(2.75f) == 2 && __half2ll_ru(-2.25f) == -2 && __half2ushort_rd(7) == 7)
  TRUE(__half_as_ushort(__float2half_ru(near_one)) == 0x3c01 && __ldcg(&three) == three) TRUE(amd_mixed_dot(a, b, 2, false) == -3)
  TRUE(h2sqrt(half2(4, 9)) == half2(2, 3) && h2rint(half2(2.5f, -1.2f)) == half2(2, -1) && __habs2(a) == half2(1, 2) && h2rcp(half2(4, 2)) == half2(0.25f, 0.5f))
  hip_bfloat16 e(11.3f), f(11.3f, hip_bfloat16::truncate), g = e; TRUE(e.data == 0x4135 && f.data == 0x4134 && f < e && -e < f && std::isnan(hip_bfloat16(__builtin_nanf(""))))
  e = 10; g = hip_bfloat16(2); TRUE(e * g == 20 && e-- == 10 && ++e == 10 && (e /= g) == 5 && !std::iszero(e) && hip_bfloat16::round_to_bfloat16(1.00390625f) == 1 && e == +e)
  TRUE(__bitextract_u32(0xabcd1234, 8, 12) == 0xd12 && __bitinsert_u32(0, 0x1ff, 4, 8) == 0xff0 && __bitextract_u64(1ull << 40, 40, 0) == 0 && __bitinsert_u64(~0ull, 0, 60, 4) == ~0ull >> 4)
  TRUE(__hip_ds_bpermute(0, 7) == 7 && __hip_ds_bpermutef(0, 1.5f) == 1.5f && __hip_ds_permute(0, 9) == 9 && __hip_ds_permutef(0, 2.5f) == 2.5f)
  TRUE(__hip_ds_swizzle(5, 0x8000) == 5 && __hip_ds_swizzlef(0.5f, 0x8000) == 0.5f && __hip_move_dpp(3, 0, 0xf, 0xf, true) == 3)
  TRUE(hexp10(2) == (half)100 && h2exp2(half2(3, -1)) == half2(8, 0.5f) && h2log2(half2(8, 16)) == half2(3, 4))
}
)";
// Of bfloat16, alone and in pairs; `near_one` is not known when it is compiled.
static const char *bfloats = R"(
#include <hip/hip_bf16.h>
#define TRUE(condition) { number++; if (!(condition) && !*failed) *failed = number; }
using one = __hip_bfloat16; using two = __hip_bfloat162;
extern "C" __global__ void pairs(int *failed, unsigned short nan_bits, float near_one) {
  int number = *failed = 0; one nan = __ushort_as_bfloat16(nan_bits | 0x7fc0), three = 3; two a(1, -2), b{3, 4}, c(2, 2), d;
  TRUE(a + b == two(4, 2)) TRUE(a * c == two(2, -4)) TRUE(b / c == two(1.5f, 2)) TRUE(-a == __hneg2(a) && __h2div(b, c) == b / c)
  d = b; d -= two(1, 1); TRUE(d == two(2, 3)) d *= b; TRUE(d == two(6, 12)) TRUE(d++ == two(6, 12) && --d == two(6, 12)) TRUE(++d != two(6, 12))
  one e = three; TRUE(e++ == three && e == one(4) && --e == three && e-- == three && (e += three) == one(5))
  TRUE(__heq2(b, two(3, 5)) == two(1, 0)) TRUE(__hblt2(a, b) && !__hbeq2(b, two(3, 5)) && !__hbne2(b, two(3, 5)) && __hgt2(b, two(2, 5)) == two(1, 0))
  TRUE(!__heq(nan, nan) && __hequ(nan, three) && __hltu(nan, three) && __hneu(nan, nan) && !__hgt(nan, three)) TRUE(__hisnan2(two(nan, three)) == two(1, 0))
  TRUE(__hmax(nan, three) == three && __hmin(three, nan) == three && __hmax(one(2), three) == three && __hmin(one(2), three) == one(2))
  TRUE(__bfloat16_as_ushort(__hmax(nan, nan)) == 0x7fff && __hmax2(a, two(0, 0)) == two(1, 0) && __hmin2(a, two(0, 0)) == two(0, -2))
  TRUE(__low2bfloat162(b) == two(3, 3) && __high2bfloat162(b) == two(4, 4) && __lows2bfloat162(a, b) == two(1, 3) && __highs2bfloat162(a, b) == two(-2, 4) && __lowhigh2highlow(b) == two(4, 3))
  TRUE(__float22bfloat162_rn(make_float2(1, -2)) == a && __int2bfloat16_rn(257) == one(256) && ((float2)b).y == 4 && two(__hip_bfloat162_raw{0x4040, 0x4080}) == b)
  TRUE(__bfloat16_as_ushort(__float2bfloat16(near_one)) == 0x3f80 && __habs2(a) == two(1, 2) && __shfl_xor(three, 0) == three)
  TRUE(h2sqrt(two(4, 9)) == two(2, 3) && h2rint(two(2.5f, -1.25f)) == two(2, -1) && h2rcp(two(4, 2)) == two(0.25f, 0.5f) && hrsqrt(one(4)) == one(0.5f))
  TRUE(hceil(one(1.5f)) == one(2) && hfloor(one(-1.5f)) == one(-2) && h2trunc(two(1.5f, -1.5f)) == two(1, -1))
  TRUE(hexp10(one(2)) == one(100) && h2exp2(two(3, -1)) == two(8, 0.5f) && h2log2(two(8, 16)) == two(3, 4) && hcos(one(0)) == one(1))
}
)";
// Of eight bits: each number, the places between neighbours, what is beyond, and the GPU's instructions beside the calculation.
static const char *eights = R"(
#include <hip/amd_detail/amd_hip_fp8.h>
#define TRUE(condition) { number++; if (!(condition)) atomicMax(failed, number); }
template <class type> __device__ void each(int *failed, int number, unsigned most, float largest, float smallest) {
  constexpr auto kind = type::__default_interpret; constexpr bool is_fnuz = kind >> 1, is_wide = kind & 1;
  unsigned code = threadIdx.x, size = code & 0x7f, sign = code & 0x80; type a; a.__x = code; float value = a, inf = __builtin_inff();
  bool is_number = is_fnuz ? code != 0x80 : size <= most;
  TRUE(is_number || (size == 0x7c && is_wide && !is_fnuz ? value == (sign ? -inf : inf) : value != value))
  if (size == most && is_number) TRUE(value == (sign ? -largest : largest)) else number++;
  if (code == 1) TRUE(value == smallest) else number++;
  if (!is_number) return;
  TRUE(type(value).__x == code && type((double)value).__x == code && type((__half)value).__x == code && (double)a == value && (float)(__hip_bfloat16)a == value && __hip_cvt_halfraw_to_fp8(__hip_cvt_fp8_to_halfraw(code, kind), __HIP_NOSAT, kind) == code)
  TRUE((int)a == (int)value && (bool)a == (value != 0) && (signed char)a == (value < -128 ? -128 : value > 127 ? 127 : (signed char)value) && (unsigned)a == (value < 0 ? 0 : (unsigned)value))
  if (size == most) {
    unsigned char beyond = is_fnuz ? 0x80 : sign | (is_wide ? 0x7c : 0x7f);
    TRUE(type(2 * value).__x == code && __hip_cvt_float_to_fp8(2 * value, __HIP_NOSAT, kind) == beyond && __hip_cvt_double_to_fp8(2.0 * value, __HIP_NOSAT, kind) == beyond)
    return;
  }
  number++; type b; b.__x = code + 1; float next = b, middle = (value + next) / 2; unsigned even = code & 1 ? code + 1 : code;
  if (code == 0x80 && !is_fnuz) TRUE(type(-0.0f).__x == 0x80) else number++;
  TRUE((sign ? next < value : value < next) && type(middle).__x == even && type((double)middle).__x == even)
  TRUE(type(middle * 0.999f).__x == code && type(middle * 1.001f).__x == code + 1 && type(middle * (1 - 1e-12)).__x == code && type(middle * (1 + 1e-12)).__x == code + 1)
}
template <class type, class two, class four> __device__ void some(int *failed, int number) {
  two a(float2{1.5f, -3}), b(double2{2, 0.25}); four c(float4{1, -2, 3, 0.5f}), d(a, b), e(__half2{1, -2}, __half2{3, 0.5f}); float4 f = c, g = d; float2 h = a; __half2 i = b;
  TRUE(h.x == 1.5f && h.y == -3 && i.x == (__half)2 && i.y == (__half)0.25f && (a.__x & 0xff) == type(1.5f).__x)
  TRUE(f.x == 1 && f.y == -2 && f.z == 3 && f.w == 0.5f && g.x == 1.5f && g.w == 0.25f && c.__x == e.__x && sizeof(type) == 1 && sizeof(two) == 2 && sizeof(four) == 4)
  TRUE(type(3).__x == type(3.0f).__x && float2(two(__hip_bfloat162(1, 2))).y == 2 && (float)type(__hip_bfloat16(6)) * 2.0f == 12)
}
extern "C" __global__ void pairs(int *failed, unsigned short nan_bits, float near_one) {
  if (threadIdx.x == 0) *failed = 0;
  __syncthreads();
  each<__hip_fp8_e4m3>(failed, 0, 0x7e, 448, 0x1p-9f); each<__hip_fp8_e5m2>(failed, 20, 0x7b, 57344, 0x1p-16f);
  each<__hip_fp8_e4m3_fnuz>(failed, 40, 0x7f, 240, 0x1p-10f); each<__hip_fp8_e5m2_fnuz>(failed, 60, 0x7f, 57344, 0x1p-17f);
  some<__hip_fp8_e4m3, __hip_fp8x2_e4m3, __hip_fp8x4_e4m3>(failed, 80); some<__hip_fp8_e5m2, __hip_fp8x2_e5m2, __hip_fp8x4_e5m2>(failed, 90);
  some<__hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz>(failed, 100); some<__hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz>(failed, 110);
  int number = 120; float nan = __half2float(__ushort_as_half(nan_bits));
  TRUE((float)__hip_fp8_e4m3(nan) != (float)__hip_fp8_e4m3(nan) && (int)__hip_fp8_e4m3(nan) == 0 && (__hip_fp8_e5m2(nan).__x & 0x7f) > 0x7c)
  TRUE(__hip_cvt_float_to_fp8(nan, __HIP_NOSAT, __HIP_E4M3_FNUZ) == 0x80 && __hip_cvt_double_to_fp8(nan, __HIP_NOSAT, __HIP_E5M2_FNUZ) == 0x80 && (float)__hip_fp8_e4m3(near_one) == 1)
}
)";
// Of vectors: all operators by element, with numbers of other types, and the names that libraries add vectors of their own to.
static const char *vectors = R"(
#include <hip/amd_detail/amd_hip_vector_types.h>
#define TRUE(condition) { number++; if (!(condition) && !*failed) *failed = number; }
template <class T> struct tell { static constexpr int value = 0; };
template <> struct tell<__half> { static constexpr int value = 1; };
template <> struct tell<_Float16> { static constexpr int value = 2; };
template <> struct HIP_vector_base<float, 8> {
  typedef float value_type; typedef float Native_vec_ __attribute__((ext_vector_type(8))); Native_vec_ data;
  HIP_vector_base() = default; __device__ explicit HIP_vector_base(float a) : data(a) {}
};
static_assert(sizeof(float3) == 12 && alignof(char3) == 1 && sizeof(double4) == 32 && alignof(int4) == 16 && alignof(short2) == 4, "");
static_assert(tell<half>::value == 1 && tell<_Float16>::value == 2 && sizeof(half) == 2 && alignof(half) == 2, "");
extern "C" __global__ void pairs(int *failed, unsigned short nan_bits, float near_one) {
  int number = *failed = 0, three = (int)(near_one * 3); half h = three, zero = 0; int4 a(three), b = make_int4(1, 2, 3, 4); float3 f(1, 2, 3); uint2 u{1u, 6u}; short2 s(3, -4); double2 d(1, 3);
  TRUE(a == 3 && a + b == make_int4(4, 5, 6, 7) && (b & 1) == int4(1, 0, 1, 0) && (b | 4) == int4(5, 6, 7, 4) && (b ^ a) == int4(2, 1, 0, 7) && b % 2 == int4(1, 0, 1, 0))
  TRUE((b << 2) == b * 4 && (int4(8) >> b) == int4(4, 2, 1, 0) && ~b == -b - 1 && 10 / b == int4(10, 5, 3, 2) && 1 - b == int4(0, -1, -2, -3))
  TRUE(b++ == make_int4(1, 2, 3, 4) && b.x == 2 && --b == make_int4(1, 2, 3, 4) && (b *= b) == int4(1, 4, 9, 16) && (b -= 1).w == 15 && (b %= 4) == int4(0, 3, 0, 3) && (b <<= 1) == int4(0, 6, 0, 6))
  TRUE(2.0 * f == float3(2, 4, 6) && f / 2 == float3(0.5f, 1, 1.5f) && -f != f && (f += 1).z == 4 && f.data[1] == 3 && (int3(7, 6, 5) & 3) == int3(3, 2, 1) && ~char3(1, 2, 3) == char3(-2, -3, -4))
  TRUE((u << 1u) == uint2(2u, 12u) && s * (short)2 == short2(6, -8) && d * 0.5l == double2(0.5, 1.5) && make_float1(3).x == 3 && d.data[1] == 3 && !(u == 1))
  HIP_vector_type<float, 8> e(near_one); e += 2.0f; TRUE(e.data[7] == near_one + 2 && (e * e).data[3] == e.data[3] * e.data[0])
  TRUE(h * 2.0f == 6.0f && sizeof(h * 2.0f) == 4 && sizeof(h * h) == 2 && sizeof(h * 1.0) == 8 && 1.0f - h == -2.0f && h / 2 == (half)1.5f && h && !zero && h > 2 && 2.5 < h && h != 4 && near_one <= h)
  float sum = 1; sum += h; TRUE(sum == 4) h += 1.5f; TRUE(h == 4.5f) h *= 2; TRUE(h == 9 && h++ == 9 && --h == 9 && -h == -9 && +h == 9 && (int)h == 9 && (bool)h && __half_raw(h).data == (_Float16)9)
  typedef _Float16 four __attribute__((ext_vector_type(4))); four v = {h, zero, 1, 2}; v *= v; TRUE(v[0] == 81 && half(v[3]) == 4 && fmaxf(h, 10.0f) == 10 && __shfl_xor(h, 0) == h)
  // Roundings with a direction.
  int odd = (int)near_one + (1 << 24); long long most = (long long)(near_one * 0) + 0x7fffffffffffffffll; double third = (double)(int)near_one / 3;
  TRUE(__int2float_rd(odd) == 16777216.0f && __int2float_ru(odd) == 16777218.0f && __int2float_rz(-odd) == -16777216.0f && __int2float_rd(-odd) == -16777218.0f && __int2float_ru(-odd) == -16777216.0f && __int2float_rn(3) == 3)
  TRUE(__ll2float_rd(most) == 9223371487098961920.0f && __ll2float_ru(most) == 9223372036854775808.0f && __ll2float_rz(-most) == -9223371487098961920.0f && __ull2float_rd(~0ull - (most & 0)) == 18446742974197923840.0f && __uint2float_rz(~0u) == 4294967040.0f && __uint2float_ru(odd) == 16777218.0f)
  TRUE((double)__double2float_rd(third) < third && (double)__double2float_ru(third) > third && __double2float_rz(-third) == -__double2float_rd(third) && __double2float_rd(1e300) == 0x1.fffffep127f && __double2float_ru(1e-300) == 0x1p-149f && __double2float_rd(-1e-300) == -0x1p-149f && __double2float_rz(-1e-300) == 0)
  TRUE(__double2float_ru(1e300) == __builtin_inff() && __int2float_rd(0) == 0 && __double2float_rn(third) == (float)third && __ll2double_rn(most) == 9223372036854775808.0 && __ll2double_rd(most) == 9223372036854774784.0 && __ll2double_rz(-most) == -9223372036854774784.0 && __ull2double_ru(~0ull - (most & 1)) == 18446744073709551616.0)
}
)";
static void halves(const char *source, unsigned workgroup = 1) {
  hiprtcProgram program; OK(hiprtcCreateProgram(&program, source, "pairs.cu", 0, nullptr, nullptr));
  OK(hiprtcCompileProgram(program, 0, nullptr)); printf("%s", log_of(program).c_str());
  std::vector<char> code = code_of(program);
  hipModule_t module; hipFunction_t kernel; OK(hipModuleLoadData(&module, code.data())); OK(hipModuleGetFunction(&kernel, module, "pairs"));
  int *place, wrong = -1; unsigned short nan = 0x7e00; float near_one = 1.0001f; OK(hipMalloc(&place, 4)); OK(hipMemcpy(place, &wrong, 4, hipMemcpyHostToDevice));
  void *arguments[] = {&place, &nan, &near_one}; OK(hipModuleLaunchKernel(kernel, 1, 1, 1, workgroup, 1, 1, 0, 0, arguments, nullptr));
  OK(hipMemcpy(&wrong, place, 4, hipMemcpyDeviceToHost));
  if (wrong) printf("check %d fails\n", wrong);
  CHECK(wrong == 0);
}

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "whole";
  if (!strcmp(part, "whole")) whole();
  if (!strcmp(part, "wrong")) wrong();
  if (!strcmp(part, "linked")) linked();
  if (!strcmp(part, "missing")) missing();
  if (!strcmp(part, "libraries")) libraries();
  if (!strcmp(part, "declared")) declared();
  if (!strcmp(part, "halves")) halves(pairs);
  if (!strcmp(part, "bfloats")) halves(bfloats);
  if (!strcmp(part, "vectors")) halves(vectors);
  if (!strcmp(part, "eights")) halves(eights, 256);
  if (!strcmp(part, "managed")) managed();
  printf("%d failed\n", failed);
  return failed;
}
