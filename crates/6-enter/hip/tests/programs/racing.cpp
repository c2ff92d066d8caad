// Makes a mistake three times, or none: sums in the LDS without a barrier (`race`) or with one (`right`); adds to memory that is
// new (`fresh`), cleared (`cleared`), copied from the host (`copied`) or stored by a kernel before (`stored`).
#include <hip/hip_runtime.h>
#include <cstring>

template <bool Right>
__global__ void turned(const unsigned* in, unsigned* out) {
    __shared__ unsigned tile[256];
    tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    if (Right) __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

__global__ void added(const unsigned* in, unsigned* out) {
    out[blockIdx.x * 256 + threadIdx.x] += in[blockIdx.x * 256 + threadIdx.x];
}

int main(int count, char** words) {
    const char* part = count > 1 ? words[1] : "race";
    auto is = [&](const char* name) { return !strcmp(part, name); };
    unsigned *in, *out, ones[1024] = {1};
    if (hipMalloc(&in, 4096) || hipMalloc(&out, 4096) || hipMemset(in, 1, 4096)) return 1;
    if (is("cleared") && hipMemset(out, 0, 4096)) return 1;
    if (is("copied") && hipMemcpy(out, ones, 4096, hipMemcpyHostToDevice)) return 1;
    if (is("stored")) turned<true><<<4, 256>>>(in, out);
    for (int i = 0; i < 3; i++) {
        if (is("right")) turned<true><<<4, 256>>>(in, out);
        else if (is("race")) turned<false><<<4, 256>>>(in, out);
        else added<<<4, 256>>>(in, out);
    }
    return hipDeviceSynchronize() != hipSuccess;
}
