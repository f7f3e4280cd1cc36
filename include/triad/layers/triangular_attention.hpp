// Triangular attention with its projections.  The mathematics of the attention is in ops/triangle.hpp.
// SPDX-License-Identifier: Apache-2.0
//
//   [q k v1 v2] = x w' + b         one product: w (p d, d) stacks the projections; p = 4, or 3 if the form has no v2
//   o = triangle(q, k, v1, v2),  y = o w_o' + b_o            Edge Transformer, equations 4-9
#pragma once

#include "triad/core/fields.hpp"
#include "triad/core/views.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/projected_triangle.hpp"
#include "triad/ops/triangle.hpp"

namespace triad {

template <class T, index_t D = dyn, index_t H = dyn>
struct triangular_attention {
  using input = edge_input<T, D>;
  using output = tensor<T, dyn, D>;  // (rows, d)

  [[no_unique_address]] extents<D, H> shape;  // d, h
  triangle_form variant = triangle_form::full;
  bool bias = false;
  double dropout = 0;  // the dropout rate of the attention weights, after the softmax

  constexpr index_t width() const { return shape.extent(0); }
  constexpr index_t heads() const { return shape.extent(1); }
  constexpr index_t projections() const { return uses_right_value(variant) ? 4 : 3; }
  constexpr linear<T, D, dyn> stacked() const { return {extents<D, dyn>(width(), projections() * width()), bias}; }
  constexpr linear<T, D, D> mixer() const { return {extents<D, D>(width(), width()), bias}; }

  template <class S>
  struct fields {
    fields_of<linear<T, D, dyn>, S> stacked;  // (p d, d), (p d) or (0)
    fields_of<linear<T, D, D>, S> output;     // (d, d), (d) or (0)
    template <class F>
    constexpr void each(F&& f) {
      constexpr char const* names[4] = {"query", "key", "left_value", "right_value"};
      index_t const d = stacked.weight.extent(1);
      for (index_t p = 0; p * d < stacked.weight.extent(0); ++p) {
        bool const biased = stacked.bias.extent(0) != 0;
        f(names[p],
          fields_of<linear<T, D, D>, S>{tensor<S, D, D>(stacked.weight.data_handle() + p * d * d, extents<D, D>(d, d)),
                                        vec<S>(stacked.bias.data_handle() + (biased ? p * d : 0), biased ? d : 0)});
      }
      f("output", output);
    }
  };
  struct saved {
    tensor<T, dyn, dyn> projected;           // (rows, p d); (0, p d) if backward computes the projections again
    tensor<T, dyn, H> maximum, inverse_sum;  // (rows, h) each
    tensor<T, dyn, D> mixed;                 // (rows, d): o
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(stacked(), place), plan<S>(mixer(), place)};
  }
  /// If `keeps_projections` is false, backward() computes the projections again.
  saved plan_saved(arena& place, graph_dims dims, keep = keep::everything, bool keeps_projections = true) const {
    return {place.make<tensor<T, dyn, dyn>>(keeps_projections ? dims.rows : 0, projections() * width()),
            place.make<tensor<T, dyn, H>>(dims.rows, heads()), place.make<tensor<T, dyn, H>>(dims.rows, heads()),
            place.make<tensor<T, dyn, D>>(dims.rows, width())};
  }

  triangle_options options(call const& c, input const& in) const {
    return {variant, heads(), in.mask, in.sources, c.child(0).dropout(dropout)};
  }

  /// Splits the stacked projections (rows, p d) into q, k, v1 and v2.
  template <class S>
  triangle_projections<S> split(tensor<S, dyn, dyn> all) const {
    return split_projections(variant, as_matrix(all));
  }

  /// Overwrites s.mixed with o, the result before the output projection.  x (rows, d) is the state, instead of in.x.
  template <backend Ex>
  void mix(Ex& ex, call const& c, fields<T const> w, input const& in, kept_factor<T const, D> x, saved const& s) const {
    projected_triangle(ex, *c.scratch, options(c, in), operands(w, x, s), in.graphs,
                       triangle_statistics<T>{as_matrix(s.maximum), as_matrix(s.inverse_sum)}, as_matrix(s.mixed));
  }

  /// Computes the gradient of mix() from d_o.  x is that of mix().  Overwrites dx, then applies `after` to dx.  Adds to
  /// the gradients of the stacked projections.
  template <backend Ex>
  void mix_backward(Ex& ex, call const& c, fields<T const> w, input const& in, kept_factor<T const, D> x,
                    saved const& s, const_view<output> d_o, tensor<T, dyn, D> dx, fields<T> gradient,
                    epilogue<T> const& after = {}) const {
    projected_triangle_grad(
        ex, *c.scratch, options(c, in), operands(w, x, s), in.graphs,
        triangle_statistics<T const>{as_matrix(read_only(s.maximum)), as_matrix(read_only(s.inverse_sum))},
        as_matrix(read_only(s.mixed)), matrix<T const>(as_matrix(d_o)),
        projected_triangle_gradients<T>{as_matrix(dx), as_matrix(gradient.stacked.weight), gradient.stacked.bias,
                                        after});
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y) const {
    mix(ex, c, w, in, in.x, s);
    mixer().forward(ex, c, w.output, s.mixed, {}, y);
  }
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const d_o = c.scratch->template make<output>(in.x.extent(0), width());
    mixer().backward(ex, c, w.output, s.mixed, {}, dy, d_o, gradient.output);
    mix_backward(ex, c, w, in, in.x, s, d_o, dx, gradient);
  }

  /// Overwrites `result` with the attention weights of edge (i, j) of one graph.  `result` is (h, n), or (h, 2n) in the
  /// flat form.  Call forward() first, with memory that keeps the projections.
  template <backend Ex>
  void weights(Ex& ex, call const& c, input const& in, saved const& s, index_t graph, index_t i, index_t j,
               matrix<T> result) const {
    expect_extent("triangular_attention", "rows of the kept projections", s.projected.extent(0), in.x.extent(0));
    triangle_weights(ex, options(c, in), split(read_only(s.projected)), in.graphs, graph, i, j, result);
  }
  /// Computes the projections again if the memory does not keep them.  Call mix() with this x first.
  template <backend Ex>
  void weights(Ex& ex, call const& c, fields<T const> w, input const& in, kept_factor<T const, D> x, saved const& s,
               index_t graph, index_t i, index_t j, matrix<T> result) const {
    auto const frame = c.scratch->open();
    triangle_weights(ex, options(c, in), split(read_only(kept_projections(ex, c, w, x, s))), in.graphs, graph, i, j,
                     result);
  }

 private:
  static projected_triangle_operands<T> operands(fields<T const> w, kept_factor<T const, D> x, saved const& s) {
    bool const keeps = s.projected.extent(0) == x.extent(0);
    return {x, as_matrix(w.stacked.weight), w.stacked.bias, keeps ? s.projected : tensor<T, dyn, dyn>{}};
  }
  /// Returns the projections that mix() has computed.  If they are not kept, computes them again.
  template <backend Ex>
  tensor<T, dyn, dyn> kept_projections(Ex& ex, call const& c, fields<T const> w, kept_factor<T const, D> x,
                                       saved const& s) const {
    if (s.projected.extent(0) == x.extent(0)) return s.projected;
    auto const projected = c.scratch->template make<tensor<T, dyn, dyn>>(x.extent(0), projections() * width());
    stacked().forward(ex, c, w.stacked, x, {}, projected);
    return projected;
  }
};

}  // namespace triad
