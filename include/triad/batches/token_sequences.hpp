// Sentences as graphs of their tokens: what is known of tokens, of the edges between them, and of pairs of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/graphs.hpp"

namespace triad {

/// Sentences as graphs: nodes are tokens, edges all ordered pairs of tokens of one sentence.
template <class T>
struct token_sequences {
  graph_batch graphs;
  vec<index_t const> token;         // (nodes)
  vec<index_t const> relation;      // (rows) relative_position of every edge; read by relational encodings alone
  vec<index_t const> position;      // (nodes) place in the sentence; not read by relational encodings
  vec<index_t const> self;          // (nodes) the row of edge (i, i)
  tensor<T const, dyn, dyn> waves;  // (positions, d) position_waves; not read by relational encodings

  /// The views of the batch, for core/batch_views.hpp.
  template <class F>
  void each(F&& f) {
    graphs.each(f);
    for (auto* view : {&token, &position, &self}) f(*view, graphs.dims.nodes);
    f(relation, graphs.dims.rows);
    f.table(waves);
  }
};

/// Pairs of tokens, child and parent, whose relation is wanted; a root's is (i, i).  Both tokens are of one sentence.
struct token_pairs {
  vec<index_t const> edge{nullptr, 0};    // (pairs) row of the edge (child, parent)
  vec<index_t const> child{nullptr, 0};   // (pairs) row of the token
  vec<index_t const> parent{nullptr, 0};  // (pairs)

  constexpr index_t count() const { return edge.extent(0); }
};

/// The first state of an edge between two tokens: by their relative position, or by the position of each.
enum class sequence_encoding { relational, positional };

/// 0 .. 2 reach: which row of the table an edge from i to j has.
constexpr index_t relative_position(index_t i, index_t j, index_t reach) {
  index_t const apart = j - i;
  return reach + (apart < -reach ? -reach : apart > reach ? reach : apart);
}

/// Which row of the table an edge has between the tokens of a source and its target, relative positions clipped at
/// `reach`.
struct relative_edges {
  index_t reach = 32;

  /// Of two nodes of one side; i and j may be counted from anywhere.
  constexpr index_t within(index_t i, index_t j) const { return relative_position(i, j, reach); }
  constexpr index_t to_target() const { return 2 * reach + 1; }  // from a source's node to a target's
  constexpr index_t to_source() const { return 2 * reach + 2; }
  constexpr index_t relations() const { return 2 * reach + 3; }  // learned rows
  constexpr index_t begin() const {
    return relations();
  }  // of the first node's own edge: the row within(i, i), and `begin` added
  constexpr index_t count() const { return relations() + 1; }
  friend constexpr bool operator==(relative_edges const&, relative_edges const&) = default;
};

}  // namespace triad
