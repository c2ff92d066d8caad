#include "device.h"

extern "C" __global__ void copy(const float *a, float *b, u32 n) {
  u32 i = global_x();
  if (i < n) b[i] = a[i];
}

extern "C" __global__ void daxpy(double alpha, const double *x, double *y, u32 n) {
  u32 i = global_x();
  if (i < n) y[i] = alpha * x[i] + y[i];
}

// Sum of a workgroup through LDS.
extern "C" __global__ void reduce(const u32 *in, u32 *out) {
  __shared__ u32 part[256];
  u32 t = thread_x();
  part[t] = in[global_x()];
  barrier();
  for (u32 s = 128; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    barrier();
  }
  if (t == 0) out[block_x()] = part[0];
}

extern "C" __global__ void histogram(const unsigned char *in, u32 *bins, u32 n) {
  __shared__ u32 local[256];
  local[thread_x()] = 0;
  barrier();
  for (u32 i = global_x(); i < n; i += 1024)
    __hip_atomic_fetch_add(&local[in[i]], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  __hip_atomic_fetch_add(&bins[thread_x()], local[thread_x()], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" __global__ void transpose(const float *in, float *out, u32 n) {
  __shared__ float tile[16][17];
  u32 x = block_x() * 16 + thread_x(), y = block_y() * 16 + thread_y();
  tile[thread_y()][thread_x()] = in[y * n + x];
  barrier();
  u32 tx = block_y() * 16 + thread_x(), ty = block_x() * 16 + thread_y();
  out[ty * n + tx] = tile[thread_x()][thread_y()];
}

static __device__ __attribute__((noinline)) u32 collatz(u64 v) {
  u32 steps = 0;
  while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; steps++; }
  return steps;
}

// A call, divergent loops, 64-bit integers.
extern "C" __global__ void steps(u32 *out) { u32 i = global_x(); out[i] = collatz(i + 1); }

// Array indexed at run time, so it is in scratch.
extern "C" __global__ void scratch(const u32 *order, u32 *out) {
  u32 values[32];
  u32 i = global_x();
  for (u32 k = 0; k < 32; k++) values[order[k] & 31] = k * i;
  u32 sum = 0;
  for (u32 k = 0; k < 32; k++) sum = sum * 31 + values[(k + i) & 31];
  out[i] = sum;
}

// Generic pointers to global memory, LDS and scratch.
static __device__ __attribute__((noinline)) u32 add_up(const u32 *p, u32 n) {
  u32 sum = 0;
  for (u32 k = 0; k < n; k++) sum += p[k];
  return sum;
}
extern "C" __global__ void generic(const u32 *in, u32 *out) {
  __shared__ u32 shared[64];
  u32 own[8];
  u32 t = thread_x();
  for (u32 k = 0; k < 8; k++) own[k] = in[(t + k) & 63];
  shared[t] = in[t] * 3;
  barrier();
  out[t] = add_up(in, 64) + 1000 * add_up(shared, 64) + 1000000 * add_up(own, 8);
}

// A counter whose atomic gives every work-item a ticket.
extern "C" __global__ void tickets(u32 *counter, u32 *out) {
  out[global_x()] = __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" __global__ void float_sum(float *sum, const float *in) {
  __hip_atomic_fetch_add(sum, in[global_x()], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" __global__ void division(const float *a, const double *b, float *q, double *r, u32 *i) {
  u32 t = global_x();
  q[t] = a[t] / a[t + 64];
  r[t] = b[t] / b[t + 64];
  i[t] = (u32)(b[t] * 1e6) / ((u32)(b[t + 64] * 77.0) + 1);
}

// Loads into the LDS: on gfx90a a modifier bit of ordinary loads, on later targets separate instructions.
typedef __attribute__((address_space(1))) void global_bytes;
typedef __attribute__((address_space(3))) void shared_bytes;
extern "C" __global__ void to_lds(const u32 *in, u32 *out) {
  __shared__ u32 tile[128];
  u32 t = thread_x();
  tile[t] = tile[t + 64] = 7;
  barrier();
  __builtin_amdgcn_global_load_lds((global_bytes *)(in + 63 - t), (shared_bytes *)tile, 4, 0, 0);
  if (t % 2 == 0) __builtin_amdgcn_global_load_lds((global_bytes *)(in + t), (shared_bytes *)(tile + 64), 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  barrier();
  out[t] = tile[t];
  out[t + 64] = tile[t + 64];
}

// A counter in the LDS that changes by the number of active lanes in one instruction.
typedef __attribute__((address_space(3))) int shared_int;
extern "C" __global__ void append(u32 *out) {
  __shared__ int counters[4];
  u32 t = thread_x();
  if (t < 4) counters[t] = 100;
  barrier();
  u32 up = 0, down = 0;
  if (t % 3 == 0) up = __builtin_amdgcn_ds_append((shared_int *)&counters[2]);
  if (t % 4 == 0) down = __builtin_amdgcn_ds_consume((shared_int *)&counters[2]);
  out[t] = up;
  out[t + 64] = down;
  barrier();
  if (t < 4) out[t + 128] = counters[t];
}

// Reads and writes past the end of the launch's dynamic LDS.
extern __shared__ u32 given[];
extern "C" __global__ void outside_lds(u32 *out, u32 first) {
  u32 t = thread_x();
  given[first + t] = t + 1;
  barrier();
  out[global_x()] = given[first + t];
  __hip_atomic_fetch_add(&given[first + t], 5u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  out[global_x() + 128] = given[first + (t ^ 1)];
}

// The offset register of the first lanes is negative, and the immediate offset brings it back.
typedef u32 Resource __attribute__((ext_vector_type(4)));
extern "C" __global__ void negative_offset(u32 *out, u32 *in, u32 bytes) {
  u32 t = thread_x(), value, offset = 4 * t - 64;
  Resource resource = {(u32)(u64)in, (u32)((u64)in >> 32), bytes, 0x00027000};
  asm volatile("buffer_load_dword %0, %1, %2, 0 offen offset:64\ns_waitcnt vmcnt(0)" : "=v"(value) : "v"(offset), "s"(resource));
  out[t] = value;
}

// Accesses of four dwords, the last of which are past the end of the buffer.
typedef u32 Four __attribute__((ext_vector_type(4)));
extern "C" __global__ void partly_inside(u32 *out, u32 *in, u32 *to, u32 bytes) {
  u32 t = thread_x(), offset = 16 * t;
  Resource from = {(u32)(u64)in, (u32)((u64)in >> 32), bytes, 0x00027000};
  Resource into = {(u32)(u64)to, (u32)((u64)to >> 32), bytes, 0x00027000};
  Four value;
  asm volatile("buffer_load_dwordx4 %0, %1, %2, 0 offen\ns_waitcnt vmcnt(0)" : "=v"(value) : "v"(offset), "s"(from));
  for (u32 i = 0; i < 4; i++) out[4 * t + i] = value[i];
  asm volatile("buffer_store_dwordx4 %0, %1, %2, 0 offen\ns_waitcnt vmcnt(0)" : : "v"(value), "v"(offset), "s"(into));
}

extern "C" __global__ void out_of_bounds(u32 *out) { out[global_x() * 1024] = 1; }
extern "C" __global__ void endless(volatile u32 *flag) { while (*flag == 0) {} }

__device__ u32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__device__ u32 total;
static __device__ __attribute__((noinline)) u32 twice(u32 v) { return v * 2; }
static __device__ __attribute__((noinline)) u32 square(u32 v) { return v * v; }
__device__ u32 (*functions[2])(u32) = {twice, square};

// Variables with initial values, and calls through pointers that differ between lanes.
extern "C" __global__ void globals(u32 *out) {
  u32 t = thread_x();
  out[t] = functions[t & 1](table[t & 15] + t);
  __hip_atomic_fetch_add(&total, table[t & 15], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
