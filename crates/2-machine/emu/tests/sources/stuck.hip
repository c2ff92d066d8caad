#include "device.h"

#define LOAD(p) __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define STORE(p, v) __hip_atomic_store(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define ADD(p, v) __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)

// Polls a flag that no wave writes.
extern "C" __global__ void flag(u32 *a) { while (LOAD(a) == 0) {} }
extern "C" __global__ void flag_asleep(u32 *a) { while (LOAD(a) == 0) __builtin_amdgcn_s_sleep(1); }

// The first wave polls; the others wait at a barrier for it.
extern "C" __global__ void barrier_of_some(u32 *a) {
  if (thread_x() < 64) while (LOAD(a) == 0) {}
  __builtin_amdgcn_s_barrier();
  a[1] = 1;
}

// All lanes want a lock that one of them holds.
extern "C" __global__ void lock(u32 *a) {
  while (true) {
    u32 open = 0;
    if (__hip_atomic_compare_exchange_strong(a, &open, 1u, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) break;
  }
  ADD(a + 1, 1);
}

// Stores the same value repeatedly, and polls another address.
extern "C" __global__ void stores(volatile u32 *a) { while (a[1] == 0) a[0] = 7; }

// Polls a counter that the wave increments itself; its registers repeat meanwhile.
extern "C" __global__ void counts(volatile u32 *a) {
  while (true) {
    u32 far = a[0] + 1;
    a[0] = far;
    if (far == 100000) break;
  }
}

// Polls the clock.
extern "C" __global__ void clock(u32 *a) {
  u64 end = __builtin_readcyclecounter() + 1000000;
  while (__builtin_readcyclecounter() < end) __builtin_amdgcn_s_sleep(1);
}

// Polls the clock for two seconds.
extern "C" __global__ void clock_long(u32 *a) {
  u64 start = __builtin_readcyclecounter();
  u64 now = start;
  while (now - start < 4000000000) now = __builtin_readcyclecounter();
  if (now - start > 4600000000) while (LOAD(a) == 0) {}
}
extern "C" __global__ void clock_asleep(u32 *a) {
  u64 end = __builtin_readcyclecounter() + 4000000000;
  while (__builtin_readcyclecounter() < end) __builtin_amdgcn_s_sleep(127);
}

// A wave polls the LDS for another wave that first computes for long.
extern "C" __global__ void late(u32 *a) {
  __shared__ volatile u32 done;
  if (thread_x() < 64) {
    while (done == 0) {}
    a[0] = 1;
  } else {
    u32 x = thread_x();
    for (u32 i = 0; i < 500000; i++) asm volatile("v_add_u32 %0, %0, 1" : "+v"(x));
    done = x;
  }
}

// Two waves wait for each other alternately.
extern "C" __global__ void turns(u32 *a) {
  __shared__ volatile u32 turn;
  u32 me = __builtin_amdgcn_readfirstlane(thread_x() / 64);
  for (u32 i = 0; i < 40; i++) {
    while (turn != me) {}
    turn = 1 - me;
  }
}

// Workgroups wait until `all` workgroups have arrived.
extern "C" __global__ void grid(u32 *a, u32 all) {
  if (thread_x() == 0) {
    ADD(a, 1);
    while (LOAD(a) < all) {}
  }
}

// Each workgroup but the first waits for the one before it; or each but the last for the one after it.
extern "C" __global__ void before(u32 *a, u32 all) {
  u32 me = block_x();
  if (thread_x() == 0) {
    while (me > 0 && LOAD(a + me - 1) == 0) {}
    STORE(a + me, 1);
  }
}
extern "C" __global__ void behind(u32 *a, u32 all) {
  u32 me = block_x();
  if (thread_x() == 0) {
    while (me + 1 < all && LOAD(a + me + 1) == 0) {}
    STORE(a + me, 1);
  }
}

// The first workgroup takes far longer than the others.
extern "C" __global__ void first_is_long(u32 *a, u32 trips) {
  if (block_x() != 0) return;
  for (u32 trip = 0; trip < trips; trip++) asm volatile("s_nop 0");
  a[0] = trips;
}
