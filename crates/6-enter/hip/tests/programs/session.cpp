// One program that uses what programs use: launches, streams, events, symbols, managed memory, modules, graphs, bad calls.
// The first argument says which part runs; the exit code is the number of failed checks.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int failed = 0;
#define CHECK(condition) \
  do { if (!(condition)) { failed++; printf("line %d: %s\n", __LINE__, #condition); } } while (0)
#define OK(call) CHECK((call) == hipSuccess)

__global__ void vecCopy(const double *a, double *b, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) b[id] = a[id];
}
__global__ void daxpy(double k, const double *x, double *y, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) y[id] = k * x[id] + y[id];
}
__global__ void reduce(const int *in, int *out) {
  extern __shared__ int part[];
  int t = threadIdx.x;
  part[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, part[0]);
}
__device__ int table[4] = {1, 2, 3, 4};
__constant__ int factor = 10;
__managed__ int shared_value = 5;
__global__ void scale(int *out) { out[threadIdx.x] = table[threadIdx.x] * factor + shared_value; if (threadIdx.x == 0) shared_value = 77; }
__global__ void __launch_bounds__(64) small(int *out) { out[threadIdx.x] = 1; }
__global__ void stray(int *out) { out[threadIdx.x + (1 << 28)] = 1; }

static void copies(int n) {
  std::vector<double> h(n), r(n);
  for (int i = 0; i < n; i++) h[i] = i;
  double *a, *b;
  OK(hipMalloc(&a, n * 8)); OK(hipMalloc(&b, n * 8));
  OK(hipMemcpy(a, h.data(), n * 8, hipMemcpyHostToDevice));
  vecCopy<<<(n + 255) / 256, 256>>>(a, b, n);
  OK(hipGetLastError()); OK(hipDeviceSynchronize());
  OK(hipMemcpy(r.data(), b, n * 8, hipMemcpyDeviceToHost));
  CHECK(h == r);
  daxpy<<<(n + 255) / 256, 256>>>(2.0, a, b, n);
  OK(hipMemcpy(r.data(), b, n * 8, hipMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < n; i++) right &= r[i] == 3.0 * i;
  CHECK(right);
  OK(hipFree(a)); OK(hipFree(b));
}
static void reductions() {
  int *in, *out;
  OK(hipHostMalloc((void **)&in, 4096 * 4, 0)); OK(hipMalloc(&out, 4));
  int sum = 0;
  for (int i = 0; i < 4096; i++) sum += in[i] = i * 7;
  hipStream_t s; hipEvent_t e0, e1;
  OK(hipStreamCreate(&s)); OK(hipEventCreate(&e0)); OK(hipEventCreate(&e1));
  OK(hipMemsetAsync(out, 0, 4, s)); OK(hipEventRecord(e0, s));
  reduce<<<16, 256, 1024, s>>>(in, out);
  OK(hipEventRecord(e1, s)); OK(hipStreamSynchronize(s));
  int result; float ms = -1;
  OK(hipMemcpy(&result, out, 4, hipMemcpyDeviceToHost));
  CHECK(result == sum);
  OK(hipEventElapsedTime(&ms, e0, e1)); CHECK(ms > 0);
  hipGraph_t graph; hipGraphExec_t exec;
  OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
  reduce<<<16, 256, 1024, s>>>(in, out);
  OK(hipStreamEndCapture(s, &graph));
  OK(hipMemcpy(&result, out, 4, hipMemcpyDeviceToHost)); CHECK(result == sum);
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(exec, s)); OK(hipGraphLaunch(exec, s)); OK(hipStreamSynchronize(s));
  OK(hipMemcpy(&result, out, 4, hipMemcpyDeviceToHost)); CHECK(result == 3 * sum);
  OK(hipStreamDestroy(s)); OK(hipHostFree(in)); OK(hipFree(out));
  CHECK(hipStreamDestroy(s) == hipErrorContextIsDestroyed);
  OK(hipEventDestroy(e0)); CHECK(hipEventDestroy(e0) == hipErrorContextIsDestroyed);
  CHECK(hipStreamCreateWithFlags(&s, 7) == hipErrorInvalidValue);
  CHECK(hipEventCreateWithFlags(&e0, 0xff) == hipErrorInvalidValue);
  CHECK(hipStreamWaitEvent(hipStreamPerThread, e1, ~0u) == hipErrorInvalidValue);
  OK(hipStreamBeginCapture(hipStreamPerThread, hipStreamCaptureModeGlobal));
  OK(hipStreamEndCapture(hipStreamPerThread, &graph));
  // Memory that is not registered any more is plain memory.
  int plain[64];
  OK(hipMalloc(&out, sizeof plain));
  OK(hipHostRegister(plain, sizeof plain, 0)); OK(hipHostUnregister(plain));
  OK(hipMemcpy(plain, out, sizeof plain, hipMemcpyDeviceToHost)); OK(hipFree(out));
}
static void symbols() {
  int *out, host[4], fresh[2] = {30, 40}, ten = 100;
  OK(hipMalloc(&out, 16));
  scale<<<1, 4>>>(out);
  OK(hipMemcpy(host, out, 16, hipMemcpyDeviceToHost));
  CHECK(host[0] == 15 && host[3] == 45); CHECK(shared_value == 77);
  OK(hipMemcpyToSymbol(HIP_SYMBOL(table), fresh, 8, 8, hipMemcpyHostToDevice));
  OK(hipMemcpyToSymbol(HIP_SYMBOL(factor), &ten, 4, 0, hipMemcpyHostToDevice));
  scale<<<1, 4>>>(out);
  OK(hipMemcpy(host, out, 16, hipMemcpyDeviceToHost));
  CHECK(host[0] == 177 && host[2] == 3077 && host[3] == 4077);
  OK(hipMemcpyFromSymbol(host, HIP_SYMBOL(table), 16, 0, hipMemcpyDeviceToHost));
  CHECK(host[1] == 2 && host[2] == 30);
  CHECK(hipMemcpyFromSymbol(host, HIP_SYMBOL(table), 17, 0, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
}
static void queries() {
  hipDeviceProp_t p; int value, blocks, grid, block; size_t free_bytes, total;
  OK(hipGetDeviceProperties(&p, 0));
  CHECK(p.warpSize == 64); CHECK(strncmp(p.gcnArchName, "gfx9", 4) == 0); CHECK(p.maxThreadsPerBlock == 1024);
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0)); CHECK(value == p.multiProcessorCount);
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)vecCopy, 256, 0)); CHECK(blocks == 8);
  OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, (const void *)vecCopy, 0, 0)); CHECK(block == 1024);
  OK(hipMemGetInfo(&free_bytes, &total)); CHECK(total == p.totalGlobalMem);
  hipFuncAttributes f;
  OK(hipFuncGetAttributes(&f, (const void *)small)); CHECK(f.maxThreadsPerBlock == 64);
  int *memory; hipPointerAttribute_t attributes;
  OK(hipMalloc(&memory, 64)); OK(hipPointerGetAttributes(&attributes, memory + 3));
  CHECK(attributes.devicePointer == memory + 3);
  CHECK(hipSetDevice(1) == hipErrorInvalidDevice);
  CHECK(strcmp(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory") == 0);
}
static void bad() {
  int *out; char host[64];
  OK(hipMalloc(&out, 4096));
  vecCopy<<<1, 2048>>>(nullptr, nullptr, 0); CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  small<<<1, 128>>>(out); CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  reduce<<<1, 64, 1 << 20>>>(out, out); CHECK(hipGetLastError() == hipErrorOutOfMemory);
  small<<<0, 64>>>(out); CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  void *arguments[] = {nullptr};
  CHECK(hipLaunchKernel((const void *)small, dim3(1), dim3(64), arguments, 0, 0) == hipErrorInvalidValue);
  CHECK(hipLaunchKernel((const void *)small, dim3(1), dim3(64), nullptr, 0, 0) == hipErrorInvalidValue);
  CHECK(hipLaunchKernel((const void *)host, dim3(1), dim3(64), arguments, 0, 0) == hipErrorInvalidDeviceFunction);
  CHECK(hipMemcpy(host, out, 5000, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  CHECK(hipMalloc((void **)&out, ~0ull) == hipErrorOutOfMemory);
  CHECK(hipFree(host) == hipErrorInvalidValue);
  int width; CHECK(hipGLGetDevices((unsigned *)&width, &width, 1, (hipGLDeviceList)1) == hipErrorNotSupported);
  CHECK(hipStreamSynchronize((hipStream_t)12345) != hipSuccess);
}

// Calls that few programs make.
extern "C" hipError_t hipConfigureCall(dim3, dim3, size_t, hipStream_t);
extern "C" hipError_t hipSetupArgument(const void *, size_t, size_t);
extern "C" hipError_t hipLaunchByPtr(const void *);
static void rare() {
  int *out, host[4] = {0}; hipStream_t stream; uint64_t wide = 0, used = 0;
  OK(hipMalloc(&out, 16)); OK(hipMemset(out, 0, 16)); OK(hipStreamCreate(&stream));
  OK(hipStreamWriteValue32(stream, out, 7, 0)); OK(hipStreamWriteValue64(stream, out + 2, 0x500000006ull, 0));
  OK(hipStreamWaitValue32(stream, out, 5, hipStreamWaitValueGte, ~0u)); OK(hipStreamWaitValue64(stream, out + 2, 6, hipStreamWaitValueEq, 0xff));
  CHECK(hipStreamWaitValue32(stream, out, 8, hipStreamWaitValueGte, ~0u) == hipErrorNotSupported);
  OK(hipMemcpy(host, out, 16, hipMemcpyDeviceToHost)); OK(hipMemcpy(&wide, out + 2, 8, hipMemcpyDeviceToHost));
  CHECK(host[0] == 7 && host[1] == 0 && wide == 0x500000006ull);
  OK(hipMemset(out, 0, 16)); OK(hipConfigureCall(dim3(1), dim3(4), 0, stream)); OK(hipSetupArgument(&out, sizeof out, 0));
  OK(hipLaunchByPtr((const void *)scale)); OK(hipMemcpy(host, out, 16, hipMemcpyDeviceToHost)); CHECK(host[0] != 0);
  CHECK(hipLaunchByPtr((const void *)scale) == hipErrorMissingConfiguration && hipSetupArgument(&out, 8, 0) == hipErrorMissingConfiguration);
  char rows[2][8] = {"abcdefg", "hijklmn"}, back[2][4] = {"", ""}; char *pitched; OK(hipMalloc(&pitched, 32));
  hip_Memcpy2D copy = {}; copy.srcMemoryType = hipMemoryTypeHost; copy.srcHost = rows; copy.srcPitch = 8; copy.srcXInBytes = 2;
  copy.dstMemoryType = hipMemoryTypeDevice; copy.dstDevice = (hipDeviceptr_t)pitched; copy.dstPitch = 16; copy.dstY = 0; copy.WidthInBytes = 4; copy.Height = 2;
  OK(hipMemcpyParam2D(&copy)); OK(hipMemcpy2D(back, 4, pitched, 16, 4, 2, hipMemcpyDeviceToHost));
  CHECK(!memcmp(back[0], "cdef", 4) && !memcmp(back[1], "jklm", 4));
  hipMemPool_t pool; int *pooled; OK(hipMallocAsync((void **)&pooled, 48, stream)); OK(hipDeviceGetDefaultMemPool(&pool, 0)); OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used)); CHECK(used == 48);
  int link = 0; CHECK(hipDeviceGetP2PAttribute(&link, hipDevP2PAttrAccessSupported, 0, 0) == hipErrorInvalidValue);
}

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "copies";
  if (!strcmp(part, "copies")) copies(argc > 2 ? atoi(argv[2]) : 10000);
  if (!strcmp(part, "reductions")) reductions();
  if (!strcmp(part, "symbols")) symbols();
  if (!strcmp(part, "queries")) queries();
  if (!strcmp(part, "bad")) bad();
  if (!strcmp(part, "rare")) rare();
  if (!strcmp(part, "stray")) { copies(100); int *out; OK(hipMalloc(&out, 4096)); stray<<<1, 64>>>(out); OK(hipDeviceSynchronize()); }
  printf("%d failed\n", failed);
  return failed;
}
