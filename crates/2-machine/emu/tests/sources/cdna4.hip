// Instructions that only gfx950 has, and sums in four registers.
#include "device.h"

typedef short short4 __attribute__((ext_vector_type(4)));
typedef int int2v __attribute__((ext_vector_type(2)));
typedef int int3v __attribute__((ext_vector_type(3)));
typedef unsigned uint4v __attribute__((ext_vector_type(4)));
typedef unsigned uint6v __attribute__((ext_vector_type(6)));
typedef float float2v __attribute__((ext_vector_type(2)));
typedef float float32v __attribute__((ext_vector_type(32)));

#define LDS __attribute__((address_space(3)))

#if defined(__gfx950__)
// Reads a tile of 16-bit elements, 4 rows of 16 per group of 16 lanes, column by column.
extern "C" __global__ void turn16(short* out) {
    __shared__ short tile[256];
    for (int k = 0; k < 4; k++) tile[thread_x() * 4 + k] = (short)(thread_x() * 4 + k);
    __builtin_amdgcn_s_barrier();
    short4 got = __builtin_amdgcn_ds_read_tr16_b64_v4i16((LDS short4*)(tile + thread_x() * 4));
    for (int k = 0; k < 4; k++) out[thread_x() * 4 + k] = got[k];
}

extern "C" __global__ void turn8(unsigned char* out) {
    __shared__ unsigned char tile[512];
    for (int k = 0; k < 8; k++) tile[thread_x() * 8 + k] = (unsigned char)(thread_x() * 8 + k);
    __builtin_amdgcn_s_barrier();
    int2v got = __builtin_amdgcn_ds_read_tr8_b64_v2i32((LDS int2v*)(tile + thread_x() * 8));
    ((int2v*)out)[thread_x()] = got;
}

// Converts 32 numbers to E2M3 and back.
extern "C" __global__ void there_and_back(const float* in, float* out, float scale) {
    typedef float float16v __attribute__((ext_vector_type(16)));
    const float16v* from = (const float16v*)(in + thread_x() * 32);
    uint6v small = __builtin_amdgcn_cvt_scalef32_2xpk16_fp6_f32(from[0], from[1], scale);
    *(float32v*)(out + thread_x() * 32) = __builtin_amdgcn_cvt_scalef32_pk32_f32_fp6(small, scale);
}
#endif

extern "C" __global__ void sums(const unsigned long* window, const unsigned* reference, uint4v* sums) {
    sums[thread_x()] =
        __builtin_amdgcn_mqsad_u32_u8(window[thread_x()], reference[thread_x()], sums[thread_x()]);
}

// Loads bytes as fractions of 255, and stores these as 16-bit floats.
extern "C" __global__ void formats(unsigned long in, unsigned long out) {
    typedef float float4v __attribute__((ext_vector_type(4)));
    uint4v from = {(u32)in, (u32)(in >> 32) & 0xffff, 256, 0};
    uint4v to = {(u32)out, (u32)(out >> 32) & 0xffff, 512, 0};
    u32 at = thread_x() * 4, there = thread_x() * 8;
    float4v values;
    asm volatile("tbuffer_load_format_xyzw %0, %1, %2, 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM] offen\n"
                 "s_waitcnt vmcnt(0)\n"
                 "tbuffer_store_format_xyzw %0, %3, %4, 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] offen"
                 : "=&v"(values) : "v"(at), "s"(from), "v"(there), "s"(to) : "memory");
}
