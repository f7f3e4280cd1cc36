// Two affine maps with relu and dropout between them: the feed-forward block, and the readout of the Edge Transformer.
// SPDX-License-Identifier: Apache-2.0
//
//   h = drop(relu(x w1' + b1)),  y = h w2' + b2       x (rows, in), h (rows, hidden), y (rows, out)
//   dz = (dy w2) gated by h > 0: the sign of h is relu and dropout mask at once;  dx = dz w1
#pragma once

#include "triad/layers/linear.hpp"

namespace triad {

template <class T, index_t In = dyn, index_t Hidden = dyn, index_t Out = In>
struct feed_forward {
  using input = tensor<T const, dyn, In>;  // (rows, in)
  using output = tensor<T, dyn, Out>;      // (rows, out)

  linear<T, In, Hidden> inner;
  linear<T, Hidden, Out> outer;
  double dropout = 0;  // of h

  feed_forward(index_t in, index_t hidden, index_t out, double rate = 0)
      : inner{extents<In, Hidden>(in, hidden)}, outer{extents<Hidden, Out>(hidden, out)}, dropout(rate) {}

  constexpr index_t in() const { return inner.in(); }
  constexpr index_t out() const { return outer.out(); }

  template <class S>
  struct fields {
    typename linear<T, In, Hidden>::template fields<S> inner;
    typename linear<T, Hidden, Out>::template fields<S> outer;
    template <class F>
    constexpr void each(F&& f) {
      f("inner", inner);
      f("outer", outer);
    }
  };
  struct saved {
    tensor<T, dyn, Hidden> hidden;  // (rows, hidden)
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const first = inner.template plan_params<S>(place);
    return {first, outer.template plan_params<S>(place)};
  }
  saved plan_saved(arena& place, row_dims dims, keep = keep::everything) const {
    return {place.make<tensor<T, dyn, Hidden>>(dims.rows, inner.out())};
  }

  /// `after` follows the second map: dropout and residual of the block around this one.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, output y, epilogue<T> const& after = {}) const {
    epilogue<T> activate;
    activate.relu = true;
    activate.dropout = c.child(0).dropout(dropout);
    inner.forward(ex, c, w.inner, x, {}, s.hidden, activate);
    outer.forward(ex, c, w.outer, s.hidden, {}, y, after);
  }

  /// Overwrites dx with the gradient, then applies `after` to it.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, const_view<output> dy, tensor<T, dyn, In> dx,
                fields<T> gradient, epilogue<T> const& after = {}) const {
    auto const frame = c.scratch->open();
    auto const dz = c.scratch->template make<tensor<T, dyn, Hidden>>(x.extent(0), inner.out());
    epilogue<T> gate;
    gate.gate = as_matrix(read_only(s.hidden));
    gate.gate_scale = T(c.dropout(dropout).scale());
    outer.backward(ex, c, w.outer, s.hidden, {}, dy, dz, gradient.outer, gate);
    inner.backward(ex, c, w.inner, x, {}, dz, dx, gradient.inner, after);
  }
};

}  // namespace triad
