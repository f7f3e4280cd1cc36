// A sentence and its labelled graph.  The nodes are tokens, spans of tokens, and slots, for which the sentence has no
// word.
// SPDX-License-Identifier: Apache-2.0
//
//   put(0) --theme--> cup(2)    put(0) --place--> table(5)    put(0): "imperative"    slot 0 --agent--> put(0)
//
// A pair of nodes may have several edges, and a node may have several parents and several labels.  The graph as a whole
// may have one label.  Slots are numbered by the data: slot 0 and slot 1 are different nodes in every sentence, and two
// graphs that differ in the numbers of their slots are different.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "shared/report/refuse.hpp"

namespace triad::programs::meanings {

/// The largest number of tokens of a sentence that is read, and the largest number of slots of a graph.
inline constexpr int longest_sentence = 4096, most_slots = 256;

/// A node of a graph: the tokens first .. last of the sentence, or slot number `first`.  Nodes that are tokens come
/// before slots in order.
struct node {
  bool is_slot = false;
  int first = 0, last = 0;  // a slot has its number in both

  static constexpr node token(int i) { return {false, i, i}; }
  static constexpr node span(int first, int last) { return {false, first, last}; }
  static constexpr node slot(int k) { return {true, k, k}; }
  constexpr int size() const { return last - first + 1; }

  friend constexpr auto operator<=>(node const&, node const&) = default;
  friend constexpr bool operator==(node const&, node const&) = default;  // for nvcc, which does not derive it
};

/// An edge between two nodes, which are given by their indices in meaning::nodes.
struct edge {
  int from;
  std::string label;
  int to;

  friend auto operator<=>(edge const&, edge const&) = default;
  friend bool operator==(edge const&, edge const&) = default;
};

struct meaning {
  std::vector<std::string> tokens{};
  std::vector<node> nodes{};
  std::vector<std::vector<std::string>> node_labels{};  // one list for each node
  std::vector<edge> edges{};
  std::string label{};  // of the whole graph; "" if it has none
  std::string kind{};   // the kind of sentence, for tables of scores; not a part of the graph

  /// Returns the index of a node, or -1 if the graph does not have the node.
  int find(node const& n) const {
    auto const at = std::find(nodes.begin(), nodes.end(), n);
    return at == nodes.end() ? -1 : static_cast<int>(at - nodes.begin());
  }
  /// Returns the index of a node.  Adds the node, without labels, if the graph does not have it.
  int add(node const& n) {
    if (int const at = find(n); at >= 0) return at;
    nodes.push_back(n);
    node_labels.emplace_back();
    return static_cast<int>(nodes.size()) - 1;
  }

  friend bool operator==(meaning const&, meaning const&) = default;
};

/// A row of a data set.  A row without a graph takes no part in training, and counts as wrong in evaluation.
struct given_row {
  meaning graph{};         // if the row has no graph: only its tokens and its kind
  std::string left_out{};  // why the row has no graph; "" if it has one
  std::string written{};   // the query, or the lines of the sentence, as in the file; "" for JSON lines
};

/// Returns the words of a node, such as "the cup", or "slot 2".
inline std::string name_of(meaning const& m, node const& n) {
  if (n.is_slot) return fmt::format("slot {}", n.first);
  std::string words;
  for (int i = n.first; i <= n.last; ++i) words += (i == n.first ? "" : " ") + m.tokens[static_cast<std::size_t>(i)];
  return words;
}
inline std::string name_of(meaning const& m, int n) { return name_of(m, m.nodes[static_cast<std::size_t>(n)]); }

/// Returns the graph in canonical order: nodes in the order of the sentence and then slots, edges by their nodes and
/// then by label, labels of a node in the order of bytes.  Two graphs are equal as sets if their canonical forms are
/// equal.
inline meaning canonical(meaning m) {
  if (!std::is_sorted(m.nodes.begin(), m.nodes.end())) {
    std::vector<std::size_t> order(m.nodes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return m.nodes[a] < m.nodes[b]; });
    std::vector<int> place(order.size());
    std::vector<node> nodes;
    std::vector<std::vector<std::string>> labels;
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = static_cast<int>(i);
      nodes.push_back(m.nodes[order[i]]);
      labels.push_back(std::move(m.node_labels[order[i]]));
    }
    m.nodes = std::move(nodes);
    m.node_labels = std::move(labels);
    for (auto& e : m.edges) {
      e.from = place[static_cast<std::size_t>(e.from)];
      e.to = place[static_cast<std::size_t>(e.to)];
    }
  }
  std::sort(m.edges.begin(), m.edges.end(), [](edge const& a, edge const& b) {
    return std::tie(a.from, a.to, a.label) < std::tie(b.from, b.to, b.label);
  });
  for (auto& labels : m.node_labels) std::sort(labels.begin(), labels.end());
  return m;
}

/// Returns the graph in canonical order.  Throws data_error if it is no graph: a node that is not in the sentence or
/// that is there twice, an edge or a label of a node that is there twice, an empty label, or an edge of a node that
/// does not exist.
inline meaning checked(meaning m) {
  int const tokens = static_cast<int>(m.tokens.size()), nodes = static_cast<int>(m.nodes.size());
  if (tokens < 1 || tokens > longest_sentence)
    refuse("the sentence has {} tokens, expected 1 to {}", tokens, longest_sentence);
  for (auto const& n : m.nodes) {
    if (n.is_slot && (n.first < 0 || n.first >= most_slots))
      refuse("a node is slot {}, expected slot 0 to slot {}", n.first, most_slots - 1);
    if (!n.is_slot && (n.first < 0 || n.last < n.first || n.last >= tokens))
      refuse("a node has the tokens {} to {}, expected tokens 0 to {} of this sentence", n.first, n.last, tokens - 1);
  }
  if (m.node_labels.empty()) m.node_labels.resize(m.nodes.size());
  if (m.node_labels.size() != m.nodes.size())
    refuse("{} lists of labels for {} nodes, expected one list for each node", m.node_labels.size(), nodes);
  for (auto const& e : m.edges) {
    for (int const end : {e.from, e.to})
      if (end < 0 || end >= nodes)
        refuse("an edge \"{}\" names node {}, expected node 0 to {}", e.label, end, nodes - 1);
    if (e.label.empty()) refuse("an edge has an empty label; give it a name");
  }
  m = canonical(std::move(m));
  if (auto const at = std::adjacent_find(m.nodes.begin(), m.nodes.end()); at != m.nodes.end())
    refuse("the node {} is there twice, expected once; remove one of both", name_of(m, *at));
  if (auto const at = std::adjacent_find(m.edges.begin(), m.edges.end()); at != m.edges.end())
    refuse("the edge \"{}\" from {} to {} is there twice, expected once; remove one of both", at->label,
           name_of(m, at->from), name_of(m, at->to));
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    auto const& labels = m.node_labels[i];
    if (!labels.empty() && labels.front().empty())
      refuse("the node {} has an empty label; give it a name", name_of(m, m.nodes[i]));
    if (auto const at = std::adjacent_find(labels.begin(), labels.end()); at != labels.end())
      refuse("the node {} has the label \"{}\" twice, expected once; remove one of both", name_of(m, m.nodes[i]), *at);
  }
  return m;
}

/// Returns true if both graphs have the same nodes, labels and edges, in any order, and the same label of the graph.
/// Does not compare kinds.
inline bool same_graph(meaning a, meaning b) {
  a = canonical(std::move(a));
  b = canonical(std::move(b));
  return a.nodes == b.nodes && a.node_labels == b.node_labels && a.edges == b.edges && a.label == b.label;
}

/// Returns the number of slots that the graph needs: the largest number of a slot, plus one.
inline int slots_of(meaning const& m) {
  int most = 0;
  for (auto const& n : m.nodes)
    if (n.is_slot) most = std::max(most, n.first + 1);
  return most;
}

}  // namespace triad::programs::meanings
