// Converts the graph of a sentence to numbers, as a model reads it and answers it, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meaning.hpp"
#include "triad/batches/sentence_graph_loader.hpp"
#include "triad/core/mdspan.hpp"
#include "vocabulary.hpp"

namespace triad::programs::meanings {

/// A sentence and its graph as numbers.  Column i is queried token i.  Column queried.size() + k is slot k.
struct example {
  std::vector<index_t> tokens{};        // the number of each token's word
  std::vector<index_t> queried{};       // the indices of the queried tokens, ascending
  std::vector<sentence_edge> edges{};   // sorted; the ends are columns
  std::vector<labelled_node> labels{};  // sorted; the nodes are columns; including internal labels
  index_t graph_label = -1;             // -1: none

  /// Returns the example as a loader reads it.  The spans are valid as long as the example.
  sentence_graph spans() const { return {tokens, queried, edges, labels, graph_label}; }

  friend bool operator==(example const&, example const&) = default;
};

/// Returns the example of a sentence whose graph is not known.
inline example question_of(std::vector<std::string> const& tokens, vocabulary const& v) {
  example e;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    e.tokens.push_back(v.word(tokens[i]));
    if (v.queries(e.tokens.back())) e.queried.push_back(static_cast<index_t>(i));
  }
  return e;
}

/// Returns the example of a graph, for a model with `slots` slots.  Returns nothing, and sets `left_out` to the reason,
/// if the model cannot answer this graph.
inline std::optional<example> numbered(meaning const& given, vocabulary const& v, int slots, std::string& left_out) {
  auto const m = canonical(given);
  auto e = question_of(m.tokens, v);
  auto const fail = [&](std::string reason) {
    left_out = std::move(reason);
    return std::nullopt;
  };
  auto const alone = v.alone_in(m);
  std::vector<index_t> column;  // of each node
  std::vector<bool> taken(e.queried.size());
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    auto const& n = m.nodes[i];
    auto const label = [&](index_t number) { e.labels.push_back({column.back(), number}); };
    if (n.is_slot) {
      if (n.first >= slots) return fail(fmt::format("it has more than {} slot{}", slots, slots == 1 ? "" : "s"));
      column.push_back(static_cast<index_t>(e.queried.size()) + n.first);
    } else {
      auto const at = std::lower_bound(e.queried.begin(), e.queried.end(), index_t{n.last});
      if (at == e.queried.end() || *at != n.last) return fail("a word of it is never a node in the training set");
      auto const c = static_cast<std::size_t>(at - e.queried.begin());
      if (taken[c]) return fail("two nodes end with the same token");
      taken[c] = true;
      column.push_back(static_cast<index_t>(c));
      if (n.size() > 1) {
        if (v.label_of_span(n.size()) < 0) return fail("a span has a length that no span of the training set has");
        label(v.label_of_span(n.size()));
      }
    }
    if (alone[i] && !v.is_certain(m, n)) {
      if (v.label_of_isolated() < 0)
        return fail("a node has neither an edge nor a label, unlike all in the training set");
      label(v.label_of_isolated());
    }
    auto const& known = v.labels_of_word(n.is_slot ? -1 : e.tokens[static_cast<std::size_t>(n.last)]);
    std::vector<std::string> decided;
    for (auto const& name : m.node_labels[i]) {
      if (v.looked_up().contains(name)) {
        decided.push_back(name);
        continue;
      }
      if (v.label(name) < 0) return fail("a label of a node is not in the training set");
      label(v.label(name));
    }
    std::sort(decided.begin(), decided.end());
    if (decided != known) return fail("a word has other labels than in the training set");
  }
  for (std::size_t c = 0; c < e.queried.size(); ++c)
    if (!taken[c] && v.always_node(e.tokens[static_cast<std::size_t>(e.queried[c])]))
      return fail("a word of it is not a node, but always is one in the training set");
  for (auto const& one : m.edges) {
    auto const relation = v.relation(one.label);
    if (relation < 0) return fail("the label of an edge is not in the training set");
    e.edges.push_back({column[static_cast<std::size_t>(one.from)], relation, column[static_cast<std::size_t>(one.to)]});
  }
  e.graph_label = v.graph_label(m.label);
  if (e.graph_label < 0 && !(m.label.empty() && v.graph_labels().empty()))
    return fail("the label of the graph is not in the training set");
  std::sort(e.edges.begin(), e.edges.end());
  std::sort(e.labels.begin(), e.labels.end());
  return e;
}

/// Returns the graph of an example, in canonical order.  `tokens` are the words of the sentence.  Inverse of
/// numbered().  A token or a slot is a node if it has an edge or a learned label, or if its word always is a node.  If
/// an answer has several lengths of a span, the shortest that fits is taken.  Labels that words decide are added.
inline meaning graph_of(std::vector<std::string> tokens, example const& e, vocabulary const& v) {
  meaning m;
  m.tokens = std::move(tokens);
  auto const members = e.queried.size();
  index_t columns = static_cast<index_t>(members);
  for (auto const& one : e.edges) columns = std::max({columns, one.from + 1, one.to + 1});
  for (auto const& one : e.labels) columns = std::max(columns, one.node + 1);
  std::vector<bool> is_node(static_cast<std::size_t>(columns));
  std::vector<int> length(is_node.size(), 1);
  for (std::size_t c = 0; c < members; ++c)
    is_node[c] = v.always_node(e.tokens[static_cast<std::size_t>(e.queried[c])]);
  for (auto const& one : e.edges)
    is_node[static_cast<std::size_t>(one.from)] = is_node[static_cast<std::size_t>(one.to)] = true;
  for (auto const& one : e.labels) {
    auto const c = static_cast<std::size_t>(one.node);
    int const spanned = v.tokens_of_label(one.label);
    if (c >= members && spanned > 0) continue;  // a slot is no span
    is_node[c] = true;
    if (spanned > 0 && length[c] == 1 && spanned <= e.queried[c] + 1) length[c] = spanned;
  }
  std::vector<int> place(is_node.size(), -1);
  for (std::size_t c = 0; c < is_node.size(); ++c) {
    if (!is_node[c]) continue;
    place[c] = static_cast<int>(m.nodes.size());
    if (c < members) {
      int const last = static_cast<int>(e.queried[c]);
      m.nodes.push_back(node::span(last - length[c] + 1, last));
    } else {
      m.nodes.push_back(node::slot(static_cast<int>(c - members)));
    }
    m.node_labels.emplace_back();
  }
  for (auto const& one : e.labels)
    if (one.label >= v.internal_labels())
      m.node_labels[static_cast<std::size_t>(place[static_cast<std::size_t>(one.node)])].push_back(
          v.label_name(one.label));
  for (std::size_t c = 0; c < members; ++c)
    if (place[c] >= 0) {
      auto const& decided = v.labels_of_word(e.tokens[static_cast<std::size_t>(e.queried[c])]);
      auto& labels = m.node_labels[static_cast<std::size_t>(place[c])];
      labels.insert(labels.end(), decided.begin(), decided.end());
    }
  for (auto const& one : e.edges)
    m.edges.push_back({place[static_cast<std::size_t>(one.from)], v.relations()[static_cast<std::size_t>(one.label)],
                       place[static_cast<std::size_t>(one.to)]});
  if (e.graph_label >= 0) m.label = v.graph_labels()[static_cast<std::size_t>(e.graph_label)];
  return canonical(std::move(m));
}

}  // namespace triad::programs::meanings
