// A matrix product of 32 x 32 floats, 1024 workgroups of 16 threads with an element of the result each: a thread
// multiplies two pairs, and the first adds up the sixteen sums that the LDS holds.
extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(16, 16)))
void product(float *c, const float *a, const float *b) {
  __attribute__((shared, aligned(16))) static float part[16];
  int row = __builtin_amdgcn_workgroup_id_x(), column = __builtin_amdgcn_workgroup_id_y();
  int t = __builtin_amdgcn_workitem_id_x();
  part[t] = 0.0f + a[row * 32 + 2 * t] * b[64 * t + column] + a[row * 32 + 2 * t + 1] * b[64 * t + 32 + column];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (t == 0) {
    float sum = 0;
    for (int i = 0; i < 16; i++) sum += part[i];
    c[row * 32 + column] = sum;
  }
}
