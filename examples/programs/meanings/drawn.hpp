// Draws the graph of a sentence: as text for a terminal, and in DOT, the language of Graphviz.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "meaning.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::programs::meanings {

/// Returns the tokens in one line, then the label of the graph, and then each node with its labels and its edges:
///
///   put the cup down
///   label: command
///   put (0): imperative
///     --theme--> the cup (1-2)
///   the cup (1-2)
inline std::string text_of(meaning const& given) {
  auto const m = canonical(given);
  auto const place = [&](int i) {
    auto const& n = m.nodes[static_cast<std::size_t>(i)];
    if (n.is_slot) return name_of(m, n);
    return n.size() == 1 ? fmt::format("{} ({})", name_of(m, n), n.first)
                         : fmt::format("{} ({}-{})", name_of(m, n), n.first, n.last);
  };
  auto drawn = text::joined(m.tokens) + "\n";
  if (!m.label.empty()) drawn += "label: " + m.label + "\n";
  auto next = m.edges.begin();
  for (int i = 0; i < static_cast<int>(m.nodes.size()); ++i) {
    drawn += place(i);
    auto const& labels = m.node_labels[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < labels.size(); ++k) drawn += (k == 0 ? ": " : ", ") + labels[k];
    drawn += "\n";
    for (; next != m.edges.end() && next->from == i; ++next)
      drawn += fmt::format("  --{}--> {}\n", next->label, place(next->to));
  }
  return drawn;
}

namespace detail {

/// Returns a text as a string of DOT, in quotes.
inline std::string dot_string(std::string_view text) {
  std::string quoted = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n' || c == '\r')
      quoted += "\\n";
    else
      quoted += c;
  }
  return quoted + "\"";
}

}  // namespace detail

/// Returns the graph in DOT.  A node shows its words and, in a second line, its labels.  Slots are ellipses.
inline std::string dot_of(meaning const& given) {
  auto const m = canonical(given);
  std::string dot = "digraph meaning {\n  rankdir=LR;\n  node [shape=box];\n";
  if (!m.label.empty()) dot += "  label=" + detail::dot_string(m.label) + ";\n";
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    auto shown = name_of(m, m.nodes[i]);
    for (std::size_t k = 0; k < m.node_labels[i].size(); ++k) shown += (k == 0 ? "\n" : ", ") + m.node_labels[i][k];
    dot +=
        fmt::format("  n{} [label={}{}];\n", i, detail::dot_string(shown), m.nodes[i].is_slot ? ", shape=ellipse" : "");
  }
  for (auto const& e : m.edges)
    dot += fmt::format("  n{} -> n{} [label={}];\n", e.from, e.to, detail::dot_string(e.label));
  return dot + "}\n";
}

}  // namespace triad::programs::meanings
