// Triangular attention of states, by the products and the triangle of the backend Ex, which may be derived.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/projected_triangle.hpp"
#include "triad/reference/linear_grad.hpp"
#include "triad/reference/matmul.hpp"
#include "triad/reference/triangle.hpp"

namespace triad::reference {

template <class T, class Ex>
std::size_t do_projected_triangle_workspace(Ex& ex, triangle_options const& options,
                                            projected_triangle_operands<T> const& x, graph_dims const& dims) {
  return parts_of_projected_triangle_workspace(ex, options, x, dims);
}

template <class T, class Ex>
std::size_t do_projected_triangle_grad_workspace(Ex& ex, triangle_options const& options,
                                                 projected_triangle_operands<T> const& x, graph_dims const& dims) {
  return parts_of_projected_triangle_grad_workspace(ex, options, x, dims);
}

template <class T, class Ex>
void do_projected_triangle(Ex& ex, triangle_options const& options, projected_triangle_operands<T> const& x,
                           graph_batch const& g, triangle_statistics<T> const& s, matrix<T> o, workspace ws) {
  projected_triangle_by_parts(ex, options, x, g, s, o, ws);
}

template <class T, class Ex>
void do_projected_triangle_grad(Ex& ex, triangle_options const& options, projected_triangle_operands<T> const& x,
                                graph_batch const& g, triangle_statistics<T const> const& s, matrix<T const> o,
                                matrix<T const> d_o, projected_triangle_gradients<T> const& to, workspace ws) {
  projected_triangle_grad_by_parts(ex, options, x, g, s, o, d_o, to, ws);
}

}  // namespace triad::reference
