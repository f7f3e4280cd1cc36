// Mixtures of the columns of each grid.  Columns of one batch of grids take over values of columns of another batch,
// such as the roles of other nodes.
// SPDX-License-Identifier: Apache-2.0
//
//   y((t, a), k) = sum_c mix(a, c) x((t, c), k)           x (cells of `from`, K), y (cells of `to`, K)
//   dx((t, c), k) = sum_a mix(a, c) dy((t, a), k)
//   dmix(a, c) = sum_{t, k} dy((t, a), k) x((t, c), k)
//
// t is a row of a grid, c is a column of the grid in `from`, and a is a column of the grid in `to`.  Element (a, c) of
// grid g is mix(mix_begin(g) + a columns + c), where `columns` is the number of columns of the grid in `from`.
//
// A NaN in x or in a weight of the mixture gives NaN in every y that is computed from it, also where the other factor
// is 0.
#pragma once

#include <string>

#include "triad/core/backend.hpp"
#include "triad/core/grids.hpp"
#include "triad/core/views.hpp"

namespace triad {

namespace detail {

template <class X, class Y>
void expect_mixture(char const* operation, grid_batch const& from, grid_batch const& to, vec<index_t const> mix_begin,
                    X const& x, char const* name_of_y, Y const& y) {
  expect_extent(operation, "grids in `to`", to.dims.graphs, from.dims.graphs);
  expect_extent(operation, "rows in `to`", to.dims.rows, from.dims.rows);
  expect_shape(operation, "mix_begin", mix_begin, {from.dims.graphs});
  expect_extent(operation, "rows of x", x.extent(0), from.dims.cells);
  expect_shape(operation, name_of_y, y, {to.dims.cells, x.extent(1)});
}

/// The numbers of one grid: its sizes in both batches, its first cells, and the begin of its matrix of weights.
struct mixed_grid {
  index_t n, from, to;                 // rows; columns in `from` and in `to`
  index_t from_cell, to_cell, weight;  // where the cells and the weights begin

  TRIAD_HOST_DEVICE mixed_grid(grid_batch const& f, grid_batch const& t, vec<index_t const> const& mix_begin,
                               index_t graph)
      : n(f.rows(graph)),
        from(f.columns(graph)),
        to(t.columns(graph)),
        from_cell(f.cell_begin(graph)),
        to_cell(t.cell_begin(graph)),
        weight(mix_begin(graph)) {}
};

/// Throws unless every grid has equal numbers of rows in both batches, and weights within `mix`.  Backends on the host
/// call this function.
inline void expect_mixed_grids(grid_batch const& from, grid_batch const& to, vec<index_t const> mix_begin,
                               index_t weights) {
  for (index_t graph = 0; graph < from.dims.graphs; ++graph) {
    TRIAD_EXPECTS(to.rows(graph) == from.rows(graph), "mix_columns: grid " + std::to_string(graph) + " has " +
                                                          std::to_string(to.rows(graph)) + " rows in `to`, expected " +
                                                          std::to_string(from.rows(graph)) + ", as in `from`");
    mixed_grid const at(from, to, mix_begin, graph);
    TRIAD_EXPECTS(at.weight >= 0 && at.weight + at.to * at.from <= weights,
                  "mix_columns: the weights of grid " + std::to_string(graph) + " are " + std::to_string(at.weight) +
                      " to " + std::to_string(at.weight + at.to * at.from) + ", expected within the " +
                      std::to_string(weights) + " of mix");
  }
}

}  // namespace detail

/// Computes y.  Both batches have the same rows.  Overwrites y.  Backends on the host check the rows and the weights of
/// every grid.  A device does not check them.
template <backend Ex, class T>
void mix_columns(Ex& ex, grid_batch const& from, grid_batch const& to, vec<index_t const> mix_begin, vec<T const> mix,
                 matrix<T const> x, matrix<T> y) {
  detail::expect_mixture("mix_columns", from, to, mix_begin, x, "y", y);
  if constexpr (executes<Ex>) do_mix_columns(ex, from, to, mix_begin, mix, x, y);
}

/// Computes the gradients.  Overwrites dx and the weights of all grids in dmix.  Does not write elements of dmix that
/// belong to no grid.
template <backend Ex, class T>
void mix_columns_grad(Ex& ex, grid_batch const& from, grid_batch const& to, vec<index_t const> mix_begin,
                      vec<T const> mix, matrix<T const> x, matrix<T const> dy, vec<T> dmix, matrix<T> dx) {
  detail::expect_mixture("mix_columns_grad", from, to, mix_begin, x, "dy", dy);
  expect_same_shape("mix_columns_grad", "dmix", dmix, mix);
  expect_same_shape("mix_columns_grad", "dx", dx, x);
  if constexpr (executes<Ex>) do_mix_columns_grad(ex, from, to, mix_begin, mix, x, dy, dmix, dx);
}

}  // namespace triad
