// Matrix products with an epilogue and then layer normalisation of the rows, so that a backend may compute the norm
// while a row is at hand.
// SPDX-License-Identifier: Apache-2.0
//
//   c = residual + drop(gate(relu(a b + bias)))          a (m, k), b (k, n), c (m, n); ops/matmul.hpp
//   y = norm(c)                                          y (m, n); mean, rstd (m); ops/layer_norm.hpp
//
// The gradients are those of the two operations.
#pragma once

#include <utility>

#include "triad/core/backend.hpp"
#include "triad/core/kept_factor.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/layer_norm.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

/// The hook below by the hooks of products and norms, for backends that do not compute both at once.
template <class Ex, class T>
void matmul_norm_by_parts(Ex& ex, matrix<T const> a, matrix<T const> b, matrix<T> c, epilogue<T> const& e,
                          following_norm<T> const& n) {
  do_matmul(ex, a, b, c, false, e);
  do_layer_norm(ex, matrix<T const>(c), n.gain, n.bias, n.epsilon, n.y, n.mean, n.rstd);
}

/// Computes c = a b, applies the epilogue, and computes the norm e.norm of c.  Overwrites c, y, mean and rstd.  a may
/// be stored in bfloat16, if the backend rounds the factors of this product.  c must not be.
template <backend Ex, class T, index_t K, class B, index_t N>
void matmul_norm(Ex& ex, kept_factor<T const, K> const& a, B b, kept_factor<T, N> const& c, epilogue<T> e) {
  auto const n = std::exchange(e.norm, {});
  TRIAD_EXPECTS(!c.is_rounded(), "matmul_norm: c in bfloat16, expected the element type of the norm");
  matrix<T> const of_product = as_matrix(c.values);
  detail::expect_layer_norm<T>("matmul_norm", of_product, n.gain, n.bias, n.y, n.mean, n.rstd);
  if (a.is_rounded()) {
    matmul_kept(ex, a, b, c, e);
    return layer_norm(ex, c.values, n.gain, n.bias, n.epsilon, n.y, n.mean, n.rstd);
  }
  matrix<T const> const x = as_matrix(a.values), w = as_matrix(b);
  detail::expect_product<T>(x, w, of_product, e);
  if constexpr (executes<Ex>) do_matmul_norm(ex, x, w, of_product, e, n);
}

}  // namespace triad
