// Many launches, times between events, memory that only the host has, files that are not there. The first argument says which part
// runs; the exit code is the number of failed checks.
#include <hip/hip_runtime.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int failed = 0;
#define CHECK(condition) \
  do { if (!(condition)) { failed++; printf("line %d: %s\n", __LINE__, #condition); } } while (0)
#define OK(call) CHECK((call) == hipSuccess)

__global__ void nothing() {}
__global__ void store(float *out, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) out[id] = id;
}

__global__ void sums(float *out, const float *in, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++) sum += in[(id + i) & 255];
  out[id] = sum;
}
__global__ void grow(float *out, const float *in, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < n; i++) out[id] += in[(id + i) & 255];
}
__global__ void bump(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

// The same kernel with the same arguments again and again, the host's writes in between, and kernels that change what they read.
static void repeats() {
  const int n = 1 << 15, trips = 400;
  float *out, *in, host[256], found;
  OK(hipMalloc(&out, n * 4)); OK(hipMalloc(&in, sizeof host));
  auto run = [&](float value, int times) {
    for (float &it : host) it = value;
    OK(hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice));
    for (int i = 0; i < times; i++) sums<<<n / 256, 256>>>(out, in, trips);
    OK(hipMemcpy(&found, out + n - 1, 4, hipMemcpyDeviceToHost)); CHECK(found == value * trips);
  };
  run(1, 20); run(2, 1);
  for (int i = 0; i < 20; i++) bump<<<n / 256, 256>>>(out);
  OK(hipMemcpy(&found, out, 4, hipMemcpyDeviceToHost)); CHECK(found == 2 * trips + 20);
  // What it adds to is reset each time.
  for (int i = 0; i < 6; i++) {
    OK(hipMemset(out, 0, n * 4));
    grow<<<n / 256, 256>>>(out, in, trips);
    OK(hipMemcpy(&found, out + n - 1, 4, hipMemcpyDeviceToHost)); CHECK(found == 2 * trips);
  }
}

// Prints how many microseconds a kernel takes by the program's clock.
static void clocks() {
  const int n = 1 << 15;
  float *out, *in;
  OK(hipMalloc(&out, n * 4)); OK(hipMalloc(&in, 1024));
  auto begin = std::chrono::steady_clock::now();
  sums<<<n / 256, 256>>>(out, in, 2000);
  OK(hipDeviceSynchronize());
  printf("%.3f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() * 1e6);
}

// Prints how long a launch takes.
static void many(int count) {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; i++) nothing<<<1, 64>>>();
  OK(hipDeviceSynchronize());
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  printf("%.2f us a launch\n", seconds * 1e6 / count);
}

// Prints milliseconds: a kernel, a kernel twice, a copy of 64 MB from the host, one on the GPU, a fill, nothing.
static void times(const int n) {
  const size_t bytes = 64000000;
  float *out; char *a, *b, *host = (char *)malloc(bytes); memset(host, 1, bytes);
  OK(hipMalloc(&out, n * 4)); OK(hipMalloc(&a, bytes)); OK(hipMalloc(&b, bytes));
  hipEvent_t events[7]; for (hipEvent_t &it : events) OK(hipEventCreate(&it));
  float ms = -1; CHECK(hipEventElapsedTime(&ms, events[0], events[1]) == hipErrorInvalidHandle);
  OK(hipEventRecord(events[0], 0)); store<<<n / 256, 256>>>(out, n);
  OK(hipEventRecord(events[1], 0)); store<<<n / 256, 256>>>(out, n); store<<<n / 256, 256>>>(out, n);
  OK(hipEventRecord(events[2], 0)); OK(hipMemcpy(a, host, bytes, hipMemcpyHostToDevice));
  OK(hipEventRecord(events[3], 0)); OK(hipMemcpy(b, a, bytes, hipMemcpyDeviceToDevice));
  OK(hipEventRecord(events[4], 0)); OK(hipMemset(b, 0, bytes));
  OK(hipEventRecord(events[5], 0)); OK(hipEventRecord(events[6], 0));
  for (int i = 0; i < 6; i++) { OK(hipEventElapsedTime(&ms, events[i], events[i + 1])); printf("%.6f\n", ms); }
  free(host);
}

static void unregistered(bool local) {
  float kept[64], *heap = (float *)malloc(1 << 20);
  store<<<1, 64>>>(local ? kept : heap, 64);
  OK(hipDeviceSynchronize());
}

static int of_program = 40;

__global__ void everywhere(const int *heap, int *local, int *of_program, int *pinned) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(local, heap[i]);
  if (i == 0) *of_program += 2, pinned[0] = heap[4095];
}

// Memory that HIP did not allocate, with HSA_XNACK=1.
static void pageable() {
  hipDeviceProp_t properties; int can = 0, where = 0, local = 1;
  OK(hipGetDeviceProperties(&properties, 0)); OK(hipDeviceGetAttribute(&can, hipDeviceAttributePageableMemoryAccess, 0));
  CHECK(can == 1 && properties.pageableMemoryAccess == 1 && strstr(properties.gcnArchName, ":xnack+"));
  int *heap = (int *)malloc(1 << 20), *pinned = heap + 8192;
  for (int i = 0; i < 4096; i++) heap[i] = i;
  OK(hipHostRegister(pinned, 4096, 0)); OK(hipMemPrefetchAsync(heap, 1 << 14, 0, 0));
  OK(hipMemAdvise(heap, 1 << 14, hipMemAdviseSetPreferredLocation, 0));
  OK(hipMemRangeGetAttribute(&where, 4, hipMemRangeAttributeLastPrefetchLocation, heap, 1 << 14)); CHECK(where == 0);
  for (int round = 0; round < 3; round++) {
    everywhere<<<16, 256>>>(heap, &local, &of_program, pinned);
    OK(hipDeviceSynchronize());
  }
  CHECK(local == 1 + 3 * 4096 / 2 * 4095); CHECK(of_program == 46); CHECK(pinned[0] == 4095);
  OK(hipHostUnregister(pinned)); free(heap);
}

static void probing() {
  hipModule_t module;
  CHECK(hipModuleLoad(&module, "/nowhere/kernels.co") == hipErrorFileNotFound);
  CHECK(hipGetLastError() == hipErrorFileNotFound);
}

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "many";
  if (!strcmp(part, "many")) many(argc > 2 ? atoi(argv[2]) : 1000);
  if (!strcmp(part, "times")) times(argc > 2 ? atoi(argv[2]) : 1 << 16);
  if (!strcmp(part, "repeats")) repeats();
  if (!strcmp(part, "clocks")) clocks();
  if (!strcmp(part, "heap")) unregistered(false);
  if (!strcmp(part, "local")) unregistered(true);
  if (!strcmp(part, "pageable")) pageable();
  if (!strcmp(part, "probing")) probing();
  return failed;
}
