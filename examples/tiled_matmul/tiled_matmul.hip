// C = A x B for square f32 matrices, tiled through LDS: the version everybody writes first.
//
// Build:  examples/build.sh tiled_matmul     (clang 22, no ROCm)
// Look:   rockhound inspect examples/tiled_matmul/tiled_matmul.gfx942.hsaco

#define TILE 32

extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1024, 1024))) void
tiled_matmul(const float* a, const float* b, float* c, int n) {
    __attribute__((shared)) static float a_tile[TILE][TILE];
    __attribute__((shared)) static float b_tile[TILE][TILE];

    const int tx = __builtin_amdgcn_workitem_id_x() % TILE;
    const int ty = __builtin_amdgcn_workitem_id_x() / TILE;
    const int row = __builtin_amdgcn_workgroup_id_y() * TILE + ty;
    const int col = __builtin_amdgcn_workgroup_id_x() * TILE + tx;

    float sum = 0.0f;
    for (int k = 0; k < n; k += TILE) {
        a_tile[tx][ty] = a[row * n + k + tx];
        b_tile[ty][tx] = b[(k + ty) * n + col];
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
#pragma unroll 8
        for (int i = 0; i < TILE; i++) sum += a_tile[i][ty] * b_tile[i][tx];
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    }
    c[row * n + col] = sum;
}
