// Summarises a file of sentences and graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "meaning.hpp"
#include "numbered.hpp"
#include "shared/report/printed.hpp"
#include "vocabulary.hpp"

namespace triad::programs::meanings {

namespace detail {

using name_counts = std::map<std::string, long long>;

/// Returns up to 20 of the most frequent names with their counts, such as "agent 12, theme 7".
inline std::string counted(name_counts const& counts) {
  std::vector<std::pair<long long, std::string>> sorted;
  for (auto const& [name, count] : counts) sorted.emplace_back(-count, name);
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < sorted.size() && i < 20; ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", printable_name(sorted[i].second), -sorted[i].first);
  return text + (sorted.size() > 20 ? fmt::format(", and {} more", sorted.size() - 20) : "");
}

inline std::string line_of(std::string const& what, name_counts const& counts) {
  return counts.empty() ? "" : fmt::format("{} ({}): {}\n", what, counts.size(), counted(counts));
}

}  // namespace detail

/// Returns a summary of the rows of a file: their size, the names of edges and labels, several parents of a node and
/// several edges of a pair, slots, spans, rows that are left out with the reasons, how many rows come back from the
/// numbers of a model as they were read, and how many are written as in the file.
inline std::string summary_of(std::string const& path, std::vector<given_row> const& rows) {
  auto const format = format_of(path);
  detail::name_counts words, relations, labels, graph_labels, kinds, left_out;
  std::map<int, long long> slots;
  std::size_t longest = 0;
  long long nodes = 0, spans = 0, edges = 0, parents = 0, pairs = 0, several = 0, most_parents = 0;
  for (auto const& row : rows) {
    auto const& m = row.graph;
    longest = std::max(longest, m.tokens.size());
    for (auto const& token : m.tokens) ++words[token];
    if (!m.kind.empty()) ++kinds[m.kind];
    if (!row.left_out.empty()) {
      ++left_out[row.left_out];
      continue;
    }
    if (!m.label.empty()) ++graph_labels[m.label];
    ++slots[slots_of(m)];
    nodes += static_cast<long long>(m.nodes.size());
    for (auto const& n : m.nodes) spans += !n.is_slot && n.size() > 1 ? 1 : 0;
    for (auto const& of_node : m.node_labels)
      for (auto const& label : of_node) ++labels[label];
    std::map<std::pair<int, int>, int> labels_of_pair;
    std::map<int, std::set<int>> parents_of_node;
    for (auto const& e : m.edges) {
      ++relations[e.label];
      ++labels_of_pair[{e.from, e.to}];
      parents_of_node[e.to].insert(e.from);
    }
    edges += static_cast<long long>(m.edges.size());
    pairs += static_cast<long long>(labels_of_pair.size());
    for (auto const& [pair, count] : labels_of_pair) several += count > 1 ? 1 : 0;
    for (auto const& [to, from] : parents_of_node) {
      parents += from.size() > 1 ? 1 : 0;
      most_parents = std::max(most_parents, static_cast<long long>(from.size()));
    }
  }
  auto const v = vocabulary::of(rows, 1, patterns_of(format), true);
  int const most = slots.empty() ? 0 : slots.rbegin()->first;
  long long graphs = 0, back = 0, same = 0, right = 0;
  for (auto const& row : rows) {
    if (!row.left_out.empty()) continue;
    ++graphs;
    std::string reason;
    auto const e = numbered(row.graph, v, most, reason);
    if (!e) {
      ++left_out[reason];
      continue;
    }
    auto const again = graph_of(row.graph.tokens, *e, v);
    back += same_graph(again, row.graph) ? 1 : 0;
    if (!row.written.empty()) {
      auto const text = written_as(format, row, again);
      same += text == row.written || text == row.written + "\n" ? 1 : 0;
      right += is_right(format, row, again) ? 1 : 0;
    }
  }
  std::string text =
      fmt::format("{}: {} sentences of up to {} tokens\nwords: {}\n", path, rows.size(), longest, words.size());
  text += fmt::format("nodes: {}, of which spans of several tokens: {}\n", nodes, spans);
  text += fmt::format("edges: {}, between {} pairs of nodes, of which pairs with several edges: {}\n", edges, pairs,
                      several);
  text += fmt::format("nodes with several parents: {}, most parents of a node: {}\n", parents, most_parents);
  if (most > 0) {
    text += "slots: ";
    for (auto const& [count, sentences] : slots)
      text += fmt::format("{}{} in {}", count == slots.begin()->first ? "" : ", ", count, sentences);
    text += " sentences\n";
  }
  text += detail::line_of("relations", relations) + detail::line_of("labels of nodes", labels) +
          detail::line_of("labels of graphs", graph_labels) + detail::line_of("kinds", kinds);
  if (graphs > 0)
    text += v.by_word() ? "each word always is a node or never is one: only nodes are queried\n"
                        : "some words are nodes in some sentences only: every token is queried\n";
  text += fmt::format("{} of {} graphs come back from the numbers of a model", back, graphs);
  if (format != data_format::json_lines) text += fmt::format(", {} of them as they are written in the file", same);
  if (format == data_format::queries && right > same) text += fmt::format(", {} up to the order of conjuncts", right);
  text += "\n";
  if (!v.looked_up().empty())
    text += fmt::format("words decide {} of the labels of nodes: train --word-labels looks them up\n",
                        v.looked_up().size());
  for (auto const& [reason, count] : left_out) text += fmt::format("{} left out: {}\n", count, reason);
  return text;
}

/// Returns the summary of a file.
inline std::string inspected(std::string const& path) { return summary_of(path, read_rows(path)); }

}  // namespace triad::programs::meanings
