// The gradients of an affine map, one after the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/linear_grad.hpp"
#include "triad/reference/matmul.hpp"
#include "triad/reference/reduce.hpp"

namespace triad::reference {

template <class T>
std::size_t do_linear_grad_workspace(backend& ex, linear_grad_operands<T> const& o) {
  return products_of_linear_grad_workspace(ex, o);
}

template <class T>
void do_linear_grad(backend& ex, linear_grad_operands<T> const& o, workspace ws) {
  linear_grad_by_products(ex, o, ws);
}

}  // namespace triad::reference
