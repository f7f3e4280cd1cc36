// The input and targets of dependency parsers.  The input is a batch of sentences.  The targets of a token are its
// parent and its relation to the parent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/batches/sentence_batch.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/arc_cross_entropy.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// A batch of sentences, and the pairs of tokens for which the model computes the relation.  In training, there is one
/// pair for each token in order: the token and its target parent.  Outside of training, there are no pairs.
template <class T>
struct dependency_batch : sentence_batch<T> {
  token_pairs pairs{};

  template <class F>
  void each(F&& f) {
    sentence_batch<T>::each(f);
    for (auto* view : {&pairs.edge, &pairs.child, &pairs.parent}) f(*view, this->graphs.dims.nodes);
  }
  /// Returns a batch of these sizes for planning memory.  The views of the batch have no memory.
  static dependency_batch measured(graph_dims const& dims, index_t width) {
    return without_memory(dependency_batch{sentence_batch<T>::measured(dims, width)});
  }
};

/// Scores of parents and logits of relations, or their gradients.
template <class T>
struct dependency_scores {
  vec<T> arc;                    // (rows) the score of each edge (child, parent)
  tensor<T, dyn, dyn> relation;  // (nodes, relations) the logits of the pairs in training; not written if there are no
                                 // pairs

  static dependency_scores plan(arena& place, graph_dims const& dims, index_t relations) {
    auto const arc = place.make<vec<T>>(dims.rows);
    return {arc, place.make<tensor<T, dyn, dyn>>(dims.nodes, relations)};
  }
  /// Calls f(view) for each member.
  template <class F>
  void each(F&& f) const {
    f(arc);
    f(relation);
  }
};

/// The targets of each token.  A negative number means that the token has no target.
struct dependency_answers {
  vec<index_t const> parent;    // (nodes) index of the parent in its sentence; a root's parent is the root itself
  vec<index_t const> relation;  // (nodes)

  template <class F>
  void each(F&& f) {
    f(parent);
    f(relation);
  }
  /// Returns targets of these sizes for planning memory.  The views of the targets have no memory.
  static dependency_answers measured(graph_dims const& dims) {
    vec<index_t const> const each(nullptr, dims.nodes);
    return {each, each};
  }
};

/// Computes the mean cross entropy of the parents and the mean cross entropy of the relations to the target parents.
/// Overwrites loss (1) with the sum of both, and all of d with the gradient of the sum.
template <backend Ex, class T>
void dependency_loss(Ex& ex, arena& scratch, graph_batch const& graphs, dependency_scores<T> const& scores,
                     dependency_answers const& answers, vec<T> loss, dependency_scores<T> const& d) {
  auto const frame = scratch.open();
  auto const parts = scratch.make<vec<T>>(2);
  auto const part = [&](index_t k) { return make_vec(parts.data_handle() + k, 1); };  // null view while planning
  arc_cross_entropy(ex, scratch, {}, graphs, vec<T const>(scores.arc), answers.parent, part(0), d.arc);
  cross_entropy(ex, scores.relation, answers.relation, part(1), d.relation);
  sum(ex, scratch, parts, loss);
}

}  // namespace triad
