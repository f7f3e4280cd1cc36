// Input of the encoder-decoder Edge Transformer: pairs of a source sequence and a target sequence, of any lengths. Each
// pair has two graphs: one of the source alone, and one of source and target together.
// SPDX-License-Identifier: Apache-2.0
//
// The graph of both is called the whole graph.  It has the source's nodes first and then the target's, with edges
// between all of them.  So a pair of s and t tokens has s^2 rows in the encoder and (s + t)^2 rows in the decoder.
#pragma once

#include <algorithm>
#include <optional>

#include "triad/batches/pair_batch.hpp"
#include "triad/batches/token_sequences.hpp"
#include "triad/core/batch_views.hpp"

namespace triad {

/// The sizes of a batch, which are known on the host and from which memory is planned.
struct edge_pair_dims {
  index_t pairs = 0;    // b
  graph_dims source;    // sizes of the graphs of sources
  graph_dims whole;     // sizes of the whole graphs
  index_t targets = 0;  // the number of tokens of all targets
};

/// Returns the dims of one pair whose sequences have these numbers of tokens, including `begin` and `end`.
constexpr edge_pair_dims edge_pair_dims_of(index_t source_tokens, index_t target_tokens) {
  return {1, dims_of(source_tokens), dims_of(source_tokens + target_tokens), target_tokens};
}
constexpr edge_pair_dims operator+(edge_pair_dims const& a, edge_pair_dims const& b) {
  return {a.pairs + b.pairs, a.source + b.source, a.whole + b.whole, a.targets + b.targets};
}
/// Lists the counts of the dims for core/batch_sizes.hpp.
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

/// Returns the smallest dims that hold a batch of dims a and also one of dims b.
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

/// Sources, and the part of their targets that a decoder has seen.  Loaders put graphs one after another, without
/// padding, and `sources` gives the node at which each target begins.  Batches that are padded to equal lengths leave
/// `sources` empty and use masks instead.
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
  /// Returns a batch of these sizes for memory planning; its views have no memory.  width: the model's width.
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
