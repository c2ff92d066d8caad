// C = A B of n x n matrices of floats, row-major, without matrix instructions: each lane computes 4 x 4 elements of C from
// loads of 16 bytes, as generators of code without tiling in LDS write it.
#define __global__ __attribute__((global))

typedef float float4 __attribute__((ext_vector_type(4)));

extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(256, 256))) void gemm(const float* A, const float* B, float* C, int n) {
    int local = __builtin_amdgcn_workitem_id_x();
    int row = 64 * __builtin_amdgcn_workgroup_id_y() + 4 * (local / 16);
    int column = 64 * __builtin_amdgcn_workgroup_id_x() + 4 * (local % 16);
    float4 sums[4] = {};
    for (int k = 0; k < n; k += 4) {
        float4 left[4], right[4];
        for (int part = 0; part < 4; part++) {
            left[part] = *reinterpret_cast<const float4*>(A + static_cast<long>(row + part) * n + k);
            right[part] = *reinterpret_cast<const float4*>(B + static_cast<long>(k + part) * n + column);
        }
        for (int i = 0; i < 4; i++) {
            for (int part = 0; part < 4; part++) {
                sums[i] += left[i][part] * right[part];
            }
        }
    }
    for (int i = 0; i < 4; i++) {
        *reinterpret_cast<float4*>(C + static_cast<long>(row + i) * n + column) = sums[i];
    }
}
