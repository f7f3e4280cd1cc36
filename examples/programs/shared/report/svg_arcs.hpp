// A sentence with its graph as SVG: words in a row, and an arc from each word to its parent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "svg_plot.hpp"

namespace triad::programs {

/// A word of the picture.
struct arc_word {
  std::string text, below;  // the word, and the small text under it
  int parent = -1;          // index of the parent; the word's own index: a root; -1: no arc
  std::string label{};      // the label of the arc
};

/// Returns the picture as the text of an SVG file.
inline std::string to_svg(std::vector<arc_word> const& words) {
  using detail::escaped;
  constexpr double step = 86, left = 50;
  auto const n = words.size();
  double highest = 1;
  for (std::size_t i = 0; i < n; ++i)
    if (words[i].parent >= 0) highest = std::max(highest, std::abs(words[i].parent - static_cast<double>(i)));
  double const line = 40 + 26 * highest, width = 2 * left + step * static_cast<double>(n - 1);
  auto const x = [&](double i) { return left + step * i; };
  std::ostringstream svg, labels;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << line + 50
      << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<g fill=\"none\" stroke=\"#336\">\n";
  for (std::size_t i = 0; i < n; ++i) {
    auto const at = static_cast<double>(i);
    auto const& word = words[i];
    svg << "</g><text x=\"" << x(at) << "\" y=\"" << line + 20 << "\" text-anchor=\"middle\">" << escaped(word.text)
        << "</text>\n";
    svg << "<text x=\"" << x(at) << "\" y=\"" << line + 36
        << "\" text-anchor=\"middle\" fill=\"#777\" font-size=\"10\">" << escaped(word.below)
        << "</text><g fill=\"none\" stroke=\"#336\">\n";
    if (word.parent < 0) continue;
    bool const root = word.parent == static_cast<int>(i);
    double const to = word.parent, top = root ? 14 : line - 26 * std::abs(to - at), middle = (x(at) + x(to)) / 2;
    if (root) {
      svg << "<path d=\"M " << x(at) << " " << line << " V " << top << "\"/>\n";
    } else {
      svg << "<path d=\"M " << x(at) << " " << line << " C " << x(at) << " " << top << ", " << x(to) << " " << top
          << ", " << x(to) << " " << line << "\"/><circle cx=\"" << x(to) << "\" cy=\"" << line
          << "\" r=\"2.5\" fill=\"#336\"/>\n";
    }
    labels << "<text x=\"" << middle << "\" y=\"" << (root ? top : line - 0.75 * (line - top)) - 3
           << "\" text-anchor=\"middle\" fill=\"#336\">" << escaped(word.label) << "</text>\n";
  }
  svg << "</g>\n" << labels.str() << "</svg>\n";
  return svg.str();
}

}  // namespace triad::programs
