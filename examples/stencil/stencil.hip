// Heat on a square: each step replaces a cell by a weighted mean of itself and its four neighbours.
//
//   examples/program.sh stencil && rockhound profile -- target/examples/stencil
//
// A wave is 64 cells of a row. What the counters must be, for n x n inner cells with a rim of one cell that is kept (rows
// are n + 64 floats apart, so that inner cells begin 128 bytes on), per step, with w = n * n / 64 waves:
//   SQ_INSTS_VMEM_RD 3 w: the compiler loads a cell with its two neighbours in the row as 12 bytes, and the cells above and
//                    below; SQ_INSTS_VMEM_WR w
//   TCP_TOTAL_READ   96 w: 16 + 16 for above and below, whose lanes stand in a row with 4 bytes each; 64 for the 12 bytes
//   TCP_TOTAL_CACHE_ACCESSES  4 + 4 + 4 per wave for above, below and the store; one per quad for the 12 bytes, 16, and one
//                    more for the first and the last quad of each line, which reach into the next one: the 256 bytes of a
//                    wave are four lines on gfx90a, 36 w in all, and two lines on gfx942 and later, 32 w in all
//   SQ_INSTS_VALU_FMA_F32 w, SQ_INSTS_VALU_MUL_F32 w, and SQ_INSTS_VALU_ADD_F32 2 w: one of the three additions that add
//                    four cells stands in a packed instruction with another
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

constexpr int MARGIN = 32;

__global__ void __launch_bounds__(256) step(const float *in, float *out, int pitch) {
  int x = blockIdx.x * 64 + threadIdx.x + MARGIN, y = blockIdx.y * 4 + threadIdx.y + 1;
  const float *own = &in[y * pitch + x];
  float around = (own[-1] + own[1]) + (own[-pitch] + own[pitch]);
  out[y * pitch + x] = fmaf(0.125f, around, 0.5f * own[0]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 256, steps = argc > 2 ? atoi(argv[2]) : 4;
  if (n % 64) { printf("n is to be a multiple of 64\n"); return 2; }
  int pitch = n + 2 * MARGIN;
  std::vector<float> cells(pitch * (n + 2)), next, result(cells.size());
  for (size_t i = 0; i < cells.size(); i++) cells[i] = i * 7919 % 1009;
  next = cells;
  float *a, *b;
  OK(hipMalloc(&a, cells.size() * sizeof(float)));
  OK(hipMalloc(&b, cells.size() * sizeof(float)));
  OK(hipMemcpy(a, cells.data(), cells.size() * sizeof(float), hipMemcpyHostToDevice));
  OK(hipMemcpy(b, cells.data(), cells.size() * sizeof(float), hipMemcpyHostToDevice));
  for (int i = 0; i < steps; i++) {
    step<<<dim3(n / 64, n / 4), dim3(64, 4)>>>(a, b, pitch);
    OK(hipGetLastError());
    std::swap(a, b);
    for (int y = 1; y <= n; y++)
      for (int x = MARGIN; x < n + MARGIN; x++) {
        const float *own = &cells[y * pitch + x];
        float around = (own[-1] + own[1]) + (own[-pitch] + own[pitch]);
        next[y * pitch + x] = fmaf(0.125f, around, 0.5f * own[0]);
      }
    std::swap(cells, next);
  }
  OK(hipMemcpy(result.data(), a, cells.size() * sizeof(float), hipMemcpyDeviceToHost));
  int wrong = 0;
  for (size_t i = 0; i < cells.size(); i++) wrong += result[i] != cells[i];
  OK(hipFree(a));
  OK(hipFree(b));
  printf("%d cells are wrong\n", wrong);
  return wrong != 0;
}
