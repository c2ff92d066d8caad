// Kernels that call the host: printf, assert, abort, malloc. The first argument says which part runs.
#include <hip/hip_runtime.h>
#include <cassert>
#include <cstdio>
#include <cstring>

#ifdef BUFFERED
// As in newer device libraries: room in the buffer, or null.
extern "C" __device__ char *__printf_alloc(unsigned bytes) {
  char *buffer = (char *)((size_t *)__builtin_amdgcn_implicitarg_ptr())[9];
  unsigned size = ((unsigned *)buffer)[1];
  unsigned used = __hip_atomic_load((unsigned *)buffer, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  do {
    if (8 + used + bytes > size) return nullptr;
  } while (!__hip_atomic_compare_exchange_strong((unsigned *)buffer, &used, used + bytes, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
  return buffer + 8 + used;
}
#endif

__device__ const char *name(int id) { return id % 2 ? "odd" : "a rather long text that does not fit into one packet of seven words"; }
__global__ void lines(int n, float half) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) printf("item %d of %s: %6.2f %c %#x%%\n", id, name(id), id * half, 'a' + id % 26, id);
}
__global__ void check(const int *values) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  assert(values[id] >= 0 && "values are positive");
}
__global__ void halt(int at) { if (threadIdx.x == at) abort(); }
#ifndef BUFFERED
__global__ void heap(int **out) {
  int *mine = (int *)malloc(16);
  if (mine) for (int i = 0; i < 4; i++) mine[i] = threadIdx.x * 4 + i;
  out[threadIdx.x] = mine;
}
__global__ void sum(int **lists, int *out) {
  int total = 0;
  for (int i = 0; i < 4; i++) total += lists[threadIdx.x][i];
  free(lists[threadIdx.x]);
  atomicAdd(out, total);
}
#endif

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "lines";
  printf("begin\n");
  if (!strcmp(part, "lines")) { lines<<<20, 128>>>(2500, 0.5f); hipDeviceSynchronize(); }
  if (!strcmp(part, "assert")) {
    int *values;
    hipHostMalloc((void **)&values, 512 * 4, 0);
    for (int i = 0; i < 512; i++) values[i] = i == 300 ? -1 : i;
    check<<<4, 128>>>(values);
    hipDeviceSynchronize();
  }
  if (!strcmp(part, "abort")) { lines<<<1, 1>>>(1, 1); halt<<<2, 64>>>(3); hipDeviceSynchronize(); }
#ifndef BUFFERED
  if (!strcmp(part, "heap")) {
    int **lists, *out, result;
    hipMalloc(&lists, 64 * 8); hipMalloc(&out, 4); hipMemset(out, 0, 4);
    heap<<<1, 64>>>(lists);
    sum<<<1, 64>>>(lists, out);
    hipMemcpy(&result, out, 4, hipMemcpyDeviceToHost);
    printf("sum %d\n", result);
  }
#endif
  printf("end\n");
}
