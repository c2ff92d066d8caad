// Adds up a vector of ints: each workgroup halves its partial sums in the LDS, then one atomic adds them to the result.
//
//   examples/program.sh reduction && rockhound profile -- target/examples/reduction
//
// Workgroups of 256 threads, four waves. What the counters must be, per workgroup:
//   SQ_INSTS_VMEM_RD   4, one load per wave
//   SQ_INSTS_LDS       24: 4 writes of the elements; nine times a wave halves (two waves have one of 128 threads, one wave the
//                      seven smaller ones), with one read of both halves (`ds_read2`) and one write: 18; the last halving
//                      reads its two elements one by one: 1; the sum is read once: 1. Waves without a thread skip
//   TCP_TOTAL_ATOMIC_WITHOUT_RET  1: one lane
//   SQ_LDS_BANK_CONFLICT          0: neighbouring threads, neighbouring banks
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

constexpr int SIZE = 256;

__global__ void __launch_bounds__(SIZE) reduce(const int *in, int *result) {
  __shared__ int partial[SIZE];
  int t = threadIdx.x;
  partial[t] = in[blockIdx.x * SIZE + t];
  __syncthreads();
  for (int half = SIZE / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0) atomicAdd(result, partial[0]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  if (n % SIZE) { printf("n is to be a multiple of %d\n", SIZE); return 2; }
  std::vector<int> in(n);
  unsigned expected = 0;
  for (int i = 0; i < n; i++) { in[i] = i * 2654435761u >> 8; expected += in[i]; }
  int *din, *dresult, result;
  OK(hipMalloc(&din, n * sizeof(int)));
  OK(hipMalloc(&dresult, sizeof(int)));
  OK(hipMemcpy(din, in.data(), n * sizeof(int), hipMemcpyHostToDevice));
  OK(hipMemset(dresult, 0, sizeof(int)));
  reduce<<<n / SIZE, SIZE>>>(din, dresult);
  OK(hipGetLastError());
  OK(hipMemcpy(&result, dresult, sizeof(int), hipMemcpyDeviceToHost));
  OK(hipFree(din));
  OK(hipFree(dresult));
  printf("sum %d, expected %d\n", result, (int)expected);
  return result != (int)expected;
}
