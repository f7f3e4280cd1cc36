// Batches of few shapes, for backends that record work and replay it: graphs that fill a batch up to the next shape.
// SPDX-License-Identifier: Apache-2.0
//
// What is recorded has the sizes that it was recorded with, and shuffled batches of ragged data hardly ever have the
// same ones again.  So edges and nodes are rounded up to buckets a twelfth apart at most (8 below 96), and the
// difference is filled with graphs without a question:
//
//   sum of m = nodes that are missing,  sum of m^2 = edges that are missing      over the sizes m of these graphs
//
// Each row then belongs to a graph.  An added graph is computed as any other, its numbers are finite, no other graph
// sees it, and since it has no loss its gradients are zeros, which change no sum.  It comes after the
// batch, so that dropout draws for the batch what it draws without it, but in attention over sequences, which numbers
// its elements by the sizes of the whole batch, and for further questions, whose rows come after those of the added
// graphs.
//
// The shape follows from the batch and the capacity alone: a run that is resumed has the shapes of one that was not.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/graphs.hpp"

namespace triad {

/// The bucket of a count: the next multiple of 8, and of the largest power of two up to a twelfth of the count.
constexpr index_t bucket_of(index_t count) {
  index_t step = 8;
  while (step <= count / 24) step *= 2;
  return (count + step - 1) / step * step;
}

/// How many graphs a padded batch has, with a quarter of its own and eight to add at least: powers of two, and half as
/// much again, since a graph without nodes costs next to nothing.
constexpr index_t padded_graphs(index_t graphs) {
  index_t const least = graphs + graphs / 4 + 8;
  index_t power = 8;
  while (power < least) power *= 2;
  return power / 4 * 3 >= least ? power / 4 * 3 : power;
}

/// Room for padded batches of which each has at most `capacity` before it is padded: more graphs, which are small or
/// empty, and the edges and nodes of the next buckets.
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
/// The same, of graphs or of pairs, where the backend replays; elsewhere nothing is padded, and it is the capacity.
template <backend Ex, class Dims>
constexpr Dims padded_room_for(Dims const& capacity) {
  return replays<Ex> ? padded_room(capacity) : capacity;
}

/// Finds the graphs that pad a batch; allocates at construction.
class graph_padding {
 public:
  /// capacity: of batches before they are padded.
  explicit graph_padding(graph_dims const& capacity) : room_(padded_room(capacity)) {
    nodes_.reserve(static_cast<std::size_t>(room_.graphs));
  }

  /// Looks for the smallest shape that these sizes can be filled up to, of which some are skipped: a single node more
  /// cannot bring a hundred edges.  False where there is none in three buckets of edges: the batch stays as it is.
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
        nodes_.resize(static_cast<std::size_t>(dims_.graphs - batch.graphs));  // the others have no node
        return true;
      }
    }
    dims_ = batch;
    return false;
  }

  /// Of the batch with its padding.  triangles: no fewer than there are, since nothing is planned by their number.
  graph_dims const& dims() const { return dims_; }
  /// How many nodes each added graph has, the largest first; the last ones may have none.
  std::span<index_t const> nodes() const { return nodes_; }

 private:
  /// Kernels are chosen by the largest graph up to 16 nodes, and cover larger ones in tiles.
  static constexpr index_t longest_of(index_t n) { return n <= 6 ? 6 : (n + 15) / 16 * 16; }

  /// Appends sizes of at most `graphs` graphs of at most `largest` nodes that have this number of nodes and edges in
  /// all; or nothing, and false.  Goes back where it took too large a graph; rarely over a thousand steps.
  bool cut(index_t nodes, index_t rows, index_t graphs, index_t largest) {
    if (nodes == 0) return rows == 0;
    // Between graphs of about one size, as many as may be, and graphs of the largest size.
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

/// pad(), which adds graphs without a question; upload(), whose batch is returned; then take_back(), which
/// takes away what was added, also where one of both throws.
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
