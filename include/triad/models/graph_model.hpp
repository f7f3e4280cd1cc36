// A model of labelled graphs that consists of three parts: an embedding of edge labels, layers over all edges, and a
// readout of the edges of the questions.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0(i, j) = embedding(label(i, j));  x_L = layers(x_0);  logits = readout(x_L(source, target))
//
// An example with your own readout:
//
//   graph_model const model(embedding<float>{...}, repeat<...>{...}, my_readout(...));
//
//   Embedding   input: labels (rows); output: (rows, d)            as layers/embedding.hpp
//   Layers      input: edge_input, or (rows, d); output: (rows, d)  any layer over edges, or a repeat of one
//   Readout     input: (q, d); output: (q, targets)                any layer over rows
//
// If the layers can compute only some rows (layers/repeat.hpp), the last layer computes only the edges of the
// questions.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "triad/batches/graph_queries.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/embedding.hpp"
#include "triad/layers/feed_forward.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/triangle.hpp"

namespace triad {

namespace detail {
/// A repeat of layers with triangular attention.  Its saved memory says which layers' values are kept.
template <class Layers>
concept stack_with_attention = requires(Layers const& l, typename Layers::saved const& s) {
  l.layer.attention.heads();
  l.layer.attention.variant;
  l.count();
  s.keeps(index_t{});
};
/// Layers that can compute only wanted rows.  Their saved memory contains x_0.
template <class Layers>
concept plans_wanted = requires(Layers const& l, arena& place, graph_dims const& dims) {
  l.plan_wanted(place, dims, keep::everything, index_t{});
};
/// An input that has graphs as well as the states of their edges.
template <class Input>
concept carries_graphs = requires(Input in, graph_batch const& g) { in.graphs = g; };
/// The memory of x_0 and x_L, for layers that do not satisfy plans_wanted.
template <class States>
struct all_states {
  States first, last;  // (rows, d) each: x_0 and x_L
};

/// Further parameters for a model that has none: an empty set.
struct no_maps {
  template <class S>
  struct fields {
    template <class F>
    void each(F&&) {}
  };
  template <class S>
  fields<S> plan_params(arena&) const {
    return {};
  }
};
/// The parts of a model of labelled graphs, their names, and the memory of the readout's input.  `Queried` is the type
/// of the readout's input.  `Maps` is the type of Model::maps(): further parameters, whose names have no prefix.
template <class Model, class Embedding, class Layers, class Readout, class Queried, class Maps = no_maps>
struct graph_parts : answers_questions<Model, scalar_t<Embedding>> {
  using value_type = scalar_t<Embedding>;
  using output = tensor<value_type, dyn, dyn>;  // (q, targets)

  Embedding labels;
  Layers layers;
  Readout readout;

  graph_parts(Embedding e, Layers l, Readout r) : labels(std::move(e)), layers(std::move(l)), readout(std::move(r)) {}

  constexpr index_t width() const { return columns_out(layers); }
  constexpr index_t targets() const { return columns_out(readout); }
  constexpr no_maps maps() const { return {}; }

  template <class S>
  struct fields {
    fields_of<Embedding, S> embedding;
    [[no_unique_address]] fields_of<Maps, S> maps;
    fields_of<Layers, S> layers;
    fields_of<Readout, S> readout;
    template <class V>
    void each(V&& f) {
      f("embedding", embedding);
      maps.each(f);
      f("layers", layers);
      f("readout", readout);
    }
  };
  struct saved {
    typename Layers::saved layers;
    Queried queried;  // (q, columns): the readout's input
    typename Readout::saved readout;
  };

  template <class S = value_type>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(labels, place), plan<S>(static_cast<Model const&>(*this).maps(), place), plan<S>(layers, place),
            plan<S>(readout, place)};
  }
  /// Plans the saved memory for q = dims.questions() questions.
  saved plan_queried(arena& place, graph_dims const& dims, keep kept, typename Layers::saved of_layers,
                     index_t columns) const {
    index_t const q = dims.questions();
    return {of_layers, place.make<Queried>(q, columns), readout.plan_saved(place, row_dims(q), kept)};
  }
};

/// The base class of the Edge Transformer's baselines.  It is graph_parts with a table of labels, a repeat of layers
/// over nodes, and a feed-forward block as readout.  The readout has R input columns.
template <class Model, class T, index_t D, class Layer, index_t R, class Maps = no_maps>
struct graph_baseline
    : graph_parts<Model, embedding<T, dyn, D>, repeat<T, Layer>, feed_forward<T, R, R, dyn>, tensor<T, dyn, R>, Maps> {
  using layer_type = Layer;
  using states = tensor<T, dyn, D>;
  using stack_type = repeat<T, Layer>;
  using readout_type = feed_forward<T, R, R, dyn>;

  /// `states_read` is the number of states that the readout reads for a question.
  template <class Options>
  graph_baseline(char const* name, Options const& z, index_t states_read, bool prune = true)
      : graph_baseline{{extents_of<dyn, D>(name, {"labels", z.labels}, {"width", z.layer.width})},
                       {Layer(z.layer), extents_of<dyn>(name, {"layers", z.layers, most_repeats}), z.tied, prune},
                       name,
                       states_read,
                       z.targets} {}

  /// Views the readout's input (q, 2 d) as (2 q, d).  The input has two states for each question.
  states as_pairs(tensor<T, dyn, R> both) const { return reshape<D>(both, 2 * both.extent(0), this->layers.width()); }

 private:
  graph_baseline(embedding<T, dyn, D> const& e, stack_type const& l, char const* name, index_t states_read,
                 index_t targets)
      : graph_baseline::graph_parts(
            e, l,
            readout_type(states_read * l.width(), states_read * l.width(), checked_size(name, {"targets", targets}))) {}
};
}  // namespace detail

/// A model of labelled graphs with any three parts.  Its parameters are called embedding, layers and readout.  It is
/// trained like other models.  The answer to a question is one of targets() classes.
template <class Embedding, class Layers, class Readout>
  requires(detail::expect_layer<Embedding>() && detail::expect_layer<Layers>() && detail::expect_layer<Readout>())
struct graph_model : detail::graph_parts<graph_model<Embedding, Layers, Readout>, Embedding, Layers, Readout,
                                         typename Embedding::output> {
  using T = scalar_t<Embedding>;
  using parts = typename graph_model::graph_parts;
  using input = graph_queries;
  using output = typename parts::output;
  using states = typename Embedding::output;  // (rows, d)
  template <class S>
  using fields = typename parts::template fields<S>;
  using parts::labels, parts::layers, parts::readout, parts::width;
  static constexpr bool prunes = detail::plans_wanted<Layers>;

  static_assert(std::is_same_v<T, element_t<typename Layers::output>> &&
                    std::is_same_v<T, element_t<typename Readout::output>>,
                "graph_model: its embedding, its layers and its readout have one element type: make all of them float, "
                "or all double");
  static_assert(!detail::columns_clash<states, state_of_t<typename Layers::input>>() &&
                    !detail::columns_clash<typename Layers::output, state_of_t<typename Readout::input>>(),
                "graph_model: what one part gives and the next one takes differ in columns");

  graph_model(Embedding e, Layers l, Readout r) : parts(std::move(e), std::move(l), std::move(r)) {
    auto const expect_width = [](char const* from, index_t gives, char const* to, index_t takes) {
      TRIAD_EXPECTS(gives == takes, std::string("graph_model: ") + from + " has " + std::to_string(gives) +
                                        " columns, expected " + std::to_string(takes) + ", those that " + to +
                                        " takes");
    };
    expect_width("the embedding", columns_out(labels), "the first layer", columns_in(layers));
    if constexpr (requires { columns_in(readout); })
      expect_width("the last layer", columns_out(layers), "the readout", columns_in(readout));
  }

  struct saved : parts::saved {
    typename Embedding::saved labels;
    std::conditional_t<prunes, detail::nothing, detail::all_states<states>> all;  // if prunes, x_0 is in `layers`
  };

  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    auto const of_parts = [&](typename Layers::saved of_layers) {
      return parts::plan_queried(place, dims, kept, of_layers, width());
    };
    auto const rows = [&] { return place.make<states>(dims.rows, width()); };
    auto const of_labels = labels.plan_saved(place, dims, kept);
    if constexpr (prunes)
      return {of_parts(layers.plan_wanted(place, dims, kept, dims.questions())), of_labels, {}};
    else
      return {of_parts(layers.plan_saved(place, dims, kept)), of_labels, {rows(), rows()}};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output logits) const {
    auto const x0 = first_states(s);
    detail::by_known_labels(in.graphs, [&] { labels.forward(ex, c, w.embedding, in.label, s.labels, x0); });
    if constexpr (prunes) {
      layers.forward(ex, c.child(0), w.layers, stack_input(in, x0), s.layers, s.queried);
    } else {
      layers.forward(ex, c.child(0), w.layers, stack_input(in, x0), s.layers, s.all.last);
      gather_rows(ex, s.all.last, in.query_edge, s.queried);
    }
    readout.forward(ex, c.child(1), w.readout, s.queried, s.readout, typename Readout::output(logits));
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dlogits,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const rows = in.graphs.dims.rows;
    auto const queried = scratch.make<states>(s.queried.extent(0), width()), dx0 = scratch.make<states>(rows, width());
    readout.backward(ex, c.child(1), w.readout, s.queried, s.readout, const_view<typename Readout::output>(dlogits),
                     queried, gradient.readout);
    if constexpr (prunes) {
      layers.backward(ex, c.child(0), w.layers, stack_input(in, first_states(s)), s.layers, queried, dx0,
                      gradient.layers);
    } else {
      auto const last = scratch.make<states>(rows, width());
      layers.backward(ex, c.child(0), w.layers, stack_input(in, first_states(s)), s.layers,
                      scatter_rows(ex, c.scratch, queried, in.query_edge, last), dx0, gradient.layers);
    }
    labels.backward(ex, c, w.embedding, in.label, s.labels, dx0, gradient.embedding);
  }

  /// attention_weights() has attention_heads() rows, and attention_terms(n) columns for a graph of n nodes.
  index_t attention_heads() const
    requires detail::stack_with_attention<Layers>
  {
    return layers.layer.attention.heads();
  }
  index_t attention_terms(index_t n) const
    requires detail::stack_with_attention<Layers>
  {
    return layers.layer.attention.variant == triangle_form::flat ? 2 * n : n;
  }
  /// Overwrites `weights` with the attention weights of edge (i, j) of one graph in layer k.  The first layer is 0.
  /// `weights` is (h, n), or (h, 2n) in the flat form.  Call forward() with keep::everything first.  Throws
  /// contract_violation if there is no such layer, graph or node, or if the layer's memory was not kept.
  template <backend Ex>
    requires detail::stack_with_attention<Layers>
  void attention_weights(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, index_t k,
                         index_t graph, index_t i, index_t j, matrix<T> weights) const {
    auto const text = [](index_t v) { return std::to_string(v); };
    TRIAD_EXPECTS(k >= 0 && k < layers.count(),
                  "attention_weights: layer " + text(k) + ", expected 0 to " + text(layers.count() - 1));
    TRIAD_EXPECTS(s.layers.keeps(k), "attention_weights: layer " + text(k) + " of " + text(layers.count()) +
                                         " has no memory of its own, expected kept states; plan with keep::everything");
    TRIAD_EXPECTS(graph >= 0 && graph < in.graphs.dims.graphs,
                  "attention_weights: graph " + text(graph) + ", expected 0 to " + text(in.graphs.dims.graphs - 1));
    index_t const n = in.graphs.dims.max_nodes;
    TRIAD_EXPECTS(i >= 0 && i < n && j >= 0 && j < n,
                  "attention_weights: edge (" + text(i) + ", " + text(j) + "), expected nodes 0 to " + text(n - 1));
    auto const at = s.layers.at(k);
    auto const here = c.child(0).child(k);
    auto const& layer = layers.layer;
    auto const edges = stack_input(in, first_states(s));
    if constexpr (requires { layer.attention_weights(ex, here, w.layers.at(k), edges, at, graph, i, j, weights); })
      layer.attention_weights(ex, here, w.layers.at(k), edges, at, graph, i, j, weights);
    else
      layer.attention.weights(ex, here.child(0), edges, at.attention, graph, i, j, weights);
  }

 private:
  static states first_states(saved const& s) {
    if constexpr (prunes)
      return s.layers.state(0);
    else
      return s.all.first;
  }
  static typename Layers::input stack_input(input const& in, states x0) {
    if constexpr (detail::carries_graphs<typename Layers::input>) {
      typename Layers::input all{x0, in.graphs};
      if constexpr (requires { all.mask = in.mask; }) all.mask = in.mask;
      if constexpr (prunes) all.wanted = in.query_edge;
      return all;
    } else {
      return typename Layers::input(x0);
    }
  }
};

}  // namespace triad
