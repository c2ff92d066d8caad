// Transposes a matrix of floats through the LDS; `tune.toml` searches the macros below.
//
//   rockhound tune examples/tune/tune.toml --budget 40
//
// Written without the HIP headers, so that clang builds it where there is no ROCm.

#ifndef TILE
#define TILE 32 // columns of a workgroup's tile, and of a row of work-items
#endif
#ifndef ROWS
#define ROWS 8 // rows of work-items; each moves TILE / ROWS elements
#endif
#ifndef PADDING
#define PADDING 0 // floats behind each row of the tile in the LDS
#endif
#ifndef SWAP
#define SWAP 0 // 1: neighbouring workgroups go down a column of the source
#endif

extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(TILE * ROWS, TILE * ROWS))) void
transpose(const float *in, float *out, int n) {
  __attribute__((shared)) static float tile[TILE][TILE + PADDING];
  const int column = __builtin_amdgcn_workitem_id_x() % TILE;
  const int first = __builtin_amdgcn_workitem_id_x() / TILE;
  int bx = __builtin_amdgcn_workgroup_id_x();
  int by = __builtin_amdgcn_workgroup_id_y();
  if (SWAP) {
    const int other = bx;
    bx = by;
    by = other;
  }
#pragma unroll
  for (int row = first; row < TILE; row += ROWS) tile[row][column] = in[(by * TILE + row) * n + bx * TILE + column];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
#pragma unroll
  for (int row = first; row < TILE; row += ROWS) out[(bx * TILE + row) * n + by * TILE + column] = tile[column][row];
}
