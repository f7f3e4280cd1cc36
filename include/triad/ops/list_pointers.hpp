// Pointers between the members of a list, such as the coordinated nouns of "a, b and c".  A member of a list takes over
// the roles of the list's first member, its head.
// SPDX-License-Identifier: Apache-2.0
//
// The members of a grid are its first e columns.  Every pair (i, j) of columns has a score.  The link L(i, j) is the
// probability that i points to j, and H(i, j) is the probability that j is the head of i.  score, L, H (pairs).  For
// members i and j:
//   l(i, j) = score(i, j) - distance (i - j - 1)     j < i: i follows j in a list
//   l(i, i) = score(i, i)                            i is in no list, or is the head of a list
//   L(i, .) = softmax of l(i, .) over j <= i;        L(i, j) = 0 for j > i
// For a column a that is not a member, L(a, a) = 1, and the other elements of its row and column are 0.
//   H = L^(2^squarings)                              follows chains of up to 2^squarings links
//   P_0 = L,  P_{k+1} = P_k P_k,  H = P_squarings    powers (squarings + 1, pairs)
//
//   dP_k = dP_{k+1} P_k' + P_k' dP_{k+1}
//   dscore(i, j) = L(i, j) (d(i, j) - sum_c L(i, c) d(i, c)),   d = dP_0 + dL
//
// The penalty is large if members after the first point to themselves:
//   loss = weight sum over members i > 0 of -log(1 - L(i, i) + list_penalty_offset)
//   dL(i, i) = weight / (1 - L(i, i) + list_penalty_offset) for members i > 0;  dL = 0 elsewhere
//
// The score of a pair is read only if both columns are members and j <= i.  Other scores may have any values.  If a
// score in row i is NaN, then L(i, j) is NaN for j <= i, and each squaring gives NaN for the pairs (c, j) with
// j <= i <= c.
#pragma once

#include <string>

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/grids.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

struct list_pointer_options {
  double distance = 2;    // subtracted from a score for each member between i and j; finite
  index_t squarings = 3;  // 0 to 30
};

/// The penalty adds this number to the probability that a member points to an earlier member, so the loss is finite.
inline constexpr double list_penalty_offset = 1e-4;

namespace detail {

/// The pairs of columns of one grid.
struct column_pairs {
  index_t first, m;

  TRIAD_HOST_DEVICE column_pairs(grid_batch const& g, index_t graph)
      : first(g.pair_begin(graph)), m(g.columns(graph)) {}
  /// Returns the number of pair (i, j).
  TRIAD_HOST_DEVICE index_t operator()(index_t i, index_t j) const { return first + i * m + j; }
};

inline void expect_list_pointers(grid_batch const& g, vec<index_t const> members, list_pointer_options const& o) {
  expect_shape("list_pointers", "members", members, {g.dims.graphs});
  TRIAD_EXPECTS(is_finite(o.distance),
                "list_pointers: distance is " + std::to_string(o.distance) + ", expected a finite number");
  TRIAD_EXPECTS(o.squarings >= 0 && o.squarings <= 30,
                "list_pointers: squarings are " + std::to_string(o.squarings) + ", expected 0 to 30");
}

/// Throws unless every grid has 0 to m members.  Backends on the host call this function.
inline void expect_members(grid_batch const& g, vec<index_t const> members) {
  for (index_t graph = 0; graph < g.dims.graphs; ++graph)
    TRIAD_EXPECTS(members(graph) >= 0 && members(graph) <= g.columns(graph),
                  "list_pointers: grid " + std::to_string(graph) + " has " + std::to_string(members(graph)) +
                      " members, expected 0 to " + std::to_string(g.columns(graph)) + ", its columns");
}

}  // namespace detail

/// Computes L and its powers.  `members` (b) has e for every grid.  Overwrites `powers` (squarings + 1, pairs).  Row 0
/// of `powers` is L, and the last row is H.  Every e must be from 0 to the number of columns of the grid.  Backends on
/// the host check the numbers of members.  A device does not check them.
template <backend Ex, class T>
void list_pointers(Ex& ex, grid_batch const& g, vec<index_t const> members, list_pointer_options const& o,
                   vec<T const> score, matrix<T> powers) {
  detail::expect_list_pointers(g, members, o);
  expect_shape("list_pointers", "score", score, {g.dims.pairs});
  expect_shape("list_pointers", "powers", powers, {o.squarings + 1, g.dims.pairs});
  if constexpr (executes<Ex>) do_list_pointers(ex, g, members, o, score, powers);
}

/// Computes the gradient of the scores.  `powers` is the result of list_pointers().  `d_heads` (pairs) is dH.
/// `d_links` (pairs) is the gradient of other uses of L, such as list_penalty().  Overwrites dscore (pairs).  The
/// gradient of a score that is not read is 0.
template <backend Ex, class T>
void list_pointers_grad(Ex& ex, arena& scratch, grid_batch const& g, vec<index_t const> members,
                        list_pointer_options const& o, matrix<T const> powers, vec<T const> d_heads,
                        vec<T const> d_links, vec<T> dscore) {
  detail::expect_list_pointers(g, members, o);
  expect_shape("list_pointers_grad", "powers", powers, {o.squarings + 1, g.dims.pairs});
  expect_shape("list_pointers_grad", "d_heads", d_heads, {g.dims.pairs});
  expect_shape("list_pointers_grad", "d_links", d_links, {g.dims.pairs});
  expect_shape("list_pointers_grad", "dscore", dscore, {g.dims.pairs});
  auto const frame = scratch.open();
  auto const d = scratch.make<tensor<T, dyn, dyn>>(2, g.dims.pairs);  // the gradients of two successive powers
  if constexpr (executes<Ex>) do_list_pointers_grad(ex, g, members, o, powers, d_heads, d_links, dscore, as_matrix(d));
}

/// Computes the penalty and its gradient.  `links` (pairs) is L, which is row 0 of `powers`.  `weight` (1) lies in the
/// backend's memory.  Overwrites loss (1) and d_links (pairs).
template <backend Ex, class T>
void list_penalty(Ex& ex, arena& scratch, grid_batch const& g, vec<index_t const> members, vec<T const> links,
                  vec<T const> weight, vec<T> loss, vec<T> d_links) {
  detail::expect_list_pointers(g, members, {});
  expect_shape("list_penalty", "links", links, {g.dims.pairs});
  expect_shape("list_penalty", "weight", weight, {1});
  expect_shape("list_penalty", "loss", loss, {1});
  expect_shape("list_penalty", "d_links", d_links, {g.dims.pairs});
  auto const frame = scratch.open();
  auto const of_columns = scratch.make<vec<T>>(g.dims.columns);  // the loss of each column
  if constexpr (executes<Ex>) do_list_penalty(ex, g, members, links, weight, d_links, of_columns);
  sum(ex, scratch, of_columns, loss);
}

}  // namespace triad
