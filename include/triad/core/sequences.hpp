// A ragged batch of sequences: which rows of a matrix belong to each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/graphs.hpp"

namespace triad {

/// Place i of sequence s is row begin[s] + i.  Rows of no sequence may lie between two of them: room for what comes.
struct sequence_batch {
  index_t count = 0;                     // b
  index_t rows = 0;                      // of the matrices that hold them
  index_t longest = 0;                   // no sequence is longer
  vec<index_t const> size{nullptr, 0};   // (b)
  vec<index_t const> begin{nullptr, 0};  // (b) ascending

  /// The views of the batch, for core/batch_views.hpp.
  template <class F>
  void each(F&& f) {
    f.value(count, rows, longest);
    f(size, count);
    f(begin, count);
  }
};

/// The nodes of each graph as a sequence.
constexpr sequence_batch nodes_of(graph_batch const& g) {
  return {g.dims.graphs, g.dims.nodes, g.dims.max_nodes, g.size, g.node_begin};
}

}  // namespace triad
