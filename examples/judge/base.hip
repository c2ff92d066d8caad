// A sum of each block of 256 numbers, halved as the first lecture on reductions does it.
#include "kernel.h"

GLOBAL void block_sums(const float* x, float* sums, int n) {
  SHARED static float tile[256];
  unsigned t = thread(), i = block() * 256 + t;
  tile[t] = i < n ? x[i] : 0.0f;
  barrier();
  for (unsigned step = 1; step < 256; step *= 2) {
    unsigned at = 2 * step * t;
    if (at < 256) tile[at] += tile[at + step];
    barrier();
  }
  if (t == 0) sums[block()] = tile[0];
}
