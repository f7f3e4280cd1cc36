// Relation-aware Transformers for labelled graphs.  They are baselines of the Edge Transformer.  The relations are
// fixed (RAT), or the layers update the relations (RRAT).
// SPDX-License-Identifier: Apache-2.0
//
//   relation_aware_transformer (RAT)         g(i, j) = e(label(i, j)); all layers share its keys and values
//     x_{k+1} = relation_layer(x_k, g);                    logits = readout(x_L(source), x_L(target))
//   relation_updating_transformer (RRAT)     g_0(i, j) = e(label(i, j))
//     x_{k+1}, g_{k+1} = relation_update_layer(x_k, g_k);  logits = readout(g_L(source, target))
//
// The initial node states x_0 are zero, or noise that the caller provides.  The last layer computes only the states
// that the readout reads.
#pragma once

#include <string>
#include <string_view>

#include "triad/batches/graph_queries.hpp"
#include "triad/layers/relation_update_layer.hpp"
#include "triad/models/graph_model.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

struct relation_transformer_options {
  index_t labels = 0;   // the number of rows of the embedding
  index_t targets = 0;  // the number of logits
  index_t layers = 1;
  bool tied = true;
  relation_layer_options layer{};
  bool prune = true;  // false: the last layer computes all states, as the released program does; the logits are equal
};

/// Questions about graphs, and the initial states of the graphs' nodes.
template <class T, index_t D>
struct relation_queries : graph_queries {
  tensor<T const, dyn, D> x0;  // (nodes, d); without rows, the initial states are zero

  relation_queries(graph_queries const& q, tensor<T const, dyn, D> start = no_rows<T const, D>())
      : graph_queries(q), x0(start) {}

  static relation_queries measured(graph_dims const& dims) { return graph_queries::measured(dims); }
  template <class F>
  void each(F&& f) {
    graph_queries::each(f);
    f.maybe(x0);
  }
};

namespace detail {
template <class Model, class T, index_t D, index_t H, index_t F>
using relation_aware_parts =
    graph_baseline<Model, T, D, relation_layer<T, D, H, F>, dyn, stacked_linear<T, relation_key_value, D>>;
template <class Model, class T, index_t D, index_t H, index_t F>
using relation_updating_parts = graph_baseline<Model, T, D, relation_update_layer<T, D, H, F>, D>;
}  // namespace detail

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct relation_aware_transformer : detail::relation_aware_parts<relation_aware_transformer<T, D, H, F>, T, D, H, F> {
  using parts = detail::relation_aware_parts<relation_aware_transformer, T, D, H, F>;
  using input = relation_queries<T, D>;
  using output = typename parts::output;
  using states = typename parts::states;
  template <class S>
  using fields = typename parts::template fields<S>;
  using parts::labels, parts::layers, parts::readout, parts::width, parts::as_pairs;

  explicit relation_aware_transformer(relation_transformer_options const& options)
      : parts("relation_aware_transformer", options, 2, options.prune) {}

  constexpr stacked_linear<T, relation_key_value, D> maps() const { return {extents<D>(width())}; }
  /// Whether the parameter with this path has a gradient.  Optimisers skip parameters without a gradient.
  bool has_gradient(std::string_view) const { return true; }

  struct saved : parts::saved {
    tensor<T, dyn, dyn> relations;  // (rows, 2 d)
  };

  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    auto const relations = place.make<tensor<T, dyn, dyn>>(dims.rows, 2 * width());
    auto const of_layers = layers.plan_wanted(place, dims, kept, 2 * dims.questions());
    return {parts::plan_queried(place, dims, kept, of_layers, 2 * width()), relations};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output logits) const {
    {  // edges with equal labels have equal results, so the maps are applied to the table of labels
      auto const frame = c.scratch->open();
      auto const mapped = c.scratch->template make<tensor<T, dyn, dyn>>(labels.shape.extent(0), 2 * width());
      maps().forward(ex, c, w.maps, w.embedding.table, {}, mapped);
      detail::by_known_labels(in.graphs, [&] { gather_rows(ex, mapped, in.label, s.relations); });
    }
    if (in.x0.extent(0) == 0) fill(ex, T(0), s.layers.state(0));
    layers.forward(ex, c.child(0), w.layers, stack_input(in, s), s.layers, as_pairs(s.queried));
    readout.forward(ex, c.child(1), w.readout, s.queried, s.readout, logits);
  }

  /// Adds to `gradient`.  If dx0 (nodes, d) has rows, overwrites dx0 with the gradient of x_0.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dlogits,
                fields<T> gradient, states dx0 = no_rows<T, D>()) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const d = width();
    auto const queried = scratch.make<tensor<T, dyn, dyn>>(s.queried.extent(0), 2 * d);
    readout.backward(ex, c.child(1), w.readout, s.queried, s.readout, dlogits, queried, gradient.readout);

    auto const d_relations = scratch.make<tensor<T, dyn, dyn>>(in.graphs.dims.rows, 2 * d);
    layers.backward(ex, c.child(0), w.layers, stack_input(in, s), s.layers, as_pairs(queried), dx0, gradient.layers,
                    [&](index_t k) {
                      bool const first = k + 1 == layers.count();  // the backward pass begins at the last layer
                      return relations_gradient<T>{d_relations,
                                                   first ? edge_gradients::overwritten : edge_gradients::added};
                    });
    auto const mapped = scratch.make<tensor<T, dyn, dyn>>(labels.shape.extent(0), 2 * d);
    fill(ex, T(0), mapped);
    scatter_add_rows(ex, c.scratch, d_relations, in.label, mapped);
    maps().product().backward_params(ex, c, w.embedding.table, mapped, gradient.maps.all);
    matmul_add(ex, mapped, w.maps.all.weight, gradient.embedding.table);
  }

 private:
  static relation_input<T, D> stack_input(input const& in, saved const& s) {
    return {in.x0.extent(0) != 0 ? in.x0 : const_view<states>(s.layers.state(0)),
            s.relations,
            in.graphs,
            {in.edge_mask, in.mask.fill},
            {in.query_source, in.query_target}};
  }
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct relation_updating_transformer
    : detail::relation_updating_parts<relation_updating_transformer<T, D, H, F>, T, D, H, F> {
  using parts = detail::relation_updating_parts<relation_updating_transformer, T, D, H, F>;
  using input = relation_queries<T, D>;
  using output = typename parts::output;
  using states = typename parts::states;
  using saved = typename parts::saved;  // x_0 and g_0 are in the saved memory of the layers
  template <class S>
  using fields = typename parts::template fields<S>;
  using parts::labels, parts::layers, parts::readout, parts::width;

  explicit relation_updating_transformer(relation_transformer_options const& options)
      : parts("relation_updating_transformer", options, 1, options.prune) {}

  /// Whether the parameter with this path has a gradient.  Optimisers skip parameters without a gradient.  The node
  /// states of the last layer are not read.  So the parameters that compute these states have no gradient, unless an
  /// earlier layer shares the parameters.
  bool has_gradient(std::string_view path) const {
    if (layers.tied && layers.count() > 1) return true;
    auto const last = "layers." + std::to_string(layers.count() - 1) + ".";
    if (!path.starts_with(last)) return true;
    path.remove_prefix(last.size());
    for (std::string_view dead : {"attention.output.", "norm1.", "feed_forward.", "norm2."})
      if (path.starts_with(dead)) return false;
    return true;
  }

  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    return parts::plan_queried(place, dims, kept, layers.plan_wanted(place, dims, kept, dims.questions()), width());
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output logits) const {
    auto const first = s.layers.state(0);
    detail::by_known_labels(in.graphs, [&] { labels.forward(ex, c, w.embedding, in.label, {}, first.edges); });
    if (in.x0.extent(0) == 0) fill(ex, T(0), first.nodes);
    layers.forward(ex, c.child(0), w.layers, stack_input(in, s), s.layers, {no_rows<T, D>(), s.queried});
    readout.forward(ex, c.child(1), w.readout, s.queried, s.readout, logits);
  }

  /// Adds to `gradient`.  If dx0 (nodes, d) has rows, overwrites dx0 with the gradient of x_0.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dlogits,
                fields<T> gradient, states dx0 = no_rows<T, D>()) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const queried = scratch.make<states>(s.queried.extent(0), width()),
               d_labels = scratch.make<states>(in.graphs.dims.rows, width());
    readout.backward(ex, c.child(1), w.readout, s.queried, s.readout, dlogits, queried, gradient.readout);

    layers.backward(ex, c.child(0), w.layers, stack_input(in, s), s.layers, {no_rows<T const, D>(), queried},
                    {dx0, d_labels}, gradient.layers);
    labels.backward(ex, c, w.embedding, in.label, {}, d_labels, gradient.embedding);
  }

 private:
  static relation_update_input<T, D> stack_input(input const& in, saved const& s) {
    auto const first = s.layers.state(0);
    return {in.x0.extent(0) != 0 ? in.x0 : const_view<states>(first.nodes),
            first.edges,
            in.graphs,
            {in.edge_mask, in.mask.fill},
            {in.query_edge, {in.query_source, in.query_target}}};
  }
};

}  // namespace triad
