// Cooperative launches: workgroups wait for each other. The first argument says which part runs.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <vector>
namespace cg = cooperative_groups;

// Each workgroup publishes a number and then adds up those of all others, ten times.
__global__ void everyone(int *numbers, int *sums, int rounds) {
  for (int round = 1; round <= rounds; round++) {
    if (threadIdx.x == 0) numbers[blockIdx.x] = round * (blockIdx.x + 1);
    cg::this_grid().sync();
    if (threadIdx.x == 0) {
      int sum = 0;
      for (int i = 0; i < gridDim.x; i++) sum += numbers[i];
      sums[blockIdx.x] = sum;
    }
    cg::this_grid().sync();
  }
}
// As newer device libraries do where there is no global wave synchronisation: a counter in memory.
__device__ void meet(unsigned *counter, unsigned members) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned v = __hip_atomic_fetch_add(counter, 1u, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT);
    if ((v & 0xffff) == members - 1) __hip_atomic_fetch_add(counter, 0x10000 - members, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT);
    else while ((__hip_atomic_load(counter, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT) & ~0xffffu) == (v & ~0xffffu)) __builtin_amdgcn_s_sleep(1);
  }
  __syncthreads();
}
__global__ void counted(unsigned *counter, int *numbers, int *sums) {
  if (threadIdx.x == 0) numbers[blockIdx.x] = blockIdx.x + 1;
  meet(counter, gridDim.x);
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += numbers[i];
    sums[blockIdx.x] = sum;
  }
}
__global__ void one_leaves(unsigned *counter) { if (blockIdx.x != 1) meet(counter, gridDim.x); }
__global__ void one_leaves_the_grid() { if (blockIdx.x != 1) cg::this_grid().sync(); }

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "grid";
  const int blocks = 33;
  int *numbers, *sums, rounds = 10;
  unsigned *counter;
  hipMalloc(&numbers, blocks * 4); hipMalloc(&sums, blocks * 4); hipMalloc(&counter, 4); hipMemset(counter, 0, 4);
  hipError_t error = hipSuccess;
  if (!strcmp(part, "grid")) {
    void *arguments[] = {&numbers, &sums, &rounds};
    error = hipLaunchCooperativeKernel(everyone, dim3(blocks), dim3(256), arguments, 0, 0);
  }
  if (!strcmp(part, "counter")) {
    void *arguments[] = {&counter, &numbers, &sums};
    error = hipLaunchCooperativeKernel(counted, dim3(blocks), dim3(256), arguments, 0, 0);
  }
  // All fit on the GPU together, so they may wait for each other in a plain launch too.
  if (!strcmp(part, "barrier")) counted<<<blocks, 256>>>(counter, numbers, sums);
  if (!strcmp(part, "plain")) everyone<<<blocks, 256>>>(numbers, sums, rounds);
  if (!strcmp(part, "deadlock")) error = hipLaunchCooperativeKernel(one_leaves_the_grid, dim3(blocks), dim3(64), nullptr, 0, 0);
  if (!strcmp(part, "spin")) {
    void *arguments[] = {&counter};
    error = hipLaunchCooperativeKernel(one_leaves, dim3(4), dim3(64), arguments, 0, 0);
  }
  if (!strcmp(part, "large")) {
    void *arguments[] = {&numbers, &sums, &rounds};
    error = hipLaunchCooperativeKernel(everyone, dim3(100000), dim3(256), arguments, 0, 0);
  }
  hipDeviceSynchronize();
  std::vector<int> found(blocks);
  hipMemcpy(found.data(), sums, blocks * 4, hipMemcpyDeviceToHost);
  int right = 0, factor = !strcmp(part, "grid") ? rounds : 1;
  for (int sum : found) right += sum == factor * blocks * (blocks + 1) / 2;
  printf("%s, %d right\n", hipGetErrorName(error), right);
}
