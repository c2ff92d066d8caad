// Adds up in the LDS without a barrier (`race`) or with one (`right`), three times.
#include <hip/hip_runtime.h>

template <bool Right>
__global__ void turned(const unsigned* in, unsigned* out) {
    __shared__ unsigned tile[256];
    tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    if (Right) __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

int main(int count, char** words) {
    bool right = count > 1 && words[1][1] == 'i';
    unsigned *in, *out;
    if (hipMalloc(&in, 4096) || hipMalloc(&out, 4096) || hipMemset(in, 1, 4096)) return 1;
    for (int i = 0; i < 3; i++) {
        if (right) turned<true><<<4, 256>>>(in, out);
        else turned<false><<<4, 256>>>(in, out);
    }
    return hipDeviceSynchronize() != hipSuccess;
}
