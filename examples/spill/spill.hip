// More values than registers: the compiler is held to 64 vector registers and keeps what does not fit in scratch memory.
//
//   examples/program.sh spill && rockhound profile -- target/examples/spill
//   rockhound inspect target/examples/spill says what was spilled
//
// Every thread loads 64 floats, and uses them only after all are loaded, in the other order.
// What the counters must be, per wave:
//   loads of 64 dwords and a store of one dword to global memory; each spilled dword is stored once and loaded once, and
//   lanes of scratch memory stand in a row: 16 accesses per dword. So, however much is spilled,
//   TCP_TOTAL_READ - TCP_TOTAL_WRITE = 16 * (64 - 1) = 1008
//   TCP_TOTAL_WRITE = 16 * (1 + S), S being `vgpr_spill_count` of the code object: 69 on gfx90a, 66 on gfx942 with clang 19
//   gfx90a reaches scratch with buffer instructions, TA_BUFFER_WAVEFRONTS 2 S; gfx942 with scratch instructions, which are
//   counted as flat ones and move up to four dwords each
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

constexpr int VALUES = 64;

// The attribute counts pairs of an architectural and an accumulation register on GPUs that have both in one file.
__global__ void __launch_bounds__(256) __attribute__((amdgpu_num_vgpr(32)))
spilling(const float *in, float *out, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  float values[VALUES];
#pragma unroll
  for (int i = 0; i < VALUES; i++) values[i] = in[i * n + id];
  // Nothing moves over this: all values are alive here.
  asm volatile("" ::: "memory");
  float sum = 0;
#pragma unroll
  for (int i = VALUES - 1; i >= 0; i--) {
    asm volatile("" : "+v"(values[i]));
    sum = sum * 0.5f + values[i];
  }
  out[id] = sum;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 14;
  if (n % 256) { printf("n is to be a multiple of 256\n"); return 2; }
  std::vector<float> in(size_t(n) * VALUES), out(n);
  for (size_t i = 0; i < in.size(); i++) in[i] = i * 7919 % 1009;
  float *din, *dout;
  OK(hipMalloc(&din, in.size() * sizeof(float)));
  OK(hipMalloc(&dout, out.size() * sizeof(float)));
  OK(hipMemcpy(din, in.data(), in.size() * sizeof(float), hipMemcpyHostToDevice));
  spilling<<<n / 256, 256>>>(din, dout, n);
  OK(hipGetLastError());
  OK(hipMemcpy(out.data(), dout, out.size() * sizeof(float), hipMemcpyDeviceToHost));
  int wrong = 0;
  for (int id = 0; id < n; id++) {
    float sum = 0;
    for (int i = VALUES - 1; i >= 0; i--) sum = sum * 0.5f + in[size_t(i) * n + id];
    wrong += sum != out[id];
  }
  OK(hipFree(din));
  OK(hipFree(dout));
  printf("%d of %d results are wrong\n", wrong, n);
  return wrong != 0;
}
