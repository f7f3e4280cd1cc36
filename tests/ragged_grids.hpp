// A ragged batch of grids for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "triad/core/grids.hpp"
#include "triad/core/views.hpp"

namespace triad::test {

/// Grids with these numbers of rows and columns, stored one after another.
struct ragged_grids {
  std::vector<index_t> rows, columns, row_begin, column_begin, cell_begin, pair_begin;
  grid_dims dims;

  explicit ragged_grids(std::vector<std::pair<index_t, index_t>> const& shapes) {
    for (auto const& [n, m] : shapes) {
      rows.push_back(n);
      columns.push_back(m);
      row_begin.push_back(dims.rows);
      column_begin.push_back(dims.columns);
      cell_begin.push_back(dims.cells);
      pair_begin.push_back(dims.pairs);
      dims = dims + grid_of(n, m);
    }
  }
  grid_batch batch() const {
    auto const view = [&](std::vector<index_t> const& v) { return make_vec(v.data(), dims.graphs); };
    return {dims, view(rows), view(columns), view(row_begin), view(column_begin), view(cell_begin), view(pair_begin)};
  }
};

}  // namespace triad::test
