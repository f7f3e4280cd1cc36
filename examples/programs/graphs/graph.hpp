// A labelled graph with one question about a pair of its nodes, and the words that name its edges and answers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "shared/data/numbering.hpp"

namespace triad::programs::graphs {

/// The largest number of nodes of a graph that is read.
inline constexpr int largest_graph = 4096;

/// "The `label` of node `from` is node `to`."
struct edge {
  int from;
  int to;
  int label;  // 1 .. number of edge labels; 0 is reserved for "no edge"

  friend bool operator==(edge const&, edge const&) = default;
};

/// An ordered pair of nodes.
struct node_pair {
  int from;
  int to;

  friend bool operator==(node_pair const&, node_pair const&) = default;
};

/// An additional question about a graph, which is used only in training.
struct further_target {
  node_pair query;
  int target;

  friend bool operator==(further_target const&, further_target const&) = default;
};

/// A graph with nodes 0 .. nodes - 1.  `target` is the relation of `query.to` to `query.from`.
struct labelled_graph {
  int nodes = 0;
  std::vector<edge> edges;  // in the order of the data; if two edges connect a pair, the later edge counts
  node_pair query{0, 0};
  int target = 0;  // 0 .. number of targets - 1; -1: unknown
  int k = 0;       // number of edges on the path from query.from to query.to, if the data set counts them
  std::vector<further_target> further{};  // for training graphs with --dense-loss

  friend bool operator==(labelled_graph const&, labelled_graph const&) = default;
};

/// The words that the numbers of a labelled_graph stand for.
struct vocabulary {
  numbering edge_labels{1}, targets{0};

  vocabulary() = default;
  vocabulary(std::vector<std::string> edges, std::vector<std::string> answers)
      : edge_labels(1, std::move(edges)), targets(0, std::move(answers)) {}
  static vocabulary from(nlohmann::json const& json, std::string const& file) {
    vocabulary words;
    read_names(json, file, {{"edges", &words.edge_labels}, {"targets", &words.targets}});
    return words;
  }

  /// The number of rows of the embedding: one for "no edge", one for each label, and one that is never used.  The
  /// published program for CLUTRR has the unused row too.
  [[nodiscard]] int embedding_rows() const { return static_cast<int>(edge_labels.names().size()) + 2; }
  /// Returns the number of an edge label, from 1; 0 if it is unknown.
  [[nodiscard]] int edge_label(std::string_view word) const { return edge_labels.find(word, 0); }
  /// Returns the number of a target, from 0; -1 if it is unknown.
  [[nodiscard]] int target(std::string_view word) const { return targets.find(word); }
  [[nodiscard]] std::string const& edge_name(int label) const { return edge_labels.name(label); }
  [[nodiscard]] std::string const& target_name(int number) const { return targets.name(number); }

  friend bool operator==(vocabulary const&, vocabulary const&) = default;
};

inline nlohmann::json to_json(vocabulary const& words) {
  return {{"edges", words.edge_labels.names()}, {"targets", words.targets.names()}};
}

}  // namespace triad::programs::graphs
