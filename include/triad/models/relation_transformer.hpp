// The Edge Transformer's baselines over labelled graphs: relation-aware Transformers, with given relations or updated
// ones.
// SPDX-License-Identifier: Apache-2.0
//
//   relation_aware_transformer (RAT)         g(i, j) = e(label(i, j)), fixed; its keys and values once for all layers
//     x_{k+1} = relation_layer(x_k, g);                    logits = readout(x_L(source), x_L(target))
//   relation_updating_transformer (RRAT)     g_0(i, j) = e(label(i, j))
//     x_{k+1}, g_{k+1} = relation_update_layer(x_k, g_k);  logits = readout(g_L(source, target))
//
// Node states x_0 are zero, or noise given by the caller.  Only what the readout sees is computed in the last layer.
#pragma once

#include <string>
#include <string_view>

#include "triad/batches/graph_queries.hpp"
#include "triad/layers/embedding.hpp"
#include "triad/layers/relation_update_layer.hpp"
#include "triad/layers/repeat.hpp"

namespace triad {

struct relation_transformer_sizes {
  index_t labels = 0;   // rows of the embedding
  index_t targets = 0;  // logits
  index_t layers = 1;
  bool tied = true;
  relation_options layer{};
  bool prune = true;  // false: the last layer is computed everywhere, as the released program does; the same logits
};

/// A view of (0, d).
template <class T, index_t D>
constexpr tensor<T, dyn, D> no_rows() {
  return tensor<T, dyn, D>(nullptr, extents<dyn, D>(0, D == dyn ? 0 : D));
}

/// Questions about graphs, with the first states of their nodes where these are not zero.
template <class T, index_t D>
struct relation_queries : graph_queries {
  tensor<T const, dyn, D> x0;  // (nodes, d), or no rows: zero

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

/// Plans one set of node and edge states.
template <class T, index_t D>
struct relation_state_plan {
  index_t nodes, edges, width;
  relation_states<tensor<T, dyn, D>> operator()(arena& place) const {
    return {place.make<tensor<T, dyn, D>>(nodes, width), place.make<tensor<T, dyn, D>>(edges, width)};
  }
};
/// How many states x_0 .. x_{L-1}, and what how many of the layers before the last remember, is kept.
constexpr index_t state_slots(keep kept, index_t layers) { return kept == keep::nothing ? 2 : layers; }
constexpr index_t layer_slots(keep kept, index_t layers) {
  return kept == keep::everything ? layers - 1 : layers > 1 ? 1 : 0;
}

}  // namespace detail

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct relation_aware_transformer : answers_questions<relation_aware_transformer<T, D, H, F>, T> {
  using layer_type = relation_layer<T, D, H, F>;
  using value_type = T;
  using input = relation_queries<T, D>;
  using output = tensor<T, dyn, dyn>;  // (b, targets)
  using states = tensor<T, dyn, D>;
  using readout_type = feed_forward<T, dyn, dyn, dyn>;

  embedding<T, dyn, D> labels;
  repeat<T, layer_type> layers;  // their parameters; the states run through this struct
  readout_type readout;
  bool prune;

  explicit relation_aware_transformer(relation_transformer_sizes const& z)
      : labels{extents_of<dyn, D>("relation_transformer", {"labels", z.labels}, {"width", z.layer.width})},
        layers{layer_type(z.layer), extents_of<dyn>("relation_transformer", {"layers", z.layers, most_repeats}),
               z.tied},
        readout(2 * width(), 2 * width(), checked_size("relation_transformer", {"targets", z.targets})),
        prune(z.prune) {}

  constexpr index_t width() const { return layers.layer.width(); }
  constexpr index_t targets() const { return readout.outer.out(); }
  constexpr stacked_linear<T, relation_key_value, D> maps() const { return {extents<D>(width())}; }
  /// Whether the parameter has a gradient: an optimiser leaves the others alone.
  bool has_gradient(std::string_view) const { return true; }

  template <class S>
  struct fields {
    fields_of<triad::embedding<T, dyn, D>, S> embedding;
    fields_of<stacked_linear<T, relation_key_value, D>, S> maps;
    fields_of<repeat<T, layer_type>, S> layers;
    fields_of<readout_type, S> readout;
    template <class V>
    void each(V&& f) {
      f("embedding", embedding);
      maps.each(f);
      f("layers", layers);
      f("readout", readout);
    }
  };
  struct saved {
    keep kept;
    tensor<T, dyn, dyn> relations;                  // (rows, 2 d)
    series<detail::state_plan<states>> x;           // x_0 .. x_{L-1}: (nodes, d) each
    series<detail::saved_plan<layer_type>> layers;  // of all layers but the last
    typename layer_type::saved last;
    states final;               // (nodes, d), or the memory of `asked` where pruned
    tensor<T, dyn, dyn> asked;  // (b, 2 d): what the readout sees
    typename readout_type::saved readout;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(labels, place), plan<S>(maps(), place), plan<S>(layers, place), plan<S>(readout, place)};
  }

  /// b = dims.graphs questions.
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    index_t const b = dims.graphs, d = width(), n = layers.count();
    auto const relations = place.make<tensor<T, dyn, dyn>>(dims.rows, 2 * d);
    auto const x = plan_series(place, detail::state_plan<states>{dims.nodes, d}, detail::state_slots(kept, n));
    auto const l =
        plan_series(place, detail::saved_plan<layer_type>{layers.layer, dims, kept}, detail::layer_slots(kept, n));
    auto const last = layers.layer.plan_saved(place, dims, kept, prune ? 2 * b : 0);
    auto const asked = place.make<tensor<T, dyn, dyn>>(b, 2 * d);
    auto const final = prune ? as_pairs(asked) : place.make<states>(dims.nodes, d);
    return {kept, relations, x, l, last, final, asked, readout.plan_saved(place, row_dims(b), kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output logits) const {
    {  // Edges with one label have one key and one value: the maps are applied to the table.
      auto const frame = c.scratch->open();
      auto const mapped = c.scratch->template make<tensor<T, dyn, dyn>>(labels.shape.extent(0), 2 * width());
      maps().forward(ex, c, w.maps, w.embedding.table, {}, mapped);
      gather_rows(ex, mapped, in.label, s.relations);
    }
    if (in.x0.extent(0) == 0) fill(ex, T(0), s.x.at(0));
    index_t const last = layers.count() - 1;
    for (index_t k = 0; k < last; ++k)
      layers.layer.forward(ex, at(c, k), w.layers.at(k), layer_input(in, s, k), s.layers.at(k), s.x.at(k + 1));
    layers.layer.forward(ex, at(c, last), w.layers.at(last), layer_input(in, s, last), s.last, s.final);
    if (!prune) gather_pairs(ex, s.final, pairs(in), as_pairs(s.asked));
    readout.forward(ex, c.child(1), w.readout, s.asked, s.readout, logits);
  }

  /// dx0 (nodes, d), where it has rows, is overwritten with the gradient of x_0.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dlogits,
                fields<T> gradient, states dx0 = no_rows<T, D>()) const {
    TRIAD_EXPECTS(s.kept != keep::nothing,
                  "relation_aware_transformer: memory planned for inference has nothing for backward");
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const d = width(), nodes = in.graphs.dims.nodes, last = layers.count() - 1;
    auto const asked = scratch.make<tensor<T, dyn, dyn>>(s.asked.extent(0), 2 * d);
    readout.backward(ex, c.child(1), w.readout, s.asked, s.readout, dlogits, asked, gradient.readout);

    auto const d_relations = scratch.make<tensor<T, dyn, dyn>>(in.graphs.dims.rows, 2 * d);
    states const steps[2] = {scratch.make<states>(nodes, d), scratch.make<states>(nodes, d)};
    const_view<states> from = as_pairs(asked);
    if (!prune) {
      scatter_pairs(ex, as_pairs(asked), pairs(in), steps[(last + 1) % 2]);
      from = steps[(last + 1) % 2];
    }
    for (index_t k = last; k >= 0; --k) {
      auto const kept = k == last ? s.last : s.layers.at(k);
      auto const x = layer_input(in, s, k);
      if (s.kept == keep::inputs && k != last)
        layers.layer.forward(ex, at(c, k), w.layers.at(k), x, kept, steps[k % 2]);  // overwritten next
      auto const to = k == 0 ? dx0 : steps[k % 2];
      layers.layer.backward(ex, at(c, k), w.layers.at(k), x, kept, from, to, d_relations,
                            k == last ? edge_gradients::overwritten : edge_gradients::added, gradient.layers.at(k));
      from = to;
    }
    auto const mapped = scratch.make<tensor<T, dyn, dyn>>(labels.shape.extent(0), 2 * d);
    fill(ex, T(0), mapped);
    scatter_add_rows(ex, d_relations, in.label, mapped);
    maps().product().backward_params(ex, c, w.embedding.table, mapped, gradient.maps.all);
    matmul_add(ex, mapped, w.maps.all.weight, gradient.embedding.table);
  }

 private:
  static call at(call const& c, index_t k) { return c.child(0).child(k); }
  static node_pairs pairs(input const& in) { return {in.query_source, in.query_target}; }
  /// (b, 2 d) as (2 b, d)
  states as_pairs(tensor<T, dyn, dyn> both) const { return states(both.data_handle(), 2 * both.extent(0), width()); }
  relation_input<T, D> layer_input(input const& in, saved const& s, index_t k) const {
    relation_input<T, D> x{k == 0 && in.x0.extent(0) != 0 ? in.x0 : const_view<states>(s.x.at(k)),
                           s.relations,
                           in.graphs,
                           {in.edge_mask, in.mask.fill}};
    if (prune && k == layers.count() - 1) x.read = pairs(in);
    return x;
  }
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct relation_updating_transformer : answers_questions<relation_updating_transformer<T, D, H, F>, T> {
  using layer_type = relation_update_layer<T, D, H, F>;
  using value_type = T;
  using input = relation_queries<T, D>;
  using output = tensor<T, dyn, dyn>;  // (b, targets)
  using states = tensor<T, dyn, D>;
  using readout_type = feed_forward<T, D, D, dyn>;

  embedding<T, dyn, D> labels;
  repeat<T, layer_type> layers;  // their parameters; the states run through this struct
  readout_type readout;
  bool prune;

  explicit relation_updating_transformer(relation_transformer_sizes const& z)
      : labels{extents_of<dyn, D>("relation_transformer", {"labels", z.labels}, {"width", z.layer.width})},
        layers{layer_type(z.layer), extents_of<dyn>("relation_transformer", {"layers", z.layers, most_repeats}),
               z.tied},
        readout(width(), width(), checked_size("relation_transformer", {"targets", z.targets})),
        prune(z.prune) {}

  constexpr index_t width() const { return layers.layer.width(); }
  constexpr index_t targets() const { return readout.outer.out(); }

  /// Whether the parameter has a gradient: an optimiser leaves the others alone.  Nobody reads the last layer's node
  /// states, so what makes them from the contexts has none, unless an earlier layer shares it.
  bool has_gradient(std::string_view path) const {
    if (layers.tied && layers.count() > 1) return true;
    auto const last = "layers." + std::to_string(layers.count() - 1) + ".";
    if (path.substr(0, last.size()) != last) return true;
    path.remove_prefix(last.size());
    for (std::string_view dead : {"attention.output.", "norm1.", "feed_forward.", "norm2."})
      if (path.substr(0, dead.size()) == dead) return false;
    return true;
  }

  template <class S>
  struct fields {
    fields_of<triad::embedding<T, dyn, D>, S> embedding;
    fields_of<repeat<T, layer_type>, S> layers;
    fields_of<readout_type, S> readout;
    template <class V>
    void each(V&& f) {
      f("embedding", embedding);
      f("layers", layers);
      f("readout", readout);
    }
  };
  struct saved {
    keep kept;
    series<detail::relation_state_plan<T, D>> states;  // x_k (nodes, d) and g_k (rows, d), k = 0 .. L-1
    series<detail::saved_plan<layer_type>> layers;     // of all layers but the last
    typename layer_type::saved last;
    typename layer_type::results final;  // x_L (nodes, d) and g_L (rows, d); (0, d) and (b, d) where pruned
    tensor<T, dyn, D> asked;             // (b, d): what the readout sees
    typename readout_type::saved readout;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(labels, place), plan<S>(layers, place), plan<S>(readout, place)};
  }

  /// b = dims.graphs questions.
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    index_t const b = dims.graphs, d = width(), n = layers.count();
    auto const x =
        plan_series(place, detail::relation_state_plan<T, D>{dims.nodes, dims.rows, d}, detail::state_slots(kept, n));
    auto const l =
        plan_series(place, detail::saved_plan<layer_type>{layers.layer, dims, kept}, detail::layer_slots(kept, n));
    auto const last = layers.layer.plan_saved(place, dims, kept, prune ? b : 0);
    auto const final = detail::relation_state_plan<T, D>{prune ? 0 : dims.nodes, prune ? b : dims.rows, d}(place);
    auto const asked = prune ? final.edges : place.make<states>(b, d);
    return {kept, x, l, last, final, asked, readout.plan_saved(place, row_dims(b), kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output logits) const {
    labels.forward(ex, c, w.embedding, in.label, {}, s.states.at(0).edges);
    if (in.x0.extent(0) == 0) fill(ex, T(0), s.states.at(0).nodes);
    index_t const last = layers.count() - 1;
    for (index_t k = 0; k < last; ++k)
      layers.layer.forward(ex, at(c, k), w.layers.at(k), layer_input(in, s, k), s.layers.at(k), s.states.at(k + 1));
    layers.layer.forward(ex, at(c, last), w.layers.at(last), layer_input(in, s, last), s.last, s.final);
    if (!prune) gather_rows(ex, s.final.edges, in.query_edge, s.asked);
    readout.forward(ex, c.child(1), w.readout, s.asked, s.readout, logits);
  }

  /// dx0 (nodes, d), where it has rows, is overwritten with the gradient of x_0.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dlogits,
                fields<T> gradient, states dx0 = no_rows<T, D>()) const {
    TRIAD_EXPECTS(s.kept != keep::nothing,
                  "relation_updating_transformer: memory planned for inference has nothing for backward");
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const d = width(), nodes = in.graphs.dims.nodes, rows = in.graphs.dims.rows, last = layers.count() - 1;
    auto const asked = scratch.make<states>(s.asked.extent(0), d);
    readout.backward(ex, c.child(1), w.readout, s.asked, s.readout, dlogits, asked, gradient.readout);

    detail::relation_state_plan<T, D> const plan{nodes, rows, d};
    relation_states<states> const steps[2] = {plan(scratch), plan(scratch)};
    relation_states<const_view<states>> from{no_rows<T const, D>(), asked};
    if (!prune) {
      auto const all = steps[(last + 1) % 2].edges;
      fill(ex, T(0), all);
      scatter_add_rows(ex, asked, in.query_edge, all);
      from.edges = all;
    }
    for (index_t k = last; k >= 0; --k) {
      auto const kept = k == last ? s.last : s.layers.at(k);
      auto const x = layer_input(in, s, k);
      auto to = steps[k % 2];
      if (s.kept == keep::inputs && k != last)
        layers.layer.forward(ex, at(c, k), w.layers.at(k), x, kept, to);  // overwritten next
      if (k == 0) to.nodes = dx0;
      layers.layer.backward(ex, at(c, k), w.layers.at(k), x, kept, from, to, gradient.layers.at(k));
      from = {to.nodes, to.edges};
    }
    labels.backward(ex, c, w.embedding, in.label, {}, from.edges, gradient.embedding);
  }

 private:
  static call at(call const& c, index_t k) { return c.child(0).child(k); }
  relation_update_input<T, D> layer_input(input const& in, saved const& s, index_t k) const {
    auto const state = s.states.at(k);
    relation_update_input<T, D> x{k == 0 && in.x0.extent(0) != 0 ? in.x0 : const_view<states>(state.nodes),
                                  state.edges,
                                  in.graphs,
                                  {in.edge_mask, in.mask.fill}};
    if (prune && k == layers.count() - 1) x.read = {in.query_edge, {in.query_source, in.query_target}};
    return x;
  }
};

}  // namespace triad
