// C = A B^T of n x n matrices of 16-bit floats, both row-major: each wave computes 32 x 32 elements of C with matrix
// instructions of 16 x 16 x 16.
#define __global__ __attribute__((global))

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4 __attribute__((ext_vector_type(4)));

extern "C" __global__ void gemm(const _Float16* A, const _Float16* B, float* C, int n) {
    int lane = __builtin_amdgcn_workitem_id_x();
    int row = 32 * __builtin_amdgcn_workgroup_id_y(), column = 32 * __builtin_amdgcn_workgroup_id_x();
    int depth = 4 * (lane / 16);
    const _Float16* a = A + static_cast<long>(row + lane % 16) * n + depth;
    const _Float16* b = B + static_cast<long>(column + lane % 16) * n + depth;
    float4 sums[2][2] = {};
    for (int k = 0; k < n; k += 16) {
        half4 left[2], right[2];
        for (int part = 0; part < 2; part++) {
            left[part] = *reinterpret_cast<const half4*>(a + 16L * part * n + k);
            right[part] = *reinterpret_cast<const half4*>(b + 16L * part * n + k);
        }
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                sums[i][j] = __builtin_amdgcn_mfma_f32_16x16x16f16(left[i], right[j], sums[i][j], 0, 0, 0);
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            for (int e = 0; e < 4; e++) {
                C[static_cast<long>(row + 16 * i + depth + e) * n + column + 16 * j + lane % 16] = sums[i][j][e];
            }
        }
    }
}
