// y = 2 x + 1 and its sums, in ways that VARIANT names; the base is 0.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

#ifndef VARIANT
#define VARIANT 0
#endif
enum { BASE, FUSED, OFF_BY_ONE, STALE, OUTSIDE, FAILS, ENDLESS, RACE, ORDER, LAST_BITS, NO_COPY };

__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (VARIANT == OUTSIDE && i == n - 1) y[i + (64 << 20)] = 1;
    if (VARIANT == ENDLESS) while (true) __builtin_amdgcn_s_sleep(1);
    if (VARIANT == STALE && i == 100) return;
    if (i < n) y[i] = 2 * x[VARIANT == OFF_BY_ONE && i ? i - 1 : i] * (VARIANT == LAST_BITS ? 1.0000001f : 1.0f);
}

__global__ void add(float* y, float* sums, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = i < n ? (y[i] += 1) : 0;
    tile[t] = v;
    for (int s = 128; s > 0; s /= 2) {
        if (VARIANT != RACE || s > 64) __syncthreads();
        if (t < s) tile[t] += tile[t + s];
    }
    if (VARIANT == ORDER) {
        if (t == 0) atomicExch((int*)&sums[blockIdx.x / 2], __float_as_int(tile[0]));
    } else if (t == 0) {
        sums[blockIdx.x] = tile[0];
    }
}

__global__ void both(const float* x, float* y, float* sums, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = i < n ? 2 * x[i] + 1 : 0;
    if (i < n) y[i] = v;
    tile[t] = v;
    for (int s = 128; s > 0; s /= 2) {
        __syncthreads();
        if (t < s) tile[t] += tile[t + s];
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}

int main(int count, char** words) {
    int n = count > 1 ? atoi(words[1]) : 5000, blocks = (n + 255) / 256;
    std::vector<float> x(n), y(n), sums(blocks);
    for (int i = 0; i < n; i++) x[i] = 0.5f * (i % 1000) + 0.1f;
    float *dx, *dy, *ds;
    if (hipMalloc(&dx, 4 * n) || hipMalloc(&dy, 4 * n) || hipMalloc(&ds, 4 * blocks)) return 1;
    if (hipMemset(ds, 0, 4 * blocks)) return 1;
    if (hipMemcpy(dx, x.data(), 4 * n, hipMemcpyHostToDevice)) return 1;
    if (VARIANT == FUSED) {
        both<<<blocks, 256>>>(dx, dy, ds, n);
    } else {
        scale<<<blocks, 256>>>(dx, dy, n);
        add<<<blocks, 256>>>(dy, ds, n);
    }
    if (VARIANT == NO_COPY) return hipDeviceSynchronize() != hipSuccess;
    if (hipMemcpy(y.data(), dy, 4 * n, hipMemcpyDeviceToHost)) return 1;
    if (hipMemcpy(sums.data(), ds, 4 * blocks, hipMemcpyDeviceToHost)) return 1;
    printf("%g\n", sums[0]);
    if (VARIANT == FAILS) fprintf(stderr, "it failed its own check\n");
    return VARIANT == FAILS ? 3 : 0;
}
