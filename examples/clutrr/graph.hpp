// A family graph with one question, and the words that name its edges and answers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace clutrr {

/// "The `label` of person `from` is person `to`."
struct edge {
  int from;
  int to;
  int label;  // 1 .. number of edge labels; 0 would mean "no edge"

  friend bool operator==(edge const&, edge const&) = default;
};

/// An ordered pair of people.
struct node_pair {
  int from;
  int to;

  friend bool operator==(node_pair const&, node_pair const&) = default;
};

/// People 0 .. nodes-1, the facts told about them, and what `query.to` is to `query.from`.
struct kinship_graph {
  int nodes = 0;
  std::vector<edge> edges;  // in the order told; where a pair occurs twice the later fact holds
  node_pair query{0, 0};
  int target = 0;  // 0 .. number of targets - 1
  int k = 0;       // number of facts on the way from query.from to query.to, as the data set counts

  friend bool operator==(kinship_graph const&, kinship_graph const&) = default;
};

/// The words behind the numbers of a kinship_graph.
struct vocabulary {
  std::vector<std::string> edge_labels;  // edge_labels[i] has label i + 1
  std::vector<std::string> targets;      // targets[i] has number i

  /// Rows of the embedding table: "no edge", every label, and one that the published program adds and never uses.
  [[nodiscard]] int embedding_rows() const { return static_cast<int>(edge_labels.size()) + 2; }

  /// Number of an edge label, from 1; 0 if unknown.
  [[nodiscard]] int edge_label(std::string_view word) const { return place(edge_labels, word) + 1; }

  /// Number of a target, from 0; -1 if unknown.
  [[nodiscard]] int target(std::string_view word) const { return place(targets, word); }

  [[nodiscard]] std::string const& edge_name(int label) const {
    return edge_labels.at(static_cast<std::size_t>(label) - 1);
  }
  [[nodiscard]] std::string const& target_name(int number) const {
    return targets.at(static_cast<std::size_t>(number));
  }

  friend bool operator==(vocabulary const&, vocabulary const&) = default;

 private:
  static int place(std::vector<std::string> const& words, std::string_view word) {
    auto const at = std::find(words.begin(), words.end(), word);
    return at == words.end() ? -1 : static_cast<int>(at - words.begin());
  }
};

}  // namespace clutrr
