// The second part of a post-norm layer.  The first part ends with the residual sum of the attention.
// SPDX-License-Identifier: Apache-2.0
//
//   u = norm1(x);  v = u + drop(feed_forward(u));  y = norm2(v)          x, u, v, y (rows, d)
// x is the residual sum: the result of the attention has already been added.
#pragma once

#include "triad/core/sizes.hpp"
#include "triad/layers/feed_forward.hpp"
#include "triad/layers/sublayer.hpp"

namespace triad {

template <class T, index_t D = dyn, index_t F = dyn>
struct post_norm_block {
  using input = tensor<T const, dyn, D>;  // (rows, d)
  using output = tensor<T, dyn, D>;       // (rows, d)
  using block_type = sublayer<T, triad::feed_forward<T, D, F, D>, D>;

  layer_norm_layer<T, D> norm;  // norm1; feed_forward and norm2 are in `block`
  block_type block;

  post_norm_block(index_t width, index_t hidden, double rate = 0, activation f = activation::relu)
      : norm{extents_of<D>("post_norm_block", {"width", width})},
        block{{width, hidden, width, rate, f}, norm, rate, norm_position::after} {}

  constexpr index_t width() const { return norm.width(); }

  template <class S>
  struct fields {
    fields_of<layer_norm_layer<T, D>, S> norm1;
    fields_of<block_type, S> block;
    template <class V>
    constexpr void each(V&& f) {
      f("norm1", norm1);
      f("feed_forward", block.branch);
      f("norm2", block.norm);
    }
  };
  struct saved {
    typename layer_norm_layer<T, D>::saved norm;
    output u;  // (rows, d)
    typename block_type::saved block;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(norm, place), plan<S>(block, place)};
  }
  saved plan_saved(arena& place, row_dims dims, keep kept = keep::everything) const {
    return {norm.plan_saved(place, dims), place.make<output>(dims.rows, width()), block.plan_saved(place, dims, kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, output y) const {
    norm.forward(ex, c, w.norm1, x, s.norm, s.u);
    block.forward(ex, c, w.block, s.u, s.block, y);
  }
  /// Overwrites dx, which must not be dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, const_view<output> dy, output dx,
                fields<T> gradient) const {
    block.backward(ex, c, w.block, s.u, s.block, dy, dx, gradient.block);
    norm.backward(ex, c, w.norm1, x, s.norm, dx, dx, gradient.norm1);
  }
};

}  // namespace triad
