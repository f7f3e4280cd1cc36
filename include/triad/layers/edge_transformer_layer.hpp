// One layer of the Edge Transformer.  The layer follows the released program or the paper's equation 3, or has both
// norms inside of the residual branches.
// SPDX-License-Identifier: Apache-2.0
//
//   u1 = norm(x);  a = drop(attention(u1));     u2 = u1 + a (released)  or  x + a (paper, pre_norm)
//   u3 = norm(u2); f = drop(feed_forward(u3));  y = u3 + f (released)  or  f (paper)  or  u2 + f (pre_norm)
// All are (rows, d).
//
// If in.wanted lists edges, the steps after the triangular attention are computed only for these edges.  In this case y
// has one row for each listed edge.
//
// The graph of a causal decoder grows node by node.  A cache keeps the projections of earlier edges
// (ops/triangle_step.hpp).  Two functions compute new edges, without gradients or dropout:
//   begin    computes all edges between source nodes
//   extend   computes the edges of the newest nodes, or one wanted edge for each of these nodes
#pragma once

#include <optional>

#include "triad/core/sizes.hpp"
#include "triad/layers/feed_forward.hpp"
#include "triad/layers/layer_norm.hpp"
#include "triad/layers/triangular_attention.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/ops/triangle_step.hpp"

namespace triad {

/// Sizes and dropout rates of an Edge Transformer layer.
struct edge_transformer_layer_options {
  // d, h and the width of the feed-forward block.  not_given means the size that the type has, or one head.
  index_t width = not_given, heads = not_given, hidden = not_given;
  double dropout = 0;  // the rate for the results of both branches
  triangle_form variant = triangle_form::full;
  bool attention_bias = false;
  std::optional<double> inner_dropout = {};  // the rate for attention weights and hidden units; empty: `dropout`

  /// The dropout rate of attention weights and hidden units.
  constexpr double rate_inside() const { return inner_dropout.value_or(dropout); }
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::released>
struct edge_transformer_layer {
  using input = edge_input<T, D>;
  using output = tensor<T, dyn, D>;  // (rows, d) or (wanted, d)

  layer_norm_layer<T, D> norm;  // computes both norms
  triangular_attention<T, D, H> attention;
  feed_forward<T, D, F, D> block;
  double dropout = 0;  // the dropout rate of the results of both branches

  explicit edge_transformer_layer(edge_transformer_layer_options const& o)
      : norm{extents_of<D>("edge_transformer_layer", {"width", o.width})},
        attention{width_and_heads<D, H>("edge_transformer_layer", o.width, o.heads), o.variant, o.attention_bias,
                  dropout_rate("edge_transformer_layer", o.rate_inside())},
        block(o.width, o.hidden, o.width, o.rate_inside()),
        dropout(dropout_rate("edge_transformer_layer", o.dropout)) {}

  constexpr index_t width() const { return attention.width(); }

  template <class S>
  struct fields {
    fields_of<layer_norm_layer<T, D>, S> norm1;
    fields_of<triangular_attention<T, D, H>, S> attention;
    fields_of<layer_norm_layer<T, D>, S> norm2;
    fields_of<triad::feed_forward<T, D, F, D>, S> feed_forward;
    template <class V>
    constexpr void each(V&& f) {
      f("norm1", norm1);
      f("attention", attention);
      f("norm2", norm2);
      f("feed_forward", feed_forward);
    }
  };
  /// The values that the steps after the triangular attention save.
  struct rest {
    tensor<T, dyn, D> u2;  // (rows or wanted, d)
    typename layer_norm_layer<T, D>::saved norm2;
    kept_factor<T, D> u3;  // (rows or wanted, d)
    typename triad::feed_forward<T, D, F, D>::saved block;
  };
  struct saved : rest {
    typename layer_norm_layer<T, D>::saved norm1;
    kept_factor<T, D> u1;  // (rows, d)
    typename triangular_attention<T, D, H>::saved attention;
    tensor<T, dyn, D> kept_o, kept_u;  // (wanted, d): the rows of the wanted edges of o and of the residual, or (0, d)
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(norm, place), plan<S>(attention, place), plan<S>(norm, place), plan<S>(block, place)};
  }

  /// `wanted` is the number of edges for which y is computed.  0 means all edges.  If products round their factors and
  /// everything is kept, u1 and u3 are kept in bfloat16, and the projections of the attention are computed again.
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything, index_t wanted = 0) const {
    index_t const d = width(), out = rows_wanted(dims.rows, wanted);
    auto const state = [&](index_t rows) { return place.make<tensor<T, dyn, D>>(rows, d); };
    auto const norm1 = norm.plan_saved(place, dims);
    bool const all = kept == keep::everything;
    auto const u1 = make_factor<T, D>(place, dims.rows, d, attention.projections() * d, all);
    auto const a = attention.plan_saved(place, dims, kept, !(all && keeps_rounded<T>(place, d, d)));
    auto const kept_o = state(wanted), kept_u = state(wanted);
    return {plan_rest(place, out, kept), norm1, u1, a, kept_o, kept_u};
  }
  rest plan_rest(arena& place, index_t rows, keep kept = keep::everything) const {
    return {place.make<tensor<T, dyn, D>>(rows, width()), norm.plan_saved(place, row_dims(rows)),
            make_factor<T, D>(place, rows, width(), block.inner.out(), kept == keep::everything),
            block.plan_saved(place, row_dims(rows), kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y) const {
    auto const frame = c.scratch->open();
    auto const u1 = unrounded(*c.scratch, s.u1);
    norm.forward(ex, c, w.norm1, in.x, s.norm1, u1, s.u1.rounded);
    attention.mix(ex, c.child(0), w.attention, in, s.u1, s.attention);
    tensor<T const, dyn, D> o = s.attention.mixed;
    auto residual = goes_on(in.x, u1);
    if (in.wanted.extent(0) != 0) {
      gather_rows(ex, o, in.wanted, s.kept_o);
      gather_rows(ex, residual, in.wanted, s.kept_u);
      o = s.kept_o;
      residual = s.kept_u;
    }
    finish(ex, c, w, o, residual, s, y);
  }
  /// Runs the steps after the triangular attention.  Overwrites y.
  template <backend Ex>
  void finish(Ex& ex, call const& c, fields<T const> w, tensor<T const, dyn, D> o, tensor<T const, dyn, D> residual,
              rest const& s, output y) const {
    attention.mixer().forward(ex, c, w.attention.output, o, {}, s.u2,
                              {.dropout = c.child(1).dropout(dropout), .residual = as_matrix(residual)});
    auto const frame = c.scratch->open();
    auto const u3 = unrounded(*c.scratch, s.u3);
    norm.forward(ex, c, w.norm2, s.u2, s.norm2, u3, s.u3.rounded);
    block.forward(ex, c.child(2), w.feed_forward, s.u3, s.block, y,
                  {.dropout = c.child(3).dropout(dropout), .residual = second_residual(s, u3)});
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const d = width(), rows = in.x.extent(0), out = dy.extent(0);
    auto const state = [&](index_t n) { return scratch.make<tensor<T, dyn, D>>(n, d); };

    // The gradient of y = [u3 or u2 +] drop(feed_forward(u3)).
    auto const du = state(out);
    block.backward(ex, c.child(2), w.feed_forward, s.u3, s.block, dy, du, gradient.feed_forward,
                   {.residual = in_form(form::released, dy)}, c.child(3).dropout(dropout));
    // From the gradient of u3 to the gradient of u2.
    norm.backward(ex, c, w.norm2, s.u2, s.norm2, du, du, gradient.norm2, in_form(form::pre_norm, dy));
    // The gradient of u2 = residual + drop(o w').
    bool const pruned = in.wanted.extent(0) != 0;
    auto const d_o = state(rows), d_residual = pruned ? state(rows) : du;
    auto const d_kept = pruned ? state(out) : d_o;
    attention.mixer().backward(ex, c, w.attention.output, pruned ? s.kept_o : s.attention.mixed, {}, read_only(du),
                               d_kept, gradient.attention.output, {}, c.child(1).dropout(dropout));
    if (pruned) {
      scatter_rows(ex, c.scratch, d_kept, in.wanted, d_o);
      scatter_rows(ex, c.scratch, du, in.wanted, d_residual);
    }
    // From the gradient of o to the gradient of u1.  The residual's gradient is added to the gradient of u1 (released)
    // or of x (paper, pre_norm).
    auto const du1 = state(rows);
    attention.mix_backward(ex, c.child(0), w.attention, in, s.u1, s.attention, d_o, du1, gradient.attention,
                           {.residual = in_form(form::released, d_residual)});
    norm.backward(ex, c, w.norm1, in.x, s.norm1, du1, dx, gradient.norm1,
                  Form == form::released ? no_matrix<T const>() : matrix<T const>(as_matrix(read_only(d_residual))));
  }

  /// Overwrites `result` with the attention weights of edge (i, j) of one graph.  Call forward() first.
  template <backend Ex>
  void attention_weights(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, index_t graph,
                         index_t i, index_t j, matrix<T> result) const {
    attention.weights(ex, c.child(0), w.attention, in, s.u1, s.attention, graph, i, j, result);
  }

  /// The number of elements that a cache has for each edge.
  constexpr index_t kept_of_edge() const { return attention.projections() * width(); }

  /// Computes the edges between source nodes from their states x (source rows, d).  Overwrites y (source rows, d),
  /// unless y is empty.  Writes the projections of x to the first rows of the cache (rows, kept_of_edge()).
  template <backend Ex>
  void begin(Ex& ex, call const& c, fields<T const> w, tensor<T const, dyn, D> x, graph_batch const& sources,
             tensor<T, dyn, dyn> cache, output y) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const rows = x.extent(0);
    auto const u1 = project(ex, c, w, x, cache, 0);
    if (y.extent(0) == 0) return;
    auto const o = scratch.make<tensor<T, dyn, D>>(rows, width());
    auto const s = plan_rest(scratch, rows, keep::nothing);
    {
      auto const inner = scratch.open();
      auto const statistic = [&] { return as_matrix(scratch.make<tensor<T, dyn, H>>(rows, attention.heads())); };
      auto const maximum = statistic(), inverse_sum = statistic();
      triangle(ex, scratch, {attention.variant, attention.heads()}, attention.split(read_only(rows_of(cache, 0, rows))),
               sources, triangle_statistics<T>{maximum, inverse_sum}, as_matrix(o));
    }
    finish(ex, c, w, o, goes_on(x, u1), s, y);
  }
  /// Computes the edges of the newest nodes.  x has the states of all edges of this step, one row for each edge.
  /// Writes the projections of x to the rows of this step in the cache.  The cache leaves out the first at.skipped
  /// rows.  If `wanted` has one edge for each slot, overwrites y (slots, d) with the results of the wanted edges.  In
  /// this case row_wanted (slots) has the row of each wanted edge in x.  Otherwise overwrites y, which has one row for
  /// each row of x.
  template <backend Ex>
  void extend(Ex& ex, call const& c, fields<T const> w, tensor<T const, dyn, D> x, edge_shells const& at,
              shell_edges wanted, vec<index_t const> row_wanted, tensor<T, dyn, dyn> cache, output y) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const out = y.extent(0), rows = at.rows(at.step);
    expect_extent("edge_transformer_layer", "states of the newest edges", x.extent(0), rows);
    auto const u1 = project(ex, c, w, x, cache, at.first_row(at.step) - at.skipped);
    auto const o = scratch.make<tensor<T, dyn, D>>(out, width());
    triangle_step(ex, scratch, attention.variant, attention.heads(), attention.split(read_only(cache)), at, wanted,
                  as_matrix(o));
    auto residual = goes_on(x, u1);
    if (wanted != shell_edges::all) {
      auto const kept = scratch.make<tensor<T, dyn, D>>(out, width());
      gather_rows(ex, residual, row_wanted, kept);
      residual = kept;
    }
    finish(ex, c, w, o, residual, plan_rest(scratch, out, keep::nothing), y);
  }

 private:
  /// Returns x if the layer has the form `which`, or else an empty view.
  static matrix<T const> in_form(form which, tensor<T const, dyn, D> x) {
    return Form == which ? matrix<T const>(as_matrix(x)) : no_matrix<T const>();
  }
  /// Returns what the feed-forward block's result is added to: u3 (released), nothing (paper) or u2 (pre_norm).
  static matrix<T const> second_residual(rest const& s, tensor<T const, dyn, D> u3) {
    return Form == form::pre_norm ? in_form(form::pre_norm, s.u2) : in_form(form::released, u3);
  }
  /// Returns the first residual: u1 (released) or x (paper, pre_norm).
  static tensor<T const, dyn, D> goes_on(tensor<T const, dyn, D> x, tensor<T const, dyn, D> u1) {
    return Form == form::released ? u1 : x;
  }

  /// Returns u1 = norm(x) in scratch memory.  Writes the projections of u1 to the cache, from row `first` on.
  template <backend Ex>
  tensor<T const, dyn, D> project(Ex& ex, call const& c, fields<T const> w, tensor<T const, dyn, D> x,
                                  tensor<T, dyn, dyn> cache, index_t first) const {
    TRIAD_EXPECTS(!c.train,
                  "edge_transformer_layer: a cache in training, expected a call with train = false: it has no dropout");
    expect_extent("edge_transformer_layer", "columns of the cache", cache.extent(1), kept_of_edge());
    TRIAD_EXPECTS(cache.extent(0) >= first + x.extent(0), "edge_transformer_layer: the cache has " +
                                                              std::to_string(cache.extent(0)) + " rows, expected " +
                                                              std::to_string(first + x.extent(0)) + " or more");
    index_t const rows = x.extent(0);
    auto const u1 = c.scratch->template make<tensor<T, dyn, D>>(rows, width());
    auto const statistics = norm.plan_saved(*c.scratch, row_dims(rows));
    norm.forward(ex, c, w.norm1, x, statistics, u1);
    attention.stacked().forward(ex, c, w.attention.stacked, u1, {}, rows_of(cache, first, rows));
    return u1;
  }
};

}  // namespace triad
