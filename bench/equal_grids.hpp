// Grids of equal sizes, and numbers to fill them, for benchmarks of operations on the labels of a sentence.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "triad/core/grids.hpp"
#include "triad/core/views.hpp"

namespace bench {

using triad::index_t;

/// `count` grids of `height` rows and `width` columns.
struct equal_grids {
  std::vector<index_t> rows, columns, row, column, cell, pair;
  triad::grid_dims dims;

  equal_grids(index_t count, index_t height, index_t width) {
    for (index_t g = 0; g < count; ++g) {
      rows.push_back(height), columns.push_back(width);
      row.push_back(dims.rows), column.push_back(dims.columns), cell.push_back(dims.cells), pair.push_back(dims.pairs);
      dims = dims + triad::grid_of(height, width);
    }
  }
  triad::grid_batch batch() const {
    auto const view = [&](std::vector<index_t> const& v) { return triad::make_vec(v.data(), dims.graphs); };
    return {dims, view(rows), view(columns), view(row), view(column), view(cell), view(pair)};
  }
};

/// Returns numbers between 0 and 0.9 that a float stores exactly.
template <class T>
std::vector<T> numbers(index_t count) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (std::size_t e = 0; e < all.size(); ++e)
    all[e] = static_cast<T>(static_cast<float>((static_cast<std::uint32_t>(e) * 2654435761u) >> 8) * 0x1p-24f * 0.9f);
  return all;
}

}  // namespace bench
