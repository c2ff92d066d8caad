// Thread with global number `id` copies a[id] to c[id] if id < n.
__attribute__((global)) void vecCopy(double* a, double* b, double* c, int n, int stride) {
  int id = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
           __builtin_amdgcn_workitem_id_x();
  if (id < n) c[id] = a[id];
}
