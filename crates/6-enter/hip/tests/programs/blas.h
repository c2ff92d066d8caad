// Prototypes of the functions that `blas.cpp` calls, written after the public documentation of rocBLAS,
// hipBLAS and hipBLASLt. Handles and enumerations are plain numbers here, as they are in a call.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {
int rocblas_create_handle(void **);
int rocblas_destroy_handle(void *);
int rocblas_set_stream(void *, hipStream_t);
int rocblas_set_pointer_mode(void *, int);
const char *rocblas_status_to_string(int);
int rocblas_set_vector(int, int, const void *, int, void *, int);
int rocblas_get_matrix(int, int, int, const void *, int, void *, int);
int rocblas_sgemm(void *, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int rocblas_dgemm(void *, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int rocblas_cgemm(void *, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int rocblas_zgemm(void *, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int rocblas_hgemm(void *, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
int rocblas_sgemm_batched(void *, int, int, int, int, int, const float *, const float *const *, int, const float *const *, int,
                          const float *, float *const *, int, int);
int rocblas_sgemm_strided_batched_64(void *, int, int, int64_t, int64_t, int64_t, const float *, const float *, int64_t, int64_t,
                                     const float *, int64_t, int64_t, const float *, float *, int64_t, int64_t, int64_t);
int rocblas_gemm_ex(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                    const void *, const void *, int, int, void *, int, int, int, int, int32_t, uint32_t);
int rocblas_saxpy(void *, int, const float *, const float *, int, float *, int);
int rocblas_dscal(void *, int, const double *, double *, int);
int rocblas_sdot(void *, int, const float *, int, const float *, int, float *);
int rocblas_zdotc(void *, int, const void *, int, const void *, int, void *);
int rocblas_scnrm2(void *, int, const void *, int, float *);
int rocblas_dasum(void *, int, const double *, int, double *);
int rocblas_isamax(void *, int, const float *, int, int *);
int rocblas_sgemv(void *, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int);
int rocblas_sger(void *, int, int, const float *, const float *, int, const float *, int, float *, int);
int rocblas_dsyrk(void *, int, int, int, int, const double *, const double *, int, const double *, double *, int);
int rocblas_dtrsm(void *, int, int, int, int, int, int, const double *, const double *, int, double *, int);
int rocblas_sgeam(void *, int, int, int, int, const float *, const float *, int, const float *, const float *, int, float *, int);
int rocblas_strmm(void *, int, int, int, int, int, int, const float *, const float *, int, const float *, int, float *, int);

int hipblasCreate(void **);
int hipblasDestroy(void *);
int hipblasSgemm(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int);
int hipblasGemmEx(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                  const void *, void *, int, int, int, int);
int hipblasGemmStridedBatchedEx(void *, int, int, int, int, int, const void *, const void *, int, int, int64_t, const void *,
                                int, int, int64_t, const void *, void *, int, int, int64_t, int, int, int);
int hipblasSdgmm(void *, int, int, int, const float *, int, const float *, int, float *, int);

int hipblasLtCreate(void **);
int hipblasLtDestroy(void *);
int hipblasLtMatrixLayoutCreate(void **, int, uint64_t, uint64_t, int64_t);
int hipblasLtMatmulDescCreate(void **, int, int);
int hipblasLtMatmulDescSetAttribute(void *, int, const void *, size_t);
int hipblasLtMatmulPreferenceCreate(void **);
int hipblasLtMatmulAlgoGetHeuristic(void *, void *, void *, void *, void *, void *, void *, int, void *, int *);
int hipblasLtMatmul(void *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *, void *,
                    void *, void *, const void *, void *, size_t, hipStream_t);
}
