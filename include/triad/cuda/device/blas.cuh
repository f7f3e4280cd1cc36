// cuBLAS: its handle, and products of column-major matrices in float and double.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <string>
#include <type_traits>
#include <utility>

#include "triad/core/mdspan.hpp"
#include "triad/cuda/device/status.cuh"

namespace triad::cuda {

inline void check(cublasStatus_t status, char const* doing, char const* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (status != CUBLAS_STATUS_SUCCESS) detail::failed("cuBLAS", doing, cublasGetStatusString(status), file, line);
}

/// The precision of the factors of float products and scores.  Sums are always in float32.  Products of double are
/// computed in double.
enum class arithmetic {
  float32,  // exact factors: the relative error of each product is about 1e-7
  tf32x3,   // each factor is split into two parts of 10 bits, three products: about 3e-7
  tf32,     // 10 bits: about 5e-4
  f16,      // products as in tf32; queries, keys and values of triangular attention in IEEE binary16: about 1e-3
  bf16,     // 7 bits: about 4e-3
};

/// A cuBLAS handle for one stream.  The handle has its own workspace, because cuBLAS would otherwise allocate a
/// workspace while a CUDA graph is captured.
class blas_context {
 public:
  blas_context() = default;
  explicit blas_context(cudaStream_t stream) {
    check(cublasCreate(&handle_), "creating a cuBLAS handle");
    try {
      check(cudaMalloc(&workspace_, workspace_bytes), "allocating cuBLAS's workspace");
      queue_in(stream);
    } catch (...) {
      close();
      throw;
    }
  }
  blas_context(blas_context&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), workspace_(std::exchange(other.workspace_, nullptr)) {}
  blas_context& operator=(blas_context&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(workspace_, other.workspace_);
    return *this;
  }
  ~blas_context() { close(); }

  /// Queues later products in another stream.
  void queue_in(cudaStream_t stream) {
    check(cublasSetStream(handle_, stream), "giving cuBLAS its stream");  // also takes cuBLAS's workspace away
    check(cublasSetWorkspace(handle_, workspace_, workspace_bytes), "giving cuBLAS its workspace");
  }

  cublasHandle_t handle() const { return handle_; }
  void* workspace() const { return workspace_; }
  std::size_t workspace_size() const { return workspace_bytes; }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // the size that cuBLAS recommends on sm_90

  void close() noexcept {
    if (handle_) (void)cublasDestroy(handle_);
    if (workspace_) (void)cudaFree(workspace_);
    handle_ = nullptr;
    workspace_ = nullptr;
  }

  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
};

/// A matrix, or a batch of matrices that are `step` elements apart, as cuBLAS reads it.  Successive columns of a matrix
/// are `leading` elements apart.
template <class T>
struct blas_operand {
  T* data = nullptr;
  bool turned = false;  // whether the factor is the transpose of this matrix
  int leading = 1;
  long long step = 0;
};

/// The sizes of c (m, n) = a b with k terms in each sum, for `count` products.
struct blas_size {
  int m, n, k, count = 1;
};

namespace detail {

template <class T>
cublasComputeType_t compute_type(arithmetic how) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "triad: products on a device are in float or in double");
  if constexpr (std::is_same_v<T, double>) return CUBLAS_COMPUTE_64F;
  switch (how) {
    case arithmetic::tf32:
    case arithmetic::f16:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case arithmetic::bf16:
      return CUBLAS_COMPUTE_32F_FAST_16BF;
    case arithmetic::tf32x3:  // cuBLAS has no such mode, so cuda/matmul.cuh uses products in tf32
    case arithmetic::float32:
      break;
  }
  return CUBLAS_COMPUTE_32F;  // in the handle's default mode: no TF32, unless NVIDIA_TF32_OVERRIDE sets it
}

}  // namespace detail

/// Computes c = a b + beta c.  All matrices are column-major, and c is not transposed.  If beta is 0, the old c is
/// ignored, even if it is NaN.
template <class T>
void gemm(blas_context const& blas, arithmetic how, blas_size s, blas_operand<T const> a, blas_operand<T const> b,
          T beta, blas_operand<T> c) {
  constexpr auto type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
  auto const compute = detail::compute_type<T>(how);
  auto const ta = a.turned ? CUBLAS_OP_T : CUBLAS_OP_N, tb = b.turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  T const alpha = 1;
  if (s.count == 1)
    check(cublasGemmEx(blas.handle(), ta, tb, s.m, s.n, s.k, &alpha, a.data, type, a.leading, b.data, type, b.leading,
                       &beta, c.data, type, c.leading, compute, CUBLAS_GEMM_DEFAULT),
          "multiplying matrices");
  else
    check(cublasGemmStridedBatchedEx(blas.handle(), ta, tb, s.m, s.n, s.k, &alpha, a.data, type, a.leading, a.step,
                                     b.data, type, b.leading, b.step, &beta, c.data, type, c.leading, c.step, s.count,
                                     compute, CUBLAS_GEMM_DEFAULT),
          "multiplying a batch of matrices");
}

}  // namespace triad::cuda
