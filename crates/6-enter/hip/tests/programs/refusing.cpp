// Arguments that AMD's runtime refuses, with its codes, and calls that return only when their work is done.
// The first argument says which part runs; the exit code is the number of failed checks.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>

extern "C" int hipDrvGetErrorName(hipError_t, const char **);
extern "C" int hipGetFuncBySymbol(hipFunction_t *, const void *);
extern "C" int hipGetDevicePropertiesR0600(void *, int);
static int failed = 0;
#define CHECK(condition) \
  do { if (!(condition)) { failed++; printf("line %d: %s\n", __LINE__, #condition); } } while (0)
#define OK(call) CHECK((call) == hipSuccess)
#define IS(call, code) CHECK((int)(call) == (code))
enum { INVALID = 1, WRONG_DIRECTION = 21, NO_FILE = 301, BAD_HANDLE = 400, NOT_READY = 600, UNSUPPORTED = 801 };
enum { ONLY_COPY_ENGINES = 1024 };

__device__ int variable[4], second[4];
__global__ void nothing() {}
__global__ void linger(uint64_t ticks) {
  uint64_t start = __builtin_amdgcn_s_memrealtime();
  while (__builtin_amdgcn_s_memrealtime() - start < ticks) __builtin_amdgcn_s_sleep(10);
}

static void memory() {
  int device = 0, value = -1; char *host = new char[64]; void *place;
  enum { VIRTUAL_MEMORY = 89 };
  OK(hipDeviceGetAttribute(&value, hipDeviceAttribute_t(VIRTUAL_MEMORY), device)); CHECK(value == 1);
  IS(hipMallocManaged(&place, 0, hipMemAttachGlobal), INVALID); IS(hipMallocManaged(&place, 64, 0), INVALID);
  IS(hipMallocManaged(&place, 64, hipMemAttachGlobal | hipMemAttachHost), INVALID); OK(hipMallocManaged(&place, 64, hipMemAttachHost)); OK(hipFree(place));
  IS(hipHostRegister(host, 64, 16), INVALID); IS(hipHostRegister(host, size_t(1) << 46, 0), INVALID); OK(hipHostRegister(host, 64, 8)); OK(hipHostUnregister(host));
  IS(hipHostUnregister(nullptr), INVALID); IS(hipHostUnregister(host), hipErrorHostMemoryNotRegistered);
  OK(hipMalloc(&place, 64));
  IS(hipMemcpy(place, host, 64, hipMemcpyKind(5)), WRONG_DIRECTION); IS(hipMemcpyAsync(place, host, 64, hipMemcpyKind(-1), 0), WRONG_DIRECTION);
  IS(hipMemcpy2D(place, 8, host, 8, 8, 8, hipMemcpyKind(9)), WRONG_DIRECTION); OK(hipMemcpyAsync(place, place, 64, hipMemcpyKind(ONLY_COPY_ENGINES), 0));
  IS(hipMemcpyPeer(place, 64, place, 0, 64), hipErrorInvalidDevice); IS(hipMemcpyPeerAsync(place, 0, place, -1, 64, 0), hipErrorInvalidDevice); OK(hipMemcpyPeer(place, 0, place, 0, 64));
  IS(hipMemcpyToSymbol(HIP_SYMBOL(variable), host, 4, 0, hipMemcpyDeviceToHost), WRONG_DIRECTION); OK(hipMemcpyToSymbol(HIP_SYMBOL(variable), place, 4, 0, hipMemcpyDeviceToDevice));
  IS(hipMemcpyFromSymbol(host, HIP_SYMBOL(variable), 4, 0, hipMemcpyHostToDevice), WRONG_DIRECTION); OK(hipMemcpyFromSymbol(host, HIP_SYMBOL(variable), 4));
}

// Memory that goes back to a pool is what the next allocation of that size gets.
static void pools() {
  void *memory, *again; hipStream_t stream; OK(hipStreamCreate(&stream)); const char *name; IS(hipDrvGetErrorName(hipError_t(-1), &name), INVALID); OK(hipDrvGetErrorName(hipErrorInvalidValue, &name));
  for (int round = 0; round < 2; round++) {
    OK(hipMallocAsync(&memory, 3 << 20, stream)); OK(hipFreeAsync(memory, stream)); OK(hipMallocAsync(&again, 3 << 20, stream)); CHECK(memory == again); OK(hipFreeAsync(again, stream));
  }
}

static void pointers() {
  char *device, *pinned, own[64]; void *address; int number; unsigned char truth;
  OK(hipMalloc(&device, 64)); OK(hipHostMalloc(&pinned, 64));
  auto ask = [](void *value, int attribute, void *pointer) { return hipPointerGetAttribute(value, hipPointer_attribute(attribute), (hipDeviceptr_t)pointer); };
  enum { CONTEXT = 1, TYPE, DEVICE, HOST, TOKENS, SYNCHRONOUS, MANAGED = 8, ORDINAL, START = 11, MAPPED = 13 };
  for (int attribute : {int(TYPE), int(DEVICE), int(HOST), int(SYNCHRONOUS), int(MANAGED), int(ORDINAL), int(START), int(MAPPED)}) {
    uint64_t room = -1; IS(ask(&room, attribute, own), INVALID); CHECK((unsigned char)room == (attribute == ORDINAL ? 0xfe : 0));
    IS(ask(nullptr, attribute, device), INVALID); IS(ask(&room, attribute, nullptr), INVALID);
  }
  OK(ask(&address, DEVICE, device + 3)); CHECK(address == device + 3); IS(ask(&address, HOST, device), INVALID); CHECK(!address);
  OK(ask(&address, HOST, pinned + 5)); CHECK(address == pinned + 5); OK(ask(&address, START, pinned + 5)); CHECK(address == pinned);
  OK(ask(&number, ORDINAL, device)); CHECK(number == 0); OK(ask(&truth, MAPPED, pinned)); CHECK(truth == 1);
  IS(ask(&address, CONTEXT, device), UNSUPPORTED); IS(ask(&address, TOKENS, device), UNSUPPORTED); IS(ask(&address, 99, device), INVALID);
}

// Whether a stream is done behind a kernel that lingers and a call.
template <class F> static int after(hipStream_t stream, F call) {
  const uint64_t TENTH = 10000000;
  OK(hipDeviceSynchronize()); linger<<<1, 64, 0, stream>>>(TENTH); OK(call());
  return hipStreamQuery(stream);
}
static void waiting() {
  char *device, *pinned, own[64]; hipStream_t stream; OK(hipMalloc(&device, 64)); OK(hipHostMalloc(&pinned, 64)); OK(hipStreamCreate(&stream));
  IS(after(0, [&] { return hipMemset(device, 1, 64); }), NOT_READY); IS(after(0, [&] { return hipMemset(device + 4, 1, 8); }), 0);
  IS(after(0, [&] { return hipMemset(pinned, 1, 64); }), 0); IS(after(stream, [&] { return hipMemset(pinned, 1, 64); }), 0); IS(after(0, [&] { return hipMemsetAsync(pinned, 1, 64, 0); }), NOT_READY);
  IS(after(0, [&] { return hipMemsetD32((hipDeviceptr_t)pinned, 1, 4); }), 0); IS(after(0, [&] { return hipMemset2D(pinned, 8, 1, 4, 2); }), 0);
  IS(after(0, [&] { return hipMemcpy2D(own, 8, device, 8, 4, 2, hipMemcpyDeviceToHost); }), 0);
  IS(after(0, [&] { return hipMemcpy(device, device + 32, 8, hipMemcpyDeviceToDevice); }), NOT_READY); IS(after(0, [&] { return hipMemcpy2D(device, 8, device + 32, 8, 4, 2, hipMemcpyDeviceToDevice); }), 0);
  IS(after(0, [&] { return hipMemcpy(device, pinned, 8, hipMemcpyHostToDevice); }), 0); IS(after(0, [&] { return hipMemcpyPeer(device, 0, device + 32, 0, 8); }), NOT_READY);
  IS(after(stream, [&] { return hipMemcpyAsync(own, device, 64, hipMemcpyDeviceToHost, stream); }), 0);
  IS(after(stream, [&] { return hipMemcpyAsync(pinned, device, 64, hipMemcpyDeviceToHost, stream); }), NOT_READY);
  IS(after(stream, [&] { return hipMemcpyAsync(pinned, pinned + 32, 8, hipMemcpyHostToHost, stream); }), 0); IS(after(stream, [&] { return hipMemcpyWithStream(pinned, device, 8, hipMemcpyDeviceToHost, stream); }), 0);
  unsigned flags; IS(hipStreamGetFlags(0, &flags), INVALID); OK(hipStreamGetFlags(stream, &flags));
  IS(after(stream, [&] { return hipMemcpyAsync(device, pinned, 64, hipMemcpyHostToDevice, stream); }), NOT_READY); OK(hipDeviceSynchronize());
}

static void graphs() {
  hipGraph_t graph; hipGraphNode_t node; hipGraphExec_t exec; char *memory, own[16];
  IS(hipGraphCreate(&graph, 1), INVALID); OK(hipGraphCreate(&graph, 0)); OK(hipMalloc(&memory, 64));
  hipMemsetParams fill = {}; fill.dst = memory; fill.elementSize = 4; fill.width = 17; fill.height = 1; fill.value = 1;
  IS(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill), INVALID); fill.width = 4; fill.height = 4; fill.pitch = 24; IS(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill), INVALID);
  fill.pitch = 16; OK(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill)); fill.dst = memory + 4; IS(hipGraphMemsetNodeSetParams(node, &fill), INVALID);
  IS(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory, own, 16, hipMemcpyKind(7)), WRONG_DIRECTION);
  // Copies of variables.
  hipGraphNode_t from, to; void *shadow = (void *)HIP_SYMBOL(second);
  auto add = [&](void *place, hipMemcpyKind kind) { return hipGraphAddMemcpyNodeFromSymbol(&from, graph, nullptr, 0, place, HIP_SYMBOL(variable), 16, 0, kind); };
  IS(add(shadow, hipMemcpyDeviceToDevice), INVALID); IS(add(own, hipMemcpyDeviceToDevice), WRONG_DIRECTION); IS(add(memory, hipMemcpyDeviceToHost), WRONG_DIRECTION); IS(add(nullptr, hipMemcpyDefault), INVALID);
  OK(add(memory, hipMemcpyDeviceToDevice)); OK(hipGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, HIP_SYMBOL(variable), memory, 16, 0, hipMemcpyDefault));
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0)); IS(hipGraphInstantiateWithFlags(&exec, graph, 16), INVALID);
  auto change = [&](void *place, hipMemcpyKind kind) { return hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, place, HIP_SYMBOL(variable), 16, 0, kind); };
  IS(change(shadow, hipMemcpyDeviceToDevice), INVALID); IS(change(memory, hipMemcpyDeviceToHost), INVALID); CHECK(change(own, hipMemcpyDeviceToDevice) != hipSuccess); OK(change(memory + 16, hipMemcpyDeviceToDevice));
  IS(hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, HIP_SYMBOL(variable), memory, 16, 0, hipMemcpyHostToDevice), INVALID); IS(hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, nullptr, memory, 16, 0, hipMemcpyDefault), hipErrorInvalidSymbol);
  OK(hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, HIP_SYMBOL(variable), memory, 16, 0, hipMemcpyDeviceToDevice));
}

static void launches() {
  hipFunction_t function; hipModule_t module; IS(hipModuleLoad(&module, ""), INVALID); IS(hipModuleLoad(&module, "absent"), NO_FILE);
  OK(hipGetFuncBySymbol(&function, (const void *)nothing));
  auto launch = [&](unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c, unsigned shared) { return hipModuleLaunchKernel(function, x, y, z, a, b, c, shared, 0, nullptr, nullptr); };
  IS(launch(0, 1, 1, 64, 1, 1, 0), INVALID); IS(launch(1, 1, 1, 1, 1, 0, 0), INVALID); IS(launch(0x80000000u, 1, 1, 1, 1, 1, 0), INVALID); IS(launch(1, 65537, 1, 1, 1, 1, 0), INVALID); IS(launch(1, 1, 65537, 1, 1, 1, 0), INVALID);
  IS(launch(1, 1, 1, 1025, 1, 1, 0), INVALID); IS(launch(1, 1, 1, 12, 12, 12, 0), INVALID); IS(launch(1, 1, 1, 1, 1, 1, 65537), INVALID); IS(hipModuleLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, 0, nullptr, nullptr), BAD_HANDLE);
  void *arguments[1] = {}, *further[] = {HIP_LAUNCH_PARAM_END}; IS(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, further), INVALID);
  // The largest grid, of a kernel that does nothing.
  OK(launch(0x7fffffff, 1, 1, 1, 1, 1, 0)); OK(launch(1, 65536, 65536, 1, 1, 1, 0)); OK(hipDeviceSynchronize());
}

// Properties, attributes and functions name a device in the same way, and no two devices are the same.
static void devices() {
  int count; OK(hipGetDeviceCount(&count)); CHECK(count == 2); unsigned before = 0;
  for (int device = 0; device < count; device++) {
    hipDeviceProp_t properties; char address[32]; unsigned domain, bus; int attribute; char uuid[16], shown[1472] = {};
    OK(hipGetDeviceProperties(&properties, device)); OK(hipDeviceGetPCIBusId(address, sizeof address, device)); OK(hipDeviceGetAttribute(&attribute, hipDeviceAttributePciBusId, device));
    CHECK(sscanf(address, "%x:%x", &domain, &bus) == 2 && bus == (unsigned)attribute && properties.pciBusID == attribute && bus != before); before = bus;
    static hipEvent_t first; hipEvent_t event; hipStream_t stream; float time; OK(hipSetDevice(device)); OK(hipEventCreate(&event)); OK(hipStreamCreate(&stream)); OK(hipEventRecord(event, stream)); OK(hipEventRecord(event, 0));
    if (device) { IS(hipEventRecord(first, stream), BAD_HANDLE); IS(hipEventRecord(first, 0), BAD_HANDLE); IS(hipEventElapsedTime(&time, first, event), BAD_HANDLE); } else first = event;
    OK(hipDeviceGetUuid((hipUUID *)uuid, device)); IS(hipGetDevicePropertiesR0600(shown, device), 0); CHECK(!memcmp(shown + 256, uuid, 16));
  }
}

int main(int argc, char **argv) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  struct { const char *name; void (*run)(); } parts[] = {{"memory", memory}, {"pointers", pointers}, {"waiting", waiting}, {"graphs", graphs}, {"launches", launches}, {"pools", pools}, {"devices", devices}};
  for (auto &it : parts) if (argc > 1 && !strcmp(argv[1], it.name)) it.run();
  printf("%d failed\n", failed);
  return failed;
}
