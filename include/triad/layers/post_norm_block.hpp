// What follows the first sum of a post-norm layer: normalise, feed forward, add, normalise.
// SPDX-License-Identifier: Apache-2.0
//
//   u = norm1(x);  v = u + drop(feed_forward(u));  y = norm2(v)          x, u, v, y (rows, d)
//   x is a residual stream with an attention's result already added.
#pragma once

#include "triad/layers/feed_forward.hpp"
#include "triad/layers/layer_norm.hpp"
#include "triad/ops/dropout.hpp"

namespace triad {

template <class T, index_t D = dyn, index_t F = dyn>
struct post_norm_block {
  using input = tensor<T const, dyn, D>;  // (rows, d)
  using output = tensor<T, dyn, D>;       // (rows, d)

  layer_norm_layer<T, D> norm;  // the shape of both norms
  feed_forward<T, D, F, D> block;
  double dropout = 0;  // of the feed-forward block's result

  post_norm_block(index_t width, index_t hidden, double rate = 0, activation f = activation::relu)
      : norm{extents_of<D>("post_norm_block", {"width", width})}, block(width, hidden, width, rate, f), dropout(rate) {}

  constexpr index_t width() const { return norm.shape.extent(0); }

  template <class S>
  struct fields {
    fields_of<layer_norm_layer<T, D>, S> norm1;
    fields_of<triad::feed_forward<T, D, F, D>, S> feed_forward;
    fields_of<layer_norm_layer<T, D>, S> norm2;
    template <class V>
    constexpr void each(V&& f) {
      f("norm1", norm1);
      f("feed_forward", feed_forward);
      f("norm2", norm2);
    }
  };
  struct saved {
    typename layer_norm_layer<T, D>::saved norm1;
    tensor<T, dyn, D> u;  // (rows, d)
    typename feed_forward<T, D, F, D>::saved block;
    tensor<T, dyn, D> v;  // (rows, d)
    typename layer_norm_layer<T, D>::saved norm2;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(norm, place), plan<S>(block, place), plan<S>(norm, place)};
  }
  saved plan_saved(arena& place, row_dims dims, keep kept = keep::everything) const {
    return {norm.plan_saved(place, dims), place.make<output>(dims.rows, width()), block.plan_saved(place, dims, kept),
            place.make<output>(dims.rows, width()), norm.plan_saved(place, dims)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, output y) const {
    norm.forward(ex, c, w.norm1, x, s.norm1, s.u);
    epilogue<T> add;
    add.dropout = c.child(1).dropout(dropout);
    add.residual = as_matrix(read_only(s.u));
    block.forward(ex, c.child(0), w.feed_forward, s.u, s.block, s.v, add);
    norm.forward(ex, c, w.norm2, s.v, s.norm2, y);
  }
  /// Overwrites dx, which may not be dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, const_view<output> dy, output dx,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const state = [&] { return c.scratch->template make<output>(dy.extent(0), width()); };
    auto const dv = state(), dropped = state();
    norm.backward(ex, c, w.norm2, s.v, s.norm2, dy, dv, gradient.norm2);
    epilogue<T> add;
    add.residual = as_matrix(read_only(dv));
    block.backward(ex, c.child(0), w.feed_forward, s.u, s.block,
                   undropped(ex, c.child(1).dropout(dropout), read_only(dv), dropped), dx, gradient.feed_forward, add);
    norm.backward(ex, c, w.norm1, x, s.norm1, dx, dx, gradient.norm1);
  }
};

}  // namespace triad
