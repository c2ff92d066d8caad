// Each wave adds its numbers across lanes; LDS holds one number of each wave.
#include "kernel.h"

static DEV float from(float v, unsigned lane) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(lane * 4, __builtin_bit_cast(int, v)));
}

GLOBAL void block_sums(const float* x, float* sums, int n) {
  SHARED static float tile[4];
  unsigned t = thread(), i = block() * 256 + t;
  float v = i < n ? x[i] : 0.0f;
  for (unsigned half = 32; half > 0; half /= 2) v += from(v, (t + half) & 63);
  if ((t & 63) == 0) tile[t / 64] = v;
  barrier();
  if (t == 0) sums[block()] = tile[0] + tile[1] + tile[2] + tile[3];
}
