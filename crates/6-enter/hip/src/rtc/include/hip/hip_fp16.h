// Half precision: the compiler's own type under the interface's names.
#pragma once
#pragma clang system_header
typedef _Float16 __half;
typedef _Float16 half;
struct __half_raw {
  union {
    _Float16 data;
    unsigned short x;
  };
  __half_raw() = default;
  __rh_member __half_raw(_Float16 data) : data(data) {}
  __rh_member operator _Float16() const { return data; }
};
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  __rh_member explicit __half2(__half all) : x(all), y(all) {}
  __rh_member __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;

#define __rh_half(name, expression) __rh __half name(__half a, __half b) { return expression; } \
  __rh __half2 name##2(__half2 a, __half2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
__rh_half(__hadd, a + b) __rh_half(__hsub, a - b) __rh_half(__hmul, a * b) __rh_half(__hdiv, a / b)
#undef __rh_half
__rh __half __hneg(__half a) { return -a; }
__rh __half __hfma(__half a, __half b, __half c) { return __builtin_fmaf16(a, b, c); }
__rh __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
#define __rh_compare(name, op) __rh bool name(__half a, __half b) { return a op b; }
__rh_compare(__heq, ==) __rh_compare(__hne, !=) __rh_compare(__hlt, <) __rh_compare(__hle, <=) __rh_compare(__hgt, >) __rh_compare(__hge, >=)
#undef __rh_compare
__rh __half __float2half(float a) { return (__half)a; }
__rh __half __float2half_rn(float a) { return (__half)a; }
__rh __half __double2half(double a) { return (__half)a; }
__rh __half __int2half_rn(int a) { return (__half)a; }
__rh float __half2float(__half a) { return (float)a; }
__rh __half2 __floats2half2_rn(float a, float b) { return {(__half)a, (__half)b}; }
__rh __half2 __float2half2_rn(float a) { return {(__half)a, (__half)a}; }
__rh __half2 __halves2half2(__half a, __half b) { return {a, b}; }
__rh __half __low2half(__half2 a) { return a.x; }
__rh __half __high2half(__half2 a) { return a.y; }
__rh float __low2float(__half2 a) { return (float)a.x; }
__rh float __high2float(__half2 a) { return (float)a.y; }
__rh float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }
__rh unsigned short __half_as_ushort(__half a) { return __builtin_bit_cast(unsigned short, a); }
__rh __half __ushort_as_half(unsigned short a) { return __builtin_bit_cast(__half, a); }
// Functions in single precision, rounded.
#define __rh_half(name, expression) __rh __half name(__half h) { float a = (float)h; return (__half)(expression); }
__rh_half(hsqrt, __builtin_sqrtf(a)) __rh_half(hrsqrt, 1.0f / __builtin_sqrtf(a)) __rh_half(hrcp, 1.0f / a)
__rh_half(hfloor, __builtin_floorf(a)) __rh_half(hceil, __builtin_ceilf(a)) __rh_half(htrunc, __builtin_truncf(a))
__rh_half(hrint, __builtin_rintf(a)) __rh_half(__habs, __builtin_fabsf(a))
#ifdef ROCKHOUND_DEVICE_LIBRARIES
__rh_half(hexp, expf(a)) __rh_half(hexp2, exp2f(a)) __rh_half(hlog, logf(a)) __rh_half(hlog2, log2f(a))
__rh_half(hlog10, log10f(a)) __rh_half(hsin, sinf(a)) __rh_half(hcos, cosf(a))
#endif
#undef __rh_half
// By their bits, so that options for finite numbers change nothing.
__rh bool __hisnan(__half a) { return (__half_as_ushort(a) & 0x7fff) > 0x7c00; }
__rh bool __hisinf(__half a) { return (__half_as_ushort(a) & 0x7fff) == 0x7c00; }
// The number next to one, and roundings of what lies between.
__rh __half __rh_next(__half a, bool up) {
  unsigned short bits = __half_as_ushort(a);
  if ((bits & 0x7fff) == 0) return __ushort_as_half(up ? 1 : 0x8001);
  return __ushort_as_half(bits >> 15 == up ? bits - 1 : bits + 1);
}
__rh __half __float2half_ru(float a) { __half h = (__half)a; return (float)h < a ? __rh_next(h, true) : h; }
__rh __half __float2half_rd(float a) { __half h = (__half)a; return (float)h > a ? __rh_next(h, false) : h; }
__rh __half __float2half_rz(float a) { return a < 0 ? __float2half_ru(a) : __float2half_rd(a); }
#define __rh_whole(name, type) \
  __rh type __half2##name##_rn(__half a) { return (type)__builtin_rintf((float)a); } \
  __rh type __half2##name##_rz(__half a) { return (type)a; } \
  __rh type __half2##name##_rd(__half a) { return (type)__builtin_floorf((float)a); } \
  __rh type __half2##name##_ru(__half a) { return (type)__builtin_ceilf((float)a); }
__rh_whole(int, int) __rh_whole(uint, unsigned) __rh_whole(short, short) __rh_whole(ushort, unsigned short)
__rh_whole(ll, long long) __rh_whole(ull, unsigned long long)
#undef __rh_whole
__rh __half __uint2half_rn(unsigned a) { return (__half)a; }
__rh __half __short2half_rn(short a) { return (__half)a; }
__rh __half __ushort2half_rn(unsigned short a) { return (__half)a; }
__rh __half __ll2half_rn(long long a) { return (__half)a; }
__rh __half __ull2half_rn(unsigned long long a) { return (__half)a; }
__rh __half __hmax(__half a, __half b) { return (__half)__builtin_fmaxf((float)a, (float)b); }
__rh __half __hmin(__half a, __half b) { return (__half)__builtin_fminf((float)a, (float)b); }
