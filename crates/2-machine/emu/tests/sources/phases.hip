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

// The LDS as such, which compilers do not take for global memory.
typedef volatile __attribute__((address_space(3))) u32 *lds_pointer;

// Each lane gets the sum of the numbers of its neighbour in the next wave, which stores them without a barrier before
// they are loaded.
extern "C" __global__ void stored_before(u32 *a) {
  __shared__ u32 storage[256];
  lds_pointer s = (lds_pointer)storage;
  u32 t = thread_x(), sum = 0;
  for (u32 i = 0; i < 4; i++) {
    s[t] = 1000 * t + i;
    __builtin_amdgcn_s_waitcnt(0);
    sum += s[(t + 64) & 255];
  }
  a[t] = sum;
}

// As `shifts`, but half of the waves load at once and then wait long before they store, and the others store and load
// places of their own many times before they load.
extern "C" __global__ void unlike(u32 *a) {
  __shared__ u32 storage[512];
  lds_pointer s = (lds_pointer)storage, own = s + 256;
  u32 t = thread_x(), wave = __builtin_amdgcn_readfirstlane(t >> 6), sum = 0;
  s[t] = 1000 * t;
  __builtin_amdgcn_s_waitcnt(0);
  __builtin_amdgcn_s_barrier();
  if (wave & 1) {
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
      own[t] = own[t] + i;
    }
    sum = s[(t + 64) & 255] + own[t];
  } else {
    sum = s[(t + 64) & 255] + 28;
    asm volatile(".rept 500\n\ts_nop 0\n\t.endr" ::: "memory");
    s[t] = 7;
  }
  a[t] = sum;
}

#if defined(__gfx942__) || defined(__gfx950__)
static __device__ void load_to_lds(const u32 *from, u32 *into) {
  __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)from,
                                   (__attribute__((address_space(3))) void *)into, 4, 0, 0);
}

// Every wave loads two tiles into the LDS. The second of the first wave begins where the first of the last one ends,
// 16 dwords before its end.
extern "C" __global__ void overlapping(const u32 *a, u32 *b) {
  __shared__ u32 s[512];
  u32 t = thread_x(), wave = __builtin_amdgcn_readfirstlane(t >> 6);
  load_to_lds(a + t, s + 64 * wave);
  load_to_lds(a + 256 + t, s + 240 + 64 * wave);
  __builtin_amdgcn_s_waitcnt(0);
  __builtin_amdgcn_s_barrier();
  b[t] = s[t];
  b[256 + t] = s[256 + t];
}
#endif
