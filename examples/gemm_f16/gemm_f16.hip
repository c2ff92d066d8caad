// C = A B with halves and matrix instructions: a wave computes tiles of 16 x 16 with v_mfma_f32_16x16x16_f16.
//
//   examples/program.sh gemm_f16 && rockhound profile -- target/examples/gemm_f16 256
//
// Lane l of a wave holds A[l % 16][4 (l / 16) + 0..3] and B[4 (l / 16) + 0..3][l % 16] of a step, and
// C[4 (l / 16) + 0..3][l % 16] of the result. B is stored by columns, so that both operands are loads of 8 bytes.
//
// What the counters must be, for matrices of n x n, with s = (n / 16)^3 steps and t = (n / 16)^2 tiles:
//   SQ_INSTS_VALU_MFMA_F16       s
//   SQ_INSTS_VALU_MFMA_MOPS_F16  2 n^3 / 512 = 16 s: a step is 2 * 16^3 = 8192 operations
//   SQ_INSTS_VMEM_RD             2 s; 8 bytes per lane are one access each: TCP_TOTAL_READ 128 s
//   SQ_INSTS_VMEM_WR             4 t: four floats of a lane are a row apart
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4_ __attribute__((ext_vector_type(4)));

// Four waves of a workgroup take four tiles beside each other.
__global__ void __launch_bounds__(256) gemm(const _Float16 *A, const _Float16 *Bt, float *C, int n) {
  int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  int row = blockIdx.y * 16, column = (blockIdx.x * 4 + wave) * 16;
  int edge = lane % 16, depth = lane / 16 * 4;
  float4_ sum = {0, 0, 0, 0};
  for (int k = 0; k < n; k += 16) {
    half4 a = *(const half4 *)&A[(row + edge) * n + k + depth];
    half4 b = *(const half4 *)&Bt[(column + edge) * n + k + depth];
#ifdef __HIP_DEVICE_COMPILE__
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, sum, 0, 0, 0);
#endif
  }
  for (int i = 0; i < 4; i++) C[(row + depth + i) * n + column + edge] = sum[i];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 256;
  if (n % 64) { printf("n is to be a multiple of 64\n"); return 2; }
  // Eighths in -2 to 2 that differ along both sides: products and sums are exact in float.
  std::vector<_Float16> A(n * n), Bt(n * n);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      A[i * n + k] = ((i * 7 + k * 3) % 33 - 16) / 8.0f;
      Bt[i * n + k] = ((i * 5 + k * 11) % 31 - 15) / 8.0f;
    }
  void *dA, *dB;
  float *dC;
  OK(hipMalloc(&dA, n * n * 2));
  OK(hipMalloc(&dB, n * n * 2));
  OK(hipMalloc(&dC, n * n * 4));
  OK(hipMemcpy(dA, A.data(), n * n * 2, hipMemcpyHostToDevice));
  OK(hipMemcpy(dB, Bt.data(), n * n * 2, hipMemcpyHostToDevice));
  gemm<<<dim3(n / 64, n / 16), 256>>>((_Float16 *)dA, (_Float16 *)dB, dC, n);
  OK(hipGetLastError());
  std::vector<float> C(n * n);
  OK(hipMemcpy(C.data(), dC, n * n * 4, hipMemcpyDeviceToHost));
  // All elements of small matrices, a spread of them of large ones.
  int wrong = 0, step = n <= 512 ? 1 : 7;
  std::vector<float> wideA(A.begin(), A.end()), wideB(Bt.begin(), Bt.end());
  for (int i = 0; i < n; i += step)
    for (int j = 0; j < n; j += step) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += wideA[i * n + k] * wideB[j * n + k];
      wrong += C[i * n + j] != sum;
    }
  OK(hipFree(dA));
  OK(hipFree(dB));
  OK(hipFree(dC));
  printf("%d elements are wrong\n", wrong);
  return wrong != 0;
}
