// softmax of each row of a matrix of floats: a wave takes a row of 256 and adds up with lane exchanges.
//
//   examples/program.sh softmax && rockhound profile -- target/examples/softmax
//
// What the counters must be, per row (a wave; each lane has 4 neighbouring elements):
//   SQ_INSTS_VMEM_RD 1, SQ_INSTS_VMEM_WR 1: 16 bytes per lane, one access per lane: TCP_TOTAL_READ and _WRITE 64
//   SQ_INSTS_VALU_TRANS_F32  4 + 1: an exponential per element; one reciprocal, which the division takes
//   SQ_INSTS_LDS             12: six exchanges for the maximum, six for the sum (`ds_bpermute_b32`)
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

constexpr int COLUMNS = 256;

__global__ void __launch_bounds__(64) softmax(const float4 *in, float4 *out) {
  float4 own = in[blockIdx.x * 64 + threadIdx.x];
  float most = fmaxf(fmaxf(own.x, own.y), fmaxf(own.z, own.w));
  for (int offset = 32; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor(most, offset, 64));
  float4 power = {__expf(own.x - most), __expf(own.y - most), __expf(own.z - most), __expf(own.w - most)};
  float sum = power.x + power.y + power.z + power.w;
  for (int offset = 32; offset > 0; offset /= 2) sum += __shfl_xor(sum, offset, 64);
  float factor = 1.0f / sum;
  out[blockIdx.x * 64 + threadIdx.x] = {power.x * factor, power.y * factor, power.z * factor, power.w * factor};
}

int main(int argc, char **argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 1024;
  std::vector<float> in(rows * COLUMNS), out(rows * COLUMNS);
  for (int i = 0; i < rows * COLUMNS; i++) in[i] = (i * 7919 % 1009) / 100.0f - 5.0f;
  float *din, *dout;
  OK(hipMalloc(&din, in.size() * sizeof(float)));
  OK(hipMalloc(&dout, in.size() * sizeof(float)));
  OK(hipMemcpy(din, in.data(), in.size() * sizeof(float), hipMemcpyHostToDevice));
  softmax<<<rows, 64>>>((float4 *)din, (float4 *)dout);
  OK(hipGetLastError());
  OK(hipMemcpy(out.data(), dout, in.size() * sizeof(float), hipMemcpyDeviceToHost));
  int wrong = 0;
  for (int row = 0; row < rows; row++) {
    const float *x = &in[row * COLUMNS];
    double most = x[0], sum = 0;
    for (int i = 0; i < COLUMNS; i++) most = fmax(most, x[i]);
    for (int i = 0; i < COLUMNS; i++) sum += exp(x[i] - most);
    for (int i = 0; i < COLUMNS; i++) {
      double expected = exp(x[i] - most) / sum;
      wrong += fabs(out[row * COLUMNS + i] - expected) > 1e-5 * expected;
    }
  }
  OK(hipFree(din));
  OK(hipFree(dout));
  printf("%d elements are wrong\n", wrong);
  return wrong != 0;
}
