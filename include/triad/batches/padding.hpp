// Pads batches of graphs to a few shapes, for backends that record work and replay it, such as CUDA graphs.
// SPDX-License-Identifier: Apache-2.0
//
// Recorded work can be replayed only for a batch of the same sizes.  Shuffled batches rarely have equal numbers of
// edges and nodes.  So the numbers of edges and nodes of a batch are rounded up to certain numbers, which are called
// buckets.  Up to 96, the buckets are the multiples of 8.  Above 96, the distance from a bucket to the next is at most
// a twelfth of the bucket.  Graphs without a question are added for the missing nodes and edges:
//
//   sum of m = missing nodes,  sum of m^2 = missing edges      over the sizes m of these graphs
//
// So each row belongs to a graph.  An added graph is computed like any other graph.  All numbers of an added graph are
// finite, and no other graph depends on these numbers.  An added graph has no loss, so its gradients are zero and do
// not change any sum.  Added graphs follow the graphs of the batch, so padding does not change the dropout masks of the
// batch.  There are two exceptions.  In attention over sequences, the random number of an element depends on the sizes
// of the whole batch.  The rows of further questions follow the rows of the added graphs, so the random numbers of
// further questions change.
//
// The shape depends only on the batch and the capacity, so a resumed run has the same shapes as an uninterrupted run.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/graphs.hpp"

namespace triad {

/// Returns the count rounded up to a multiple of a step.  The step is the largest power of two that is at most a
/// twelfth of the count, but is at least 8.
constexpr index_t bucket_of(index_t count) {
  index_t step = 8;
  while (step <= count / 24) step *= 2;
  return (count + step - 1) / step * step;
}

/// Returns the number of graphs in a padded batch: the smallest power of two, or three quarters of a power of two, that
/// is at least 5/4 of `graphs` plus 8.  A graph without nodes costs almost nothing.
constexpr index_t padded_graphs(index_t graphs) {
  index_t const least = graphs + graphs / 4 + 8;
  index_t power = 8;
  while (power < least) power *= 2;
  return power / 4 * 3 >= least ? power / 4 * 3 : power;
}

/// Returns the capacity that padded batches need if they have at most `capacity` before padding.  The numbers of edges
/// and nodes are rounded up to the next buckets.  The number of graphs grows, because padding adds small and empty
/// graphs.
constexpr graph_dims padded_room(graph_dims const& capacity) {
  constexpr index_t most = std::numeric_limits<index_t>::max();
  index_t const rows = bucket_of(capacity.rows + 1), longest = std::max<index_t>(capacity.max_nodes, 1);
  return {.graphs = padded_graphs(capacity.graphs),
          .rows = rows,
          .nodes = bucket_of(capacity.nodes + 1),
          .triangles = rows > most / longest ? most : rows * longest,
          .max_nodes = capacity.max_nodes,
          .further = bucket_of(capacity.further)};
}
/// Returns padded_room(capacity), for graphs or for pairs, if the backend replays recorded work.  Otherwise returns
/// `capacity`.
template <backend Ex, class Dims>
constexpr Dims padded_room_for(Dims const& capacity) {
  return replays<Ex> ? padded_room(capacity) : capacity;
}

/// Computes the sizes of the graphs that pad a batch.  Allocates memory only in the constructor.
class graph_padding {
 public:
  /// `capacity` is the capacity for batches before padding.
  explicit graph_padding(graph_dims const& capacity) : room_(padded_room(capacity)) {
    nodes_.reserve(static_cast<std::size_t>(room_.graphs));
  }

  /// Finds the smallest shape to which a batch of these sizes can be padded.  Some shapes are impossible: for example,
  /// one added node cannot have a hundred edges.  Returns false, and pads nothing, if none of the next three buckets of
  /// edges has a possible shape.
  bool find(graph_dims const& batch) {
    dims_ = batch;
    nodes_.clear();
    if (batch.graphs == 0) return false;
    dims_.graphs = padded_graphs(batch.graphs);
    dims_.max_nodes = std::min(longest_of(batch.max_nodes), room_.max_nodes);
    dims_.rows = batch.rows;
    for (int bucket = 0; bucket < 3; ++bucket) {
      dims_.rows = bucket_of(dims_.rows + 1);
      if (dims_.rows > room_.rows) break;
      index_t const rows = dims_.rows - batch.rows;
      for (dims_.nodes = bucket_of(batch.nodes + 1); dims_.nodes <= room_.nodes && dims_.nodes - batch.nodes <= rows;
           dims_.nodes = bucket_of(dims_.nodes + 1)) {
        steps_ = 0;
        if (!cut(dims_.nodes - batch.nodes, rows, dims_.graphs - batch.graphs, dims_.max_nodes)) continue;
        dims_.triangles = dims_.rows * dims_.max_nodes;
        dims_.further = bucket_of(batch.further);
        nodes_.resize(static_cast<std::size_t>(dims_.graphs - batch.graphs));  // the remaining graphs have no nodes
        return true;
      }
    }
    dims_ = batch;
    return false;
  }

  /// The sizes of the padded batch.  `triangles` is only an upper bound.  No memory is planned with `triangles`.
  graph_dims const& dims() const { return dims_; }
  /// The number of nodes of each added graph, in descending order.  The last numbers may be 0.
  std::span<index_t const> nodes() const { return nodes_; }

 private:
  /// Rounds up the number of nodes of the largest graph.  For graphs of up to 16 nodes, this number decides which
  /// kernel runs.  Larger graphs are computed in tiles.
  static constexpr index_t longest_of(index_t n) { return n <= 6 ? 6 : (n + 15) / 16 * 16; }

  /// Divides `nodes` nodes and `rows` edges among at most `graphs` graphs, each with at most `largest` nodes.  Appends
  /// the number of nodes of each graph.  Returns false, and appends nothing, if there is no such division.  The search
  /// goes back if a graph was too large.  The search rarely takes more than a thousand steps.
  bool cut(index_t nodes, index_t rows, index_t graphs, index_t largest) {
    if (nodes == 0) return rows == 0;
    // `rows` is at least the number of edges of `graphs` graphs of equal size, and at most the number of edges of
    // graphs of the largest size.
    if (++steps_ > most_steps || graphs == 0 || rows < nodes || rows > nodes * largest || nodes * nodes > graphs * rows)
      return false;
    index_t n = std::min(largest, nodes);
    while (n * n > rows) --n;
    for (; n * nodes >= rows && n * graphs >= nodes; --n) {
      nodes_.push_back(n);
      if (cut(nodes - n, rows - n * n, graphs - 1, n)) return true;
      nodes_.pop_back();
    }
    return false;
  }

  static constexpr int most_steps = 20000;

  graph_dims room_, dims_;
  std::vector<index_t> nodes_;
  int steps_ = 0;
};

/// Calls pad(), which adds graphs without a question, and returns the result of upload().  At the end take_back()
/// removes the added graphs, even if pad() or upload() throws.
template <class Pad, class Upload, class TakeBack>
auto upload_with(Pad&& pad, Upload&& upload, TakeBack&& take_back) {
  struct in_scope {
    TakeBack& then;
    ~in_scope() { then(); }
  } const scope{take_back};
  pad();
  return upload();
}

}  // namespace triad
