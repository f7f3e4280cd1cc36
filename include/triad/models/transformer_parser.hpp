// The Transformer as a parser, the Edge Transformer's baseline: from a sentence to the parent and the labels of each token.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0 = sequence_tokens(tokens);  x_{k+1} = layer(x_k);  y = norm(x_L)                       (nodes, d)
//   score(i, j) = q(i) . k(j),  [q k] = y w' + b;  labels of token i from y(i)
//
// Tied layers make it a universal Transformer (Dehghani et al. 2019) of fixed depth.
#pragma once

#include "triad/layers/repeat.hpp"
#include "triad/layers/transformer_layer.hpp"
#include "triad/models/sentence_batch.hpp"
#include "triad/ops/pair_product.hpp"

namespace triad {

struct transformer_parser_sizes {
  index_t tokens = 0;  // rows of the table of tokens
  label_counts labels{};
  index_t layers = 1;
  bool tied = false;
  transformer_options layer{};
  double positional_dropout = 0;
  index_t fixed_token = -1;  // a token whose vector is not learned, or none
};

/// A token as the child that asks, and as the parent that it may be.
struct child_and_parent {
  static constexpr std::array<char const*, 2> list{"query", "key"};
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct transformer_parser : parses_sentences<transformer_parser<T, D, H, F>, T> {
  using layer_type = transformer_layer<T, D, H, F>;
  using input = sentence_batch<T>;
  using output = parse_scores<T>;
  using states = tensor<T, dyn, D>;  // (nodes, d)
  using ends_type = stacked_linear<T, child_and_parent, D>;

  static constexpr arcs reading = arcs::from_child;

  sequence_tokens<T, D> encoder;
  repeat<T, layer_type> layers;
  layer_norm_layer<T, D> norm;
  label_heads<T, D> heads;

  explicit transformer_parser(transformer_parser_sizes const& z)
      : encoder{z.tokens, extents<D>(z.layer.width), z.positional_dropout, z.fixed_token}, layers{layer_type(z.layer), extents<dyn>(z.layers), z.tied},
        norm{extents<D>(z.layer.width), z.layer.epsilon}, heads{z.layer.width, z.labels} {
    detail::expect_parser(z.layers, z.tokens, z.labels, z.fixed_token);
  }

  constexpr index_t width() const { return layers.layer.width(); }
  constexpr ends_type ends() const { return {extents<D>(width())}; }

  template <class S>
  struct fields {
    typename sequence_tokens<T, D>::template fields<S> encoder;
    typename repeat<T, layer_type>::template fields<S> layers;
    typename layer_norm_layer<T, D>::template fields<S> norm;
    typename ends_type::template fields<S> parent;
    typename label_heads<T, D>::template fields<S> labels;
    template <class V>
    void each(V&& f) {
      f("encoder", encoder);
      f("layers", layers);
      f("norm", norm);
      f("parent", parent);
      f("labels", labels);
    }
  };
  struct saved {
    states x0;
    typename repeat<T, layer_type>::saved layers;
    states final;
    typename layer_norm_layer<T, D>::saved norm;
    states y;
    tensor<T, dyn, dyn> ends;  // (nodes, 2 d): q and k side by side
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const e = encoder.template plan_params<S>(place);
    auto const l = layers.template plan_params<S>(place);
    auto const n = norm.template plan_params<S>(place);
    auto const p = ends().template plan_params<S>(place);
    return {e, l, n, p, heads.template plan_params<S>(place)};
  }
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    row_dims const nodes(dims.nodes);
    auto const state = [&] { return place.make<states>(dims.nodes, width()); };
    auto const x0 = state();
    auto const l = layers.plan_saved(place, nodes, kept);
    auto const final = state();
    auto const n = norm.plan_saved(place, nodes);
    auto const y = state();
    return {x0, l, final, n, y, place.make<tensor<T, dyn, dyn>>(dims.nodes, 2 * width())};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& scores) const {
    encoder.forward(ex, c.child(2), w.encoder, in, {}, s.x0);
    layers.forward(ex, c.child(0), w.layers, first_input(in, s), s.layers, s.final);
    norm.forward(ex, c, w.norm, s.final, s.norm, s.y);
    ends().forward(ex, c.child(1), w.parent, s.y, {}, s.ends);
    auto const both = read_only(s.ends);
    pair_product(ex, in.graphs, ends().part(both, 0), ends().part(both, 1), scores.parent);
    heads.forward(ex, c.child(1), w.labels, s.y, scores.labels);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& d, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const nodes = in.graphs.dims.nodes;
    auto const dy = scratch.make<states>(nodes, width()), dx = scratch.make<states>(nodes, width());
    auto const d_ends = scratch.make<tensor<T, dyn, dyn>>(nodes, 2 * width());
    auto const both = read_only(s.ends);
    pair_product_grad(ex, in.graphs, ends().part(both, 0), ends().part(both, 1), vec<T const>(d.parent), ends().part(d_ends, 0), ends().part(d_ends, 1));
    heads.backward(ex, c.child(1), w.labels, s.y, d.labels, dy, gradient.labels);
    epilogue<T> add;
    add.residual = as_matrix(read_only(dy));
    ends().backward(ex, c.child(1), w.parent, s.y, {}, d_ends, dy, gradient.parent, add);
    norm.backward(ex, c, w.norm, s.final, s.norm, dy, dy, gradient.norm);
    layers.backward(ex, c.child(0), w.layers, first_input(in, s), s.layers, dy, dx, gradient.layers);
    encoder.backward(ex, c.child(2), w.encoder, in, {}, dx, gradient.encoder);
  }

 private:
  static sequence_input<T, D> first_input(input const& in, saved const& s) { return {s.x0, nodes_of(in.graphs)}; }
};

}  // namespace triad
