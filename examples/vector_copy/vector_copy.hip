// Copies a vector: the thread with global number `id` copies a[id] to c[id] if id < n.
//
// Built with `examples/build.sh vector_copy`; run with `rockhound profile examples/vector_copy/LAUNCH.toml`.
//
// What the counters must be follows from the code and a grid of 1,048,576 threads, 16,384 waves of 64:
// SQ_INSTS_VMEM_RD and _WR are 1 per wave, 16,384 each; every thread moves 8 bytes, which no quad of lanes can do in
// one access, so TCP_TOTAL_READ and TCP_TOTAL_WRITE are 64 per wave, 1,048,576 each, with a tag look-up per quad:
// TCP_TOTAL_CACHE_ACCESSES is 2 * 16 * 16,384 = 524,288.
__attribute__((global)) void vecCopy(const double* a, double* c, int n) {
  int id = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
           __builtin_amdgcn_workitem_id_x();
  if (id < n) c[id] = a[id];
}
