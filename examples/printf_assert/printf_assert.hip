// A kernel that prints and asserts.
//
//   examples/program.sh printf_assert && rockhound run -- target/examples/printf_assert
//   target/examples/printf_assert fail        the assert does not hold: the program ends with signal 6 (SIGABRT)
//
// Device-side printf and assert go through the hostcall buffer: the wave writes what is to be printed to memory that the
// host shares, and waits. What comes out is one line per printing thread; lines of a wave come in the order of its lanes.
//
// The printing costs instructions in the lanes that print, not in others: `quiet` has the same sum without a print, and
// SQ_INSTS of the two differ although no result does. The sum of both launches is 2 * 64 * 65 / 2 = 4160.
#include <hip/hip_runtime.h>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

__global__ void loud(int *sum, int most) {
  int value = blockIdx.x * blockDim.x + threadIdx.x + 1;
  assert(value <= most);
  if (value % 16 == 0) printf("thread %d of workgroup %d has %d, %s, %.2f\n", (int)threadIdx.x, (int)blockIdx.x, value, "a sixteenth", value / 16.0);
  atomicAdd(sum, value);
}

__global__ void quiet(int *sum, int most) {
  int value = blockIdx.x * blockDim.x + threadIdx.x + 1;
  atomicAdd(sum, value);
}

int main(int argc, char **argv) {
  bool fail = argc > 1 && !strcmp(argv[1], "fail");
  int *dsum, sum;
  OK(hipMalloc(&dsum, sizeof(int)));
  OK(hipMemset(dsum, 0, sizeof(int)));
  quiet<<<1, 64>>>(dsum, 64);
  OK(hipGetLastError());
  loud<<<1, 64>>>(dsum, fail ? 63 : 64);
  OK(hipGetLastError());
  OK(hipDeviceSynchronize());
  OK(hipMemcpy(&sum, dsum, sizeof(int), hipMemcpyDeviceToHost));
  OK(hipFree(dsum));
  printf("sum %d, expected 4160\n", sum);
  return sum != 4160;
}
