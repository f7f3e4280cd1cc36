// Bar charts as SVG, for values from 0 to 1. A chart has groups of rows, and a row has one bar for each kind of score.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "svg_plot.hpp"
#include "triad/core/finite.hpp"

namespace triad::programs {

struct bar_row {
  std::string name;
  std::vector<double> parts;  // 0 .. 1, one for each kind of score; a value that is not finite has no bar
};

struct bar_group {
  std::string name;
  std::vector<bar_row> rows;
};

struct bar_chart {
  std::string title;
  std::vector<std::string> ways;  // the kinds of score, as named in the legend
  std::vector<bar_group> groups;
};

/// Returns the chart as the text of an SVG file.
inline std::string to_svg(bar_chart const& chart) {
  using detail::number;
  using detail::text_at;
  static constexpr std::array<char const*, 4> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7"};
  double const width = 720, left = 260, right = 64, top = 48, bar = 9, gap = 7;
  double const span = width - left - right;
  auto const ways = static_cast<double>(chart.ways.size());
  double const row_height = ways * bar + gap, heading = 26;

  std::string body;
  double y = top;
  for (auto const& group : chart.groups) {
    body += text_at(left, y + 16, "font-weight=\"bold\"", group.name);
    y += heading;
    for (auto const& row : group.rows) {
      body += text_at(left - 8, y + row_height / 2 + 1, "text-anchor=\"end\"", row.name);
      for (std::size_t w = 0; w < std::min(row.parts.size(), chart.ways.size()); ++w) {
        if (!is_finite(row.parts[w])) continue;
        double const part = std::min(1.0, std::max(0.0, row.parts[w])), at = y + static_cast<double>(w) * bar;
        body += "<rect x=\"" + number(left) + "\" y=\"" + number(at) + "\" width=\"" + number(part * span) +
                "\" height=\"" + number(bar - 1) + "\" fill=\"" + colours[w % colours.size()] + "\"/>\n";
        body += text_at(left + part * span + 4, at + bar - 1.5, "font-size=\"9\" fill=\"#444\"", number(100 * part, 1));
      }
      y += row_height;
    }
    y += gap;
  }
  double const bottom = y;
  std::string grid;
  for (int tick = 0; tick <= 100; tick += 20) {
    double const x = left + span * tick / 100;
    grid += "<line x1=\"" + number(x) + "\" y1=\"" + number(top) + "\" x2=\"" + number(x) + "\" y2=\"" +
            number(bottom) + "\" stroke=\"#e6e6e6\"/>\n";
    grid += text_at(x, bottom + 16, "text-anchor=\"middle\"", std::to_string(tick));
  }
  std::string legend;
  double x = left;
  for (std::size_t w = 0; w < chart.ways.size(); ++w) {
    legend += "<rect x=\"" + number(x) + "\" y=\"" + number(bottom + 30) + "\" width=\"12\" height=\"9\" fill=\"" +
              colours[w % colours.size()] + "\"/>\n";
    legend += text_at(x + 18, bottom + 38, "", chart.ways[w]);
    x += 34 + 7 * static_cast<double>(chart.ways[w].size());
  }
  double const height = bottom + 54;
  return detail::picture(
      width, height,
      text_at(width / 2, 26, "text-anchor=\"middle\" font-size=\"16\"", chart.title) + grid + body + legend);
}

}  // namespace triad::programs
