// Numbers of eight bits: OCP's two, and the two with one zero, one NaN and no infinity (`fnuz`). A GPU that has instructions
// for one kind converts that kind by them; everything else is calculated.
#pragma once
#pragma clang system_header
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>

// gfx942 converts the `fnuz` kind by instructions, gfx950 OCP's. Other GPUs calculate both.
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
#define HIP_FP8_TYPE_OCP 0
#define HIP_FP8_TYPE_FNUZ 1
#define HIP_FP8_CVT_FAST_PATH 1
#elif defined(__gfx950__)
#define HIP_FP8_TYPE_OCP 1
#define HIP_FP8_TYPE_FNUZ 0
#define HIP_FP8_CVT_FAST_PATH 1
#else
#define HIP_FP8_TYPE_OCP 1
#define HIP_FP8_TYPE_FNUZ 1
#define HIP_FP8_CVT_FAST_PATH 0
#endif

enum __hip_fp8_interpretation_t { __HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ, __HIP_E5M2_FNUZ };
enum __hip_saturation_t { __HIP_NOSAT, __HIP_SATFINITE };
typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;

// Bits of the fraction; power of two of the smallest normal number; the largest number as bits and as a value.
struct __rh_eight {
  int fraction, lowest;
  unsigned largest;
  float most;
  bool is_fnuz, is_wide;
  __rh_member __rh_eight(__hip_fp8_interpretation_t kind)
      : fraction(kind & 1 ? 2 : 3), lowest((kind & 1 ? -14 : -6) - (kind >> 1)),
        largest(kind == __HIP_E4M3 ? 0x7e : kind == __HIP_E5M2 ? 0x7b : 0x7f),
        most(kind & 1 ? 57344 : kind == __HIP_E4M3 ? 448 : 240), is_fnuz(kind >> 1), is_wide(kind & 1) {}
};
// Rounds to the nearest, ties to even. A number beyond the largest becomes the largest, infinity or NaN; so does a NaN of the `fnuz`
// kind, as in AMD's header.
__rh_both __hip_fp8_storage_t __rh_to_eight(double number, bool saturates, __hip_fp8_interpretation_t kind) {
  __rh_eight form(kind);
  unsigned long long bits = __builtin_bit_cast(unsigned long long, number);
  unsigned sign = (unsigned)(bits >> 63) << 7;
  bits &= ~0ull >> 1;
  if (bits > 0x7ff0000000000000ull && !form.is_fnuz) return sign | 0x7f;
  if (bits > __builtin_bit_cast(unsigned long long, (double)form.most))
    return saturates ? sign | form.largest : form.is_fnuz ? 0x80 : sign | (form.is_wide ? 0x7c : 0x7f);
  int exponent = (int)(bits >> 52) - 1023;
  if (exponent < form.lowest) exponent = form.lowest;
  double scale = __builtin_bit_cast(double, (unsigned long long)(1023 + form.fraction - exponent) << 52);
  // The bit before the fraction is added to the exponent, and so is a carry.
  unsigned code = (unsigned)__builtin_rint(__builtin_bit_cast(double, bits) * scale) + ((exponent - form.lowest) << form.fraction);
  return form.is_fnuz && !code ? 0 : sign | code;
}
__rh_both float __rh_of_eight(__hip_fp8_storage_t x, __hip_fp8_interpretation_t kind) {
  __rh_eight form(kind);
  unsigned code = x & 0x7f, exponent = code >> form.fraction, sign = (unsigned)(x >> 7) << 31;
  if (form.is_fnuz ? x == 0x80 : code > form.largest)
    return __builtin_bit_cast(float, sign | (!form.is_fnuz && code == 0x7c ? 0x7f800000u : 0x7fc00000u));
  unsigned digits = (code & ((1u << form.fraction) - 1)) | (unsigned)!!exponent << form.fraction;
  int power = (exponent ? (int)exponent - 1 : 0) + form.lowest - form.fraction;
  return __builtin_bit_cast(float, sign | __builtin_bit_cast(unsigned, (float)digits * __builtin_bit_cast(float, (127u + power) << 23)));
}

// The GPU's own instructions.
#if HIP_FP8_CVT_FAST_PATH
__rh_both bool __rh_is_native(__hip_fp8_interpretation_t kind) { return (kind >> 1) == HIP_FP8_TYPE_FNUZ; }
__rh float __rh_limited(float a, bool saturates, __hip_fp8_interpretation_t kind) {
  bool is_finite = (__builtin_bit_cast(unsigned, a) & 0x7f800000u) != 0x7f800000u;
  float most = __rh_eight(kind).most;
  return saturates && is_finite ? __builtin_amdgcn_fmed3f(a, most, -most) : a;
}
__rh __hip_fp8x2_storage_t __rh_to_eights(float a, float b, bool saturates, __hip_fp8_interpretation_t kind) {
  a = __rh_limited(a, saturates, kind);
  b = __rh_limited(b, saturates, kind);
  return kind & 1 ? __builtin_amdgcn_cvt_pk_bf8_f32(a, b, 0, false) : __builtin_amdgcn_cvt_pk_fp8_f32(a, b, 0, false);
}
#endif

__rh_both __hip_fp8_storage_t __hip_cvt_double_to_fp8(double a, __hip_saturation_t saturation, __hip_fp8_interpretation_t kind) {
  return __rh_to_eight(a, saturation == __HIP_SATFINITE, kind);
}
__rh_both __hip_fp8_storage_t __hip_cvt_float_to_fp8(float a, __hip_saturation_t saturation, __hip_fp8_interpretation_t kind) {
#if HIP_FP8_CVT_FAST_PATH
  if (__rh_is_native(kind)) return (__hip_fp8_storage_t)__rh_to_eights(a, a, saturation == __HIP_SATFINITE, kind);
#endif
  return __rh_to_eight(a, saturation == __HIP_SATFINITE, kind);
}
__rh_both __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 a, __hip_saturation_t saturation, __hip_fp8_interpretation_t kind) {
#if HIP_FP8_CVT_FAST_PATH
  if (__rh_is_native(kind)) return __rh_to_eights(a.x, a.y, saturation == __HIP_SATFINITE, kind);
#endif
  return __hip_cvt_float_to_fp8(a.x, saturation, kind) | __hip_cvt_float_to_fp8(a.y, saturation, kind) << 8;
}
__rh_both __hip_fp8x2_storage_t __hip_cvt_double2_to_fp8x2(double2 a, __hip_saturation_t saturation, __hip_fp8_interpretation_t kind) {
  return __hip_cvt_double_to_fp8(a.x, saturation, kind) | __hip_cvt_double_to_fp8(a.y, saturation, kind) << 8;
}
__rh_both __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw a, __hip_saturation_t saturation, __hip_fp8_interpretation_t kind) {
  return __hip_cvt_float_to_fp8((float)a.data, saturation, kind);
}
__rh_both __hip_fp8x2_storage_t __hip_cvt_halfraw2_to_fp8x2(__half2_raw a, __hip_saturation_t saturation, __hip_fp8_interpretation_t kind) {
  return __hip_cvt_float2_to_fp8x2(__half22float2(a), saturation, kind);
}
__rh_both __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw a, __hip_saturation_t saturation, __hip_fp8_interpretation_t kind) {
  return __hip_cvt_float_to_fp8((float)__hip_bfloat16(a), saturation, kind);
}
__rh_both __hip_fp8x2_storage_t __hip_cvt_bfloat16raw2_to_fp8x2(__hip_bfloat162_raw a, __hip_saturation_t saturation, __hip_fp8_interpretation_t kind) {
  return __hip_cvt_float2_to_fp8x2((float2)__hip_bfloat162(a), saturation, kind);
}
__rh_both float __rh_from_fp8(__hip_fp8_storage_t x, __hip_fp8_interpretation_t kind) {
#if HIP_FP8_CVT_FAST_PATH
  if (__rh_is_native(kind)) return kind & 1 ? __builtin_amdgcn_cvt_f32_bf8(x, 0) : __builtin_amdgcn_cvt_f32_fp8(x, 0);
#endif
  return __rh_of_eight(x, kind);
}
__rh_both float2 __rh_from_fp8x2(__hip_fp8x2_storage_t x, __hip_fp8_interpretation_t kind) {
#if HIP_FP8_CVT_FAST_PATH
  if (__rh_is_native(kind)) {
    auto both = kind & 1 ? __builtin_amdgcn_cvt_pk_f32_bf8(x, false) : __builtin_amdgcn_cvt_pk_f32_fp8(x, false);
    return {both[0], both[1]};
  }
#endif
  return {__rh_of_eight((__hip_fp8_storage_t)x, kind), __rh_of_eight(x >> 8, kind)};
}
__rh_both __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x, __hip_fp8_interpretation_t kind) {
  return (_Float16)__rh_from_fp8(x, kind);
}
__rh_both __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t x, __hip_fp8_interpretation_t kind) {
  return __float22half2_rn(__rh_from_fp8x2(x, kind));
}

// One, two and four numbers as values. Conversions to whole numbers stay in their range; NaN is 0.
#define __rh_in __host__ __device__ __attribute__((always_inline))
#define __rh_eight_whole(type, least, most)                                             \
  __rh_in operator type() const {                                                       \
    float a = *this;                                                                    \
    return a != a ? (type)0 : a <= (least) ? (type)(least) : a >= (most) ? (type)(most) : (type)a; \
  }
#define __rh_eight_common(type, bits, kind)                                             \
  __hip_##bits##_storage_t __x;                                                         \
  static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;           \
  static constexpr __hip_fp8_interpretation_t __default_interpret = kind;               \
  static constexpr unsigned __we = kind & 1 ? 5 : 4, __wm = kind & 1 ? 2 : 3;           \
  type() = default;
#define __rh_eight_type(name, kind)                                                     \
  struct __hip_fp8_##name {                                                             \
    __rh_eight_common(__hip_fp8_##name, fp8, kind)                                      \
    template <class T, class = __rh_scaled<T, int>>                                     \
    __rh_in __hip_fp8_##name(T a) : __x(__hip_cvt_float_to_fp8((float)a, __default_saturation, kind)) {}      \
    __rh_in __hip_fp8_##name(double a) : __x(__hip_cvt_double_to_fp8(a, __default_saturation, kind)) {}       \
    __rh_in __hip_fp8_##name(__half a) : __x(__hip_cvt_float_to_fp8((float)a, __default_saturation, kind)) {} \
    __rh_in __hip_fp8_##name(__hip_bfloat16 a) : __x(__hip_cvt_float_to_fp8((float)a, __default_saturation, kind)) {} \
    __rh_in operator float() const { return __rh_from_fp8(__x, kind); }                 \
    __rh_in operator double() const { return __rh_from_fp8(__x, kind); }                \
    __rh_in operator __half() const { return (__half)__rh_from_fp8(__x, kind); }        \
    __rh_in operator __hip_bfloat16() const { return __rh_from_fp8(__x, kind); }        \
    __rh_in operator bool() const { return kind >> 1 ? __x != 0 : (__x & 0x7f) != 0; }  \
    __rh_eight_whole(char, -128, 127) __rh_eight_whole(signed char, -128, 127)          \
    __rh_eight_whole(short, -32768, 32767) __rh_eight_whole(unsigned char, 0, 255)      \
    __rh_eight_whole(unsigned short, 0, 65535) __rh_eight_whole(int, -57344, 57344)     \
    __rh_eight_whole(unsigned, 0, 57344) __rh_eight_whole(long, -57344, 57344)          \
    __rh_eight_whole(unsigned long, 0, 57344) __rh_eight_whole(long long, -57344, 57344) \
    __rh_eight_whole(unsigned long long, 0, 57344)                                      \
  };                                                                                    \
  struct __hip_fp8x2_##name {                                                           \
    __rh_eight_common(__hip_fp8x2_##name, fp8x2, kind)                                  \
    __rh_in __hip_fp8x2_##name(float2 a) : __x(__hip_cvt_float2_to_fp8x2(a, __default_saturation, kind)) {}   \
    __rh_in __hip_fp8x2_##name(double2 a) : __x(__hip_cvt_double2_to_fp8x2(a, __default_saturation, kind)) {} \
    __rh_in __hip_fp8x2_##name(__half2 a) : __hip_fp8x2_##name(__half22float2(a)) {}    \
    __rh_in __hip_fp8x2_##name(__hip_bfloat162 a) : __hip_fp8x2_##name((float2)a) {}    \
    __rh_in operator float2() const { return __rh_from_fp8x2(__x, kind); }              \
    __rh_in operator __half2() const { return __float22half2_rn(__rh_from_fp8x2(__x, kind)); } \
  };                                                                                    \
  struct __hip_fp8x4_##name {                                                           \
    __rh_eight_common(__hip_fp8x4_##name, fp8x4, kind)                                  \
    __rh_in __hip_fp8x4_##name(__hip_fp8x2_##name low, __hip_fp8x2_##name high) : __x(low.__x | (unsigned)high.__x << 16) {} \
    __rh_in __hip_fp8x4_##name(float4 a) : __hip_fp8x4_##name(__hip_fp8x2_##name(float2{a.x, a.y}), __hip_fp8x2_##name(float2{a.z, a.w})) {} \
    __rh_in __hip_fp8x4_##name(double4 a) : __hip_fp8x4_##name(__hip_fp8x2_##name(double2{a.x, a.y}), __hip_fp8x2_##name(double2{a.z, a.w})) {} \
    __rh_in __hip_fp8x4_##name(__half2 low, __half2 high) : __hip_fp8x4_##name(__hip_fp8x2_##name(low), __hip_fp8x2_##name(high)) {} \
    __rh_in __hip_fp8x4_##name(__hip_bfloat162 low, __hip_bfloat162 high) : __hip_fp8x4_##name(__hip_fp8x2_##name(low), __hip_fp8x2_##name(high)) {} \
    __rh_in operator float4() const {                                                   \
      float2 low = __rh_from_fp8x2((__hip_fp8x2_storage_t)__x, kind), high = __rh_from_fp8x2(__x >> 16, kind);    \
      return {low.x, low.y, high.x, high.y};                                            \
    }                                                                                   \
  };
__rh_eight_type(e4m3, __HIP_E4M3) __rh_eight_type(e5m2, __HIP_E5M2)
__rh_eight_type(e4m3_fnuz, __HIP_E4M3_FNUZ) __rh_eight_type(e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef __rh_eight_type
#undef __rh_eight_common
#undef __rh_eight_whole
#undef __rh_in
