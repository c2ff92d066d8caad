// Half precision: a type of its own around the compiler's, so that templates may tell the two apart.
#pragma once
#define HIP_INCLUDE_HIP_HIP_FP16_H
#pragma clang system_header
struct __half_raw {
  union {
    _Float16 data;
    unsigned short x;
  };
  __half_raw() = default;
  __rh_member __half_raw(_Float16 data) : data(data) {}
  __rh_member operator _Float16() const { return data; }
};
struct __half {
  union {
    _Float16 data;
    unsigned short __x;
  };
  __half() = default;
  template <class T, class = __rh_scaled<T, int>> __rh_member __half(T a) : data((_Float16)a) {}
  __rh_member __half(__half_raw a) : data(a.data) {}
  __rh_member operator _Float16() const { return data; }
  __rh_member operator __half_raw() const { return data; }
};
typedef __half half;
// With a number of another type the result has the wider type, as for the compiler's type.
template <class T> struct __rh_half_result { typedef T type; };
template <> struct __rh_half_result<_Float16> { typedef __half type; };
#define __rh_result(op) typename __rh_half_result<decltype(_Float16() op __rh_scaled<U, U>())>::type
#define __rh_half(op)                                                                                                   \
  __rh_member __half operator op(__half a, __half b) { return (_Float16)(a.data op b.data); }                           \
  template <class U> __rh_member __rh_result(op) operator op(__half a, U b) { return a.data op b; }                     \
  template <class U> __rh_member __rh_result(op) operator op(U a, __half b) { return a op b.data; }                     \
  __rh_both __half &operator op##=(__half &a, __half b) { return a = a op b; }                                          \
  template <class U> __rh_both __rh_scaled<U, __half &> operator op##=(__half &a, U b) { return a = __half(a.data op b); } \
  template <class U> __rh_both __rh_scaled<U, U &> operator op##=(U &a, __half b) { return a = (U)(a op b.data); }
__rh_half(+) __rh_half(-) __rh_half(*) __rh_half(/)
#undef __rh_half
#undef __rh_result
#define __rh_half(op)                                                                                                   \
  __rh_member bool operator op(__half a, __half b) { return a.data op b.data; }                                         \
  template <class U> __rh_member __rh_scaled<U, bool> operator op(__half a, U b) { return a.data op b; }                \
  template <class U> __rh_member __rh_scaled<U, bool> operator op(U a, __half b) { return a op b.data; }
__rh_half(==) __rh_half(!=) __rh_half(<) __rh_half(<=) __rh_half(>) __rh_half(>=)
#undef __rh_half
__rh_member __half operator+(__half a) { return a; }
__rh_member __half operator-(__half a) { return (_Float16)-a.data; }
__rh_both __half &operator++(__half &a) { return a += 1; }
__rh_both __half &operator--(__half &a) { return a -= 1; }
__rh_both __half operator++(__half &a, int) { __half before = a; a += 1; return before; }
__rh_both __half operator--(__half &a, int) { __half before = a; a -= 1; return before; }
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  __rh_member __half2(__half all) : x(all), y(all) {}
  template <class T, class = __rh_scaled<T, int>> __rh_member __half2(T all) : x(all), y(all) {}
  __rh_member __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;
typedef _Float16 __rh_half_pair __attribute__((ext_vector_type(2)));
struct __half2_raw {
  union {
    struct { unsigned short x, y; };
    __rh_half_pair data;
  };
  __half2_raw() = default;
  __host__ __device__ __half2_raw(__half2 a) : data{a.x.data, a.y.data} {}
  __host__ __device__ operator __half2() const { return {__half(data.x), __half(data.y)}; }
};

__rh_both __half2 make_half2(__half x, __half y) { return {x, y}; }
__rh_both unsigned short __half_as_ushort(__half a) { return __builtin_bit_cast(unsigned short, a); }
__rh_both __half __ushort_as_half(unsigned short a) { return __builtin_bit_cast(__half, a); }
__rh_both short __half_as_short(__half a) { return __builtin_bit_cast(short, a); }
__rh_both __half __short_as_half(short a) { return __builtin_bit_cast(__half, a); }
// By their bits, so that options for finite numbers change nothing.
__rh_both bool __hisnan(__half a) { return (__half_as_ushort(a) & 0x7fff) > 0x7c00; }
__rh_both bool __hisinf(__half a) { return (__half_as_ushort(a) & 0x7fff) == 0x7c00; }
__rh_both __half2 __hisnan2(__half2 a) { return {(__half)__hisnan(a.x), (__half)__hisnan(a.y)}; }
__rh_both __half2 __hisinf2(__half2 a) { return {(__half)__hisinf(a.x), (__half)__hisinf(a.y)}; }

// Arithmetic of one and of two, also of two with a number for both.
#define __rh_half(name, op)                                                                          \
  __rh_both __half __h##name(__half a, __half b) { return a op b; }                                       \
  __rh_both __half2 __h##name##2(__half2 a, __half2 b) { return {a.x op b.x, a.y op b.y}; } \
  __rh_both __half2 operator op(__half2 a, __half2 b) { return __h##name##2(a, b); }                      \
  __rh_both __half2 &operator op##=(__half2 &a, __half2 b) { return a = __h##name##2(a, b); }             \
  template <class U> __rh_both __rh_scaled<U, __half2> operator op(__half2 a, U b) { return a op __half2((__half)b); } \
  template <class U> __rh_both __rh_scaled<U, __half2 &> operator op##=(__half2 &a, U b) { return a = a op b; }
__rh_half(add, +) __rh_half(sub, -) __rh_half(mul, *) __rh_half(div, /)
#undef __rh_half
__rh_both __half2 __h2div(__half2 a, __half2 b) { return a / b; }
__rh_both __half2 operator+(__half2 a) { return a; }
__rh_both __half2 operator-(__half2 a) { return {-a.x, -a.y}; }
__rh_both __half2 &operator++(__half2 &a) { return a += 1; }
__rh_both __half2 &operator--(__half2 &a) { return a -= 1; }
__rh_both __half2 operator++(__half2 &a, int) { __half2 before = a; a += 1; return before; }
__rh_both __half2 operator--(__half2 &a, int) { __half2 before = a; a -= 1; return before; }
__rh_both __half __hneg(__half a) { return -a; }
__rh_both __half2 __hneg2(__half2 a) { return -a; }
__rh_both __half __hfma(__half a, __half b, __half c) { return __builtin_fmaf16(a.data, b.data, c.data); }
__rh_both __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
// The same between 0 and 1, or not a number.
__rh_both __half __clamp_01(__half a) { return a < (__half)0 ? (__half)0 : a > (__half)1 ? (__half)1 : a; }
__rh_both __half2 __rh_clamped(__half2 a) { return {__clamp_01(a.x), __clamp_01(a.y)}; }
#define __rh_half(name)                                                                                \
  __rh_both __half name##_sat(__half a, __half b) { return __clamp_01(name(a, b)); }                        \
  __rh_both __half2 name##2_sat(__half2 a, __half2 b) { return __rh_clamped(name##2(a, b)); }
__rh_half(__hadd) __rh_half(__hsub) __rh_half(__hmul)
#undef __rh_half
__rh_both __half __hfma_sat(__half a, __half b, __half c) { return __clamp_01(__hfma(a, b, c)); }
__rh_both __half2 __hfma2_sat(__half2 a, __half2 b, __half2 c) { return __rh_clamped(__hfma2(a, b, c)); }
__rh_both float amd_mixed_dot(__half2 a, __half2 b, float c, bool) {
  return __builtin_fmaf((float)a.x, (float)b.x, __builtin_fmaf((float)a.y, (float)b.y, c));
}
__rh_both __half __hmax(__half a, __half b) { return (__half)__builtin_fmaxf((float)a, (float)b); }
__rh_both __half __hmin(__half a, __half b) { return (__half)__builtin_fminf((float)a, (float)b); }
__rh_both __half __hmax_nan(__half a, __half b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
__rh_both __half __hmin_nan(__half a, __half b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
#define __rh_half(name) __rh_both __half2 name##2(__half2 a, __half2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
__rh_half(__hmax) __rh_half(__hmin)
#undef __rh_half

__rh_comparisons(__half, __half2)
__rh_both bool operator<(__half2 a, __half2 b) { return __hblt2(a, b); }
__rh_both bool operator>(__half2 a, __half2 b) { return b < a; }
// As AMD's: not both are larger, or smaller.
__rh_both bool operator<=(__half2 a, __half2 b) { return !(b < a); }
__rh_both bool operator>=(__half2 a, __half2 b) { return !(a < b); }

// Parts of two.
__rh_both __half2 __half2half2(__half a) { return {a, a}; }
__rh_both __half2 __halves2half2(__half a, __half b) { return {a, b}; }
__rh_both __half __low2half(__half2 a) { return a.x; }
__rh_both __half __high2half(__half2 a) { return a.y; }
__rh_both __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
__rh_both __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
__rh_both __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
__rh_both __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
__rh_both __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }

// Conversions. The number next to one, and roundings of what lies between.
__rh_both __half __rh_next(__half a, bool up) {
  unsigned short bits = __half_as_ushort(a);
  if ((bits & 0x7fff) == 0) return __ushort_as_half(up ? 1 : 0x8001);
  return __ushort_as_half(bits >> 15 == up ? bits - 1 : bits + 1);
}
__rh_both __half __float2half_rn(float a) { return (__half)a; }
__rh_both __half __float2half_ru(float a) { __half h = (__half)a; return (float)h < a ? __rh_next(h, true) : h; }
__rh_both __half __float2half_rd(float a) { __half h = (__half)a; return (float)h > a ? __rh_next(h, false) : h; }
__rh_both __half __float2half_rz(float a) { return a < 0 ? __float2half_ru(a) : __float2half_rd(a); }
// Whole numbers: AMD's headers truncate one way and round to the nearest the other way, whatever the name says.
#define __rh_whole(name, type)                                       \
  __rh_whole_of(name, type, _rn) __rh_whole_of(name, type, _rz)      \
  __rh_whole_of(name, type, _rd) __rh_whole_of(name, type, _ru)
#define __rh_whole_of(name, type, way)                               \
  __rh_both __half __##name##2half##way(type a) { return (__half)a; }     \
  __rh_both type __half2##name##way(__half a) { return (type)a; }
__rh_whole(int, int) __rh_whole(uint, unsigned) __rh_whole(short, short) __rh_whole(ushort, unsigned short)
__rh_whole(ll, long long) __rh_whole(ull, unsigned long long)
#undef __rh_whole
#undef __rh_whole_of
__rh_both __half __float2half(float a) { return (__half)a; }
__rh_both __half __double2half(double a) { return (__half)a; }
__rh_both float __half2float(__half a) { return (float)a; }
__rh_both __half2 __floats2half2_rn(float a, float b) { return {(__half)a, (__half)b}; }
__rh_both __half2 __float2half2_rn(float a) { return {(__half)a, (__half)a}; }
__rh_both __half2 __float22half2_rn(float2 a) { return {(__half)a.x, (__half)a.y}; }
__rh_both float __low2float(__half2 a) { return (float)a.x; }
__rh_both float __high2float(__half2 a) { return (float)a.y; }
__rh_both float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }

__rh_functions(__half, __half2)
__rh_function(__half, __half2, __habs, __habs2, __builtin_fabsf(a))
