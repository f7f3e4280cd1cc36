// A batch of grids of different sizes.  The grid of an example has a row for every token of a sentence, and a column
// for every node of the graph that the sentence describes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "triad/core/mdspan.hpp"

namespace triad {

/// The sizes of a batch of grids.  The grid of one example has n rows and m columns.
struct grid_dims {
  index_t graphs = 0;       // b
  index_t rows = 0;         // sum of n
  index_t columns = 0;      // sum of m
  index_t cells = 0;        // sum of n m
  index_t pairs = 0;        // sum of m^2: ordered pairs of columns
  index_t max_rows = 0;     // largest n
  index_t max_columns = 0;  // largest m
};

/// Returns the sizes of a batch of one grid with n rows and m columns.
constexpr grid_dims grid_of(index_t n, index_t m) { return {1, n, m, n * m, m * m, n, m}; }

/// Returns the sizes of both batches together.
constexpr grid_dims operator+(grid_dims a, grid_dims const& b) {
  return {.graphs = a.graphs + b.graphs,
          .rows = a.rows + b.rows,
          .columns = a.columns + b.columns,
          .cells = a.cells + b.cells,
          .pairs = a.pairs + b.pairs,
          .max_rows = std::max(a.max_rows, b.max_rows),
          .max_columns = std::max(a.max_columns, b.max_columns)};
}

/// Returns the larger of both values of each size.  A batch of sizes `a` and a batch of sizes `b` both fit into the
/// result.
constexpr grid_dims larger(grid_dims a, grid_dims const& b) {
  return {.graphs = std::max(a.graphs, b.graphs),
          .rows = std::max(a.rows, b.rows),
          .columns = std::max(a.columns, b.columns),
          .cells = std::max(a.cells, b.cells),
          .pairs = std::max(a.pairs, b.pairs),
          .max_rows = std::max(a.max_rows, b.max_rows),
          .max_columns = std::max(a.max_columns, b.max_columns)};
}

/// Lists the sizes for core/batch_sizes.hpp.
template <class F>
constexpr void each_count(grid_dims& d, F&& f) {
  f.sum(d.graphs, "graphs");
  f.sum(d.rows, "tokens");
  f.sum(d.columns, "nodes");
  f.sum(d.cells, "cells");
  f.sum(d.pairs, "pairs of nodes");
  f.largest(d.max_rows, "tokens in the longest");
  f.largest(d.max_columns, "nodes in the largest");
}

/// Returns true if a batch of sizes `d` fits into `capacity`.
constexpr bool fits(grid_dims const& d, grid_dims const& capacity) {
  return d.graphs <= capacity.graphs && d.rows <= capacity.rows && d.columns <= capacity.columns &&
         d.cells <= capacity.cells && d.pairs <= capacity.pairs && d.max_rows <= capacity.max_rows &&
         d.max_columns <= capacity.max_columns;
}

/// A batch of grids.  For grid g with n rows and m columns, row t is row row_begin[g] + t of all rows, column a is
/// column column_begin[g] + a, cell (t, a) is cell cell_begin[g] + t m + a, and the pair (a, c) of columns is pair
/// pair_begin[g] + a m + c.
struct grid_batch {
  grid_dims dims;
  vec<index_t const> rows;          // (b) number of rows of each grid
  vec<index_t const> columns;       // (b) number of columns of each grid
  vec<index_t const> row_begin;     // (b) first row
  vec<index_t const> column_begin;  // (b) first column
  vec<index_t const> cell_begin;    // (b) first cell
  vec<index_t const> pair_begin;    // (b) first pair

  /// Lists the views of the batch, for core/batch_views.hpp.
  template <class F>
  void each(F&& f) {
    f.value(dims.graphs, dims.rows, dims.columns, dims.cells, dims.pairs, dims.max_rows, dims.max_columns);
    for (auto* view : {&rows, &columns, &row_begin, &column_begin, &cell_begin, &pair_begin}) f(*view, dims.graphs);
  }
};

}  // namespace triad
