// Counts how often each byte occurs: with atomics in global memory, and with atomics in the LDS that are added to global
// memory in the end.
//
//   examples/program.sh histogram && rockhound profile -- target/examples/histogram
//
// Workgroups of 256 threads, each thread has 16 bytes. What the counters must be, with n bytes in g = n / 4096 workgroups:
//   global:  SQ_INSTS_VMEM_WR counts atomics: 16 per wave; TCP_TOTAL_ATOMIC_WITHOUT_RET n, one per lane and byte
//            (the addresses are data, so that no quad stands in a row)
//   LDS:     SQ_INSTS_LDS 18 per wave: 16 atomics, one write that clears the bins and one read that fetches them; TCP_TOTAL_ATOMIC_WITHOUT_RET: the four waves of a workgroup add 64
//            neighbouring bins each, a quad is one access: 4 * 16 g
//   The bytes are all the same in the last launch: 64 lanes add to one dword, which the LDS does one after the other:
//   SQ_LDS_ADDR_CONFLICT 31 per half wave, 62 * 16 * 4 g
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call) \
  do { hipError_t e = (call); if (e != hipSuccess) { printf("%s: %s\n", #call, hipGetErrorString(e)); exit(2); } } while (0)

constexpr int SIZE = 256, BINS = 256, EACH = 16;

__global__ void __launch_bounds__(SIZE) global_atomics(const uint4 *in, unsigned *bins) {
  uint4 own = in[blockIdx.x * SIZE + threadIdx.x];
  for (unsigned word : {own.x, own.y, own.z, own.w})
    for (int byte = 0; byte < 4; byte++) atomicAdd(&bins[word >> 8 * byte & 255], 1u);
}

__global__ void __launch_bounds__(SIZE) lds_atomics(const uint4 *in, unsigned *bins) {
  __shared__ unsigned part[BINS];
  part[threadIdx.x] = 0;
  __syncthreads();
  uint4 own = in[blockIdx.x * SIZE + threadIdx.x];
  for (unsigned word : {own.x, own.y, own.z, own.w})
    for (int byte = 0; byte < 4; byte++) atomicAdd(&part[word >> 8 * byte & 255], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], part[threadIdx.x]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  if (n % (SIZE * EACH)) { printf("n is to be a multiple of %d\n", SIZE * EACH); return 2; }
  std::vector<unsigned char> mixed(n), same(n, 42);
  for (int i = 0; i < n; i++) mixed[i] = i * 2654435761u >> 13;
  void *din;
  unsigned *dbins, bins[BINS];
  OK(hipMalloc(&din, n));
  OK(hipMalloc(&dbins, sizeof bins));
  int wrong = 0;
  struct { void (*kernel)(const uint4 *, unsigned *); std::vector<unsigned char> &data; } const launches[] = {
      {global_atomics, mixed}, {lds_atomics, mixed}, {lds_atomics, same}};
  for (auto &[kernel, data] : launches) {
    unsigned expected[BINS] = {};
    for (unsigned char byte : data) expected[byte]++;
    OK(hipMemcpy(din, data.data(), n, hipMemcpyHostToDevice));
    OK(hipMemset(dbins, 0, sizeof bins));
    kernel<<<n / (SIZE * EACH), SIZE>>>((const uint4 *)din, dbins);
    OK(hipGetLastError());
    OK(hipMemcpy(bins, dbins, sizeof bins, hipMemcpyDeviceToHost));
    for (int bin = 0; bin < BINS; bin++) wrong += bins[bin] != expected[bin];
  }
  OK(hipFree(din));
  OK(hipFree(dbins));
  printf("%d bins are wrong\n", wrong);
  return wrong != 0;
}
