// Computes the probability that at least one token of a sentence is the cause of an edge, of a node's label, or of a
// label of the whole graph.  The tokens are independent causes (a noisy or).
// SPDX-License-Identifier: Apache-2.0
//
//   P = 1 - product over t of (1 - x(t)),  s = log(1 - P) = sum over t of log(1 - x(t)),  x = kappa p(t, r) q
//
//   q = role((t, a), 0) role((t, b), 1)      role (cells, 2), s (pairs, R): a relation r of the pair (a, b) of columns
//   q = role((t, a), 0)                      role (cells, 1), s (columns, R): a label r of column a
//   q = 1                                    role (0, 0), s (graphs, R): a label r of the graph
//
//   h(t) = ds kappa / (1 - x(t)),  dp(t, r) = -sum q h(t) over all sums s of column r
//   drole((t, a), 0) = -sum over b and r of h(t) p(t, r) role((t, b), 1), and in the same way for the other role
//
// t is a row of the grid, and p is (rows, R).  p and role are probabilities.  kappa = 1 - 1e-6, so s and its gradient
// are finite if p = role = 1.  A small x keeps its digits: the sum of one x = 1e-8 is -1e-8.  If role is the result of
// a mixture, rounding can make q slightly larger than 1; then 1 is used in its place.  For other numbers outside of
// [0, 1], s has no meaning.  NaN in p or role gives NaN in each sum and in each gradient that depends on this number.
#pragma once

#include <string>

#include "triad/core/backend.hpp"
#include "triad/core/grids.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// The largest probability that one token is the cause: kappa.
inline constexpr double noisy_or_kappa = 1 - 1e-6;

/// One grid of a batch, and its rows in s.  Sum (a, c) of the grid has row first + a inner + c of s.
template <class T>
struct noisy_or_grid {
  index_t rows, columns, row, cell;  // the sizes of the grid, its first row of p and its first row of role
  index_t outer, inner, first;       // the numbers of a and of c, and the first row of s
  matrix<T const> role;              // (cells, 0, 1 or 2)

  TRIAD_HOST_DEVICE noisy_or_grid(grid_batch const& g, index_t graph, matrix<T const> const& roles)
      : rows(g.rows(graph)),
        columns(g.columns(graph)),
        row(g.row_begin(graph)),
        cell(g.cell_begin(graph)),
        outer(roles.extent(1) > 0 ? columns : 1),
        inner(roles.extent(1) > 1 ? columns : 1),
        first(roles.extent(1) > 1   ? g.pair_begin(graph)
              : roles.extent(1) > 0 ? g.column_begin(graph)
                                    : graph),
        role(roles) {}

  /// The number of sums of the grid for each column of p.
  TRIAD_HOST_DEVICE index_t sums() const { return outer * inner; }
  /// Returns q of token t for sum (a, c).
  TRIAD_HOST_DEVICE T weight(index_t t, index_t a, index_t c) const {
    if (role.extent(1) == 0) return T(1);
    index_t const at = cell + t * columns;
    T q = role(at + a, 0);
    if (role.extent(1) > 1) q *= role(at + c, 1);
    return q > T(1) ? T(1) : q;
  }
};

namespace detail {
template <class P, class R, class S>
void expect_noisy_or(grid_batch const& g, P const& p, R const& role, S const& s) {
  index_t const roles = role.extent(1);
  TRIAD_EXPECTS(roles <= 2, "noisy_or: role has " + std::to_string(roles) + " columns, expected 0, 1 or 2");
  expect_extent("noisy_or", "rows of p", p.extent(0), g.dims.rows);
  expect_extent("noisy_or", "rows of role", role.extent(0), roles > 0 ? g.dims.cells : 0);
  expect_shape("noisy_or", "s", s,
               {roles > 1   ? g.dims.pairs
                : roles > 0 ? g.dims.columns
                            : g.dims.graphs,
                p.extent(1)});
}
}  // namespace detail

/// Computes s = log(1 - P).  Overwrites s.  role has 2 columns for relations of pairs, and 1 column for labels of
/// columns.  For labels of graphs, role is no_matrix().
template <backend Ex, class T>
void noisy_or(Ex& ex, grid_batch const& g, matrix<T const> p, matrix<T const> role, matrix<T> s) {
  detail::expect_noisy_or(g, p, role, s);
  if constexpr (executes<Ex>) do_noisy_or(ex, g, p, role, s);
}

/// Computes the gradients from ds, which has the shape of s.  Overwrites dp (rows, R) and drole, which has the shape of
/// role.
template <backend Ex, class T>
void noisy_or_grad(Ex& ex, grid_batch const& g, matrix<T const> p, matrix<T const> role, matrix<T const> ds,
                   matrix<T> dp, matrix<T> drole) {
  detail::expect_noisy_or(g, p, role, ds);
  expect_same_shape("noisy_or_grad", "dp", dp, p);
  expect_same_shape("noisy_or_grad", "drole", drole, role);
  if constexpr (executes<Ex>) do_noisy_or_grad(ex, g, p, role, ds, dp, drole);
}

}  // namespace triad
