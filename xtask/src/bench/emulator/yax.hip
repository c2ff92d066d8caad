// y^T A x in its plain form: each work-item sums rows of the row-major matrix, so the lanes of a wave read addresses
// that are a whole row apart. Workgroups have 64 work-items.
#define __global__ __attribute__((global))

extern "C" __global__ void yax(const double* y, const double* A, const double* x, int n, int m, double* result,
                               int items) {
    int first = 64 * __builtin_amdgcn_workgroup_id_x() + __builtin_amdgcn_workitem_id_x();
    for (int i = first; i < n; i += items) {
        double sum = 0.0;
        for (int j = 0; j < m; j++) {
            sum += A[static_cast<long>(i) * m + j] * x[j];
        }
        __hip_atomic_fetch_add(result, y[i] * sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}
