// Heat maps as SVG: cells with their values, from 0 (white) to 1 (dark). Rows may have different lengths.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "svg_plot.hpp"
#include "triad/core/finite.hpp"

namespace triad::programs {

struct heat_map {
  std::string title;
  std::string row_label, column_label;      // the titles of the axes
  std::vector<std::string> rows, columns;   // the names of rows and columns
  std::vector<std::vector<double>> values;  // 0 .. 1, row by row; a value that is not finite is left blank
};

namespace detail {

/// Returns a colour from white to the blue of the other plots.
inline std::string shade(double value) {
  static constexpr std::array<double, 3> dark{0, 62, 120};
  double const v = std::clamp(value, 0.0, 1.0);
  std::string colour = "rgb(";
  for (std::size_t c = 0; c < dark.size(); ++c) {
    if (c > 0) colour += ',';
    colour += number(255 + v * (dark[c] - 255), 0);
  }
  return colour + ")";
}

inline constexpr double map_left = 110, map_top = 56, map_cell_width = 76, map_cell_height = 34;

}  // namespace detail

/// Returns the width and the height of the map's picture.
inline std::pair<double, double> size_of(heat_map const& map) {
  return {detail::map_left + detail::map_cell_width * std::max(3.0, static_cast<double>(map.columns.size())) + 24,
          detail::map_top + detail::map_cell_height * static_cast<double>(map.values.size()) + 58};
}

/// Returns the map as the text of an SVG file.
inline std::string to_svg(heat_map const& map) {
  using detail::number;
  using detail::text_at;
  double const left = detail::map_left, top = detail::map_top, cell_width = detail::map_cell_width,
               cell_height = detail::map_cell_height;
  auto const [width, height] = size_of(map);
  double const bottom = height - 58;
  std::string cells;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    double const y = top + cell_height * static_cast<double>(i);
    if (i < map.rows.size()) cells += text_at(left - 10, y + cell_height / 2 + 4, "text-anchor=\"end\"", map.rows[i]);
    for (std::size_t j = 0; j < map.values[i].size(); ++j) {
      double const value = map.values[i][j], x = left + cell_width * static_cast<double>(j);
      if (!is_finite(value)) continue;
      cells += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(cell_width - 2) +
               "\" height=\"" + number(cell_height - 2) + "\" fill=\"" + detail::shade(value) +
               "\" stroke=\"#ccc\"/>\n";
      cells += text_at(x + cell_width / 2 - 1, y + cell_height / 2 + 3,
                       value > 0.5 ? "text-anchor=\"middle\" fill=\"#fff\"" : "text-anchor=\"middle\" fill=\"#222\"",
                       number(value, 3));
    }
  }
  for (std::size_t j = 0; j < map.columns.size(); ++j)
    cells += text_at(left + cell_width * (static_cast<double>(j) + 0.5) - 1, bottom + 18, "text-anchor=\"middle\"",
                     map.columns[j]);
  cells += text_at((left + width - 24) / 2, bottom + 42, "text-anchor=\"middle\"", map.column_label);
  cells += text_at(left - 10, top - 10, "text-anchor=\"end\"", map.row_label);
  return detail::picture(width, height, text_at(left, 26, "font-size=\"16\"", map.title) + cells);
}

}  // namespace triad::programs
