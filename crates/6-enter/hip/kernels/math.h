// Functions that the device library would have. DEVICE is defined before.
// exp and log by the instructions of the GPU and a step or a series where they are not enough.
DEVICE double log_of(double x) {
  // x = m 2^e with m in [1/sqrt 2, sqrt 2); log m = 2 atanh((m - 1) / (m + 1))
  int e = __builtin_amdgcn_frexp_exp(x);
  double m = __builtin_amdgcn_frexp_mant(x);
  if (m < 0.70710678118654752) m *= 2, e--;
  double t = (m - 1) / (m + 1), s = t * t, sum = 0;
  for (int i = 27; i >= 1; i -= 2) sum = sum * s + 1.0 / i;
  return 2 * t * sum + e * 0.69314718055994531;
}
DEVICE double exp_of(double x) {
  if (x > 709) return __builtin_inf();
  if (x < -745) return 0;
  int n = (int)__builtin_rint(x * 1.4426950408889634);
  double r = x - n * 0.69314718055994531, sum = 1;
  for (int i = 16; i >= 1; i--) sum = 1 + sum * r / i;
  return __builtin_amdgcn_ldexp(sum, n);
}
