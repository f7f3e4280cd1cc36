// Code that the stand-ins for cuBLAS and cublasLt share. It rounds factors in device memory as required, and multiplies
// them with the host's BLAS.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cblas.h>
#include <cublas_v2.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/cuda_on_host/engine.hpp"
#include "tests/cuda_on_host/runtime.hpp"

namespace triad::cuda_on_host {

enum class rounding { none, tf32, bf16 };

/// Rounds to a mantissa of 10 bits, ties away from zero, or of 7 bits, ties to even. Keeps infinities and NaN.
inline float rounded(float x, rounding how) {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  if (how == rounding::none || (bits & 0x7f800000u) == 0x7f800000u) return x;
  if (how == rounding::tf32) return std::bit_cast<float>((bits + 0x1000u) & ~0x1fffu);
  return std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1u)) & ~0xffffu);
}
inline double rounded(double x, rounding) { return x; }

inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha, float const* a, int lda,
                 float const* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasColMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha, double const* a, int lda,
                 double const* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasColMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/// A factor in memory: `rows` values of each column, column by column.
template <class T>
struct operand {
  T* data;
  int rows, columns, leading;
  long long step;

  T* at(int i) const { return data + i * step; }
  void check(int i, char const* name) const {
    if (rows == 0 || columns == 0 || settings_in_use().unified) return;
    auto const elements =
        static_cast<std::size_t>(columns - 1) * static_cast<std::size_t>(leading) + static_cast<std::size_t>(rows);
    if (!on_device(at(i), elements * sizeof(T)))
      throw fault(std::string("cuBLAS: matrix ") + std::to_string(i) + " of " + name +
                  " is not, or not all of it, in device memory");
  }
};

template <class T>
struct product {
  cublasOperation_t ta, tb;
  int m, n, k, count;
  T alpha, beta;
  operand<T const> a, b;
  operand<T> c;
  rounding how;

  static CBLAS_TRANSPOSE turned(cublasOperation_t t) { return t == CUBLAS_OP_N ? CblasNoTrans : CblasTrans; }

  /// Rounds a factor into `packed`, and returns the rounded factor. If there is no rounding, returns `x`.
  static operand<T const> round(operand<T const> x, int i, std::vector<T>& packed, rounding how) {
    if (how == rounding::none) return {x.at(i), x.rows, x.columns, x.leading, 0};
    packed.clear();
    for (int column = 0; column < x.columns; ++column)
      for (int row = 0; row < x.rows; ++row)
        packed.push_back(rounded(x.at(i)[static_cast<long long>(column) * x.leading + row], how));
    return {packed.data(), x.rows, x.columns, x.rows > 0 ? x.rows : 1, 0};
  }

  /// Computes product number i into `to`.
  void multiply(int i, T* to, int leading) const {
    std::vector<T> pa, pb;
    auto const left = round(a, i, pa, how), right = round(b, i, pb, how);
    gemm(turned(ta), turned(tb), m, n, k, alpha, left.data, left.leading, right.data, right.leading, beta, to, leading);
  }
  void operator()() const {
    for (int i = 0; i < count; ++i) {
      a.check(i, "the left factors");
      b.check(i, "the right factors");
      c.check(i, "the products");
      multiply(i, c.at(i), c.leading);
    }
  }
};

/// Sets `how` to the rounding of float32 factors. Returns false if the stand-in does not support the compute type.
inline bool rounding_of(cublasComputeType_t compute, rounding& how) {
  switch (compute) {
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      how = rounding::none;
      return true;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      how = rounding::tf32;
      return true;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      how = rounding::bf16;
      return true;
    default:
      return false;
  }
}

}  // namespace triad::cuda_on_host
