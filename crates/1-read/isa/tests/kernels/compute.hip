// Kernels whose compiled form exercises the assembly reader: loops, calls, matrix, packed and lane operations.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float16 __attribute__((ext_vector_type(16)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef unsigned char uchar4 __attribute__((ext_vector_type(4)));

__device__ __attribute__((noinline)) float helper(float a, int b) {
  for (int i = 0; i < b; i++) a = a * a + (float)b;
  return a;
}

__global__ void gemm(const half4 *a, const half4 *b, float4 *c, int k) {
  __shared__ float tile[1024];
  unsigned lane = __builtin_amdgcn_workitem_id_x();
  float4 acc = 0;
  float16 wide = 0;
  for (int i = 0; i < k; i++) {
    acc = __builtin_amdgcn_mfma_f32_16x16x16f16(a[i * 64 + lane], b[i * 64 + lane], acc, 0, 0, 0);
    wide = __builtin_amdgcn_mfma_f32_32x32x8f16(a[i + lane], b[i * 3 + lane], wide, 1, 2, 3);
    tile[lane] = acc.x + wide[3];
    __builtin_amdgcn_s_barrier();
    acc.y += tile[lane ^ 5];
  }
  acc.z = wide[0] + wide[7];
  c[lane] = acc;
}

__global__ void calls(float *a, int n) {
  unsigned lane = __builtin_amdgcn_workitem_id_x();
  a[lane] = helper(a[lane], n);
  if (a[lane] > 3.0f) __builtin_trap();
}

__global__ void lanes(float *a, int *b, half2 *h, short2 *s, uchar4 *bytes, double *d, unsigned n) {
  unsigned lane = __builtin_amdgcn_workitem_id_x();
  float x = a[lane];
  int y = __builtin_bit_cast(int, x);
  y += __builtin_amdgcn_update_dpp(y, y, 0x111, 0xf, 0xf, false);
  y += __builtin_amdgcn_update_dpp(0, y, 0x4e, 0xa, 0x5, true);
  y += __builtin_amdgcn_ds_swizzle(y, 0x401f);
  y += __builtin_amdgcn_ds_bpermute(lane * 4, y);
  y += __builtin_amdgcn_readfirstlane(y) + __builtin_amdgcn_readlane(y, 7);
  b[lane] = y;
  h[lane] = h[lane] * h[lane + 1] - h[lane + 2];
  s[lane] = s[lane] + s[lane + 4] * (short2)3;
  uchar4 p = bytes[lane];
  bytes[lane] = (uchar4)(p.w + p.x, p.z * 3, p.y - p.x, p.x >> 1);
  d[lane] = d[lane] * 3.141592653589793 + 0.5 / d[lane + 1];
  a[lane] = __builtin_sqrtf(x) * 0.15915494f + __builtin_fabsf(x) * -4.0f + __builtin_amdgcn_fmed3f(x, 1.0f, 12345.0f);
  for (unsigned i = lane; i < n; i += 64) {
    __atomic_fetch_add(&b[i & 7], y, __ATOMIC_RELAXED);
    if (b[i] == 12) break;
    b[i] = __builtin_amdgcn_sbfe(b[i], 3, 7) ^ (y << (i & 31));
  }
}

__global__ void pick(int *out, int which) {
  unsigned lane = __builtin_amdgcn_workitem_id_x();
  int v = lane;
  switch (which) {
  case 0: v *= 17; break;
  case 1: v = v * v; break;
  case 2: v -= 1000000; break;
  case 3: v = __builtin_popcount(v); break;
  case 4: v = __builtin_clz(v + 1); break;
  case 5: v |= 0xff00; break;
  case 6: v = v / 3; break;
  case 7: v = v % which; break;
  }
  volatile int scratch[40];
  for (int i = 0; i < 40; i++) scratch[i] = v + i;
  out[lane] = scratch[which & 31] + scratch[lane & 31];
  __builtin_amdgcn_s_sleep(3);
  __builtin_amdgcn_s_setprio(2);
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
