// The input of models of labelled graphs: the graphs, the labels of their edges, and questions.  A question is a pair
// of nodes of a graph.
// SPDX-License-Identifier: Apache-2.0
//
// A batch of b graphs may have f further questions about any of these graphs.  All further questions together have a
// weight w.  Let m be the number of graphs whose answer is known, and n the number of further questions whose answer is
// known.  Then
//
//   loss = 1/m sum over graphs of loss(its question) + w/m sum over further questions of loss(question)
//
// With this definition, the loss does not change if a batch is computed in parts (train/trainer.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "triad/core/batch_views.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

/// A batch of b labelled graphs and q = b + f questions about how `source` and `target` are related.  Question i < b is
/// about graph i.
struct graph_queries {
  graph_batch graphs;
  vec<index_t const> label;                       // (rows) the label of each edge; 0: no edge
  vec<index_t const> query_edge;                  // (q) the row of edge (source, target)
  vec<index_t const> query_source;                // (q) the index of the source among the nodes of all graphs
  vec<index_t const> query_target;                // (q) the index of the target among the nodes of all graphs
  triangle_mask mask{};                           // for batches padded to equal sizes only
  vec<std::uint8_t const> edge_mask{nullptr, 0};  // (rows) or (0); 1 if the edge has a padding node
  vec<double const> further_share{nullptr, 0};    // (1) w n/m if f > 0; else (0)

  /// Lists the views of the batch for core/batch_views.hpp.
  template <class F>
  void each(F&& f) {
    graphs.each(f);
    f(label, graphs.dims.rows);
    for (auto* view : {&query_edge, &query_source, &query_target}) f(*view, graphs.dims.questions());
    f.maybe(edge_mask);
    f.maybe(further_share);
    mask.each(f);
  }
  /// Returns a batch of these sizes for planning memory.  The views of the batch have no memory.
  static graph_queries measured(graph_dims const& dims) {
    graph_queries full;
    full.graphs.dims = dims;
    if (dims.further > 0) full.further_share = vec<double const>(nullptr, 1);
    return without_memory(full);
  }
};

namespace detail {
/// Calls look_up(), which gathers the table rows of the labels of all edges.  If the table has no row for a label,
/// throws contract_violation.  The message names the edge and its graph.  Only hosts detect a label without a row.
template <class F>
void by_known_labels(graph_batch const& graphs, F const& look_up) {
  try {
    look_up();
  } catch (index_out_of_range const& e) {
    index_t g = 0;
    while (g + 1 < graphs.dims.graphs && graphs.edge_begin(g + 1) <= e.row) ++g;
    index_t const n = graphs.size(g), at = e.row - graphs.edge_begin(g);
    auto const text = [](index_t v) { return std::to_string(v); };
    throw contract_violation("a label of the batch: edge (" + text(at / n) + ", " + text(at % n) + ") of graph " +
                             text(g) + " has label " + text(e.index) + ", and the model knows 0 to " +
                             text(e.rows - 1) + "; build it with more labels, or mend the data");
  }
}
}  // namespace detail

/// The base class of models of labelled graphs, with the functions that a trainer needs.  The model must have a member
/// function targets(), which returns the number of logits.
template <class Model, class T>
struct answers_questions {
  using output = tensor<T, dyn, dyn>;  // (q, targets)
  using answers = vec<index_t const>;  // (q) a negative answer is not in the loss

  output plan_output(arena& place, graph_dims const& dims) const {
    return place.make<output>(dims.questions(), static_cast<Model const&>(*this).targets());
  }
  /// Returns a batch and targets of these sizes for planning memory.  Their views have no memory.
  static auto measured_input(graph_dims const& dims) { return Model::input::measured(dims); }
  static answers measured_answers(graph_dims const& dims) { return answers(nullptr, dims.questions()); }
  /// Computes the loss, as defined at the beginning of this header, and its gradient.
  template <backend Ex>
  void loss(Ex& ex, arena& scratch, graph_queries const& in, output logits, answers const& targets, vec<T> loss,
            output dlogits) const {
    index_t const b = in.graphs.dims.graphs, f = in.graphs.dims.further;
    if (f == 0) return cross_entropy(ex, logits, targets, loss, dlogits);
    auto const frame = scratch.open();
    auto const of_further = scratch.make<vec<T>>(1);
    auto const d_further = rows_of(dlogits, b, f);
    auto const* const share = in.further_share.data_handle();
    cross_entropy(ex, rows_of(logits, 0, b), make_vec(targets.data_handle(), b), loss, rows_of(dlogits, 0, b));
    cross_entropy(ex, rows_of(logits, b, f), make_vec(targets.data_handle() + b, f), of_further, d_further);
    transform(ex, detail::take_fraction<T>{share}, d_further, d_further);
    transform(ex, detail::add_fraction<T>{share}, loss, of_further, loss);
  }
};

}  // namespace triad
