// Graphs built by hand, captured over two streams, changed, cloned, updated. The exit code is the number of failed checks.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
#include <vector>

static int failed = 0;
#define CHECK(condition) \
  do { if (!(condition)) { failed++; printf("line %d: %s\n", __LINE__, #condition); } } while (0)
#define OK(call) CHECK((call) == hipSuccess)

__global__ void add(int *out, int n, int value) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) out[id] += value;
}
__device__ int scale = 3;
__global__ void multiply(int *out, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) out[id] *= scale;
}
static void count(void *place) { ++*(int *)place; }

static const int N = 1000;
static bool all(const std::vector<int> &values, int expected) {
  for (int value : values) if (value != expected) return false;
  return true;
}

// memset -> add -> multiply -> copy back, a host function beside, all edges given one by one.
static void by_hand() {
  int *memory; OK(hipMalloc(&memory, N * 4));
  std::vector<int> result(N, -1);
  int calls = 0, ten = 10, n = N;
  hipGraph_t graph; OK(hipGraphCreate(&graph, 0));
  hipGraphNode_t fill, first, second, back, host, empty, set;
  hipMemsetParams zero = {}; zero.dst = memory; zero.elementSize = 4; zero.width = N; zero.height = 1; zero.value = 1;
  OK(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
  void *arguments[] = {&memory, &n, &ten};
  hipKernelNodeParams kernel = {};
  kernel.func = (void *)add; kernel.gridDim = dim3(4); kernel.blockDim = dim3(256); kernel.kernelParams = arguments;
  OK(hipGraphAddKernelNode(&first, graph, &fill, 1, &kernel));
  // The node has a copy of the arguments.
  ten = 77;
  void *others[] = {&memory, &n};
  hipKernelNodeParams times = kernel; times.func = (void *)multiply; times.kernelParams = others;
  OK(hipGraphAddKernelNode(&second, graph, nullptr, 0, &times));
  OK(hipGraphAddMemcpyNode1D(&back, graph, nullptr, 0, result.data(), memory, N * 4, hipMemcpyDeviceToHost));
  hipHostNodeParams call = {}; call.fn = count; call.userData = &calls;
  OK(hipGraphAddHostNode(&host, graph, nullptr, 0, &call));
  OK(hipGraphAddEmptyNode(&empty, graph, &host, 1));
  OK(hipGraphAddDependencies(graph, &first, &second, 1));
  OK(hipGraphAddDependencies(graph, &second, &back, 1));
  CHECK(hipGraphAddDependencies(graph, &second, &back, 1) == hipErrorInvalidValue);
  size_t nodes = 0, edges = 0, roots = 8; hipGraphNode_t found[8];
  OK(hipGraphGetNodes(graph, nullptr, &nodes)); CHECK(nodes == 6);
  OK(hipGraphGetRootNodes(graph, found, &roots)); CHECK(roots == 2 && found[0] == fill && found[1] == host);
  OK(hipGraphGetEdges(graph, nullptr, nullptr, &edges)); CHECK(edges == 4);
  hipGraphNodeType kind; OK(hipGraphNodeGetType(back, &kind)); CHECK((int)kind == 1);  // Older headers count from 1.

  hipGraphExec_t exec; OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  hipStream_t stream; OK(hipStreamCreate(&stream));
  OK(hipGraphLaunch(exec, stream)); OK(hipStreamSynchronize(stream));
  CHECK(all(result, 33)); CHECK(calls == 1);

  // Parameters of the ready graph, then of a copy of the graph, which the first does not see.
  int five = 5; void *changed[] = {&memory, &n, &five};
  hipKernelNodeParams smaller = kernel; smaller.kernelParams = changed;
  OK(hipGraphExecKernelNodeSetParams(exec, first, &smaller));
  zero.value = 2; OK(hipGraphExecMemsetNodeSetParams(exec, fill, &zero));
  OK(hipGraphLaunch(exec, stream)); CHECK(all(result, 21)); CHECK(calls == 2);
  hipKernelNodeParams shown; OK(hipGraphKernelNodeGetParams(first, &shown));
  CHECK(shown.func == kernel.func && shown.gridDim.x == 4 && *(int *)shown.kernelParams[2] == 10);
  hipGraph_t clone; OK(hipGraphClone(&clone, graph));
  hipGraphNode_t twin; OK(hipGraphNodeFindInClone(&twin, first, clone));
  OK(hipGraphKernelNodeSetParams(twin, &smaller));
  hipGraphNode_t error; hipGraphExecUpdateResult updated;
  OK(hipGraphExecUpdate(exec, clone, &error, &updated)); CHECK(updated == hipGraphExecUpdateSuccess);
  OK(hipGraphLaunch(exec, stream)); CHECK(all(result, 18));
  OK(hipGraphDestroyNode(host));
  CHECK(hipGraphExecUpdate(exec, graph, &error, &updated) == hipErrorGraphExecUpdateFailure);
  CHECK(updated == hipGraphExecUpdateErrorTopologyChanged);

  // A graph in a graph; a copy to a variable of device code before it.
  int four = 4;
  hipGraph_t outer; OK(hipGraphCreate(&outer, 0));
  OK(hipGraphAddMemcpyNodeToSymbol(&set, outer, nullptr, 0, (const void *)&scale, &four, 4, 0, hipMemcpyHostToDevice));
  hipGraphNode_t child; OK(hipGraphAddChildGraphNode(&child, outer, &set, 1, graph));
  hipGraphExec_t whole; OK(hipGraphInstantiate(&whole, outer, nullptr, nullptr, 0));
  OK(hipGraphLaunch(whole, stream)); CHECK(all(result, 44));
  hipGraphNode_t twice; OK(hipGraphAddChildGraphNode(&twice, outer, nullptr, 0, outer)); OK(hipGraphDestroyNode(twice));

  // What is wrong is answered.
  CHECK(hipGraphAddMemcpyNode1D(&back, graph, nullptr, 0, nullptr, memory, 4, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  hipKernelNodeParams bad = kernel; bad.func = &failed;
  CHECK(hipGraphAddKernelNode(&first, graph, nullptr, 0, &bad) == hipErrorInvalidDeviceFunction);
  CHECK(hipGraphAddEmptyNode(&empty, graph, &set, 1) == hipErrorInvalidValue);
  OK(hipGraphExecDestroy(exec)); OK(hipGraphDestroy(graph)); CHECK(hipGraphDestroy(graph) == hipErrorInvalidValue);
  OK(hipGraphDestroy(outer)); OK(hipFree(memory));
}

// A second stream joins the capture of the first by an event, and comes back by another.
static void forked() {
  int *a, *b; OK(hipMalloc(&a, N * 4)); OK(hipMalloc(&b, N * 4));
  OK(hipMemset(a, 0, N * 4)); OK(hipMemset(b, 0, N * 4));
  hipStream_t one, two; OK(hipStreamCreate(&one)); OK(hipStreamCreate(&two));
  hipEvent_t fork, join; OK(hipEventCreate(&fork)); OK(hipEventCreate(&join));
  hipGraph_t graph; hipGraphExec_t exec;
  OK(hipStreamBeginCapture(one, hipStreamCaptureModeGlobal));
  add<<<4, 256, 0, one>>>(a, N, 1);
  OK(hipEventRecord(fork, one)); OK(hipStreamWaitEvent(two, fork, 0));
  add<<<4, 256, 0, two>>>(b, N, 2);
  hipStreamCaptureStatus status; OK(hipStreamIsCapturing(two, &status)); CHECK(status == hipStreamCaptureStatusActive);
  OK(hipEventRecord(join, two)); OK(hipStreamWaitEvent(one, join, 0));
  OK(hipStreamEndCapture(one, &graph));
  OK(hipStreamIsCapturing(two, &status)); CHECK(status == hipStreamCaptureStatusNone);
  std::vector<int> x(N), y(N);
  OK(hipMemcpy(y.data(), b, N * 4, hipMemcpyDeviceToHost)); CHECK(all(y, 0));
  size_t nodes = 0; OK(hipGraphGetNodes(graph, nullptr, &nodes)); CHECK(nodes == 2);
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 3; i++) OK(hipGraphLaunch(exec, one));
  OK(hipMemcpy(x.data(), a, N * 4, hipMemcpyDeviceToHost)); OK(hipMemcpy(y.data(), b, N * 4, hipMemcpyDeviceToHost));
  CHECK(all(x, 3)); CHECK(all(y, 6));
}

int main() {
  by_hand();
  forked();
  printf("%d failed\n", failed);
  return failed;
}
