// The gradient of a table lookup adds rows to the rows of a table.  This is its task for the benchmarks on the host and
// on a GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "work.hpp"

namespace bench {

/// dtable(index(r), .) += dy(r, .) for `rows` rows with `columns` columns.  Half of the indices are in the first
/// sixteenth of the table, as frequent words would be.
struct scatter_task {
  index_t rows, table, columns;

  std::string name() const {
    return "rows:" + std::to_string(rows) + "/table:" + std::to_string(table) + "/d:" + std::to_string(columns);
  }
  std::vector<index_t> indices() const {
    std::vector<index_t> all(static_cast<std::size_t>(rows));
    std::uint32_t state = 1;
    for (auto& i : all) {
      state = state * 1664525u + 1013904223u;
      index_t const draw = state >> 8;
      i = draw % 2 == 0 ? draw / 2 % table : draw / 2 % ((table + 15) / 16);
    }
    return all;
  }
  std::vector<float> values() const {
    std::vector<float> all(static_cast<std::size_t>(rows * columns));
    for (std::size_t e = 0; e < all.size(); ++e)
      all[e] = static_cast<float>((static_cast<std::uint32_t>(e) * 2654435761u) >> 8) * 0x1p-23f - 1.0f;
    return all;
  }
  /// Returns the number of bytes that must be moved: each index and each row once, and each changed row of the table
  /// twice.
  double bytes() const {
    auto const index = indices();
    std::set<index_t> const added_to(index.begin(), index.end());
    return static_cast<double>(rows) * (8 + 4 * static_cast<double>(columns)) +
           8 * static_cast<double>(added_to.size()) * static_cast<double>(columns);
  }
  /// Checks dtable after one run on a table of zeros.
  verdict check(std::vector<float> const& dtable) const {
    auto const index = indices();
    auto const dy = values();
    std::vector<double> sum(dtable.size()), size(dtable.size());
    for (index_t r = 0; r < rows; ++r)
      for (index_t c = 0; c < columns; ++c) {
        auto const to = static_cast<std::size_t>(index[static_cast<std::size_t>(r)] * columns + c);
        double const v = static_cast<double>(dy[static_cast<std::size_t>(r * columns + c)]);
        sum[to] += v;
        size[to] += std::abs(v);
      }
    for (std::size_t e = 0; e < sum.size(); ++e)
      if (!(std::abs(static_cast<double>(dtable[e]) - sum[e]) <= 1e-5 * (1 + size[e])))
        return "element " + std::to_string(e) + " of the table is " + std::to_string(dtable[e]) + ", expected " +
               std::to_string(sum[e]);
    return std::nullopt;
  }
};

/// Returns three tasks: tokens of CFQ's queries in a table of RoBERTa's size, edges that a model reads, and labels of
/// edges.
inline std::vector<scatter_task> scatter_tasks() { return {{10000, 50265, 768}, {5000, 40000, 200}, {30000, 20, 200}}; }

}  // namespace bench
