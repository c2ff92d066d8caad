// bfloat16: the upper half of a single-precision number, with arithmetic in single precision.
#pragma once
#pragma clang system_header
struct alignas(2) __hip_bfloat16_raw { unsigned short x; };
struct alignas(2) __hip_bfloat16 {
  unsigned short __x;
  __hip_bfloat16() = default;
  // Rounds to nearest even; a NaN stays one.
  template <class T, class = __rh_scaled<T, int>> __rh_member __hip_bfloat16(T number) {
    float single = (float)number;
    unsigned bits = __builtin_bit_cast(unsigned, single);
    bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    __x = (unsigned short)((is_nan ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
  }
  __rh_member __hip_bfloat16(__hip_bfloat16_raw raw) : __x(raw.x) {}
  __rh_member operator __hip_bfloat16_raw() const { return {__x}; }
  __rh_member operator float() const { return __builtin_bit_cast(float, (unsigned)__x << 16); }
};
struct alignas(4) __hip_bfloat162_raw { unsigned short x, y; };
struct alignas(4) __hip_bfloat162 {
  __hip_bfloat16 x, y;
  __hip_bfloat162() = default;
  __rh_member __hip_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) : x(x), y(y) {}
  __rh_member __hip_bfloat162(__hip_bfloat162_raw raw) : x(__hip_bfloat16_raw{raw.x}), y(__hip_bfloat16_raw{raw.y}) {}
  __rh_member operator __hip_bfloat162_raw() const { return {x.__x, y.__x}; }
  __rh_member operator float2() const { return {(float)x, (float)y}; }
};

#define __rh_bfloat(op)                                                                                                          \
  __rh_both __hip_bfloat16 operator op(__hip_bfloat16 a, __hip_bfloat16 b) { return {(float)a op(float) b}; }                         \
  __rh_both __hip_bfloat16 &operator op##=(__hip_bfloat16 &a, __hip_bfloat16 b) { return a = a op b; }                                \
  __rh_both __hip_bfloat162 operator op(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.x op b.x, a.y op b.y}; }                    \
  __rh_both __hip_bfloat162 &operator op##=(__hip_bfloat162 &a, __hip_bfloat162 b) { return a = a op b; }
__rh_bfloat(+) __rh_bfloat(-) __rh_bfloat(*) __rh_bfloat(/)
#undef __rh_bfloat
__rh_both __hip_bfloat16 operator+(__hip_bfloat16 a) { return a; }
__rh_both __hip_bfloat162 operator+(__hip_bfloat162 a) { return a; }
__rh_both __hip_bfloat16 operator-(__hip_bfloat16 a) { a.__x ^= 0x8000; return a; }
__rh_both __hip_bfloat162 operator-(__hip_bfloat162 a) { return {-a.x, -a.y}; }
#define __rh_bfloat(type, one, op)                                                                           \
  __rh_both type &operator op##op(type &a) { return a = a op one; }                                               \
  __rh_both type operator op##op(type &a, int) { type before = a; a = a op one; return before; }
__rh_bfloat(__hip_bfloat16, __hip_bfloat16(1), +) __rh_bfloat(__hip_bfloat16, __hip_bfloat16(1), -)
__rh_bfloat(__hip_bfloat162, __hip_bfloat162(1, 1), +) __rh_bfloat(__hip_bfloat162, __hip_bfloat162(1, 1), -)
#undef __rh_bfloat

#define __rh_bfloat(op)                                                                            \
  __rh_both bool operator op(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a op(float) b; }
__rh_bfloat(==) __rh_bfloat(!=) __rh_bfloat(<) __rh_bfloat(<=) __rh_bfloat(>) __rh_bfloat(>=)
#undef __rh_bfloat
__rh_comparisons(__hip_bfloat16, __hip_bfloat162)
// By their bits, so that options for finite numbers change nothing.
__rh_both bool __hisnan(__hip_bfloat16 a) { return (a.__x & 0x7fff) > 0x7f80; }
__rh_both bool __hisinf(__hip_bfloat16 a) { return (a.__x & 0x7fff) == 0x7f80; }
__rh_both __hip_bfloat162 __hisnan2(__hip_bfloat162 a) { return {(int)__hisnan(a.x), (int)__hisnan(a.y)}; }
// Prefers a number to a NaN. Two NaNs give the NaN of AMD's headers.
__rh_both __hip_bfloat16 __rh_chosen(__hip_bfloat16 a, __hip_bfloat16 b, bool first) {
  if (__hisnan(a)) return __hisnan(b) ? __hip_bfloat16(__hip_bfloat16_raw{0x7fff}) : b;
  return __hisnan(b) || first ? a : b;
}
__rh_both __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b) { return __rh_chosen(a, b, a > b); }
__rh_both __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b) { return __rh_chosen(a, b, a < b); }
__rh_both __hip_bfloat162 __hmax2(__hip_bfloat162 a, __hip_bfloat162 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
__rh_both __hip_bfloat162 __hmin2(__hip_bfloat162 a, __hip_bfloat162 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }

// Conversions, and parts of two.
__rh_both float __bfloat162float(__hip_bfloat16 a) { return (float)a; }
__rh_both __hip_bfloat16 __float2bfloat16(float a) { return {a}; }
__rh_both __hip_bfloat16 __float2bfloat16_rn(float a) { return {a}; }
__rh_both __hip_bfloat16 __double2bfloat16(double a) { return {a}; }
__rh_both __hip_bfloat16 __int2bfloat16_rn(int a) { return {a}; }
__rh_both unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return a.__x; }
__rh_both short __bfloat16_as_short(__hip_bfloat16 a) { return (short)a.__x; }
__rh_both __hip_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __hip_bfloat16_raw{a}; }
__rh_both __hip_bfloat16 __short_as_bfloat16(short a) { return __hip_bfloat16_raw{(unsigned short)a}; }
__rh_both __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
__rh_both __hip_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
__rh_both __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return {a, b}; }
__rh_both __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return {a, a}; }
__rh_both float2 __bfloat1622float2(__hip_bfloat162 a) { return {(float)a.x, (float)a.y}; }
__rh_both float __low2float(__hip_bfloat162 a) { return (float)a.x; }
__rh_both float __high2float(__hip_bfloat162 a) { return (float)a.y; }
__rh_both __hip_bfloat16 __low2bfloat16(__hip_bfloat162 a) { return a.x; }
__rh_both __hip_bfloat16 __high2bfloat16(__hip_bfloat162 a) { return a.y; }
__rh_both __hip_bfloat162 __low2bfloat162(__hip_bfloat162 a) { return {a.x, a.x}; }
__rh_both __hip_bfloat162 __high2bfloat162(__hip_bfloat162 a) { return {a.y, a.y}; }
__rh_both __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.x, b.x}; }
__rh_both __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.y, b.y}; }
__rh_both __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 a) { return {a.y, a.x}; }

// Arithmetic.
__rh_both __hip_bfloat16 __hadd(__hip_bfloat16 a, __hip_bfloat16 b) { return a + b; }
__rh_both __hip_bfloat16 __hsub(__hip_bfloat16 a, __hip_bfloat16 b) { return a - b; }
__rh_both __hip_bfloat16 __hmul(__hip_bfloat16 a, __hip_bfloat16 b) { return a * b; }
__rh_both __hip_bfloat16 __hdiv(__hip_bfloat16 a, __hip_bfloat16 b) { return a / b; }
__rh_both __hip_bfloat16 __hneg(__hip_bfloat16 a) { return -a; }
__rh_both __hip_bfloat16 __habs(__hip_bfloat16 a) { a.__x &= 0x7fff; return a; }
__rh_both __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) { return {__builtin_fmaf((float)a, (float)b, (float)c)}; }
__rh_both __hip_bfloat162 __hadd2(__hip_bfloat162 a, __hip_bfloat162 b) { return a + b; }
__rh_both __hip_bfloat162 __hsub2(__hip_bfloat162 a, __hip_bfloat162 b) { return a - b; }
__rh_both __hip_bfloat162 __hmul2(__hip_bfloat162 a, __hip_bfloat162 b) { return a * b; }
__rh_both __hip_bfloat162 __h2div(__hip_bfloat162 a, __hip_bfloat162 b) { return a / b; }
__rh_both __hip_bfloat162 __hneg2(__hip_bfloat162 a) { return -a; }
__rh_both __hip_bfloat162 __habs2(__hip_bfloat162 a) { return {__habs(a.x), __habs(a.y)}; }
__rh_both __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }

__rh_functions(__hip_bfloat16, __hip_bfloat162)
