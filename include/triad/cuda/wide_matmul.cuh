// Products with one very wide matrix by cuBLAS, which reads the matrix without packing.  One call computes a batch of
// all whole chunks, and another call computes the rest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/matmul.cuh"
#include "triad/cuda/reduce.cuh"
#include "triad/ops/matmul.hpp"
#include "triad/ops/wide_matmul.hpp"

namespace triad::cuda {

template <class T>
std::size_t do_wide_factor_workspace(backend&, matrix<T const>, index_t) {
  return 0;
}

template <class T>
void do_wide_factor(backend&, wide_factor<T> const&) {}

template <class T>
std::size_t do_wide_matmul_workspace(backend& ex, wide_factor<T> const&, index_t used, tensor<T, dyn, dyn> y) {
  return wide_chunks_workspace(ex, used, y);
}

template <class T>
void do_wide_matmul(backend& ex, matrix<T const> x, wide_factor<T> const& factor, index_t used, vec<T const> bias,
                    tensor<T, dyn, dyn> y, workspace ws) {
  wide_by_chunks(ex, x, factor.w, used, bias, y, ws);
}

template <class T>
void do_wide_matmul_back(backend& ex, matrix<T const> dy, wide_factor<T> const& factor, index_t used, matrix<T> dx) {
  matmul_add(ex, dy, column_block(factor.w, 0, used), column_block(dx, 0, used));
}

}  // namespace triad::cuda
