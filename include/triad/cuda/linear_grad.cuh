// The gradients of an affine map, one after the other, by the products of the backend Ex, which may be derived.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/dropout.cuh"
#include "triad/cuda/matmul.cuh"
#include "triad/cuda/reduce.cuh"
#include "triad/ops/linear_grad.hpp"

namespace triad::cuda {

template <class T, class Ex>
std::size_t do_linear_grad_workspace(Ex& ex, linear_grad_operands<T> const& o) {
  return products_of_linear_grad_workspace(ex, o);
}

template <class T, class Ex>
void do_linear_grad(Ex& ex, linear_grad_operands<T> const& o, workspace ws) {
  linear_grad_by_products(ex, o, ws);
}

}  // namespace triad::cuda
