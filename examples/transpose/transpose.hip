// Transposes a square matrix of floats: straight, through the LDS, and through the LDS with padded rows.
//
//   examples/program.sh transpose && rockhound profile -- target/examples/transpose 1024
//
// Workgroups of 64 x 4 threads move tiles of 64 x 64; a wave is a row of 64 floats. What the counters must be, with
// w = n * n / 64 the loads (and stores) of the matrix:
//   SQ_INSTS_VMEM_RD, SQ_INSTS_VMEM_WR   w each in all three
//   TCP_TOTAL_READ        16 w: the loads stand in a row, a quad is one access
//   TCP_TOTAL_WRITE       naive 64 w: the lanes of a store are a row of the result apart; else 16 w
//   TCP_TOTAL_CACHE_ACCESSES  naive 4 w + 64 w; else 4 w + 4 w
//   LDS variants: SQ_INSTS_LDS 2 w, one write and one read per element of a wave
//   SQ_LDS_BANK_CONFLICT  without padding the read goes down a column: each half wave wants 32 dwords of one bank, 31
//                         cycles lost per half wave, 62 w; with 64 banks (gfx950) the same. With rows of 65 dwords 0
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

constexpr int TILE = 64, STEP = 4;

__global__ void naive(const float *in, float *out, int n) {
  int x = blockIdx.x * TILE + threadIdx.x;
  for (int row = threadIdx.y; row < TILE; row += STEP) {
    int y = blockIdx.y * TILE + row;
    out[x * n + y] = in[y * n + x];
  }
}

template <int PADDING>
__global__ void through_lds(const float *in, float *out, int n) {
  __shared__ float tile[TILE][TILE + PADDING];
  int x = blockIdx.x * TILE + threadIdx.x;
  for (int row = threadIdx.y; row < TILE; row += STEP)
    tile[row][threadIdx.x] = in[(blockIdx.y * TILE + row) * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  for (int row = threadIdx.y; row < TILE; row += STEP)
    out[(blockIdx.x * TILE + row) * n + x] = tile[threadIdx.x][row];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 512;
  if (n % TILE) { printf("n is to be a multiple of %d\n", TILE); return 2; }
  std::vector<float> in(n * n), out(n * n);
  for (int i = 0; i < n * n; i++) in[i] = i;
  float *din, *dout;
  OK(hipMalloc(&din, in.size() * sizeof(float)));
  OK(hipMalloc(&dout, in.size() * sizeof(float)));
  OK(hipMemcpy(din, in.data(), in.size() * sizeof(float), hipMemcpyHostToDevice));
  int wrong = 0;
  for (auto kernel : {naive, through_lds<0>, through_lds<1>}) {
    OK(hipMemset(dout, 0xff, in.size() * sizeof(float)));
    kernel<<<dim3(n / TILE, n / TILE), dim3(TILE, STEP)>>>(din, dout, n);
    OK(hipGetLastError());
    OK(hipMemcpy(out.data(), dout, in.size() * sizeof(float), hipMemcpyDeviceToHost));
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) wrong += out[x * n + y] != in[y * n + x];
  }
  OK(hipFree(din));
  OK(hipFree(dout));
  printf("%d elements are wrong\n", wrong);
  return wrong != 0;
}
