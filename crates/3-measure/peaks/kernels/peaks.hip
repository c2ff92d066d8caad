// Kernels that do one thing as fast as a GPU can; build.sh makes the code objects beside this file.
//
// Every kernel takes the number of passes it does, so that two runs of different length tell what a pass costs without what
// stands before and after. Results are written only if they have a value that they cannot have: the compiler does not know.
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256)))
#define ONE_WAVE extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64)))
#define GLOBAL __attribute__((address_space(1)))
#define DEVICE static inline __attribute__((device, always_inline))

typedef unsigned int u32;
typedef float float2_ __attribute__((ext_vector_type(2)));
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef float float16_ __attribute__((ext_vector_type(16)));
typedef double double4_ __attribute__((ext_vector_type(4)));
typedef _Float16 half2_ __attribute__((ext_vector_type(2)));
typedef _Float16 half4_ __attribute__((ext_vector_type(4)));
typedef _Float16 half8_ __attribute__((ext_vector_type(8)));
typedef short short2_ __attribute__((ext_vector_type(2)));
typedef short short4_ __attribute__((ext_vector_type(4)));
typedef __bf16 bfloat8_ __attribute__((ext_vector_type(8)));
typedef int int4_ __attribute__((ext_vector_type(4)));
typedef int int8_ __attribute__((ext_vector_type(8)));
typedef int int16_ __attribute__((ext_vector_type(16)));

DEVICE u32 local() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE u32 group() { return __builtin_amdgcn_workgroup_id_x(); }

// Reads `span` items of 16 bytes from where the workgroup begins, `passes` times: it begins `step` items after the one before,
// and begins again after `window` items. Item `i` stands in place `i & mask`.
KERNEL void read(const float4_* from, float4_* to, u32 span, u32 step, u32 window, u32 mask, u32 passes) {
    const float4_* at = from + static_cast<unsigned long>(group()) * step % window;
    float4_ sum = {};
    for (u32 pass = 0; pass < passes; pass++) {
        // What was read before may have changed.
        __asm__ volatile("" ::: "memory");
#pragma unroll 4
        for (u32 i = local(); i < span; i += 256) {
            sum += at[i & mask];
        }
    }
    if (sum.x == 1.5f) to[local()] = sum;
}

// Every workgroup adds `span` items of 16 bytes of its own.
KERNEL void triad(const float4_* a, const float4_* b, float4_* to, u32 span) {
    unsigned long first = static_cast<unsigned long>(group()) * span;
#pragma unroll 4
    for (u32 i = local(); i < span; i += 256) to[first + i] = a[first + i] + 3.0f * b[first + i];
}

// Reads 16 bytes of the LDS per work-item and pass, neighbours beside each other.
KERNEL void local_read(float4_* to, u32 passes) {
    __attribute__((shared)) static float4_ data[1024];
    for (u32 i = local(); i < 1024; i += 256) data[i] = float4_{0.0f, 0.0f, 0.0f, static_cast<float>(i)};
    __builtin_amdgcn_s_barrier();
    float4_ sum = {};
    for (u32 pass = 0; pass < passes; pass++) {
        __asm__ volatile("" ::: "memory");
#pragma unroll
        for (u32 i = 0; i < 4; i++) sum += data[256 * i + local()];
    }
    if (sum.x == 1.5f) to[local()] = sum;
}

// One work-item follows `passes` addresses, each of which stands where the one before leads.
ONE_WAVE void chase(const unsigned long* start, unsigned long* to, u32 passes) {
    if (local() != 0) return;
    unsigned long at = reinterpret_cast<unsigned long>(start);
    // In a vector register, so that the vector memory path is taken.
    __asm__("" : "+v"(at));
#pragma unroll 16
    for (u32 pass = 0; pass < passes; pass++) at = *reinterpret_cast<const GLOBAL unsigned long*>(at);
    if (at == 1) *to = at;
}

// Eight multiply-adds per pass that do not wait for each other.
template <class T> DEVICE void multiply_add(T* to, T factor, u32 passes) {
    T sums[8];
    for (u32 i = 0; i < 8; i++) sums[i] = factor * static_cast<T>(i);
#pragma unroll 4
    for (u32 pass = 0; pass < passes; pass++) {
#pragma unroll
        for (u32 i = 0; i < 8; i++) sums[i] = __builtin_elementwise_fma(sums[i], factor, factor);
    }
    for (u32 i = 1; i < 8; i++) sums[0] += sums[i];
    to[group() * 256 + local()] = sums[0];
}

KERNEL void fma_f16(half2_* to, float factor, u32 passes) {
    _Float16 half = static_cast<_Float16>(factor);
    multiply_add<half2_>(to, half2_{half, half}, passes);
}
KERNEL void fma_f32(float2_* to, float factor, u32 passes) { multiply_add<float2_>(to, float2_{factor, factor}, passes); }
// One operation a lane and instruction, as most code has it.
KERNEL void fma_f32_plain(float* to, float factor, u32 passes) {
    float sums[8];
    for (u32 i = 0; i < 8; i++) sums[i] = factor * static_cast<float>(i);
    for (u32 pass = 0; pass < passes; pass += 4) {
#pragma unroll
        for (u32 i = 0; i < 32; i++) __asm__ volatile("v_fmac_f32 %0, %1, %1" : "+v"(sums[i % 8]) : "v"(factor));
    }
    for (u32 i = 1; i < 8; i++) sums[0] += sums[i];
    to[group() * 256 + local()] = sums[0];
}
KERNEL void fma_f64(double* to, float factor, u32 passes) { multiply_add<double>(to, factor, passes); }

// Four matrix instructions per pass that do not wait for each other.
#define MATRIX(NAME, SUMS, OPERAND, INSTRUCTION)                                            \
    KERNEL void NAME(SUMS* to, OPERAND factor, u32 passes) {                                \
        SUMS sums[4] = {};                                                                  \
        for (u32 pass = 0; pass < passes; pass++) {                                         \
            _Pragma("unroll") for (u32 i = 0; i < 4; i++) sums[i] = INSTRUCTION;            \
        }                                                                                   \
        to[group() * 256 + local()] = sums[0] + sums[1] + sums[2] + sums[3];                \
    }

#if !defined(__gfx908__)
MATRIX(mfma_f64, double4_, double, __builtin_amdgcn_mfma_f64_16x16x4f64(factor, factor, sums[i], 0, 0, 0))
#endif
MATRIX(mfma_f32, float16_, float, __builtin_amdgcn_mfma_f32_32x32x2f32(factor, factor, sums[i], 0, 0, 0))
#if defined(__gfx950__)
MATRIX(mfma_f16, float16_, half8_, __builtin_amdgcn_mfma_f32_32x32x16_f16(factor, factor, sums[i], 0, 0, 0))
MATRIX(mfma_bf16, float16_, bfloat8_, __builtin_amdgcn_mfma_f32_32x32x16_bf16(factor, factor, sums[i], 0, 0, 0))
MATRIX(mfma_i8, int16_, int4_, __builtin_amdgcn_mfma_i32_32x32x32_i8(factor, factor, sums[i], 0, 0, 0))
MATRIX(mfma_f8, float16_, int8_, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(factor, factor, sums[i], 0, 0, 0, 0, 0, 0))
MATRIX(mfma_f4, float16_, int8_, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(factor, factor, sums[i], 4, 4, 0, 0, 0, 0))
#else
MATRIX(mfma_f16, float16_, half4_, __builtin_amdgcn_mfma_f32_32x32x8f16(factor, factor, sums[i], 0, 0, 0))
#if defined(__gfx908__)
MATRIX(mfma_bf16, float16_, short2_, __builtin_amdgcn_mfma_f32_32x32x4bf16(factor, factor, sums[i], 0, 0, 0))
#else
MATRIX(mfma_bf16, float16_, short4_, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(factor, factor, sums[i], 0, 0, 0))
#endif
#if defined(__gfx942__)
MATRIX(mfma_i8, int16_, long, __builtin_amdgcn_mfma_i32_32x32x16_i8(factor, factor, sums[i], 0, 0, 0))
MATRIX(mfma_f8, float16_, long, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(factor, factor, sums[i], 0, 0, 0))
#else
MATRIX(mfma_i8, int16_, int, __builtin_amdgcn_mfma_i32_32x32x8i8(factor, factor, sums[i], 0, 0, 0))
#endif
#endif
