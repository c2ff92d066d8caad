// y = a x + y, checked on the host: a small HIP program with a test of its own.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <vector>

#include "saxpy.h"

int main() {
    const int n = 100003;
    std::vector<float> x(n), y(n), expected(n);
    for (int i = 0; i < n; i++) {
        x[i] = 0.25f * (i % 17);
        y[i] = expected[i] = 1.0f / (1 + i % 31);
        expected[i] = std::fma(2.0f, x[i], expected[i]);
    }
    float *dx, *dy;
    if (hipMalloc(&dx, 4 * n) || hipMalloc(&dy, 4 * n)) return 1;
    if (hipMemcpy(dx, x.data(), 4 * n, hipMemcpyHostToDevice)) return 1;
    if (hipMemcpy(dy, y.data(), 4 * n, hipMemcpyHostToDevice)) return 1;
    saxpy<<<(n + 255) / 256, 256>>>(2.0f, dx, dy, n);
    if (hipMemcpy(y.data(), dy, 4 * n, hipMemcpyDeviceToHost)) return 1;
    for (int i = 0; i < n; i++) {
        if (std::abs(y[i] - expected[i]) > 1e-5f * std::abs(expected[i])) {
            std::printf("element %d is %g, expected %g\n", i, y[i], expected[i]);
            return 1;
        }
    }
    std::printf("%d elements are right\n", n);
}
