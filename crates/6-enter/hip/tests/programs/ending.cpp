// Kernels in turn, and ways for a program to end. The first argument says how it ends, the second how many rounds it does.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <thread>
#include <unistd.h>

__global__ void first(int *out) { out[threadIdx.x] = 1; }
__global__ void second(int *out) { out[threadIdx.x] += threadIdx.x; }
// Row i of a triangle takes i steps.
__global__ void triangle(float *out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int i = 0; i < row; i++) sum += out[i & 255] * 0.5f;
  out[256 + row] = sum;
}
__global__ void evenly(float *out, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) out[256 + id] = out[id & 255] * 2.0f;
}
__global__ void forever(volatile int *out) { while (out[0] == 0) out[1] += 1; }
__global__ void waiting(volatile int *flag) { while (*flag == 0) {} }

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "end";
  int rounds = argc > 2 ? atoi(argv[2]) : 3, count = 0, *out;
  float *floats;
  if (!strcmp(how, "fork") && fork() == 0) _exit(0);
  hipGetDeviceCount(&count);
  hipMalloc(&out, 4096); hipMalloc(&floats, (256 + 65536) * 4); hipMemset(out, 0, 4096);
  for (int i = 0; i < rounds; i++) { first<<<1, 64>>>(out); second<<<1, 64>>>(out); }
  hipDeviceSynchronize();
  if (!strcmp(how, "devices")) printf("%d devices\n", count);
  if (!strcmp(how, "shapes")) { triangle<<<64, 256>>>(floats, 16384); evenly<<<250, 256>>>(floats, 63900); hipDeviceSynchronize(); }
  if (!strcmp(how, "crash")) *(volatile int *)16 = 1;
  if (!strcmp(how, "killed")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "code")) return 7;
  // A child that goes on with its parent's device.
  if (!strcmp(how, "fork")) { if (fork() == 0) { first<<<1, 64>>>(out); exit(3); } sleep(1); }
  if (!strcmp(how, "thread") || !strcmp(how, "forever")) {
    std::thread other([&] { if (!strcmp(how, "thread")) { usleep(300000); exit(9); } });
    printf("waiting %d\n", getpid()); fflush(stdout);
    hipMemset(out, 0, 4);
    forever<<<1, 64>>>(out);
    hipDeviceSynchronize();
    other.join();
  }
  // Nobody writes the flag, a workgroup that comes later does, or the host does in a while.
  if (!strcmp(how, "stuck")) { hipMemset(out, 0, 4); waiting<<<rounds, 64>>>(out); hipDeviceSynchronize(); }
  if (!strcmp(how, "host")) {
    int *flag;
    hipHostMalloc(&flag, 4, 0);
    *flag = 0;
    std::thread other([&] { usleep(300000); *(volatile int *)flag = 1; });
    waiting<<<1, 64>>>(flag);
    hipDeviceSynchronize();
    other.join();
    printf("came\n");
  }
  return 0;
}
