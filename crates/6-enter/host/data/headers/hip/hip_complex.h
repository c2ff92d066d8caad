// Complex numbers: vectors of two under the interface's names.
#pragma once
#define HIP_INCLUDE_HIP_HIP_COMPLEX_H
typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;
#define __rh_complex(name, type, real, prefix)                                                                     \
  __rh_both type make_##name(real re, real im) { return {re, im}; }                                                      \
  __rh_both type prefix##add(type a, type b) { return {a.x + b.x, a.y + b.y}; }                                          \
  __rh_both type prefix##sub(type a, type b) { return {a.x - b.x, a.y - b.y}; }                                          \
  __rh_both type prefix##mul(type a, type b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }                  \
  __rh_both type prefix##div(type a, type b) {                                                                           \
    real size = b.x * b.x + b.y * b.y;                                                                              \
    return {(a.x * b.x + a.y * b.y) / size, (a.y * b.x - a.x * b.y) / size};                                        \
  }
__rh_complex(hipFloatComplex, hipFloatComplex, float, hipC) __rh_complex(hipDoubleComplex, hipDoubleComplex, double, hipC)
__rh_both float hipCrealf(hipFloatComplex a) { return a.x; }
__rh_both float hipCimagf(hipFloatComplex a) { return a.y; }
__rh_both hipFloatComplex hipConjf(hipFloatComplex a) { return {a.x, -a.y}; }
__rh_both float hipCabsf(hipFloatComplex a) { return __builtin_sqrtf(a.x * a.x + a.y * a.y); }
__rh_both double hipCreal(hipDoubleComplex a) { return a.x; }
__rh_both double hipCimag(hipDoubleComplex a) { return a.y; }
__rh_both hipDoubleComplex hipConj(hipDoubleComplex a) { return {a.x, -a.y}; }
__rh_both double hipCabs(hipDoubleComplex a) { return __builtin_sqrt(a.x * a.x + a.y * a.y); }
__rh_both hipFloatComplex hipCaddf(hipFloatComplex a, hipFloatComplex b) { return hipCadd(a, b); }
__rh_both hipFloatComplex hipCsubf(hipFloatComplex a, hipFloatComplex b) { return hipCsub(a, b); }
__rh_both hipFloatComplex hipCmulf(hipFloatComplex a, hipFloatComplex b) { return hipCmul(a, b); }
__rh_both hipFloatComplex hipCdivf(hipFloatComplex a, hipFloatComplex b) { return hipCdiv(a, b); }
#undef __rh_complex
