#include "device.h"

// Each lane gets the sum of the numbers of its neighbour in the next wave. Every wave loads what another stored, then
// stores without a second barrier.
extern "C" __global__ void shifts(u32 *a) {
  __shared__ volatile u32 s[256];
  u32 t = thread_x(), sum = 0;
  for (u32 i = 0; i < 4; i++) {
    s[t] = 1000 * t + i;
    __builtin_amdgcn_s_waitcnt(0);
    __builtin_amdgcn_s_barrier();
    sum += s[(t + 64) & 255];
  }
  a[t] = sum;
}

// All waves load a number, follow it, and store the same number in its place.
extern "C" __global__ void follows(volatile u32 *a) {
  u32 at = a[0];
  u32 next = a[at] + 1;
  a[0] = next;
}
