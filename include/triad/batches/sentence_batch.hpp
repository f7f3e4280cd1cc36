// The input and targets of parsers.  The input is a batch of sentences, which are sequences of tokens.  The targets of
// a token are its parent and four labels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/batches/label_views.hpp"
#include "triad/batches/token_sequences.hpp"
#include "triad/core/batch_views.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/arc_cross_entropy.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// A batch of sentences, with masks of padding.  If some tokens were dropped, the batch also has the original tokens.
template <class T>
struct sentence_batch : token_sequences<T> {
  triangle_mask mask{};                           // for batches padded to equal lengths only
  vec<std::uint8_t const> edge_mask{nullptr, 0};  // (rows) or (0); 1 if the edge has a padding node
  vec<index_t const> word{nullptr, 0};            // (nodes) the original tokens; or (0) if no token was dropped

  /// Returns the original tokens.
  vec<index_t const> words() const { return word.extent(0) > 0 ? word : this->token; }

  template <class F>
  void each(F&& f) {
    token_sequences<T>::each(f);
    f.maybe(edge_mask);
    f.maybe(word);
    mask.each(f);
  }
  /// Returns a batch of these sizes for planning memory.  The views of the batch have no memory.  `width` is the width
  /// of the model.
  static sentence_batch measured(graph_dims const& dims, index_t width) {
    sentence_batch full;
    full.graphs.dims = dims;
    full.waves = tensor<T const, dyn, dyn>(nullptr, dims.max_nodes, width);
    return without_memory(full);
  }
};

/// Scores of parents and logits of labels, or their gradients.
template <class T>
struct parse_scores {
  vec<T> parent;          // (rows) the score of each edge
  label_views<T> labels;  // (nodes, labels) for each token

  static parse_scores plan(arena& place, graph_dims const& dims, label_counts const& z) {
    auto const parent = place.make<vec<T>>(dims.rows);
    return {parent, label_views<T>::plan(place, dims.nodes, z)};
  }
  /// Calls f(view) for each member.
  template <class F>
  void each(F&& f) const {
    f(parent);
    f(labels.role);
    f(labels.category);
    f(labels.noun_type);
    f(labels.verb);
  }
};

/// The targets of each token.  A negative number means that the token has no target.
struct parse_answers {
  vec<index_t const> parent;  // (nodes) index of the parent in its sentence; a root's parent is the root itself
  vec<index_t const> role, category, noun_type, verb;  // (nodes)

  template <class F>
  void each(F&& f) {
    for (auto* view : {&parent, &role, &category, &noun_type, &verb}) f(*view);
  }
  /// Returns targets of these sizes for planning memory.  The views of the targets have no memory.
  static parse_answers measured(graph_dims const& dims) {
    vec<index_t const> const each(nullptr, dims.nodes);
    return {each, each, each, each, each};
  }
};

/// Computes the mean cross entropy of the parents and of each of the four kinds of labels, and the sum of these five
/// numbers.  Overwrites loss (1) with the sum, d with the gradient of the sum, and parts (5) with the five mean cross
/// entropies in the order of parse_answers.
template <backend Ex, class T>
void parse_loss(Ex& ex, arena& scratch, arc_cross_entropy_options const& arcs, graph_batch const& graphs,
                parse_scores<T> const& scores, parse_answers const& answers, vec<T> loss, vec<T> parts,
                parse_scores<T> const& d) {
  expect_shape("parse_loss", "parts", parts, {5});
  auto const part = [&](index_t k) { return make_vec(parts.data_handle() + k, 1); };  // null view while planning
  arc_cross_entropy(ex, scratch, arcs, graphs, vec<T const>(scores.parent), answers.parent, part(0), d.parent);
  cross_entropy(ex, scores.labels.role, answers.role, part(1), d.labels.role);
  cross_entropy(ex, scores.labels.category, answers.category, part(2), d.labels.category);
  cross_entropy(ex, scores.labels.noun_type, answers.noun_type, part(3), d.labels.noun_type);
  cross_entropy(ex, scores.labels.verb, answers.verb, part(4), d.labels.verb);
  sum(ex, scratch, parts, loss);
}

/// The base class of parsers, with the functions that a trainer needs.  The model must have the members `heads`,
/// width(), and `readout`, which says how the scores of parents are read from the scores of edges.
template <class Model, class T>
struct parses_sentences {
  using value_type = T;
  using input = sentence_batch<T>;
  using output = parse_scores<T>;
  using answers = parse_answers;

  output plan_output(arena& place, graph_dims const& dims) const {
    return output::plan(place, dims, self().heads.labels);
  }
  /// Returns sentences and targets of these sizes for planning memory.  Their views have no memory.
  input measured_input(graph_dims const& dims) const { return input::measured(dims, self().width()); }
  static answers measured_answers(graph_dims const& dims) { return answers::measured(dims); }
  /// Computes the loss, which is the sum of five mean cross entropies, and its gradient.
  template <backend Ex>
  void loss(Ex& ex, arena& scratch, input const& in, output const& scores, answers const& targets, vec<T> loss,
            output const& d) const {
    auto const frame = scratch.open();
    parse_loss(ex, scratch, arcs_of(in), in.graphs, scores, targets, loss, scratch.make<vec<T>>(5), d);
  }

  /// Returns the options that say how the scores of parents are read from the scores of edges.
  arc_cross_entropy_options arcs_of(input const& in) const { return {self().readout, in.edge_mask}; }

 private:
  Model const& self() const { return static_cast<Model const&>(*this); }
};

}  // namespace triad
