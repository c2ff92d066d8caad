// Matrix instructions in a loop: four sums of a wave, so that none waits for the one before.
typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
typedef float Float4 __attribute__((ext_vector_type(4)));

extern "C" __attribute__((global)) void products(float* out, int steps) {
  Half4 a = {1, 2, 3, 4};
  Float4 sums[4] = {};
  for (int step = 0; step < steps; step++)
    for (int i = 0; i < 4; i++) sums[i] = __builtin_amdgcn_mfma_f32_16x16x16f16(a, a, sums[i], 0, 0, 0);
  out[__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x()] =
      sums[0].x + sums[1].x + sums[2].x + sums[3].x;
}
