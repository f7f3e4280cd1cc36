// The neural tree agent at one step.  A Transformer over the agent's tokens computes the logits of the operation and of
// the arguments, and the filler of the root.
// SPDX-License-Identifier: Apache-2.0
//
// A sample has token 0 for the operation, token 1 for the root, and one token for each tree that an argument may be.
// These trees are the trees in memory (DTM section 3) and, if the machine has an empty tree, the empty tree.
//
//   y = norm(transformer(x))                     x, y (batch t, d); norm only if the layers' norms are before branches
//   operation = y_0 w_o' + b_o                       (batch, b + 1)
//   root      = y_1 w_r' + b_r                       (batch, f)
//   arguments = y w_a' + b_a                         (batch t, 2 b); only the rows of trees are used
#pragma once

#include "triad/layers/repeat.hpp"
#include "triad/layers/transformer_layer.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/tree_choice.hpp"

namespace triad {

struct tree_agent_options {
  transformer_layer_options layer{};
  index_t layers = 1;     // the number of layers of the Transformer
  index_t branching = 2;  // b
  index_t fillers = 0;    // f
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct neural_tree_agent {
  using layer_type = transformer_layer<T, D, H, F>;
  using input = sequence_input<T, D>;
  using output = tensor<T, dyn, D>;  // (batch t, d): the tokens after the step
  using planned_with = row_dims;

  repeat<T, layer_type> layers;
  layer_norm_layer<T, D> norm;
  index_t branching, fillers;

  explicit neural_tree_agent(tree_agent_options const& o)
      : layers{layer_type(o.layer), extents_of<dyn>("neural_tree_agent", {"layers", o.layers, most_repeats}), false},
        norm{extents_of<D>("neural_tree_agent", {"width", o.layer.width}), o.layer.epsilon},
        branching(checked_size("neural_tree_agent", {"branching", o.branching})),
        fillers(checked_size("neural_tree_agent", {"fillers", o.fillers})) {
    TRIAD_EXPECTS(o.branching >= 2,
                  "neural_tree_agent: branching is " + std::to_string(o.branching) + ", expected 2 or more");
  }

  constexpr index_t width() const { return layers.width(); }
  constexpr bool normalised() const { return layers.layer.norms() == norm_position::before; }
  using head = linear<T, D, dyn>;
  constexpr head operation_head() const { return {extents<D, dyn>(width(), branching + 1)}; }
  constexpr head root_head() const { return {extents<D, dyn>(width(), fillers)}; }
  constexpr head argument_head() const { return {extents<D, dyn>(width(), 2 * branching)}; }

  template <class S>
  struct fields {
    fields_of<repeat<T, layer_type>, S> layers;
    fields_of<layer_norm_layer<T, D>, S> norm;  // has no memory if the agent has no norm
    fields_of<head, S> operation, root, arguments;
    bool normalised;
    template <class V>
    void each(V&& f) {
      f("layers", layers);
      if (normalised) f("norm", norm);
      f("operation", operation);
      f("root", root);
      f("arguments", arguments);
    }
  };
  struct saved {
    typename repeat<T, layer_type>::saved layers;
    output last;  // (batch t, d): the input of the norm; (0, d) without a norm
    typename layer_norm_layer<T, D>::saved norm;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {.layers = plan<S>(layers, place),
            .norm = plan<S>(norm, place, normalised()),
            .operation = plan<S>(operation_head(), place),
            .root = plan<S>(root_head(), place),
            .arguments = plan<S>(argument_head(), place),
            .normalised = normalised()};
  }
  saved plan_saved(arena& place, row_dims dims, keep kept = keep::everything) const {
    row_dims const normed(normalised() ? dims.rows : 0);
    return {layers.plan_saved(place, dims, kept), place.make<output>(normed.rows, width()),
            norm.plan_saved(place, normed, kept)};
  }

  /// Returns token t of every sample of y (batch tokens, d), as (batch, d).
  template <class S>
  static matrix<S> token(tensor<S, dyn, D> y, index_t tokens, index_t t) {
    index_t const d = y.extent(1);
    return make_matrix(y.data_handle() + t * d, y.extent(0) / tokens, d, tokens * d);
  }
  /// `all` (batch tokens, 2 b) has the logits of the arguments for all tokens.  Returns the rows of the n trees, as
  /// (batch, n 2 b).
  template <class S>
  matrix<S> of_trees(matrix<S> all, index_t tokens) const {
    index_t const columns = 2 * branching;
    return make_matrix(all.data_handle() + tree_fixed_tokens * columns, all.extent(0) / tokens,
                       (tokens - tree_fixed_tokens) * columns, tokens * columns);
  }

  /// Overwrites y, operation (batch, b + 1), root (batch, f) and arguments (batch tokens, 2 b).  `in` has `tokens`
  /// tokens for each sample, one sample after another.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, index_t tokens, saved const& s, output y,
               matrix<T> operation, matrix<T> root, matrix<T> arguments) const {
    layers.forward(ex, c.child(0), w.layers, in, s.layers, normalised() ? s.last : y);
    if (normalised()) norm.forward(ex, c, w.norm, s.last, s.norm, y);
    auto const map = [&](auto const& head_fields, matrix<T const> x, matrix<T> to) {
      matmul(ex, x, transposed(head_fields.weight), to, {.bias = head_fields.bias});
    };
    auto const states = read_only(y);
    map(w.operation, token(states, tokens, 0), operation);
    map(w.root, token(states, tokens, 1), root);
    map(w.arguments, as_matrix(states), arguments);
  }

  /// Overwrites dx.  d_operation, d_root and d_arguments are the gradients of forward()'s results.  When backward() is
  /// called, dy has the gradient of y from the next step.  backward() adds the gradients from this step's logits and
  /// root to dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, index_t tokens, saved const& s,
                const_view<output> y, output dy, matrix<T const> d_operation, matrix<T const> d_root,
                matrix<T const> d_arguments, output dx, fields<T> gradient) const {
    auto const map = [&](head const& of, auto const& head_fields, matrix<T const> x, matrix<T const> d, matrix<T> to,
                         auto const& to_fields) {
      of.backward_params(ex, c, x, d, to_fields);
      matmul_add(ex, d, head_fields.weight, to);
    };
    map(operation_head(), w.operation, token(y, tokens, 0), d_operation, token(dy, tokens, 0), gradient.operation);
    map(root_head(), w.root, token(y, tokens, 1), d_root, token(dy, tokens, 1), gradient.root);
    map(argument_head(), w.arguments, as_matrix(y), d_arguments, as_matrix(dy), gradient.arguments);
    if (normalised()) norm.backward(ex, c, w.norm, s.last, s.norm, dy, dy, gradient.norm);
    layers.backward(ex, c.child(0), w.layers, in, s.layers, dy, dx, gradient.layers);
  }
};

}  // namespace triad
