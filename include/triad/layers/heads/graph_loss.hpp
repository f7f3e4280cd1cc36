// The loss of heads that label the edges and nodes of a graph, and the graph itself.
// SPDX-License-Identifier: Apache-2.0
//
//   loss = 1/b (cross entropies of the labels of all pairs and of all nodes) + mean cross entropy of the graphs' labels
//        + bag / b (cross entropies of the labels that any pair of a graph has)
//        + pointers / b (penalty of nodes that keep their own roles, ops/list_pointers.hpp)
//
// Pairs and nodes may have any number of labels, so each label has a binary cross entropy of its own.  The graph has
// one label at most, so its labels have a softmax.
#pragma once

#include "triad/batches/sentence_graph_batch.hpp"
#include "triad/ops/binary_cross_entropy.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/list_pointers.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// Computes the loss and its gradient.  Overwrites loss (1) and d.
template <backend Ex, class T>
void graph_loss(Ex& ex, arena& scratch, probability_form form, sentence_graph_batch<T> const& in,
                graph_scores<T> const& scores, graph_answers<T> const& answers, vec<T> loss, graph_scores<T> const& d) {
  auto const frame = scratch.open();
  auto const parts = scratch.make<vec<T>>(5);
  fill(ex, T(0), parts);
  auto const part = [&](index_t k) { return make_vec(parts.data_handle() + k, 1); };  // null view while planning
  auto const labels = [&](auto const& x, auto const& target, graph_loss_part weight, index_t k, auto const& dx) {
    if (x.size() > 0)
      binary_cross_entropy(ex, scratch, form, matrix<T const>(as_matrix(x)), as_matrix(target),
                           answers.factor_of(weight), part(k), as_matrix(dx));
  };
  labels(scores.edge, answers.edge, graph_loss_part::answers, 0, d.edge);
  labels(scores.node, answers.node, graph_loss_part::answers, 1, d.node);
  if (scores.graph.size() > 0) cross_entropy(ex, scores.graph, answers.graph, part(2), d.graph);
  labels(scores.bag, answers.bag, graph_loss_part::bag, 3, d.bag);
  if (scores.pointers.size() > 0)
    list_penalty(ex, scratch, in.grid, in.members, vec<T const>(scores.pointers),
                 answers.factor_of(graph_loss_part::pointers), part(4), d.pointers);
  sum(ex, scratch, parts, loss);
}

}  // namespace triad
