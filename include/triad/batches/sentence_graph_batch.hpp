// The input and targets of models that map a sentence to a labelled graph.  The nodes of the graph are tokens of the
// sentence and slots.  A slot stands for a node that no token names, such as a variable.
// SPDX-License-Identifier: Apache-2.0
//
// A sentence has n tokens and K slots.  The layers compute states of all ordered pairs of these n + K nodes.  The graph
// has m queried nodes: first the queried tokens, in the order of the sentence, then the K slots.  The heads answer for
// the queried nodes only:
//
//   edges    labels of each ordered pair (a, b) of queried nodes, any number of them
//   nodes    labels of each queried node, any number of them
//   graph    one label of the whole graph
#pragma once

#include <cstdint>

#include "triad/batches/token_sequences.hpp"
#include "triad/core/batch_sizes.hpp"
#include "triad/core/batch_views.hpp"
#include "triad/core/grids.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// The number of words before a queried node that sentence_graph_batch::before has.
inline constexpr index_t words_before_node = 3;

/// The sizes of a batch: of the graphs over which the layers run, and of three batches of grids.
struct sentence_graph_dims {
  graph_dims graphs;
  grid_dims grid;        // rows: the tokens of each sentence; columns: its queried nodes
  grid_dims token_grid;  // rows and columns: the tokens of each sentence
  grid_dims slot_grid;   // rows: the slots of each sentence; columns: its tokens

  /// The numbers of edges in the lists of sentence_graph_batch, from which a head chooses one: pair_edges, role_edges
  /// and anchor_edges.
  constexpr index_t read_by_pairs() const { return grid.pairs + grid.columns + grid.graphs; }
  constexpr index_t read_by_roles() const { return grid.cells + grid.rows + grid.graphs; }
  constexpr index_t read_by_anchors() const {
    return token_grid.cells + grid.rows + 2 * slot_grid.cells + slot_grid.rows + grid.graphs;
  }
};

/// Returns the sizes of a batch of one sentence with n tokens and k slots, of which m nodes are queried.
constexpr sentence_graph_dims sentence_graph_of(index_t n, index_t k, index_t m) {
  return {dims_of(n + k), grid_of(n, m), grid_of(n, n), grid_of(k, n)};
}
constexpr sentence_graph_dims operator+(sentence_graph_dims const& a, sentence_graph_dims const& b) {
  return {a.graphs + b.graphs, a.grid + b.grid, a.token_grid + b.token_grid, a.slot_grid + b.slot_grid};
}
constexpr sentence_graph_dims larger(sentence_graph_dims const& a, sentence_graph_dims const& b) {
  return {larger(a.graphs, b.graphs), larger(a.grid, b.grid), larger(a.token_grid, b.token_grid),
          larger(a.slot_grid, b.slot_grid)};
}
constexpr bool fits(sentence_graph_dims const& d, sentence_graph_dims const& capacity) {
  return fits(d.graphs, capacity.graphs) && fits(d.grid, capacity.grid) && fits(d.token_grid, capacity.token_grid) &&
         fits(d.slot_grid, capacity.slot_grid);
}
/// Lists the sizes for core/batch_sizes.hpp.
template <class F>
constexpr void each_count(sentence_graph_dims& d, F&& f) {
  f.sum(d.graphs.graphs, "graphs");
  f.sum(d.graphs.rows, "edges");
  f.sum(d.graphs.nodes);
  f.sum(d.graphs.triangles);
  f.largest(d.graphs.max_nodes, "nodes in the largest");
  f.sum(d.grid.graphs);
  f.sum(d.grid.rows, "tokens");
  f.sum(d.grid.columns, "queried nodes");
  f.sum(d.grid.cells);
  f.sum(d.grid.pairs);
  f.largest(d.grid.max_rows);
  f.largest(d.grid.max_columns);
  for (auto* grid : {&d.token_grid, &d.slot_grid}) {
    for (auto* count : {&grid->graphs, &grid->rows, &grid->columns, &grid->cells, &grid->pairs}) f.sum(*count);
    f.largest(grid->max_rows);
    f.largest(grid->max_columns);
  }
}

/// A batch of sentences with their queried nodes.  The rows of the lists of edges are rows of the states of
/// all ordered pairs of tokens and slots.
template <class T>
struct sentence_graph_batch : token_sequences<T> {
  grid_batch grid;
  vec<index_t const> members;     // (b) the number of queried nodes that are tokens
  vec<index_t const> role_edges;  // (cells + tokens + b): the edges (t, a), (t, t), and one edge of each graph
  vec<index_t const> pair_edges;  // (pairs + columns + b): the edges (a, b), (a, a), and one edge of each graph
  vec<index_t const> score_row;   // (pairs): pair p has the number p, or pairs + a if it is the pair (a, a)
  // (3 columns): the words before each queried token, from left to right.  The number of words stands for a place
  // before the first word, and for the places before a slot.
  vec<index_t const> before;
  // For slots that are anchored at tokens.  c is a token, k is a slot, and S is the number of cells of slot_grid.
  grid_batch token_grid, slot_grid;
  vec<index_t const> queried;  // (columns) the number of each queried node among the tokens and slots of its sentence
  // (cells of token_grid + tokens + 2 S + slots + b): the edges (t, c) and (t, t), the edges (k, c) and (c, k), both in
  // the order of the cells (k, c), the edges (k, k), and one edge of each graph
  vec<index_t const> anchor_edges;

  sentence_graph_dims dims() const { return {this->graphs.dims, grid.dims, token_grid.dims, slot_grid.dims}; }

  template <class F>
  void each(F&& f) {
    token_sequences<T>::each(f);
    grid.each(f);
    f(members, grid.dims.graphs);
    f(role_edges, dims().read_by_roles());
    f(pair_edges, dims().read_by_pairs());
    f(score_row, grid.dims.pairs);
    f(before, words_before_node * grid.dims.columns);
    token_grid.each(f);
    slot_grid.each(f);
    f(queried, grid.dims.columns);
    f(anchor_edges, dims().read_by_anchors());
  }
  /// Returns a batch of these sizes for planning memory.  The views of the batch have no memory.
  static sentence_graph_batch measured(sentence_graph_dims const& dims) {
    sentence_graph_batch full;
    full.graphs.dims = dims.graphs;
    full.grid.dims = dims.grid;
    full.token_grid.dims = dims.token_grid;
    full.slot_grid.dims = dims.slot_grid;
    full.waves = tensor<T const, dyn, dyn>(nullptr, index_t{0}, index_t{0});
    return without_memory(full);
  }
};

/// The numbers of labels.
struct graph_label_counts {
  index_t edge = 0;   // R, at least 1
  index_t node = 0;   // U; 0: nodes have no labels
  index_t graph = 0;  // G; 0: graphs have no label
};

/// The scores of labels, or their gradients.  probability_form says which probability an edge or node score stands for.
template <class T>
struct graph_scores {
  tensor<T, dyn, dyn> edge;   // (pairs, R)
  tensor<T, dyn, dyn> node;   // (columns, U)
  tensor<T, dyn, dyn> graph;  // (b, G): logits
  tensor<T, dyn, dyn> bag;    // (b, R), or (0, R): whether any pair of the graph has the label
  vec<T> pointers;            // (pairs), or (0): how much node a takes over the roles of node b

  /// Calls f(view) for each member.
  template <class F>
  void each(F&& f) const {
    f(edge);
    f(node);
    f(graph);
    f(bag);
    f(pointers);
  }
};

/// The factors of the parts of the loss.  They lie in the backend's memory, so that a recorded update reads the factors
/// of its own batch.
enum class graph_loss_part { answers, bag, pointers, count };

/// The targets.  A target of edges, nodes or bags is 1 if the label is there, and 0 if not.
template <class T>
struct graph_answers {
  tensor<std::uint8_t const, dyn, dyn> edge;  // (pairs, R)
  tensor<std::uint8_t const, dyn, dyn> node;  // (columns, U)
  tensor<std::uint8_t const, dyn, dyn> bag;   // (b, R)
  vec<index_t const> graph;                   // (b), or negative: the graph has no label
  vec<T const> factor;                        // (3), in the order of graph_loss_part

  template <class F>
  void each(F&& f) {
    f(edge);
    f(node);
    f(bag);
    f(graph);
    f(factor);
  }
  vec<T const> factor_of(graph_loss_part part) const {
    return make_vec(address_of(factor, static_cast<index_t>(part)), index_t{1});
  }
  /// Returns targets of these sizes for planning memory.  The views of the targets have no memory.
  static graph_answers measured(grid_dims const& dims, graph_label_counts const& labels) {
    using targets = tensor<std::uint8_t const, dyn, dyn>;
    return {.edge = targets(nullptr, dims.pairs, labels.edge),
            .node = targets(nullptr, dims.columns, labels.node),
            .bag = targets(nullptr, dims.graphs, labels.edge),
            .graph = vec<index_t const>(nullptr, dims.graphs),
            .factor = vec<T const>(nullptr, static_cast<index_t>(graph_loss_part::count))};
  }
};

}  // namespace triad
