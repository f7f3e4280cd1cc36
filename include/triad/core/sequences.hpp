// A batch of sequences of different lengths.  It says which rows of a matrix belong to each sequence.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/graphs.hpp"

namespace triad {

/// A batch of sequences.  Element i of sequence s is row begin[s] + i.  Rows after a sequence may be unused, so that
/// the sequence can grow.
struct sequence_batch {
  index_t count = 0;                     // b
  index_t rows = 0;                      // rows of the matrices that hold the sequences
  index_t longest = 0;                   // the largest length of a sequence
  vec<index_t const> size{nullptr, 0};   // (b)
  vec<index_t const> begin{nullptr, 0};  // (b) ascending

  /// Lists the views of the batch, for core/batch_views.hpp.
  template <class F>
  void each(F&& f) {
    f.value(count, rows, longest);
    f(size, count);
    f(begin, count);
  }
};

/// Returns a batch of sequences.  The nodes of each graph are one sequence.
constexpr sequence_batch nodes_of(graph_batch const& g) {
  return {g.dims.graphs, g.dims.nodes, g.dims.max_nodes, g.size, g.node_begin};
}

}  // namespace triad
