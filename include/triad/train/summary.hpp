// A table of a model's parameters.  It has the path, the shape, the number of values and the bytes of each parameter,
// and the sums over all parameters.
// SPDX-License-Identifier: Apache-2.0
//
//   std::puts(summary(learner).text().c_str());
//
//   embedding.table              6 x 32       192       768
//   layers.0.norm1.gain              32        32       128
//   ...
//   24 parameters                          51,237   204,948
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/arena.hpp"
#include "triad/core/fields.hpp"

namespace triad {

struct parameter_summary {
  struct row {
    std::string path;
    std::vector<index_t> shape;
    index_t count;      // the number of values
    std::size_t bytes;  // the bytes of the values alone; training needs four times as many
  };
  std::vector<row> rows;
  index_t count = 0;
  std::size_t bytes = 0;

  /// Returns a table with one parameter on each line.
  std::string text() const {
    std::vector<std::vector<std::string>> cells;
    for (auto const& r : rows) {
      std::string shape;
      for (auto const n : r.shape) shape += (shape.empty() ? "" : " x ") + std::to_string(n);
      cells.push_back({r.path, shape, grouped(r.count), grouped(static_cast<index_t>(r.bytes))});
    }
    cells.push_back(
        {std::to_string(rows.size()) + " parameters", "", grouped(count), grouped(static_cast<index_t>(bytes))});
    std::vector<std::size_t> width(4);
    for (auto const& line : cells)
      for (std::size_t c = 0; c < 4; ++c) width[c] = std::max(width[c], line[c].size());
    std::string all;
    for (auto const& line : cells) {
      all += line[0] + std::string(width[0] - line[0].size(), ' ');
      for (std::size_t c = 1; c < 4; ++c) all += std::string(2 + width[c] - line[c].size(), ' ') + line[c];
      all += '\n';
    }
    return all;
  }

 private:
  /// Returns the number as text with commas, such as 51,237.
  static std::string grouped(index_t n) {
    auto digits = std::to_string(n);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
      digits.insert(static_cast<std::size_t>(at), 1, ',');
    return digits;
  }
};

/// Returns the summary of a model, a layer, a trainer, a runner or a parameter_set.  Does not read the values.
template <class Part>
parameter_summary summary(Part const& part) {
  if constexpr (requires { part.model(); }) {
    return summary(part.model());
  } else {
    parameter_summary all;
    arena nowhere;
    walk(plan<scalar_t<Part>>(part, nowhere), [&](std::string const& path, auto view) {
      auto const count = static_cast<index_t>(view.size());
      parameter_summary::row r{path, {}, count, static_cast<std::size_t>(count) * sizeof(scalar_t<Part>)};
      for (std::size_t k = 0; k < view.rank(); ++k) r.shape.push_back(view.extent(k));
      all.count += r.count;
      all.bytes += r.bytes;
      all.rows.push_back(std::move(r));
    });
    return all;
  }
}

}  // namespace triad
