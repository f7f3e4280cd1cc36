// Sentences as graphs, with tokens, edges between tokens, and pairs of tokens.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/graphs.hpp"

namespace triad {

/// Sentences as graphs.  Nodes are tokens, and edges are all ordered pairs of tokens of one sentence.
template <class T>
struct token_sequences {
  graph_batch graphs;
  vec<index_t const> token;         // (nodes)
  vec<index_t const> relation;      // (rows) relation number of each edge, such as its relative_position; only
                                    // relational encodings read it
  vec<index_t const> position;      // (nodes) index in the sentence; relational encodings do not read it
  vec<index_t const> self;          // (nodes) the row of edge (i, i)
  tensor<T const, dyn, dyn> waves;  // (positions, d) position_waves; relational encodings do not read them

  /// Lists the views of the batch for core/batch_views.hpp.
  template <class F>
  void each(F&& f) {
    graphs.each(f);
    for (auto* view : {&token, &position, &self}) f(*view, graphs.dims.nodes);
    f(relation, graphs.dims.rows);
    f.table(waves);
  }
};

/// Pairs of a child token and a parent token for which the model computes the relation.  Both tokens are in the same
/// sentence.  The pair of a root i is (i, i).
struct token_pairs {
  vec<index_t const> edge{nullptr, 0};    // (pairs) row of the edge (child, parent)
  vec<index_t const> child{nullptr, 0};   // (pairs) row of the child token
  vec<index_t const> parent{nullptr, 0};  // (pairs) row of the parent token

  constexpr index_t count() const { return edge.extent(0); }
};

/// The initial state of an edge depends on the relative position of its two tokens (relational), on the positions of
/// both tokens (positional), or on the relative position and on both tokens (relational_ends).  relational and
/// relational_ends are the relational encodings.
enum class sequence_encoding { relational, positional, relational_ends };

/// Returns the table row for an edge from position i to position j, in 0 .. 2 reach.
constexpr index_t relative_position(index_t i, index_t j, index_t reach) {
  index_t const apart = j - i;
  return reach + (apart < -reach ? -reach : apart > reach ? reach : apart);
}

/// Computes the table row for an edge between tokens of a source and its target.  Relative positions are limited to
/// -reach .. reach.
struct relative_edges {
  index_t reach = 32;

  /// Returns the table row for two nodes of the same sequence.  The row depends only on j - i.
  constexpr index_t within(index_t i, index_t j) const { return relative_position(i, j, reach); }
  constexpr index_t to_target() const { return 2 * reach + 1; }  // from a source node to a target node
  constexpr index_t to_source() const { return 2 * reach + 2; }
  constexpr index_t relations() const { return 2 * reach + 3; }  // the number of learned rows
  constexpr index_t begin() const {
    return relations();
  }  // for the edge of the first node to itself: `begin` is added to the row within(i, i)
  constexpr index_t count() const { return relations() + 1; }
  friend constexpr bool operator==(relative_edges const&, relative_edges const&) = default;
};

}  // namespace triad
