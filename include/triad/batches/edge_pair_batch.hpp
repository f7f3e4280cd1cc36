// The input of the encoder-decoder Edge Transformer is a batch of pairs of a source sequence and a target sequence.
// Each pair has two graphs: a graph of the source alone, and a graph of source and target together.
// SPDX-License-Identifier: Apache-2.0
//
// The graph of source and target is called the whole graph.  Its nodes are the tokens of the source followed by the
// tokens of the target, with edges between all nodes.  For a source of s tokens and a target of t tokens, there are s^2
// rows in the encoder and (s + t)^2 rows in the decoder.
#pragma once

#include <algorithm>
#include <optional>

#include "triad/batches/pair_batch.hpp"
#include "triad/batches/token_sequences.hpp"
#include "triad/core/batch_views.hpp"

namespace triad {

/// The sizes of a batch.  The host knows these sizes and plans memory with them.
struct edge_pair_dims {
  index_t pairs = 0;    // b
  graph_dims source;    // sizes of the graphs of sources
  graph_dims whole;     // sizes of the whole graphs
  index_t targets = 0;  // the number of tokens of all targets
};

/// Returns the sizes of a batch of one pair.  The numbers of tokens include `begin` and `end`.
constexpr edge_pair_dims edge_pair_dims_of(index_t source_tokens, index_t target_tokens) {
  return {1, dims_of(source_tokens), dims_of(source_tokens + target_tokens), target_tokens};
}
constexpr edge_pair_dims operator+(edge_pair_dims const& a, edge_pair_dims const& b) {
  return {a.pairs + b.pairs, a.source + b.source, a.whole + b.whole, a.targets + b.targets};
}
/// Lists the sizes for core/batch_sizes.hpp.
template <class F>
constexpr void each_count(edge_pair_dims& d, F&& f) {
  f.sum(d.pairs, "pairs");
  f.sum(d.source.rows, "edges of sources");
  f.sum(d.whole.rows, "edges of pairs");
  f.largest(d.source.max_nodes, "nodes in the largest source");
  f.largest(d.whole.max_nodes, "nodes in the largest pair");
  f.sum(d.whole.nodes, "nodes");
  f.sum(d.whole.triangles, "triangles");
  f.sum(d.targets, "tokens of targets");
  for (auto* unlisted :
       {&d.source.graphs, &d.source.nodes, &d.source.triangles, &d.source.further, &d.whole.graphs, &d.whole.further})
    f.sum(*unlisted);
}

/// Returns the smallest sizes into which a batch of sizes a and a batch of sizes b both fit.
constexpr edge_pair_dims larger(edge_pair_dims const& a, edge_pair_dims const& b) {
  return {std::max(a.pairs, b.pairs), larger(a.source, b.source), larger(a.whole, b.whole),
          std::max(a.targets, b.targets)};
}
constexpr bool fits(edge_pair_dims const& d, edge_pair_dims const& capacity) {
  return d.pairs <= capacity.pairs && fits(d.source, capacity.source) && fits(d.whole, capacity.whole) &&
         d.targets <= capacity.targets;
}

/// The edge whose state predicts the token that follows token i of a target.
enum class edge_readout {
  diagonal,   // (i, i), as in the paper
  from_begin  // (begin, i), from the target's first node
};

/// The options that a model and its batches must share.
struct edge_pair_layout {
  sequence_encoding encoding = sequence_encoding::relational;
  relative_edges relative{};
  edge_readout readout = edge_readout::diagonal;
  friend constexpr bool operator==(edge_pair_layout const&, edge_pair_layout const&) = default;
};

/// A batch of sources and of the targets that a decoder reads.  A loader puts graphs one after another, without
/// padding.  `sources` then gives the node at which each target begins.  In a batch that is padded to equal lengths,
/// `sources` is empty, and the batch has masks instead.
template <class T>
struct edge_pair_batch {
  edge_pair_dims sizes;
  token_sequences<T> source;                    // source graphs; relation: the table row for each edge
  token_sequences<T> whole;                     // whole graphs; relation: as in pair_edges_input; self is not read
  vec<index_t const> sources{nullptr, 0};       // (b) or (0); the number of source nodes of each whole graph
  vec<index_t const> target_token{nullptr, 0};  // (targets) what the decoder reads: `begin`, then the target
  vec<index_t const> target_self{nullptr, 0};   // (targets) the row of a token's edge (i, i) in the whole graph
  vec<index_t const> wanted{nullptr, 0};        // (targets) the row of the edge whose state predicts the next token
                                                // (edge_readout)
  vec<index_t const> origin{nullptr, 0};        // (rows of whole graphs) as in pair_edges_input
  vec<index_t const> source_row{nullptr, 0};    // (rows of sources) the row of a source's edge in the whole graph
  triangle_mask source_mask{}, mask{};          // for batches padded to equal lengths only
  std::optional<edge_pair_layout> layout{};     // the loader's layout; none if the batch was made by hand for the model

  edge_pair_dims const& dims() const { return sizes; }

  /// Lists the views of the batch for core/batch_views.hpp.
  template <class F>
  void each(F&& f) {
    f.value(sizes.pairs, sizes.targets);
    source.each(f);
    whole.each(f);
    f(sources, sizes.pairs);
    for (auto* view : {&target_token, &target_self, &wanted}) f(*view, sizes.targets);
    f(origin, sizes.whole.rows);
    f(source_row, sizes.source.rows);
    source_mask.each(f);
    mask.each(f);
  }
  /// Returns a batch of these sizes for planning memory.  The views of the batch have no memory.  `width` is the width
  /// of the model.
  static edge_pair_batch measured(edge_pair_dims const& z, index_t width) {
    edge_pair_batch full;
    full.sizes = z;
    full.source.graphs.dims = z.source;
    full.whole.graphs.dims = z.whole;
    full.source.waves = full.whole.waves = tensor<T const, dyn, dyn>(nullptr, z.whole.max_nodes, width);
    return without_memory(full);
  }
  static pair_answers measured_answers(edge_pair_dims const& z) { return {vec<index_t const>(nullptr, z.targets)}; }
};

}  // namespace triad
