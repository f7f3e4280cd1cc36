// Biases of heads, directly from their definition in ops/head_bias.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/head_bias.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_head_bias_add(backend&, tensor<T const, dyn, dyn> s, vec<T const> b, tensor<T, dyn, dyn> y) {
  index_t const heads = s.extent(1), k = y.extent(1) / heads;
  for (index_t r = 0; r < y.extent(0); ++r)
    for (index_t h = 0; h < heads; ++h)
      for (index_t e = 0; e < k; ++e) y(r, h * k + e) += s(r, h) * b(h * k + e);
}

/// Computes ds.  Overwrites `measured` with s dy.  The caller adds the column sums of `measured` to db.
template <class T>
void do_head_bias_grad(backend&, tensor<T const, dyn, dyn> s, vec<T const> b, tensor<T const, dyn, dyn> dy,
                       tensor<T, dyn, dyn> ds, tensor<T, dyn, dyn> measured) {
  index_t const heads = s.extent(1), k = dy.extent(1) / heads;
  for (index_t r = 0; r < dy.extent(0); ++r)
    for (index_t h = 0; h < heads; ++h) {
      ds(r, h) = T(0);
      for (index_t e = 0; e < k; ++e) {
        ds(r, h) += dy(r, h * k + e) * b(h * k + e);
        measured(r, h * k + e) = s(r, h) * dy(r, h * k + e);
      }
    }
}

}  // namespace triad::TRIAD_REFERENCE
