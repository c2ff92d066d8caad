// The older bfloat16 of HIP: the upper half of a single-precision number, with arithmetic in single precision.
#pragma once
#pragma clang system_header
struct hip_bfloat16 {
  unsigned short data;
  enum truncate_t { truncate };
  hip_bfloat16() = default;
  // Rounds to nearest even, or toward zero; a NaN stays one.
  __rh_member explicit hip_bfloat16(float number) {
    unsigned bits = __builtin_bit_cast(unsigned, number);
    data = (unsigned short)((__rh_nan(bits) ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
  }
  __rh_member hip_bfloat16(float number, truncate_t) {
    unsigned bits = __builtin_bit_cast(unsigned, number);
    data = (unsigned short)((__rh_nan(bits) ? bits | 0x400000u : bits) >> 16);
  }
  static __rh_member hip_bfloat16 round_to_bfloat16(float number) { return hip_bfloat16(number); }
  static __rh_member hip_bfloat16 round_to_bfloat16(float number, truncate_t) { return hip_bfloat16(number, truncate); }
  __rh_member hip_bfloat16 &operator=(float number) { return *this = hip_bfloat16(number); }
  __rh_member operator float() const { return __builtin_bit_cast(float, (unsigned)data << 16); }

 private:
  static __rh_member bool __rh_nan(unsigned bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }
};
#define __rh_bfloat(op)                                                                                       \
  __rh_both hip_bfloat16 operator op(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16((float)a op(float) b); } \
  __rh_both hip_bfloat16 &operator op##=(hip_bfloat16 &a, hip_bfloat16 b) { return a = a op b; }
__rh_bfloat(+) __rh_bfloat(-) __rh_bfloat(*) __rh_bfloat(/)
#undef __rh_bfloat
#define __rh_bfloat(op) __rh_both bool operator op(hip_bfloat16 a, hip_bfloat16 b) { return (float)a op(float) b; }
__rh_bfloat(==) __rh_bfloat(!=) __rh_bfloat(<) __rh_bfloat(<=) __rh_bfloat(>) __rh_bfloat(>=)
#undef __rh_bfloat
__rh_both hip_bfloat16 operator+(hip_bfloat16 a) { return a; }
__rh_both hip_bfloat16 operator-(hip_bfloat16 a) { a.data ^= 0x8000; return a; }
__rh_both hip_bfloat16 &operator++(hip_bfloat16 &a) { return a += hip_bfloat16(1.0f); }
__rh_both hip_bfloat16 &operator--(hip_bfloat16 &a) { return a -= hip_bfloat16(1.0f); }
__rh_both hip_bfloat16 operator++(hip_bfloat16 &a, int) { hip_bfloat16 before = a; ++a; return before; }
__rh_both hip_bfloat16 operator--(hip_bfloat16 &a, int) { hip_bfloat16 before = a; --a; return before; }
namespace std {
__rh_both bool isinf(hip_bfloat16 a) { return (a.data & 0x7fff) == 0x7f80; }
__rh_both bool isnan(hip_bfloat16 a) { return (a.data & 0x7fff) > 0x7f80; }
__rh_both bool iszero(hip_bfloat16 a) { return (a.data & 0x7fff) == 0; }
}
