// The kernel of the crate's README: out[i] = factor * in[i].
extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void
scale(float *out, const float *in, float factor, unsigned n) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < n)
    out[i] = factor * in[i];
}
