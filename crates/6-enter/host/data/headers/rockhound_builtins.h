// Declarations that a program compiled at run time has without including anything: what the language adds to C++,
// the work-item's place, vectors, atomics, exchanges between lanes. Math functions come with the compiler.
#pragma once
#pragma clang system_header
#include <__clang_hip_runtime_wrapper.h>

// Settings that the device libraries read: what the compiler's default options say. Pieces that are linked each have them.
#define __rh_setting extern "C" inline __attribute__((constant, used, visibility("hidden"))) const
#ifdef ROCKHOUND_DEVICE_LIBRARIES
__rh_setting int __oclc_ISA_version = ROCKHOUND_ISA_VERSION;
__rh_setting int __oclc_ABI_version = 500;
__rh_setting unsigned char __oclc_daz_opt = 0;
__rh_setting unsigned char __oclc_finite_only_opt = 0;
__rh_setting unsigned char __oclc_correctly_rounded_sqrt32 = 1;
__rh_setting unsigned char __oclc_wavefrontsize64 = 1;
#ifdef __FAST_MATH__
__rh_setting unsigned char __oclc_unsafe_math_opt = 1;
#else
__rh_setting unsigned char __oclc_unsafe_math_opt = 0;
#endif
#endif
#undef __rh_setting

typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long long longlong;
typedef unsigned long long ulonglong;

#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline __attribute__((always_inline))
#define __rh static __device__ inline __attribute__((always_inline, unused))
// Functions that need no GPU.
#define __rh_both static __host__ __device__ inline __attribute__((always_inline, unused))
// One number: the size of a workgroup; a second: waves per execution unit.
#define __rh_bounds1(size) __attribute__((amdgpu_flat_work_group_size(1, size)))
#define __rh_bounds2(size, waves) \
  __attribute__((amdgpu_flat_work_group_size(1, size), amdgpu_waves_per_eu(waves)))
#define __rh_bounds(a, b, name, ...) name
#define __launch_bounds__(...) __rh_bounds(__VA_ARGS__, __rh_bounds2, __rh_bounds1)(__VA_ARGS__)
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define HIP_SYMBOL(name) name
#ifndef NULL
#define NULL nullptr
#endif

extern "C" __device__ int printf(const char *format, ...);
// Calls whose size the compiler does not know; without the attribute the loop would be taken for a call of itself.
#define __rh_bytes extern "C" __device__ inline __attribute__((weak, used, no_builtin))
__rh_bytes void *memcpy(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) ((char *)to)[i] = ((const char *)from)[i];
  return to;
}
__rh_bytes void *memset(void *to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) ((char *)to)[i] = (char)value;
  return to;
}
#undef __rh_bytes
// What `assert` of the C library calls.
extern "C" __device__ __attribute__((noreturn, weak)) inline void __assert_fail(const char *what, const char *file,
                                                                              unsigned line, const char *function) {
  printf("%s:%u: %s: Device-side assertion `%s' failed.\n", file, line, function, what);
  __builtin_trap();
}
extern "C" __device__ __attribute__((noreturn)) inline void abort() { __builtin_trap(); __builtin_unreachable(); }
#ifndef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition)                                                                              \
  ((condition) ? (void)0                                                                               \
               : (printf("%s:%d: %s: Device-side assertion `%s' failed.\n", __FILE__, __LINE__,        \
                         __PRETTY_FUNCTION__, #condition),                                             \
                  __builtin_trap()))
#endif
#endif

// ---- Where a work-item is. ----

struct dim3 {
  uint32_t x, y, z;
  constexpr __host__ __device__ dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1) : x(x), y(y), z(z) {}
};

#define __rh_axis(type, axis, value)                              \
  __declspec(property(get = __get_##axis)) uint32_t axis;         \
  __device__ __attribute__((always_inline)) uint32_t __get_##axis() const { return value; }
#define __rh_place(name, x_value, y_value, z_value)                                        \
  struct __rh_##name##_t {                                                                 \
    __rh_axis(name, x, x_value) __rh_axis(name, y, y_value) __rh_axis(name, z, z_value)    \
    __device__ operator dim3() const { return dim3(x, y, z); }                             \
  };                                                                                       \
  extern const __device__ __attribute__((weak)) __rh_##name##_t name;
// The implicit arguments begin with the numbers of whole workgroups.
#define __rh_grid(axis) (((const __attribute__((address_space(4))) uint32_t *)__builtin_amdgcn_implicitarg_ptr())[axis])
__rh_place(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z())
__rh_place(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z())
__rh_place(blockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z())
__rh_place(gridDim, __rh_grid(0), __rh_grid(1), __rh_grid(2))

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

static constexpr int warpSize = 64;

// ---- Synchronisation. ----

__rh void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__rh void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__rh void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
__rh void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__rh void __syncwarp(uint64_t = ~0ull) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
__rh long long clock64() { return (long long)__builtin_readcyclecounter(); }
__rh long long wall_clock64() { return (long long)__builtin_amdgcn_s_memrealtime(); }
__rh long clock() { return (long)clock64(); }

// ---- Bits. ----

__rh_both int __popc(uint32_t a) { return __builtin_popcount(a); }
__rh_both int __popcll(uint64_t a) { return __builtin_popcountll(a); }
__rh_both int __clz(int a) { return a ? __builtin_clz((uint32_t)a) : 32; }
__rh_both int __clzll(long long a) { return a ? __builtin_clzll((uint64_t)a) : 64; }
__rh_both int __ffs(uint32_t a) { return __builtin_ffs((int)a); }
__rh_both int __ffsll(unsigned long long a) { return __builtin_ffsll((long long)a); }
__rh_both uint32_t __brev(uint32_t a) { return __builtin_bitreverse32(a); }
__rh_both unsigned long long __brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
#define __rh_bits(name, type, most)                                                                   \
  __rh_both type __bitextract_##name(type a, uint32_t offset, uint32_t width) {                       \
    return a >> (offset & most) & (((type)1 << (width & most)) - 1);                                  \
  }                                                                                                   \
  __rh_both type __bitinsert_##name(type a, type bits, uint32_t offset, uint32_t width) {             \
    type mask = ((type)1 << (width & most)) - 1;                                                      \
    return (a & ~(mask << (offset & most))) | (bits & mask) << (offset & most);                       \
  }
__rh_bits(u32, uint32_t, 31) __rh_bits(u64, uint64_t, 63)
#undef __rh_bits

// For `hip_fp16.h` and `hip_bf16.h`. Comparisons: of one, of two as 1 or 0 each, of both. The ones with `u` are true where one is not
// a number.
#define __rh_comparison(one, two, name, expression)                                                                      \
  __rh_both bool __h##name(one a, one b) { return expression; }                                                          \
  __rh_both two __h##name##2(two a, two b) { return {(one)(int)__h##name(a.x, b.x), (one)(int)__h##name(a.y, b.y)}; }    \
  __rh_both bool __hb##name##2(two a, two b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
#define __rh_comparisons(one, two)                                                                                       \
  __rh_comparison(one, two, eq, a == b) __rh_comparison(one, two, ne, a != b) __rh_comparison(one, two, lt, a < b)       \
  __rh_comparison(one, two, le, a <= b) __rh_comparison(one, two, gt, a > b) __rh_comparison(one, two, ge, a >= b)       \
  __rh_comparison(one, two, equ, !(a < b || a > b)) __rh_comparison(one, two, neu, !(a == b))                            \
  __rh_comparison(one, two, ltu, !(a >= b)) __rh_comparison(one, two, leu, !(a > b))                                     \
  __rh_comparison(one, two, gtu, !(a <= b)) __rh_comparison(one, two, geu, !(a < b))                                     \
  __rh_both bool operator==(two a, two b) { return __hbeq2(a, b); }                                                      \
  __rh_both bool operator!=(two a, two b) { return !__hbeq2(a, b); }
// Functions in single precision, rounded.
#define __rh_function(one, two, name, pair, expression)                                                                  \
  __rh_both one name(one h) { float a = (float)h; return (one)(expression); }                                            \
  __rh_both two pair(two a) { return {name(a.x), name(a.y)}; }
#define __rh_roundings(one, two)                                                                                         \
  __rh_function(one, two, hsqrt, h2sqrt, __builtin_sqrtf(a)) __rh_function(one, two, hrsqrt, h2rsqrt, 1.0f / __builtin_sqrtf(a)) \
  __rh_function(one, two, hrcp, h2rcp, 1.0f / a) __rh_function(one, two, hfloor, h2floor, __builtin_floorf(a))           \
  __rh_function(one, two, hceil, h2ceil, __builtin_ceilf(a)) __rh_function(one, two, htrunc, h2trunc, __builtin_truncf(a)) \
  __rh_function(one, two, hrint, h2rint, __builtin_rintf(a))
#ifdef ROCKHOUND_DEVICE_LIBRARIES
#define __rh_functions(one, two)                                                                                         \
  __rh_roundings(one, two)                                                                                               \
  __rh_function(one, two, hexp, h2exp, expf(a)) __rh_function(one, two, hexp2, h2exp2, exp2f(a))                         \
  __rh_function(one, two, hexp10, h2exp10, exp10f(a)) __rh_function(one, two, hlog, h2log, logf(a))                      \
  __rh_function(one, two, hlog2, h2log2, log2f(a)) __rh_function(one, two, hlog10, h2log10, log10f(a))                   \
  __rh_function(one, two, hsin, h2sin, sinf(a)) __rh_function(one, two, hcos, h2cos, cosf(a))
#else
#define __rh_functions(one, two) __rh_roundings(one, two)
#endif
__rh_both uint32_t __umulhi(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
__rh_both int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
__rh_both unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
__rh_both int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
__rh_both uint32_t __umul24(uint32_t a, uint32_t b) { return (a & 0xffffff) * (b & 0xffffff); }
__rh_both uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; i++) result |= (uint32_t)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
}
#define __rh_cast(name, to, from) \
  __rh_both to name(from a) { static_assert(sizeof(to) == sizeof(from), ""); return __builtin_bit_cast(to, a); }
__rh_cast(__float_as_int, int, float) __rh_cast(__float_as_uint, uint32_t, float)
__rh_cast(__int_as_float, float, int) __rh_cast(__uint_as_float, float, uint32_t)
__rh_cast(__double_as_longlong, long long, double) __rh_cast(__longlong_as_double, double, long long)
__rh_both uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t by) { return (uint32_t)(((uint64_t)high << 32 | low) << (by & 31) >> 32); }
__rh_both uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t by) { return (uint32_t)(((uint64_t)high << 32 | low) >> (by & 31)); }
__rh_both uint32_t __funnelshift_lc(uint32_t low, uint32_t high, uint32_t by) { return (uint32_t)(((uint64_t)high << 32 | low) << (by < 32 ? by : 32) >> 32); }
__rh_both uint32_t __funnelshift_rc(uint32_t low, uint32_t high, uint32_t by) { return (uint32_t)(((uint64_t)high << 32 | low) >> (by < 32 ? by : 32)); }
__rh_both uint32_t __sad(int a, int b, uint32_t c) { return (a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a) + c; }
__rh_both uint32_t __usad(uint32_t a, uint32_t b, uint32_t c) { return (a > b ? a - b : b - a) + c; }
__rh_both double __hiloint2double(int high, int low) { return __builtin_bit_cast(double, (uint64_t)(uint32_t)high << 32 | (uint32_t)low); }
__rh_both int __double2hiint(double a) { return (int)(__builtin_bit_cast(uint64_t, a) >> 32); }
__rh_both int __double2loint(double a) { return (int)__builtin_bit_cast(uint64_t, a); }
// Conversions with a direction of rounding.
#define __rh_round(from_name, from, to_name, to, suffix)                                                          \
  __rh_both to __##from_name##2##to_name##_rn(from a) { return (to)__builtin_rint##suffix(a); }                         \
  __rh_both to __##from_name##2##to_name##_rz(from a) { return (to)a; }                                                 \
  __rh_both to __##from_name##2##to_name##_rd(from a) { return (to)__builtin_floor##suffix(a); }                        \
  __rh_both to __##from_name##2##to_name##_ru(from a) { return (to)__builtin_ceil##suffix(a); }
#define __rh_rounds(name, type, suffix)                                                                           \
  __rh_round(name, type, int, int, suffix) __rh_round(name, type, uint, unsigned int, suffix)                      \
  __rh_round(name, type, ll, long long, suffix) __rh_round(name, type, ull, unsigned long long, suffix)
__rh_rounds(float, float, f) __rh_rounds(double, double, )
__rh_both double __int2double_rn(int a) { return (double)a; }
__rh_both double __uint2double_rn(unsigned int a) { return (double)a; }
// Rounds down (-1), towards zero (0) or up (1), given the nearest number and whether it is above or below the exact one.
template <class F, class B> __rh_both F __rh_toward(F nearest, bool is_above, bool is_below, int way) {
  bool goes_down = is_above && (way < 0 || (way == 0 && nearest > 0)), goes_up = is_below && (way > 0 || (way == 0 && nearest < 0));
  B bits = __builtin_bit_cast(B, nearest), sign = (B)1 << (8 * sizeof(B) - 1);
  if (!goes_down && !goes_up) return nearest;
  if (nearest == 0) return __builtin_bit_cast(F, goes_up ? (B)1 : (B)(sign | 1));
  return __builtin_bit_cast(F, (bits & sign) != 0 == goes_down ? bits + 1 : bits - 1);
}
template <class F, class B, class T> __rh_both F __rh_of_whole(T a, int way) {
  F nearest = (F)a, beyond = (F)(T)((uint64_t)1 << (8 * sizeof(T) - 2)) * (((T)-1 < 0) ? 2 : 4);
  // The nearest number may be one more than the type holds.
  bool is_beyond = nearest >= beyond;
  return __rh_toward<F, B>(nearest, is_beyond || (T)nearest > a, !is_beyond && (T)nearest < a, way);
}
#define __rh_ways(name, to, from, expression)                                                                     \
  __rh_both to name##_rn(from a) { return (to)a; }                                                                \
  __rh_both to name##_rd(from a) { const int way = -1; return expression; }                                       \
  __rh_both to name##_ru(from a) { const int way = 1; return expression; }                                        \
  __rh_both to name##_rz(from a) { const int way = 0; return expression; }
#define __rh_wholes(name, from, to, bits) __rh_ways(__##name##2##to, to, from, (__rh_of_whole<to, bits>(a, way)))
__rh_wholes(int, int, float, uint32_t) __rh_wholes(uint, unsigned int, float, uint32_t)
__rh_wholes(ll, long long, float, uint32_t) __rh_wholes(ull, unsigned long long, float, uint32_t)
__rh_wholes(ll, long long, double, uint64_t) __rh_wholes(ull, unsigned long long, double, uint64_t)
__rh_ways(__double2float, float, double, (__rh_toward<float, uint32_t>((float)a, (float)a > a, (float)a < a, way)))
#undef __rh_wholes
#undef __rh_ways
template <class T> __rh T __ldg(const T *place) { return *place; }
template <class T> __rh T __ldcg(const T *place) { return *place; }
template <class T> __rh T __ldca(const T *place) { return *place; }
template <class T> __rh T __ldcs(const T *place) { return *place; }

// ---- Exchanges between the lanes of a wave. ----

__rh uint32_t __lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
__rh uint64_t __ballot(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0); }
__rh uint64_t __ballot64(int predicate) { return __ballot(predicate); }
__rh uint64_t __activemask() { return __ballot(1); }
__rh int __any(int predicate) { return __ballot(predicate) != 0; }
__rh int __all(int predicate) { return __ballot(predicate) == __ballot(1); }
// Under AMD's names. A place is four times a lane's number, a pattern is the instruction's. Floats are exchanged as their bits.
__rh int __hip_ds_bpermute(int place, int value) { return __builtin_amdgcn_ds_bpermute(place, value); }
__rh int __hip_ds_permute(int place, int value) { return __builtin_amdgcn_ds_permute(place, value); }
__rh float __hip_ds_bpermutef(int place, float value) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(place, __builtin_bit_cast(int, value)));
}
__rh float __hip_ds_permutef(int place, float value) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_permute(place, __builtin_bit_cast(int, value)));
}
#define __hip_ds_swizzle(value, pattern) __builtin_amdgcn_ds_swizzle((value), (pattern))
#define __hip_ds_swizzlef(value, pattern) \
  __builtin_bit_cast(float, __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(int, (float)(value)), (pattern)))
#define __hip_move_dpp(value, control, rows, banks, bound) \
  __builtin_amdgcn_mov_dpp((value), (control), (rows), (banks), (bound))
__rh int __rh_word(int value, int lane) { return __builtin_amdgcn_ds_bpermute(lane << 2, value); }
template <class T> __rh T __rh_from(T value, int lane) {
  static_assert(sizeof(T) <= 8, "a value exchanged between lanes has at most 8 bytes");
  int words[2] = {0, 0};
  __builtin_memcpy(words, &value, sizeof value);
  words[0] = __rh_word(words[0], lane);
  if (sizeof(T) > 4) words[1] = __rh_word(words[1], lane);
  __builtin_memcpy(&value, words, sizeof value);
  return value;
}
template <class T> __rh T __shfl(T value, int lane, int width = warpSize) {
  int own = (int)__lane_id();
  return __rh_from(value, (lane & (width - 1)) + (own & ~(width - 1)));
}
template <class T> __rh T __shfl_up(T value, uint32_t delta, int width = warpSize) {
  int own = (int)__lane_id(), from = own - (int)delta;
  return __rh_from(value, from < (own & ~(width - 1)) ? own : from);
}
template <class T> __rh T __shfl_down(T value, uint32_t delta, int width = warpSize) {
  int own = (int)__lane_id();
  return __rh_from(value, (own & (width - 1)) + (int)delta >= width ? own : own + (int)delta);
}
template <class T> __rh T __shfl_xor(T value, int mask, int width = warpSize) {
  int own = (int)__lane_id(), from = own ^ mask;
  return __rh_from(value, from >= ((own + width) & ~(width - 1)) ? own : from);
}
template <class T> __rh T __shfl_sync(uint64_t, T value, int lane, int width = warpSize) { return __shfl(value, lane, width); }
template <class T> __rh T __shfl_up_sync(uint64_t, T value, uint32_t delta, int width = warpSize) { return __shfl_up(value, delta, width); }
template <class T> __rh T __shfl_down_sync(uint64_t, T value, uint32_t delta, int width = warpSize) { return __shfl_down(value, delta, width); }
template <class T> __rh T __shfl_xor_sync(uint64_t, T value, int mask, int width = warpSize) { return __shfl_xor(value, mask, width); }
__rh uint64_t __ballot_sync(uint64_t mask, int predicate) { return __ballot(predicate) & mask; }
__rh int __any_sync(uint64_t mask, int predicate) { return (__ballot(predicate) & mask) != 0; }
__rh int __all_sync(uint64_t mask, int predicate) { return (__ballot(predicate) & mask) == (__ballot(1) & mask); }

// ---- Atomics: on the device's memory, in no order. ----

#define __rh_scope "agent"
#define __rh_fetch(name, type, operation)                                                                       \
  __rh type name(type *place, type value) {                                                                     \
    return __hip_atomic_fetch_##operation(place, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);            \
  }                                                                                                             \
  __rh type name##_system(type *place, type value) {                                                            \
    return __hip_atomic_fetch_##operation(place, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);           \
  }
#define __rh_swap(type)                                                                                         \
  __rh type atomicExch(type *place, type value) {                                                               \
    return __hip_atomic_exchange(place, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                     \
  }                                                                                                             \
  __rh type atomicCAS(type *place, type compared, type value) {                                                 \
    __hip_atomic_compare_exchange_strong(place, &compared, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,           \
                                         __HIP_MEMORY_SCOPE_AGENT);                                             \
    return compared;                                                                                            \
  }
#define __rh_integer(type)                                                                                      \
  __rh_fetch(atomicAdd, type, add) __rh_fetch(atomicMin, type, min) __rh_fetch(atomicMax, type, max)            \
  __rh_fetch(atomicAnd, type, and) __rh_fetch(atomicOr, type, or) __rh_fetch(atomicXor, type, xor)              \
  __rh type atomicSub(type *place, type value) { return atomicAdd(place, (type)(0 - value)); }                  \
  __rh_swap(type)
__rh_integer(int) __rh_integer(unsigned int) __rh_integer(unsigned long) __rh_integer(unsigned long long)
__rh_fetch(atomicAdd, float, add) __rh_fetch(atomicAdd, double, add)
__rh_fetch(atomicMin, float, min) __rh_fetch(atomicMin, double, min)
__rh_fetch(atomicMax, float, max) __rh_fetch(atomicMax, double, max)
__rh float atomicSub(float *place, float value) { return atomicAdd(place, -value); }
__rh double atomicSub(double *place, double value) { return atomicAdd(place, -value); }
__rh_swap(float) __rh_swap(double)
template <class T> __rh T unsafeAtomicAdd(T *place, T value) { return atomicAdd(place, value); }
template <class T> __rh T safeAtomicAdd(T *place, T value) { return atomicAdd(place, value); }
__rh void atomicAddNoRet(float *place, float value) { atomicAdd(place, value); }
__rh unsigned int atomicInc(unsigned int *place, unsigned int most) {
  unsigned int old = *place, seen;
  do { seen = old; old = atomicCAS(place, seen, seen >= most ? 0 : seen + 1); } while (old != seen);
  return old;
}
__rh unsigned int atomicDec(unsigned int *place, unsigned int most) {
  unsigned int old = *place, seen;
  do { seen = old; old = atomicCAS(place, seen, seen == 0 || seen > most ? most : seen - 1); } while (old != seen);
  return old;
}

// ---- What a whole workgroup or wave agrees on. ----

__rh int __syncthreads_count(int predicate) {
  __shared__ int count;
  __syncthreads();
  count = 0;
  __syncthreads();
  if (predicate) atomicAdd(&count, 1);
  __syncthreads();
  int all = count;
  __syncthreads();
  return all;
}
__rh int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) != 0; }
__rh int __syncthreads_and(int predicate) { return __syncthreads_count(!predicate) == 0; }
template <class T> __rh uint64_t __match_any(T value) {
  uint64_t left = __activemask(), own = 0;
  while (left) {
    int first = __builtin_ctzll(left);
    uint64_t same = __ballot(__shfl(value, first) == value) & left;
    if (same >> __lane_id() & 1) own = same;
    left &= ~same;
  }
  return own;
}
template <class T> __rh uint64_t __match_any_sync(uint64_t mask, T value) { return __match_any(value) & mask; }
#define __rh_reduce(name, type, expression)                                                                       \
  __rh type __reduce_##name##_sync(uint64_t mask, type own) {                                                      \
    type a = __shfl(own, __builtin_ctzll(mask));                                                                   \
    for (uint64_t left = mask & (mask - 1); left; left &= left - 1) {                                              \
      type b = __shfl(own, __builtin_ctzll(left));                                                                 \
      a = expression;                                                                                              \
    }                                                                                                              \
    return a;                                                                                                      \
  }
#define __rh_reduces(type) __rh_reduce(add, type, a + b) __rh_reduce(min, type, a < b ? a : b) __rh_reduce(max, type, a > b ? a : b)
__rh_reduces(int) __rh_reduces(unsigned int)
__rh_reduce(and, unsigned int, a & b) __rh_reduce(or, unsigned int, a | b) __rh_reduce(xor, unsigned int, a ^ b)

// ---- Vectors of one to four values, under the names that libraries of templates add sizes and types to. ----

#define __rh_member __host__ __device__ constexpr
template <class T, unsigned N> struct HIP_vector_base;
// Three elements have no padding and are aligned as one.
template <class T> struct __rh_three {
  T d[3];
  __host__ __device__ T &operator[](unsigned i) { return d[i]; }
  __rh_member const T &operator[](unsigned i) const { return d[i]; }
#define __rh_each(op) \
  __host__ __device__ __rh_three &operator op(const __rh_three &a) { d[0] op a.d[0]; d[1] op a.d[1]; d[2] op a.d[2]; return *this; }
  __rh_each(+=) __rh_each(-=) __rh_each(*=) __rh_each(/=) __rh_each(%=) __rh_each(&=) __rh_each(|=) __rh_each(^=) __rh_each(<<=) __rh_each(>>=)
#undef __rh_each
  __host__ __device__ __rh_three operator-() const { return {(T)-d[0], (T)-d[1], (T)-d[2]}; }
  __host__ __device__ __rh_three operator~() const { return {(T)~d[0], (T)~d[1], (T)~d[2]}; }
};
template <class T, unsigned N> struct __rh_native { typedef T type __attribute__((ext_vector_type(N))); };
template <class T> struct __rh_native<T, 3> { typedef __rh_three<T> type; };
#define __rh_base(N, names, all, each)                                          \
  template <class T> struct HIP_vector_base<T, N> {                             \
    typedef T value_type;                                                       \
    typedef typename __rh_native<T, N>::type Native_vec_;                       \
    union {                                                                     \
      Native_vec_ data;                                                         \
      struct { T names; };                                                      \
    };                                                                          \
    HIP_vector_base() = default;                                                \
    __rh_member explicit HIP_vector_base(T a) : data{all} {}                    \
    each                                                                        \
  };
#define __rh_all(...) __VA_ARGS__
__rh_base(1, x, a, )
__rh_base(2, __rh_all(x, y), __rh_all(a, a), __rh_all(__rh_member HIP_vector_base(T a, T b) : data{a, b} {}))
__rh_base(3, __rh_all(x, y, z), __rh_all(a, a, a), __rh_all(__rh_member HIP_vector_base(T a, T b, T c) : data{a, b, c} {}))
__rh_base(4, __rh_all(x, y, z, w), __rh_all(a, a, a, a), __rh_all(__rh_member HIP_vector_base(T a, T b, T c, T d) : data{a, b, c, d} {}))
#undef __rh_base
#undef __rh_all

template <bool, class R> struct __rh_if {};
template <class R> struct __rh_if<true, R> { typedef R type; };
template <class U, class R> using __rh_scaled = typename __rh_if<__is_arithmetic(U), R>::type;
// A number of any type takes the type of the elements: `double2 * 0.5l`.
template <class T, class U, class R> using __rh_element = typename __rh_if<__is_convertible_to(U, T), R>::type;
template <class T, unsigned N> struct HIP_vector_type : HIP_vector_base<T, N> {
  using HIP_vector_base<T, N>::data;
  using typename HIP_vector_base<T, N>::Native_vec_;
  HIP_vector_type() = default;
  template <class U, class = __rh_element<T, U, int>> __rh_member explicit HIP_vector_type(U all) : HIP_vector_base<T, N>((T)all) {}
  template <class... U, class = typename __rh_if<(N > 1 && sizeof...(U) == N), int>::type>
  __rh_member HIP_vector_type(U... each) : HIP_vector_base<T, N>((T)each...) {}
#define __rh_operator(op)                                                                                                    \
  __host__ __device__ HIP_vector_type &operator op(const HIP_vector_type &a) { data op a.data; return *this; }               \
  template <class U> __host__ __device__ __rh_element<T, U, HIP_vector_type &> operator op(U a) { return *this op HIP_vector_type(a); }
  __rh_operator(+=) __rh_operator(-=) __rh_operator(*=) __rh_operator(/=)
  __rh_operator(%=) __rh_operator(&=) __rh_operator(|=) __rh_operator(^=) __rh_operator(<<=) __rh_operator(>>=)
#undef __rh_operator
  __host__ __device__ HIP_vector_type &operator++() noexcept { return *this += HIP_vector_type(1); }
  __host__ __device__ HIP_vector_type &operator--() noexcept { return *this -= HIP_vector_type(1); }
  __host__ __device__ HIP_vector_type operator++(int) { HIP_vector_type before = *this; ++*this; return before; }
  __host__ __device__ HIP_vector_type operator--(int) { HIP_vector_type before = *this; --*this; return before; }
  __host__ __device__ HIP_vector_type operator-() const { HIP_vector_type a; a.data = -data; return a; }
  __host__ __device__ HIP_vector_type operator~() const { HIP_vector_type a; a.data = ~data; return a; }
};
#define __rh_operator(op)                                                                                                    \
  template <class T, unsigned N> __rh_both HIP_vector_type<T, N> operator op(HIP_vector_type<T, N> a, const HIP_vector_type<T, N> &b) { return a op##= b; } \
  template <class T, unsigned N, class U> __rh_both __rh_element<T, U, HIP_vector_type<T, N>> operator op(HIP_vector_type<T, N> a, U b) { return a op##= b; } \
  template <class T, unsigned N, class U> __rh_both __rh_element<T, U, HIP_vector_type<T, N>> operator op(U a, const HIP_vector_type<T, N> &b) { HIP_vector_type<T, N> c(a); return c op##= b; }
__rh_operator(+) __rh_operator(-) __rh_operator(*) __rh_operator(/)
__rh_operator(%) __rh_operator(&) __rh_operator(|) __rh_operator(^) __rh_operator(<<) __rh_operator(>>)
#undef __rh_operator
template <class T, unsigned N> __rh_both bool operator==(const HIP_vector_type<T, N> &a, const HIP_vector_type<T, N> &b) {
  bool same = true;
  for (unsigned i = 0; i < N; i++) same = same && a.data[i] == b.data[i];
  return same;
}
template <class T, unsigned N> __rh_both bool operator!=(const HIP_vector_type<T, N> &a, const HIP_vector_type<T, N> &b) { return !(a == b); }
#define __rh_operator(op)                                                                                                    \
  template <class T, unsigned N, class U> __rh_both __rh_element<T, U, bool> operator op(const HIP_vector_type<T, N> &a, U b) { return a op HIP_vector_type<T, N>(b); } \
  template <class T, unsigned N, class U> __rh_both __rh_element<T, U, bool> operator op(U a, const HIP_vector_type<T, N> &b) { return HIP_vector_type<T, N>(a) op b; }
__rh_operator(==) __rh_operator(!=)
#undef __rh_operator
#define __rh_vectors(name, type)                                                                               \
  typedef HIP_vector_type<type, 1> name##1;                                                                        \
  typedef HIP_vector_type<type, 2> name##2;                                                                        \
  typedef HIP_vector_type<type, 3> name##3;                                                                        \
  typedef HIP_vector_type<type, 4> name##4;                                                                        \
  __rh_both name##1 make_##name##1(type x) { return name##1(x); }                                                          \
  __rh_both name##2 make_##name##2(type x, type y) { return {x, y}; }                                               \
  __rh_both name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                                    \
  __rh_both name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
__rh_vectors(char, signed char) __rh_vectors(uchar, unsigned char)
__rh_vectors(short, short) __rh_vectors(ushort, unsigned short)
__rh_vectors(int, int) __rh_vectors(uint, unsigned int)
__rh_vectors(long, long) __rh_vectors(ulong, unsigned long)
__rh_vectors(longlong, long long) __rh_vectors(ulonglong, unsigned long long)
__rh_vectors(float, float) __rh_vectors(double, double)

// ---- Traits of types, of the system's library if there is one, and half precision. ----

#if __has_include(<type_traits>)
#include <type_traits>
#else
namespace std {
template <class T, T v> struct integral_constant {
  static constexpr T value = v;
  typedef T value_type;
  constexpr operator T() const { return v; }
};
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <bool, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
}
#endif
#include <hip/hip_fp16.h>
#include <hip/hip_bfloat16.h>
