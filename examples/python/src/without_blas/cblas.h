// The part of BLAS that triad's headers name.
// SPDX-License-Identifier: Apache-2.0
//
// The library of products has no BLAS, because oneDNN computes all its products, which are products of floats.  So
// these functions are never called.
#pragma once

#include <stdexcept>

enum CBLAS_ORDER { CblasRowMajor = 101 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112 };

template <class T>
[[noreturn]] inline void there_is_no_blas(T) {
  throw std::logic_error("a product by BLAS, expected one by oneDNN: this library has no BLAS");
}
inline void cblas_sgemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, int, int, int, float alpha, float const*, int,
                        float const*, int, float, float*, int) {
  there_is_no_blas(alpha);
}
inline void cblas_dgemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, int, int, int, double alpha, double const*, int,
                        double const*, int, double, double*, int) {
  there_is_no_blas(alpha);
}
