// The cuBLAS functions that triad/cuda/device/blas.cuh calls, and similar functions, on the host. The work is queued in
// the handle's stream.
// SPDX-License-Identifier: Apache-2.0
//
// Factors are rounded to bfloat16 or TF32, as the compute type says. The host's BLAS adds in float, or in double if the
// factors are double. A device adds in another order.
#include "tests/cuda_on_host/cublas.hpp"

#include "tests/cuda_on_host/machine.hpp"

extern "C" void openblas_set_num_threads(int) __attribute__((weak));

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t mode = CUBLAS_DEFAULT_MATH;
  bool workspace = false;  // whether the caller has given one since the last cublasSetStream
};

namespace triad::cuda_on_host {

namespace {

template <class T>
cublasStatus_t queue(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                     T const* alpha, void const* a, int lda, long long sa, void const* b, int ldb, long long sb,
                     T const* beta, void* c, int ldc, long long sc, int count, rounding how) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if ((ta != CUBLAS_OP_N && ta != CUBLAS_OP_T) || (tb != CUBLAS_OP_N && tb != CUBLAS_OP_T))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  int const rows_a = ta == CUBLAS_OP_N ? m : k, columns_a = ta == CUBLAS_OP_N ? k : m;
  int const rows_b = tb == CUBLAS_OP_N ? k : n, columns_b = tb == CUBLAS_OP_N ? n : k;
  auto const holds = [](int leading, int rows) { return leading >= 1 && leading >= rows; };
  if (m < 0 || n < 0 || k < 0 || count < 0 || alpha == nullptr || beta == nullptr || !holds(lda, rows_a) ||
      !holds(ldb, rows_b) || !holds(ldc, m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  if (!handle->workspace && handle->stream != nullptr && handle->stream->capture != nullptr)
    return CUBLAS_STATUS_EXECUTION_FAILED;                       // a rule of the stand-in: cuBLAS may allocate
  if (count > 1 && sc == 0) return CUBLAS_STATUS_INVALID_VALUE;  // the products would overlap
  operand<T const> const left{static_cast<T const*>(a), rows_a, columns_a, lda, sa},
      right{static_cast<T const*>(b), rows_b, columns_b, ldb, sb};
  product<T> const work{ta, tb, m, n, k, count, *alpha, *beta, left, right, {static_cast<T*>(c), m, n, ldc, sc}, how};
  return enqueue(handle->stream, work) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

rounding of_mode(cublasHandle_t handle) {
  return handle != nullptr && (handle->mode & 0xf) == CUBLAS_TF32_TENSOR_OP_MATH ? rounding::tf32 : rounding::none;
}

}  // namespace

}  // namespace triad::cuda_on_host

using namespace triad::cuda_on_host;

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (openblas_set_num_threads) openblas_set_num_threads(1);  // sums then have a fixed order
  *handle = new cublasContext;
  count_blas_handles(1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  count_blas_handles(-1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  handle->workspace = false;
  return CUBLAS_STATUS_SUCCESS;
}
/// The workspace is not used, but it must have the size and alignment that cuBLAS requires.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  bool const fits =
      bytes == 0 || (on_device(workspace, bytes) && reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0);
  if (handle != nullptr && fits) handle->workspace = bytes > 0;
  return fits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
char const* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "a status of cuBLAS that the stand-in never gives";
  }
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
                                          int n, int k, void const* alpha, void const* a, cudaDataType ta_type, int lda,
                                          long long sa, void const* b, cudaDataType tb_type, int ldb, long long sb,
                                          void const* beta, void* c, cudaDataType tc_type, int ldc, long long sc,
                                          int count, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  if (algorithm != CUBLAS_GEMM_DEFAULT || ta_type != tb_type || ta_type != tc_type) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (ta_type == CUDA_R_64F && compute == CUBLAS_COMPUTE_64F)
    return queue(handle, ta, tb, m, n, k, static_cast<double const*>(alpha), a, lda, sa, b, ldb, sb,
                 static_cast<double const*>(beta), c, ldc, sc, count, rounding::none);
  rounding how = rounding::none;
  if (ta_type != CUDA_R_32F || !rounding_of(compute, how)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (compute == CUBLAS_COMPUTE_32F) how = of_mode(handle);
  return queue(handle, ta, tb, m, n, k, static_cast<float const*>(alpha), a, lda, sa, b, ldb, sb,
               static_cast<float const*>(beta), c, ldc, sc, count, how);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                            void const* alpha, void const* a, cudaDataType ta_type, int lda, void const* b,
                            cudaDataType tb_type, int ldb, void const* beta, void* c, cudaDataType tc_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, ta_type, lda, 0, b, tb_type, ldb, 0, beta, c,
                                    tc_type, ldc, 0, 1, compute, algorithm);
}
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                              float const* alpha, float const* a, int lda, float const* b, int ldb, float const* beta,
                              float* c, int ldc) {
  return queue(handle, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1, of_mode(handle));
}
cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                              double const* alpha, double const* a, int lda, double const* b, int ldb,
                              double const* beta, double* c, int ldc) {
  return queue(handle, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1, rounding::none);
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
                                         int n, int k, float const* alpha, float const* a, int lda, long long sa,
                                         float const* b, int ldb, long long sb, float const* beta, float* c, int ldc,
                                         long long sc, int count) {
  return queue(handle, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count, of_mode(handle));
}
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
                                         int n, int k, double const* alpha, double const* a, int lda, long long sa,
                                         double const* b, int ldb, long long sb, double const* beta, double* c, int ldc,
                                         long long sc, int count) {
  return queue(handle, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count, rounding::none);
}
