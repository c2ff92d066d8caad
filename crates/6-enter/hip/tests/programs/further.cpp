// Parts of the interface that few programs use: virtual memory, pools, memory of graphs, captures, arrays, other processes.
// The first argument says which part runs; the exit code is the number of failed checks. Declarations that older headers lack are
// written after the public documentation.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static int failed = 0;
#define CHECK(condition) \
  do { if (!(condition)) { failed++; printf("line %d: %s\n", __LINE__, #condition); } } while (0)
#define OK(call) CHECK((call) == hipSuccess)
#define IS(call, code) CHECK((int)(call) == (code))
enum { INVALID = 1, NO_MEMORY = 2, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, BAD_HANDLE = 400, ILLEGAL = 401, NOT_FOUND = 500, DESTROYED = 709,
       UNSUPPORTED = 801, NO_CAPTURE = 900, UNMATCHED = 903, UNJOINED = 904, IMPLICIT = 906 };

struct Place { int kind, number; };
struct PoolProperties { int kind, handle; Place place; void *windows; size_t most; char rest[56]; };
struct AllocNode { PoolProperties pool; const void *accesses; size_t count, bytes; void *address; };
struct AnyNode { int kind, reserved[3]; union { long long own[29]; hipMemsetParams fill; AllocNode alloc; void *pointer; }; long long rest; };
struct Operation { int kind; void *address; uint64_t value; unsigned flags; void *alias; uint64_t rest; };
struct Batch { void *context; unsigned count; Operation *operations; unsigned flags; };
struct End { int kind; void *address; size_t row, layer; Place hint; };
struct Box { End from, to; hipExtent extent; int order; unsigned flags; };
struct DriverEnd { size_t x, y, z, level; int kind; const void *host; void *device, *array; size_t pitch, height; };
struct DriverCopy { DriverEnd from, to; size_t width, height, depth; };
struct Attribute { union { int number; uint64_t words[8]; }; };
extern "C" {
int hipGraphAddMemAllocNode(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, AllocNode *);
int hipGraphMemAllocNodeGetParams(hipGraphNode_t, AllocNode *);
int hipGraphAddMemFreeNode(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, void *);
int hipGraphMemFreeNodeGetParams(hipGraphNode_t, void *);
int hipDeviceGetGraphMemAttribute(int, int, void *);
int hipDeviceSetGraphMemAttribute(int, int, void *);
int hipDeviceGraphMemTrim(int);
int hipGraphAddNode(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, AnyNode *);
int hipGraphNodeSetParams(hipGraphNode_t, AnyNode *);
int hipGraphAddBatchMemOpNode(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, const Batch *);
int hipGraphBatchMemOpNodeGetParams(hipGraphNode_t, Batch *);
int hipStreamBatchMemOp(hipStream_t, unsigned, Operation *, unsigned);
int hipGraphDebugDotPrint(hipGraph_t, const char *, unsigned);
int hipUserObjectCreate(void **, void *, void (*)(void *), unsigned, unsigned);
int hipUserObjectRelease(void *, unsigned);
int hipUserObjectRetain(void *, unsigned);
int hipGraphRetainUserObject(hipGraph_t, void *, unsigned, unsigned);
int hipGraphReleaseUserObject(hipGraph_t, void *, unsigned);
int hipStreamBeginCaptureToGraph(hipStream_t, hipGraph_t, const hipGraphNode_t *, const void *, size_t, int);
int hipStreamGetAttribute(hipStream_t, int, Attribute *);
int hipStreamSetAttribute(hipStream_t, int, const Attribute *);
int hipMemcpyBatchAsync(void **, void **, size_t *, size_t, void *, size_t *, size_t, size_t *, hipStream_t);
int hipMemcpy3DBatchAsync(size_t, Box *, size_t *, unsigned long long, hipStream_t);
int hipMemsetD2D32Async(void *, size_t, unsigned, size_t, size_t, hipStream_t);
int hipDrvGraphAddMemcpyNode(hipGraphNode_t *, hipGraph_t, const hipGraphNode_t *, size_t, const DriverCopy *, void *);
int hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t, DriverCopy *);
int hipMemGetHandleForAddressRange(void *, void *, size_t, int, unsigned long long);
const char *hipKernelNameRefByPtr(const void *, hipStream_t);
}

__global__ void add(int *values, int n, int what) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) values[id] += what;
}
static const size_t MEGABYTE = 1 << 20;
static bool all(const int *values, size_t n, int what) {
  for (size_t i = 0; i < n; i++) if (values[i] != what) return false;
  return true;
}
static std::vector<int> read(const void *memory, size_t n) {
  std::vector<int> values(n);
  OK(hipMemcpy(values.data(), memory, n * 4, hipMemcpyDeviceToHost));
  return values;
}

static void virtual_memory() {
  // Older headers have another layout of this structure, which newer runtimes do not take.
  struct Wanted { int type, handle; Place place; void *windows; uint64_t flags; } asked = {1, hipMemHandleTypePosixFileDescriptor, {1, 0}, nullptr, 0}, shown = {};
  auto &wanted = (hipMemAllocationProp &)asked;
  size_t granule = 0;
  OK(hipMemGetAllocationGranularity(&granule, &wanted, hipMemAllocationGranularityRecommended));
  CHECK(granule > 0 && MEGABYTE % granule == 0);
  void *base = nullptr;
  IS(hipMemAddressReserve(&base, granule + 1, 0, nullptr, 0), NO_MEMORY);
  IS(hipMemAddressReserve(&base, MEGABYTE, 0, nullptr, 1), INVALID);
  OK(hipMemAddressReserve(&base, 4 * MEGABYTE, 2 * MEGABYTE, nullptr, 0));
  CHECK((size_t)base % (2 * MEGABYTE) == 0);
  hipMemGenericAllocationHandle_t pages[2];
  IS(hipMemCreate(&pages[0], granule + 1, &wanted, 0), INVALID);
  size_t free_before, free_after, total;
  OK(hipMemGetInfo(&free_before, &total));
  for (auto &it : pages) OK(hipMemCreate(&it, MEGABYTE, &wanted, 0));
  OK(hipMemGetInfo(&free_after, &total)); CHECK(free_before - free_after == 2 * MEGABYTE);
  char *memory = (char *)base;
  IS(hipMemMap(memory, MEGABYTE, 1, pages[0], 0), INVALID);
  OK(hipMemMap(memory, MEGABYTE, 0, pages[0], 0)); OK(hipMemMap(memory + MEGABYTE, MEGABYTE, 0, pages[1], 0));
  IS(hipMemMap(memory, MEGABYTE, 0, pages[1], 0), INVALID);
  hipMemAccessDesc open = {};
  open.location = {hipMemLocationTypeDevice, 7}; open.flags = hipMemAccessFlagsProtReadWrite;
  IS(hipMemSetAccess(memory, 2 * MEGABYTE, &open, 1), INVALID);
  open.location.id = 0;
  IS(hipMemSetAccess(memory, 3 * MEGABYTE, &open, 1), INVALID);
  OK(hipMemSetAccess(memory, 2 * MEGABYTE, &open, 1));
  unsigned long long access = 0;
  OK(hipMemGetAccess(&access, &open.location, memory + 5)); CHECK(access == hipMemAccessFlagsProtReadWrite);
  // Copies, fills and kernels go over both pieces.
  int n = 2 * MEGABYTE / 4;
  OK(hipMemset(memory, 0, 2 * MEGABYTE));
  add<<<n / 256, 256>>>((int *)memory, n, 3);
  CHECK(all(read(memory, n).data(), n, 3));
  hipMemGenericAllocationHandle_t again;
  OK(hipMemRetainAllocationHandle(&again, memory + MEGABYTE + 8)); CHECK(again == pages[1]); OK(hipMemRelease(again));
  OK(hipMemGetAllocationPropertiesFromHandle((hipMemAllocationProp *)&shown, pages[0])); CHECK(shown.place.kind == 1 && shown.handle == asked.handle);
  // The same pages at a third address, by a file for other processes.
  int file = -1;
  OK(hipMemExportToShareableHandle(&file, pages[1], hipMemHandleTypePosixFileDescriptor, 0));
  OK(hipMemImportFromShareableHandle(&again, &file, hipMemHandleTypePosixFileDescriptor)); close(file);
  OK(hipMemMap(memory + 3 * MEGABYTE, MEGABYTE, 0, again, 0)); OK(hipMemSetAccess(memory + 3 * MEGABYTE, MEGABYTE, &open, 1));
  add<<<1, 64>>>((int *)(memory + 3 * MEGABYTE), 64, 4);
  CHECK(all(read(memory + MEGABYTE, 64).data(), 64, 7));
  IS(hipMemUnmap(memory, 2 * MEGABYTE), INVALID);
  for (int at : {0, 1, 3}) OK(hipMemUnmap(memory + at * MEGABYTE, MEGABYTE));
  IS(hipMemcpy(&file, memory, 4, hipMemcpyDeviceToHost), INVALID);
  for (auto it : {pages[0], pages[1], again}) OK(hipMemRelease(it));
  IS(hipMemRelease(again), INVALID);
  OK(hipMemGetInfo(&free_after, &total)); CHECK(free_before == free_after);
  OK(hipMemAddressFree(base, 4 * MEGABYTE));
  IS(hipMemMapArrayAsync(nullptr, 1, 0), INVALID);
}

static void pools() {
  hipMemPool_t pool, chosen; hipStream_t stream; void *a, *b; uint64_t bytes = 1; int on = 7;
  OK(hipStreamCreate(&stream));
  hipMemPoolProps wanted = {};
  IS(hipMemPoolCreate(&pool, &wanted), INVALID);
  wanted.allocType = hipMemAllocationTypePinned; wanted.location = {hipMemLocationTypeDevice, 0};
  OK(hipMemPoolCreate(&pool, &wanted));
  OK(hipMallocFromPoolAsync(&a, 1000, pool, stream)); OK(hipMallocFromPoolAsync(&b, 500, pool, stream));
  OK(hipFreeAsync(a, stream));
  OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &bytes)); CHECK(bytes == 500);
  OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemHigh, &bytes)); CHECK(bytes == 1500);
  bytes = 1; IS(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &bytes), INVALID);
  bytes = 4096; OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &bytes));
  bytes = 0; OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &bytes)); CHECK(bytes == 4096);
  on = 0; OK(hipMemPoolSetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &on));
  on = 7; OK(hipMemPoolGetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &on)); CHECK(on == 0);
  OK(hipDeviceSetMemPool(0, pool)); OK(hipDeviceGetMemPool(&chosen, 0)); CHECK(chosen == pool);
  OK(hipMallocAsync(&a, 250, stream));
  OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &bytes)); CHECK(bytes == 750);
  hipMemAccessFlags access; hipMemLocation here = {hipMemLocationTypeDevice, 0};
  OK(hipMemPoolGetAccess(&access, pool, &here)); CHECK(access == hipMemAccessFlagsProtReadWrite);
  OK(hipFree(a)); OK(hipFreeAsync(b, stream)); OK(hipMemPoolDestroy(pool)); IS(hipMemPoolDestroy(pool), INVALID);
  OK(hipDeviceGetMemPool(&chosen, 0)); OK(hipDeviceGetDefaultMemPool(&pool, 0)); CHECK(chosen == pool);
  IS(hipMemPoolDestroy(pool), INVALID);
  IS(hipFreeAsync(nullptr, stream), INVALID); IS(hipMallocAsync(&a, 8, (hipStream_t)12345), BAD_HANDLE);
}

static void graph_memory() {
  hipGraph_t graph; hipGraphNode_t alloc, fill, work, freed, copy; hipGraphExec_t exec; hipStream_t stream;
  OK(hipStreamCreate(&stream)); OK(hipGraphCreate(&graph, 0));
  AllocNode wanted = {}; wanted.bytes = 1024;
  IS(hipGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &wanted), INVALID);
  wanted.pool.kind = 1; wanted.pool.place = {1, 0};
  OK((hipError_t)hipGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &wanted)); CHECK(wanted.address);
  AllocNode shown = {}; IS(hipGraphMemAllocNodeGetParams(alloc, &shown), 0); CHECK(shown.address == wanted.address && shown.bytes == 1024);
  hipGraphNodeType type; OK(hipGraphNodeGetType(alloc, &type)); CHECK(type == 10);
  IS(hipMemset(wanted.address, 0, 0), 0);
  AnyNode any = {}; any.kind = 2; any.fill = {}; any.fill.dst = wanted.address; any.fill.elementSize = 4; any.fill.height = 1; any.fill.value = 5; any.fill.width = 256;
  IS(hipGraphAddNode(&fill, graph, &alloc, 1, &any), 0);
  int n = 256, one = 1; int *address = (int *)wanted.address; void *arguments[] = {&address, &n, &one};
  hipKernelNodeParams kernel = {}; kernel.func = (void *)add; kernel.gridDim = dim3(1); kernel.blockDim = dim3(256); kernel.kernelParams = arguments;
  OK(hipGraphAddKernelNode(&work, graph, &fill, 1, &kernel));
  int *out; OK(hipMalloc(&out, 1024));
  OK(hipGraphAddMemcpyNode1D(&copy, graph, &work, 1, out, address, 1024, hipMemcpyDeviceToDevice));
  hipGraphExec_t kept; OK(hipGraphInstantiate(&kept, graph, nullptr, nullptr, 0));
  IS(hipGraphAddMemFreeNode(&freed, graph, &copy, 1, out), INVALID);
  IS(hipGraphAddMemFreeNode(&freed, graph, &copy, 1, address), 0);
  IS(hipGraphAddMemFreeNode(&freed, graph, &copy, 1, address), INVALID);
  void *freeing = nullptr; IS(hipGraphMemFreeNodeGetParams(freed, &freeing), 0); CHECK(freeing == address);
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  uint64_t used = 9;
  for (int i = 0; i < 2; i++) OK(hipGraphLaunch(exec, stream));
  CHECK(all(read(out, 256).data(), 256, 6));
  IS(hipDeviceGetGraphMemAttribute(0, 0, &used), 0); CHECK(used == 0);
  IS(hipDeviceGetGraphMemAttribute(0, 1, &used), 0); CHECK(used == 1024);
  used = 1; IS(hipDeviceSetGraphMemAttribute(0, 1, &used), INVALID);
  used = 0; IS(hipDeviceSetGraphMemAttribute(0, 1, &used), 0); IS(hipDeviceGraphMemTrim(0), 0); IS(hipDeviceGraphMemTrim(5), INVALID_DEVICE);
  // Without the node that frees, memory stays until somebody frees it.
  OK(hipGraphLaunch(kept, stream)); CHECK(all(read(address, 256).data(), 256, 6));
  IS(hipGraphLaunch(kept, stream), INVALID);
  OK(hipFree(address)); OK(hipGraphLaunch(kept, stream)); OK(hipFreeAsync(address, stream));
  // A capture allocates when it runs.
  int *captured; hipGraph_t graph2;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  OK(hipMallocAsync((void **)&captured, 1024, stream)); OK(hipMemsetAsync(captured, 0, 1024, stream));
  add<<<1, 256, 0, stream>>>(captured, 256, 9); OK(hipMemcpyAsync(out, captured, 1024, hipMemcpyDeviceToDevice, stream)); OK(hipFreeAsync(captured, stream));
  OK(hipStreamEndCapture(stream, &graph2));
  OK(hipGraphInstantiate(&exec, graph2, nullptr, nullptr, 0)); OK(hipGraphLaunch(exec, stream)); OK(hipGraphLaunch(exec, stream));
  CHECK(all(read(out, 256).data(), 256, 9));
  // Values that a graph writes.
  Operation operations[2] = {{2, out, 77, 0, nullptr, 0}, {5, out + 2, 0x500000006ull, 0, nullptr, 0}};
  Batch batch = {nullptr, 2, operations, 0}; hipGraph_t graph3; hipGraphNode_t values;
  OK(hipGraphCreate(&graph3, 0)); IS(hipGraphAddBatchMemOpNode(&values, graph3, nullptr, 0, &batch), 0);
  Batch known = {}; IS(hipGraphBatchMemOpNodeGetParams(values, &known), 0); CHECK(known.count == 2 && known.operations[1].value == 0x500000006ull);
  OK(hipGraphInstantiate(&exec, graph3, nullptr, nullptr, 0)); OK(hipGraphLaunch(exec, stream));
  auto found = read(out, 4); CHECK(found[0] == 77 && found[2] == 6 && found[3] == 5);
  operations[0] = {1, out, 70, 0, nullptr, 0}; IS(hipStreamBatchMemOp(stream, 2, operations, 0), 0);
  operations[0].kind = 9; IS(hipStreamBatchMemOp(stream, 2, operations, 0), INVALID);
}

static int ended = 0;
static void end(void *data) { ended += *(int *)data; }
static void objects() {
  int five = 5; void *object; hipGraph_t graph; OK(hipGraphCreate(&graph, 0));
  IS(hipUserObjectCreate(&object, &five, end, 1, 0), INVALID);
  IS(hipUserObjectCreate(&object, &five, end, 1, 1), 0);
  IS(hipGraphRetainUserObject(graph, object, 1, 0), 0); IS(hipUserObjectRelease(object, 1), 0); CHECK(ended == 0);
  OK(hipGraphDestroy(graph)); CHECK(ended == 5);
  OK(hipGraphCreate(&graph, 0)); IS(hipUserObjectCreate(&object, &five, end, 2, 1), 0); IS(hipUserObjectRetain(object, 1), 0);
  IS(hipGraphRetainUserObject(graph, object, 2, 1), 0); IS(hipGraphReleaseUserObject(graph, object, 2), 0); CHECK(ended == 5);
  IS(hipUserObjectRelease(object, 0), INVALID); IS(hipUserObjectRelease(object, 1), 0); CHECK(ended == 10);
  // Attributes of kernels, and the drawing.
  int n = 1, *memory; OK(hipMalloc(&memory, 4)); void *arguments[] = {&memory, &n, &n};
  hipKernelNodeParams kernel = {}; kernel.func = (void *)add; kernel.gridDim = dim3(1); kernel.blockDim = dim3(64); kernel.kernelParams = arguments;
  hipGraphNode_t a, b, c; OK(hipGraphAddKernelNode(&a, graph, nullptr, 0, &kernel)); OK(hipGraphAddKernelNode(&b, graph, &a, 1, &kernel)); OK(hipGraphAddEmptyNode(&c, graph, &b, 1));
  Attribute value = {}; value.number = 1;
  OK(hipGraphKernelNodeSetAttribute(a, (hipKernelNodeAttrID)2, (hipKernelNodeAttrValue *)&value)); value.number = 0;
  OK(hipGraphKernelNodeGetAttribute(a, (hipKernelNodeAttrID)2, (hipKernelNodeAttrValue *)&value)); CHECK(value.number == 1);
  IS(hipGraphKernelNodeSetAttribute(a, (hipKernelNodeAttrID)5, (hipKernelNodeAttrValue *)&value), INVALID);
  IS(hipGraphKernelNodeGetAttribute(c, (hipKernelNodeAttrID)2, (hipKernelNodeAttrValue *)&value), INVALID);
  const char *path = "further.dot"; IS(hipGraphDebugDotPrint(graph, path, 0), 0);
  FILE *file = fopen(path, "r"); char text[2000] = {}; CHECK(file && fread(text, 1, sizeof text - 1, file) > 0); if (file) fclose(file);
  unlink(path); CHECK(strstr(text, "digraph") && strstr(text, "_Z3addPiii") && strstr(text, "->"));
  CHECK(!strcmp(hipKernelNameRefByPtr((const void *)add, 0), "_Z3addPiii"));
  // A child graph is replaced by one of the same shape.
  hipGraph_t outer, other; hipGraphNode_t child; hipGraphExec_t exec; int ten = 10;
  OK(hipMemset(memory, 0, 4)); OK(hipGraphCreate(&outer, 0)); OK(hipGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  OK(hipGraphInstantiate(&exec, outer, nullptr, nullptr, 0)); OK(hipGraphLaunch(exec, 0)); CHECK(read(memory, 1)[0] == 2);
  OK(hipGraphClone(&other, graph)); arguments[2] = &ten; OK(hipGraphNodeFindInClone(&b, b, other)); OK(hipGraphKernelNodeSetParams(b, &kernel));
  OK(hipGraphExecChildGraphNodeSetParams(exec, child, other)); OK(hipGraphLaunch(exec, 0)); CHECK(read(memory, 1)[0] == 13);
  IS(hipGraphExecChildGraphNodeSetParams(exec, child, outer), 999);
}

static void captures() {
  hipStream_t one, two; hipEvent_t fork, join; int *memory; hipGraph_t graph, shown; hipStreamCaptureStatus status; const hipGraphNode_t *nodes; size_t count; unsigned long long id;
  OK(hipStreamCreate(&one)); OK(hipStreamCreate(&two)); OK(hipEventCreate(&fork)); OK(hipEventCreate(&join)); OK(hipMalloc(&memory, 1024)); OK(hipMemset(memory, 0, 1024));
  IS(hipStreamBeginCapture(0, hipStreamCaptureModeGlobal), NO_CAPTURE); IS(hipStreamEndCapture(one, &graph), ILLEGAL); IS(hipStreamBeginCapture(one, (hipStreamCaptureMode)9), INVALID);
  OK(hipStreamIsCapturing(0, &status)); CHECK(status == hipStreamCaptureStatusNone);
  OK(hipStreamBeginCapture(one, hipStreamCaptureModeGlobal)); IS(hipStreamIsCapturing(0, &status), IMPLICIT); IS(hipStreamBeginCapture(one, hipStreamCaptureModeGlobal), ILLEGAL);
  add<<<1, 256, 0, one>>>(memory, 256, 1);
  OK(hipStreamGetCaptureInfo_v2(one, &status, &id, &shown, &nodes, &count)); CHECK(status == hipStreamCaptureStatusActive && count == 1);
  hipGraphNode_t first = nodes[0];
  OK(hipEventRecord(fork, one)); OK(hipStreamWaitEvent(two, fork, 0));
  add<<<1, 256, 0, two>>>(memory, 256, 2); add<<<1, 256, 0, one>>>(memory, 256, 4);
  IS(hipStreamEndCapture(two, &graph), UNMATCHED);
  OK(hipEventRecord(join, two)); OK(hipStreamWaitEvent(one, join, 0));
  OK(hipStreamGetCaptureInfo_v2(one, &status, &id, &shown, &nodes, &count)); CHECK(count == 2);
  add<<<1, 256, 0, one>>>(memory, 256, 8);
  OK(hipStreamEndCapture(one, &graph)); CHECK(graph == shown);
  // A diamond: the first, two that depend on it, one that depends on both.
  OK(hipGraphGetEdges(graph, nullptr, nullptr, &count)); CHECK(count == 4);
  OK(hipGraphGetRootNodes(graph, nullptr, &count)); CHECK(count == 1);
  OK(hipGraphNodeGetDependentNodes(first, nullptr, &count)); CHECK(count == 2);
  hipGraphExec_t exec; OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0)); OK(hipGraphLaunch(exec, one)); CHECK(all(read(memory, 256).data(), 256, 15));
  // A stream that was not joined.
  OK(hipStreamBeginCapture(one, hipStreamCaptureModeGlobal)); add<<<1, 256, 0, one>>>(memory, 256, 1);
  OK(hipEventRecord(fork, one)); OK(hipStreamWaitEvent(two, fork, 0)); add<<<1, 256, 0, two>>>(memory, 256, 2); add<<<1, 256, 0, one>>>(memory, 256, 2);
  IS(hipStreamEndCapture(one, &graph), UNJOINED);
  // Into a graph that is there, behind a node; and with other dependencies.
  hipGraphNode_t empty; OK(hipGraphCreate(&graph, 0)); OK(hipGraphAddEmptyNode(&empty, graph, nullptr, 0));
  IS(hipStreamBeginCaptureToGraph(one, graph, &empty, nullptr, 0, 0), INVALID);
  IS(hipStreamBeginCaptureToGraph(one, graph, &empty, nullptr, 1, 0), 0); add<<<1, 256, 0, one>>>(memory, 256, 1);
  OK(hipStreamUpdateCaptureDependencies(one, &empty, 1, 1)); add<<<1, 256, 0, one>>>(memory, 256, 1);
  OK(hipStreamEndCapture(one, &shown)); CHECK(shown == graph);
  OK(hipGraphNodeGetDependentNodes(empty, nullptr, &count)); CHECK(count == 2);
  IS(hipStreamUpdateCaptureDependencies(one, &empty, 1, 1), ILLEGAL);
}

static void images() {
  hipArray *array = nullptr; hipChannelFormatDesc bytes = {8, 0, 0, 0, hipChannelFormatKindSigned}, odd = {8, 16, 0, 0, hipChannelFormatKindSigned};
  int known = 1; OK(hipDeviceGetAttribute(&known, hipDeviceAttributeImageSupport, 0)); CHECK(known == 0);
  hipDeviceProp_t p; OK(hipGetDeviceProperties(&p, 0)); bool has_images = strncmp(p.gcnArchName, "gfx90a", 6) == 0;
  int invalid = has_images ? UNSUPPORTED : INVALID;
  IS(hipMallocArray(&array, &bytes, 8, 8, 0), UNSUPPORTED); IS(hipMallocArray(nullptr, &bytes, 8, 8, 0), invalid); IS(hipMallocArray(&array, &odd, 8, 8, 0), invalid);
  IS(hipMalloc3DArray(&array, &bytes, hipExtent{4, 4, 4}, 0), UNSUPPORTED); IS(hipMalloc3DArray(&array, &bytes, hipExtent{4, 4, 4}, 8), invalid);
  HIP_ARRAY_DESCRIPTOR wanted = {}; wanted.Width = wanted.Height = 8; wanted.NumChannels = 3; IS(hipArrayCreate(&array, &wanted), invalid); wanted.NumChannels = 4; IS(hipArrayCreate(&array, &wanted), UNSUPPORTED);
  IS(hipFreeArray(nullptr), invalid); IS(hipArrayDestroy((hipArray *)&wanted), has_images ? UNSUPPORTED : DESTROYED);
  hipTextureObject_t texture; hipResourceDesc resource = {}; hipTextureDesc sampling = {};
  IS(hipCreateTextureObject(&texture, &resource, &sampling, nullptr), UNSUPPORTED); OK(hipDestroyTextureObject(nullptr));
  // Some headers declare these as functions of C++.
  auto create = (int (*)(void *, void *))dlsym(RTLD_DEFAULT, "hipCreateSurfaceObject"); auto destroy = (int (*)(void *))dlsym(RTLD_DEFAULT, "hipDestroySurfaceObject");
  CHECK(create && destroy && create(&texture, &resource) == UNSUPPORTED && destroy(nullptr) == 0);
  IS(hipMemcpy2DToArray(nullptr, 0, 0, &wanted, 8, 8, 1, hipMemcpyHostToDevice), has_images ? UNSUPPORTED : BAD_HANDLE);
  textureReference reference = {}; const textureReference *found; IS(hipTexRefSetFlags(nullptr, 0), invalid); IS(hipTexRefSetFlags(&reference, 0), UNSUPPORTED);
  IS(hipGetTextureReference(&found, &reference), UNSUPPORTED); IS(hipTexRefSetAddressMode(&reference, 4, hipAddressModeWrap), invalid);
}

static void copies() {
  hipStream_t stream; OK(hipStreamCreate(&stream)); char *a, *b; OK(hipMalloc(&a, 4096)); OK(hipMalloc(&b, 4096)); OK(hipMemset(a, 0, 4096)); OK(hipMemset(b, 0, 4096));
  char text[] = "abcdefghijklmnopqrstuvwxyz", out[64] = {}; size_t wrong = 7;
  void *to[] = {a, a + 100}, *from[] = {text, text + 10}; size_t sizes[] = {5, 3};
  IS(hipMemcpyBatchAsync(to, from, sizes, 2, nullptr, nullptr, 0, &wrong, stream), 0); OK(hipMemcpy(out, a, 5, hipMemcpyDeviceToHost)); CHECK(!strcmp(out, "abcde"));
  OK(hipMemcpy(out, a + 100, 3, hipMemcpyDeviceToHost)); CHECK(!strcmp(out, "klmde")); to[1] = nullptr;
  IS(hipMemcpyBatchAsync(to, from, sizes, 2, nullptr, nullptr, 0, &wrong, stream), INVALID); CHECK(wrong == 1);
  Box box = {}; box.from = {1, text, 13, 0, {}}; box.to = {1, b, 16, 0, {}}; box.extent = {4, 2, 1}; box.order = 1; IS(hipMemcpy3DBatchAsync(1, &box, &wrong, 0, stream), 0);
  memset(out, 0, sizeof out); OK(hipMemcpy2D(out, 4, b, 16, 4, 2, hipMemcpyDeviceToHost)); CHECK(!strcmp(out, "abcdnopq"));
  box.order = 0; IS(hipMemcpy3DBatchAsync(1, &box, &wrong, 0, stream), INVALID); CHECK(wrong == 0);
  IS(hipMemsetD2D32Async(b, 64, 7, 2, 3, stream), 0); CHECK(read(b, 48)[33] == 7 && read(b, 48)[34] == 0);
  // Older headers have another layout of this structure, which newer runtimes do not take.
  DriverCopy deep = {}; deep.from.kind = hipMemoryTypeHost; deep.from.host = text; deep.from.pitch = 6; deep.from.height = 2; deep.to.kind = hipMemoryTypeDevice; deep.to.device = a;
  deep.to.pitch = 8; deep.to.height = 2; deep.width = 3; deep.height = 2; deep.depth = 2; OK(hipDrvMemcpy3D((HIP_MEMCPY3D *)&deep)); memset(out, 0, sizeof out);
  OK(hipMemcpy2D(out, 3, a, 8, 3, 4, hipMemcpyDeviceToHost)); CHECK(!strcmp(out, "abcghimnostu")); deep.to.pitch = 2; IS(hipDrvMemcpy3D((HIP_MEMCPY3D *)&deep), INVALID); deep.to.pitch = 8;
  hipGraph_t graph; hipGraphNode_t node; hipGraphExec_t exec; DriverCopy shown = {}; OK(hipGraphCreate(&graph, 0)); deep.to.device = b; IS(hipDrvGraphAddMemcpyNode(&node, graph, nullptr, 0, &deep, nullptr), 0);
  IS(hipDrvGraphMemcpyNodeGetParams(node, &shown), 0); CHECK(shown.width == 3 && shown.depth == 2 && shown.to.pitch == 8 && shown.to.height == 2);
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0)); OK(hipGraphLaunch(exec, stream)); memset(out, 0, sizeof out); OK(hipMemcpy2D(out, 3, b, 8, 3, 4, hipMemcpyDeviceToHost)); CHECK(!strcmp(out, "abcghimnostu"));
  // Advice is kept for the pages it was given for.
  char *managed; int value = 9, places[3]; OK(hipMallocManaged((void **)&managed, 16384)); OK(hipMemAdvise(managed, 8192, hipMemAdviseSetPreferredLocation, 0)); OK(hipMemAdvise(managed, 4096, hipMemAdviseSetAccessedBy, hipCpuDeviceId));
  OK(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributePreferredLocation, managed, 8192)); CHECK(value == 0);
  OK(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributePreferredLocation, managed, 16384)); CHECK(value == hipInvalidDeviceId);
  OK(hipMemRangeGetAttribute(places, 12, hipMemRangeAttributeAccessedBy, managed, 4096)); CHECK(places[0] == hipCpuDeviceId && places[1] == hipInvalidDeviceId);
  OK(hipMemPrefetchAsync(managed, 16384, 0, stream)); OK(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeLastPrefetchLocation, managed, 16384)); CHECK(value == 0);
  IS(hipMemAdvise(managed, 8192, hipMemAdviseSetPreferredLocation, 9), INVALID_DEVICE); IS(hipMemAdvise(managed, 32768, hipMemAdviseSetReadMostly, 0), INVALID); IS(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeReadMostly, a, 4096), INVALID);
  // Streams keep what they are told.
  Attribute attribute = {}; attribute.number = 2; IS(hipStreamSetAttribute(stream, 3, &attribute), 0); attribute.number = 0; IS(hipStreamGetAttribute(stream, 3, &attribute), 0); CHECK(attribute.number == 2); IS(hipStreamGetAttribute(stream, 77, &attribute), INVALID);
  hipStream_t masked; uint32_t mask[16] = {0xf0}, told[16] = {}; OK(hipExtStreamCreateWithCUMask(&masked, 1, mask)); OK(hipExtStreamGetCUMask(masked, 16, told)); CHECK(told[0] == 0xf0); OK(hipExtStreamGetCUMask(stream, 16, told)); CHECK(told[0] == ~0u); IS(hipExtStreamGetCUMask(stream, 1, told), INVALID);
  // A launch on every device, of which there is one.
  int n = 64, three = 3; void *arguments[] = {&b, &n, &three}; hipLaunchParams launch = {(void *)add, dim3(1), dim3(64), arguments, 0, stream}; OK(hipMemset(b, 0, 4096)); OK(hipLaunchCooperativeKernelMultiDevice(&launch, 1, 0)); CHECK(all(read(b, 64).data(), 64, 3));
  hipLaunchParams two[] = {launch, launch}; IS(hipLaunchCooperativeKernelMultiDevice(two, 2, 0), INVALID); launch.stream = 0; IS(hipExtLaunchMultiKernelMultiDevice(&launch, 1, 0), BAD_HANDLE);
}

// One process makes memory and an event, another opens them; `argv` of the second is the first's handles in hexadecimal.
static void text_of(const void *data, size_t bytes, char *text) { for (size_t i = 0; i < bytes; i++) sprintf(text + 2 * i, "%02x", ((const unsigned char *)data)[i]); }
static void data_of(const char *text, void *data, size_t bytes) { for (size_t i = 0; i < bytes; i++) { unsigned byte; sscanf(text + 2 * i, "%2x", &byte); ((unsigned char *)data)[i] = byte; } }
static void parent(const char *self) {
  int *memory; hipIpcMemHandle_t handle; hipIpcEventHandle_t event_handle; hipEvent_t event, plain; char texts[2][129]; void *own;
  OK(hipMalloc(&memory, 4096)); std::vector<int> ones(1024, 1); OK(hipMemcpy(memory, ones.data(), 4096, hipMemcpyHostToDevice));
  IS(hipIpcGetMemHandle(&handle, nullptr), INVALID); OK(hipIpcGetMemHandle(&handle, memory + 100)); IS(hipIpcOpenMemHandle(&own, handle, hipIpcMemLazyEnablePeerAccess), INVALID_CONTEXT);
  IS(hipEventCreateWithFlags(&event, hipEventInterprocess), INVALID); OK(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming)); OK(hipEventCreate(&plain));
  OK(hipIpcGetEventHandle(&event_handle, event)); IS(hipIpcGetEventHandle(&event_handle, plain), 9); OK(hipEventRecord(event, 0));
  text_of(&handle, 64, texts[0]); text_of(&event_handle, 64, texts[1]);
  pid_t child = fork(); if (child == 0) { execl(self, self, "child", texts[0], texts[1], nullptr); _exit(99); }
  int status = -1; waitpid(child, &status, 0); CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  auto found = read(memory, 1024); CHECK(all(found.data(), 100, 1) && all(&found[100], 64, 6) && all(&found[164], 860, 1));
  add<<<4, 256>>>(memory, 1024, 1); CHECK(read(memory, 1024)[100] == 7); OK(hipFree(memory));
}
static void child(char **argv) {
  hipIpcMemHandle_t handle; hipIpcEventHandle_t event_handle; hipEvent_t event; int *memory; data_of(argv[2], &handle, 64); data_of(argv[3], &event_handle, 64);
  IS(hipIpcOpenMemHandle((void **)&memory, handle, 2), INVALID); OK(hipIpcOpenMemHandle((void **)&memory, handle, hipIpcMemLazyEnablePeerAccess)); OK(hipIpcOpenEventHandle(&event, event_handle)); OK(hipStreamWaitEvent(0, event, 0)); OK(hipEventSynchronize(event));
  CHECK(all(read(memory, 64).data(), 64, 1)); add<<<1, 64>>>(memory, 64, 5); OK(hipDeviceSynchronize()); OK(hipIpcCloseMemHandle(memory)); IS(hipIpcCloseMemHandle(memory), INVALID);
}

// A kernel that waits for a second of the GPU's clock keeps its stream busy until the host has waited, too.
__global__ void linger(uint64_t ticks) {
  uint64_t start = __builtin_amdgcn_s_memrealtime();
  while (__builtin_amdgcn_s_memrealtime() - start < ticks) __builtin_amdgcn_s_sleep(10);
}
static void busy() {
  enum { NOT_READY = 600 };
  hipStream_t stream, other; hipEvent_t start, stop; float time; void *memory;
  OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking)); OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking)); OK(hipEventCreate(&start)); OK(hipEventCreate(&stop));
  OK(hipEventRecord(start, stream)); linger<<<1, 64, 0, stream>>>(100000000); OK(hipEventRecord(stop, stream));
  IS(hipStreamQuery(stream), NOT_READY); IS(hipStreamQuery(0), NOT_READY); OK(hipStreamQuery(other)); OK(hipEventQuery(start)); IS(hipEventQuery(stop), NOT_READY); IS(hipEventElapsedTime(&time, start, stop), NOT_READY);
  OK(hipStreamWaitEvent(other, stop, 0)); IS(hipStreamQuery(other), NOT_READY); OK(hipEventSynchronize(stop)); OK(hipStreamQuery(stream)); OK(hipStreamQuery(other)); OK(hipEventQuery(stop)); OK(hipEventElapsedTime(&time, start, stop));
  linger<<<1, 64, 0, stream>>>(100000000); OK(hipStreamSynchronize(other)); IS(hipStreamQuery(stream), NOT_READY); OK(hipDeviceSynchronize()); OK(hipStreamQuery(stream));
  // What AMD's runtime refuses.
  IS(hipEventElapsedTime(nullptr, start, stop), INVALID); IS(hipEventCreateWithFlags(&start, hipEventReleaseToDevice | hipEventReleaseToSystem), INVALID);
  IS(hipHostMalloc(&memory, 64, hipHostMallocCoherent | hipHostMallocNonCoherent), INVALID); IS(hipExtMallocWithFlags(&memory, 16, hipMallocSignalMemory), INVALID); IS(hipExtMallocWithFlags(&memory, 16, 99), INVALID);
  IS(hipFuncSetAttribute((const void *)linger, hipFuncAttributeMaxDynamicSharedMemorySize, -1), INVALID); IS(hipFuncSetAttribute((const void *)linger, hipFuncAttribute(-1), 0), INVALID);
  hipFuncAttributes attributes; OK(hipFuncSetAttribute((const void *)linger, hipFuncAttributeMaxDynamicSharedMemorySize, 1024)); OK(hipFuncGetAttributes(&attributes, (const void *)linger)); CHECK(attributes.maxDynamicSharedSizeBytes == 1024);
  // The value of an attribute has 32 bytes: what lies behind it stays.
  struct { uint64_t value[4], behind; } window = {{1, 2, 3, 4}, 5}; OK(hipStreamGetAttribute(stream, 1, (Attribute *)&window)); CHECK(window.value[3] == 0 && window.behind == 5);
}

int main(int argc, char **argv) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  const char *part = argc > 1 ? argv[1] : "";
  struct { const char *name; void (*run)(); } parts[] = {{"virtual", virtual_memory}, {"pools", pools}, {"graphs", graph_memory}, {"objects", objects}, {"captures", captures}, {"images", images}, {"copies", copies}, {"busy", busy}};
  for (auto &it : parts) if (!strcmp(part, it.name)) it.run();
  if (!strcmp(part, "processes")) parent(argv[0]);
  if (!strcmp(part, "child")) child(argv);
  printf("%d failed\n", failed);
  return failed;
}
