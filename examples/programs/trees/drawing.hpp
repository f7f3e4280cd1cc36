// Draws trees as SVG.  The trees of an explanation are drawn one below another.
// SPDX-License-Identifier: Apache-2.0
//
// The width of a subtree is the sum of its children's widths, or the width of its label if the label is wider.  A node
// is centred above its children.  So labels on the same level do not overlap, and one pass from the last node to the
// first computes the layout.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "explanation.hpp"
#include "shared/report/svg_plot.hpp"

namespace triad::programs::trees {

struct tree_layout {
  struct place {
    double x, y;  // the middle of the label
  };
  std::vector<place> nodes;  // in the order of the tree's nodes
  double width = 0, height = 0;
};

inline constexpr double letter_width = 7, line_height = 28;

/// Returns the width of a label.  The width depends on the number of characters, not of bytes.
inline double label_width(std::string const& label) {
  auto const letters = std::count_if(label.begin(), label.end(),
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; });
  return letter_width * static_cast<double>(letters) + 12;
}

inline tree_layout lay_out(symbol_tree const& tree) {
  auto const count = static_cast<std::size_t>(tree.size());
  std::vector<double> width(count), below(count);  // width of each subtree; total width of its children
  for (auto at = tree.size(); at-- > 0;) {
    double& sum = below[static_cast<std::size_t>(at)];
    for (auto c = tree.first_child(at); c != no_node; c = tree.next_child(at, c))
      sum += width[static_cast<std::size_t>(c)];
    width[static_cast<std::size_t>(at)] = std::max(sum, label_width(tree.label(at)));
  }
  tree_layout made;
  made.nodes.resize(count);
  if (tree.empty()) return made;
  std::vector<double> left(count);
  made.width = width.front();
  tree.walk([&](index_t at, index_t, index_t level) {
    auto const i = static_cast<std::size_t>(at);
    made.nodes[i] = {left[i] + width[i] / 2, (static_cast<double>(level) + 0.5) * line_height};
    made.height = std::max(made.height, (static_cast<double>(level) + 1) * line_height);
    double from = left[i] + (width[i] - below[i]) / 2;
    for (auto c = tree.first_child(at); c != no_node; c = tree.next_child(at, c)) {
      left[static_cast<std::size_t>(c)] = from;
      from += width[static_cast<std::size_t>(c)];
    }
  });
  return made;
}

namespace detail {

/// Draws the tree with its upper left corner at (x, y).
inline std::string drawn(symbol_tree const& tree, tree_layout const& layout, double x, double y,
                         std::string const& colour) {
  using programs::detail::escaped, programs::detail::number;
  std::string lines, labels;
  tree.walk([&](index_t at, index_t parent, index_t) {
    auto const& p = layout.nodes[static_cast<std::size_t>(at)];
    labels += "<text x=\"" + number(x + p.x) + "\" y=\"" + number(y + p.y + 4) + "\" text-anchor=\"middle\" fill=\"" +
              colour + "\">" + escaped(tree.label(at)) + "</text>\n";
    if (parent == no_node) return;
    auto const& above = layout.nodes[static_cast<std::size_t>(parent)];
    lines += "<path d=\"M" + number(x + above.x) + " " + number(y + above.y + 8) + "L" + number(x + p.x) + " " +
             number(y + p.y - 9) + "\" stroke=\"" + colour + "\"/>\n";
  });
  return lines + labels;
}

inline std::string svg_page(double width, double height, std::string const& content) {
  using programs::detail::number;
  auto const size = number(width) + "\" height=\"" + number(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"" + size + "\" fill=\"#fff\"/>\n" + content +
         "</svg>\n";
}

}  // namespace detail

/// Draws the input tree and the tree of every step.  The title above a tree is the step's operation.  On the left side,
/// an arc leads from each tree that a step reads to the step.  The larger the weight, the wider the arc.  Steps that
/// the result does not need are grey.
inline std::string to_svg(explanation const& e) {
  using programs::detail::escaped, programs::detail::number;
  constexpr double margin = 16, beside = 22;
  // An arc that passes more trees extends further to the left.
  index_t farthest = 1;
  for (std::size_t k = 0; k < e.steps.size(); ++k)
    for (auto const& a : e.steps[k].arguments)
      if (a.tree != no_tree) farthest = std::max(farthest, static_cast<index_t>(k) + 1 - a.tree);
  double const left = margin + beside + 9 * static_cast<double>(farthest);
  double y = margin, width = 320;
  std::string content;
  std::vector<double> at;  // the vertical position of each title
  auto const add = [&](std::string const& title, symbol_tree const& tree, bool dark) {
    std::string const colour = dark ? "#223" : "#999";
    at.push_back(y + 8);
    content += "<text x=\"" + number(left) + "\" y=\"" + number(y + 12) + "\" font-weight=\"bold\" fill=\"" + colour +
               "\">" + escaped(title) + "</text>\n";
    y += 20;
    auto const layout = lay_out(tree);
    content += detail::drawn(tree, layout, left + 2 * margin, y, colour);
    y += layout.height + 12;
    width = std::max({width, left + 3 * margin + layout.width, left + margin + 1.1 * label_width(title)});
  };
  add("T0  input", e.source, true);
  for (std::size_t k = 0; k < e.steps.size(); ++k) {
    auto const& s = e.steps[k];
    add(fmt::format("T{}  {}{}", k + 1, headline(s), s.tree.empty() ? "  (the empty tree)" : ""), s.tree, s.needed);
    for (auto const& a : s.arguments) {
      if (a.tree == no_tree) continue;  // the empty tree is not drawn, but is in the step's title
      double const from = at[static_cast<std::size_t>(a.tree)] + 3, to = at.back() - 3,
                   bend = left - beside - 12 * static_cast<double>(static_cast<index_t>(k) + 1 - a.tree);
      content += "<path d=\"M" + number(left - 6) + " " + number(from) + "C" + number(bend) + " " + number(from) + " " +
                 number(bend) + " " + number(to) + " " + number(left - 8) + " " + number(to) +
                 "\" fill=\"none\" stroke=\"" + (s.needed ? "#0072b2" : "#bbb") + "\" stroke-width=\"" +
                 number(0.3 + 1.7 * a.weight) + "\"/>\n<circle cx=\"" + number(left - 7) + "\" cy=\"" + number(to) +
                 "\" r=\"2.5\" fill=\"" + (s.needed ? "#0072b2" : "#bbb") + "\"/>\n";
    }
  }
  return detail::svg_page(width, y + margin, content);
}

}  // namespace triad::programs::trees
