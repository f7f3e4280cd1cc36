// Two affine maps, with relu or gelu and then dropout between the two maps.  This is the feed-forward block of the
// layers, and the readout of the Edge Transformer.
// SPDX-License-Identifier: Apache-2.0
//
//   z = x w1' + b1,  h = drop(f(z)),  y = h w2' + b2       x (rows, in), z and h (rows, hidden), y (rows, out)
//   dx = dz w1
//   relu   dz = dy w2, scaled by the dropout, where h > 0; else 0 (h > 0 only if both relu and dropout kept the unit)
//   gelu   dz = drop'(dy w2) f'(z); forward saves z for this
#pragma once

#include "triad/core/fields.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/elementwise.hpp"

namespace triad {

/// The function f between the two maps.
enum class activation { relu, gelu };

template <class T, index_t In = dyn, index_t Hidden = dyn, index_t Out = In>
struct feed_forward {
  using input = tensor<T const, dyn, In>;  // (rows, in)
  using output = tensor<T, dyn, Out>;      // (rows, out)
  using ends_with_product = feed_forward;

  static constexpr char const* name = "feed_forward";

  linear<T, In, Hidden> inner;
  linear<T, Hidden, Out> outer;
  double dropout = 0;  // the dropout rate of h
  activation between = activation::relu;

  /// A size may be not_given if the type has this size as a template argument.
  feed_forward(index_t in, index_t hidden, index_t out, double rate = 0, activation f = activation::relu)
      : inner{extents_of<In, Hidden>(name, {"width of the input", in}, {"hidden", hidden})},
        outer{extents_of<Hidden, Out>(name, {"hidden", hidden}, {"width of the output", out})},
        dropout(dropout_rate(name, rate)),
        between(f) {}

  constexpr index_t in() const { return inner.in(); }
  constexpr index_t out() const { return outer.out(); }

  template <class S>
  struct fields {
    fields_of<linear<T, In, Hidden>, S> inner;
    fields_of<linear<T, Hidden, Out>, S> outer;
    template <class F>
    constexpr void each(F&& f) {
      f("inner", inner);
      f("outer", outer);
    }
  };
  struct saved {
    kept_factor<T, Hidden> hidden;  // (rows, hidden) h
    tensor<T, dyn, Hidden> before;  // (rows, hidden) z, or (0, hidden) with relu
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(inner, place), plan<S>(outer, place)};
  }
  saved plan_saved(arena& place, row_dims dims, keep = keep::everything) const {
    // h is rounded only with relu, because the functions after gelu compute in T.
    auto const hidden = make_factor<T, Hidden>(place, dims.rows, inner.out(), outer.out(), between == activation::relu);
    if (between == activation::relu)
      return {hidden, tensor<T, dyn, Hidden>(nullptr, extents<dyn, Hidden>(0, inner.out()))};
    return {hidden, place.make<tensor<T, dyn, Hidden>>(dims.rows, inner.out())};
  }

  /// Overwrites y, then applies `after` to y.  `after` may have the dropout and the residual of the layer that contains
  /// this block.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, kept_factor<T const, In> x, saved const& s, output y,
               epilogue<T> const& after = {}) const {
    auto const drop = hidden_dropout(c);
    if (between == activation::relu) {
      inner.forward(ex, c, w.inner, x, {}, s.hidden, {.relu = true, .dropout = drop});
    } else {
      inner.forward(ex, c, w.inner, x, {}, s.before);
      triad::dropout(ex, drop, gelu{}, s.before, s.hidden.values);
    }
    outer.forward(ex, c, w.outer, s.hidden, {}, y, after);
  }

  /// Overwrites dx, then applies `after` to dx.  `dropped` is the dropout of y if dy is the gradient of drop(y).
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, kept_factor<T const, In> x, saved const& s,
                const_view<output> dy, tensor<T, dyn, In> dx, fields<T> gradient, epilogue<T> const& after = {},
                dropout_mask dropped = {}) const {
    auto const frame = c.scratch->open();
    auto const dz = c.scratch->template make<tensor<T, dyn, Hidden>>(x.extent(0), inner.out());
    epilogue<T> gate;
    if (between == activation::relu) {
      gate.gate = as_matrix(read_only(s.hidden.values));
      gate.gate_scale = T(hidden_dropout(c).scale());
    }
    outer.backward(ex, c, w.outer, s.hidden, {}, dy, dz, gradient.outer, gate, dropped,
                   as_matrix(read_only(s.hidden.rounded)));
    if (between == activation::gelu) dropout_grad(ex, hidden_dropout(c), gelu_grad{}, s.before, dz, dz);
    inner.backward(ex, c, w.inner, x, {}, dz, dx, gradient.inner, after);
  }

 private:
  /// Returns the dropout mask of the hidden units.  forward() and backward() use the same mask.
  dropout_mask hidden_dropout(call const& c) const { return c.child(0).dropout(dropout); }
};

}  // namespace triad
