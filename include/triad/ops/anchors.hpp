// Anchors of slots.  A slot stands for a node that no token names.  Its anchor is a token whose roles it takes over.
// The result is a matrix of weights for mix_columns(), from the tokens of a sentence to the nodes of its graph.
// SPDX-License-Identifier: Apache-2.0
//
// A sentence has n tokens.  Its graph has m nodes: first e members, which are tokens, then K = m - e slots.  S and
// score are (cells of `slots`), absent and none are (rows of `slots`).  For slot k:
//   S(k, .), absent(k) = softmax of score(k, .) and none(k)     absent(k): the probability that k is not in the graph
// Without heads of lists, for node a and token c, mix (cells of `nodes`, element a n + c of a grid):
//   mix(i, c) = [c = token(i)] for a member i;   mix(e + k, c) = S(k, c)
// With the heads H (pairs) of list_pointers(), members take over the roles of the heads of their lists:
//   mix(i, token(j)) = H(i, j);   mix(e + k, token(j)) = sum_i S(k, token(i)) H(i, j);   the others as without heads
//
//   dS(k, token(i)) = sum_j H(i, j) dmix(e + k, token(j));   dS(k, c) = dmix(e + k, c) for other tokens, or without H
//   dscore(k, c) = S(k, c) (dS(k, c) - u),  dnone(k) = -absent(k) u,   u = sum_c S(k, c) dS(k, c)
//   dH(i, j) = dmix(i, token(j)) + sum_k S(k, token(i)) dmix(e + k, token(j)) for members;  0 elsewhere
//
// If a score of slot k is NaN, then absent(k) and rows k of S and e + k of mix are NaN.  A NaN in H(i, j) gives NaN in
// column token(j) of mix, in the row of member i and in the rows of all slots.
#pragma once

#include <string>

#include "triad/core/backend.hpp"
#include "triad/core/grids.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/list_pointers.hpp"

namespace triad {

/// Sentences with the nodes of their graphs.
struct anchor_grids {
  grid_batch nodes;            // rows: the tokens of each sentence; columns: its nodes
  grid_batch slots;            // rows: the slots of each sentence; columns: its tokens
  vec<index_t const> members;  // (b) e: the number of nodes that are tokens
  vec<index_t const> token;    // (columns of `nodes`) the token of each member, each token once; not read for slots
};

namespace detail {

/// The sizes and the first elements of one sentence.
struct anchored_sentence {
  index_t n, members, slots;         // tokens, members and slots
  index_t mix, score, none, column;  // where its part of mix, score, none and token begins
  vec<index_t const> token_of;       // (columns of all sentences)

  TRIAD_HOST_DEVICE anchored_sentence(anchor_grids const& g, index_t graph)
      : n(g.nodes.rows(graph)),
        members(g.members(graph)),
        slots(g.slots.rows(graph)),
        mix(g.nodes.cell_begin(graph)),
        score(g.slots.cell_begin(graph)),
        none(g.slots.row_begin(graph)),
        column(g.nodes.column_begin(graph)),
        token_of(g.token) {}
  TRIAD_HOST_DEVICE index_t token(index_t i) const { return token_of(column + i); }
  /// Returns the number of the weight of token c for node a, and the number of the score of token c for slot k.
  TRIAD_HOST_DEVICE index_t weight(index_t a, index_t c) const { return mix + a * n + c; }
  TRIAD_HOST_DEVICE index_t cell(index_t k, index_t c) const { return score + k * n + c; }
};

template <class Heads>
void expect_anchors(char const* operation, anchor_grids const& g, char const* name_of_heads, Heads const& heads) {
  expect_extent(operation, "sentences in `slots`", g.slots.dims.graphs, g.nodes.dims.graphs);
  expect_shape(operation, "members", g.members, {g.nodes.dims.graphs});
  expect_shape(operation, "token", g.token, {g.nodes.dims.columns});
  if (heads.extent(0) != 0) expect_shape(operation, name_of_heads, heads, {g.nodes.dims.pairs});
}

/// Throws unless each sentence has members, slots and tokens that agree.  Backends on the host call this function.
inline void expect_anchored(anchor_grids const& g) {
  for (index_t graph = 0; graph < g.nodes.dims.graphs; ++graph) {
    index_t const e = g.members(graph), m = g.nodes.columns(graph), n = g.nodes.rows(graph);
    auto const sentence = [&] { return "anchors: sentence " + std::to_string(graph) + " has "; };
    TRIAD_EXPECTS(e >= 0 && e <= m,
                  sentence() + std::to_string(e) + " members, expected 0 to " + std::to_string(m) + ", its nodes");
    TRIAD_EXPECTS(g.slots.rows(graph) == m - e, sentence() + std::to_string(g.slots.rows(graph)) + " slots, expected " +
                                                    std::to_string(m - e) + ", its nodes without its members");
    TRIAD_EXPECTS(g.slots.columns(graph) == n, sentence() + std::to_string(g.slots.columns(graph)) +
                                                   " tokens in `slots`, expected " + std::to_string(n));
    for (index_t i = 0; i < e; ++i) {
      index_t const token = g.token(g.nodes.column_begin(graph) + i);
      TRIAD_EXPECTS(token >= 0 && token < n, sentence() + "the member " + std::to_string(token) +
                                                 ", expected a token below " + std::to_string(n));
    }
  }
}

}  // namespace detail

/// Overwrites `anchor`, which is S (cells of `slots`), absent and mix.  `heads` is H (pairs), or (0), so that members
/// keep their own roles.
/// Backends on the host check the members and slots of every sentence.  A device does not check them.
template <backend Ex, class T>
void anchors(Ex& ex, anchor_grids const& g, vec<T const> score, vec<T const> none, vec<T const> heads, vec<T> anchor,
             vec<T> absent, vec<T> mix) {
  detail::expect_anchors("anchors", g, "heads", heads);
  expect_shape("anchors", "score", score, {g.slots.dims.cells});
  expect_shape("anchors", "none", none, {g.slots.dims.rows});
  expect_shape("anchors", "anchor", anchor, {g.slots.dims.cells});
  expect_shape("anchors", "absent", absent, {g.slots.dims.rows});
  expect_shape("anchors", "mix", mix, {g.nodes.dims.cells});
  if constexpr (executes<Ex>) do_anchors(ex, g, score, none, heads, anchor, absent, mix);
}

/// Computes the gradients.  `anchor` and `absent` are results of anchors().  Overwrites dscore, dnone and d_heads.
/// `d_heads` has the size of `heads`.
template <backend Ex, class T>
void anchors_grad(Ex& ex, anchor_grids const& g, vec<T const> anchor, vec<T const> absent, vec<T const> heads,
                  vec<T const> dmix, vec<T> dscore, vec<T> dnone, vec<T> d_heads) {
  detail::expect_anchors("anchors_grad", g, "heads", heads);
  expect_same_shape("anchors_grad", "d_heads", d_heads, heads);
  expect_shape("anchors_grad", "anchor", anchor, {g.slots.dims.cells});
  expect_shape("anchors_grad", "absent", absent, {g.slots.dims.rows});
  expect_shape("anchors_grad", "dmix", dmix, {g.nodes.dims.cells});
  expect_shape("anchors_grad", "dscore", dscore, {g.slots.dims.cells});
  expect_shape("anchors_grad", "dnone", dnone, {g.slots.dims.rows});
  if constexpr (executes<Ex>) do_anchors_grad(ex, g, anchor, absent, heads, dmix, dscore, dnone, d_heads);
}

}  // namespace triad
